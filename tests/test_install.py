"""The package installs from a built wheel, with its data, and works from anywhere."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import venv
from contextlib import suppress
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.notebooks.refresh import ROOT

SCRIPT = """
import sys
from pathlib import Path
import memlib
from memlib.sources.cards import load_cards
from memlib.sources.data import data_path
from memlib.sources.embedders import choose
assert Path(memlib.__file__).is_relative_to(sys.argv[1]), memlib.__file__
assert data_path("cards.csv").is_relative_to(sys.argv[1]), data_path("cards.csv")
assert len(load_cards()) == 208
recorded = choose("recorded").embed(["Maya lives in Paris."])
bundled = choose("bundled").embed(["Maya lives in Paris."])
assert (recorded @ bundled.T).item() > 0.999
"""


def test_every_file_that_setting_up_names_is_there():
    """A file that moves must not leave README, Makefile or the hosted lines behind."""
    named = set()
    for name in ("README.md", "CONTRIBUTING.md", "Makefile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        named |= set(re.findall(r"[\w./-]+\.(?:txt|toml|ipynb|py|csv|npy|md|png)\b", text))
        named |= {
            m.replace(".", "/") + ".py" for m in re.findall(r"-m ((?:tests|memlib)\.[\w.]+)", text)
        }
    yours = ("work/", "my_", "ch01/", "grading/")
    named = {name for name in named if "NN" not in name and not name.startswith(yours)}
    assert "requirements.txt" in named
    here = [f"/{path.relative_to(ROOT).as_posix()}" for path in project_files()]
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in here)] == []


def project_files():
    """The project's own files, without environments and caches."""
    for top in ROOT.iterdir():
        if top.is_file():
            yield top
        elif top.name in ("notebooks", "memlib", "data", "tests", "site", ".binder"):
            yield from top.rglob("*.*")


@pytest.mark.slow
def test_a_wheel_brings_its_data(tmp_path):
    """Built and unpacked without the checkout; libraries come from this environment."""
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("memlib-*.whl")
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    environment = os.environ | {"PYTHONPATH": str(target)}
    command = [sys.executable, "-c", SCRIPT, str(target)]
    run = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.slow
def test_the_package_alone_needs_no_jupyter(tmp_path):
    """`pip install .` in an empty environment brings neither Jupyter nor matplotlib."""
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", str(ROOT)], check=True, capture_output=True)
    listed = subprocess.run([python, "-m", "pip", "list"], text=True, capture_output=True).stdout
    for name in ("jupyter", "matplotlib", "ipywidgets", "notebook", "pytest"):
        assert name not in listed
    demo = subprocess.run([python, "-m", "memlib"], text=True, capture_output=True, cwd=tmp_path)
    assert demo.returncode == 0, demo.stderr
    assert "1.34" in demo.stdout


FAKE_PYTHON = """#!/bin/sh
echo "$@" >> calls
case "$*" in *venv*) mkdir -p .venv/bin; cp "$0" .venv/bin/python;; esac
"""


@pytest.fixture
def checkout(tmp_path):
    """A folder with the real Makefile and a Python that only writes down how it is called."""
    folder = tmp_path / "with a space"
    for name in ("memlib/__main__.py", "requirements.txt", "pyproject.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    exercise = folder / "notebooks" / "exercises" / "ch01" / "ch01.ipynb"
    exercise.parent.mkdir(parents=True)
    exercise.write_text("{}", encoding="utf-8")
    shutil.copy(ROOT / "Makefile", folder)
    fake = folder / "python"
    fake.write_text(FAKE_PYTHON, encoding="utf-8")
    fake.chmod(0o755)
    return folder


def make(folder, *arguments):
    command = ["make", *arguments]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, env=plain())


def plain():
    """The environment without what an outer make hands down."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}


def set_up(folder):
    """How often `make demo` sets up an environment, and whether from nothing."""
    (folder / "calls").unlink(missing_ok=True)
    run = make(folder, "demo", "PYTHON=./python")
    assert run.returncode == 0, run.stderr
    calls = (folder / "calls").read_text(encoding="utf-8").splitlines()
    return [call for call in calls if call.startswith("-m venv")]


def test_a_copied_folder_or_a_dead_environment_is_set_up_anew(checkout):
    assert set_up(checkout) == ["-m venv .venv"]
    assert set_up(checkout) == []
    copied = shutil.copytree(checkout, checkout.parent / "copy")
    assert set_up(copied) == ["-m venv --clear .venv"]
    assert set_up(copied) == set_up(checkout) == []
    (checkout / ".venv" / "bin" / "python").unlink()
    assert set_up(checkout) == ["-m venv --clear .venv"]
    later = (checkout / ".venv" / ".ready").stat().st_mtime + 5
    os.utime(checkout / "requirements.txt", (later, later))
    assert set_up(checkout) == ["-m venv .venv"]


@pytest.mark.parametrize("python", ["/bin/false", "./none"])
def test_a_python_that_cannot_be_used_is_said(checkout, python):
    run = make(checkout, "lab", f"PYTHON={python}")
    assert run.returncode != 0
    assert f"Python 3.11 or newer is needed, {python} is missing or older: make lab" in run.stdout


def test_exercises_are_copied_whole_or_the_failure_is_told(checkout):
    mine = checkout / "work" / "ch01" / "ch01.ipynb"
    mine.parent.mkdir(parents=True)
    mine.touch()  # what an interrupted copy left behind
    assert "copied work/ch01/ch01.ipynb" in make(checkout, "exercises").stdout
    mine.write_text("mine", encoding="utf-8")
    assert "kept   work/ch01/ch01.ipynb" in make(checkout, "exercises").stdout
    assert mine.read_text(encoding="utf-8") == "mine"
    mine.unlink()
    (mine.parent / "ch01.ipynb.part").mkdir()
    (mine.parent / "ch01.ipynb.part" / "ch01.ipynb").mkdir()
    run = make(checkout, "exercises")
    assert run.returncode != 0 and "copied" not in run.stdout and not mine.exists()


def test_make_from_another_folder_says_what_to_do(checkout, tmp_path):
    run = make(tmp_path, "-f", str(checkout / "Makefile"))
    assert run.returncode != 0 and "say make -C FOLDER" in run.stderr
    run = make(tmp_path, "-C", str(checkout))
    assert run.returncode == 0 and "make lab" in run.stdout


@pytest.mark.slow
def test_make_lab_opens_chapter_00_and_reaches_the_learners_own_exercises(checkout, tmp_path):
    for name in ("notebooks/00_start_here.ipynb", "work/ch01/ch01.ipynb"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "notebooks" / "00_start_here.ipynb", checkout / name)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = f"--ip=127.0.0.1 --port={port} --IdentityProvider.token="
    told = make(checkout, "-n", "lab", "PYTHON=./python", f"LAB_FLAGS={flags}").stdout
    (command,) = [line for line in told.splitlines() if "jupyter lab" in line]
    private = {
        "JUPYTER_RUNTIME_DIR": tmp_path / "runtime",
        "JUPYTER_CONFIG_DIR": tmp_path / "config",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *shlex.split(command)[2:]],
        cwd=checkout,
        env=plain() | {name: str(path) for name, path in private.items()} | {"BROWSER": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as lab:
        try:
            mine = f"http://127.0.0.1:{port}/api/contents/work/ch01/ch01.ipynb?content=0"
            status, pages = 0, []
            for _ in range(120):
                with suppress(URLError), urlopen(mine, timeout=10) as reply:
                    status = reply.status
                pages = list((tmp_path / "runtime").glob("jpserver-file-to-run-*.html"))
                if status and pages:
                    break
                time.sleep(0.25)
            opened = [page.read_text(encoding="utf-8") for page in pages]
        finally:
            lab.terminate()
    assert status == 200, "work/ cannot be reached"
    assert "/lab/tree/notebooks/00_start_here.ipynb" in opened[0]
