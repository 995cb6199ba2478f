"""Chapter 03's controls: give one card another rating; watch it climb or fall in table (c)."""

from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from course.widgets import parts
from memlib.checks import Floats, numbers
from memlib.importance import HIGHEST_RATING, LOWEST_RATING, UNRATED
from memlib.ranking import INJECTED, ThreeParts, rank_order, three_part_score

RATINGS = tuple(range(LOWEST_RATING, HIGHEST_RATING + 1))


def rank_by_rating(
    card: str, cards: pd.DataFrame, relevance: ArrayLike, recency: ArrayLike
) -> list[int]:
    """The rank of one card at each rating from 1 to 10, all other ratings as they are."""
    return [_ranks(_score(card, r, cards, relevance, recency), cards)[card] for r in RATINGS]


def entry(ranks: list[int]) -> str:
    """In words, which ratings put a card among those injected; `ranks` as from rank_by_rating.

    >>> entry([6, 6, 6, 6, 5, 3, 3, 3, 2, 2])
    'in the top three from rating 6 on'
    """
    inside = [rating for rating, rank in zip(RATINGS, ranks, strict=True) if rank <= INJECTED]
    if not inside:
        return "in the top three at no rating"
    if len(inside) == len(RATINGS):
        return "in the top three at every rating"
    return f"in the top three from rating {inside[0]} on"


def render(
    values: parts.Values, cards: pd.DataFrame, relevance: ArrayLike, recency: ArrayLike
) -> str:
    """Table (c) with the chosen card's new rating, who rose and fell, and where it would enter.

    values     card: an id; rating: from 1 to 10
    cards      needs the columns text and importance
    relevance, recency  shape (n,), raw
    """
    card, rating = values["card"], round(float(values["rating"]), 6)  # a slider's 4 is 3.9999...96
    if card not in cards.index:
        raise ValueError(f"card is {card!r}: no card has that id")
    old = _ratings(cards)
    before = _ranks(three_part_score(relevance, recency, old), cards)
    score = _score(card, rating, cards, relevance, recency)
    now = _ranks(score, cards)
    body = []
    for row in rank_order(score.total, cards.index):
        name, fact = cards.index[row], escape(str(cards["text"].iloc[row]))
        told = f"{old[row]:g}"
        if name == card:
            fact = f"<b>→ {fact}</b>"
            told = told if np.isclose(rating, old[row]) else f"{told} → <b>{rating:g}</b>"
        mark = "<b>inject</b>" if now[name] <= INJECTED else ""
        cells = [str(now[name]), parts.moved(before[name], now[name]), fact, told]
        body.append([*cells, *(f"{part[row]:.2f}" for part in score), mark])
    told = f"{cards['text'][card]} Rated {rating:g}: rank {now[card]}."
    caption = f"{told} ▲▼ against the hand rating."
    header = ("rank", "moved", "fact", "rating", "rel", "rec", "imp", "total", "")
    ranks = rank_by_rating(card, cards, relevance, recency)
    strip = [
        "rating " + " ".join(f"{value:>2}" for value in RATINGS),
        "rank   " + " ".join(f"{value:>2}" for value in ranks),
        entry(ranks),
    ]
    return parts.table(caption, header, body) + parts.worked("\n".join(strip))


def explore(
    cards: pd.DataFrame, relevance: ArrayLike, recency: ArrayLike, card: str | None = None
) -> Any:
    """The controls of chapter 03: choose a card, slide its rating; the slider starts at its own.

    card  the first one chosen; None means vegetarian, or the first card where that is not there
    """
    if cards.empty:
        raise ValueError("cards is empty: there is nothing to rate")
    if card is None:
        card = "vegetarian" if "vegetarian" in cards.index else str(cards.index[0])
    if card not in cards.index:
        raise ValueError(f"card is {card!r}: no card has that id")
    options = [(str(text), name) for name, text in cards["text"].items()]
    own = dict(zip(cards.index, _ratings(cards), strict=True))
    controls = {
        "card": parts.choice("card", options, card),
        "rating": parts.slider("its rating (1 to 10)", own[card], RATINGS[0], RATINGS[-1], 1),
    }

    def take_its_own(change: Any) -> None:
        controls["rating"].value = own[change["new"]]

    controls["card"].observe(take_its_own, names="value")
    return parts.panel(lambda values: render(values, cards, relevance, recency), controls)


def _ratings(cards: pd.DataFrame) -> Floats:
    given = cards["importance"].fillna(UNRATED)
    return numbers("importance", given, low=LOWEST_RATING, high=HIGHEST_RATING, ndim=1)


def _score(
    card: str, rating: float, cards: pd.DataFrame, relevance: ArrayLike, recency: ArrayLike
) -> ThreeParts:
    new = numbers("rating", rating, low=LOWEST_RATING, high=HIGHEST_RATING, ndim=0)
    return three_part_score(relevance, recency, np.where(cards.index == card, new, _ratings(cards)))


def _ranks(score: ThreeParts, cards: pd.DataFrame) -> dict[str, int]:
    order = rank_order(score.total, cards.index)
    return {str(cards.index[row]): rank for rank, row in enumerate(order, start=1)}
