"""What every command shares: options, one line for a mistake, printing into a closed pager."""

import argparse
import math
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from memlib.cards import COLUMNS
from memlib.embedders.choose import choose
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import Embedder, EmbedderUnavailable
from memlib.progress import watched


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are one line."""

    def error(self, message: str) -> NoReturn:
        sys.exit(refuse(message))


def chosen(
    name: str, choose: Callable[[str], Embedder] = choose, timeout: float | None = None
) -> Embedder:
    """The embedder of a name, with a bar if somebody looks, and a server's seconds for a text."""
    embedder = choose(name)
    if timeout is not None:
        if not isinstance(embedder, Ollama):
            said = "only ollama and ollama:MODEL wait for a server"
            raise ValueError(f"--timeout {timeout:g}: {said}")
        embedder = Ollama(embedder.model, timeout=timeout)
    if hasattr(embedder, "progress"):
        embedder.progress = watched()
    return embedder


def refuse(message: str) -> int:
    """Say in one line what is wrong; returns the exit code 2."""
    print("memlib: " + " ".join(message.split()), file=sys.stderr)
    return 2


def one_line(text: str) -> str:
    """A text without line breaks and what cannot be printed."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def checked(check: Callable[[str], object], names: str) -> Callable[[str], str]:
    """A type of option: a text that `check` takes; `names` is cut off what it says."""

    def convert(text: str) -> str:
        try:
            check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error).removeprefix(names)) from None
        if not (line := one_line(text)):
            raise argparse.ArgumentTypeError(f"{text!r}: a text must not be empty")
        return line

    return convert


def moment(text: str) -> datetime:
    """A type of option: a time with a zone, in UTC."""
    try:
        time = datetime.fromisoformat(text)
        utc = time.astimezone(UTC)
    except (ValueError, OverflowError):
        said = f"{text!r} is no time like 2025-06-11T18:00Z"
        raise argparse.ArgumentTypeError(said) from None
    if time.utcoffset() is None:
        zoned = text if "T" in text.upper() or " " in text.strip() else f"{text}T18:00"
        raise argparse.ArgumentTypeError(f"{text!r} has no time zone: write {zoned}Z for UTC")
    return utc


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 < (seconds := float(text)) < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{text!r}: must be a positive number of seconds")


def common_options(
    parser: Parser,
    whose: str,
    known: str,
    default: str | None,
    choose: Callable[[str], Embedder] = choose,
    when: str = "the current time",
    cards_needed: bool = False,
) -> None:
    """The options of every command: embedder, now, cards."""
    embedder = checked(choose, "name is ")
    parser.add_argument("--embedder", type=embedder, default=default, help=known)
    waits = "how long an Ollama server may take for one text, default 30; for many it has more"
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help=waits)
    known = f"when it is asked, like 2025-06-11T18:00Z; default: {when}"
    parser.add_argument("--now", type=moment, help=known)
    more = ", ".join(column for column in COLUMNS if column not in ("text", "created_at"))
    held = (
        f"{whose}: CSV with the columns id, text, created_at (like 2025-06-11T18:00Z);"
        f" these may be left out: {more}"
    )
    parser.add_argument("--cards", type=Path, required=cards_needed, help=held)


def run(compute: Callable[[], str]) -> int:
    """Print what `compute` returns, whatever becomes of the reader.

    returns  0, or 2 after one line that says what is wrong
    """
    try:
        text = compute()
    except (ValueError, EmbedderUnavailable) as error:
        later = ": --now sets another" if "in the future of now" in str(error) else ""
        return refuse(f"{error}{later}".replace("`timeout`", "--timeout"))
    if sys.stdout is None:
        return refuse("cannot print: the standard output is closed")
    try:
        if isinstance(sys.stdout, TextIOWrapper):  # a notebook has a stream of its own
            sys.stdout.reconfigure(encoding="utf-8")
        print(text, flush=True)
    except OSError as error:  # what is left to print goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a closed pager is no mistake
            return refuse(f"cannot print: {error.strerror}")
    return 0
