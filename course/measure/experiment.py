"""The fusion experiment: every weighting, text, tokenizer and entity reading, measured at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from course.data.dialogue import Conversation, turn_text
from memlib.bm25 import BM25, TOKENIZERS
from memlib.checks import Floats
from memlib.entity_boost import entity_boost, names_in
from memlib.fusion import reciprocal_rank_fusion
from memlib.normalization import min_max, z_score
from memlib.similarity import cosine_of_units

KS = (5, 10, 20, 30, 50, 75, 100)
READINGS = ("mentioned", "said")  # names that a turn mentions; who said it
NORMALIZERS = {"minmax": min_max, "zscore": z_score}
GRID = tuple(
    (d / 10, b / 10, (10 - d - b) / 10) for d in range(10, -1, -1) for b in range(10 - d, -1, -1)
)
METHODS = tuple(
    [(name, *weights) for name in NORMALIZERS for weights in GRID]
    + [("rrf2", np.nan, np.nan, np.nan), ("rrf3", np.nan, np.nan, np.nan)]
)
Vectors = NDArray[np.float32]


class Signals(NamedTuple):
    """What one question finds in one conversation: three scores a turn, and what matched."""

    dense: Floats
    bm25: Floats
    entity: Floats
    matched: NDArray[np.bool_]
    evidence: tuple[int, ...]


def measure_signals(
    conversation: Conversation,
    turns: Vectors,
    questions: Vectors,
    variant: str = "sc",
    tokenizer: str = "stem",
    reading: str = "said",
) -> list[Signals]:
    """Dense, BM25 and entity scores of every turn, for each question that has evidence.

    turns      (n, d) unit vectors of the turns' texts in this variant
    questions  (q, d) unit vectors of all the conversation's questions, in order
    returns    one Signals a question with evidence; idf, lengths and df are the conversation's own
    """
    cut = TOKENIZERS[tokenizer]
    index = BM25([cut(turn_text(turn, variant)) for turn in conversation.turns])
    names = conversation.speakers
    held = [
        {turn.speaker} if reading == "said" else set(names_in(turn.text, names))
        for turn in conversation.turns
    ]
    found = []
    for question, vector in zip(conversation.questions, questions, strict=True):
        if question.evidence:
            terms = cut(question.text)
            boost = entity_boost(names_in(question.text, names), held)
            dense = cosine_of_units(vector, turns)
            words, hit = index.scores(terms), index.matched(terms)
            found.append(Signals(dense, words, boost, hit, question.evidence))
    return found


def evidence_ranks(scores: Floats, evidence: Sequence[int]) -> NDArray[np.intp]:
    """Rank of each evidence turn under each method; equal scores go in turn order.

    scores   (m, n): m methods, n turns;  evidence  rows of e turns
    returns  (m, e), from 1
    """
    rows = np.asarray(evidence)
    own = scores[:, rows, None]
    larger = (scores[:, None, :] > own).sum(axis=2)
    earlier = np.arange(scores.shape[1]) < rows[:, None]
    tied = ((scores[:, None, :] == own) & earlier).sum(axis=2)
    ranks: NDArray[np.intp] = 1 + larger + tied
    return ranks


def grid_scores(found: Signals, normalizer: str = "minmax") -> Floats:
    """Scores of all 66 weightings: (66, n), each row as `fusion.weighted_sum` gives it."""
    scale = NORMALIZERS[normalizer]
    parts = [scale(found.dense), scale(found.bm25), scale(found.entity)]
    weights = np.array(GRID)
    total = weights[:, :1] * parts[0]
    total += weights[:, 1:2] * parts[1]
    total += weights[:, 2:] * parts[2]
    return total


def rrf_scores(found: Signals) -> Floats:
    """Scores of reciprocal rank fusion of two lists (dense, BM25) and of three: (2, n)."""
    lists, held = [found.dense, found.bm25], [None, found.matched]
    two = reciprocal_rank_fusion(lists, held)
    three = reciprocal_rank_fusion([*lists, found.entity], [*held, found.entity > 0])
    return np.array([two, three])


def measure_recalls(signals: Iterable[Signals], ks: Sequence[int] = KS) -> Floats:
    """Recall of every method of METHODS at every k, question by question, in percent.

    returns  (questions, methods, ks)
    """
    recalls = []
    for found in signals:
        scores = [grid_scores(found, name) for name in NORMALIZERS]
        ranks = evidence_ranks(np.concatenate([*scores, rrf_scores(found)]), found.evidence)
        recalls.append([(ranks <= k).mean(axis=1) for k in ks])
    return 100 * np.array(recalls).reshape(-1, len(ks), len(METHODS)).transpose(0, 2, 1)


def method_row(
    method: str, dense: float = np.nan, bm25: float = np.nan, entity: float = np.nan
) -> int:
    """Row of a method in METHODS, for example ("minmax", 0.8, 0.1, 0.1) or ("rrf3",)."""
    wanted = np.array([dense, bm25, entity])
    for row, (name, *weights) in enumerate(METHODS):
        if name == method and np.allclose(weights, wanted, atol=1e-9, equal_nan=True):
            return row
    raise ValueError(f"no method {method!r} with weights {dense}, {bm25}, {entity} was measured")
