"""Where the playground's cards come from, and that a bad file is refused whole."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from memlib.show import shelf
from memlib.sources.cards import COURSE_NOW, CardError, load_cards
from memlib.sources.embedders import Recorded, Vectors

GOOD = shelf.TEMPLATE.encode()


def no_vectors(texts: object) -> Vectors:
    raise AssertionError("nothing may be embedded before the whole file is checked")


def test_maya_and_the_dialogue_are_ready() -> None:
    maya, dialogue = shelf.maya(), shelf.dialogue()
    assert (maya.now, len(maya.cards)) == (COURSE_NOW, 208)
    assert list(dialogue.cards.columns) == list(load_cards().columns)
    assert dialogue.cards["created_at"].dtype == load_cards()["created_at"].dtype
    assert dialogue.cards.loc["D7:34", "text"] == "Jonas: Good night, Tove. Mind your step!"
    assert dialogue.now == dialogue.cards["created_at"].max()
    for held in (maya, dialogue):
        assert held.vectors.shape == (len(held.cards), 384)
    assert maya.fingerprint != dialogue.fingerprint


def test_one_s_own_file_is_as_of_its_newest_time() -> None:
    found = shelf.own("folder\\mine.csv", GOOD, COURSE_NOW, shelf.bundled().embed)
    assert (found.name, list(found.cards.index)) == ("mine.csv", ["tea", "trip"])
    assert found.now.isoformat() == "2025-06-01T18:30:00+00:00"
    assert "load_cards(Path('mine.csv'), now), choose(\"bundled\")" in found.code


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD.replace(b",7,", b",11,"), "mine.csv row 3, column 'importance': '11' is no rating"),
        (GOOD.replace(b"2025-06-01T18:30Z", b"soon"), "row 3, column 'created_at': 'soon' is no"),
        (GOOD.replace(b"2025-06-01", b"2025-07-01"), "row 3.*in the future"),
        (GOOD.replace(b"id,text", b"id,words"), "column 'text' is missing"),
        (GOOD.replace(b"Oslo:place", b"Oslo"), "row 3, column 'entities'"),
        (b"", "^mine.csv: empty"),
        (b"PK\x03\x04", "^mine.csv: this is an Excel file"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_bad_file_is_told_by_row_and_column_before_anything_is_embedded(
    content: bytes, said: str
) -> None:
    with pytest.raises(CardError, match=said):
        shelf.own("mine.csv", content, COURSE_NOW, no_vectors)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        *(("", "cards.csv"), ("..", "cards.csv"), ("../../up.csv", "/../up.csv")),
        *(("<b>x</b>.csv", "<b>x</b>.csv"), ("x" * 300, "x" * 300), ("a\0b.csv", "a\0b.csv")),
    ],
)
def test_a_file_s_name_is_shown_and_never_opened(
    name: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a" / "b"))
    assert shelf.own(name, GOOD, COURSE_NOW, shelf.bundled().embed).name == shown
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "b"]
    with pytest.raises(CardError) as caught:
        shelf.own(name, b"", COURSE_NOW, no_vectors)
    assert str(caught.value).startswith(f"{shown}: empty")


@pytest.mark.parametrize("name", [shelf.MAYA, shelf.DIALOGUE])
def test_a_file_called_like_the_course_s_cards_has_a_name_of_its_own(name: str) -> None:
    found = shelf.own(name, GOOD, COURSE_NOW, shelf.bundled().embed)
    assert found.name == f"{name} (your file)" and repr(name) in found.code


def many(cards: int) -> bytes:
    rows = "".join(f"c{i},Card {i}.,2025-05-02T09:00Z\n" for i in range(cards))
    return f"id,text,created_at\n{rows}".encode()


def test_more_cards_than_can_be_waited_for_are_refused_before_anything_is_embedded() -> None:
    assert shelf.MOST_CARDS == 20_000
    said = r"^mine\.csv: 20,001 cards, the playground takes 20,000 at most$"
    with pytest.raises(CardError, match=said):
        shelf.own("mine.csv", many(20_001), COURSE_NOW, no_vectors)
    nothing = np.zeros((20_000, 384), np.float32)
    assert len(shelf.own("mine.csv", many(20_000), COURSE_NOW, lambda _: nothing).cards) == 20_000


@pytest.mark.parametrize("texts", [1, 31, 32, 33, 64, 1000])
def test_the_wait_is_told_from_a_sample(texts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[int] = []
    monkeypatch.setattr(shelf, "monotonic", lambda: float(sum(embedded)))  # a second a text

    class Counting:
        def embed(self, texts: list[str]) -> None:
            embedded.append(len(texts))

    monkeypatch.setattr(shelf, "bundled", Counting)
    assert shelf.embedding_seconds(["A card."] * texts) == pytest.approx(texts)
    assert embedded[0] == 1 and sum(embedded) <= 1 + shelf.SAMPLE


def test_progress_is_told_in_steps_and_changes_no_vector() -> None:
    texts, steps = load_cards()["text"].tolist()[:20], []
    found = shelf.embed_by_steps(texts, lambda done, of: steps.append((done, of)))
    assert steps == [(0, 20), (16, 20), (20, 20)]
    np.testing.assert_array_equal(found, shelf.bundled().embed(texts))


def test_a_question_is_recorded_or_bundled() -> None:
    question = "What should I cook tonight?"
    vector, by = shelf.embed_question(question)
    np.testing.assert_array_equal(vector, Recorded().embed([question], role="query")[0])
    assert by == "recorded" and shelf.embed_question("Is the tram late?")[1] == "bundled"
