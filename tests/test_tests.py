"""The tests tested: each of them asserts something, and none of them holds a watch."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = sorted([*TESTS.rglob("test_*.py"), *TESTS.rglob("conftest.py")])
MAY_WAIT = {  # a time-out must end the wait
    TESTS / "memlib" / "embedders" / "test_embedders.py",
    TESTS / "memlib" / "extraction" / "test_extractor.py",
}
UNCLOCKED = [
    path
    for path in FILES
    if path.relative_to(TESTS).parts[0] != "benchmarks" and path not in MAY_WAIT
]
CLOCKS = {
    *("time", "time_ns", "perf_counter", "perf_counter_ns"),
    *("monotonic", "monotonic_ns", "process_time", "process_time_ns"),
}


def can_fail(node: ast.AST) -> bool:
    """An assert that is not constant, pytest.raises, or a call of assert_... or check_..."""
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name.startswith(("assert_", "check_")) or ast.unparse(node.func) == "pytest.raises"


def asserts_nothing(code: str) -> list[str]:
    """Names of the test functions that cannot fail."""
    return [
        node.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test")
        and not any(can_fail(inner) for inner in ast.walk(node))
    ]


def clocks_read(code: str) -> list[str]:
    """Where a module takes the time of something."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "time":
            found += [f"time.{node.attr}"] if node.attr in CLOCKS else []
        elif isinstance(node, ast.ImportFrom) and node.module in ("time", "timeit"):
            named = [alias.name for alias in node.names]
            found += [f"{node.module}.{n}" for n in named if n in CLOCKS or node.module != "time"]
        elif isinstance(node, ast.Import):
            aliases = [alias for alias in node.names if alias.name in ("time", "timeit")]
            found += [a.name for a in aliases if a.name == "timeit" or a.asname]
    return found


def short(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def test_the_tests_are_found() -> None:
    assert {"test_tests.py", "test_architecture.py"} <= {short(path) for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=short)
def test_every_test_asserts(path: Path) -> None:
    assert asserts_nothing(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", UNCLOCKED, ids=short)
def test_only_benchmarks_read_the_clock(path: Path) -> None:
    assert clocks_read(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "body",
    [
        "assert f() == 1",
        "with pytest.raises(ValueError):\n        f()",
        "np.testing.assert_allclose(f(), 1)",
        "check_row(f())",
        "for x in xs:\n        assert x",
    ],
)
def test_a_test_that_can_fail_passes_the_lint(body: str) -> None:
    assert asserts_nothing(f"def test_f():\n    {body}") == []
    assert asserts_nothing(f"class TestF:\n  def test_f(self):\n    {body}") == []


@pytest.mark.parametrize(
    "body", ["f()", "assert True", "print(f() == 1)", "recheck_row(f())", "'assert f()'"]
)
def test_a_test_that_cannot_fail_is_named(body: str) -> None:
    assert asserts_nothing(f"def test_f():\n    {body}") == ["test_f"]
    assert asserts_nothing(f"async def test_f():\n    {body}") == ["test_f"]
    assert asserts_nothing(f"def other():\n    {body}") == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import time\ntime.sleep(1)", []),
        ("from time import sleep", []),
        ("import time\nstart = time.perf_counter()", ["time.perf_counter"]),
        ("import time\nstart = time.time()", ["time.time"]),
        ("from time import monotonic, sleep", ["time.monotonic"]),
        ("import time as t", ["time"]),
        ("import timeit", ["timeit"]),
        ("from timeit import repeat", ["timeit.repeat"]),
        ("card.time = 1", []),
    ],
)
def test_a_watch_is_seen(code: str, found: list[str]) -> None:
    assert clocks_read(code) == found
