"""The store: cards, their reviews and their vectors, each change whole and kept."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.cards import short
from memlib.checks import card_ids
from memlib.embedders.protocol import Vectors
from memlib.server import canonical
from memlib.store.database import Database, StoreError
from memlib.store.exports import read_export, write_export
from memlib.store.records import (
    FIELDS,
    MARKED_SINCE,
    REVIEW,
    SCHEMA,
    STORED,
    Record,
    card_table,
    clock,
    record,
    record_field,
    vector_rows,
)

__all__ = ["Store", "StoreError"]

EDITABLE = ("text", "kind", "category", "importance", "tags", "title", "entities", "strength")

Ids = Sequence[str] | pd.Index


class Store:
    """A card table on disk, with the vectors of one embedder; for one thread of one process.

    path             the file, made when it is not there
    timeout_seconds  how long to wait for another program's change
    without_log      True opens a plain copy of an open store, with the cards that it holds
    Copy a store by `backup`: a plain copy of an open one lacks the latest changes and is refused.
    Every method is one transaction. Times have a zone and are kept to the microsecond. Bad values
    raise ValueError, all else StoreError; then nothing was changed.
    Source: this course; review fields: *memento-mcp-server 0.1.0, Formulas for Search Ranking and
    Memory Decay*, section 7.2.

    >>> from datetime import UTC
    >>> from tempfile import TemporaryDirectory
    >>> now = datetime(2025, 6, 11, 18, tzinfo=UTC)
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "cards.db") as store:
    ...     store.add("miso", "Miso naps.", vector=[0.6, 0.8], embedder_id="toy", now=now)
    ...     touched = store.touch(["miso"], now)
    ...     (len(store), int(store.get("miso")["views"]))
    (1, 1)
    """

    def __init__(
        self, path: Path | str, timeout_seconds: float = 5.0, *, without_log: bool = False
    ) -> None:
        self._db = Database(
            Path(path), SCHEMA, timeout_seconds, without_log=without_log, marked_since=MARKED_SINCE
        )

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing twice is no fault."""
        self._db.close()

    def reading(self) -> AbstractContextManager[None]:
        """All that is read inside is one state of the store; others go on changing it meanwhile."""
        return self._db.transaction("DEFERRED")

    def __len__(self) -> int:
        """Number of cards that are not forgotten."""
        return int(self._db.value("SELECT count(*) FROM cards WHERE forgotten_at IS NULL"))

    @property
    def embedder_id(self) -> str | None:
        """Id of the embedder of all vectors here; None while there is no card."""
        return self._model()[0]

    @property
    def revision(self) -> int:
        """A number that grows with each change of live cards, their words, names or vectors.

        A touch, a citation, a pin or a review leaves it: an index made of the words still holds.
        """
        return int(self._db.value("SELECT revision FROM state"))

    def get(self, id: str) -> "pd.Series[Any]":
        """One card, forgotten or not, as a row of `cards`."""
        return self._table([self._find(id, forgotten=None)]).iloc[0]

    def cards(self, forgotten: bool = False, *, ids: Ids | None = None) -> pd.DataFrame:
        """The table of `load_cards`, in order of adding, and the store's own columns after it.

        forgotten  True takes in the forgotten cards
        ids        only these cards, in the order given; an unknown or forgotten one: StoreError
        returns    DataFrame indexed by id; the last columns are tau_days, last_review (NaT =
                   never), interval_days (NaN = none yet), helpful, bad, forgotten_at, strength
        """
        if ids is None:
            return self._table(self._all(FIELDS, forgotten))
        with self.reading():
            return self._table([self._find(id, None if forgotten else False) for id in _ids(ids)])

    def vectors(self, ids: Ids | None = None, forgotten: bool = False) -> Vectors:
        """Vectors of these cards, or of all in the order of `cards`: shape (n, d), float32.

        Raises StoreError for an unknown id, and for a forgotten one unless `forgotten` is True.
        """
        if ids is None:
            blobs = [row["vector"] for row in self._all(["vector"], forgotten)]
        else:
            with self.reading():  # all of one model, whatever others write
                wanted = None if forgotten else False
                blobs = [self._find(id, wanted)["vector"] for id in _ids(ids)]
        with self._db.decoding():
            rows = np.frombuffer(bytearray().join(blobs), "<f4")
            return rows.reshape(len(blobs), -1 if blobs else self._model()[1])

    def add(
        self,
        id: str,
        text: str,
        *,
        vector: ArrayLike,
        embedder_id: str,
        now: datetime,
        **fields: object,
    ) -> None:
        """Add a card; any other column of `cards` may be given, or takes its default.

        Raises ValueError for a bad field, a time after `now`, a vector of another dimension;
        StoreError for an id that is taken, or vectors of another embedder.
        """
        card = record(f"card {id!r}", {"id": id, "text": text, **fields}, now)
        self._insert([card], [vector], embedder_id)

    def add_many(
        self, cards: pd.DataFrame, vectors: ArrayLike, embedder_id: str, now: datetime
    ) -> None:
        """Add a table of cards indexed by id, vectors of shape (n, d): all of them or none."""
        rows = zip(_ids(cards.index), cards.to_dict("records"), strict=True)
        named = [{"id": id} | {str(name): v for name, v in row.items()} for id, row in rows]
        checked = [record(f"card {row['id']!r}", row, now) for row in named]
        self._insert(checked, vectors, embedder_id)

    def set_vectors(self, embedder_id: str, ids: Ids, vectors: ArrayLike) -> None:
        """Replace vectors; those of another model or dimension only for all cards at once.

        ids  then every card, the forgotten ones too: the index of `cards(forgotten=True)`
        Raises StoreError that names a card left out.
        """
        index, matrix = _ids(ids), vector_rows(vectors, len(ids))
        model = record_field("vectors", "embedder_id", embedder_id)
        with self._db.transaction():
            rest = {row["id"] for row in self._all(["id"], forgotten=True)} - set(index)
            if rest and self._model() != (model, matrix.shape[1]):
                held = "{!r} ({} dimensions)".format(*self._model())
                said = f"{len(rest)} cards, such as {min(rest)!r}, would keep vectors of {held}"
                raise self._db.error(f"{said}, not of {model!r}: give those of all cards")
            for id, vector in zip(index, matrix, strict=True):
                self._find(id, forgotten=None)
                self._update(id, embedder_id=model, vector=vector.tobytes())

    def unstaged(self, embedder_id: str) -> dict[str, str]:
        """Text by id of the cards, forgotten ones too, that have no vector of this embedder.

        A vector that waits (`stage`) counts. Raises StoreError for a file that is read-only.
        """
        with self._db.transaction():  # before anybody embeds what could not be kept
            self._db.run("UPDATE state SET revision = 0 WHERE 0")  # a read-only file refuses it
            return self._unstaged(canonical(embedder_id))

    def stage(self, embedder_id: str, texts: Mapping[str, str], vectors: ArrayLike) -> None:
        """Keep vectors of another embedder beside those in use; no search sees them.

        texts    id -> the text that was embedded; if it changed meanwhile, its vector is left out
        vectors  shape (n, d), in the order of texts
        Raises ValueError for another dimension than that of the vectors of this embedder that wait
        already: `drop_staged` wipes them.
        """
        matrix = vector_rows(vectors, len(texts))
        model = record_field("vectors", "embedder_id", embedder_id)
        size = "SELECT length(vector) / 4 FROM staged WHERE embedder_id = ? LIMIT 1"
        insert = """INSERT OR REPLACE INTO staged
            SELECT id, :model, :vector FROM cards WHERE id = :id AND text = :text"""
        with self._db.transaction():
            for (held,) in self._db.rows(size, [model]):
                if held != matrix.shape[1]:
                    said = f"vectors have {matrix.shape[1]} dimensions, those that wait {held}"
                    todo = f"store.drop_staged({model!r}) wipes them, then start anew"
                    raise ValueError(f"{self._db.path.name}, embedder {model!r}: {said}: {todo}")
            for (id, text), vector in zip(texts.items(), matrix, strict=True):
                new = {"id": id, "text": text, "model": model, "vector": vector.tobytes()}
                self._db.run(insert, new)

    def use_staged(self, embedder_id: str) -> bool:
        """Put the vectors that wait in place of all others at once; False while one is missing.

        What waits of other embedders goes on waiting: `drop_staged` wipes it.
        """
        switch = """UPDATE cards SET embedder_id = :model, vector =
            (SELECT vector FROM staged WHERE id = cards.id AND embedder_id = :model)
            WHERE embedder_id <> :model"""
        model = canonical(embedder_id)
        with self._db.transaction():
            if self._unstaged(model):
                return False
            self._db.run(switch, {"model": model})
            self._db.run("DELETE FROM staged WHERE embedder_id = :model", {"model": model})
            return True

    def drop_staged(self, embedder_id: str) -> None:
        """Wipe the vectors of this embedder that wait (`stage`); those in use stay."""
        with self._db.transaction():
            model = canonical(embedder_id)
            self._db.run("DELETE FROM staged WHERE embedder_id = :model", {"model": model})

    def touch(self, ids: Ids, now: datetime, *, skip_gone: bool = False) -> list[str]:
        """Restart the clocks of these cards and count a view of each; no clock ever runs back.

        skip_gone  True passes over cards that were forgotten or purged: no StoreError
        returns    the ids of the cards touched
        """
        index = _ids(ids)
        with self._db.transaction():
            live = "SELECT 1 FROM cards WHERE id = ? AND forgotten_at IS NULL"
            touched = [id for id in index if not skip_gone or self._db.rows(live, [id])]
            for id in touched:
                restarted = clock("now", now, self._find(id), "last_accessed_at")
                self._update(id, count="views", last_accessed_at=restarted)
        return touched

    def cite(self, id: str) -> None:
        """Count a citation of a card."""
        with self._db.transaction():
            self._find(id)
            self._update(id, count="cites")

    def edit(
        self, id: str, *, vector: ArrayLike | None = None, embedder_id: str = "", **fields: object
    ) -> None:
        """Change fields of a card and count an edit; a new text needs its new vector."""
        for name in fields:
            if name not in EDITABLE:
                raise ValueError(f"{name} cannot be edited, only {', '.join(EDITABLE)}")
        if not fields and vector is None:
            raise ValueError(f"card {id!r}: nothing to edit was given")
        new = {name: record_field(f"card {id!r}", name, value) for name, value in fields.items()}
        with self._db.transaction():
            text = self._find(id)["text"]
            if new.get("text", text) != text and vector is None:
                raise ValueError(f"card {id!r}: a new text needs its new vector")
            if vector is not None:
                new["vector"] = self._fitting([vector], 1, embedder_id).tobytes()
            self._update(id, count="edits", **new)

    def pin(self, id: str, pinned: bool = True) -> None:
        """Pin a card: it neither fades nor can be forgotten or purged. False unpins it."""
        with self._db.transaction():
            self._find(id)
            self._update(id, pinned=record_field(f"card {id!r}", "pinned", pinned))

    def set_review(
        self,
        id: str,
        tau_days: float,
        last_review: datetime,
        interval_days: int | None,
        helpful: int,
        bad: int,
        tau_before: float | None = None,
    ) -> None:
        """Keep what a review decided: τ, its time, the interval, the counts since then.

        tau_before  the τ that the review started from: a StoreError if another review came between
        """
        given = zip(REVIEW, (tau_days, None, interval_days, helpful, bad), strict=True)
        new = {name: record_field(f"card {id!r}", name, value) for name, value in given}
        with self._db.transaction():
            held = self._find(id)
            if tau_before not in (None, held["tau_days"]):
                raise self._db.error(f"card {id!r} was reviewed meanwhile: review it again")
            new["last_review"] = clock("last_review", last_review, held, "last_review")
            self._update(id, **new)

    def soft_forget(self, id: str, now: datetime) -> None:
        """Take a card out of `cards`, `vectors` and search until it is restored."""
        with self._db.transaction():
            self._update(id, forgotten_at=clock("now", now, self._unpinned(id, forgotten=False)))

    def restore(self, id: str) -> None:
        """Bring a forgotten card back as it was."""
        with self._db.transaction():
            self._find(id, forgotten=True)
            self._update(id, forgotten_at=None)

    def purge(self, ids: Ids, confirm: bool = False) -> None:
        """Delete cards for good; without `confirm` a StoreError says which they would be."""
        with self._db.transaction():
            cards = [self._unpinned(id, forgotten=None) for id in _ids(ids)]
            if not confirm:
                told = ", ".join(f"{card['id']!r} ({short(card['text'])})" for card in cards)
                said = f"{len(cards)} cards would be deleted for good, {told}"
                raise self._db.error(f"{said}: say confirm=True")
            for card in cards:
                self._db.run("DELETE FROM cards WHERE id = ?", [card["id"]])

    def backup(self, path: Path | str) -> None:
        """Copy the store to a new file, whole, also while it is open and others change it.

        Raises StoreError if there is a file of that name already, or it cannot be written.
        """
        self._db.backup(Path(path))

    def export_csv(self, path: Path | str) -> None:
        """Write every card, the forgotten ones too, as CSV; vectors as base64 of their float32.

        The file is replaced whole or not at all. Raises StoreError if it cannot be written.
        """
        target, own = Path(path).resolve(), self._db.path
        if target in (own, *(own.with_name(own.name + end) for end in ("-wal", "-shm"))):
            raise self._db.error("this is the store itself: choose another file for the export")
        with self._db.decoding():
            write_export(Path(path), self._all(STORED, forgotten=True))

    def import_csv(self, path: Path | str, now: datetime) -> None:
        """Add every card of an exported file, all of them or none; errors as `add_many`."""
        cards, vectors, embedder_id = read_export(Path(path), now)
        if cards:
            self._insert(cards, vectors, embedder_id)

    def _insert(self, cards: list[Record], vectors: Any, embedder_id: str) -> None:
        columns, values = ", ".join(STORED), ", ".join(f":{name}" for name in STORED)
        with self._db.transaction():
            matrix = self._fitting(vectors, len(cards), embedder_id)
            model = record_field("vectors", "embedder_id", embedder_id)
            for card, vector in zip(cards, matrix, strict=True):
                id, taken = card["id"], "SELECT forgotten_at FROM cards WHERE id = ?"
                for (forgotten,) in self._db.rows(taken, [card["id"]]):
                    todo = ", forgotten: restore or purge it" if forgotten else ""
                    raise self._db.error(f"there is a card {id!r} already{todo}")
                row = {**card, "embedder_id": model, "vector": vector.tobytes()}
                self._db.run(f"INSERT INTO cards ({columns}) VALUES ({values})", row)

    def _fitting(self, vectors: Any, n: int, embedder_id: str) -> Vectors:
        """Vectors that may stand beside those of the store."""
        matrix, model = vector_rows(vectors, n), record_field("vectors", "embedder_id", embedder_id)
        held, dimensions = self._model()
        if held not in (None, model):
            said = f"its vectors are of {held!r}, these of {model!r}"
            raise self._db.error(f"{said}: never mix them, `reembed` replaces all")
        if held and dimensions != matrix.shape[1]:
            raise ValueError(f"vectors have {matrix.shape[1]} dimensions, the store {dimensions}")
        return matrix

    def _model(self) -> tuple[str | None, int]:
        found = self._db.rows("SELECT embedder_id, length(vector) / 4 FROM cards LIMIT 1")
        with self._db.decoding():
            return (canonical(str(found[0][0])), int(found[0][1])) if found else (None, 0)

    def _unstaged(self, model: str) -> dict[str, str]:
        query = """SELECT id, text FROM cards WHERE embedder_id <> :model AND id NOT IN
            (SELECT id FROM staged WHERE embedder_id = :model) ORDER BY position"""
        return {row["id"]: row["text"] for row in self._db.rows(query, {"model": model})}

    def _all(self, columns: Sequence[str], forgotten: bool) -> list[sqlite3.Row]:
        live = "" if forgotten else "WHERE forgotten_at IS NULL"
        return self._db.rows(f"SELECT {', '.join(columns)} FROM cards {live} ORDER BY position")

    def _table(self, rows: Sequence[sqlite3.Row]) -> pd.DataFrame:
        with self._db.decoding():
            return card_table([[row[name] for name in FIELDS] for row in rows])

    def _find(self, id: str, forgotten: bool | None = False) -> sqlite3.Row:
        """A card that is live (forgotten False), forgotten (True) or either (None)."""
        if not isinstance(id, str):
            raise ValueError(f"id is {id!r}: an id must be a str")
        found = self._db.rows("SELECT * FROM cards WHERE id = ?", [id])
        if not found:
            raise self._db.error(f"no card has the id {id!r}")
        if forgotten is not None and bool(found[0]["forgotten_at"]) != forgotten:
            state = "not forgotten" if forgotten else "forgotten: restore it first"
            raise self._db.error(f"card {id!r} is {state}")
        return found[0]

    def _unpinned(self, id: str, forgotten: bool | None) -> sqlite3.Row:
        card = self._find(id, forgotten)
        if card["pinned"]:
            raise self._db.error(f"card {id!r} is pinned: unpin it first")
        return card

    def _update(self, id: str, count: str = "", **values: object) -> None:
        changes = [f"{name} = :{name}" for name in values]
        changes += [f"{count} = {count} + 1"] if count else []
        self._db.run(f"UPDATE cards SET {', '.join(changes)} WHERE id = :id", {**values, "id": id})


def _ids(ids: Ids) -> pd.Index:
    if isinstance(ids, str):
        raise ValueError(f"ids is {ids!r}: must be a list of ids")
    return card_ids(ids)
