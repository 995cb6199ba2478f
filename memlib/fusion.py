"""Fusion: turn several signals into one ranking, by their scores or by their ranks."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers, same_length
from memlib.normalization import min_max

RRF_K = 60  # *Scoring beyond similarity*, Reciprocal rank fusion; Cormack et al. 2009
WEIGHTS = {"dense": 0.8, "bm25": 0.1, "entity": 0.1}  # *Scoring beyond similarity*, A weighted sum


def weighted_sum(
    signals: Mapping[str, ArrayLike],
    weights: Mapping[str, float] = WEIGHTS,
    normalize: Callable[[ArrayLike], Floats] | None = min_max,
) -> Floats:
    """Weighted sum of named signals, each normalised first.

    score = Σ over the signals of weight · normalize(signal)

    signals    name -> n scores; exactly the names that the weights have
    weights    name -> weight, 0 or more
    normalize  `min_max`, `z_score`, or None for signals that share a scale already
    returns    shape (n,)
    Raises ValueError for names or lengths that differ, a negative weight, a value not finite,
    pandas indexes that differ or repeat a label.
    Source: *Scoring beyond similarity*, A weighted sum.

    >>> two = {"dense": [0.70, 0.80], "bm25": [1, 0], "entity": [1, 0]}
    >>> weighted_sum(two, normalize=None).round(2)
    array([0.76, 0.64])
    """
    if signals.keys() != weights.keys() or not signals:
        raise ValueError(f"signals {sorted(signals)} and weights {sorted(weights)}: names differ")
    first = next(iter(signals.values()))
    raw = {name: numbers(name, values, ndim=1, like=first) for name, values in signals.items()}
    same_length(**raw)
    total = np.zeros(len(next(iter(raw.values()))))
    for name, values in raw.items():
        weight = float(numbers(f"weights[{name!r}]", weights[name], low=0, ndim=0))
        total += weight * (values if normalize is None else normalize(values))
    return total


def competition_ranks(scores: ArrayLike) -> Floats:
    """Ranks from 1, best first; equal scores share the best rank (1, 1, 3).

    rank = 1 + number of scores that are larger

    scores   shape (n,)
    returns  shape (n,), whole numbers from 1 to n
    Raises ValueError for a score that is not finite.
    Source: *Scoring beyond similarity*, Reciprocal rank fusion; the tie rule is this course's.

    >>> competition_ranks([0.9, 0.9, 0.1])
    array([1., 1., 3.])
    """
    values = numbers("scores", scores, ndim=1)
    larger = len(values) - np.searchsorted(np.sort(values), values, side="right")
    return 1 + larger.astype(np.float64)


def reciprocal_rank_fusion(
    lists: Sequence[ArrayLike],
    matched: Sequence[ArrayLike | None] | None = None,
    rrf_k: float = RRF_K,
) -> Floats:
    """Fuse rankings by position alone: the points of all lists, added.

    points = Σ over the lists that hold the card of 1 / (rrf_k + rank)

    lists    one or more, each shape (n,): scores, higher is better
    matched  one entry a list: shape (n,) of True where the list holds the card, None for all
    rrf_k    above 0; the customary 60
    returns  shape (n,), in [0, number of lists / (rrf_k + 1)]: first in two lists is 0.0328
    Raises ValueError for lengths that differ, a value not finite, a rrf_k of 0 or below, pandas
    indexes that differ or repeat a label.
    Source: *Scoring beyond similarity*, Reciprocal rank fusion; Cormack et al. 2009.

    >>> dense, words = [0.9, 0.8, 0.1, 0.0], [2.0, 0.0, 7.0, 5.0]
    >>> reciprocal_rank_fusion([dense, words], [None, [True, False, True, True]]).round(4)
    array([0.0323, 0.0161, 0.0323, 0.0318])
    """
    k = float(numbers("rrf_k", rrf_k, low=np.nextafter(0, 1), ndim=0))
    if len(lists) == 0:
        raise ValueError("lists is empty: fusion needs at least one ranking")
    scores = [numbers(f"lists[{i}]", x, ndim=1, like=lists[0]) for i, x in enumerate(lists)]
    held = [None] * len(scores) if matched is None else list(matched)
    same_length(lists=scores, matched=held)
    same_length(**{f"lists[{i}]": values for i, values in enumerate(scores)})
    points = np.zeros(len(scores[0]))
    for i, (values, mask) in enumerate(zip(scores, held, strict=True)):
        flags = np.ones(len(values)) if mask is None else mask
        on = numbers(f"matched[{i}]", flags, low=0, high=1, ndim=1, like=lists[0]) > 0
        same_length(**{f"lists[{i}]": values, f"matched[{i}]": on})
        points[on] += 1 / (k + competition_ranks(values[on]))
    return points
