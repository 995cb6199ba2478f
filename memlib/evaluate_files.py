"""What `evaluate` reads: cards from a CSV, a store or a store's export; questions; vectors."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pandas as pd

from memlib.cards import CardError, load_cards, load_questions, read_rows, short
from memlib.embedders.protocol import Vectors
from memlib.evaluate import SKEW
from memlib.store.database import StoreError
from memlib.store.sqlite import Store

SQLITE = b"SQLite format 3\0"  # how a store's file begins


class Memory(NamedTuple):
    """Cards as `load_cards` gives them; of a store the vectors, too, and whose they are."""

    cards: pd.DataFrame
    vectors: Vectors | None = None
    embedder_id: str | None = None
    forgotten: int = 0


def read_memory(path: Path, now: datetime) -> Memory:
    """Read cards, whatever file they are in.

    path     a card table, a store, or what a store's `export_csv` wrote; forgotten cards are left
             out. A store is read in one state, and no card of it changes
    Raises CardError that names file, row, column and value.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(len(SQLITE))
    except OSError as error:
        raise CardError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        if begin == SQLITE:
            with Store(path) as store:
                return _in(store, path)
        if begin.startswith(b"id,") and {"vector", "embedder_id"} <= set(read_rows(path)):
            with TemporaryDirectory() as folder, Store(Path(folder) / "cards.db") as store:
                store.import_csv(path, now)
                return _in(store, path)
    except StoreError as error:
        raise CardError(f"{path.name}: {error}") from None
    return Memory(load_cards(path, now))


def _in(store: Store, path: Path) -> Memory:
    with store.reading():
        cards = store.cards()
        if cards.empty:
            raise CardError(f"{path.name}: no cards that are not forgotten")
        forgotten = len(store.cards(forgotten=True)) - len(cards)
        return Memory(cards, store.vectors(), store.embedder_id, forgotten)


def read_questions(
    path: Path, cards: pd.DataFrame, cards_file: Path, now: datetime
) -> pd.DataFrame:
    """Read questions, each of which wants cards that were there when it was asked.

    returns  what `load_questions` gives; asked_at is `now` where the file says nothing
    Raises CardError that names row, column and value.
    """
    exam = load_questions(path)
    if exam.empty:
        raise CardError(f"{path.name}: no questions, only a header")
    exam["asked_at"] = exam["asked_at"].fillna(pd.Timestamp(now))
    rows = read_rows(path).index
    for row, wanted, asked_at in zip(rows, exam["wanted"], exam["asked_at"], strict=True):
        for name in wanted:
            said = f"{path.name} row {row}, column 'wanted': {short(name)}"
            if name not in cards.index:
                todo = ": join ids by ;" if set(name) & set(", |") else ""
                raise CardError(f"{said} is the id of no card in {cards_file.name}{todo}")
            if (made := cards.at[name, "created_at"]) > asked_at + SKEW:
                raise CardError(f"{said} was made at {made!s}, after asked_at, {asked_at!s}")
    return exam


def read_vectors(path: Path, cards: int, questions: int) -> tuple[Vectors, Vectors]:
    """Read vectors that one has: an .npz with `cards` and `questions`, rows in file order.

    returns  shapes (cards, d) and (questions, d), each row at unit length
    Raises CardError that names file, array, row and value.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in ("cards", "questions")}
    except OSError as error:
        raise CardError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:
        raise CardError(f"{path.name}: no .npz with `cards` and `questions`: {error}") from None
    units = []
    for (name, array), n in zip(arrays.items(), (cards, questions), strict=True):
        if array.ndim != 2 or len(array) != n or not np.issubdtype(array.dtype, np.number):
            said = f"has shape {array.shape} and dtype {array.dtype}: must be ({n}, d), numbers"
            raise CardError(f"{path.name}: {name} {said}")
        lengths = np.linalg.norm(array.astype(np.float64), axis=1)
        for row in np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0))):
            raise CardError(f"{path.name}: {name}[{row}] has length {lengths[row]:g}")
        units.append((array / lengths[:, None]).astype(np.float32))
    if units[0].shape[1] != units[1].shape[1]:
        said = f"cards have {units[0].shape[1]} dimensions, questions {units[1].shape[1]}"
        raise CardError(f"{path.name}: {said}")
    return units[0], units[1]
