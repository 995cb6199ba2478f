"""Where the playground's cards come from, and that a bad file is refused whole."""

import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from course.data.maya import COURSE_NOW, maya_cards
from course.playground import shelf
from memlib.cards import CardError
from memlib.store.sqlite import Store
from tests.notebooks.refresh import ROOT

GOOD = shelf.TEMPLATE.encode()
EARLY = datetime(2025, 5, 20, tzinfo=UTC)


def test_maya_and_the_dialogue_are_ready() -> None:
    maya, dialogue = shelf.maya(), shelf.dialogue()
    assert (maya.now, len(maya.cards)) == (COURSE_NOW, 208)
    assert list(dialogue.cards.columns) == list(maya_cards().columns)
    assert dialogue.cards["created_at"].dtype == maya_cards()["created_at"].dtype
    assert dialogue.cards.loc["D7:34", "text"] == "Jonas: Good night, Tove. Mind your step!"
    assert dialogue.now == dialogue.cards["created_at"].max()
    assert {maya.vectors, dialogue.vectors} == {"recorded"}
    assert maya.fingerprint != dialogue.fingerprint


def test_one_s_own_file_is_as_of_its_newest_time() -> None:
    found = shelf.own("folder\\mine.csv", GOOD, COURSE_NOW)
    assert (found.name, list(found.cards.index)) == ("mine.csv", ["tea", "trip"])
    assert found.now.isoformat() == "2025-06-01T18:30:00+00:00"
    assert (found.code, found.vectors) == ("cards = load_cards(Path('mine.csv'), now)", "bundled")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD.replace(b",7,", b",11,"), "mine.csv row 3, column 'importance': '11' is no rating"),
        (GOOD.replace(b"2025-06-01T18:30Z", b"soon"), "row 3, column 'created_at': 'soon' is no"),
        (GOOD.replace(b"2025-06-01", b"2025-07-01"), "row 3.*in the future"),
        (GOOD.replace(b"id,text", b"id,words"), "columns missing: text; unknown: 'words'"),
        (GOOD.replace(b"Oslo:place", b"Oslo"), "row 3, column 'entities'"),
        (b"", "^mine.csv: empty"),
        (b"PK\x03\x04", "^mine.csv: this is an Excel file"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_bad_file_is_told_by_row_and_column(content: bytes, said: str) -> None:
    with pytest.raises(CardError, match=said):
        shelf.own("mine.csv", content, COURSE_NOW)


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
    assert shelf.own(name, GOOD, COURSE_NOW).name == shown
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "b"]
    with pytest.raises(CardError) as caught:
        shelf.own(name, b"", COURSE_NOW)
    assert str(caught.value).startswith(f"{shown}: empty")


@pytest.mark.parametrize("name", [shelf.MAYA, shelf.DIALOGUE])
def test_a_file_called_like_the_course_s_cards_has_a_name_of_its_own(name: str) -> None:
    found = shelf.own(name, GOOD, COURSE_NOW)
    assert found.name == f"{name} (your file)" and repr(name) in found.code


def many(cards: int) -> bytes:
    rows = "".join(f"c{i},Card {i}.,2025-05-02T09:00Z\n" for i in range(cards))
    return f"id,text,created_at\n{rows}".encode()


def test_more_cards_than_can_be_waited_for_are_refused() -> None:
    assert shelf.MOST_CARDS == 20_000
    said = r"^mine\.csv: 20,001 cards, the playground takes 20,000 at most$"
    with pytest.raises(CardError, match=said):
        shelf.own("mine.csv", many(20_001), COURSE_NOW)
    assert len(shelf.own("mine.csv", many(20_000), COURSE_NOW).cards) == 20_000


def test_a_file_that_is_too_large_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "MOST_MB", 1)
    assert len(shelf.own("mine.csv", GOOD.ljust(1_000_000, b"\n"), COURSE_NOW).cards) == 2
    with pytest.raises(CardError, match=r"^mine\.csv: 1\.1 MB, the playground takes 1 MB at most$"):
        shelf.own("mine.csv", b"\xff" * 1_100_000, COURSE_NOW)


def test_as_many_cards_as_are_taken_fit_into_a_file_as_they_are_exported(tmp_path: Path) -> None:
    cards, file = maya_cards(), tmp_path / "out.csv"
    vectors = np.random.default_rng(0).normal(size=(len(cards), 1024)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with Store(tmp_path / "cards.db") as store:
        store.add_many(cards, vectors, "ollama:mxbai-embed-large", COURSE_NOW)
        store.export_csv(file)
    a_card = file.stat().st_size / len(cards)
    assert a_card > 5_000  # the vectors are in it
    assert shelf.MOST_CARDS * a_card < shelf.MOST_MB * 1e6


def test_both_servers_let_such_a_file_pass() -> None:
    told = (ROOT / "Makefile").read_text(encoding="utf-8")
    (limit,) = re.findall(r'^UPLOADS := \{"websocket_max_message_size": (\d+)\}$', told, re.M)
    assert int(limit) > shelf.MOST_MB * 1e6 + 1e6  # and what a message says of its file
    for trait in ("Voila.tornado_settings", "ServerApp.tornado_settings"):
        assert told.count(f"--{trait}='$(UPLOADS)'") == 1


def test_a_card_of_a_later_time_is_told_by_its_id() -> None:
    cards = maya_cards()
    assert shelf.too_new(cards, COURSE_NOW) == ""
    said = shelf.too_new(cards, COURSE_NOW - timedelta(hours=1, minutes=10))
    assert said == "card printer: last_accessed_at is 2025-06-11 17:00+00:00"
    said = shelf.too_new(shelf.own("mine.csv", GOOD, COURSE_NOW).cards, EARLY)
    assert said == "card trip: created_at is 2025-06-01 18:30+00:00"


def test_what_the_cards_hold_is_told_in_a_line() -> None:
    found = shelf.own("mine.csv", GOOD, COURSE_NOW)
    assert shelf.facts(found.cards) == (
        "2 cards, written 2025-05-02 to 2025-06-01; 0 accessed again, 2 rated, 2 with names."
    )
    assert shelf.facts(found.cards.head(1)).startswith("1 card, written 2025-05-02 to 2025-05-02;")
