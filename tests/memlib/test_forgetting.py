"""Forgetting: what may be deleted, what a sweep decides, and when a card is due for review."""

import math
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.forgetting import (
    BLOCK,
    EPS,
    FIRST_INTERVALS,
    FIRST_TAU_DAYS,
    RECALL_DUE,
    ForgetWeights,
    RetentionPolicy,
    ReviewWeights,
    days_until_due,
    duplicate_ratio,
    forget_score,
    next_interval,
    next_tau,
    outranks,
    recall_probability,
    retention,
    usage,
    usage_raw,
)
from memlib.importance import DEFAULT_IMPORTANCE, importance
from memlib.recency import HALF_LIFE_DAYS, recency_by_half_life
from tests.oracles import forgetting as oracle

Call = Callable[[], object]
Counts = list[tuple[int, int, int]]
NAN, INF = float("nan"), float("inf")
POLICY = RetentionPolicy()

count = st.integers(0, 400)
batches = st.lists(st.tuples(count, count, count), min_size=1, max_size=7)
unit = st.integers(0, 40).map(lambda n: Fraction(n, 40))
parts = st.tuples(unit, unit, unit, unit, st.booleans())


def columns(rows: Counts) -> list[list[int]]:
    return [[row[i] for row in rows] for i in range(3)]


def score_of(
    recency: float, usage: float, dup_ratio: float, importance: float, pinned: bool = False
) -> float:
    return float(forget_score([recency], [usage], [dup_ratio], [importance], [pinned])[0])


def test_the_constants() -> None:
    assert EPS == 1e-6
    assert RECALL_DUE == 0.7
    assert FIRST_INTERVALS == (1, 6)
    assert ForgetWeights() == ForgetWeights(0.35, 0.25, 0.20, 0.15, 0.30)
    assert ReviewWeights() == ReviewWeights(0.6, 0.4, 0.5, 0.7)
    assert (POLICY.soft, POLICY.hard) == (0.6, 0.8)
    assert POLICY.soft_ttl_days == {"working": 2, "episodic": 30, "semantic": INF}
    assert POLICY.hard_ttl_days == {"working": 7, "episodic": 180, "semantic": INF}


# Usage


def test_usage_by_hand() -> None:
    e = math.e - 1
    assert usage_raw([e, 0, 0, e], [0, e, 0, e], [0, 0, e, e]) == pytest.approx([1, 2, 0.5, 3.5])
    assert usage_raw([0], [0], [0]).tolist() == [0]
    assert usage([0, 1, 3], [0] * 3, [0] * 3) == pytest.approx([0, 0.5, 1], abs=1e-6)
    assert usage([], [], []).shape == (0,)


def test_a_store_used_equally_often_counts_as_unused() -> None:
    assert usage([9, 9, 9], [5, 5, 5], [1, 1, 1]).tolist() == [0, 0, 0]
    assert usage([400], [400], [400]).tolist() == [0]
    busy = forget_score([0.5] * 3, usage([9] * 3, [5] * 3, [1] * 3), [0] * 3, [0] * 3, [False] * 3)
    idle = forget_score([0.5] * 3, usage([0] * 3, [0] * 3, [0] * 3), [0] * 3, [0] * 3, [False] * 3)
    assert busy.tolist() == idle.tolist()


@given(batches)
def test_usage_agrees_with_the_oracle_and_stays_below_one(rows: Counts) -> None:
    raw = [float(value) for value in oracle.usage_raw(*columns(rows))]
    assert usage_raw(*columns(rows)) == pytest.approx(raw, rel=1e-14)
    if len(set(raw)) in (1, len(set(rows))):  # else two ways to one sum, told apart by an ulp
        found = usage(*columns(rows))
        assert found == pytest.approx([float(x) for x in oracle.usage(*columns(rows))], abs=1e-9)
        assert ((found >= 0) & (found < 1)).all()


@given(batches, st.data())
def test_a_card_s_own_use_never_raises_its_forget_score(rows: Counts, data: st.DataObject) -> None:
    card = data.draw(st.integers(0, len(rows) - 1))
    more = data.draw(st.tuples(count, count, count))
    used = [row if i != card else tuple(map(sum, zip(row, more))) for i, row in enumerate(rows)]  # noqa: B905
    n = len(rows)
    fixed = [0.5] * n, [0.25] * n, [0.5] * n, [False] * n
    recency, copied, matters, pins = fixed
    before = forget_score(recency, usage(*columns(rows)), copied, matters, pins)
    after = forget_score(recency, usage(*columns(used)), copied, matters, pins)
    assert after[card] <= before[card] + 1e-15


def test_more_use_of_one_card_raises_the_score_of_another() -> None:
    """ln 1, ln 2, ln 4: the middle card is half used. At ln 16 for the third it is a quarter."""
    none = [0, 0, 0]
    before, after = usage([0, 1, 3], none, none), usage([0, 1, 15], none, none)
    assert before[1] == pytest.approx(1 / 2, abs=1e-6)
    assert after[1] == pytest.approx(1 / 4, abs=1e-6)
    scores = [
        forget_score([0.5] * 3, used, [0] * 3, [0.5] * 3, [False] * 3) for used in (before, after)
    ]
    assert scores[1] - scores[0] == pytest.approx([0, 0.25 / 4, 0], abs=1e-6)
    lifted = usage([1, 1, 3], none, none)  # the first catches up, and the middle falls to 0
    assert lifted[1] == 0


# ForgetScore


def test_the_score_by_hand() -> None:
    assert score_of(1, 1, 0, 0) == 0
    assert score_of(0, 1, 0, 0) == 0.35
    assert score_of(1, 0, 0, 0) == 0.25
    assert score_of(1, 1, 1, 0) == 0.20
    assert score_of(1, 1, 0, 1) == -0.15
    assert score_of(1, 1, 0, 0, pinned=True) == -0.30
    assert score_of(0.5, 0.5, 0.5, 0.5) == pytest.approx(0.175 + 0.125 + 0.1 - 0.075)
    mine = ForgetWeights(1, 2, 4, 8, 16)
    assert forget_score([0.5], [0.5], [0.5], [0.5], [True], mine).tolist() == [3.5 - 4 - 16]
    assert forget_score([], [], [], [], []).shape == (0,)


@given(parts)
def test_the_score_agrees_with_the_oracle_and_stays_in_bounds(
    card: tuple[Fraction, Fraction, Fraction, Fraction, bool],
) -> None:
    found = score_of(*map(float, card[:4]), card[4])
    assert found == pytest.approx(float(oracle.forget_score(*card)), abs=1e-15)
    assert -0.45 <= found <= 0.80


@given(parts, st.integers(0, 3), unit)
def test_the_score_moves_with_each_part_in_its_direction(
    card: tuple[Fraction, Fraction, Fraction, Fraction, bool], which: int, other: Fraction
) -> None:
    *four, pinned = card
    low, high = [float(x) for x in four], [float(x) for x in four]
    low[which], high[which] = sorted((float(other), low[which]))
    lower, higher = score_of(*low, bool(pinned)), score_of(*high, bool(pinned))
    assert lower <= higher if which == 2 else lower >= higher
    assert score_of(*low, True) < score_of(*low, False)


@given(parts, st.fractions(Fraction(1, 10**30), 1))
def test_the_score_is_080_less_five_slacks_so_below_it_while_anything_is_left(
    card: tuple[Fraction, Fraction, Fraction, Fraction, bool], fresh: Fraction
) -> None:
    _, used, copied, matters, pinned = card
    score = oracle.forget_score(fresh, used, copied, matters, pinned)
    slack = Fraction("0.35") * fresh + Fraction("0.25") * used + Fraction("0.20") * (1 - copied)
    slack += Fraction("0.15") * matters + Fraction("0.30") * pinned
    assert score == Fraction("0.80") - slack  # exact, no rounding
    assert score < Fraction("0.80")  # each slack is 0 or more, the first is above 0
    alone = oracle.forget_score(fresh, used, Fraction(0), matters, pinned)
    assert alone == score - Fraction("0.20") * copied < Fraction("0.60")


def test_the_edges_are_reached_only_where_recency_is_0() -> None:
    never, whole = Fraction(0), Fraction(1)
    assert oracle.forget_score(never, never, whole, never, False) == Fraction("0.80")
    assert oracle.forget_score(never, never, never, never, False) == Fraction("0.60")


@pytest.mark.parametrize("kind", HALF_LIFE_DAYS)
def test_rounding_lets_it_through_from_the_54th_half_life_on(kind: str) -> None:
    half_lives = np.arange(0, 60)
    fresh = recency_by_half_life(HALF_LIFE_DAYS[kind] * half_lives, HALF_LIFE_DAYS[kind])
    assert (fresh > 0).all()
    none, all_of_it = np.zeros(60), np.ones(60)
    copied = forget_score(fresh, none, all_of_it, none, none)
    alone = forget_score(fresh, none, none, none, none)
    assert (copied >= POLICY.hard).tolist() == (half_lives >= 54).tolist()
    assert (alone >= POLICY.soft).tolist() == (half_lives >= 54).tolist()


def worst_case(kind: str, days: list[float], copied: float) -> tuple[str, ...]:
    """Decisions on a card of default importance, never used, as it grows old."""
    n = len(days)
    matters = importance([DEFAULT_IMPORTANCE] * n, [False] * n, [kind] * n)
    fresh = recency_by_half_life(days, HALF_LIFE_DAYS[kind])
    score = forget_score(fresh, [0] * n, [copied] * n, matters, [False] * n)
    return retention(score, days, [kind] * n, [False] * n)


@pytest.mark.parametrize(
    ("kind", "keeps", "goes"), [("working", 2.802, 2.803), ("episodic", 44.562, 44.563)]
)
def test_when_a_default_unused_copied_card_gets_to_soft(
    kind: str, keeps: float, goes: float
) -> None:
    assert worst_case(kind, [keeps, goes], copied=1) == ("keep", "soft")
    forever = [goes, 1e3, 1e5, 1e7]
    assert worst_case(kind, forever, copied=1) == ("soft",) * 4  # hard is out of reach
    assert worst_case(kind, forever, copied=0) == ("keep",) * 4  # and soft without a copy


def test_a_semantic_card_is_never_deleted() -> None:
    assert worst_case("semantic", [0, 1e3, 1e5, 1e9], copied=1) == ("keep",) * 4
    assert retention([0.8], [1e12], ["semantic"], [False]) == ("keep",)


# Duplicates


def test_of_two_copies_one_survives() -> None:
    copies, ids = [[1, 0], [1, 0]], ["a", "b"]
    assert duplicate_ratio(copies, [0.5, 0.9], [1, 1], ids).tolist() == [1, 0]
    assert duplicate_ratio(copies, [0.5, 0.5], [1, 9], ids).tolist() == [0, 1]
    assert duplicate_ratio(copies, [0.5, 0.5], [1, 1], ids).tolist() == [0, 1]
    assert duplicate_ratio(copies, [0.5, 0.5], [1, 1], ids[::-1]).tolist() == [1, 0]
    assert duplicate_ratio(copies * 3, [0.5] * 6, [1] * 6, list("fedcba")).tolist() == [1] * 5 + [0]


def test_the_ratio_by_hand() -> None:
    vectors = [[1, 0], [0.6, 0.8], [-1, 0], [0, 1]]
    found = duplicate_ratio(vectors, [0.9, 0.8, 0.7, 0.6], [0] * 4, list("abcd"))
    assert found == pytest.approx([0, 0.6, 0, 0.8])
    assert duplicate_ratio([[1, 0]], [0.5], [3], ["a"]).tolist() == [0]
    assert duplicate_ratio(np.zeros((0, 3)), [], [], []).shape == (0,)


AXES = [
    [1.0, 0, 0, 0],
    [0, 1.0, 0, 0],
    [0.5, 0.5, 0.5, 0.5],
    [0.5, -0.5, 0.5, -0.5],
    [-1.0, 0, 0, 0],
]


@given(
    st.lists(
        st.tuples(st.sampled_from(AXES), st.integers(0, 2), st.integers(0, 2)),
        min_size=1,
        max_size=9,
    ),
    st.permutations("abcdefghi"),
)
def test_duplicates_agree_with_the_oracle(
    rows: list[tuple[list[float], int, int]], names: list[str]
) -> None:
    vectors, weight, age = ([row[i] for row in rows] for i in range(3))
    ids = names[: len(rows)]
    found = duplicate_ratio(vectors, weight, age, ids)
    assert found.tolist() == oracle.duplicate_ratio(vectors, weight, age, ids)
    assert (found < 1).any()  # somebody survives
    assert found.max() <= 1


def test_blocks_agree_with_a_slow_loop() -> None:
    random = np.random.default_rng(7)
    n = BLOCK + 70
    vectors = random.normal(size=(n, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    weight, age = random.integers(0, 5, n) / 4, random.integers(0, 30, n)
    ids = [f"card{number}" for number in random.permutation(n)]
    found = duplicate_ratio(vectors, weight, age, ids)
    slow = oracle.duplicate_ratio(vectors.tolist(), weight.tolist(), age.tolist(), ids)
    assert found == pytest.approx(slow, abs=1e-12)
    assert (found == 0).sum() >= 1


# Policy


def test_retention_by_kind_at_the_very_edge() -> None:
    def decide(score: float, days: float, kind: str) -> str:
        return retention([score], [days], [kind], [False])[0]

    for kind, soft, hard in (("working", 2, 7), ("episodic", 30, 180)):
        assert decide(0.6, soft, kind) == "soft"
        assert decide(0.6, np.nextafter(soft, 0), kind) == "keep"
        assert decide(np.nextafter(0.6, 0), soft, kind) == "keep"
        assert decide(0.8, hard, kind) == "hard"
        assert decide(0.8, np.nextafter(hard, 0), kind) == "soft"
        assert decide(np.nextafter(0.8, 0), hard, kind) == "soft"
    assert retention([], [], [], []) == ()


def test_a_policy_can_be_overridden_without_touching_the_default() -> None:
    mine = RetentionPolicy(soft=0.1, soft_ttl_days={"semantic": 0}, hard_ttl_days={"semantic": INF})
    assert retention([0.1], [0], ["semantic"], [False], mine) == ("soft",)
    with pytest.raises(ValueError, match=re.escape("kind[0] is 'working': the policy has no TTL")):
        retention([0.1], [0], ["working"], [False], mine)
    assert RetentionPolicy().soft_ttl_days == POLICY.soft_ttl_days
    assert POLICY.soft_ttl_days is not RetentionPolicy().soft_ttl_days


@given(
    st.lists(
        st.tuples(
            st.sampled_from([-0.45, 0.0, 0.59, 0.6, 0.7, 0.8, 5.0]),
            st.sampled_from([0.0, 1.9, 2.0, 7.0, 30.0, 180.0, 1e9]),
            st.sampled_from(sorted(HALF_LIFE_DAYS)),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_retention_agrees_with_the_oracle_and_never_takes_a_pinned_card(
    rows: list[tuple[float, float, str, bool]],
) -> None:
    columns = [[row[i] for row in rows] for i in range(4)]
    soft, hard = (POLICY.soft, POLICY.soft_ttl_days), (POLICY.hard, POLICY.hard_ttl_days)
    found = retention(*columns)  # type: ignore[arg-type]
    assert list(found) == [oracle.retention(*row, soft, hard) for row in rows]
    assert {word for word, row in zip(found, rows, strict=True) if row[3]} <= {"keep"}


def test_a_pinned_card_is_kept_whatever_the_coefficients() -> None:
    reckless = ForgetWeights(pinned=-1)
    score = forget_score([0.0], [0.0], [1.0], [0.0], [True], reckless)
    assert score[0] > 1
    ruthless = RetentionPolicy(0, 0, {"working": 0}, {"working": 0})
    assert retention(score, [1e6], ["working"], [True], ruthless) == ("keep",)
    assert retention(score, [1e6], ["working"], [False], ruthless) == ("hard",)


# Review


def test_recall_by_hand() -> None:
    assert recall_probability(0, 5) == 1
    assert recall_probability([5, 10], 5) == pytest.approx([math.exp(-1), math.exp(-2)])
    assert recall_probability([3, 3], [3, INF]) == pytest.approx([math.exp(-1), 1])


@given(st.floats(0, 3000), st.floats(0.01, 3000))
def test_recall_agrees_with_the_oracle_and_stays_in_bounds(days: float, tau: float) -> None:
    found = float(recall_probability(days, tau))
    assert found == pytest.approx(oracle.recall_probability(days, tau), rel=1e-9, abs=1e-300)
    assert 0 <= found <= 1


@given(st.floats(0, 1e4), st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_the_stronger_never_fades_faster(days: float, one: float, other: float) -> None:
    weak, strong = sorted((one, other))
    p = recall_probability([days, days], [weak, strong])
    assert p[0] <= p[1]
    sooner, later = sorted((one, other))
    assert recall_probability(sooner, 7) >= recall_probability(later, 7)


def test_the_first_review_falls_on_day_1() -> None:
    assert pytest.approx(2.80, abs=0.005) == FIRST_TAU_DAYS
    assert days_until_due(FIRST_TAU_DAYS) == pytest.approx(1, abs=1e-12)
    assert float(recall_probability(1, FIRST_TAU_DAYS)) == pytest.approx(0.7, abs=1e-15)
    assert next_interval(None, 0, 0) == 1


@given(st.floats(0.01, 5000))
def test_due_at_0357_tau_and_half_at_tau_ln_2(tau: float) -> None:
    assert days_until_due(tau) == pytest.approx(0.357 * tau, rel=1e-3)
    assert days_until_due(tau) == pytest.approx(oracle.days_until(tau, "0.7"), rel=1e-12)
    assert float(recall_probability(days_until_due(tau), tau)) == pytest.approx(0.7)
    half = days_until_due(tau, due=0.5)
    assert half == pytest.approx(tau * math.log(2))
    assert float(recall_probability(half, tau)) == pytest.approx(0.5)
    assert float(recall_probability(tau, tau)) == pytest.approx(0.368, abs=0.001)  # not one half
    assert days_until_due(tau, due=1) == 0


@given(unit, unit, unit, unit, st.integers(1, 400))
def test_the_next_tau_agrees_with_the_oracle_and_stays_in_bounds(
    weight: Fraction, used: Fraction, helpful: Fraction, bad: Fraction, tau: int
) -> None:
    found = next_tau(tau, *map(float, (weight, used, helpful, bad)))
    expected = oracle.next_tau(Fraction(tau), weight, used, helpful, bad)
    assert found == pytest.approx(float(expected), rel=1e-14)
    assert 0.3 * tau - 1e-9 <= found <= 2.5 * tau + 1e-9


@given(unit, unit, unit, unit, st.integers(0, 3), unit)
def test_what_matters_is_used_or_helped_is_reviewed_later_what_was_bad_sooner(
    weight: Fraction, used: Fraction, helpful: Fraction, bad: Fraction, which: int, more: Fraction
) -> None:
    low = [float(x) for x in (weight, used, helpful, bad)]
    high = low.copy()
    low[which], high[which] = sorted((low[which], float(more)))
    shorter, longer = next_tau(10, *low), next_tau(10, *high)
    assert shorter <= longer if which < 3 else shorter >= longer


def test_tau_by_hand() -> None:
    assert next_tau(10, 0, 0) == 10
    assert next_tau(10, 0.5, 0.5) == pytest.approx(15)
    assert next_tau(10, 0, 0, bad=1) == pytest.approx(3)
    assert next_tau(10, 1, 1, 1, 1) == pytest.approx(18)
    assert next_tau(8, 1, 1, 1, 0, ReviewWeights(0.5, 0.25, 0.125, 1)) == 15


def test_the_preset_by_hand() -> None:
    assert next_interval(None, 1, 1) == 1
    assert next_interval(1, 0, 0) == next_interval(1, 1, 1) == 6
    assert next_interval(10, 0.2, 1) == 14  # the bare product is 14.000000000000002
    assert math.ceil(10 * (1 + 0.5 * 0.2 + 0.3 * 1)) == 15
    assert next_interval(6, 0, 0) == 6
    assert next_interval(6, 0.5, 0) == 8
    assert next_interval(np.int64(6), 1, 1) == 11  # type: ignore[arg-type]
    assert type(next_interval(6, 1, 1)) is int


def test_the_preset_jumps_by_more_than_the_formula_ever_does() -> None:
    assert FIRST_INTERVALS[1] / FIRST_INTERVALS[0] == 6
    assert next_tau(1, 1, 1, 1, 0) == pytest.approx(2.5)


STEPS = [Fraction(n, 20) for n in range(21)]


def test_the_preset_is_exact_on_the_whole_grid() -> None:
    wrong = [
        (days, weight, used)
        for weight, used in product(STEPS, STEPS)
        for growth in [oracle.growth(weight, used)]
        for days in range(1, 401)
        if next_interval(days, float(weight), float(used)) != oracle.next_interval(days, growth)
    ]
    assert wrong == []


REFUSED: list[tuple[Call, str]] = [
    (lambda: usage_raw([0, -1], [0, 0], [0, 0]), "views[1] is -1.0: must be at least 0"),
    (lambda: usage([0], [NAN], [0]), "cites[0] is nan: must be a number"),
    (lambda: usage([0], [0], [INF]), "edits[0] is inf: must be finite"),
    (lambda: usage([0], [0, 1], [0]), "lengths differ: views 1, cites 2, edits 1"),
    (lambda: forget_score([2], [0], [0], [0], [0]), "recency[0] is 2.0: must be at most 1"),
    (lambda: forget_score([0], [-1], [0], [0], [0]), "usage[0] is -1.0: must be at least 0"),
    (lambda: forget_score([0], [0], [NAN], [0], [0]), "dup_ratio[0] is nan: must be a number"),
    (lambda: forget_score([0], [0], [0], [5], [0]), "importance[0] is 5.0: must be at most 1"),
    (lambda: forget_score([0], [0], [0], [0], [3]), "pinned[0] is 3.0: must be at most 1"),
    (
        lambda: forget_score([0], [0, 1], [0], [0], [0]),
        "lengths differ: recency 1, usage 2, dup_ratio 1, importance 1, pinned 1",
    ),
    (lambda: ForgetWeights(age=NAN), "weights.age is nan: must be a number"),
    (lambda: ReviewWeights(bad=INF), "weights.bad is inf: must be finite"),
    (lambda: RetentionPolicy(soft=NAN), "policy.soft is nan: must be a number"),
    (
        lambda: RetentionPolicy(hard_ttl_days={"working": -1}),
        "policy.hard_ttl_days['working'] is -1.0: must be at least 0",
    ),
    (
        lambda: duplicate_ratio([1, 0], [1], [1], ["a"]),
        "vectors has shape (2,): must have 2 dimension(s)",
    ),
    (
        lambda: duplicate_ratio([[1, 0]], [1, 2], [1], ["a"]),
        "lengths differ: vectors 1, importance 2, age_days 1, ids 1",
    ),
    (
        lambda: duplicate_ratio([[1]] * 2, [1, 1], [1, 1], ["a", "a"]),
        "ids[1] is 'a': an id may occur only once",
    ),
    (
        lambda: duplicate_ratio([[1]], [1], [-1], ["a"]),
        "age_days[0] is -1.0: must be at least 0",
    ),
    (
        lambda: retention([0.9], [9], ["eternal"], [False]),
        "kind[0] is 'eternal': the policy has no TTL for it",
    ),
    (lambda: retention([NAN], [9], ["working"], [0]), "score[0] is nan: must be a number"),
    (lambda: retention([1], [-9], ["working"], [0]), "age_days[0] is -9.0: must be at least 0"),
    (lambda: retention([1], [9], ["working"], [2]), "pinned[0] is 2.0: must be at most 1"),
    (lambda: retention([1], [9], ["working"], [-1]), "pinned[0] is -1.0: must be at least 0"),
    (
        lambda: retention([1], [9], [], [0]),
        "lengths differ: score 1, age_days 1, kind 0, pinned 1",
    ),
    (lambda: recall_probability([1, -1], 5), "days[1] is -1.0: must be at least 0"),
    (lambda: recall_probability(1, 0), "tau_days is 0.0: must be at least 4.94066e-324"),
    (lambda: days_until_due(0), "tau_days is 0.0: must be at least 4.94066e-324"),
    (lambda: days_until_due(1, due=1.5), "due is 1.5: must be at most 1"),
    (lambda: days_until_due(1, due=0), "due is 0.0: must be at least 4.94066e-324"),
    (lambda: next_tau(-1, 0, 0), "tau_days is -1.0: must be at least 4.94066e-324"),
    (lambda: next_tau(1, 2, 0), "importance is 2.0: must be at most 1"),
    (lambda: next_tau(1, 0, 0, bad=-0.5), "bad is -0.5: must be at least 0"),
    (
        lambda: next_tau(1, 0, 0, bad=1, weights=ReviewWeights(bad=1)),
        "weights give a factor of 0: τ must stay above 0",
    ),
    (lambda: next_interval(0, 0, 0), "interval_days is 0.0: must be at least 1"),
    (lambda: next_interval(True, 0, 0), "interval_days is True: must be a whole number from 1"),
    (
        lambda: next_interval(6.5, 0, 0),  # type: ignore[arg-type]
        "interval_days is 6.5: must be a whole number from 1",
    ),
    (
        lambda: next_interval(NAN, 0, 0),  # type: ignore[arg-type]
        "interval_days is nan: must be a number",
    ),
    (lambda: next_interval(6, 1.5, 0), "importance is 1.5: must be at most 1"),
    (lambda: next_interval(6, -0.1, 0), "importance is -0.1: must be at least 0"),
    (lambda: next_interval(6, 0, -0.1), "usage is -0.1: must be at least 0"),
    (lambda: next_interval(6, 0, 1.5), "usage is 1.5: must be at most 1"),
    (lambda: next_interval(None, 0, NAN), "usage is nan: must be a number"),
    (lambda: outranks([0.5], [-1], ["a"], 0), "age_days[0] is -1.0: must be at least 0"),
    (lambda: outranks([0.5], [NAN], ["a"], 0), "age_days[0] is nan: must be a number"),
    (lambda: outranks([NAN], [0], ["a"], 0), "importance[0] is nan: must be a number"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


def test_columns_of_pandas_in_another_order_are_refused() -> None:
    column = pd.Series([0.1, 0.9], index=["x", "y"])
    turned, kinds = column[::-1], ["working"] * 2
    for call in (
        lambda: usage(column, turned, column),
        lambda: forget_score(column, column, column, turned, column),
        lambda: duplicate_ratio(np.eye(2), turned, column, column.index),
        lambda: retention(column, turned, kinds, column),
        lambda: recall_probability(column, turned),
    ):
        with pytest.raises(ValueError, match="bring both into one order, or pass"):
            call()
    assert forget_score(column, column, column, column, [0, 0]).shape == (2,)


def test_one_card_outranks_another_by_importance_then_age_then_id() -> None:
    weight, age, ids = [0.5, 0.9, 0.5, 0.5], [2, 9, 1, 2], ["b", "d", "c", "a"]
    assert outranks(weight, age, ids, row=0).tolist() == [False, True, True, True]
    assert not outranks(weight, age, ids, row=1).any()
    assert outranks(weight, age, ids, row=2).tolist() == [False, True, False, False]
    assert outranks(weight, age, ids, row=3).tolist() == [False, True, True, False]
    assert outranks([0.5, 0.5], [0, 0], ["a", "b"], row=1).tolist() == [True, False]
    with pytest.raises(ValueError, match="lengths differ"):
        outranks(weight, age, ids[:2], row=0)


@pytest.mark.parametrize("made", [ForgetWeights, RetentionPolicy, ReviewWeights])
def test_a_set_of_weights_once_made_is_never_changed(made: type) -> None:
    rules = made()
    for field in fields(rules):
        with pytest.raises(FrozenInstanceError):
            setattr(rules, field.name, 1.0)
