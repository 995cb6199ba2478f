"""Another embedder for a whole store: its cards embedded anew, in steps that survive a stop."""

from memlib.sources.embedders import Embedder
from memlib.sources.progress import progress_bar
from memlib.sources.store import Store

BATCH = 16  # cards between two saves; a stop costs at most these


def reembed(store: Store, embedder: Embedder, progress: bool = False) -> int:
    """Replace all vectors of a store by those of another embedder; return how many were made.

    progress  show a bar; it starts where an earlier run stopped
    Forgotten cards are embedded too. New vectors wait beside the old ones, 16 cards a transaction,
    and come into use in one transaction, when every card has one: until then each search finds the
    old ones only. Stopped at any point (a KeyboardInterrupt, a kill, a server that leaves), call it
    again: what waits is not embedded twice. Cards that others add, edit or delete meanwhile are
    seen. 0 if the vectors are this embedder's already.
    Raises EmbedderUnavailable, StoreError; ValueError for an id that is no text or has whitespace
    around it (nothing is embedded then), and for another dimension than an earlier run's (the
    message says what to do).

    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from memlib.sources.embedders import Bundled
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
    made = 0
    while True:
        missing = list(store.unstaged(model).items())
        if not missing and store.use_staged(model):
            return made
        total = len(store.cards(forgotten=True))
        with progress_bar(total, progress, total - len(missing), delay_seconds=0) as count:
            for at in range(0, len(missing), BATCH):
                texts = dict(missing[at : at + BATCH])
                store.stage(model, texts, embedder.embed(list(texts.values()), "document"))
                made += len(texts)
                count(len(texts))
