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


def final_score(
    relevance: Fraction,
    recency: Fraction,
    importance: Fraction,
    usage: Fraction,
    duplication: Fraction,
) -> Fraction:
    meaning = Fraction("0.50") * relevance + Fraction("0.20") * recency
    rest = Fraction("0.20") * importance + Fraction("0.10") * usage
    return meaning + rest - Fraction("0.15") * duplication


def pick_diverse(
    score: Sequence[float],
    vectors: Sequence[Sequence[float]],
    ids: Sequence[str],
    top_k: int,
    gain: float,
    cost: float,
) -> list[tuple[int, float]]:
    """Greedy picks with their penalties: gain · S − cost · penalty, against all picked so far."""

    def penalty(row: int, before: list[tuple[int, float]]) -> Fraction:
        likeness = [
            sum((Fraction(x) * Fraction(y) for x, y in zip(vectors[row], vectors[p], strict=True)))
            for p, _ in before
        ]
        return max([Fraction(0), *map(Fraction, likeness)])

    picked: list[tuple[int, float]] = []
    while len(picked) < min(top_k, len(score)):
        worth = {
            row: Fraction(gain) * Fraction(score[row]) - Fraction(cost) * penalty(row, picked)
            for row in range(len(score))
            if row not in [p for p, _ in picked]
        }
        best = min(
            (row for row in worth if worth[row] == max(worth.values())), key=lambda row: ids[row]
        )
        picked.append((best, float(penalty(best, picked))))
    return picked
