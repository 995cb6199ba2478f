"""Signals beyond the documents: cheap, offline, explainable, each a small function of its own."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memlib.checks import Floats, numbers, same_length

NEIGHBOURS = 10  # how many nearest turns make a hub
BEST = 3  # how many turns speak for their session
FEEDBACK = 5  # how many results pseudo-relevance feedback believes in
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b")  # a capital letter: "may" is no month
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TIME_WORD = re.compile(
    r"\b(?i:yesterday|today|tonight|tomorrow|ago|last|next|since|recently|morning|evening|weekend"
    r"|(mon|tues|wednes|thurs|fri|satur|sun)day|days?|weeks?|months?|years?)\b"
    rf"|{_MONTH.pattern}|{_YEAR.pattern}"
)


def in_context(
    texts: Sequence[str], groups: Sequence[Hashable], before: int = 1, after: int = 1
) -> list[str]:
    """Each text together with its neighbours: what is embedded or indexed instead of it alone.

    text i becomes texts[i − before] … texts[i + after], line by line, within its group

    texts          n texts in order;  groups  n labels, for example the session of each
    before, after  how many neighbours, 0 or more
    returns        n texts
    Raises ValueError for lengths that differ, a negative count, a lone text, a NaN as label.
    Source: this course; passage retrieval with overlapping windows, Callan 1994.

    >>> in_context(["How is Miso?", "Asleep.", "Bye!"], [1, 1, 2])
    ['How is Miso?\\nAsleep.', 'How is Miso?\\nAsleep.', 'Bye!']
    """
    n = same_length(texts=texts, groups=groups)
    texts, groups = _rows("texts", texts), _labels(groups)
    for name, count in (("before", before), ("after", after)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"{name} is {count!r}: must be a whole number, 0 or more")
    near = [range(max(0, i - before), min(n, i + after + 1)) for i in range(n)]
    return [
        "\n".join(texts[j] for j in rows if groups[j] == groups[i]) for i, rows in enumerate(near)
    ]


def by_group(texts: Sequence[str], groups: Sequence[Hashable]) -> tuple[list[str], list[int]]:
    """Whole groups as texts, and which of them each text belongs to.

    texts    n texts;  groups  n labels
    returns  one text a group in order of appearance; n row numbers into them
    Raises ValueError for lengths that differ, a lone text, a NaN as label.
    Source: this course: a session is about something, also where one of its turns does not say it.

    >>> by_group(["Hi.", "The cat is ill.", "Bye!"], [1, 1, 2])
    (['Hi.\\nThe cat is ill.', 'Bye!'], [0, 0, 1])
    """
    same_length(texts=texts, groups=groups)
    texts, groups = _rows("texts", texts), _labels(groups)
    number = {label: row for row, label in enumerate(dict.fromkeys(groups))}
    held: list[list[str]] = [[] for _ in number]
    for text, label in zip(texts, groups, strict=True):
        held[number[label]].append(text)
    return ["\n".join(lines) for lines in held], [number[label] for label in groups]


def neighbour_smoothing(
    scores: ArrayLike, groups: Sequence[Hashable], weight: float = 0.5
) -> Floats:
    """Scores that lend to their neighbours: an answer stands beside its question.

    smoothed_i = score_i + weight · (score_(i−1) + score_(i+1)), neighbours of the same group only

    scores   shape (n,), in order;  groups  n labels;  weight  0 or more
    returns  shape (n,)
    Raises ValueError for lengths that differ, a negative weight, a value not finite.
    Source: this course.

    >>> neighbour_smoothing([1.0, 0.0, 0.0], [1, 1, 2])
    array([1. , 0.5, 0. ])
    """
    x = numbers("scores", scores, ndim=1)
    same_length(scores=x, groups=groups)
    share = float(numbers("weight", weight, low=0, ndim=0))
    total = x.copy()
    together = np.array([a == b for a, b in pairwise(groups)], dtype=bool)
    total[1:][together] += share * x[:-1][together]
    total[:-1][together] += share * x[1:][together]
    return total


def group_smoothing(scores: ArrayLike, groups: Sequence[Hashable], best: int = BEST) -> Floats:
    """Each card gets what its group's best cards score: where many match, the topic is.

    smoothed_i = mean of the `best` largest scores in the group of i (of all, if it has fewer)

    scores   shape (n,);  groups  n labels;  best  1 or more
    returns  shape (n,)
    Raises ValueError for lengths that differ, a best below 1, a value not finite.
    Source: this course; passage evidence for whole documents, Callan 1994.

    >>> group_smoothing([4.0, 2.0, 1.0], ["a", "a", "b"], best=2)
    array([3., 3., 1.])
    """
    x = numbers("scores", scores, ndim=1)
    same_length(scores=x, groups=groups)
    if isinstance(best, bool) or not isinstance(best, int) or best < 1:
        raise ValueError(f"best is {best!r}: must be a whole number, 1 or more")
    rows: dict[Hashable, list[int]] = {}
    for row, label in enumerate(groups):
        rows.setdefault(label, []).append(row)
    total = np.empty(len(x))
    for held in rows.values():
        total[held] = np.sort(x[held])[-best:].mean()
    return total


def speaker_match(asked: Iterable[str], speakers: Sequence[str]) -> Floats:
    """1 where a card was said by somebody whom the question names.

    asked     the names in the question (`entity_boost.names_in`)
    speakers  who said each of the n cards
    returns   shape (n,), 0 or 1; a question without names gives zeros
    Raises ValueError for names given as one str.
    Source: this course. The entity boost damps frequent names and splits between two; who speaks
    is no rarity, so this does neither.

    >>> speaker_match(["Ida"], ["Ida", "Max"])
    array([1., 0.])
    """
    if isinstance(asked, str):
        raise ValueError(f"asked is the text {asked!r}: give a list of names")
    names = set(asked)
    return np.array([speaker in names for speaker in speakers], dtype=np.float64)


def length_prior(lengths: ArrayLike) -> Floats:
    """Longer cards say more, and answer more: known before any question comes.

    prior = ln(1 + length)

    lengths  shape (n,), in tokens, 0 or more
    returns  shape (n,)
    Raises ValueError for a negative length.
    Source: this course; length as a prior, Kraaij et al. 2002.

    >>> length_prior([0, 1]).round(2)
    array([0.  , 0.69])
    """
    return np.log1p(numbers("lengths", lengths, low=0, ndim=1))


def hubness(vectors: ArrayLike, neighbours: int = NEIGHBOURS) -> Floats:
    """How near a card is to its nearest others: a hub comes up for every question.

    hub_i = mean of the `neighbours` largest cosines of i to other cards

    vectors     shape (n, d), unit length;  neighbours  1 or more (all others, if there are fewer)
    returns     shape (n,), in [−1, 1]; 0 for a lone card
    Raises ValueError for a neighbours below 1, a value not finite, a vector not of unit length.
    Source: cross-domain similarity local scaling, Conneau et al. 2018; this course uses the cards'
    side alone, as a part to subtract.

    >>> hubness([[1, 0], [1, 0], [0, 1]], neighbours=1)
    array([1., 1., 0.])
    """
    units = numbers("vectors", vectors, ndim=2)
    if isinstance(neighbours, bool) or not isinstance(neighbours, int) or neighbours < 1:
        raise ValueError(f"neighbours is {neighbours!r}: must be a whole number, 1 or more")
    n, lengths = len(units), np.linalg.norm(units, axis=1)
    for row in np.flatnonzero(abs(lengths - 1) >= 1e-3):
        raise ValueError(f"vectors[{row}] has length {lengths[row]:g}: must be a unit vector")
    if n < 2:
        return np.zeros(n)
    alike = units @ units.T
    np.fill_diagonal(alike, -np.inf)
    near: Floats = np.sort(alike, axis=1)[:, max(1, n - neighbours) :].mean(axis=1)
    return near.round(12).clip(-1.0, 1.0)  # copies are alike, whatever `@` adds up first


def date_match(question: str, times: Sequence[datetime | None]) -> Floats:
    """How much of the date that a question names a card's own date meets.

    match = (months named that are the card's + years named that are the card's) / parts named

    question  its months must be written with a capital letter, its years with four digits
    times     when each of the n cards was said; None is never a match
    returns   shape (n,), in [0, 1]; a question without a date gives zeros
    Source: this course. A month and a year named together are one part each.

    >>> date_match("What broke in May 2023?", [datetime(2023, 5, 8), datetime(2023, 6, 9)])
    array([1. , 0.5])
    """
    months = {MONTHS.index(name) + 1 for name in _MONTH.findall(question)}
    years = {int(year) for year in _YEAR.findall(question)}
    parts = bool(months) + bool(years)
    hits = [0 if time is None else (time.month in months) + (time.year in years) for time in times]
    return np.array(hits, dtype=np.float64) / max(parts, 1)


def time_words(texts: Sequence[str]) -> Floats:
    """1 where a card speaks of time: yesterday, last week, in May, 2022.

    texts    n texts, English; their months with a capital letter
    returns  shape (n,), 0 or 1
    Source: this course: a card that says when something happened tends to say what happened.

    >>> time_words(["We ran yesterday.", "Nice!"])
    array([1., 0.])
    """
    return np.array([bool(_TIME_WORD.search(text)) for text in texts], dtype=np.float64)


def date_words(time: datetime | None) -> str:
    """A date in words, to be indexed with a card, so that keyword search can find it.

    time     when the card was said; None gives no words
    returns  for example "8 May 2023"
    Source: this course.

    >>> date_words(datetime(2023, 5, 8))
    '8 May 2023'
    """
    return "" if time is None else f"{time.day} {MONTHS[time.month - 1]} {time.year}"


def feedback_query(
    query: ArrayLike,
    vectors: ArrayLike,
    scores: ArrayLike,
    top: int = FEEDBACK,
    weight: float = 0.5,
) -> Floats:
    """Pseudo-relevance feedback on vectors: move the question towards what it found.

    q' = q + weight · mean of the `top` best cards' vectors, back to unit length

    query   shape (d,);  vectors  shape (n, d);  scores  shape (n,), of the first search
    top     1 or more;  weight  0 or more
    returns shape (d,), unit length; without cards, the query's own direction
    Raises ValueError for lengths or dimensions that differ, a top below 1, a q' without direction.
    Source: Rocchio 1971, with no negative part.

    >>> feedback_query([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], [1, 0], top=1, weight=1).round(2)
    array([0.71, 0.71])
    """
    q, v = numbers("query", query, ndim=1), numbers("vectors", vectors, ndim=2)
    s = numbers("scores", scores, ndim=1)
    same_length(vectors=v, scores=s)
    if len(q) != v.shape[1]:
        raise ValueError(f"query has {len(q)} dimensions, vectors have {v.shape[1]}")
    share = float(numbers("weight", weight, low=0, ndim=0))
    found = _best(s, top)
    moved = q + share * v[found].sum(axis=0) / max(len(found), 1)
    long = float(np.linalg.norm(moved))
    if long == 0:
        raise ValueError("query and its results cancel out: q' is a zero vector")
    turned: Floats = moved / long
    return turned


def feedback_terms(
    documents: Sequence[Sequence[str]],
    scores: ArrayLike,
    asked: Sequence[str],
    idf: Mapping[str, float],
    top: int = FEEDBACK,
    count: int = 10,
) -> list[str]:
    """Pseudo-relevance feedback on words: rare words that the first results share.

    worth of a word = number of the `top` documents that hold it · idf; the `count` best, no word of
    the question among them

    documents  n lists of tokens;  scores  shape (n,), of the first search;  asked  its tokens
    idf        word -> rarity (`BM25.idf`), missing is 0
    returns    at most `count` words, best first, equal ones in the order of the results
    Raises ValueError for lengths that differ, a top or count below 1.
    Source: this course; relevance models, Lavrenko and Croft 2001.

    >>> feedback_terms([["cat", "vet"], ["rent"]], [1, 0], ["cat"], {"vet": 2.0}, top=1)
    ['vet']
    """
    s = numbers("scores", scores, ndim=1)
    same_length(documents=documents, scores=s)
    documents = _rows("documents", documents)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"count is {count!r}: must be a whole number, 1 or more")
    known = set(asked)
    held = Counter(
        word for row in _best(s, top) for word in dict.fromkeys(documents[row]) if word not in known
    )
    return sorted(held, key=lambda word: -held[word] * idf.get(word, 0.0))[:count]


def _rows(name: str, values: Sequence[Any]) -> list[Any]:
    """By place, whatever labels a column of pandas has."""
    if isinstance(values, str):
        raise ValueError(f"{name} is the text {values!r:.80}: give a list")
    return list(values)


def _labels(groups: Sequence[Hashable]) -> list[Hashable]:
    labels = _rows("groups", groups)
    for row, label in enumerate(labels):
        if label != label:
            raise ValueError(f"groups[{row}] is {label!r}: must be a label")
    return labels


def _best(scores: Floats, top: int) -> NDArray[np.intp]:
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise ValueError(f"top is {top!r}: must be a whole number, 1 or more")
    return np.argsort(-scores, kind="stable")[:top]
