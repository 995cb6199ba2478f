"""What a learner's notebook says, as text of a bounded length: read once, in a process of its own.

A stranger's bytes are parsed here and in the judge's worker, nowhere else, with limits of time and
memory. What is kept is short, so that all that works on it later is bounded, too. Outputs go first.
"""

import hashlib
import json
import re
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from grader import withheld
from grader.judge import Limits, Unreadable, bytes_of
from grader.tasks import EXERCISES

SECONDS = 120  # 20 MB take about one
MEMORY_MB = 2000
MOST_CELLS = 10_000
LONGEST_CELL = 10_000  # characters shown of one cell, or of all cells that answer one of ours
LONGEST_REST = 30_000  # characters shown of all cells that belong to no task
CUT = "\n… (cut here)"
DEFINES = re.compile(r"^[ \t]*+(?:async[ \t]++)?def[ \t]++(\w++)|^(\w++)[ \t]*+=", re.MULTILINE)


@dataclass(frozen=True)
class Handed:
    """What was handed in.

    answers  text by the name of our cell that it answers; an untouched one is not among them
    others   the cells that belong to no task: whether it is code, and its text
    unread   why nothing is known of both; then a person has to look
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[tuple[bool, str]] = ()
    unread: str = ""


UNREAD = Handed(unread="the file was not read")


class ReadingStopped(RuntimeError):
    """Nothing is known of the notebook yet; another try may read it."""


def read(path: Path, chapter: str, sha256: str = "") -> Handed:
    """What a notebook says; `sha256` is that of the file that was judged, if it is known.

    Raises ReadingStopped where the file is another one by now, or the reading took too much.
    """
    try:
        data = bytes_of(path, Limits())
    except (OSError, Unreadable) as error:
        return Handed(unread=getattr(error, "strerror", None) or str(error))
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise ReadingStopped("the file changed after it was judged")
    command = [sys.executable, "-m", "grader.reading"]
    try:
        done = subprocess.run(
            [*command, chapter, str(MEMORY_MB)],
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            cwd=withheld.ROOT,
            start_new_session=True,  # Ctrl-C is for the parent, which kills it
        )
        return of_json(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        raise ReadingStopped(f"reading it took more than {SECONDS} s") from None
    except ValueError:
        raise ReadingStopped(f"reading it ended with code {done.returncode}") from None


def of_json(kept: Mapping[str, Any]) -> Handed:
    others = tuple((bool(code), str(source)) for code, source in kept["others"])
    return Handed(dict(kept["answers"]), others, str(kept["unread"]))


def main() -> None:
    """The process of its own: a notebook's bytes in, `Handed` as JSON out."""
    chapter, megabytes = sys.argv[1:]
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(megabytes) << 20, most))
    try:
        handed = handed_in(sys.stdin.buffer.read(), chapter)
    except MemoryError:
        handed = Handed(unread=f"reading it takes more than {megabytes} MB of memory")
    json.dump(asdict(handed), sys.stdout)


def handed_in(data: bytes, chapter: str) -> Handed:
    """What the bytes of a notebook say, beside the exercise as it was released."""
    released = EXERCISES / chapter / f"{chapter}.ipynb"
    ours = cells_of(released.read_bytes())
    try:
        theirs = cells_of(data)
    except Unreadable as error:
        return Handed(unread=str(error))
    known = {cell["source"].strip() for cell in ours} | {""}
    theirs = [cell for cell in theirs if cell["source"].strip() not in known]
    answers, shown = {}, set()
    for cell in ours:
        if not cell["solution"]:
            continue
        found = answers_in(theirs, cell)
        shown |= {id(part) for part in found}
        if found:
            answers[str(cell["grade_id"])] = joined([part["source"] for part in found])
    others, room = [], LONGEST_REST
    for part in theirs:
        if id(part) in shown:
            continue
        room -= min(len(part["source"]), LONGEST_CELL) + 100
        if room < 0:
            others.append((False, "… (more cells are not shown)"))
            break
        others.append((part["code"], joined([part["source"]])))
    return Handed(answers, tuple(others))


def answers_in(theirs: Sequence[dict[str, Any]], cell: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cells that answer one of ours: by the function's name, else by the cell's own.

    A written answer is also what stands in our cell when it is made a code cell; where our cell is
    gone or untouched, it is all text that is not ours.
    """
    name = cell["grade_id"]
    if cell["code"]:
        function = str(name).removesuffix("-answer")
        return [part for part in theirs if function in part["defines"]]
    by_name = [part for part in theirs if part["grade_id"] == name]
    by_id = [part for part in theirs if part["id"] is not None and part["id"] == cell["id"]]
    return by_name or by_id or [part for part in theirs if not part["code"]]


def joined(sources: Sequence[str]) -> str:
    """The texts one below the other, cut to what is shown of a cell."""
    text = "\n\n\n".join(source.strip("\r\n") for source in sources)
    return text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + CUT


def cells_of(data: bytes) -> list[dict[str, Any]]:
    """The cells of a notebook's bytes, of whatever format, without outputs. Raises Unreadable."""
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None
    except (ValueError, RecursionError):
        raise Unreadable("broken JSON") from None
    if isinstance(book, dict) and "worksheets" in book:
        book = upgraded(book)
    return [cell_of(cell) for cell in cells_in(book)]


def cells_in(sheet: Any) -> list[dict[str, Any]]:
    """The cells of a notebook or a worksheet, emptied of outputs."""
    cells = sheet.get("cells") if isinstance(sheet, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("JSON, but no notebook")
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"{len(cells)} cells, more than {MOST_CELLS}")
    for cell in cells:
        if cell.get("cell_type") == "code":
            cell["outputs"] = []
    return cells


def upgraded(book: dict[str, Any]) -> Any:
    """A notebook of format 2 or 3, which had worksheets, as one of format 4."""
    import nbformat  # slow to load, and seldom needed

    sheets = book["worksheets"]
    for sheet in sheets if isinstance(sheets, list) else [None]:
        cells_in(sheet)
    old = book | {"nbformat": 2 if book.get("nbformat") == 2 else 3}
    try:
        return nbformat.reads(json.dumps(old), as_version=4)
    except MemoryError:
        raise
    except Exception as error:  # it converts what it takes for granted
        raise Unreadable(f"an old format that cannot be read ({type(error).__name__})") from None


def cell_of(cell: Mapping[str, Any]) -> dict[str, Any]:
    """What is needed of a cell: type, source, id, the grader's name for it, what it defines."""
    lines = cell.get("source", "")
    lines = [lines] if isinstance(lines, str) else lines
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise Unreadable("a cell whose source is no text")
    source, code = "".join(lines), cell.get("cell_type") == "code"
    metadata = cell.get("metadata")
    grader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grader = grader if isinstance(grader, dict) else {}
    return {
        **{"code": code, "source": source, "id": cell.get("id")},
        **{"grade_id": grader.get("grade_id"), "solution": grader.get("solution") is True},
        "defines": {name for names in DEFINES.findall(source) for name in names if code},
    }


if __name__ == "__main__":
    main()
