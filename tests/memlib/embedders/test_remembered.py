"""An embedder that remembers: each text once a role, told step by step, checked like any other."""

from collections.abc import Sequence

import numpy as np
import pytest

from memlib.embedders.protocol import EmbedderUnavailable, Role, TooLong, Vectors
from memlib.embedders.remembered import Remembered


class Lengths:
    """Puts a text's length on one axis; refuses the text "stop", as a server may half-way.

    A text of 100 letters is too long for it.
    """

    id = "lengths"
    dim = 2

    def __init__(self) -> None:
        self.asked: list[tuple[Role, str]] = []

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        if "stop" in texts:
            raise EmbedderUnavailable("the server went away: start it")
        self.asked += [(role, text) for text in texts]
        rows = np.array([[len(text), 1.0] for text in texts])
        units = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        if long := {row: text for row, text in enumerate(texts) if len(text) >= 100}:
            others = {row: unit for row, unit in enumerate(units) if row not in long}
            raise TooLong("the model reads 99 letters", long, others)
        return units


def test_a_text_is_embedded_once_a_role() -> None:
    remembered = Remembered(lengths := Lengths())
    first = remembered.embed(["a", "bb", "a"])
    again = remembered.embed(["bb", "a"])
    assert (first == again[[1, 0, 1]]).all()
    remembered.embed(["a"], role="query")
    assert lengths.asked == [("document", "a"), ("document", "bb"), ("query", "a")]
    assert (remembered.id, remembered.dim) == ("lengths", 2)


def test_many_texts_are_told_step_by_step() -> None:
    told: list[tuple[int, int]] = []
    remembered = Remembered(Lengths(), lambda done, of: told.append((done, of)))
    remembered.embed([f"a{n}" for n in range(40)])
    assert told == [(16, 40), (32, 40), (40, 40)]


def test_what_was_embedded_before_a_failure_is_kept() -> None:
    remembered = Remembered(lengths := Lengths())
    texts = [f"a{n}" for n in range(20)]
    with pytest.raises(EmbedderUnavailable, match=r"^the server went away: start it$"):
        remembered.embed([*texts, "stop"])
    remembered.embed(texts)
    assert len(lengths.asked) == 20


def test_an_over_long_text_is_told_when_all_others_are_kept() -> None:
    told: list[tuple[int, int]] = []
    remembered = Remembered(lengths := Lengths(), lambda done, of: told.append((done, of)))
    texts = [f"a{n}" for n in range(40)]
    texts[2] = texts[5] = "b" * 100
    texts[33] = "c" * 101
    with pytest.raises(TooLong) as caught:
        remembered.embed(texts)
    assert str(caught.value) == (
        f"the model reads 99 letters: shorten texts[2] (100 characters, {'b' * 30!r}),"
        f" texts[5] (100 characters, {'b' * 30!r}), texts[33] (101 characters, {'c' * 30!r})"
    )
    assert list(caught.value.vectors) == [n for n in range(40) if n not in (2, 5, 33)]
    assert told[-1] == (39, 39)
    lengths.asked.clear()
    rest = [text for text in texts if len(text) < 100]
    assert remembered.embed(rest).shape == (37, 2) and lengths.asked == []


def test_a_generator_of_texts_is_read_once_and_a_lone_text_refused() -> None:
    remembered = Remembered(Lengths())
    assert remembered.embed(text for text in ("a", "bb", "a")).shape == (3, 2)
    assert remembered.embed([]).shape == (0, 2)
    with pytest.raises(ValueError, match=r"^texts is 'abc': must be a list of texts$"):
        remembered.embed("abc")
