"""Chapter 11's widget: each row is the file's, its bar lies where its interval lies."""

import re
from html import unescape

import ipywidgets
import pytest

from course.show import survivors as show
from course.widgets import what_survived as widget
from tests.course.show.test_survivors import FAMILIES, made_board, made_costs, of

BOARD = made_board()


def render(**changes: object) -> str:
    return widget.render(widget.START | changes, BOARD)


def rows(html: str) -> list[list[str]]:
    body = re.findall(r"<tbody>(.*?)</tbody>", html)[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", body)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"method": "RRF of three", "k": 10},
        {"method": "weighted sum", "split": "held-out"},
        {"method": "similarity alone", "questions": "time", "split": "held-out"},
    ],
)
def test_each_row_is_the_file_s_with_its_rank_and_verdict(changes):
    values = widget.START | changes
    where = (values["split"], values["k"], values["questions"])
    recall = {name: of(BOARD, name, *where)["recall"] for name in FAMILIES}
    shown = rows(render(**changes))
    best = max(recall, key=recall.get)
    expected = [values["method"], best, "weighted sum", "similarity alone"]
    assert [row[1] for row in shown] == expected
    assert [row[0] for row in shown] == ["your row", "first here", "", ""]
    for (_, name, found, rank, difference, _, word, signs), _ in zip(shown, expected, strict=True):
        row = of(BOARD, name, *where)
        assert found == f"{row['recall']:.2f}"
        assert int(rank) == 1 + sum(other > recall[name] for other in recall.values())
        span = f"[{row['low']:.2f}, {row['high']:.2f}]"
        assert difference == f"{row['difference']:+.2f} {span}"
        clear = "better" if row["low"] > 0 else "worse" if row["high"] < 0 else "within noise"
        assert word == ("baseline" if name == "weighted sum" else clear)
        assert signs == f"{row['better']}/{row['equal']}/{row['worse']}"


def test_the_start_is_a_row_of_the_table_above_it():
    (line,) = (
        line
        for line in show.board_table(BOARD, made_costs(), "development", 20).splitlines()
        if line.startswith(widget.START["method"])
    )
    _, _, recall, rank, difference, _, word, signs = rows(render())[0]
    told = " ".join(line.split()).removeprefix(f"{widget.START['method']} ")
    assert told.startswith(f"{recall} {difference} {word} {signs}")
    assert rank == "1"


def test_a_row_in_words_says_its_interval_and_calls_noise_noise():
    assert (
        "10: and hubness: 14.25 points above the weighted sum, 95% interval 11.25 to 17.25: better;"
        " higher in 3 of 3 conversations, lower in 0." in render()
    )
    assert (
        "RRF of three: 1.25 points below the weighted sum, 95% interval -4.25 to 1.75:"
        " within noise; higher in 0 of 7 conversations, lower in 7."
        in render(method="RRF of three", split="held-out")
    )
    assert "every other row is compared with this one" in render(method="weighted sum")


def test_the_bar_lies_where_the_interval_lies_and_noise_is_hollow():
    drawn = widget.interval_bar(5, 0, 10, (-10, 10), "within noise")
    places = [float(x) for x in re.findall(r'(?:x1|x2|cx)="([\d.]+)"', drawn)]
    zero, _, left, right, dot = places
    assert zero == left == widget.WIDTH / 2
    assert right == widget.WIDTH - widget.EDGE
    assert dot == pytest.approx((left + right) / 2)
    solid = widget.interval_bar(5, 1, 10, (-10, 10), "better")
    assert f'fill="{widget.COLORS["better"]}"' in solid and "white" in drawn
    assert 'aria-label="+5.00, from 0.00 to 10.00, within noise"' in drawn


def test_the_caption_names_the_setting_and_warns_of_many_looks():
    html = unescape(render(questions="several turns", split="held-out", k=10))
    assert "Recall@10 in percent on 74 held-out questions (several turns), chosen" in html
    assert "one in twenty" in html


@pytest.mark.parametrize(
    "changes", [{"k": 3}, {"split": "test"}, {"questions": "<b>"}, {"method": "magic"}]
)
def test_what_was_not_measured_is_a_readable_line(changes):
    html = render(**changes)
    assert 'role="alert"' in html and "nothing was measured for" in html
    assert "'<b>'" not in html


def test_a_method_is_chosen_from_a_list():
    root = widget.explore(BOARD)
    (pick,) = (child for child in root.children if isinstance(child, ipywidgets.Select))
    assert list(pick.options) == list(FAMILIES) and pick.value == widget.START["method"]
    pick.value = "+ length"
    assert rows(root.children[-1].value)[0][1] == "+ length"


def test_the_bars_column_is_headed_by_its_scale():
    for changes in ({}, {"method": "RRF of three", "split": "held-out"}):
        values = widget.START | changes
        where = (values["split"], values["k"], values["questions"])
        shown = [of(BOARD, row[1], *where) for row in rows(render(**changes))]
        low, high = min(row["low"] for row in shown), max(row["high"] for row in shown)
        ends = [f"{end:+.2f}" if end else "0" for end in (low, high)]
        assert f">{ends[0]} to {ends[1]} points</th>" in render(**changes)
