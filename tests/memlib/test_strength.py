"""Strength: the proposal's formula, its expansion, where its claim holds, and a bounded variant."""

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data.maya import PUBLISHED_QUESTION, published_cards
from course.data.recorded import choose
from memlib.similarity import cosine
from memlib.strength import (
    ALPHA,
    BETA,
    biased_cosine,
    bounded_strength,
    strength_of_vector,
    strength_slope,
)
from tests.oracles import strength as oracle

Call = Callable[[], object]
Vectors = list[list[float]]
NAN, INF = float("nan"), float("inf")

coordinate = st.integers(-8, 8).map(lambda n: n / 8)
vector = st.lists(coordinate, min_size=4, max_size=4).filter(any)
memories = st.lists(vector, min_size=1, max_size=5)
strength = st.integers(-16, 16).map(lambda n: n / 16)
shares = st.floats(0, 1, exclude_max=True)
cosines = st.floats(-1, 1)

RECORDED = choose("recorded")
QUERY = RECORDED.embed([PUBLISHED_QUESTION], role="query")[0].astype(np.float64)
CARDS = RECORDED.embed(published_cards()["text"].tolist()).astype(np.float64)


def test_the_constants() -> None:
    assert (ALPHA, BETA) == (0.5, 0.5)


# Strength from the vector


def test_strength_of_a_vector_by_hand() -> None:
    assert strength_of_vector([[1, 3]]).tolist() == [0.5 * (2 + 0.5 * 1)]
    assert strength_of_vector([[1, 3]], alpha=2, beta=0).tolist() == [4]
    assert strength_of_vector([[1, 3]], alpha=1, beta=-2).tolist() == [0]
    assert strength_of_vector([[5], [7]]).tolist() == [2.5, 3.5]
    assert strength_of_vector(np.zeros((0, 3))).shape == (0,)


def test_the_spread_is_the_population_s() -> None:
    found = strength_of_vector([[0, 2, 4, 6]], alpha=1, beta=1)[0]
    assert found == pytest.approx(3 + 5**0.5)  # ddof 0; with ddof 1 it is 3 + (20 / 3) ** 0.5
    assert found != pytest.approx(3 + (20 / 3) ** 0.5)


@given(memories, strength, strength)
def test_strength_of_a_vector_agrees_with_the_oracle(
    rows: Vectors, alpha: float, beta: float
) -> None:
    expected = [oracle.of_vector(row, alpha, beta) for row in rows]
    assert strength_of_vector(rows, alpha, beta) == pytest.approx(expected, abs=1e-12)


def test_for_unit_vectors_it_is_nearly_constant() -> None:
    found = strength_of_vector(CARDS)
    assert found.max() / found.min() < 1.04
    about = ALPHA * BETA / CARDS.shape[1] ** 0.5  # mean near 0, so the spread is near 1 / √d
    assert found == pytest.approx(np.full(8, about), rel=0.04)


# Biased cosine


def test_biased_cosine_by_hand() -> None:
    assert biased_cosine([1, 0], [[1, 0], [0, 2]]).tolist() == [1, 0]
    both = biased_cosine([3, 4], [[4, 3]], 1, [1])
    assert both[0] == pytest.approx((5 * 4 + 4 * 5) / 25)
    assert biased_cosine([3, 4], [[4, 3], [3, 4]], 0, 0.5) == pytest.approx([27.5 / 25, 28.5 / 25])
    assert biased_cosine([1, 0], np.zeros((0, 2))).shape == (0,)


@given(vector, memories, strength, st.lists(strength, min_size=5, max_size=5))
def test_the_expansion_equals_the_literal_formula(
    query: list[float], rows: Vectors, query_strength: float, strengths: list[float]
) -> None:
    each = strengths[: len(rows)]
    found = biased_cosine(query, rows, query_strength, each)
    expected = oracle.biased_cosine(query, rows, query_strength, each)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_expansion_equals_the_literal_formula_on_384_dimensions() -> None:
    eps_q, eps_m = float(strength_of_vector([QUERY])[0]), strength_of_vector(CARDS)
    found = biased_cosine(QUERY, CARDS, eps_q, eps_m)
    expected = oracle.biased_cosine(QUERY.tolist(), CARDS.tolist(), eps_q, eps_m.tolist())
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    literal = (CARDS + eps_m[:, None]) @ (QUERY + eps_q)
    literal /= np.linalg.norm(CARDS, axis=1) * np.linalg.norm(QUERY)
    assert found == pytest.approx(literal, abs=1e-12)


@given(vector, memories)
def test_without_strength_it_is_the_cosine(query: list[float], rows: Vectors) -> None:
    assert biased_cosine(query, rows) == pytest.approx(cosine(query, rows), abs=1e-12)


def test_it_is_not_bounded_by_1() -> None:
    assert biased_cosine([1, 1], [[1, 1]], 0, 1)[0] == pytest.approx(2)
    assert biased_cosine([1, 1], [[1, 1]], 0, -4)[0] == pytest.approx(-3)
    itself = biased_cosine(QUERY, [QUERY], *[float(strength_of_vector([QUERY])[0])] * 2)
    assert itself[0] > 1.05


# The slope


@given(vector, memories, strength, strength, st.integers(1, 16))
def test_the_sign_of_the_slope_decides_for_all_memories(
    query: list[float], rows: Vectors, query_strength: float, before: float, sixteenths: int
) -> None:
    after = before + sixteenths / 16
    low = biased_cosine(query, rows, query_strength, before)
    high = biased_cosine(query, rows, query_strength, after)
    slope = strength_slope(query, query_strength)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    assert (high - low) * lengths == pytest.approx(
        np.full(len(rows), slope * sixteenths / 16), abs=1e-9
    )
    if slope == 0:
        assert high == pytest.approx(low, abs=1e-12)
    else:
        assert (np.sign(high - low) == np.sign(slope)).all()


def test_the_slope_by_hand() -> None:
    assert strength_slope([1, 2, -4]) == -1
    assert strength_slope([1, 2, -4], 0.5) == 0.5
    assert strength_slope([2, 0.5]) == 2.5


def test_a_higher_strength_lowers_every_score_of_the_birthday_question() -> None:
    assert strength_slope(QUERY) == pytest.approx(-0.119, abs=0.001)
    scores = [biased_cosine(QUERY, CARDS, 0, size) for size in (0, 0.01, 0.1, 1)]
    for weaker, stronger in pairwise(scores):
        assert (stronger < weaker).all()


def test_with_its_own_strength_on_both_sides_the_proposal_s_test_holds() -> None:
    texts = ["This is a foo bar sentence .", "This is a foo bar close to text 1"]
    one, other = RECORDED.embed(texts).astype(np.float64)
    eps_one, eps_other = strength_of_vector([one, other])
    assert strength_slope(other, eps_other) > 0
    enhanced = biased_cosine(other, [one], eps_other, [eps_one])
    assert enhanced[0] > cosine(other, [one])[0]


def test_what_it_adds_is_nearly_the_same_for_all_cards() -> None:
    eps_q = float(strength_of_vector([QUERY])[0])
    assert strength_slope(QUERY, eps_q) > 0
    plain = cosine(QUERY, CARDS)
    lift = biased_cosine(QUERY, CARDS, eps_q, strength_of_vector(CARDS)) - plain
    assert ((lift > 0.0609) & (lift < 0.0667)).all()
    assert lift.mean() == pytest.approx(1 / 16, abs=0.002)


# Bounded


def test_bounded_by_hand() -> None:
    assert bounded_strength([0.5, -1, 1], 0.5).tolist() == [0.75, 0, 1]
    assert bounded_strength([0.5, 0.5], [0, 0.25]).tolist() == [0.5, 0.625]
    assert bounded_strength([[0.5], [0]], [[0], [0.5]]).tolist() == [[0.5], [0.5]]
    assert bounded_strength(0.5, 0.5) == 0.75


@given(cosines, shares, shares)
def test_the_bounded_variant_never_lowers_never_passes_1_and_agrees_with_the_oracle(
    alike: float, one: float, other: float
) -> None:
    weak, strong = sorted((one, other))
    low, high = bounded_strength([alike, alike], [weak, strong])
    assert alike <= low <= high <= 1
    assert low == pytest.approx(oracle.bounded(alike, weak), abs=1e-12)
    assert bounded_strength([alike], 0).tolist() == [alike]


@given(cosines, cosines, shares)
def test_one_strength_for_all_keeps_the_order(one: float, other: float, share: float) -> None:
    less, more = sorted((one, other))
    low, high = bounded_strength([less, more], share)
    assert low <= high + 1e-15


REFUSED: list[tuple[Call, str]] = [
    (lambda: strength_of_vector([1, 2]), "vectors has shape (2,): must have 2 dimension(s)"),
    (lambda: strength_of_vector([[1, NAN]]), "vectors[0, 1] is nan: must be a number"),
    (lambda: strength_of_vector([[1]], alpha=NAN), "alpha is nan: must be a number"),
    (lambda: strength_of_vector([[1]], beta=INF), "beta is inf: must be finite"),
    (
        lambda: strength_of_vector(np.zeros((2, 0))),
        "vectors have 0 dimensions: there is nothing to average",
    ),
    (lambda: biased_cosine([1], [[1, 2]]), "query has 1 dimensions, memories have 2"),
    (lambda: biased_cosine([0, 0], [[1, 2]]), "query is a zero vector: it has no direction"),
    (
        lambda: biased_cosine([1, 0], [[1, 2], [0, 0]]),
        "memories[1] is a zero vector: it has no direction",
    ),
    (lambda: biased_cosine([1], [[1]], NAN), "query_strength is nan: must be a number"),
    (lambda: biased_cosine([1], [[1]], 0, [INF]), "strengths[0] is inf: must be finite"),
    (
        lambda: biased_cosine([1], [[1], [2], [3]], 0, [1, 2]),
        "strengths has shape (2,): must be one number, or (3,)",
    ),
    (lambda: strength_slope([[1]]), "query has shape (1, 1): must have 1 dimension(s)"),
    (lambda: strength_slope([1], NAN), "query_strength is nan: must be a number"),
    (lambda: bounded_strength([1.5], 0), "cosine[0] is 1.5: must be at most 1"),
    (lambda: bounded_strength([-1.5], 0), "cosine[0] is -1.5: must be at least -1"),
    (lambda: bounded_strength([0.5], 1), "strength is 1.0: must be at most 1"),
    (lambda: bounded_strength([0.5], [-0.1]), "strength[0] is -0.1: must be at least 0"),
    (
        lambda: bounded_strength(0.5, [0.1, 0.2]),
        "strength has shape (2,): must be one number, or ()",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message
