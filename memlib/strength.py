"""Strength: a number added to every coordinate of a vector, to find some memories more often."""

import numpy as np
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers
from memlib.similarity import dots

ALPHA, BETA = 0.5, 0.5  # *Enhanced Retrieval*, Proposal


def strength_of_vector(vectors: ArrayLike, alpha: float = ALPHA, beta: float = BETA) -> Floats:
    """The proposal's strength: from a memory's own vector, not from its use.

    ε = alpha · (mean(A) + beta · std(A)), population standard deviation (ddof 0)

    vectors  shape (n, d)
    alpha    size of the whole strength;  beta  how much the spread counts
    returns  shape (n,)
    Raises ValueError for a value that is not finite.
    Source: *Enhanced Retrieval*, Proposal (the comment there leaves beta out, the code has it).

    >>> strength_of_vector([[0.6, 0.8]]).round(3)
    array([0.375])
    """
    a = numbers("vectors", vectors, ndim=2)
    if a.shape[1] == 0:
        raise ValueError("vectors have 0 dimensions: there is nothing to average")
    factor, spread = (float(numbers(n, v, ndim=0)) for n, v in (("alpha", alpha), ("beta", beta)))
    strengths: Floats = factor * (a.mean(axis=1) + spread * a.std(axis=1))
    return strengths


def biased_cosine(
    query: ArrayLike,
    memories: ArrayLike,
    query_strength: float = 0.0,
    strengths: ArrayLike = 0.0,
) -> Floats:
    """Cosine with a strength added to every coordinate, divided by the plain lengths.

    (A + ε_A) · (B + ε_B) / (|A| |B|)
      = [A · B + ε_A · ΣB + ε_B · ΣA + d · ε_A · ε_B] / (|A| |B|)

    query, memories  shape (d,) and (n, d), no zero vectors; computed by the second line, so the
                     matrix is read once and never copied
    query_strength   ε_B;  strengths  ε_A, one number or shape (n,)
    returns          shape (n,), not bounded by 1
    Raises ValueError for a zero vector, dimensions that differ, a value that is not finite.
    Source: *Enhanced Retrieval*, Enhanced Cosine Similarity; the expansion is this course's.

    >>> biased_cosine([1, 0], [[1, 0], [0, 1]], 0.1, [0.2, 0.2]).round(2)
    array([1.34, 0.34])
    """
    b, a = numbers("query", query, ndim=1), numbers("memories", memories, ndim=2)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"query has {b.shape[0]} dimensions, memories have {a.shape[1]}")
    eps_b = float(numbers("query_strength", query_strength, ndim=0))
    eps_a = _one_or_each("strengths", numbers("strengths", strengths), a.shape[:1])
    long_a, long_b = np.linalg.norm(a, axis=1), np.linalg.norm(b)
    if long_b == 0:
        raise ValueError("query is a zero vector: it has no direction")
    for row in np.flatnonzero(long_a == 0):
        raise ValueError(f"memories[{row}] is a zero vector: it has no direction")
    dot = dots(a, b) + eps_a * b.sum() + eps_b * a.sum(axis=1) + len(b) * eps_a * eps_b
    return numbers("biased cosine", dot / (long_a * long_b))


def strength_slope(query: ArrayLike, query_strength: float = 0.0) -> float:
    """How a memory's score moves with its own strength: one sign for all memories of a question.

    d score / d ε_A = (ΣB + d · ε_B) / (|A| |B|), so its sign is that of ΣB + d · ε_B

    query           shape (d,);  query_strength  ε_B
    returns         ΣB + d · ε_B: above 0, a higher strength raises the score; below 0 it lowers it
    Raises ValueError for a value that is not finite.
    Source: this course, from *Enhanced Retrieval*, Proposal Conclusion.

    >>> strength_slope([0.6, -0.8]) < 0
    True
    """
    b = numbers("query", query, ndim=1)
    return float(b.sum() + len(b) * float(numbers("query_strength", query_strength, ndim=0)))


def bounded_strength(cosine: ArrayLike, strength: ArrayLike) -> Floats:
    """A strength that keeps its promise: it never lowers a score and never passes 1.

    score = cos + s · (1 − cos)

    cosine    in [−1, 1], any shape
    strength  s in [0, 1), one number or the same shape
    returns   in [−1, 1]; s = 0 changes nothing, more s moves the score closer to 1
    Raises ValueError for a value outside its range.
    Source: this course.

    >>> bounded_strength([0.2, 1.0], [0.5, 0.5])
    array([0.6, 1. ])
    """
    c = numbers("cosine", cosine, low=-1, high=1)
    s = numbers("strength", strength, low=0, high=np.nextafter(1, 0))
    return c + _one_or_each("strength", s, c.shape) * (1 - c)


def _one_or_each(name: str, values: Floats, shape: tuple[int, ...]) -> Floats:
    if values.shape not in ((), shape):
        raise ValueError(f"{name} has shape {values.shape}: must be one number, or {shape}")
    return values
