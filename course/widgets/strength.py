"""Chapter 09's widget: three kinds of strength over the exam's questions, against plain cosine."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from course.widgets import parts
from memlib import tables
from memlib.checks import Floats, numbers
from memlib.forgetting import usage
from memlib.ranking import rank_order
from memlib.similarity import cosine
from memlib.strength import (
    ALPHA,
    BETA,
    biased_cosine,
    bounded_strength,
    strength_of_vector,
    strength_slope,
)

VARIANTS = (
    ("the proposal: from the vector", "vector"),
    ("from use, in the proposal's formula", "use"),
    ("from use, bounded", "bounded"),
)
START: dict[str, Any] = {
    "variant": "vector",
    "alpha": ALPHA,
    "beta": BETA,
    "query": True,
    "size": 0.1,
}
ROWS = 8  # a long table is cut here, and says so


def strengths(values: parts.Values, cards: pd.DataFrame, vectors: ArrayLike) -> Floats:
    """Each card's strength under the chosen variant, shape (n,)."""
    if values["variant"] == "vector":
        return strength_of_vector(vectors, values["alpha"], values["beta"])
    used = usage(cards["views"], cards["cites"], cards["edits"])
    return numbers("strength", values["size"] * used)


def render(
    values: parts.Values, cards: pd.DataFrame, vectors: ArrayLike, queries: Mapping[str, ArrayLike]
) -> str:
    """The ranking with strengths, each card's move against plain cosine, and which way it pushes.

    values   question: a key of queries; variant: vector, use or bounded; alpha, beta: of the
             strength from a vector; query: whether the question has one; size: largest from use
    cards    needs the columns text, views, cites, edits;  vectors  shape (n, d)
    queries  question -> its vector, shape (d,)
    """
    query = numbers("query", queries[values["question"]], ndim=1)
    plain, strong = cosine(query, vectors), strengths(values, cards, vectors)
    if values["variant"] == "bounded":
        score = bounded_strength(plain, strong)
        said = "cos + s (1 - cos): a higher strength never lowers a score."
    else:
        own = strength_of_vector([query], values["alpha"], values["beta"])[0]
        bias = float(own) if values["query"] else 0.0
        score = biased_cosine(query, vectors, bias, strong)
        slope = strength_slope(query, bias)
        way = "raises every" if slope > 0 else "lowers every" if slope < 0 else "moves no"
        said = f"ΣB + n ε_B = {slope:.3f}: a higher strength {way} score."
    before = {row: rank for rank, row in enumerate(rank_order(plain, cards.index), start=1)}
    body = []
    for rank, row in enumerate(rank_order(score, cards.index)[:ROWS], start=1):
        shown = tables.decimals(np.array([score[row], plain[row], strong[row]]), 4)
        fact = escape(str(cards["text"].iloc[row]))
        body.append([str(rank), parts.moved(before[row], rank), *shown, fact])
    shift = score - plain
    low, high, best = tables.decimals(np.array([shift.min(), shift.max(), score.max()]), 4)
    caption = f"{said} Against plain cosine the scores move by {low} to {high}; "
    caption += f"highest score {best}."
    if len(score) > ROWS:
        caption += f" The first {ROWS} of {len(score)} cards."
    header = ("rank", "moved", "score", "cosine", "strength", "fact")
    return parts.table(caption, header, body)


def explore(cards: pd.DataFrame, vectors: ArrayLike, queries: Mapping[str, ArrayLike]) -> Any:
    """The controls over any set of cards and questions; ValueError if there is none of either."""
    if cards.empty or not queries:
        raise ValueError("cards or queries is empty: there is nothing to rank")
    units = np.asarray(vectors, dtype=float)
    controls = {
        "question": parts.choice("question", list(queries), next(iter(queries))),
        "variant": parts.choice("kind of strength", VARIANTS, START["variant"]),
        "alpha": parts.slider("alpha (vector)", START["alpha"], 0, 5, 0.05),
        "beta": parts.slider("beta (vector)", START["beta"], 0, 2, 0.05),
        "query": parts.choice(
            "the question's own", (("from its vector", True), ("none (0)", False)), START["query"]
        ),
        "size": parts.slider("largest from use", START["size"], 0, 0.9, 0.01),
    }

    def only_what_counts(_: Any = None) -> None:
        kind, asked = controls["variant"].value, controls["query"].value
        for name in ("alpha", "beta"):  # the question's own strength is always from its vector
            controls[name].disabled = kind == "bounded" or (kind == "use" and not asked)
        controls["query"].disabled = kind == "bounded"
        controls["size"].disabled = kind == "vector"

    for name in ("variant", "query"):
        controls[name].observe(only_what_counts, names="value")
    only_what_counts()
    return parts.panel(lambda values: render(values, cards, units, queries), controls)
