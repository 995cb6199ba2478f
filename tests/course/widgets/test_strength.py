"""Chapter 09's widget: the numbers it shows, recomputed with the standard library."""

import math
import re
import statistics
from html import unescape

import ipywidgets
import pytest

from course.data.maya import PUBLISHED_QUESTION, maya_cards
from course.data.recorded import Recorded
from course.widgets import strength as widget

CARDS = maya_cards()
VECTORS = [[float(x) for x in row] for row in Recorded().embed(list(CARDS["text"]))]
SHOES = "The shop wants to know: what shoe size does Sam wear?"
QUERIES = {
    question: [float(x) for x in Recorded().embed([question], role="query")[0]]
    for question in (PUBLISHED_QUESTION, SHOES)
}
START = widget.START | {"question": PUBLISHED_QUESTION}


def render(**changes: object) -> str:
    return unescape(widget.render(START | changes, CARDS, VECTORS, QUERIES))


def rows(html: str) -> list[list[str]]:
    body = re.findall(r"<tbody>(.*?)</tbody>", html)[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", body)]


def cosine(a, b):
    return math.fsum(map(float.__mul__, a, b)) / math.hypot(*a) / math.hypot(*b)


def from_vector(a, alpha, beta):
    return alpha * (statistics.fmean(a) + beta * statistics.pstdev(a))


def from_use():
    raw = [
        math.log(1 + v) + 2 * math.log(1 + c) + 0.5 * math.log(1 + e)
        for v, c, e in zip(CARDS["views"], CARDS["cites"], CARDS["edits"], strict=True)
    ]
    return [(x - min(raw)) / (max(raw) - min(raw) + 1e-6) for x in raw]


def expected(question, variant, alpha, beta, query, size):
    b = QUERIES[question]
    e_b = from_vector(b, alpha, beta) if query else 0.0
    for a, used in zip(VECTORS, from_use(), strict=True):
        plain = cosine(a, b)
        e_a = from_vector(a, alpha, beta) if variant == "vector" else size * used
        if variant == "bounded":
            yield plain + e_a * (1 - plain), plain, e_a
        else:
            dot = math.fsum((x + e_a) * (y + e_b) for x, y in zip(a, b, strict=True))
            yield dot / math.hypot(*a) / math.hypot(*b), plain, e_a


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"query": False},
        {"question": SHOES, "alpha": 5.0, "beta": 2.0},
        {"alpha": 0.0},
        {"variant": "use", "query": False},
        {"variant": "use", "size": 0.9},
        {"variant": "bounded"},
        {"variant": "bounded", "size": 0.9, "question": SHOES},
    ],
)
def test_scores_order_and_moves_by_the_formula(changes):
    all_of = list(expected(**(START | changes)))
    texts = dict(zip(CARDS.index, CARDS["text"], strict=True))
    by_score = sorted(zip(CARDS.index, all_of, strict=True), key=lambda c: (-c[1][0], c[0]))
    by_plain = sorted(zip(CARDS.index, all_of, strict=True), key=lambda c: (-c[1][1], c[0]))
    was = {name: rank for rank, (name, _) in enumerate(by_plain, start=1)}
    shown = rows(render(**changes))
    assert len(shown) == widget.ROWS
    for rank, (cells, (name, numbers)) in enumerate(zip(shown, by_score, strict=False), start=1):
        assert cells[0] == str(rank) and cells[5] == texts[name]
        assert cells[2:5] == [f"{number:.4f}" for number in numbers]
        rose = was[name] - rank
        assert cells[1] == ("·" if rose == 0 else f"▲{rose}" if rose > 0 else f"▼{-rose}")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "ΣB + n ε_B = 4.720: a higher strength raises every score."),
        ({"query": False}, "ΣB + n ε_B = -0.119: a higher strength lowers every score."),
        ({"query": False, "question": SHOES}, "= 0.284: a higher strength raises every score."),
        ({"variant": "bounded"}, "a higher strength never lowers a score."),
        ({"alpha": 0.0}, "the scores move by 0.0000 to 0.0000; highest score 0.4948."),
        ({}, "The first 8 of 208 cards."),
    ],
)
def test_the_caption_says_which_way_a_strength_pushes(changes, said):
    assert said in render(**changes)


def test_a_question_that_sums_to_nothing_is_not_moved():
    html = widget.render(
        START | {"question": "?", "query": False}, CARDS.iloc[:2], [[1, 0], [0, 1]], {"?": [1, -1]}
    )
    assert "ΣB + n ε_B = 0.000: a higher strength moves no score." in html
    assert "The first" not in html


def test_html_in_a_card_is_text():
    cards = CARDS.iloc[:1].assign(text="<b>Sam</b>")
    html = widget.render(START, cards, VECTORS[:1], QUERIES)
    assert "<b>" not in html and "&lt;b&gt;Sam" in html


def test_a_strength_out_of_range_is_a_readable_line():
    root = widget.explore(CARDS, VECTORS, QUERIES)
    variant = next(c for c in root.children if c.description == "kind of strength")
    size = next(c for c in root.children if c.description == "largest from use")
    assert isinstance(size, ipywidgets.FloatSlider)
    variant.value, size.max, size.value = "bounded", 2, 2
    output = root.children[-1].value
    assert 'role="alert"' in output and "strength[" in output


@pytest.mark.parametrize("queries", [{}, QUERIES])
def test_nothing_to_rank_is_refused(queries):
    with pytest.raises(ValueError, match="empty"):
        widget.explore(CARDS if not queries else CARDS.iloc[:0], VECTORS, queries)


def test_a_control_can_be_moved_only_where_it_counts():
    root = widget.explore(CARDS, VECTORS, QUERIES)
    _, variant, alpha, beta, query, size, reset, _ = root.children

    def off():
        return [control.disabled for control in (alpha, beta, query, size)]

    assert off() == [False, False, False, True]
    variant.value = "use"  # the question's own strength is of its vector still
    assert off() == [False, False, False, False]
    query.value = False
    assert off() == [True, True, False, False]
    variant.value = "bounded"
    assert off() == [True, True, True, False]
    reset.click()
    assert off() == [False, False, False, True]


@pytest.mark.parametrize(
    ("fixed", "moved"),
    [
        ({"variant": "bounded"}, {"alpha": 5.0, "beta": 2.0, "query": False}),
        ({"variant": "use", "query": False}, {"alpha": 5.0, "beta": 2.0}),
        ({"variant": "vector"}, {"size": 0.9}),
    ],
)
def test_what_is_switched_off_would_change_nothing(fixed, moved):
    assert render(**fixed) == render(**fixed, **moved)
