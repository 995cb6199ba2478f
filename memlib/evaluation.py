"""Evaluation: does the ranking bring the right cards up?"""

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from math import atan, cos, fsum, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers, same_length, unmasked
from memlib.ranking import INJECTED, _count, rank_order

DRAWS = 10_000  # bootstrap resamples
DIGITS = 12  # of a score; the last bits of a sum are no difference
FEWEST_GROUPS = 6  # with fewer, show the groups and give no verdict
ALPHA = 0.05


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
    means = group_means(first, second, groups)
    return int((means > 0).sum()), int((means == 0).sum()), int((means < 0).sum())


class Grouped(NamedTuple):
    """A mean difference over groups, its 95% t interval, its p, and the groups' own means."""

    mean: float
    low: float
    high: float
    p: float
    means: tuple[float, ...]


def group_means(first: ArrayLike, second: ArrayLike, groups: Sequence[Hashable]) -> Floats:
    """Each group's mean of second - first, in the order in which the groups first occur.

    first, second  shape (n,), one value a question, the same questions in the same order
    groups         n labels, for example the conversation of each question
    returns        shape (k,), one value a group, to 12 decimals
    Raises ValueError for lengths that differ or a value not finite.
    Source: this course; questions of one conversation or person are not independent.

    >>> group_means([0, 0, 1], [1, 0, 1], ["a", "a", "b"])
    array([0.5, 0. ])
    """
    a, b = numbers("first", first, ndim=1), numbers("second", second, ndim=1)
    same_length(first=a, second=b, groups=groups)
    number = {label: i for i, label in enumerate(dict.fromkeys(groups))}
    codes = np.array([number[label] for label in groups], dtype=np.intp)
    means = pd.Series(b - a).groupby(codes).mean().round(DIGITS)
    return np.asarray(means + 0.0, dtype=np.float64)


def grouped_difference(first: ArrayLike, second: ArrayLike, groups: Sequence[Hashable]) -> Grouped:
    """How sure is the difference between two methods, if not questions but groups are independent?

    mean over the k groups of each group's mean of second - first;
    low, high = mean ± t · sd / √k, t the 97.5% point of Student's t with k - 1 degrees of freedom

    first, second  shape (n,), one value a question, the same questions in the same order
    groups         n labels of two groups or more, each counts the same however many its questions
    returns        Grouped, in the unit of the values; p is two-sided, of no difference
    Raises ValueError for lengths that differ, one group alone, a value not finite.
    Source: Student 1908; Sakai 2018, Laboratory Experiments in Information Retrieval, chapter 2.

    >>> found = grouped_difference([0, 0, 0, 0], [1, 3, 2, 4], ["a", "a", "b", "c"])
    >>> found.means, round(found.mean, 2), round(found.low, 2), round(found.high, 2)
    ((2.0, 2.0, 4.0), 2.67, -0.2, 5.54)
    """
    means = group_means(first, second, groups)
    k = len(means)
    if k < 2:
        raise ValueError(f"groups holds {k} label(s): one group has no spread, give two")
    mean, error = fsum(means) / k, float(means.std(ddof=1)) / sqrt(k)
    reach = t_point(0.95, k - 1) * error
    p = 1 - t_inside(abs(mean) / error, k - 1) if error else float(mean == 0)
    return Grouped(mean, mean - reach, mean + reach, p, tuple(means.tolist()))


def t_inside(t: float, freedom: int) -> float:
    """How likely Student's t is to lie between -t and t.

    with θ = atan(t / √ν): odd ν: 2/π · (θ + sin θ · (cos θ + 2/3 cos³θ + 2·4/(3·5) cos⁵θ + …)),
    even ν: sin θ · (1 + 1/2 cos²θ + 1·3/(2·4) cos⁴θ + …), up to cos^(ν - 2)

    t        0 or more;  freedom  ν, 1 or more
    returns  in [0, 1]
    Raises ValueError for a t below 0, or no degree of freedom.
    Source: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4.

    >>> round(t_inside(2.4469, 6), 4)
    0.95
    """
    value, nu = float(numbers("t", t, low=0, ndim=0)), _count("freedom", freedom)
    angle, odd = atan(value / sqrt(nu)), nu % 2
    term = cos(angle) if odd else 1.0
    terms = [term] if nu > 1 else []
    for power in range(2 + odd, nu - 1, 2):
        term *= (power - 1) / power * cos(angle) ** 2
        terms.append(term)
    rest = sin(angle) * fsum(terms)
    return 2 / pi * (angle + rest) if odd else rest


def t_point(level: float, freedom: int) -> float:
    """Between which -t and t Student's t lies with this probability: `t_inside` turned around.

    level    in [0, 1);  freedom  1 or more
    returns  0 or more, to 12 digits, by halving
    Raises ValueError for a level outside [0, 1), or no degree of freedom.
    Source: Student 1908.

    >>> round(t_point(0.95, 6), 4), round(t_point(0.95, 1), 3)
    (2.4469, 12.706)
    """
    wanted = float(numbers("level", level, low=0, ndim=0))
    if wanted >= 1:
        raise ValueError(f"level is {wanted!r}: must be below 1")
    low, high = 0.0, 1.0
    while t_inside(high, freedom) < wanted:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_inside(middle, freedom) < wanted else (low, middle)
    return high


def cluster_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    groups: Sequence[Hashable],
    draws: int = DRAWS,
    seed: int = 0,
) -> Difference:
    """The difference's interval when whole groups are drawn anew; too narrow for few of them.

    mean of the groups' mean differences; low and high: 2.5 and 97.5 percentiles over `draws`
    resamples of the groups

    first, second, groups  as for `grouped_difference`
    draws, seed            as for `paired_bootstrap`
    returns                Difference, in the unit of the values
    Raises ValueError for what `group_means` refuses, no group, or draws below 1.
    Source: Cameron, Gelbach and Miller 2008: with 7 to 10 groups it is too narrow to decide.

    >>> cluster_bootstrap([0, 0, 0], [1, 2, 6], ["a", "b", "c"])
    Difference(mean=3.0, low=1.0, high=6.0)
    """
    means = group_means(first, second, groups)
    if not len(means):
        raise ValueError("groups is empty: there is nothing to draw")
    if draws < 1:
        raise ValueError(f"draws is {draws!r}: must be 1 or more")
    drawn = (resample(len(means), draws, seed) * means).sum(axis=1) / len(means)
    return Difference(fsum(means) / len(means), *np.percentile(drawn, [2.5, 97.5]).tolist())


def holm(p: ArrayLike) -> Floats:
    """p values that allow for how many were tried: the least gets the largest factor.

    of m sorted p: adjusted pᵢ = max over j ≤ i of min(1, (m - j + 1) · pⱼ)

    p        shape (m,), in [0, 1]
    returns  shape (m,), in the order given, in [0, 1]
    Raises ValueError for a p outside [0, 1].
    Source: Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.

    >>> holm([0.04, 0.01, 0.5])
    array([0.08, 0.03, 0.5 ])
    """
    values = numbers("p", p, low=0, high=1, ndim=1)
    order = np.argsort(values, kind="stable")
    steps = np.minimum(1, values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def group_verdict(difference: Grouped, p: float | None = None) -> str:
    """What a difference over groups lets one say.

    "better": the interval is above 0, all groups but at most one are above 0, and p is at most
    0.05; "worse": the same below; "too few groups" under six; everything else "within noise"

    p        after a correction for how many were tried (`holm`); None: the difference's own
    returns  one of the four
    Raises ValueError for a p outside [0, 1].
    Source: this course; the signs guard against one group that decides alone.

    >>> means = (1.0, 2.0, 1.5, 2.5, 1.0, 0.0)
    >>> group_verdict(grouped_difference([0] * 6, means, range(6)))
    'better'
    """
    p = difference.p if p is None else float(numbers("p", p, low=0, high=1, ndim=0))
    if len(difference.means) < FEWEST_GROUPS:
        return "too few groups"
    for word, sign in (("better", 1), ("worse", -1)):
        against = sum(sign * mean <= 0 for mean in difference.means)
        beyond = difference.low > 0 if sign > 0 else difference.high < 0
        if beyond and against <= 1 and p <= ALPHA:
            return word
    return "within noise"
