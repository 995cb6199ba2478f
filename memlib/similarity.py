"""Similarity: how alike two embeddings are, by angle or by distance."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memlib.checks import Floats, numbers, unmasked


def _units(name: str, matrix: Floats) -> Floats:
    largest = np.abs(matrix).max(axis=-1, keepdims=True, initial=0)
    for row in np.argwhere(largest[..., 0] == 0):
        where = f"{name}[{row[0]}]" if row.size else name
        raise ValueError(f"{where} is a zero vector: it has no direction, so no cosine")
    scaled = matrix / largest  # else the squares of 1e200 overflow and those of 1e-200 vanish
    units: Floats = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return units


def _pair(query: ArrayLike, memories: ArrayLike) -> tuple[Floats, Floats]:
    try:
        q, m = numbers("query", query, ndim=1), numbers("memories", memories, ndim=2)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError("memories must be vectors of one dimension, one row a memory") from None
    if q.shape[0] != m.shape[1]:
        raise ValueError(f"query has {q.shape[0]} dimensions, memories have {m.shape[1]}")
    return q, m


def dots(matrix: NDArray[np.floating], vector: NDArray[np.floating]) -> Floats:
    """Dot product of each row with a vector; equal rows get equal numbers, on every processor.

    row · vector, its terms added in one order for all rows: `matrix @ vector` adds as the processor
    and the row's place would have it, and two copies of a card may part in the last digit

    matrix   shape (n, d);  vector  shape (d,)
    returns  shape (n,), in the precision of the arguments
    Raises ValueError for dimensions that differ.
    Source: this course.

    >>> dots(np.array([[0.6, 0.8], [0.6, 0.8]]), np.array([1.0, 0.0]))
    array([0.6, 0.6])
    """
    products: Floats = np.einsum("ij,j->i", matrix, vector)
    return products


def cosine(query: ArrayLike, memories: ArrayLike) -> Floats:
    """Cosine of the angle between a query and each memory.

    cos(q, m) = q · m / (|q| |m|)

    query     shape (d,), any length but zero
    memories  shape (n, d)
    returns   shape (n,), in [-1, 1]; 1 same direction, 0 unrelated, -1 opposite
    Raises ValueError for a zero vector, a value that is not finite, or dimensions that differ.
    Source: *Scoring beyond similarity*, Relevance; *Enhanced Retrieval*, Normal Cosine Similarity.

    >>> cosine([1, 0], [[2, 0], [0, 3], [1, 1]]).round(4)
    array([1.    , 0.    , 0.7071])
    """
    q, m = _pair(query, memories)
    return dots(_units("memories", m), _units("query", q)).clip(-1.0, 1.0)


def cosine_of_units(query: NDArray[np.float32], memories: NDArray[np.float32]) -> Floats:
    """Cosine of unit vectors: the dot product alone, one pass over a large matrix.

    cos(q, m) = q · m  where |q| = |m| = 1

    query     shape (d,), unit length (checked)
    memories  shape (n, d), unit length, as every embedder here returns it (not checked)
    returns   shape (n,), in [-1, 1]
    Raises ValueError for a value that is not finite or dimensions that differ.
    Source: *Scoring beyond similarity*, Relevance.

    >>> cosine_of_units(np.float32([1, 0]), np.float32([[0.6, 0.8]])).round(4)
    array([0.6])
    """
    unmasked("query", query)
    unmasked("memories", memories)
    query, memories = np.asarray(query), np.asarray(memories)
    if memories.ndim != 2 or query.shape != memories.shape[1:]:
        raise ValueError(f"query has shape {query.shape}, memories have shape {memories.shape}")
    length = float(np.linalg.norm(query))
    if not abs(length - 1) < 1e-3:
        raise ValueError(f"query has length {length:g}: must be a unit vector")
    return numbers("memories @ query", dots(memories, query)).clip(-1.0, 1.0)


def euclidean(query: ArrayLike, memories: ArrayLike) -> Floats:
    """Straight-line distance from a query to each memory.

    |q - m| = sqrt(sum over i of (q_i - m_i)^2); for unit vectors sqrt(2 - 2 cos(q, m))

    query     shape (d,)
    memories  shape (n, d)
    returns   shape (n,), 0 or more; smaller is more alike
    Raises ValueError for a value or a distance that is not finite, or dimensions that differ.
    Source: *Enhanced Retrieval*, introduction (names it beside the cosine).

    >>> euclidean([0, 0], [[3, 4], [0, 0]])
    array([5., 0.])
    """
    q, m = _pair(query, memories)
    with np.errstate(over="ignore"):  # told as an error, not as a warning
        return numbers("distance", np.linalg.norm(m - q, axis=1))
