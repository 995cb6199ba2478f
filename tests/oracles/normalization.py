"""Min-max and z-scores in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.similarity import root


def min_max(values: Sequence[float], eps: float = 0.0, constant: float = 0.0) -> list[float]:
    exact = [Fraction(value) for value in values]
    if len(set(exact)) < 2:
        return [constant for _ in exact]
    low, span = min(exact), max(exact) - min(exact) + Fraction(eps)
    return [float((value - low) / span) for value in exact]


def z_score(values: Sequence[float]) -> list[float]:
    exact = [Fraction(value) for value in values]
    if len(set(exact)) < 2:
        return [0.0 for _ in exact]
    mean = sum(exact) / len(exact)
    spread = root(sum((x - mean) ** 2 for x in exact) / len(exact))
    return [float((x - mean) / spread) for x in exact]
