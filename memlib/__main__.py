"""The published experiment in a terminal, and one's own memory: `python -m memlib [evaluate]`."""

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

import pandas as pd

from memlib.checks import Floats
from memlib.importance import UNRATED
from memlib.measure_own_memory import evaluation
from memlib.own_memory import KS
from memlib.ranking import three_part_score
from memlib.recency import DECAY_PER_HOUR, age_hours, half_life_days, recency
from memlib.show import tables
from memlib.similarity import cosine
from memlib.sources.cards import (
    COLUMNS,
    COURSE_NOW,
    PUBLISHED_QUESTION,
    load_cards,
    published_cards,
)
from memlib.sources.embedders import (
    Bundled,
    Embedder,
    EmbedderUnavailable,
    Ollama,
    Recorded,
    check_texts,
    choose,
    embed_named,
    notes,
)
from memlib.sources.progress import watched

MOST_ROWS = 20
LONGEST = 80  # letters of a fact
BESIDE = "MiniLM"
ERRATUM = """\
The published table prints 1.33 for "Maya is vegetarian.": it adds parts that were rounded first.
Unrounded the total is {total:.4f}, so {total:.2f}."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(_refuse(message))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables (a), (b) and (c), or with `evaluate` a leaderboard of one's own memory.

    returns  0, or 2 after one line that says what is wrong
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["evaluate"]:
            own = _evaluate_parser().parse_args(given[1:])
            embedder = _chosen(own.embedder, own.timeout)
            text = evaluation(embedder, own.cards, own.questions, own.now, own.k, own.csv)
        else:
            text = experiment(_parser().parse_args(given))
    except (ValueError, EmbedderUnavailable) as error:
        later = ": --now sets another" if "in the future of now" in str(error) else ""
        return _refuse(f"{error}{later}".replace("`timeout`", "--timeout"))
    if sys.stdout is None:
        return _refuse("cannot print: the standard output is closed")
    try:
        if isinstance(sys.stdout, TextIOWrapper):  # a notebook has a stream of its own
            sys.stdout.reconfigure(encoding="utf-8")
        print(text, flush=True)
    except OSError as error:  # what is left to print goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a closed pager is no mistake
            return _refuse(f"cannot print: {error.strerror}")
    return 0


def experiment(options: argparse.Namespace) -> str:
    """The three tables as text, for parsed options."""
    own = options.cards is not None
    today = datetime.now(UTC).replace(microsecond=0) if own else COURSE_NOW
    now = options.now or today
    cards = load_cards(options.cards, now) if own else published_cards()
    published = not own and options.question == PUBLISHED_QUESTION
    name = options.embedder or ("published" if published else "bundled")
    first = _chosen(name, options.timeout)
    second = choose("bundled") if name == "published" else None
    doubts = notes(first, [options.question, *cards["text"]])
    relevance = _relevance(first, options.question, cards)
    other = _relevance(second, options.question, cards) if second else None
    cards = cards.assign(text=[_shorten(_one_line(text)) for text in cards["text"]])
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], now)
    fresh = recency(hours, options.decay)
    rating = cards["importance"].fillna(UNRATED)
    score = three_part_score(relevance, fresh, rating, options.weights)
    beside_rel, beside_total = {}, {}
    if second is not None and other is not None:
        beside_rel = {BESIDE: other}
        beside_total = {BESIDE: three_part_score(other, fresh, rating, options.weights).total}
    days = half_life_days(options.decay)
    half = "never half" if days == float("inf") else f"half after {days:.2f} days"
    clock = "" if options.now or not own else " (the current time; --now sets another)"
    weights = ", ".join(f"{w:g}" for w in options.weights)
    lines = [
        f"(a) Ranking by RELEVANCE alone: cosine({first.id})",
        f'    question: "{options.question}"',
        *(f"    note: {doubt}" for doubt in doubts),
        "",
        _cut(tables.relevance_table(cards, relevance, beside_rel), len(cards)),
        "",
        f"(b) Ranking by RECENCY alone: {options.decay:.10g} ^ hours, {half}",
        f"    now: {now.isoformat()}{clock}",
        "",
        _cut(tables.recency_table(cards, hours, fresh), len(cards)),
        "",
        "(c) Combined score: each part min-max normalised over all cards, times its weight",
        f"    weights: {weights} (relevance, recency, importance)",
        "",
        _cut(tables.combined_table(cards, score, beside_total), len(cards)),
    ]
    if second is not None:
        lines += ["", f"{BESIDE}: the same figures with the bundled model, {second.id}."]
    if _as_published(options, name, published):
        total = float(score.total[list(cards.index).index("vegetarian")])
        lines += ["", ERRATUM.format(total=total)]
    return "\n".join(lines)


def _chosen(name: str, timeout: float | None) -> Embedder:
    embedder = choose(name)
    if timeout is not None:
        if not isinstance(embedder, Ollama):
            said = "only ollama and ollama:MODEL wait for a server"
            raise ValueError(f"--timeout {timeout:g}: {said}")
        embedder = Ollama(embedder.model, timeout=timeout)
    if isinstance(embedder, Bundled | Ollama):
        embedder.progress = watched()
    elif isinstance(embedder, Recorded):  # who is here has texts of their own
        embedder.todo = "recorded knows only the course's texts; use --embedder bundled"
    return embedder


def _relevance(embedder: Embedder, question: str, cards: pd.DataFrame) -> Floats:
    query = embed_named(embedder, ["the question"], [question], "query")[0]
    names = [f"card {id!r}" for id in cards.index]
    return cosine(query, embed_named(embedder, names, list(cards["text"])))


def _as_published(options: argparse.Namespace, embedder: str, published: bool) -> bool:
    same = tuple(options.weights) == (1, 1, 1) and options.decay == DECAY_PER_HOUR
    return same and published and embedder == "published" and options.now in (None, COURSE_NOW)


def _cut(table: str, cards: int) -> str:
    lines = table.splitlines()
    if len(lines) > MOST_ROWS + 1:
        lines = [*lines[: MOST_ROWS + 1], f"… the first {MOST_ROWS} of {cards} cards"]
    return "\n".join(lines)


def _refuse(message: str) -> int:
    print("memlib: " + " ".join(message.split()), file=sys.stderr)
    return 2


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def _checked(check: Callable[[str], object], names: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        try:
            check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error).removeprefix(names)) from None
        if not (line := _one_line(text)):
            raise argparse.ArgumentTypeError(f"{text!r}: a text must not be empty")
        return line

    return convert


def _now(text: str) -> datetime:
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


def _ks(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 7 and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r}: must be whole numbers, 1 or more, like 1,3,10")
    return [int(part) for part in dict.fromkeys(parts)]


def _parser() -> _Parser:
    parser = _Parser(
        "python -m memlib",
        description="Rank memories by relevance, recency, importance.",
        epilog="python -m memlib evaluate --help: which way of scoring suits your own memory",
    )
    asked = _checked(lambda text: check_texts([text], role="query"), "texts[0] is ")
    parser.add_argument("--question", type=asked, default=PUBLISHED_QUESTION, help="what is asked")
    parser.add_argument(
        "--weights",
        type=float,
        nargs=3,
        default=(1.0, 1.0, 1.0),
        metavar=("RELEVANCE", "RECENCY", "IMPORTANCE"),
        help="0 or more each, default 1 1 1",
    )
    parser.add_argument(
        "--decay", type=float, default=DECAY_PER_HOUR, help="per hour, above 0, at most 1"
    )
    known = "published, recorded, bundled, ollama or ollama:MODEL"
    _common(parser, "your own cards", known, None)
    return parser


def _evaluate_parser() -> _Parser:
    parser = _Parser(
        "python -m memlib evaluate",
        description="Put every way of scoring to your own cards and questions: recall, intervals,"
        " and how many questions a difference of two points needs.",
        epilog="Without --cards and --questions: the course's own cards and exam.",
    )
    _common(parser, "your cards", "bundled (default), recorded, ollama or ollama:MODEL", "bundled")
    parser.add_argument(
        "--questions",
        type=Path,
        help="CSV with the columns id, question, wanted (ids of cards, joined by ;)",
    )
    ks = ",".join(map(str, KS))
    parser.add_argument(
        "--k",
        type=_ks,
        default=list(KS),
        help=f"how many cards count, default {ks}; the methods are compared at the last one"
        " that leaves out a card",
    )
    parser.add_argument("--csv", type=Path, help="write the recall of every question into this")
    return parser


def _common(parser: _Parser, whose: str, known: str, default: str | None) -> None:
    embedder = _checked(choose, "name is ")
    parser.add_argument("--embedder", type=embedder, default=default, help=known)
    waits = "how long an Ollama server may take for one text, default 30; for many it has more"
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help=waits)
    known = f"like {COURSE_NOW:%Y-%m-%dT%H:%MZ}, the default; with --cards the current time"
    parser.add_argument("--now", type=_now, help=known)
    more = ", ".join(column for column in COLUMNS if column not in ("text", "created_at"))
    held = (
        f"{whose}: CSV with the columns id, text, created_at (like 2025-06-11T18:00Z);"
        f" these may be left out: {more}"
    )
    parser.add_argument("--cards", type=Path, help=held)


if __name__ == "__main__":
    sys.exit(main())
