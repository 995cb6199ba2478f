"""Recall by counting; the bootstrap by drawing every question of every resample."""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import ceil, exp, inf, lgamma, pi, sqrt
from random import Random
from statistics import fmean


def evidence_recall(order: Sequence[int], evidence: Sequence[int], top_k: int) -> float:
    hits = [row for row in set(evidence) if row in list(order)[:top_k]]
    return len(hits) / len(set(evidence))


def expected_recall(scores: Sequence[float], evidence: Sequence[int], top_k: int) -> float:
    """The mean over every order in which the cards can be given; sorting is stable."""
    wanted, hits, orders = set(evidence), 0, 0
    for rows in permutations(range(len(scores))):
        first = sorted(rows, key=lambda row: -scores[row])[:top_k]
        hits += sum(row in first and scores[row] > -inf for row in wanted)
        orders += 1
    return float(Fraction(hits, orders * len(wanted)))


def percentile(values: Sequence[float], percent: float) -> float:
    """Linear between the two nearest of the sorted values."""
    row = sorted(values)
    place = percent / 100 * (len(row) - 1)
    below = int(place)
    above = min(below + 1, len(row) - 1)
    return row[below] + (place - below) * (row[above] - row[below])


def bootstrap(
    first: Sequence[float], second: Sequence[float], draws: int
) -> tuple[float, float, float]:
    gaps = [b - a for a, b in zip(first, second, strict=True)]
    random = Random(20250611)
    means = [fmean(random.choices(gaps, k=len(gaps))) for _ in range(draws)]
    return fmean(gaps), percentile(means, 2.5), percentile(means, 97.5)


def interval(counts: Sequence[Sequence[int]], gaps: Sequence[Fraction]) -> list[Fraction]:
    """The ends of the interval in fractions: nothing is rounded, whatever is added first."""
    means = [
        sum((c * g for c, g in zip(row, gaps, strict=True)), Fraction(0)) / len(gaps)
        for row in counts
    ]
    ordered, ends = sorted(means), []
    for percent in (Fraction(5, 2), Fraction(195, 2)):
        place = percent / 100 * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        ends.append(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
    return ends


def every_resample(gaps: Sequence[float]) -> tuple[float, float]:
    """The interval's ends, were each of the n to the n resamples drawn equally often."""
    means = sorted(fmean(drawn) for drawn in product(gaps, repeat=len(gaps)))
    low, high = (ceil(share * len(means)) - 1 for share in (0.025, 0.975))
    return means[low], means[high]


def signs(
    first: Sequence[float], second: Sequence[float], groups: Sequence[Hashable]
) -> tuple[int, int, int]:
    sums: dict[Hashable, Fraction] = {}
    for a, b, group in zip(first, second, groups, strict=True):
        sums[group] = sums.get(group, Fraction(0)) + Fraction(b) - Fraction(a)
    totals = list(sums.values())
    return sum(t > 0 for t in totals), sum(t == 0 for t in totals), sum(t < 0 for t in totals)


def t_inside(t: float, freedom: int) -> float:
    """The density, added up by Simpson's rule."""
    scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(freedom * pi)
    steps = 2000
    width = 2 * t / steps
    total = 0.0
    for i in range(steps + 1):
        x = -t + i * width
        weight = 1 if i in (0, steps) else 4 if i % 2 else 2
        total += weight * scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    return total * width / 3


def group_means(
    first: Sequence[float], second: Sequence[float], groups: Sequence[Hashable]
) -> list[float]:
    held: dict[Hashable, list[float]] = {}
    for a, b, group in zip(first, second, groups, strict=True):
        held.setdefault(group, []).append(b - a)
    return [fmean(gaps) for gaps in held.values()]


def holm(p: Sequence[float]) -> list[float]:
    """Step by step: the least times m, the next times m - 1, never below the one before."""
    adjusted, floor, left = [0.0] * len(p), 0.0, len(p)
    for row in sorted(range(len(p)), key=lambda row: p[row]):
        floor = max(floor, min(1.0, left * p[row]))
        adjusted[row] = floor
        left -= 1
    return adjusted
