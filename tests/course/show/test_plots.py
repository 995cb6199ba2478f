"""Pictures: what is plotted is what was given, and the sentence says the same."""

import base64
import re
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex

from course.show import plots
from course.show.plots import Picture
from tests.notebooks.pictures import alike

OKABE_ITO = {
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#F0E442", "#0072B2", "#D55E00", "#CC79A7"),
}
NAMES = ["birthday", "vinyl", "pasta", "kids"]
VALUES = [0.6942, 0.6627, 0.4227, 0.4058]
PARTS = {"relevance": [1.0, 0.91, 0.22], "recency": [0.0, 0.0, 0.88], "importance": [1, 0.71, 0.14]}
HOURS = np.arange(0, 201, 10.0)
DECAYS = {f"decay {d}": d**HOURS for d in (0.98, 0.99, 0.995, 0.998, 0.999, 1.0)}
FOREST = {"mean": [9.32, -12.74, 1.05], "low": [6.19, -17.47, -0.03], "high": [12.62, -8.15, 2.35]}
SQUARE = np.array([[1.0, 0.2, 0.91], [0.2, 1.0, 0.35], [0.91, 0.35, 1.0]])


def pictures() -> dict[str, Picture]:
    """One picture of each kind, drawn anew."""
    return {
        "bars": plots.bars(NAMES, VALUES, "relevance", top=3),
        "stacked bars": plots.stacked_bars(NAMES[:3], PARTS, "score"),
        "lines": plots.lines(HOURS, DECAYS, "hours", "recency", at=100),
        "forest": plots.forest(NAMES[:3], **FOREST, xlabel="points"),
        "heat map": plots.heat_map(SQUARE, NAMES[:3], "cosine"),
    }


def axes(picture: Picture) -> Any:
    (ax,) = picture.figure.axes
    return ax


def told(sentence: str) -> dict[str, float]:
    """The numbers of a sentence like "Bars of x: a 0.50; b 0.25."."""
    pairs = sentence.rstrip(".").rpartition(": ")[2].split("; ")
    return {name: float(value) for name, _, value in (pair.rpartition(" ") for pair in pairs)}


# --- style ---------------------------------------------------------------------------------


def test_the_palette_is_the_one_of_okabe_and_ito() -> None:
    assert len(set(plots.COLORS)) == len(plots.COLORS)
    assert {to_hex(color).upper() for color in plots.COLORS} <= OKABE_ITO


def test_every_colour_has_a_hatch_a_dash_and_a_marker_of_its_own() -> None:
    for cues in (plots.HATCHES, plots.LINES, plots.MARKERS):
        assert len(set(cues)) == len(cues) == len(plots.COLORS)


def test_drawing_leaves_the_readers_own_style_alone() -> None:
    before = dict(matplotlib.rcParams)
    for picture in pictures().values():
        picture.png()
    assert dict(matplotlib.rcParams) == before


# --- what every picture does ---------------------------------------------------------------


@pytest.mark.parametrize("kind", pictures())
def test_a_picture_is_the_same_each_time(kind: str) -> None:
    picture = pictures()[kind]
    png = picture.png()
    assert png.startswith(b"\x89PNG") and len(png) > 5000
    assert b"Software" not in png and b"matplotlib" not in png
    assert picture.png() == png
    assert alike(pictures()[kind].png(), png)


def test_a_picture_does_not_depend_on_the_readers_style() -> None:
    png = pictures()["lines"].png()
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 5, "savefig.dpi": 30}):
        again = plots.lines(HOURS, DECAYS, "hours", "recency", at=100)
        assert len(again.png()) > len(png) / 2
        assert axes(again).xaxis.label.get_size() == plots.STYLE["font.size"]


@pytest.mark.parametrize("kind", pictures())
def test_the_sentence_is_the_alt_text_and_the_plain_text(kind: str) -> None:
    picture = pictures()[kind]
    data, metadata = picture._repr_mimebundle_(include=None, exclude=None)
    assert metadata == {"image/png": {"alt": picture.sentence}}
    assert data["text/plain"] == picture.sentence
    assert base64.b64decode(data["image/png"]) == picture.png()
    assert re.fullmatch(r"[A-Z][^\n]+\.", picture.sentence)


def test_a_shown_picture_prints_its_sentence_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr("IPython.display.display", lambda *data, **how: shown.append((data, how)))
    picture = pictures()["bars"]
    picture._ipython_display_()
    (((bundle,), how),) = shown
    assert how == {"raw": True, "metadata": {"image/png": {"alt": picture.sentence}}}
    assert set(bundle) == {"image/png", "text/plain"}
    assert capsys.readouterr().out == picture.sentence + "\n"


def test_a_long_sentence_breaks_between_words_and_only_where_it_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **how: shown.append(data))
    names = [f"a-long-name-{i}" for i in range(20)]
    picture = plots.bars(names, np.linspace(0, 1, 20), "score")
    picture._ipython_display_()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3 and max(map(len, lines)) <= 88
    assert " ".join(lines) == picture.sentence == shown[0]["text/plain"]


@pytest.mark.parametrize("kind", ["bars", "stacked bars", "lines"])
def test_the_axes_are_labelled(kind: str) -> None:
    ax = axes(pictures()[kind])
    assert ax.get_xlabel() in ("relevance", "score", "hours")
    assert ax.get_ylabel() == ("recency" if kind == "lines" else "")


# --- bars ----------------------------------------------------------------------------------


def bar_of(ax: Any) -> dict[int, Any]:
    """Each bar by the row on which it stands."""
    return {round(bar.get_y() + bar.get_height() / 2): bar for bar in ax.patches}


@pytest.mark.parametrize("top", [0, 2, 4, 9])
def test_bars_are_as_long_as_their_values(top: int) -> None:
    picture = plots.bars(NAMES, VALUES, "relevance", top=top)
    ax = axes(picture)
    bars = bar_of(ax)
    assert [bars[row].get_width() for row in range(4)] == VALUES
    assert [label.get_text() for label in ax.get_yticklabels()] == NAMES
    assert ax.yaxis_inverted()
    assert [text.get_text().strip() for text in ax.texts] == ["0.69", "0.66", "0.42", "0.41"]
    assert told(picture.sentence) == dict(zip(NAMES, [0.69, 0.66, 0.42, 0.41], strict=True))


def test_the_injected_bars_differ_by_more_than_colour() -> None:
    bars = bar_of(axes(plots.bars(NAMES, VALUES, "relevance", top=3)))
    assert [bool(bars[row].get_hatch()) for row in range(4)] == [True, True, True, False]
    assert len({to_hex(bars[row].get_facecolor()) for row in (0, 3)}) == 2


def test_a_bar_below_zero_keeps_its_sign() -> None:
    picture = plots.bars(["a", "b"], [-0.25, 0.5], "relevance")
    assert bar_of(axes(picture))[0].get_width() == -0.25
    assert told(picture.sentence) == {"a": -0.25, "b": 0.5}


# --- stacked bars --------------------------------------------------------------------------


def test_stacked_bars_begin_where_the_last_part_ends() -> None:
    picture = pictures()["stacked bars"]
    ax = axes(picture)
    left = np.zeros(3)
    for container, (name, values) in zip(ax.containers, PARTS.items(), strict=True):
        assert container.get_label() == name
        assert [bar.get_x() for bar in container] == pytest.approx(left.tolist())
        assert [bar.get_width() for bar in container] == pytest.approx(list(values))
        left = left + values
    assert told(picture.sentence) == {"birthday": 2.0, "vinyl": 1.62, "pasta": 1.24}
    assert "relevance + recency + importance" in picture.sentence


def test_each_part_has_its_own_colour_and_hatch() -> None:
    picture = pictures()["stacked bars"]
    first = [container[0] for container in axes(picture).containers]
    assert len({bar.get_hatch() for bar in first}) == 3
    assert len({to_hex(bar.get_facecolor()) for bar in first}) == 3
    (legend,) = picture.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(PARTS)


# --- lines ---------------------------------------------------------------------------------


def test_lines_go_through_the_given_points() -> None:
    picture = pictures()["lines"]
    ax = axes(picture)
    *curves, mark = ax.lines
    for curve, (name, values) in zip(curves, DECAYS.items(), strict=True):
        assert curve.get_label() == name
        np.testing.assert_array_equal(curve.get_xdata(), HOURS)
        np.testing.assert_array_equal(curve.get_ydata(), values)
    assert list(mark.get_xdata()) == [100, 100]
    expected = {name: round(float(values[10]), 2) for name, values in DECAYS.items()}
    assert told(picture.sentence) == expected
    assert "at 100:" in picture.sentence


def test_each_line_has_its_own_dash_marker_and_colour() -> None:
    curves = axes(pictures()["lines"]).lines[:-1]
    dashes = [repr(curve._unscaled_dash_pattern) for curve in curves]
    for cues in (dashes, [c.get_marker() for c in curves], [c.get_color() for c in curves]):
        assert len(set(cues)) == len(DECAYS)
    shown = [len(HOURS[:: curve.get_markevery()]) for curve in curves]
    assert min(shown) >= 4


# --- heat map ------------------------------------------------------------------------------


def test_a_heat_map_prints_each_value_in_its_cell() -> None:
    picture = pictures()["heat map"]
    ax = axes(picture)
    np.testing.assert_array_equal(ax.images[0].get_array(), SQUARE)
    assert ax.images[0].get_clim() == (0, 1)
    cells = {text.get_position(): text.get_text() for text in ax.texts}
    assert cells == {(c, r): f"{SQUARE[r, c]:.2f}" for r in range(3) for c in range(3)}
    assert [label.get_text() for label in ax.get_xticklabels()] == NAMES[:3]
    assert [label.get_text() for label in ax.get_yticklabels()] == NAMES[:3]
    assert "most alike pasta and birthday (0.91)" in picture.sentence
    assert "least vinyl and birthday (0.20)" in picture.sentence


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    rgb = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("value", [0.0, 0.2, 0.35, 0.49, 0.5, 0.51, 0.65, 0.8, 1.0])
def test_the_number_in_a_cell_can_be_read(value: float) -> None:
    ax = axes(plots.heat_map([[1, value], [value, 1]], ["a", "b"], "cosine"))
    (text,) = (text for text in ax.texts if text.get_position() == (0, 1))
    ground = to_hex(ax.images[0].to_rgba(np.array([[value]]))[0, 0])
    light, dark = sorted((luminance(to_hex(text.get_color())), luminance(ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4


# --- forest --------------------------------------------------------------------------------


def forest_of(picture: Picture) -> list[tuple[Any, Any]]:
    """Each row's interval and its marker; the first line of all is the one at 0."""
    zero, *rows = axes(picture).lines
    assert list(zero.get_xdata()) == [0, 0]
    return list(zip(rows[::2], rows[1::2], strict=True))


def test_a_forest_draws_each_mean_and_its_interval_first_label_on_top() -> None:
    picture = pictures()["forest"]
    for row, (line, dot) in enumerate(forest_of(picture)):
        assert list(line.get_xdata()) == [FOREST["low"][row], FOREST["high"][row]]
        assert list(line.get_ydata()) == [row, row]
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (FOREST["mean"][row], row)
    ax = axes(picture)
    assert [label.get_text() for label in ax.get_yticklabels()] == NAMES[:3]
    bottom, top = ax.get_ylim()
    assert bottom > 2 and top < 0
    assert ax.get_xlabel() == "points\nline: 95% interval; hollow: within noise"


def test_a_forest_tells_the_same_numbers_by_verdict() -> None:
    picture = pictures()["forest"]
    assert picture.sentence == (
        "Forest of points. Above 0: birthday +9.32 [6.19, 12.62]."
        " Below 0: vinyl -12.74 [-17.47, -8.15]. Within noise: pasta +1.05 [-0.03, 2.35]."
    )
    for text in axes(picture).texts:
        assert text.get_text() in picture.sentence


def test_what_noise_explains_is_hollow_and_each_verdict_has_its_own_marker_and_colour() -> None:
    dots = [dot for _, dot in forest_of(pictures()["forest"])]
    assert [to_hex(dot.get_markerfacecolor()) == "#ffffff" for dot in dots] == [False, False, True]
    assert len({dot.get_marker() for dot in dots}) == len({dot.get_color() for dot in dots}) == 3


@pytest.mark.parametrize(
    ("low", "high", "hollow"),
    [(0.1, 2, False), (0, 2, True), (-1, 2, True), (-1, 1.5, True), (1, 1, False)],
)
def test_an_interval_that_touches_0_is_within_noise(low: float, high: float, hollow: bool) -> None:
    ((_, dot),) = forest_of(plots.forest(["a"], [1], [low], [high], "points"))
    assert (to_hex(dot.get_markerfacecolor()) == "#ffffff") == hollow


def test_a_verdict_that_is_handed_in_counts_more_than_the_interval() -> None:
    picture = plots.forest(["a", "b"], [5, 5], [1, 1], [9, 9], "points", clear=[False, True])
    hollow = [to_hex(dot.get_markerfacecolor()) == "#ffffff" for _, dot in forest_of(picture)]
    assert hollow == [True, False]
    assert "Above 0: b +5.00" in picture.sentence and "noise: a +5.00" in picture.sentence


def test_the_numbers_and_long_labels_of_a_forest_stay_inside_the_figure() -> None:
    names = ["weighted sum, duplication penalty", "similarity + slow recency, 0.9/0.1"]
    picture = plots.forest(names, [-70.32, 1], [-100, 0], [-66.01, 2], "difference in points")
    picture.figure.draw_without_rendering()
    width, height = picture.figure.get_size_inches() * picture.figure.dpi
    ax = axes(picture)
    for text in [*ax.texts, *ax.get_yticklabels(), ax.xaxis.label]:
        box = text.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= width and 0 <= box.y0 < box.y1 <= height


def test_a_forest_that_cannot_be_drawn_is_named() -> None:
    with pytest.raises(ValueError, match=r"low\[0\] is 2.0: must not be above high"):
        plots.forest(["a"], [1], [2], [1], "points")
    with pytest.raises(ValueError, match=r"high\[0\] is nan"):
        plots.forest(["a"], [1], [0], [float("nan")], "points")
    with pytest.raises(ValueError, match="labels 2"):
        plots.forest(["a", "b"], [1], [0], [2], "points")
    with pytest.raises(ValueError, match="clear 2"):
        plots.forest(["a"], [1], [0], [2], "points", clear=[True, False])


# --- bad input -----------------------------------------------------------------------------


def test_a_value_that_is_no_number_is_named() -> None:
    with pytest.raises(ValueError, match=r"values\[1\] is nan"):
        plots.bars(["a", "b"], [0.1, float("nan")], "relevance")
    with pytest.raises(ValueError, match=r"recency\[0\] is -0.1"):
        plots.stacked_bars(["a"], {"recency": [-0.1]}, "score")
    with pytest.raises(ValueError, match=r"slow\[0\] is inf"):
        plots.lines([0, 1], {"slow": [float("inf"), 1]}, "hours", "recency", at=0)
    with pytest.raises(ValueError, match=r"matrix has shape \(2,\)"):
        plots.heat_map([0.1, 0.2], ["a", "b"], "cosine")


def test_bars_of_counts_can_be_told_without_decimals() -> None:
    picture = plots.bars(["1-2", "unrated"], [26, 6], "cards", digits=0)
    assert picture.sentence == "Bars of cards: 1-2 26; unrated 6."
    assert [text.get_text() for text in picture.figure.axes[0].texts] == [" 26", " 6"]


def test_lines_over_values_that_do_not_rise_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^x\[2\] is 1.0: must not be below the x before it$"):
        plots.lines([0, 2, 1], {"y": [0, 2, 1]}, "x", "y", at=1.5)
    assert "y 1.50" in plots.lines([0, 1, 2], {"y": [0, 1, 2]}, "x", "y", at=1.5).sentence
