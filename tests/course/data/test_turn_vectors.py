"""Vectors of turns and questions: made once, kept by what they are of, never half-written."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from course.data.dialogue import Conversation, Question, Turn
from course.data.turn_vectors import cached_vectors
from memlib.embedders.protocol import EmbedderUnavailable, Role, Vectors


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class Counting:
    """An embedder that never gives the same vector twice, so a kept vector cannot be a new one."""

    dim = 2

    def __init__(self, name: str = "counting") -> None:
        self.id = name
        self.asked: list[tuple[Role, list[str]]] = []
        self.made = 0

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        self.asked.append((role, list(texts)))
        angle = np.arange(self.made, self.made + len(texts)) / 10
        self.made += len(texts)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


class Broken(Counting):
    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        raise EmbedderUnavailable("no model: install one")


TALK = Conversation(
    "talk",
    ("Ida", "Max"),
    (Turn("D1:1", "Ida", "Hi.", ""), Turn("D1:2", "Max", "Look!", "a red kite")),
    (Question("Who flies?", "Max", 1, (1,), ()),),
)


def test_turns_are_documents_in_their_variant_and_questions_are_queries() -> None:
    model = Counting()
    turns, questions = cached_vectors(TALK, "sc", model, None)
    texts = ["Ida: Hi.", "Max: Look! [shares a photo: a red kite]"]
    assert model.asked == [("document", texts), ("query", ["Who flies?"])]
    assert turns.shape == (2, 2) and questions.shape == (1, 2)


def test_turns_may_be_embedded_with_their_neighbours_of_the_same_part(tmp_path: Path) -> None:
    later = Turn("D2:1", "Ida", "Bye.", "")
    talk = TALK._replace(turns=(*TALK.turns, later))
    model = Counting()
    turns, questions = cached_vectors(talk, "s", model, tmp_path, neighbours=1)
    both = "Ida: Hi.\nMax: Look!"
    assert model.asked == [("document", [both, both, "Ida: Bye."]), ("query", ["Who flies?"])]
    assert turns.shape == (3, 2) and questions.shape == (1, 2)
    kept = cached_vectors(talk, "s", Broken(), tmp_path, neighbours=1)
    assert [part.tobytes() for part in kept] == [turns.tobytes(), questions.tobytes()]


def test_vectors_with_neighbours_are_kept_apart_from_those_without(tmp_path: Path) -> None:
    alone = cached_vectors(TALK, "t", Counting(), tmp_path, neighbours=0)
    model = Counting()
    cached_vectors(TALK, "t", model, tmp_path, neighbours=1)
    assert model.asked[0] == ("document", ["Hi.\nLook!"] * 2)
    assert len(names(tmp_path)) == 2
    again = cached_vectors(TALK, "t", Broken(), tmp_path)
    assert again[0].tobytes() == alone[0].tobytes()


def test_a_negative_number_of_neighbours_is_refused_before_anything_is_embedded() -> None:
    model = Counting()
    with pytest.raises(ValueError, match=r"^before is -1: must be a whole number, 0 or more$"):
        cached_vectors(TALK, "t", model, None, neighbours=-1)
    assert model.asked == []


def test_vectors_are_kept_by_texts_and_embedder(tmp_path: Path) -> None:
    first = cached_vectors(TALK, "t", Counting(), tmp_path)
    again = cached_vectors(TALK._replace(id="other"), "t", Broken(), tmp_path)
    assert [part.tobytes() for part in again] == [part.tobytes() for part in first]
    assert again[0].dtype == np.float32
    for other in (TALK, TALK._replace(questions=()), TALK._replace(turns=TALK.turns[:1])):
        model = Counting("another" if other is TALK else "counting")
        cached_vectors(other, "t", model, tmp_path)
        assert len(model.asked) == 2
    for variant in ("s", "c", "sc"):
        model = Counting()
        cached_vectors(TALK, variant, model, tmp_path)
        assert len(model.asked) == 2
    assert len(names(tmp_path)) == 7
    assert all(name.startswith("vectors-") and ".part" not in name for name in names(tmp_path))


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = Counting()
    for _ in range(2):
        cached_vectors(TALK, "t", model, None)
    assert len(model.asked) == 4
    assert names(tmp_path) == []


def test_an_embedder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"^no model"):
        cached_vectors(TALK, "t", Broken(), tmp_path)
    assert names(tmp_path) == []
