"""`make verify-ollama`: the table, what it says, how it ends; a live server, if there is one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course.data.recorded import PUBLISHED_CARDS, Published
from course.measure.verify_ollama import CLOSE, apart_from_published, compared, main
from course.show import environment
from memlib.embedders.minilm import Bundled
from tests.ollama_server import nobody, serving, swallowing
from tests.oracles import similarity as oracle

QUESTION = "What should I get Sam as a birthday present?"
PUBLISHED = np.array([0.6942, 0.6627, 0.4227, 0.4058, 0.3880, 0.3744, 0.3721, 0.3475])
Capture = pytest.CaptureFixture[str]


def test_both_settings_are_measured_beside_the_published_cosines(capsys: Capture) -> None:
    with serving() as server:
        assert main() == 1  # the stand-in is another model
    told, complaint = capsys.readouterr()
    assert complaint == ""
    plain, prefixed = server.texts[:9], server.texts[9:]
    assert plain == [QUESTION, *PUBLISHED_CARDS]
    assert prefixed == [f"search_query: {QUESTION}"] + [
        f"search_document: {text}" for text in PUBLISHED_CARDS
    ]
    rows = told.split("\n\n")[1].splitlines()[1:]
    vectors = [Bundled().embed(texts).tolist() for texts in (plain, prefixed)]
    cosines = [oracle.cosine(query, cards) for query, *cards in vectors]
    assert len(rows) == 8
    for row, text, *known in zip(rows, PUBLISHED_CARDS, PUBLISHED, *cosines, strict=True):
        assert row.startswith(text)
        shown = [float(number) for number in row.removeprefix(text).split()]
        assert shown == pytest.approx(known, abs=6e-5)
    apart = [max(abs(np.array(found) - PUBLISHED)) for found in cosines]
    assert "Neither setting gives the published cosines to 0.001. With the prefixes" in told
    assert f"differs by up to {apart[1]:.4f}; without prefixes nomic-embed-text by" in told
    assert told.rstrip().endswith(f"by {apart[0]:.4f}.")


@pytest.mark.parametrize(
    ("plain", "prefixes", "said"),
    [
        (2e-4, 0.1, "Without prefixes nomic-embed-text gives the published cosines: it differs by"),
        (0.1, 9e-4, 'With the prefixes "search_query: " and "search_document: " nomic-embed-text'),
    ],
)
def test_the_setting_that_gives_the_published_cosines_is_named(
    plain: float, prefixes: float, said: str
) -> None:
    one_off = np.eye(8)[3]
    live = {"plain": PUBLISHED + plain * one_off, "prefixes": PUBLISHED - prefixes * one_off}
    assert apart_from_published(PUBLISHED, live) == pytest.approx(
        {"plain": plain, "prefixes": prefixes}
    )
    last = compared(PUBLISHED, live).splitlines()[-1]
    assert last.startswith(said)
    assert f"by at most {min(plain, prefixes):.4f}; " in last and last.endswith("by 0.1000.")


def test_a_model_that_gives_them_ends_well(capsys: Capture, monkeypatch) -> None:
    monkeypatch.setattr("course.measure.verify_ollama.Ollama", lambda **settings: Published())
    assert main() == 0
    assert "it differs by at most 0.0000" in capsys.readouterr().out


def test_close_is_less_than_half_the_smallest_gap() -> None:
    assert 0 < CLOSE < -np.diff(PUBLISHED).max() / 2


@pytest.mark.parametrize("address", [nobody, swallowing])
def test_without_a_server_two_lines_say_how_to_get_one(capsys: Capture, address) -> None:
    with address() as host:
        assert main() == 2
    told, complaint = capsys.readouterr()
    first, second = complaint.splitlines()
    assert told == "" and first.startswith(f"Ollama at {host}: no answer")
    assert "https://ollama.com/download" in second and "ollama pull nomic-embed-text" in second


@pytest.mark.parametrize("fault", ["status 500", "down", "html"])
def test_a_server_that_answers_is_not_one_to_install(capsys: Capture, fault: str) -> None:
    with serving() as server:
        server.fault = fault
        assert main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"Ollama at {server.host}: ")
    assert line.endswith(": read the log of `ollama serve`.") and "download" not in line


@pytest.mark.parametrize("value", ["127.0.0.1:99999", "http://[::1 "])
def test_an_impossible_ollama_host_is_one_line(value: str) -> None:
    """In a process of its own: the client's import reads the variable."""
    done = subprocess.run(
        [sys.executable, "-m", "course.measure.verify_ollama"],
        env=os.environ | {"OLLAMA_HOST": value, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"OLLAMA_HOST is {value!r}, no address of a server (" in line
    assert line.endswith(": set it to one such as 127.0.0.1:11434, or unset it.")


def test_a_server_without_the_model_says_what_to_pull(capsys: Capture) -> None:
    with serving() as server:
        server.fault = "status 500"
        assert main() == 2
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("tests.ollama_server.EMBEDDERS", ())
            server.fault = ""
            assert main() == 2
    said = capsys.readouterr().err
    assert "llama runner" in said and "run `ollama pull nomic-embed-text`." in said


# Not a skip: with MEMLIB_CI=1 a skipped test turns the run red, and most machines have no Ollama.
if os.environ.get("OLLAMA_HOST") and environment.ollama(60).startswith("[OK]"):

    def test_a_live_nomic_embed_text_gives_the_published_cosines(capsys: Capture) -> None:
        assert main() == 0, capsys.readouterr().out
