"""Who embeds for the playground: every model its own vectors of cards and questions, never mixed.

The bundled model's vectors of the course's own texts are recorded: "recorded" stands for them.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from math import ceil
from time import monotonic

from course.data.recorded import Recorded, choose
from course.playground.shelf import Shelf
from memlib.embedders.minilm import Bundled, notes
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import Embedder, EmbedderUnavailable, TooLong, Vectors, embed_named
from memlib.embedders.remembered import Remembered
from memlib.server import canonical

BUNDLED, OLLAMA = Bundled.id, Ollama().id
SAMPLE = 32  # texts that are embedded to tell how long all of them take


@cache
def recorded() -> Recorded:
    """The recorded vectors, read once."""
    return Recorded()


@cache
def bundled() -> Bundled:
    """The bundled model, loaded once."""
    return Bundled()


def check_id(embedder: str) -> str:
    """Return the id of an embedder that can be chosen here, or raise ValueError.

    >>> check_id("published")
    Traceback (most recent call last):
    ValueError: embedder is 'published': must be all-MiniLM-L6-v2-int8 or ollama:MODEL
    """
    name, _, model = embedder.partition(":")
    if embedder != BUNDLED and (name != "ollama" or not model or model != model.strip()):
        raise ValueError(f"embedder is {embedder!r}: must be {BUNDLED} or ollama:MODEL")
    return canonical(embedder)


class Models:
    """The embedders that were used, each with the vectors that it gave.

    told  is told, while one works, how many texts are embedded, and of how many
    A `name` below is one for `choose`; an `embedder` is an id.
    """

    def __init__(self, told: Callable[[int, int], object]) -> None:
        self.told = told
        self._used: dict[str, Remembered] = {}
        self._doubts: dict[tuple[str, str], list[str]] = {}

    def of(self, name: str) -> Remembered:
        """The embedder; one that never answered is made anew, should its address have changed."""
        if name not in self._used or not self._used[name].rows:
            here: dict[str, Callable[[], Embedder]] = {"recorded": recorded, "bundled": bundled}
            made = here.get(name, partial(choose, name))()
            self._used[name] = Remembered(made, self.told)
        return self._used[name]

    def name(self, held: Shelf, embedder: str) -> str:
        """The name of who embeds these cards."""
        return held.vectors if embedder == BUNDLED else embedder

    def missing(self, held: Shelf, embedder: str) -> list[str]:
        """Texts of cards that this embedder has yet to embed."""
        rows = self.of(self.name(held, embedder)).rows
        return [text for text in held.cards["text"] if ("document", text) not in rows]

    def cards(self, held: Shelf, embedder: str) -> Vectors:
        """The cards' vectors, (n, d). Raises EmbedderUnavailable; what was embedded is kept."""
        names = [f"card {id!r}" for id in held.cards.index]
        model = self.of(self.name(held, embedder))
        return embed_named(model, names, held.cards["text"].tolist())

    def question(self, text: str, embedder: str) -> tuple[Vectors, str]:
        """A question's vector, (d,), and the name of who gave it: recorded if it can, else bundled.

        Raises EmbedderUnavailable.
        """
        if embedder == BUNDLED:
            try:
                return self.of("recorded").embed([text], role="query")[0], "recorded"
            except EmbedderUnavailable:
                embedder = "bundled"
        return self.of(embedder).embed([text], role="query")[0], embedder

    def doubts(self, held: Shelf, embedder: str) -> list[str]:
        """What the model cannot read of the cards; said of the bundled one only."""
        name = self.name(held, embedder)
        if (key := (held.fingerprint, name)) not in self._doubts:
            self._doubts[key] = notes(self.of(name), held.cards["text"].tolist())
        return self._doubts[key]


def seconds_for(texts: Sequence[str], model: Embedder) -> float:
    """About how long a model takes here for these texts, 1 or more: from a sample."""
    with suppress(TooLong):  # named when all of them are embedded
        model.embed(texts[:1])  # the model is loaded before the clock runs
    sample = texts[:: -(-len(texts) // SAMPLE)]
    begun = monotonic()
    with suppress(TooLong):
        model.embed(sample)
    return (monotonic() - begun) / len(sample) * len(texts)


def wait(cards: int, seconds: float) -> str:
    """How long so many cards take, before they are embedded.

    >>> wait(20_000, 140.0)
    '20,000 cards: embedding them takes about 3 minutes, and cannot be stopped.'
    """
    minutes = max(1, ceil(seconds / 60))
    about = "about a minute" if minutes == 1 else f"about {minutes} minutes"
    about = "less than a minute" if seconds < 45 else about
    return f"{cards:,} cards: embedding them takes {about}, and cannot be stopped."
