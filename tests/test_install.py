"""The package installs from a built wheel, with its data, and works from anywhere."""

import os
import re
import subprocess
import sys
import venv

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
    yours = ("work/", "my_", "ch01/")
    named = {name for name in named if "NN" not in name and not name.startswith(yours)}
    assert "requirements.txt" in named
    here = [f"/{path.relative_to(ROOT).as_posix()}" for path in project_files()]
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in here)] == []


def project_files():
    """The project's own files, without environments and caches."""
    for top in ROOT.iterdir():
        if top.is_file():
            yield top
        elif top.name in ("notebooks", "memlib", "data", "tests"):
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
