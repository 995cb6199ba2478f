"""Fusion: the two published examples, exact fractions, ties, and lists that miss a card."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.fusion import (
    RRF_K,
    WEIGHTS,
    competition_ranks,
    reciprocal_rank_fusion,
    weighted_sum,
)
from memlib.normalization import min_max, z_score
from tests.oracles import fusion as oracle

Call = Callable[[], object]
NAN, INF = float("nan"), float("inf")
Rows = list[tuple[int, int, int]]

level = st.integers(-3, 3)
tables = st.lists(st.tuples(level, level, level), min_size=1, max_size=8)
masks = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=8, max_size=8)
weightings = st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=3, max_size=3)


def signals(rows: Rows) -> dict[str, list[float]]:
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(WEIGHTS)}


def named(weights: list[float]) -> dict[str, float]:
    return dict(zip(WEIGHTS, weights, strict=True))


def test_the_constants() -> None:
    assert RRF_K == 60
    assert WEIGHTS == {"dense": 0.8, "bm25": 0.1, "entity": 0.1}


# Weighted sum


def test_the_exact_word_and_name_beat_a_little_more_similarity() -> None:
    two = {"dense": [0.70, 0.80], "bm25": [1, 0], "entity": [1, 0]}
    assert weighted_sum(two, normalize=None) == pytest.approx([0.76, 0.64], abs=1e-15)
    assert weighted_sum(two) == pytest.approx([0.2, 0.8], abs=1e-15)


def test_each_signal_is_normalised_over_the_cards_first() -> None:
    three = {"words": [0, 5, 20], "dense": [0.4, 0.6, 0.5]}
    found = weighted_sum(three, {"words": 0.5, "dense": 2})
    assert found == pytest.approx([0, 0.125 + 2, 0.5 + 1])
    by_deviation = weighted_sum(three, {"words": 1, "dense": 1}, z_score)
    assert by_deviation == pytest.approx(z_score(three["words"]) + z_score(three["dense"]))


def test_no_cards_give_no_scores() -> None:
    assert weighted_sum({"dense": [], "bm25": [], "entity": []}).shape == (0,)


@given(tables, weightings)
def test_the_sum_agrees_with_the_oracle_and_stays_in_bounds(
    rows: Rows, weights: list[float]
) -> None:
    found = weighted_sum(signals(rows), named(weights))
    assert found == pytest.approx(oracle.weighted_sum(signals(rows), named(weights)), abs=1e-12)
    assert ((found >= 0) & (found <= sum(weights) + 1e-12)).all()
    raw = weighted_sum(signals(rows), named(weights), normalize=None)
    expected = oracle.weighted_sum(signals(rows), named(weights), scaled=False)
    assert raw == pytest.approx(expected, abs=1e-12)


@given(tables, weightings)
def test_a_card_that_is_nowhere_worse_never_sums_to_less(rows: Rows, weights: list[float]) -> None:
    total = weighted_sum(signals(rows), named(weights))
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            if all(x >= y for x, y in zip(one, other, strict=True)):
                assert total[i] >= total[j] - 1e-12


@given(tables)
def test_a_weight_of_zero_silences_and_the_order_of_names_does_not_matter(rows: Rows) -> None:
    table = signals(rows)
    alone = weighted_sum(table, {"dense": 1, "bm25": 0, "entity": 0})
    assert alone.tolist() == min_max(table["dense"]).tolist()
    turned = dict(reversed(table.items()))
    assert weighted_sum(turned) == pytest.approx(weighted_sum(table), abs=1e-15)


def test_the_given_scores_are_left_alone() -> None:
    dense = np.array([0.5, 1.0, 2.0])
    weighted_sum({"dense": dense}, {"dense": 3}, normalize=None)
    reciprocal_rank_fusion([dense])
    assert dense.tolist() == [0.5, 1, 2]


# Ranks


def test_ranks_by_hand() -> None:
    assert competition_ranks([0.2, 0.9, 0.5]).tolist() == [3, 1, 2]
    assert competition_ranks([0.9, 0.9, 0.1]).tolist() == [1, 1, 3]
    assert competition_ranks([1, 2, 2, 2, 3]).tolist() == [5, 2, 2, 2, 1]
    assert competition_ranks([0.0, -0.0]).tolist() == [1, 1]
    assert competition_ranks([0.3, 0.1 + 0.2]).tolist() == [2, 1]
    assert competition_ranks([]).shape == (0,)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=9))
def test_ranks_agree_with_counting(scores: list[float]) -> None:
    assert competition_ranks(scores).tolist() == oracle.ranks(scores)


# Reciprocal rank fusion


def test_the_published_points() -> None:
    first_and_third = reciprocal_rank_fusion([[9, 8, 7, 6], [2, 0, 4, 3]])[0]
    assert first_and_third == pytest.approx(1 / 61 + 1 / 63, abs=1e-15)
    assert round(float(first_and_third), 4) == 0.0323
    second_only = reciprocal_rank_fusion([[9, 8], [1, 0]], [None, [True, False]])[1]
    assert second_only == 1 / 62
    points = [1 / 61, 1 / 63, second_only]
    assert [round(float(point), 4) for point in points] == [0.0164, 0.0159, 0.0161]
    assert reciprocal_rank_fusion([[3, 2, 1]]).tolist() == [1 / 61, 1 / 62, 1 / 63]


def test_tied_scores_earn_the_best_rank_and_leave_a_gap() -> None:
    assert reciprocal_rank_fusion([[5, 5, 1]]).tolist() == [1 / 61, 1 / 61, 1 / 63]
    assert reciprocal_rank_fusion([[5, 5, 5]]).tolist() == [1 / 61] * 3


def test_a_card_missing_from_a_list_earns_nothing_and_holds_no_rank() -> None:
    words = [0.0, 3.0, 0.0, 1.0]
    held = [False, True, False, True]
    assert reciprocal_rank_fusion([words], [held]).tolist() == [0, 1 / 61, 0, 1 / 62]
    high_but_absent = reciprocal_rank_fusion([[9, 3, 8, 1]], [held])
    assert high_but_absent.tolist() == [0, 1 / 61, 0, 1 / 62]
    assert reciprocal_rank_fusion([words]).tolist() == [1 / 63, 1 / 61, 1 / 63, 1 / 62]
    assert reciprocal_rank_fusion([words], [[False] * 4]).tolist() == [0] * 4


def test_margins_are_forgotten() -> None:
    mile, hair = [0.99, 0.10, 0.09], [0.101, 0.100, 0.099]
    assert reciprocal_rank_fusion([mile]).tolist() == reciprocal_rank_fusion([hair]).tolist()


def test_no_cards_give_no_points() -> None:
    assert reciprocal_rank_fusion([[], []]).shape == (0,)


@pytest.mark.parametrize("rrf_k", [0.001, 1, 10, 60, 1e6])
def test_two_first_places_are_the_most_there_is(rrf_k: float) -> None:
    found = reciprocal_rank_fusion([[3, 2, 1], [3, 2, 1]], rrf_k=rrf_k)
    assert found[0] == pytest.approx(2 / (rrf_k + 1), rel=1e-15)
    assert found.argmax() == 0


def test_a_small_k_lets_one_first_place_outweigh_agreement() -> None:
    one, other = [9, 8, 7, 6, 5], [5, 8, 7, 6, 9]  # card 0: first and last; card 1: second twice
    assert reciprocal_rank_fusion([one, other]).argmax() == 1
    assert reciprocal_rank_fusion([one, other], rrf_k=0.1).argmax() == 0


@given(tables, masks, st.sampled_from([0.5, 1, 60, 1000]))
def test_points_agree_with_the_oracle_and_stay_in_bounds(
    rows: Rows, mask: list[tuple[bool, bool, bool]], rrf_k: float
) -> None:
    lists = list(signals(rows).values())
    held = [[row[i] for row in mask[: len(rows)]] for i in range(3)]
    found = reciprocal_rank_fusion(lists, held, rrf_k)
    assert found == pytest.approx(oracle.reciprocal_rank_fusion(lists, held, rrf_k), abs=1e-15)
    assert ((found >= 0) & (found <= 3 / (rrf_k + 1) + 1e-15)).all()
    assert ((found > 0) == np.any(held, axis=0)).all()


@given(tables)
def test_none_means_the_list_holds_every_card(rows: Rows) -> None:
    lists = list(signals(rows).values())
    plain = reciprocal_rank_fusion(lists).tolist()
    assert reciprocal_rank_fusion(lists, [None] * 3).tolist() == plain
    assert reciprocal_rank_fusion(lists, [[True] * len(rows)] * 3).tolist() == plain


@given(tables)
def test_only_the_order_within_a_list_counts(rows: Rows) -> None:
    lists = list(signals(rows).values())
    stretched = [np.exp(scores) * 7 - 2 for scores in lists]
    assert reciprocal_rank_fusion(stretched).tolist() == reciprocal_rank_fusion(lists).tolist()
    again = reciprocal_rank_fusion(lists[::-1])
    assert again == pytest.approx(reciprocal_rank_fusion(lists), abs=1e-15)


ONE = {"dense": [1], "bm25": [1], "entity": [1]}
TWICE = pd.Series([3, 2, 1], index=["a", "a", "b"])
ONCE = "as one before it is: a label may occur only once, or pass .to_numpy()"
HIDDEN = np.ma.array([1, 9], mask=[False, True])
FILL = "leave such rows out, or fill them"
REFUSED: list[tuple[Call, str]] = [
    (lambda: weighted_sum({}, {}), "signals [] and weights []: names differ"),
    (
        lambda: weighted_sum({"dense": [1]}),
        "signals ['dense'] and weights ['bm25', 'dense', 'entity']: names differ",
    ),
    (
        lambda: weighted_sum({**ONE, "bm25": [1, 2]}),
        "lengths differ: dense 1, bm25 2, entity 1",
    ),
    (lambda: weighted_sum({**ONE, "bm25": [NAN]}), "bm25[0] is nan: must be a number"),
    (lambda: weighted_sum({**ONE, "entity": [INF]}), "entity[0] is inf: must be finite"),
    (
        lambda: weighted_sum({**ONE, "dense": [[1]]}),
        "dense has shape (1, 1): must have 1 dimension(s)",
    ),
    (
        lambda: weighted_sum({"dense": [1]}, {"dense": -0.1}),
        "weights['dense'] is -0.1: must be at least 0",
    ),
    (
        lambda: weighted_sum({"dense": [1]}, {"dense": NAN}),
        "weights['dense'] is nan: must be a number",
    ),
    (lambda: competition_ranks([1, NAN]), "scores[1] is nan: must be a number"),
    (lambda: competition_ranks([[1]]), "scores has shape (1, 1): must have 1 dimension(s)"),
    (lambda: reciprocal_rank_fusion([]), "lists is empty: fusion needs at least one ranking"),
    (lambda: reciprocal_rank_fusion([[1], [1, 2]]), "lengths differ: lists[0] 1, lists[1] 2"),
    (lambda: reciprocal_rank_fusion([[1], [NAN]]), "lists[1][0] is nan: must be a number"),
    (lambda: reciprocal_rank_fusion([[1], [2]], [None]), "lengths differ: lists 2, matched 1"),
    (
        lambda: reciprocal_rank_fusion([[1, 2]], [[True]]),
        "lengths differ: lists[0] 2, matched[0] 1",
    ),
    (
        lambda: reciprocal_rank_fusion([[1]], rrf_k=-1),
        "rrf_k is -1.0: must be at least 4.94066e-324",
    ),
    (lambda: reciprocal_rank_fusion([[1]], rrf_k=0), "rrf_k is 0.0: must be at least 4.94066e-324"),
    (lambda: reciprocal_rank_fusion([[1]], rrf_k=NAN), "rrf_k is nan: must be a number"),
    (lambda: reciprocal_rank_fusion([TWICE, TWICE]), f"lists[0][1] is of row 'a', {ONCE}"),
    (lambda: reciprocal_rank_fusion([TWICE]), f"lists[0][1] is of row 'a', {ONCE}"),
    (
        lambda: weighted_sum({"dense": TWICE, "bm25": TWICE}, {"dense": 1, "bm25": 1}),
        f"dense[1] is of row 'a', {ONCE}",
    ),
    (lambda: weighted_sum({**ONE, "bm25": HIDDEN}), f"bm25[1] is masked, with 9 below: {FILL}"),
    (lambda: competition_ranks(HIDDEN), f"scores[1] is masked, with 9 below: {FILL}"),
    (
        lambda: reciprocal_rank_fusion([[1, 2], HIDDEN]),
        f"lists[1][1] is masked, with 9 below: {FILL}",
    ),
    (
        lambda: reciprocal_rank_fusion([[1, 2]], [HIDDEN > 0]),
        f"matched[0][1] is masked, with True below: {FILL}",
    ),
    (
        lambda: reciprocal_rank_fusion([[1, 2]], [[True, NAN]]),
        "matched[0][1] is nan: must be a number",
    ),
    (lambda: reciprocal_rank_fusion([[1, 2]], [[1, 2]]), "matched[0][1] is 2.0: must be at most 1"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


def test_signals_whose_pandas_indexes_differ_are_refused() -> None:
    one, other = pd.Series([1, 0], ["x", "y"]), pd.Series([1, 0], ["y", "x"])
    with pytest.raises(ValueError, match="one order"):
        weighted_sum({"a": one, "b": other}, {"a": 1, "b": 1})
    with pytest.raises(ValueError, match="one order"):
        reciprocal_rank_fusion([one, other])
    with pytest.raises(ValueError, match="one order"):
        reciprocal_rank_fusion([one, one], [None, other])
