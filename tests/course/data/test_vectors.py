"""Recording vectors: what is there keeps its bytes, what is missing is added, the rest goes."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from course.data import vectors
from course.data.files import data_path
from course.data.maya import PUBLISHED_QUESTION, load_exam, maya_cards
from course.data.recorded import Recorded, read_recorded, text_key
from course.data.vectors import course_texts, record
from memlib.cards import load_cards
from memlib.embedders.protocol import EmbedderUnavailable, Role, Vectors

A: list[tuple[Role, str]] = [("document", "Poppy"), ("document", "Daisy"), ("query", "Poppy")]


class Counting:
    """An embedder that never gives the same vector twice, so a kept row cannot be a new one."""

    id, dim = "counting", 3

    def __init__(self) -> None:
        self.asked: list[tuple[Role, str]] = []

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        self.asked += [(role, text) for text in texts]
        angle = np.arange(len(self.asked) - len(texts), len(self.asked)) / 100
        return np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1).astype(np.float32)


class Broken(Counting):
    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        raise EmbedderUnavailable("no model: install one")


REAL = data_path


def stored(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def rows(folder: Path) -> dict[str, bytes]:
    return {key: row.tobytes() for key, row in read_recorded(folder)[1].items()}


def test_what_is_missing_is_added_and_what_is_there_keeps_its_bytes(tmp_path: Path) -> None:
    model = Counting()
    assert record(A, model, tmp_path) == (3, 0, 0)
    before = rows(tmp_path)
    assert set(before) == {text_key(role, text) for role, text in A}
    assert record([*A, ("query", "Miso")], model, tmp_path) == (1, 0, 3)
    after = rows(tmp_path)
    assert {key: after[key] for key in before} == before
    assert sorted(model.asked[:3]) == sorted(A)
    assert model.asked[3:] == [("query", "Miso")]


def test_what_is_unused_is_dropped_without_asking_the_model(tmp_path: Path) -> None:
    record(A, Counting(), tmp_path)
    before = rows(tmp_path)
    assert record(A[:1], Broken(), tmp_path) == (0, 2, 1)
    key = text_key(*A[0])
    assert rows(tmp_path) == {key: before[key]}


def test_twice_changes_no_byte_whatever_the_order(tmp_path: Path) -> None:
    record(A, Counting(), tmp_path)
    before = stored(tmp_path)
    for texts in (A, A[::-1], [*A, *A]):
        assert record(texts, Broken(), tmp_path) == (0, 0, 3)
        assert stored(tmp_path) == before
    assert list(before) == ["vectors.json", "vectors.npy"]


def test_the_rows_are_sorted_by_key_and_float32(tmp_path: Path) -> None:
    record(A, Counting(), tmp_path)
    about = json.loads((tmp_path / "vectors.json").read_text(encoding="utf-8"))
    assert about["keys"] == sorted(about["keys"])
    assert (about["embedder"], about["dim"]) == ("counting", 3)
    table = np.load(tmp_path / "vectors.npy")
    assert table.dtype == np.float32 and table.shape == (3, 3)


def test_no_texts_leave_an_empty_recording(tmp_path: Path) -> None:
    record(A, Counting(), tmp_path)
    assert record([], Broken(), tmp_path) == (0, 3, 0)
    assert rows(tmp_path) == {}


def test_a_model_that_fails_leaves_the_recording_as_it_was(tmp_path: Path) -> None:
    record(A, Counting(), tmp_path)
    before = stored(tmp_path)
    with pytest.raises(EmbedderUnavailable, match="no model"):
        record([*A, ("query", "Miso")], Broken(), tmp_path)
    assert stored(tmp_path) == before


def test_a_disk_that_fails_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(A, Counting(), tmp_path)
    before = stored(tmp_path)

    def full(self: Path, target: Path) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        record(A[:1], Counting(), tmp_path)
    assert stored(tmp_path) == before


def test_a_text_that_is_not_recorded_is_named_with_the_mend(tmp_path: Path) -> None:
    record(A, Counting(), tmp_path)
    said = "no vector for the query 'Daisy': add it to data/texts.csv and run `make vectors`"
    with pytest.raises(EmbedderUnavailable, match=re.escape(said)):
        Recorded(tmp_path).embed(["Poppy", "Daisy"], "query")


def test_the_course_texts_are_the_cards_the_questions_and_the_list() -> None:
    texts = course_texts()
    assert len(texts) == len(set(texts))
    for cards, questions in vectors.BOXES:
        told = set(load_cards(data_path(cards))["text"])
        asked = set(load_exam(data_path(questions))["question"])
        assert {("document", text) for text in told} <= set(texts), cards
        assert {("query", text) for text in asked} <= set(texts), questions
    assert {("document", text) for text in maya_cards()["text"]} <= set(texts)
    assert {("query", question) for question in load_exam()["question"]} <= set(texts)
    assert {("query", PUBLISHED_QUESTION), ("document", "Poppy")} <= set(texts)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("passage,Poppy,01_x", "texts.csv row 3: role is 'passage': must be 'query' or 'document'"),
        ("query, ,01_x", "texts.csv row 3: texts[0] is ' ': a text must not be empty"),
    ],
)
def test_a_bad_row_of_the_list_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    own = tmp_path / "texts.csv"
    own.write_text(f"role,text,used_in\ndocument,Daisy,01_x\n{line}\n", encoding="utf-8")
    monkeypatch.setattr(vectors, "data_path", lambda name: own if name == own.name else REAL(name))
    with pytest.raises(ValueError, match=re.escape(said)):
        course_texts()


def test_make_vectors_on_an_unchanged_course_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("texts.csv", "vectors.npy", "vectors.json")
    for name in names:
        (tmp_path / name).write_bytes(data_path(name).read_bytes())
    before = stored(tmp_path)
    there = {name: tmp_path / name for name in names}
    monkeypatch.setattr(vectors, "data_path", lambda name: there.get(name) or REAL(name))
    vectors.main()
    n = len(course_texts())
    assert capsys.readouterr().out == f"{n} texts: 0 added, 0 dropped, {n} kept\n"
    assert stored(tmp_path) == before
