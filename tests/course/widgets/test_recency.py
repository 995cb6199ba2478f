"""Chapter 02's widget: what it says for known values."""

import re

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, published_cards
from course.widgets import recency as widget
from memlib.recency import age_hours

CARDS = published_cards()
HOURS = age_hours(CARDS["created_at"], CARDS["last_accessed_at"], COURSE_NOW)


def shown(html: str) -> list[tuple[str, str]]:
    """The facts in order, each with the recency beside it."""
    rows = re.findall(r"<tr>(.*?)</tr>", html.partition("<tbody>")[2])
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    return [(row[1], row[4]) for row in cells]


def render(**changes: object) -> str:
    return widget.render(widget.START | changes, CARDS, HOURS)


def test_it_starts_as_the_published_table() -> None:
    assert [value for _, value in shown(render())] == [
        *("0.9950", "0.8778", "0.5480", "0.2223", "0.0299", "0.0005", "0.0000", "0.0000")
    ]
    assert "recency is 0.5 after 5.76 days, 0.25 after 11.52 days" in render()
    assert "above one half: 3 of 8 cards" in render()
    assert shown(render())[0][0] == "Maya mentioned the printer is out of ink."


def test_the_half_life_counts_only_when_it_is_chosen() -> None:
    by_decay, by_half_life = render(half_life_days=1.0), render(form=widget.HALF_LIFE)
    assert shown(by_decay) == shown(render())
    assert dict(shown(by_half_life))["Maya is vegetarian."] == f"{0.5 ** (5 / 30):.4f}"
    assert "recency is 0.5 after 30.00 days" in by_half_life
    assert shown(render(form=widget.HALF_LIFE, decay=0.9)) == shown(by_half_life)


def test_either_slider_is_told_in_both_forms() -> None:
    assert "decay per hour 0.9950 is a half-life of 5.76 days" in render()
    assert "half-life 30.00 days is a decay of 0.999038 per hour" in render()
    assert "decay per hour 0.9900 is a half-life of 2.87 days" in render(decay=0.99)
    assert "half-life 2.00 days is a decay of 0.985663 per hour" in render(half_life_days=2.0)


def test_a_decay_of_one_never_fades() -> None:
    html = render(decay=1.0)
    assert {value for _, value in shown(html)} == {"1.0000"}
    assert "recency is never less than 1" in html
    assert "decay per hour 1.0000 has no half-life" in html


def test_by_kind_the_order_changes() -> None:
    names = [fact for fact, _ in shown(render(form=widget.KIND))]
    start = [fact for fact, _ in shown(render())]
    pasta, vegetarian = "Maya asked for a pasta recipe yesterday.", "Maya is vegetarian."
    assert start.index(pasta) < start.index(vegetarian)
    assert names.index(vegetarian) < names.index(pasta)
    assert "semantic: 0.5 after 180.00 days" in render(form=widget.KIND)


def test_one_clock_never_changes_the_order() -> None:
    orders = [[fact for fact, _ in shown(render(decay=d))] for d in (0.99, 0.995, 0.9999)]
    assert orders[0] == orders[1] == orders[2]


def test_a_fact_is_escaped() -> None:
    cards = pd.DataFrame({"text": ["<b>ink</b>"], "kind": ["working"]}, index=["printer"])
    html = widget.render(widget.START, cards, [1.0])
    assert "&lt;b&gt;ink" in html and "<b>ink" not in html


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decay": 0.0}, "decay is 0.0"),
        ({"decay": 1.5}, "decay is 1.5"),
        ({"half_life_days": 0.0}, "half_life_days is 0.0"),
    ],
)
def test_a_value_out_of_range_is_named(changes: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        render(**changes)


def test_the_panel_shows_a_mistake_as_a_line() -> None:
    panel = widget.explore(CARDS, np.array([-1.0] * 8))
    assert "Cannot show this:" in panel.children[-1].value
    assert "hours[0] is -1.0" in panel.children[-1].value


def test_every_control_changes_the_text_at_both_ends() -> None:
    panel = widget.explore(CARDS, HOURS)
    form, decay, half_life, reset, output = panel.children
    start = output.value
    for control in (decay, half_life):
        for end in (control.min, control.max):
            control.value = end
            assert output.value != start
            reset.click()
            assert output.value == start
    for option in (widget.HALF_LIFE, widget.KIND):
        form.value = option
        assert output.value != start


def test_wrong_lengths_and_an_unknown_kind_are_said() -> None:
    with pytest.raises(ValueError, match=r"^lengths differ: cards 8, hours 2$"):
        widget.render(widget.START, CARDS, [1.0, 2.0])
    cards = CARDS.assign(kind=["semantic", "x", *CARDS["kind"][2:]])
    with pytest.raises(ValueError, match=r"^kind\[1\] is 'x': must be one of working, episodic"):
        widget.render(widget.START | {"form": widget.KIND}, cards, HOURS)


@pytest.mark.parametrize("change", [{"decay": 1.0}, {"form": widget.HALF_LIFE}])
def test_equal_recencies_are_no_order(change: dict[str, object]) -> None:
    said = "the order says nothing."
    hours = HOURS if "decay" in change else [5.0] * 8
    html = widget.render(widget.START | change, CARDS, hours)
    assert f"All recencies are {shown(html)[0][1]}: {said}" in html
    assert said not in render() and said not in widget.render(widget.START, CARDS[:1], HOURS[:1])


def test_the_caption_says_what_the_other_slider_moves() -> None:
    assert "The half-life&#x27;s slider moves only the last line." in render()
    html = render(form=widget.HALF_LIFE)
    assert "The decay&#x27;s slider moves only the last line but one." in html
    assert "Both sliders move only the last two lines." in render(form=widget.KIND)
    lines = [render(form=widget.KIND, decay=decay).splitlines() for decay in (0.9, 0.99)]
    assert [a == b for a, b in zip(*lines, strict=True)] == [True] * (len(lines[0]) - 2) + [
        *(False, True)
    ]
