"""Which file is whose: a folder of submissions, as an LMS or a USB stick delivers it."""

import csv
import errno
import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

MOST_FILES = 10_000  # in one student's folder
PLAIN_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
HASHED = re.compile(r"-[0-9a-f]{12}$")
LMS = tuple(  # the student's name before what the system, and then the student, adds
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<name>.+?)_\d+_assignsubmission_(?:file|onlinetext)(?:_|$)",  # Moodle
        r"(?:.+?_)??(?P<name>[^_]+)_attempt_\d{4}-\d\d-\d\d",  # Blackboard
        r"(?P<name>[^_]+)(?:_late)?_\d+_\d+_.",  # Canvas
    )
)


class CollectError(ValueError):
    """Nothing can be graded from here; the message says why."""


@dataclass(frozen=True)
class Student:
    """`key` names files and gradebook entries: ASCII letters, digits, _ . - and nothing else."""

    key: str
    name: str
    email: str = ""
    listed: bool = False


@dataclass(frozen=True)
class Submission:
    """What one student handed in; without `path` there is nothing to run, and `status` says why."""

    student: Student
    path: Path | None
    status: str = ""
    note: str = ""


def plain(text: str, longest: int = 120) -> str:
    """One printable line, whatever was in the text: no control characters, nothing invisible."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    letters = [c if c.isprintable() else " " for c in unicodedata.normalize("NFC", text)]
    line = " ".join("".join(letters).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def key_of(name: str) -> str:
    """The name itself where it is plain, else its plain letters and a hash: no two share one.

    >>> key_of("anna")
    'anna'
    >>> key_of("../Zoë Müller")
    'zoe-muller-76d7097a3ae3'
    """
    if PLAIN_KEY.fullmatch(name) and not HASHED.search(name) and ".." not in name:
        return name
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")[:40] or "student"
    digest = hashlib.sha256(unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass"))
    return f"{slug.rstrip('-')}-{digest.hexdigest()[:12]}"


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()


def squeezed(name: str) -> str:
    """Letters and digits alone, so that "Doe, Jane", "doe_jane" and Canvas's "doejane" meet."""
    return "".join(c for c in folded(name) if c.isalnum())


def read_class(path: Path) -> dict[str, Student]:
    """The class list: a CSV with a column `id`, and `name` and `email` if you like."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise CollectError(f"{path.name}: not UTF-8. Save it as CSV UTF-8 and try again") from None
    head = lines[0].lower() if lines else ""
    comma = ";" if ";" in head and "," not in head else ","
    rows = list(csv.DictReader([head, *lines[1:]], delimiter=comma, skipinitialspace=True))
    listed: dict[str, Student] = {}
    for line, row in enumerate(rows, start=2):
        ident = (row.get("id") or "").strip()
        if not ident:
            raise CollectError(
                f"{path.name}, line {line}: no id (the first line names the columns)"
            )
        if folded(ident) in {folded(known) for known in listed}:
            raise CollectError(
                f"{path.name}, line {line}: the id {plain(ident)!r} stands there twice"
            )
        name = plain(row.get("name") or ident)
        listed[ident] = Student(key_of(ident), name, plain(row.get("email") or ""), listed=True)
    if not listed:
        raise CollectError(f"{path.name}: no students in it")
    return listed


def finder(listed: Mapping[str, Student]) -> dict[str, Student]:
    """Every way to write a listed student that means that student alone; an id comes first."""
    by_name: dict[str, set[Student]] = {}
    for ident, student in listed.items():
        words = re.split(r"[\s,_]+", student.name)
        written = (
            ident,
            student.name,
            " ".join(reversed(words)),
            " ".join([*words[-1:], *words[:-1]]),
        )
        for text in {squeezed(text) for text in written}:
            by_name.setdefault(text, set()).add(student)
    found = {text: next(iter(who)) for text, who in by_name.items() if text and len(who) == 1}
    return found | {folded(ident): student for ident, student in listed.items()}


def name_in(stem: str, chapter: str) -> str:
    """The student's part of a file's or folder's name: no LMS tail, no chapter, no "(1)"."""
    if found := [match for pattern in LMS if (match := pattern.match(stem))]:
        first = min(found, key=lambda match: match.end("name"))  # the student may write the others
        return first["name"].strip()
    stem = re.sub(r"\s*\(\d+\)$", "", stem)
    return re.sub(rf"[\s_.-]+{chapter}$", "", stem, flags=re.IGNORECASE).strip()


def notebooks_in(folder: Path) -> list[Path]:
    """Every notebook below a student's folder; links are not followed.

    What cannot be looked into has none; too many files raise OSError.
    """
    found, todo, room = [], [str(folder)], MOST_FILES
    while todo:
        try:
            with os.scandir(todo.pop()) as within:
                entries = list(islice(within, room + 1))
        except OSError:
            continue
        room -= len(entries)
        if room < 0:
            raise OSError(errno.E2BIG, f"more than {MOST_FILES} files in the folder")
        for entry in entries:
            if hidden(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
            elif is_notebook(entry.name):
                found.append(Path(entry.path))
    return sorted(found)


def is_notebook(name: str) -> bool:
    return name.casefold().endswith(".ipynb") and not hidden(name)


def hidden(name: str) -> bool:
    return name.startswith((".", "~")) or name.casefold() == "__macosx"


def choose(found: Sequence[Path], chapter: str) -> tuple[Path | None, str]:
    """The one notebook that counts, and what is to be said about the choice."""
    if not found:
        return None, "no notebook in the folder"
    named = [path for path in found if folded(path.name) == f"{chapter}.ipynb"]
    one = found if len(found) == 1 else named if len(named) == 1 else []
    names = ", ".join(plain(path.name, 40) for path in found[:5])
    if not one:
        return None, f"{len(found)} notebooks ({names}): keep one"
    if one[0].is_symlink() or not one[0].is_file():
        return None, "a link, not a file"
    return one[0], "" if len(
        found
    ) == 1 else f"{len(found)} notebooks ({names}): {chapter}.ipynb taken"


def collect(
    folder: Path, chapter: str, listed: Mapping[str, Student] | None = None
) -> tuple[list[Submission], list[str]]:
    """One Submission a student, sorted by key, and what else lay in the folder.

    folder   holds a folder a student, or files named after students, or both
    listed   the class list (read_class); its absent students become "missing"
    """
    if not folder.is_dir():
        raise CollectError(f"SUBMISSIONS={plain(str(folder))}: there is no such folder")
    known, left = finder(listed or {}), []
    handed: dict[str, tuple[Student, list[Path]]] = {}
    for entry in sorted(folder.iterdir(), key=lambda path: path.name):
        link = entry.is_symlink()
        if hidden(entry.name):
            continue
        if entry.is_dir() and not link:
            name = name_in(entry.name, chapter)
        elif is_notebook(entry.name):
            name = name_in(entry.name[: -len(".ipynb")], chapter)
        else:
            left.append(f"{plain(entry.name)}: left alone, no notebook (unpack archives first)")
            continue
        if not name or folded(name) == chapter:
            left.append(f"{plain(entry.name)}: whose? Name it after its student")
            continue
        student = known.get(folded(name)) or known.get(squeezed(name))
        student = student or Student(key_of(unicodedata.normalize("NFC", name)), plain(name))
        handed.setdefault(folded(student.key), (student, []))[1].append(entry)
    submissions = [one_of(student, entries, chapter) for student, entries in handed.values()]
    for student in (listed or {}).values():
        if folded(student.key) not in handed:
            submissions.append(Submission(student, None, "missing"))
    return sorted(submissions, key=lambda s: s.student.key), left


def one_of(student: Student, entries: Sequence[Path], chapter: str) -> Submission:
    """One student's Submission out of all that bears the name."""
    if len(entries) > 1:
        names = ", ".join(plain(entry.name, 40) for entry in entries[:5])
        return Submission(
            student, None, "unreadable", f"{len(entries)} entries ({names}): keep one"
        )
    entry = entries[0]
    folder = entry.is_dir() and not entry.is_symlink()
    try:
        path, note = choose(notebooks_in(entry) if folder else [entry], chapter)
    except OSError as error:  # one student's folder is never another's trouble
        return Submission(student, None, "unreadable", error.strerror or "cannot be looked into")
    return Submission(student, path, "" if path else "unreadable", note)
