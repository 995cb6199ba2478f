"""Every idea of the course as one part of a score: what chapter 11 measures on LoCoMo."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from course.data.dialogue import Conversation, Question, turn_text
from course.measure.experiment import Vectors
from memlib.bm25 import BM25, stem
from memlib.checks import Floats
from memlib.entity_boost import entity_boost, names_in
from memlib.fusion import reciprocal_rank_fusion
from memlib.normalization import min_max
from memlib.ranking import THETA_KEEP, pick_diverse
from memlib.recency import HALF_LIFE_DAYS, recency, recency_by_half_life
from memlib.signals import (
    by_group,
    date_match,
    date_words,
    feedback_query,
    feedback_terms,
    group_smoothing,
    hubness,
    in_context,
    length_prior,
    neighbour_smoothing,
    speaker_match,
    time_words,
)
from memlib.similarity import cosine_of_units, dots
from memlib.strength import biased_cosine, strength_of_vector

DEEPEST = 50  # the largest k that is measured: diversity picks no further
SLOW_DAYS = HALF_LIFE_DAYS["semantic"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """What of a conversation is known before a question comes."""

    conversation: Conversation
    turns: Vectors
    context: Vectors
    variant: str = "sc"

    @cached_property
    def texts(self) -> list[str]:
        return [turn_text(turn, self.variant) for turn in self.conversation.turns]

    @cached_property
    def sessions(self) -> list[int]:
        return [turn.session for turn in self.conversation.turns]

    @cached_property
    def ids(self) -> list[str]:
        return [f"{row:05d}" for row in range(len(self.texts))]  # ties go in turn order

    @cached_property
    def tokens(self) -> list[list[str]]:
        return [stem(text) for text in self.texts]

    @cached_property
    def words(self) -> BM25:
        return BM25(self.tokens)

    @cached_property
    def flat_words(self) -> BM25:
        return BM25(self.tokens, k1=0.9, b=0.4)

    @cached_property
    def steep_words(self) -> BM25:
        return BM25(self.tokens, k1=2.0, b=1.0)

    @cached_property
    def dated_words(self) -> BM25:
        dates = [stem(date_words(turn.said_at)) for turn in self.conversation.turns]
        return BM25([held + date for held, date in zip(self.tokens, dates, strict=True)])

    @cached_property
    def context_words(self) -> BM25:
        return BM25([stem(text) for text in in_context(self.texts, self.sessions)])

    @cached_property
    def session_words(self) -> tuple[BM25, list[int]]:
        whole, rows = by_group(self.texts, self.sessions)
        return BM25([stem(text) for text in whole], variant="lucene"), rows

    @cached_property
    def speakers(self) -> list[str]:
        return [turn.speaker for turn in self.conversation.turns]

    @cached_property
    def mentioned(self) -> list[set[str]]:
        both = self.conversation.speakers
        return [set(names_in(turn.text, both)) for turn in self.conversation.turns]

    @cached_property
    def length(self) -> Floats:
        return length_prior([len(held) for held in self.tokens])

    @cached_property
    def hubs(self) -> Floats:
        return hubness(self.turns)

    @cached_property
    def time_words(self) -> Floats:
        return time_words([turn.text for turn in self.conversation.turns])

    @cached_property
    def hours(self) -> Floats:
        """Age of each turn when the last session began; all 0 where the file tells no times."""
        times = [turn.said_at for turn in self.conversation.turns if turn.said_at is not None]
        if len(times) < len(self.texts):
            return np.zeros(len(self.texts))
        return np.array([(max(times) - time).total_seconds() / 3600 for time in times])

    @cached_property
    def strengths(self) -> Floats:
        return strength_of_vector(self.turns)


Part = Callable[[Prepared, str, Vectors], Floats]


def _similarity(ready: Prepared, question: str, vector: Vectors) -> Floats:
    return cosine_of_units(vector, ready.turns)


def _asked(ready: Prepared, question: str) -> tuple[str, ...]:
    return names_in(question, ready.conversation.speakers)


def _bm25(ready: Prepared, question: str, vector: Vectors) -> Floats:
    return ready.words.scores(stem(question))


def _session_words(ready: Prepared, question: str, vector: Vectors) -> Floats:
    index, rows = ready.session_words
    return index.scores(stem(question))[rows]


def _first_search(ready: Prepared, question: str, vector: Vectors) -> Floats:
    found = min_max(_similarity(ready, question, vector))
    return 0.5 * found + 0.5 * min_max(_bm25(ready, question, vector))


def _feedback_vectors(ready: Prepared, question: str, vector: Vectors) -> Floats:
    first = _first_search(ready, question, vector)
    return dots(ready.turns, feedback_query(vector, ready.turns, first))


def _feedback_words(ready: Prepared, question: str, vector: Vectors) -> Floats:
    asked = stem(question)
    first = _first_search(ready, question, vector)
    return ready.words.scores(feedback_terms(ready.tokens, first, asked, ready.words.idf))


def _strength(ready: Prepared, question: str, vector: Vectors) -> Floats:
    own = float(strength_of_vector(vector[None])[0])
    return biased_cosine(vector, ready.turns, own, ready.strengths)


PARTS: dict[str, Part] = {
    "similarity": _similarity,
    "BM25": _bm25,
    "speaker match": lambda r, q, v: speaker_match(_asked(r, q), r.speakers),
    "BM25 in context": lambda r, q, v: r.context_words.scores(stem(q)),
    "similarity in context": lambda r, q, v: cosine_of_units(v, r.context),
    "BM25 of the session": _session_words,
    "length": lambda r, q, v: r.length,
    "date match": lambda r, q, v: date_match(q, [turn.said_at for turn in r.conversation.turns]),
    "time words": lambda r, q, v: r.time_words,
    "hubness": lambda r, q, v: r.hubs,
    "recency": lambda r, q, v: recency(r.hours),
    "slow recency": lambda r, q, v: recency_by_half_life(r.hours / 24, SLOW_DAYS),
    "strength": _strength,
    "names mentioned": lambda r, q, v: entity_boost(_asked(r, q), r.mentioned),
    "who said it": lambda r, q, v: entity_boost(_asked(r, q), [{name} for name in r.speakers]),
    "neighbour smoothing": lambda r, q, v: neighbour_smoothing(_similarity(r, q, v), r.sessions),
    "session smoothing": lambda r, q, v: group_smoothing(_similarity(r, q, v), r.sessions),
    "feedback on vectors": _feedback_vectors,
    "feedback on words": _feedback_words,
    "BM25 with dates": lambda r, q, v: r.dated_words.scores(stem(q)),
    "BM25, k1 0.9, b 0.4": lambda r, q, v: r.flat_words.scores(stem(q)),
    "BM25, k1 2, b 1": lambda r, q, v: r.steep_words.scores(stem(q)),
}
STACK = (  # in the order of the ladder
    *("similarity", "BM25", "speaker match", "BM25 in context", "similarity in context"),
    *("BM25 of the session", "length", "date match", "time words", "hubness"),
)


def part_row(name: str) -> int:
    """Which row of `Asked.parts` holds a part."""
    return list(PARTS).index(name)


@dataclass(frozen=True)
class Asked:
    """One question, measured: each part of PARTS, min-max normalised, and what each part found."""

    ready: Prepared
    question: Question
    parts: Floats  # (parts, n)
    matched: NDArray[np.bool_]  # (parts, n): which turns a ranked list of this part holds

    def part(self, name: str) -> Floats:
        row: Floats = self.parts[part_row(name)]
        return row


def ask(ready: Prepared, questions: Vectors) -> list[Asked]:
    """All parts of every question that has evidence; questions are unit vectors, in order.

    Raises ValueError if no question has evidence: such a conversation cannot be tried.
    """
    found = []
    for question, vector in zip(ready.conversation.questions, questions, strict=True):
        if question.evidence:
            raw = {name: part(ready, question.text, vector) for name, part in PARTS.items()}
            held = {name: values > 0 for name, values in raw.items()}
            held["similarity"] = np.ones(len(ready.texts), dtype=bool)
            held["BM25"] = ready.words.matched(stem(question.text))
            parts = np.array([min_max(values) for values in raw.values()])
            found.append(Asked(ready, question, parts, np.array(list(held.values()))))
    if not found:
        name = ready.conversation.id
        raise ValueError(f"conversation {name!r} has no question with evidence: nothing to try")
    return found


def rrf(asked: Asked, names: Sequence[str]) -> Floats:
    """Reciprocal rank fusion of parts; a list of words or names holds only what it matched."""
    rows = [part_row(name) for name in names]
    return reciprocal_rank_fusion(list(asked.parts[rows]), list(asked.matched[rows]))


def diverse(asked: Asked, scores: Floats, diversity: str) -> Floats:
    """The scores' order after MMR or the duplication penalty, as scores: the best n, then n − 1."""
    picked = pick_diverse(scores, asked.ready.turns, asked.ready.ids, DEEPEST, diversity)
    order = np.full(len(scores), -np.inf)
    order[picked.rows] = -np.arange(len(picked.rows), dtype=np.float64)
    return order


def above(scores: Floats, threshold: float = THETA_KEEP) -> Floats:
    """Scores below the threshold are out: they count as not found at any k."""
    return np.where(scores >= threshold, scores, -np.inf)
