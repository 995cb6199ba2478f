"""The gradebook: the judge's marks, hand-given ones, feedback, export; nothing hostile shown."""

import copy
import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

from grader import grade, gradebook, pages, report, results
from grader.collect import Student, key_of
from grader.gradebook import ChapterChanged, book_results, booked, full_points, rebuild, shown_path
from grader.judge import TaskMark, Verdict
from grader.reading import Handed, handed_in
from grader.results import Result
from grader.tasks import load_tasks
from tests.grader.made_class import WRITTEN, notebook, save

CHAPTER = "ch02"
TASKS = load_tasks(CHAPTER)
BIN = Path(sys.executable).parent
EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(1)><b onclick='alert(1)'>x</b>\n"
    "[x](javascript:alert(1)) ![x](http://tracker.example/alert)\n"
    "$\\href{javascript:alert(1)}{x}$\n\n$$\\href{javascript:alert(2)}{x}$$\n"
    "````\n</code></pre><script>alert(3)</script>\n`````\n</textarea>{{ alert }} {% raw %}\n"
)


def verdict(student, points=None, note="", status="graded"):
    """All points, or what `points` says by task; a lost task shows its first misconception."""
    marks = []
    for task in TASKS:
        got = (points or {}).get(task.name, task.points)
        wrong = None if got else task.wrong[0]
        named = {"misconception": wrong.name, "hint": wrong.hint} if wrong else {}
        marks.append(TaskMark(task.name, got, task.points, **named, note=note))
    return Verdict(student, CHAPTER, status, tuple(marks), 1.0, note)


def result(folder, student, written, *, book=None, name="", **more):
    """A result on a notebook that is written for it."""
    path = save(folder / f"{student}.ipynb", book or notebook(CHAPTER, {}, written))
    who, handed = Student(student, name or student), handed_in(path.read_bytes(), CHAPTER)
    return Result(who, verdict(student, **more), str(path), {"n": "1"}, handed)


def shown_of(path, told):
    return rebuild(CHAPTER, handed_in(path.read_bytes(), CHAPTER), told)


def by_hand(course, student, points, comment=None):
    with gradebook.gradebook(course) as book:
        grade_ = book.find_grade(WRITTEN, CHAPTER, CHAPTER, student)
        grade_.manual_score, grade_.needs_manual_grade = points, False
        book.find_comment(WRITTEN, CHAPTER, CHAPTER, student).manual_comment = comment
        book.db.commit()


def comment_of(course, student, cell):
    with gradebook.gradebook(course) as book:
        return book.find_comment(cell, CHAPTER, CHAPTER, student).comment


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A course whose gradebook knows the chapter and nobody; copied for each test."""
    course = tmp_path_factory.mktemp("empty")
    gradebook.add_chapter(course, CHAPTER)
    return course


@pytest.fixture
def course(empty, tmp_path):
    target = tmp_path / "course"
    target.mkdir()
    (target / "gradebook.db").write_bytes((empty / "gradebook.db").read_bytes())
    return target


# --- marks ---------------------------------------------------------------------------------------
def test_the_gradebook_has_the_judge_s_marks(course, tmp_path):
    lost = {TASKS[0].name: 0, TASKS[2].name: 0}
    anna = result(tmp_path, "anna", "A good answer.")
    bea = result(tmp_path, "bea", "", points=lost)
    assert book_results(course, CHAPTER, [anna, bea]) == []
    marks = booked(course, CHAPTER)
    for one in (anna, bea):
        for mark in one.verdict.marks:
            assert marks[one.student.key][mark.task] == gradebook.CellMark(
                mark.points, mark.of, False
            )
    assert marks["anna"][WRITTEN] == gradebook.CellMark(0.0, 3.0, True)
    assert marks["bea"][WRITTEN] == gradebook.CellMark(0.0, 3.0, False), "nothing was written"
    assert full_points(CHAPTER) == sum(task.points for task in TASKS) + 3
    hint = comment_of(course, "bea", f"{TASKS[0].name}-answer")
    assert TASKS[0].wrong[0].name in hint and TASKS[0].wrong[0].hint[:20] in hint
    assert comment_of(course, "anna", f"{TASKS[0].name}-answer") is None


def test_booking_again_changes_nothing_that_did_not_change(course, empty, tmp_path):
    anna = result(tmp_path, "anna", "A good answer.")
    book_results(course, CHAPTER, [anna])
    path = shown_path(course, CHAPTER, "anna")
    before = path.read_bytes()
    os.utime(path, (1, 1))
    by_hand(course, "anna", 2.0)
    assert book_results(course, CHAPTER, [anna]) == []
    assert path.read_bytes() == before and path.stat().st_mtime == 1
    assert booked(course, CHAPTER)["anna"][WRITTEN].score == 2.0
    (course / "gradebook.db").write_bytes((empty / "gradebook.db").read_bytes())
    book_results(course, CHAPTER, [anna])
    assert booked(course, CHAPTER)["anna"][TASKS[0].name].score == 1.0, (
        "a lost gradebook is refilled"
    )


def test_a_mark_given_by_hand_stays_while_its_text_stays(course, tmp_path):
    book_results(course, CHAPTER, [result(tmp_path, "anna", "A good answer.")])
    by_hand(course, "anna", 2.0, "Well said.")
    code = {TASKS[0].name: f"def {TASKS[0].name}(hours, decay):\n    return 7\n"}
    book = notebook(CHAPTER, code, "A good answer.")
    again = result(tmp_path, "anna", "", book=book, points={TASKS[0].name: 0})
    assert book_results(course, CHAPTER, [again]) == []
    marks = booked(course, CHAPTER)["anna"]
    assert marks[WRITTEN] == gradebook.CellMark(2.0, 3.0, False)
    assert marks[TASKS[0].name].score == 0
    assert comment_of(course, "anna", WRITTEN) == "Well said."


def test_a_mark_given_by_hand_goes_with_its_text_and_is_told(course, tmp_path):
    book_results(course, CHAPTER, [result(tmp_path, "anna", "A good answer.")])
    by_hand(course, "anna", 2.0, "Well said.")
    told = book_results(course, CHAPTER, [result(tmp_path, "anna", "Another.", note="second")])
    assert told == [
        f"anna: {WRITTEN} changed: the 2 points given by hand are withdrawn, mark it again"
    ]
    assert booked(course, CHAPTER)["anna"][WRITTEN] == gradebook.CellMark(0.0, 3.0, True)
    assert comment_of(course, "anna", WRITTEN) == "(about an earlier version) Well said."


def test_a_task_s_mark_that_was_changed_by_hand_stays_and_asks_for_a_look(course, tmp_path):
    book_results(course, CHAPTER, [result(tmp_path, "anna", "x", points={TASKS[0].name: 0})])
    with gradebook.gradebook(course) as book:
        book.find_grade(TASKS[0].name, CHAPTER, CHAPTER, "anna").manual_score = 0.5
        book.db.commit()
    book_results(course, CHAPTER, [result(tmp_path, "anna", "x", note="judged anew")])
    assert booked(course, CHAPTER)["anna"][TASKS[0].name] == gradebook.CellMark(0.5, 1.0, True)


def test_an_answer_that_could_not_be_read_waits_and_keeps_the_mark_that_it_is_given(
    course, tmp_path
):
    anna = result(tmp_path, "anna", "Mine.")
    unread = replace(anna, handed=Handed(unread="broken JSON"))
    assert book_results(course, CHAPTER, [unread]) == []
    assert booked(course, CHAPTER)["anna"][WRITTEN] == gradebook.CellMark(0.0, 3.0, True)
    assert comment_of(course, "anna", WRITTEN) is None, "nobody knows that there is no response"
    by_hand(course, "anna", 2.0)
    again = replace(unread, verdict=replace(unread.verdict, note="judged again"))
    assert book_results(course, CHAPTER, [again]) == []
    assert booked(course, CHAPTER)["anna"][WRITTEN] == gradebook.CellMark(2.0, 3.0, False)


def test_the_missing_are_in_the_gradebook_without_a_submission(course):
    missing = grade.nothing_right(CHAPTER, Student("eva", "Eva"), "missing", "")
    book_results(course, CHAPTER, [Result(Student("eva", "Eva Fox"), missing, "", {})])
    assert booked(course, CHAPTER) == {}
    with gradebook.gradebook(course) as book:
        assert [(s.id, s.first_name, s.last_name) for s in book.students] == [("eva", "Eva", "Fox")]


def test_one_that_cannot_be_booked_costs_no_other_a_mark(course, tmp_path, monkeypatch):
    three = [result(tmp_path, name, "x") for name in ("anna", "bea", "cem")]
    right = gradebook.rebuild

    def fails(chapter, handed, told):
        if told.student == "bea":
            raise RecursionError("deep")
        return right(chapter, handed, told)

    monkeypatch.setattr(gradebook, "rebuild", fails)
    assert book_results(course, CHAPTER, three) == ["bea: NOT booked (RecursionError: deep)"]
    marks = booked(course, CHAPTER)
    assert marks["anna"] == marks["cem"] and marks["anna"][TASKS[0].name].score == 1
    monkeypatch.undo()
    assert book_results(course, CHAPTER, three) == []
    assert booked(course, CHAPTER)["bea"] == marks["anna"]


def test_a_chapter_with_other_tasks_is_refused_once_marks_are_booked(course, tmp_path, monkeypatch):
    anna = result(tmp_path, "anna", "x")
    book_results(course, CHAPTER, [anna])
    fewer = gradebook.released(CHAPTER)
    fewer.cells = [c for c in fewer.cells if TASKS[0].name not in str(c.metadata)]
    monkeypatch.setattr(gradebook, "released", lambda _: copy.deepcopy(fewer))
    with pytest.raises(ChapterChanged, match=r"move .*gradebook.db away"):
        book_results(course, CHAPTER, [anna])


# --- what is shown -------------------------------------------------------------------------------
class Page(HTMLParser):
    """Collects what a hostile text could have become: attributes, addresses, live text."""

    VOID = ("br", "img", "meta", "link", "hr", "input")

    def __init__(self, text):
        super().__init__()
        self.open, self.live, self.texts, self.seen = [], [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.live += [
            f"{tag} {k}={v}" for k, v in attrs if "alert" in f"{v}" or "tracker" in f"{v}"
        ]
        self.open += [] if tag in self.VOID else [tag]

    def handle_endtag(self, tag):
        while tag in self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        self.texts.append(data)
        quoted = {"pre", "code", "style"} & set(self.open)
        if ("alert" in data and not quoted) or ("alert(" in data and "script" in self.open):
            self.live.append(data)


def rendered(book):
    """As formgrader and generate_feedback turn Markdown, code and outputs into HTML."""
    return HTMLExporter(template_name="classic").from_notebook_node(book)[0]


def hostile(metadata=True):
    codes = {task.name: f"{EVIL}\ndef {task.name}(*_):\n    '''{EVIL}'''\n" for task in TASKS[:2]}
    book = notebook(CHAPTER, codes, EVIL)
    html = nbformat.v4.new_output("display_data", data={"text/html": EVIL, "image/svg+xml": EVIL})
    book.cells += [
        nbformat.v4.new_code_cell(EVIL, outputs=[html]),
        nbformat.v4.new_markdown_cell(EVIL, attachments={"alert.png": {"image/png": "AAAA"}}),
        nbformat.v4.new_raw_cell(EVIL),
    ]
    book.metadata["title"] = EVIL
    for cell in book.cells if not metadata else ():
        cell.metadata.pop("nbgrader", None)
    return book


def test_the_check_for_live_text_sees_it():
    assert Page("<p>alert(1)</p>").live and Page("<img src='alert'>").live
    assert Page(rendered(hostile())).live, "shown as it is, the notebook would run"
    assert not Page("<pre>alert(1) <b>x</b></pre><p>fine</p>").live


@pytest.mark.parametrize("metadata", [True, False], ids=["metadata kept", "metadata stripped"])
def test_nothing_a_learner_wrote_is_live_on_a_page(tmp_path, metadata):
    path = save(tmp_path / "x.ipynb", hostile(metadata))
    book = shown_of(path, verdict("x", {TASKS[0].name: 0}, note=EVIL))
    nbformat.validate(book)
    page = Page(rendered(book))
    assert page.live == []
    assert sum("alert(1)" in text for text in page.texts) >= 4, "it is shown, as text"


def test_only_released_cells_and_the_learner_s_text_are_shown(tmp_path):
    code = f"def {TASKS[0].name}(hours, decay):\n    return inner(hours)\n"
    book = notebook(CHAPTER, {TASKS[0].name: code}, "My own words.")
    book.cells.append(nbformat.v4.new_code_cell("def inner(x):\n    return x"))
    book.cells[2].source = "A task text that the learner changed."
    shown = shown_of(save(tmp_path / "a.ipynb", book), verdict("a"))
    ours = gradebook.released(CHAPTER)
    assert [c.metadata for c in shown.cells[: len(ours.cells)]] == [c.metadata for c in ours.cells]
    by_name = gradebook.sources(shown)
    assert by_name[f"{TASKS[0].name}-answer"].strip() == code.strip()
    assert by_name[WRITTEN] == "````text\nMy own words.\n````"
    assert by_name[f"{TASKS[1].name}-answer"] == gradebook.sources(ours)[f"{TASKS[1].name}-answer"]
    rest = [c.source for c in shown.cells[len(ours.cells) :]]
    assert rest == [
        "````text\nA task text that the learner changed.\n````",
        "def inner(x):\n    return x",
    ]
    told = [c.outputs[0].text for c in shown.cells if c.get("outputs")]
    plural = {1: "point"}
    assert told == [f"{t.points} of {t.points} {plural.get(t.points, 'points')}\n" for t in TASKS]


@pytest.mark.parametrize("ids", [True, False], ids=["cells named", "cells without names"])
def test_answers_are_found_without_metadata_and_in_any_cell(tmp_path, ids):
    codes = {task.name: f"def {task.name}(*_):\n    return {n}\n" for n, task in enumerate(TASKS)}
    book = notebook(CHAPTER, codes, "My own words.")
    book.cells = [c for c in reversed(book.cells) if "feedback(" not in c.source]
    for cell in book.cells:
        cell.metadata.clear()
        cell.id = cell.id if ids else f"new-{cell.id}"
    book.cells.reverse()
    shown = shown_of(save(tmp_path / "a.ipynb", book), verdict("a"))
    by_name = gradebook.sources(shown)
    for name, code in codes.items():
        assert by_name[f"{name}-answer"].strip() == code.strip()
    assert by_name[WRITTEN] == "````text\nMy own words.\n````"
    assert set(gradebook.sources(gradebook.released(CHAPTER))) == set(by_name)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "[" * 100_000, '{"cells": 7}'),
        '{"cells": [7, {"metadata": 3, "source": {}}]}',
        '{"cells": [{"cell_type": "code", "source": [1, null], "metadata": {"nbgrader": 2}}]}',
    ],
    ids=range(7),
)
def test_a_file_that_is_no_notebook_is_shown_as_the_released_one(tmp_path, text):
    path = tmp_path / "a.ipynb"
    path.write_text(text, encoding="utf-8")
    shown = shown_of(path, verdict("a", status="unreadable", note="broken JSON"))
    nbformat.validate(shown)
    assert shown.cells[0].source == "````text\nunreadable. broken JSON\n````"
    assert gradebook.sources(shown).keys() == gradebook.sources(gradebook.released(CHAPTER)).keys()


def test_a_comment_renders_to_nothing_live():
    mark = TaskMark("t", 0, 1, "a * b", "Is 2 * x < 3, or x[0] * 2?", EVIL)
    text = gradebook.comment_for(mark)
    page = Page(rendered(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])))
    assert page.live == [] and not {"b", "textarea", "img", "em"} & page.seen
    words = " ".join("".join(page.texts).split())
    assert "This looks like: a * b. Is 2 * x < 3, or x[0] * 2?" in words and "alert(1)" in words
    assert gradebook.comment_for(TaskMark("t", 1, 1)) is None
    assert (
        gradebook.comment_for(TaskMark("t", 0, 1, note="not attempted yet"))
        == "`not attempted yet`"
    )


def test_no_drawn_input_comes_to_a_learner(course, tmp_path):
    """The same inputs judge late notebooks and appeals: they stand in the instructor's report."""
    anna = result(tmp_path, "anna", "", points={TASKS[0].name: 0})
    marks = [replace(mark, first="f(4711): got 1, expected 2") for mark in anna.verdict.marks]
    anna = replace(anna, verdict=replace(anna.verdict, marks=tuple(marks)))
    assert "f(4711)" in report.page(CHAPTER, [anna], {})
    book_results(course, CHAPTER, [anna])
    assert "f(4711)" not in shown_path(course, CHAPTER, "anna").read_text(encoding="utf-8")
    assert "f(4711)" not in comment_of(course, "anna", f"{TASKS[0].name}-answer")
    report.write(course, CHAPTER, [anna], booked(course, CHAPTER))
    assert "f(4711)" not in (course / CHAPTER / "marks.csv").read_text(encoding="utf-8")


def test_a_name_fits_pages_that_do_not_escape_and_a_csv_that_does_not_quote():
    told = gradebook.person(Student("k", '-Zoë <b> "O\'Neil"\n=x', "a b@c"))
    assert told == {"first_name": "Zoë ·b·", "last_name": "·O’Neil···x", "email": ""}
    told = gradebook.person(Student("k", "Müller, Zoë"))
    assert told == {"first_name": "Zoë", "last_name": "Müller", "email": ""}
    assert gradebook.person(Student("k", "Anna Berg", "a.b@c.org"))["email"] == "a.b@c.org"


def test_no_output_of_the_released_notebook_stands_in_for_a_verdict(tmp_path):
    none = Verdict("a", CHAPTER, "unreadable", (), 0.0)
    shown = rebuild(CHAPTER, Handed(unread="broken JSON"), none)
    assert not [cell for cell in shown.cells if cell.get("outputs")]


@pytest.mark.parametrize("where", ["below", "in the question"])
def test_an_answer_beside_its_cell_waits_for_a_mark(course, tmp_path, where):
    book = notebook(CHAPTER, {})
    if where == "below":
        book.cells.append(nbformat.v4.new_markdown_cell("My own words."))
    else:
        book.cells[2].source = "My own words."
    anna = result(tmp_path, "anna", "", book=book)
    shown = gradebook.sources(shown_of(Path(anna.file), anna.verdict))
    assert shown[WRITTEN] == "````text\nMy own words.\n````"
    book_results(course, CHAPTER, [anna])
    assert booked(course, CHAPTER)["anna"][WRITTEN] == gradebook.CellMark(0.0, 3.0, True)


def test_who_has_no_verdict_is_taken_out_everywhere(course, tmp_path):
    two = [result(tmp_path, name, "x") for name in ("anna", "bea")]
    for one in two:
        results.save(course / CHAPTER, one)
    told = []
    grade.publish(CHAPTER, {r.student.key: r for r in two}, course, say=told.append)
    by_hand(course, "anna", 2.5)
    (course / "feedback" / "anna" / CHAPTER).mkdir(parents=True)
    results.forget(course / CHAPTER, "anna")
    grade.publish(CHAPTER, {"bea": two[1]}, course, say=told.append)
    assert f"anna: taken out of {CHAPTER}; {WRITTEN} had 2.5 points by hand" in told
    assert set(booked(course, CHAPTER)) == {"bea"}
    with gradebook.gradebook(course) as book:
        assert [student.id for student in book.students] == ["bea"]
    assert not [p for p in course.glob(f"*/anna/{CHAPTER}")]
    assert "anna" not in (course / "private" / "ids.csv").read_text(encoding="utf-8")
    grades = report.write_grades(course).read_text(encoding="utf-8")
    assert "anna" not in grades and "bea" in grades


def test_a_page_made_before_marking_says_that_the_answer_waits(course, tmp_path):
    book_results(course, CHAPTER, [result(tmp_path, "anna", "x")])
    gradebook.tell_who_waits(course, CHAPTER)
    assert comment_of(course, "anna", WRITTEN) == gradebook.WAITS
    by_hand(course, "anna", 2.0)
    gradebook.tell_who_waits(course, CHAPTER)
    assert comment_of(course, "anna", WRITTEN) is None


def test_a_flood_is_cut(tmp_path):
    book = notebook(CHAPTER, {}, "`" * 50_000 + "x" * 50_000)
    book.cells += [nbformat.v4.new_code_cell(f"a = {n}\n" + "b." * 9_000) for n in range(50)]
    shown = shown_of(save(tmp_path / "a.ipynb", book), verdict("a"))
    assert len(nbformat.writes(shown)) < 150_000
    assert "(cut here)" in gradebook.sources(shown)[WRITTEN]


# --- nbgrader's own programs ---------------------------------------------------------------------
@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A course of four as `make grade` leaves it: one right, one wrong, one hostile, one absent."""
    course, files = tmp_path_factory.mktemp("published"), tmp_path_factory.mktemp("files")
    name = "Q, <img src=x onerror=hack()> \"'=x"
    evil = result(files, "evil", "", book=hostile(False), note=EVIL, points={TASKS[0].name: 0})
    evil = replace(evil, student=Student(key_of(name), name), made_from={})
    missing = grade.nothing_right(CHAPTER, Student("eva", "Eva"), "missing", "")
    four = [
        result(files, "anna", "A good answer.", name="Anna Berg"),
        result(files, "bea", "Short.", points={TASKS[1].name: 0}),
        *(evil, Result(Student("eva", "Eva"), missing, "", {})),
    ]
    for one in four:
        results.save(course / CHAPTER, one)
    grade.publish(CHAPTER, {one.student.key: one for one in four}, course, say=lambda _: None)
    by_hand(course, "anna", 2.5, "Well said.")
    return course, key_of(name)


@pytest.mark.slow
def test_feedback_pages_are_made_and_bear_marks_hints_and_nothing_live(published):
    course, evil = published
    assert pages.make(course, CHAPTER) == []
    found = {p.parts[-3]: p for p in (course / "feedback").glob(f"*/{CHAPTER}/{CHAPTER}.html")}
    assert set(found) == {"anna", "bea", evil}
    texts = {name: path.read_text(encoding="utf-8") for name, path in found.items()}
    assert "(Score: 14.5 / 15.0)" in texts["anna"] and "Well said." in texts["anna"]
    assert "(Score: 10.0 / 15.0)" in texts["bea"] and TASKS[1].wrong[0].name in texts["bea"]
    assert Page(texts[evil]).live == [] and "alert(1)" in texts[evil]
    for page in texts.values():
        assert not re.search(r"<script|(src|href)=.https?:|@import|url\(.?http", page)


def test_the_table_of_grades_knows_a_0_from_what_nobody_knows(published):
    course, evil = published
    report.write_grades(course)
    with (course / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    waits = "written answer waits for a mark"
    assert {k: (r["total"], r["status"]) for k, r in rows.items()} == {
        **{"anna": ("14.5", "graded"), "bea": ("", waits), "eva": ("", "missing")},
        evil: ("", waits),
    }
    assert {row["of"] for row in rows.values()} == {"15"}
    assert rows[evil]["name"] == "Q, <img src=x onerror=hack()> \"'=x", "as it is"
    for status in ("crashed", "unreadable", "timed out"):
        nothing = grade.nothing_right(CHAPTER, Student("x", "X"), status, "")
        (row,) = report.rows(CHAPTER, [Result(Student("x", "X"), nothing, "", {})], {})
        assert row.known == ""


@pytest.mark.slow
def test_a_page_that_nbgrader_cannot_make_costs_no_other(published, tmp_path):
    course = shutil.copytree(published[0], tmp_path / "course")
    shown_path(course, CHAPTER, "anna").write_text("no notebook", encoding="utf-8")
    (line,) = pages.make(course, CHAPTER)
    assert line == "anna: no page (nbgrader ended with code 1)"
    assert {p.parts[-3] for p in course.glob("feedback/*/*/*.html")} == {"bea", published[1]}


@pytest.mark.slow
def test_formgrader_shows_every_submission_and_can_run_none(published, tmp_path):
    course, evil = published
    (course / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.root = {str(course)!r}\n", encoding="utf-8"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port, token = free.getsockname()[1], "a-token-of-this-test"
    command = [str(BIN / "jupyter"), "server", "--allow-root", "--no-browser", f"--port={port}"]
    command += [f"--IdentityProvider.token={token}", "--ServerApp.port_retries=0"]
    command += ["--ServerApp.jpserver_extensions=nbgrader.server_extensions.formgrader=True"]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "JUPYTER_DATA_DIR": str(tmp_path),
    }

    def ask(path, method="GET"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/formgrader/{path}",
            headers={"Authorization": f"token {token}"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode("utf-8")

    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, cwd=course, env=environment, stdout=log, stderr=log)
        try:
            wait_for(tmp_path / "log", "/?token=", server)
            submissions = json.loads(ask(f"api/submitted_notebooks/{CHAPTER}/{CHAPTER}"))
            assert {s["student"] for s in submissions} == {"anna", "bea", evil}
            assert sum(s["needs_manual_grade"] for s in submissions) == 2
            for one in submissions:
                page = ask(f"submissions/{one['id']}/")
                assert f'id="{WRITTEN}"' in page and "hack()" not in page
                assert Page(page).live == []
            refused = json.loads(ask(f"api/submission/{CHAPTER}/anna/autograde", "POST"))
            assert refused["success"] is False and "No notebooks were matched" in refused["log"]
            assert shown_path(course, CHAPTER, "anna").is_file()
        finally:
            server.terminate()
            server.wait(30)


def wait_for(log, text, server):
    for _ in range(300):
        if text in log.read_text(encoding="utf-8"):
            return
        assert server.poll() is None, log.read_text(encoding="utf-8")
        subprocess.run(["sleep", "0.1"], check=True)
    raise AssertionError(log.read_text(encoding="utf-8"))
