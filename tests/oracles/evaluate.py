"""The ways of scoring one's own memory, card by card; the questions needed, by dealing them out."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, sqrt
from statistics import NormalDist, stdev

from tests.oracles import evaluation, fusion, ranking, recency

FADED = (1.0, 30.0, 180.0, 730.0)


def methods(
    dense: Sequence[float],
    okapi: Sequence[float],
    lucene: Sequence[float],
    words: Sequence[float],
    names: Sequence[float],
    hours: Sequence[float],
    importance: Sequence[float],
    pinned: Sequence[bool],
) -> dict[str, list[float]]:
    """Every way but the server's S, where every card is looked at."""
    n = range(len(dense))
    park = recency.half_life_days(0.995)

    def fresh(days: float) -> list[float]:
        ages = [h / 24 for h in hours]
        return recency.recency_by_half_life(ages, [days for _ in n], pinned)

    def with_recency(days: float, weight: float = 1.0) -> list[float]:
        return fusion.weighted_sum({"a": dense, "b": fresh(days)}, {"a": 1.0, "b": weight})

    def three(*weights: float) -> list[float]:
        return ranking.three_part_total(
            dense, recency.recency(hours, 0.995), importance, list(weights)
        )

    def summed(*weights: float) -> list[float]:
        named = {"a": dense, "b": okapi, "c": names}
        return fusion.weighted_sum(named, dict(zip("abc", weights, strict=True)))

    half_a_year = recency.recency(hours, 0.5 ** (1 / (180 * 24)))
    dated = {"a": dense, "b": words, "c": half_a_year}
    everywhere, called = [True for _ in n], [x > 0 for x in names]
    matched = [x > 0 for x in lucene]
    two = fusion.reciprocal_rank_fusion([dense, okapi], [everywhere, matched])
    all_three = fusion.reciprocal_rank_fusion([dense, okapi, names], [everywhere, matched, called])
    faded = [*FADED[:1], park, *FADED[1:]]
    labels = ("1 day", "5.76 days", "30 days", "180 days", "730 days")
    recent = zip(labels, map(with_recency, faded), strict=True)
    return {
        "newest first": [0.5 ** (h / 24 / 730) for h in hours],
        "similarity alone": fusion.weighted_sum({"a": dense}, {"a": 1.0}),
        "BM25": [x / (x + 2) if x > 0 else -inf for x in lucene],
        **{f"similarity + recency, {label}": scores for label, scores in recent},
        "similarity + 0.1 recency, 30 days": with_recency(30.0, 0.1),
        "three parts, equal weights": three(1, 1, 1),
        "three parts, relevance times 5": three(5, 1, 1),
        "weighted sum 0.8/0.1/0.1": summed(0.8, 0.1, 0.1),
        "weighted sum 0.5/0.4/0.1": summed(0.5, 0.4, 0.1),
        "RRF of similarity and BM25": two,
        "RRF of similarity, BM25, names": all_three,
        "dated sum 0.9/0.1/0.2": fusion.weighted_sum(dated, {"a": 0.9, "b": 0.1, "c": 0.2}),
    }


def recall(scores: Sequence[float], ids: Sequence[str], wanted: Sequence[str], k: int) -> float:
    return evaluation.expected_recall(scores, [list(ids).index(name) for name in wanted], k)


def leaders(
    recalls: Mapping[str, Sequence[float]], baseline: str
) -> list[tuple[str, float, float, int, int, int]]:
    """Method, recall and difference in percent, questions better, equal and worse; best first."""
    start = [Fraction(x) for x in recalls[baseline]]
    rows = []
    for method, values in recalls.items():
        gaps = [Fraction(x) - y for x, y in zip(values, start, strict=True)]
        mean, gap = (100 * sum(xs) / len(xs) for xs in (list(map(Fraction, values)), gaps))
        counts = [sum(test) for test in ([g > 0 for g in gaps], [g == 0 for g in gaps])]
        worse = len(gaps) - sum(counts)
        rows.append((method, float(mean), float(gap), counts[0], counts[1], worse))
    return sorted(rows, key=lambda row: -row[1])


def power(differences: Sequence[float], points: float, n: int) -> float:
    """How often n such questions show a true difference: 1 - Φ(1.96 - points / standard error)."""
    return 1 - NormalDist().cdf(1.96 - points / (stdev(differences) / sqrt(n)))
