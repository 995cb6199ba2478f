"""RealMem: what is a card, what a request sees and wants, and the figures counted by hand."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from course.data.fetch import DataUnavailable
from course.data.realmem import DEVELOPMENT, SOURCE, RealMemError, load_realmem, read_persona


def session(name: str, day: str, turns: list[Any], *memories: object) -> dict[str, Any]:
    return {
        "session_uuid": name,
        "current_time": day,
        "dialogue_turns": turns,
        "extracted_memory": [{"content": memory, "session_uuid": name} for memory in memories],
    }


def asks(text: str, *used: tuple[str, object]) -> list[dict[str, Any]]:
    memories = [{"session_uuid": name, "content": content} for name, content in used]
    return [
        {"speaker": "User", "is_query": True, "content": text},
        {"speaker": "Assistant", "is_query": False, "memory_used": memories},
    ]


PLAN = {"Day 1": "Oulu", "Tag": "Dürer"}
PERSONA = {
    "_metadata": {"person_name": "Ida"},
    "dialogues": [
        session(
            "a", "2025-12-15 (Monday)", [{"speaker": "User"}], "Likes tea.", PLAN, "Likes tea."
        ),
        session(
            "b",
            "2025-12-17 (Wednesday)",
            asks("Tea?", ("a", "Likes tea."), ("b", "Likes jam."), ("a", PLAN), ("a", PLAN)),
            "Likes tea.",
            "Likes jam.",
        ),
        session("c", "2025-12-16 (Tuesday)", asks("Jam?", ("b", "Likes jam."), ("x", "Who?"))),
    ],
}


def written(folder: Path, persona: object) -> Path:
    path = folder / "Ida_dialogues_256k.json"
    path.write_text(json.dumps(persona), encoding="utf-8")
    return path


def test_a_card_is_a_memory_of_a_session_once_and_content_that_is_no_text_is_json(
    tmp_path: Path,
) -> None:
    ida = read_persona(written(tmp_path, PERSONA))
    plan = '{"Day 1": "Oulu", "Tag": "Dürer"}'
    assert ida.id == "Ida" and list(ida.cards.index) == ["0000", "0001", "0002", "0003"]
    assert ida.cards["text"].tolist() == ["Likes tea.", plan, "Likes tea.", "Likes jam."]
    assert ida.cards["created_at"].tolist() == [
        *[datetime(2025, 12, 15, tzinfo=UTC)] * 2,
        *[datetime(2025, 12, 17, tzinfo=UTC)] * 2,
    ]


def test_a_request_sees_the_cards_of_earlier_sessions_and_wants_what_the_reply_used(
    tmp_path: Path,
) -> None:
    tea, jam = read_persona(written(tmp_path, PERSONA)).requests
    assert (tea.text, tea.seen, tea.asked_at.day) == ("Tea?", 2, 17)
    assert tea.wanted == (0, 1) and tea.dropped == ("Likes jam.",)  # of this very session
    assert (jam.seen, jam.wanted, jam.dropped) == (4, (3,), ("Who?",))


def test_a_file_in_another_schema_is_told(tmp_path: Path) -> None:
    last = [{"speaker": "User", "is_query": True, "content": "And?"}]
    faults: list[tuple[object, str]] = [
        ([PERSONA], "TypeError"),
        ({"_metadata": {"person_name": "Ida"}}, "KeyError"),
        (PERSONA | {"dialogues": [session("a", "yesterday", [])]}, "ValueError"),
        (PERSONA | {"dialogues": [session("a", "2025-12-15", last)]}, "KeyError"),
    ]
    for content, kind in faults:
        told = rf"^Ida_dialogues_256k\.json: not in RealMem's schema: {kind}"
        with pytest.raises(RealMemError, match=told):
            read_persona(written(tmp_path, content))


def test_ten_personas_are_known_by_the_hash_of_the_original_and_of_a_reduced_copy() -> None:
    assert len(SOURCE.files) == 10
    every = [sha256 for hashes in SOURCE.files.values() for sha256 in hashes]
    assert len(set(every)) == 20 and all(len(sha256) == 64 for sha256 in every)
    assert [name.split("_dialogues")[0] for name in SOURCE.files][:3] == list(DEVELOPMENT)


@pytest.mark.slow
def test_the_ten_personas_hold_what_was_counted() -> None:
    try:
        development, others = load_realmem(download=False)
    except DataUnavailable as missing:
        pytest.skip(str(missing))
    people = (*development, *others)
    assert (len(development), len(others)) == (3, 7)
    assert sum(len(person.cards) for person in people) == 5072
    assert sum(len(person.requests) for person in people) == 1415
    requests = [request for person in people for request in person.requests]
    assert all(request.wanted and max(request.wanted) < request.seen for request in requests)
