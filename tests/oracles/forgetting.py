"""Forgetting in exact fractions, exponentials in 50 decimal digits; coefficients as printed."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

AGE, UNUSED, COPIED = Fraction("0.35"), Fraction("0.25"), Fraction("0.20")
MATTERS, PINNED = Fraction("0.15"), Fraction("0.30")


def usage_raw(views: Sequence[int], cites: Sequence[int], edits: Sequence[int]) -> list[Fraction]:
    with localcontext() as context:
        context.prec = 50
        return [
            Fraction((1 + Decimal(v)).ln() + 2 * (1 + Decimal(c)).ln() + (1 + Decimal(e)).ln() / 2)
            for v, c, e in zip(views, cites, edits, strict=True)
        ]


def usage(views: Sequence[int], cites: Sequence[int], edits: Sequence[int]) -> list[Fraction]:
    raw = usage_raw(views, cites, edits)
    if len(set(raw)) < 2:
        return [Fraction(0) for _ in raw]
    span = max(raw) - min(raw) + Fraction("1e-6")
    return [(value - min(raw)) / span for value in raw]


def forget_score(
    recency: Fraction, usage: Fraction, dup_ratio: Fraction, importance: Fraction, pinned: bool
) -> Fraction:
    risk = AGE * (1 - recency) + UNUSED * (1 - usage) + COPIED * dup_ratio
    return risk - MATTERS * importance - PINNED * pinned


def duplicate_ratio(
    vectors: Sequence[Sequence[float]],
    importance: Sequence[float],
    age_days: Sequence[float],
    ids: Sequence[str],
) -> list[float]:
    ratio = []
    for card, vector in enumerate(vectors):
        closest = 0.0
        for other, its_vector in enumerate(vectors):
            if other == card or importance[other] < importance[card]:
                continue
            outranks = importance[other] > importance[card] or age_days[other] < age_days[card]
            alike = importance[other] == importance[card] and age_days[other] == age_days[card]
            if outranks or (alike and ids[other] < ids[card]):
                cosine = math.fsum(x * y for x, y in zip(vector, its_vector, strict=True))
                closest = max(closest, min(cosine, 1.0))
        ratio.append(closest)
    return ratio


def retention(
    score: float,
    age_days: float,
    kind: str,
    pinned: bool,
    soft: tuple[float, Mapping[str, float]],
    hard: tuple[float, Mapping[str, float]],
) -> str:
    if pinned:
        return "keep"
    for word, (threshold, ttl) in (("hard", hard), ("soft", soft)):
        if score >= threshold and age_days >= ttl[kind]:
            return word
    return "keep"


def recall_probability(days: float, tau_days: float) -> float:
    with localcontext() as context:
        context.prec = 50
        return float((-Decimal(days) / Decimal(tau_days)).exp())


def days_until(tau_days: float, level: str) -> float:
    with localcontext() as context:
        context.prec = 50
        return float(-Decimal(tau_days) * Decimal(level).ln())


def next_tau(
    tau_days: Fraction, importance: Fraction, usage: Fraction, helpful: Fraction, bad: Fraction
) -> Fraction:
    gain = Fraction("0.6") * importance + Fraction("0.4") * usage
    return tau_days * (1 + gain + Fraction("0.5") * helpful - Fraction("0.7") * bad)


def growth(importance: Fraction, usage: Fraction) -> Fraction:
    return 1 + Fraction("0.5") * importance + Fraction("0.3") * usage


def next_interval(interval_days: int, growth: Fraction) -> int:
    return 6 if interval_days == 1 else math.ceil(interval_days * growth)
