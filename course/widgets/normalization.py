"""Chapter 04's controls: a weight for each part and the decay rate; watch the cards reorder."""

from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from course.show import tables
from course.widgets import parts
from memlib.checks import Floats, numbers
from memlib.importance import HIGHEST_RATING, LOWEST_RATING, UNRATED
from memlib.ranking import INJECTED, rank_order, three_part_score
from memlib.recency import DECAY_PER_HOUR, half_life_days, recency

START = {"relevance": 1.0, "recency": 1.0, "importance": 1.0, "decay": DECAY_PER_HOUR}
NAMES = ("relevance", "recency", "importance")
ROWS = 20  # a long table is cut here, and says so


def _ranks(scores: Floats, ids: pd.Index) -> np.ndarray[Any, np.dtype[np.intp]]:
    ranks = np.empty(len(ids), dtype=np.intp)
    ranks[rank_order(scores, ids)] = np.arange(1, len(ids) + 1)
    return ranks


def render(
    values: parts.Values, cards: pd.DataFrame, relevance: ArrayLike, hours: ArrayLike
) -> str:
    """The ranking at these weights, who rose and fell, and the chosen row worked out by hand.

    values     relevance, recency, importance: weights, 0 or more; decay: in (0, 1]; card: an id
    cards      needs the columns text and importance
    relevance  shape (n,), raw;  hours  shape (n,), since last access
    """
    rel, age = numbers("relevance", relevance, ndim=1), numbers("hours", hours, low=0, ndim=1)
    given = cards["importance"].fillna(UNRATED)
    imp = numbers("importance", given, low=LOWEST_RATING, high=HIGHEST_RATING, ndim=1)
    weights = [values[name] for name in NAMES]
    fresh = recency(age, values["decay"])
    score = three_part_score(rel, fresh, imp, weights)
    start = three_part_score(rel, recency(age, START["decay"]), imp)
    before = _ranks(start.total, cards.index)
    order = rank_order(score.total, cards.index)
    full = max(sum(weights), 1e-9)
    level = len(order) > 1 and bool(np.ptp(score.total) == 0)
    body = []
    for rank, row in enumerate(order[:ROWS], start=1):
        pieces = {n: w * p[row] for n, w, p in zip(NAMES, weights, score[:3], strict=True)}
        mark = "<b>inject</b>" if rank <= INJECTED and not level else ""
        arrow = "" if level else parts.moved(int(before[row]), rank)
        fact = escape(str(cards["text"].iloc[row]))
        fact = f"<b>→ {fact}</b>" if cards.index[row] == values["card"] else fact
        cells = [str(rank), arrow, fact]
        cells += [f"{part[row]:.2f}" for part in score]
        body.append([*cells, parts.stacked(pieces, full), mark])
    said = ", ".join(f"{name} × {w:.2f}" for name, w in zip(NAMES, weights, strict=True))
    days = half_life_days(values["decay"])
    fades = "never fades" if np.isinf(days) else f"halves every {days:.1f} days"
    caption = f"{said}; recency {fades}. "
    if level:
        caption += f"All totals are {score.total[0]:.2f}: the order says nothing."
    else:
        caption += f"▲▼ against all weights 1, decay {START['decay']}."
    if len(order) > ROWS:
        caption += f" The first {ROWS} of {len(order)} cards."
    header = ("rank", "moved", "fact", "rel", "rec", "imp", "total", "weighted parts", "")
    chosen = list(cards.index).index(values["card"])
    by_hand = tables.worked_row(tables.work_out(chosen, rel, fresh, imp, weights))
    title = f"{cards['text'].iloc[chosen]}\n"
    return parts.legend(NAMES) + parts.table(caption, header, body) + parts.worked(title + by_hand)


def explore(cards: pd.DataFrame, relevance: ArrayLike, hours: ArrayLike) -> Any:
    """The controls of chapter 04 over any set of cards; ValueError if there is none."""
    if cards.empty:
        raise ValueError("cards is empty: there is nothing to rank")
    names = list(cards.index[rank_order(relevance, cards.index, top_k=200)])
    options = [(str(cards["text"][name]), name) for name in names]
    controls = {name: parts.slider(f"weight of {name}", START[name], 0, 3, 0.01) for name in NAMES}
    controls["decay"] = parts.slider("decay per hour", START["decay"], 0.9, 1, 0.0001)
    controls["card"] = parts.choice("work out by hand", options, names[0])
    return parts.panel(lambda values: render(values, cards, relevance, hours), controls)
