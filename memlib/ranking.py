"""Ranking: put the parts together and order the cards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from memlib.checks import Floats, card_ids, finite_fields, numbers, same_length
from memlib.normalization import min_max
from memlib.similarity import dots

INJECTED = 3  # *Scoring beyond similarity*, table (c): the top three go into the prompt
MMR_LAMBDA = 0.8  # Formulas, section 6
THETA_KEEP = 0.35  # Formulas, section 8: belongs to an embedder, calibrate it for yours
DIVERSITY = ("penalty", "mmr", "none")
WEIGHTS = (1.0, 1.0, 1.0)  # *Scoring beyond similarity*: the parts are added as they are
LARGEST_WEIGHT = 1e6  # sums of much larger ones would overflow


class ThreeParts(NamedTuple):
    """The three normalised parts of each card, each in [0, 1], and their weighted sum."""

    relevance: Floats
    recency: Floats
    importance: Floats
    total: Floats


def three_part_score(
    relevance: ArrayLike,
    recency: ArrayLike,
    importance: ArrayLike,
    weights: Sequence[float] = WEIGHTS,
) -> ThreeParts:
    """Weighted sum of relevance, recency and importance, each min-max normalised.

    total = w_relevance · relevance' + w_recency · recency' + w_importance · importance'

    relevance, recency, importance  shape (n,), raw, over all live cards
    weights  three numbers, 0 to a million, in that order
    returns  ThreeParts: the normalised parts (before weighting) and total, in [0, sum of weights]
    Raises ValueError for lengths that differ, a value that is not finite, a weight that is
    negative or too large, pandas indexes that differ.
    Source: *Scoring beyond similarity*, Three parts of one score and table (c).

    >>> three_part_score([0.7, 0.4], [0.1, 0.9], [8, 1], weights=(1, 1, 1)).total
    array([2., 1.])
    """
    raw = [
        numbers("relevance", relevance, ndim=1),
        numbers("recency", recency, ndim=1, like=relevance),
        numbers("importance", importance, ndim=1, like=relevance),
    ]
    same_length(relevance=raw[0], recency=raw[1], importance=raw[2])
    w = numbers("weights", weights, low=0, high=LARGEST_WEIGHT, ndim=1)
    if w.shape != (3,):
        raise ValueError(f"weights has {w.size} values: must be relevance, recency, importance")
    r, f, i = (min_max(part) for part in raw)
    return ThreeParts(r, f, i, w[0] * r + w[1] * f + w[2] * i)


def rank_order(
    scores: ArrayLike, ids: Sequence[str] | pd.Index, top_k: int | None = None
) -> NDArray[np.intp]:
    """Row numbers of the cards from best to worst.

    order: score descending, unrounded; equal scores by id as text

    scores   shape (n,)
    ids      n distinct str
    top_k    how many to return, 1 or more; None for all; fewer cards than that is no error
    returns  row numbers, shape (min(n, top_k),)
    Raises ValueError for a score that is not finite, ids that repeat or are not str, pandas
    indexes that differ.
    Source: *Scoring beyond similarity*, tables (a) to (c); the tie rule is this course's.

    >>> rank_order([0.2, 0.9, 0.2], ["b", "c", "a"])
    array([1, 2, 0])
    """
    values, names = numbers("scores", scores, ndim=1, like=ids), card_ids(ids)
    n = same_length(scores=values, ids=names)
    k = n if top_k is None else min(n, _count("top_k", top_k))
    rows = np.arange(n)
    if 0 < k < n:  # keep every card that ties with the k-th best, sort only those
        rows = np.flatnonzero(values >= np.partition(values, n - k)[n - k])
    falling, by_id = (-values[rows]).tolist(), names[rows].tolist()  # lists: ten times as fast
    order = sorted(range(len(rows)), key=lambda at: (falling[at], by_id[at]))
    return rows[order[:k]].astype(np.intp)


def _count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} is {value!r}: must be a whole number, 1 or more")
    return int(value)


@dataclass(frozen=True)
class FinalWeights:
    """Coefficients of the final score S; defaults are M1's (Formulas, section 1)."""

    relevance: float = 0.50
    recency: float = 0.20
    importance: float = 0.20
    usage: float = 0.10
    w_duplicate: float = 0.15

    def __post_init__(self) -> None:
        finite_fields("weights", self)


class Picked(NamedTuple):
    """Cards in the order of picking, with S and the duplication penalty at that moment."""

    rows: NDArray[np.intp]
    score: Floats
    penalty: Floats


def final_score(
    relevance: ArrayLike,
    recency: ArrayLike,
    importance: ArrayLike,
    usage: ArrayLike,
    duplication: ArrayLike = 0.0,
    weights: FinalWeights = FinalWeights(),
) -> Floats:
    """The server's score S of a card.

    S = alpha · relevance + beta · recency + gamma · importance + delta · usage
        − w_duplicate · duplication

    relevance, recency, importance, usage  shape (n,), each in [0, 1]
    duplication  shape (n,) or one number, in [0, 1]: likeness to what was picked before
    returns      shape (n,), with M1's weights in [−0.15, 1]
    Raises ValueError for a part outside [0, 1] or lengths that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 1.

    >>> final_score([1.0], [1.0], [1.0], [1.0], [1.0]).round(2)
    array([0.85])
    """
    named = {"relevance": relevance, "recency": recency}
    named |= {"importance": importance, "usage": usage}
    parts = {k: numbers(k, v, low=0, high=1, ndim=1, like=relevance) for k, v in named.items()}
    copied = numbers("duplication", duplication, low=0, high=1, like=relevance)
    if copied.shape not in ((), (same_length(**parts),)):
        raise ValueError(f"duplication has shape {copied.shape}: must be one number, or one a card")
    about, fresh, matters, used = parts.values()
    total: Floats = weights.relevance * about + weights.recency * fresh
    total = total + weights.importance * matters + weights.usage * used
    return total - weights.w_duplicate * copied


def pick_diverse(
    score: ArrayLike,
    vectors: ArrayLike,
    ids: Sequence[str] | pd.Index,
    top_k: int,
    diversity: str = "penalty",
    w_duplicate: float = FinalWeights.w_duplicate,
    mmr_lambda: float = MMR_LAMBDA,
    threshold: float | None = None,
) -> Picked:
    """Pick cards one by one, each judged against all that were picked before it.

    penalty = largest max(0, cos) to a card already picked, 0 for the first
    "penalty"  next = argmax of S − w_duplicate · penalty
    "mmr"      next = argmax of λ · S − (1 − λ) · penalty; λ = 1 is the order by S
    "none"     next = argmax of S

    score      shape (n,): S without the duplication penalty (else copies are punished twice)
    vectors    shape (n, d), unit length;  ids  n distinct str, which break ties
    threshold  last of all: picks whose S at that moment is below it are left out
    returns    Picked, at most top_k cards; none at all is a right answer
    Raises ValueError for an unknown diversity, λ outside [0, 1], lengths that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, sections 6 and
    8; Carbonell and Goldstein 1998.

    >>> s, v = [0.9, 0.89, 0.8], [[1, 0], [1, 0], [0, 1]]
    >>> pick_diverse(s, v, ["a", "copy", "b"], top_k=2).rows
    array([0, 2])
    """
    base, units = numbers("score", score, ndim=1, like=ids), numbers("vectors", vectors, ndim=2)
    names = card_ids(ids)
    same_length(score=base, vectors=units, ids=names)
    if diversity not in DIVERSITY:
        raise ValueError(f"diversity is {diversity!r}: must be one of {', '.join(DIVERSITY)}")
    cost = float(numbers("w_duplicate", w_duplicate, low=0, ndim=0))
    lam = float(numbers("mmr_lambda", mmr_lambda, low=0, high=1, ndim=0))
    floor = -np.inf if threshold is None else float(numbers("threshold", threshold, ndim=0))
    penalty, left, text = np.zeros(len(base)), np.arange(len(base)), names.tolist()
    rows: list[int] = []
    at: list[tuple[float, float]] = []
    for _ in range(min(_count("top_k", top_k), len(base))):
        if rows:
            penalty = np.maximum(penalty, dots(units, units[rows[-1]]).clip(0, 1))
        punished = base - cost * penalty if diversity == "penalty" else base
        worth = (lam * base - (1 - lam) * penalty if diversity == "mmr" else punished)[left]
        best = min(left[worth == worth.max()].tolist(), key=text.__getitem__)
        left = left[left != best]
        rows.append(best)
        at.append((float(punished[best]), float(penalty[best])))
    keep = [i for i, (s, _) in enumerate(at) if s >= floor]
    kept = np.array([at[i] for i in keep], dtype=np.float64).reshape(-1, 2)
    return Picked(np.array([rows[i] for i in keep], dtype=np.intp), kept[:, 0], kept[:, 1])
