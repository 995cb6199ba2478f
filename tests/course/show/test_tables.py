"""Tables: every printed number recomputed with the standard library, every column aligned."""

import csv
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.data.files import data_path
from course.data.maya import COURSE_NOW, load_exam, published_cards
from course.show import tables
from memlib.evaluation import sit_exam
from memlib.ranking import three_part_score
from memlib.recency import age_hours, recency
from tests.memlib.test_tables import cells
from tests.oracles import normalization as min_max_oracle
from tests.oracles import ranking as ranking_oracle
from tests.oracles import recency as recency_oracle

CARDS = published_cards()
IDS, FACTS = list(CARDS.index), list(CARDS["text"])
COSINES = [0.6942, 0.6627, 0.4227, 0.4058, 0.3880, 0.3744, 0.3721, 0.3475]
HOURS = [2000.0, 1992, 26, 300, 1, 700, 120, 1500]
RATINGS = [8.0, 6, 2, 7, 1, 4, 6, 5]


def rounded(value: float, digits: int) -> str:
    """Round half to even on the exact value of the float, as numpy and format do."""
    return f"{float(round(Fraction(value), digits)):.{digits}f}"


# --- (a), (b), (c) of the published experiment ----------------------------------------------


def test_table_a_by_the_oracle() -> None:
    order = ranking_oracle.rank_order(COSINES, IDS)
    other = COSINES[::-1]  # a second column never changes the order
    table = tables.relevance_table(CARDS, COSINES, {"other": other})
    expected = [["rank", "rel", "other", "fact"]] + [
        [str(rank), rounded(COSINES[row], 4), rounded(other[row], 4), FACTS[row]]
        for rank, row in enumerate(order, start=1)
    ]
    assert cells(table, [4, 6, 6, 51]) == expected
    assert cells(tables.relevance_table(CARDS, COSINES), [4, 6, 51])[1][1] == "0.6942"


def test_the_order_of_the_rows_given_changes_no_table() -> None:
    back, cosines, hours = CARDS.iloc[::-1], COSINES[::-1], HOURS[::-1]
    fresh, score = recency(HOURS), three_part_score(COSINES, recency(HOURS), RATINGS)
    backward = three_part_score(cosines, fresh[::-1], RATINGS[::-1])
    relevance = tables.relevance_table(CARDS, COSINES, {"other": HOURS})
    assert tables.relevance_table(back, cosines, {"other": hours}) == relevance
    assert tables.recency_table(back, hours, fresh[::-1]) == tables.recency_table(
        CARDS, HOURS, fresh
    )
    assert tables.combined_table(back, backward) == tables.combined_table(CARDS, score)


def test_table_b_by_the_oracle() -> None:
    ages = recency_oracle.age_hours(
        CARDS["created_at"].tolist(), CARDS["last_accessed_at"].tolist(), COURSE_NOW
    )
    assert ages == HOURS
    fresh = recency_oracle.recency(ages, 0.995)
    table = tables.recency_table(CARDS, ages, recency(ages))
    order = ranking_oracle.rank_order(fresh, IDS)
    expected = [["rank", "recency", "hours", "fact"]] + [
        [str(rank), rounded(fresh[row], 6), str(round(ages[row])), FACTS[row]]
        for rank, row in enumerate(order, start=1)
    ]
    assert cells(table, [4, 8, 5, 51]) == expected


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (1.0, 2.1, 1.0), (0.0, 0.5, 3.0)])
def test_table_c_by_the_oracle(weights: tuple[float, ...]) -> None:
    fresh = recency_oracle.recency(HOURS, 0.995)
    parts = [min_max_oracle.min_max(part) for part in (COSINES, fresh, RATINGS)]
    total = ranking_oracle.three_part_total(COSINES, fresh, RATINGS, weights)
    score = three_part_score(COSINES, recency(HOURS), RATINGS, weights)
    table = tables.combined_table(CARDS, score, {"other": score.total})
    expected = [["fact", "rel", "rec", "imp", "total", "other", ""]]
    for rank, row in enumerate(ranking_oracle.rank_order(total, IDS)):
        numbers = [rounded(part[row], 2) for part in [*parts, total, total]]
        expected.append([FACTS[row], *numbers, "<- inject" if rank < 3 else ""])
    assert cells(table, [51, 4, 4, 4, 5, 5, 9]) == expected


def test_table_c_is_the_published_one_but_for_the_erratum() -> None:
    with data_path("published_figures.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["topic"] == "combined"]
    published: dict[str, dict[str, str]] = {name: {} for name in IDS}
    for row in rows:
        part, _, name = row["what"].partition(" of ")
        if name in published:
            published[name][part] = row["published"]
    assert published["vegetarian"]["total"] == "1.33"
    published["vegetarian"]["total"] = "1.34"
    score = three_part_score(COSINES, recency(HOURS), RATINGS)
    table = cells(tables.combined_table(CARDS, score), [51, 4, 4, 4, 5, 9])
    names = ("relevance", "recency", "importance", "total")
    for fact, *numbers, _ in table[1:]:
        figures = published[IDS[FACTS.index(fact)]]
        assert numbers == [figures[name] for name in names]
    assert sum(row[-1] == "<- inject" for row in table) == 3


def test_equal_scores_are_ordered_by_id() -> None:
    cards = pd.DataFrame({"text": ["B.", "A."]}, index=["b", "a"])
    table = tables.relevance_table(cards, [0.5, 0.5])
    assert table.splitlines()[1:] == ["   1 0.5000 A.", "   2 0.5000 B."]


# --- what is no number -------------------------------------------------------------------


def test_a_cosine_of_minus_zero_is_printed_as_zero() -> None:
    cards = pd.DataFrame({"text": ["A.", "B."]}, index=["a", "b"])
    assert "-" not in tables.relevance_table(cards, [-0.0, -0.00001])
    assert "-0.5000" in tables.relevance_table(cards, [-0.5, 0])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tables.relevance_table(CARDS, [0.1, float("nan")]), r"relevance\[1\] is nan"),
        (lambda: tables.relevance_table(CARDS, COSINES[:7]), r"lengths differ"),
        (
            lambda: tables.relevance_table(CARDS, COSINES, {"MiniLM": [float("inf")] * 8}),
            r"MiniLM\[0\] is inf",
        ),
        (lambda: tables.recency_table(CARDS, ["old"] * 8, COSINES), r"hours must be numbers"),
    ],
)
def test_a_table_refuses_what_is_no_number(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


# --- the scoreboard ------------------------------------------------------------------------


def board(*passed: bool) -> pd.DataFrame:
    ids = [f"q{row:02d}" for row in range(1, len(passed) + 1)]
    return pd.DataFrame(
        {
            "question": [f"Question {name}?" for name in ids],
            "ranks": [(1, 12) if won else (4, 200) for won in passed],
            "passed": list(passed),
        },
        index=ids,
    )


def test_the_scoreboard_marks_gains_and_losses() -> None:
    text = tables.scoreboard(board(True, False, True, False), board(False, True, True, False))
    assert cells("\n".join(text.splitlines()[:-1]), [3, 13, 6, 5, 6]) == [
        ["id", "question", "ranks", "top 3", "change"],
        ["q01", "Question q01?", "1, 12", "yes", "gained"],
        ["q02", "Question q02?", "4, 200", "no", "lost"],
        ["q03", "Question q03?", "1, 12", "yes", ""],
        ["q04", "Question q04?", "4, 200", "no", ""],
    ]
    assert text.splitlines()[-1] == "passed: 2 of 4   gained: 1   lost: 1"


def test_the_first_scoreboard_has_nothing_to_compare() -> None:
    text = tables.scoreboard(board(True, False))
    assert text.splitlines()[-1] == "passed: 1 of 2"
    assert "gained" not in text and "lost" not in text


def test_a_long_question_is_cut_at_a_word_and_says_so() -> None:
    sat = board(True)
    sat["question"] = ["How " + "very " * 30 + "long?"]
    (line,) = tables.scoreboard(sat).splitlines()[1:2]
    assert "very …" in line and len(line) < 95


def test_the_course_exam_fits_the_scoreboard() -> None:
    exam = load_exam()
    wanted = sorted({name for names in exam["wanted"] for name in names})
    sat = sit_exam(exam, wanted, lambda question: np.arange(len(wanted), dtype=float))
    lines = tables.scoreboard(sat, sat).splitlines()
    assert len(lines) == 12 and max(map(len, lines)) <= 100
    assert [line.split()[0] for line in lines[1:-1]] == list(exam.index)
    assert lines[-1].endswith("gained: 0   lost: 0")


# --- a row by hand -------------------------------------------------------------------------

NUMBER = r"-?\d+(?:\.\d+)?"
TERM = re.compile(rf"(?:({NUMBER}) x )?\(({NUMBER}) - ({NUMBER})\) / \(({NUMBER}) - ({NUMBER})\)")


def adds_up(text: str) -> bool:
    """Whether each line's arithmetic, done with the numbers it shows, gives what it shows."""
    *lines, last = text.splitlines()
    results = []
    for line in lines:
        said, _, result = line[12:].rpartition("=")
        results.append(result.strip())
        if said.strip() == "all equal":
            exact = Fraction(0)
        else:
            match = TERM.fullmatch(said.strip())
            assert match, line
            weight, value, low, high, again = (Fraction(part or 1) for part in match.groups())
            assert low == again
            exact = weight * (value - low) / (high - low)
        if abs(exact - Fraction(result.strip())) > Fraction("0.0011"):
            return False
    terms, _, total = last[12:].rpartition("=")
    assert terms.strip() == " + ".join(results)
    return abs(sum(map(Fraction, results)) - Fraction(total.strip())) <= Fraction("0.0002")


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (1.0, 2.1, 0.35), (0.0, 0.0, 3.0)])
@pytest.mark.parametrize("row", range(8))
def test_the_row_by_hand_adds_up(row: int, weights: tuple[float, ...]) -> None:
    fresh = recency(HOURS)
    worked = tables.work_out(row, COSINES, fresh, RATINGS, weights)
    text = tables.worked_row(worked)
    assert adds_up(text)
    total = ranking_oracle.three_part_total(COSINES, fresh.tolist(), RATINGS, weights)[row]
    assert text.splitlines()[-1].endswith(f"= {total:7.4f}")
    assert len({line.rindex("=") for line in text.splitlines()}) == 1


def test_the_row_by_hand_of_vegetarian_shows_the_erratum() -> None:
    hours = age_hours(CARDS["created_at"], CARDS["last_accessed_at"], COURSE_NOW)
    text = tables.worked_row(tables.work_out(6, COSINES, recency(hours), CARDS["importance"]))
    assert "(6 - 1) / (8 - 1)" in text
    assert "(0.547986 - 0.000044) / (0.995000 - 0.000044)" in text
    assert text.splitlines()[-1].endswith("=  1.3360")


def test_a_part_in_which_all_are_equal_is_said_to_be_so() -> None:
    text = tables.worked_row(tables.work_out(0, [0.5, 0.5], [0.1, 0.9], [4, 4]))
    assert text.count("all equal") == 2
    assert adds_up(text)


def test_an_unrated_card_among_whole_ratings_still_adds_up() -> None:
    """5.5 stands for an unrated card; shown as 6 it would make the line wrong."""
    assert adds_up(tables.worked_row(tables.work_out(0, [0.1, 0.5, 0.9], [0, 0, 1], [8, 5.5, 10])))


def test_the_check_sees_a_row_that_does_not_add_up() -> None:
    text = tables.worked_row(tables.work_out(0, [0.3, 0.5, 0.9], [0.1, 0.1, 0.9], [8, 4, 9]))
    assert adds_up(text)
    assert not adds_up(text.replace("(8 - 4)", "(7 - 4)"))
    assert not adds_up(text.removesuffix("0.8000") + "0.8010")


def test_more_hours_than_cards_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^lengths differ: hours 9, recency 8$"):
        tables.recency_table(CARDS, [*HOURS, 3.0], recency(HOURS))
