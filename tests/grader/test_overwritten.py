"""Which names a learner's function stands on, and which of them mean something else later."""

import functools
import math
from unittest.mock import MagicMock

import pytest

from grader import overwritten
from grader.overwritten import MOST_NAMES, look, uses_of


@pytest.fixture
def space(monkeypatch):
    monkeypatch.setattr(overwritten, "_definitions", {})
    return {"__name__": "__main__"}


def found(space, *cells, names=("f",)):
    """What is noted at the end of cells, each of which is looked at."""
    for number, cell in enumerate(cells, start=1):
        exec(cell, space)
        look(number, names, space)
    return overwritten.overwritten(space)


F = "def f(x): return g(x) + sum([x])\ndef g(x): return [abs(y) for y in WEIGHTS]\nWEIGHTS = [1]"


@pytest.mark.parametrize(
    ("later", "names"),
    [
        ("sum = 0", ["sum"]),
        ("f = f.__name__", ["f"]),
        ("WEIGHTS.append(2)", ["WEIGHTS"]),
        ("WEIGHTS = 5", ["WEIGHTS"]),
        ("abs = len", ["abs"]),
        ("def g(x): return x", ["g"]),
        ("del f, g", ["f", "g"]),
    ],
)
def test_what_a_later_cell_overwrites_is_named(space, later, names):
    assert found(space, F, later) == {"f": (1, names)}


@pytest.mark.parametrize(
    "later", ["x = y = 3", "WEIGHTS = [1]", "sum = 0\ndel sum", "len = 3", "h = f", "import math"]
)
def test_what_the_function_does_not_use_or_means_the_same_is_not(space, later):
    assert found(space, F, later) == {}


def test_the_last_cell_that_makes_another_function_of_it_counts(space):
    assert found(space, F, "x = 1", F, "x = 2", "sum = 0") == {"f": (3, ["sum"])}
    assert found(space, "def f(x): return sum(x)") == {}, "sum is the notebook's own by now"


def test_a_helper_that_comes_below_overwrites_nothing(space):
    assert found(space, "def f(x): return late(x)", "def late(x): return x") == {}


WAYS = {
    "cache": "import functools\n@functools.lru_cache\ndef f(x): return sum(x)",
    "partial": "import functools\nf = functools.partial(lambda a, x: sum(x), 1)",
    "closure": "def make():\n    def g(x): return sum(x)\n    return lambda x: g(x)\nf = make()",
    "class": "class f:\n    def __init__(self, x): self.x = sum(x)",
    "instance": "class C:\n    def __call__(self, x): return sum(x)\nf = C()",
    "static": "class C:\n    @staticmethod\n    def s(x): return sum(x)\ndef f(x): return C.s(x)",
    "nested": "def f(x):\n    def inner():\n        return [sum(y) for y in x]\n    return inner()",
    "recursion": "def f(x): return f(x[1:]) if x else sum(x)",
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_found_however_the_function_is_made(space, way):
    assert found(space, WAYS[way], "sum = 0") == {"f": (1, ["sum"])}


def test_libraries_and_objects_that_answer_everything_are_not_searched(space):
    space |= {"math": math, "mock": MagicMock(), "partial": functools.partial(math.log, 2)}
    cell = "def f(x): return mock.a.b(math.exp(x)) + partial()"
    exec(cell, space)
    assert uses_of(space["f"], space) == {"math", "mock", "partial"}
    assert found(space, cell, "math = 1") == {"f": (1, ["math"])}


def test_few_and_short_names_are_told(space):
    names = [f"name{n}" for n in range(9)] + ["n" * 99]
    cell = f"{' = '.join(names)} = 1\ndef f(): return {' + '.join(names)}"
    told = found(space, cell, f"{' = '.join(names)} = 2")
    assert told == {"f": (1, names[:MOST_NAMES])}


def test_a_value_that_cannot_be_read_is_compared_as_it_is(space):
    loop = "LOOP = []\nLOOP.append(LOOP)\nBIG = list(range(99999))\ndef f(): return LOOP, BIG"
    assert found(space, loop, "x = 1") == {}
    assert found(space, "BIG = list(range(99999))") == {"f": (1, ["BIG"])}
