"""Three parts of one score, and the order that a score makes."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.ranking import INJECTED, WEIGHTS, rank_order, three_part_score
from tests.oracles import ranking as oracle

Call = Callable[[], object]
NAN = float("nan")
Rows = list[tuple[int, int, int]]

part = st.integers(0, 20)
tables = st.lists(st.tuples(part, part, part), min_size=1, max_size=7)
weightings = st.lists(st.integers(0, 8).map(lambda n: n / 4), min_size=3, max_size=3)
few_scores = st.sampled_from([-1.5, 0.0, 0.25, 0.25 + 1e-16, 0.25 + 1e-9, 7.0])
scored = st.lists(
    st.tuples(few_scores, st.text("abcÅé猫10", min_size=1, max_size=3)),
    max_size=9,
    unique_by=lambda row: row[1],
)


def columns(rows: Rows) -> list[list[float]]:
    return [[float(row[i]) for row in rows] for i in range(3)]


def test_the_constants() -> None:
    assert WEIGHTS == (1, 1, 1)
    assert INJECTED == 3


def test_three_parts_by_hand() -> None:
    parts = three_part_score([0.4, 0.6, 0.8], [1, 0, 0.25], [1, 10, 4], weights=(1, 2, 3))
    assert parts.relevance == pytest.approx([0, 0.5, 1])
    assert parts.recency.tolist() == [1, 0, 0.25]
    assert parts.importance == pytest.approx([0, 1, 1 / 3])
    assert parts.total == pytest.approx([2, 3.5, 2.5])


def test_without_weights_the_parts_are_added_as_they_are() -> None:
    parts = three_part_score([0, 1], [1, 0], [2, 4])
    assert parts.total.tolist() == [1, 2]


def test_a_part_that_cannot_tell_cards_apart_moves_none() -> None:
    alike = three_part_score([0.2, 0.9], [0.5, 0.5], [7, 7])
    assert alike.total.tolist() == [0, 1]
    assert three_part_score([0.9], [0.5], [7]).total.tolist() == [0]
    assert three_part_score([], [], []).total.shape == (0,)


REFUSED: list[tuple[Call, str]] = [
    (lambda: three_part_score([1, NAN], [1, 2], [1, 2]), "relevance[1] is nan: must be a number"),
    (lambda: three_part_score([1], [np.inf], [1]), "recency[0] is inf: must be finite"),
    (lambda: three_part_score([1], [1], [None]), "importance[0] is nan: must be a number"),
    (
        lambda: three_part_score([[1]], [1], [1]),
        "relevance has shape (1, 1): must have 1 dimension(s)",
    ),
    (
        lambda: three_part_score([1, 2], [1], [1, 2, 3]),
        "lengths differ: relevance 2, recency 1, importance 3",
    ),
    (lambda: three_part_score([1], [1], [1], (1, -1, 1)), "weights[1] is -1.0: must be at least 0"),
    (lambda: three_part_score([1], [1], [1], (1, 1, NAN)), "weights[2] is nan: must be a number"),
    (
        lambda: three_part_score([1], [1], [1], (1, 1)),
        "weights has 2 values: must be relevance, recency, importance",
    ),
    (lambda: rank_order([1, NAN], ["a", "b"]), "scores[1] is nan: must be a number"),
    (lambda: rank_order([-np.inf], ["a"]), "scores[0] is -inf: must be finite"),
    (lambda: rank_order([1, 2], ["a", "a"]), "ids[1] is 'a': an id may occur only once"),
    (
        lambda: rank_order([1, 2], ["a", 7]),  # type: ignore[list-item]
        "ids[1] is 7: an id must be a str",
    ),
    (lambda: rank_order([1, 2], ["a"]), "lengths differ: scores 2, ids 1"),
    (lambda: rank_order([1], ["a"], top_k=0), "top_k is 0: must be a whole number, 1 or more"),
    (lambda: rank_order([1], ["a"], top_k=-3), "top_k is -3: must be a whole number, 1 or more"),
    (lambda: rank_order([1], ["a"], True), "top_k is True: must be a whole number, 1 or more"),
    (
        lambda: rank_order([1], ["a"], 2.0),  # type: ignore[arg-type]
        "top_k is 2.0: must be a whole number, 1 or more",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@given(tables, weightings)
def test_the_total_agrees_with_the_oracle_and_stays_in_bounds(
    rows: Rows, weights: list[float]
) -> None:
    found = three_part_score(*columns(rows), weights)
    expected = oracle.three_part_total(*columns(rows), weights)
    assert found.total == pytest.approx(expected, abs=1e-12)
    for scaled in found[:3]:
        assert ((scaled >= 0) & (scaled <= 1)).all()
    assert ((found.total >= 0) & (found.total <= sum(weights) + 1e-12)).all()


@given(tables, weightings)
def test_a_card_that_is_nowhere_worse_never_scores_less(rows: Rows, weights: list[float]) -> None:
    total = three_part_score(*columns(rows), weights).total
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            if all(x >= y for x, y in zip(one, other, strict=True)):
                assert total[i] >= total[j]


@given(tables, weightings, st.data())
def test_a_part_that_rises_lifts_its_own_card_and_no_other(
    rows: Rows, weights: list[float], data: st.DataObject
) -> None:
    card = data.draw(st.integers(0, len(rows) - 1))
    which, by = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 30))
    before, raised = columns(rows), columns(rows)
    raised[which][card] += by
    change = three_part_score(*raised, weights).total - three_part_score(*before, weights).total
    assert change[card] >= 0
    assert (np.delete(change, card) <= 1e-12).all()


def test_yet_a_raise_of_one_card_can_turn_two_others_round() -> None:
    before = three_part_score([0.0, 0.5, 1.0], [0.4, 0.0, 1.0], [1, 1, 1]).total
    after = three_part_score([0.0, 0.5, 2.0], [0.4, 0.0, 1.0], [1, 1, 1]).total
    assert before[0] < before[1]
    assert after[0] > after[1]


@given(tables, weightings, st.integers(1, 9), st.integers(-50, 50))
def test_the_unit_of_a_part_does_not_matter(
    rows: Rows, weights: list[float], scale: int, shift: int
) -> None:
    relevance, recency, importance = columns(rows)
    plain = three_part_score(relevance, recency, importance, weights).total
    moved = [scale * value + shift for value in importance]
    again = three_part_score(relevance, recency, moved, weights).total
    assert again == pytest.approx(plain, abs=1e-12)


@given(tables)
def test_a_weight_of_zero_silences_its_part(rows: Rows) -> None:
    parts = three_part_score(*columns(rows), (0, 0, 1))
    assert parts.total.tolist() == parts.importance.tolist()


def test_order_by_hand() -> None:
    assert rank_order([0.1, 0.9, 0.5], ["x", "y", "z"]).tolist() == [1, 2, 0]
    assert rank_order([0.1, 0.9, 0.5], ["x", "y", "z"], top_k=2).tolist() == [1, 2]
    assert rank_order([0.1], ["x"], top_k=5).tolist() == [0]
    assert rank_order([], []).shape == (0,)
    assert rank_order([], [], top_k=2).shape == (0,)


def test_ties_go_by_id_as_text() -> None:
    assert rank_order([1, 1, 1, 1], ["b", "a", "10", "9"]).tolist() == [2, 3, 1, 0]
    assert rank_order([0.0, -0.0], ["b", "a"]).tolist() == [1, 0]


def test_scores_are_compared_unrounded() -> None:
    assert rank_order([0.3, 0.1 + 0.2], ["a", "b"]).tolist() == [1, 0]


def test_a_tie_at_the_cut_is_broken_before_the_cut() -> None:
    scores, ids = [0.5, 0.5, 0.5, 0.9], ["c", "b", "a", "d"]
    assert rank_order(scores, ids, top_k=2).tolist() == [3, 2]
    assert rank_order(scores, ids, np.int64(3)).tolist() == [3, 2, 1]  # type: ignore[arg-type]


@given(scored, st.booleans())
def test_the_order_is_a_permutation_and_agrees_with_the_oracle(
    rows: list[tuple[float, str]], as_index: bool
) -> None:
    scores, ids = [score for score, _ in rows], [name for _, name in rows]
    order = rank_order(scores, pd.Index(ids, dtype="str") if as_index else ids)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert order.tolist() == oracle.rank_order(scores, ids)


@given(scored, st.integers(1, 12))
def test_top_k_is_a_prefix_of_the_full_order(rows: list[tuple[float, str]], top_k: int) -> None:
    scores, ids = [score for score, _ in rows], [name for _, name in rows]
    full = rank_order(scores, ids).tolist()
    assert rank_order(scores, ids, top_k).tolist() == full[:top_k]


@given(scored)
def test_the_order_of_the_rows_does_not_decide(rows: list[tuple[float, str]]) -> None:
    scores, ids = [score for score, _ in rows], [name for _, name in rows]
    forwards = [ids[row] for row in rank_order(scores, ids)]
    backwards = [ids[::-1][row] for row in rank_order(scores[::-1], ids[::-1])]
    assert forwards == backwards


def test_columns_of_pandas_in_another_order_are_refused() -> None:
    column = pd.Series([0.1, 0.9], index=["x", "y"])
    for call in (
        lambda: three_part_score(column[::-1], column, column),
        lambda: three_part_score(column, column, column[::-1]),
        lambda: rank_order(column[::-1], column.index),
    ):
        with pytest.raises(ValueError, match="bring both into one order, or pass"):
            call()
    assert three_part_score(column, column, [1, 2]).total.tolist() == [0, 3]
    assert rank_order(column, column.index).tolist() == rank_order(column, ["x", "y"]).tolist()


def test_a_weight_so_large_that_sums_overflow_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^weights\[2\] is 1e\+308: must be at most 1e\+06$"):
        three_part_score([1, 2], [1, 2], [1, 2], (1, 1, 1e308))
    assert three_part_score([1, 2], [1, 2], [1, 2], (1e6, 1e6, 1e6)).total.tolist() == [0, 3e6]
