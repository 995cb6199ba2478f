"""One form's ranking of all cards for a question, as the page shows it; the ranking is memlib's."""

from datetime import datetime

import numpy as np
import pandas as pd

from course.playground.configuration import PARTS, Form
from memlib.retrieval import ALIKE, BELOW, LATER, PICKED, Index, Vectors

__all__ = ["ALIKE", "BELOW", "LATER", "OUTSIDE", "PICKED", "rank"]
OUTSIDE = "no candidate"  # neither among the first by meaning nor among the first by words


def rank(
    index: Index, question: str, query: Vectors, form: Form, now: datetime, top_k: int = 10
) -> pd.DataFrame:
    """Every card: first those picked in their order, then the other candidates, then the rest.

    query    (d,), the question's vector
    returns  indexed by id: text; what each part adds; S, their sum; penalty, the largest cosine to
             a card picked before; copies, what that costs in picking; at, S at pick time; why;
             listed: among the first top_k, whether the threshold keeps it or not. What is no
             candidate has 0 in all of them
    Raises ValueError for what the formulas refuse.
    """
    ranking = form.ranking()
    told = index.rank(question, query, ranking, now, top_k)
    table = told[["text", *PARTS, "S", "penalty"]].assign(
        copies=0.0 - ranking.copy_cost * told["penalty"],
        at=told["at"],
        why=told["why"].replace(BELOW, f"{BELOW} {form.threshold or 0.0:g}"),
        listed=np.arange(len(told)) < top_k,
    )
    rest = index.cards[["text"]].drop(index=table.index)
    zeros = dict.fromkeys([*PARTS, "S", "penalty", "copies", "at"], 0.0)
    rest = rest.assign(**zeros, why=OUTSIDE, listed=False)
    return pd.concat([table, rest[table.columns]]) if len(rest) else table
