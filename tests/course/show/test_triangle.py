"""The triangle of weightings: what is plotted, what is framed, and the sentence below."""

import math
from typing import Any

import numpy as np
import pytest

from course.measure.experiment import GRID
from course.show.triangle import triangle
from tests.notebooks.pictures import alike

MARK = (0.8, 0.1, 0.1)
VALUES = {
    "naive": [50 + 20 * d - 30 * (b - 0.3) ** 2 for d, b, _ in GRID],
    "stem": [60 + 10 * b - 50 * (e - 0.1) ** 2 for _, b, e in GRID],
}


def picture(values: dict[str, list[float]] = VALUES) -> Any:
    return triangle(GRID, values, "recall@20", MARK)


def test_each_cell_holds_the_value_of_its_weighting() -> None:
    for ax, (title, values) in zip(picture().figure.axes, VALUES.items(), strict=True):
        assert ax.get_title() == title
        shown = ax.images[0].get_array()
        assert int((~np.ma.getmaskarray(shown)).sum()) == 66
        texts = {t.get_position(): t.get_text() for t in ax.texts}
        for (_, bm25, entity), value in zip(GRID, values, strict=True):
            column, row = round(10 * bm25), round(10 * entity)
            assert shown[row, column] == pytest.approx(value)
            assert texts[column, row] == f"{value:.1f}"


def test_the_best_has_a_full_frame_and_the_marked_one_a_dashed() -> None:
    for ax, values in zip(picture().figure.axes, VALUES.values(), strict=True):
        best = GRID[values.index(max(values))]
        full, dashed = ax.patches
        for frame, (_, bm25, entity) in ((full, best), (dashed, MARK)):
            assert frame.get_xy() == pytest.approx((10 * bm25 - 0.5, 10 * entity - 0.5))
        assert full.get_linestyle() != dashed.get_linestyle()


def test_the_sentence_tells_best_worst_and_marked_of_each_panel() -> None:
    sentence = picture().sentence
    for title, values in VALUES.items():
        rows = [
            values.index(max(values)),
            values.index(min(values)),
            [math.dist(w, MARK) < 1e-9 for w in GRID].index(True),
        ]
        best, worst, marked = (
            f"{values[row]:.2f} at {'/'.join(f'{w:g}' for w in GRID[row])}" for row in rows
        )
        assert f"{title}: best {best}, worst {worst}, {marked}" in sentence


def test_both_panels_share_one_scale_and_each_number_stands_out_from_its_cell() -> None:
    drawn = picture()
    (one, other) = (ax.images[0] for ax in drawn.figure.axes)
    assert one.get_clim() == other.get_clim()
    for ax in drawn.figure.axes:
        shown = ax.images[0]
        for text in ax.texts[:66]:
            column, row = text.get_position()
            red, green, blue, _ = shown.cmap(shown.norm(shown.get_array()[row, column]))
            light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
            ink = 1.0 if text.get_color() == "white" else 0.0
            assert (max(light, ink) + 0.05) / (min(light, ink) + 0.05) >= 4.5


def test_one_outlier_does_not_take_the_colours_of_the_rest() -> None:
    values = [70.0 + i / 10 for i in range(65)] + [1.0]
    image = triangle(GRID, {"one": values}, "recall", MARK).figure.axes[0].images[0]
    assert image.get_clim()[0] >= 70


def test_the_picture_is_the_same_each_time_and_its_axes_are_named() -> None:
    assert alike(picture().png(), picture().png())
    for ax in picture().figure.axes:
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("weight of BM25", "weight of entity")
        assert ax.texts[-1].get_text() == "dense has the rest"


def test_values_that_cannot_be_drawn_are_named() -> None:
    with pytest.raises(ValueError, match="naive 65"):
        picture({"naive": VALUES["naive"][:65]})
    with pytest.raises(ValueError, match="stem"):
        picture({"stem": [*VALUES["stem"][:65], math.nan]})
    with pytest.raises(ValueError, match="mark is"):
        triangle(GRID, VALUES, "recall", (0.85, 0.05, 0.1))
