"""One's own memory: the ways of scoring put to one's own questions, and what the answers prove."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from memlib.bm25 import BM25, regex, stem, unicode
from memlib.checks import Floats, card_ids, numbers, same_length
from memlib.entity_boost import entity_boost, names_in
from memlib.evaluation import expected_recall, paired_bootstrap
from memlib.fusion import WEIGHTS, reciprocal_rank_fusion, weighted_sum
from memlib.ranking import _count, three_part_score
from memlib.recency import DECAY_PER_HOUR, half_life_days, recency_by_half_life
from memlib.similarity import cosine_of_units

BASELINE = "similarity alone"
KS = (1, 3, 5, 10)
PUBLISHED_DAYS = half_life_days(DECAY_PER_HOUR)  # 0.995 an hour
HALF_LIVES = (1.0, PUBLISHED_DAYS, 30.0, 180.0, 730.0)  # days
FAINT, FAINT_DAYS = 0.1, 30.0  # recency as a small correction
LOCOMO_WEIGHTS = {"dense": 0.5, "bm25": 0.4, "entity": 0.1}  # chosen on LoCoMo's development part
FEWEST = 6  # fewer questions that differ prove nothing: all one way, a sign test's p is 0.06
Z_TEST, Z_POWER = 1.96, 0.84  # two-sided 5%, power 80%
ROUNDING = 1e-9
DIGITS = 9  # of a signal: cards that are alike score alike, whatever row they are in


def words(text: str) -> list[str]:
    """What BM25 reads of a text: `stem`, which is English, and by `unicode` what it leaves out.

    tokens = stem(text), then the tokens of unicode(text) that are not ASCII and hold no letter
    a-z and no digit 0-9; where both are none, all of unicode(text)

    text     any str
    returns  tokens; of a text in plain ASCII those of `stem`, unless it has stop words alone
    Source: this course.

    >>> words("The cats"), words("Кот спит, iPhone"), words("Who is it?")
    (['cat'], ['iphon', 'кот', 'спит'], ['who', 'is', 'it'])
    """
    every = unicode(text)
    foreign = [token for token in every if not token.isascii() and not regex(token)]
    return stem(text) + foreign or every


def card_methods(
    dense: ArrayLike,
    bm25: ArrayLike,
    entity: ArrayLike,
    hours: ArrayLike,
    importance: ArrayLike,
    pinned: ArrayLike = False,
) -> dict[str, Floats]:
    """Score every card for one question in each way that this course tells of.

    Sums add parts that are min-max normalised over all cards given. A ranking by BM25 (or by
    names), alone or fused, holds the cards that score above 0: what matched nothing is not found.
    Similarity and age rank every card.

    dense       shape (n,), cosine with the question
    bm25        shape (n,), 0 or more (the lucene variant)
    entity      shape (n,), in [0, 1], as `entity_boost` gives it
    hours       shape (n,), since last access (since creation if never), 0 or more
    importance  shape (n,), in [0, 1]
    pinned      True where recency stays 1
    returns     name -> scores, each shape (n,), higher is better, −inf for a card that is not
                found; always the same names
    Raises ValueError for lengths that differ, a value out of range or not finite.
    Source: *Scoring beyond similarity*, Three parts of one score, A weighted sum and Reciprocal
    rank fusion; the half-lives and 0.5/0.4/0.1 are this course's.

    >>> scores = card_methods([0.7, 0.6], [0, 2], [0, 0], [1, 99], [0.5, 0.5])
    >>> scores["similarity alone"], scores["weighted sum 0.5/0.4/0.1"]
    (array([0.7, 0.6]), array([0.5, 0.4]))
    """
    signals = {
        "dense": numbers("dense", dense, ndim=1),
        "bm25": numbers("bm25", bm25, low=0, ndim=1, like=dense),
        "entity": numbers("entity", entity, low=0, high=1, ndim=1, like=dense),
    }
    similar, said, named = signals.values()
    age = numbers("hours", hours, low=0, ndim=1, like=dense)
    matters = numbers("importance", importance, low=0, high=1, ndim=1, like=dense)
    same_length(**signals, hours=age, importance=matters)
    _pins(pinned, dense, len(age))

    def fresh(days: float) -> Floats:
        return recency_by_half_life(age / 24, days, pinned)

    def both(days: float, weight: float) -> Floats:
        parts = {"dense": similar, "recency": fresh(days)}
        return weighted_sum(parts, {"dense": 1, "recency": weight})

    park = fresh(PUBLISHED_DAYS)
    lists, held = [similar, said, named], [None, said > 0, named > 0]
    return {
        "newest first": -age,
        BASELINE: similar,
        "BM25": np.where(said > 0, said, -np.inf),
        **{f"similarity + recency, {_days(days)}": both(days, 1) for days in HALF_LIVES},
        f"similarity + {FAINT} recency, {_days(FAINT_DAYS)}": both(FAINT_DAYS, FAINT),
        "three parts, equal weights": three_part_score(similar, park, matters).total,
        "three parts, relevance times 5": three_part_score(
            similar, park, matters, weights=(5, 1, 1)
        ).total,
        _sum_name(WEIGHTS): weighted_sum(signals, WEIGHTS),
        _sum_name(LOCOMO_WEIGHTS): weighted_sum(signals, LOCOMO_WEIGHTS),
        "RRF of similarity and BM25": reciprocal_rank_fusion(lists[:2], held[:2]),
        "RRF of similarity, BM25, names": reciprocal_rank_fusion(lists, held),
    }


def scorer(
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    names: Sequence[Collection[str]],
    hours: ArrayLike,
    importance: ArrayLike,
    pinned: ArrayLike = False,
) -> Callable[[str, NDArray[np.float32]], dict[str, Floats]]:
    """Index the cards once; then score them for a question and its vector in every way.

    texts       n texts, cut by `words` for BM25 (lucene)
    vectors     shape (n, d), the texts' embeddings, unit length
    names       n collections of names that stand on the cards; none at all moves nothing
    hours, importance, pinned  as in `card_methods`
    returns     (question, its vector) -> what `card_methods` gives
    Raises ValueError for lengths that differ, no cards, a vector that is no unit vector, and what
    `card_methods` refuses.
    Source: this course; the ways of scoring are those of `card_methods`.

    >>> texts, names = ["Miso is a cat.", "Rent is due."], [["Miso"], []]
    >>> score = scorer(texts, np.eye(2, dtype=np.float32), names, [1, 2], [0.5, 0.5])
    >>> score("Who is Miso?", np.float32([0.6, 0.8]))["similarity alone"].round(2)
    array([0.6, 0.8])
    """
    same_length(texts=texts, vectors=vectors, names=names)
    age = numbers("hours", hours, low=0, ndim=1)
    matters = numbers("importance", importance, low=0, high=1, ndim=1, like=hours)
    same_length(vectors=vectors, hours=age, importance=matters)
    _pins(pinned, hours, len(age))
    lengths = np.linalg.norm(numbers("vectors", vectors, ndim=2), axis=1)
    for row in np.flatnonzero(np.abs(lengths - 1) > 1e-3):
        raise ValueError(f"vectors[{row}] has length {lengths[row]:g}: must be a unit vector")
    index = BM25([words(text) for text in texts], variant="lucene")
    known = sorted({name for card in names for name in card})
    units: Any = np.asarray(vectors, dtype=np.float64)  # sums of float32 differ by row

    def score(question: str, vector: NDArray[np.float32]) -> dict[str, Floats]:
        asked: Any = np.asarray(vector, dtype=np.float64)
        similar = cosine_of_units(asked, units).round(DIGITS)
        said = index.scores(words(question)).round(DIGITS)
        boost = entity_boost(names_in(question, known), names).round(DIGITS)
        return card_methods(similar, said, boost, hours, importance, pinned)

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


def leaderboard(recalls: pd.DataFrame, baseline: str = BASELINE) -> pd.DataFrame:
    """Order the methods by recall, and say which differ from one of them by more than noise.

    difference = mean over the questions of recall(method) - recall(baseline), with its paired
    bootstrap interval; better: all of it above 0, worse: all of it below, and at least six
    questions differ; everything else is within noise

    recalls   questions × methods, each in [0, 1]: all of `recalls(...)[k]`, or some of its rows
    baseline  one of the methods
    returns   DataFrame indexed by method, best first (equal ones in the order of the columns):
              recall, difference, low, high in percent and points; better, equal, worse in
              questions; verdict ("better", "worse", "within noise" or "baseline")
    Raises ValueError for an unknown baseline, no questions, a recall outside [0, 1].
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
    means, board = table.mean(axis=0), []
    for row in np.argsort(-means.round(9), kind="stable"):
        name, values = recalls.columns[row], table[:, row]
        spread, gaps = paired_bootstrap(start, values), np.round(values - start, 9)
        signs = [int(np.count_nonzero(np.sign(gaps) == s)) for s in (1, 0, -1)]
        proven = signs[0] + signs[2] >= FEWEST
        verdict = "baseline" if name == baseline else "within noise"
        if proven and spread.low > ROUNDING:
            verdict = "better"
        elif proven and spread.high < -ROUNDING:
            verdict = "worse"
        board.append((name, means[row], *spread, *signs, verdict))
    columns = ["method", "recall", "difference", "low", "high", "better", "equal", "worse"]
    return pd.DataFrame(board, columns=[*columns, "verdict"]).set_index("method")


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


def _pins(pinned: ArrayLike, like: object, n: int) -> None:
    pins = numbers("pinned", pinned, low=0, high=1, like=like)
    if pins.shape not in ((), (n,)):
        raise ValueError(f"pinned has shape {pins.shape}: must be one value, or one a card ({n})")


def _days(days: float) -> str:
    return "1 day" if days == 1 else f"{days:.3g} days"


def _sum_name(weights: Mapping[str, float]) -> str:
    return "weighted sum " + "/".join(f"{weight:g}" for weight in weights.values())
