"""What every widget shares: labels, errors that can be read, bars that add up, safe HTML."""

import re
from html.parser import HTMLParser
from typing import Any

import ipywidgets
import pytest

from course.show import plots
from course.widgets import parts

HOSTILE = "<script>alert('Miso')</script> & \"quotes\" <img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """The tags of a text, each closed by its own end; everything else as words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.open.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def panel(render: Any, **controls: Any) -> Any:
    return parts.panel(render, controls)


# --- controls ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "readout"), [(0.0001, ".4f"), (0.01, ".2f"), (0.5, ".1f"), (1, ".0f"), (1e-10, ".10f")]
)
def test_a_slider_shows_as_many_digits_as_its_step(step: float, readout: str) -> None:
    slider = parts.slider("half-life (days)", 1, 0, 2, step)
    assert slider.readout_format == readout
    assert (slider.min, slider.max, slider.step, slider.value) == (0, 2, step, 1)
    assert slider.description == "half-life (days)"


def test_a_sliders_handle_is_seen_on_white_and_on_black() -> None:
    assert parts.slider("n", 1, 0, 2, 1).style.handle_color == parts.COLORS[0]


def test_every_control_has_room_for_its_label() -> None:
    for control in (
        parts.slider("weight of relevance", 1, 0, 3, 0.01),
        parts.choice("work out by hand", [("Sam", "sam"), ("Miso", "miso")], "miso"),
        parts.text("question", "Who?"),
        parts.text("cards, one a line", "a\nb", rows=8),
    ):
        assert control.description
        assert control.style.description_width == "12.5em"
        assert "98%" in control.layout.width


def test_a_choice_starts_where_it_is_told() -> None:
    choice = parts.choice("card", [("Sam is tall.", "sam"), ("Miso naps.", "miso")], "miso")
    assert (choice.value, choice.label) == ("miso", "Miso naps.")


def test_text_acts_when_it_is_finished_not_at_each_key() -> None:
    one, many = parts.text("question", "Who?"), parts.text("cards", "a\nb", rows=8)
    assert type(one) is ipywidgets.Text and type(many) is ipywidgets.Textarea
    assert (one.value, many.value, many.rows) == ("Who?", "a\nb", 8)
    assert one.continuous_update is False and many.continuous_update is False


def test_only_core_widgets_are_used() -> None:
    made = [
        *(parts.slider("a", 1, 0, 2, 1), parts.choice("b", [1], 1), parts.text("c", "")),
        *panel(lambda values: "").children,
    ]
    assert {widget._model_module for widget in made} == {"@jupyter-widgets/controls"}


# --- the panel -----------------------------------------------------------------------------


def test_the_panel_renders_at_once_and_follows_every_change() -> None:
    slider = parts.slider("n", 1, 0, 9, 1)
    box = panel(lambda values: f"<p>{values['n'] * 2:.0f}</p>", n=slider)
    *_, output = box.children
    assert output.value == "<p>2</p>"
    slider.value = 4
    assert output.value == "<p>8</p>"


def test_reset_brings_every_control_back() -> None:
    controls = {
        "n": parts.slider("n", 1, 0, 9, 1),
        "card": parts.choice("card", ["sam", "miso"], "miso"),
        "q": parts.text("question", "Who?"),
    }
    box = panel(lambda values: str(values), **controls)
    *_, reset, output = box.children
    start = output.value
    controls["n"].value, controls["card"].value, controls["q"].value = 7, "sam", "Why?"
    assert output.value != start
    reset.click()
    assert output.value == start
    assert [c.value for c in controls.values()] == [1, "miso", "Who?"]


def test_reset_sends_the_page_one_text_not_one_a_control(monkeypatch: pytest.MonkeyPatch) -> None:
    controls = {name: parts.slider(name, 1, 0, 9, 1) for name in "abc"}
    *_, reset, output = panel(lambda values: str(values), **controls).children
    for control in controls.values():
        control.value = 5
    sent: list[Any] = []
    monkeypatch.setattr(type(output), "send_state", lambda self, key: sent.append((self, set(key))))
    reset.click()
    assert [key for widget, key in sent if widget is output] == [{"value"}]


def test_what_render_raises_is_a_line_for_everybody_and_goes_away_again() -> None:
    slider = parts.slider("n", 1, 0, 9, 1)

    def render(values: parts.Values) -> str:
        if values["n"] > 5:
            raise ValueError(f"n is {values['n']}: {HOSTILE}")
        return "<p>fine</p>"

    *_, output = panel(render, n=slider).children
    slider.value = 6
    assert output.value.startswith('<p role="alert"')
    assert Tags(output.value).seen == ["p", "b"]
    assert f"n is 6.0: {HOSTILE}" in "".join(Tags(output.value).words)
    slider.value = 5
    assert output.value == "<p>fine</p>"


def test_an_error_at_the_start_is_shown_too() -> None:
    def broken(values: parts.Values) -> str:
        raise KeyError("card")

    assert "Cannot show this:" in panel(broken).children[-1].value


# --- pieces of HTML ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "mark"),
    [(3, 3, "·"), (5, 3, "▲2"), (3, 5, "▼2"), (8, 1, "▲7"), (1, 8, "▼7"), (1, 10000, "▼9999")],
)
def test_an_arrow_tells_how_far_a_row_moved(before: int, now: int, mark: str) -> None:
    assert parts.moved(before, now) == mark


def widths(html: str) -> list[float]:
    found = re.findall(r"height:\.9em;width:([\d.]+)em", html)
    return [float(width) for width in found]


@pytest.mark.parametrize(
    ("values", "full", "total"),
    [
        ((1.0, 0.5, 0.25), 3.0, 9 * 1.75 / 3),
        ((1.0, 1.0, 1.0), 3.0, 9.0),
        ((0.0, 0.0, 0.0), 3.0, 0.0),
        ((0.0, 0.0, 0.0), 0.0, 0.0),
        ((2.1, 0.07, 0.71), 4.1, 9 * 2.88 / 4.1),
    ],
)
def test_the_widths_of_a_stacked_bar_add_up(
    values: tuple[float, ...], full: float, total: float
) -> None:
    html = parts.stacked(dict(zip("abc", values, strict=True)), full)
    assert len(widths(html)) == 3
    assert sum(widths(html)) == pytest.approx(total, abs=0.02)
    assert "width:9em" in html


def test_a_stacked_bar_can_be_told_without_seeing_its_colours() -> None:
    html = parts.stacked({"relevance": 1.0, "recency": 0.5, "importance": 0.25}, 3)
    assert 'role="img"' in html
    assert 'aria-label="relevance 1.00, recency 0.50, importance 0.25"' in html
    fills = re.findall(r"repeating-linear-gradient\((\d+deg), (#\w+)", html)
    assert len({angle for angle, _ in fills}) == len({color for _, color in fills}) == 3
    assert {color for _, color in fills} <= set(plots.COLORS)
    assert Tags(html).seen == ["span"] * 4


def test_a_table_has_a_caption_a_header_and_its_rows() -> None:
    html = parts.table("Weights & parts", ("rank", "fact"), [("1", "<b>Sam</b>"), ("2", "Miso")])
    tags = Tags(html)
    assert tags.seen[:3] == ["div", "table", "caption"]
    assert [tags.seen.count(tag) for tag in ("th", "tr", "td", "b")] == [2, 3, 4, 1]
    assert tags.words == ["Weights & parts", "rank", "fact", "1", "Sam", "2", "Miso"]
    assert html.count('scope="col"') == 2


def test_a_column_of_numbers_lines_up_at_its_right_edge() -> None:
    rows = [["1,992", "+0.5", "Miso", "12"], ["26", "-12.25", "7", ""]]
    html = parts.table("cards", ("hours", "change", "fact", "rating"), rows)
    sides = re.findall(r"<t[hd][^>]*text-align:(left|right)", html)
    assert sides == ["right", "right", "left", "right"] * 3
    assert parts.table("none", ("hours",), []).count("text-align:left") == 2


def test_a_drop_down_has_an_arrow_that_is_seen_in_the_dark_theme() -> None:
    choice = parts.choice("card", ["Miso"], "Miso")
    html = panel(lambda _: "said", card=choice).children[-1].value
    assert html == "said" + parts.ARROW
    assert '[data-jp-theme-light="false"]' in html and "--jp-widgets-dropdown-arrow" in html


@pytest.mark.parametrize("kind", [ipywidgets.Dropdown, ipywidgets.Select])
def test_a_list_keeps_its_arrow_keys_from_jupyterlab(kind: Any) -> None:
    html = panel(lambda _: "said", card=kind(options=["Miso"])).children[-1].value
    onload = re.findall(r'<style onload="([^"]*)">', html)
    assert len(onload) == 1
    assert ".widget-vbox" in onload[0] and "'data-lm-suppress-shortcuts', 'true'" in onload[0]
    assert panel(lambda _: "said").children[-1].value == "said"


def test_a_table_scrolls_by_itself_and_keeps_room_for_its_facts() -> None:
    html = parts.table("Weights", ("rank", "fact"), [("1", "Sam")])
    assert html.startswith('<div style="overflow-x:auto;') and html.endswith("</table></div>")
    rank, fact = re.findall(r'<th scope="col" style="([^"]*)">', html)
    assert "min-width:14em" in fact and "min-width" not in rank


def test_what_can_wrap_has_lines_that_hold_together() -> None:
    for html in (parts.line("a"), parts.error_line("a"), parts.table("a", ("b",), [])):
        assert "line-height:1.35" in html


@pytest.mark.parametrize(
    "html",
    [
        parts.error_line(HOSTILE),
        parts.worked(HOSTILE),
        parts.line(HOSTILE),
        parts.table(HOSTILE, ("a",), [("b",)]),
        parts.stacked({HOSTILE: 0.5}, 1),
    ],
)
def test_hostile_text_stays_text(html: str) -> None:
    assert not {"script", "img"} & set(Tags(html).seen)
    assert "<script" not in html and "&lt;script&gt;" in html


def test_the_ink_follows_the_readers_theme() -> None:
    for html in (parts.error_line("a"), parts.worked("a"), parts.table("a", ("b",), [])):
        assert "var(--jp-content-font-color1" in html
