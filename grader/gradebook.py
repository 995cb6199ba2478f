"""Verdicts into nbgrader's gradebook: for hand-marking, feedback pages and export.

What formgrader shows is never a learner's notebook. It is the released one, rebuilt: its own cells,
the learner's functions as text in code cells, the written answer as preformatted text, no outputs
but the judge's. Nothing that a learner wrote can become HTML, a formula or a link.
"""

import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from sqlalchemy.exc import SAWarning

from grader.collect import Student
from grader.judge import TaskMark, Verdict
from grader.reading import CUT, LONGEST_CELL, Handed
from grader.results import Result
from grader.tasks import EXERCISES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nbgrader 0.9.6 still uses names that its libraries retire
    from nbgrader.api import Comment, Grade, Gradebook, MissingEntry
    from nbgrader.preprocessors import ComputeChecksums, SaveCells

NAME = re.compile(r"[^\w .’·-]")
WAITS = "This answer waits for a mark: its points are not counted yet."
EARLIER = "(about an earlier version) "


@dataclass(frozen=True)
class CellMark:
    """One cell's mark as the gradebook has it; `waiting` for a person."""

    score: float
    of: float
    waiting: bool


class ChapterChanged(RuntimeError):
    """The chapter's tasks are no longer those that the gradebook knows."""


# --- what is shown -------------------------------------------------------------------------------
def as_text(source: str) -> str:
    """Printable lines, wrapped and cut to a length that a page can bear."""
    whole = len(source) <= 2 * LONGEST_CELL
    lines = source[: 2 * LONGEST_CELL].expandtabs(4).splitlines()
    clean = ["".join(c if c.isprintable() else "�" for c in line).rstrip() for line in lines]
    text = "\n".join(clean).strip("\n")
    return text if whole and len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + CUT


def fenced(source: str) -> str:
    """Markdown that shows `source` letter by letter: a fence longer than any inside it."""
    lines = [textwrap.wrap(line, 100) or [""] for line in as_text(source).split("\n")]
    text = "\n".join(part for line in lines for part in line)
    ticks = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(4, ticks + 1)
    return f"{fence}text\n{text}\n{fence}"


def verdict_lines(mark: TaskMark) -> str:
    """What the judge says under a task, as plain text."""
    lines = [f"{mark.points} of {mark.of} point{'s' * (mark.of != 1)}"]
    if mark.misconception:
        lines.append(f"This looks like: {mark.misconception}.")
    lines += [part for part in (mark.hint, mark.note) if part]
    return as_text("\n".join(lines)) + "\n"


def comment_for(mark: TaskMark) -> str | None:
    """The same for a comment, which nbgrader renders as Markdown; nothing for a right answer."""
    if mark.points == mark.of:
        return None
    escaped = [re.sub(r"([\\`*_{}\[\]<>$|#~!&])", r"\\\1", line) for line in (mark.hint,) if line]
    name = (
        f"This looks like: {re.sub(r'[<>`$]', ' ', mark.misconception)}."
        if mark.misconception
        else ""
    )
    note = re.sub(r"[`\s]+", " ", as_text(mark.note)).strip()
    return " ".join(part for part in (name, *escaped, f"`{note}`" if note else "") if part)


def released(chapter: str) -> NotebookNode:
    """The exercise as handed out, with the checksums by which nbgrader knows an untouched cell."""
    notebook = nbformat.read(EXERCISES / chapter / f"{chapter}.ipynb", as_version=4)
    return ComputeChecksums().preprocess(notebook, {})[0]


def full_points(chapter: str) -> float:
    """What a chapter is worth, the written answer included."""
    cells = (cell.metadata.get("nbgrader", {}) for cell in released(chapter).cells)
    return float(sum(about["points"] for about in cells if about.get("grade")))


def rebuild(chapter: str, handed: Handed, verdict: Verdict) -> NotebookNode:
    """The released notebook with a learner's answers in it, as plain text; see the module."""
    notebook, marks = released(chapter), {mark.task: mark for mark in verdict.marks}
    for cell in notebook.cells:
        name = str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if "outputs" in cell:
            cell.outputs, cell.execution_count = [], None
        if name in handed.answers:
            text = handed.answers[name]
            cell.source = as_text(text) if cell.cell_type == "code" else fenced(text)
        elif name in marks:
            told = verdict_lines(marks[name])
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=told)]
    if verdict.status != "graded" or verdict.note:
        said = f"{verdict.status}. {verdict.note}".strip()
        notebook.cells.insert(0, nbformat.v4.new_markdown_cell(fenced(said), id="judge-status"))
    for number, (code, source) in enumerate(handed.others):
        new = nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell
        text = as_text(source) if code else fenced(source)
        notebook.cells.append(new(text, id=f"other-{number}"))
    return notebook


# --- where it is kept ----------------------------------------------------------------------------
@contextmanager
def gradebook(course: Path) -> Iterator[Gradebook]:
    """The course's gradebook, made if need be (nbgrader then asks alembic, beside this Python)."""
    course.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    try:
        book = Gradebook(url(course))
    finally:
        os.environ["PATH"] = path
    with book, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's add_submission
        yield book


def url(course: Path) -> str:
    return f"sqlite:///{(course / 'gradebook.db').resolve()}"


def shown_path(course: Path, chapter: str, key: str) -> Path:
    return course / "autograded" / key / chapter / f"{chapter}.ipynb"


def write(path: Path, notebook: NotebookNode) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    half.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    half.replace(path)


def add_chapter(course: Path, chapter: str) -> None:
    """Tell the gradebook the chapter's cells and points; formgrader wants a source folder, too."""
    notebook = released(chapter)
    with gradebook(course) as book:
        book.update_or_create_assignment(chapter)
    about = {"notebook": chapter, "assignment": chapter, "db_url": url(course)}
    try:
        SaveCells().preprocess(notebook, {"nbgrader": about})
    except RuntimeError as error:
        raise ChapterChanged(
            f"{chapter} gained or lost a task since marks were booked: "
            f"move {course / 'gradebook.db'} away, then grade again"
        ) from error
    write(course / "source" / chapter / f"{chapter}.ipynb", notebook)


def person(student: Student) -> dict[str, str]:
    """A student's name for pages that do not escape, and a CSV that does not quote."""
    last, comma, first = student.name.replace("'", "’").partition(", ")
    if not comma:
        first, _, last = last.rpartition(" ")
    clean = {"first_name": NAME.sub("·", first), "last_name": NAME.sub("·", last)}
    clean = {part: name.lstrip("- ") for part, name in clean.items()}  # no formula in a CSV
    email = student.email if re.fullmatch(r"[\w.+-]+@[\w.-]+", student.email) else ""
    return clean | {"email": email}


def book_results(course: Path, chapter: str, results: Sequence[Result]) -> list[str]:
    """Book every result that is not booked yet; a line for each that needs a person's eye."""
    add_chapter(course, chapter)
    said: list[str] = []
    with gradebook(course) as book:
        for result in results:
            key = result.student.key
            try:
                said += book_one(book, course, chapter, result)
            except Exception as error:  # one student's trouble is never another's
                book.db.rollback()
                said.append(f"{key}: NOT booked ({type(error).__name__}: {error})")
    return said


def book_one(book: Gradebook, course: Path, chapter: str, result: Result) -> list[str]:
    key, path = result.student.key, shown_path(course, chapter, result.student.key)
    book.update_or_create_student(key, **person(result.student))
    if result.verdict.status == "missing":
        return []
    before = nbformat.read(path, as_version=4) if path.is_file() else None
    try:
        submitted = book.find_submission_notebook(chapter, chapter, key)
    except MissingEntry:
        before = None
    if before and before.metadata.get("memlib", {}).get("result") == result.digest:
        return []
    if before is None:
        book.update_or_create_submission(chapter, key)
        submitted = book.find_submission_notebook(chapter, chapter, key)
    handed = result.handed
    notebook = rebuild(chapter, handed, result.verdict)
    notebook.metadata["memlib"] = {"result": result.digest}
    now, then, stub = sources(notebook), sources(before), sources(released(chapter))
    marks = {mark.task: mark for mark in result.verdict.marks}
    said = []
    for grade in submitted.grades:
        answer = f"{grade.name}-answer" if grade.name in marks else grade.name
        same = bool(handed.unread) or then.get(answer) == now.get(answer)
        untouched = not handed.unread and now.get(answer) == stub[answer]
        said += set_grade(grade, marks.get(grade.name), same, untouched)
    for comment in submitted.comments:
        same = bool(handed.unread) or then.get(comment.name) == now.get(comment.name)
        untouched = not handed.unread and now.get(comment.name) == stub[comment.name]
        set_comment(comment, marks, same, untouched)
    submitted.flagged = result.verdict.status != "graded"
    book.db.commit()
    write(path, notebook)
    return [f"{key}: {line}" for line in said]


def forget(course: Path, chapter: str) -> list[str]:
    """Take out of the chapter who has no verdict, and out of the course who has none at all."""
    here = {path.stem for path in (course / chapter / "verdicts").glob("*.json")}
    anywhere = {path.stem for path in course.glob("*/verdicts/*.json")}
    said = []
    with gradebook(course) as book:
        for submission in book.assignment_submissions(chapter):
            key = submission.student.id
            if key in here:
                continue
            given = [
                g for n in submission.notebooks for g in n.grades if g.manual_score is not None
            ]
            lost = "".join(f"; {g.name} had {g.manual_score:g} points by hand" for g in given)
            said.append(f"{key}: taken out of {chapter}{lost}")
            book.remove_submission(chapter, key)
        for student in book.students:
            if student.id not in anywhere:
                book.remove_student(student.id)
    for kind in ("autograded", "feedback"):
        for folder in (course / kind).glob(f"*/{chapter}"):
            if folder.parent.name not in here:
                shutil.rmtree(folder)
    return said


def sources(notebook: NotebookNode | None) -> dict[str, str]:
    cells = notebook.cells if notebook else ()
    return {c.metadata.nbgrader.grade_id: c.source for c in cells if "nbgrader" in c.metadata}


def set_grade(grade: Grade, mark: TaskMark | None, same: bool, untouched: bool) -> list[str]:
    """The judge's points; a mark given by hand stays as long as the text that it is for stays."""
    by_hand, auto = grade.manual_score, grade.auto_score
    grade.auto_score = float(mark.points) if mark else 0.0 if untouched else None
    if by_hand is None:
        grade.needs_manual_grade = grade.auto_score is None
        return []
    if same:
        grade.needs_manual_grade = mark is not None and auto != grade.auto_score
        return []
    grade.manual_score, grade.needs_manual_grade = None, True
    return [
        f"{grade.name} changed: the {by_hand:g} points given by hand are withdrawn, mark it again"
    ]


def set_comment(
    comment: Comment, marks: Mapping[str, TaskMark], same: bool, untouched: bool
) -> None:
    mark = marks.get(comment.name.removesuffix("-answer"))
    comment.auto_comment = comment_for(mark) if mark else "No response." if untouched else None
    written = comment.manual_comment
    if written and not same and not written.startswith(EARLIER):
        comment.manual_comment = EARLIER + written


def tell_who_waits(course: Path, chapter: str) -> None:
    """For the feedback pages: a written answer that nobody marked yet says so."""
    if not (course / "gradebook.db").is_file():
        return
    with gradebook(course) as book:
        for submission in book.notebook_submissions(chapter, chapter):
            waits = {grade.name: grade.needs_manual_grade for grade in submission.grades}
            for comment in submission.comments:
                if waits.get(comment.name) and not comment.manual_comment:
                    comment.auto_comment = WAITS
                elif comment.auto_comment == WAITS:
                    comment.auto_comment = None
        book.db.commit()


def booked(course: Path, chapter: str) -> dict[str, dict[str, CellMark]]:
    """Every cell's mark by student key, hand-given ones included; {} before the first."""
    if not (course / "gradebook.db").is_file():
        return {}
    with gradebook(course) as book:
        try:
            submissions = book.notebook_submissions(chapter, chapter)
        except MissingEntry:
            return {}
        return {
            submission.student.id: {
                grade.name: CellMark(grade.score, grade.max_score, grade.needs_manual_grade)
                for grade in submission.grades
            }
            for submission in submissions
        }
