"""Chapter 08's widget: the numbers it shows, recomputed with the standard library."""

import math
import re
from html import unescape

import ipywidgets
import numpy as np
import pytest

from course.data.maya import COURSE_NOW, maya_cards
from course.data.recorded import Recorded
from course.widgets import forgetting as widget
from memlib.forgetting import INF, RetentionPolicy

CARDS = maya_cards()
VECTORS = Recorded().embed(list(CARDS["text"]))
ALL = widget.features(CARDS, VECTORS, COURSE_NOW)
HALF_LIFE = {"working": 2, "episodic": 30, "semantic": 180}
BOOST = {"working": -0.05, "episodic": 0, "semantic": 0.10}
START = {
    **{"age": 0.35, "unused": 0.25, "duplicate": 0.20, "importance": 0.15, "pinned": 0.30},
    **{"soft": 0.6, "hard": 0.8, "ttl": 1, "likeness": 0, "cards": "all"},
}


def render(**changes: object) -> str:
    return widget.render(START | changes, {"all": ALL}, CARDS)


def rows(html: str) -> list[list[str]]:
    body = re.findall(r"<tbody>(.*?)</tbody>", html)[0]
    found = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", body)]
    return [[unescape(cell) for cell in row] for row in found]


def days(end: object, start: object) -> float:
    return (end - start).total_seconds() / 86_400  # type: ignore[operator]


def raw(card: object) -> float:
    logs = [math.log(1 + n) for n in (card.views, card.cites, card.edits)]
    return logs[0] + 2 * logs[1] + 0.5 * logs[2]


def rated(card: object) -> float:
    given = 0.5 if math.isnan(card.importance) else (card.importance - 1) / 9
    return min(1, max(0, given + 0.2 * card.pinned + BOOST[card.kind]))


def test_features_by_hand():
    cards = list(CARDS.itertuples())
    most = max(map(raw, cards))
    for card, told in zip(cards, ALL.itertuples(), strict=True):
        seen = card.created_at if str(card.last_accessed_at) == "NaT" else card.last_accessed_at
        fresh = 1 if card.pinned else 0.5 ** (days(COURSE_NOW, seen) / HALF_LIFE[card.kind])
        assert told.age_days == pytest.approx(days(COURSE_NOW, card.created_at))
        assert told.recency == pytest.approx(fresh, abs=1e-12)
        assert told.usage == pytest.approx(raw(card) / (most + 1e-6))
        assert told.importance == pytest.approx(rated(card))
    assert ALL["dup_ratio"].idxmax() == "lives-london"


def test_the_start_shows_the_ten_nearest_and_no_hard_deletion():
    html, terms = render(), widget.contributions(ALL)
    assert "A sweep of 208 cards: keep 166, soft 42, hard 0." in html
    assert "No score is above 0.80; the safest card, insurance-number, has -0.37." in html
    assert "working card is safe for 2.0 and 7.0 days, an episodic one for 30 and 180." in html
    assert len(rows(html)) == 10
    for row, (name, term) in zip(rows(html), terms.iterrows(), strict=False):
        told = ALL.loc[name]
        parts = [0.35 * (1 - told.recency), 0.25 * (1 - told.usage), 0.20 * told.dup_ratio]
        parts += [-0.15 * told.importance, -0.30 * told.pinned]
        assert row[0] == CARDS["text"][name]
        assert row[3:8] == ["0.000" if abs(part) < 5e-4 else f"{part:+.3f}" for part in parts]
        assert row[8] == f"{sum(parts):.3f}" == f"{term['score']:.3f}"
        assert row[9] == f"{0.8 - sum(parts):+.3f}" and row[10] == "soft"
    assert rows(html)[0][0].startswith("The printer ate the invitation")


def test_scores_fall_from_row_to_row():
    scores = widget.contributions(ALL)["score"].to_numpy()
    assert (np.diff(scores) <= 0).all() and len(scores) == len(CARDS)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"soft": 0.3, "hard": 0.4}, "keep 119, soft 32, hard 57"),
        ({"likeness": 0.9}, "keep 208, soft 0, hard 0"),
        ({"soft": 1}, "keep 208, soft 0, hard 0"),
        ({"ttl": 3}, "safe for 6.0 and 21.0 days, an episodic one for 90 and 540"),
        ({"pinned": 1}, "the safest card, insurance-number, has -1.07"),
        ({"duplicate": 0}, "No score is above 0.60"),
    ],
)
def test_each_control_moves_what_it_should(changes, said):
    assert said in render(**changes)


def test_a_pinned_card_is_kept_whatever_its_score():
    html = render(soft=0, hard=0, ttl=0, pinned=0)
    semantic = int((CARDS["kind"] == "semantic").sum())
    others = CARDS[CARDS["kind"] != "semantic"]
    assert f"hard {int((~others['pinned']).sum())}" in html
    assert f"keep {semantic + int(others['pinned'].sum())}" in html


def test_cards_of_one_kind_are_a_batch_of_their_own():
    root = widget.explore(CARDS, VECTORS, COURSE_NOW)
    choice = next(c for c in root.children if isinstance(c, ipywidgets.Dropdown))
    assert choice.options[0] == "all 208 cards" and len(choice.options) == 4
    choice.value = "working cards alone"
    html = root.children[-1].value
    assert "A sweep of 29 cards" in html and {row[1] for row in rows(html)} == {"working"}


def test_a_batch_says_that_it_is_compared_with_itself_alone():
    said = "compared within this batch only, so its counts do not add up to those of all cards"
    assert said not in render()
    assert said in widget.render(START, {"all": ALL.iloc[:20]}, CARDS)


def test_all_weights_zero_are_no_order():
    html = render(**dict.fromkeys(widget.NAMES, 0.0))
    assert "All scores are 0.00: the order says nothing." in html
    assert "safest" not in html and "-0.0" not in html
    assert "says nothing" not in render()


@pytest.mark.parametrize("by", [-3e-4, 0.0, 3e-4])
def test_a_zero_has_no_sign(by):
    first = widget.contributions(ALL)["score"].iloc[0]
    assert rows(render(hard=first + by))[0][9] == "0.000"


def test_html_on_a_card_is_text():
    cards = CARDS.iloc[:2].assign(text=["<b>Sam</b>", "vinyl"])
    told = widget.features(cards, VECTORS[:2], COURSE_NOW)
    html = widget.render(START, {"all": told}, cards)
    assert "<b>" not in html and "&lt;b&gt;Sam" in html


def test_a_weight_that_is_no_number_is_a_readable_line():
    root = widget.explore(CARDS.iloc[:8], VECTORS[:8], COURSE_NOW)
    slider = next(c for c in root.children if c.description == "u1 · age")
    slider.max, slider.value = INF, INF
    assert 'role="alert"' in root.children[-1].value


# --- the invented year ---------------------------------------------------------------------------


def test_a_year_is_the_same_twice_and_loses_no_card_uncounted():
    ttl = {"working": 2.0, "episodic": 30.0, "semantic": 180.0}
    policy = RetentionPolicy(soft=0.5, hard=1.0, soft_ttl_days=ttl)
    year = widget.a_year(policy, likeness=0.8, purge_days=28, days=84)
    assert year.equals(widget.a_year(policy, likeness=0.8, purge_days=28, days=84))
    assert list(year.index) == list(range(7, 85, 7))
    assert (year["live"] + year["soft"] + year["hard"]).tolist() == [3 * day for day in year.index]
    assert (year[["hard", "restored", "lost"]].diff().iloc[1:] >= 0).all(axis=None)
    assert year["hard"].iloc[3] == 0 < year["hard"].iloc[-1]


def test_under_m1_nothing_is_ever_purged_and_nothing_is_lost():
    year = widget.a_year(RetentionPolicy(), days=84)
    assert (year["hard"] == 0).all() and (year["lost"] == 0).all() and year["soft"].iloc[-1] > 0


def test_a_policy_out_of_reach_keeps_everything():
    year = widget.a_year(RetentionPolicy(soft=1.0, hard=1.0), days=28)
    assert year["live"].tolist() == [21, 42, 63, 84]
