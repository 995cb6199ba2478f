"""Learning the weights of a weighted sum from questions whose answers are known."""

from collections.abc import Collection, Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers, same_length

PENALTY = 0.001  # keeps weights small where the questions cannot tell
STEPS = 100
LARGEST = 1e6  # of a part: beyond it the curvature is lost in rounding


def listwise_loss(
    weights: ArrayLike,
    parts: Sequence[ArrayLike],
    relevant: Sequence[Collection[int]],
    penalty: float = PENALTY,
) -> float:
    """How far a weighted sum is from putting the relevant cards first.

    loss = mean over questions of −mean over relevant cards of ln p + penalty · Σ weight²,
    with p = exp(score) / Σ exp(score) and score = Σ weight · part

    weights   shape (f,)
    parts     one entry a question, each shape (f, n): f parts of the score, n cards
    relevant  one entry a question: row numbers of its relevant cards, at least one
    penalty   0 or more
    returns   0 or more; lower is better
    Raises ValueError for no questions, lengths that differ, a question without a relevant card, a
    row that is not there, a value not finite, a part beyond ±1,000,000.
    Source: ListNet with top-one probabilities, Cao et al. 2007.

    >>> round(listwise_loss([0.0], [[[1.0, 0.0]]], [[0]]), 3)
    0.693
    """
    w = numbers("weights", weights, ndim=1)
    asked = _checked(parts, relevant)
    if len(w) != len(asked[0][0]):
        raise ValueError(f"lengths differ: weights {len(w)}, parts[0] {len(asked[0][0])}")
    return _loss(w, asked, float(numbers("penalty", penalty, low=0, ndim=0)))


def fit_weights(
    parts: Sequence[ArrayLike], relevant: Sequence[Collection[int]], penalty: float = PENALTY
) -> Floats:
    """The weights with the smallest listwise loss: one minimum, found by Newton's method.

    step = curvature⁻¹ · gradient, halved while it does not lower the loss

    parts     one entry a question, each shape (f, n), on one scale (min-max)
    relevant  one entry a question: row numbers of its relevant cards, at least one
    penalty   above 0: with none, a part that always separates would get an infinite weight
    returns   shape (f,); only the order counts, so a common factor means nothing
    Raises ValueError as `listwise_loss`, and for a penalty of 0 or below; RuntimeError if the loss
    still falls after 100 steps, more than parts from 0 to 1 need.
    Source: ListNet with top-one probabilities, Cao et al. 2007; the loss is convex in the weights.

    >>> fit_weights([[[1, 0, 0], [0, 0, 1]], [[1, 0, 0], [1, 0, 0]]], [[0], [0]]).round(1)
    array([5.2, 0.3])
    """
    keep = float(numbers("penalty", penalty, low=np.nextafter(0, 1), ndim=0))
    asked = _checked(parts, relevant)
    weights = np.zeros(len(asked[0][0]))
    loss = _loss(weights, asked, keep)
    for _ in range(STEPS):
        gradient, curvature = 2 * keep * weights, 2 * keep * np.eye(len(weights))
        for x, rows in asked:
            p = np.exp(weights @ x - _log_sum(weights @ x))
            mean = x @ p
            gradient += (mean - x[:, rows].mean(axis=1)) / len(asked)
            curvature += ((x * p) @ x.T - np.outer(mean, mean)) / len(asked)
        step = np.linalg.lstsq(curvature, gradient)[0]  # parts may be equal, the penalty tiny
        while (new := _loss(weights - step, asked, keep)) > loss and np.abs(step).max() > 1e-12:
            step = step / 2
        if new > loss:
            break
        weights, gained, loss = weights - step, loss - new, new
        if gained < 1e-14:
            break
    else:
        said = f"after {STEPS} steps the loss still falls, now {loss:g}"
        raise RuntimeError(f"no minimum found: {said}; use min-max parts, or a larger penalty")
    return weights


_Questions = list[tuple[Floats, list[int]]]  # of each question: its parts, its relevant rows


def _loss(weights: Floats, asked: _Questions, penalty: float) -> float:
    scored = [(weights @ x, rows) for x, rows in asked]
    losses = [_log_sum(scores) - scores[rows].mean() for scores, rows in scored]
    return float(np.mean(losses) + penalty * weights @ weights)


def _log_sum(scores: Floats) -> float:
    top = scores.max()
    return float(top + np.log(np.exp(scores - top).sum()))


def _checked(parts: Sequence[ArrayLike], relevant: Sequence[Collection[int]]) -> _Questions:
    if same_length(parts=parts, relevant=relevant) == 0:
        raise ValueError("parts is empty: there must be at least one question")
    asked: _Questions = []
    for i, (values, rows) in enumerate(zip(parts, relevant, strict=True)):
        x = numbers(f"parts[{i}]", values, low=-LARGEST, high=LARGEST, ndim=2)
        if asked and len(x) != len(asked[0][0]):
            raise ValueError(f"lengths differ: parts[0] {len(asked[0][0])}, parts[{i}] {len(x)}")
        if len(rows) == 0:
            raise ValueError(f"relevant[{i}] is empty: a question without a relevant card")
        for row in rows:
            if isinstance(row, bool) or not isinstance(row, Integral) or not 0 <= row < x.shape[1]:
                raise ValueError(f"relevant[{i}] names row {row}: there are {x.shape[1]} cards")
        asked.append((x, sorted(set(rows))))
    return asked
