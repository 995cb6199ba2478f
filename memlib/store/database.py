"""One SQLite file of this course: whole changes or none, and one clear error for every fault."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

APPLICATION_ID = 0x4D454D4C  # "MEML", in the file's header
FAULTS = {
    sqlite3.SQLITE_BUSY: "locked by another program for longer than the time-out: try again",
    sqlite3.SQLITE_READONLY: "read-only, the file or its folder (or another user's -wal or -shm "
    "beside it): nothing can be changed",
    sqlite3.SQLITE_FULL: "no space is left on the disk: nothing was changed",
    sqlite3.SQLITE_NOTADB: "not a database: give another name, or move the file away",
    sqlite3.SQLITE_CORRUPT: "damaged: go back to a copy made by `backup`, or to an exported CSV",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: is its folder there, and may you write to it?",
}
LOG, INDEX = "-wal", "-shm"  # beside an open file: changes that it lacks, and where they stand
WHOLE = "-whole"  # there for the moment in which a file that lacks nothing has no log
PAUSES = (0.01, 0.1, 1.0)  # seconds: another program may be just about to make the log


class StoreError(RuntimeError):
    """What a store cannot do: one line that names the file and the reason. Nothing was changed."""


class Database:
    """A file that belongs to this course, for one thread of one process.

    path             made when it is not there, or empty
    schema           statements by version: the first list makes an empty file into version 1, each
                     further one raises it by 1; a file of an older version gets what it lacks
    timeout_seconds  how long to wait while another program changes the file
    without_log      True opens a file whose log is missing, with what it holds
    marked_since     the version since which a closed file's header says that it is closed
    A change is on the disk when its transaction ends, and survives a kill from then on. While the
    file is open the latest changes stand in a log beside it, so a plain copy of the file may lack
    them. Its header gives such a copy away: it is refused. `backup` makes a whole one.
    Raises StoreError for another program's file (which stays as it is), a newer version, a file
    that cannot be opened, was cut or lacks its log; later for a call after `close`, or from another
    thread or process. A read-only file can be read, as the version that it is; a change of it
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

    def __init__(
        self,
        path: Path,
        schema: Sequence[Sequence[str]],
        timeout_seconds: float,
        *,
        without_log: bool = False,
        marked_since: int = 1,
    ) -> None:
        self.name, self.path, self._schema = path.name, path.resolve(), schema
        self._owner, self._read_only = (os.getpid(), threading.get_ident()), False
        self._log = _beside(self.path, LOG)
        _lend_permissions(self.path)
        for pause in (*PAUSES, None):
            self._connect(timeout_seconds)
            try:
                with self.transaction("DEFERRED"):  # before anything is written: whose file is it?
                    version = self._version()
                    lacks_log = self._lacks_log()
                    whole = self.path.stat().st_size % self.value("PRAGMA page_size") == 0
                    if not whole and (lacks_log or not self._log.exists()):
                        raise self.error(FAULTS[sqlite3.SQLITE_CORRUPT])
            except BaseException:
                self._leave()
                raise
            marked = version >= marked_since or not version
            if without_log or not (lacks_log and marked) or _beside(self.path, WHOLE).exists():
                return self._prepare(version, time.monotonic() + timeout_seconds)
            self._leave()
            time.sleep(pause or 0)
        said = f"a copy of an open store, without its log {self._log.name} and the changes in it"
        todo = "copy by `backup`, or open what is there with without_log=True"
        raise self.error(f"{said}: {todo}")

    def close(self) -> None:
        """Close the file; closing twice is no fault."""
        if self._finish.alive:
            self._check()
            with self._clearly():
                self._finish()

    @contextmanager
    def transaction(self, mode: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE") -> Iterator[None]:
        """All that runs inside happens, or none of it; DEFERRED reads one state of the file.

        A DEFERRED one inside another is a part of it.
        """
        self._check()
        if self._db.in_transaction and mode == "DEFERRED":
            yield
            return
        if self._db.in_transaction:
            raise self.error("a change in the middle of reading: make it afterwards")
        if self._read_only and mode == "IMMEDIATE":
            raise self.error(FAULTS[sqlite3.SQLITE_READONLY])
        self.run(f"BEGIN {mode}")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            # SQLite itself rolls back when the disk is full
            if self._finish.alive and self._db.in_transaction:
                self.run("ROLLBACK")
            raise

    def run(self, statement: str, values: Any = ()) -> None:
        """Run a statement that returns nothing."""
        self._check()
        with self._clearly():
            self._db.execute(statement, values)

    def rows(self, query: str, values: Any = ()) -> list[sqlite3.Row]:
        """Every row that a query finds."""
        self._check()
        with self._clearly():
            return self._db.execute(query, values).fetchall()

    def value(self, query: str) -> Any:
        """The first value of the only row that a query finds."""
        return self.rows(query)[0][0]

    def backup(self, path: Path) -> None:
        """Copy one state of the file, also while others change it; never over another file."""
        self._check()
        for file in (path, *(_beside(path, end) for end in (LOG, INDEX, "-journal"))):
            if os.path.lexists(file):
                raise self.error(f"{file.name} is there already: give the copy another name")
        new = _beside(path, f".{os.getpid()}.tmp")
        try:
            new.touch(mode=0o600)
            with self._clearly(path.name), closing(sqlite3.connect(new)) as copy:
                self._db.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE").fetchall()  # it lacks no log
            new.chmod(self.path.stat().st_mode & 0o777)
            _name_anew(new, path)
        except OSError as error:
            raise StoreError(f"{path.name}: cannot be written: {error.strerror}") from error
        finally:
            new.unlink(missing_ok=True)

    def error(self, what: str) -> StoreError:
        """A StoreError that names the file."""
        return StoreError(f"{self.name}: {what}")

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """What was kept and cannot be read back is damage, whatever stumbles over it."""
        try:
            yield
        except (TypeError, ValueError) as error:
            raise self.error(FAULTS[sqlite3.SQLITE_CORRUPT]) from error

    def _connect(self, timeout_seconds: float) -> None:
        with self._clearly():
            self._db = sqlite3.connect(  # whose thread it is `_check` looks after
                self.path, timeout=timeout_seconds, isolation_level=None, check_same_thread=False
            )
        self._db.row_factory = sqlite3.Row
        self._finish = weakref.finalize(self, _close_and_mark, self._db, self.path, os.getpid())

    def _prepare(self, version: int, deadline: float) -> None:
        try:
            self.run("PRAGMA synchronous = FULL")
            self.run("PRAGMA secure_delete = ON")
            if version < len(self._schema):  # before there is a log: so no copy is without tables
                self._raise_version(version)
            with _whole_without_log(self.path):
                self._switch_to_wal(deadline)
                if self._lacks_log():
                    self._begin_log()
        except BaseException:
            self.close()
            raise

    def _leave(self) -> None:
        """Close a file that is another's, or not whole, as it is."""
        self._finish.detach()
        self._db.close()

    def _check(self) -> None:
        if not self._finish.alive:
            raise self.error("closed: open it anew")
        if self._owner != (os.getpid(), threading.get_ident()):
            raise self.error("opened by another thread or process: open it anew in this one")

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
                if code & 0xFF == sqlite3.SQLITE_READONLY:  # then it is read without a log
                    self._read_only = True
                    return
                if code != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _lacks_log(self) -> bool:
        """Whether the latest changes stand in a log, says the header, and there is none."""
        wal = self.value("PRAGMA journal_mode") == "wal"
        return wal and not (self._log.exists() and self._log.stat().st_size)

    def _begin_log(self) -> None:
        """A log that is not empty, at once, for the eyes of the next one who opens the file."""
        self.run("PRAGMA synchronous = OFF")  # what it holds is in the file already
        with suppress(StoreError), self.transaction():  # another has begun it, or may alone
            self.run(f"PRAGMA user_version = {self.value('PRAGMA user_version')}")
        self.run("PRAGMA synchronous = FULL")

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
    def _clearly(self, name: str = "") -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the kind, without its details
            said = FAULTS.get(code, str(error))
            raise StoreError(f"{name or self.name}: {said}") from error


def _beside(file: Path, end: str) -> Path:
    return file.with_name(file.name + end)


@contextmanager
def _whole_without_log(file: Path) -> Iterator[None]:
    """A kill between a log's beginning, or end, and the header's word on it leaves a whole file."""
    with suppress(OSError):
        _beside(file, WHOLE).touch(mode=0o600)
    try:
        yield
    finally:
        with suppress(OSError):
            _beside(file, WHOLE).unlink()


def _close_and_mark(db: sqlite3.Connection, file: Path, process: int) -> None:
    """Close; who leaves last puts the log into the file, whose header then says it is closed.

    SQLite refuses that while others have the file open. Also runs for what nobody closed.
    """
    if os.getpid() == process:  # not in a fork's child, which has no part in the locks
        with suppress(sqlite3.Error), _whole_without_log(file):
            db.rollback()
            db.execute("PRAGMA journal_mode = DELETE").fetchall()
    db.close()


def _lend_permissions(file: Path) -> None:
    """A log that a reader of a once read-only file left behind may be written if the file may."""
    with suppress(OSError):
        writers = file.stat().st_mode & 0o222
        for beside in (_beside(file, LOG), _beside(file, INDEX)):
            mode = beside.stat().st_mode & 0o777 if beside.exists() else writers
            if writers & ~mode:
                beside.chmod(mode | writers)


def _name_anew(file: Path, name: Path) -> None:
    """Rename, but never over another file."""
    try:
        name.hardlink_to(file)
    except FileExistsError:
        raise
    except OSError:  # a disk without links
        name.touch(exist_ok=False)
        file.replace(name)
