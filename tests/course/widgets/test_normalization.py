"""Chapter 04's widget: the numbers it shows, recomputed with the standard library."""

import re
from html import unescape
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, published_cards
from course.widgets import normalization as widget
from memlib.recency import age_hours
from tests.oracles import normalization as min_max_oracle
from tests.oracles import ranking as ranking_oracle
from tests.oracles import recency as recency_oracle

CARDS = published_cards()
IDS = list(CARDS.index)
COSINES = [0.6942, 0.6627, 0.4227, 0.4058, 0.3880, 0.3744, 0.3721, 0.3475]
RATINGS = [8.0, 6, 2, 7, 1, 4, 6, 5]
HOURS = age_hours(CARDS["created_at"], CARDS["last_accessed_at"], COURSE_NOW)
START = widget.START | {"card": "vegetarian"}


class Row(NamedTuple):
    rank: str
    moved: str
    fact: str
    rel: str
    rec: str
    imp: str
    total: str
    bars: str
    mark: str


def rows(html: str) -> list[Row]:
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        Row(*re.findall(r"<td[^>]*>(.*?)</td>", line)) for line in re.findall(r"<tr>.*?</tr>", body)
    ]


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def render(**changes: object) -> str:
    return widget.render(START | changes, CARDS, COSINES, HOURS)


def leader(**changes: object) -> str:
    return plain(rows(render(**changes))[0].fact).removeprefix("→ ")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"recency": 2.0},
        {"recency": 2.1},
        {"relevance": 3.0, "recency": 0.35, "importance": 1.27},
        {"decay": 0.9},
        {"decay": 1.0},
        {"decay": 0.9991, "importance": 0.0},
    ],
)
def test_every_number_in_the_table_by_the_oracle(changes: dict[str, float]) -> None:
    values = START | changes
    weights = [values[name] for name in widget.NAMES]
    fresh = recency_oracle.recency(HOURS.tolist(), values["decay"])
    total = ranking_oracle.three_part_total(COSINES, fresh, RATINGS, weights)
    scaled = [min_max_oracle.min_max(part) for part in (COSINES, fresh, RATINGS)]
    first = ranking_oracle.three_part_total(
        COSINES, recency_oracle.recency(HOURS.tolist(), 0.995), RATINGS, [1, 1, 1]
    )
    before = ranking_oracle.ranks(first, IDS, IDS)
    html = render(**changes)
    for rank, (row, shown) in enumerate(
        zip(ranking_oracle.rank_order(total, IDS), rows(html), strict=True), start=1
    ):
        fact = CARDS["text"].iloc[row]
        assert plain(shown.fact) == ("→ " if IDS[row] == "vegetarian" else "") + fact
        assert shown[3:7] == tuple(f"{part[row]:.2f}" for part in [*scaled, total])
        assert (shown.rank, shown.mark) == (str(rank), "<b>inject</b>" if rank <= 3 else "")
        climbed = before[row] - rank
        arrow = f"▲{climbed}" if climbed > 0 else f"▼{-climbed}" if climbed else "·"
        assert shown.moved == arrow
        bars = [float(em) for em in re.findall(r"height:\.9em;width:([\d.]+)em", shown.bars)]
        assert sum(bars) == pytest.approx(9 * total[row] / max(sum(weights), 1e-9), abs=0.02)


def test_the_start_is_the_published_table_with_the_erratum_mended() -> None:
    shown = rows(render())
    assert [row.total for row in shown] == [
        *("2.00", "1.62", "1.34", "1.25", "1.24", "1.12", "0.57", "0.54")
    ]
    assert {row.moved for row in shown} == {"·"}


def test_pasta_leads_at_2_0_and_the_printer_at_2_1() -> None:
    assert leader(recency=2.0) == "Maya asked for a pasta recipe yesterday."
    assert leader(recency=2.06) == "Maya asked for a pasta recipe yesterday."
    assert leader(recency=2.08) == "Maya mentioned the printer is out of ink."
    assert leader(recency=2.1) == "Maya mentioned the printer is out of ink."


def test_the_arrows_tell_who_rose_and_who_fell() -> None:
    moved = {plain(row.fact).removeprefix("→ "): row.moved for row in rows(render(recency=2.1))}
    assert moved["Maya mentioned the printer is out of ink."] == "▲5"
    assert moved["Maya's partner Sam has a birthday on June 18."].startswith("▼")


def test_the_caption_tells_the_weights_and_the_half_life() -> None:
    caption = plain(render(recency=2.1).partition("<thead>")[0])
    assert "relevance × 1.00, recency × 2.10, importance × 1.00" in caption
    assert "recency halves every 5.8 days" in caption
    assert "▲▼ against all weights 1, decay 0.995." in caption
    assert "recency never fades. ▲▼" in plain(render(decay=1.0))


def test_the_chosen_row_is_worked_out_beneath() -> None:
    by_hand = plain(render().partition("<pre")[2].partition(">")[2]).splitlines()
    assert by_hand[0] == "Maya is vegetarian."
    assert "(0.3721 - 0.3475) / (0.6942 - 0.3475)" in by_hand[1]
    assert "(0.547986 - 0.000044) / (0.995000 - 0.000044)" in by_hand[2]
    assert "(6 - 1) / (8 - 1)" in by_hand[3]
    assert by_hand[4].endswith("=  1.3360")
    other = plain(render(card="printer", recency=2.1).partition("<pre")[2])
    assert "Maya mentioned the printer is out of ink." in other
    assert "2.10 x (0.995000 - 0.000044) / (0.995000 - 0.000044) =  2.1000" in other


def test_weights_of_zero_divide_by_nothing_and_give_no_order() -> None:
    html = render(relevance=0.0, recency=0.0, importance=0.0)
    shown = rows(html)
    assert {(row.moved, row.total, row.mark) for row in shown} == {("", "0.00", "")}
    assert {row.bars.count("width:0.00em") for row in shown} == {3}
    assert "All totals are 0.00: the order says nothing." in plain(html) and "▲▼" not in html
    names = [IDS[list(CARDS["text"]).index(plain(row.fact).removeprefix("→ "))] for row in shown]
    assert names == sorted(IDS)


def test_one_card_alone_is_ranked_as_ever() -> None:
    html = widget.render(START | {"card": "birthday"}, CARDS[:1], COSINES[:1], HOURS[:1])
    (only,) = rows(html)
    assert (only.moved, only.mark) == ("·", "<b>inject</b>") and "says nothing" not in html


def test_ten_thousand_cards_are_cut_at_twenty_rows() -> None:
    n = 10_000
    cards = pd.DataFrame(
        {"text": [f"Card {i}." for i in range(n)], "importance": np.arange(n) % 10 + 1.0},
        index=[f"c{i:05d}" for i in range(n)],
    )
    similar, hours = np.linspace(0, 1, n), np.arange(n, dtype=float)
    html = widget.render(START | {"card": "c00000"}, cards, similar, hours)
    assert len(rows(html)) == 20
    assert "The first 20 of 10000 cards." in html
    assert "Card 0." in html.partition("<pre")[2]
    panel = widget.explore(cards, similar, hours)
    assert len(panel.children[4].options) == 200
    assert "Cannot show this" not in panel.children[-1].value
    assert "The first" not in widget.render(
        START | {"card": "c00000"}, cards[:20], similar[:20], hours[:20]
    )


def test_an_unrated_card_counts_as_five_and_a_half() -> None:
    cards = CARDS.assign(importance=[float("nan"), *RATINGS[1:]])
    html = widget.render(START, cards, COSINES, HOURS)
    (birthday,) = (row for row in rows(html) if "birthday" in row.fact)
    assert birthday.imp == f"{4.5 / 6:.2f}"


def test_a_hostile_card_stays_text() -> None:
    texts = ["<script>alert(1)</script>", *CARDS["text"][1:]]
    html = widget.render(START | {"card": "birthday"}, CARDS.assign(text=texts), COSINES, HOURS)
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recency": -0.1}, r"weights\[1\] is -0.1"),
        ({"decay": 0.0}, "decay is 0.0"),
        ({"card": "poppy"}, "poppy"),
    ],
)
def test_a_value_that_cannot_be_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render(**changes)


def test_explore_starts_at_the_most_relevant_card() -> None:
    *controls, reset, output = widget.explore(CARDS, COSINES, HOURS).children
    assert [control.value for control in controls] == [1, 1, 1, 0.995, "birthday"]
    assert [label for label, _ in controls[-1].options] == list(CARDS["text"])
    assert output.value == render(card="birthday") + widget.parts.ARROW
    controls[1].value = 2.1
    assert plain(rows(output.value)[0].fact) == "Maya mentioned the printer is out of ink."
    reset.click()
    assert output.value == render(card="birthday") + widget.parts.ARROW


def test_no_cards_and_a_rating_that_cannot_be_are_said() -> None:
    with pytest.raises(ValueError, match=r"^cards is empty: there is nothing to rank$"):
        widget.explore(CARDS[:0], [], [])
    panel = widget.explore(CARDS.assign(importance=[99.0, *RATINGS[1:]]), COSINES, HOURS)
    assert "importance[0] is 99.0: must be at most 10" in panel.children[-1].value
