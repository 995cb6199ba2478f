"""REALTALK: ten chats of real people over three weeks; no licence is stated, so never stored."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course.data.dialogue import Conversation, DialogueError, Question, Turn, parse_evidence
from course.data.fetch import Source, fetch

_CHATS = {
    "1_Emi_Elise": "4e947998a751a1ba2c3710fc873b90fbcbc234fda7a5e4e75db2b762e0f25a36",
    "2_Kevin_Elise": "4ac6e319c206731aa9a025c93325eb1edb43686cf39473f058c87ae7deb2d62a",
    "3_Kevin_Paola": "10c9208016538cbe7a28aafa6cfd72587b072677964c36ec242159fdf58961f2",
    "4_Emi_Paola": "80aa012ed6a918f5b317bd942b4d4811a158d27a6e07b7a5c6182994107a9367",
    "5_Nicolas_Nebraas": "32dd7c45786b1a26861dc1574a1bb698a855196fd2ae3fc0c091f3c9ab2d6d06",
    "6_Vanessa_Nicolas": "9d5ee072ab5a0667ef71d5644d7cd3a4c6777a1e6e2252bf306f310d982e40ac",
    "7_Nebraas_Vanessa": "b5716bb093217980e747dec0d98996829b569febc09587a025efc6b79806e9ce",
    "8_Akib_Muhhamed": "814f64ad7e8a46f0398f550fe84184e2ba495a292290b9ff96ffc95448280800",
    "9_Fahim_Akib": "05b9b4331bf0e25a2a64dc89c404622c83a61ab5e7c935fb7d844449caf6dd39",
    "10_Fahim_Muhhamed": "26135a9e3482f40bea4c71de570a2d994a361848111067e60587be1dd82a0127",
}
SOURCE = Source(
    "REALTALK",
    "REALTALK_PATH",
    "https://raw.githubusercontent.com/danny911kr/REALTALK/b903e06a/data",
    {f"Chat_{people}.json": (sha256,) for people, sha256 in _CHATS.items()},
)
_TIME = "%d.%m.%Y, %H:%M:%S"  # numbers only: no locale plays a part


def load_realtalk(download: bool = True) -> tuple[Conversation, ...]:
    """The ten chats in their order, with all three categories of questions.

    Text is clean_text, the caption blip_caption, a turn's session the number in its id, its time
    its own (no zone is named, so UTC), evidence as LoCoMo's.

    Raises DataUnavailable as `fetch` does; DialogueError that names the file and what is missing.
    Source: Lee et al. 2025, REALTALK: A 21-Day Real-World Dataset for Long-Term Conversation.
    """
    return tuple(map(read_chat, fetch(SOURCE, download)))


def read_chat(path: Path) -> Conversation:
    """One chat; its id is the file's name without its ending.

    Raises DialogueError that names the file and what is missing.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        turns = tuple(_turn(turn) for turn in _messages(raw))
        rows = {turn.id: row for row, turn in enumerate(turns)}
        questions = tuple(
            Question(
                str(one["question"]),
                str(one.get("answer", "")),
                int(one["category"]),
                *parse_evidence(one["evidence"], rows),
            )
            for one in raw["qa"]
        )
        people = (raw["name"]["speaker_1"], raw["name"]["speaker_2"])
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DialogueError(f"{path.name}: not in REALTALK's schema: {error!r}") from None
    return Conversation(path.stem, people, turns, questions)


def _messages(raw: dict[str, Any]) -> list[dict[str, Any]]:
    numbers = sorted(
        int(key[8:]) for key in raw if key.startswith("session_") and key[8:].isdigit()
    )
    return [turn for number in numbers for turn in raw[f"session_{number}"]]


def _turn(turn: dict[str, Any]) -> Turn:
    said_at = datetime.strptime(turn["date_time"], _TIME).replace(tzinfo=UTC)
    caption = turn.get("blip_caption", "")
    return Turn(turn["dia_id"], turn["speaker"], turn["clean_text"], caption, said_at)
