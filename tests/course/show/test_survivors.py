"""What chapter 11 shows: every number in a table, a picture or its sentence is the file's."""

import re
from typing import Any

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from course.data.files import data_path
from course.show import survivors as show
from course.show.plots import forest
from tests.notebooks.pictures import alike

FAMILIES = {
    "similarity alone": "documents",
    "weighted sum": "documents",
    "RRF of three": "documents",
    "+ length": "beyond",
    "2: and BM25": "ladder",
    "10: and hubness": "ladder",
}
GAPS = dict(zip(FAMILIES, (-12.5, 0.0, -1.25, 5.5, 1.5, 14.25), strict=True))
KINDS = {"all": 383, "several turns": 74, "time": 90}
SPLITS = {"development": (0.0, 3), "held-out": (-6.0, 7)}


def made_board() -> pd.DataFrame:
    """A leaderboard as small as can be: 6 methods, 2 splits, 3 kinds of question, 2 ks."""
    rows = []
    for split, (shift, groups) in SPLITS.items():
        for name, family in FAMILIES.items():
            for i, (kind, n) in enumerate(KINDS.items()):
                for k in (10, 20):
                    gap = GAPS[name] + (GAPS[name] > 0) * (shift / 6 + i)
                    wide = 0.0 if gap == 0 else 3.0
                    signs = (groups, 0, 0) if gap > 0 else (0, 0, groups) if gap else (0, groups, 0)
                    mean = 70.0 + k / 10 + gap + shift - 8 * i
                    spread = (mean, gap, gap - wide, gap + wide)
                    rows.append((name, family, split, kind, k, *spread, *signs, n))
    names = "method family split questions k recall difference low high better equal worse n"
    return pd.DataFrame(rows, columns=names.split())


def made_costs() -> pd.DataFrame:
    return pd.DataFrame({"method": list(FAMILIES), "milliseconds": [0.03, 0.22, 0.3, 0.1, 0.1, 11]})


BOARD, COSTS = made_board(), made_costs()
AGES = pd.DataFrame({"tenth": [1, 2, 3], "evidence": [20, 30, 50], "recency": [0.75, 0.25, 0.0]})
WAYS = ("similarity + recency, 30 days", "similarity + 0.1 recency, 30 days", "BM25")
WORDS = {"current": ("better", "within noise", "worse"), "past": ("worse", "worse", "worse")}
SUPERSEDED = pd.DataFrame(
    [
        (third, k, way, -5.0 * i + 10 * k, -5.0 * i + 10 * k - 2, -5.0 * i + 10 * k + 2, word, 24)
        for third in ("current", "past", "all")
        for k in (1, 3)
        for i, (way, word) in enumerate(zip(WAYS, WORDS.get(third, WORDS["past"]), strict=True))
    ],
    columns=["third", "k", "method", "difference", "low", "high", "verdict", "n"],
)
DISSECTED = pd.DataFrame(
    {
        "conversation": "conv-26",
        "question": 133,
        "category": "one turn",
        "evidence": "D17:8",
        "part": ["similarity", "BM25", "hubness"],
        "value": [0.49, 1.0, 0.45],
        "points": [0.49, 0.34, -0.17],
        "rank_similarity": 218,
        "rank_sum": 6,
        "rank_stack": 1,
    }
)


def of(board: pd.DataFrame, method: str, split: str = "development", k: int = 20, kind="all"):
    rows = board[(board["method"] == method) & (board["split"] == split)]
    return rows[(rows["k"] == k) & (rows["questions"] == kind)].iloc[0]


def inside(picture: Any) -> bool:
    """No text of a picture is cut off at its edge."""
    picture.figure.draw_without_rendering()
    width, height = picture.figure.get_size_inches() * picture.figure.dpi
    texts = []
    for ax in picture.figure.axes:
        low, high = sorted(ax.get_ylim())
        ticks = [tick for tick in ax.get_yticklabels() if low <= tick.get_position()[1] <= high]
        texts += [*ax.texts, *ticks, ax.xaxis.label, ax._left_title]
    texts += [text for legend in picture.figure.legends for text in legend.get_texts()]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return all(
        b.x0 >= -0.5 and b.x1 <= width + 0.5 and b.y0 >= -0.5 and b.y1 <= height + 0.5
        for b in boxes
    )


# --- verdict and selection -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.01, 2, "better"),
        (-2, -0.01, "worse"),
        (0, 2, "within noise"),
        (-2, 0, "within noise"),
        (-1, 1, "within noise"),
    ],
)
def test_an_interval_that_holds_0_is_noise(low, high, word):
    assert show.judged("BM25", low, high) == word
    assert show.judged("weighted sum", low, high) == "baseline"


def test_what_was_not_measured_is_named():
    with pytest.raises(ValueError, match="nothing was measured for split 'test', k 20"):
        show.select(BOARD, split="test", k=20)


# --- the leaderboard -----------------------------------------------------------------------


def lines_of(table: str) -> dict[str, list[str]]:
    """A table's rows by method: the cells after it."""
    found = {}
    for line in table.splitlines():
        for method in sorted(FAMILIES, key=len, reverse=True):
            if line.startswith(f"{method} "):
                found[method] = re.split(r"\s+(?!noise)(?![^\[]*\])", line[len(method) :].strip())
                break
    return found


@pytest.mark.parametrize("split", SPLITS)
def test_each_row_tells_what_the_file_says(split):
    table = show.board_table(BOARD, COSTS, split, 20)
    rows = lines_of(table)
    assert set(rows) == set(FAMILIES)
    for name, (recall, difference, span, word, signs, ms) in rows.items():
        row = of(BOARD, name, split)
        assert recall == f"{row['recall']:.2f}" and difference == f"{row['difference']:+.2f}"
        assert span == f"[{row['low']:.2f}, {row['high']:.2f}]"
        assert signs == f"{row['better']}/{row['equal']}/{row['worse']}"
        assert float(ms) == COSTS.set_index("method").loc[name, "milliseconds"]
        clear = row["low"] > 0 or row["high"] < 0
        assert (word in ("better", "worse")) == clear
    assert rows["weighted sum"][3] == "baseline"
    assert f"383 {split} questions" in table


def test_the_table_is_ordered_by_recall_or_as_measured():
    best_first = list(lines_of(show.board_table(BOARD, COSTS, "development", 20)))
    assert best_first == sorted(FAMILIES, key=lambda m: -of(BOARD, m)["recall"])
    measured = show.board_table(BOARD, COSTS, "development", 20, order="measured")
    assert list(lines_of(measured)) == list(FAMILIES)
    ladder = show.board_table(BOARD, COSTS, "held-out", 10, order="measured", families=["ladder"])
    assert list(lines_of(ladder)) == ["2: and BM25", "10: and hubness"]


def test_the_table_fits_the_page_and_names_the_kind_of_question():
    table = show.board_table(BOARD, COSTS, "held-out", 20, questions="several turns")
    assert "74 held-out questions (several turns), chosen on development" in table
    long = BOARD.replace({"method": {"RRF of three": "similarity + slow recency, 0.9/0.1"}})
    costs = COSTS.replace({"method": {"RRF of three": "similarity + slow recency, 0.9/0.1"}})
    wide = show.board_table(long.assign(low=-100.0, high=-100.0), costs, "development", 20)
    assert max(len(line) for text in (table, wide) for line in text.splitlines()) <= 100


def test_a_table_that_cannot_be_made_is_named():
    with pytest.raises(ValueError, match="order is 'best'"):
        show.board_table(BOARD, COSTS, "development", 20, order="best")
    with pytest.raises(ValueError, match=r"milliseconds\[\d\] is nan"):
        show.board_table(BOARD, COSTS.iloc[:4], "development", 20)
    with pytest.raises(ValueError, match="nothing was measured"):
        show.board_table(BOARD, COSTS, "development", 3)


# --- by kind of question, by k -------------------------------------------------------------


MARKS = {"better": "+", "worse": "-", "within noise": "~", "baseline": "="}


def test_each_kind_of_question_has_its_recall_and_its_mark():
    methods = ["10: and hubness", "RRF of three", "weighted sum", "similarity alone"]
    table = show.by_question(BOARD, methods, 20, "development")
    assert table.splitlines()[1] == "questions: all 383, several turns 74, time 90"
    for line, method in zip(table.splitlines()[3:7], methods, strict=True):
        expected = ""
        for kind in KINDS:
            row = of(BOARD, method, kind=kind)
            mark = MARKS[show.judged(method, row["low"], row["high"])]
            expected += f" {row['recall']:.2f} {mark}"
        assert " ".join(line.split()) == method + expected
    assert table.splitlines()[-1].endswith("+ better, - worse, ~ within noise")


def test_each_k_has_its_recall_and_its_mark():
    lines = show.by_k(BOARD, ["+ length", "weighted sum"], "held-out").splitlines()
    assert lines[1].split() == ["method", "k", "=", "10", "k", "=", "20"]
    first, second = (of(BOARD, "+ length", "held-out", k) for k in (10, 20))
    assert lines[2].split() == (
        ["+", "length", f"{first['recall']:.2f}", "+", f"{second['recall']:.2f}", "+"]
    )
    with pytest.raises(ValueError, match="nothing was measured for method 'magic'"):
        show.by_k(BOARD, ["magic"], "held-out")


# --- the ladder ----------------------------------------------------------------------------

STEPS = ["similarity alone", "2: and BM25", "10: and hubness"]


def test_the_ladder_climbs_in_both_splits_side_by_side():
    ax = show.ladder(BOARD, 20).figure.axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == STEPS
    for line, split in zip(ax.lines, SPLITS, strict=True):
        assert list(line.get_xdata()) == [of(BOARD, name, split)["recall"] for name in STEPS]
        assert list(line.get_ydata()) == [0, 1, 2]
    for cue in ("get_marker", "get_linestyle", "get_color", "get_markerfacecolor"):
        assert len({str(getattr(line, cue)()) for line in ax.lines}) == 2
    assert ax.get_xlabel() == "recall@20 in percent"


def test_the_ladder_s_sentence_tells_start_end_largest_step_and_every_step():
    picture = show.ladder(BOARD, 20)
    assert picture.sentence == (
        "Ladder of recall@20 in percent: development from 59.50 with similarity alone to 86.25 with"
        " 10: and hubness, largest step +14.00 at 2: and BM25, at the end +14.25 [11.25, 17.25]"
        " against the weighted sum; held-out from 53.50 with similarity alone to 79.25 with"
        " 10: and hubness, largest step +13.00 at 2: and BM25, at the end +13.25 [10.25, 16.25]"
        " against the weighted sum. Steps, development, held-out: similarity alone 59.50, 53.50;"
        " 2: and BM25 73.50, 66.50; 10: and hubness 86.25, 79.25."
    )
    for text in picture.figure.axes[0].texts:
        assert text.get_text() in picture.sentence


def test_a_ladder_of_one_split_tells_of_one():
    picture = show.ladder(BOARD[BOARD["split"] == "development"], 10)
    assert "held-out" not in picture.sentence and len(picture.figure.axes[0].lines) == 1
    assert inside(picture) and inside(show.ladder(BOARD, 20))


# --- recency's story -----------------------------------------------------------------------


def test_both_panels_draw_what_was_given():
    left, right = show.recency_story(AGES, SUPERSEDED).figure.axes
    assert [bar.get_height() for bar in left.patches] == pytest.approx([20, 30, 50])
    assert list(left.lines[0].get_ydata()) == pytest.approx([75, 25, 0])
    labels = [label.get_text() for label in right.get_yticklabels()]
    short = ["0.1 recency, 30 days", "recency, 30 days"]  # BM25 is no recency; "all" no third
    assert labels == [f"{third}: {name}" for third in ("current", "past") for name in short]
    dots = right.lines[2:10:2]
    assert [dot.get_xdata()[0] for dot in dots] == [5, 10, 5, 10]
    hollow = [to_hex(dot.get_markerfacecolor()) == "#ffffff" for dot in dots]
    assert hollow == [True, False, False, False]  # as the file's verdicts, not the intervals


def test_the_story_tells_the_shares_and_the_verdicts_whichever_way_they_fall():
    sentence = show.recency_story(AGES, SUPERSEDED, k=3, methods=WAYS[:2]).sentence
    assert sentence.startswith(
        "LoCoMo's newest tenth has 20.0% of the evidence and 75.0% of recency's credit, its oldest"
        " 50.0% of the evidence and 0.0% of recency's credit"
        " (newest to oldest: evidence 20.0, 30.0, 50.0; credit 75.0, 25.0, 0.0). "
    )
    assert "recall@3" in sentence and "fewer than 6 questions differ" in sentence
    assert "current (24 questions): 1 better, 0 worse, 1 within noise" in sentence
    assert "past (24 questions): 0 better, 2 worse, 0 within noise" in sentence
    assert "current: recency, 30 days +30.00 [28.00, 32.00]" in sentence
    swapped = SUPERSEDED.replace({"third": {"current": "past", "past": "current"}})
    other = show.recency_story(AGES, swapped, k=3).sentence
    assert "current (24 questions): 0 better, 2 worse" in other
    picture = show.recency_story(AGES, SUPERSEDED)
    for text in picture.figure.axes[1].texts:
        assert text.get_text() in picture.sentence


def test_nothing_of_the_story_is_cut_off():
    assert inside(show.recency_story(AGES, SUPERSEDED))


# --- one question dissected ----------------------------------------------------------------


def test_each_part_s_points_are_a_bar_and_what_is_taken_away_has_a_hatch():
    picture = show.dissected(DISSECTED)
    ax = picture.figure.axes[0]
    assert [bar.get_width() for bar in ax.patches] == [0.49, 0.34, -0.17]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, False, True]
    assert picture.sentence == (
        "Bars of the points for turn D17:8 of conv-26, question 133 (one turn): similarity 0.49;"
        " BM25 0.34; hubness -0.17; together 0.66. Its rank: similarity alone 218,"
        " weighted sum 6, whole stack 1."
    )
    assert "similarity alone 218, weighted sum 6, whole stack 1" in ax.get_title(loc="left")
    assert inside(picture)


def test_parts_of_two_questions_are_not_mixed():
    with pytest.raises(ValueError, match="rows are of 2 questions"):
        show.dissected(pd.concat([DISSECTED, DISSECTED.assign(question=1)]))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: show.ladder(BOARD, 20),
        lambda: show.recency_story(AGES, SUPERSEDED),
        lambda: show.dissected(DISSECTED),
    ],
)
def test_a_picture_is_the_same_each_time(draw):
    assert alike(draw().png(), draw().png())


# --- the committed measurements ------------------------------------------------------------


def committed(name: str) -> pd.DataFrame:
    return pd.read_csv(data_path(f"{name}.csv"), encoding="utf-8")


@pytest.mark.parametrize("split", SPLITS)
def test_the_whole_leaderboard_fits_the_page(split):
    board, costs = committed("survivors"), committed("survivors_costs")
    methods = list(dict.fromkeys(board["method"]))
    tables = [show.by_k(board, methods, split), show.by_question(board, methods, 20, split)]
    for kind in dict.fromkeys(board["questions"]):
        for k in dict.fromkeys(board["k"]):
            table = show.board_table(board, costs, split, k, kind)
            assert len(table.splitlines()) == len(methods) + 4
            tables.append(table)
    assert max(len(line) for table in tables for line in table.splitlines()) <= 100


def test_no_picture_of_the_measurements_is_cut_off():
    board, ages = committed("survivors"), committed("survivors_ages")
    changing = committed("superseded_results")
    asked = committed("survivors_dissected").groupby(["conversation", "question"], sort=False)
    assert inside(show.ladder(board, 20))
    assert all(inside(show.recency_story(ages, changing, k)) for k in (1, 3))
    assert all(inside(show.dissected(rows)) for _, rows in asked)
    for split in SPLITS:
        rows = show.select(board, split=split, k=20, questions="all")
        spread = (rows["difference"], rows["low"], rows["high"])
        assert inside(forest(list(rows["method"]), *spread, "difference of recall@20, points"))
