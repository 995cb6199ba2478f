"""Signals beyond the documents: each by hand, against a slow version, and at its edges."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memlib.signals import (
    BEST,
    FEEDBACK,
    MONTHS,
    NEIGHBOURS,
    by_group,
    date_match,
    date_words,
    feedback_query,
    feedback_terms,
    group_smoothing,
    hubness,
    in_context,
    length_prior,
    neighbour_smoothing,
    speaker_match,
    time_words,
)
from tests.oracles import signals as oracle

Call = Callable[[], object]
Rows = list[tuple[float, int]]
NAN, INF = float("nan"), float("inf")

eighth = st.integers(-8, 8).map(lambda n: n / 8)
labelled = st.lists(st.tuples(eighth, st.integers(1, 3)), max_size=8)
spoken = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 3)), max_size=8)
shares = st.integers(0, 16).map(lambda n: n / 8)
few = st.integers(1, 5)
vector = st.lists(eighth, min_size=3, max_size=3)
directions = st.sampled_from(
    [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.8, 0.0), (0.0, -0.6, 0.8), (-1.0, 0.0, 0.0)]
)
times = st.none() | st.datetimes(datetime(2021, 1, 1), datetime(2024, 12, 31))
phrases = st.lists(
    st.sampled_from([*("May", "may", "March", "march", "2022", "1999", "20223", "203", "Today")]),
    max_size=5,
).map(" ".join)


def columns(rows: Rows) -> tuple[list[float], list[int]]:
    return [score for score, _ in rows], [label for _, label in rows]


def test_the_constants() -> None:
    assert (NEIGHBOURS, BEST, FEEDBACK) == (10, 3, 5)
    assert oracle.MONTHS.split() == list(MONTHS)


# Context


def test_context_by_hand() -> None:
    said, parts = ["a", "b", "c", "d"], [1, 1, 1, 2]
    assert in_context(said, parts) == ["a\nb", "a\nb\nc", "b\nc", "d"]
    assert in_context(said, parts, 2, 0) == ["a", "a\nb", "a\nb\nc", "d"]
    assert in_context(said, parts, 0, 9) == ["a\nb\nc", "b\nc", "c", "d"]
    assert in_context(said, parts, 0, 0) == said
    assert in_context(["a"], ["one"]) == ["a"]
    assert in_context([], []) == []


def test_a_part_that_stops_and_goes_on_does_not_reach_across() -> None:
    assert in_context(["a", "b", "c"], [1, 2, 1]) == ["a", "b", "c"]
    assert in_context(["a", "b", "c"], [1, 2, 1], 2, 2) == ["a\nc", "b", "a\nc"]


@given(spoken, st.integers(0, 3), st.integers(0, 3))
def test_context_agrees_with_the_oracle(
    rows: list[tuple[str, int]], before: int, after: int
) -> None:
    said, parts = [text for text, _ in rows], [label for _, label in rows]
    found = in_context(said, parts, before, after)
    assert found == oracle.in_context(said, parts, before, after)
    assert all(text in whole.split("\n") for text, whole in zip(said, found, strict=True))


def test_whole_groups_by_hand() -> None:
    assert by_group(["a", "b", "c"], ["x", "y", "x"]) == (["a\nc", "b"], [0, 1, 0])
    assert by_group(["a", "b"], [7, 7]) == (["a\nb"], [0, 0])
    assert by_group([], []) == ([], [])


@given(spoken)
def test_whole_groups_agree_with_the_oracle_and_lose_nothing(rows: list[tuple[str, int]]) -> None:
    said, parts = [text for text, _ in rows], [label for _, label in rows]
    whole, number = by_group(said, parts)
    assert (whole, number) == oracle.by_group(said, parts)
    assert sorted("".join(whole).replace("\n", "")) == sorted(said)
    assert all(text in whole[row] for text, row in zip(said, number, strict=True))


# Smoothing


def test_neighbours_lend_by_hand() -> None:
    assert neighbour_smoothing([1, 2, 4], [1, 1, 1]).tolist() == [2, 4.5, 5]
    assert neighbour_smoothing([1, 2, 4], [1, 2, 2], 1).tolist() == [1, 6, 6]
    assert neighbour_smoothing([1, 2, 4], [1, 2, 1], 1).tolist() == [1, 2, 4]
    assert neighbour_smoothing([1, 2, 4], "aab", 0).tolist() == [1, 2, 4]
    assert neighbour_smoothing([3], [1]).tolist() == [3]
    assert neighbour_smoothing([], []).shape == (0,)


@given(labelled, shares)
def test_neighbour_smoothing_agrees_with_the_oracle(rows: Rows, weight: float) -> None:
    scores, groups = columns(rows)
    found = neighbour_smoothing(scores, groups, weight)
    expected = oracle.neighbour_smoothing(scores, groups, weight)
    assert found == pytest.approx(expected, abs=1e-12)
    backwards = neighbour_smoothing(scores[::-1], groups[::-1], weight)
    assert backwards[::-1] == pytest.approx(found, abs=1e-12)


def test_a_group_speaks_with_its_best_by_hand() -> None:
    scores = [5, 1, 3, 2, 9]
    assert group_smoothing(scores, [1, 1, 1, 1, 2], 2).tolist() == [4, 4, 4, 4, 9]
    assert group_smoothing(scores, [1, 1, 1, 1, 2]).tolist() == pytest.approx([10 / 3] * 4 + [9])
    assert group_smoothing(scores, [1, 2, 1, 2, 1], 1).tolist() == [9, 2, 9, 2, 9]
    assert group_smoothing([4, 2], ["a", "a"], 99).tolist() == [3, 3]
    assert group_smoothing([3], [None]).tolist() == [3]
    assert group_smoothing([], []).shape == (0,)


@given(labelled, few)
def test_group_smoothing_agrees_with_the_oracle_and_stays_in_bounds(rows: Rows, best: int) -> None:
    scores, groups = columns(rows)
    found = group_smoothing(scores, groups, best)
    assert found == pytest.approx(oracle.group_smoothing(scores, groups, best), abs=1e-12)
    for label in set(groups):
        held = [i for i, group in enumerate(groups) if group == label]
        assert len(set(found[held].tolist())) == 1
        own = [scores[i] for i in held]
        assert min(own) - 1e-12 <= found[held[0]] <= max(own) + 1e-12


@given(labelled)
def test_more_cards_that_speak_never_raise_a_group(rows: Rows) -> None:
    fewer, more = (group_smoothing(*columns(rows), best) for best in (2, 3))
    assert (more <= fewer + 1e-12).all()


# Speakers, lengths, hubs


def test_who_speaks_by_hand() -> None:
    assert speaker_match(["Ida"], ["Ida", "Max", "Ida"]).tolist() == [1, 0, 1]
    assert speaker_match({"Max", "Ida"}, ["Ida", "Max", "Eva"]).tolist() == [1, 1, 0]
    assert speaker_match(iter(["Max"]), ["Max", "max", ""]).tolist() == [1, 0, 0]
    assert speaker_match([], ["Ida"]).tolist() == [0]
    assert speaker_match(["Ida"], []).shape == (0,)


def test_the_prior_grows_with_length_ever_slower() -> None:
    found = length_prior([0, 1, 2, 1000])
    assert found == pytest.approx([0, math.log(2), math.log(3), math.log(1001)])
    assert length_prior([1e-20])[0] == pytest.approx(1e-20)
    assert length_prior([]).shape == (0,)


def test_hubs_by_hand() -> None:
    square = [[1, 0], [0, 1], [-1, 0]]
    assert hubness(square, 1).tolist() == [0, 0, 0]
    assert hubness(square, 2).tolist() == [-0.5, 0, -0.5]
    assert hubness(square).tolist() == [-0.5, 0, -0.5]
    assert hubness([[1, 0], [1, 0], [0, 1]], 1).tolist() == [1, 1, 0]
    assert hubness([[0.6, 0.8]]).tolist() == [0]
    assert hubness(np.zeros((0, 3))).shape == (0,)


@given(st.lists(directions, min_size=1, max_size=6), st.integers(1, 8))
def test_hubs_agree_with_the_oracle_and_stay_in_bounds(
    rows: list[tuple[float, ...]], neighbours: int
) -> None:
    found = hubness(rows, neighbours)
    assert found == pytest.approx(oracle.hubness(rows, neighbours), abs=1e-12)
    assert ((found >= -1) & (found <= 1)).all()
    assert hubness(rows[::-1], neighbours)[::-1] == pytest.approx(found, abs=1e-12)


def test_rounding_never_carries_a_hub_beyond_1() -> None:
    assert hubness([[1.0004, 0], [1.0004, 0]]).tolist() == [1, 1]


# Dates


DATES = [datetime(2023, 5, 8), datetime(2023, 6, 9, tzinfo=UTC), datetime(2022, 5, 1), None]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What broke in May 2023?", [1, 0.5, 0.5, 0]),
        ("What broke in May?", [1, 0, 1, 0]),
        ("What broke in 2022?", [0, 0, 1, 0]),
        ("In May, late May I mean?", [1, 0, 1, 0]),
        ("May or June?", [1, 1, 1, 0]),
        ("From May 2022 to June 2023?", [1, 1, 1, 0]),
        ("What broke in July 2023?", [0.5, 0.5, 0, 0]),
        ("What may break?", [0, 0, 0, 0]),
        ("Which march?", [0, 0, 0, 0]),
        ("Is Mayo good, or Junes?", [0, 0, 0, 0]),
        ("What cost 20223, 1523 or 22?", [0, 0, 0, 0]),
        ("2023-05?", [1, 1, 0, 0]),
        ("What broke?", [0, 0, 0, 0]),
        ("", [0, 0, 0, 0]),
    ],
)
def test_dates_by_hand(question: str, expected: list[float]) -> None:
    assert date_match(question, DATES).tolist() == expected


def test_without_cards_or_without_times_no_date_is_met() -> None:
    assert date_match("May 2023", []).shape == (0,)
    assert date_match("May 2023", [None, None]).tolist() == [0, 0]


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_is_known_by_its_own_name_alone(month: int) -> None:
    cards = [datetime(2023, number, 1) for number in range(1, 13)]
    expected = [float(number == month) for number in range(1, 13)]
    assert date_match(f"In {MONTHS[month - 1]}?", cards).tolist() == expected
    assert date_words(cards[month - 1]) == f"1 {oracle.MONTHS.split()[month - 1]} 2023"


@given(phrases, st.lists(times, max_size=4))
def test_dates_agree_with_the_oracle(question: str, cards: list[datetime | None]) -> None:
    found = date_match(question, cards)
    assert found.tolist() == oracle.date_match(question, cards)
    assert time_words([question]).tolist() == [oracle.time_words(question)]


@given(st.datetimes(datetime(1900, 1, 1), datetime(2099, 12, 31)))
def test_a_date_in_words_is_met_by_its_own_date(time: datetime) -> None:
    assert date_match(date_words(time), [time]).tolist() == [1]
    assert time_words([date_words(time)]).tolist() == [1]


def test_a_date_in_words_by_hand() -> None:
    assert date_words(datetime(2023, 5, 8, 23, 59, tzinfo=UTC)) == "8 May 2023"
    assert date_words(datetime(2024, 2, 29)) == "29 February 2024"
    assert date_words(None) == ""


@pytest.mark.parametrize("word", [*oracle.TIME_WORDS.split(), *MONTHS, "1999", "2023"])
def test_a_word_of_time_is_heard_alone_and_not_within_another(word: str) -> None:
    assert time_words([f"We left {word}."]).tolist() == [1]
    assert time_words([f"x{word}", f"{word}z", f"{word}_"]).tolist() == [0, 0, 0]


def test_words_of_time_in_any_case_but_months_with_a_capital_letter() -> None:
    assert time_words(["YESTERDAY!", "on monday", "Last one"]).tolist() == [1, 1, 1]
    assert time_words(["I may go.", "We march on.", "In March."]).tolist() == [0, 0, 1]
    assert time_words(["", "Nice!", "1850", "12 cats"]).tolist() == [0, 0, 0, 0]
    assert time_words([]).shape == (0,)


# Feedback


def test_a_question_moves_towards_what_it_found_by_hand() -> None:
    cards = [[0, 1], [0, -1], [-1, 0]]
    assert feedback_query([1, 0], cards, [3, 1, 2], 1, 1) == pytest.approx([0.5**0.5, 0.5**0.5])
    assert feedback_query([1, 0], cards, [3, 3, 1], 2, 1).tolist() == [1, 0]
    assert feedback_query([1, 0], cards, [5, 5, 5], 1, 1)[1] > 0
    moved = np.array([1 - 0.5 / 3, 0])
    assert feedback_query([1, 0], cards, [1, 2, 3]) == pytest.approx(moved / np.linalg.norm(moved))
    assert feedback_query([3, 4], cards, [1, 2, 3], weight=0) == pytest.approx([0.6, 0.8])
    assert feedback_query([3, 4], np.zeros((0, 2)), []) == pytest.approx([0.6, 0.8])


@given(vector, st.lists(st.tuples(vector, eighth), max_size=6), few, shares)
def test_the_moved_question_agrees_with_the_oracle_and_has_unit_length(
    query: list[float], cards: list[tuple[list[float], float]], top: int, weight: float
) -> None:
    vectors, scores = [v for v, _ in cards], [s for _, s in cards]
    expected = oracle.feedback_query(query, vectors, scores, top, weight)
    assume(expected)
    found = feedback_query(query, np.reshape(vectors, (-1, 3)), scores, top, weight)
    assert found == pytest.approx(expected, abs=1e-9)
    assert np.linalg.norm(found) == pytest.approx(1)


def test_words_that_the_first_results_share_by_hand() -> None:
    cards = [["cat", "vet", "vet"], ["cat", "vet", "rent"], ["flu"]]
    idf = {"vet": 1.0, "rent": 1.5, "flu": 9.0, "cat": 9.0}
    assert feedback_terms(cards, [3, 2, 1], ["cat"], idf, 2) == ["vet", "rent"]
    assert feedback_terms(cards, [3, 2, 1], ["cat"], idf, 2, 1) == ["vet"]
    assert feedback_terms(cards, [3, 2, 1], ["cat"], idf) == ["flu", "vet", "rent"]
    assert feedback_terms(cards, [1, 1, 1], [], idf, 1) == ["cat", "vet"]
    assert feedback_terms(cards, [3, 2, 1], [], {}) == ["cat", "vet", "rent", "flu"]
    assert feedback_terms([["cat"]], [1], ["cat"], idf) == []
    assert feedback_terms([], [], ["cat"], idf) == []


def test_equal_scores_are_believed_in_the_order_of_the_cards() -> None:
    cards, even = [[f"w{row}"] for row in range(200)], [row % 2 for row in range(200)]
    assert feedback_terms(cards, even, [], {}, 40, 40) == [f"w{row}" for row in range(1, 80, 2)]


words = st.lists(st.sampled_from("abcdef"), max_size=5)


@given(
    st.lists(st.tuples(words, eighth), max_size=6),
    words,
    st.dictionaries(st.sampled_from("abcde"), shares),
    few,
    few,
)
def test_feedback_words_agree_with_the_oracle(
    cards: list[tuple[list[str], float]],
    asked: list[str],
    idf: dict[str, float],
    top: int,
    count: int,
) -> None:
    documents, scores = [d for d, _ in cards], [s for _, s in cards]
    found = feedback_terms(documents, scores, asked, idf, top, count)
    assert found == oracle.feedback_terms(documents, scores, asked, idf, top, count)
    assert len(found) <= count and not set(found) & set(asked)


def test_what_is_given_is_left_alone() -> None:
    scores, unit = np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.0, 1.0]])
    neighbour_smoothing(scores, [1, 1])
    group_smoothing(scores, [1, 1])
    hubness(unit)
    feedback_query(unit[0], unit, scores)
    length_prior(scores)
    assert scores.tolist() == [1, 2]
    assert unit.tolist() == [[1, 0], [0, 1]]


ONE = [[1.0, 0.0]]
REFUSED: list[tuple[Call, str]] = [
    (lambda: in_context(["a"], []), "lengths differ: texts 1, groups 0"),
    (lambda: in_context(["a"], [1], -1), "before is -1: must be a whole number, 0 or more"),
    (lambda: in_context(["a"], [1], True), "before is True: must be a whole number, 0 or more"),
    (
        lambda: in_context(["a"], [1], 0, 0.5),  # type: ignore[arg-type]
        "after is 0.5: must be a whole number, 0 or more",
    ),
    (lambda: by_group(["a", "b"], [1]), "lengths differ: texts 2, groups 1"),
    (lambda: neighbour_smoothing([1, 2], [1]), "lengths differ: scores 2, groups 1"),
    (lambda: neighbour_smoothing([1, NAN], [1, 1]), "scores[1] is nan: must be a number"),
    (lambda: neighbour_smoothing([[1]], [1]), "scores has shape (1, 1): must have 1 dimension(s)"),
    (lambda: neighbour_smoothing([1], [1], -0.5), "weight is -0.5: must be at least 0"),
    (lambda: neighbour_smoothing([1], [1], NAN), "weight is nan: must be a number"),
    (lambda: group_smoothing([1, 2], [1]), "lengths differ: scores 2, groups 1"),
    (lambda: group_smoothing([INF], [1]), "scores[0] is inf: must be finite"),
    (lambda: speaker_match("Ida", ["Ida"]), "asked is the text 'Ida': give a list of names"),
    (lambda: length_prior([3, -1]), "lengths[1] is -1.0: must be at least 0"),
    (lambda: length_prior([NAN]), "lengths[0] is nan: must be a number"),
    (lambda: hubness([1, 0]), "vectors has shape (2,): must have 2 dimension(s)"),
    (lambda: hubness([[1.0, 0.0], [0.0, NAN]]), "vectors[1, 1] is nan: must be a number"),
    (lambda: hubness([[1, 0], [3, 4]]), "vectors[1] has length 5: must be a unit vector"),
    (lambda: hubness([[0, 0]]), "vectors[0] has length 0: must be a unit vector"),
    (lambda: feedback_query([1], ONE, [1]), "query has 1 dimensions, vectors have 2"),
    (lambda: feedback_query([1, 0], ONE, [1, 2]), "lengths differ: vectors 1, scores 2"),
    (lambda: feedback_query([1, NAN], ONE, [1]), "query[1] is nan: must be a number"),
    (lambda: feedback_query([1, 0], [[INF, 0]], [1]), "vectors[0, 0] is inf: must be finite"),
    (lambda: feedback_query([1, 0], ONE, [NAN]), "scores[0] is nan: must be a number"),
    (lambda: feedback_query([1, 0], ONE, [1], 1, -1), "weight is -1.0: must be at least 0"),
    (
        lambda: feedback_query([-1, 0], ONE, [1], 1, 1),
        "query and its results cancel out: q' is a zero vector",
    ),
    (lambda: feedback_terms([["a"]], [], [], {}), "lengths differ: documents 1, scores 0"),
    (lambda: feedback_terms([["a"]], [NAN], [], {}), "scores[0] is nan: must be a number"),
]


def check_refusal(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    check_refusal(call, message)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_a_count_must_be_a_whole_number(bad: int) -> None:
    rule = f"is {bad!r}: must be a whole number, 1 or more"
    check_refusal(lambda: group_smoothing([1], [1], bad), f"best {rule}")
    check_refusal(lambda: hubness(ONE, bad), f"neighbours {rule}")
    check_refusal(lambda: feedback_query([1, 0], ONE, [1], bad), f"top {rule}")
    check_refusal(lambda: feedback_terms([["a"]], [1], [], {}, bad), f"top {rule}")
    check_refusal(lambda: feedback_terms([["a"]], [1], [], {}, 1, bad), f"count {rule}")


def test_labels_of_pandas_do_not_matter_and_lone_texts_and_nan_are_refused() -> None:
    texts, groups = pd.Series(["a", "b", "c"], [5, 1, 0]), pd.Series([1, 1, 2], [5, 1, 0])
    assert in_context(texts, groups) == ["a\nb", "a\nb", "c"]
    assert by_group(texts, groups) == (["a\nb", "c"], [0, 0, 1])
    worded = pd.Series([["cat", "vet"], ["rent"]], [7, 9])
    assert feedback_terms(worded, [1, 0], ["cat"], {"vet": 2.0}, top=1) == ["vet"]
    for function in (in_context, by_group):
        with pytest.raises(ValueError, match=r"^texts is the text 'ab': give a list"):
            function("ab", [1, 1])
        with pytest.raises(ValueError, match=r"^groups\[1\] is nan: must be a label"):
            function(["a", "b"], [1, float("nan")])
