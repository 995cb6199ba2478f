"""Evaluation: does the ranking bring the right cards up?"""

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from math import fsum
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers, same_length, unmasked
from memlib.ranking import INJECTED, _count, rank_order

DRAWS = 10_000  # bootstrap resamples
DIGITS = 12  # of a score; the last bits of a sum are no difference


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
    Raises ValueError for a wanted card that is not among the ids, a question that wants nothing,
    a top_k below 1, or what `rank_order` refuses.
    Source: this course; "inject" marks the top three in *Scoring beyond similarity*, table (c).

    >>> exam = pd.DataFrame({"question": ["cat?"], "wanted": [("miso",)]}, index=["q01"])
    >>> sit_exam(exam, ["miso", "sam"], lambda question: [0.9, 0.1])["passed"].tolist()
    [True]
    """
    known = {name: row for row, name in enumerate(ids)}
    top_k = _count("top_k", top_k)
    ranks = []
    for number, question, wanted in zip(exam.index, exam["question"], exam["wanted"], strict=True):
        if isinstance(wanted, str) or not wanted:
            raise ValueError(f"exam {number} wants {wanted!r}: must be card ids, at least one")
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


def evidence_recall(order: ArrayLike, evidence: Collection[int], top_k: int) -> float:
    """Share of the cards that hold the answer which are among the first top_k.

    recall@k = |evidence ∩ first k| / |evidence|

    order     row numbers from best to worst, each once
    evidence  row numbers of the cards that hold the answer, at least one
    top_k     1 or more
    returns   in [0, 1]
    Raises ValueError for no evidence, a row that repeats, or a top_k below 1.
    Source: *Scoring beyond similarity*, What the lab found.

    >>> evidence_recall([4, 2, 0, 1, 3], {2, 3}, top_k=2)
    0.5
    """
    wanted = set(evidence)
    if not wanted:
        raise ValueError("evidence is empty: a question without evidence has no recall")
    if top_k < 1:
        raise ValueError(f"top_k is {top_k!r}: must be 1 or more")
    unmasked("order", order)
    rows = np.asarray(order).tolist()
    if len(set(rows)) < len(rows):
        again = next(at for at, row in enumerate(rows) if row in rows[:at])
        raise ValueError(f"order[{again}] is {rows[again]!r}: a row may occur only once")
    return len(wanted.intersection(rows[:top_k])) / len(wanted)


def expected_recall(scores: ArrayLike, evidence: Collection[int], top_k: int) -> float:
    """`evidence_recall` where no tie is decided: its mean over all orders of equal scores.

    recall@k = Σ over the evidence of min(1, max(0, (k − larger) / equal)) / |evidence|
    larger: cards that score more; equal: cards that score the same, with the card itself

    scores    shape (n,), compared to 12 decimals; −inf is a card that was not found, at any k
    evidence  row numbers of the cards that hold the answer, at least one
    top_k     1 or more
    returns   in [0, 1]
    Raises ValueError for no evidence, a row that is none, a top_k below 1, a score that is NaN.
    Source: McSherry and Najork 2008, Computing Information Retrieval Performance Measures
    Efficiently in the Presence of Tied Scores.

    >>> expected_recall([0.9, 0.2, 0.2, -np.inf], {1, 3}, top_k=2)  # one of two places, or never
    0.25
    """
    values = numbers("scores", scores, ndim=1, absent=True).round(DIGITS)
    wanted, k = set(evidence), _count("top_k", top_k)
    if not wanted:
        raise ValueError("evidence is empty: a question without evidence has no recall")
    for row in wanted:
        if not 0 <= row < len(values):
            raise ValueError(f"evidence holds row {row!r}: there are {len(values)} scores")
    shares = []
    for score in values[list(wanted)]:
        left = k - int((values > score).sum())
        found = score > -np.inf and left > 0
        shares.append(min(1.0, left / int((values == score).sum())) if found else 0.0)
    return fsum(shares) / len(wanted)


class Difference(NamedTuple):
    """A mean paired difference and its 95% percentile interval."""

    mean: float
    low: float
    high: float


def paired_bootstrap(
    first: ArrayLike, second: ArrayLike, draws: int = DRAWS, seed: int = 0
) -> Difference:
    """How sure is the difference between two methods, asked the same questions?

    mean of second - first; low and high: 2.5 and 97.5 percentiles over `draws` resamples of the
    questions

    first, second  shape (n,), one value a question, the same questions in the same order
    draws          resamples, 1 or more
    seed           of the generator: the same interval every time
    returns        Difference, in the unit of the values
    Raises ValueError for lengths that differ, no questions, a value not finite.
    Source: Efron and Tibshirani 1993, chapter 13. Questions of one conversation are not
    independent, so look at `signs_by_group` too.

    >>> paired_bootstrap([0, 0, 1, 1], [1, 1, 1, 1]).mean
    0.5
    """
    a, b = numbers("first", first, ndim=1), numbers("second", second, ndim=1)
    n = same_length(first=a, second=b)
    if n == 0:
        raise ValueError("first is empty: there is no question to compare")
    if draws < 1:
        raise ValueError(f"draws is {draws!r}: must be 1 or more")
    with np.errstate(over="ignore"):  # told as an error, not as a warning
        gaps = numbers("difference", b - a)
    places = int(np.frexp(np.abs(gaps).max())[1]) + n.bit_length() - 53
    whole = np.rint(np.ldexp(gaps, -places))  # so small that no sum of n of them is ever rounded
    sums = resample(n, draws, seed) @ whole
    found = np.array([whole.sum(), *np.percentile(sums, [2.5, 97.5])]) / n
    found[np.abs(found) <= 1] = 0.0  # what rounding to whole numbers may have made of 0
    return Difference(*np.ldexp(found, places).tolist())


@lru_cache(maxsize=4)
def resample(n: int, draws: int = DRAWS, seed: int = 0) -> Floats:
    """How often each of n questions is in each bootstrap draw: each row adds up to n.

    returns  shape (draws, n), whole numbers; `resample(n) @ differences / n` gives the draws' means
    Source: Efron and Tibshirani 1993: drawing with replacement is a multinomial count.

    >>> resample(4, draws=2).sum(axis=1)
    array([4., 4.])
    """
    rng = np.random.default_rng(seed)
    counts: Floats = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)
    counts.setflags(write=False)  # every caller is given the same array
    return counts


def signs_by_group(
    first: ArrayLike, second: ArrayLike, groups: Sequence[Hashable]
) -> tuple[int, int, int]:
    """In how many groups the second method is better, equal, worse, by the group's mean.

    first, second  shape (n,), one value a question
    groups         n labels, for example the conversation of each question
    returns        (better, equal, worse), adding up to the number of groups
    Raises ValueError for lengths that differ or a value not finite.
    Source: this course; conversations are the independent units, not questions.

    >>> signs_by_group([0, 0, 1], [1, 1, 1], ["a", "a", "b"])
    (1, 1, 0)
    """
    a, b = numbers("first", first, ndim=1), numbers("second", second, ndim=1)
    same_length(first=a, second=b, groups=groups)
    number = {label: i for i, label in enumerate(dict.fromkeys(groups))}
    codes = np.array([number[label] for label in groups], dtype=np.intp)
    means = pd.Series(b - a).groupby(codes).mean().round(12)
    return int((means > 0).sum()), int((means == 0).sum()), int((means < 0).sum())
