"""Which changed settings cannot move a card, and why."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import NamedTuple

import pandas as pd

from course.playground.comparison import OUTSIDE
from course.playground.configuration import PARTS, Form
from memlib.retrieval import Index, Ranking, Vectors

SHAPES = {"recency": ("decay", "half_life_days"), "bm25": ("tokenizer",)}  # what a part hangs on
FADED = 1_000  # half-lives: beyond them recency is too near 0 to be told apart


class Ground(NamedTuple):
    """What of the cards, of the question and of both rankings the reasons stand on.

    nothing  parts that add 0 to every candidate on both sides
    level    parts that add the same to every candidate of a side, on both sides
    same     both sides have the same candidates
    rated, named, asked, pinned  some card is; some card lists names; the question holds such a name
    oldest_days  since the last access of the card that waited longest
    """

    nothing: frozenset[str] = frozenset()
    level: frozenset[str] = frozenset()
    rated: bool = True
    named: bool = True
    asked: bool = True
    pinned: bool = True
    kinds: frozenset[str] = frozenset(["working", "episodic", "semantic"])
    oldest_days: float = 0.0
    same: bool = True


def ground(
    index: Index,
    question: str,
    query: Vectors,
    now: datetime,
    a: pd.DataFrame,
    b: pd.DataFrame,
) -> Ground:
    """What two rankings of the same cards stand on.

    query  (d,), the question's vector;  a, b  what `comparison.rank` returned for it
    """
    one, two = (table[table["why"] != OUTSIDE] for table in (a, b))
    both, cards = (one[list(PARTS)], two[list(PARTS)]), index.cards
    touched = cards[["created_at", "last_accessed_at"]].max(axis=1).min()
    return Ground(
        frozenset(n for n in PARTS if not any(t[n].any() for t in both)),
        frozenset(n for n in PARTS if all(t[n].min() == t[n].max() for t in both)),
        bool(cards["importance"].notna().any()),
        any(index.names),
        bool(index.matches(question, query, Ranking(names=1.0)).names.any()),
        bool(cards["pinned"].any()),
        frozenset(cards["kind"]),
        (now - touched) / timedelta(days=1),
        set(one.index) == set(two.index),
    )


def without_effect(a: Form, b: Form, of: Ground) -> dict[str, str]:
    """The settings in which A and B differ to no effect, each with the reason.

    A setting is told only if it can move no card, neither beside A's other settings nor B's. One
    that is not told may still move none.

    >>> without_effect(Form(), Form(mmr_lambda=0.5), Ground())
    {'mmr_lambda': 'no side picks by mmr'}
    """
    here, there = asdict(a), asdict(b)
    told = {name: _why(name, a, b, of) for name in here if here[name] != there[name]}
    return {name: why for name, why in told.items() if why}


def _why(name: str, a: Form, b: Form, of: Ground) -> str:
    picked, ranks = {a.diversity, b.diversity}, a.fusion == b.fusion == "RRF"
    if name in PARTS:
        return _weight(name, a, b, of)
    if name == "normalizer" and ranks:
        return "RRF uses ranks and normalises nothing"
    if name == "tokenizer" and not of.same:  # it chooses who is looked at
        return ""
    if name == "tokenizer":
        return _off("bm25", a, b) or _nothing("bm25", a, b, of)
    if name in ("decay", "half_life_days") and (off := _off("recency", a, b)):
        return off
    if name == "decay":
        return _decay(a, b, of)
    if name == "w_duplicate" and "penalty" not in picked:
        return "no side picks by penalty"
    return "no side picks by mmr" if name == "mmr_lambda" and "mmr" not in picked else ""


def _weight(name: str, a: Form, b: Form, of: Ground) -> str:
    if nothing := _nothing(name, a, b, of):
        return nothing
    if a.fusion == b.fusion == "RRF":
        both = min(a.weights()[name], b.weights()[name]) > 0
        return "RRF uses ranks, not the size of a weight" if both else ""
    sums, cut = "RRF" not in (a.fusion, b.fusion), (a.threshold, b.threshold) != (None, None)
    if sums and not cut and name in of.level and _as_is(name, a, b):
        return _same(name, of)
    return ""


def _as_is(name: str, a: Form, b: Form) -> bool:
    """Whether what a part would add, were its weight above 0, can be read from both rankings."""
    hangs_on = ("fusion", "normalizer", *SHAPES.get(name, ()))
    shapes = [[getattr(side, shape) for shape in hangs_on] for side in (a, b)]
    return min(a.weights()[name], b.weights()[name]) > 0 or shapes[0] == shapes[1]


def _nothing(name: str, a: Form, b: Form, of: Ground) -> str:
    """Why a part adds 0 to every card beside either side's settings; empty if it may add more."""
    return _same(name, of) if name in of.nothing and _as_is(name, a, b) else ""


def _same(name: str, of: Ground) -> str:
    """Why a part tells no two cards apart."""
    if name == "names" and not (of.named and of.asked):
        return "the question holds no name that a card lists" if of.named else "no card lists names"
    if name == "importance" and not of.rated:
        return "no card is rated"
    return "it is the same for every card"


def _off(name: str, a: Form, b: Form) -> str:
    weighs = {"recency": "recency", "bm25": "BM25"}[name]
    return "" if a.weights()[name] or b.weights()[name] else f"{weighs} has weight 0"


def _decay(a: Form, b: Form, of: Ground) -> str:
    """The three forms are one where nothing is pinned and, for "by kind", all is episodic."""
    forms, reasons = {a.decay, b.decay}, []
    if of.oldest_days > FADED * min(a.half_life_days, b.half_life_days):
        return ""
    if "per hour" in forms:
        reasons += ["" if of.pinned else "no card is pinned"]
    if "by kind" in forms:
        reasons += ["every card is episodic" if of.kinds == {"episodic"} else ""]
    return " and ".join(reasons) if all(reasons) else ""
