"""Measured again: what may move on another processor, and what may not."""

import platform
from pathlib import Path

import pandas as pd
import pytest

from course.measure import remeasure
from course.measure.remeasure import FILE, TOLERANCE, disagreement, disagreements, noted, processor

OLD = pd.DataFrame(
    {
        "method": ["BM25", "strength"],
        "k": [10, 20],
        "recall": [67.6, 52.3],
        "low": [0.02, -3.0],
        "high": [1.2, -0.3],
        "better": [2, 0],
        "chosen": ["1/0/0", None],
        "rank_sum": [4, 7],
    }
)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"recall": [67.7, 52.2]},
        {"low": [0.01, -3.0]},
        {"better": [1, 1], "chosen": ["0.9/0.1/0", None], "rank_sum": [6, 6]},
    ],
)
def test_last_digits_say_the_same(change: dict[str, list[object]]) -> None:
    assert disagreement(OLD.assign(**change), OLD) == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"recall": [67.6, 52.41]}, "recall moved by 0.11 points"),
        ({"recall": [67.6, None]}, "recall moved by 0.00 points"),
        ({"method": ["BM25", "age"]}, "method is another"),
        ({"k": [10, 21]}, "k is another"),
        (
            {"low": [0.0, -3.0]},
            "1 verdict turned, the first from 'better' to 'within noise' (row 0)",
        ),
        (
            {"low": [0.0, -3.0], "high": [1.2, -0.22]},
            "1 verdict turned, the first from 'better' to 'within noise' (row 0)",
        ),
        ({"new": [1, 2]}, "other rows or columns were measured"),
    ],
)
def test_more_is_another_finding(change: dict[str, list[object]], why: str) -> None:
    assert disagreement(OLD.assign(**change), OLD) == why


def test_fewer_rows_are_another_finding() -> None:
    assert disagreement(OLD[:1], OLD) == "other rows or columns were measured"


def test_a_turned_sign_is_a_turned_verdict_whatever_is_allowed() -> None:
    turned = OLD.assign(low=[-3.0, 0.3], high=[-0.02, 3.0])
    said = "2 verdicts turned, the first from 'better' to 'worse' (row 0)"
    assert disagreement(turned, OLD, tolerance=10) == said


def test_a_missing_or_broken_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remeasure, "data_path", lambda name: tmp_path / name)
    OLD.to_csv(tmp_path / "good.csv", index=False)
    (tmp_path / "empty.csv").touch()
    none = "nothing that can be compared was committed before"
    told = disagreements(["good.csv", "empty.csv", "gone.csv"], [OLD] * 3)
    assert told == [f"empty.csv: {none}", f"gone.csv: {none}"]


def test_the_processor_is_noted_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remeasure, "data_path", lambda name: tmp_path / name)
    assert remeasure.measured_on("a") == "an unknown processor"
    noted("a").to_csv(tmp_path / FILE, index=False)
    monkeypatch.setattr(remeasure, "processor", lambda: "another")
    noted("b").to_csv(tmp_path / FILE, index=False)
    assert (remeasure.measured_on("a"), remeasure.measured_on("b")) == (processor(), "another")
    assert processor().startswith(platform.machine()) and TOLERANCE == 0.1
