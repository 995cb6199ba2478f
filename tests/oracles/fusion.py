"""Weighted sums and reciprocal ranks in exact fractions, ranks by counting."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tests.oracles.normalization import min_max


def weighted_sum(
    signals: Mapping[str, Sequence[float]], weights: Mapping[str, float], scaled: bool = True
) -> list[float]:
    columns = {name: min_max(part) if scaled else part for name, part in signals.items()}
    rows = range(len(next(iter(columns.values()))))
    return [
        float(sum(Fraction(weights[name]) * Fraction(columns[name][row]) for name in columns))
        for row in rows
    ]


def ranks(scores: Sequence[float]) -> list[int]:
    return [1 + sum(other > score for other in scores) for score in scores]


def reciprocal_rank_fusion(
    lists: Sequence[Sequence[float]], held: Sequence[Sequence[bool]], rrf_k: float = 60
) -> list[float]:
    points = []
    for card in range(len(lists[0])):
        total = Fraction(0)
        for scores, on in zip(lists, held, strict=True):
            if on[card]:
                ahead = sum(x and s > scores[card] for s, x in zip(scores, on, strict=True))
                total += 1 / (Fraction(rrf_k) + 1 + ahead)
        points.append(float(total))
    return points
