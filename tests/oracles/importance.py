"""Importance in exact fractions; the figures are typed here a second time, on purpose."""

from collections.abc import Sequence
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
