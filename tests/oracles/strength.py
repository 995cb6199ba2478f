"""Strength by the literal formulas: a number added to every coordinate, in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.similarity import Vector, dot, root


def of_vector(vector: Vector, alpha: float = 0.5, beta: float = 0.5) -> float:
    exact = [Fraction(x) for x in vector]
    mean = sum(exact, Fraction(0)) / len(exact)
    spread = root(sum(((x - mean) ** 2 for x in exact), Fraction(0)) / len(exact))
    return float(Fraction(alpha) * (mean + Fraction(beta) * spread))


def biased_cosine(
    query: Vector, memories: Sequence[Vector], query_strength: float, strengths: Sequence[float]
) -> list[float]:
    length = root(dot(query, query))
    moved = [Fraction(x) + Fraction(query_strength) for x in query]
    scores = []
    for memory, strength in zip(memories, strengths, strict=True):
        lifted = [Fraction(x) + Fraction(strength) for x in memory]
        product = sum((x * y for x, y in zip(lifted, moved, strict=True)), Fraction(0))
        scores.append(float(product / (length * root(dot(memory, memory)))))
    return scores


def bounded(cosine: float, strength: float) -> float:
    return float(Fraction(cosine) + Fraction(strength) * (1 - Fraction(cosine)))
