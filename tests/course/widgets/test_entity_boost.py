"""Chapter 06's widget: the numbers it shows, recomputed with the standard library."""

import math
import re
from html import unescape

import ipywidgets
import pytest

from course.data.maya import maya_cards
from course.widgets import entity_boost as widget

CARDS = maya_cards()
ALIASES = {"Liz": "Elizabeth"}
DF = {"Sam": 60, "Elizabeth": 9, "Miso": 1, "Theo": 21}


def render(**changes: object) -> str:
    return widget.render(widget.START | changes, CARDS, ALIASES)


def tables(html: str) -> list[list[list[str]]]:
    return [
        [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", body)]
        for body in re.findall(r"<tbody>(.*?)</tbody>", html)
    ]


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize(
    ("changes", "worth"),
    [
        ({}, lambda n: 1 / math.log2(1 + n)),
        ({"damping": "square"}, lambda n: 1 / (1 + 0.001 * (n - 1) ** 2)),
        ({"damping": "square", "strength": 0.01}, lambda n: 1 / (1 + 0.01 * (n - 1) ** 2)),
        ({"damping": "none"}, lambda n: 1.0),
    ],
)
def test_names_worth_and_boosts_by_the_formula(changes, worth):
    names, gains = tables(render(**changes))
    assert names == [
        [name, str(DF[name]), f"{w:.2f}", f"{w:.2f} / 3 = {w / 3:.3f}"]
        for name in ("Sam", "Elizabeth", "Miso")
        for w in [worth(DF[name])]
    ]
    for _, boost, scaled, shared, _ in gains:
        expected = sum(worth(DF[name]) for name in shared.split(", ")) / 3
        assert boost == f"{expected:.3f}"
        assert scaled == f"{expected / max(worth(DF[n]) / 3 for n in names_of(gains)):.2f}"


def names_of(gains):
    return {name for row in gains for name in row[3].split(", ")}


def test_the_start_tells_who_gains_and_what_min_max_makes_of_it():
    html = render()
    _, gains = tables(html)
    assert [row[0] for row in gains] == [str(rank) for rank in range(1, 9)]
    assert plain(gains[0][4]) == "After three days of voting the kids gave the cat a name: Miso."
    assert "70 of 208 cards gain" in plain(html)
    assert "Boosts: 0.333, 0.100, 0.056, 0.000; after min-max: 1.00, 0.30, 0.17, 0.00." in html
    assert "The first 8, equal ones by id." in html


def test_one_name_alone_becomes_one_whatever_it_is_worth():
    for question, boost in (("What does Sam drink?", "0.169"), ("Where is Miso?", "1.000")):
        html = render(question=question)
        assert f"Boosts: {boost}, 0.000; after min-max: 1.00, 0.00." in html
    assert "1 of 208 cards gain" in plain(html) and "The first" not in html


def test_aliases_join_a_sister_s_two_names():
    for changes, df in (({}, 9), ({"aliases": False}, 4)):
        (names, _) = tables(render(question="Elizabeth?", **changes))
        assert names[0][:2] == ["Elizabeth", str(df)]
    assert tables(render(question="liz?"))[0][0][:2] == ["Elizabeth", "9"]


@pytest.mark.parametrize("question", ["What should I cook tonight?", "Who is Zoe?"])
def test_a_question_that_names_nobody_says_so(question):
    assert "names nobody on a card: every boost is 0" in plain(render(question=question))


@pytest.mark.parametrize("question", ["", "  "])
def test_an_empty_question_is_said_in_a_line(question):
    assert "the question is empty: type one" in render(question=question)


def test_the_strength_can_be_moved_only_where_it_counts():
    _, damping, strength, _, reset, _ = widget.explore(CARDS, ALIASES).children
    assert strength.disabled
    damping.value = "square"
    assert not strength.disabled
    damping.value = "none"
    assert strength.disabled
    damping.value = "square"
    reset.click()
    assert strength.disabled


def test_html_in_a_name_or_a_card_is_text():
    cards = CARDS.iloc[:1].assign(text="<b>Sam</b>", entities=[("<i>Al</i>:person",)])
    html = widget.render(widget.START | {"question": "<i>Al</i>?"}, cards, {})
    assert "<i>" not in html and "<b>" not in html
    assert "&lt;b&gt;Sam" in html


def test_a_negative_strength_is_a_readable_line():
    root = widget.explore(CARDS, ALIASES)
    strength = next(c for c in root.children if isinstance(c, ipywidgets.FloatSlider))
    choice = next(c for c in root.children if c.description == "damping")
    choice.value, strength.min, strength.value = "square", -1, -1
    output = root.children[-1].value
    assert 'role="alert"' in output and "strength is -1.0" in plain(output)
