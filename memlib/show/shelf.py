"""Cards for the playground: Maya's, a dialogue's turns, one's own file."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from memlib.show.configuration import fingerprint
from memlib.sources.cards import COURSE_NOW, CardError, load_cards
from memlib.sources.dialogue import load_dialogue, turn_text
from memlib.sources.embedders import Bundled, EmbedderUnavailable, Recorded, Vectors

MAYA, DIALOGUE = "Maya's cards", "a dialogue's turns"
BATCH = 16  # texts between two moves of a progress bar
MOST_CARDS = 20_000  # in a file of one's own: embedding cannot be stopped
SAMPLE = 32  # texts that are embedded to tell how long all of them take
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

    name     as the browser tells it; it is shown and never opened
    now      no card may be dated after it
    Raises CardError for the row and column at fault, or for too many cards; EmbedderUnavailable
    without a model.
    """
    name = name.rpartition("\\")[2].strip(".") or "cards.csv"
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
    code = f'cards, model = load_cards(Path({name!r}), now), choose("bundled")'
    shown = f"{name} (your file)" if name in (MAYA, DIALOGUE) else name
    return Shelf(
        shown, cards, embed(cards["text"].tolist()), newest(cards), code, fingerprint(cards)
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


def embedding_seconds(texts: Sequence[str]) -> float:
    """About how long `embed_by_steps` takes here for these texts, 1 or more: from a sample."""
    bundled().embed(texts[:1])  # the model is loaded before the clock runs
    sample = texts[:: -(-len(texts) // SAMPLE)]
    begun = monotonic()
    bundled().embed(sample)
    return (monotonic() - begun) / len(sample) * len(texts)


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
