"""Where the playground's cards come from, and that a bad file is refused whole."""

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
        (b"", "mine.csv: empty"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_bad_file_is_told_by_row_and_column_before_anything_is_embedded(
    content: bytes, said: str
) -> None:
    with pytest.raises(CardError, match=said):
        shelf.own("mine.csv", content, COURSE_NOW, no_vectors)


@pytest.mark.parametrize("name", ["", "..", "/", "a/b/../.."])
def test_a_file_s_name_leads_nowhere_else(name: str) -> None:
    assert shelf.own(name, GOOD, COURSE_NOW, shelf.bundled().embed).name == "cards.csv"


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
