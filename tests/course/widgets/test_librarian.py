"""Chapter 10's widget: two configurations over a few cards whose order one can work out."""

import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from course.widgets import librarian as widget

NOW = datetime(2025, 6, 11, 18, tzinfo=UTC)
TABLE = pd.DataFrame(
    {
        "text": ["The cat is called Miso.", "Miso <b>is</b> the cat.", "The door code.", "Ink."],
        "relevance": [0.8, 0.7, 0.1, 0.2],
        "recency": [0.2, 0.2, 1.0, 1.0],
        "importance": [0.5, 0.5, 1.0, 0.0],
        "usage": [0.0, 0.0, 1.0, 0.0],
    },
    index=["miso", "copy", "door", "ink"],
)
VECTORS = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
QUESTION = "What is the cat's name?"
PREPARED = {QUESTION: widget.Prepared(TABLE, VECTORS)}
START = {"question": QUESTION} | {
    f"{side} {name}": value for side, start in widget.START.items() for name, value in start.items()
}


def render(**changes: object) -> str:
    return widget.render(START | {k.replace("_", " ", 1): v for k, v in changes.items()}, PREPARED)


def body(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", re.findall(r"<tbody>(.*?)</tbody>", html)[0])
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def test_both_lists_stand_in_the_order_of_picking_with_s_at_that_moment():
    a = [row[1] for row in body(render())]
    # 0.5*0.1 + 0.2 + 0.2 + 0.1; 0.4 + 0.04 + 0.1; 0.35 + 0.04 + 0.1 - 0.15; 0.1 + 0.2 - 0.15
    for cell, score in zip(
        a, ("0.550 The door", "0.540 The cat", "0.340 Miso", "0.150 Ink"), strict=True
    ):
        assert score in cell
    b = [row[3] for row in body(render())]
    assert "0.630 The cat" in b[0]  # 0.56 + 0.02 + 0.05


def test_the_arrow_is_the_move_of_bs_card_against_a():
    assert [row[2] for row in body(render())] == ["▲1", "▲1", "▼2", "·"]


def test_a_card_below_the_threshold_is_struck_out_and_counted():
    html = render()
    assert "<s>0.340" in html and "below the threshold" in html
    assert "Of 4 candidates A keeps 2 at its threshold" in html
    assert "A keeps 4" in render(A_threshold=0.0)


def test_what_a_side_drops_of_the_other_s_prompt_has_its_reason():
    html = render(A_threshold=1.0)
    said = html[html.index("In the prompt of B, not of A:") :]
    assert "The cat is called Miso.: S 0.540, below the threshold" in said
    same = {f"B_{name}": value for name, value in widget.START["A"].items()}
    html = render(**same)
    assert "In the prompt of B, not of A: nothing." in html
    assert "In the prompt of A, not of B: nothing." in html


def test_no_diversity_leaves_the_copy_its_whole_score():
    rows = body(render(A_diversity="none"))
    assert "0.490 Miso" in rows[2][1]


def test_text_is_escaped():
    assert "<b>is</b>" not in render() and "&lt;b&gt;is&lt;/b&gt;" in render()


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match="relevance"):
        render(A_relevance=float("nan"))
    with pytest.raises(ValueError, match="diversity"):
        render(B_diversity="chance")


@pytest.mark.parametrize("side", ["A", "B"])
def test_all_weights_zero_are_no_order_and_have_no_arrows(side):
    zero = {f"{side}_{name}": 0.0 for name in widget.PARTS}
    html = render(**zero)
    assert f"All weights of {side} are 0: its order says nothing." in html
    assert "arrow" not in html and [row[2] for row in body(html)] == [""] * 4
    other = "A" if side == "B" else "B"
    assert f"weights of {other}" not in html and "says nothing" not in render()


def test_w_duplicate_can_be_moved_only_where_it_counts():
    class Told:
        def explain(self, question, now):
            return TABLE

        class store:
            @staticmethod
            def vectors(ids):
                return VECTORS

    root = widget.explore(Told(), [QUESTION], NOW)
    by = {getattr(child, "description", ""): child for child in root.children}
    for side, other in ("AB", "BA"):
        cost, how = by[f"{side}: w_duplicate"], by[f"{side}: diversity"]
        assert not cost.disabled
        for how.value in ("mmr", "none"):
            assert cost.disabled and not by[f"{other}: w_duplicate"].disabled
        by["Reset"].click()
        assert not cost.disabled
