"""Rankings put to the cards of several people, and one of them chosen by leaving a person out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pandas as pd

from course.data.files import data_path
from course.data.maya import COURSE_NOW, load_practice, maya_cards
from course.data.realmem import Persona
from memlib.cards import COLUMNS, load_cards, load_questions, parse_field
from memlib.checks import Floats
from memlib.embedders.protocol import Embedder, Vectors
from memlib.evaluation import expected_recall
from memlib.progress import progress
from memlib.retrieval import PRESETS, SIMILARITY, Index, Ranking

KS = (3, 5, 10, 20)
CHOSEN_AT = (3, 5, 10)  # what goes into a prompt; the mean of the three decides
RRF_KS = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 100.0)
BASELINE = "similarity"
FADED = ("sum 0.9/0.1, words", "sum 0.8/0.2, words", "sum 0.8/0.2, stem")
DIGITS = 9  # of a score: cards that are alike score alike


class Wish(NamedTuple):
    """A question: which rows are there when it is asked (the first `seen`), and which it wants."""

    text: str
    wanted: tuple[int, ...]
    seen: int
    asked_at: datetime


@dataclass(frozen=True)
class Person:
    """Cards as a bare import brings them (id, text, date), their vectors, questions and theirs."""

    id: str
    cards: pd.DataFrame
    vectors: Vectors
    wishes: tuple[Wish, ...]
    queries: Vectors


def _sums() -> Iterator[tuple[str, Ranking]]:
    """Sums of meaning and words, and recency counted from creation beside them."""
    for tokenizer in ("stem", "words"):
        for words in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            parts = Ranking(relevance=round(1 - words, 1), bm25=words, tokenizer=tokenizer)
            name = f"{parts.relevance}/{words}, {tokenizer}"
            yield f"sum {name}", parts
            yield f"z-score sum {name}", replace(parts, normalizer="z-score")
        for k in RRF_KS:
            fused = Ranking(bm25=1.0, fusion="RRF", rrf_k=k, tokenizer=tokenizer)
            yield f"RRF k = {k:g}, {tokenizer}", fused


def _fading(base: Mapping[str, Ranking]) -> Iterator[tuple[str, Ranking]]:
    for name, ranking in base.items():
        for weight in (0.05, 0.1, 0.2, 0.3):
            for days in (30.0, 180.0, 730.0):
                faded = replace(ranking, recency=weight, half_life_days=days, clock="creation")
                yield f"{name} + {weight} recency, {days:g} days", faded


_SUMS = dict(_sums())
_WORDS = Ranking(relevance=0.0, bm25=1.0, normalizer="none", threshold=1e-9)
CANDIDATES: Mapping[str, Ranking] = {  # the simpler first: of equal ones it is taken
    BASELINE: SIMILARITY,
    "BM25, stem": _WORDS,
    "BM25, words": replace(_WORDS, tokenizer="words"),
    **_SUMS,
    **dict(_fading({BASELINE: SIMILARITY} | {n: _SUMS[n] for n in FADED})),
    **{name: PRESETS[name] for name in ("three parts", "RRF", "server")},
}


def bare(cards: pd.DataFrame) -> pd.DataFrame:
    """The same cards with text and created_at alone; everything else is at its default."""
    unknown = {
        name: parse_field(name, "") for name in COLUMNS if name not in ("text", "created_at")
    }
    rows = [unknown] * len(cards)
    return cards[["text", "created_at"]].join(pd.DataFrame(rows, index=cards.index))


def course_people(embedder: Embedder) -> list[Person]:
    """Maya with her practice questions, and Anneke with the questions on facts that change.

    Raises what the embedder raises.
    Source: data/practice.csv, data/superseded.csv; both were written before any ranking saw them.
    """
    anneke = (
        load_cards(data_path("superseded_cards.csv")),
        load_questions(data_path("superseded.csv")),
    )
    people = {"Maya": (maya_cards(), load_practice()[0]), "Anneke": anneke}
    return [
        _person(
            name,
            cards,
            [(q, w) for q, w in zip(asked["question"], asked["wanted"], strict=True)],
            embedder,
        )
        for name, (cards, asked) in people.items()
    ]


def _person(
    name: str, cards: pd.DataFrame, asked: Sequence[tuple[str, tuple[str, ...]]], embedder: Embedder
) -> Person:
    rows = {id: row for row, id in enumerate(cards.index)}
    wishes = tuple(
        Wish(text, tuple(rows[id] for id in wanted), len(cards), COURSE_NOW)
        for text, wanted in asked
    )
    return _embedded(name, bare(cards), wishes, embedder)


def realmem_people(personas: Sequence[Persona], embedder: Embedder) -> list[Person]:
    """RealMem's personas: a request sees the cards of earlier sessions.

    Raises what the embedder raises.
    """
    people = []
    for one in progress(personas, "vectors of RealMem"):
        wishes = tuple(Wish(r.text, r.wanted, r.seen, r.asked_at) for r in one.requests if r.wanted)
        people.append(_embedded(one.id, bare(one.cards), wishes, embedder))
    return people


def _embedded(
    name: str, cards: pd.DataFrame, wishes: tuple[Wish, ...], embedder: Embedder
) -> Person:
    queries = embedder.embed([wish.text for wish in wishes], role="query")
    return Person(name, cards, embedder.embed(list(cards["text"])), wishes, queries)


def person_recalls(
    person: Person, rankings: Mapping[str, Ranking], ks: Sequence[int] = KS
) -> Floats:
    """Recall of each ranking at each k, question by question, in percent.

    returns  shape (questions, rankings, ks); equal scores count as `expected_recall` counts them
    """
    found = np.empty((len(person.wishes), len(rankings), len(ks)))
    indexes: dict[int, Index] = {}
    for i, wish in enumerate(person.wishes):
        if wish.seen not in indexes:  # requests come in the order of sessions
            indexes = {
                wish.seen: Index(person.cards.iloc[: wish.seen], person.vectors[: wish.seen])
            }
        index = indexes[wish.seen]
        now = max(wish.asked_at, index.cards["created_at"].max())
        for j, ranking in enumerate(rankings.values()):
            served = index.served(wish.text, person.queries[i], ranking, now, max(ks))
            scores = served.round(DIGITS)
            found[i, j] = [100 * expected_recall(scores, wish.wanted, k) for k in ks]
    return found


class Choice(NamedTuple):
    """What was chosen without a person, and what it found for that person, beside the baseline."""

    left_out: str
    chosen: str
    recall: float
    baseline: float


def leave_a_person_out(means: pd.DataFrame) -> list[Choice]:
    """For each person the ranking that is best for all others; the mean over persons decides.

    means    persons × rankings: the mean recall of each, in percent
    returns  one Choice a person, in order; of equal rankings the first is taken
    """
    found = []
    for name in means.index:
        chosen = best(means.drop(name))
        own = means.loc[name]
        found.append(Choice(str(name), chosen, float(own[chosen]), float(own[BASELINE])))
    return found


def best(means: pd.DataFrame) -> str:
    """The ranking with the highest mean over persons; of equal ones the first."""
    return str(means.mean().round(DIGITS).idxmax())
