"""Evaluation: does the ranking bring the right cards up?"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.ranking import INJECTED, rank_order


def sit_exam(
    exam: pd.DataFrame,
    ids: Sequence[str] | pd.Index,
    score: Callable[[str], ArrayLike],
    top_k: int = INJECTED,
) -> pd.DataFrame:
    """Put every question of an exam to a way of scoring, and see where the wanted cards land.

    passed = every wanted card has a rank of at most top_k

    exam     indexed by id, with the columns question and wanted (tuple of card ids)
    ids      the n cards' ids
    score    question -> n scores, higher is better
    top_k    how many cards go into the prompt
    returns  exam's index; columns question, ranks (tuple, from 1, in the order of wanted), passed
    Raises ValueError for a wanted card that is not among the ids, or what `rank_order` refuses.
    Source: this course; "inject" marks the top three in *Scoring beyond similarity*, table (c).

    >>> exam = pd.DataFrame({"question": ["cat?"], "wanted": [("miso",)]}, index=["q01"])
    >>> sit_exam(exam, ["miso", "sam"], lambda question: [0.9, 0.1])["passed"].tolist()
    [True]
    """
    known = {name: row for row, name in enumerate(ids)}
    ranks = []
    for number, question, wanted in zip(exam.index, exam["question"], exam["wanted"], strict=True):
        for name in wanted:
            if name not in known:
                raise ValueError(f"exam {number} wants {name!r}: no card has that id")
        order = rank_order(score(question), ids)
        rank = np.empty(len(order), dtype=int)
        rank[order] = np.arange(1, len(order) + 1)
        ranks.append(tuple(int(rank[known[name]]) for name in wanted))
    return pd.DataFrame(
        {
            "question": exam["question"],
            "ranks": ranks,
            "passed": [max(found) <= top_k for found in ranks],
        },
        index=exam.index,
    )
