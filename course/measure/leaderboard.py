"""The leaderboard: every method chosen on some conversations and tried on others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from course.measure.experiment import GRID
from course.measure.ideas import PARTS, STACK, Asked, above, diverse, part_row, rrf
from memlib.checks import Floats
from memlib.fusion import WEIGHTS
from memlib.learning import fit_weights

KS = (10, 20, 50)
CHOSEN_AT = 20  # the k at which weights are chosen from the 66
BASELINE = "weighted sum"
SIGNALS = ("similarity", "BM25", "who said it")
START = ("similarity", "BM25", "speaker match")  # what each single idea is added to
Weights = Mapping[str, float]


class Method(NamedTuple):
    """A way of scoring: its name, where it comes from, and how its weights are found.

    family  "documents", "beyond" or "ladder"
    choose  questions to choose on -> weights a part
    score   question, weights -> n scores; −inf is not found
    """

    name: str
    family: str
    choose: Callable[[Sequence[Asked]], Weights]
    score: Callable[[Asked, Weights], Floats]


def fixed(weights: Weights) -> Callable[[Sequence[Asked]], Weights]:
    """A method without choice: the same weights, whatever the questions."""
    return lambda questions: weights


def grid(questions: Sequence[Asked]) -> Weights:
    """Of the 66 weightings the one with the best mean recall; the first of equal ones."""
    rows = [part_row(name) for name in SIGNALS]
    points = np.array(GRID)
    means = np.zeros(len(GRID))
    for asked in questions:
        scores = (points[:, :, None] * asked.parts[rows]).sum(axis=1)
        means += [recall(row, asked.question.evidence, (CHOSEN_AT,))[0] for row in scores]
    return dict(zip(SIGNALS, GRID[int(means.round(9).argmax())], strict=True))


def learned(*names: str) -> Callable[[Sequence[Asked]], Weights]:
    """Weights of the named parts, learned listwise (`learning.fit_weights`)."""
    rows = [part_row(name) for name in names]

    def choose(questions: Sequence[Asked]) -> Weights:
        parts = [asked.parts[rows] for asked in questions]
        weights = fit_weights(parts, [asked.question.evidence for asked in questions])
        return dict(zip(names, weights.tolist(), strict=True))

    return choose


def total(asked: Asked, weights: Weights) -> Floats:
    """Weighted sum of parts that are normalised already; a weight may be below 0."""
    rows = [part_row(name) for name in weights]
    each = np.array(list(weights.values()))[:, None] * asked.parts[rows]
    summed: Floats = each.sum(axis=0)  # one part after the other: `@` may part equal turns
    return summed


def recall(scores: Floats, evidence: Sequence[int], ks: Sequence[int] = KS) -> list[float]:
    """Recall@k in percent at each k; equal scores go in turn order, −inf is never found."""
    order = np.argsort(-scores, kind="stable")
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    found = [rank[row] for row in evidence if scores[row] > -np.inf]
    return [100 * sum(place < k for place in found) / len(evidence) for k in ks]


def _added(part: str) -> Method:
    parts: tuple[str, ...] = (*START, part)
    if part.startswith("BM25 with") or part.startswith("BM25, k1"):  # another BM25 in its place
        parts = (START[0], part, START[2])
    return Method(f"+ {part}", "beyond", learned(*parts), total)


def _documents() -> list[Method]:
    published = dict(zip(SIGNALS, WEIGHTS.values(), strict=True))
    mentioned = dict(zip((*SIGNALS[:2], "names mentioned"), WEIGHTS.values(), strict=True))
    return [
        _sum("similarity alone", {"similarity": 1.0}),
        _sum("newest first", {"recency": 1.0}),
        _sum("similarity + recency, equal", {"similarity": 1.0, "recency": 1.0}),
        _sum("similarity + recency, 0.9/0.1", {"similarity": 0.9, "recency": 0.1}),
        _sum("similarity + slow recency, 0.9/0.1", {"similarity": 0.9, "slow recency": 0.1}),
        _sum("strength-biased cosine", {"strength": 1.0}),
        _sum("BM25", {"BM25": 1.0}),
        _sum("published sum, mentioned", mentioned),
        _sum("published sum, who said it", published),
        Method(BASELINE, "documents", grid, total),
        Method("RRF of two", "documents", fixed({}), lambda a, w: rrf(a, SIGNALS[:2])),
        Method("RRF of three", "documents", fixed({}), lambda a, w: rrf(a, SIGNALS)),
        *(
            Method(f"{BASELINE}, {name}", "documents", grid, after)
            for name, after in {
                "MMR": lambda a, w: diverse(a, total(a, w), "mmr"),
                "duplication penalty": lambda a, w: diverse(a, total(a, w), "penalty"),
                "threshold": lambda a, w: above(total(a, w)),
            }.items()
        ),
    ]


def _sum(name: str, weights: Weights) -> Method:
    return Method(name, "documents", fixed(weights), total)


def _beyond() -> list[Method]:
    start = Method("learned sum of three", "beyond", learned(*START), total)
    return [start, *(_added(part) for part in PARTS if part not in (*START, "strength"))]


def _ladder() -> list[Method]:
    return [
        Method(_step(n), "ladder", learned(*STACK[:n]), total) for n in range(2, len(STACK) + 1)
    ]


def _step(n: int) -> str:
    return f"{n}: and {STACK[n - 1]}"


METHODS = (*_documents(), *_beyond(), *_ladder())
BEST = METHODS[-1].name  # the whole stack, frozen before the held-out conversations were read


@dataclass(frozen=True)
class Tried:
    """A method's recalls, question by question, and the weights that it was tried with."""

    method: Method
    recalls: Floats  # (questions, ks), in percent
    weights: dict[str, Weights]  # name of what was left out, or "all" -> weights


def leave_one_out(method: Method, conversations: Sequence[Sequence[Asked]]) -> Tried:
    """Choose on all conversations but one, try on that one, for each in turn."""
    recalls: list[list[float]] = []
    weights: dict[str, Weights] = {}
    for i, left in enumerate(conversations):
        others = [asked for j, c in enumerate(conversations) if j != i for asked in c]
        chosen = method.choose(others)
        weights[left[0].ready.conversation.id] = chosen
        recalls += [_tried(method, asked, chosen) for asked in left]
    return Tried(method, np.array(recalls), weights)


def held_out(
    method: Method, development: Sequence[Sequence[Asked]], others: Sequence[Sequence[Asked]]
) -> Tried:
    """Choose on all development conversations, try on the others."""
    chosen = method.choose([asked for c in development for asked in c])
    recalls = [_tried(method, asked, chosen) for c in others for asked in c]
    return Tried(method, np.array(recalls), {"all": chosen})


def _tried(method: Method, asked: Asked, weights: Weights) -> list[float]:
    return recall(method.score(asked, weights), asked.question.evidence)
