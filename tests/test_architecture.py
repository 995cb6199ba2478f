"""The rule of the house: five floors above the checks, no import upwards, one test a module."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "memlib", ROOT / "tests"

FLOORS = {  # a name ending in * stands for every module of that folder
    **dict.fromkeys(("checks", "words"), 0),
    **dict.fromkeys(("similarity", "recency", "importance", "normalization"), 1),
    **dict.fromkeys(("bm25", "entity_boost", "signals"), 1),
    **dict.fromkeys(("fusion", "forgetting", "strength", "relevance", "learning", "sources.*"), 2),
    **dict.fromkeys(("ranking", "librarian", "evaluation", "experiment", "own_memory"), 3),
    **dict.fromkeys(("ideas", "leaderboard"), 3),
    "show.*": 4,
    **dict.fromkeys(("__main__", "measure_locomo", "measure_own_memory", "measure_survivors"), 5),
    **dict.fromkeys(("verify_ollama", "remeasure"), 5),
}
FORMULAS = {name for name, floor in FLOORS.items() if floor == 1} | {
    *("fusion", "forgetting", "strength", "relevance", "learning", "ranking", "evaluation"),
    "own_memory",
}
HANDED_IN = {"sources.store", "sources.embedders"}  # what the librarian is given, never imports
EXTRAS = (  # what `pip install .` does not bring
    *("matplotlib", "ipywidgets", "IPython", "tqdm", "jupyterlab", "nbformat"),
    *("nbgrader", "pytest", "nbval", "hypothesis"),
)
OWN_FOLDERS = ("oracles", "notebooks", "exercises", "widgets", "browser", "benchmarks", "site")
CROSS_CUTTING = (
    *("test_architecture.py", "test_tests.py", "test_hazards.py", "test_published_figures.py"),
    *("test_install.py", "test_anti_vacuity.py", "test_conftest.py", "test_stages.py"),
    "test_processors.py",
    "show/widgets/test_drive.py",
)


def module_name(path: Path) -> str:
    """memlib/show/tables.py is "show.tables", memlib/show/__init__.py is "show"."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
PACKAGES = {name for name, path in SOURCES.items() if path.name == "__init__.py"}
MODULES = sorted(set(SOURCES) - PACKAGES)


def imports(name: str, code: str, package: bool = False) -> Iterator[str]:
    """Full names of what a module of memlib imports, wherever in its code the import stands."""
    here = ["memlib", *name.split(".")] if name else ["memlib"]
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = here[: len(here) - node.level + package] if node.level else []
            base = ".".join([*up, *(node.module or "").split(".")]).rstrip(".")
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield full if full.removeprefix("memlib.") in SOURCES else base


def within(imported: Iterator[str]) -> set[str]:
    """The imports that stay inside memlib, without its name; "" is memlib itself."""
    return {
        found.removeprefix("memlib").removeprefix(".")
        for found in imported
        if found == "memlib" or found.startswith("memlib.")
    }


def floor_of(name: str) -> int:
    known = FLOORS.get(name, FLOORS.get(name.split(".")[0] + ".*"))
    assert known is not None, f"memlib.{name}: on which floor? Give it one in FLOORS"
    return known


def forbidden(importer: str, imported: str) -> str:
    """Why `importer` may not import `imported`, or nothing."""
    above, below = floor_of(importer), floor_of(imported)
    if below > above:
        return f"floor {above} imports from floor {below}"
    if above == below == 1:
        return "single formulas stand alone"
    if importer in FORMULAS and imported.split(".")[0] in ("sources", "show"):
        return "formulas know nothing of sources or show"
    if importer == "librarian" and imported in HANDED_IN:
        return "the librarian is handed its store and embedder"
    return ""


def read(name: str) -> str:
    return SOURCES[name].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODULES)
def test_every_module_stands_on_a_floor(name: str) -> None:
    assert floor_of(name) in range(6)


def test_there_are_modules_to_check() -> None:
    assert {"checks", "similarity", "ranking", "sources.cards", "sources.data"} <= set(MODULES)
    assert {"", "sources"} <= PACKAGES


@pytest.mark.parametrize("name", MODULES)
def test_no_import_runs_against_the_floors(name: str) -> None:
    wrong = {
        found: why
        for found in within(imports(name, read(name)))
        if found not in PACKAGES and (why := forbidden(name, found))
    }
    assert not wrong, f"memlib.{name} imports {wrong}"


@pytest.mark.parametrize("name", MODULES)
def test_imports_name_modules_never_a_whole_folder(name: str) -> None:
    assert not within(imports(name, read(name))) & (PACKAGES - {""})


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_package_markers_import_nothing(name: str) -> None:
    assert not list(imports(name, read(name), package=True))


@pytest.mark.parametrize("name", [*MODULES, *sorted(PACKAGES)])
def test_nothing_is_imported_by_a_computed_name(name: str) -> None:
    for node in ast.walk(ast.parse(read(name))):
        called = getattr(node, "attr", getattr(node, "id", ""))
        assert called not in ("import_module", "__import__"), f"memlib.{name}: {called}"


@pytest.mark.parametrize(
    ("importer", "imported", "why"),
    [
        ("checks", "similarity", "floor 0 imports from floor 1"),
        ("recency", "similarity", "single formulas stand alone"),
        ("recency", "checks", ""),
        ("words", "bm25", "floor 0 imports from floor 1"),
        ("sources.suspicion", "words", ""),
        ("recency", "ranking", "floor 1 imports from floor 3"),
        ("fusion", "normalization", ""),
        ("fusion", "sources.cards", "formulas know nothing of sources or show"),
        ("evaluation", "sources.cards", "formulas know nothing of sources or show"),
        ("evaluation", "ranking", ""),
        ("sources.cards", "recency", ""),
        ("sources.cards", "sources.data", ""),
        ("sources.cards", "ranking", "floor 2 imports from floor 3"),
        ("sources.dialogue", "experiment", "floor 2 imports from floor 3"),
        ("sources.locomo", "sources.embedders", ""),
        ("experiment", "sources.dialogue", ""),
        ("experiment", "evaluation", ""),
        ("experiment", "show.tables", "floor 3 imports from floor 4"),
        ("fusion", "experiment", "floor 2 imports from floor 3"),
        ("measure_locomo", "show.tables", ""),
        ("show.tables", "measure_locomo", "floor 4 imports from floor 5"),
        ("sources.store", "show.tables", "floor 2 imports from floor 4"),
        ("librarian", "sources.cards", ""),
        ("librarian", "sources.store", "the librarian is handed its store and embedder"),
        ("librarian", "sources.embedders", "the librarian is handed its store and embedder"),
        ("show.widgets.recency", "sources.embedders", ""),
        ("show.tables", "__main__", "floor 4 imports from floor 5"),
        ("__main__", "show.tables", ""),
    ],
)
def test_the_floors_forbid_and_allow(importer: str, imported: str, why: str) -> None:
    assert forbidden(importer, imported) == why


def test_a_module_without_a_floor_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"memlib\.astrology: on which floor"):
        floor_of("astrology")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import memlib.ranking", "ranking"),
        ("import memlib.ranking as r", "ranking"),
        ("from memlib.ranking import top", "ranking"),
        ("from memlib import ranking", "ranking"),
        ("from memlib import __version__", ""),
        ("from .data import data_path", "sources.data"),
        ("from . import data", "sources.data"),
        ("from .. import ranking", "ranking"),
        ("from ..ranking import top", "ranking"),
        ("def f():\n    if x:\n        from memlib import ranking", "ranking"),
    ],
)
def test_every_way_to_import_is_seen(code: str, found: str) -> None:
    assert within(imports("sources.cards", code)) == {found}


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("show.")])
def test_only_show_draws(name: str) -> None:
    roots = {found.split(".")[0] for found in imports(name, read(name))}
    assert not roots & {"matplotlib", "ipywidgets", "IPython"}


def test_all_but_show_works_without_the_notebook_extras() -> None:
    code = f"""
import importlib, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
for name in {[name for name in MODULES if not name.startswith("show.")]!r}:
    importlib.import_module(f"memlib.{{name}}")
    print(name)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert "sources.embedders" in done.stdout.split()


def mirrors(name: str) -> set[Path]:
    """Where the tests of a module may stand."""
    *folders, stem = name.split(".")
    file = f"test_{stem.strip('_')}.py"
    in_kernel = {TESTS / "widgets" / file} if "widgets" in folders else set()
    return {TESTS.joinpath(*folders, file)} | in_kernel


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_its_test(name: str) -> None:
    places = sorted(str(path.relative_to(ROOT)) for path in mirrors(name))
    assert any((ROOT / place).is_file() for place in places), f"write {' or '.join(places)}"


def test_every_test_has_its_module() -> None:
    wanted = {path for name in MODULES for path in mirrors(name)}
    wanted |= {TESTS / name for name in CROSS_CUTTING}
    strays = [
        str(path.relative_to(ROOT))
        for path in sorted(TESTS.rglob("test_*.py"))
        if path not in wanted and path.relative_to(TESTS).parts[0] not in OWN_FOLDERS
    ]
    assert not strays, f"{strays}: name them after a module, or list them in CROSS_CUTTING"


def missing_from_docstrings(code: str) -> list[str]:
    """What the public functions of a formula module leave unsaid."""
    said = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            told = ast.get_docstring(node) or ""
            parts = ("Source: ", ">>> ", "returns ")
            said += [f"{node.name}: no {part!r}" for part in parts if part not in told]
    return said


@pytest.mark.parametrize("name", sorted(FORMULAS & set(MODULES)))
def test_every_formula_tells_source_example_and_result(name: str) -> None:
    assert missing_from_docstrings(read(name)) == []


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
