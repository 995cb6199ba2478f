"""The source of a package function, as the chapters print it."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


def source(function: Callable[..., Any]) -> str:
    """A function's source without its docstring: what a chapter shows, so a change is noticed.

    >>> from memlib.checks import same_length
    >>> source(same_length).splitlines()[0]
    'def same_length(**arguments: Sized) -> int:'
    """
    text = textwrap.dedent(inspect.getsource(function))
    lines = text.splitlines()
    definition = ast.parse(text).body[0]
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[0]
    if ast.get_docstring(definition) is not None:
        del lines[first.lineno - 1 : first.end_lineno]
    return "\n".join(lines)
