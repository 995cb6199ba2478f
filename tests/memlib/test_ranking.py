"""Three parts of one score, and the order that a score makes."""

import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.ranking import (
    DIVERSITY,
    INJECTED,
    MMR_LAMBDA,
    THETA_KEEP,
    WEIGHTS,
    FinalWeights,
    final_score,
    pick_diverse,
    rank_order,
    three_part_score,
)
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
    assert FinalWeights() == FinalWeights(0.50, 0.20, 0.20, 0.10, w_duplicate=0.15)
    assert (MMR_LAMBDA, THETA_KEEP) == (0.8, 0.35)
    assert DIVERSITY == ("penalty", "mmr", "none")


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


# The final score S

unit = st.integers(0, 40).map(lambda n: Fraction(n, 40))
five = st.tuples(unit, unit, unit, unit, unit)
Five = tuple[Fraction, Fraction, Fraction, Fraction, Fraction]


def final(*parts: float) -> float:
    *four, copied = parts
    return float(final_score(*([part] for part in four), [copied])[0])


def test_the_final_score_by_hand() -> None:
    for row, weight in zip(np.eye(5), (0.50, 0.20, 0.20, 0.10, -0.15), strict=True):
        assert final(*row) == weight
    assert final(0.5, 0.5, 0.5, 0.5, 0.5) == pytest.approx(0.425)
    two = [0.5, 1], [0, 0], [1, 0], [0, 1]
    assert final_score(*two) == pytest.approx([0.45, 0.6])
    assert final_score(*two, 1) == pytest.approx([0.30, 0.45])
    mine = FinalWeights(1, 2, 4, 8, 16)
    assert final_score([0.5], [0.5], [0.5], [0.5], [0.25], mine).tolist() == [3.5]
    assert final_score([], [], [], []).shape == (0,)


@given(five)
def test_s_agrees_with_the_oracle_and_stays_between_minus_015_and_1(parts: Five) -> None:
    found = final(*map(float, parts))
    assert found == pytest.approx(float(oracle.final_score(*parts)), abs=1e-15)
    assert -0.15 <= found <= 1


def test_s_reaches_both_bounds() -> None:
    assert final(0, 0, 0, 0, 1) == -0.15
    assert final(1, 1, 1, 1, 0) == pytest.approx(1, abs=1e-15)
    assert final(1, 1, 1, 1, 0) <= 1


@given(five, st.integers(0, 4), unit)
def test_s_rises_with_each_part_and_falls_with_likeness(
    parts: Five, which: int, other: Fraction
) -> None:
    low, high = [float(x) for x in parts], [float(x) for x in parts]
    low[which], high[which] = sorted((low[which], float(other)))
    assert final(*low) <= final(*high) if which < 4 else final(*low) >= final(*high)


def test_a_threshold_on_s_is_no_gate_of_relevance() -> None:
    fresh_pinned_semantic = final(0, 1, 0.5 + 0.2 + 0.1, 0, 0)
    month_old_with_the_word = final(0.30 * 0.75, 0.5, 0.5, 0, 0)
    assert fresh_pinned_semantic == pytest.approx(0.36)
    assert month_old_with_the_word == pytest.approx(0.3125)
    assert fresh_pinned_semantic > THETA_KEEP > month_old_with_the_word


# Picking

AXES = [[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0.5, 0.5, 0.5, 0.5], [-1.0, 0, 0, 0]]
cards = st.lists(
    st.tuples(st.integers(-4, 8).map(lambda n: n / 8), st.sampled_from(AXES)),
    min_size=1,
    max_size=7,
)
Cards = list[tuple[float, list[float]]]
names = st.permutations("abcdefg")
lambdas = st.sampled_from([0, 0.25, 0.5, 0.75, 1])


def split(rows: Cards, ids: list[str]) -> tuple[list[float], list[list[float]], list[str]]:
    return [row[0] for row in rows], [row[1] for row in rows], ids[: len(rows)]


@given(cards, names, st.integers(1, 9), st.sampled_from([0, 0.125, 0.25, 1]))
def test_the_penalty_mode_agrees_with_the_oracle(
    rows: Cards, ids: list[str], top_k: int, cost: float
) -> None:
    score, vectors, ids = split(rows, ids)
    found = pick_diverse(score, vectors, ids, top_k, w_duplicate=cost)
    expected = oracle.pick_diverse(score, vectors, ids, top_k, 1, cost)
    assert found.rows.tolist() == [row for row, _ in expected]
    assert found.penalty.tolist() == [penalty for _, penalty in expected]
    assert found.score.tolist() == [score[row] - cost * penalty for row, penalty in expected]
    assert (np.diff(found.score) <= 0).all()  # penalties only grow


@given(cards, names, st.integers(1, 9), lambdas)
def test_mmr_agrees_with_the_oracle_and_works_on_s_without_the_penalty(
    rows: Cards, ids: list[str], top_k: int, lam: float
) -> None:
    score, vectors, ids = split(rows, ids)
    found = pick_diverse(score, vectors, ids, top_k, "mmr", w_duplicate=1, mmr_lambda=lam)
    expected = oracle.pick_diverse(score, vectors, ids, top_k, lam, 1 - lam)
    assert found.rows.tolist() == [row for row, _ in expected]
    assert found.penalty.tolist() == [penalty for _, penalty in expected]
    assert found.score.tolist() == [score[row] for row in found.rows]


@given(cards, names, st.integers(1, 9))
def test_lambda_1_is_the_order_by_s_and_so_is_no_diversity(
    rows: Cards, ids: list[str], top_k: int
) -> None:
    score, vectors, ids = split(rows, ids)
    by_score = rank_order(score, ids, top_k).tolist()
    for picked in (
        pick_diverse(score, vectors, ids, top_k, "mmr", mmr_lambda=1),
        pick_diverse(score, vectors, ids, top_k, "none"),
        pick_diverse(score, vectors, ids, top_k, "penalty", w_duplicate=0),
    ):
        assert picked.rows.tolist() == by_score
        assert picked.score.tolist() == [score[row] for row in by_score]


@given(cards, names, st.integers(1, 9), st.sampled_from(DIVERSITY), st.integers(-4, 9))
def test_the_threshold_comes_last(
    rows: Cards, ids: list[str], top_k: int, diversity: str, eighths: int
) -> None:
    score, vectors, ids = split(rows, ids)
    whole = pick_diverse(score, vectors, ids, top_k, diversity)
    cut = pick_diverse(score, vectors, ids, top_k, diversity, threshold=eighths / 8)
    stays = whole.score >= eighths / 8
    assert cut.rows.tolist() == whole.rows[stays].tolist()
    assert cut.score.tolist() == whole.score[stays].tolist()
    assert cut.penalty.tolist() == whole.penalty[stays].tolist()


@given(cards, names, st.integers(1, 9), st.sampled_from(DIVERSITY))
def test_the_order_of_the_rows_does_not_decide_what_is_picked(
    rows: Cards, ids: list[str], top_k: int, diversity: str
) -> None:
    score, vectors, ids = split(rows, ids)
    forwards = pick_diverse(score, vectors, ids, top_k, diversity).rows
    backwards = pick_diverse(score[::-1], vectors[::-1], ids[::-1], top_k, diversity).rows
    assert [ids[row] for row in forwards] == [ids[::-1][row] for row in backwards]
    assert len(set(forwards.tolist())) == len(forwards) == min(top_k, len(rows))


A, B, C = np.eye(3)
STORE = [0.90, 0.89, 0.88, 0.70], [A, A, B, C], ["a", "a'", "b", "c"]


def test_each_pick_is_judged_against_all_before_it() -> None:
    """After A and B a judge of the last pick alone would take A', the copy of A."""
    for picked in (pick_diverse(*STORE, 4, "mmr"), pick_diverse(*STORE, 4, w_duplicate=0.25)):
        assert picked.rows.tolist() == [0, 2, 3, 1]
        assert picked.penalty.tolist() == [0, 0, 0, 1]
    assert pick_diverse(*STORE, 4, "none").rows.tolist() == [0, 1, 2, 3]


def test_the_default_is_the_penalty_of_015() -> None:
    picked = pick_diverse(*STORE, 4)
    assert picked.rows.tolist() == [0, 2, 1, 3]
    assert picked.score == pytest.approx([0.90, 0.88, 0.89 - 0.15, 0.70])
    assert picked.penalty.tolist() == [0, 0, 1, 0]


def test_a_likeness_below_0_is_no_bonus_and_one_above_1_counts_as_1() -> None:
    assert pick_diverse([1, 0.5], [A, -A], ["a", "b"], 2).penalty.tolist() == [0, 0]
    assert pick_diverse([1, 0.5], [A, A * (1 + 1e-7)], ["a", "b"], 2).penalty.tolist() == [0, 1]


def test_fewer_than_k_or_none_is_a_right_answer() -> None:
    assert pick_diverse(*STORE, top_k=9).rows.shape == (4,)
    assert pick_diverse(*STORE, top_k=2, threshold=0.89).rows.tolist() == [0]
    nothing = pick_diverse(*STORE, top_k=2, threshold=0.95)
    empty = pick_diverse([], np.zeros((0, 3)), [], top_k=2)
    for picked in (nothing, empty):
        assert [part.shape for part in picked] == [(0,)] * 3
        assert picked.rows.dtype == np.intp


def test_the_double_penalty_would_punish_a_copy_twice() -> None:
    score, vectors, ids = [0.9, 0.89, 0.65], [A, A, C], ["a", "copy", "c"]
    once = pick_diverse(score, vectors, ids, 2, "mmr", mmr_lambda=0.85)
    assert once.rows.tolist() == [0, 1]
    punished = [0.9, 0.89 - 0.15, 0.65]  # S with the penalty already in it
    twice = pick_diverse(punished, vectors, ids, 2, "mmr", mmr_lambda=0.85)
    assert twice.rows.tolist() == [0, 2]


def test_equal_worth_goes_by_id_at_every_pick() -> None:
    picked = pick_diverse([0.5] * 4, [A, B, C, A], ["d", "c", "b", "a"], 4)
    assert picked.rows.tolist() == [3, 2, 1, 0]
    as_text = pick_diverse([0.5] * 3, [A, B, C], pd.Index(["9", "10", "1"]), 3)
    assert as_text.rows.tolist() == [2, 1, 0]


S_REFUSED: list[tuple[Call, str]] = [
    (lambda: final_score([1.5], [0], [0], [0]), "relevance[0] is 1.5: must be at most 1"),
    (lambda: final_score([0], [-1], [0], [0]), "recency[0] is -1.0: must be at least 0"),
    (lambda: final_score([0], [0], [8], [0]), "importance[0] is 8.0: must be at most 1"),
    (lambda: final_score([0], [0], [0], [NAN]), "usage[0] is nan: must be a number"),
    (lambda: final_score([0], [0], [0], [0], 2), "duplication is 2.0: must be at most 1"),
    (
        lambda: final_score([0, 1], [0], [0], [0]),
        "lengths differ: relevance 2, recency 1, importance 1, usage 1",
    ),
    (
        lambda: final_score([0, 1], [0, 1], [0, 1], [0, 1], [[1], [0]]),
        "duplication has shape (2, 1): must be one number, or one a card",
    ),
    (lambda: FinalWeights(usage=NAN), "weights.usage is nan: must be a number"),
    (lambda: pick_diverse([NAN], [[1]], ["a"], 1), "score[0] is nan: must be a number"),
    (lambda: pick_diverse([1], [1], ["a"], 1), "vectors has shape (1,): must have 2 dimension(s)"),
    (lambda: pick_diverse([1], [[1]], ["a", "b"], 1), "lengths differ: score 1, vectors 1, ids 2"),
    (
        lambda: pick_diverse([1, 1], [[1], [1]], ["a", "a"], 1),
        "ids[1] is 'a': an id may occur only once",
    ),
    (
        lambda: pick_diverse([1], [[1]], ["a"], 0),
        "top_k is 0: must be a whole number, 1 or more",
    ),
    (
        lambda: pick_diverse([1], [[1]], ["a"], 1, "MMR"),
        "diversity is 'MMR': must be one of penalty, mmr, none",
    ),
    (
        lambda: pick_diverse([1], [[1]], ["a"], 1, mmr_lambda=1.5),
        "mmr_lambda is 1.5: must be at most 1",
    ),
    (
        lambda: pick_diverse([1], [[1]], ["a"], 1, w_duplicate=-1),
        "w_duplicate is -1.0: must be at least 0",
    ),
    (
        lambda: pick_diverse([1], [[1]], ["a"], 1, threshold=NAN),
        "threshold is nan: must be a number",
    ),
]


@pytest.mark.parametrize(("call", "message"), S_REFUSED)
def test_a_refusal_of_s_or_a_pick_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


def test_columns_of_s_in_another_order_are_refused() -> None:
    column = pd.Series([0.1, 0.9], index=["x", "y"])
    for call in (
        lambda: final_score(column, column, column[::-1], column),
        lambda: final_score(column, column, column, column, column[::-1]),
        lambda: pick_diverse(column[::-1], np.eye(2), column.index, 1),
    ):
        with pytest.raises(ValueError, match="bring both into one order, or pass"):
            call()
    assert pick_diverse(column, np.eye(2), column.index, 1).rows.tolist() == [1]


def test_a_set_of_weights_once_made_is_never_changed() -> None:
    rules = FinalWeights()
    for field in fields(rules):
        with pytest.raises(FrozenInstanceError):
            setattr(rules, field.name, 1.0)
