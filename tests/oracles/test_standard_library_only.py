"""An oracle that shares numpy with what it checks would share numpy's mistakes."""

import ast
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ORACLES = sorted(path for path in HERE.glob("*.py") if not path.name.startswith("test_"))


def foreign(source: str) -> list[str]:
    """Imported modules that are neither the standard library's nor an oracle."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append("." * node.level + (node.module or ""))
        elif isinstance(node, ast.Name) and node.id in ("__import__", "exec", "eval"):
            found.append(node.id)
    return [
        name
        for name in found
        if name.startswith("importlib")
        or not (name.split(".")[0] in sys.stdlib_module_names or name.startswith("tests.oracles"))
    ]


@pytest.mark.parametrize("path", ORACLES, ids=lambda path: path.stem)
def test_an_oracle_imports_the_standard_library_only(path: Path) -> None:
    assert foreign(path.read_text(encoding="utf-8")) == []


def test_every_topic_of_the_first_part_has_an_oracle() -> None:
    topics = {"similarity", "recency", "importance", "normalization", "ranking"}
    assert topics <= {path.stem for path in ORACLES}


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np",
        "from scipy.stats import rankdata",
        "from memlib.recency import recency",
        "from . import similarity",
        "def f():\n    import pandas",
        "__import__('numpy')",
        "import importlib",
        "from tests import test_recency",
    ],
)
def test_the_check_sees_anything_else(source: str) -> None:
    assert len(foreign(source)) == 1


def test_the_check_lets_the_standard_library_through() -> None:
    assert foreign("import math\nfrom fractions import Fraction\nimport statistics") == []
