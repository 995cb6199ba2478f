"""The published experiment in a terminal, and one's own memory: `python -m memlib [evaluate]`."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from textwrap import fill
from typing import NoReturn

import numpy as np
import pandas as pd

from memlib.checks import Floats
from memlib.importance import UNRATED, from_rating
from memlib.own_memory import BASELINE, FEWEST, KS, leaderboard, questions_needed, recalls, scorer
from memlib.ranking import three_part_score
from memlib.recency import DECAY_PER_HOUR, age_hours, half_life_days, recency
from memlib.show import tables
from memlib.similarity import cosine
from memlib.sources.cards import (
    COLUMNS,
    COURSE_NOW,
    PUBLISHED_QUESTION,
    CardError,
    load_cards,
    load_exam,
    names_on,
    published_cards,
    read_rows,
    short,
)
from memlib.sources.data import data_path
from memlib.sources.embedders import (
    WORD_PIECES,
    Bundled,
    Embedder,
    EmbedderUnavailable,
    Ollama,
    Recorded,
    check_texts,
    choose,
    notes,
)

MOST_ROWS = 20
LONGEST = 80  # letters of a fact
BESIDE = "MiniLM"
WIDTH = 100  # letters of a line about one's own memory
FEW = 30  # with fewer questions the intervals are wide
POINTS = 2.0  # the difference that one wants to see
Scored = Callable[[str], dict[str, Floats]]  # question -> method -> scores
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
            text = evaluation(_evaluate_parser().parse_args(given[1:]))
        else:
            text = experiment(_parser().parse_args(given))
    except (ValueError, EmbedderUnavailable) as error:
        later = ": --now sets another" if "in the future of now" in str(error) else ""
        return _refuse(f"{error}{later}")
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
    first, second = _chosen(name), choose("bundled") if name == "published" else None
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


def evaluation(options: argparse.Namespace) -> str:
    """The leaderboard of the ways of scoring on one's own cards and questions, as text."""
    own = options.cards is not None
    if own != (options.questions is not None):
        raise ValueError("--cards and --questions belong together: give both, or neither")
    names = ("cards.csv", "exam.csv")
    files = [options.cards, options.questions] if own else [data_path(name) for name in names]
    if options.csv and options.csv.resolve() in [file.resolve() for file in files]:
        raise ValueError(f"--csv {options.csv}: would overwrite what is measured")
    now = options.now or (datetime.now(UTC).replace(microsecond=0) if own else COURSE_NOW)
    cards, exam = load_cards(files[0], now), load_exam(files[1])
    _check_wanted(files, cards, exam)
    embedder = _chosen(options.embedder)
    asked, texts = list(exam["question"]), list(cards["text"])
    held = names_on(cards["entities"], {})
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], now)
    matters, pinned = from_rating(cards["importance"]), cards["pinned"].to_numpy()
    score = scorer(texts, embedder.embed(texts, "document"), held, hours, matters, pinned)
    vectors = dict(zip(asked, embedder.embed(asked, "query"), strict=True))
    put = _with_bar(lambda question: score(question, vectors[question]), len(exam))
    found = recalls(exam, cards.index, put, options.k)
    if options.csv:
        _write(options.csv, exam, found)
    last = options.k[-1]
    board, needed = leaderboard(found[last]), _needed(found[last])
    told = [
        *_told(board, needed, len(exam)),
        f"Limits: {_limits(embedder, [*asked, *texts], texts)}",
    ]
    clock = "" if options.now or not own else " (the current time; --now sets another)"
    lines = [
        f"{_many(exam, 'question')} ({files[1].name}) to {_many(cards, 'card')} ({files[0].name})",
        f"    embedder: {embedder.id}",
        f"    now: {now.isoformat()}{clock}",
        *(f"    note: {note}" for note in _silent(held, hours, matters)),
        "",
        "(a) Recall: how many of the wanted cards are among the first k, in percent",
        "",
        _recall_table(found, board.index),
        "",
        f"(b) At k = {last}, beside {BASELINE}: difference in points and its 95% interval,",
        "    how many questions were answered better, equally well and worse",
        *(
            ["    (only at the last k: put yours last, as in --k 1,10,3)"]
            if len(options.k) > 1
            else []
        ),
        "",
        _board_table(board, needed),
        "",
        *(fill(paragraph, WIDTH) for paragraph in told),
    ]
    return "\n".join(lines)


def _check_wanted(files: Sequence[Path], cards: pd.DataFrame, exam: pd.DataFrame) -> None:
    if exam.empty:
        raise CardError(f"{files[1].name}: no questions, only a header")
    for row, wanted in zip(read_rows(files[1]).index, exam["wanted"], strict=True):
        for name in wanted:
            if name not in cards.index:
                said = f"{files[1].name} row {row}, column 'wanted': {short(name)}"
                todo = ": join ids by ;" if set(name) & set(", |") else ""
                raise CardError(f"{said} is the id of no card in {files[0].name}{todo}")


def _chosen(name: str) -> Embedder:
    embedder = choose(name)
    if isinstance(embedder, Bundled | Ollama):
        embedder.progress = _watched()
    elif isinstance(embedder, Recorded):  # who is here has texts of their own
        embedder.todo = "recorded knows only the course's texts; use --embedder bundled"
    return embedder


def _with_bar(score: Scored, questions: int) -> Scored:
    """The same scores; a bar after two seconds, if somebody watches."""
    if not _watched():
        return score
    with suppress(ImportError):  # the package alone does not bring it
        from tqdm import tqdm

        bar = tqdm(total=questions, desc="ranking", unit="question", delay=2.0)

        def counted(question: str) -> dict[str, Floats]:
            scores = score(question)
            bar.update()
            if bar.n == questions:
                bar.close()
            return scores

        return counted
    return score


def _needed(found: pd.DataFrame) -> dict[str, int | None]:
    """Method -> questions until a difference of two points is seen; None if nothing differs."""
    gaps = 100 * found.sub(found[BASELINE], axis=0)
    tell = {name: len(gap) > 1 and bool((gap != 0).any()) for name, gap in gaps.items()}
    return {str(m): questions_needed(gaps[m], POINTS) if tell[m] else None for m in gaps}


def _recall_table(found: Mapping[int, pd.DataFrame], methods: Sequence[str] | pd.Index) -> str:
    percent = {
        f"k={k}": tables.decimals(100 * table[list(methods)].mean().to_numpy(), 1)
        for k, table in found.items()
    }
    return tables.text_table({"method": list(methods), **percent}, left=["method"])


def _board_table(board: pd.DataFrame, needed: Mapping[str, int | None]) -> str:
    measured = [name != BASELINE for name in board.index]
    columns: dict[str, list[str]] = {"method": list(board.index)}
    for name, title in (("recall", "recall"), ("difference", "diff"), ("low", ""), ("high", "")):
        values = tables.decimals(board[name].to_numpy(), 1)
        own = [v if m or name == "recall" else "" for v, m in zip(values, measured, strict=True)]
        columns[title or name] = own
    for name in ("better", "equal", "worse"):
        columns[name] = [str(n) if m else "" for n, m in zip(board[name], measured, strict=True)]
    told = {name: f"{n:,}" if (n := needed[name]) else "-" for name in board.index}
    columns["needed"] = ["" if name == BASELINE else told[name] for name in board.index]
    columns["verdict"] = list(board["verdict"])
    return tables.text_table(columns, left=["method", "verdict"])


def _told(board: pd.DataFrame, needed: Mapping[str, int | None], questions: int) -> list[str]:
    others = board[board["verdict"] != "baseline"]
    noise = others.loc[others["verdict"] == "within noise", "difference"].abs()
    told = [
        f"Better or worse: the interval leaves out 0, and {FEWEST} questions or more differ."
        f" All else is within noise, here {len(noise)} of {len(others)} differences"
        + (f", up to {noise.max():.1f} points." if len(noise) else ".")
        + " With many methods, about one in twenty leaves out 0 by chance alone."
    ]
    known = {name: n for name, n in needed.items() if n}
    if known:
        few, many = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        told.append(
            f"Needed: as many questions of this kind show a true difference of {POINTS:g} points"
            f" (two-sided 5%, power 80%), from {known[few]:,} ({few}) to {known[many]:,} ({many})."
            f" You have {questions:,}. The fewer of them differ, the rougher this guess."
        )
    if len(known) < len(others):
        told.append(
            "A - under needed: no question is answered differently, or there is only one question,"
            " so no number can be told."
        )
    if questions < FEW:
        told.append(
            f"Fewer than {FEW} questions: the intervals are wide. Write more before you choose."
        )
    return told


def _silent(held: Sequence[set[str]], hours: Floats, matters: Floats) -> list[str]:
    """Which parts cannot tell these cards apart."""
    parts = {
        "all cards are of one age: recency moves nothing": np.ptp(hours) == 0,
        "all ratings are equal, or none is given: importance moves nothing": np.ptp(matters) == 0,
        "no card lists entities: names move nothing": not any(held),
    }
    return [note for note, silent in parts.items() if silent]


def _limits(embedder: Embedder, every: Sequence[str], texts: Sequence[str]) -> str:
    lost, cut = "", "A longer text than its model reads is refused by the server."
    if isinstance(embedder, Bundled):
        lost = f"; {sum(embedder.unknown(every))} of {len(every)} texts are mostly unknown to it"
        longer = f"{sum(embedder.truncated(texts))} of {len(texts)} cards are longer"
        cut = f"It reads the first {WORD_PIECES} word pieces of a text; {longer}."
    elif isinstance(embedder, Recorded):
        cut = f"It read the first {WORD_PIECES} word pieces of a text."
    model = "" if not isinstance(embedder, Bundled | Recorded) else ", and so is the model"
    return (
        f"stemmer and stop words are English{model}{lost}. {cut} The search is exact, over all"
        " cards, and every question is asked at the one time above."
    )


def _write(file: Path, exam: pd.DataFrame, found: Mapping[int, pd.DataFrame]) -> None:
    """One row a question and k: id, question, k, then the recall of every method."""
    parts = []
    for k, table in found.items():
        parts.append(table.round(6))
        parts[-1].insert(0, "question", exam["question"])
        parts[-1].insert(1, "k", k)
    try:
        pd.concat(parts).to_csv(file, index_label="id", encoding="utf-8", lineterminator="\n")
    except OSError as error:
        raise ValueError(f"{file}: cannot be written: {error.strerror or error}") from None


def _many(table: pd.DataFrame, what: str) -> str:
    return f"{len(table):,} {what}{'s' if len(table) != 1 else ''}"


def _watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


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
        help=f"how many cards count, default {ks}; the methods are compared at the last one",
    )
    parser.add_argument("--csv", type=Path, help="write the recall of every question into this")
    return parser


def _common(parser: _Parser, whose: str, known: str, default: str | None) -> None:
    embedder = _checked(choose, "name is ")
    parser.add_argument("--embedder", type=embedder, default=default, help=known)
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
