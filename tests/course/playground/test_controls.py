"""The controls of one side: each by itself, and all of them as settings and back."""

from dataclasses import asdict

import ipywidgets
import pytest

from course.playground.configuration import CHOICES, RANGES, Form
from course.playground.controls import GROUPS, A, B, changes, controls, put, standing

OTHER = Form(
    *(0.5, 0.0, 2.0, 0.1, 0.4),
    *("by kind", 12.5, "z-score", "unicode", "RRF", "mmr", 0.3, 0.25, 0.0325),
)


def test_every_setting_has_one_control_with_a_label() -> None:
    made = controls("A", A)
    names = [name for group in GROUPS.values() for name in group]
    assert list(made) == names and len(set(names)) == len(names)
    assert set(names) - {"has_threshold"} == set(asdict(A)) == set(CHOICES) | set(RANGES)
    labels = [one.description for one in made.values()]
    assert all(label.startswith("A: ") for label in labels) and len(set(labels)) == len(labels)


@pytest.mark.parametrize("settings", [A, B, OTHER, Form(recency=12.345, w_duplicate=3.0)])
def test_settings_are_put_and_read_back_unbent(settings: Form) -> None:
    made = controls("A", A)
    put(made, settings)
    assert standing(made) == settings


def test_a_threshold_counts_where_its_box_is_ticked() -> None:
    made = controls("A", A)
    made["threshold"].value = 0.5
    assert standing(made).threshold is None
    made["has_threshold"].value = True
    assert standing(made).threshold == 0.5
    assert isinstance(made["threshold"], ipywidgets.BoundedFloatText)


def test_what_differs_is_told_in_words() -> None:
    assert changes(A, A) == "A and B are set alike."
    said = changes(A, Form(recency=0.0, normalizer="none", threshold=0.5))
    assert (
        said == "From A to B: recency 1 → 0, normaliser min-max → none, threshold on S none → 0.5."
    )


def test_a_change_without_effect_says_why() -> None:
    two = Form(recency=0.5, mmr_lambda=0.5)
    assert changes(A, two, {"mmr_lambda": "no side picks by mmr"}) == (
        "From A to B: recency 1 → 0.5, MMR's lambda 0.8 → 0.5 (no effect: no side picks by mmr)."
    )
