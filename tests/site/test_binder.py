"""The Binder configuration: its files are there, and what they name can be installed.

It was never tried on mybinder.org itself.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.notebooks.refresh import ROOT

BINDER = ROOT / ".binder"


def requirements(path):
    """The requirements of a file and of the files that it names."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from requirements(path.parent / line.removeprefix("-r "))
        elif line.strip() and not line.startswith("#"):
            yield Requirement(line)


def test_the_requirements_are_the_course_s_and_pinned():
    wanted = {str(one) for one in requirements(BINDER / "requirements.txt")}
    assert wanted == {str(one) for one in requirements(ROOT / "requirements.txt")}
    assert all(re.search(r"==[\d.]+$", one) for one in wanted)


def test_its_python_is_one_that_the_package_takes():
    named = (BINDER / "runtime.txt").read_text(encoding="utf-8").strip()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert named.removeprefix("python-") in SpecifierSet(project["requires-python"])


def test_what_it_runs_afterwards_can_be_run():
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    targets = re.findall(r"^make (\w+)", script.read_text(encoding="utf-8"), flags=re.M)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets and all(re.search(rf"^{name}:", makefile, flags=re.M) for name in targets)


@pytest.mark.slow
def test_the_requirements_agree_with_each_other_and_with_what_is_installed():
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index"]
    run = subprocess.run(
        [*command, "-r", BINDER / "requirements.txt"], text=True, capture_output=True
    )
    assert run.returncode == 0, run.stderr
    assert "Would install" not in run.stdout


@pytest.mark.slow
def test_the_package_is_installed_and_the_exercises_are_copied(tmp_path):
    """postBuild in a copy of the project, with an environment of its own."""
    copy = tmp_path / "course"
    unwanted = shutil.ignore_patterns(".*", "build", "work", "*.egg-info", "grading")
    shutil.copytree(ROOT, copy, ignore=unwanted)
    shutil.copytree(BINDER, copy / ".binder")
    venv.create(tmp_path / "empty", with_pip=True)
    path = f"{tmp_path / 'empty' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    run = subprocess.run(
        [copy / ".binder" / "postBuild"],
        cwd=copy,
        env=environment | {"PATH": path},
        text=True,
        capture_output=True,
    )
    assert run.returncode == 0, run.stderr
    assert (copy / "work" / "ch01" / "ch01.ipynb").stat().st_size > 0
    (path,) = (tmp_path / "empty" / "lib").glob("python*/site-packages/__editable__*memlib*.pth")
    assert path.read_text(encoding="utf-8").strip() == str(copy)  # memlib and course are found
