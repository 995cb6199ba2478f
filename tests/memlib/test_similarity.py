"""Cosine and Euclidean distance."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memlib.similarity import cosine, cosine_of_units, dots, euclidean
from tests.oracles import similarity as oracle

DIM = 4
component = st.integers(-50, 50).map(lambda n: n / 8)
vector = st.lists(component, min_size=DIM, max_size=DIM).filter(any)
vectors = st.lists(vector, min_size=1, max_size=6)
NAN = float("nan")

Call = Callable[[], object]
ZERO = "is a zero vector: it has no direction, so no cosine"


def units(rows: list[list[float]]) -> np.ndarray:
    return np.array([np.array(row) / np.linalg.norm(row) for row in rows])


def test_cosine_by_hand() -> None:
    memories = [[3, 0], [0, 2], [-5, 0], [1, 1], [3, 4]]
    assert cosine([2, 0], memories) == pytest.approx([1, 0, -1, 0.5**0.5, 0.6], abs=1e-15)


def test_euclidean_by_hand() -> None:
    assert euclidean([1, 1], [[4, 5], [1, 1], [1, -1]]).tolist() == [5, 0, 2]


def test_cosine_of_units_by_hand() -> None:
    memories = np.array([[0.6, 0.8], [-1, 0], [0, 1]], dtype=np.float32)
    found = cosine_of_units(np.array([1, 0], dtype=np.float32), memories)
    assert found == pytest.approx([0.6, -1, 0], abs=1e-7)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13, 60, 208, 1000])
@pytest.mark.parametrize("d", [2, 9, 384])
def test_copies_of_a_card_have_one_score_wherever_they_stand(n: int, d: int) -> None:
    rng = np.random.default_rng(n * d)
    card, question = units(rng.normal(size=(2, d)))
    assert len(set(cosine(question, np.tile(card, (n, 1))).tolist())) == 1
    small = np.float32(np.tile(card, (n, 1)))
    assert len(set(cosine_of_units(np.float32(question), small).tolist())) == 1


def test_dot_products_are_those_of_the_matrix_product() -> None:
    rng = np.random.default_rng(5)
    matrix, vector = rng.normal(size=(20, 384)), rng.normal(size=384)
    assert dots(matrix, vector) == pytest.approx((matrix @ vector).tolist(), abs=1e-12)
    assert dots(np.float32(matrix), np.float32(vector)).dtype == np.float32


def test_no_memories_give_no_scores() -> None:
    assert cosine([1, 2], np.empty((0, 2))).shape == (0,)
    assert euclidean([1, 2], np.empty((0, 2))).shape == (0,)


REFUSED: list[tuple[Call, str]] = [
    (lambda: cosine([0, 0], [[1, 0]]), f"query {ZERO}"),
    (lambda: cosine([1, 0], [[1, 0], [0, 0]]), f"memories[1] {ZERO}"),
    (lambda: cosine([NAN, 0], [[1, 0]]), "query[0] is nan: must be a number"),
    (lambda: cosine([1, 0], [[1, 0], [np.inf, 0]]), "memories[1, 0] is inf: must be finite"),
    (lambda: cosine([1, 2], [[1, 2, 3]]), "query has 2 dimensions, memories have 3"),
    (lambda: euclidean([1, 2], [[1, 2, 3]]), "query has 2 dimensions, memories have 3"),
    (lambda: euclidean([1, NAN], [[1, 2]]), "query[1] is nan: must be a number"),
    (
        lambda: cosine([1, 2], [[1, 2], [3]]),
        "memories must be vectors of one dimension, one row a memory",
    ),
    (lambda: cosine([1, 2], [1, 2]), "memories has shape (2,): must have 2 dimension(s)"),
    (lambda: cosine([[1, 2]], [[1, 2]]), "query has shape (1, 2): must have 1 dimension(s)"),
    (lambda: cosine([], np.empty((1, 0))), f"memories[0] {ZERO}"),
    (
        lambda: cosine_of_units(np.ones(2, np.float32), np.ones((1, 3), np.float32)),
        "query has shape (2,), memories have shape (1, 3)",
    ),
    (
        lambda: cosine_of_units(np.ones(2, np.float32), np.ones(2, np.float32)),
        "query has shape (2,), memories have shape (2,)",
    ),
    (
        lambda: cosine_of_units(np.float32([3, 4]), np.float32([[0.6, 0.8]])),
        "query has length 5: must be a unit vector",
    ),
    (
        lambda: cosine_of_units(np.float32([NAN, 1]), np.float32([[0.6, 0.8]])),
        "query has length nan: must be a unit vector",
    ),
    (
        lambda: cosine_of_units(np.float32([0, 0]), np.float32([[0.6, 0.8]])),
        "query has length 0: must be a unit vector",
    ),
    (
        lambda: cosine_of_units(np.float32([0, 1]), np.float32([[0, 1], [NAN, 0]])),
        "memories @ query[1] is nan: must be a number",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_what_is_wrong(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@given(vector, vectors)
def test_both_agree_with_the_oracle(query: list[float], memories: list[list[float]]) -> None:
    assert cosine(query, memories) == pytest.approx(oracle.cosine(query, memories), abs=1e-14)
    distances = oracle.euclidean(query, memories)
    assert euclidean(query, memories) == pytest.approx(distances, rel=1e-14)


@given(vector, vectors)
def test_cosine_of_units_is_the_cosine(query: list[float], memories: list[list[float]]) -> None:
    q, m = units([query])[0].astype(np.float32), units(memories).astype(np.float32)
    assert cosine_of_units(q, m) == pytest.approx(oracle.cosine(query, memories), abs=1e-6)
    assert np.abs(cosine_of_units(q, m)).max() <= 1


@given(vector, vectors)
def test_cosine_stays_within_minus_one_and_one(
    query: list[float], memories: list[list[float]]
) -> None:
    scores = cosine(query, [*memories, query, [-x for x in query]])
    assert np.abs(scores).max() <= 1
    assert scores[-2:] == pytest.approx([1, -1], abs=1e-15)


@given(vector, vectors, st.sampled_from([1e-200, 1e-9, 0.3, 7.0, 1e12, 1e200]))
def test_cosine_knows_direction_only(
    query: list[float], memories: list[list[float]], scale: float
) -> None:
    plain = cosine(query, memories)
    assert cosine(np.array(query) * scale, memories) == pytest.approx(plain, abs=1e-14)
    assert cosine(query, np.array(memories) * scale) == pytest.approx(plain, abs=1e-14)
    assert cosine(query, np.array(memories) * -scale) == pytest.approx(-plain, abs=1e-14)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e200, 1.7e308])
def test_cosine_of_the_tiniest_and_the_hugest_vectors(size: float) -> None:
    assert cosine([size, 0], [[1, 0], [0, size], [-size, 0]]).tolist() == [1, 0, -1]


@given(vector, vector)
def test_cosine_and_distance_are_symmetric(a: list[float], b: list[float]) -> None:
    assert cosine(a, [b]) == pytest.approx(cosine(b, [a]), abs=1e-15)
    assert euclidean(a, [b]).tolist() == euclidean(b, [a]).tolist()


@given(vector, vectors)
def test_on_unit_vectors_distance_gives_the_same_order(
    query: list[float], memories: list[list[float]]
) -> None:
    exact = np.sort(oracle.cosine(query, memories))
    assume(np.diff(exact).min(initial=1) > 1e-9)  # equal cosines have no order to compare
    q, m = units([query])[0], units(memories)
    near, alike = euclidean(q, m), cosine(q, m)
    assert np.argsort(near).tolist() == np.argsort(-alike).tolist()
    assert near**2 == pytest.approx(2 - 2 * alike, abs=1e-13)


def test_without_unit_length_the_two_orders_differ() -> None:
    memories = [[10, 0], [1, 1]]  # the first has the direction, the second is nearer
    assert np.argmax(cosine([1, 0], memories)) == 0
    assert np.argmin(euclidean([1, 0], memories)) == 1


@given(vector, vector, vector)
def test_distance_is_a_distance(a: list[float], b: list[float], c: list[float]) -> None:
    (ab, ac), (bc,) = euclidean(a, [b, c]), euclidean(b, [c])
    assert euclidean(a, [a])[0] == 0
    assert ac <= (ab + bc) * (1 + 1e-12)


def test_a_distance_that_is_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^distance\[1\] is inf: must be finite$"):
        euclidean([1e200, 0], [[1e200, 1], [-1e200, 0]])


def test_lists_are_unit_vectors_too() -> None:
    assert cosine_of_units([1, 0], [[0.6, 0.8]]).tolist() == [0.6]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^query has shape \(2,\), memories have shape \(2,\)$"):
        cosine_of_units([1, 0], [0.6, 0.8])  # type: ignore[arg-type]


@pytest.mark.parametrize("score", [cosine, cosine_of_units, euclidean])
def test_masked_coordinates_are_refused(score: Callable[..., object]) -> None:
    hidden = np.ma.array([1.0, 0.0], mask=[False, True])
    with pytest.raises(ValueError, match=r"^query\[1\] is masked, with 0\.0 below"):
        score(hidden, [[1.0, 0.0]])
    with pytest.raises(ValueError, match=r"^memories\[0\]\[1\] is masked, with 0\.0 below"):
        score([1.0, 0.0], [hidden])
