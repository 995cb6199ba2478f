"""The printed source: the body as it stands, without the docstring."""

import ast
import inspect
from typing import Any

import pytest

from course.show import source as module
from course.show.source import source
from memlib import normalization, ranking, recency, similarity


def bare(x: int) -> int:
    # a comment stays
    return x + 1


def told(
    x: int,
    y: int = 2,
) -> int:
    """Two lines

    of words.
    """
    text = """not a docstring"""
    return x + y + len(text)


def one_line(x: int) -> int:
    """Words."""
    return x


def only_words() -> None:
    """Nothing else."""


def test_a_function_without_a_docstring_is_printed_as_it_is() -> None:
    assert source(bare) == ("def bare(x: int) -> int:\n    # a comment stays\n    return x + 1")


def test_the_docstring_is_left_out_and_nothing_else() -> None:
    assert source(told).splitlines() == [
        "def told(",
        "    x: int,",
        "    y: int = 2,",
        ") -> int:",
        '    text = """not a docstring"""',
        "    return x + y + len(text)",
    ]
    assert source(one_line) == "def one_line(x: int) -> int:\n    return x"
    assert source(only_words) == "def only_words() -> None:"


def test_a_nested_function_is_moved_to_the_margin() -> None:
    def inner(x: int) -> int:
        """Words."""
        return x

    assert source(inner) == "def inner(x: int) -> int:\n    return x"


@pytest.mark.parametrize(
    "function",
    [
        *(recency.recency, recency.half_life_days, normalization.min_max, similarity.cosine),
        *(ranking.three_part_score, ranking.rank_order),
    ],
)
def test_the_shown_source_is_the_code_that_runs(function: Any) -> None:
    """Two trees, docstrings apart, are the same; so a changed line shows in the chapter."""
    shown = ast.parse(source(function)).body[0]
    ran = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(shown, ast.FunctionDef) and isinstance(ran, ast.FunctionDef)
    assert ast.get_docstring(ran) and not ast.get_docstring(shown)
    del ran.body[0]
    assert ast.dump(shown) == ast.dump(ran)
    assert len(source(function).splitlines()) <= 25


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(AssertionError):
        source(ranking.ThreeParts)
    with pytest.raises(TypeError):
        source(len)
    assert source(module.source).startswith("def source(function")
