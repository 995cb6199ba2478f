"""Another embedder for a whole store: its cards embedded anew, in steps that survive a stop."""

from collections.abc import Mapping

from memlib.embedders.protocol import Embedder, TooLong, Vectors
from memlib.progress import progress_bar
from memlib.store.sqlite import Store

BATCH = 16  # cards between two saves; a stop costs at most these


def reembed(store: Store, embedder: Embedder, progress: bool = False) -> int:
    """Replace all vectors of a store by those of another embedder; return how many were made.

    progress  show a bar; it starts where an earlier run stopped
    Forgotten cards are embedded too. New vectors wait beside the old ones, 16 cards a transaction,
    and come into use in one transaction, when every card has one: until then each search finds the
    old ones only. Stopped at any point (a KeyboardInterrupt, a kill, a server that leaves), call it
    again: what waits is not embedded twice. Cards that others add, edit or delete meanwhile are
    seen. 0 if the vectors are this embedder's already.
    A card that is too long for the model holds up no other: when all others have their new vectors,
    TooLong names those that are left. Shorten them (`store.edit`) and call it again.
    Raises EmbedderUnavailable, StoreError; ValueError for an id that is no text or has whitespace
    around it (nothing is embedded then), and for another dimension than an earlier run's (the
    message says what to do).

    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from memlib.embedders.minilm import Bundled
    >>> now = datetime(2025, 6, 11, 18, tzinfo=UTC)
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "cards.db") as store:
    ...     store.add("miso", "Miso naps.", vector=[0.6, 0.8], embedder_id="toy", now=now)
    ...     reembed(store, Bundled()), store.embedder_id
    (1, 'all-MiniLM-L6-v2-int8')
    """
    model = embedder.id
    if not isinstance(model, str) or not model or model != model.strip():
        said = "must be a text, without whitespace around it"
        raise ValueError(f"embedder.id is {model!r}: {said}")
    made, long, what = 0, dict[str, str](), ""
    while True:
        waiting, total = store.unstaged(model), len(store.cards(forgotten=True))
        long = {id: text for id, text in long.items() if waiting.get(id) == text}
        missing = [(id, text) for id, text in waiting.items() if id not in long]
        if long and not missing:
            left = f"{len(long)} of {total} cards are left, the others wait for them ({what})"
            texts = dict(enumerate(long.values()))
            raise TooLong(left, texts, {}, [f"card {id!r}" for id in long])
        if not missing and store.use_staged(model):
            return made
        with progress_bar(total, progress, total - len(waiting), delay_seconds=0) as count:
            for at in range(0, len(missing), BATCH):
                some = missing[at : at + BATCH]
                found, error = _embed(embedder, [text for _, text in some])
                if error:
                    what = error.what
                    long |= {some[row][0]: text for row, text in error.texts.items()}
                if found:
                    store.stage(model, dict(some[row] for row in found), [*found.values()])
                made += len(found)
                count(len(found))


def _embed(embedder: Embedder, texts: list[str]) -> tuple[Mapping[int, Vectors], TooLong | None]:
    """Vectors by row, and what was said of the rows that have none."""
    try:
        return dict(enumerate(embedder.embed(texts, "document"))), None
    except TooLong as error:
        return error.vectors, error
