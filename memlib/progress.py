"""A bar on the terminal while something takes long."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def watched() -> bool:
    """Whether somebody looks: what is said of errors goes to a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_bar(
    total: int,
    shown: bool,
    done: int = 0,
    delay_seconds: float = 2.0,
    what: str = "embedding",
    unit: str = "text",
    leave: bool = True,
) -> Iterator[Callable[[int], object]]:
    """Count units on a bar: yields a function that is told how many more are done.

    total, done    number of units in all, and before the start
    shown          False: no bar; without tqdm, which the package alone does not bring, none either
    delay_seconds  no bar for what is over sooner
    what, unit     what is done, and to what
    leave          False: the bar is wiped at the end

    >>> with progress_bar(2, shown=False) as count:
    ...     count(2)
    """
    try:
        from tqdm import tqdm
    except ImportError:
        shown = False
    if not shown:
        yield lambda units: None
        return
    look = {"desc": what, "unit": unit, "delay": delay_seconds, "leave": leave}
    with tqdm(total=total, initial=done, **look) as bar:
        yield bar.update


def progress(steps: Sequence[T], what: str) -> Iterator[T]:
    """The steps one after the other; if somebody looks, a bar counts them.

    >>> list(progress([3, 4], "steps"))
    [3, 4]
    """
    with progress_bar(len(steps), watched(), 0, 0.0, what, "it", leave=False) as count:
        for step in steps:
            yield step
            count(1)
