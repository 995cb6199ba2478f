"""Table (a) live: which setting of Ollama gives the published cosines? `make verify-ollama`."""

import sys

import numpy as np

from course.data.maya import PUBLISHED_QUESTION
from course.data.recorded import PUBLISHED_CARDS, Published
from memlib import tables
from memlib.checks import Floats
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import Embedder, EmbedderUnavailable
from memlib.server import START
from memlib.similarity import cosine

CLOSE = 0.001  # less than half the smallest gap between two published cosines: same order
LOAD_SECONDS = 120.0  # a model that is not in memory yet
SETTINGS = {"plain": False, "prefixes": True}
GET_ONE = (
    "To get one, install Ollama (https://ollama.com/download), then `ollama serve` and"
    " `ollama pull nomic-embed-text`; the course itself needs none."
)


def main() -> int:
    """Print the table and what it says.

    returns  0 if a setting gives the published cosines, 1 if none does, 2 without a server or model
    What a server answered is printed as it is; how to get one is said only where none answers.
    """
    try:
        live = {
            name: _cosines(Ollama(timeout=LOAD_SECONDS, prefixes=prefixes))
            for name, prefixes in SETTINGS.items()
        }
    except EmbedderUnavailable as error:
        told = str(error).removesuffix(", or use bundled")
        print(f"{told}.\n{GET_ONE}" if told.endswith(START) else f"{told}.", file=sys.stderr)
        return 2
    published = _cosines(Published())
    print(compared(published, live))
    return int(min(apart_from_published(published, live).values()) > CLOSE)


def apart_from_published(published: Floats, live: dict[str, Floats]) -> dict[str, float]:
    """Largest absolute difference of each setting from the published cosines.

    >>> found = apart_from_published(np.array([0.7, 0.4]), {"plain": np.array([0.7, 0.5])})
    >>> round(found["plain"], 6)
    0.1
    """
    return {name: float(np.abs(found - published).max()) for name, found in live.items()}


def compared(published: Floats, live: dict[str, Floats]) -> str:
    """The published cosines beside the live ones, and which setting gives them.

    published, live  shape (8,), in the order of the published cards; live by name of the setting
    """
    apart = apart_from_published(published, live)
    columns = {"published": published} | live
    shown = {name: tables.decimals(found, 4) for name, found in columns.items()}
    table = tables.text_table({"fact": list(PUBLISHED_CARDS)} | shown, left=["fact"])
    best = min(apart, key=apart.__getitem__)
    if apart[best] <= CLOSE:
        said = f"{_told(best)} gives the published cosines: it differs by at most {apart[best]:.4f}"
    else:
        said = (
            f"Neither setting gives the published cosines to {CLOSE:g}. {_told(best)} is nearer:"
            f" it differs by up to {apart[best]:.4f}"
        )
    others = [f"{_told(name).lower()} by {apart[name]:.4f}" for name in apart if name != best]
    return f'Question: "{PUBLISHED_QUESTION}"\n\n{table}\n\n{"; ".join([said, *others])}.'


def _told(setting: str) -> str:
    if SETTINGS[setting]:
        return 'With the prefixes "search_query: " and "search_document: " nomic-embed-text'
    return "Without prefixes nomic-embed-text"


def _cosines(embedder: Embedder) -> Floats:
    query = embedder.embed([PUBLISHED_QUESTION], "query")[0]
    return cosine(query, embedder.embed(PUBLISHED_CARDS))


if __name__ == "__main__":
    sys.exit(main())
