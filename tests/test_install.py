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
import zipfile
from contextlib import suppress
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.notebooks.refresh import ROOT
from tests.test_architecture import HOUSES, NEEDS

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
IMPORT_ALL = """
import importlib, pkgutil, memlib
for module in pkgutil.walk_packages(memlib.__path__, "memlib."):
    try:
        module.name.endswith("__main__") or importlib.import_module(module.name)
    except ModuleNotFoundError as missing:
        print(module.name, missing.name)
"""


def test_every_file_that_setting_up_names_is_there():
    """A file that moves must not leave README, Makefile or the hosted lines behind."""
    named = set()
    for name in ("README.md", "CONTRIBUTING.md", "Makefile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        named |= set(re.findall(r"[\w./-]+\.(?:txt|toml|ipynb|py|csv|npy|md|png)\b", text))
        run = re.findall(rf"-m ((?:tests|{'|'.join(HOUSES)})\.[\w.]+)", text)
        named |= {name.replace(".", "/") + ".py" for name in run}
    yours = ("work/", "my_", "ch01/", "grading/")
    named = {name for name in named if "NN" not in name and not name.startswith(yours)}
    assert "requirements.txt" in named
    here = [f"/{path.relative_to(ROOT).as_posix()}" for path in project_files()]
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in here)] == []


def test_every_folder_that_contributors_are_sent_to_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+/[\w/]+/)`", text)) - {"build/browser/"}
    assert {"memlib/embedders/", "tests/grader/"} <= named
    assert [name for name in named if not (ROOT / name).is_dir()] == []


def project_files():
    """The project's own files, without environments and caches."""
    for top in ROOT.iterdir():
        if top.is_file():
            yield top
        elif top.name in (*HOUSES, "notebooks", "data", "tests", "site", ".binder"):
            yield from top.rglob("*.*")


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """The Python of an empty environment into which the built wheel was installed."""
    folder = tmp_path_factory.mktemp("empty")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("memlib-*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", str(wheel)], check=True, capture_output=True)
    return wheel, python


@pytest.mark.slow
def test_the_wheel_holds_memlib_alone_and_is_small(empty):
    wheel, _ = empty
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"memlib"} and wheel.stat().st_size < 500_000
    packed = {name for name in names if name.endswith(".py")}
    assert packed == {p.relative_to(ROOT).as_posix() for p in (ROOT / "memlib").rglob("*.py")}


@pytest.mark.slow
def test_the_package_alone_is_enough_for_all_but_extraction(empty, tmp_path):
    """Nothing of Jupyter, no model, no server: numpy, pandas, snowballstemmer."""
    _, python = empty
    listed = subprocess.run([python, "-m", "pip", "list"], text=True, capture_output=True).stdout
    for name in ("jupyter", "matplotlib", "ipywidgets", "onnxruntime", "ollama", "pydantic"):
        assert name not in listed
    run = subprocess.run(
        [python, "-W", "error", "-c", IMPORT_ALL], text=True, capture_output=True, cwd=tmp_path
    )
    assert run.returncode == 0, run.stderr
    assert dict(line.split() for line in run.stdout.splitlines()) == NEEDS


@pytest.mark.slow
def test_the_readmes_first_example_runs_on_the_package_alone(empty, tmp_path):
    _, python = empty
    run = subprocess.run([python, "-c", EXAMPLES[0]], text=True, capture_output=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == EXAMPLES[0].rpartition("# ")[2].strip()


def test_the_readmes_second_example_finds_the_cat(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", EXAMPLES[1]], text=True, capture_output=True, cwd=tmp_path
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == EXAMPLES[1].rpartition("# ")[2].strip()
    assert len(EXAMPLES) == 2


@pytest.mark.slow
def test_without_the_extra_the_bundled_model_says_what_to_install(empty, tmp_path):
    _, python = empty
    code = "from memlib import choose; choose('bundled').embed(['Miso'])"
    run = subprocess.run([python, "-c", code], text=True, capture_output=True, cwd=tmp_path)
    assert "EmbedderUnavailable: no bundled model" in run.stderr and "pip install" in run.stderr


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
