"""Feedback on an exercise: words about the idea, never the solution."""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

Check = tuple[str, Callable[[Callable[..., Any]], bool]]
KINDS = (Real, str, list, dict, type(None))  # bool is Real


class _NoAnswer(Exception):
    """A function returned what no task asks for: a set, a generator, a class."""


class Feedback(NamedTuple):
    """What a learner reads under a task; `passed` holds one flag a check, in their order."""

    name: str
    passed: tuple[bool, ...]
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([f"{self.name}: {self.lines[0]}", *(f"  {x}" for x in self.lines[1:])])


def feedback(function: Callable[..., Any], checks: Sequence[Check]) -> Feedback:
    """Try a learner's function on each check and say what holds, one line an idea.

    function  the learner's; raising NotImplementedError means not attempted yet
    checks    pairs (the idea in words, a test that is handed the function and returns a bool); the
              test sees answers as `plain` makes them, as a grader does
    returns   Feedback, printed as the last value of a cell; where an idea fails, it tells what
              the function raised, or that it returned None (a print is no return)

    >>> def double(x):
    ...     return 2 * x
    >>> feedback(double, [("twice nothing is nothing", lambda f: f(0) == 0)])
    double: 1 of 1 ideas hold; a grader tries more, so think of edges
      [ok] twice nothing is nothing
    """
    name = getattr(function, "__name__", "your function")
    passed, lines, unwritten = [], [], []
    answers: list[Any] = []  # what the last call in a check returned: empty if it raised

    def watched(*arguments: Any, **named: Any) -> Any:
        answers.clear()
        answer = plain(function(*arguments, **named))
        if not isinstance(answer, KINDS):
            raise _NoAnswer(f" (it returned a {type(answer).__name__}: no task asks for one)")
        answers.append(answer)
        return answer

    for idea, test in checks:
        answers.clear()
        try:
            holds, why = bool(test(watched)), ""
        except NotImplementedError as error:
            unwritten.append(_stub(error, name))
            holds, why = False, f" ({unwritten[-1] or 'this part'} is not written yet)"
        except _NoAnswer as error:
            holds, why = False, str(error)
        except Exception as error:  # whatever a learner's code may raise
            holds, why = False, f" (it raised {type(error).__name__}: {error})"
        if not holds and answers and answers[0] is None:
            why = " (it returned None)"
        passed.append(holds)
        lines.append(f"[{'ok' if holds else 'look again'}] {idea}{why}")
    if checks and len(unwritten) == len(checks):
        waits = f", nor is {unwritten[0]}, which it calls" if unwritten[0] else ""
        return Feedback(name, (False,) * len(checks), (f"not attempted yet{waits}",))
    head = f"{sum(passed)} of {len(passed)} ideas hold; {_advice(passed)}"
    return Feedback(name, tuple(passed), (head, *lines))


def _stub(error: BaseException, name: str) -> str:
    """The other function that is still a stub; empty if it is the learner's own."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    raised_in = name if frame is None else frame.tb_frame.f_code.co_name
    return "" if raised_in in (name, "<lambda>") else raised_in


def _advice(passed: Sequence[bool]) -> str:
    if all(passed):
        return "a grader tries more, so think of edges"
    return "go on with the first that does not" if any(passed) else "begin with the example"


def plain(answer: Any) -> Any:
    """An answer in Python's own types, as a grader reads it: where two kinds mean the same.

    numpy's and pandas' numbers, arrays and columns become numbers and lists, a tuple a list.

    >>> import numpy as np
    >>> plain((np.float64(0.5), np.array([1, 2])))
    [0.5, [1, 2]]
    """
    if isinstance(answer, list | tuple):
        return [plain(part) for part in answer]
    if isinstance(answer, dict):
        return {key: plain(value) for key, value in answer.items()}
    if isinstance(answer, Real) and hasattr(answer, "item"):
        return answer.item()
    return answer.tolist() if getattr(answer, "ndim", 0) and hasattr(answer, "tolist") else answer


def refuses(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether a function refuses its arguments with a ValueError.

    >>> refuses(int, "many"), refuses(int, "3")
    (True, False)
    """
    try:
        function(*arguments)
    except ValueError:
        return True
    return False


def close(value: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Whether two numbers, or two lists of numbers, are equal but for rounding.

    A tuple or an array is as good as a list; a set, a range or a generator is none.

    >>> close([0.1 + 0.2], [0.3])
    True
    """
    value, expected = plain(value), plain(expected)
    if isinstance(expected, int | float):
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        if value == expected:  # also where both are infinite
            return True
        return abs(float(value) - expected) <= tolerance * max(1.0, abs(expected))
    return (
        isinstance(value, list)
        and len(value) == len(expected)
        and all(close(a, b, tolerance) for a, b in zip(value, expected, strict=True))
    )
