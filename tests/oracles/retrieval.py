"""A ranking card by card: candidates from two sorted lists, every preset typed a second time."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from functools import cache
from math import isnan
from typing import Any

from tests.oracles import bm25, entity_boost, fusion, importance, librarian, normalization, recency

Card = Mapping[str, Any]
Vector = Sequence[float]
Cut = Callable[[str], list[str]]
SUMS = {  # relevance, recency, importance, names, bm25; min-max over all cards
    "similarity": (1.0, 0.0, 0.0, 0.0, 0.0),
    "three parts": (1.0, 1.0, 1.0, 0.0, 0.0),
    "weighted sum 0.8/0.1/0.1": (0.8, 0.0, 0.0, 0.1, 0.1),
    "weighted sum 0.5/0.4/0.1": (0.5, 0.0, 0.0, 0.1, 0.4),
    "dated sum 0.9/0.1/0.2": (0.9, 0.2, 0.0, 0.0, 0.1),
}
OKAPI = ("weighted sum 0.8/0.1/0.1", "weighted sum 0.5/0.4/0.1", "RRF")
COMMON = ("may", "will", "mark", "rose", "grace", "hope", "june", "april", "bill")
PARTS = ("relevance", "recency", "importance", "names", "bm25")


def names_on(card: Card) -> set[str]:
    return {entity[: entity.rindex(":")] for entity in card["entities"]}


@cache
def idf(texts: tuple[tuple[str, ...], ...], variant: str) -> dict[str, Fraction]:
    return bm25.idf(texts, variant, 0.25)


def scores(
    preset: str,
    cards: Sequence[Card],
    vectors: Sequence[Vector],
    query: Vector,
    question: str,
    now: datetime,
    cut: Cut,
) -> dict[str, dict[str, float]]:
    """Of each candidate what the five parts add, and S before any is picked."""
    if preset == "server":
        return server(cards, vectors, query, question, now)
    ids = [card["id"] for card in cards]
    dense = [librarian.likeness(query, vector) for vector in vectors]
    variant = "okapi" if preset in OKAPI else "lucene"
    texts, asked = tuple(tuple(cut(card["text"])) for card in cards), cut(question)
    words = bm25.scores(texts, asked, variant=variant, known=idf(texts, variant))
    by_words = librarian.best(dict(zip(ids, words, strict=True)))
    by_meaning = librarian.best(dict(zip(ids, dense, strict=True)))
    positive = {id for id, score in zip(ids, words, strict=True) if score > 0}
    looked_at = by_meaning | (by_words & positive)
    if preset == "RRF":
        return ranks(ids, dense, words, [bool(set(asked) & set(text)) for text in texts], looked_at)
    held = [names_on(card) for card in cards]
    known = {name: name for names in held for name in names}
    named = entity_boost.entity_boost(entity_boost.names_in(question, known, COMMON), held)
    dated = preset.startswith("dated")
    used = [None if dated else card["last_accessed_at"] for card in cards]
    ages = recency.age_hours([card["created_at"] for card in cards], used, now)
    fresh = recency.recency(ages, 0.5 ** (1 / (180 * 24)) if dated else 0.995)
    raw = {
        "relevance": dense,
        "recency": fresh,
        "importance": importance.from_rating([card["importance"] for card in cards]),
        "names": named,
        "bm25": words,
    }
    scaled = {name: normalization.min_max(values) for name, values in raw.items()}
    weights = dict(zip(PARTS, SUMS[preset], strict=True))
    table = {}
    for row, id in enumerate(ids):
        if id in looked_at:
            exact = {n: Fraction(w) * Fraction(scaled[n][row]) for n, w in weights.items()}
            table[id] = {n: float(x) for n, x in exact.items()} | {"S": float(sum(exact.values()))}
    return table


def ranks(
    ids: Sequence[str],
    dense: Sequence[float],
    words: Sequence[float],
    matched: Sequence[bool],
    looked_at: set[str],
) -> dict[str, dict[str, float]]:
    """Reciprocal ranks among the candidates; the list of words holds what it matched."""
    rows = [row for row, id in enumerate(ids) if id in looked_at]
    near, said = ([part[row] for row in rows] for part in (dense, words))
    held = [matched[row] for row in rows]
    one = fusion.reciprocal_rank_fusion([near], [[True] * len(rows)])
    two = fusion.reciprocal_rank_fusion([said], [held])
    both = fusion.reciprocal_rank_fusion([near, said], [[True] * len(rows), held])
    return {
        ids[row]: {"relevance": a, "bm25": b, "S": s}
        for row, a, b, s in zip(rows, one, two, both, strict=True)
    }


def server(
    cards: Sequence[Card],
    vectors: Sequence[Vector],
    query: Vector,
    question: str,
    now: datetime,
) -> dict[str, dict[str, float]]:
    found = librarian.search(cards, vectors, query, question, now)
    return {
        id: {
            "relevance": 0.5 * 0.6 * max(0.0, row["dense"]),
            "bm25": 0.5 * 0.3 * row["bm25_norm"],
            "tags": 0.5 * 0.05 * row["tag_match"],
            "title": 0.5 * 0.05 * row["title_hit"],
            "recency": 0.2 * row["recency"],
            "importance": 0.2 * row["importance"],
            "usage": 0.1 * row["usage"],
            "S": row["S"],
        }
        for id, row in found.items()
    }


def pick(
    preset: str, table: Mapping[str, Mapping[str, float]], units: Mapping[str, Vector], top_k: int
) -> list[tuple[str, float, bool]]:
    """Ids in the order of picking, S at that moment, and whether the threshold keeps it."""
    cost, low = (0.15, 0.35) if preset == "server" else (0.0, float("-inf"))
    scored = {id: row["S"] for id, row in table.items()}
    picked = librarian.pick(scored, {id: units[id] for id in scored}, top_k, 1.0, cost)
    at = [(id, scored[id] - cost * penalty) for id, penalty in picked]
    assert not any(isnan(s) for _, s in at)
    return [(id, s, s >= low) for id, s in at]
