"""The exam, the recall of evidence, and how sure a difference is."""

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.evaluation import (
    DRAWS,
    Difference,
    Grouped,
    cluster_bootstrap,
    evidence_recall,
    expected_recall,
    group_means,
    group_verdict,
    grouped_difference,
    holm,
    paired_bootstrap,
    resample,
    signs_by_group,
    sit_exam,
    t_inside,
    t_point,
)
from tests.oracles import evaluation as slow
from tests.oracles import ranking as oracle

IDS = ["miso", "sam", "ink", "kids", "work"]
Call = Callable[[], object]
Pairs = list[tuple[float, float]]

quarters = st.integers(0, 4).map(lambda n: n / 4)
pairs = st.lists(st.tuples(quarters, quarters), min_size=1, max_size=12)


def columns(rows: Pairs) -> tuple[list[float], list[float]]:
    return [a for a, _ in rows], [b for _, b in rows]


def exam(*wanted: tuple[str, ...]) -> pd.DataFrame:
    names = [f"q{i:02d}" for i in range(1, len(wanted) + 1)]
    return pd.DataFrame({"question": [f"{n}?" for n in names], "wanted": wanted}, index=names)


def falling(question: str) -> list[float]:
    return [0.9, 0.7, 0.5, 0.3, 0.1]


def test_ranks_and_passes_by_hand() -> None:
    result = sit_exam(exam(("miso",), ("ink",), ("kids",), ("kids", "sam")), IDS, falling)
    assert list(result.columns) == ["question", "ranks", "passed"]
    assert list(result.index) == ["q01", "q02", "q03", "q04"]
    assert result["question"].tolist() == ["q01?", "q02?", "q03?", "q04?"]
    assert result["ranks"].tolist() == [(1,), (3,), (4,), (4, 2)]
    assert result["passed"].tolist() == [True, True, False, False]


def test_every_wanted_card_must_be_among_the_top_k() -> None:
    paper = exam(("miso", "kids"))
    assert [bool(sit_exam(paper, IDS, falling, k)["passed"].iloc[0]) for k in (1, 3, 4, 5)] == [
        False,
        False,
        True,
        True,
    ]


def test_each_question_gets_its_own_scores() -> None:
    def score(question: str) -> list[float]:
        return falling(question) if question == "q01?" else falling(question)[::-1]

    result = sit_exam(exam(("miso",), ("miso",)), pd.Index(IDS), score)
    assert result["ranks"].tolist() == [(1,), (5,)]


def test_equal_scores_rank_by_id() -> None:
    result = sit_exam(exam(("miso", "ink", "work")), IDS, lambda question: [0.5] * 5)
    assert result["ranks"].tolist() == [(3, 1, 5)]


def test_an_exam_without_questions_has_an_empty_result() -> None:
    result = sit_exam(exam(), IDS, falling)
    assert len(result) == 0
    assert list(result.columns) == ["question", "ranks", "passed"]


@pytest.mark.parametrize(
    ("wanted", "ids", "scores", "message"),
    [
        (("cat",), IDS, [0.0] * 5, "exam q01 wants 'cat': no card has that id"),
        (("miso",), IDS, [0.0] * 4, "lengths differ: scores 4, ids 5"),
        (("miso",), IDS, [0.0, float("nan"), 0, 0, 0], "scores[1] is nan: must be a number"),
        (("miso",), ["miso", "miso"], [1.0, 0.0], "ids[1] is 'miso': an id may occur only once"),
        (("miso",), ["miso", 4], [1.0, 0.0], "ids[1] is 4: an id must be a str"),
    ],
)
def test_a_refusal_says_what_is_wrong(
    wanted: tuple[str, ...], ids: list[str], scores: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        sit_exam(exam(wanted), ids, lambda question: scores)
    assert str(caught.value) == message


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=5, max_size=5),
    st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True),
    st.integers(1, 6),
)
def test_ranks_agree_with_the_oracle(scores: list[float], wanted: list[str], top_k: int) -> None:
    result = sit_exam(exam(tuple(wanted)), IDS, lambda question: scores, top_k)
    expected = oracle.ranks(scores, IDS, wanted)
    assert result["ranks"].tolist() == [expected]
    assert result["passed"].tolist() == [all(rank <= top_k for rank in expected)]


# Evidence recall


def test_recall_by_hand() -> None:
    order = [4, 2, 0, 1, 3]
    assert [evidence_recall(order, {2, 3}, k) for k in (1, 2, 4, 5, 99)] == [0, 0.5, 0.5, 1, 1]
    assert evidence_recall(order, [4], 1) == 1
    assert evidence_recall(order, [3, 3, 4], 1) == 0.5
    assert evidence_recall(np.array(order), {0, 1, 2}, np.int64(3)) == pytest.approx(2 / 3)
    assert evidence_recall([0, 1], {7}, 2) == 0


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), min_size=1), st.integers(1, 9))
def test_recall_agrees_with_the_oracle_and_never_falls_with_k(
    order: list[int], evidence: set[int], top_k: int
) -> None:
    found = evidence_recall(order, evidence, top_k)
    assert found == slow.evidence_recall(order, list(evidence), top_k)
    assert 0 <= found <= evidence_recall(order, evidence, top_k + 1) <= 1
    assert evidence_recall(order, evidence, 8) == 1


# Recall where scores are equal


def test_a_tie_across_the_cut_counts_by_its_chance() -> None:
    scores = [0.9, 0.5, 0.5, 0.5, -np.inf]
    found = [expected_recall(scores, {1}, k) for k in (1, 2, 3, 4, 5)]
    assert found == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    assert expected_recall(scores, [0, 1, 1], 2) == pytest.approx((1 + 1 / 3) / 2)
    assert expected_recall([0.1 + 0.2, 0.3], {0}, 1) == 0.5  # a sum's last bit decides nothing


def test_what_was_not_found_is_not_found_at_any_k() -> None:
    for k in (1, 2, 9):
        assert expected_recall([-np.inf, -np.inf], {0, 1}, k) == 0
        assert expected_recall([-np.inf, 0.0], {0, 1}, k) == 0.5


levels = st.lists(st.sampled_from([-np.inf, 0.0, 0.25, 1.0]), min_size=1, max_size=6)


@given(levels, st.integers(1, 7), st.data())
def test_expected_recall_is_the_mean_over_all_orders(
    scores: list[float], top_k: int, data: st.DataObject
) -> None:
    rows = st.integers(0, len(scores) - 1)
    evidence = data.draw(st.lists(rows, min_size=1, max_size=4))
    found = expected_recall(scores, evidence, top_k)
    assert found == pytest.approx(slow.expected_recall(scores, evidence, top_k), abs=1e-12)
    assert 0 <= found <= expected_recall(scores, evidence, top_k + 1) <= 1
    order = data.draw(st.permutations(range(len(scores))))
    moved = [order.index(row) for row in evidence]
    assert expected_recall([scores[row] for row in order], moved, top_k) == found


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), min_size=1), st.integers(1, 9))
def test_without_equal_scores_it_is_the_recall(
    scores: list[int], evidence: set[int], top_k: int
) -> None:
    order = np.argsort(scores)[::-1]
    assert expected_recall(scores, evidence, top_k) == evidence_recall(order, evidence, top_k)


# The paired bootstrap


def test_the_mean_difference_is_second_minus_first() -> None:
    assert DRAWS == 10_000
    found = paired_bootstrap([0, 0, 1, 1], [1, 1, 1, 1])
    assert isinstance(found, Difference)
    assert found.mean == 0.5
    assert (found.low, found.high) == (0, 1)


@given(pairs)
def test_the_interval_holds_the_mean_and_stays_among_the_differences(rows: Pairs) -> None:
    first, second = columns(rows)
    found = paired_bootstrap(first, second, 500)
    gaps = [b - a for a, b in rows]
    assert found.mean == pytest.approx(np.mean(gaps), abs=1e-12)
    assert min(gaps) - 1e-12 <= found.low <= found.high <= max(gaps) + 1e-12


@given(pairs)
def test_the_same_questions_give_the_same_interval_every_time(rows: Pairs) -> None:
    first = paired_bootstrap(*columns(rows), 200)
    resample.cache_clear()
    assert paired_bootstrap(*columns(rows), 200) == first


def test_another_generator_gives_nearly_the_same_interval() -> None:
    gaps = [((7 * i) % 11) / 11 for i in range(40)]
    one, other = (paired_bootstrap([0] * 40, gaps, DRAWS, start) for start in (0, 1))
    assert one != other
    assert one == pytest.approx(other, abs=0.01)


@pytest.mark.parametrize("n", [9, 20, 25, 60])
def test_an_interval_that_ends_at_zero_ends_at_zero_exactly(n: int) -> None:
    rng = np.random.default_rng(n)
    counts = resample(n, 41).astype(int).tolist()
    ended = 0
    for _ in range(40):
        thirds = rng.choice([-3, -1, 0, 2, 3], size=n, p=[0.1, 0.1, 0.4, 0.2, 0.2]).tolist()
        found = paired_bootstrap([0] * n, [100 * (third / 3) for third in thirds], 41)
        exact = slow.interval(counts, [Fraction(100 * third, 3) for third in thirds])
        assert (found.low, found.high) == pytest.approx(exact, abs=1e-9)
        assert np.sign([found.low, found.high]).tolist() == [(x > 0) - (x < 0) for x in exact]
        ended += 0 in exact
    assert ended > 0


@given(pairs, st.integers(-1000, 900))
def test_the_interval_has_no_unit(rows: Pairs, power: int) -> None:
    first, second = columns(rows)
    plain = np.array(paired_bootstrap(first, second, 50))
    scaled = paired_bootstrap(np.ldexp(first, power), np.ldexp(second, power), 50)
    assert scaled == pytest.approx(np.ldexp(plain, power).tolist(), rel=1e-9)


@given(pairs)
def test_turned_round_the_interval_changes_its_sign(rows: Pairs) -> None:
    first, second = columns(rows)
    there, back = paired_bootstrap(first, second, 400), paired_bootstrap(second, first, 400)
    assert back == pytest.approx((-there.mean, -there.high, -there.low), abs=1e-12)


@given(st.integers(1, 40), quarters, st.data())
def test_a_constant_difference_has_no_width(n: int, gap: float, data: st.DataObject) -> None:
    first = data.draw(st.lists(quarters, min_size=n, max_size=n))
    found = paired_bootstrap(first, [value + gap for value in first], 200)
    assert found == pytest.approx((gap, gap, gap), abs=1e-12)


@pytest.mark.parametrize("gaps", [[0, 0, 1], [0, 0, 0, 1], [-1, 0, 2], [0, 1], [3, 1, 4, 1, 5]])
def test_tiny_cases_have_the_interval_of_all_their_resamples(gaps: list[float]) -> None:
    found = paired_bootstrap([0] * len(gaps), gaps)
    assert (found.low, found.high) == pytest.approx(slow.every_resample(gaps), abs=1e-12)


@pytest.mark.parametrize("step", [3, 7, 8])
def test_the_interval_agrees_with_one_drawn_question_by_question(step: int) -> None:
    first = [((step * i) % 13) / 13 for i in range(50)]
    second = [((step * i + 5 * (i % 4)) % 17) / 17 for i in range(50)]
    found, expected = paired_bootstrap(first, second), slow.bootstrap(first, second, 4000)
    spread = (expected[2] - expected[1]) / 4  # about one standard deviation of the mean
    assert found.mean == pytest.approx(expected[0], abs=1e-12)
    assert found == pytest.approx(expected, abs=0.2 * spread)


def test_about_95_of_100_intervals_hold_the_true_difference() -> None:
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(400):
        first = rng.random(60)
        found = paired_bootstrap(first, first + rng.normal(0.1, 1, 60), 1000)
        held += found.low <= 0.1 <= found.high
    assert 0.91 <= held / 400 <= 0.98


def test_more_questions_make_the_interval_narrower() -> None:
    gaps = [0, 1, 0, -1, 1] * 4
    few, many = paired_bootstrap([0] * 20, gaps), paired_bootstrap([0] * 320, gaps * 16)
    assert many.high - many.low == pytest.approx((few.high - few.low) / 4, rel=0.1)


@given(st.integers(1, 30), st.integers(1, 50))
def test_a_draw_is_n_questions_with_replacement(n: int, draws: int) -> None:
    counts = resample(n, draws)
    assert counts.shape == (draws, n)
    assert counts.tolist() == np.rint(counts).tolist()
    assert (counts >= 0).all()
    assert counts.sum(axis=1).tolist() == [n] * draws


def test_every_question_is_drawn_equally_often() -> None:
    counts = resample(5)
    assert counts.mean(axis=0) == pytest.approx([1] * 5, abs=0.025)
    assert counts.var(axis=0) == pytest.approx([5 * 0.2 * 0.8] * 5, rel=0.1)


def test_shared_counts_cannot_be_spoilt() -> None:
    with pytest.raises(ValueError, match="read-only"):
        resample(3, 10)[0, 0] = 9


# Groups


def test_signs_by_hand() -> None:
    groups = ["a", "a", "b", "c", "c"]
    assert signs_by_group([0, 0, 1, 1, 0], [1, 1, 1, 0, 0], groups) == (1, 1, 1)
    assert signs_by_group([0, 1], [1, 0], ["a", "a"]) == (0, 1, 0)
    assert signs_by_group([0, 0, 0], [-1, -1, 5], ["a", "a", "a"]) == (1, 0, 0)
    assert signs_by_group([0.1 + 0.2], [0.3], ["a"]) == (0, 1, 0)
    assert signs_by_group([], [], []) == (0, 0, 0)


@pytest.mark.parametrize(
    "labels", [["a", "b"], [1, 2], [("a", 1), ("b", 2)], [None, "b"], [True, False], ["", " "]]
)
def test_any_label_makes_a_group(labels: list[object]) -> None:
    assert signs_by_group([0, 0, 0], [1, -1, 1], [*labels, labels[0]]) == (1, 0, 1)


@given(pairs, st.data())
def test_signs_agree_with_the_oracle(rows: Pairs, data: st.DataObject) -> None:
    labels = st.lists(st.sampled_from("xyz"), min_size=len(rows), max_size=len(rows))
    groups = data.draw(labels)
    found = signs_by_group(*columns(rows), groups)
    assert found == slow.signs(*columns(rows), groups)
    assert sum(found) == len(set(groups))
    assert signs_by_group(*columns(rows)[::-1], groups) == found[::-1]


# groups: the independent units


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from("abcd")), min_size=1
    )
)
def test_group_means_are_those_of_the_oracle(rows: list[tuple[int, int, str]]) -> None:
    first, second, groups = zip(*rows, strict=True)
    wanted = slow.group_means(first, second, groups)
    assert group_means(first, second, groups).tolist() == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 9, 10, 30])
def test_t_is_the_area_under_its_density(freedom: int) -> None:
    for t in (0.0, 0.3, 1.0, 2.5, 6.0):
        assert t_inside(t, freedom) == pytest.approx(slow.t_inside(t, freedom), abs=1e-9)
    for level in (0.0, 0.5, 0.9, 0.95, 0.999):
        assert t_inside(t_point(level, freedom), freedom) == pytest.approx(level, abs=1e-12)


def test_t_points_are_those_of_every_textbook() -> None:
    table = {1: 12.706, 2: 4.303, 3: 3.182, 6: 2.447, 9: 2.262, 30: 2.042}
    for freedom, point in table.items():
        assert round(t_point(0.95, freedom), 3) == point


def test_a_difference_over_groups_by_hand() -> None:
    # means 1, 3 and 8: mean 4, sd √13, so 4 ± 4.3027 · √13 / √3
    found = grouped_difference([0] * 5, [1, 2, 4, 8, 8], ["a", "b", "b", "c", "c"])
    assert found.means == (1.0, 3.0, 8.0) and found.mean == 4.0
    reach = 4.302652729 * (13 / 3) ** 0.5
    assert (found.low, found.high) == pytest.approx((4 - reach, 4 + reach))
    assert found.p == pytest.approx(1 - slow.t_inside(4 / (13 / 3) ** 0.5, 2), abs=1e-9)


def test_a_group_counts_once_however_many_its_questions() -> None:
    few = grouped_difference([0, 0, 0], [1, 2, 4], ["a", "b", "c"])
    many = grouped_difference([0] * 22, [1] * 20 + [2, 4], ["a"] * 20 + ["b", "c"])
    assert few == many


def test_groups_that_agree_to_the_last_digit_leave_no_doubt_and_none_no_difference() -> None:
    assert grouped_difference([0, 0], [2, 2], "ab") == (2.0, 2.0, 2.0, 0.0, (2.0, 2.0))
    assert grouped_difference([3, 1], [3, 1], "ab") == (0.0, 0.0, 0.0, 1.0, (0.0, 0.0))


def test_drawing_groups_anew_is_drawing_their_means_anew() -> None:
    first, second = [0.0] * 6, [1.0, 3.0, 2.0, 6.0, 7.0, 2.0]
    groups = ["a", "a", "b", "b", "c", "c"]
    found = cluster_bootstrap(first, second, groups)
    assert found == paired_bootstrap([0, 0, 0], [2, 4, 4.5])
    assert found == cluster_bootstrap(first, second, groups, seed=0)
    # of three groups every 27th draw holds the lowest alone: the interval reaches from end to end
    assert (found.low, found.high) == (2.0, 4.5)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_goes_step_by_step(p: list[float]) -> None:
    assert holm(p).tolist() == slow.holm(p)


def verdict(*means: float, p: float | None = None) -> str:
    return group_verdict(grouped_difference([0] * len(means), means, range(len(means))), p)


def test_a_verdict_needs_the_interval_all_signs_but_one_and_its_p() -> None:
    assert verdict(1, 2, 1.5, 2.5, 1, 0) == "better"
    assert verdict(-1, -2, -1.5, -2.5, -1, 0) == "worse"
    assert verdict(3, 3, 3, 3, 3, 3, 3, 3, -0.5, -0.5) == "within noise"  # two signs against
    assert verdict(9, 1, 1, 1, 1, 1) == "within noise"  # one group decides: the interval holds 0
    assert verdict(1, 2, 1.5, 2.5, 1, 0, p=0.06) == "within noise"
    assert verdict(2, 2, 2, 2, 2) == "too few groups"


NAN = float("nan")
SIX = Grouped(1.0, 0.5, 1.5, 0.01, (1.0,) * 6)
REFUSED: list[tuple[Call, str]] = [
    (
        lambda: evidence_recall([0], [], 1),
        "evidence is empty: a question without evidence has no recall",
    ),
    (lambda: evidence_recall([0], [0], 0), "top_k is 0: must be 1 or more"),
    (
        lambda: expected_recall([1], [], 1),
        "evidence is empty: a question without evidence has no recall",
    ),
    (lambda: expected_recall([1, 2], [0, 2], 1), "evidence holds row 2: there are 2 scores"),
    (lambda: expected_recall([1], [-1], 1), "evidence holds row -1: there are 1 scores"),
    (lambda: expected_recall([1, NAN], [0], 1), "scores[1] is nan: must be a number"),
    (lambda: expected_recall([float("inf")], [0], 1), "scores[0] is inf: must be finite"),
    (lambda: expected_recall([1], [0], 0), "top_k is 0: must be a whole number, 1 or more"),
    (lambda: evidence_recall([0, 0, 1], [1], 2), "order[1] is 0: a row may occur only once"),
    (
        lambda: evidence_recall(np.array([2, 0, 2]), [1], 1),
        "order[2] is 2: a row may occur only once",
    ),
    (
        lambda: evidence_recall(np.ma.array([2, 0], mask=[False, True]), [1], 1),
        "order[1] is masked, with 0 below: leave such rows out, or fill them",
    ),
    (lambda: paired_bootstrap([], []), "first is empty: there is no question to compare"),
    (lambda: paired_bootstrap([1], [1, 2]), "lengths differ: first 1, second 2"),
    (lambda: paired_bootstrap([1, NAN], [1, 2]), "first[1] is nan: must be a number"),
    (lambda: paired_bootstrap([1], [float("inf")]), "second[0] is inf: must be finite"),
    (lambda: paired_bootstrap([-1e308], [1e308]), "difference[0] is inf: must be finite"),
    (
        lambda: paired_bootstrap([[1]], [[1]]),
        "first has shape (1, 1): must have 1 dimension(s)",
    ),
    (lambda: paired_bootstrap([1], [2], 0), "draws is 0: must be 1 or more"),
    (lambda: signs_by_group([1], [2], ["a", "b"]), "lengths differ: first 1, second 1, groups 2"),
    (lambda: signs_by_group([1], [NAN], ["a"]), "second[0] is nan: must be a number"),
    (lambda: group_means([1], [2], ["a", "b"]), "lengths differ: first 1, second 1, groups 2"),
    (
        lambda: grouped_difference([1, 2], [2, 2], ["a", "a"]),
        "groups holds 1 label(s): one group has no spread, give two",
    ),
    (
        lambda: grouped_difference([], [], []),
        "groups holds 0 label(s): one group has no spread, give two",
    ),
    (lambda: grouped_difference([1], [NAN], ["a"]), "second[0] is nan: must be a number"),
    (lambda: cluster_bootstrap([], [], []), "groups is empty: there is nothing to draw"),
    (lambda: cluster_bootstrap([1], [2], ["a"], 0), "draws is 0: must be 1 or more"),
    (lambda: t_inside(-1, 3), "t is -1.0: must be at least 0"),
    (lambda: t_inside(1, 0), "freedom is 0: must be a whole number, 1 or more"),
    (lambda: t_point(1.0, 3), "level is 1.0: must be below 1"),
    (lambda: t_point(0.5, 1.5), "freedom is 1.5: must be a whole number, 1 or more"),
    (lambda: holm([0.1, 1.2]), "p[1] is 1.2: must be at most 1"),
    (lambda: group_verdict(SIX, 1.2), "p is 1.2: must be at most 1"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_measure_refuses_by_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("wanted", "top_k", "message"),
    [
        ("ab", 3, "exam q1 wants 'ab': must be card ids, at least one"),
        ((), 3, "exam q1 wants (): must be card ids, at least one"),
        (("a",), 0, "top_k is 0: must be a whole number, 1 or more"),
        (("a",), 1.5, "top_k is 1.5: must be a whole number, 1 or more"),
    ],
)
def test_an_exam_that_cannot_be_sat_is_refused(wanted: object, top_k: int, message: str) -> None:
    exam = pd.DataFrame({"question": ["?"], "wanted": [wanted]}, index=["q1"])
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        sit_exam(exam, ["a", "b"], lambda question: [1, 0], top_k)
