"""Signals card by card, in exact fractions where the formula allows it, words without regex."""

import math
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction

from tests.oracles.similarity import Vector, dot

MONTHS = "January February March April May June July August September October November December"
TIME_WORDS = (
    "yesterday today tonight tomorrow ago last next since recently morning evening weekend monday"
    " tuesday wednesday thursday friday saturday sunday day days week weeks month months year years"
)


def in_context(
    texts: Sequence[str], groups: Sequence[Hashable], before: int, after: int
) -> list[str]:
    made = []
    for i in range(len(texts)):
        near = [
            text
            for j, text in enumerate(texts)
            if i - before <= j <= i + after and groups[j] == groups[i]
        ]
        made.append("\n".join(near))
    return made


def by_group(texts: Sequence[str], groups: Sequence[Hashable]) -> tuple[list[str], list[int]]:
    names: list[Hashable] = []
    for label in groups:
        if label not in names:
            names.append(label)
    whole = ["\n".join(t for t, g in zip(texts, groups, strict=True) if g == n) for n in names]
    return whole, [names.index(label) for label in groups]


def neighbour_smoothing(
    scores: Sequence[float], groups: Sequence[Hashable], weight: float
) -> list[float]:
    total = []
    for i, score in enumerate(scores):
        near = [j for j in (i - 1, i + 1) if 0 <= j < len(scores) and groups[j] == groups[i]]
        lent = sum((Fraction(scores[j]) for j in near), Fraction(0))
        total.append(float(Fraction(score) + Fraction(weight) * lent))
    return total


def group_smoothing(scores: Sequence[float], groups: Sequence[Hashable], best: int) -> list[float]:
    total = []
    for label in groups:
        held = [Fraction(s) for s, g in zip(scores, groups, strict=True) if g == label]
        first = sorted(held, reverse=True)[:best]
        total.append(float(sum(first, Fraction(0)) / len(first)))
    return total


def hubness(vectors: Sequence[Vector], neighbours: int) -> list[float]:
    found = []
    for i, one in enumerate(vectors):
        alike = sorted(dot(one, other) for j, other in enumerate(vectors) if j != i)
        near = alike[-neighbours:]
        found.append(float(sum(near, Fraction(0)) / len(near)) if near else 0.0)
    return found


def words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")


def date_match(question: str, times: Sequence[datetime | None]) -> list[float]:
    asked = words(question)
    months = {number for number, name in enumerate(MONTHS.split(), 1) if name in asked}
    years = {int(word) for word in asked if is_year(word)}
    parts = sum(1 for named in (months, years) if named)
    found = []
    for time in times:
        met = 0 if time is None else sum((time.month in months, time.year in years))
        found.append(float(Fraction(met, parts)) if parts else 0.0)
    return found


def time_words(text: str) -> bool:
    said = words(text)
    return any(
        word in MONTHS.split() or word.lower() in TIME_WORDS.split() or is_year(word)
        for word in said
    )


def first(scores: Sequence[float], top: int) -> list[int]:
    return sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:top]


def feedback_query(
    query: Vector, vectors: Sequence[Vector], scores: Sequence[float], top: int, weight: float
) -> list[float]:
    rows = first(scores, top)
    moved = []
    for axis, start in enumerate(query):
        held = sum((Fraction(vectors[row][axis]) for row in rows), Fraction(0))
        moved.append(Fraction(start) + (Fraction(weight) * held / len(rows) if rows else 0))
    long = math.sqrt(sum(x * x for x in moved))
    return [float(x) / long for x in moved] if long else []


def feedback_terms(
    documents: Sequence[Sequence[str]],
    scores: Sequence[float],
    asked: Sequence[str],
    idf: Mapping[str, float],
    top: int,
    count: int,
) -> list[str]:
    rows = first(scores, top)
    seen: list[str] = []
    for row in rows:
        seen += [word for word in documents[row] if word not in asked and word not in seen]
    seen = list(dict.fromkeys(seen))
    worth = {word: sum(word in documents[r] for r in rows) * idf.get(word, 0.0) for word in seen}
    return sorted(seen, key=lambda word: (-worth[word], seen.index(word)))[:count]
