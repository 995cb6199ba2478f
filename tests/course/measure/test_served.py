"""What a librarian serves: chosen on five persons, looked at on seven others, as committed."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from course.data.fetch import DataUnavailable
from course.data.files import data_path
from course.measure import remeasure, served
from course.measure.people import (
    BASELINE,
    CANDIDATES,
    KS,
    Person,
    Wish,
    bare,
    best,
    leave_a_person_out,
)
from course.measure.served import (
    COLUMNS,
    DEFAULT,
    FILES,
    against_baseline,
    by_person,
    person_means,
)
from memlib.evaluation import grouped_difference
from memlib.retrieval import PRESETS

DAY = datetime(2025, 12, 15, tzinfo=UTC)
MEANS = pd.read_csv(data_path(FILES[0]), encoding="utf-8")


def person(name: str, questions: int) -> Person:
    cards = bare(pd.DataFrame({"text": ["tea"], "created_at": [DAY]}, index=["a"]))
    wishes = (Wish("Tea?", (0,), 1, DAY),) * questions
    unit = np.float32([[1, 0]])
    return Person(name, cards, unit, wishes, np.repeat(unit, questions, axis=0))


def test_each_person_counts_once_whatever_the_number_of_questions() -> None:
    people = [person("Ida", 2), person("Max", 1)]
    found = [np.zeros((one, len(CANDIDATES), len(KS))) for one in (2, 1)]
    found[0][:, 1, :3], found[1][:, 0, :3] = [[30, 60, 90], [0, 0, 0]], 60
    means = person_means(people, found)
    assert len(means) == 2 * len(CANDIDATES) * len(KS)
    table = by_person(means)
    assert list(table.index) == ["Ida", "Max"] and list(table) == list(CANDIDATES)
    assert table.iloc[:, :2].to_numpy().tolist() == [[0.0, 30.0], [60.0, 0.0]]


def test_the_board_tells_differences_by_person_and_corrects_for_the_number_of_rankings() -> None:
    people = [person(name, 2) for name in "abcdef"]
    gain = np.array([3.0, 4.0, 5.0, 4.0, 3.0, 5.0])
    found = [np.zeros((2, 3, len(KS))) for _ in people]
    for values, points in zip(found, gain, strict=True):
        values[:, 1, :] = [[points - 1], [points + 1]]
        values[:, 2, :] = [[7.0], [-7.0]]
    board = against_baseline(people, found, [BASELINE, "sum", "noise"])
    assert list(board) == list(COLUMNS) and len(board) == 3 * len(KS)
    first = board[board["k"] == KS[0]].set_index("method")
    wanted = grouped_difference([0.0] * 6, gain, range(6))
    assert first.loc["sum", "difference"] == round(wanted.mean, 2) == 4.0
    assert (first.loc["sum", "low"], first.loc["sum", "high"]) == (
        round(wanted.low, 2),
        round(wanted.high, 2),
    )
    assert first.loc["sum", "p_holm"] == round(min(1, 2 * wanted.p), 4)
    assert first["verdict"].tolist() == ["baseline", "better", "within noise"]
    assert first.loc["sum", ["better", "equal", "worse", "n"]].tolist() == [6, 0, 0, 12]


def test_the_default_is_what_was_best_over_the_five_persons() -> None:
    table = by_person(MEANS)
    assert list(table.index) == ["Maya", "Anneke", "Adeleke_Okonjo", "Ethan_Hunt", "Kenta_Tanaka"]
    assert list(table) == list(CANDIDATES)
    assert CANDIDATES[best(table)] == PRESETS[DEFAULT]
    gains = [choice.recall - choice.baseline for choice in leave_a_person_out(table)]
    assert sum(gain > 0 for gain in gains) >= 4


@pytest.mark.slow
def test_measured_again_the_choice_and_the_look_are_those_committed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    try:
        served.load_realmem(download=False)
    except DataUnavailable as missing:
        pytest.skip(str(missing))
    said: list[str] = []

    def compared(what: str, names: tuple[str, ...], new: tuple[pd.DataFrame, ...]) -> object:
        said.extend(remeasure.disagreements(names, new))
        return True, "compared"

    monkeypatch.setattr(served, "compared", compared)
    assert served.main() == 0
    assert said == []
