"""Min-max in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction


def min_max(values: Sequence[float], eps: float = 0.0, constant: float = 0.0) -> list[float]:
    exact = [Fraction(value) for value in values]
    if len(set(exact)) < 2:
        return [constant for _ in exact]
    low, span = min(exact), max(exact) - min(exact) + Fraction(eps)
    return [float((value - low) / span) for value in exact]
