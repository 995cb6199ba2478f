"""Cards for the playground: Maya's, a dialogue's turns, one's own file."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from memlib.show.configuration import fingerprint
from memlib.sources.cards import COURSE_NOW, load_cards
from memlib.sources.dialogue import load_dialogue, turn_text
from memlib.sources.embedders import Bundled, EmbedderUnavailable, Recorded, Vectors

MAYA, DIALOGUE = "Maya's cards", "a dialogue's turns"
BATCH = 16  # texts between two moves of a progress bar
TEMPLATE = """id,text,created_at,importance,entities
tea,"Ana drinks tea, never coffee.",2025-05-02T09:00Z,4,Ana:person
trip,Ana flies to Oslo on Friday.,2025-06-01T18:30Z,7,Ana:person;Oslo:place
"""


class Shelf(NamedTuple):
    """Cards with their vectors, the moment that counts as now, and how to load them in code."""

    name: str
    cards: pd.DataFrame
    vectors: Vectors
    now: datetime
    code: str
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
    cards = load_cards()
    vectors = recorded().embed(cards["text"].tolist())
    code = 'cards, model = load_cards(), choose("recorded")'
    return Shelf(MAYA, cards, vectors, COURSE_NOW, code, fingerprint(cards))


def dialogue() -> Shelf:
    """The dialogue's turns, as of the beginning of its last conversation."""
    cards = dialogue_cards()
    vectors = recorded().embed(cards["text"].tolist())
    code = 'cards, model = dialogue_cards(), choose("recorded")'
    return Shelf(DIALOGUE, cards, vectors, newest(cards), code, fingerprint(cards))


def own(
    name: str,
    content: bytes,
    now: datetime,
    embed: Callable[[Sequence[str]], Vectors],
) -> Shelf:
    """A card file of one's own: checked whole, then embedded; as of its newest time.

    now      no card may be dated after it
    Raises CardError for the row and column at fault, EmbedderUnavailable without a model.
    """
    name = Path(name.replace("\\", "/")).name.strip(".") or "cards.csv"
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        cards = load_cards(file, now)
    code = f'cards, model = load_cards(Path({name!r}), now), choose("bundled")'
    return Shelf(
        name, cards, embed(cards["text"].tolist()), newest(cards), code, fingerprint(cards)
    )


def newest(cards: pd.DataFrame) -> datetime:
    """The latest time that stands on a card."""
    latest: datetime = cards[["created_at", "last_accessed_at"]].max().max().to_pydatetime()
    return latest.astimezone(UTC)


@cache
def recorded() -> Recorded:
    """The recorded vectors, read once."""
    return Recorded()


@cache
def bundled() -> Bundled:
    """The bundled model, loaded once."""
    return Bundled()


def embed_by_steps(texts: Sequence[str], progress: Callable[[int, int], None]) -> Vectors:
    """Embed with the bundled model; progress(done, of) is called between batches."""
    found = []
    for start in range(0, len(texts), BATCH):
        progress(start, len(texts))
        found.append(bundled().embed(texts[start : start + BATCH]))
    progress(len(texts), len(texts))
    return np.concatenate(found)


def embed_question(question: str) -> tuple[Vectors, str]:
    """A question's vector, and which embedder gave it: recorded if it can, else bundled."""
    try:
        return recorded().embed([question], role="query")[0], "recorded"
    except EmbedderUnavailable:
        return bundled().embed([question], role="query")[0], "bundled"
