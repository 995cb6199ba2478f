"""What is kept of a graded submission: one small file each, written at once and whole."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.collect import Student
from grader.judge import Limits, TaskMark, Unreadable, Verdict, bytes_of
from grader.reading import UNREAD, Handed, of_json
from grader.tasks import EXERCISES

COURSE = EXERCISES.parents[1] / "grading"  # the instructor's folder: never handed out or committed
OURS = {
    "collect",
    "results",
    "gradebook",
    "report",
    "pages",
    "homes",
    "grade",
    "release",
    "solution",
}  # judge nothing


@dataclass(frozen=True)
class Result:
    """A verdict, whose it is, the file it is about, what it was made from, and what that says."""

    student: Student
    verdict: Verdict
    file: str
    made_from: Mapping[str, str]
    handed: Handed = UNREAD

    @property
    def digest(self) -> str:
        """Changes when anything in the verdict does, but for the time it took."""
        told = asdict(self.verdict) | {"seconds": 0, "name": self.student.name}
        if self.handed != UNREAD:  # nothing new is known of it
            told["handed"] = asdict(self.handed)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def sha256(path: Path) -> str:
    """The hash of a file, read in pieces; "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def sha256_of_submission(path: Path) -> str:
    """The same for a submission, of which no more is read than the judge would."""
    try:
        return hashlib.sha256(bytes_of(path, Limits())).hexdigest()
    except (OSError, Unreadable):
        return ""


def made_from(chapter: str, seed: str, path: Path | None, told: str = "") -> dict[str, str]:
    """What a verdict depends on: the file, the secret number, and how the chapter is judged."""
    parts = [EXERCISES / chapter / "answers.py", EXERCISES / chapter / f"{chapter}.ipynb"]
    parts += sorted(p for p in Path(__file__).parent.glob("*.py") if p.stem not in OURS)
    rules = hashlib.sha256("".join(map(sha256, parts)).encode()).hexdigest()
    file = sha256_of_submission(path) if path else told
    return {"file": file, "secret": mark_of(chapter, seed), "rules": rules}


@lru_cache
def mark_of(chapter: str, seed: str) -> str:
    """Tells one secret number from another, and is no help to whoever would guess it.

    Slow to compute, and so short that many a wrong guess fits, too.
    """
    salt = f"memory scoring, {chapter}".encode()
    return hashlib.scrypt(seed.encode(), salt=salt, n=2**15, r=8, p=1, maxmem=2**26).hex()[:4]


def forget(folder: Path, key: str) -> None:
    """Drop one student's result."""
    (folder / "verdicts" / f"{key}.json").unlink(missing_ok=True)


def judged_again(folder: Path) -> set[str]:
    """Who was judged since an AGAIN=all began that is not complete; empty if none is under way."""
    path = folder / "again.txt"
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else [""]
    return set(lines[:-1])  # the last is empty, or was cut off


def note_judged_again(folder: Path, key: str) -> None:
    """Remember one student of an AGAIN=all, so that it goes on behind them after a stop."""
    with (folder / "again.txt").open("a", encoding="utf-8") as file:
        file.write(f"{key}\n")


def end_judging_again(folder: Path) -> None:
    """An AGAIN=all is complete: the next one begins with the first student."""
    (folder / "again.txt").unlink(missing_ok=True)


def make_private(course: Path) -> None:
    """The instructor's folder, which nobody else on the machine can look into."""
    course.mkdir(parents=True, exist_ok=True)
    course.chmod(0o700)


def save(folder: Path, result: Result) -> None:
    """Write one result; a stop at any moment leaves the old file or the new one."""
    path = folder / "verdicts" / f"{result.student.key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    half.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
    half.replace(path)


def read(text: str) -> Result:
    """One result from its text; anything else raises ValueError, KeyError or TypeError."""
    kept: dict[str, Any] = json.loads(text)
    verdict = kept["verdict"] | {"marks": tuple(TaskMark(**m) for m in kept["verdict"]["marks"])}
    handed = of_json(kept["handed"]) if "handed" in kept else UNREAD  # kept by an older version
    return Result(
        Student(**kept["student"]),
        Verdict(**verdict),
        str(kept["file"]),
        dict(kept["made_from"]),
        handed,
    )


def load(folder: Path) -> dict[str, Result]:
    """All results of a chapter, by key. A file that cannot be read counts as not graded yet."""
    found = {}
    for path in sorted((folder / "verdicts").glob("*.json")):
        try:
            result = read(path.read_text(encoding="utf-8"))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if result.student.key == path.stem:
            found[result.student.key] = result
    return found
