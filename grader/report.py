"""What a class did: a table, a page with the mistakes that it made, and marks for an LMS.

`python -m grader.report ch02` writes all three again, with the marks that
were given by hand since. Everything a learner could have written is escaped.
"""

import csv
import hashlib
import hmac
import re
import secrets
import statistics
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from grader import results
from grader.collect import HASHED, plain
from grader.gradebook import CellMark, as_text, booked, full_points, tell_who_waits
from grader.judge import STATUSES, TaskMark
from grader.results import Result
from grader.tasks import Task, load_tasks

ByHand = Mapping[str, Mapping[str, CellMark]]
RIGHT, OTHER = "right", "wrong in a way that has no name"
BEGIN = "=+-@\t\r"  # a spreadsheet would take these for a formula
LONGEST_FIRST = 650  # characters
STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em;
       color: #111; background: #fff }
table { border-collapse: collapse; margin: .5em 0 1.5em } caption { text-align: left }
th, td { border-bottom: 1px solid #bbb; padding: .25em .6em; text-align: left; vertical-align: top }
td code { white-space: pre-wrap; overflow-wrap: anywhere }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
td.bar { min-width: 11em } svg text { font: 12px system-ui, sans-serif; fill: #111 }
.scroll { overflow-x: auto }
@media print { body { margin: 0; max-width: none; font-size: 11px } section { break-inside: avoid }
               .scroll { overflow: visible } }
"""
PATTERN = (
    '<svg width="0" height="0" aria-hidden="true"><defs><pattern id="stripes" width="6" height="6" '
    'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" '
    'fill="#fff"/><rect width="3" height="6" fill="#b35900"/></pattern></defs></svg>'
)


@dataclass(frozen=True)
class Row:
    """One student's line: points by task, the written answer (None while nobody marked it)."""

    key: str
    name: str
    points: tuple[float, ...]
    written: float | None
    of: float
    status: str
    seconds: float

    @property
    def total(self) -> float:
        return sum(self.points) + (self.written or 0.0)

    @property
    def known(self) -> str:
        """The total, or nothing where a person has yet to look; a 0 is a 0 that was earned."""
        ran = self.status == "graded" or self.total > 0  # what did not run may be marked by hand
        return number(self.total) if ran and self.written is not None else ""

    @property
    def who(self) -> str:
        """The name, and the key where it says more: an id of the class list."""
        known = self.name == self.key or HASHED.search(self.key)
        return self.name if known else f"{self.name} ({self.key})"


def row_of(result: Result, tasks: Sequence[Task], of: float, cells: Mapping[str, CellMark]) -> Row:
    """The judge's points, or what the gradebook made of them since."""
    marks = {mark.task: float(mark.points) for mark in result.verdict.marks}
    points = [cells[t.name].score if t.name in cells else marks.get(t.name, 0.0) for t in tasks]
    rest = [cell for name, cell in cells.items() if name not in {task.name for task in tasks}]
    waiting = not rest or any(cell.waiting for cell in rest)
    written = None if waiting else sum(cell.score for cell in rest)
    verdict, student = result.verdict, result.student
    name = plain(student.name, 60)
    return Row(student.key, name, tuple(points), written, of, verdict.status, verdict.seconds)


def rows(chapter: str, graded: Sequence[Result], by_hand: ByHand) -> list[Row]:
    tasks, of = load_tasks(chapter), full_points(chapter)
    return [row_of(result, tasks, of, by_hand.get(result.student.key, {})) for result in graded]


def shown(mark: TaskMark) -> str:
    """What a mark shows of its learner: right, a misconception by name, or the judge's note."""
    if mark.points == mark.of:
        return RIGHT
    counted = re.fullmatch(r"\d+ of \d+ answers differ|", mark.note)
    return mark.misconception or (OTHER if counted else mark.note)


def misconceptions(task: Task, graded: Sequence[Result]) -> Counter[str]:
    """How often each kind of answer to a task came, among the submissions that could be run."""
    marks = [m for r in graded for m in r.verdict.marks if r.verdict.status == "graded"]
    return Counter(shown(mark) for mark in marks if mark.task == task.name)


# --- the table -----------------------------------------------------------------------------------
def width(text: str) -> int:
    """Columns that a text takes in a terminal: Chinese letters two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def laid_out(table: Sequence[Sequence[str]], left: int = 1) -> str:
    """Columns side by side; the first `left` and the last to the left, the others to the right."""
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    lines = []
    for cells in table:
        padded = []
        for number, (cell, wide) in enumerate(zip(cells, widths, strict=True)):
            space = " " * (wide - width(cell))
            to_left = number < left or number == len(cells) - 1
            padded.append(cell + space if to_left else space + cell)
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def table_of(chapter: str, lines: Sequence[Row], names: bool = False) -> list[list[str]]:
    tasks = load_tasks(chapter)
    heads = [task.name if names else str(n) for n, task in enumerate(tasks, start=1)]
    head = ["student", *heads, "written", "total", "of", "seconds", "status"]
    return [
        head,
        *(
            [
                plain(row.who, 40),
                *map(number, (*row.points, row.written, row.total, row.of)),
                f"{row.seconds:.1f}",
                row.status,
            ]
            for row in lines
        ),
    ]


def summary(lines: Sequence[Row]) -> str:
    """One sentence on the class; the same on the page and in the terminal."""
    counts = Counter(row.status for row in lines)
    told = ", ".join(f"{counts[s]} {s}" for s in STATUSES if counts[s])
    totals = [row.total for row in lines if row.status != "missing"] or [0.0]
    of = max((row.of for row in lines), default=0)
    waiting = sum(row.written is None for row in lines if row.status != "missing")
    seconds = sum(row.seconds for row in lines)
    took = f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds:.1f} s"
    hand = f" {waiting} written answers wait for a mark, and count 0 so far." if waiting else ""
    return (
        f"{len(lines)} students: {told}. Median {statistics.median(totals):g} of {of:g} points, "
        f"lowest {min(totals):g}, highest {max(totals):g}.{hand} Judging: {took}."
    )


def text(chapter: str, graded: Sequence[Result], by_hand: ByHand) -> str:
    """The table for a terminal, then the mistakes by task."""
    if not graded:
        return f"{chapter}: nothing graded yet"
    lines, tasks = rows(chapter, graded, by_hand), load_tasks(chapter)
    parts = [laid_out(table_of(chapter, lines)), "", summary(lines), ""]
    for n, task in enumerate(tasks, start=1):
        parts.append(f"task {n}  {task.name} ({task.points})")
        counts = misconceptions(task, graded)
        parts += [f"{times:>8}  {name}" for name, times in counts.most_common()]
    return "\n".join(parts)


# --- the page ------------------------------------------------------------------------------------
def histogram(lines: Sequence[Row]) -> str:
    """How many students have which total, as a picture that a screen reader can read, too."""
    handed = [row for row in lines if row.status != "missing"]
    of = int(max((row.of for row in handed), default=0))
    counts = Counter(min(int(row.total), of) for row in handed)
    most = max(counts.values(), default=1)
    told = ", ".join(f"{counts[p]} with {p}" for p in range(of + 1) if counts[p]) or "none"
    step = 560 / (of + 1)
    bars = []
    for points in range(of + 1):
        tall, x = 140 * counts[points] / most, 40 + step * points
        middle = x + step / 2
        label = f'<text x="{middle:.1f}" y="186" text-anchor="middle">{points}</text>'
        count = f'<text x="{middle:.1f}" y="{164 - tall:.1f}" text-anchor="middle">{counts[points]}'
        bars.append(
            f'<rect x="{x + 2:.1f}" y="{170 - tall:.1f}" width="{max(step - 4, 1):.1f}" '
            f'height="{tall:.1f}" fill="#0b5394" stroke="#111"/>{label}'
            + (f"{count}</text>" if counts[points] else "")
        )
    return (
        f'<figure><svg viewBox="0 0 640 215" role="img" width="640" '
        f'aria-label="Students by points: {told}.">{"".join(bars)}'
        '<line x1="40" x2="600" y1="170" y2="170" stroke="#111"/>'
        '<text x="320" y="206" text-anchor="middle">points (whole, rounded down)</text>'
        '<text x="14" y="100" text-anchor="middle" transform="rotate(-90 14 100)">students</text>'
        f"</svg><figcaption>Students by points: {told}.</figcaption></figure>"
    )


def task_section(n: int, task: Task, graded: Sequence[Result]) -> str:
    """What the class showed in one task; a mistake's bar is striped, its name and count beside."""
    counts, hints = misconceptions(task, graded), {w.name: w.hint for w in task.wrong}
    total, body = sum(counts.values()), list[str]()
    plural = "s" * (task.points != 1)
    for name, times in counts.most_common():
        fill = "#0b5394" if name == RIGHT else "url(#stripes)"
        bar = (
            f'<svg width="160" height="14" aria-hidden="true"><rect x="0.5" y="0.5" '
            f'width="{159 * times / total:.1f}" height="13" fill="{fill}" stroke="#111"/></svg>'
        )
        body.append(
            f'<tr><td>{escape(name)}</td><td class="n">{times}</td>'
            f'<td class="bar">{bar}</td><td>{escape(hints.get(name, ""))}</td></tr>'
        )
    return (
        f"<section><h3>{n}. <code>{escape(task.name)}</code> ({task.points} point{plural})</h3>"
        "<table><thead><tr><th>what the answers show</th><th class='n'>students</th>"
        f"<th>share</th><th>hint to give</th></tr></thead><tbody>{''.join(body)}</tbody></table>"
        "</section>"
    )


def differences(lines: Sequence[Row], graded: Sequence[Result]) -> str:
    """For each task that was lost, the first input on which the answer differed: as text."""
    body = "".join(
        f"<tr><td>{escape(plain(row.who, 40))}</td><td>{escape(mark.task)}</td>"
        f"<td><code>{escape(as_text(mark.first[:LONGEST_FIRST]))}</code></td></tr>"
        for row, result in zip(lines, graded, strict=True)
        for mark in result.verdict.marks
        if mark.first
    )
    heads = "".join(f"<th>{head}</th>" for head in ("student", "task", "first difference"))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>' if body else "<p>No answer differed.</p>"


def page(chapter: str, graded: Sequence[Result], by_hand: ByHand) -> str:
    """One page that needs nothing else: no script, no other file, nothing loaded."""
    lines, tasks = rows(chapter, graded, by_hand), load_tasks(chapter)
    head, *body = table_of(chapter, lines, names=True)
    cells = "".join(
        "<tr>" + "".join(f"<td{' class=n' if 0 < i < len(r) - 1 else ''}>{escape(c)}</td>"
                         for i, c in enumerate(r)) + "</tr>"
        for r in body
    )  # fmt: skip
    notes = "".join(
        f"<li>{escape(plain(r.student.name, 60))}: {escape(r.verdict.status)}. "
        f"{escape(plain(r.verdict.note, 300))}</li>"
        for r in graded
        if r.verdict.status not in ("graded", "missing") or r.verdict.note
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(chapter)}: what the class did</title><style>{STYLE}</style></head><body>
{PATTERN}<h1>{escape(chapter)}: what the class did</h1>
<p>{escape(summary(lines))}</p>
{histogram(lines)}
<h2>Task by task</h2>
<p>Submissions that could be run. A full bar is a right answer, a striped one any other.</p>
{"".join(task_section(n, task, graded) for n, task in enumerate(tasks, start=1))}
<h2>Look at these</h2>
{f"<ul>{notes}</ul>" if notes else "<p>Nothing out of the ordinary.</p>"}
<h2>Student by student</h2>
<p>A dash: the written answer waits for a mark, and the total is without it.</p>
<div class="scroll"><table><thead><tr>{"".join(f"<th>{escape(h)}</th>" for h in head)}</tr></thead>
<tbody>{cells}</tbody></table></div>
<h2>Where answers first differ</h2>
<p>These inputs come from SEED: keep them to yourself until nobody is graded with it any more.</p>
{differences(lines, graded)}
</body></html>
"""


# --- marks for an LMS ----------------------------------------------------------------------------
def secret_key(course: Path) -> bytes:
    """The key of the pseudonyms: drawn once, kept in a folder of its own, readable by you alone."""
    path = course / "private" / "pseudonyms.key"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32) + "\n", encoding="utf-8")
    return bytes.fromhex(path.read_text(encoding="utf-8").strip())


def pseudonym(key: bytes, student: str) -> str:
    """The same for one student all course long; without the key nobody can compute it."""
    return "p" + hmac.new(key, student.encode("utf-8"), hashlib.sha256).hexdigest()[:12]


def cell(value: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{value}" if value.startswith(tuple(BEGIN)) else value


def write_csv(path: Path, table: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[cell(c) for c in row] for row in table])


def write_marks(course: Path, chapter: str, lines: Sequence[Row]) -> Path:
    """marks.csv bears pseudonyms alone; private/ids.csv, apart from it, says whose they are."""
    key, ids = secret_key(course), course / "private" / "ids.csv"
    tasks = [task.name for task in load_tasks(chapter)]
    table = [["id", "chapter", *tasks, "written", "total", "of", "status"]]
    known = {}
    if ids.is_file():
        with ids.open(encoding="utf-8", newline="") as file:
            known = {line[0]: line for line in list(csv.reader(file))[1:] if line}
    anywhere = {pseudonym(key, path.stem) for path in course.glob("*/verdicts/*.json")}
    known = {name: line for name, line in known.items() if name in anywhere}
    for row in sorted(lines, key=lambda row: pseudonym(key, row.key)):
        name = pseudonym(key, row.key)
        known[name] = [name, row.key, row.name]
        written = "" if row.written is None else number(row.written)
        points = [*map(number, row.points), written, row.known, number(row.of)]
        table.append([name, chapter, *points, row.status])
    write_csv(ids, [["id", "student", "name"], *sorted(known.values())])
    ids.chmod(0o600)
    path = course / chapter / "marks.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(path, table)
    return path


def write_grades(course: Path) -> Path:
    """grades.csv: every chapter's totals under real ids and names; empty where nobody knows yet."""
    table = [["id", "name", "email", "chapter", "total", "of", "status"]]
    for folder in sorted(course.glob("ch*")):
        graded = list(results.load(folder).values())
        lines = rows(folder.name, graded, booked(course, folder.name)) if graded else []
        for result, row in zip(graded, lines, strict=True):
            waits = row.status == "graded" and row.written is None
            status = "written answer waits for a mark" if waits else row.status
            student = result.student
            told = [student.key, student.name, student.email]
            table.append([*told, folder.name, row.known, number(row.of), status])
    write_csv(course / "grades.csv", table)
    return course / "grades.csv"


def write(course: Path, chapter: str, graded: Sequence[Result], by_hand: ByHand) -> list[Path]:
    """report.txt, report.html and marks.csv in the chapter's folder."""
    folder = course / chapter
    folder.mkdir(parents=True, exist_ok=True)
    files = {"report.txt": text(chapter, graded, by_hand) + "\n"}
    files["report.html"] = page(chapter, graded, by_hand)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    marks = write_marks(course, chapter, rows(chapter, graded, by_hand))
    return [*(folder / name for name in files), marks]


def main(chapter: str, course: Path = results.COURSE) -> int:
    """Write the report again, with the marks that were given by hand."""
    graded = list(results.load(course / chapter).values())
    if not graded:
        print(
            f"CHAPTER={plain(chapter)}: nothing is graded yet; make grade comes first",
            file=sys.stderr,
        )
        return 2
    by_hand = booked(course, chapter)
    print(text(chapter, graded, by_hand))
    for path in [*write(course, chapter, graded, by_hand), write_grades(course)]:
        print(f"written: {path}")
    tell_who_waits(course, chapter)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
