"""The published experiment in a terminal: `python -m memlib`."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import pandas as pd

from memlib.checks import Floats
from memlib.importance import UNRATED
from memlib.ranking import three_part_score
from memlib.recency import DECAY_PER_HOUR, age_hours, half_life_days, recency
from memlib.show import tables
from memlib.similarity import cosine
from memlib.sources.cards import COURSE_NOW, PUBLISHED_QUESTION, load_cards, published_cards
from memlib.sources.embedders import (
    Bundled,
    Embedder,
    EmbedderUnavailable,
    check_texts,
    choose,
    notes,
)

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
    """Print tables (a), (b) and (c); return 0, or 2 after one line that says what is wrong."""
    try:
        text = experiment(_parser().parse_args(arguments))
    except (ValueError, EmbedderUnavailable) as error:
        later = ": --now sets another" if "in the future of now" in str(error) else ""
        return _refuse(f"{error}{later}")
    if sys.stdout is None:
        return _refuse("cannot print: the standard output is closed")
    try:
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
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
    first, second = choose(name), choose("bundled") if name == "published" else None
    if isinstance(first, Bundled):
        first.progress = sys.stderr is not None and sys.stderr.isatty()
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


def _relevance(embedder: Embedder, question: str, cards: pd.DataFrame) -> Floats:
    query = embedder.embed([question], role="query")[0]
    return cosine(query, embedder.embed(list(cards["text"]), role="document"))


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
        raise argparse.ArgumentTypeError(f"{text!r} has no time zone: write {text}Z for UTC")
    return utc


def _parser() -> _Parser:
    parser = _Parser(
        "python -m memlib", description="Rank memories by relevance, recency, importance."
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
    parser.add_argument("--embedder", type=_checked(choose, "name is "), help=known)
    known = f"like {COURSE_NOW:%Y-%m-%dT%H:%MZ}, the default; with --cards the current time"
    parser.add_argument("--now", type=_now, help=known)
    parser.add_argument(
        "--cards", type=Path, help="your own cards: CSV with id, text, created_at and more"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
