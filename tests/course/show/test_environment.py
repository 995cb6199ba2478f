"""The environment check: each thing that may be missing is named, with its mend."""

import itertools
import socket
import sys
from pathlib import Path

import pytest

from course.data import files as data
from course.data import maya, recorded
from course.show import environment
from memlib.embedders import minilm, ollama

SITES = (data, maya, recorded)  # the modules that ask for data files


def failures(text: str) -> dict[str, tuple[str, str]]:
    """What a check found missing: name -> (reason, mend)."""
    lines = text.splitlines()
    found = {}
    for line, below in itertools.pairwise(lines):
        if line.startswith("[FAIL] "):
            name, reason = line.removeprefix("[FAIL] ").split(": ", 1)
            assert below.startswith("       mend: ")
            found[name] = (reason, below.removeprefix("       mend: "))
    return found


def without(monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
    real = data.data_path

    def gone(name: str) -> Path:
        if name in files:
            raise FileNotFoundError(f"no course data file {name!r}")
        return real(name)

    for module in SITES:
        monkeypatch.setattr(module, "data_path", gone)


def test_all_is_well_here_and_the_text_tells_nothing_of_the_machine() -> None:
    text = environment.check()
    lines = text.splitlines()
    assert lines[-1] == "Everything is here."
    assert lines[:-1] == [f"[OK]   {need.name}" for need in environment.needs()]
    assert "/" not in text and "\\" not in text
    assert "Ollama" not in text


def test_every_package_of_the_course_is_tried_and_none_of_memlib() -> None:
    root = Path(__file__).parents[3]
    pinned = {
        line.split("==")[0].replace("-", "_")
        for line in (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    assert set(environment.PACKAGES) <= pinned
    assert not [name for name in environment.PACKAGES if name.startswith("memlib")]


def test_every_data_file_is_looked_for() -> None:
    folder = data.data_path("cards.csv").parent
    there = {path.name for path in folder.iterdir() if path.suffix in (".csv", ".npy", ".json")}
    assert there <= set(environment.FILES)


def test_an_old_python_is_told_which_one_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "OLDEST_PYTHON", (99, 1))
    reason, mend = failures(environment.check())["Python 99.1 or newer"]
    assert reason.startswith("this kernel runs Python 3.")
    assert "PYTHON=python99.1" in mend


@pytest.mark.parametrize("name", environment.PACKAGES)
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    text = environment.check()
    reason, mend = failures(text)[f"package {name}"]
    assert name in reason
    assert "pip install -r requirements.txt" in mend and "restart the kernel" in mend
    assert text.splitlines()[-1].endswith("need a mend.")


@pytest.mark.parametrize("name", environment.FILES)
def test_a_missing_data_file_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    without(monkeypatch, name)
    reason, mend = failures(environment.check())["data files"]
    assert name in reason
    assert "git restore data" in mend


def test_broken_cards_are_told_with_their_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "cards.csv"
    broken.write_text("id,text,created_at\nmiso,A cat.,yesterday\n", encoding="utf-8")
    real = data.data_path
    monkeypatch.setattr(maya, "data_path", lambda name: broken if "cards" in name else real(name))
    found = failures(environment.check())
    assert set(found) == {"cards and exam"}
    assert "yesterday" in found["cards and exam"][0]


def test_a_damaged_recording_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "vectors.json").write_text("{", encoding="utf-8")
    (tmp_path / "vectors.npy").write_bytes(b"")
    monkeypatch.setattr(recorded, "data_path", lambda name: tmp_path / "texts.csv")
    reason, mend = failures(environment.check())["recorded vectors"]
    assert "no recorded vectors" in reason
    assert "make vectors" in mend


def test_a_model_of_another_sha256_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MODEL_SHA256", "0" * 64)
    found = failures(environment.check())
    assert set(found) == {"bundled model"}
    reason, mend = found["bundled model"]
    assert "wrong sha256" in reason
    assert "the chapters run" in mend


@pytest.mark.parametrize("package", ["ipywidgets", "jupyterlab_widgets"])
def test_sliders_that_cannot_be_drawn_are_told(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    reason, mend = failures(environment.check())["sliders"]
    assert package in reason
    assert "reload the page" in mend


def test_an_error_without_words_is_told_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent() -> None:
        raise OSError

    need = environment.Need("silence", silent, "speak")
    monkeypatch.setattr(environment, "needs", lambda: [need])
    assert environment.check().splitlines() == [
        "[FAIL] silence: OSError",
        "       mend: speak",
        "1 of 1 need a mend.",
    ]


def test_ollama_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{port}")
    line = environment.ollama(2.0)
    assert line.startswith("[--]   Ollama, not needed: ")
    assert len(line.splitlines()) == 1


def test_an_ollama_that_answers_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama.Ollama, "embed", lambda self, texts: texts)
    assert environment.ollama() == "[OK]   Ollama answers with nomic-embed-text"
