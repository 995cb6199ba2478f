"""The published experiment in a terminal: `python -m course demo`."""

import argparse
from datetime import UTC, datetime

import pandas as pd

from course.data.maya import COURSE_NOW, PUBLISHED_QUESTION, published_cards
from course.data.recorded import Recorded, choose
from course.show import tables
from memlib.cards import load_cards
from memlib.checks import Floats
from memlib.embedders.minilm import notes
from memlib.embedders.protocol import Embedder, check_texts, embed_named
from memlib.importance import UNRATED
from memlib.ranking import three_part_score
from memlib.recency import DECAY_PER_HOUR, age_hours, half_life_days, recency
from memlib.similarity import cosine
from memlib.terminal import Parser, checked, chosen, common_options, one_line

MOST_ROWS = 20
LONGEST = 80  # letters of a fact
BESIDE = "MiniLM"
ERRATUM = """\
The published table prints 1.33 for "Maya is vegetarian.": it adds parts that were rounded first.
Unrounded the total is {total:.4f}, so {total:.2f}."""


def experiment(options: argparse.Namespace) -> str:
    """The three tables as text, for parsed options."""
    own = options.cards is not None
    today = datetime.now(UTC).replace(microsecond=0) if own else COURSE_NOW
    now = options.now or today
    cards = load_cards(options.cards, now) if own else published_cards()
    published = not own and options.question == PUBLISHED_QUESTION
    name = options.embedder or ("published" if published else "bundled")
    first = chosen(name, choose_for_own_texts, options.timeout)
    second = choose("bundled") if name == "published" else None
    doubts = notes(first, [options.question, *cards["text"]])
    relevance = _relevance(first, options.question, cards)
    other = _relevance(second, options.question, cards) if second else None
    cards = cards.assign(text=[_shorten(one_line(text)) for text in cards["text"]])
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


def choose_for_own_texts(name: str) -> Embedder:
    """The embedder of a name; the recorded one says what it does not know."""
    embedder = choose(name)
    if isinstance(embedder, Recorded):  # who is here has texts of their own
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


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def parser() -> Parser:
    """The options of the experiment."""
    options = Parser(
        "python -m course demo",
        description="Rank memories by relevance, recency, importance.",
    )
    asked = checked(lambda text: check_texts([text], role="query"), "texts[0] is ")
    options.add_argument("--question", type=asked, default=PUBLISHED_QUESTION, help="what is asked")
    options.add_argument(
        "--weights",
        type=float,
        nargs=3,
        default=(1.0, 1.0, 1.0),
        metavar=("RELEVANCE", "RECENCY", "IMPORTANCE"),
        help="0 or more each, default 1 1 1",
    )
    options.add_argument(
        "--decay", type=float, default=DECAY_PER_HOUR, help="per hour, above 0, at most 1"
    )
    known = "published, recorded, bundled, ollama or ollama:MODEL"
    when = f"{COURSE_NOW:%Y-%m-%dT%H:%MZ}, with --cards the current time"
    common_options(options, "your own cards", known, None, choose, when)
    return options
