"""The command: whose a file is, what is judged again, what a stop costs, what is refused."""

import dataclasses
import json
import shutil

import nbformat
import pytest

from grader import grade, reading, report, results, sandbox
from grader.collect import CollectError, Student, collect, finder, key_of, plain, read_class
from grader.gradebook import CellMark, booked, gradebook, shown_path
from grader.judge import TaskMark, Verdict
from grader.reading import ReadingStopped
from grader.tasks import load_tasks
from tests.grader.made_class import WRITTEN, notebook, save

CHAPTER, SEED = "ch02", "a secret of these tests"


class FakeJudge:
    """Gives every submission full marks and remembers whom it saw."""

    def __init__(self, stop_after=None, fails=()):
        self.seen, self.stop_after, self.fails = [], stop_after, fails

    def __call__(self, path, student, chapter, seed):
        if self.stop_after is not None and len(self.seen) >= self.stop_after:
            raise KeyboardInterrupt
        self.seen.append(student)
        if student in self.fails:
            raise OSError("no room")
        marks = tuple(TaskMark(task.name, task.points, task.points) for task in load_tasks(chapter))
        return Verdict(student, chapter, "graded", marks, 1.0, "", results.sha256(path))


@pytest.fixture
def handed(tmp_path):
    """Four students' files in a flat folder."""
    folder = tmp_path / "handed"
    for name in ("anna", "bea_ch02", "Zoë Müller", "dan"):
        save(folder / f"{name}.ipynb", notebook(CHAPTER, {}, f"I am {name}."))
    return folder


def collected(folder, listed=None):
    return {s.student.key: s for s in collect(folder, CHAPTER, listed)[0]}


def run(folder, course, judge, seed=SEED, **more):
    found, _ = collect(folder, CHAPTER)
    return grade.grade_class(CHAPTER, found, seed, course, judge=judge, say=lambda _: None, **more)


# --- whose is it ---------------------------------------------------------------------------------
def test_a_flat_folder_of_files_named_after_students(handed):
    found = collected(handed)
    assert [s.student.name for s in found.values()] == ["anna", "bea", "dan", "Zoë Müller"]
    assert all(s.path and not s.status and not s.note for s in found.values())


def test_a_folder_a_student_whatever_the_notebook_is_called(tmp_path):
    save(tmp_path / "anna" / "my homework.ipynb", notebook(CHAPTER, {}))
    save(tmp_path / "bea" / "deep" / "down" / "ch02.ipynb", notebook(CHAPTER, {}))
    save(tmp_path / "bea" / ".ipynb_checkpoints" / "ch02-checkpoint.ipynb", notebook(CHAPTER, {}))
    save(tmp_path / "cem" / "ch02.ipynb", notebook(CHAPTER, {}))
    save(tmp_path / "cem" / "ch01.ipynb", notebook(CHAPTER, {}))
    save(tmp_path / "dan" / "one.ipynb", notebook(CHAPTER, {}))
    save(tmp_path / "dan" / "two.ipynb", notebook(CHAPTER, {}))
    (tmp_path / "eva").mkdir()
    found = collected(tmp_path)
    assert found["anna"].path.name == "my homework.ipynb"
    assert found["bea"].path.name == found["cem"].path.name == "ch02.ipynb"
    assert found["cem"].note == "2 notebooks (ch01.ipynb, ch02.ipynb): ch02.ipynb taken"
    assert (found["dan"].status, found["dan"].path) == ("unreadable", None)
    assert found["dan"].note == "2 notebooks (one.ipynb, two.ipynb): keep one"
    assert (found["eva"].status, found["eva"].note) == ("unreadable", "no notebook in the folder")


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("anna_ch02", "anna"),
        ("anna-CH02", "anna"),
        ("anna (1)", "anna"),
        ("Anna Berg_12345_assignsubmission_file_ch02", "Anna Berg"),
        ("Anna Berg_12345_assignsubmission_file_bea_ch02", "Anna Berg"),
        ("Anna Berg_12345_assignsubmission_file", "Anna Berg"),
        ("berganna_4711_99_ch02-2", "berganna"),
        ("berganna_LATE_4711_99_bea", "berganna"),
        ("Exercise 2_ab12_attempt_2025-06-11-18-00-00_ch02", "ab12"),
        ("ab_12", "ab_12"),
        # the end of a file's name is the student's own: it never says whose the file is
        ("chobea_12_3456_ab12_attempt_2025-01-01", "chobea"),
        ("chobea_LATE_12_3456_ab12_attempt_2025-01-01_x", "chobea"),
        ("Ch 2_cho_attempt_2025-01-01-10-00-00_ab12_attempt_2025-01-01", "cho"),
        ("cho_attempt_2025-01-01-10-00-00_ab12_attempt_2025-01-01", "cho"),
        ("Ch 2_cho_attempt_2025-01-01-10-00-00_ab12_1_2_x", "cho"),
        ("Bea Cho_12_assignsubmission_file_ab12_attempt_2025-01-01", "Bea Cho"),
        ("Bea Cho_12_assignsubmission_file_ab12_3_assignsubmission_file_x", "Bea Cho"),
        ("chobea_12_3456_ab12_7_assignsubmission_file_x", "chobea"),
    ],
)
def test_what_an_lms_puts_round_a_name_is_taken_off(tmp_path, name, student):
    save(tmp_path / f"{name}.ipynb", notebook(CHAPTER, {}))
    (found,) = collected(tmp_path).values()
    assert found.student.name == student


def test_two_entries_of_one_student_are_told_and_cost_nobody_else_a_mark(handed, tmp_path):
    save(handed / "anna_ch02.ipynb", notebook(CHAPTER, {}))
    found = collected(handed)
    assert found["anna"].status == "unreadable"
    assert found["anna"].note == "2 entries (anna.ipynb, anna_ch02.ipynb): keep one"
    judge = FakeJudge()
    marks = run(handed, tmp_path / "course", judge)
    assert "anna" not in judge.seen and len(judge.seen) == 3
    assert sum(m.points for m in marks["anna"].verdict.marks) == 0
    assert sum(m.points for m in marks["bea"].verdict.marks) == 12


def test_what_is_no_submission_is_told(handed):
    (handed / "readme.txt").touch()
    (handed / "eva.zip").touch()
    save(handed / "ch02.ipynb", notebook(CHAPTER, {}))
    (handed / "folder").symlink_to("/etc")
    (handed / "mallory.ipynb").symlink_to(handed / "anna.ipynb")
    found, left = collect(handed, CHAPTER)
    assert [line.split(":")[0] for line in left] == [
        "ch02.ipynb",
        "eva.zip",
        "folder",
        "readme.txt",
    ]
    assert "whose?" in left[0] and "unpack" in left[1]
    linked = next(s for s in found if s.student.key == "mallory")
    assert (linked.path, linked.note) == (None, "a link, not a file")


HOSTILE = (
    *("*", "[a-z]", "Zoë", "O'Neil", 'a"b', "a b", "=1+1", "-x", "<b>", "a\nb", "\u202egnp.exe"),
    *("\udcff", "name-0123456789ab", "con\x1b[2J", "$(reboot)", "{student}", "..a", "a..b", "%2e"),
)


@pytest.mark.parametrize("name", [*HOSTILE, "../x", "..", "a/b", "", "x" * 300])
def test_a_key_is_safe_in_a_path_a_pattern_and_a_page(name):
    key = key_of(name)
    assert key.isascii() and key != name and 0 < len(key) < 80
    assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert plain(name).isprintable()


def test_hostile_names_are_graded_like_any_other(handed, tmp_path):
    for name in HOSTILE:
        shutil.copy(handed / "anna.ipynb", handed / f"_{name}.ipynb")
        (handed / f"of {name}").mkdir()
        shutil.copy(handed / "anna.ipynb", handed / f"of {name}" / f"{name}.ipynb")
    marks = run(handed, tmp_path / "course", FakeJudge())
    graded = [result for result in marks.values() if result.verdict.status == "graded"]
    assert len(graded) == 4 + 2 * len(HOSTILE) - 1, "the folder of ..a holds a hidden file alone"
    assert results.load(tmp_path / "course" / CHAPTER) == marks
    assert all(grade.line_of(result).isprintable() for result in graded)


def test_no_name_can_take_another_s_key():
    victim = key_of("Zoë Müller")
    assert key_of(victim) != victim
    assert len({key_of(n) for n in ("a b", "a_b", "a-b", "A b", "ä b", "a  b")}) == 6


def test_the_class_list_finds_names_and_the_absent(handed, tmp_path):
    path = tmp_path / "students.csv"
    path.write_text('id,name,email\nid1,"Berg, Anna",a@b.org\nbea,Bea Cho,\nid3,Zoë Müller,\n'
                    "id4,Eva Fox,\n", encoding="utf-8-sig")  # fmt: skip
    (handed / "anna.ipynb").rename(handed / "Anna Berg_1_assignsubmission_file_x.ipynb")
    found = collected(handed, read_class(path))
    assert {k: s.status for k, s in found.items()} == {
        **{"id1": "", "bea": "", "id3": "", "dan": ""},
        "id4": "missing",
    }
    assert [k for k, s in found.items() if not s.student.listed] == ["dan"]
    assert found["id1"].student.email == "a@b.org"


def test_a_name_that_two_students_share_finds_neither():
    twins = {i: Student(i, "Kim Lee", listed=True) for i in ("k1", "k2")}
    assert set(finder(twins)) == {"k1", "k2"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name\nAnna\n", "line 2: no id"),
        ("id,name\na,A\nA,B\n", "line 3: the id 'A' stands there twice"),
        ("id,name\n", "no students"),
    ],
)
def test_a_class_list_that_cannot_be_used_is_refused(tmp_path, text, why):
    path = tmp_path / "students.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CollectError, match=why):
        read_class(path)


# --- what is judged again ------------------------------------------------------------------------
def test_only_what_changed_is_judged_again(handed, tmp_path, monkeypatch):
    course, judge = tmp_path / "course", FakeJudge()
    assert len(run(handed, course, judge)) == len(judge.seen) == 4

    def again(**more):
        judge = FakeJudge()
        run(handed, course, judge, **more)
        return judge.seen

    assert again() == []
    save(handed / "dan.ipynb", notebook(CHAPTER, {}, "Better."))
    assert again() == ["dan"]
    assert again(again={"anna"}) == ["anna"]
    assert again(again={"all"}) == again(seed="another secret") == again(seed=SEED) != []
    copy = tmp_path / "exercises"
    shutil.copytree(results.EXERCISES / CHAPTER, copy / CHAPTER)
    monkeypatch.setattr(results, "EXERCISES", copy)
    assert again() == []
    with (copy / CHAPTER / "answers.py").open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    assert len(again()) == 4


def test_verdicts_of_another_machine_count_here_and_find_their_file(handed, tmp_path):
    run(handed, tmp_path / "there", FakeJudge())
    shutil.copytree(handed, tmp_path / "copied")
    shutil.copytree(tmp_path / "there" / CHAPTER, tmp_path / "here" / CHAPTER)
    judge = FakeJudge()
    marks = run(tmp_path / "copied", tmp_path / "here", judge)
    assert judge.seen == [] and len(marks) == 4
    assert marks["anna"].file == str((tmp_path / "copied" / "anna.ipynb").resolve())
    assert results.load(tmp_path / "here" / CHAPTER) == marks


def test_the_same_file_twice_is_told_unless_nobody_touched_it(handed, tmp_path):
    for name in ("eva", "fay"):
        shutil.copy(results.EXERCISES / CHAPTER / f"{CHAPTER}.ipynb", handed / f"{name}.ipynb")
    shutil.copy(handed / "anna.ipynb", handed / "gus.ipynb")
    marks = run(handed, tmp_path, FakeJudge())
    assert grade.twins(marks, CHAPTER) == ["the same file to the byte: anna, gus"]


def test_a_run_that_was_stopped_goes_on_where_it_was(handed, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(handed, tmp_path, FakeJudge(stop_after=2))
    assert sorted(results.load(tmp_path / CHAPTER)) == ["anna", "bea"]
    second = FakeJudge()
    assert len(run(handed, tmp_path, second)) == 4
    assert second.seen == ["dan", key_of("Zoë Müller")]


def test_judging_everybody_again_goes_on_where_it_was_stopped(handed, tmp_path):
    everybody = ["anna", "bea", "dan", key_of("Zoë Müller")]
    run(handed, tmp_path, FakeJudge())

    def again(names="all", stop_after=None):
        judge, lines = FakeJudge(stop_after), []
        found, _ = collect(handed, CHAPTER)
        try:
            more = {"judge": judge, "again": names.split(), "say": lines.append}
            assert len(grade.grade_class(CHAPTER, found, SEED, tmp_path, **more)) == 4
        except KeyboardInterrupt:
            judge.seen.append("stopped")
        return judge.seen, any("goes on where it was stopped" in line for line in lines)

    assert again(stop_after=1) == (["anna", "stopped"], False)
    assert again(stop_after=1) == (["bea", "stopped"], True)
    assert again("") == ([], False), "whoever does not ask for it is not asked to finish it"
    assert again("anna") == (["anna"], False)
    save(handed / "anna.ipynb", notebook(CHAPTER, {}, "Better."))
    assert again(stop_after=2) == (["anna", "dan", "stopped"], True), "a new file is a new file"
    with (tmp_path / CHAPTER / "again.txt").open("a", encoding="utf-8") as file:
        file.write(everybody[-1])  # cut off: the machine went down
    assert again("all bea") == (["bea", everybody[-1]], True)
    assert again() == (everybody, False), "complete: the next one is a new one"
    assert not (tmp_path / CHAPTER / "again.txt").exists()


def test_a_half_written_or_foreign_result_counts_as_none(handed, tmp_path):
    run(handed, tmp_path, FakeJudge())
    folder = tmp_path / CHAPTER / "verdicts"
    whole = (folder / "anna.json").read_text(encoding="utf-8")
    (folder / "anna.json").write_text(whole[:100], encoding="utf-8")
    (folder / "bea.json").write_text(whole, encoding="utf-8")
    (folder / "dan.json").write_text("[]", encoding="utf-8")
    assert list(results.load(tmp_path / CHAPTER)) == [key_of("Zoë Müller")]
    judge = FakeJudge()
    run(handed, tmp_path, judge)
    assert judge.seen == ["anna", "bea", "dan"]


def test_a_result_comes_back_as_it_was_written(handed, tmp_path):
    marks = run(handed, tmp_path, FakeJudge())
    kept = results.load(tmp_path / CHAPTER)
    assert kept == marks
    slower = dataclasses.replace(marks["anna"].verdict, seconds=9.0)
    assert dataclasses.replace(marks["anna"], verdict=slower).digest == marks["anna"].digest
    late = dataclasses.replace(marks["anna"].verdict, note="late")
    assert dataclasses.replace(marks["anna"], verdict=late).digest != marks["anna"].digest


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_judge_that_fails_on_one_goes_on_with_the_others(handed, tmp_path, jobs):
    marks = run(handed, tmp_path, FakeJudge(fails=("bea",)), jobs=jobs)
    assert {k: r.verdict.status for k, r in marks.items()} == {
        **{"anna": "graded", "bea": "crashed", "dan": "graded"},
        key_of("Zoë Müller"): "graded",
    }
    assert "no fault of the learner's: OSError: no room" in marks["bea"].verdict.note
    judge = FakeJudge()
    run(handed, tmp_path, judge)
    assert judge.seen == ["bea"], "what the judge failed on is judged again"


def test_the_absent_are_missing_until_they_hand_in(handed, tmp_path):
    listed = {
        "anna": Student("anna", "Anna", listed=True),
        "eva": Student("eva", "Eva", listed=True),
    }

    def class_of():
        found, _ = collect(handed, CHAPTER, listed)
        say = [].append
        return grade.grade_class(CHAPTER, found, SEED, tmp_path, judge=FakeJudge(), say=say)

    assert class_of()["eva"].verdict.status == "missing"
    assert results.load(tmp_path / CHAPTER)["eva"].verdict.status == "missing"
    save(handed / "eva.ipynb", notebook(CHAPTER, {}))
    assert class_of()["eva"].verdict.status == "graded"
    (handed / "eva.ipynb").unlink()
    assert class_of()["eva"].verdict.status == "graded", "a mark does not go with the file"


def test_a_class_list_that_comes_later_does_not_double_the_class(handed, tmp_path):
    run(handed, tmp_path, FakeJudge())
    listed = {"ab12": Student("ab12", "anna", listed=True), "x1": Student("x1", "Eva", listed=True)}
    lines = []

    def with_list(listed):
        found, _ = collect(handed, CHAPTER, listed)
        judge, say = FakeJudge(), lines.append
        return set(grade.grade_class(CHAPTER, found, SEED, tmp_path, judge=judge, say=say))

    class_ = {"ab12", "x1", "bea", "dan", key_of("Zoë Müller")}
    assert with_list(listed) == set(results.load(tmp_path / CHAPTER)) == class_
    assert "anna: left out, the file is that of ab12 now" in lines
    del listed["x1"]
    assert with_list(listed) == class_ - {"x1"}, "off the list, and nothing handed in"
    (handed / "dan.ipynb").unlink()
    assert "dan" in with_list(listed), "a mark does not go with the file"


@pytest.mark.parametrize(
    "text", ["id;name\nab12;Anna\n", "ID,Name\nab12,Anna\n", "\ufeffId, NAME\nab12, Anna\n"]
)
def test_a_class_list_may_come_from_any_spreadsheet(tmp_path, text):
    path = tmp_path / "class.csv"
    path.write_text(text, encoding="utf-8")
    assert read_class(path) == {"ab12": Student("ab12", "Anna", listed=True)}
    path.write_bytes("id,name\nx,Zoë\n".encode("latin-1"))
    with pytest.raises(CollectError, match=r"class\.csv: not UTF-8\. Save it"):
        read_class(path)


def test_progress_is_one_plain_line_a_student(handed, tmp_path):
    save(handed / "con\x1b[2Jx.ipynb", notebook(CHAPTER, {}))
    lines = []
    found, _ = collect(handed, CHAPTER)
    grade.grade_class(CHAPTER, found, SEED, tmp_path, judge=FakeJudge(), say=lines.append)
    assert lines[0] == "ch02: 5 to judge, 0 as judged before, 0 missing"
    assert lines[1].startswith("[  1/5] anna") and "graded" in lines[1] and "12 of 12" in lines[1]
    assert len(lines) == 6 and all(line.isprintable() for line in lines)


# --- one student's file, and all others ----------------------------------------------------------
def old_format(book):
    return json.dumps(nbformat.convert(book, 3)).encode()


def with_plots(book):
    png = nbformat.v4.new_output("display_data", data={"image/png": "iVBORw0K" * 1_500_000})
    book.cells.append(nbformat.v4.new_code_cell("", outputs=[png]))
    return nbformat.writes(book).encode()


def with_empty_lines(book):
    book.cells.append(nbformat.v4.new_code_cell("x=1" + "\n" * 20_000))
    return nbformat.writes(book).encode()


def test_one_file_of_any_kind_costs_nobody_a_mark_and_no_answer_is_a_0_unseen(tmp_path):
    folder, course = tmp_path / "handed", tmp_path / "course"
    made = {
        "anna": lambda book: nbformat.writes(book).encode(),
        "lines": with_empty_lines,
        "old": old_format,
        "plots": with_plots,
        "deep": lambda _: b"[" * 100_000,
        "number": lambda _: b'{"cells": ' + b"9" * 100_000 + b"}",
        "cells": lambda _: b'{"cells": [{}' + b", {}" * 100_000 + b"]}",
        "text": lambda _: b'{"cells": [{"cell_type": "markdown", "source": {}}]}',
    }
    folder.mkdir()
    for name, make in made.items():
        (folder / f"{name}.ipynb").write_bytes(make(notebook(CHAPTER, {}, "Mine.")))
    save(folder / "untouched.ipynb", notebook(CHAPTER, {}))
    graded = run(folder, course, FakeJudge())
    said = []
    grade.publish(CHAPTER, graded, course, say=said.append)
    marks = booked(course, CHAPTER)
    points = sum(task.points for task in load_tasks(CHAPTER))
    for row in report.rows(CHAPTER, list(graded.values()), marks):
        written = marks[row.key][WRITTEN]
        assert sum(row.points) == points, row.key
        if row.key == "untouched":
            assert written == CellMark(0.0, 3.0, False) and row.known == f"{points}"
        else:
            assert written == CellMark(0.0, 3.0, True) and row.known == "", row.key
    page = (course / CHAPTER / "report.html").read_text(encoding="utf-8")
    for name in made:
        shown = shown_path(course, CHAPTER, name).read_text(encoding="utf-8")
        if name in ("anna", "lines", "old", "plots"):
            assert "Mine." in shown and not graded[name].verdict.note, name
        else:
            assert f"{name}: graded. the written answer waits: " in page
            assert "the written answer waits: " in shown and "Mine." not in shown


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_could_not_be_read_yet_is_read_the_next_time(handed, tmp_path, monkeypatch, jobs):
    right = reading.read

    def stops(path, *more):
        if path.name.startswith("bea"):
            raise ReadingStopped("reading it took more than 120 s")
        return right(path, *more)

    monkeypatch.setattr(reading, "read", stops)
    first = run(handed, tmp_path / "c", FakeJudge(), jobs=jobs)
    assert first["bea"].verdict.note == "the written answer waits: reading it took more than 120 s"
    assert first["anna"].handed.answers == {WRITTEN: "I am anna."}
    monkeypatch.undo()
    judge = FakeJudge()
    again = run(handed, tmp_path / "c", judge)
    assert judge.seen == ["bea"] and again["bea"].handed.answers == {WRITTEN: "I am bea_ch02."}


def test_a_result_of_an_older_version_keeps_the_marks_that_were_given(handed, tmp_path):
    """Its text was not kept: nothing says that it changed, as long as nobody judges it again."""
    course, (anna, *_) = tmp_path / "c", run(handed, tmp_path / "c", FakeJudge()).values()
    grade.publish(CHAPTER, {"anna": anna}, course, say=lambda _: None)
    path = course / CHAPTER / "verdicts" / "anna.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    del kept["handed"]
    old = results.read(json.dumps(kept))
    assert old.handed == reading.UNREAD and old.verdict == anna.verdict
    with gradebook(course) as book:
        book.find_grade(WRITTEN, CHAPTER, CHAPTER, "anna").manual_score = 2.0
        book.db.commit()
    said = []
    grade.publish(CHAPTER, {"anna": old}, course, say=said.append)
    assert booked(course, CHAPTER)["anna"][WRITTEN].score == 2.0
    assert not [line for line in said if "withdrawn" in line]


def test_no_more_of_a_file_is_read_than_the_judge_would(tmp_path):
    with (tmp_path / "a.ipynb").open("wb") as file:
        file.truncate(10**12)
    assert results.made_from(CHAPTER, SEED, tmp_path / "a.ipynb")["file"] == ""


def test_a_folder_that_is_too_full_or_too_deep_is_that_student_s_line(tmp_path, monkeypatch):
    save(tmp_path / "anna" / "ch02.ipynb", notebook(CHAPTER, {}))
    deep, made = tmp_path / "deep", []
    for _ in range(1200):
        deep.mkdir()
        made.append(deep)
        deep = deep / "d"
    for n in range(2000):
        (tmp_path / "deep" / f"{n}.txt").touch()
    try:
        found = collected(tmp_path)
        assert (found["deep"].status, found["deep"].note) == (
            "unreadable",
            "no notebook in the folder",
        )
        monkeypatch.setattr("grader.collect.MOST_FILES", 3000)
        found = collected(tmp_path)
    finally:
        for n in range(2000):
            (tmp_path / "deep" / f"{n}.txt").unlink()
        for path in reversed(made):
            path.rmdir()
    assert found["deep"].note == "more than 3000 files in the folder"
    assert found["anna"].path and not found["anna"].status


# --- the command ---------------------------------------------------------------------------------
@pytest.fixture
def command(handed, tmp_path, monkeypatch):
    """Run the command on a fake judge, without gradebook and report."""
    judge = FakeJudge()
    for name in ("SEED", "CHAPTER", "SUBMISSIONS", "STUDENTS", "AGAIN", "JOBS", "SANDBOX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(grade.machine, "judge", judge)
    monkeypatch.setattr(grade, "publish", lambda *_: None)
    monkeypatch.setattr(sandbox, "why_missing", lambda: "")

    def run_it(seed=SEED, **options):
        given = {"chapter": CHAPTER, "submissions": str(handed), "course": str(tmp_path / "c")}
        monkeypatch.setenv("SEED", seed)
        words = [w for k, v in (given | options).items() for w in (f"--{k}", v)]
        return grade.main(words), judge.seen

    return run_it


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"seed": ""}, "SEED is missing"),
        ({"seed": "1234"}, "shorter than 8"),
        ({"chapter": "ch99"}, "CHAPTER=ch99: name one of ch01"),
        ({"chapter": "../ch02"}, "name one of ch01"),
        ({"submissions": ""}, "SUBMISSIONS is missing"),
        ({"submissions": "/no/such"}, "there is no such folder"),
        ({"students": "/no/such.csv"}, "there is no such file"),
        ({"jobs": "many"}, "JOBS=many"),
        ({"again": "anna nobody"}, "AGAIN=nobody: nobody's key"),
    ],
)
def test_what_cannot_be_graded_is_refused_in_one_line(command, capsys, options, why):
    assert command(**options) == (2, [])
    told = capsys.readouterr()
    assert why in told.err and told.err.count("\n") == 1 and told.out == ""


def test_a_missing_secret_says_how_to_draw_one(command, capsys):
    command(seed="")
    assert "python3 -c 'import secrets; print(secrets.token_hex(8))'" in capsys.readouterr().err


def test_without_a_sandbox_grading_refuses(command, capsys, monkeypatch):
    monkeypatch.setattr(sandbox, "why_missing", lambda: "bwrap is not installed")
    assert command() == (2, [])
    assert "SANDBOX=none" in capsys.readouterr().err
    monkeypatch.setenv("SANDBOX", "none")
    assert len(command()[1]) == 4


def test_a_class_list_among_the_submissions_is_nobody_s(command, handed, capsys):
    (handed / "students.csv").write_text("id,name\nmallory,anna\n", encoding="utf-8")
    assert len(command()[1]) == 4
    told = capsys.readouterr().out
    assert "students.csv: left alone" in told and "mallory" not in told


def test_the_command_grades_and_tells_what_needs_a_look(command, handed, capsys, tmp_path):
    (handed / "eva.zip").touch()
    listed = tmp_path / "class.csv"
    listed.write_text("id,name\nanna,Anna\nfox,Fox\n", encoding="utf-8")
    code, seen = command(students=str(listed))
    told = capsys.readouterr().out
    assert code == 0 and len(seen) == 4
    assert "not on the class list: bea, dan, zoe-muller-" in told
    assert "eva.zip" in told and "1 missing" in told
    (handed / "anna.ipynb").unlink()
    (handed / "bea_ch02.ipynb").unlink()
    command(seed="one more secret", students=str(listed))
    told = capsys.readouterr().out
    assert "judged before, no file here now: bea" in told
    assert "another SEED" in told


def test_a_stop_keeps_what_is_done_and_says_so(command, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(grade.machine, "judge", FakeJudge(stop_after=1))
    assert command()[0] == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert list(results.load(tmp_path / "c" / CHAPTER)) == ["anna"]
    assert list((tmp_path / "c").rglob("*.*")) == [tmp_path / "c" / CHAPTER / "verdicts/anna.json"]


def test_nobody_else_on_the_machine_can_look_into_the_folder(command, tmp_path):
    command()
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o700


def test_the_secret_is_kept_nowhere(command, tmp_path):
    command()
    for path in (tmp_path / "c").rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert SEED not in text and json.loads(text)["made_from"]["secret"]


def test_what_is_kept_of_the_secret_confirms_no_guess(monkeypatch):
    marks = {results.mark_of(CHAPTER, f"word {n}") for n in range(4)}
    assert len(marks) == 4 and {len(mark) for mark in marks} == {4}, "65,536 values for all words"
    asked = []
    monkeypatch.setattr(results.hashlib, "scrypt", lambda *_, **cost: asked.append(cost) or b"12")
    results.mark_of(CHAPTER, "a word that nobody tried")
    assert asked[0]["n"] * asked[0]["r"] >= 2**18, "cheap to guess: a fast hash takes a microsecond"
