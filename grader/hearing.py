"""What the sandbox said, understood strictly: nothing else than the inner part's lines."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grader.typed import decode

NO_ANSWERS = ("missing", "stopped", "died", "too large")
HOW = re.compile(r"ok|quit|stopped|error [A-Za-z_][A-Za-z0-9_]{0,59}")
LONGEST_NAME = 60
ENDS = ("done", "died", "hangs", "garbles")


class Tampered(Exception):
    """Something came out of the sandbox that the inner part does not say."""


class Heard(NamedTuple):
    """What the sandbox said: answers by task, or why there are none, and how it went."""

    answers: dict[str, Any]
    ready: bool
    cells: int  # the last that ended
    stopped: tuple[int, ...]
    failed: tuple[str, ...]  # for example "code cell 3 ended in SyntaxError"
    end: dict[str, Any]
    quits: tuple[int, ...] = ()  # cells that asked the kernel to end
    overwritten: Mapping[str, tuple[int, tuple[str, ...]]] = {}  # task: its cell, names


def listen(output: bytes, draws: Mapping[str, Sequence[Any]]) -> Heard:
    """Read the lines of the inner part, strictly. Raises Tampered."""
    answers: dict[str, Any] = {}
    ready, cells = False, 0
    stopped: list[int] = []
    failed: list[str] = []
    quits: list[int] = []
    overwritten: dict[str, tuple[int, tuple[str, ...]]] | None = None
    end: dict[str, Any] = {}
    lines = output.split(b"\n")
    for line in lines[:-1]:  # the last is empty, or was cut off
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise Tampered("a line that is no JSON") from None
        if not isinstance(event, dict) or end:
            raise Tampered("a line that means nothing")
        if event == {"ready": True} and not ready:
            ready = True
        elif event.keys() == {"cell", "how"} and _counts(event["cell"], cells):
            cells, how = event["cell"], event["how"]
            if not isinstance(how, str) or not HOW.fullmatch(how):
                raise Tampered("a cell that ended in no way that there is")
            stopped += [cells] if how == "stopped" else []
            quits += [cells] if how == "quit" else []
            if how.startswith("error "):
                failed.append(f"code cell {cells} ended in {how.removeprefix('error ')}")
        elif event.keys() == {"task", "answers"}:
            name = event["task"]
            if not isinstance(name, str) or name not in draws or name in answers:
                raise Tampered("answers to nothing that was asked")
            answers[name] = _decoded(event["answers"], len(draws[name]))
        elif event.keys() == {"overwritten"} and overwritten is None:
            overwritten = _names(event["overwritten"], draws, cells)
        elif event.get("end") in ENDS:
            end = event
        else:
            raise Tampered("a line that means nothing")
    more = (tuple(quits), overwritten or {})
    return Heard(answers, ready, cells, tuple(stopped), tuple(failed), end, *more)


def _counts(number: Any, last: int) -> bool:
    return type(number) is int and number > last


def _names(
    noted: Any, draws: Mapping[str, Sequence[Any]], cells: int
) -> dict[str, tuple[int, tuple[str, ...]]]:
    found = {}
    if not isinstance(noted, dict):
        raise Tampered("a note on names that is none")
    for task, about in noted.items():
        match about:
            case [int(cell), [*names]] if task in draws and 0 < cell <= cells and len(names) <= 5:
                if not all(map(_is_name, names)):
                    raise Tampered("a note on names that are none")
                found[task] = (cell, tuple(names))
            case _:
                raise Tampered("a note on names that is none")
    return found


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and len(name) <= LONGEST_NAME and name.isidentifier()


def _decoded(coded: Any, count: int) -> Any:
    if isinstance(coded, str) and coded in NO_ANSWERS:
        return coded
    if not isinstance(coded, list) or len(coded) != count:
        raise Tampered("another number of answers than of questions")
    try:
        return [decode(answer) for answer in coded]
    except ValueError:
        raise Tampered("an answer that is no coded value") from None
