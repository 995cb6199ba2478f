"""Made notebooks, and a small chapter of its own, for tests of the grading machine."""

import os
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest

from grader import sandbox

SECRET = "-".join(("heron", "4711", "violin"))  # stands in answers.py and in every right answer

ANSWERS = f'''
import math

from grader.tasks import Task, Wrong

SECRET = "{SECRET}"
WITHHELD = {{"memlib.normalization": ("min_max",), "rank_bm25": ()}}


def double(xs):
    if any(math.isnan(x) for x in xs):
        raise ValueError("nan")
    return [2.0 * x for x in xs]


def label(n):
    return f"{{SECRET}} {{n}}"


def largest(prices):
    return max(prices, key=prices.get) if prices else None


def wrong(function):
    return lambda xs: [function(x) for x in xs]


def numbers(rng):
    draws = [([rng.uniform(1, 9) for _ in range(3)],) for _ in range(6)]
    return [*draws, ([],), ([math.nan, 1.0],)]


TASKS = (
    Task(
        reference=double,
        points=1,
        inputs=numbers,
        right=(),
        wrong=(
            Wrong("square", wrong(lambda x: x * x), "Twice is not squared: what is twice 3?"),
            Wrong("lets NaN through", wrong(lambda x: 2 * x), "A NaN must be refused, SECRET."),
        ),
    ),
    Task(
        reference=label,
        points=2,
        inputs=lambda rng: [(rng.randint(10**6, 10**7),) for _ in range(4)],
        right=(),
        wrong=(),
    ),
    Task(
        reference=largest,
        points=3,
        inputs=lambda rng: [({{"tea": rng.random(), "ink": rng.random()}},), ({{}},)],
        right=(),
        wrong=(Wrong("price", lambda p: max(p.values(), default=None), "The name is asked."),),
    ),
)
'''

DOUBLE = """
def double(xs):
    if any(x != x for x in xs):
        raise ValueError("not a number")
    return [x + x for x in xs]
"""
LABEL = f"""
def label(n):
    return "{SECRET} %d" % n
"""
LARGEST = """
def largest(prices):
    best = None
    for name, price in prices.items():
        if best is None or price > prices[best]:
            best = name
    return best
"""
RIGHT = (DOUBLE, LABEL, LARGEST)
OF = 6

needs_sandbox = pytest.mark.skipif(
    not sandbox.switched_off() and bool(sandbox.why_missing()),
    reason=f"no sandbox here: {sandbox.why_missing()}",
)


def write_chapter(folder: Path, chapter: str = "ch77") -> Path:
    """A folder of exercises that holds the small chapter's answers.py."""
    (folder / chapter).mkdir(parents=True)
    (folder / chapter / "answers.py").write_text(ANSWERS, encoding="utf-8")
    return folder


def write_notebook(path: Path, cells: Sequence[str]) -> Path:
    """A notebook of these code cells, without any metadata."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(book, path)
    return path


def processes_with(word: str) -> list[str]:
    """The command lines on this machine that hold a word, as seen from outside every sandbox."""
    return list(numbers_with(word).values())


def numbers_with(word: str) -> dict[int, str]:
    """The same by the number of the process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, UnicodeDecodeError):
            continue
        if word in line and int(folder.name) != os.getpid():
            found[int(folder.name)] = line
    return found
