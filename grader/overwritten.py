"""Runs in the learner's kernel: which functions stand on names that a later cell overwrote.

A note for the judge, who then runs the notebook once more, up to the cell that defines the
function. Whoever forges the note gains a second run of their own cells, and nothing else.
"""

import builtins
import dis
import functools
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from .typed import encode

MOST_THINGS = 1000  # that are searched for the names that a function uses
MOST_NAMES, LONGEST_NAME = 5, 60
CONTENT = 20_000  # characters of a value that is compared by what is in it
GONE = object()


class Definition(NamedTuple):
    """A function when its cell had run, and all that the names in it meant then."""

    cell: int
    function: Any
    uses: dict[str, tuple[Any, str]]


_definitions: dict[str, Definition] = {}


def look(cell: int, names: Sequence[str], space: Mapping[str, Any]) -> None:
    """After a cell: remember those of its functions that are others than before."""
    for name in names:
        function, known = space.get(name), _definitions.get(name)
        if callable(function) and (known is None or function is not known.function):
            uses = {name: function} | {n: _meaning(n, space) for n in uses_of(function, space)}
            seen = {n: (value, _content(value)) for n, value in uses.items()}
            _definitions[name] = Definition(cell, function, seen)


def overwritten(space: Mapping[str, Any]) -> dict[str, tuple[int, list[str]]]:
    """After the last cell: function -> its cell, and the names that mean something else now."""
    found = {}
    for function, (cell, _, uses) in _definitions.items():
        names = [n for n, then in uses.items() if not _same(*then, _meaning(n, space))]
        if names:
            told = sorted(n for n in names if len(n) <= LONGEST_NAME)
            found[function] = (cell, told[:MOST_NAMES])
    return found


def uses_of(function: Any, space: Mapping[str, Any]) -> set[str]:
    """The names that a function looks up outside itself, and those that its helpers do."""
    names: set[str] = set()
    todo, done = [function], dict[int, Any]()  # what is held keeps its id
    while todo and len(done) < MOST_THINGS:
        thing = todo.pop()
        if id(thing) not in done:
            done[id(thing)] = thing
            if isinstance(thing, CodeType):
                new = {name for name in _globals(thing) if _meaning(name, space) is not GONE}
                names |= new
                todo += [_meaning(name, space) for name in new]
            todo += _parts(thing, space)
    return names


def _globals(code: CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval


def _parts(thing: Any, space: Mapping[str, Any]) -> list[Any]:
    """What is in a function, a class of the notebook or a wrapper; no method of theirs is run."""
    kind = type(thing)
    if kind is CodeType:
        return [part for part in thing.co_consts if type(part) is CodeType]
    if kind is FunctionType:
        if thing.__globals__ is not space:  # of a library, which no cell overwrites
            return [thing.__wrapped__] if "__wrapped__" in thing.__dict__ else []
        cells = [cell.cell_contents for cell in thing.__closure__ or () if _full(cell)]
        return [thing.__code__, *cells, *thing.__dict__.values()]
    if kind in (staticmethod, classmethod):
        return [thing.__func__]
    if kind is property:
        return [thing.fget]
    if kind is functools.partial:
        return [thing.func]
    if kind is type:
        return [*vars(thing).values()] if vars(thing).get("__module__") == "__main__" else []
    of_notebook = kind if vars(kind).get("__module__") == "__main__" else None
    return [inspect.getattr_static(thing, "__wrapped__", None), of_notebook]


def _full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not GONE
    except ValueError:  # nothing was put in it yet
        return False


def _meaning(name: str, space: Mapping[str, Any]) -> Any:
    return space.get(name, vars(builtins).get(name, GONE))


def _content(value: Any) -> str:
    """What is in a value of plain types; "" for any other, which is compared by identity."""
    try:
        text = json.dumps(encode(value, [CONTENT]))
    except BaseException:  # too large, or it does not let itself be read
        return ""
    return "" if '{"other": ' in text else text


def _same(then: Any, content: str, now: Any) -> bool:
    return _content(now) == content if content else now is then
