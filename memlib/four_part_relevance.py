"""Relevance in four parts: meaning, words, tags and title."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from memlib.checks import Floats, finite_fields, numbers, same_length
from memlib.words import words

EXACT, PREFIX, NGRAM = 1.0, 0.5, 0.2  # Formulas, section 2 (4)


@dataclass(frozen=True)
class RelevanceWeights:
    """Weights of the four parts; defaults are M1's (Formulas, section 2)."""

    dense: float = 0.60
    bm25: float = 0.30
    tags: float = 0.05
    title: float = 0.05

    def __post_init__(self) -> None:
        finite_fields("weights", self)


def relevance(
    dense: ArrayLike,
    bm25_norm: ArrayLike,
    tag_match: ArrayLike,
    title_hit: ArrayLike,
    weights: RelevanceWeights = RelevanceWeights(),
) -> Floats:
    """Weighted sum of four parts, each in [0, 1].

    relevance = w_e · max(0, cos) + w_k · bm25_norm + w_t · tag_match + w_p · title_hit

    dense      shape (n,), cosines in [−1, 1]; below 0 counts as 0
    bm25_norm, tag_match, title_hit  shape (n,), in [0, 1]
    returns    shape (n,), in [0, 1] with M1's weights
    Raises ValueError for a part outside its range or lengths that differ.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 2.

    >>> relevance([0.5], [0.5], [0.0], [1.0]).round(2)
    array([0.5])
    """
    cosines = numbers("dense", dense, low=-1, high=1, ndim=1).clip(0, 1)
    named = {"bm25_norm": bm25_norm, "tag_match": tag_match, "title_hit": title_hit}
    unit = {k: numbers(k, v, low=0, high=1, ndim=1, like=dense) for k, v in named.items()}
    same_length(dense=cosines, **unit)
    words, tags, titles = unit.values()
    total: Floats = weights.dense * cosines + weights.bm25 * words
    return total + weights.tags * tags + weights.title * titles


def question_tags(question: str, tags: Collection[str]) -> frozenset[str]:
    """The store's tags that occur whole in a question.

    question  any text;  tags  one word or several each; both as `memlib.words` folds them
    returns   those of `tags` whose words stand in the question, side by side; where a script sets
              no spaces, those whose letters do
    Source: this course; *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*,
    section 2 (3), leaves open where a question's tags come from.

    >>> sorted(question_tags("What did the vet say?", ["vet", "pets", "say cheese"]))
    ['vet']
    """
    asked = f" {' '.join(words(question, gram=1))} "
    cut = {tag: words(tag, gram=1) for tag in tags}
    return frozenset(tag for tag in cut if cut[tag] and f" {' '.join(cut[tag])} " in asked)


def tag_match(question_tags: Collection[str], tags: Sequence[Collection[str]]) -> Floats:
    """Overlap of a question's tags with each card's: Jaccard.

    tag_match = |T_q ∩ T_m| / |T_q ∪ T_m|; 0 where either side is empty

    question_tags  as `question_tags` finds them
    tags           n collections
    returns        shape (n,), in [0, 1]
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 2 (3).

    >>> tag_match({"vet"}, [("vet", "pets"), ("vet",), ()])
    array([0.5, 1. , 0. ])
    """
    asked = set(question_tags)
    return np.array(
        [len(asked & set(t)) / len(asked | set(t)) if asked and t else 0.0 for t in tags],
        dtype=np.float64,
    )


def title_hit(question: str, titles: Sequence[str]) -> Floats:
    """How well a card's title answers to the question's words.

    title_hit = min(1, 1.0 · exact + 0.5 · prefix + 0.2 · n-gram), on words as `memlib.words`
    folds them, without stemming:
    exact: the same words; prefix: the title starts with the question (so an exact hit is one too);
    n-gram: a word pair in common, or a one-word title that stands in the question

    titles   n texts, empty ones give 0
    returns  shape (n,), in [0, 1]
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 2 (4);
    clamped as its section 9 asks of every part.

    >>> title_hit("door code", ["Door code", "Door code, back", "Code"]).round(2)
    array([1. , 0.7, 0.2])
    """
    asked = words(question)
    return np.array([min(1.0, _title(asked, words(title))) for title in titles], dtype=np.float64)


def _title(asked: list[str], title: list[str]) -> float:
    if not asked or not title:
        return 0.0
    pairs = set(pairwise(asked)) & set(pairwise(title))
    alone = len(title) == 1 and title[0] in asked
    prefix = title[: len(asked)] == asked
    return EXACT * (title == asked) + PREFIX * prefix + NGRAM * (bool(pairs) or alone)
