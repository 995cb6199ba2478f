"""Two readings side by side: every number of the picture is in its sentence and in the file."""

import pandas as pd
import pytest

from course.data.files import data_path
from course.measure.readings import FIRST, LOCOMO, REALTALK
from course.measure.served import by_person
from course.show import readings as show

RESULTS = pd.read_csv(data_path("realtalk_results.csv"), encoding="utf-8")
CARDS = pd.read_csv(data_path("realmem_results.csv"), encoding="utf-8")
MEANS = by_person(pd.read_csv(data_path("people_results.csv"), encoding="utf-8"))
METHODS = ["BM25", "weighted sum", "newest first"]


def row(reading: str, method: str, over: str = FIRST) -> "pd.Series[object]":
    key = RESULTS.set_index(["reading", "method", "over", "measure"])
    found = key.loc[(reading, method, over, "recall@20")]
    assert isinstance(found, pd.Series)
    return found


def test_each_panel_draws_its_reading_and_fills_what_the_rule_calls_clear() -> None:
    picture = show.side_by_side(RESULTS, METHODS)
    for ax, reading in zip(picture.figure.axes, (LOCOMO, REALTALK), strict=True):
        dots = [line for line in ax.lines if line.get_marker() in "^vo"]
        for dot, name in zip(dots, METHODS, strict=True):
            found = row(reading, name)
            assert dot.get_xdata()[0] == found["difference"]
            hollow = dot.get_markerfacecolor() == "white"
            assert hollow == (found["verdict"] == "within noise")
        for text in ax.texts:
            assert text.get_text() in picture.sentence
        assert ax.get_title(loc="left") in picture.sentence
    assert "REALTALK: 705 questions, 10 conversations" in picture.sentence


def test_a_method_that_was_not_compared_is_told() -> None:
    with pytest.raises(ValueError, match="nothing was measured for method 'luck'"):
        show.side_by_side(RESULTS, ["luck"])


def test_the_table_tells_value_difference_signs_and_verdict() -> None:
    table = show.both(RESULTS, ["BM25", "weighted sum"], FIRST)
    found = row(REALTALK, "BM25")
    said = f"{found['difference']:+.1f} [{found['low']:.1f}, {found['high']:.1f}]"
    assert f"{said} {found['better']}:{found['worse']} ~" in table.splitlines()[1]
    assert len(table.splitlines()) == 3 and max(map(len, table.splitlines())) <= 100


def test_cards_go_best_first() -> None:
    lines = show.on_cards(CARDS, 3).splitlines()
    rows = CARDS[CARDS["k"] == 3].sort_values("recall", ascending=False, kind="stable")
    assert [line.rstrip().endswith("=") for line in lines].count(True) == 1
    for line, (_, found) in zip(lines[1:], rows.iterrows(), strict=True):
        assert line.startswith(str(found["method"])) and f"{found['recall']:.1f}" in line


def test_persons_are_columns_and_the_last_is_their_mean() -> None:
    table = show.person_table(MEANS, ["similarity", "server"]).splitlines()
    assert table[0].split() == ["ranking", "Maya", "Anneke", "Adeleke", "Ethan", "Kenta", "mean"]
    assert table[1].split()[-1] == f"{MEANS['similarity'].mean():.1f}"
