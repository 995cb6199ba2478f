"""Cards for the playground: Maya's, a dialogue's turns, one's own file."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from course.data.dialogue import load_dialogue, turn_text
from course.data.maya import COURSE_NOW, maya_cards
from course.playground.configuration import fingerprint
from memlib.cards import CardError, load_cards
from memlib.recency import CLOCK_SKEW_HOURS

MAYA, DIALOGUE = "Maya's cards", "a dialogue's turns"
MOST_CARDS = 20_000  # in a file of one's own: embedding cannot be stopped
MOST_MB = 200  # of that file: 20,000 exported cards with vectors of 1,024 numbers have 133
TEMPLATE = """id,text,created_at,importance,entities
tea,"Ana drinks tea, never coffee.",2025-05-02T09:00Z,4,Ana:person
trip,Ana flies to Oslo on Friday.,2025-06-01T18:30Z,7,Ana:person;Oslo:place
"""


class Shelf(NamedTuple):
    """Cards, the moment that counts as now, and how to load them in code.

    vectors  who has the bundled model's vectors of them: "recorded", or the model itself, "bundled"
    """

    name: str
    cards: pd.DataFrame
    now: datetime
    code: str
    vectors: str
    fingerprint: str


def dialogue_cards() -> pd.DataFrame:
    """The turns of the course's dialogue as cards: text with speaker, written when it was said.

    >>> dialogue_cards().loc["D1:1", "entities"]
    ('Tove:person',)
    """
    turns = load_dialogue()[0].turns
    said_at: Any = [turn.said_at for turn in turns]
    never: Any = [None] * len(turns)
    columns: dict[str, Any] = {
        "id": [turn.id for turn in turns],
        "text": [turn_text(turn) for turn in turns],
        "kind": "episodic",
        "category": "errands",
        "created_at": pd.to_datetime(said_at, utc=True),
        "last_accessed_at": pd.to_datetime(never, utc=True),
        "importance": np.nan,
        "pinned": False,
        "tags": [()] * len(turns),
        "title": "",
        "entities": [(f"{turn.speaker}:person",) for turn in turns],
    }
    counts = {"views": 0, "cites": 0, "edits": 0}
    return pd.DataFrame(columns | counts).set_index("id")


def maya() -> Shelf:
    """The course's own cards, as of the course's own now."""
    cards = maya_cards()
    return Shelf(MAYA, cards, COURSE_NOW, "cards = maya_cards()", "recorded", fingerprint(cards))


def dialogue() -> Shelf:
    """The dialogue's turns, as of the beginning of its last conversation."""
    cards, code = dialogue_cards(), "cards = dialogue_cards()"
    return Shelf(DIALOGUE, cards, newest(cards), code, "recorded", fingerprint(cards))


def own(name: str, content: bytes, now: datetime) -> Shelf:
    """A card file of one's own, checked whole; as of its newest time.

    name     as the browser tells it; it is shown and never opened
    now      no card may be dated after it
    Raises CardError for the row and column at fault, for too many cards or too large a file.
    """
    name = name.rpartition("\\")[2].strip(".") or "cards.csv"
    if (size := len(content) / 1e6) > MOST_MB:
        raise CardError(f"{name}: {size:,.1f} MB, the playground takes {MOST_MB} MB at most")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cards.csv"
        file.write_bytes(content)
        try:
            cards = load_cards(file, now)
        except CardError as error:
            raise CardError(f"{name}{str(error).removeprefix(file.name)}") from None
    if len(cards) > MOST_CARDS:
        raise CardError(
            f"{name}: {len(cards):,} cards, the playground takes {MOST_CARDS:,} at most"
        )
    code = f"cards = load_cards(Path({name!r}), now)"
    shown = f"{name} (your file)" if name in (MAYA, DIALOGUE) else name
    return Shelf(shown, cards, newest(cards), code, "bundled", fingerprint(cards))


def newest(cards: pd.DataFrame) -> datetime:
    """The latest time that stands on a card."""
    latest: datetime = cards[["created_at", "last_accessed_at"]].max().max().to_pydatetime()
    return latest.astimezone(UTC)


def too_new(cards: pd.DataFrame, now: datetime) -> str:
    """The first card with a time after now, clock skew granted: its id, the time; empty if none."""
    late = now.astimezone(UTC) + timedelta(hours=CLOCK_SKEW_HOURS)
    columns = ("created_at", "last_accessed_at")
    for id, *times in cards[list(columns)].itertuples():
        for name, time in zip(columns, times, strict=True):
            if not pd.isna(time) and time.to_pydatetime() > late:
                at = time.isoformat(sep=" ", timespec="minutes")
                return f"card {id}: {name} is {at}"
    return ""


def facts(cards: pd.DataFrame) -> str:
    """What the cards give the parts to work with, in one line."""
    written, again = cards["created_at"], int(cards["last_accessed_at"].notna().sum())
    rated, named = (
        int(cards["importance"].notna().sum()),
        int((cards["entities"].str.len() > 0).sum()),
    )
    span = f"{written.min():%Y-%m-%d} to {written.max():%Y-%m-%d}"
    many = "1 card" if len(cards) == 1 else f"{len(cards):,} cards"
    said = f"{many}, written {span}; {again:,} accessed again, {rated:,} rated, "
    return f"{said}{named:,} with names."
