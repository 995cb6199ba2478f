"""Retrieval: one configuration of a ranking, and the one way in which cards are ranked by it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from memlib.bm25 import BM25, K1, K_NORM, TOKENIZERS, VARIANTS, B, saturate
from memlib.cards import COLUMNS, names_on
from memlib.checks import Floats, numbers, same_length
from memlib.entity_boost import entity_boost, names_in
from memlib.forgetting import usage, usage_raw
from memlib.four_part_relevance import (
    RelevanceWeights,
    question_tags,
    relevance,
    tag_match,
    title_hit,
)
from memlib.fusion import RRF_K, reciprocal_rank_fusion, weighted_sum
from memlib.importance import KIND_BOOST, from_rating, importance
from memlib.normalization import min_max, z_score
from memlib.ranking import (
    DIVERSITY,
    INJECTED,
    LARGEST_WEIGHT,
    MMR_LAMBDA,
    THETA_KEEP,
    FinalWeights,
    Picked,
    final_score,
    pick_diverse,
    rank_order,
)
from memlib.recency import (
    DECAY_PER_HOUR,
    HALF_LIFE_DAYS,
    age_hours,
    decay_per_hour,
    half_life_days,
    recency,
    recency_by_half_life,
)
from memlib.similarity import cosine_of_units, dots

PARTS = ("relevance", "recency", "importance", "names", "bm25", "usage", "tags", "title")
NORMALIZERS = {"min-max": min_max, "z-score": z_score, "none": None}
FUSIONS = ("weighted sum", "RRF", "server")
DECAYS = ("per hour", "half-life", "by kind")
CLOCKS = ("access", "creation")
IMPORTANCES = ("rating", "server")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "normalizer": tuple(NORMALIZERS),
    "fusion": FUSIONS,
    "decay": DECAYS,
    "clock": CLOCKS,
    "importance_as": IMPORTANCES,
    "tokenizer": tuple(TOKENIZERS),
    "variant": VARIANTS,
    "diversity": DIVERSITY,
}
CANDIDATES_DENSE, CANDIDATES_WORDS = 50, 50  # Formulas, section 8: N_e and N_k
PICKED, BELOW, LATER = "picked", "below the threshold", "not among the first"
ALIKE = "too much like"
COLUMN = {"relevance": "dense", "bm25": "bm25_norm", "tags": "tag_match", "title": "title_hit"}
MATCHING = ("names", "tags", "title")  # as for BM25: in RRF their lists hold what they match
CLOCKED = ("recency", "importance", "usage")  # parts that change while texts and vectors stay
UNIT = 1e-3  # how far a unit vector's length may be from 1

Vectors = NDArray[np.float32]
Current = Callable[[list[str] | None], pd.DataFrame]


def _number(ranking: "Ranking", name: str, value: object, low: float, high: float) -> None:
    """Check one field, and keep it as a float."""
    if isinstance(value, bool):
        raise ValueError(f"ranking.{name} is {value!r}: must be a number")
    checked = float(numbers(f"ranking.{name}", value, low=low, high=high, ndim=0))  # type: ignore[arg-type]
    object.__setattr__(ranking, name, checked)


def _days(where: str, value: Any) -> float:
    name = f"ranking.half_life_days{where}"
    days = float(numbers(name, value, ndim=0, infinite=True))
    if isinstance(value, bool) or not days > 0:
        raise ValueError(f"{name} is {value!r}: must be above 0")
    return days


@dataclass(frozen=True)
class Ranking:
    """How cards are ranked; the defaults are similarity alone, what is set is added to it.

    relevance … title  weights of the parts, 0 or more; in RRF a part above 0 is one of the lists
    normalizer  of a weighted sum: min-max or z-score over all live cards; "none" takes the parts
                as they are, BM25 saturated
    fusion      "weighted sum", "RRF", or "server": S of `final_score` over the relevance of
                `relevance`, by relevance_weights and final_weights, without the weights of parts
    decay       "per hour" (0.5 to the power of hours over half-life, pinned or not), "half-life"
                (the same, but pinned cards stay fresh), "by kind" (as that, one half-life a kind)
    half_life_days  above 0, may be infinite; for "by kind" a mapping that has every kind
    clock       what recency counts from: the last "access" (or creation, if there was none), or
                "creation" alone, which no search moves
    importance_as   "rating", or "server": the rating, the pin and the kind, clamped to 0 to 1
    tokenizer, variant, k1, b  of BM25;  k_norm  the BM25 score that saturation makes one half
    w_duplicate  what a full copy costs under the diversity "penalty"; None: final_weights' own
    threshold    on S at pick time; None for none
    candidates_dense, candidates_words  how many are looked at, by meaning and by words; None: all
    Raises ValueError that names the field and the value.

    >>> Ranking(decay="linear")
    Traceback (most recent call last):
    ValueError: ranking.decay is 'linear': must be one of per hour, half-life, by kind
    """

    relevance: float = 1.0
    recency: float = 0.0
    importance: float = 0.0
    names: float = 0.0
    bm25: float = 0.0
    usage: float = 0.0
    tags: float = 0.0
    title: float = 0.0
    normalizer: str = "min-max"
    fusion: str = "weighted sum"
    rrf_k: float = RRF_K
    relevance_weights: RelevanceWeights = RelevanceWeights()
    final_weights: FinalWeights = FinalWeights()
    decay: str = "per hour"
    half_life_days: float | Mapping[str, float] = half_life_days(DECAY_PER_HOUR)
    clock: str = "access"
    importance_as: str = "rating"
    tokenizer: str = "stem"
    variant: str = "lucene"
    k1: float = K1
    b: float = B
    k_norm: float = K_NORM
    diversity: str = "none"
    w_duplicate: float | None = None
    mmr_lambda: float = MMR_LAMBDA
    threshold: float | None = None
    candidates_dense: int | None = CANDIDATES_DENSE
    candidates_words: int | None = CANDIDATES_WORDS

    def __post_init__(self) -> None:
        for name, options in CHOICES.items():
            if (value := getattr(self, name)) not in options:
                raise ValueError(
                    f"ranking.{name} is {value!r}: must be one of {', '.join(options)}"
                )
        for name, (low, high) in RANGES.items():
            if (value := getattr(self, name)) is not None or name not in MAY_BE_NONE:
                _number(self, name, value, low, high)
        for name in ("candidates_dense", "candidates_words"):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if value is not None and not (whole and value >= 1):
                raise ValueError(
                    f"ranking.{name} is {value!r}: must be a whole number, 1 or more, or None"
                )
        for name, kind in (
            ("relevance_weights", RelevanceWeights),
            ("final_weights", FinalWeights),
        ):
            if not isinstance(value := getattr(self, name), kind):
                raise ValueError(f"ranking.{name} is {value!r}: must be {kind.__name__}(...)")
        self._check_half_lives()
        squeezed = self.fusion == "server" or (self.fusion, self.normalizer) == _BARE
        if squeezed and self.variant == "okapi":
            said = "may be below 0, and saturation needs 0 or more: take 'lucene'"
            raise ValueError(f"ranking.variant is 'okapi': its scores {said}")
        if self.fusion == "RRF" and not any(self.weights.values()):
            raise ValueError("every weight is 0: RRF needs at least one part above 0")

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the parts by name."""
        return {name: getattr(self, name) for name in PARTS}

    @property
    def copy_cost(self) -> float:
        """What a full copy of a picked card costs when the next one is picked."""
        if self.diversity == "mmr":
            return 1 - self.mmr_lambda
        own = self.w_duplicate
        cost = self.final_weights.w_duplicate if own is None else own
        return cost if self.diversity == "penalty" else 0.0

    @property
    def changes(self) -> bool:
        """Whether a part has a weight that changes while texts and vectors stay."""
        fixed = self.clock == "creation" and self.decay == "per hour"
        return any(self.weights[name] for name in CLOCKED if not (fixed and name == "recency"))

    def _check_half_lives(self) -> None:
        days = self.half_life_days
        if (self.decay == "by kind") != isinstance(days, Mapping):
            wanted = "a mapping of kinds to days" if self.decay == "by kind" else "one number"
            said = f"ranking.half_life_days is {days!r}: must be {wanted}"
            raise ValueError(f"{said} where decay is {self.decay!r}")
        if isinstance(days, Mapping):
            for kind in KIND_BOOST:
                if kind not in days:
                    raise ValueError(f"ranking.half_life_days has no {kind!r}")
            kept = {kind: _days(f"[{kind!r}]", value) for kind, value in days.items()}
            object.__setattr__(self, "half_life_days", kept)
        else:
            object.__setattr__(self, "half_life_days", _days("", days))
            if self.decay == "per hour":
                decay_per_hour(self.half_life_days)  # type: ignore[arg-type]


_BARE = ("weighted sum", "none")
MAY_BE_NONE = ("w_duplicate", "threshold")
RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys((*PARTS, "w_duplicate"), (0.0, LARGEST_WEIGHT)),
    "rrf_k": (float(np.nextafter(0, 1)), np.inf),
    "k1": (0.0, np.inf),
    "b": (0.0, 1.0),
    "k_norm": (float(np.nextafter(0, 1)), np.inf),
    "mmr_lambda": (0.0, 1.0),
    "threshold": (-np.inf, np.inf),
}
SIMILARITY = Ranking()
THREE_PARTS = Ranking(recency=1.0, importance=1.0)
PUBLISHED_SUM = Ranking(relevance=0.8, bm25=0.1, names=0.1, variant="okapi")
LOCOMO_SUM = Ranking(relevance=0.5, bm25=0.4, names=0.1, variant="okapi")
RRF = Ranking(bm25=1.0, fusion="RRF", variant="okapi")
SERVER = Ranking(
    fusion="server",
    decay="by kind",
    half_life_days=HALF_LIFE_DAYS,
    importance_as="server",
    tokenizer="unicode",
    diversity="penalty",
    threshold=THETA_KEEP,
)
DATED_SUM = Ranking(
    relevance=0.9,
    bm25=0.1,
    recency=0.2,
    half_life_days=180.0,
    clock="creation",
    tokenizer="words",
)
PRESETS: Mapping[str, Ranking] = {
    "similarity": SIMILARITY,
    "three parts": THREE_PARTS,
    "weighted sum 0.8/0.1/0.1": PUBLISHED_SUM,
    "weighted sum 0.5/0.4/0.1": LOCOMO_SUM,
    "dated sum 0.9/0.1/0.2": DATED_SUM,
    "RRF": RRF,
    "server": SERVER,
}
DEFAULT = SIMILARITY  # of a librarian
"""Rankings with a name, and where each comes from.

similarity                the cosine alone: *Scoring beyond similarity*, table (a)
three parts               relevance, recency (0.995 an hour) and importance, each min-max
                          normalised, equal weights: *Scoring beyond similarity*, table (c)
weighted sum 0.8/0.1/0.1  meaning, words, names: *Scoring beyond similarity*, A weighted sum; it
                          names neither tokenizer nor BM25: stems and okapi are this course's
weighted sum 0.5/0.4/0.1  the best of 66 weightings on LoCoMo's development conversations, there
                          with stems and okapi: this course, chapter 07
dated sum 0.9/0.1/0.2     meaning, words, and how long ago a card was made, whatever was accessed
                          since: the best of 104 over the questions of five persons, bare imports
                          of id, text and date: this course, chapter 10
RRF                       of meaning and words, k = 60: *Scoring beyond similarity*, Reciprocal rank
                          fusion; Cormack et al. 2009
server                    S with M1's values, θ_keep included: *memento-mcp-server 0.1.0, Formulas
                          for Search Ranking and Memory Decay*, sections 1 to 6 and 8; BM25 in the
                          lucene variant and the tokenizer are this course's
"""


def ranking_code(ranking: Ranking) -> str:
    """A ranking as the call that makes it, one line a field that is not at its default.

    returns  Python that needs Ranking, and the two classes of weights where they are changed
    Source: this course.

    >>> print(ranking_code(THREE_PARTS))
    Ranking(
        recency=1.0,
        importance=1.0,
    )
    """
    pairs = [(f.name, getattr(ranking, f.name), f.default) for f in fields(ranking)]
    lines = [f"    {name}={value!r},\n" for name, value, default in pairs if value != default]
    return f"Ranking(\n{''.join(lines)})" if lines else "Ranking()"


def candidates(
    dense: ArrayLike, bm25: ArrayLike, ids: pd.Index, ranking: Ranking = SERVER
) -> NDArray[np.intp]:
    """Which cards are looked at: the best by meaning and the best by words, together.

    C = first candidates_dense by cosine ∪ first candidates_words by BM25, of those above 0

    dense, bm25  shape (n,);  ids  n distinct str, which break ties
    returns      row numbers, rising
    Raises ValueError for lengths that differ or a value that is not finite.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 8.

    >>> few = Ranking(candidates_dense=1, candidates_words=2)
    >>> candidates([0.1, 0.9, 0.2], [0.0, 0.0, 3.1], pd.Index(["a", "b", "c"]), few)
    array([1, 2])
    """
    words = numbers("bm25", bm25, ndim=1)
    near = rank_order(dense, ids, ranking.candidates_dense)
    said = rank_order(words, ids, ranking.candidates_words)
    return np.union1d(near, said[words[said] > 0])


def features(
    cards: pd.DataFrame,
    dense: ArrayLike,
    bm25: ArrayLike,
    question: str,
    now: datetime,
    ranking: Ranking = SERVER,
    known_tags: Collection[str] | None = None,
    names: ArrayLike | None = None,
) -> pd.DataFrame:
    """What each card given has to show, before anything is weighed: the batch is these cards.

    cards    the candidates, with the card table's columns
    dense    shape (n,), cosines with the question;  bm25  shape (n,);  names  shape (n,), or None
    known_tags  among which the question's tags are sought: the whole store's; None: these cards'
    returns  cards' index; text, dense, bm25_norm (BM25 below 0 counts as 0), tag_match, title_hit,
             names where they are given, relevance (of the four before), recency, importance, usage
    Raises ValueError for what the formulas refuse.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, sections 2 to
    5 and 8; names: *Scoring beyond similarity*, By names: the entity boost.

    >>> from datetime import UTC, timedelta
    >>> now = datetime(2025, 6, 11, tzinfo=UTC)
    >>> card = {"text": "Miso naps.", "kind": "working", "created_at": now - timedelta(days=2)}
    >>> card |= {"last_accessed_at": None, "importance": 5.5, "pinned": False, "tags": ("cat",)}
    >>> card |= {"title": "Miso", "views": 0, "cites": 0, "edits": 0}
    >>> cards = pd.DataFrame([card], index=["miso"])
    >>> features(cards, [0.5], [2.0], "Where is the cat?", now)[["relevance", "recency"]]
          relevance  recency
    miso        0.5      0.5
    """
    tags = question_tags(question, all_tags(cards) if known_tags is None else known_tags)
    hours = _age_hours(cards, now, ranking.clock)
    table = pd.DataFrame({"text": cards["text"], "dense": dense}, index=cards.index)
    table["bm25_norm"] = saturate(numbers("bm25", bm25, ndim=1).clip(0), ranking.k_norm)
    table["tag_match"] = tag_match(tags, cards["tags"].tolist())
    table["title_hit"] = title_hit(question, cards["title"].tolist())
    if names is not None:
        table["names"] = numbers("names", names, ndim=1)
    four = {name: table[name] for name in ("dense", "bm25_norm", "tag_match", "title_hit")}
    table["relevance"] = relevance(**four, weights=ranking.relevance_weights)
    table["recency"] = _freshness(cards, hours, ranking)
    table["importance"] = _weight(cards, ranking)
    table["usage"] = usage(cards["views"], cards["cites"], cards["edits"])
    return table


def all_tags(cards: pd.DataFrame) -> frozenset[str]:
    """Every tag that a card has.

    returns  a set of tags; of no cards none
    Source: this course.

    >>> sorted(all_tags(pd.DataFrame({"tags": [("vet",), ("vet", "cat"), ()]})))
    ['cat', 'vet']
    """
    return frozenset(tag for tags in cards["tags"] for tag in tags)


def rank(
    cards: pd.DataFrame,
    vectors: Vectors,
    question: str,
    query: Vectors,
    ranking: Ranking,
    now: datetime,
    top_k: int = INJECTED,
) -> pd.DataFrame:
    """Rank cards for a question; `Index` does the same without reading the cards anew each time.

    S = the sum of what each part adds; min-max and z-score look at all cards, S only at candidates

    cards    n live cards as `load_cards` gives them;  vectors  shape (n, d), unit length
    query    shape (d,), the question's vector, unit length
    returns  the candidates, first the picked in order, then the rest by S; indexed by id: text;
             what each part adds (relevance, recency, importance, names, bm25, usage, tags, title);
             S, their sum; penalty, the largest cosine to a card picked before; at, S when picked
             (less the penalty's cost, if diversity is "penalty"); why: picked, below the
             threshold, too much like another, or not among the first
    Raises ValueError for an empty question, lengths that differ, and what the formulas refuse.
    Source: this course, of the two documents' parts; candidates, diversity, then threshold:
    *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 8.

    >>> from datetime import UTC
    >>> now = datetime(2025, 6, 11, tzinfo=UTC)
    >>> card = {"kind": "episodic", "created_at": now, "last_accessed_at": None, "importance": 5,
    ...         "pinned": False, "tags": (), "title": "", "entities": (), "views": 0, "cites": 0,
    ...         "edits": 0, "category": ""}
    >>> texts = ["Miso is a cat.", "Rent is due."]
    >>> cards = pd.DataFrame([card | {"text": text} for text in texts], index=["miso", "rent"])
    >>> units = np.float32([[0.6, 0.8], [0, 1]])
    >>> table = rank(cards, units, "Who is Miso?", np.float32([1, 0]), LOCOMO_SUM, now, top_k=1)
    >>> table[["relevance", "at", "why"]]
          relevance   at                  why
    miso        0.5  0.5               picked
    rent        0.0  0.0  not among the first
    """
    return Index(cards, vectors).rank(question, query, ranking, now, top_k)


class _Signals(NamedTuple):
    """Of all cards, what a question finds: cosine, names, BM25, and which of them hold a word."""

    dense: Floats
    names: Floats
    bm25: Floats
    matched: NDArray[np.bool_]

    def of(self, rows: NDArray[np.intp]) -> "_Signals":
        return _Signals(self.dense[rows], self.names[rows], self.bm25[rows], self.matched[rows])


class Index:
    """An owner's live cards, made ready once: a further question costs a sum and a sort.

    cards    n live cards as `load_cards` gives them;  vectors  shape (n, d), unit length
    Raises ValueError for a column that is missing, lengths that differ, a vector of another length.
    Source: this course.
    """

    def __init__(self, cards: pd.DataFrame, vectors: Vectors) -> None:
        missing = [column for column in COLUMNS if column not in cards]
        if missing:
            raise ValueError(f"cards have no column {missing[0]!r}: see `load_cards`")
        same_length(cards=cards, vectors=vectors)
        self.cards, self.vectors = cards, np.asarray(vectors, dtype=np.float32)
        lengths = np.linalg.norm(self.vectors, axis=1) if self.vectors.size else np.ones(0)
        for row in np.flatnonzero(~(np.abs(lengths - 1) < UNIT)):
            raise ValueError(f"vectors[{row}] has length {lengths[row]:g}: must be a unit vector")
        self.tags = all_tags(cards)
        self.names = names_on(cards["entities"], {})
        self._known = sorted(set().union(*self.names))
        self._words: dict[tuple[object, ...], BM25] = {}
        self._question: tuple[str, bytes] | None = None
        self._found: dict[tuple[object, ...], Any] = {}
        self._ages: tuple[datetime, str, Floats] | None = None

    def rank(
        self,
        question: str,
        query: Vectors,
        ranking: Ranking,
        now: datetime,
        top_k: int = INJECTED,
        current: Current | None = None,
    ) -> pd.DataFrame:
        """What the function `rank` returns.

        current  ids -> the cards with these ids as they are at this moment, None -> all of them;
                 left out: as they were given. Texts, tags, titles and names stay as they were.
        """
        rows, cards, adds, score = self._scored(question, query, ranking, now, current)
        return _picked(cards, self.vectors[rows], adds, score, ranking, top_k)

    def explain(
        self,
        question: str,
        query: Vectors,
        ranking: Ranking,
        now: datetime,
        top_k: int = INJECTED,
        current: Current | None = None,
    ) -> pd.DataFrame:
        """The same cards in the same order, with what each has to show instead of what it adds.

        returns  the columns of `features`, then S at pick time, penalty and why
        """
        rows, cards, adds, score = self._scored(question, query, ranking, now, current)
        ranked = _picked(cards, self.vectors[rows], adds, score, ranking, top_k)
        near = self.matches(question, query, ranking).of(rows)
        table = self._shown(cards, near, question, now, ranking).loc[ranked.index]
        return table.assign(S=ranked["at"], penalty=ranked["penalty"], why=ranked["why"])

    def matches(self, question: str, query: Vectors, ranking: Ranking) -> _Signals:
        """Of all cards, what the question finds: dense, names, bm25, and matched by a word.

        names are 0 where the ranking gives them no weight
        """
        key = (question, np.asarray(query).tobytes())
        if self._question != key:
            if not isinstance(question, str) or not question.strip():
                raise ValueError(f"question is {question!r}: must be a text that is not empty")
            dense = cosine_of_units(query, self.vectors) if len(self.cards) else np.zeros(0)
            self._question, self._found = key, {(): dense}
        named: tuple[object, ...] = ("names",) if ranking.names else ("no names",)
        if named not in self._found:
            boost = np.zeros(len(self.cards))
            if ranking.names:
                boost = entity_boost(names_in(question, self._known), self.names)
            self._found[named] = boost
        form = (ranking.tokenizer, ranking.variant, ranking.k1, ranking.b)
        if form not in self._found:
            self._found[form] = self._by_words(question, form)
        return _Signals(self._found[()], self._found[named], *self._found[form])

    def _by_words(self, question: str, form: tuple[Any, ...]) -> tuple[Floats, NDArray[np.bool_]]:
        if not len(self.cards):
            return np.zeros(0), np.zeros(0, dtype=bool)
        tokenizer, variant, k1, b = form
        cut = TOKENIZERS[tokenizer]
        if form not in self._words:
            texts = [cut(text) for text in self.cards["text"]]
            self._words[form] = BM25(texts, k1, b, variant)
        terms = cut(question)
        return self._words[form].scores(terms), self._words[form].matched(terms)

    def served(
        self, question: str, query: Vectors, ranking: Ranking, now: datetime, top_k: int = INJECTED
    ) -> Floats:
        """Of all cards, what those that are served score; what evaluation measures.

        returns  shape (n,): S where the order is that of S; under a diversity 0, -1, -2 … in the
                 order of picking; −inf for a card that is no candidate, is below the threshold or,
                 under a diversity, is not among the first top_k
        """
        rows, cards, _, score = self._scored(question, query, ranking, now, None)
        low = -np.inf if ranking.threshold is None else ranking.threshold
        values = np.full(len(self.cards), -np.inf)
        if ranking.diversity == "none":
            values[rows] = np.where(score >= low, score, -np.inf)
            return values
        picked = _pick(self.vectors[rows].astype(np.float64), cards.index, score, ranking, top_k)
        places = -np.arange(len(picked.rows), dtype=np.float64)
        values[rows[picked.rows]] = np.where(np.array(picked.score) >= low, places, -np.inf)
        return values

    def _scored(
        self,
        question: str,
        query: Vectors,
        ranking: Ranking,
        now: datetime,
        current: Current | None,
    ) -> tuple[NDArray[np.intp], pd.DataFrame, dict[str, Floats], Floats]:
        """Rows of the candidates, their cards as they are now, what each part adds, and S."""
        found, ids = self.matches(question, query, ranking), self.cards.index
        rows = candidates(found.dense, found.bm25, ids, ranking)
        scale = NORMALIZERS[ranking.normalizer] if ranking.fusion == "weighted sum" else None
        whole, bounded = self.cards, scale and ranking.changes
        if current is None:
            cards = whole.iloc[rows]
        elif bounded:
            whole = current(None).loc[ids]
            cards = whole.iloc[rows]
        else:
            cards = current(ids[rows].tolist())
        if scale is not None:  # with the bounds of all cards
            parts = self._parts(whole, found, question, now, ranking, usage_raw)
            adds = {
                name: weighted_sum({name: part()}, {name: ranking.weights[name]}, scale)[rows]
                for name, part in parts.items()
                if ranking.weights[name]
            }
        elif ranking.fusion == "server":
            shown = self._shown(cards, found.of(rows), question, now, ranking)
            four = {name: shown[name] for name in ("relevance", "recency", "importance", "usage")}
            score = final_score(**four, weights=ranking.final_weights)
            return rows, cards, _of_server(shown, ranking), score
        else:
            parts = self._parts(cards, found.of(rows), question, now, ranking, usage)
            adds = _unscaled(parts, found.matched[rows], ranking)
        none = np.zeros(len(rows))
        adds = {name: adds.get(name, none) for name in PARTS}
        return rows, cards, adds, sum(adds.values(), start=none)

    def _parts(
        self,
        cards: pd.DataFrame,
        found: "_Signals",
        question: str,
        now: datetime,
        ranking: Ranking,
        use: Callable[..., Floats],
    ) -> dict[str, Callable[[], Floats]]:
        """How each part of a sum or of RRF is worked out for these cards, once it is asked for."""
        return {
            "relevance": lambda: found.dense,
            "recency": lambda: _freshness(cards, self._hours(cards, now, ranking.clock), ranking),
            "importance": lambda: _weight(cards, ranking),
            "names": lambda: found.names,
            "bm25": lambda: found.bm25,
            "usage": lambda: use(cards["views"], cards["cites"], cards["edits"]),
            "tags": lambda: tag_match(question_tags(question, self.tags), cards["tags"].tolist()),
            "title": lambda: title_hit(question, cards["title"].tolist()),
        }

    def _shown(
        self, cards: pd.DataFrame, near: "_Signals", question: str, now: datetime, ranking: Ranking
    ) -> pd.DataFrame:
        names = near.names if ranking.names else None
        return features(cards, near.dense, near.bm25, question, now, ranking, self.tags, names)

    def _hours(self, cards: pd.DataFrame, now: datetime, clock: str) -> Floats:
        """Ages of these cards; of those that were given they are worked out once a `now`."""
        if cards is not self.cards:
            return _age_hours(cards, now, clock)
        if self._ages is None or self._ages[:2] != (now, clock):
            self._ages = now, clock, _age_hours(cards, now, clock)
        return self._ages[2]


def _age_hours(cards: pd.DataFrame, now: datetime, clock: str) -> Floats:
    accessed = cards["last_accessed_at"] if clock == "access" else [None] * len(cards)
    return age_hours(cards["created_at"], accessed, now)


def _unscaled(
    parts: Mapping[str, Callable[[], Floats]], matched: NDArray[np.bool_], ranking: Ranking
) -> dict[str, Floats]:
    """What each part with a weight adds to a candidate's S where no bounds are asked for."""
    values = {name: part() for name, part in parts.items() if ranking.weights[name]}
    if ranking.fusion == "RRF":
        lists = {name: values[name] > 0 for name in MATCHING if name in values} | {"bm25": matched}
        return {
            name: reciprocal_rank_fusion([x], [lists.get(name)], ranking.rrf_k)
            for name, x in values.items()
        }
    if "bm25" in values:
        values["bm25"] = saturate(values["bm25"].clip(0), ranking.k_norm)
    return {name: ranking.weights[name] * x for name, x in values.items()}


def _of_server(shown: pd.DataFrame, ranking: Ranking) -> dict[str, Floats]:
    """What each part adds to a candidate's S of the server, which has no weight for names."""
    about, final = ranking.relevance_weights, ranking.final_weights
    weights = {
        "relevance": final.relevance * about.dense,
        "recency": final.recency,
        "importance": final.importance,
        "bm25": final.relevance * about.bm25,
        "usage": final.usage,
        "tags": final.relevance * about.tags,
        "title": final.relevance * about.title,
    }
    values = {name: shown[COLUMN.get(name, name)].to_numpy() for name in weights}
    values["relevance"] = values["relevance"].clip(0)
    adds = {name: weight * values[name] for name, weight in weights.items()}
    return {name: adds.get(name, np.zeros(len(shown))) for name in PARTS}


def _pick(units: Floats, ids: pd.Index, score: Floats, ranking: Ranking, top_k: int) -> Picked:
    """The first top_k by the ranking's diversity."""
    how = ranking.diversity, ranking.copy_cost, ranking.mmr_lambda
    return pick_diverse(score, units, ids, top_k, *how)


def _picked(
    cards: pd.DataFrame,
    vectors: Vectors,
    adds: Mapping[str, Floats],
    score: Floats,
    ranking: Ranking,
    top_k: int,
) -> pd.DataFrame:
    """Pick among the candidates, and say of each why it is in or out."""
    ids, units = cards.index, vectors.astype(np.float64)
    picked = _pick(units, ids, score, ranking, top_k)
    order, low = rank_order(score, ids), ranking.threshold
    left = order[~np.isin(order, picked.rows)]
    penalty, at = np.zeros(len(score)), score.copy()
    penalty[picked.rows], at[picked.rows] = picked.penalty, picked.score
    why = np.full(len(score), LATER, dtype=object)
    why[picked.rows] = [PICKED if low is None or s >= low else BELOW for s in picked.score]
    for row in np.intersect1d(left, order[:top_k]):  # first by S, yet passed over
        near = dots(units[picked.rows], units[row])
        why[row] = f"{ALIKE} {ids[picked.rows[int(near.argmax())]]} ({near.max():.2f})"
    columns = {"text": cards["text"].to_numpy(), **adds, "S": score}
    columns |= {"penalty": penalty, "at": at, "why": why}
    rows = np.concatenate([picked.rows, left])
    return pd.DataFrame({name: x[rows] for name, x in columns.items()}, index=ids[rows])


def _freshness(cards: pd.DataFrame, hours: Floats, ranking: Ranking) -> Floats:
    days, pinned = ranking.half_life_days, cards["pinned"].to_numpy()
    if isinstance(days, Mapping):
        return recency_by_half_life(hours / 24, [days[kind] for kind in cards["kind"]], pinned)
    if ranking.decay == "per hour":
        return recency(hours, decay_per_hour(days))
    return recency_by_half_life(hours / 24, days, pinned)


def _weight(cards: pd.DataFrame, ranking: Ranking) -> Floats:
    if ranking.importance_as == "server":
        return server_importance(cards)
    return from_rating(cards["importance"].to_numpy())


def server_importance(cards: pd.DataFrame) -> Floats:
    """Importance of cards as the server sees it: rating, pin and kind.

    importance = clamp((rating - 1) / 9 + 0.20 · pinned + kind boost, 0, 1)

    cards    with the columns importance (1 to 10, NaN: unrated), pinned and kind
    returns  shape (n,), in [0, 1]
    Raises ValueError for a rating outside 1 to 10 or an unknown kind.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 4.

    >>> server_importance(pd.DataFrame({"importance": [5.5], "pinned": True, "kind": "working"}))
    array([0.65])
    """
    return importance(from_rating(cards["importance"]), cards["pinned"], cards["kind"].tolist())
