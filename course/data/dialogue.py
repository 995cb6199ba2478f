"""Dialogues: conversations in LoCoMo's schema, their turns as texts, their questions' evidence."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from course.data.files import data_path
from memlib.signals import MONTHS

VARIANTS = {
    "t": "text",
    "s": "Speaker: text",
    "c": "text [shares a photo: caption]",
    "sc": "Speaker: text [shares a photo: caption]",
}
ADVERSARIAL = 5  # LoCoMo's category of questions that have no answer
_TIME = re.compile(  # as in 1:56 pm on 8 May, 2023; not by strptime: it follows the locale
    rf"(1[0-2]|0?[1-9]):(\d\d) ([ap]m) on (\d\d?) ({'|'.join(MONTHS)}), (\d{{4}})"
)
_EVIDENCE = re.compile(r"D(\d+):(\d+)")


class Turn(NamedTuple):
    """One message: its id such as D3:12, who wrote it, what, a shared photo's caption, and when.

    said_at is the time at which its session began; None where the file does not say.
    """

    id: str
    speaker: str
    text: str
    caption: str
    said_at: datetime | None = None

    @property
    def session(self) -> int:
        """The number of the session: 3 for D3:12."""
        return int(self.id[1:].partition(":")[0])


class Question(NamedTuple):
    """A question, the rows of the turns that hold its answer, and evidence that led nowhere."""

    text: str
    answer: str
    category: int
    evidence: tuple[int, ...]
    dropped: tuple[str, ...]


class Conversation(NamedTuple):
    """A conversation: its turns in order, and all questions but the adversarial ones."""

    id: str
    speakers: tuple[str, str]
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


class DialogueError(ValueError):
    """A dialogue file that cannot be used: names the conversation and what is missing."""


def load_dialogue(path: Path | None = None) -> tuple[Conversation, ...]:
    """Read conversations in LoCoMo's schema; None reads the course's own dialogue.

    path     JSON: a list of {sample_id, conversation, qa}
    returns  conversations in file order, questions of category 5 left out
    Raises DialogueError that names the conversation and the field at fault.
    Source: Maharana et al. 2024 (LoCoMo); the course's dialogue was written for it.

    >>> load_dialogue()[0].turns[0].id
    'D1:1'
    """
    file = data_path("dialogue.json") if path is None else Path(path)
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DialogueError(f"{file.name} cannot be read: {error}") from None
    if not isinstance(raw, list) or not raw:
        raise DialogueError(f"{file.name}: must be a list of conversations")
    return tuple(_conversation(f"{file.name}[{i}]", sample) for i, sample in enumerate(raw))


def turn_text(turn: Turn, variant: str = "sc") -> str:
    """A turn as the text that is searched.

    variant  "t" bare text, "s" with the speaker's name, "c" with the photo's caption, "sc" both
    Raises ValueError for another variant.
    Source: this course; LoCoMo's turns hold text, speaker and caption apart.

    >>> turn_text(Turn("D1:1", "Ida", "Look!", "a red kite"))
    'Ida: Look! [shares a photo: a red kite]'
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant is {variant!r}: must be one of {', '.join(VARIANTS)}")
    text = f"{turn.speaker}: {turn.text}" if "s" in variant else turn.text
    return f"{text} [shares a photo: {turn.caption}]" if "c" in variant and turn.caption else text


def parse_evidence(
    evidence: Sequence[str], rows: dict[str, int]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Rows of the turns that evidence strings name, each once, and what could not be resolved.

    evidence  strings such as "D1:3", "D8:6; D9:17" or, broken, "D" or "D:11:26"
    rows      turn id -> row
    returns   rows in order of mention; the strings or ids that lead to no turn
    Raises ValueError for evidence given as one str.
    Source: this course; LoCoMo's evidence holds several ids in one string, and broken ones.

    >>> parse_evidence(["D1:1; D1:02", "D1:1", "D", "D9:9"], {"D1:1": 0, "D1:2": 1})
    ((0, 1), ('D', 'D9:9'))
    """
    if isinstance(evidence, str):
        raise ValueError(f"evidence is the text {evidence!r}: give a list of texts")
    found: dict[int, None] = {}
    dropped = []
    for entry in evidence:
        ids = [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(entry)]
        dropped += [name for name in ids if name not in rows] if ids else [entry]
        found |= {rows[name]: None for name in ids if name in rows}
    return tuple(found), tuple(dropped)


def _conversation(where: str, sample: Any) -> Conversation:
    try:
        talk, name = sample["conversation"], str(sample["sample_id"])
        turns = tuple(_turns(talk))
        rows = {turn.id: row for row, turn in enumerate(turns)}
        questions = tuple(
            Question(
                str(asked["question"]),
                str(asked.get("answer", "")),
                int(asked["category"]),
                *parse_evidence(asked.get("evidence", []), rows),
            )
            for asked in sample["qa"]
            if int(asked["category"]) != ADVERSARIAL
        )
        return Conversation(name, (talk["speaker_a"], talk["speaker_b"]), turns, questions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DialogueError(f"{where}: not in LoCoMo's schema: {error!r}") from None


def _turns(talk: dict[str, Any]) -> list[Turn]:
    sessions = sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key))
    return [
        Turn(_id(turn), turn["speaker"], turn["text"], turn.get("blip_caption", ""), began)
        for number in sessions
        for began in [_began(f"session_{number}_date_time", talk)]
        for turn in talk[f"session_{number}"]
    ]


def _id(turn: dict[str, Any]) -> str:
    name: str = turn["dia_id"]
    if not _EVIDENCE.fullmatch(name):
        raise ValueError(f"dia_id is {name!r}: must be like D3:12")
    return name


def _began(field: str, talk: dict[str, Any]) -> datetime | None:
    """LoCoMo names no zone, so UTC; None where the field is missing."""
    text = talk.get(field)
    if text is None:
        return None
    if found := _TIME.fullmatch(text):
        hour, minute, half, day, month, year = found.groups()
        clock = int(hour) % 12 + 12 * (half == "pm"), int(minute)
        with suppress(ValueError):  # 31 June
            return datetime(int(year), MONTHS.index(month) + 1, int(day), *clock, tzinfo=UTC)
    raise ValueError(f"{field} is {text!r}: must be like 1:56 pm on 8 May, 2023")
