"""Importance: how much a memory matters, rated once, when it is written."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers, same_length

LOWEST_RATING, HIGHEST_RATING = 1, 10  # *Scoring beyond similarity*, Importance
DEFAULT_IMPORTANCE = 0.5  # Formulas, section 4: imp_user where nobody rated
UNRATED = 5.5  # the rating whose importance is DEFAULT_IMPORTANCE
PINNED_BOOST = 0.20  # Formulas, section 4
KIND_BOOST = {"semantic": 0.10, "episodic": 0.0, "working": -0.05}  # Formulas, section 4
RUBRIC = {  # ours; the two ends are those of *Scoring beyond similarity*
    "1-2": "trivia: nobody is worse off if it is gone (printer ink)",
    "3-4": "habits and small preferences",
    "5-6": "facts that change an everyday answer",
    "7-8": "forgetting it would hurt or embarrass",
    "9-10": "safety, health, law (a peanut allergy)",
}


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
    policy   one number or shape (n,), for example +0.05 on cards of one project
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
