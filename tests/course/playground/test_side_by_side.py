"""The two lists as HTML: who moved, by what, what is out; nothing of a card's text is markup."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data.maya import COURSE_NOW
from course.playground.comparison import BELOW, LATER, OUTSIDE, PICKED, rank
from course.playground.configuration import PARTS, Form
from course.playground.side_by_side import FILLS, LABELS, movers, render, summary
from memlib.retrieval import Index
from tests.course.playground.test_comparison import CARDS, QUERY, QUESTION, VECTORS, ranked

NAMES = [*PARTS, "copies"]
READY = Index(CARDS, VECTORS)
WEIGHT = st.sampled_from([0.0, 0.25, 0.7, 1.0, 3.0])


def table(rows: list[tuple[str, float, float]], listed: int = 2) -> pd.DataFrame:
    """Cards of which each has a relevance and a recency, in the order of their sum."""
    frame = pd.DataFrame(rows, columns=["id", "relevance", "recency"]).set_index("id")
    for name in ("importance", "names", "bm25", "copies", "penalty"):
        frame[name] = 0.0
    frame["S"] = frame["at"] = frame["relevance"] + frame["recency"]
    frame["text"] = [f"card {id}" for id in frame.index]
    frame = frame.sort_values("S", ascending=False)
    frame["listed"] = np.arange(len(frame)) < listed
    frame["why"] = np.where(frame["listed"], PICKED, LATER)
    return frame


A = table([("old", 0.9, 0.0), ("new", 0.5, 1.0), ("mid", 0.6, 0.5)])
B = table([("old", 0.9, 0.0), ("new", 0.5, 0.0), ("mid", 0.6, 0.0)])


def test_the_part_that_moved_a_card_is_named() -> None:
    moved = {move.id: move for move in movers(A, B)}
    assert (moved["old"].before, moved["old"].after) == (3, 1)
    assert (moved["old"].part, moved["old"].side) == ("recency", "A")
    assert (moved["new"].before, moved["new"].after, moved["new"].part) == (1, 3, "recency")
    assert moved["mid"].part == "" and next(iter(movers(A, A))).part == ""


def test_a_part_that_lifts_all_alike_moves_none() -> None:
    lifted = B.assign(importance=5.0, S=B["S"] + 5, at=B["S"] + 5)
    assert {move.part for move in movers(A, lifted)} == {"recency", ""}


def test_a_part_that_was_not_changed_is_not_blamed() -> None:
    ones, twos = Form(), Form(recency=0.7)
    told = summary(ranked(ones, 8), ranked(twos, 8))
    assert "recency" in told and "importance" not in told and "relevance" not in told


@given(
    st.lists(WEIGHT, min_size=5, max_size=5),
    st.sampled_from(PARTS),
    WEIGHT,
    st.sampled_from(["min-max", "z-score", "none"]),
    st.sampled_from(["weighted sum", "RRF"]),
    st.sampled_from(["none", "none", "penalty", "mmr"]),
)
def test_one_changed_weight_is_all_that_is_ever_named(
    weights: list[float], part: str, weight: float, normalizer: str, fusion: str, diversity: str
) -> None:
    one = Form(*weights, normalizer=normalizer, fusion=fusion, diversity=diversity)
    two = replace(one, **{part: weight})
    if fusion == "RRF" and not (any(one.weights().values()) and any(two.weights().values())):
        return
    moved = movers(*(rank(READY, QUESTION, QUERY, form, COURSE_NOW, 8) for form in (one, two)))
    allowed = {part, "copies"} if diversity != "none" else {part}
    assert {move.part for move in moved} <= {"", *allowed}
    assert all(bool(move.side) == bool(move.part) for move in moved)
    assert not any(move.part for move in moved if move.before == move.after)


def test_on_two_scales_the_spread_of_each_is_the_unit() -> None:
    one = table([("x", 0.9, 0.0), ("y", 0.5, 0.3), ("z", 0.1, 0.0)], listed=3)
    two = table([("x", 0.009, 0.0), ("y", 0.005, 0.006), ("z", 0.001, 0.0)], listed=3)
    moved = {move.id: move for move in movers(one, two)}
    assert (moved["y"].after, moved["y"].part, moved["y"].side) == (1, "recency", "B")


def test_a_move_that_no_part_favours_is_told_without_a_cause() -> None:
    low = [("c", 0.3, 0.0), ("d", 0.2, 0.0), ("e", 0.1, 0.0)]
    one = table([("x", 0.9, 0.0), ("y", 1.0, 0.0), *low], listed=5).assign(importance=1.0)
    two = table([("x", 0.9, 0.0), ("y", 0.8, 0.0), *low], listed=5).assign(importance=1.0)
    moved = {move.id: move for move in movers(one, two)}
    assert (moved["x"].after, moved["x"].part, moved["x"].side) == (1, "", "")
    assert (moved["y"].after, moved["y"].part, moved["y"].side) == (2, "relevance", "A")
    said = summary(one, two)
    assert "“card y” falls from 1 to 2: relevance held it up in A; " in said
    assert said.endswith("“card x” rises from 2 to 1.")


def test_every_card_is_listed_with_its_id() -> None:
    html = render(A.rename(index={"old": "<o>"}), B.rename(index={"old": "<o>"}))
    lists, out = html[: html.index("leaves out")], html[html.index("A leaves out") :]
    assert re.findall(r'class="id">(.*?)</span> card (\w+)</div>', lists) == [
        *(("new", "new"), ("mid", "mid")),
        *(("&lt;o&gt;", "old"), ("mid", "mid")),
    ]
    assert re.findall(r'<li><span class="id">(.*?)</span> “card (\w+)”', out) == [
        *(("&lt;o&gt;", "old"), ("new", "new")),
    ]


def test_the_summary_tells_picks_moves_and_their_cause() -> None:
    said = summary(A, B)
    assert said.startswith("A picks 2, B picks 2; 1 is in both.")
    assert "“card old” rises from 3 to 1: recency held it down in A" in said
    assert "“card new” falls from 1 to 3: recency held it up in A" in said
    assert summary(A, A).endswith("No card listed moves.")
    assert "“card old” falls from 1 to 3: recency holds it down in B" in summary(B, A)


def test_the_lists_stand_in_their_order_with_arrows() -> None:
    html = render(A, B)
    lists = re.findall(r"<ol.*?</ol>", html, flags=re.S)
    assert [re.findall(r"card (\w+)</div>", part) for part in lists] == [
        ["new", "mid"],
        ["old", "mid"],
    ]
    lists = [re.sub(r"<.*?>", "", part) for part in lists]
    assert "1. ▲2 old card old" in lists[1] and "2. · mid card mid" in lists[1]
    assert "1. new card new" in lists[0]


def test_lines_join_the_same_cards_and_lead_off_the_list() -> None:
    lines = re.findall(r'y1="(\d+)" y2="(\d+)" (.*?) vector', render(A, B))
    assert [(y1, y2) for y1, y2, _ in lines] == [("5", "20"), ("15", "15"), ("20", "5")]
    assert "dasharray" in lines[0][2] and "currentColor" in lines[1][2]
    assert "dasharray" not in lines[2][2]


def test_a_line_shows_which_way_a_card_goes() -> None:
    low = A.assign(listed=True, why=PICKED)
    lines = re.findall(r'y1="(\d+)" y2="(\d+)" (.*?) vector', render(low, B.assign(listed=True)))
    falls, stays, rises = lines
    assert falls[:2] == ("5", "25") and "dasharray" in falls[2]
    assert stays[:2] == ("15", "15") and "currentColor" in stays[2]
    assert rises[:2] == ("25", "5") and "dasharray" not in rises[2]


def test_bars_hold_each_part_in_words_and_width() -> None:
    html = render(A, B)
    assert 'aria-label="relevance +0.500, recency +1.000"' in html
    assert "left:33.33%;width:66.67%" in html  # recency beside relevance
    assert set(re.findall(r"</i>([\w ()]+)</span>", html)) == {"relevance", "recency"}
    assert len(set(FILLS.values())) == len(FILLS) == len(LABELS) == 6


def test_parts_below_0_stand_left_of_zero() -> None:
    low = A.assign(importance=[-0.5, 0.0, 0.0], S=A["S"] + [-0.5, 0, 0])
    html = render(low, B)
    assert f"left:0.00%;width:25.00%;background:{FILLS['importance']}" in html
    assert f"left:25.00%;width:25.00%;background:{FILLS['relevance']}" in html


def test_what_is_out_says_why() -> None:
    cut = A.assign(why=[PICKED, f"{BELOW} 1.2", LATER])
    html = render(cut, B)
    out = html[html.index("A leaves out:") :].replace("\N{NO-BREAK SPACE}", " ")
    assert "“card mid” S 1.100, below the threshold 1.2" in out
    assert "“card old” S 0.900, rank 3" in out[: out.index("B leaves out:")]
    assert "“card new” S 0.500, rank 3" in out[out.index("B leaves out:") :]
    assert re.findall("<s>(.*?)</s>", html) == ['2. <span class="id">mid</span> card mid']
    assert "nothing that the other picks" in render(A, A)


def test_a_card_s_text_is_text() -> None:
    bad = "<img src=x onerror=alert(1)>\"'&"
    html = render(A.assign(text=bad), B.assign(text=bad))
    assert "<img" not in html and "&lt;img" in html


@pytest.mark.parametrize(
    "settings",
    [
        Form(0, 0, 0, 0, 0),
        Form(normalizer="z-score", diversity="penalty", threshold=1.0),
        Form(fusion="RRF", bm25=1.0, diversity="mmr"),
        Form(diversity="penalty", w_duplicate=1e6),
    ],
)
def test_real_rankings_of_every_sort_are_drawn(settings: Form) -> None:
    html = render(ranked(settings, 5), ranked(replace(settings, names=1.0), 5))
    assert html.count("<li class=") == 10 and "nan" not in html and "inf" not in html


def test_a_card_that_is_no_candidate_on_one_side_is_told_so() -> None:
    without = A.loc[["new", "mid", "old"]].assign(why=[PICKED, PICKED, OUTSIDE])
    without.loc["old", [*NAMES, "S", "at"]] = 0.0
    moved = {move.id: move for move in movers(without, B)}
    assert (moved["old"].part, moved["old"].side) == ("candidates", "A")
    assert {move.part for move in moved.values()} == {"candidates", "recency", ""}
    assert "“card old” is 1 in B and no candidate in A" in summary(without, B)
    assert "“card old” is 1 in A and no candidate in B" in summary(B, without)
    html = render(without, B)
    assert "1. new <span" in html and "▲" not in html
    left_out = html[html.index("A leaves out") : html.index("B leaves out")]
    assert (
        "“card old” no\N{NO-BREAK SPACE}candidate" in left_out
        and "S\N{NO-BREAK SPACE}" not in left_out
    )
