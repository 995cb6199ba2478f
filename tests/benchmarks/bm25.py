"""A BM25 question at 10,000 and 100,000 cards beside rank-bm25 and bm25s; index time and memory."""

import importlib.util
import itertools
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from rank_bm25 import BM25Okapi

from memlib.bm25 import BM25
from tests.benchmarks.run import Row

TERMS = 4  # words of a question


def measure(small: bool) -> list[Row]:
    """Ratios of median times in one run, over the same questions; scores must be equal."""
    rows = []
    for n in (2_000,) if small else (10_000, 100_000):
        documents, questions = corpus(n, questions=5 if small else 20)
        theirs, their_index, _ = built(lambda d=documents: BM25Okapi(d))
        ours, our_index, memory = built(lambda d=documents: BM25(d))
        for terms in questions[:3]:
            np.testing.assert_allclose(ours.scores(terms), theirs.get_scores(terms), atol=1e-9)
        mine = median(ours.scores, questions)
        slow = median(theirs.get_scores, questions[:5])
        limit = 100 if n == 100_000 else None
        said = f"BM25 question at {n:,} cards"
        rows.append(Row(f"{said}, memlib", 1000 * mine, "ms"))
        rows.append(Row(f"{said}, times faster than rank-bm25", slow / mine, "times", limit, False))
        rows.append(
            Row(f"BM25 index of {n:,} cards, against rank-bm25", our_index / their_index, "times")
        )
        rows.append(Row(f"BM25 index of {n:,} cards, memory", memory / 2**20, "MiB"))
        if importlib.util.find_spec("bm25s"):
            rows.append(
                Row(f"{said}, against bm25s", mine / beside(documents, questions), "times", 2)
            )
    return rows


def corpus(n: int, questions: int) -> tuple[list[list[str]], list[list[str]]]:
    """Cards of about twelve words; word frequencies fall as in a language (Zipf)."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(20_000)])
    worth = 1 / np.arange(1, len(words) + 1)
    worth /= worth.sum()
    lengths = rng.integers(5, 20, n)
    drawn = rng.choice(words, size=int(lengths.sum()), p=worth).tolist()
    cuts = np.cumsum([0, *lengths]).tolist()
    documents = [drawn[a:b] for a, b in itertools.pairwise(cuts)]
    rare = rng.integers(50, 5_000, (questions, TERMS))
    return documents, [words[row].tolist() for row in rare]


def beside(documents: list[list[str]], questions: list[list[str]]) -> float:
    import bm25s

    index = bm25s.BM25(k1=1.5, b=0.75)
    index.index(documents, show_progress=False)
    return median(index.get_scores, questions)


def built(make: Callable[[], object]) -> tuple[object, float, int]:
    begin = time.perf_counter()
    index = make()
    took = time.perf_counter() - begin
    tracemalloc.start()
    kept = make()
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return index, took, memory


def median(ask: Callable[[list[str]], object], questions: list[list[str]]) -> float:
    took = []
    for terms in questions:
        begin = time.perf_counter()
        ask(terms)
        took.append(time.perf_counter() - begin)
    return float(np.median(took))
