"""Values as typed JSON: what crosses the wall of the sandbox, in both directions.

A learner's object never crosses. It is read by the methods of the builtin types alone, and what is
none of them becomes the name of its type.
"""

import builtins
import sys
from dataclasses import dataclass
from numbers import Real
from typing import Any

DEPTH = 20
LARGEST_INT_BITS = 10_000


class TooLarge(Exception):
    """An answer is larger than any that a task asks for."""


@dataclass(frozen=True)
class Raised:
    """A function raised: the names of its error and of the builtin errors that it is one of."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Other:
    """An answer of a type that no task asks for: equal to nothing that a reference returns."""

    name: str


def encode(value: Any, left: list[int], depth: int = 0) -> Any:
    """A value as JSON; `left[0]` counts down the characters that it may still take.

    numpy and pandas numbers, arrays and columns become Python's: `close` accepts them, too
    Raises TooLarge.
    """
    kind = type(value)
    left[0] -= 24
    if left[0] < 0 or depth > DEPTH:
        raise TooLarge
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        left[0] -= 6 * str.__len__(value)  # a character may become \uXXXX
        if left[0] < 0:
            raise TooLarge
        return str.__str__(value)
    if issubclass(kind, int):
        bits = int.bit_length(value)
        left[0] -= bits // 3
        if bits > LARGEST_INT_BITS:
            raise TooLarge
        return int.__int__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, list | tuple):
        base = list if issubclass(kind, list) else tuple
        return {base.__name__: [encode(x, left, depth + 1) for x in base.__iter__(value)]}
    if issubclass(kind, dict):
        pairs = [(key, item) for key, item in dict.items(value)]
        return {"dict": [[encode(x, left, depth + 1) for x in pair] for pair in pairs]}
    plain = _plain(value, kind, left[0])
    if plain is not value:
        return encode(plain, left, depth + 1)
    return {"other": str.__str__(kind.__name__)[:80]}


def _plain(value: Any, kind: type, left: int) -> Any:
    """What numpy, pandas or fractions mean in Python's own types; else the value itself."""
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and issubclass(kind, numpy.bool_ | numpy.number):
        return value.item()
    arrays = () if numpy is None else (numpy.ndarray,)
    columns = () if pandas is None else (pandas.Series, pandas.Index)
    if issubclass(kind, arrays + columns) and value.ndim > 0:
        if value.size * 24 > left:
            raise TooLarge
        return value.tolist()
    return float(value) if issubclass(kind, Real) else value


def encode_error(error: BaseException) -> dict[str, list[str]]:
    """An error by its name, and by the builtin errors that `except` would know it as."""
    kind = type(error)
    known = [c.__name__ for c in kind.__mro__ if getattr(builtins, c.__name__, None) is c]
    general = ("Exception", "BaseException", "object")
    names = [name for name in known if name not in general]
    return {"raises": names or ["an error of its own"]}


def decode(coded: Any, depth: int = 0) -> Any:
    """The value that `encode` took apart. Raises ValueError for what it never makes."""
    if depth > DEPTH + 2:
        raise ValueError("nested too deeply")
    if coded is None or isinstance(coded, bool | int | float | str):
        return coded
    if not isinstance(coded, dict) or len(coded) != 1:
        raise ValueError("no coded value")
    [(kind, content)] = coded.items()
    if kind == "other" and isinstance(content, str):
        return Other(content)
    if not isinstance(content, list):
        raise ValueError(f"no list under {kind!r:.20}")
    if kind == "raises" and depth == 0 and all(isinstance(name, str) for name in content):
        return Raised(tuple(content))
    if kind == "dict":
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in content):
            raise ValueError("a dict of something else than pairs")
        pairs = [[decode(x, depth + 1) for x in pair] for pair in content]
        try:
            return {key: item for key, item in pairs}
        except TypeError:
            raise ValueError("a key that is no key") from None
    if kind not in ("list", "tuple"):
        raise ValueError(f"unknown type {kind!r:.20}")
    items = [decode(x, depth + 1) for x in content]
    return items if kind == "list" else tuple(items)


def pack(values: Any) -> Any:
    """Encode without a limit: for the judge's own values.

    >>> decode(pack((1, [2.5, None], {"a": float("inf")})))
    (1, [2.5, None], {'a': inf})
    """
    return encode(values, [sys.maxsize])
