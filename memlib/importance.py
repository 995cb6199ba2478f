"""Importance: how much a memory matters, rated once, when it is written; how sure a rating is."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memlib.checks import Floats, numbers, same_length

LOWEST_RATING, HIGHEST_RATING = 1, 10  # *Scoring beyond similarity*, Importance
DEFAULT_IMPORTANCE = 0.5  # Formulas, section 4: imp_user where nobody rated
UNRATED = 5.5  # the rating whose importance is DEFAULT_IMPORTANCE
PINNED_BOOST = 0.20  # Formulas, section 4
PROJECT_POLICY = 0.05  # Formulas, section 4: its example of a policy, project:accounting
KIND_BOOST = {"semantic": 0.10, "episodic": 0.0, "working": -0.05}  # Formulas, section 4
RUBRIC = {  # ours; the two ends are those of *Scoring beyond similarity*
    "1-2": "trivia: nobody is worse off if it is gone (printer ink)",
    "3-4": "habits and small preferences",
    "5-6": "facts that change an everyday answer",
    "7-8": "forgetting it would hurt or embarrass",
    "9-10": "safety, health, law (a peanut allergy)",
}
_SCALE: Any = {"low": LOWEST_RATING, "high": HIGHEST_RATING, "ndim": 1, "missing": True}


def from_rating(rating: ArrayLike) -> Floats:
    """Importance in [0, 1] from a rating of 1 to 10.

    importance = (rating - 1) / 9; an unrated card (NaN) gets 0.5

    rating   in [1, 10], or NaN for unrated, any shape
    returns  in [0, 1]
    Raises ValueError for a rating outside 1 to 10.
    Source: *Scoring beyond similarity*, Importance; default from *memento-mcp-server 0.1.0,
    Formulas for Search Ranking and Memory Decay*, section 4.

    >>> from_rating([1, 10, float("nan")])
    array([0. , 1. , 0.5])
    """
    rated = numbers("rating", rating, low=LOWEST_RATING, high=HIGHEST_RATING, missing=True)
    scaled = (rated - LOWEST_RATING) / (HIGHEST_RATING - LOWEST_RATING)
    return np.where(np.isnan(scaled), DEFAULT_IMPORTANCE, scaled)


def importance(
    user: ArrayLike, pinned: ArrayLike, kind: Sequence[str], policy: ArrayLike = 0.0
) -> Floats:
    """Importance with what the system knows added: pins, kind, and a project's own policy.

    importance = clamp(user + 0.20 · pinned + kind boost + policy, 0, 1)

    user     shape (n,), in [0, 1]
    pinned   shape (n,), True or False
    kind     n words, each working (-0.05), episodic (0.00) or semantic (+0.10)
    policy   one number or shape (n,), for example PROJECT_POLICY on cards of one project
    returns  shape (n,), in [0, 1]
    Raises ValueError for a user importance outside [0, 1], an unknown kind, lengths that differ,
    pandas indexes that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 4.

    >>> importance([0.5, 0.9], [False, True], ["working", "semantic"])
    array([0.45, 1.  ])
    """
    rated = numbers("user", user, low=0, high=1, ndim=1)
    pins = numbers("pinned", pinned, low=0, high=1, ndim=1, like=user)
    extra = numbers("policy", policy, like=user)
    if extra.shape not in ((), rated.shape):
        raise ValueError(f"policy has shape {extra.shape}: must be one number, or one a card")
    same_length(user=rated, pinned=pins, kind=kind)
    for row, word in enumerate(kind):
        if word not in KIND_BOOST:
            raise ValueError(f"kind[{row}] is {word!r}: must be one of {', '.join(KIND_BOOST)}")
    boost = np.array([KIND_BOOST[word] for word in kind], dtype=float)
    total: Floats = rated + PINNED_BOOST * pins + boost + extra
    return total.clip(0, 1)


class Moves(NamedTuple):
    """Every one-point move of one card's rating, one a row."""

    row: NDArray[np.intp]  # which card
    step: NDArray[np.intp]  # -1 or 1
    changed: NDArray[np.bool_]  # whether other cards stand at the top then


def weighted_kappa(first: ArrayLike, second: ArrayLike) -> float:
    """Agreement of two raters beyond chance; a difference counts by its square.

    kappa = 1 - mean over cards of (x - y)^2 / mean over all pairs of cards i, j of (x_i - y_j)^2

    first, second  shape (n,), ratings of the same cards, in [1, 10]; NaN: unrated, left out
    returns        in [-1, 1]: 1 for equal ratings, 0 for what chance gives, negative for less; 0
                   where both give every card one and the same rating: that shows no agreement
                   beyond chance
    The usual weights 1 - (i - j)^2 / 81 give the same: 81 cancels out.
    Raises ValueError for a rating outside 1 to 10, lengths or pandas indexes that differ, no card
    that both have rated.
    Source: Cohen 1968, Weighted kappa; the squares are those of Fleiss and Cohen 1973.

    >>> weighted_kappa([1, 2, 3], [1, 3, 2])
    0.5
    """
    x, y = numbers("first", first, **_SCALE), numbers("second", second, like=first, **_SCALE)
    same_length(first=x, second=y)
    both = ~(np.isnan(x) | np.isnan(y))
    if not both.any():
        raise ValueError(f"first and second have {len(x)} cards: no card is rated in both")
    x, y = x[both], y[both]
    if min(x.min(), y.min()) == max(x.max(), y.max()):
        return 0.0
    by_chance = x.var() + y.var() + (x.mean() - y.mean()) ** 2  # the mean over all pairs
    return max(-1.0, float(1 - np.mean((x - y) ** 2) / by_chance))


def top_three_changes(
    rating: ArrayLike, order: Callable[[Floats], ArrayLike], top_k: int = 3
) -> Moves:
    """Which one-point changes of one card's rating put other cards at the top, all of them tried.

    share = moves after which the set of the first top_k is another / all moves

    rating   shape (n,), in [1, 10]; NaN: unrated, such a card is not moved
    order    ratings -> row numbers, best first, for example by `ranking.rank_order`; it is given
             a copy with one rating changed, NaN left in
    top_k    1 or more
    returns  Moves: each rated card down by 1 and up by 1, unless that leaves 1 to 10; by row,
             then step; `changed.mean()` is the share
    Another order of the same cards at the top is no change: all of them are injected. Where no card
    is rated there are no moves, and no share either: look at `changed.size` before its mean.
    Raises ValueError for a rating outside 1 to 10, a top_k below 1, an `order` that gives no
    distinct row numbers.
    Source: this course; the top three of *Scoring beyond similarity*, table (c).

    >>> moves = top_three_changes([5, 5, 3], lambda r: (-r).argsort(kind="stable"), top_k=1)
    >>> moves.changed.tolist()  # the first card down and up, the second, the third
    [True, False, False, True, False, False]
    """
    ratings = numbers("rating", rating, **_SCALE)
    k, n = int(numbers("top_k", top_k, low=1, ndim=0)), len(ratings)

    def top(changed: Floats) -> set[int]:
        rows = np.asarray(order(changed))
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise ValueError(f"order gave {rows!r:.80}: must be row numbers, best first")
        if len(set(rows.tolist())) < len(rows) or not set(rows.tolist()) <= set(range(n)):
            raise ValueError(f"order gave {rows!r:.80}: must be distinct row numbers below {n}")
        return {int(row) for row in rows[:k]}

    before, moves = top(ratings.copy()), []
    for row, step in ((row, step) for row in range(len(ratings)) for step in (-1, 1)):
        moved = ratings.copy()
        moved[row] += step
        if LOWEST_RATING <= moved[row] <= HIGHEST_RATING:  # never so for NaN
            moves.append((row, step, top(moved) != before))
    rows, steps, changed = zip(*moves, strict=True) if moves else ((), (), ())
    return Moves(np.array(rows, np.intp), np.array(steps, np.intp), np.array(changed, bool))
