"""One configuration's ranking of cards for a question: every part, who is picked, and why."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from course.playground.configuration import NORMALIZERS, Settings
from memlib.bm25 import BM25, TOKENIZERS, saturate
from memlib.cards import names_on
from memlib.checks import Floats, same_length
from memlib.entity_boost import entity_boost, names_in
from memlib.fusion import reciprocal_rank_fusion, weighted_sum
from memlib.importance import from_rating
from memlib.ranking import pick_diverse, rank_order
from memlib.recency import (
    HALF_LIFE_DAYS,
    age_hours,
    decay_per_hour,
    recency,
    recency_by_half_life,
)
from memlib.similarity import cosine_of_units, dots

MATCHING = ("names", "bm25")  # in RRF their lists hold only the cards that they match
PICKED, BELOW, LATER = "picked", "below the threshold", "not among the first"
FEW = 200  # cards by S that are looked at first when diversity picks


def rank(
    cards: pd.DataFrame,
    vectors: NDArray[np.float32],
    question: str,
    query: NDArray[np.float32],
    settings: Settings,
    now: datetime,
    top_k: int = 10,
) -> pd.DataFrame:
    """Every card with what each part adds to its S, first those picked in their order.

    cards, vectors  n cards and their unit vectors (n, d);  query  (d,), the question's
    returns  indexed by id: text; relevance, recency, importance, names, bm25 (what each adds); S,
             their sum; likeness to a card picked before; copies, what that costs in picking; at, S
             at pick time; why; listed: among the first top_k, whether the threshold keeps it or not
    Raises ValueError for what the formulas refuse.
    """
    return Prepared(cards, vectors, now).rank(question, query, settings, top_k)


class _Asked(NamedTuple):
    """What depends on the question alone; BM25 by tokenizer, as it is asked for."""

    question: str
    query: bytes
    relevance: Floats
    names: Floats
    bm25: dict[str, Floats]


class Prepared:
    """Cards made ready once, so that moving a weight costs no more than a sum and a sort."""

    def __init__(self, cards: pd.DataFrame, vectors: NDArray[np.float32], now: datetime) -> None:
        same_length(cards=cards, vectors=vectors)
        self.cards, self.vectors = cards, np.asarray(vectors, dtype=np.float32)
        self.hours = age_hours(cards["created_at"], cards["last_accessed_at"], now)
        self.importance = from_rating(cards["importance"].to_numpy())
        self.names = names_on(cards["entities"], {})
        self._known = sorted(set().union(*self.names))
        self._index: dict[str, BM25] = {}
        self._asked: _Asked | None = None

    def rank(
        self, question: str, query: NDArray[np.float32], settings: Settings, top_k: int = 10
    ) -> pd.DataFrame:
        """What the function `rank` returns."""
        parts = self.contributions(question, query, settings)
        score = sum(parts.values(), start=np.zeros(len(self.cards)))
        order = rank_order(score, self.cards.index)
        rows, at, likeness = self._pick(score, order, settings, top_k)
        low = -np.inf if settings.threshold is None else settings.threshold
        alike, s_at, listed = np.zeros(len(score)), score.copy(), np.zeros(len(score), dtype=bool)
        alike[rows], s_at[rows], listed[rows] = likeness, at, True
        why = np.full(len(score), LATER, dtype=object)
        why[rows] = [PICKED if s >= low else f"{BELOW} {low:g}" for s in at]
        for row in order[:top_k][~listed[order[:top_k]]]:  # first by S, yet passed over
            near = dots(self.vectors[rows], self.vectors[row])
            twin = self.cards.index[rows[int(near.argmax())]]
            why[row] = f"too much like {twin} ({near.max():.2f})"
        places = np.concatenate([rows, order[~listed[order]]])
        table = {"text": self.cards["text"].to_numpy(), **parts, "S": score, "likeness": alike}
        table |= {"copies": 0.0 - _cost(settings) * alike, "at": s_at, "why": why, "listed": listed}
        columns = {name: values[places] for name, values in table.items()}
        return pd.DataFrame(columns, index=self.cards.index[places])

    def contributions(
        self, question: str, query: NDArray[np.float32], settings: Settings
    ) -> dict[str, Floats]:
        """What each part adds to S: memlib's own fusion, of that part alone."""
        asked, weights = self._ask(question, query), settings.weights()
        raw = {"relevance": asked.relevance, "recency": self.recency(settings)}
        raw |= {"importance": self.importance, "names": asked.names}
        raw["bm25"] = self._words(asked, settings.tokenizer)
        if settings.fusion == "RRF":
            return _by_ranks(raw, weights)
        if settings.normalizer == "none":
            raw["bm25"] = saturate(raw["bm25"])
        scale = NORMALIZERS[settings.normalizer]
        return {name: weighted_sum({name: raw[name]}, {name: weights[name]}, scale) for name in raw}

    def recency(self, settings: Settings) -> Floats:
        """Freshness in the form of decay that is set."""
        days, pinned = settings.half_life_days, self.cards["pinned"].to_numpy()
        if settings.decay == "per hour":
            return recency(self.hours, decay_per_hour(days))
        if settings.decay == "half-life":
            return recency_by_half_life(self.hours / 24, days, pinned)
        share = days / HALF_LIFE_DAYS["episodic"]
        lives = [HALF_LIFE_DAYS[kind] * share for kind in self.cards["kind"]]
        return recency_by_half_life(self.hours / 24, lives, pinned)

    def finds_names(self, question: str, query: NDArray[np.float32]) -> bool:
        """Whether the question holds a name that a card lists."""
        return bool(self._ask(question, query).names.any())

    def _ask(self, question: str, query: NDArray[np.float32]) -> _Asked:
        key = np.asarray(query).tobytes()
        if self._asked is None or (self._asked.question, self._asked.query) != (question, key):
            if not question.strip():
                raise ValueError("the question is empty: type one and press Enter")
            boost = entity_boost(names_in(question, self._known), self.names)
            similar = cosine_of_units(query, self.vectors)
            self._asked = _Asked(question, key, similar, boost, {})
        return self._asked

    def _words(self, asked: _Asked, tokenizer: str) -> Floats:
        cut = TOKENIZERS[tokenizer]
        if tokenizer not in self._index:
            self._index[tokenizer] = BM25([cut(t) for t in self.cards["text"]], variant="lucene")
        if tokenizer not in asked.bm25:
            asked.bm25[tokenizer] = self._index[tokenizer].scores(cut(asked.question))
        return asked.bm25[tokenizer]

    def _pick(
        self, score: Floats, order: NDArray[np.intp], settings: Settings, top_k: int
    ) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Rows, S at pick time and likeness, from as few of the best cards as suffice."""
        first = order[:top_k]
        if settings.diversity == "none":
            return first, score[first], np.zeros(len(first))
        how = settings.diversity, settings.w_duplicate, settings.mmr_lambda
        share = settings.mmr_lambda if settings.diversity == "mmr" else 1.0
        few = FEW
        while True:  # exact: nobody outside could have been worth more than the least picked
            near = order[:few]
            found = pick_diverse(
                score[near], self.vectors[near], self.cards.index[near], top_k, *how
            )
            rows = near[found.rows]
            worth = share * score[rows] - _cost(settings) * found.penalty
            if few >= len(order) or worth.min() > share * score[order[few]]:
                return rows, found.score, found.penalty
            few *= 50


def _by_ranks(raw: Mapping[str, Floats], weights: Mapping[str, float]) -> dict[str, Floats]:
    if not any(weights.values()):
        raise ValueError("every weight is 0: RRF needs at least one part above 0")
    none = np.zeros(len(raw["relevance"]))
    held = {name: values > 0 if name in MATCHING else None for name, values in raw.items()}
    return {
        name: reciprocal_rank_fusion([raw[name]], [held[name]]) if weights[name] else none
        for name in raw
    }


def _cost(settings: Settings) -> float:
    """What full likeness to a picked card costs in picking."""
    if settings.diversity == "penalty":
        return settings.w_duplicate
    return 1 - settings.mmr_lambda if settings.diversity == "mmr" else 0.0
