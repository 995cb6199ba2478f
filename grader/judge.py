"""One notebook in, one verdict out: whatever the notebook does.

`judge` starts a worker, a Python of its own with limits. The worker runs the notebook in the
sandbox, has its functions called on drawn inputs, and compares the answers with the reference's.
Only arguments go into the sandbox, and only typed JSON comes out.
"""

import errno
import hashlib
import importlib.util
import json
import os
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader import sandbox, withheld
from grader.tasks import EXERCISES, Task

STATUSES = ("graded", "crashed", "timed out", "tampered", "unreadable", "missing")
WORKER_SECONDS = 20  # for all that is not the notebook


@dataclass(frozen=True)
class Limits:
    """What a submission may use; seconds are wall clock."""

    cell_seconds: float = 20  # also for all calls of one function
    wall_seconds: float = 90
    memory_mb: int = 2000
    file_mb: int = 50
    processes: int = 64  # threads count
    notebook_mb: float = 20
    answers_mb: float = 1


@dataclass(frozen=True)
class TaskMark:
    """The mark of one task: all its points or none.

    first  the first input on which the answer differs: for the instructor's report alone
    """

    task: str
    points: int
    of: int
    misconception: str = ""
    hint: str = ""
    note: str = ""
    first: str = ""


@dataclass(frozen=True)
class Verdict:
    """What became of one submission."""

    student: str
    chapter: str
    status: str
    marks: tuple[TaskMark, ...]
    seconds: float
    note: str = ""
    sha256: str = ""


class Unreadable(Exception):
    """A file that is no notebook; the message is for the instructor."""


def judge(
    path: Path,
    student: str,
    chapter: str,
    seed: str,
    *,
    limits: Limits = Limits(),
    exercises: Path = EXERCISES,
) -> Verdict:
    """Grade one notebook; never raises for what a submission is or does.

    seed       secret; with the chapter and the task's name it decides on the inputs
    exercises  the folder that holds chNN/answers.py
    Raises SandboxMissing where there is no sandbox, and what a broken answers.py raises.
    """
    begin = time.monotonic()
    sandbox.require()
    tasks, course = _chapter(exercises, chapter)
    marks = tuple(TaskMark(task.name, 0, task.points) for task in tasks)
    verdict = Verdict(student, chapter, "missing", marks, 0.0)
    try:
        data = bytes_of(path, limits)
    except FileNotFoundError:
        return replace(verdict, note=f"no file {path.name}")
    except OSError as error:
        return replace(verdict, status="unreadable", note=error.strerror or "cannot be read")
    except Unreadable as error:
        return replace(verdict, status="unreadable", note=str(error))
    verdict = replace(verdict, sha256=hashlib.sha256(data).hexdigest())
    order = {
        **{"chapter": chapter, "seed": seed, "limits": asdict(limits)},
        **{"exercises": str(exercises.resolve()), "course": str(course)},
    }
    told = _work(order, data, 2 * limits.wall_seconds + WORKER_SECONDS)  # it may run twice
    seconds = round(time.monotonic() - begin, 2)
    if told is None:  # it broke the worker's own limits
        note = "the judge's worker ended without a verdict"
        return replace(verdict, status="crashed", note=note, seconds=seconds)
    marks = tuple(TaskMark(**mark) for mark in told["marks"]) or marks
    return replace(verdict, status=told["status"], note=told["note"], marks=marks, seconds=seconds)


@lru_cache
def _chapter(exercises: Path, chapter: str) -> tuple[tuple[Task, ...], Path]:
    """The tasks, and the course as the sandbox will see it."""
    tasks, taken_out = load_answers(exercises, chapter)
    return tasks, withheld.temporary_course(taken_out)


def load_answers(
    exercises: Path, chapter: str
) -> tuple[tuple[Task, ...], dict[str, tuple[str, ...]]]:
    """The tasks of a chapter's answers.py, and what memlib must not give away meanwhile."""
    path = exercises / chapter / "answers.py"
    spec = importlib.util.spec_from_file_location(f"{chapter}_answers", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TASKS, getattr(module, "WITHHELD", {})


def bytes_of(path: Path, limits: Limits) -> bytes:
    """The bytes of an ordinary file of an ordinary size: no link, no pipe, no device."""
    most = int(limits.notebook_mb * 2**20)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable("a link to another file") from None
        raise
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable("no ordinary file")
        if found.st_size > most:
            raise Unreadable(f"{found.st_size >> 20} MB, more than {limits.notebook_mb:g}")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def _work(order: dict[str, Any], data: bytes, seconds: float) -> dict[str, Any] | None:
    """Run the worker; its verdict, or None if it gave none."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as told:
        given.write(json.dumps(order).encode() + b"\n" + data)
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "grader.worker"],
            stdin=given,
            stdout=told,
            cwd=withheld.ROOT,
            env=os.environ | {"PYTHONUTF8": "1"},
            start_new_session=True,  # Ctrl-C is for the parent, which kills it
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()  # bwrap and all in it die with their parent
            process.wait()
        told.seek(0)
        try:
            answer: dict[str, Any] = json.loads(told.read(1_000_000))
        except ValueError:
            return None
    return answer
