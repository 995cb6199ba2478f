"""Chapter 07's widget: what it reads off the measurements, recomputed with the standard library."""

import csv
import re
from html import unescape

import ipywidgets
import pytest

from course.data.files import data_path
from course.measure.locomo import committed
from course.widgets import fusion as widget

RESULTS = committed().results
MEASURED = widget.by_setting(RESULTS)


def rows_of(**values: object) -> dict[tuple[float, ...], float]:
    """The 66 recalls of a setting, straight from the file."""
    wanted = widget.START | values
    keys = {"text_variant": "text", "method": "normalizer"}
    with data_path("locomo_results.csv").open(encoding="utf-8", newline="") as file:
        return {
            tuple(round(float(row[name]), 1) for name in widget.WEIGHTS): float(row["recall"])
            for row in csv.DictReader(file)
            if all(row[key] == str(wanted[keys.get(key, key)]) for key in widget.KEYS)
        }


def render(**changes: object) -> str:
    return widget.render(widget.START | changes, MEASURED)


def table(html: str) -> list[list[str]]:
    body = re.findall(r"<tbody>(.*?)</tbody>", html)[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", body)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tokenizer": "naive", "k": 50, "weights": (0.8, 0.2, 0.0)},
        {"text": "t", "entity": "mentioned", "split": "held-out", "normalizer": "zscore"},
        {"weights": (0.0, 0.0, 1.0), "k": 5},
    ],
)
def test_recall_rank_and_difference_are_those_of_the_file(changes):
    recall = rows_of(**changes)
    assert len(recall) == 66
    chosen = (widget.START | changes)["weights"]
    best = max(recall, key=recall.get)
    assert [row[0] for row in table(render(**changes))] == [
        "your row",
        "dense alone",
        "published",
        "best here",
    ]
    expected = [chosen, (1.0, 0.0, 0.0), (0.8, 0.1, 0.1), best]
    for (_, weights, shown, rank, difference), triple in zip(
        table(render(**changes)), expected, strict=True
    ):
        assert weights == "/".join(f"{w:g}" for w in triple)
        assert shown == f"{recall[triple]:.2f}"
        assert int(rank) == 1 + len([r for r in recall.values() if r > recall[triple]])
        assert difference == f"{recall[triple] - recall[1.0, 0.0, 0.0]:+.1f}"


def test_the_caption_names_the_setting_and_the_number_of_questions():
    html = unescape(render(entity="mentioned", normalizer="zscore", split="held-out", k=75))
    assert "Recall@75 in percent on 1,153 held-out questions" in html
    assert "names mentioned, z-score" in html
    assert "Differences without an interval." in html
    assert "383 development" in render()


@pytest.mark.parametrize(
    "changes", [{"k": 21}, {"tokenizer": "<b>"}, {"text": "x"}, {"weights": (0.85, 0.05, 0.1)}]
)
def test_what_was_not_measured_is_a_readable_line(changes):
    html = render(**changes)
    assert 'role="alert"' in html and "nothing was measured for" in html
    assert "<b>," not in html


def test_every_weighting_can_be_chosen_and_the_heaviest_dense_comes_first():
    root = widget.explore(RESULTS)
    row = next(c for c in root.children if c.description == "dense/BM25/entity")
    assert isinstance(row, ipywidgets.Dropdown) and len(row.options) == 66
    assert row.options[0] == ("1/0/0", (1.0, 0.0, 0.0))
    assert row.value == (0.8, 0.1, 0.1)
    row.value = (0.5, 0.4, 0.1)
    assert table(root.children[-1].value)[0][1] == "0.5/0.4/0.1"
