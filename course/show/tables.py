"""Tables in fixed width, as the chapters and the command line print them."""

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.checks import numbers, same_length
from memlib.ranking import INJECTED, WEIGHTS, ThreeParts, rank_order, three_part_score
from memlib.tables import Column
from memlib.tables import decimals as decimals
from memlib.tables import text_table as text_table

INJECT = "<- inject"


class Worked(NamedTuple):
    """One part of one card's score: what goes into min-max, and what comes out."""

    part: str
    value: float
    low: float
    high: float
    normalized: float
    weight: float


def relevance_table(
    cards: pd.DataFrame, relevance: ArrayLike, beside: Mapping[str, ArrayLike] | None = None
) -> str:
    """Table (a): cards by relevance alone; `beside` adds columns, for example another model's."""
    rel = numbers("relevance", relevance, ndim=1)
    order = rank_order(rel, cards.index)
    columns: dict[str, Column] = {
        "rank": np.arange(1, len(order) + 1),
        "rel": decimals(rel[order], 4),
    }
    for name, values in (beside or {}).items():
        columns[name] = decimals(numbers(name, values, ndim=1)[order], 4)
    return text_table(columns | {"fact": list(cards["text"].iloc[order])}, left=["fact"])


def recency_table(cards: pd.DataFrame, hours: ArrayLike, recency: ArrayLike) -> str:
    """Table (b): cards by recency alone, with the hours since last access."""
    age, fresh = numbers("hours", hours, ndim=1), numbers("recency", recency, ndim=1)
    same_length(hours=age, recency=fresh)
    order = rank_order(fresh, cards.index)
    columns: dict[str, Column] = {
        "rank": np.arange(1, len(order) + 1),
        "recency": decimals(fresh[order], 6),
        "hours": decimals(age[order], 0),
        "fact": list(cards["text"].iloc[order]),
    }
    return text_table(columns, left=["fact"])


def combined_table(
    cards: pd.DataFrame, parts: ThreeParts, beside: Mapping[str, ArrayLike] | None = None
) -> str:
    """Table (c): the three parts and their sum, the top three marked for the prompt."""
    order = rank_order(parts.total, cards.index)
    columns: dict[str, Column] = {"fact": list(cards["text"].iloc[order])}
    for name, part in zip(("rel", "rec", "imp", "total"), parts, strict=True):
        columns[name] = decimals(part[order], 2)
    for name, values in (beside or {}).items():
        columns[name] = decimals(numbers(name, values, ndim=1)[order], 2)
    marks = [INJECT if rank < INJECTED else "" for rank in range(len(order))]
    return text_table(columns | {"": marks}, left=["fact", ""])


def scoreboard(after: pd.DataFrame, before: pd.DataFrame | None = None) -> str:
    """The exam's ten rows: where the wanted cards land, passed or not, gained or lost."""
    change = ["" for _ in after.index]
    if before is not None:
        words = {(False, True): "gained", (True, False): "lost"}
        pairs = zip(before["passed"], after["passed"], strict=True)
        change = [words.get((bool(old), bool(new)), "") for old, new in pairs]
    columns = {
        "id": list(after.index),
        "question": [shorten(question, 60, placeholder=" …") for question in after["question"]],
        "ranks": [", ".join(map(str, ranks)) for ranks in after["ranks"]],
        "top 3": ["yes" if passed else "no" for passed in after["passed"]],
        "change": change,
    }
    passed = f"passed: {int(after['passed'].sum())} of {len(after)}"
    if before is not None:
        passed += f"   gained: {change.count('gained')}   lost: {change.count('lost')}"
    return text_table(columns, left=["id", "question", "change"]) + "\n" + passed


def work_out(
    row: int,
    relevance: ArrayLike,
    recency: ArrayLike,
    importance: ArrayLike,
    weights: Sequence[float] = WEIGHTS,
) -> list[Worked]:
    """One card's row of table (c) taken apart: each part's value, smallest, largest, result."""
    parts = three_part_score(relevance, recency, importance, weights)
    raw = zip(("relevance", "recency", "importance"), (relevance, recency, importance), strict=True)
    worked = []
    for (name, values), scaled, weight in zip(raw, parts[:3], weights, strict=True):
        x = np.asarray(values, dtype=float)
        worked.append(Worked(name, x[row], x.min(), x.max(), scaled[row], weight))
    return worked


def worked_row(worked: Sequence[Worked]) -> str:
    """Print `work_out`'s result the way one would write it with a pencil."""
    lines = []
    for part, value, low, high, normalized, weight in worked:
        whole = all(x == int(x) for x in (value, low, high))
        digits = {"relevance": 4, "recency": 6}.get(part, 0 if whole else 2)
        v, lo, hi = (f"{x:.{digits}f}" for x in (value, low, high))
        said = f"({v} - {lo}) / ({hi} - {lo})" if high > low else "all equal"
        factor = "" if f"{weight:.2f}" == "1.00" else f"{weight:.2f} x "
        lines.append(f"{part:<12}{factor + said:<52} = {weight * normalized:7.4f}")
    total = sum(w.weight * w.normalized for w in worked)
    terms = " + ".join(f"{w.weight * w.normalized:.4f}" for w in worked)
    return "\n".join([*lines, f"{'total':<12}{terms:<52} = {total:7.4f}"])
