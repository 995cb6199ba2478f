"""Forgetting: what may be deleted, and what should be seen again before it fades."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from memlib.checks import Floats, card_ids, finite_fields, numbers, same_length
from memlib.normalization import min_max

INF = math.inf
BLOCK = 512  # rows of the similarity matrix that are held at once
VIEW, CITE, EDIT = 1.0, 2.0, 0.5  # Formulas, section 5: weights of the three counts
EPS = 1e-6  # Formulas, section 5
RECALL_DUE = 0.7  # Formulas, section 7.2: review when p_recall falls to this
FIRST_TAU_DAYS = 1 / math.log(1 / RECALL_DUE)  # ours: the first review falls on day 1
FIRST_INTERVALS = (1, 6)  # Formulas, section 7.2, simple preset, days
PRESET_IMPORTANCE, PRESET_USAGE = 0.5, 0.3  # Formulas, section 7.2, simple preset


@dataclass(frozen=True)
class ForgetWeights:
    """Coefficients of the ForgetScore; defaults are M1's (Formulas, section 7.1)."""

    age: float = 0.35
    unused: float = 0.25
    duplicate: float = 0.20
    importance: float = 0.15
    pinned: float = 0.30

    def __post_init__(self) -> None:
        finite_fields("weights", self)


@dataclass(frozen=True)
class RetentionPolicy:
    """Thresholds and TTLs in days by kind; defaults are M1's (Formulas, section 7.1)."""

    soft: float = 0.6
    hard: float = 0.8
    soft_ttl_days: Mapping[str, float] = field(
        default_factory=lambda: {"working": 2.0, "episodic": 30.0, "semantic": INF}
    )
    hard_ttl_days: Mapping[str, float] = field(
        default_factory=lambda: {"working": 7.0, "episodic": 180.0, "semantic": INF}
    )

    def __post_init__(self) -> None:
        for name, value in (("soft", self.soft), ("hard", self.hard)):
            numbers(f"policy.{name}", value, ndim=0)
        for name, days in (("soft", self.soft_ttl_days), ("hard", self.hard_ttl_days)):
            for kind, ttl in days.items():
                numbers(f"policy.{name}_ttl_days[{kind!r}]", ttl, low=0, infinite=True, ndim=0)


@dataclass(frozen=True)
class ReviewWeights:
    """How a review moves the time constant; defaults are M1's (Formulas, section 7.2)."""

    importance: float = 0.6
    usage: float = 0.4
    helpful: float = 0.5
    bad: float = 0.7

    def __post_init__(self) -> None:
        finite_fields("weights", self)


def usage_raw(views: ArrayLike, cites: ArrayLike, edits: ArrayLike) -> Floats:
    """How much a card was used, on a log scale: before the batch is looked at.

    usage_raw = ln(1 + views) + 2 · ln(1 + cites) + 0.5 · ln(1 + edits)

    views, cites, edits  shape (n,), counts, 0 or more
    returns              shape (n,), 0 or more
    Raises ValueError for a negative count or lengths that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 5.

    >>> usage_raw([0, 9], [0, 1], [0, 0]).round(2)
    array([0.  , 3.69])
    """
    named = {"views": views, "cites": cites, "edits": edits}
    counts = {k: numbers(k, v, low=0, ndim=1, like=views) for k, v in named.items()}
    same_length(**counts)
    seen, cited, edited = (np.log1p(values) for values in counts.values())
    raw: Floats = VIEW * seen + CITE * cited + EDIT * edited
    return raw


def usage(views: ArrayLike, cites: ArrayLike, edits: ArrayLike, eps: float = EPS) -> Floats:
    """Usage in [0, 1) among a batch: the candidates of a search, the live cards of a sweep.

    usage = (usage_raw − min) / (max − min + eps); a batch used equally often gets 0

    views, cites, edits  shape (n,), counts, 0 or more
    returns              shape (n,), in [0, 1)
    Raises ValueError as `usage_raw` does.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 5.

    >>> usage([0, 9], [0, 1], [0, 0]).round(2)
    array([0., 1.])
    """
    return min_max(usage_raw(views, cites, edits), eps=eps)


def forget_score(
    recency: ArrayLike,
    usage: ArrayLike,
    dup_ratio: ArrayLike,
    importance: ArrayLike,
    pinned: ArrayLike,
    weights: ForgetWeights = ForgetWeights(),
) -> Floats:
    """Deletion risk: high for old, unused, duplicated cards; low for important or pinned ones.

    ForgetScore = u1 · (1 − recency) + u2 · (1 − usage) + u3 · dup_ratio
                  − u4 · importance − u5 · pinned

    recency, usage, dup_ratio, importance  shape (n,), each in [0, 1]
    pinned   shape (n,), True or False
    returns  shape (n,), with M1's weights in [−0.45, 0.80]
    Raises ValueError for a part outside [0, 1] or lengths that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 7.1.

    >>> forget_score([0.0], [0.0], [1.0], [0.0], [False]).round(2)
    array([0.8])
    """
    parts = {"recency": recency, "usage": usage, "dup_ratio": dup_ratio}
    parts |= {"importance": importance, "pinned": pinned}
    unit = {k: numbers(k, v, low=0, high=1, ndim=1, like=recency) for k, v in parts.items()}
    same_length(**unit)
    fresh, used, copied, matters, pins = unit.values()
    risk: Floats = weights.age * (1 - fresh) + weights.unused * (1 - used)
    return risk + weights.duplicate * copied - weights.importance * matters - weights.pinned * pins


def duplicate_ratio(
    vectors: ArrayLike, importance: ArrayLike, age_days: ArrayLike, ids: Sequence[str]
) -> Floats:
    """How much of a card another card says already, one that outranks it.

    dup_ratio = largest max(0, cos) to a card that is more important, or as important and newer, or
    both alike and earlier by id: so of two copies one survives

    vectors     shape (n, d), unit length
    importance  shape (n,);  age_days  shape (n,), days since creation;  ids  n distinct str
    returns     shape (n,), in [0, 1]; 0 for the card that outranks all
    Raises ValueError for lengths that differ or a value that is not finite.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 7.1
    (duplication penalty as the substitute); the rule of rank is this course's.

    >>> duplicate_ratio([[1, 0], [1, 0]], [0.5, 0.9], [1, 1], ["copy", "first"])
    array([1., 0.])
    """
    units = numbers("vectors", vectors, ndim=2)
    weight = numbers("importance", importance, ndim=1, like=ids)
    age = numbers("age_days", age_days, low=0, ndim=1, like=ids)
    names = card_ids(ids)
    same_length(vectors=units, importance=weight, age_days=age, ids=names)
    order = np.array(
        sorted(range(len(names)), key=lambda row: (-weight[row], age[row], names[row])), dtype=int
    )
    ratio = np.zeros(len(names))
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        alike = units[rows] @ units[order[: start + len(rows)]].T
        above = np.arange(alike.shape[1]) < start + np.arange(len(rows))[:, None]
        ratio[rows] = np.where(above, alike, 0).max(axis=1).round(12).clip(0, 1)
    return ratio


def outranks(
    importance: ArrayLike, age_days: ArrayLike, ids: Sequence[str] | pd.Index, row: int
) -> NDArray[np.bool_]:
    """Which cards outrank one: more important, else newer, else earlier by id.

    importance  shape (n,);  age_days  shape (n,), days since creation;  ids  n distinct str
    row         the card that is compared
    returns     shape (n,), False for the card itself
    Raises ValueError for lengths that differ or a value that is not finite.
    Source: this course; the rule behind `duplicate_ratio`.

    >>> outranks([0.5, 0.9, 0.5], [1, 1, 2], ["a", "b", "c"], row=0)
    array([False,  True, False])
    """
    weight = numbers("importance", importance, ndim=1)
    age = numbers("age_days", age_days, low=0, ndim=1)
    names = card_ids(ids)
    same_length(importance=weight, age_days=age, ids=names)
    earlier = np.array([name < names[row] for name in names], dtype=bool)
    newer = (age < age[row]) | ((age == age[row]) & earlier)
    above: NDArray[np.bool_] = (weight > weight[row]) | ((weight == weight[row]) & newer)
    return above


def retention(
    score: ArrayLike,
    age_days: ArrayLike,
    kind: Sequence[str],
    pinned: ArrayLike,
    policy: RetentionPolicy = RetentionPolicy(),
) -> tuple[str, ...]:
    """What a sweep would do with each card: keep, soft (recoverable) or hard (deleted).

    soft if score ≥ θ_soft and age ≥ TTL_soft(kind); hard likewise; a pinned card is always kept

    score     shape (n,), ForgetScores
    age_days  shape (n,), days since creation, 0 or more
    kind      n words: working, episodic or semantic
    pinned    shape (n,), True or False
    returns   n words
    Raises ValueError for a kind without a TTL, a negative age, lengths that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 7.1,
    Deletion Policy; pinned: section 4.

    >>> retention([0.7, 0.7, 0.9], [3, 1, 9], ["working"] * 3, [False] * 3)
    ('soft', 'keep', 'hard')
    """
    risk = numbers("score", score, ndim=1)
    age = numbers("age_days", age_days, low=0, ndim=1, like=score)
    pins = numbers("pinned", pinned, low=0, high=1, ndim=1, like=score)
    same_length(score=risk, age_days=age, kind=kind, pinned=pins)
    for row, word in enumerate(kind):
        if word not in policy.soft_ttl_days or word not in policy.hard_ttl_days:
            raise ValueError(f"kind[{row}] is {word!r}: the policy has no TTL for it")
    decided = []
    for danger, days, word, pin in zip(risk, age, kind, pins, strict=True):
        if not pin and danger >= policy.hard and days >= policy.hard_ttl_days[word]:
            decided.append("hard")
        elif not pin and danger >= policy.soft and days >= policy.soft_ttl_days[word]:
            decided.append("soft")
        else:
            decided.append("keep")
    return tuple(decided)


def recall_probability(days: ArrayLike, tau_days: ArrayLike) -> Floats:
    """How likely a card is still remembered, t days after its last review.

    p = exp(−t / τ); half is left after τ · ln 2, not after τ

    days      since the last review, 0 or more
    tau_days  time constant, above 0
    returns   in [0, 1]
    Raises ValueError for negative days or a τ of 0 or below.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 7.2
    (which calls τ a half-life).

    >>> recall_probability([0, 1], FIRST_TAU_DAYS).round(2)
    array([1. , 0.7])
    """
    t = numbers("days", days, low=0)
    tau = numbers("tau_days", tau_days, low=np.nextafter(0, 1), infinite=True, like=days)
    return np.exp(-t / tau)


def days_until_due(tau_days: float, due: float = RECALL_DUE) -> float:
    """Days from a review to the next: when the recall probability has fallen to `due`.

    t = τ · ln(1 / due); for due = 0.7 that is 0.357 τ

    tau_days  above 0;  due  in (0, 1]
    returns   days, 0 or more
    Raises ValueError for a τ of 0 or below, or a due outside (0, 1].
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 7.2.

    >>> round(days_until_due(FIRST_TAU_DAYS), 9)
    1.0
    """
    tau = float(numbers("tau_days", tau_days, low=np.nextafter(0, 1), ndim=0))
    level = float(numbers("due", due, low=np.nextafter(0, 1), high=1, ndim=0))
    return tau * math.log(1 / level)


def next_tau(
    tau_days: float,
    importance: float,
    usage: float,
    helpful: float = 0.0,
    bad: float = 0.0,
    weights: ReviewWeights = ReviewWeights(),
) -> float:
    """The time constant after a review: longer for what matters, is used and was helpful.

    τ_next = τ · (1 + a1 · importance + a2 · usage + a3 · helpful − a4 · bad)

    tau_days  above 0
    importance, usage, helpful, bad  in [0, 1]; the last two are rates since the last review
    returns   days; with M1's weights between 0.3 τ and 2.5 τ
    Raises ValueError for a value outside its range, or weights that would bring τ to 0 or below.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 7.2.

    >>> round(next_tau(10, importance=1, usage=1, helpful=1), 6)
    25.0
    """
    tau = float(numbers("tau_days", tau_days, low=np.nextafter(0, 1), ndim=0))
    named = {"importance": importance, "usage": usage, "helpful": helpful, "bad": bad}
    i, u, h, b = (float(numbers(k, v, low=0, high=1, ndim=0)) for k, v in named.items())
    gain = weights.importance * i + weights.usage * u + weights.helpful * h - weights.bad * b
    if 1 + gain <= 0:
        raise ValueError(f"weights give a factor of {1 + gain:g}: τ must stay above 0")
    return tau * (1 + gain)


def next_interval(interval_days: int | None, importance: float, usage: float) -> int:
    """The simple preset: 1 day, then 6, then each interval a little longer.

    interval_next = ⌈interval · (1 + 0.5 · importance + 0.3 · usage)⌉, the product rounded to 9
    decimals first, so that 10 · (1 + 0.1 + 0.3) is 14 and not 15

    interval_days  the interval that just passed, 1 or more; None after storing
    importance, usage  in [0, 1]
    returns  days: 1 after None, 6 after 1, then by the formula
    Raises ValueError for a value outside its range.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 7.2,
    Simple Preset.

    >>> [next_interval(None, 0, 0), next_interval(1, 0.2, 1), next_interval(10, 0.2, 1)]
    [1, 6, 14]
    """
    i = float(numbers("importance", importance, low=0, high=1, ndim=0))
    u = float(numbers("usage", usage, low=0, high=1, ndim=0))
    if interval_days is None:
        return FIRST_INTERVALS[0]
    days = float(numbers("interval_days", interval_days, low=1, ndim=0))
    if isinstance(interval_days, bool) or days % 1:
        raise ValueError(f"interval_days is {interval_days!r}: must be a whole number from 1")
    if days == FIRST_INTERVALS[0]:
        return FIRST_INTERVALS[1]
    return math.ceil(round(days * (1 + PRESET_IMPORTANCE * i + PRESET_USAGE * u), 9))
