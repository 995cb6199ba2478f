"""The judge's worker: one notebook through the sandbox, and its answers beside the reference's.

A Python of its own with a limit of memory: whatever comes out of the sandbox, its parent goes on.
"""

import json
import math
import random
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grader import sandbox, withheld
from grader.difference import difference
from grader.hearing import Heard, Tampered, listen
from grader.judge import Limits, TaskMark, Unreadable, load_answers
from grader.tasks import Task, outcome, same
from grader.typed import Raised, pack

WORKER_MB = 2000
NOT_YET = Raised(("NotImplementedError", "RuntimeError"))


def main() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (WORKER_MB << 20, most))
    order = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    json.dump(verdict_of(order, data), sys.stdout)


def verdict_of(order: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Status, note and marks of a notebook's bytes; no marks where it got no chance of any."""
    limits, chapter = Limits(**order["limits"]), order["chapter"]
    try:
        cells = code_cells(data)
    except Unreadable as error:
        return {"status": "unreadable", "note": str(error), "marks": []}
    exercises = Path(order["exercises"])
    tasks, taken_out = load_answers(exercises, chapter)
    draws = {t.name: draw(t, order["seed"], chapter) for t in tasks}
    answer_bytes = int(limits.answers_mb * 1e6)
    job: dict[str, Any] = {
        **{"cells": cells, "cell_seconds": limits.cell_seconds},
        **{"task_bytes": answer_bytes // len(tasks)},
        **{"answer_characters": int(0.8 * answer_bytes) // sum(map(len, draws.values()))},
        "calls": [
            (name, [pack(arguments) for arguments in drawn]) for name, drawn in draws.items()
        ],
    }
    bounds = sandbox.Bounds(
        *(limits.wall_seconds, limits.memory_mb, limits.file_mb, limits.processes),
        output_bytes=answer_bytes + 100_000 + 120 * len(cells),
    )

    def run(job: dict[str, Any]) -> tuple[str, Heard]:
        ran = sandbox.run(job, Path(order["course"]), withheld.hidden(taken_out), bounds)
        if ran.stopped == "flood":
            raise Tampered("more came out than answers take")
        return ran.stopped, listen(ran.output, draws)

    def marks_of(answers: Mapping[str, Any]) -> dict[str, TaskMark]:
        return {t.name: mark(t, draws[t.name], answers.get(t.name)) for t in tasks}

    try:
        stopped, heard = run(job)
        status, note = _status(stopped, heard, limits)
        marks, answers = marks_of(heard.answers), dict(heard.answers)
        lost = [name for name in heard.overwritten if marks[name].points < marks[name].of]
        if status == "graded" and lost:
            earlier = run(job | _right_after(job["calls"], heard, lost))[1].answers
            again = marks_of(earlier)
            better = [
                name
                for name in lost
                if again[name].points > marks[name].points
                or (isinstance(earlier.get(name), list) and answers.get(name) == "missing")
            ]
            marks |= {name: again[name] for name in better}
            answers |= {name: earlier[name] for name in better}
            note = "; ".join(filter(None, (note, _as_before(heard, better))))
    except Tampered as error:
        return {"status": "tampered", "note": str(error), "marks": []}
    missing = [t.name for t in tasks if answers.get(t.name) == "missing"]
    if status == "graded" and len(missing) == len(tasks):
        note = f"no function of {chapter} is in it"
    if heard.failed and missing:
        why = ", ".join([*heard.failed[:3], *["…"] * (len(heard.failed) > 3)])
        note = "; ".join(filter(None, (note, why)))
        marks |= {name: replace(marks[name], note=f"never defined: {why}") for name in missing}
    return {"status": status, "note": note, "marks": [asdict(mark) for mark in marks.values()]}


def _right_after(calls: Sequence[Any], heard: Heard, names: Sequence[str]) -> dict[str, Any]:
    """What is other in the second run: these functions alone, each right after its cell."""
    after = {name: heard.overwritten[name][0] for name in names}
    return {"calls": [call for call in calls if call[0] in after], "after": after}


def _as_before(heard: Heard, tasks: Sequence[str]) -> str:
    """The names that cost these functions their points, and that they got them all the same."""
    names = dict.fromkeys(name for task in tasks for name in heard.overwritten[task][1])
    told = f"; judged as its own cell left it: {', '.join(tasks)}"
    return f"overwritten by a later cell: {', '.join(names)}{told}" if tasks else ""


def draw(task: Task, seed: str, chapter: str) -> list[tuple[Any, ...]]:
    """The inputs of a task: the same for the whole class."""
    return list(task.inputs(random.Random(f"{seed}/{chapter}/{task.name}")))


def code_cells(data: bytes) -> list[str]:
    """The code of a notebook, in order, whatever else is in the file. Raises Unreadable."""
    if not data.strip():
        raise Unreadable("an empty file")
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable("broken JSON") from None
    sheets = book.get("worksheets", [book]) if isinstance(book, dict) else None  # format 3 had them
    if not isinstance(sheets, list) or not all(isinstance(sheet, dict) for sheet in sheets):
        raise Unreadable("JSON, but no notebook")
    code = []
    for cells in (sheet.get("cells") for sheet in sheets):
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            raise Unreadable("JSON, but no notebook")
        code += [_source(cell) for cell in cells if cell.get("cell_type") == "code"]
    return code


def _source(cell: dict[str, Any]) -> str:
    lines = cell.get("source", cell.get("input", ""))
    lines = [lines] if isinstance(lines, str) else lines
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise Unreadable("a cell whose source is no text")
    return "".join(lines).encode("utf-8", "replace").decode("utf-8")  # no half characters


def _status(stopped: str, heard: Heard, limits: Limits) -> tuple[str, str]:
    cell = heard.end.get("cell")  # after a stub that was left out, not the next number
    where = f"code cell {cell if type(cell) is int else heard.cells + 1}"
    if heard.answers:
        where = "a call of one of the functions"
    if stopped == "wall":
        return "timed out", f"stopped in {where} after {limits.wall_seconds:g} s in all"
    if stopped == "memory":
        return "crashed", f"more than {limits.memory_mb} MB of memory in {where}"
    if stopped == "machine":
        return "crashed", f"the machine ran out of memory in {where}: grade it again alone"
    end = heard.end.get("end", "")
    if not heard.ready:
        return "crashed", "the kernel did not start"
    if end == "hangs":
        return "timed out", f"{where} went on after an interrupt at {limits.cell_seconds:g} s"
    if end == "garbles":
        return "tampered", f"the kernel gave no kernel's answer in {where}"
    if end != "done":
        return "crashed", f"the kernel ended in {where}"
    notes = []
    if heard.stopped:
        cells = ", ".join(map(str, heard.stopped))
        notes.append(f"interrupted after {limits.cell_seconds:g} s: code cell {cells}")
    if heard.quits:
        cells = ", ".join(map(str, heard.quits))
        notes.append(f"asked to end the kernel, which went on: code cell {cells}")
    return "graded", "; ".join(notes)


# Marks


def agrees(answer: Any, expected: Any, tolerance: float) -> bool:
    """Whether a decoded answer equals an outcome of the reference or of a misconception."""
    raised = isinstance(expected, dict) and expected.keys() == {"raises"}
    if isinstance(answer, Raised) or raised:
        return isinstance(answer, Raised) and raised and expected["raises"] in answer.names
    try:
        return same(_comparable(answer), _comparable(expected), tolerance)
    except (ArithmeticError, RecursionError):  # 10**400 has no float
        return False


def _comparable(value: Any) -> Any:
    """The value with a text for each NaN: a misconception that leads to NaN is recognised, too."""
    if isinstance(value, float) and math.isnan(value):
        return "not a number"
    if isinstance(value, list | tuple):
        return [_comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items()}
    return value


def mark(task: Task, draws: Sequence[tuple[Any, ...]], answers: Any) -> TaskMark:
    """All points if every answer is the reference's; else the misconception, if it is one."""
    none = TaskMark(task.name, 0, task.points)
    if not isinstance(answers, list):
        return replace(none, note=_WHY[answers])
    if all(answer == NOT_YET for answer in answers):
        return replace(none, note="not attempted yet")

    def agree(answer: Any, expected: Any) -> bool:
        return agrees(answer, expected, task.tolerance)

    def expect(function: Any) -> list[Any]:
        return [outcome(function, arguments) for arguments in draws]

    pairs = list(zip(answers, expect(task.reference), strict=True))
    right = [agree(answer, wanted) and task.inside(answer) for answer, wanted in pairs]
    if all(right):
        return replace(none, points=task.points)
    at = right.index(False)
    first = difference(task.name, draws[at], *pairs[at], agree)
    none = replace(none, note=f"{right.count(False)} of {len(right)} answers differ", first=first)
    for wrong in task.wrong:
        if all(map(agree, answers, expect(wrong.function))):
            return replace(none, misconception=wrong.name, hint=wrong.hint)
    return none


_WHY = {
    None: "not reached",
    "missing": "no function of this name",
    "stopped": "calls of the function took too long",
    "died": "a call of the function ended the process",
    "too large": "answers too large to be any",
}


if __name__ == "__main__":
    main()
