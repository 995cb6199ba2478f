"""One SQLite file of this course: whole changes or none, and one clear error for every fault."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

APPLICATION_ID = 0x4D454D4C  # "MEML", in the file's header
FAULTS = {
    sqlite3.SQLITE_BUSY: "locked by another program for longer than the time-out: try again",
    sqlite3.SQLITE_READONLY: "read-only, the file or its folder: nothing can be changed",
    sqlite3.SQLITE_FULL: "no space is left on the disk: nothing was changed",
    sqlite3.SQLITE_NOTADB: "not a database: give another name, or move the file away",
    sqlite3.SQLITE_CORRUPT: "damaged: go back to a copy or an exported CSV",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: is its folder there, and may you write to it?",
}


class StoreError(RuntimeError):
    """What a store cannot do: one line that names the file and the reason. Nothing was changed."""


class Database:
    """A file that belongs to this course, for one thread of one process.

    path             made when it is not there, or empty
    schema           statements by version: the first list makes an empty file into version 1, each
                     further one raises it by 1; a file of an older version gets what it lacks
    timeout_seconds  how long to wait while another program changes the file
    A change is on the disk when its transaction ends, and survives a kill from then on.
    Raises StoreError for another program's file (which stays as it is), a newer version, a file
    that cannot be opened. A read-only file can be read, as the version that it is; a change of it
    raises StoreError.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     base = Database(Path(folder) / "notes.db", [["CREATE TABLE note (text)"]], 5)
    ...     with base.transaction():
    ...         base.run("INSERT INTO note VALUES (?)", ["Miso naps."])
    ...     notes = base.value("SELECT count(*) FROM note")
    ...     base.close()
    >>> notes
    1
    """

    def __init__(self, path: Path, schema: Sequence[Sequence[str]], timeout_seconds: float) -> None:
        self.name, self.path, self._schema = path.name, path.resolve(), schema
        with self._clearly():
            self._db = sqlite3.connect(
                path.absolute(), timeout=timeout_seconds, isolation_level=None
            )
        self._db.row_factory = sqlite3.Row
        try:
            with self.transaction("DEFERRED"):  # before anything is written: whose file is it?
                version = self._version()
            self.run("PRAGMA synchronous = FULL")
            self.run("PRAGMA secure_delete = ON")
            self._switch_to_wal(time.monotonic() + timeout_seconds)
            if version < len(schema):
                self._raise_version(version)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; closing twice is no fault."""
        self._db.close()

    @contextmanager
    def transaction(self, mode: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE") -> Iterator[None]:
        """All that runs inside happens, or none of it; DEFERRED reads one state of the file."""
        self.run(f"BEGIN {mode}")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite itself rolls back when the disk is full
                self.run("ROLLBACK")
            raise

    def run(self, statement: str, values: Any = ()) -> None:
        """Run a statement that returns nothing."""
        with self._clearly():
            self._db.execute(statement, values)

    def rows(self, query: str, values: Any = ()) -> list[sqlite3.Row]:
        """Every row that a query finds."""
        with self._clearly():
            return self._db.execute(query, values).fetchall()

    def value(self, query: str) -> Any:
        """The first value of the only row that a query finds."""
        return self.rows(query)[0][0]

    def error(self, what: str) -> StoreError:
        """A StoreError that names the file."""
        return StoreError(f"{self.name}: {what}")

    def _version(self) -> int:
        """0 for an empty file; refuses another program's and a newer one."""
        owner, version = self.value("PRAGMA application_id"), self.value("PRAGMA user_version")
        if owner == APPLICATION_ID and version > len(self._schema):
            known = f"version {version}, this one reads up to {len(self._schema)}"
            raise self.error(f"written by a newer memlib ({known}): update memlib")
        if owner != APPLICATION_ID and (owner or self.value("SELECT count(*) FROM sqlite_master")):
            raise self.error("a database of another program: give another name")
        return int(version) if owner == APPLICATION_ID else 0

    def _switch_to_wal(self, deadline: float) -> None:
        """Try until the deadline: here SQLite itself does not wait for a program that opens too."""
        while True:
            try:
                return self.run("PRAGMA journal_mode = WAL")
            except StoreError as error:
                code = getattr(error.__cause__, "sqlite_errorcode", 0)
                if code != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _raise_version(self, version: int) -> None:
        try:
            with self.transaction():  # still older? two programs may open it at once
                for statements in self._schema[self._version() :]:
                    for statement in statements:
                        self.run(statement)
                self.run(f"PRAGMA application_id = {APPLICATION_ID}")
                self.run(f"PRAGMA user_version = {len(self._schema)}")
        except StoreError as error:
            code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
            if not version or code != sqlite3.SQLITE_READONLY:
                raise

    @contextmanager
    def _clearly(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the kind, without its details
            raise self.error(FAULTS.get(code, str(error))) from error
