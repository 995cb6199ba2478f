"""Similarity in exact fractions, with the square root in 60 decimal digits."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

Vector = Sequence[float]


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))


def root(square: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        context.Emin, context.Emax = -9999, 9999
        return Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def cosine(query: Vector, memories: Sequence[Vector]) -> list[float]:
    length = root(dot(query, query))
    return [float(dot(query, m) / (length * root(dot(m, m)))) for m in memories]


def euclidean(query: Vector, memories: Sequence[Vector]) -> list[float]:
    gaps = [[Fraction(x) - Fraction(q) for q, x in zip(query, m, strict=True)] for m in memories]
    return [float(root(sum((gap * gap for gap in row), Fraction(0)))) for row in gaps]
