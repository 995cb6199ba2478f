"""Recency in 50 decimal digits; ages counted in whole microseconds."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction

LN_2 = Decimal("0.69314718055994530941723212145817656807550013436025525412068")


def recency(hours: Sequence[float], decay: float) -> list[float]:
    with localcontext() as context:
        context.prec = 50
        return [float((Decimal(decay).ln() * Decimal(age)).exp()) for age in hours]


def recency_by_half_life(
    age_days: Sequence[float], half_life_days: Sequence[float], pinned: Sequence[bool]
) -> list[float]:
    fresh = []
    with localcontext() as context:
        context.prec = 50
        for age, half_life, pin in zip(age_days, half_life_days, pinned, strict=True):
            halvings = Decimal(age) / Decimal(half_life)
            fresh.append(1.0 if pin else float((-LN_2 * halvings).exp()))
    return fresh


def half_life_days(decay: float) -> float:
    with localcontext() as context:
        context.prec = 50
        return float(-LN_2 / Decimal(decay).ln() / 24)


def decay_per_hour(half_life: float) -> float:
    with localcontext() as context:
        context.prec = 50
        return float((-LN_2 / (24 * Decimal(half_life))).exp())


def age_hours(
    created_at: Sequence[datetime], last_accessed_at: Sequence[datetime | None], now: datetime
) -> list[float]:
    ages = []
    for birth, access in zip(created_at, last_accessed_at, strict=True):
        past = _microseconds(now) - _microseconds(birth if access is None else access)
        ages.append(float(Fraction(max(past, 0), 3_600_000_000)))
    return ages


def _microseconds(time: datetime) -> int:
    offset = time.utcoffset()
    assert offset is not None
    wall_clock = time.replace(tzinfo=None) - datetime(1970, 1, 1)
    return (wall_clock - offset) // timedelta(microseconds=1)
