"""The first input on which an answer differs, as one short line for the instructor.

Only Python's own types come here, so `repr` runs nothing of a learner's. The line holds a drawn
input: it belongs in the instructor's report, never on a learner's page.
"""

from collections.abc import Callable, Mapping
from typing import Any

from grader.typed import Other, Raised

LONGEST, LONGEST_CALL = 120, 240  # characters: of an answer, of the call with its arguments


def difference(
    name: str, arguments: tuple[Any, ...], answer: Any, expected: Any, agrees: Callable[..., bool]
) -> str:
    """The call, what came and what was expected; of long values the first part that differs.

    >>> difference("half", (3,), 1, 1.5, lambda a, e: a == e)
    'half(3): got 1, expected 1.5'
    """
    if isinstance(expected, dict) and expected.keys() == {"raises"}:
        expected = Raised((expected["raises"],))
    place = ""
    while max(len(told(answer)), len(told(expected))) > LONGEST:
        got, wanted = parts(answer), parts(expected)
        keys = wanted if got.keys() == wanted.keys() else ()
        key = next((key for key in keys if not agrees(got[key], wanted[key])), None)
        if key is None:
            break
        place, answer, expected = f"{place}[{key!r}]", got[key], wanted[key]
    call = cut(f"{name}({', '.join(map(repr, arguments))})", LONGEST_CALL)
    where = f" at {cut(place)}" if place else ""
    return f"{call}{where}: got {cut(told(answer))}, expected {cut(told(expected))}"


def parts(value: Any) -> Mapping[Any, Any]:
    """A list's or dict's parts by index or key; anything else has none."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else {}


def told(value: Any) -> str:
    """A value as Python writes it; an error or a strange type by its name."""
    if isinstance(value, Raised):
        return f"the error {' '.join(value.names[:1])}"
    return f"an object of type {value.name!r}" if isinstance(value, Other) else repr(value)


def cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
