"""The report: a table that lines up, a page that stands alone, marks without names."""

import csv
import re
import stat
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from grader import report, results
from grader.collect import Student, key_of
from grader.gradebook import CellMark
from grader.judge import TaskMark, Verdict
from grader.results import Result
from grader.tasks import load_tasks

CHAPTER = "ch02"
TASKS = load_tasks(CHAPTER)
EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
NAMES = ("anna", "Zoë Müller", "张伟", "e\u0301va", EVIL, "=cmd()", "x" * 90)


def marked(name, lost=0, status="graded", note=""):
    """A student who lost the first `lost` tasks, each by its first named mistake."""
    marks = tuple(
        TaskMark(t.name, 0, t.points, t.wrong[0].name, t.wrong[0].hint, "3 of 9 answers differ")
        if n < lost
        else TaskMark(t.name, t.points, t.points)
        for n, t in enumerate(TASKS)
    )
    student = Student(key_of(name), name)
    verdict = Verdict(student.key, CHAPTER, status, marks, 1.5, note)
    return Result(student, verdict, "", {})


CLASS = [marked(name, lost) for lost, name in enumerate(NAMES)]
HAND = {"anna": {"in_your_own_words": CellMark(2.5, 3.0, False)}}


def test_the_table_lines_up_whatever_the_names():
    lines = report.text(CHAPTER, CLASS, HAND).split("\n")[: len(CLASS) + 1]
    head = lines[0]
    assert head.split() == ["student", *"123456", "written", "total", "of", "seconds", "status"]
    ends = {report.width(line[: line.index("  graded") + 2]) for line in lines[1:]}
    assert ends == {head.index("status")}
    assert lines[1].split() == ["anna", *"122223", "2.5", "14.5", "15", "1.5", "graded"]
    assert "–" in lines[2] and all(line.isprintable() for line in lines)


@pytest.mark.parametrize(("text", "columns"), [("Zoë", 3), ("张伟", 4), ("e\u0301va", 3), ("", 0)])
def test_a_terminal_s_columns_are_counted(text, columns):
    assert report.width(text) == columns


def test_mistakes_are_counted_by_name_among_what_could_be_run():
    crashed = marked("cem", 6, status="crashed")
    first = report.misconceptions(TASKS[0], [*CLASS, crashed])
    assert first == {TASKS[0].wrong[0].name: len(CLASS) - 1, report.RIGHT: 1}
    text = report.text(CHAPTER, CLASS, {})
    assert f"{len(CLASS) - 1:>8}  {TASKS[0].wrong[0].name}" in text
    assert f"task 1  {TASKS[0].name} (1)" in text


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        (TaskMark("t", 2, 2), report.RIGHT),
        (TaskMark("t", 0, 2, "off by one", "h", "3 of 9 answers differ"), "off by one"),
        (TaskMark("t", 0, 2, note="3 of 9 answers differ"), report.OTHER),
        (TaskMark("t", 0, 2), report.OTHER),
        (TaskMark("t", 0, 2, note="not attempted yet"), "not attempted yet"),
        (TaskMark("t", 0, 2, note="no function of this name"), "no function of this name"),
    ],
)
def test_what_a_mark_shows(mark, shown):
    assert report.shown(mark) == shown


def test_the_sentence_counts_the_class():
    told = report.summary(
        report.rows(CHAPTER, [marked("a"), marked("b", 6), marked("c", 6, "missing")], HAND)
    )
    assert told.startswith("3 students: 2 graded, 1 missing. Median 6 of 15 points, lowest 0, ")
    assert "highest 12. 2 written answers wait for a mark, and count 0 so far." in told


def test_a_mark_that_was_changed_by_hand_is_the_one_that_counts():
    changed = {TASKS[0].name: CellMark(0.5, 1.0, False), "in_your_own_words": CellMark(3, 3, False)}
    (row,) = report.rows(CHAPTER, [marked("anna", 1)], {"anna": changed})
    assert (row.points[0], row.written, row.total, row.of) == (0.5, 3, 14.5, 15)


# --- the page ------------------------------------------------------------------------------------
class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.rows, self.words = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data):
        self.words += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


@pytest.fixture(scope="module")
def page():
    return report.page(CHAPTER, [*CLASS, marked("cem", 6, "timed out", EVIL)], HAND)


def test_the_page_stands_alone_and_runs_nothing(page):
    read = Page(page)
    assert not {"script", "img", "link", "iframe", "object", "base", "form", "a"} & set(read.tags)
    assert not [
        name for name, _ in read.attributes if name.startswith("on") or name in ("href", "src")
    ]
    assert not re.search(r"https?:|@import", page)
    assert "default-src 'none'" in page and 'lang="en"' in page and '<meta charset="utf-8">' in page
    assert EVIL in read.words, "shown, as text"


def test_the_picture_is_also_told_in_words(page):
    svg = re.search(r"<figure>(<svg.*?</svg>)", page, re.DOTALL)
    tree = ET.fromstring(svg[1])
    label = tree.get("aria-label")
    assert tree.get("role") == "img" and label in page.split("<figcaption>")[1]
    points = [int(sum(r.points) + (r.written or 0)) for r in report.rows(CHAPTER, CLASS, HAND)] + [
        0
    ]
    for value in set(points):
        assert f"{points.count(value)} with {value}" in label
    bars = {i: float(r.get("height")) for i, r in enumerate(tree.iter("rect"))}
    assert len(bars) == 16 and {i for i, tall in bars.items() if tall} == set(points)


def test_each_task_names_its_mistakes_with_count_share_and_hint(page):
    rows = Page(page).rows
    wrong = TASKS[0].wrong[0]
    assert [wrong.name, str(len(CLASS) - 1), "", wrong.hint] in rows
    assert "url(#stripes)" in page and 'id="stripes"' in page, "a second cue beside colour"
    assert "@media print" in page


def test_the_page_lists_every_student_and_what_needs_a_look(page):
    read = Page(page)
    by_name = {row[0]: row for row in read.rows if len(row) == 12}
    assert by_name["anna"][-5:] == ["2.5", "14.5", "15", "1.5", "graded"]
    assert f"cem: timed out. {EVIL}" in read.words


def test_the_page_tells_where_an_answer_first_differed_as_text_and_cut():
    told = [f"f(1):  got '{EVIL}', expected 2", "f(2): got \u202e\ud800\n3", "x" * 9_000, ""]
    marks = [TaskMark(t.name, 0, t.points, first=f) for t, f in zip(TASKS, told, strict=False)]
    anna = Student("anna", "Anna <b>")
    lost = Result(anna, Verdict("anna", CHAPTER, "graded", tuple(marks), 1.0), "", {})
    page = report.page(CHAPTER, [lost, marked("bea")], {})
    before, after = page.split("<h2>Where answers first differ</h2>")
    assert "Student by student" in before and "Look at these" in before, "below what is projected"
    rows = [row for row in Page(after).rows if row[0] == "Anna <b> (anna)"]
    assert [row[1] for row in rows] == [t.name for t in TASKS[:3]], "one line a lost task"
    assert rows[0][2] == told[0] and rows[1][2].startswith("f(2): got \ufffd\ufffd")
    assert rows[2][2] == "x" * 650
    assert not {"script", "img", "b"} & set(Page(after).tags)
    page.encode("utf-8")
    assert "No answer differed." in report.page(CHAPTER, [marked("bea")], {})


def test_an_empty_class_makes_a_page_too():
    assert "0 students" in report.page(CHAPTER, [], {})
    assert report.text(CHAPTER, [], {}) == "ch02: nothing graded yet"


# --- marks for an LMS ----------------------------------------------------------------------------
def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_marks_bear_no_name_and_come_back_to_their_owner(tmp_path):
    report.write(tmp_path, CHAPTER, CLASS, HAND)
    marks, ids = (
        read_csv(tmp_path / CHAPTER / "marks.csv"),
        read_csv(tmp_path / "private" / "ids.csv"),
    )
    text = (tmp_path / CHAPTER / "marks.csv").read_text(encoding="utf-8")
    assert not [r.student for r in CLASS if r.student.key in text or r.student.name in text]
    owners = {row["id"]: row["student"] for row in ids}
    assert {owners[row["id"]] for row in marks} == {r.student.key for r in CLASS}
    anna = next(row for row in marks if owners[row["id"]] == "anna")
    assert (anna["total"], anna["of"], anna["written"], anna["status"]) == (
        "14.5",
        "15",
        "2.5",
        "graded",
    )
    assert [anna[task.name] for task in TASKS] == [str(task.points) for task in TASKS]
    others = [row for row in marks if row is not anna]
    assert {row["written"] for row in others} == {row["total"] for row in others} == {""}
    assert [row["id"] for row in marks] == sorted(owners), "no order of names either"


def test_pseudonyms_stay_the_same_and_need_the_key(tmp_path):
    for one in CLASS:
        results.save(tmp_path / CHAPTER, one)
    first = report.write_marks(tmp_path, CHAPTER, report.rows(CHAPTER, CLASS, {})).read_bytes()
    assert (
        report.write_marks(tmp_path, CHAPTER, report.rows(CHAPTER, CLASS, {})).read_bytes() == first
    )
    key = report.secret_key(tmp_path)
    assert len(key) == 32 and report.pseudonym(key, "anna") != report.pseudonym(b"other", "anna")
    for name in ("pseudonyms.key", "ids.csv"):
        assert stat.S_IMODE((tmp_path / "private" / name).stat().st_mode) == 0o600
    report.write_marks(tmp_path, CHAPTER, report.rows(CHAPTER, [marked("dora")], {}))
    assert len(read_csv(tmp_path / "private" / "ids.csv")) == len(CLASS) + 1, "earlier ones stay"


def test_no_name_becomes_a_formula(tmp_path):
    report.write_marks(tmp_path, CHAPTER, report.rows(CHAPTER, CLASS, {}))
    names = [row["name"] for row in read_csv(tmp_path / "private" / "ids.csv")]
    assert "'=cmd()" in names and not [n for n in names if n.startswith(tuple("=+-@"))]


def test_the_command_writes_the_report_again(tmp_path, capsys):
    assert report.main(CHAPTER, tmp_path) == 2
    assert "nothing is graded yet" in capsys.readouterr().err
    for one in CLASS:
        results.save(tmp_path / CHAPTER, one)
    assert report.main(CHAPTER, tmp_path) == 0
    told = capsys.readouterr().out
    for name in ("report.txt", "report.html", "marks.csv", "grades.csv"):
        path = tmp_path / ("" if name == "grades.csv" else CHAPTER) / name
        assert path.stat().st_size > 400 and name in told
