"""Normalization: put parts that live on different scales on one scale."""

import numpy as np
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers


def min_max(values: ArrayLike, eps: float = 0.0, constant: float = 0.0) -> Floats:
    """Rescale a set so that its smallest value becomes 0 and its largest 1.

    normalized = (value - smallest) / (largest - smallest + eps)

    values    shape (n,), all live cards, never the top k alone
    eps       0 or more; with 1e-6 the largest becomes range / (range + 1e-6), a little below 1
    constant  what every value becomes when all are equal: such a part cannot tell cards apart
    returns   shape (n,), in [0, 1]
    Raises ValueError for a value that is not finite, or a negative eps.
    Source: *Scoring beyond similarity*, Min-max normalisation; with eps *memento-mcp-server 0.1.0,
    Formulas for Search Ranking and Memory Decay*, section 9.

    >>> min_max([0.35, 0.40, 0.69]).round(2)
    array([0.  , 0.15, 1.  ])
    >>> min_max([5, 5])
    array([0., 0.])
    """
    x = numbers("values", values, ndim=1)
    eps = float(numbers("eps", eps, low=0, ndim=0))
    level = float(numbers("constant", constant, low=0, high=1, ndim=0))
    if x.size == 0 or x.min() == x.max():
        return np.full(x.shape, level)
    if max(-x.min(), x.max(), eps) > 1e300:  # their range would overflow
        x, eps = x / 4, eps / 4
    scaled: Floats = x - x.min()
    scaled /= x.max() - x.min() + eps
    return scaled


def z_score(values: ArrayLike) -> Floats:
    """Rescale a set to mean 0 and standard deviation 1.

    z = (value - mean) / standard deviation (of the population, ddof 0)

    values   shape (n,), all live cards
    returns  shape (n,), unbounded; a constant set becomes all 0
    Raises ValueError for a value that is not finite.
    Source: this course, beside min-max in the fusion experiment.

    >>> z_score([2, 2, 6, 6])
    array([-1., -1.,  1.,  1.])
    """
    x = numbers("values", values, ndim=1)
    if x.size == 0 or x.min() == x.max():
        return np.zeros(x.shape)
    x = x / np.abs(x).max()  # the squares of huge values would overflow
    scaled: Floats = (x - x.mean()) / x.std()
    return scaled
