"""The librarian's search part by part at three sizes, and how many cards a second a store takes."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from course.data.maya import COURSE_NOW
from course.data.recorded import choose
from memlib.embedders.protocol import Vectors
from memlib.librarian import Librarian
from memlib.ranking import INJECTED, pick_diverse
from memlib.retrieval import SERVER, candidates, features
from memlib.store.sqlite import Store
from tests.benchmarks.run import Row

DIMENSIONS, SINGLE = 384, 20  # single: cards that are added one by one, each in its transaction
REPEAT = 15
QUESTION = "Which w12 did the w340 bring to w77 and w5?"


def measure(small: bool) -> list[Row]:
    """Milliseconds of each part of one search, medians; the sum of parts beside a whole search."""
    rows: list[Row] = []
    for n in (1_000,) if small else (1_000, 10_000, 100_000):
        with TemporaryDirectory() as folder, Store(Path(folder) / "cards.db") as store:
            rows += at_size(store, n)
    return rows


def at_size(store: Store, n: int) -> list[Row]:
    embedder = Timed()
    cards, vectors = made(n)
    with timed() as took:
        store.add_many(cards, vectors, embedder.id, COURSE_NOW)
    rows = [Row(f"store of {n:,} cards, added at once", n / took[0], "cards a second")]
    one = {"embedder_id": embedder.id, "now": COURSE_NOW}
    with timed() as took:
        for row in range(SINGLE):
            store.add(f"single{row}", "One more.", vector=vectors[row], **one)
    rows.append(Row(f"store of {n:,} cards, added singly", SINGLE / took[0], "cards a second"))
    librarian = Librarian(store, embedder)
    with timed() as took:
        librarian.search(QUESTION, COURSE_NOW)
    rows.append(Row(f"search at {n:,} cards, the first: index made", 1000 * took[0], "ms"))
    for name, milliseconds in parts(store, librarian, REPEAT).items():
        rows.append(Row(f"search at {n:,} cards, {name}", milliseconds, "ms"))
    return rows


def parts(store: Store, librarian: Librarian, repeat: int) -> dict[str, float]:
    """Median milliseconds of what `Librarian.search` does, in its order, and of the whole."""
    index = librarian._current_index()
    query = librarian.embedder.embed([QUESTION], role="query")[0]

    def looked_at() -> Any:
        index._question = None  # as for a new question
        found = index.matches(QUESTION, query, SERVER)
        return found, candidates(found.dense, found.bm25, index.cards.index, SERVER)

    found, rows = looked_at()

    def featured() -> pd.DataFrame:
        cards = store.cards(ids=index.cards.index[rows].tolist())
        signals = found.dense[rows], found.bm25[rows]
        return features(cards, *signals, QUESTION, later, SERVER, index.tags)

    later = COURSE_NOW + timedelta(hours=1)
    table = featured()
    units = index.vectors[rows].astype(np.float64)
    score, first = table["relevance"].to_numpy(), table.index[:INJECTED].tolist()
    told = {
        "embed": median(lambda: librarian.embedder.embed([QUESTION], role="query"), repeat),
        "candidates": median(looked_at, repeat),
        "features": median(featured, repeat),
        "pick": median(lambda: pick_diverse(score, units, table.index, INJECTED), repeat),
        "touch": median(lambda: store.touch(first, later), repeat),
    }

    def whole() -> None:
        index._question = None
        librarian.search(QUESTION, later)

    return told | {"whole": median(whole, repeat)}


class Timed:
    """The bundled model for questions; the cards' own vectors are drawn, not computed."""

    def __init__(self) -> None:
        self.model = choose("bundled")
        self.id = self.model.id
        self.model.embed(["Warm."], role="query")

    def embed(self, texts: Sequence[str], role: Any = "document") -> Vectors:
        return self.model.embed(texts, role)


def made(n: int) -> tuple[pd.DataFrame, Vectors]:
    """Cards of about twelve words, whose frequencies fall as in a language, and unit vectors."""
    rng = np.random.default_rng(0)
    worth = 1 / np.arange(1, 20_001)
    drawn = rng.choice(20_000, size=(n, 12), p=worth / worth.sum())
    vectors = rng.normal(size=(n, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kinds = np.array(["working", "episodic", "semantic"])
    table = {
        "text": [" ".join(f"w{word}" for word in row) for row in drawn.tolist()],
        "kind": kinds[rng.integers(0, 3, n)],
        "created_at": [COURSE_NOW - timedelta(hours=int(h)) for h in rng.integers(1, 9_000, n)],
        "tags": [(f"w{word}",) for word in rng.integers(0, 500, n).tolist()],
        "views": rng.integers(0, 20, n),
    }
    return pd.DataFrame(table, index=[f"card{row}" for row in range(n)]), vectors


@contextmanager
def timed() -> Iterator[list[float]]:
    took: list[float] = []
    begin = time.perf_counter()
    yield took
    took.append(time.perf_counter() - begin)


def median(run: Callable[[], object], repeat: int) -> float:
    took = []
    for _ in range(repeat):
        with timed() as once:
            run()
        took += once
    return 1000 * float(np.median(took))
