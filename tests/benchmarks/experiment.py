"""The 66 weightings over as many questions as LoCoMo has, vectors given."""

import time

import numpy as np

from course.measure.experiment import Signals, evidence_ranks, grid_scores
from tests.benchmarks.run import Row

TURNS, QUESTIONS = 600, 1_536


def measure(small: bool) -> list[Row]:
    """Seconds from the three signals to the ranks of every evidence turn."""
    rng = np.random.default_rng(0)
    n = 20 if small else QUESTIONS
    asked = []
    for _ in range(n):
        words = rng.random(TURNS) * (rng.random(TURNS) < 0.1)
        names = rng.integers(0, 2, TURNS).astype(float)
        evidence = tuple(rng.integers(0, TURNS, rng.integers(1, 3)).tolist())
        asked.append(Signals(rng.random(TURNS), words, names, words > 0, evidence))
    begin = time.perf_counter()
    for found in asked:
        evidence_ranks(grid_scores(found), found.evidence)
    took = time.perf_counter() - begin
    return [Row(f"66 weightings, {n:,} questions, {TURNS} turns each", took, "s", 2)]
