"""Ranking: put the parts together and order the cards."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from memlib.checks import Floats, card_ids, numbers, same_length
from memlib.normalization import min_max

INJECTED = 3  # *Scoring beyond similarity*, table (c): the top three go into the prompt
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
    order = sorted(rows.tolist(), key=lambda row: (-values[row], names[row]))
    return np.array(order[:k], dtype=np.intp)


def _count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} is {value!r}: must be a whole number, 1 or more")
    return int(value)
