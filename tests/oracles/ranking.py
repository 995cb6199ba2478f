"""Ranking by counting, for each card, the cards that beat it."""

from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.normalization import min_max


def three_part_total(
    relevance: Sequence[float],
    recency: Sequence[float],
    importance: Sequence[float],
    weights: Sequence[float],
) -> list[float]:
    columns = [min_max(part) for part in (relevance, recency, importance)]
    return [
        float(sum((Fraction(w) * Fraction(x) for w, x in zip(weights, row, strict=True))))
        for row in zip(*columns, strict=True)
    ]


def rank_order(scores: Sequence[float], ids: Sequence[str]) -> list[int]:
    rows = range(len(scores))
    place = {
        sum(
            scores[other] > scores[row] or (scores[other] == scores[row] and ids[other] < ids[row])
            for other in rows
        ): row
        for row in rows
    }
    return [place[rank] for rank in rows]


def ranks(scores: Sequence[float], ids: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...]:
    order = rank_order(scores, ids)
    return tuple(1 + order.index(list(ids).index(name)) for name in wanted)
