"""What an exercise is to the judge: a reference, inputs to draw, and the answers that go wrong."""

import copy
import importlib.util
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

EXERCISES = Path(__file__).parents[1] / "notebooks" / "exercises"
Function = Callable[..., Any]
Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Wrong:
    """A misconception: an answer that it leads to, and the hint that it deserves."""

    name: str
    function: Function
    hint: str


@dataclass(frozen=True)
class Task:
    """One function that a learner writes.

    reference  right, and public
    inputs     draws argument tuples (JSON values only): ordinary, edge and invalid ones
    wrong      at least five misconceptions
    right      at least two answers written differently from the reference
    tolerance  how far a number may be off, for its size
    within     a number outside it is wrong, even by a hair
    """

    reference: Function
    points: int
    inputs: Callable[[random.Random], Sequence[Arguments]]
    wrong: tuple[Wrong, ...]
    right: tuple[Function, ...]
    tolerance: float = 1e-9
    within: tuple[float, float] = (-math.inf, math.inf)

    @property
    def name(self) -> str:
        """The function's name, by which it is found in a learner's notebook."""
        return self.reference.__name__

    def inside(self, answer: Any) -> bool:
        """Whether an answer keeps within the bounds, if it is a number."""
        low, high = self.within
        return not isinstance(answer, int | float) or low <= answer <= high

    def agrees(self, answer: Any, expected: Any) -> bool:
        """Whether a learner's outcome counts as the reference's."""
        return self.inside(answer) and same(answer, expected, self.tolerance)


def known_chapters() -> list[str]:
    """The chapters that have tasks, by the names of their folders."""
    return sorted(path.parent.name for path in EXERCISES.glob("ch*/answers.py"))


def load_module(chapter: str) -> ModuleType:
    """A chapter's answers.py as a module."""
    path = EXERCISES / chapter / "answers.py"
    spec = importlib.util.spec_from_file_location(f"{chapter}_answers", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_tasks(chapter: str) -> tuple[Task, ...]:
    """The tasks of a chapter's answers.py, for example `load_tasks("ch04")`."""
    tasks: tuple[Task, ...] = load_module(chapter).TASKS
    return tasks


def outcome(function: Function, arguments: Arguments) -> Any:
    """What a function makes of its arguments: its value, or the name of the error it raises.

    A special ValueError, such as json.JSONDecodeError, is a ValueError.
    """
    try:
        return function(*copy.deepcopy(arguments))
    except ValueError:
        return {"raises": "ValueError"}
    except Exception as error:  # a learner's code may raise anything
        return {"raises": type(error).__name__}


def same(answer: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Whether two outcomes are equal; the rule of `course.show.feedback`, which learners see.

    Numbers are equal but for rounding, whole ones and floats alike, but True is no 1. A tuple is as
    good as a list; texts and dicts are themselves. numpy and pandas are Python by the time they
    come here.
    """
    if isinstance(expected, bool) or expected is None or isinstance(answer, bool):
        return answer is expected
    if isinstance(expected, int | float):
        if not isinstance(answer, int | float):
            return False
        if answer == expected:  # also where both are infinite
            return True
        try:
            return abs(answer - expected) <= tolerance * max(1.0, abs(expected))
        except OverflowError:  # 10**400 has no float
            return False
    if isinstance(expected, list | tuple):
        return (
            isinstance(answer, list | tuple)
            and len(answer) == len(expected)
            and all(same(a, e, tolerance) for a, e in zip(answer, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            isinstance(answer, dict)
            and answer.keys() == expected.keys()
            and all(same(answer[key], expected[key], tolerance) for key in expected)
        )
    return type(answer) is type(expected) and bool(answer == expected)
