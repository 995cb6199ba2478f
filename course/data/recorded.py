"""Vectors that are stored with the course: the published cosines, and those of all its texts."""

import csv
import hashlib
import json
import math
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import get_args

import numpy as np

from course.data.files import data_path
from course.data.maya import PUBLISHED_QUESTION
from memlib.embedders import choose as embedders
from memlib.embedders.protocol import (
    Embedder,
    Role,
    Vectors,
    check_texts,
    unavailable,
)

PUBLISHED_CARDS = (  # in the order of figures A001 to A008
    "Maya's partner Sam has a birthday on June 18.",
    "Maya said Sam loves vinyl records and old jazz.",
    "Maya asked for a pasta recipe yesterday.",
    "Maya has two kids, aged 6 and 9.",
    "Maya mentioned the printer is out of ink.",
    "Maya likes hiking on weekends.",
    "Maya is vegetarian.",
    "Maya works as a data engineer at a fintech company.",
)


def text_key(role: Role, text: str) -> str:
    """Return the key of a stored vector: the first 16 hex digits of sha256(role, NUL, text).

    >>> text_key("query", "Poppy") == text_key("document", "Poppy")
    False
    """
    return hashlib.sha256(f"{role}\0{text}".encode()).hexdigest()[:16]


def read_recorded(folder: Path) -> tuple[str, dict[str, Vectors]]:
    """Return the model's id and the vectors by key, from vectors.npy and vectors.json.

    The .npy holds (n, dim) float32; the .json the id, dim, the n keys and the sha256 of the .npy,
    so that halves of two recordings are never read as one. Raises EmbedderUnavailable.

    >>> read_recorded(data_path("vectors.json").parent)[0]
    'all-MiniLM-L6-v2-int8'
    """
    try:
        stored = (folder / "vectors.npy").read_bytes()
        about = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
        if hashlib.sha256(stored).hexdigest() != about["sha256"]:
            raise ValueError("vectors.npy does not belong to vectors.json")
        rows: Vectors = np.load(BytesIO(stored))
        return str(about["embedder"]), dict(zip(about["keys"], rows, strict=True))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unavailable(f"no recorded vectors ({error})", "run `make vectors`") from error


class _Stored:
    """Vectors that are looked up by text and role, never computed."""

    id: str
    dim: int
    todo: str
    rows: dict[str, Vectors]

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return the stored rows, (n, dim); EmbedderUnavailable names a text without one."""
        found = []
        for text in check_texts(texts, role):
            row = self.rows.get(text_key(role, text))
            if row is None:
                raise unavailable(f"no vector for the {role} {text!r}", self.todo)
            found.append(row)
        return np.array(found, np.float32).reshape(-1, self.dim)


class Published(_Stored):
    """The eight published cosines of nomic-embed-text with the one published question.

    The question is e0 and card i is c·e0 + √(1 - c²)·ei, in 9 dimensions, so that its cosine with
    the question is the published c. Cosines *between* cards mean nothing. Any other text raises
    EmbedderUnavailable. Source: *Scoring beyond similarity*, Relevance.

    >>> published = Published()
    >>> print(published.embed(PUBLISHED_CARDS[:2]) @ published.embed([PUBLISHED_QUESTION])[0])
    [0.6942 0.6627]
    """

    id = "nomic-embed-text-published"
    dim = 1 + len(PUBLISHED_CARDS)
    todo = "only the one question and eight cards were published; use bundled"

    def __init__(self) -> None:
        with data_path("published_figures.csv").open(encoding="utf-8", newline="") as file:
            printed = {row["id"]: row["published"] for row in csv.DictReader(file)}
        axes = np.eye(self.dim, dtype=np.float32)
        vectors = {PUBLISHED_QUESTION: axes[0]}
        for i, text in enumerate(PUBLISHED_CARDS, start=1):
            c = float(printed[f"A{i:03d}"])
            vectors[text] = c * axes[0] + math.sqrt(1 - c**2) * axes[i]
        self.rows = {text_key(r, t): row for t, row in vectors.items() for r in get_args(Role)}


class Recorded(_Stored):
    """The committed vectors of every text of the course: the same everywhere, no model needed.

    `id` is that of the model that recorded them. EmbedderUnavailable for any other text.

    >>> Recorded().embed(["Poppy", "Daisy"]).shape
    (2, 384)
    """

    todo = "add it to data/texts.csv and run `make vectors`"

    def __init__(self, folder: Path | None = None) -> None:
        self.id, self.rows = read_recorded(folder or data_path("texts.csv").parent)
        self.dim = len(next(iter(self.rows.values()), ()))


MAKERS: embedders.Makers = {"published": Published, "recorded": Recorded, **embedders.MAKERS}


def choose(name: str) -> Embedder:
    """The embedder called published, recorded, bundled, ollama or ollama:MODEL.

    Raises ValueError for another name. A missing model or server shows at the first `embed`.

    >>> choose("recorded").id == choose("bundled").id
    True
    """
    return embedders.choose(name, MAKERS)
