"""What survived: measured whole on the course's dialogue, and once more on LoCoMo."""

from pathlib import Path

import pandas as pd
import pytest

from course.data.dialogue import Conversation, load_dialogue
from course.data.fetch import DataUnavailable, cache_folder
from course.data.files import data_path
from course.data.locomo import load_locomo
from course.data.recorded import choose
from course.measure import remeasure
from course.measure import survivors as measure_survivors
from course.measure.leaderboard import BASELINE, BEST, KS, METHODS, leave_one_out
from course.measure.readings import LOCOMO
from course.measure.remeasure import FILE, processor
from course.measure.survivors import (
    ALL,
    BOARD_COLUMNS,
    CATEGORIES,
    COMPARED,
    COSTS,
    FILES,
    SURVIVORS,
    TENTHS,
    Survivors,
    main,
    measure,
    measure_superseded,
    prepare,
)
from memlib.evaluation import paired_bootstrap, signs_by_group
from tests.course.measure.test_locomo import ByLetters

TALK = load_dialogue()[0]


def third(number: int) -> Conversation:
    """A third of the dialogue's questions, as a conversation of its own."""
    return TALK._replace(id=f"talk-{number}", questions=TALK.questions[number::3])


@pytest.fixture(scope="module")
def asked():
    return prepare([third(0), third(1), third(2)], ByLetters(), None)


@pytest.fixture(scope="module")
def found(asked) -> Survivors:
    return measure(asked[:2], asked[2:])


def test_every_method_is_on_the_board_for_every_k_and_kind_of_question(found: Survivors) -> None:
    board = found.board
    assert tuple(board.columns) == BOARD_COLUMNS
    keys = ["method", "split", "questions", "k"]
    assert board.set_index(keys).index.is_unique
    assert len(board) == len(METHODS) * 2 * (1 + len(CATEGORIES)) * len(KS)
    assert board["recall"].between(0, 100).all()
    assert not board.isna().any().any()


def test_a_row_says_what_its_recalls_say(found: Survivors, asked) -> None:
    by_name = {method.name: method for method in METHODS}
    base, best = (leave_one_out(by_name[name], asked[:2]).recalls for name in (BASELINE, BEST))
    row = found.board.set_index(["method", "split", "questions", "k"]).loc[
        (BEST, "development", ALL, 20)
    ]
    groups = [c[0].ready.conversation.id for c in asked[:2] for _ in c]
    assert row["recall"] == round(best[:, 1].mean(), 2)
    spread = paired_bootstrap(base[:, 1], best[:, 1])
    assert row[["difference", "low", "high"]].tolist() == [round(x, 2) for x in spread]
    assert tuple(row[["better", "equal", "worse"]]) == signs_by_group(
        base[:, 1], best[:, 1], groups
    )
    assert row["n"] == len(base) == len(groups)


def test_kinds_of_question_add_up_to_all(found: Survivors) -> None:
    board = found.board[found.board["k"] == 20]
    for _, rows in board.groupby(["method", "split"]):
        parts, whole = rows[rows["questions"] != ALL], rows[rows["questions"] == ALL]
        assert parts["n"].sum() == whole["n"].item()
        mean = (parts["n"] * parts["recall"]).sum() / parts["n"].sum()
        assert mean == pytest.approx(whole["recall"].item(), abs=0.01)


def test_without_held_out_conversations_none_is_told_of(asked) -> None:
    assert set(measure(asked[:2]).board["split"]) == {"development"}


def test_weights_are_those_without_the_conversation_left_out(found: Survivors) -> None:
    best = found.weights[found.weights["method"] == BEST]
    assert set(best["left_out"]) == {"talk-0", "talk-1", "all"}
    assert (best.loc[best["part"] == "similarity", "weight"].abs() == 1).all()


def test_tenths_of_the_conversation_hold_all_the_evidence(found: Survivors) -> None:
    assert found.ages["tenth"].tolist() == list(range(1, TENTHS + 1))
    assert found.ages["evidence"].sum() == pytest.approx(100, abs=0.5)
    assert found.ages["recency"].is_monotonic_decreasing
    assert found.ages["recency"].between(0, 1).all()


def test_dissected_points_are_weight_times_value(found: Survivors) -> None:
    table = found.dissected
    assert 1 <= table.groupby(["conversation", "question"]).ngroups <= 3
    chosen = found.weights[found.weights["method"] == BEST]
    weight = chosen.set_index(["left_out", "part"])["weight"]
    for row in table.itertuples():
        expected = weight[row.conversation, row.part] * row.value
        assert row.points == pytest.approx(expected, abs=0.02 + 0.01 * abs(expected))


def test_a_step_is_the_difference_between_two_rows_of_the_board(found: Survivors) -> None:
    board = found.board[found.board["questions"] == ALL]
    recall = board.set_index(["method", "split", "k"])["recall"]
    assert set(found.steps["method"]) == set(board["method"][board["family"] != "documents"]) - {
        "learned sum of three"
    }
    for row in found.steps.itertuples():
        gap = recall[row.method, row.split, row.k] - recall[row.over, row.split, row.k]
        assert row.difference == pytest.approx(gap, abs=0.011)
        assert row.low <= row.difference <= row.high
        assert row.better + row.equal + row.worse == (2 if row.split == "development" else 1)


def test_costs_are_told_for_every_method(found: Survivors) -> None:
    assert found.costs["method"].tolist() == [method.name for method in METHODS]
    assert (found.costs["milliseconds"] > 0).all()


# The command


@pytest.fixture
def written(found: Survivors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("course.measure.locomo.data_path", lambda name: tmp_path / name)
    monkeypatch.setattr(measure_survivors, "data_path", lambda name: tmp_path / name)
    monkeypatch.setattr(remeasure, "data_path", lambda name: tmp_path / name)
    monkeypatch.setattr(measure_survivors, "cache_folder", lambda: None)
    monkeypatch.setattr(measure_survivors, "load_locomo", lambda: ((), ()))
    monkeypatch.setattr(measure_survivors, "prepare", lambda *_: [])
    monkeypatch.setattr(measure_survivors, "measure", lambda *_: found)
    monkeypatch.setattr(measure_survivors, "measure_superseded", lambda *_: found.ages)
    return tmp_path


def test_the_command_writes_the_tables_and_says_what_differs(
    written: Path, found: Survivors, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main() == 0
    told, where = capsys.readouterr().out.splitlines()
    assert told.endswith(f"rows; {', '.join(COMPARED)} changed")
    assert where.startswith(f"measured on {processor()}, before on an unknown processor: ")
    assert sorted(path.name for path in written.iterdir()) == sorted((*FILES, FILE))
    (written / COSTS).write_text("another machine\n", encoding="utf-8")
    assert main() == 0
    assert capsys.readouterr().out == (
        f"{len(METHODS)} methods, {len(found.board):,} rows; nothing differs\n"
        f"measured on {processor()}, as before\n"
    )


def test_on_another_processor_a_turned_verdict_is_told_and_what_agrees_stays(
    written: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main()
    monkeypatch.setattr(remeasure, "processor", lambda: "riscv64 with nothing")
    before = {path.name: path.read_bytes() for path in written.iterdir()}
    main()
    assert capsys.readouterr().out.endswith("stay: within 0.1 points and no verdict turned\n")
    assert {path.name: path.read_bytes() for path in written.iterdir()} == before
    board = pd.read_csv(written / FILES[0], encoding="utf-8")
    row = board.index[board["method"] == BASELINE][0]  # its difference to itself is 0
    board.loc[row, ["difference", "low", "high"]] = [0.02, 0.01, 0.03]
    board.to_csv(written / FILES[0], index=False, encoding="utf-8")
    main()
    told = f"{FILES[0]}: 1 verdict turned, the first from 'better' to 'within noise' (row {row})\n"
    assert capsys.readouterr().out.endswith(told)
    assert remeasure.measured_on(SURVIVORS) == "riscv64 with nothing"


# What is committed


BOARD = pd.read_csv(data_path("survivors.csv"), encoding="utf-8")
LOOKS = pd.read_csv(data_path("heldout_looks.csv"), encoding="utf-8", dtype={"commit": str})
STEPS = pd.read_csv(data_path("survivors_steps.csv"), encoding="utf-8")
CHANGING = pd.read_csv(data_path("superseded_results.csv"), encoding="utf-8")


def test_every_reading_of_the_held_out_conversations_is_a_row_of_the_looks() -> None:
    assert LOOKS["commit"].str.fullmatch("[0-9a-f]{7,40}").all()
    read = BOARD[(BOARD["split"] == "held-out")]
    shown = read[(read["k"] == 20) & (read["questions"] == ALL)].set_index("method")["recall"]
    mine = LOOKS.set_index("stack")["recall_at_20"]
    assert mine.loc[shown.index].to_dict() == shown.to_dict()
    fusion = pd.read_csv(data_path("locomo_results.csv"), encoding="utf-8")
    contrasts = pd.read_csv(data_path("locomo_contrasts.csv"), encoding="utf-8")
    tables = (BOARD, STEPS, fusion, contrasts)
    figures = sum((table["split"] == "held-out").sum() for table in tables)
    later = pd.read_csv(data_path("realtalk_results.csv"), encoding="utf-8")
    values = later.drop_duplicates(["reading", "method", "measure"])
    before = values["measure"].isin([f"recall@{k}" for k in KS]) & (values["reading"] == LOCOMO)
    before &= values["method"].isin(BOARD["method"])
    cards = pd.read_csv(data_path("realmem_results.csv"), encoding="utf-8")
    figures += len(values) - before.sum() + len(later) + len(cards)
    figures += (cards["verdict"] != "baseline").sum()
    assert LOOKS["figures"].sum() == figures


def test_the_board_is_that_of_the_methods_in_the_code() -> None:
    assert list(dict.fromkeys(BOARD["method"])) == [method.name for method in METHODS]
    assert set(BOARD["split"]) == {"development", "held-out"}
    whole = BOARD[BOARD["questions"] == ALL]
    assert whole.groupby("split")["n"].unique().map(list).to_dict() == {
        "development": [383],
        "held-out": [1153],
    }


def test_the_reference_points_are_those_of_the_fusion_experiment() -> None:
    at = BOARD[(BOARD["k"] == 20) & (BOARD["questions"] == ALL)]
    recall = at.set_index(["method", "split"])["recall"]
    assert recall["similarity alone", "development"] == pytest.approx(61.8, abs=0.5)
    assert recall["similarity alone", "held-out"] == pytest.approx(52.3, abs=0.5)
    assert recall["BM25", "held-out"] == pytest.approx(67.6, abs=0.5)
    assert recall[BASELINE, "held-out"] == 70.7  # chapter 07's, chosen on all of development


def test_changing_facts_are_measured_again_and_all_thirds_are_told() -> None:
    again = measure_superseded(choose("recorded"))
    pd.testing.assert_frame_equal(again, CHANGING)
    assert CHANGING.groupby("third")["n"].first().to_dict() == {
        "all": 72,
        "current": 24,
        "past": 24,
        "undated": 24,
    }


@pytest.mark.slow
def test_what_survived_is_measured_again_on_locomo() -> None:
    try:
        splits = load_locomo(download=False)
    except DataUnavailable as missing:
        pytest.skip(str(missing))
    embedder, folder = choose("bundled"), cache_folder()
    again = measure(*(prepare(split, embedder, folder) for split in splits))
    assert remeasure.disagreements(FILES[:5], again[:5]) == []
