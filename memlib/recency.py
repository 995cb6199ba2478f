"""Recency: how fresh a memory is, as decay per hour or as a half-life in days."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers, same_length

DECAY_PER_HOUR = 0.995  # *Scoring beyond similarity*, Recency
HALF_LIFE_DAYS = {"working": 2.0, "episodic": 30.0, "semantic": 180.0}  # Formulas, section 3
CLOCK_SKEW_HOURS = 5 / 60  # two clocks may disagree by five minutes

Times = Sequence[datetime | None] | pd.Series


def recency(hours: ArrayLike, decay: float = DECAY_PER_HOUR) -> Floats:
    """Freshness that shrinks by one factor every hour since the last access.

    recency = decay ^ hours

    hours    hours since last access, 0 or more, any shape
    decay    factor per hour, in (0, 1]; 1 never fades
    returns  in [0, 1], 1 at the moment of access
    Raises ValueError for negative or non-finite hours, or a decay outside (0, 1].
    Source: *Scoring beyond similarity*, Recency; Park et al. 2023, Generative Agents (the paper).

    >>> recency([1, 26, 120]).round(3)
    array([0.995, 0.878, 0.548])
    """
    age = numbers("hours", hours, low=0)
    return np.asarray(_decay(decay) ** age)


def recency_by_half_life(
    age_days: ArrayLike, half_life_days: ArrayLike, pinned: ArrayLike = False
) -> Floats:
    """Freshness that halves once per half-life; a pinned card stays fresh.

    recency = exp(-ln 2 · age_days / half_life_days), and 1 where pinned

    age_days        days since last access, 0 or more
    half_life_days  above 0, infinite means never fades; one for all or one a card
    pinned          True where the card is protected from decay
    returns         in [0, 1]
    Raises ValueError for a negative age, a half-life of 0 or below, pandas indexes that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 3.

    >>> recency_by_half_life([0, 30, 60], 30)
    array([1.  , 0.5 , 0.25])
    """
    age = numbers("age_days", age_days, low=0)
    half_life = _above_zero("half_life_days", half_life_days, like=age_days)
    pins = numbers("pinned", pinned, low=0, high=1, like=age_days)
    return np.where(pins > 0, 1.0, np.exp2(-age / half_life))


def half_life_days(decay: float) -> float:
    """Days until recency is one half, for a decay per hour.

    half_life_days = ln 0.5 / ln decay / 24

    decay    factor per hour, in (0, 1]; 1 gives infinity
    returns  days, above 0
    Raises ValueError for a decay outside (0, 1].
    Source: *Scoring beyond similarity*, exercise (half-life of 0.995).

    >>> round(half_life_days(0.995), 2)
    5.76
    """
    factor = _decay(decay)
    return float(np.log(0.5) / np.log(factor) / 24) if factor < 1 else float("inf")


def decay_per_hour(half_life_days: float) -> float:
    """Decay per hour that has the given half-life: the inverse of `half_life_days`.

    decay = 0.5 ^ (1 / (24 · half_life_days))

    half_life_days  above 0, infinite gives 1
    returns         factor per hour, in (0, 1]
    Raises ValueError for a half-life of 0 or below, or so few seconds that the decay would be 0.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 3.

    >>> round(decay_per_hour(30), 6)
    0.999038
    """
    days = float(_above_zero("half_life_days", half_life_days, ndim=0))
    factor = float(0.5 ** (1 / (24 * days)))
    if factor == 0:
        raise ValueError(f"half_life_days is {days!r}: so short that nothing is left after an hour")
    return factor


def age_hours(created_at: Times, last_accessed_at: Times, now: datetime) -> Floats:
    """Hours since each card was last accessed, or since creation if it never was.

    age = now - (last_accessed_at or created_at)

    created_at, last_accessed_at  times with a zone; None or NaT in the second means never
    now      a time with a zone
    returns  shape (n,), hours, 0 or more; up to five minutes of clock skew count as 0
    Raises ValueError for a time without a zone or in the future, an access before creation,
    pandas indexes that differ.
    Source: *Scoring beyond similarity*, Recency (the clock restarts on access).

    >>> from datetime import UTC
    >>> age_hours([datetime(2025, 6, 1, tzinfo=UTC)], [None], datetime(2025, 6, 2, tzinfo=UTC))
    array([24.])
    """
    same_length(created_at=created_at, last_accessed_at=last_accessed_at)
    created = [_aware("created_at", row, t) for row, t in enumerate(created_at)]
    accessed = [
        None if pd.isna(t) else _aware("last_accessed_at", row, t)
        for row, t in enumerate(last_accessed_at)
    ]
    moment = _aware("now", None, now)
    hours = np.empty(len(created))
    for row, (birth, access) in enumerate(zip(created, accessed, strict=True)):
        if access is not None and access < birth:
            raise ValueError(f"last_accessed_at[{row}] is {access}: before created_at {birth}")
        for name, time in (("created_at", birth), ("last_accessed_at", access or birth)):
            hours[row] = (moment - time).total_seconds() / 3600
            if hours[row] < -CLOCK_SKEW_HOURS:
                raise ValueError(f"{name}[{row}] is {time}: in the future of now, {moment}")
    return hours.clip(0)


def _decay(decay: float) -> float:
    factor = float(numbers("decay", decay, high=1, ndim=0))
    if factor <= 0:
        raise ValueError(f"decay is {factor!r}: must be above 0")
    return factor


def _above_zero(
    name: str, values: ArrayLike, ndim: int | None = None, like: object = None
) -> Floats:
    array = numbers(name, values, infinite=True, ndim=ndim, like=like)
    for row in np.argwhere(array <= 0):
        where = f"{name}[{row[0]}]" if row.size else name
        raise ValueError(f"{where} is {float(array[tuple(row)])!r}: must be above 0")
    return array


def _aware(name: str, row: int | None, time: datetime | None) -> datetime:
    where = name if row is None else f"{name}[{row}]"
    if not isinstance(time, datetime) or pd.isna(time):
        raise ValueError(f"{where} is {time!r}: must be a datetime")
    if time.utcoffset() is None:
        raise ValueError(f"{where} is {time}: has no time zone; say which, for example UTC")
    try:
        return time.astimezone(UTC)  # two times of one zone subtract as wall clocks, summer or not
    except OverflowError:
        raise ValueError(f"{where} is {time}: outside the years 1 to 9999 in UTC") from None
