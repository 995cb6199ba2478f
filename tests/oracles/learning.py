"""The listwise loss card by card, its slope by finite differences, its minimum by small steps."""

import math
from collections.abc import Collection, Sequence

Parts = Sequence[Sequence[Sequence[float]]]  # question, part, card
Relevant = Sequence[Collection[int]]


def loss(weights: Sequence[float], parts: Parts, relevant: Relevant, penalty: float) -> float:
    total = 0.0
    for columns, rows in zip(parts, relevant, strict=True):
        scores = [
            math.fsum(w * column[card] for w, column in zip(weights, columns, strict=True))
            for card in range(len(columns[0]))
        ]
        every = math.fsum(math.exp(score) for score in scores)
        wanted = set(rows)
        total -= math.fsum(math.log(math.exp(scores[r]) / every) for r in wanted) / len(wanted)
    return total / len(parts) + penalty * math.fsum(w * w for w in weights)


def slope(
    weights: Sequence[float], parts: Parts, relevant: Relevant, penalty: float, width: float = 1e-5
) -> list[float]:
    """Central differences, one weight at a time."""
    found = []
    for i in range(len(weights)):
        up, down = list(weights), list(weights)
        up[i], down[i] = weights[i] + width, weights[i] - width
        rise = loss(up, parts, relevant, penalty) - loss(down, parts, relevant, penalty)
        found.append(rise / (2 * width))
    return found


def fit(parts: Parts, relevant: Relevant, penalty: float) -> list[float]:
    """One weight after the other, each up or down as long as it helps, in ever smaller steps."""
    weights = [0.0] * len(parts[0])
    lowest, step = loss(weights, parts, relevant, penalty), 1.0
    while step > 1e-6:
        moved = False
        for i in range(len(weights)):
            for way in (step, -step):
                tried = [*weights[:i], weights[i] + way, *weights[i + 1 :]]
                if (new := loss(tried, parts, relevant, penalty)) < lowest:
                    weights, lowest, moved = tried, new, True
        step = step if moved else step / 2
    return weights
