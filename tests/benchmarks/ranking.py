"""The three-part score and its top ten against the bare product that no search can avoid."""

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd

from memlib.ranking import rank_order, three_part_score
from memlib.recency import recency
from memlib.similarity import cosine_of_units
from tests.benchmarks.run import Row

DIMENSIONS = 384


def measure(small: bool) -> list[Row]:
    """Time and peak memory, each as a ratio to `matrix @ query` in the same run."""
    n = 20_000 if small else 1_000_000
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((n, DIMENSIONS), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    query = matrix[7].copy()
    hours, rating = rng.uniform(0, 2000, n), rng.integers(1, 11, n).astype(float)
    ids = pd.Index([f"card-{row}" for row in range(n)])
    assert ids.is_unique  # known once, kept by the index

    def bare() -> None:
        matrix @ query

    def ranked() -> None:
        score = three_part_score(cosine_of_units(query, matrix), recency(hours), rating)
        rank_order(score.total, ids, top_k=10)

    times = 3 if small else 7
    pairs = [(seconds(bare), seconds(ranked)) for _ in range(times)]
    ratio = float(np.median([b / a for a, b in pairs]))
    memory = (matrix.nbytes + peak(ranked)) / (matrix.nbytes + peak(bare))
    said = f"three-part score and top 10 of {n:,} x {DIMENSIONS} against matrix @ query"
    return [Row(f"{said}, time", ratio, "times", 1.3), Row(f"{said}, memory", memory, "times", 1.1)]


def seconds(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def peak(work: Callable[[], None]) -> int:
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most
