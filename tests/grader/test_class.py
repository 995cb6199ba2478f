"""A class of 100, graded by one command: every mark, every mistake by its name, and the time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader import results
from grader.tasks import EXERCISES
from tests.benchmarks.ranking import seconds
from tests.grader.made_class import make_class, variants
from tests.grader.making import needs_sandbox
from tests.notebooks.refresh import ROOT

CHAPTER, SIZE, BESIDE = "ch02", 100, 10
NBGRADER = [str(Path(sys.executable).with_name("nbgrader"))]
pytestmark = [pytest.mark.slow, needs_sandbox]


def run(command, folder, **more):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONUTF8": "1"} | more
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The class's plan, what the command printed, its results, and both times."""
    folder = tmp_path_factory.mktemp("class")
    plan = make_class(CHAPTER, folder / "handed_in", SIZE)
    command = [sys.executable, "-m", "grader.grade", "--chapter", CHAPTER]
    command += ["--submissions", str(folder / "handed_in"), "--course", str(folder / "course")]
    told = []
    ours = seconds(lambda: told.append(run(command, ROOT, SEED="a secret of this test")))
    plain = folder / "plain"
    for path in sorted((folder / "handed_in").iterdir())[:BESIDE]:
        (plain / "submitted" / path.stem / CHAPTER).mkdir(parents=True)
        shutil.copy(path, plain / "submitted" / path.stem / CHAPTER / f"{CHAPTER}.ipynb")
    (plain / "source" / CHAPTER).mkdir(parents=True)
    shutil.copy(EXERCISES / CHAPTER / f"{CHAPTER}.ipynb", plain / "source" / CHAPTER)
    run([*NBGRADER, "generate_assignment", CHAPTER, "--create"], plain)
    autograde = [*NBGRADER, "autograde", CHAPTER, "--create"]
    theirs = seconds(lambda: run(autograde, plain, PYTHONPATH=str(ROOT)))
    return plan, told[0], results.load(folder / "course" / CHAPTER), (ours, theirs)


def test_every_mark_is_as_expected(graded):
    plan, _, found, _ = graded
    assert found.keys() == plan.keys() and len(plan) == SIZE
    assert {result.verdict.status for result in found.values()} == {"graded"}
    for student, ways in plan.items():
        points = {mark.task: mark.points for mark in found[student].verdict.marks}
        assert points == {name: way.points for name, way in ways.items()}, student


def test_every_misconception_is_recognised_by_its_name(graded):
    plan, _, found, _ = graded
    for student, ways in plan.items():
        named = {mark.task: mark.misconception for mark in found[student].verdict.marks}
        assert named == {name: way.misconception for name, way in ways.items()}, student
    shown = {(name, way) for ways in plan.values() for name, way in ways.items()}
    assert shown == {(name, way) for name, known in variants(CHAPTER).items() for way in known}


def test_the_time_is_told(graded, capsys):
    plan, printed, found, (ours, theirs) = graded
    judged = sum(result.verdict.seconds for result in found.values())
    with capsys.disabled():
        print(
            f"\n{len(plan)} submissions of {CHAPTER}: {ours:.0f} s, {ours / SIZE:.2f} s each, "
            f"of which {judged / SIZE:.2f} s in the judge; nbgrader autograde on {BESIDE} of the "
            f"same files: {theirs / BESIDE:.2f} s each"
        )
    assert printed.count("graded") >= SIZE and f"[{SIZE}/{SIZE}]" in printed
