"""One card's S as a waterfall: what lifts it, what lowers it, and where the threshold lies."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from course.show.plots import COLORS, HATCHES, Picture, axes
from memlib.checks import numbers
from memlib.ranking import THETA_KEEP
from memlib.retrieval import SERVER, Ranking
from memlib.tables import decimals


def contributions(
    card: "Mapping[str, Any] | pd.Series[Any]", ranking: Ranking = SERVER
) -> dict[str, float]:
    """What each part adds to a card's S, in the order in which the server names them.

    card      a row of `Librarian.explain`: dense, bm25_norm, tag_match, title_hit, recency,
              importance, usage, penalty
    ranking   as the librarian's, of the fusion "server"
    returns   eight numbers that add up to S at pick time; the last, for copies, is 0 or less
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, sections 1, 2.
    """
    about, final = ranking.relevance_weights, ranking.final_weights
    copies = ranking.copy_cost if ranking.diversity == "penalty" else 0.0
    return {
        "meaning": final.relevance * about.dense * max(0.0, card["dense"]),
        "words": final.relevance * about.bm25 * card["bm25_norm"],
        "tags": final.relevance * about.tags * card["tag_match"],
        "title": final.relevance * about.title * card["title_hit"],
        "recency": final.recency * card["recency"],
        "importance": final.importance * card["importance"],
        "usage": final.usage * card["usage"],
        "copies": 0.0 - copies * card["penalty"],
    }


def waterfall(steps: Mapping[str, float], threshold: float | None = THETA_KEEP) -> Picture:
    """Each step begins where the one before ended; the last bar is their sum, S.

    steps      name -> what it adds, below 0 if it takes away (hatched)
    threshold  a dashed line with its name above it, None for none
    Raises ValueError for no steps, or one that is not finite.

    >>> waterfall({"relevance": 0.3, "copies": -0.1}, threshold=0.35).sentence
    'Waterfall of S: relevance +0.300; copies -0.100; S 0.200, below the threshold 0.35.'
    """
    if not steps:
        raise ValueError("steps is empty: there is nothing to add up")
    size = numbers("steps", list(steps.values()), ndim=1)
    end = np.cumsum(size)
    start, total = end - size, float(end[-1])
    figure, ax = axes(height=1.0 + 0.32 * (len(size) + 1))
    for row, (at, width) in enumerate(zip(start, size, strict=True)):
        look: dict[str, Any] = {"color": COLORS[0]}
        if width < 0:
            look = {"color": COLORS[1], "hatch": HATCHES[1], "edgecolor": "white"}
        ax.barh(row, width, left=at, **look)
        ax.plot([at + width] * 2, [row, row + 1], color="black", linewidth=0.6)
        ax.annotate(f" {width:+.3f}", (max(at, at + width), row), va="center")
    ax.barh(len(size), total, color=COLORS[2])
    ax.annotate(f" {total:.3f}", (max(total, 0.0), len(size)), va="center")
    ax.set_yticks(range(len(size) + 1), [*steps, "S"])
    ax.invert_yaxis()
    ax.set_xlabel("S")
    ax.margins(x=0.12)
    said = f"S {decimals(np.array([total]), 3)[0]}"
    if threshold is not None:
        ax.axvline(threshold, color="black", linestyle="--", linewidth=1)
        above, name = ("data", "axes fraction"), f"threshold {threshold:g}"
        ax.annotate(name, (threshold, 1.0), xycoords=above, ha="center", va="bottom")
        side = "below" if total < threshold else "not below"
        said += f", {side} the threshold {threshold:g}"
    told = "; ".join(f"{name} {value:+.3f}" for name, value in steps.items())
    return Picture(figure, f"Waterfall of S: {told}; {said}.")
