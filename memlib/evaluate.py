"""One's own memory: the ways of ranking put to one's own questions, and what the answers prove."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from math import ceil

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.bm25 import regex, unicode
from memlib.checks import Floats, card_ids, numbers, same_length
from memlib.evaluation import (
    expected_recall,
    group_verdict,
    grouped_difference,
    paired_bootstrap,
)
from memlib.ranking import _count
from memlib.recency import CLOCK_SKEW_HOURS
from memlib.retrieval import PRESETS, RRF, SIMILARITY, THREE_PARTS, Index, Ranking, Vectors

BASELINE = "similarity alone"
KS = (1, 3, 5, 10)
FEWEST = 6  # fewer questions that differ prove nothing: all one way, a sign test's p is 0.06
Z_TEST, Z_POWER = 1.96, 0.84  # two-sided 5%, power 80%
SKEW = pd.Timedelta(hours=CLOCK_SKEW_HOURS)
ROUNDING = 1e-9
DIGITS = 9  # of a score: cards that are alike score alike, whatever row they are in


def _fading(days: float, weight: float = 1.0) -> Ranking:
    return Ranking(recency=weight, decay="half-life", half_life_days=days)


METHODS: Mapping[str, Ranking] = {
    "newest first": Ranking(
        *(0.0, 1.0), normalizer="none", half_life_days=730.0, candidates_dense=None
    ),
    BASELINE: SIMILARITY,
    "BM25": Ranking(relevance=0.0, bm25=1.0, normalizer="none", threshold=ROUNDING),
    "similarity + recency, 1 day": _fading(1.0),
    "similarity + recency, 5.76 days": _fading(THREE_PARTS.half_life_days),  # type: ignore[arg-type]
    "similarity + recency, 30 days": _fading(30.0),
    "similarity + recency, 180 days": _fading(180.0),
    "similarity + recency, 730 days": _fading(730.0),
    "similarity + 0.1 recency, 30 days": _fading(30.0, 0.1),
    "three parts, equal weights": THREE_PARTS,
    "three parts, relevance times 5": replace(THREE_PARTS, relevance=5.0),
    **{name: ranking for name, ranking in PRESETS.items() if name.startswith("weighted sum")},
    "RRF of similarity and BM25": RRF,
    "RRF of similarity, BM25, names": replace(RRF, names=1.0),
    **{name: ranking for name, ranking in PRESETS.items() if name.startswith("dated sum")},
    "the server's S": PRESETS["server"],
}
"""The ways of ranking that `evaluate` compares; each can be given to a `Librarian` as it stands.

Presets come from where `PRESETS` says. BM25 alone holds what it matched; newest first looks at
every card. The half-lives, the weight of 0.1 and relevance times 5 are this course's.
"""


def unread(texts: Sequence[str]) -> list[bool]:
    """Of which texts the English stemmer leaves words out that hold no letter a-z and no digit.

    texts    any texts
    returns  True or False for each
    Source: this course.

    >>> unread(["The cats", "Кот спит, iPhone", "Who is it?"])
    [False, True, False]
    """
    return [any(not word.isascii() and not regex(word) for word in unicode(text)) for text in texts]


def for_texts(methods: Mapping[str, Ranking], texts: Sequence[str]) -> dict[str, Ranking]:
    """The same rankings, by words of every script where the stemmer would leave too many out.

    texts    cards and questions
    returns  name -> ranking; "words" instead of "stem", if `unread` says so of a tenth of the texts
    Source: this course.

    >>> for_texts({"BM25": Ranking(bm25=1.0)}, ["Кот спит."])["BM25"].tokenizer
    'words'
    """
    cut = "words" if sum(unread(texts)) > len(texts) / 10 else "stem"
    return {
        name: replace(ranking, tokenizer=cut) if ranking.tokenizer == "stem" else ranking
        for name, ranking in methods.items()
    }


def scorer(
    cards: pd.DataFrame,
    vectors: Vectors,
    methods: Mapping[str, Ranking] = METHODS,
    top_k: int = KS[-1],
) -> Callable[[str, Vectors, datetime], dict[str, Floats]]:
    """Index the cards once; then rank them for a question as a librarian would, in every way.

    cards    n cards as `load_cards` gives them;  vectors  shape (n, d), unit length
    methods  name -> ranking
    top_k    how many are picked where a ranking is diverse
    returns  (question, its vector, now) -> name -> n scores, higher is better: what
             `Index.served` gives, to 9 digits, and −inf for a card that was made after now (five
             minutes of skew allowed). An access after that counts as none; other fields stay
    Raises ValueError for no cards, lengths that differ, a vector that is no unit vector, and what
    `Index` refuses.
    Source: this course; the rankings are those of `METHODS`.

    >>> from datetime import UTC
    >>> now = datetime(2025, 6, 11, tzinfo=UTC)
    >>> card = {"kind": "episodic", "created_at": now, "last_accessed_at": None, "importance": 5,
    ...         "pinned": False, "tags": (), "title": "", "entities": (), "views": 0, "cites": 0,
    ...         "edits": 0, "category": ""}
    >>> texts = ["Miso is a cat.", "Rent is due."]
    >>> cards = pd.DataFrame([card | {"text": text} for text in texts], index=["miso", "rent"])
    >>> score = scorer(cards, np.eye(2, dtype=np.float32))
    >>> score("Who is Miso?", np.float32([0.6, 0.8]), now)["BM25"].round(2)
    array([0.12, -inf])
    """
    if not len(cards):
        raise ValueError("cards is empty: there is nothing to rank")
    same_length(cards=cards, vectors=vectors)
    made = cards["created_at"].rank(method="max").to_numpy()
    everything = Index(cards, vectors)  # checks all of them

    @lru_cache(maxsize=2)
    def until(last: float, now: datetime) -> tuple[Index, np.ndarray]:
        rows = np.flatnonzero(made <= last)
        accessed = cards["last_accessed_at"]
        late = pd.to_datetime(accessed, utc=True) > now + SKEW
        if len(rows) == len(cards) and not late.any():
            return everything, rows
        seen = cards.assign(last_accessed_at=accessed.mask(late)).iloc[rows]
        return Index(seen, vectors[rows]), rows

    def score(question: str, vector: Vectors, now: datetime) -> dict[str, Floats]:
        seen = (cards["created_at"] <= now + SKEW).to_numpy()
        index, rows = until(float(made[seen].max(initial=0.0)), now)
        scores = {}
        for name, ranking in methods.items():
            scores[name] = np.full(len(cards), -np.inf)
            served = index.served(question, vector, ranking, now, top_k)
            scores[name][rows] = served.round(DIGITS)
        return scores

    return score


def recalls(
    exam: pd.DataFrame,
    ids: Sequence[str] | pd.Index,
    score: Callable[[str], Mapping[str, ArrayLike]],
    ks: Sequence[int] = KS,
) -> dict[int, pd.DataFrame]:
    """Put every question to every method and count the wanted cards among the first k.

    recall@k = |wanted ∩ first k| / |wanted|, as `expected_recall` counts it: what ids are called
    or which row a card is in decides nothing

    exam     indexed by id, with the columns question and wanted (card ids; twice counts once)
    ids      the n cards' ids
    score    question -> method -> n scores, the same methods for every question
    ks       one or more whole numbers, 1 or more; more than n is n
    returns  k -> DataFrame of questions × methods, each in [0, 1]; any rows of it are a group
    Raises ValueError for no questions, a wanted card that is not among the ids, methods that
    differ from question to question, a score that is not a number, lengths that differ.
    Source: *Scoring beyond similarity*, What the lab found (evidence recall).

    >>> exam = pd.DataFrame({"question": ["cat?"], "wanted": [("miso", "toy")]}, index=["q1"])
    >>> recalls(exam, ["miso", "sam", "toy"], lambda question: {"any": [3, 2, 1]}, ks=[2])[2]
        any
    q1  0.5
    """
    cards = card_ids(ids)
    where = {name: row for row, name in enumerate(cards)}
    depths = [_count(f"ks[{i}]", k) for i, k in enumerate(ks)]
    if exam.empty or not depths:
        raise ValueError(f"{'exam' if exam.empty else 'ks'} is empty: there is nothing to count")
    wanted = [_rows(name, held, where) for name, held in exam["wanted"].items()]
    found: dict[int, list[dict[str, float]]] = {k: [] for k in depths}
    first: Collection[str] | None = None
    for name, question, evidence in zip(exam.index, exam["question"], wanted, strict=True):
        scores = score(question)
        first = scores.keys() if first is None else first
        if list(scores) != list(first):
            raise ValueError(f"exam {name}: scored by {list(scores)}, before by {list(first)}")
        checked = {m: _scores(values, cards) for m, values in scores.items()}
        for k, rows in found.items():
            rows.append({m: expected_recall(x, evidence, k) for m, x in checked.items()})
    return {k: pd.DataFrame(rows, index=exam.index) for k, rows in found.items()}


def leaderboard(
    recalls: pd.DataFrame,
    baseline: str = BASELINE,
    ties: Sequence[pd.DataFrame] = (),
    groups: Sequence[Hashable] | None = None,
) -> pd.DataFrame:
    """Order the methods by recall, and say which differ from one of them by more than noise.

    difference = mean over the questions of recall(method) - recall(baseline), with its paired
    bootstrap interval; better: all of it above 0, worse: all of it below, and at least six
    questions differ; everything else is within noise

    recalls   questions × methods, each in [0, 1]: all of `recalls(...)[k]`, or some of its rows
    baseline  one of the methods
    ties      other such tables, as of smaller k: the first in which two differ puts them in order
    groups    a label a question, of two or more people or conversations: then these count one each,
              `grouped_difference` gives difference and interval, `group_verdict` the verdict
    returns   DataFrame indexed by method, best first (equal ones in the order of the columns):
              recall, difference, low, high in percent and points; better, equal, worse in
              questions, or in groups; verdict ("better", "worse", "within noise" or "baseline";
              "too few groups" under six)
    Raises ValueError for an unknown baseline, no questions, a recall outside [0, 1], one group.
    Source: Efron and Tibshirani 1993, chapter 13; the six are a sign test's at 5% (Conover 1999,
    chapter 3). With many methods some leave their interval by chance: one in twenty.

    >>> table = pd.DataFrame({"similarity alone": [0.0, 1.0], "BM25": [1.0, 1.0]})
    >>> board = leaderboard(table)
    >>> board["difference"].to_dict(), board.loc["BM25", "verdict"]
    ({'BM25': 50.0, 'similarity alone': 0.0}, 'within noise')
    """
    if baseline not in recalls:
        raise ValueError(f"baseline is {baseline!r}: must be one of {', '.join(map(str, recalls))}")
    if recalls.empty:
        raise ValueError("recalls has no rows: there is no question to compare")
    table = 100 * numbers("recalls", recalls.to_numpy(), low=0, high=1, ndim=2)
    start = table[:, recalls.columns.get_loc(baseline)]
    keys = [-other[recalls.columns].mean().to_numpy().round(9) for other in reversed(ties)]
    means, board = table.mean(axis=0), []
    for row in np.lexsort([*keys, -means.round(9)]):
        name, values = recalls.columns[row], table[:, row]
        gaps = np.round(values - start, 9)
        if groups is None:
            spread: Sequence[float] = paired_bootstrap(start, values)
            verdict = _by_question(spread, gaps)
        else:
            by_group = grouped_difference(start, values, groups)
            spread, gaps = by_group[:3], np.array(by_group.means)
            verdict = group_verdict(by_group)
        signs = [int(np.count_nonzero(np.sign(gaps) == s)) for s in (1, 0, -1)]
        verdict = "baseline" if name == baseline else verdict
        board.append((name, means[row], *spread, *signs, verdict))
    columns = ["method", "recall", "difference", "low", "high", "better", "equal", "worse"]
    return pd.DataFrame(board, columns=[*columns, "verdict"]).set_index("method")


def _by_question(spread: Sequence[float], gaps: Floats) -> str:
    _, low, high = spread
    if np.count_nonzero(gaps) < FEWEST:
        return "within noise"
    return "better" if low > ROUNDING else "worse" if high < -ROUNDING else "within noise"


def questions_needed(differences: ArrayLike, points: float = 2.0) -> int:
    """How many questions until a true difference of so many points would be seen.

    n = ((1.96 + 0.84) · sd / points)², rounded up: a paired test, two-sided 5%, power 80%

    differences  shape (q,), method - baseline, one a question, in points; 2 questions or more
    points       above 0, in the unit of the differences
    returns      1 or more; of few questions the spread, and so this number, is a rough guess
    Raises ValueError for fewer than two differences, points of 0 or below, a value not finite.
    Source: Cohen 1988, chapter 2 (paired observations; the normal approximation).

    >>> questions_needed([0, 0, 100, 0, -50, 0, 0, 100])
    5513
    """
    gaps = numbers("differences", differences, ndim=1)
    target = float(numbers("points", points, ndim=0))
    if target <= 0:
        raise ValueError(f"points is {target!r}: must be above 0")
    if len(gaps) < 2:
        raise ValueError(f"differences has {len(gaps)} value(s): one has no spread, give two")
    root = (Z_TEST + Z_POWER) * float(gaps.std(ddof=1)) / target
    needed = root * root
    if not np.isfinite(needed):
        raise ValueError(f"points is {target!r}: too small for these differences")
    return max(1, ceil(needed - ROUNDING))


def _rows(name: Hashable, wanted: Collection[str], where: Mapping[str, int]) -> set[int]:
    if isinstance(wanted, str) or not wanted:
        raise ValueError(f"exam {name} wants {wanted!r}: must be card ids, at least one")
    for card in wanted:
        if card not in where:
            raise ValueError(f"exam {name} wants {card!r}: no card has that id")
    return {where[card] for card in wanted}


def _scores(values: ArrayLike, cards: pd.Index) -> Floats:
    scores = numbers("scores", values, ndim=1, absent=True, like=cards)
    same_length(scores=scores, ids=cards)
    return scores
