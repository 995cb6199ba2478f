"""The table of chapters: what is read from it, what is refused, and that every list agrees."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course.chapters import CHAPTERS, WITH_EXERCISE, Chapter, read
from grader.tasks import known_chapters

ROOT = Path(__file__).parents[2]
COUNTED = r"\b(1\d|eleven|twelve|thirteen) (chapters|exercises)\b"
GOOD = '{ file = "00_start", title = "start", adds = "a start", minutes = 40 }'
LISTS = """
import json, runpy
from pathlib import Path
from course.show import course_map
from grader import release, tasks
from tests import stages
from tests.browser import conftest
from tests.notebooks import refresh
from tests.site import panels
conf = runpy.run_path("site/conf.py")
index = Path("notebooks/index.md").read_text(encoding="utf-8")
print(json.dumps({
    "map": course_map.sentence(),
    "time plan": course_map.time_plan(),
    "site index": conf["with_lists"](index),
    "panels": str(panels.PANELLED),
    "browser": str(conftest.NAMES),
    "refresh": str(refresh.NOTEBOOKS),
    "stages": str(stages.CHAPTERS + stages.EXERCISES),
    "grader": str(tasks.known_chapters()),
    "release": str(list(release.files())),
}))
"""
NUMBER = f"{len(CHAPTERS):02d}"
FILE, NAME = f"{NUMBER}_second_look", f"{NUMBER} second look"
NOTEBOOK = f"notebooks/{FILE}.ipynb"
EXERCISE = f"notebooks/exercises/ch{NUMBER}/ch{NUMBER}.ipynb"
ENTRY = f'  {{ file = "{FILE}", title = "second look", adds = "a look again", minutes = 5 }},\n'
WANTED = {
    "map": [f"{NAME} (a look again)"],
    "time plan": [f"{NAME}            a look again ", f"{len(CHAPTERS) + 1} chapters"],
    "site index": [f"{NAME} <{FILE}>", f"{NAME} <exercises/ch{NUMBER}/ch{NUMBER}>"],
    "panels": [NOTEBOOK],
    "browser": [f"{FILE}.ipynb"],
    "refresh": [NOTEBOOK, EXERCISE],
    "stages": [NOTEBOOK, EXERCISE],
    "grader": [f"ch{NUMBER}"],
    "release": [
        *(NOTEBOOK, EXERCISE, "course/chapters.toml"),
        *("course/widgets/second_look.py", "memlib/second_look.py"),
    ],
}
OWN = {  # the files of the new chapter, and those of chapter 02 that they are made of
    NOTEBOOK: "notebooks/02_recency.ipynb",
    EXERCISE: "notebooks/exercises/ch02/ch02.ipynb",
    f"notebooks/exercises/ch{NUMBER}/answers.py": "notebooks/exercises/ch02/answers.py",
    "memlib/second_look.py": "memlib/recency.py",
    "tests/memlib/test_second_look.py": "tests/memlib/test_recency.py",
    "course/widgets/second_look.py": "course/widgets/recency.py",
    "tests/course/widgets/test_second_look.py": "tests/course/widgets/test_recency.py",
}
COLLECTED = (
    *("tests/notebooks", "tests/exercises", "tests/browser/test_notebooks.py"),
    "tests/site/test_site.py",
)
IDS = (
    f"test_lint.py::test_cells_are_small_steps[{FILE}]",
    f"test_mutants.py::test_all_die_but_the_listed_ones[ch{NUMBER}]",
    f"TestChapter::test_its_formulas_are_drawn[{FILE}.ipynb]",
    f"test_alone.py::test_runs_alone_elsewhere_and_offline[{FILE}]",
    f"test_site.py::test_what_a_notebook_says_and_prints_stands_on_its_page[{FILE}]",
)


def head(path: str) -> str:
    """A notebook's first cell."""
    cells = json.loads((ROOT / path).read_text(encoding="utf-8"))["cells"]
    return "".join(cells[0]["source"])


def stems(pattern: str) -> list[str]:
    return sorted(path.stem for path in ROOT.glob(pattern))


def test_the_notebooks_and_panels_that_are_there_are_those_of_the_table() -> None:
    files = [chapter.file for chapter in CHAPTERS]
    assert stems("notebooks/[0-9]*.ipynb") == stems("site/panels/*.html") == files
    with (ROOT / "data" / "texts.csv").open(encoding="utf-8", newline="") as lines:
        assert {row["used_in"] for row in csv.DictReader(lines)} <= set(files)


def test_the_exercises_that_are_there_are_those_of_the_table() -> None:
    exercises = [Path(chapter.exercise).stem for chapter in WITH_EXERCISE]
    assert stems("notebooks/exercises/ch*/ch*.ipynb") == known_chapters() == exercises


def test_a_notebook_is_named_after_its_title() -> None:
    for chapter in CHAPTERS:
        assert chapter.file == f"{chapter.number}_{re.sub('[ -]', '_', chapter.title.lower())}"


def test_a_notebook_tells_its_minutes_and_its_neighbours() -> None:
    links = [f"[{chapter.name}]({chapter.file}.ipynb)" for chapter in CHAPTERS]
    for place, chapter in enumerate(CHAPTERS):
        told = head(chapter.notebook)
        assert f"**Time** {chapter.minutes} minutes" in told, chapter.file
        if place:
            assert f"**Before this** {links[place - 1]}" in told, chapter.file
        if place + 1 < len(CHAPTERS):
            assert f"**Next** {links[place + 1]}" in told, chapter.file


def test_an_exercise_names_its_chapter() -> None:
    for chapter in WITH_EXERCISE:
        assert f"**Chapter** {chapter.name}" in head(chapter.exercise)


def test_the_instructors_plan_holds_every_chapter_once_and_the_longest() -> None:
    guide = (ROOT / "notebooks" / "exercises" / "README.md").read_text(encoding="utf-8")
    weeks = re.findall(r"^\| \d+ \| ([\d, ]+) \| ([^|]+) \|", guide, flags=re.MULTILINE)
    planned = [number for chapters, _ in weeks for number in chapters.split(", ")]
    assert planned == [chapter.number for chapter in CHAPTERS]
    exercises = [
        name for _, names in weeks for name in names.replace("capstone", "ch11").split(", ")
    ]
    assert exercises == known_chapters()
    minutes = [chapter.minutes for chapter in CHAPTERS]
    assert f"A chapter takes a student {min(minutes)} to {max(minutes)} minutes" in guide


@pytest.mark.parametrize(
    "path",
    [
        *("README.md", "CONTRIBUTING.md", "notebooks/index.md", "notebooks/exercises/README.md"),
        *(chapter.notebook for chapter in CHAPTERS),
    ],
)
def test_no_sentence_counts_the_chapters(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
    assert not re.search(COUNTED, text, flags=re.IGNORECASE)


def test_a_table_is_read_in_its_order(tmp_path: Path) -> None:
    table = tmp_path / "chapters.toml"
    table.write_text(f'[[part]]\ntitle = "all"\nchapters = [{GOOD}]', encoding="utf-8")
    (chapter,) = read(table)
    assert chapter == Chapter("all", "00_start", "start", "a start", 40)
    assert chapter.name == "00 start"
    assert chapter.notebook == "notebooks/00_start.ipynb"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("00_start", "01_start", "chapters.toml, chapter 00: file is '01_start': must be 00_"),
        ("00_start", "00_St rt", "file is '00_St rt': must be 00_ and a topic"),
        (', adds = "a start"', "", "chapter 00: adds: must hold file, title, adds, minutes"),
        ("adds", "brings", "adds, brings: must hold"),
        ('"start"', '" "', "title is ' ': must be a text"),
        ('"start"', "7", "title is 7: must be a text"),
        ("40", "0", "minutes is 0: must be a whole number"),
        ("40", "true", "minutes is True: must be a whole number"),
        ("40", "4.5", "minutes is 4.5: must be a whole number"),
    ],
)
def test_a_bad_entry_is_refused_by_chapter_key_and_value(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    table = tmp_path / "chapters.toml"
    entry = GOOD.replace(old, new)
    table.write_text(f'[[part]]\ntitle = "all"\nchapters = [{entry}]', encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(why)):
        read(table)


def test_one_more_chapter_is_its_own_files_and_one_entry(copy: Path) -> None:
    for new, model in OWN.items():
        (copy / new).parent.mkdir(exist_ok=True)
        shutil.copy(copy / model, copy / new)
    table = copy / "course" / "chapters.toml"
    before, end, after = table.read_text(encoding="utf-8").rpartition("]")
    table.write_text(before + ENTRY + end + after, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    lists = json.loads(run("-c", LISTS))
    lacking = [
        f"{name}: {each}" for name in lists for each in WANTED[name] if each not in lists[name]
    ]
    assert lacking == []
    collected = run("-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *COLLECTED)
    assert [each for each in IDS if each not in collected] == []
