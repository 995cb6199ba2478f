"""What students get, and what only the instructor makes: the archive and the solved notebook."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from grader import collect, homes, pages, reading, release, solution
from grader.judge import Limits
from grader.tasks import EXERCISES, known_chapters, load_tasks

CHAPTERS = known_chapters()
TASK = load_tasks("ch02")[0]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    target = tmp_path_factory.mktemp("release") / "course.zip"
    return release.pack(release.files(), target)


def names_in(path):
    with zipfile.ZipFile(path) as archive:
        return [name.removeprefix(f"{release.FOLDER}/") for name in archive.namelist()]


def test_nothing_leaks_today():
    assert release.leaks(release.files(), CHAPTERS) == []


def test_students_get_the_course_and_no_answers(archive):
    names = names_in(archive)
    assert {f"notebooks/exercises/{c}/{c}.ipynb" for c in CHAPTERS} <= set(names)
    assert {
        "Makefile",
        "README.md",
        "pyproject.toml",
        "memlib/ranking.py",
        "data/cards.csv",
    } <= set(names)
    assert "notebooks/00_start_here.ipynb" in names and "memlib/py.typed" in names
    for name in names:
        assert not {"answers.py", "grading", "tests", "work"} & set(name.split("/")), name
        assert not name.endswith((".pyc", ".part", ".db", ".key")), name


def test_the_same_files_give_the_same_bytes(archive, tmp_path):
    for path in release.files().values():
        assert path.is_file()
    again = release.pack(dict(reversed(release.files().items())), tmp_path / "again.zip")
    assert again.read_bytes() == archive.read_bytes()
    with zipfile.ZipFile(archive) as unpacked:
        assert {entry.date_time for entry in unpacked.infolist()} == {release.EPOCH}
    assert names_in(archive) == sorted(names_in(archive))


def leaky(tmp_path, change, name="notebooks/exercises/ch02/ch02.ipynb"):
    """Leaks of what is handed out when one file of it is changed."""
    handed = dict(release.files())
    path = (tmp_path / "changed").with_suffix(Path(name).suffix)
    path.write_text(change(handed[name].read_text(encoding="utf-8")), encoding="utf-8")
    return release.leaks(handed | {name: path}, ["ch02"])


def put(where):
    """Put a text into an exercise's last cell: its source, an output, its metadata."""

    def change(text):
        book = nbformat.reads(text, as_version=4)
        where(book)
        return nbformat.writes(book)

    return change


@pytest.mark.parametrize(
    "wrong", [task.wrong[-1] for task in load_tasks("ch02")], ids=lambda w: w.name
)
def test_a_hint_is_found_wherever_it_stands(tmp_path, wrong):
    def in_output(book):
        data = {"text/plain": f"psst: {wrong.hint}\nok"}
        book.cells[-2] = nbformat.v4.new_code_cell(
            "1", outputs=[nbformat.v4.new_output("display_data", data=data)]
        )

    def in_metadata(book):
        book.cells[0].metadata["note"] = wrong.hint

    for where in (in_output, in_metadata):
        (found,) = leaky(tmp_path, put(where))
        assert found == f"notebooks/exercises/ch02/ch02.ipynb: a hint of ch02, {wrong.hint!r}"


def test_a_line_of_a_solution_is_found(tmp_path):
    (line, *_) = sorted(release.solution_lines("ch02"))

    def in_source(book):
        book.cells[1].source += f"\n    {line}   \n"

    (found,) = leaky(tmp_path, put(in_source))
    assert found.endswith(f"of a solution, {line!r}")


@pytest.mark.parametrize(
    ("code", "where"),
    [
        ("def recency_after(hours, decay):\n    return decay**hours", "its cell"),
        ("def recency_after(hours, decay):\n    return decay**hours", "another"),
        ("recency_after = pow", "its cell"),
    ],
)
def test_an_answer_that_is_no_stub_is_found(tmp_path, code, where):
    def solve(book):
        if where == "another":
            book.cells.append(nbformat.v4.new_code_cell(code))
            return
        for cell in book.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "recency_after-answer":
                cell.source = code

    found = leaky(tmp_path, put(solve))
    name = "recency_after-answer" if where == "its cell" else "a cell"
    assert found == [f"notebooks/exercises/ch02/ch02.ipynb: {name}: no stub"]


def test_a_written_answer_is_found(tmp_path):
    def write(book):
        for cell in book.cells:
            if cell.source == release.PLACEHOLDER:
                cell.source = "Because."

    (found,) = leaky(tmp_path, put(write))
    assert found.endswith("in_your_own_words: no stub")


def test_students_see_no_target_that_cannot_run_from_the_archive(archive):
    with zipfile.ZipFile(archive) as unpacked:
        text = unpacked.read(f"{release.FOLDER}/Makefile").decode()
    listed = {line.split(":")[0] for line in text.splitlines() if ": " in line and " ## " in line}
    assert {"help", "lab", "demo", "exercises"} <= listed
    assert not {"grade", "release", "test", "check", "solution", "feedback"} & listed
    assert "\nlab: $(READY) exercises ## " in text and "\ngrade: $(READY)\n" in text


def test_a_copy_of_answers_is_found_under_any_name(tmp_path):
    text = (EXERCISES / "ch02" / "answers.py").read_text(encoding="utf-8")
    found = leaky(tmp_path, lambda _: text.replace("Wrong", "W"), "memlib/ranking.py")
    assert len(found) > 10 and all("memlib/ranking.py: a hint of ch02" in line for line in found)


@pytest.mark.parametrize(
    "name", ["notebooks/exercises/ch02/answers.py", "tests/x.py", "grading/ch02/marks.csv"]
)
def test_a_barred_name_is_refused(tmp_path, name):
    path = tmp_path / "x"
    path.write_text("", encoding="utf-8")
    assert release.leaks({name: path}, []) == [f"{name}: not for students"]


def test_with_a_leak_nothing_is_packed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(release, "ARCHIVE", tmp_path / "course.zip")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "leaks", lambda *_: ["x: a hint"])
    assert release.main() == 1
    assert "Nothing is packed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_hidden_files_links_and_leftovers_stay_at_home(tmp_path):
    for name in ("memlib/a.py", "memlib/.secret.py", "memlib/__pycache__/a.pyc", "data/x.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "data" / "link.csv").symlink_to("/etc/passwd")
    (tmp_path / "notes.txt").touch()
    assert list(release.files(tmp_path)) == ["data/x.csv", "memlib/a.py"]


def test_an_exercise_runs_from_the_archive_alone(archive, tmp_path):
    with zipfile.ZipFile(archive) as unpacked:
        unpacked.extractall(tmp_path)
    folder = tmp_path / release.FOLDER
    book = json.loads((folder / "notebooks/exercises/ch02/ch02.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    code = "\n".join(cells) + "\nimport memlib; print(memlib.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / "memlib" / "__init__.py")


# --- the solved notebook -------------------------------------------------------------------------
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_solution_s_cells_stand_on_their_own(chapter):
    names = {}
    for task, (name, source) in zip(load_tasks(chapter), solution.pieces(chapter), strict=True):
        exec(compile(source, name, "exec"), names)
        assert name == task.name and callable(names[name])
        assert "Wrong(" not in source and "rng" not in source
        assert not [right for right in task.right if right.__name__ in source]


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_solved_notebook_holds_in_every_idea(chapter):
    book = solution.solved(chapter)
    given = nbformat.read(EXERCISES / chapter / f"{chapter}.ipynb", as_version=4)
    assert len(book.cells) == len(given.cells)
    assert not [c for c in book.cells if c.source.endswith("raise NotImplementedError")]
    told = str([cell.get("outputs") for cell in book.cells])
    assert told.count("ideas hold") == len(load_tasks(chapter)) and "look again" not in told
    nbformat.validate(book)


@pytest.mark.slow
def test_a_solution_that_its_feedback_rejects_is_none(monkeypatch):
    wrong = [
        (name, code.replace("decay**hours", "hours")) for name, code in solution.pieces("ch02")
    ]
    monkeypatch.setattr(solution, "pieces", lambda _: wrong)
    with pytest.raises(solution.Unsolved, match=f"ch02, {TASK.name}"):
        solution.solved("ch02")


def test_a_chapter_that_is_not_there_is_refused(capsys, tmp_path):
    assert solution.main("ch99", tmp_path) == 2
    assert "name one of ch01" in capsys.readouterr().err


# --- the guide -----------------------------------------------------------------------------------
GUIDE = (EXERCISES / "README.md").read_text(encoding="utf-8")


def test_the_guide_keeps_the_secret_out_of_the_shell_s_history():
    assert "read -rs SEED; export SEED" in GUIDE
    commands = [line for line in GUIDE.splitlines() if line.strip().startswith("make ")]
    assert commands and not [line for line in commands if "SEED=" in line]


def test_the_guide_says_how_to_stop_formgrader_and_tells_the_limits():
    words = " ".join(GUIDE.split())
    assert "Press Ctrl-C twice" in words
    limits = Limits()
    assert f"{limits.cell_seconds} seconds a cell" in words and f"{limits.processes} proc" in words
    assert f"{limits.wall_seconds} in all, {limits.memory_mb // 1000} GB" in words
    assert f"{limits.file_mb} MB" in words
    assert f"a line of {release.SHORTEST_LINE} characters" in words


def test_the_guide_tells_the_limits_of_reading_and_collecting():
    words = " ".join(GUIDE.split())
    assert f"may have {Limits().notebook_mb} MB and {reading.MOST_CELLS:,} cells" in words
    assert reading.SECONDS == homes.SECONDS == 120 and "gets two minutes and 2 GB" in words
    assert reading.MEMORY_MB == 2000 and "20 MB, within two minutes" in words
    assert f"more than {collect.MOST_FILES:,} files" in words
    assert pages.SECONDS + pages.SECONDS_TO_START == 240 and "more than four minutes" in words
    assert "make collect CHAPTER=ch02 HOMES=/home" in GUIDE and "cp -P" not in GUIDE
