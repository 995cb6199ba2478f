"""A store as a CSV file: every card, field and bit of a vector, out and in again."""

import csv
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from memlib.cards import CardError, read_rows, short
from memlib.embedders.protocol import Vectors
from memlib.server import canonical
from memlib.store.database import StoreError
from memlib.store.records import STORED, Record, record


def write_export(file: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of STORED; the vector, which comes last, as base64 of its float32.

    The file is replaced whole or not at all. Raises StoreError if it cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_export(Path(folder) / "none.csv", [])
    ...     read_rows(Path(folder) / "none.csv").columns[0]
    'id'
    """
    new = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        with new.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(STORED)
            for *fields, vector in rows:
                writer.writerow([*fields, b64encode(vector).decode()])
        new.replace(file)
    except OSError as error:
        raise StoreError(f"{file.name}: cannot be written: {error.strerror}") from error
    finally:
        new.unlink(missing_ok=True)


def read_export(file: Path, now: datetime) -> tuple[list[Record], list[Vectors], str]:
    """Read and check an exported file.

    now      a time with a zone; no time in the file lies after it (five minutes of skew allowed)
    returns  the cards as SQLite keeps them, their vectors, the id of the vectors' embedder
    Raises CardError or ValueError that names file, row, column and value.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_export(Path(folder) / "none.csv", [])
    ...     read_export(Path(folder) / "none.csv", datetime.now().astimezone())
    ([], [], '')
    """
    raw, embedder_id = read_rows(file), ""
    if set(raw) != set(STORED):
        raise CardError(f"{file.name}: not an export, which has the columns {', '.join(STORED)}")
    cards: list[Record] = []
    vectors: list[Vectors] = []
    for row, cells in zip(raw.index, raw[list(STORED)].to_numpy().tolist(), strict=True):
        *fields, model, vector = cells
        model = canonical(model)
        where = f"{file.name} row {row}"
        if cards and model != embedder_id:
            said = f"{short(model)}, the rows before it have {short(embedder_id)}"
            raise CardError(f"{where}, column 'embedder_id': {said}")
        try:
            vectors.append(np.frombuffer(b64decode(vector, validate=True), "<f4"))
        except ValueError:
            raise CardError(f"{where}, column 'vector': no float32 in base64") from None
        cards.append(record(where, dict(zip(STORED, fields, strict=False)), now))
        embedder_id = model
    return cards, vectors, embedder_id
