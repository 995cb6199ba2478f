"""The file under a store: made once, another's left alone, a change whole or not at all."""

import itertools
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from memlib.store.database import APPLICATION_ID, Database, StoreError

ROOT = Path(__file__).parents[3]
SCHEMA = [["CREATE TABLE note (text TEXT UNIQUE)"]]
LATER = [*SCHEMA, ["CREATE TABLE tag (name TEXT)", "INSERT INTO tag VALUES ('new')"]]


def opened(path: Path, timeout_seconds: float = 5) -> Database:
    return Database(path, SCHEMA, timeout_seconds)


def note(base: Database, *texts: str) -> None:
    with base.transaction():
        for text in texts:
            base.run("INSERT INTO note VALUES (?)", [text])


def notes(path: Path) -> list[str]:
    return notes_of(opened(path))


def notes_of(base: Database) -> list[str]:
    with closing(base):
        return [row["text"] for row in base.rows("SELECT text FROM note ORDER BY text")]


def older_file(path: Path, text: str) -> None:
    """A file of version 1 as it was closed before closing left a mark: its header says WAL."""
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute(SCHEMA[0][0])
        base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        base.execute("PRAGMA user_version = 1")
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("INSERT INTO note VALUES (?)", [text])


def check_refused(path: Path, said: str) -> None:
    """One line that begins with the file's name; the file stays as it was."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=f"^{path.name}: {said}") as caught:
        opened(path)
    assert "\n" not in str(caught.value)
    assert before is None or path.read_bytes() == before


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write everywhere: step down to a user who may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        folder.chmod(0o777)


# --- opening -------------------------------------------------------------------------------


def test_a_new_file_is_marked_as_the_course_s_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    base = opened(path)
    note(base, "tea")
    assert base.value("PRAGMA application_id") == APPLICATION_ID == 0x4D454D4C
    assert base.value("PRAGMA user_version") == 1
    assert base.value("PRAGMA journal_mode") == "wal"
    assert base.value("PRAGMA synchronous") == 2
    base.close()
    base.close()
    assert path.read_bytes()[68:72] == b"MEML"
    assert notes(path) == ["tea"]
    assert [p.name for p in tmp_path.iterdir()] == ["notes.db"]


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "notes.db").touch()
    assert notes(tmp_path / "notes.db") == []


@pytest.mark.parametrize(
    "content",
    [
        *(b"id,text\nmiso,Miso naps.\n", b"\0" * 4096, b"%PDF-1.7" * 700),
        *(b"SQLite format 3\0", b"SQLite format 3\0" + b"x" * 5000),
    ],
)
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.db").write_bytes(content)
    check_refused(tmp_path / "notes.db", "not a database")


@pytest.mark.parametrize("mark", [0, 0x0F055112])
def test_another_program_s_database_is_left_alone(tmp_path: Path, mark: int) -> None:
    path = tmp_path / "photos.db"
    with sqlite3.connect(path) as other:
        other.execute(f"PRAGMA application_id = {mark}")
        other.execute("CREATE TABLE photo (name)")
    other.close()
    check_refused(path, "a database of another program")
    assert [p.name for p in tmp_path.iterdir()] == ["photos.db"]


def test_a_marked_database_without_a_table_is_another_program_s_too(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "photos.db")
    other.execute("PRAGMA application_id = 7")
    other.close()
    check_refused(tmp_path / "photos.db", "a database of another program")


def test_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    opened(path).close()
    later = sqlite3.connect(path)
    later.execute("PRAGMA user_version = 2")
    later.close()
    check_refused(
        path, r"written by a newer memlib \(version 2, this one reads up to 1\): update memlib"
    )


def test_an_older_version_gets_what_it_lacks_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    note(base := opened(path), "tea")
    base.close()
    for _ in range(2):  # the second time nothing is left to do
        base = Database(path, LATER, 5)
        assert base.value("PRAGMA user_version") == 2
        assert [tuple(row) for row in base.rows("SELECT * FROM note, tag")] == [("tea", "new")]
        base.close()
    new = Database(tmp_path / "new.db", LATER, 5)
    assert new.value("PRAGMA user_version") == 2 and new.value("SELECT name FROM tag") == "new"
    new.close()


def test_a_version_is_raised_whole_or_not_at_all(tmp_path: Path) -> None:
    note(base := opened(tmp_path / "notes.db"), "tea")
    base.close()
    broken = [*SCHEMA, ["CREATE TABLE tag (name TEXT)", "INSERT INTO missing VALUES (1)"]]
    with pytest.raises(StoreError, match=r"^notes\.db: no such table: missing"):
        Database(tmp_path / "notes.db", broken, 5)
    assert notes(tmp_path / "notes.db") == ["tea"]
    base = Database(tmp_path / "notes.db", LATER, 5)
    assert base.value("SELECT name FROM tag") == "new"
    base.close()


def test_a_folder_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    check_refused(tmp_path / "folder.db", "cannot be opened")
    check_refused(tmp_path / "none" / "notes.db", "cannot be opened: is its folder there")


def test_a_name_that_sqlite_would_read_otherwise_is_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=ro", "Zoë’s 猫.db"):
        note(base := opened(Path(name)), "tea")
        base.close()
        assert (tmp_path / name).is_file()
        assert notes(Path(name)) == ["tea"]


# --- transactions --------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, StoreError])
def test_a_change_that_is_broken_off_leaves_nothing(
    tmp_path: Path, error: type[BaseException]
) -> None:
    with closing(opened(tmp_path / "notes.db")) as base:
        note(base, "tea")
        with pytest.raises(error), base.transaction():
            base.run("INSERT INTO note VALUES ('half')")
            raise error
        with pytest.raises(StoreError, match=r"notes\.db: UNIQUE constraint failed"):
            note(base, "jam", "tea")
        assert notes(tmp_path / "notes.db") == ["tea"]
        note(base, "jam")
    assert notes(tmp_path / "notes.db") == ["jam", "tea"]


def test_a_reading_transaction_sees_one_state(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(opened(path)) as one, closing(opened(path)) as two:
        note(one, "tea")
        with one.transaction("DEFERRED"):
            assert one.value("SELECT count(*) FROM note") == 1
            note(two, "jam")
            assert one.value("SELECT count(*) FROM note") == 1
        assert one.value("SELECT count(*) FROM note") == 2


def test_locked_for_longer_than_the_time_out(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(opened(path)) as one, closing(opened(path, timeout_seconds=0.05)) as two:
        with one.transaction():
            one.run("INSERT INTO note VALUES ('tea')")
            with pytest.raises(StoreError, match=r"^notes\.db: locked by another program for lo"):
                note(two, "jam")
            assert two.value("SELECT count(*) FROM note") == 0  # reading is never locked
        note(two, "jam")
    assert notes(path) == ["jam", "tea"]


def test_a_closed_file_says_so(tmp_path: Path) -> None:
    base = opened(tmp_path / "notes.db")
    base.close()
    with pytest.raises(StoreError, match=r"^notes\.db: closed: open it anew"):
        note(base, "tea")


# --- disks that refuse ---------------------------------------------------------------------


def test_a_read_only_file_is_read_and_never_changed(open_folder: Path) -> None:
    path = open_folder / "notes.db"
    note(base := opened(path), "tea")
    base.close()
    path.chmod(0o444)
    before = path.read_bytes()
    with as_nobody():
        assert notes(path) == ["tea"]
        base = opened(path)
        with pytest.raises(StoreError, match=r"^notes\.db: read-only, the file or its folder"):
            note(base, "jam")
        base.close()
    assert path.read_bytes() == before


def test_a_read_only_file_of_an_older_version_is_read_as_it_is(open_folder: Path) -> None:
    path = open_folder / "notes.db"
    note(base := opened(path), "tea")
    base.close()
    path.chmod(0o444)
    before = path.read_bytes()
    with as_nobody():
        base = Database(path, LATER, 5)
        assert base.value("SELECT text FROM note") == "tea"
        with pytest.raises(StoreError, match=r"^notes\.db: read-only, the file or its folder"):
            note(base, "jam")
        base.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", [0o444, 0o666])
def test_a_read_only_folder_is_read_and_told(open_folder: Path, mode: int) -> None:
    note(base := opened(open_folder / "notes.db"), "tea")
    base.close()
    (open_folder / "notes.db").chmod(mode)
    open_folder.chmod(0o555)
    with as_nobody():
        base = opened(open_folder / "notes.db")
        assert base.value("SELECT text FROM note") == "tea"
        with pytest.raises(StoreError, match=r"^notes\.db: read-only, the file or its folder"):
            note(base, "jam")
        base.close()
        check_refused(open_folder / "new.db", "cannot be opened: .* may you write to it")
    assert [p.name for p in open_folder.iterdir()] == ["notes.db"]


def test_a_file_that_was_read_only_once_can_be_changed_again(open_folder: Path) -> None:
    path = open_folder / "notes.db"
    with as_nobody():
        note(base := opened(path), "tea")
        base.close()
        path.chmod(0o444)
        assert notes(path) == ["tea"]
        assert [p.name for p in open_folder.iterdir()] == ["notes.db"]  # no trace of the reader
        path.chmod(0o644)
        note(base := opened(path), "jam")
        base.close()
    assert notes(path) == ["jam", "tea"]


def test_a_log_that_a_reader_left_read_only_does_not_forbid_changes(open_folder: Path) -> None:
    path = open_folder / "notes.db"
    with as_nobody():
        older_file(path, "tea")
        path.chmod(0o444)
        with closing(sqlite3.connect(path)) as reader:
            assert reader.execute("SELECT * FROM note").fetchall() == [("tea",)]
        left = {p.name: p.stat().st_mode & 0o777 for p in open_folder.iterdir()}
        assert left == {name: 0o444 for name in ("notes.db", "notes.db-wal", "notes.db-shm")}
        path.chmod(0o644)
        note(base := Database(path, LATER, 5, marked_since=2), "jam")
        base.close()
    assert [p.name for p in open_folder.iterdir()] == ["notes.db"]
    assert notes_of(Database(path, LATER, 5)) == ["jam", "tea"]


def test_a_file_that_may_not_be_read_is_told(open_folder: Path) -> None:
    opened(open_folder / "notes.db").close()
    (open_folder / "notes.db").chmod(0o000)
    with as_nobody(), pytest.raises(StoreError, match=r"^notes\.db: cannot be opened"):
        opened(open_folder / "notes.db")


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    note(base := opened(path), *(f"{n:0500d}" for n in range(100)))
    base.close()
    content = bytearray(path.read_bytes())
    content[2 * 4096 : 6 * 4096] = b"\xff" * 4 * 4096
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"^notes\.db: damaged: go back to a copy"):
        notes(path)


@pytest.mark.parametrize("cut", [1, 100, 2000, 4095])
def test_a_file_cut_in_its_last_page_is_told(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "notes.db"
    note(base := opened(path), *(f"{n:0500d}" for n in range(100)))
    base.close()
    os.truncate(path, path.stat().st_size - cut)
    check_refused(path, "damaged: go back to a copy made by `backup`, or to an exported CSV")


# --- copies --------------------------------------------------------------------------------

HOLD = """
import sys
from itertools import count
from pathlib import Path
from tests.memlib.store.test_database import note, opened
base = opened(Path(sys.argv[1]))
for n in range(20):
    note(base, f"{n:02d}")
print("noted", flush=True)
"""
WAIT, WRITE = (
    "sys.stdin.read()",
    """
for n in count():
    note(base, f"one of {n}", f"two of {n}")
""",
)


@contextmanager
def another_program(path: Path, then: str = WAIT) -> Iterator[None]:
    """A process that has the file open, with twenty notes, and then waits or goes on; killed."""
    command, pipe = [sys.executable, "-c", HOLD + then, str(path)], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, encoding="utf-8") as worker:
        try:
            assert worker.stdout is not None and worker.stdout.readline() == "noted\n"
            yield
            assert worker.poll() is None
        finally:
            worker.kill()


LONE = r"a copy of an open store, without its log copy\.db-wal and .*: copy by `backup`"


@pytest.mark.parametrize("mode", [0o666, 0o444])
def test_a_plain_copy_of_an_open_file_is_refused_and_its_log_makes_it_whole(
    open_folder: Path, mode: int
) -> None:
    path, copy = open_folder / "notes.db", open_folder / "copy.db"
    with another_program(path):
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{open_folder / 'whole.db'}{end}")
        shutil.copy(path, copy)
        copy.chmod(mode)
        with as_nobody():
            for _ in range(2):  # nor does the first refusal open it to the next
                check_refused(copy, LONE)
            assert notes_of(Database(copy, SCHEMA, 5, without_log=True)) == []
        assert len(notes(path)) == 20
    assert len(notes(path)) == len(notes(open_folder / "whole.db")) == 20  # after a kill


def test_what_a_lone_copy_holds_can_be_had_and_then_opens_as_any_file(tmp_path: Path) -> None:
    path, copy = tmp_path / "notes.db", tmp_path / "copy.db"
    note(base := opened(path), "tea")
    base.close()
    note(base := opened(path), "jam")
    shutil.copy(path, copy)
    base.close()
    check_refused(copy, LONE)
    assert notes_of(Database(copy, SCHEMA, 5, without_log=True)) == ["tea"] == notes(copy)
    shutil.copy(path, tmp_path / "closed.db")
    assert notes(tmp_path / "closed.db") == ["jam", "tea"]


def test_a_copy_of_a_file_whose_first_tables_stand_in_the_log_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "copy.db", isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = WAL")
    check_refused(tmp_path / "copy.db", LONE)


def test_a_file_from_before_the_mark_opens_and_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    older_file(path, "tea")
    assert path.read_bytes()[18:20] == b"\2\2"
    assert notes_of(Database(path, LATER, 5, marked_since=2)) == ["tea"]
    assert path.read_bytes()[18:20] == b"\1\1"
    base = Database(path, LATER, 5, marked_since=2)
    assert path.read_bytes()[18:20] == b"\2\2"
    base.close()


@pytest.mark.parametrize("end", ["", "del base", "raise SystemExit(1)", "1 / 0"])
def test_a_program_that_ends_without_closing_leaves_a_file_that_opens(
    tmp_path: Path, end: str
) -> None:
    path = tmp_path / "notes.db"
    subprocess.run([sys.executable, "-c", HOLD + end, str(path)], cwd=ROOT, capture_output=True)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.db"] and len(notes(path)) == 20


def open_and_close(path: Path, told: int) -> None:
    for n in itertools.count():
        base = opened(path)
        note(base, f"{n:06}")
        os.write(told, b".")
        base.close()


def kill_often(folder: str) -> None:
    """Alone in its process, which forks: a child for each kill, in the midst of its loop."""
    path, draw = Path(folder) / "notes.db", random.Random(0)
    for _ in range(100):
        reader, writer = os.pipe()
        if not (child := os.fork()):
            open_and_close(path, writer)
        os.close(writer)
        assert os.read(reader, 1) == b"."
        time.sleep(draw.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told = 1 + len(os.read(reader, 10_000))
        os.close(reader)
        kept = notes(path)
        assert kept == [f"{n:06}" for n in range(len(kept))] and len(kept) >= told
        assert [p.name for p in path.parent.iterdir()] == ["notes.db"]
        path.unlink()


def test_a_kill_in_the_middle_of_opening_or_closing_leaves_a_file_that_opens(
    tmp_path: Path,
) -> None:
    code = "import sys; from tests.memlib.store.test_database import kill_often as run; "
    command = [sys.executable, "-c", code + "run(sys.argv[1])", str(tmp_path)]
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    assert subprocess.run(command, cwd=ROOT, env=quiet).returncode == 0


def test_a_backup_is_whole_while_another_program_writes(tmp_path: Path) -> None:
    path, found = tmp_path / "notes.db", []
    with another_program(path, WRITE):
        base = opened(path, 60)
        for n in range(5):
            base.backup(tmp_path / f"{n}.db")
            shown = {p.name for p in tmp_path.iterdir()} - {
                f"notes.db{e}" for e in ("-wal", "-shm")
            }
            assert shown == {"notes.db", *(f"{k}.db" for k in range(n + 1))}
            found.append(notes(tmp_path / f"{n}.db"))
        base.close()
    for texts in found:  # each change is there whole: one and two
        assert len(texts) >= 20 and len(texts) % 2 == 0
        assert {t[4:] for t in texts if "one" in t} == {t[4:] for t in texts if "two" in t}
    assert len(found[0]) < len(found[-1])


def test_a_backup_never_replaces_a_file_and_keeps_to_its_readers(tmp_path: Path) -> None:
    path, copy = tmp_path / "notes.db", tmp_path / "copy.db"
    note(base := opened(path), "tea")
    path.chmod(0o600)
    base.backup(copy)
    assert copy.stat().st_mode & 0o777 == 0o600
    before = copy.read_bytes()
    for taken in (copy, path):
        with pytest.raises(StoreError, match=rf"^notes\.db: {taken.name} is there already: give"):
            base.backup(taken)
    (tmp_path / "other.db-wal").write_bytes(b"of another file")
    with pytest.raises(StoreError, match=r"^notes\.db: other\.db-wal is there already"):
        base.backup(tmp_path / "other.db")
    with pytest.raises(StoreError, match=r"^copy\.db: cannot be written: No such file"):
        base.backup(tmp_path / "none" / "copy.db")
    assert copy.read_bytes() == before and not list(tmp_path.glob("*.tmp"))
    base.close()
    assert notes(copy) == ["tea"]


# --- another thread, another process -------------------------------------------------------


def of_another_thread(base: Database) -> list[str]:
    """What each method says to a thread that did not open the file."""
    calls: list[Callable[[], object]] = [
        lambda: base.value("SELECT 1"),
        lambda: base.run("SELECT 1"),
        lambda: note(base, "jam"),
        lambda: base.backup(base.path.with_name("copy.db")),
        base.close,
    ]

    def told(call: Callable[[], object]) -> str:
        with pytest.raises(StoreError) as caught:
            call()
        return str(caught.value)

    with ThreadPoolExecutor(1) as thread:
        return list(thread.map(told, calls))


def test_another_thread_is_told_to_open_the_file_anew(tmp_path: Path) -> None:
    base = opened(tmp_path / "notes.db")
    said = "notes.db: opened by another thread or process: open it anew in this one"
    assert of_another_thread(base) == [said] * 5
    note(base, "tea")
    base.close()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(base.close).result()  # closing twice is no fault, there neither
        assert thread.submit(notes, tmp_path / "notes.db").result() == ["tea"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_is_told_and_leaves_the_file_to_its_parent(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from tests.memlib.store.test_database import StoreError, note, notes, opened
base = opened(Path(sys.argv[1]))
note(base, "tea")
if child := os.fork():
    os.waitpid(child, 0)
    note(base, "jam")
    print(notes(Path(sys.argv[1])))
else:
    try:
        note(base, "child")
    except StoreError as error:
        print(error, flush=True)
"""
    path = tmp_path / "notes.db"
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    said = "notes.db: opened by another thread or process: open it anew in this one"
    assert done.stdout.splitlines() == [said, "['jam', 'tea']"] and done.stderr == ""
    assert notes(path) == ["jam", "tea"]


def test_closing_in_the_middle_of_a_change_undoes_it_and_is_told(tmp_path: Path) -> None:
    base = opened(tmp_path / "notes.db")
    with pytest.raises(StoreError, match=r"^notes\.db: closed: open it anew"), base.transaction():
        base.run("INSERT INTO note VALUES ('half')")
        base.close()
    assert notes(tmp_path / "notes.db") == []


def test_a_change_in_the_middle_of_reading_is_told(tmp_path: Path) -> None:
    base = opened(tmp_path / "notes.db")
    with base.transaction("DEFERRED"):
        with base.transaction("DEFERRED"):
            assert base.value("SELECT count(*) FROM note") == 0
        with pytest.raises(StoreError, match=r"^notes\.db: a change in the middle of reading"):
            note(base, "tea")
    note(base, "tea")
    base.close()


# --- two programs --------------------------------------------------------------------------


def open_and_note(folder: Path, name: str, start: Barrier) -> None:
    for n in range(40):
        start.wait()  # each round all at once
        try:
            base = opened(folder / f"{n}.db", timeout_seconds=60)
            note(base, name)
            base.close()
        except BaseException:
            start.abort()
            raise


def test_four_programs_open_new_files_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(4, timeout=60)
    workers = [
        context.Process(target=open_and_note, args=(tmp_path, name, start)) for name in "abcd"
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert all(notes(tmp_path / f"{n}.db") == list("abcd") for n in range(40))


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_opening_waits_for_a_program_that_holds_the_new_file(tmp_path: Path, lock: str) -> None:
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute(lock)
        with pytest.raises(StoreError, match=r"^notes\.db: locked by another program for longer"):
            opened(path, timeout_seconds=0.1)
        release = threading.Timer(0.2, other.execute, ["ROLLBACK"])
        release.start()
        opened(path, timeout_seconds=60).close()
        release.join()
    assert notes(path) == []
