"""Importance in exact fractions; the figures are typed here a second time, on purpose."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isnan

BOOST = {"semantic": Fraction("0.10"), "episodic": Fraction(0), "working": Fraction("-0.05")}


def from_rating(ratings: Sequence[float]) -> list[float]:
    return [0.5 if isnan(rating) else float((Fraction(rating) - 1) / 9) for rating in ratings]


def importance(
    user: Sequence[float], pinned: Sequence[bool], kind: Sequence[str], policy: Sequence[float]
) -> list[float]:
    clamped = []
    for own, pin, word, extra in zip(user, pinned, kind, policy, strict=True):
        total = Fraction(own) + Fraction("0.20") * pin + BOOST[word] + Fraction(extra)
        clamped.append(float(min(max(total, Fraction(0)), Fraction(1))))
    return clamped


def weighted_kappa(first: Sequence[float], second: Sequence[float]) -> float:
    """By the table of pairs, as Cohen 1968 has it, with quadratic weights of disagreement."""
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if not (isnan(x) or isnan(y))]
    return kappa(pairs, lambda i, j: (i - j) ** 2)


def kappa(
    pairs: Sequence[tuple[float, float]], weight: Callable[[Fraction, Fraction], Fraction | int]
) -> float:
    exact = [(Fraction(x), Fraction(y)) for x, y in pairs]
    seen = sum(weight(x, y) for x, y in exact)
    by_chance = sum(weight(x, y) for x, _ in exact for _, y in exact)
    return float(1 - Fraction(seen * len(exact)) / by_chance) if by_chance else 0.0


def top_three_changes(
    ratings: Sequence[float], score: Callable[[Sequence[float]], Sequence[float]], top_k: int
) -> list[tuple[int, int, bool]]:
    """Ranks by `score`, highest first, ties by row."""

    def top(values: Sequence[float]) -> set[int]:
        scores = score(values)
        return set(sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:top_k])

    moves = []
    for row, rating in enumerate(ratings):
        for step in (-1, 1):
            if not isnan(rating) and 1 <= rating + step <= 10:
                moved = [*ratings[:row], rating + step, *ratings[row + 1 :]]
                moves.append((row, step, top(moved) != top(ratings)))
    return moves
