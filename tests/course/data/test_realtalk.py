"""REALTALK: what is read of a chat, and the figures that were counted by hand."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from course.data.dialogue import DialogueError, turn_text
from course.data.fetch import DataUnavailable
from course.data.realtalk import SOURCE, load_realtalk, read_chat


def said(id: str, text: str, time: str = "29.12.2023, 22:42:04", **more: str) -> dict[str, str]:
    return {"dia_id": id, "speaker": "Ida", "clean_text": text, "date_time": time} | more


CHAT: dict[str, Any] = {
    "name": {"speaker_1": "Ida", "speaker_2": "max"},
    "session_10": [said("D9:1", "Bye.", "02.01.2024, 00:00:10")],
    "events_session_2": {"agent_a": []},
    "session_2": [
        said("D1:1", "Hi.", img="x"),
        said("D1:2", "Look!", blip_caption="a kite"),
    ],
    "session_2_date_time": "29.12.2023, 22:42:04",
    "qa": [
        {"question": "What flies?", "answer": "A kite", "category": 3, "evidence": ["D1:2; D9:1"]},
        {"question": "Who?", "category": 1, "evidence": ["D4:4", "D"]},
    ],
}


def written(folder: Path, chat: object) -> Path:
    path = folder / "Chat_1_Ida_Max.json"
    path.write_text(json.dumps(chat), encoding="utf-8")
    return path


def test_a_chat_is_read_with_its_sessions_in_order_and_the_time_of_each_turn(
    tmp_path: Path,
) -> None:
    chat = read_chat(written(tmp_path, CHAT))
    assert chat.id == "Chat_1_Ida_Max" and chat.speakers == ("Ida", "max")
    assert [turn.id for turn in chat.turns] == ["D1:1", "D1:2", "D9:1"]
    assert [turn.session for turn in chat.turns] == [1, 1, 9]
    assert turn_text(chat.turns[1]) == "Ida: Look! [shares a photo: a kite]"
    assert chat.turns[0].said_at == datetime(2023, 12, 29, 22, 42, 4, tzinfo=UTC)
    assert chat.turns[2].said_at == datetime(2024, 1, 2, 0, 0, 10, tzinfo=UTC)


def test_all_categories_are_kept_and_evidence_that_leads_nowhere_is_counted(
    tmp_path: Path,
) -> None:
    first, second = read_chat(written(tmp_path, CHAT)).questions
    assert (first.text, first.answer, first.category) == ("What flies?", "A kite", 3)
    assert first.evidence == (1, 2) and first.dropped == ()
    assert (second.answer, second.evidence, second.dropped) == ("", (), ("D4:4", "D"))


@pytest.mark.parametrize("field", ["name", "qa"])
def test_a_file_that_lacks_a_field_is_told(field: str, tmp_path: Path) -> None:
    path = written(tmp_path, {name: value for name, value in CHAT.items() if name != field})
    told = rf"^Chat_1_Ida_Max\.json: not in REALTALK's schema: KeyError\('{field}'\)$"
    with pytest.raises(DialogueError, match=told):
        read_chat(path)


def test_a_time_in_another_form_and_a_file_that_is_no_object_are_told(tmp_path: Path) -> None:
    with pytest.raises(DialogueError, match="does not match format"):
        read_chat(written(tmp_path, CHAT | {"session_2": [said("D1:1", "Hi.", "29/12/2023")]}))
    for content in ([CHAT], "text"):
        with pytest.raises(DialogueError, match=r"^Chat_1_Ida_Max\.json: not in REALTALK's schema"):
            read_chat(written(tmp_path, content))


def test_ten_chats_are_known_by_their_hash() -> None:
    assert len(SOURCE.files) == len({hashes for hashes in SOURCE.files.values()}) == 10
    assert all(len(sha256) == 64 for (sha256,) in SOURCE.files.values())
    assert SOURCE.address.startswith("https://") and "/b903e06a/" in SOURCE.address


@pytest.mark.slow
def test_the_ten_chats_hold_what_was_counted() -> None:
    try:
        chats = load_realtalk(download=False)
    except DataUnavailable as missing:
        pytest.skip(str(missing))
    questions = [question for chat in chats for question in chat.questions]
    with_evidence = [sum(bool(q.evidence) for q in chat.questions) for chat in chats]
    assert len(questions) == 728 and sum(with_evidence) == 705
    assert with_evidence == [70, 73, 71, 70, 74, 70, 70, 63, 59, 85]
    assert sum(len(question.dropped) for question in questions) == 143
    assert {question.category for question in questions} == {1, 2, 3}
