"""What the board of chapter 11 took as given, varied: RRF's k, forms of BM25, how lists are cut."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from snowballstemmer import stemmer

from course.measure.ideas import Asked, Prepared, part_row
from course.measure.leaderboard import CHOSEN_AT, Method, Weights, fixed, recall
from memlib.bm25 import BM25, K1, STOPWORDS, B, naive, regex, stem, words
from memlib.checks import Floats
from memlib.fusion import RRF_K, reciprocal_rank_fusion
from memlib.normalization import min_max, z_score

RRF_KS = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 100.0)
HALVES = tuple(tenths / 10 for tenths in range(11))  # weights of BM25; similarity has the rest
DEPTHS = (20, 50)  # how much of each list engines fuse
_ENGLISH = stemmer("english")


class Form(NamedTuple):
    """A form of BM25: how texts are cut, the variant, k1 and b."""

    cut: Callable[[str], list[str]] = stem
    variant: str = "okapi"
    k1: float = K1
    b: float = B


def without_stop_words(text: str) -> list[str]:
    """Words as `regex` cuts them, without stop words, not stemmed.

    >>> without_stop_words("The cats of Sam")
    ['cats', 'sam']
    """
    return [word for word in regex(text) if word not in STOPWORDS]


def stemmed(text: str) -> list[str]:
    """Words as `regex` cuts them, stemmed, stop words kept.

    >>> stemmed("The cats of Sam")
    ['the', 'cat', 'of', 'sam']
    """
    return [str(_ENGLISH.stemWord(word)) for word in regex(text)]


FORMS: Mapping[str, Form] = {
    "naive": Form(naive),
    "regex": Form(regex),
    "regex without stop words": Form(without_stop_words),
    "stems with stop words": Form(stemmed),
    "words": Form(words),
    "lucene": Form(variant="lucene"),
    "k1 0.9, b 0.4": Form(k1=0.9, b=0.4),
    "k1 1.2, b 0.75": Form(k1=1.2, b=0.75),
}


@lru_cache(maxsize=len(FORMS))
def _index(ready: Prepared, form: Form) -> BM25:
    return BM25([form.cut(text) for text in ready.texts], form.k1, form.b, form.variant)


def by_form(form: Form, asked: Asked, weights: Weights) -> Floats:
    """BM25 of the question in one form; a turn that it does not match is not found."""
    index, terms = _index(asked.ready, form), form.cut(asked.question.text)
    return np.where(index.matched(terms), index.scores(terms), -np.inf)


def pair(asked: Asked) -> tuple[Floats, Floats]:
    """Similarity and BM25, each min-max normalised."""
    return asked.part("similarity"), asked.part("BM25")


def summed(scale: Callable[[Floats], Floats], asked: Asked, weights: Weights) -> Floats:
    """The sum of both after a normaliser; weights holds BM25's, similarity has the rest."""
    share, (meaning, said) = weights["BM25"], pair(asked)
    total: Floats = (1 - share) * scale(meaning) + share * scale(said)
    return total


def fused(asked: Asked, weights: Weights, depth: int | None = None) -> Floats:
    """Reciprocal rank fusion of both, weighted; of each list only the first `depth`."""
    share = weights.get("BM25", 0.5)
    held = [np.ones(len(asked.parts[0]), dtype=bool), asked.matched[part_row("BM25")]]
    if depth is not None:
        held = [
            one & (_places(np.where(one, part, -np.inf)) < depth)
            for one, part in zip(held, pair(asked), strict=True)
        ]
    lists = zip(pair(asked), held, (1 - share, share), strict=True)
    k = weights.get("rrf_k", RRF_K)
    return sum(w * reciprocal_rank_fusion([x], [one], k) for x, one, w in lists)  # type: ignore[return-value]


def _places(scores: Floats) -> np.ndarray:
    place = np.empty(len(scores), dtype=int)
    place[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return place


def _chosen(
    name: str, options: Sequence[Weights], score: Callable[[Asked, Weights], Floats]
) -> Method:
    """A method whose setting is the best mean recall of these; the first of equal ones."""

    def choose(questions: Sequence[Asked]) -> Weights:
        means = [
            sum(recall(score(q, o), q.question.evidence, (CHOSEN_AT,))[0] for q in questions)
            for o in options
        ]
        return options[int(np.round(means, 9).argmax())]

    return Method(name, "tuned", choose, score)


def _methods() -> list[Method]:
    halves = [{"BM25": share} for share in HALVES]
    ks = [{"rrf_k": k} for k in RRF_KS]
    both = [{"rrf_k": k, "BM25": share} for k in RRF_KS for share in HALVES[1:-1]]
    found = [
        Method(f"BM25, {name}", "tuned", fixed({}), partial(by_form, form))
        for name, form in FORMS.items()
    ]
    found += [
        _chosen("sum of two", halves, partial(summed, min_max)),
        _chosen("z-score sum of two", halves, partial(summed, z_score)),
        _chosen("RRF of two, k chosen", ks, fused),
        _chosen("RRF of two, k and weights chosen", both, fused),
    ]
    found += [Method(f"RRF of two, k = {k:g}", "tuned", fixed({"rrf_k": k}), fused) for k in RRF_KS]
    return found + [
        Method(f"RRF of the first {depth}", "tuned", fixed({}), partial(fused, depth=depth))
        for depth in DEPTHS
    ]


TUNED = tuple(_methods())
