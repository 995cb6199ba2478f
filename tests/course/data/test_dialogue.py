"""Dialogues: LoCoMo's schema, turns in order, texts in four variants, evidence as it is written."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data import dialogue
from course.data.dialogue import (
    ADVERSARIAL,
    VARIANTS,
    DialogueError,
    Turn,
    load_dialogue,
    parse_evidence,
    turn_text,
)
from course.data.files import data_path

ROWS = {"D1:1": 0, "D1:2": 1, "D2:1": 2, "D8:6": 3, "D9:17": 4, "D30:5": 5}


NOON = "12:00 pm on 1 May, 2023"


def said(name: str, text: str = "Hello.", speaker: str = "Ida", **more: str) -> dict[str, str]:
    return {"dia_id": name, "speaker": speaker, "text": text, **more}


def asked(question: str, *evidence: str, category: int = 1, **more: str) -> dict[str, Any]:
    return {"question": question, "evidence": list(evidence), "category": category, **more}


def sample(*questions: dict[str, Any], **parts: Any) -> dict[str, Any]:
    talk = {"speaker_a": "Ida", "speaker_b": "Max", "session_1": [said("D1:1"), said("D1:2")]}
    return {"sample_id": "talk-1", "conversation": talk | parts, "qa": list(questions)}


def write(folder: Path, *samples: Any) -> Path:
    path = folder / "talks.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    """The message of the one error, which must be one line and begin with the file."""
    with pytest.raises(DialogueError) as caught:
        load_dialogue(path)
    message = str(caught.value)
    assert "\n" not in message and message.startswith(path.name)
    return message


# Schema


def test_a_conversation_is_read_field_by_field(tmp_path: Path) -> None:
    photo = said("D1:2", "Look!", "Max", blip_caption="a red kite", img_url="no", query="kite")
    question = asked("Who flies?", "D1:2", category=4, answer="Max", adversarial_answer="Ida")
    path = write(tmp_path, sample(question, session_1=[said("D1:1"), photo]), sample())
    first, second = load_dialogue(path)
    assert (first.id, first.speakers) == ("talk-1", ("Ida", "Max"))
    assert first.turns == (
        ("D1:1", "Ida", "Hello.", "", None),
        ("D1:2", "Max", "Look!", "a red kite", None),
    )
    assert first.questions == (("Who flies?", "Max", 4, (1,), ()),)
    assert second.questions == ()


def test_an_answer_may_be_a_number_and_evidence_or_answer_may_be_missing(tmp_path: Path) -> None:
    year = {"question": "When?", "answer": 2022, "category": 2}
    path = write(tmp_path, sample(year, asked("Who?", "D1:1")))
    found = load_dialogue(path)[0].questions
    assert found == (("When?", "2022", 2, (), ()), ("Who?", "", 1, (0,), ()))


def test_questions_without_an_answer_to_find_are_left_out(tmp_path: Path) -> None:
    questions = [asked(f"q{n}", "D1:1", category=n) for n in (5, 1, 2, 5, 3, 4)]
    found = load_dialogue(write(tmp_path, sample(*questions)))[0].questions
    assert [question.text for question in found] == ["q1", "q2", "q3", "q4"]
    assert ADVERSARIAL == 5


def test_the_order_of_the_parts_is_numeric_and_dates_are_no_parts(tmp_path: Path) -> None:
    parts: dict[str, Any] = {f"session_{n}": [said(f"D{n}:1")] for n in (10, 2, 1, 11, 9)}
    parts |= {"session_2_date_time": NOON, "session_3_date_time": "no turns that day"}
    turns = load_dialogue(write(tmp_path, sample(**parts)))[0].turns
    assert [turn.id for turn in turns] == ["D1:1", "D2:1", "D9:1", "D10:1", "D11:1"]


def test_evidence_points_at_rows_of_that_order(tmp_path: Path) -> None:
    parts = {"session_10": [said("D10:1")], "session_2": [said("D2:1"), said("D2:2")]}
    found = load_dialogue(write(tmp_path, sample(asked("?", "D10:1", "D2:2", "D3:1"), **parts)))
    assert found[0].questions[0].evidence == (4, 3)
    assert found[0].questions[0].dropped == ("D3:1",)


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        ({}, "KeyError('conversation')"),
        ({"conversation": {}}, "KeyError('sample_id')"),
        ("talk", "TypeError"),
        (None, "TypeError"),
        ({"sample_id": "x", "conversation": {}}, "KeyError('qa')"),
        (sample() | {"conversation": []}, "TypeError"),
        (sample() | {"conversation": {"speaker_a": "Ida"}}, "KeyError('speaker_b')"),
        (sample() | {"qa": None}, "TypeError"),
        (sample(session_1=None), "TypeError"),
        (sample(session_1=["Hello."]), "TypeError"),
        (sample(session_1=[said("D1")]), "dia_id is 'D1': must be like D3:12"),
        (sample(session_1=[said("turn 7")]), "dia_id is 'turn 7': must be like D3:12"),
        (sample(session_1=[said("D1:1") | {"dia_id": 7}]), "TypeError"),
        (sample(session_1_date_time=2023), "TypeError"),
        (sample(session_1=[{"dia_id": "D1:1", "speaker": "Ida"}]), "KeyError('text')"),
        (sample({"question": "?", "evidence": []}), "KeyError('category')"),
        (sample({"category": 1, "evidence": []}), "KeyError('question')"),
        (sample({"question": "?", "category": "many"}), "'many'"),
        (sample({"question": "?", "category": None}), "TypeError"),
        (sample({"question": "?", "category": 1, "evidence": "D1:1"}), "evidence is the text"),
        (sample({"question": "?", "category": 1, "evidence": [7]}), "TypeError"),
    ],
)
def test_a_broken_conversation_is_told_by_its_place(
    tmp_path: Path, broken: Any, field: str
) -> None:
    message = refusal(write(tmp_path, sample(), broken))
    assert message.startswith("talks.json[1]: not in LoCoMo's schema: ")
    assert field in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read"),
        (b'[{"sample_id": "talk', "cannot be read"),
        (b'"caf\xe9"', "cannot be read"),
        (b"{}", "must be a list of conversations"),
        (b"[]", "must be a list of conversations"),
    ],
)
def test_a_file_that_is_no_list_of_conversations_is_refused(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "talks.json"
    path.write_bytes(content)
    assert reason in refusal(path)


def test_a_missing_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "none.json")
    assert "cannot be read" in refusal(tmp_path)


# Times


def told(folder: Path, text: str | None) -> datetime | None:
    (talk,) = load_dialogue(write(folder, sample(session_1_date_time=text)))
    first, second = talk.turns
    assert first.said_at == second.said_at
    return first.said_at


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1:56 pm on 8 May, 2023", (2023, 5, 8, 13, 56)),
        ("12:09 am on 13 September, 2023", (2023, 9, 13, 0, 9)),
        ("12:00 pm on 1 January, 2022", (2022, 1, 1, 12, 0)),
        ("11:59 pm on 29 February, 2024", (2024, 2, 29, 23, 59)),
        ("09:05 am on 03 December, 2022", (2022, 12, 3, 9, 5)),
    ],
)
def test_a_turn_was_said_when_its_part_began(
    tmp_path: Path, text: str, time: tuple[int, int, int, int, int]
) -> None:
    assert told(tmp_path, text) == datetime(*time, tzinfo=UTC)


def test_each_part_has_its_own_time_or_none(tmp_path: Path) -> None:
    parts: dict[str, Any] = {f"session_{n}": [said(f"D{n}:1")] for n in (1, 2, 10)}
    parts |= {"session_2_date_time": NOON, "session_10_date_time": NOON.replace("12", "1")}
    turns = load_dialogue(write(tmp_path, sample(**parts)))[0].turns
    noon = datetime(2023, 5, 1, 12, tzinfo=UTC)
    assert [turn.said_at for turn in turns] == [None, noon, noon.replace(hour=13)]
    assert [turn.session for turn in turns] == [1, 2, 10]
    assert told(tmp_path, None) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "noon", "2023-05-08T13:56Z", "1:56 pm on 8 Mai, 2023", "1:56 pm on 8 May 2023"),
        *("13:56 pm on 8 May, 2023", "0:56 pm on 8 May, 2023", "1:60 pm on 8 May, 2023"),
        *("1:56 on 8 May, 2023", "1:56 pm on 31 June, 2023", "1:56 pm on 0 June, 2023"),
        *("1:56 pm on 29 February, 2023", "1:56 pm on 8 May, 0000", " 1:56 pm on 8 May, 2023"),
    ],
)
def test_a_time_that_cannot_be_read_is_told_by_conversation_and_field(
    tmp_path: Path, text: str
) -> None:
    message = refusal(write(tmp_path, sample(), sample(session_1_date_time=text)))
    assert message.startswith("talks.json[1]: not in LoCoMo's schema: ")
    assert f"session_1_date_time is {text!r}: must be like 1:56 pm on 8 May, 2023" in message


class Foreign(datetime):
    """What strptime does with May and pm where the locale says Mai and has no pm."""

    @classmethod
    def strptime(cls, *_: str) -> "Foreign":
        raise ValueError("does not match format")


def test_no_locale_is_asked_for_a_month_or_a_half_of_the_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogue, "datetime", Foreign)
    assert told(tmp_path, NOON) == datetime(2023, 5, 1, 12, tzinfo=UTC)


@given(st.integers(1, 999), st.integers(1, 999))
def test_the_part_is_the_first_number_of_the_id(part: int, turn: int) -> None:
    assert Turn(f"D{part}:{turn}", "Ida", "Hi.", "").session == part


# Evidence


@pytest.mark.parametrize(
    ("evidence", "rows", "dropped"),
    [
        (["D1:1"], (0,), ()),
        (["D8:6; D9:17"], (3, 4), ()),
        (["D9:17 D1:1 D2:1"], (4, 0, 2), ()),
        (["D8:6,D9:17"], (3, 4), ()),
        (["D30:05"], (5,), ()),
        (["D01:002"], (1,), ()),
        (["D1:2", "D1:2", "D1:02", "D1:1"], (1, 0), ()),
        (["D1:1; D1:1"], (0,), ()),
        (["D1:2", "D", "D2:1"], (1, 2), ("D",)),
        (["D:11:26"], (), ("D:11:26",)),
        (["D4:36"], (), ("D4:36",)),
        (["D1:1; D4:036"], (0,), ("D4:36",)),
        (["D4:36", "D4:36"], (), ("D4:36", "D4:36")),
        ([""], (), ("",)),
        ([], (), ()),
        (["d1:1"], (), ("d1:1",)),
    ],
)
def test_evidence_as_locomo_writes_it(
    evidence: list[str], rows: tuple[int, ...], dropped: tuple[str, ...]
) -> None:
    assert parse_evidence(evidence, ROWS) == (rows, dropped)


def test_evidence_given_as_one_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^evidence is the text 'D1:1': give"):
        parse_evidence("D1:1", ROWS)


ids = st.tuples(st.integers(1, 3), st.integers(1, 3))


@given(st.lists(st.lists(ids, min_size=1, max_size=3), max_size=4))
def test_every_id_is_found_once_or_dropped(entries: list[list[tuple[int, int]]]) -> None:
    rows, dropped = parse_evidence(
        ["; ".join(f"D{part}:{turn:02d}" for part, turn in entry) for entry in entries], ROWS
    )
    named = [f"D{part}:{turn}" for entry in entries for part, turn in entry]
    assert rows == tuple(dict.fromkeys(ROWS[name] for name in named if name in ROWS))
    assert dropped == tuple(name for name in named if name not in ROWS)


# Texts


@pytest.mark.parametrize(
    ("variant", "with_photo", "without"),
    [
        ("t", "Look!", "Hi."),
        ("s", "Ida: Look!", "Max: Hi."),
        ("c", "Look! [shares a photo: a red kite]", "Hi."),
        ("sc", "Ida: Look! [shares a photo: a red kite]", "Max: Hi."),
    ],
)
def test_the_four_texts_of_a_turn(variant: str, with_photo: str, without: str) -> None:
    assert turn_text(Turn("D1:1", "Ida", "Look!", "a red kite"), variant) == with_photo
    assert turn_text(Turn("D1:2", "Max", "Hi.", ""), variant) == without


def test_speaker_and_caption_is_the_usual_text() -> None:
    turn = Turn("D1:1", "Ida", "Look!", "a red kite")
    assert turn_text(turn) == turn_text(turn, "sc")
    assert list(VARIANTS) == ["t", "s", "c", "sc"]


@pytest.mark.parametrize("variant", ["", "cs", "T", "text"])
def test_another_variant_is_refused(variant: str) -> None:
    message = f"variant is {variant!r}: must be one of t, s, c, sc"
    with pytest.raises(ValueError, match=re.escape(message)):
        turn_text(Turn("D1:1", "Ida", "Look!", ""), variant)


# The course's own dialogue


RAW = json.loads(data_path("dialogue.json").read_text(encoding="utf-8"))
COURSE = load_dialogue()


def test_the_course_has_one_dialogue_of_195_turns_and_50_questions() -> None:
    (talk,) = COURSE
    assert talk.speakers == ("Tove", "Jonas")
    assert (len(talk.turns), len(talk.questions)) == (195, 50)
    counts = [26, 25, 24, 28, 30, 28, 34]
    names = [f"D{part}:{n}" for part, size in enumerate(counts, 1) for n in range(1, size + 1)]
    assert [turn.id for turn in talk.turns] == names
    assert Counter(turn.speaker for turn in talk.turns).keys() == set(talk.speakers)


def test_every_question_of_the_course_has_its_evidence_and_an_answer() -> None:
    (talk,) = COURSE
    assert [question for question in talk.questions if question.dropped] == []
    assert all(question.evidence and question.answer for question in talk.questions)
    assert Counter(question.category for question in talk.questions) == {1: 12, 2: 11, 3: 4, 4: 23}
    several = [question for question in talk.questions if len(question.evidence) > 1]
    assert len(several) == 17
    by_id = [tuple(talk.turns[row].id for row in q.evidence) for q in talk.questions]
    assert by_id == [tuple(entry["evidence"]) for entry in RAW[0]["qa"]]


def test_the_course_s_dialogue_tells_its_times() -> None:
    (talk,) = COURSE
    began = {turn.session: turn.said_at for turn in talk.turns}
    told_at = [f"{time:%Y-%m-%d %H:%M}" for time in began.values() if time]
    assert list(began) == [1, 2, 3, 4, 5, 6, 7]
    assert told_at == sorted(told_at)
    assert (told_at[0], told_at[-1]) == ("2025-01-11 19:12", "2025-06-08 20:50")
    assert len({(turn.session, turn.said_at) for turn in talk.turns}) == len(told_at) == 7


def test_the_course_s_dialogue_shares_photos() -> None:
    (talk,) = COURSE
    assert sum(bool(turn.caption) for turn in talk.turns) == 26
    assert all(turn.text.strip() for turn in talk.turns)
