"""Recall by picking the best turn again and again; the best weighting by looking at each."""

import math
from collections.abc import Sequence
from fractions import Fraction


def recall(scores: Sequence[float], evidence: Sequence[int], top_k: int) -> float:
    """In percent; of equal turns the earlier is picked, minus infinity is never picked."""
    left = [row for row, score in enumerate(scores) if score != -math.inf]
    picked: list[int] = []
    while left and len(picked) < top_k:
        best = left[0]
        for row in left:
            if scores[row] > scores[best]:
                best = row
        left.remove(best)
        picked.append(best)
    return float(100 * Fraction(sum(row in picked for row in evidence), len(evidence)))


def first_best(means: Sequence[Fraction]) -> int:
    """The first of the largest."""
    return min(i for i, mean in enumerate(means) if mean == max(means))
