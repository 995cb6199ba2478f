"""Importance: from a rating, with what the system adds, and how sure a rating is."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memlib.checks import Floats
from memlib.importance import (
    DEFAULT_IMPORTANCE,
    HIGHEST_RATING,
    KIND_BOOST,
    LOWEST_RATING,
    PINNED_BOOST,
    RUBRIC,
    Moves,
    from_rating,
    importance,
    top_three_changes,
    weighted_kappa,
)
from tests.oracles import importance as oracle

Call = Callable[[], object]
NAN = float("nan")
KINDS = ["working", "episodic", "semantic"]

ten = st.sampled_from([*range(1, 11), NAN])
pairs = st.lists(st.tuples(ten, ten), min_size=1, max_size=12)

rows = st.lists(
    st.tuples(st.floats(0, 1), st.booleans(), st.sampled_from(KINDS), st.floats(-0.5, 0.5)),
    min_size=1,
    max_size=8,
)


def best(ratings: Floats) -> NDArray[np.intp]:
    """Row numbers by rating, highest first, an unrated card as 5.5, ties by row."""
    return np.argsort(-np.nan_to_num(ratings, nan=5.5), kind="stable")


def test_the_constants() -> None:
    assert (LOWEST_RATING, HIGHEST_RATING) == (1, 10)
    assert DEFAULT_IMPORTANCE == 0.5
    assert PINNED_BOOST == 0.2
    assert KIND_BOOST == {"semantic": 0.1, "episodic": 0, "working": -0.05}


def test_the_rubric_covers_every_rating_once() -> None:
    ends = [tuple(map(int, band.split("-"))) for band in RUBRIC]
    covered = [rating for low, high in ends for rating in range(low, high + 1)]
    assert covered == list(range(LOWEST_RATING, HIGHEST_RATING + 1))


def test_ratings_by_hand() -> None:
    assert from_rating([1, 4, 5.5, 10]).tolist() == [0, 1 / 3, 0.5, 1]
    assert from_rating([NAN, 10, None]).tolist() == [0.5, 1, 0.5]
    assert from_rating(pd.Series([NAN, 1.0])).tolist() == [0.5, 0]
    assert from_rating(7) == pytest.approx(2 / 3)
    assert from_rating([]).shape == (0,)


@pytest.mark.parametrize(
    ("user", "pinned", "kind", "expected"),
    [
        (0.5, False, "episodic", 0.5),
        (0.5, False, "semantic", 0.6),
        (0.5, False, "working", 0.45),
        (0.5, True, "episodic", 0.7),
        (0.5, True, "semantic", 0.8),
        (0.5, True, "working", 0.65),
        (0.9, True, "semantic", 1.0),
        (0.02, False, "working", 0.0),
    ],
)
def test_importance_by_hand(user: float, pinned: bool, kind: str, expected: float) -> None:
    assert importance([user], [pinned], [kind]).tolist() == pytest.approx([expected], abs=1e-15)


def test_a_policy_is_one_number_or_one_a_card() -> None:
    user, pinned, kind = [0.5, 0.5], [False, False], ["episodic", "episodic"]
    assert importance(user, pinned, kind, policy=0.05) == pytest.approx([0.55, 0.55])
    assert importance(user, pinned, kind, policy=[0.05, -0.6]) == pytest.approx([0.55, 0])


REFUSED: list[tuple[Call, str]] = [
    (lambda: from_rating([5, 0]), "rating[1] is 0.0: must be at least 1"),
    (lambda: from_rating([NAN, 11]), "rating[1] is 11.0: must be at most 10"),
    (lambda: from_rating([float("inf")]), "rating[0] is inf: must be finite"),
    (lambda: from_rating(["8"]), "rating must be numbers: found <U1"),
    (lambda: importance([0.5, 1.5], [0, 0], KINDS[:2]), "user[1] is 1.5: must be at most 1"),
    (lambda: importance([-0.5], [0], KINDS[:1]), "user[0] is -0.5: must be at least 0"),
    (lambda: importance([NAN], [0], KINDS[:1]), "user[0] is nan: must be a number"),
    (lambda: importance([0.5], [2], KINDS[:1]), "pinned[0] is 2.0: must be at most 1"),
    (
        lambda: importance([0.5, 0.5], [0, 0], ["semantic", "fact"]),
        "kind[1] is 'fact': must be one of semantic, episodic, working",
    ),
    (
        lambda: importance([0.5, 0.5], [0], ["semantic"]),
        "lengths differ: user 2, pinned 1, kind 1",
    ),
    (lambda: importance([0.5], [0], KINDS[:1], policy=NAN), "policy is nan: must be a number"),
    (lambda: importance(0.5, [0], KINDS[:1]), "user has shape (): must have 1 dimension(s)"),
    (lambda: weighted_kappa([5, 0], [5, 5]), "first[1] is 0.0: must be at least 1"),
    (lambda: weighted_kappa([5, 5], [5, 11]), "second[1] is 11.0: must be at most 10"),
    (lambda: weighted_kappa([5, 5], [5]), "lengths differ: first 2, second 1"),
    (
        lambda: weighted_kappa([5, NAN], [NAN, 5]),
        "first and second have 2 cards: no card is rated in both",
    ),
    (lambda: weighted_kappa([], []), "first and second have 0 cards: no card is rated in both"),
    (lambda: weighted_kappa([[5]], [[5]]), "first has shape (1, 1): must have 1 dimension(s)"),
    (lambda: top_three_changes([5, 0], best), "rating[1] is 0.0: must be at least 1"),
    (lambda: top_three_changes([5], best, top_k=0), "top_k is 0.0: must be at least 1"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@given(st.lists(st.floats(1, 10) | st.just(NAN), min_size=1, max_size=8))
def test_ratings_agree_with_the_oracle_and_stay_in_bounds(ratings: list[float]) -> None:
    found = from_rating(ratings)
    assert found == pytest.approx(oracle.from_rating(ratings), abs=1e-15)
    assert found.min() >= 0
    assert found.max() <= 1


@given(rows)
def test_importance_agrees_with_the_oracle_and_stays_in_bounds(
    cards: list[tuple[float, bool, str, float]],
) -> None:
    user, pinned, kind, policy = (list(column) for column in zip(*cards, strict=True))
    found = importance(user, pinned, kind, policy)
    assert found == pytest.approx(oracle.importance(user, pinned, kind, policy), abs=1e-15)
    assert found.min() >= 0
    assert found.max() <= 1


@given(st.lists(st.floats(1, 10), min_size=2, max_size=8))
def test_a_higher_rating_is_never_less_important(ratings: list[float]) -> None:
    assert (np.diff(from_rating(sorted(ratings))) >= 0).all()
    whole = from_rating(range(1, 11))
    assert np.diff(whole) == pytest.approx([1 / 9] * 9)


@given(rows)
def test_a_pin_a_better_kind_and_a_higher_rating_never_take_away(
    cards: list[tuple[float, bool, str, float]],
) -> None:
    user, pinned, kind, policy = (list(column) for column in zip(*cards, strict=True))
    plain = importance(user, pinned, kind, policy)
    assert (importance(user, [True] * len(user), kind, policy) >= plain).all()
    assert (importance(user, pinned, ["semantic"] * len(user), policy) >= plain).all()
    assert (importance([1.0] * len(user), pinned, kind, policy) >= plain).all()


@given(rows)
def test_a_card_does_not_depend_on_its_neighbours(
    cards: list[tuple[float, bool, str, float]],
) -> None:
    user, pinned, kind, policy = (list(column) for column in zip(*cards, strict=True))
    alone = [
        importance([u], [p], [k], e)[0]
        for u, p, k, e in zip(user, pinned, kind, policy, strict=True)
    ]
    assert importance(user, pinned, kind, policy).tolist() == alone


@pytest.mark.parametrize("policy", [[[0.1], [0.2]], [0.1], [[0.1, 0.2]]])
def test_a_policy_of_another_shape_is_refused(policy: list[object]) -> None:
    with pytest.raises(ValueError, match=r"^policy has shape \(.*: must be one number, or one a"):
        importance([0.5, 0.4], [1, 0], KINDS[:2], policy)  # type: ignore[arg-type]


def test_columns_of_pandas_in_another_order_are_refused() -> None:
    user = pd.Series([0.5, 0.4], index=["x", "y"])
    for extra in ({"pinned": user[::-1] > 0.4}, {"pinned": [1, 0], "policy": user[::-1]}):
        with pytest.raises(
            ValueError, match=r"\[0\] is of row 'y', the argument before it has 'x'"
        ):
            importance(user, kind=KINDS[:2], **extra)


COHEN_1968 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]  # two raters, 200 patients, his table 1
COHEN_WEIGHTS = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]


def test_the_oracle_gives_the_published_kappas() -> None:
    table = [(i, j) for i in range(3) for j in range(3) for _ in range(COHEN_1968[i][j])]
    assert len(table) == 200
    weighted = oracle.kappa(table, lambda i, j: COHEN_WEIGHTS[int(i)][int(j)])
    assert round(weighted, 3) == 0.348
    assert round(oracle.kappa(table, lambda i, j: int(i != j)), 3) == 0.492


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [1, 3, 2], 1 - (2 / 3) / (4 / 3)),  # 0, 1, 1 seen; 0,4,1 1,1,0 4,0,1 by chance
        ([1, 10], [10, 1], -1),
        ([4, 7, 2], [4, 7, 2], 1),
        ([4, 7, 2, 9], [5, 8, 3, 10], 1 - 1 / (2 * 7.25 + 1)),  # a point kinder throughout
        ([5, 5, 5], [2, 8, 5], 0),  # who gives all the same agrees as chance would
        ([5, 5, 5], [5, 5, 5], 0),
        ([3.3] * 3, [3.3] * 3, 0),
        ([1, NAN, 2, 3, 9], [1, 4, 3, 2, NAN], 0.5),
    ],
)
def test_kappa_by_hand(first: list[float], second: list[float], expected: float) -> None:
    assert weighted_kappa(first, second) == pytest.approx(expected, abs=1e-15)
    assert weighted_kappa(second, first) == weighted_kappa(first, second)


@given(pairs)
def test_kappa_agrees_with_the_oracle_and_stays_in_bounds(
    rated: list[tuple[float, float]],
) -> None:
    first, second = (list(column) for column in zip(*rated, strict=True))
    if all(np.isnan(first) | np.isnan(second)):
        return
    found = weighted_kappa(first, second)
    assert found == pytest.approx(oracle.weighted_kappa(first, second), abs=1e-12)
    assert -1 - 1e-12 <= found <= 1


def test_kappa_needs_the_same_cards_in_the_same_order() -> None:
    first = pd.Series([5.0, 6.0], index=["x", "y"])
    with pytest.raises(ValueError, match=r"second\[0\] is of row 'y'"):
        weighted_kappa(first, first[::-1])


def told(moves: Moves) -> list[tuple[int, int, bool]]:
    return list(zip(*(column.tolist() for column in moves), strict=True))


def test_moves_by_hand() -> None:
    found = told(top_three_changes([10, 5, NAN, 4, 1], best, top_k=2))
    assert found == [  # at the top: the 10, and the unrated card as 5.5
        (0, -1, False),
        *((1, -1, False), (1, 1, True)),
        *((3, -1, False), (3, 1, False)),
        (4, 1, False),
    ]


def test_another_order_of_the_same_cards_is_no_change() -> None:
    assert told(top_three_changes([9, 8, 1], best, top_k=2))[0] == (0, -1, False)
    assert not top_three_changes([9, 9, 1], best, top_k=2).changed.any()
    assert not top_three_changes([9, 9, 9], best).changed.any()  # no more than three are there


def test_no_cards_or_no_rated_ones_give_no_moves() -> None:
    for ratings in ([], [NAN, NAN]):
        assert [column.shape for column in top_three_changes(ratings, best)] == [(0,)] * 3


def test_moving_leaves_the_ratings_alone_even_where_the_order_does_not() -> None:
    ratings = np.array([5.0, 5.0, 3.0])

    def spoils(given: Floats) -> NDArray[np.intp]:
        order = best(given)
        given[:] = 1
        return order

    assert told(top_three_changes(ratings, spoils, 1)) == told(top_three_changes(ratings, best, 1))
    assert ratings.tolist() == [5, 5, 3]


@given(st.lists(ten, min_size=1, max_size=7), st.integers(1, 4))
def test_moves_agree_with_the_oracle(ratings: list[float], top_k: int) -> None:
    found = told(top_three_changes(ratings, best, top_k))
    assert found == oracle.top_three_changes(
        ratings, lambda values: [5.5 if np.isnan(v) else v for v in values], top_k
    )


def test_an_order_that_is_none_is_refused() -> None:
    for wrong in ([0, 0], [0, 2], [0.5, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match=r"^order gave .*row numbers"):
            top_three_changes([5, 5], lambda r, wrong=wrong: wrong)
    assert top_three_changes([float("nan")], lambda r: [0]).changed.size == 0
