"""A search card by card: both lists of candidates, every part of S, greedy picks; all by hand."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from tests.oracles import bm25, forgetting, importance, ranking, recency, relevance

HALF_LIFE_DAYS = {"working": 2.0, "episodic": 30.0, "semantic": 180.0}
ADDED = ("0.50", "0.20", "0.20", "0.10")  # relevance, recency, importance, usage
COPIED = Fraction("0.15")

Card = Mapping[str, Any]
Vector = Sequence[float]


def likeness(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def best(scores: Mapping[str, float], at_most: int = 50) -> set[str]:
    return set(sorted(scores, key=lambda name: (-scores[name], name))[:at_most])


def candidates(
    cards: Sequence[Card], vectors: Sequence[Vector], query: Vector, question: str
) -> tuple[dict[str, float], dict[str, float], set[str]]:
    """Cosine and BM25 of every card, and the names of those that are looked at further."""
    names = [card["id"] for card in cards]
    dense = dict(zip(names, (likeness(query, vector) for vector in vectors), strict=True))
    texts = [bm25.unicode(card["text"]) for card in cards]
    found = bm25.scores(texts, bm25.unicode(question), variant="lucene")
    words = dict(zip(names, found, strict=True))
    return dense, words, best(dense) | {name for name in best(words) if words[name] > 0}


def search(
    cards: Sequence[Card],
    vectors: Sequence[Vector],
    query: Vector,
    question: str,
    now: datetime,
) -> dict[str, dict[str, float]]:
    """The parts of S, and S without the penalty, of every candidate."""
    dense, words, names = candidates(cards, vectors, query, question)
    tags = relevance.question_tags(question, {tag for card in cards for tag in card["tags"]})
    batch = [card for card in cards if card["id"] in names]
    used = forgetting.usage(*[[card[c] for card in batch] for c in ("views", "cites", "edits")])
    table = {}
    for card, use in zip(batch, used, strict=True):
        name, kind, pin = card["id"], card["kind"], card["pinned"]
        (hours,) = recency.age_hours([card["created_at"]], [card["last_accessed_at"]], now)
        half_life = HALF_LIFE_DAYS[kind]
        (fresh,) = recency.recency_by_half_life([hours / 24], [half_life], [pin])
        user = importance.from_rating([card["importance"]])
        (weight,) = importance.importance(user, [pin], [kind], [0.0])
        squeezed = Fraction(words[name]) / (Fraction(words[name]) + 2)
        overlap = relevance.tag_match(tags, card["tags"])
        title = relevance.title_hit(question, card["title"])
        about = relevance.relevance(Fraction(dense[name]), squeezed, overlap, Fraction(title))
        parts = (about, Fraction(fresh), Fraction(weight), use)
        row = {"dense": dense[name], "bm25_norm": squeezed, "tag_match": overlap}
        row |= {"title_hit": title, "relevance": about, "recency": fresh}
        row |= {"importance": weight, "usage": use}
        row["S"] = ranking.final_score(*parts, Fraction(0))
        table[name] = {column: float(value) for column, value in row.items()}
    return table


def pick(
    scores: Mapping[str, float],
    vectors: Mapping[str, Vector],
    top_k: int,
    gain: float = 1.0,
    cost: float = 0.15,
) -> list[tuple[str, float]]:
    """Names and penalties: gain · S − cost · penalty, against every card picked before."""
    picked: list[tuple[str, float]] = []
    while len(picked) < min(top_k, len(scores)):
        left = sorted(scores.keys() - {name for name, _ in picked})
        penalty = {
            name: max([0.0, *(likeness(vectors[name], vectors[before]) for before, _ in picked)])
            for name in left
        }
        first = max(left, key=lambda name: gain * scores[name] - cost * penalty[name])
        picked.append((first, penalty[first]))
    return picked
