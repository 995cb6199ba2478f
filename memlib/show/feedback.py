"""Feedback on an exercise: words about the idea, never the solution."""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

Check = tuple[str, Callable[[Callable[..., Any]], bool]]


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
    checks    pairs (the idea in words, a test that is handed the function and returns a bool)
    returns   Feedback, printed as the last value of a cell; where an idea fails, it tells what
              the function raised, or that it returned None (a print is no return)

    >>> def double(x):
    ...     return 2 * x
    >>> feedback(double, [("twice nothing is nothing", lambda f: f(0) == 0)])
    double: 1 of 1 ideas hold
      [ok] twice nothing is nothing
    """
    name = getattr(function, "__name__", "your function")
    passed, lines = [], []
    answers: list[Any] = []  # what the last call in a check returned: empty if it raised

    def watched(*arguments: Any, **named: Any) -> Any:
        answers.clear()
        answers.append(function(*arguments, **named))
        return answers[0]

    for idea, test in checks:
        answers.clear()
        try:
            holds, why = bool(test(watched)), ""
        except NotImplementedError:
            return Feedback(name, (False,) * len(checks), ("not attempted yet",))
        except Exception as error:  # whatever a learner's code may raise
            holds, why = False, f" (it raised {type(error).__name__}: {error})"
        if not holds and answers and answers[0] is None:
            why = " (it returned None)"
        passed.append(holds)
        lines.append(f"[{'ok' if holds else 'look again'}] {idea}{why}")
    head = f"{sum(passed)} of {len(passed)} ideas hold"
    return Feedback(name, tuple(passed), (head, *lines))


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

    >>> close([0.1 + 0.2], [0.3])
    True
    """
    if isinstance(expected, int | float):
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        if value == expected:  # also where both are infinite
            return True
        return abs(float(value) - expected) <= tolerance * max(1.0, abs(expected))
    values = list(value)
    return len(values) == len(expected) and all(
        close(a, b, tolerance) for a, b in zip(values, expected, strict=True)
    )
