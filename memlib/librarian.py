"""The librarian: candidates, features, ranking, explanation and clocks over a store of cards."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memlib import forgetting
from memlib.importance import KIND_BOOST
from memlib.ranking import INJECTED, rank_order
from memlib.recency import HALF_LIFE_DAYS, age_hours, recency_by_half_life
from memlib.retrieval import DEFAULT, PICKED, Index, Ranking, server_importance
from memlib.server import canonical
from memlib.similarity import dots

ROUNDING = 1e-9  # of a probability: a card is due at the very moment it should be


class Embeds(Protocol):
    """What the librarian needs of an embedder."""

    @property
    def id(self) -> str: ...
    def embed(
        self, texts: Sequence[str], role: Literal["query", "document"] = "document"
    ) -> NDArray[np.float32]: ...


class Keeps(Protocol):
    """What the librarian needs of a store: live cards, their vectors, and single changes.

    reading    all that is read inside is one state of the store, whatever others change
    skip_gone  cards that were forgotten meanwhile are passed over; the ids of the others come back
    """

    @property
    def embedder_id(self) -> str | None: ...
    @property
    def revision(self) -> int: ...
    def reading(self) -> AbstractContextManager[None]: ...
    def cards(self, *, ids: Sequence[str] | None = None) -> pd.DataFrame: ...
    def vectors(self, ids: Sequence[str]) -> NDArray[np.float32]: ...
    def touch(self, ids: Sequence[str], now: datetime, *, skip_gone: bool) -> list[str]: ...
    def soft_forget(self, id: str, now: datetime) -> None: ...
    def purge(self, ids: Sequence[str], confirm: bool = False) -> None: ...
    def set_review(self, id: str, *values: Any, **counts: Any) -> None: ...


@dataclass(frozen=True)
class Settings:
    """How a librarian forgets and reviews; defaults are M1's. How it ranks is a `Ranking`."""

    half_life_days: Mapping[str, float] = field(default_factory=lambda: dict(HALF_LIFE_DAYS))
    forget: forgetting.ForgetWeights = forgetting.ForgetWeights()
    policy: forgetting.RetentionPolicy = forgetting.RetentionPolicy()
    review: forgetting.ReviewWeights = forgetting.ReviewWeights()

    def __post_init__(self) -> None:
        for kind in KIND_BOOST.keys() - self.half_life_days.keys():
            raise ValueError(f"settings.half_life_days has no {kind!r}")


class Librarian:
    """Searches a store, restarts the clocks of what it returns, forgets and reviews.

    store     what `Keeps` asks for;  embedder  what `Embeds` asks for: both are handed in
    ranking   how it searches; left out: similarity alone (`retrieval.DEFAULT`)
    settings  how it forgets and reviews; left out: M1's values
    Raises ValueError if the store's vectors come from another embedder.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, sections 7, 8.
    """

    def __init__(
        self,
        store: Keeps,
        embedder: Embeds,
        ranking: Ranking = DEFAULT,
        settings: Settings | None = None,
    ) -> None:
        if not isinstance(ranking, Ranking):
            raise ValueError(f"ranking is {ranking!r}: must be a Ranking")
        self.store, self.embedder = store, embedder
        self.ranking, self.settings = ranking, settings or Settings()
        self._index: tuple[int, Index] | None = None
        self._same_model()

    def explain(self, question: str, now: datetime, top_k: int = INJECTED) -> pd.DataFrame:
        """Every candidate with all parts, what it got and why: nothing is changed, no clock.

        returns  sorted: first the picked in order, then the rest by S; the columns of `features`,
                 then S at pick time, penalty and why
        """
        if not isinstance(question, str) or not question.strip():
            raise ValueError(f"question is {question!r}: must be a text that is not empty")
        query = self.embedder.embed([question], role="query")[0]
        with self.store.reading():  # the index and the cards in it, of one state
            return self._current_index().explain(
                question, query, self.ranking, now, top_k, self._current_cards
            )

    def search(self, question: str, now: datetime, top_k: int = INJECTED) -> pd.DataFrame:
        """The cards for the prompt, best first, with every part of their score.

        Score first, then only the returned cards' clocks restart and their views rise. Fewer than
        top_k, or none, is a right answer. It answers from one state of the store, whatever others
        change meanwhile; a card that they forget before its clock restarts is left out.
        """
        explained = self.explain(question, now, top_k)
        found = explained[explained["why"] == PICKED].drop(columns="why")
        if found.empty:
            return found
        return found.loc[self.store.touch(found.index.tolist(), now, skip_gone=True)]

    def forget_scores(self, now: datetime) -> pd.DataFrame:
        """ForgetScore of every live card and what the policy would do; changes nothing."""
        rules = self.settings
        with self.store.reading():
            cards = self.store.cards()
            vectors = _units(self.store.vectors(cards.index.tolist()))
        hours = age_hours(cards["created_at"], cards["last_accessed_at"], now)
        age = age_hours(cards["created_at"], [None] * len(cards), now) / 24
        half_lives = [rules.half_life_days[kind] for kind in cards["kind"]]
        pinned, weight = cards["pinned"].to_numpy(), server_importance(cards)
        table = pd.DataFrame({"text": cards["text"], "kind": cards["kind"]}, index=cards.index)
        table["recency"] = recency_by_half_life(hours / 24, half_lives, pinned)
        table["usage"] = forgetting.usage(cards["views"], cards["cites"], cards["edits"])
        table["dup_ratio"] = forgetting.duplicate_ratio(vectors, weight, age, cards.index.tolist())
        table["importance"] = weight
        parts = {name: table[name] for name in ("recency", "usage", "dup_ratio", "importance")}
        table["score"] = forgetting.forget_score(**parts, pinned=pinned, weights=rules.forget)
        kinds = cards["kind"].tolist()
        table["decision"] = forgetting.retention(table["score"], age, kinds, pinned, rules.policy)
        return table

    def sweep(self, now: datetime, confirm: bool = False) -> pd.DataFrame:
        """Apply the retention policy one card at a time, most at risk first.

        Soft-forgotten cards can be restored. Cards due for hard deletion are deleted only with
        confirm=True; without it they are listed and kept. Use is judged once, on the cards as they
        are now; likeness anew before each card, so of two copies one stays. A card that changed
        meanwhile, or that the store refuses to give up, is listed with done False.
        returns  the cards that were due, with score, decision and done
        """
        with self.store.reading():
            before, table, rules = self.store.cards(), self.forget_scores(now), self.settings
            vectors, left = _units(self.store.vectors(list(table.index))), np.ones(len(table), bool)
        age = age_hours(before["created_at"], [None] * len(before), now) / 24
        due = np.flatnonzero(table["decision"] != "keep")
        done: list[dict[Any, Any]] = []
        for row in due[rank_order(table["score"].iloc[due], table.index[due])]:
            card: dict[Any, Any] = table.iloc[row].to_dict()
            above = left & forgetting.outranks(
                table["importance"].to_numpy(), age, table.index, row
            )
            alike = max(0.0, *dots(vectors[above], vectors[row])) if above.any() else 0.0
            card["score"] += rules.forget.duplicate * (min(alike, 1.0) - card["dup_ratio"])
            pin, kind, days = before["pinned"].iloc[row], card["kind"], age[row]
            judged = forgetting.retention([card["score"]], [days], [kind], [pin], rules.policy)[0]
            if judged != "keep":
                try:
                    gone = self._let_go(before.iloc[[row]], judged, now, confirm)
                except RuntimeError:  # the store refused this card
                    if not done:  # nothing was changed yet, so nothing is lost by saying why
                        raise
                    gone = False
                left[row] = not gone
                id = table.index[row]
                done.append({"id": id, **card, "decision": judged, "done": gone})
        columns = ["id", "text", "kind", "score", "decision", "done"]
        return pd.DataFrame(done, columns=columns).set_index("id")

    def _let_go(self, card: pd.DataFrame, decision: str, now: datetime, confirm: bool) -> bool:
        """Forget or delete one card, if it is still as it was judged; whether it is gone."""
        id = str(card.index[0])
        if not self.store.cards(ids=[id]).equals(card):
            return False
        if decision == "soft":
            self.store.soft_forget(id, now)
        elif confirm:
            self.store.purge([id], confirm=True)
        return decision == "soft" or confirm

    def due(self, now: datetime) -> pd.DataFrame:
        """Cards whose recall probability has fallen to 0.7, the most faded first; changes nothing.

        returns  text and p_recall, indexed by id
        """
        cards = self.store.cards()
        since = age_hours(cards["created_at"], cards["last_review"], now) / 24
        chance = forgetting.recall_probability(since, cards["tau_days"].to_numpy())
        table = pd.DataFrame({"text": cards["text"], "p_recall": chance}, index=cards.index)
        late = table[table["p_recall"] <= forgetting.RECALL_DUE + ROUNDING]
        return late.iloc[rank_order(-late["p_recall"], late.index)]

    def reviewed(self, id: str, helpful: bool, now: datetime) -> float:
        """Record a review: τ moves by importance, use and how helpful the card has been.

        helpful  True or False, this review's verdict; it joins the counts since the last one
        returns  the new τ in days
        """
        if not isinstance(helpful, bool | np.bool_):
            raise ValueError(f"helpful is {helpful!r}: must be True or False")
        cards = self.store.cards()
        if id not in cards.index:
            raise ValueError(f"id is {id!r}: no live card has it")
        row = cards.index.get_loc(id)
        card: dict[Any, Any] = cards.iloc[row].to_dict()
        age_hours([card["created_at"]], [card["last_review"]], now)  # refuses a time that is past
        good, bad = card["helpful"] + int(helpful), card["bad"] + int(not helpful)
        used = float(forgetting.usage(cards["views"], cards["cites"], cards["edits"])[row])
        weight = float(server_importance(cards)[row])
        rates = good / (good + bad), bad / (good + bad)
        tau = forgetting.next_tau(card["tau_days"], weight, used, *rates, self.settings.review)
        last = None if pd.isna(card["interval_days"]) else int(card["interval_days"])
        days = forgetting.next_interval(last, weight, used)
        before = float(card["tau_days"])
        self.store.set_review(id, tau, now, days, helpful=0, bad=0, tau_before=before)
        return tau

    def _current_cards(self, ids: list[str] | None) -> pd.DataFrame:
        return self.store.cards() if ids is None else self.store.cards(ids=ids)

    def _current_index(self) -> Index:
        """Words, tags and vectors of all live cards, read anew when the store says they changed."""
        revision = self.store.revision
        if self._index is None or self._index[0] != revision:
            self._same_model()
            cards = self.store.cards()
            vectors = _units(self.store.vectors(cards.index.tolist()))
            self._index = revision, Index(cards, vectors)
        return self._index[1]

    def _same_model(self) -> None:
        held, mine = self.store.embedder_id, self.embedder.id
        if held not in (None, mine, canonical(mine)):
            said = f"the store's vectors come from {held}, the embedder is {mine}"
            todo = "embed the cards again with `memlib.store.reembed.reembed(store, embedder)`"
            raise ValueError(f"{said}: two models are never compared; {todo}")


def _units(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1: a store keeps vectors of any length, a cosine is of directions."""
    if not vectors.size:
        return vectors
    scaled = vectors / np.abs(vectors).max(axis=1, keepdims=True)  # squares of huge ones overflow
    length: NDArray[np.float32] = np.linalg.norm(scaled, axis=1, keepdims=True)
    units: NDArray[np.float32] = scaled / length
    return units
