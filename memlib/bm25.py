"""BM25: search by exact words, rare words counting more than common ones."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from snowballstemmer import stemmer

from memlib.checks import Floats, numbers
from memlib.words import search_words

K1, B = 1.5, 0.75  # rank-bm25 0.2.2 and Robertson and Zaragoza 2009
IDF_FLOOR = 0.25  # rank-bm25 0.2.2: a negative idf becomes this share of the mean idf
K_NORM = 2.0  # Formulas, section 2 (2): the BM25 score that counts one half
VARIANTS = ("okapi", "lucene")
STOPWORDS = frozenset(
    Path(__file__).with_name("stopwords_en.txt").read_text(encoding="utf-8").split()
)

_WORDS = re.compile(r"[a-z0-9]+")
_UNICODE = re.compile(r"\w+")
_RUNS = re.compile(  # Han with 々 and 〇, Kana, Hangul
    "([\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+)"
)
_STEMMER = stemmer("english")


def naive(text: str) -> list[str]:
    """Lower case, cut at white space: punctuation stays on the word.

    text     any str
    returns  tokens, in the order of the text; a text without words gives none
    Source: *Scoring beyond similarity* names no tokenizer; rank-bm25's own examples cut like this.

    >>> naive("The cat's name? Miso.")
    ['the', "cat's", 'name?', 'miso.']
    """
    return text.lower().split()


def regex(text: str) -> list[str]:
    """Runs of a-z and 0-9, lower case; accents cut a word in two.

    text     any str
    returns  tokens, in the order of the text; a text without words gives none
    Source: the usual first step beyond it; this course.

    >>> regex("The cat's name? Miso, café.")
    ['the', 'cat', 's', 'name', 'miso', 'caf']
    """
    return _WORDS.findall(text.lower())


def stem(text: str) -> list[str]:
    """`regex` without stop words, each word cut to its stem by Snowball English.

    text     any str
    returns  tokens, in the order of the text; a text without words gives none
    Source: this course; Snowball English, Porter 2001.

    >>> stem("She gave the cats names.")
    ['gave', 'cat', 'name']
    """
    words = [word for word in regex(text) if word not in STOPWORDS]
    stems: list[str] = _STEMMER.stemWords(words)
    return stems


def unicode(text: str) -> list[str]:
    r"""NFKC, case folded, \w+; a run of Han, Kana or Hangul becomes its pairs of characters.

    text     any str
    returns  tokens, in the order of the text; a text without words gives none
    Source: this course; Unicode Standard Annex 15 (NFKC).

    >>> unicode("Café 東京都 ２")
    ['café', '東京', '京都', '2']
    """
    tokens: list[str] = []
    for word in _UNICODE.findall(unicodedata.normalize("NFKC", text).casefold()):
        for part in filter(None, _RUNS.split(word)):
            pairs = [part[i : i + 2] for i in range(len(part) - 1)]
            tokens += pairs if _RUNS.fullmatch(part) and pairs else [part]
    return tokens


def words(text: str) -> list[str]:
    """The words of any script without English stop words; those of a to z cut to their stems.

    text     any str
    returns  tokens, in the order of the text: an identifier whole and in parts, a run of Han,
             Kana, Hangul, Thai, Lao, Khmer or Burmese as pairs of letters with their marks
    Source: this course, `memlib.words`; Snowball English, Porter 2001.

    >>> words("Zoë O’Brien's cats: दूध, E-4012")
    ['zoe', "o'brien", 'o', 'brien', 'cat', 'दूध', 'e-4012', 'e', '4012']
    """
    kept = search_words(text, STOPWORDS)
    return [_stem(word) if word.isascii() and word.isalpha() else word for word in kept]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "naive": naive,
    "regex": regex,
    "stem": stem,
    "unicode": unicode,
    "words": words,
}


class BM25:
    """An index of tokenized documents; a question touches only those that hold its words.

    okapi   idf = ln(N − df + ½) − ln(df + ½), if negative IDF_FLOOR · mean idf;
            score = Σ idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length))
    lucene  idf = ln(1 + (N − df + ½) / (df + ½)), never negative; no factor k1 + 1

    documents  N lists of tokens; at least one document
    k1         0 or more: how long repeating a word still pays
    b          0 to 1: how much a long document is held back
    Raises ValueError for no documents, a document or question that is a str, an unknown variant.
    Source: *Scoring beyond similarity*, By exact words: BM25; Robertson and Zaragoza 2009; okapi
    equals rank-bm25 0.2.2; lucene: Kamphuis et al. 2020.

    >>> index = BM25([["miso", "cat"], ["sam", "jazz"], ["rent", "due"]])
    >>> index.scores(["cat", "name"]).round(2)
    array([0.51, 0.  , 0.  ])
    """

    def __init__(
        self,
        documents: Sequence[Sequence[str]],
        k1: float = K1,
        b: float = B,
        variant: str = "okapi",
        idf_floor: float = IDF_FLOOR,
    ) -> None:
        if variant not in VARIANTS:
            raise ValueError(f"variant is {variant!r}: must be one of {', '.join(VARIANTS)}")
        if len(documents) == 0:
            raise ValueError("documents is empty: BM25 needs at least one")
        k1 = float(numbers("k1", k1, low=0, ndim=0))
        b = float(numbers("b", b, low=0, high=1, ndim=0))
        idf_floor = float(numbers("idf_floor", idf_floor, ndim=0))
        self.size = len(documents)
        lengths = np.array([len(document) for document in documents], dtype=np.float64)
        long = lengths / lengths.mean() if lengths.any() else lengths
        pull = k1 * (1 - b + b * long)
        terms, self._rows, tf, cuts = _postings(documents)
        self.df = dict(zip(terms, np.diff(cuts).tolist(), strict=True))
        self.idf = _idf(self.df, self.size, variant, idf_floor)
        worth = np.repeat(list(self.idf.values()), np.diff(cuts))
        gain = k1 + 1 if variant == "okapi" else 1.0
        self._parts: Floats = worth * (tf * gain / (tf + pull[self._rows]))
        ends = zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        self._where = {term: slice(*cut) for term, cut in zip(terms, ends, strict=True)}

    def scores(self, terms: Sequence[str]) -> Floats:
        """Score of every document for a question's terms; each repeated term counts each time.

        terms    list of tokens; empty gives zeros
        returns  shape (N,); okapi may be negative, lucene is 0 or more
        """
        total = np.zeros(self.size)
        for term, times in Counter(_tokens("terms", terms)).items():
            if term in self._where:
                held = self._where[term]
                total[self._rows[held]] += times * self._parts[held]
        return total

    def matched(self, terms: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents hold at least one of the terms, whatever the score says."""
        hit = np.zeros(self.size, dtype=bool)
        for term in set(_tokens("terms", terms)) & self._where.keys():
            hit[self._rows[self._where[term]]] = True
        return hit


def saturate(scores: ArrayLike, k_norm: float = K_NORM) -> Floats:
    """BM25 scores squeezed below 1 without looking at other cards.

    bm25_norm = score / (score + k_norm)

    scores   0 or more (the lucene variant), any shape
    k_norm   above 0: the score that becomes one half
    returns  in [0, 1)
    Raises ValueError for a negative score or a k_norm of 0 or below.
    Source: *memento-mcp-server 0.1.0, Formulas for Search Ranking and Memory Decay*, section 2 (2).

    >>> saturate([0, 2, 18])
    array([0. , 0.5, 0.9])
    """
    raw = numbers("scores", scores, low=0)
    half = float(numbers("k_norm", k_norm, low=np.nextafter(0, 1), ndim=0))
    return 1 - half / (raw + half)


def _tokens(name: str, tokens: Sequence[str]) -> Sequence[str]:
    if isinstance(tokens, str):
        raise ValueError(f"{name} is the text {tokens!r}: cut it into a list of tokens first")
    return tokens


def _postings(
    documents: Sequence[Sequence[str]],
) -> tuple[list[str], NDArray[np.intp], Floats, NDArray[np.intp]]:
    """Terms, then for term i, from cuts[i] to cuts[i + 1], the documents' rows and its counts."""
    number: dict[str, int] = {}
    flat: list[int] = []
    rows: list[int] = []
    counts: list[int] = []
    for row, document in enumerate(documents):
        for term, times in Counter(_tokens(f"documents[{row}]", document)).items():
            flat.append(number.setdefault(term, len(number)))
            rows.append(row)
            counts.append(times)
    order = np.argsort(np.array(flat, dtype=np.intp), kind="stable")
    df = np.bincount(np.array(flat, dtype=np.intp), minlength=len(number))
    tf = np.array(counts, dtype=np.float64)[order]
    return list(number), np.array(rows, dtype=np.intp)[order], tf, np.cumsum([0, *df])


def _idf(df: dict[str, int], size: int, variant: str, idf_floor: float) -> dict[str, float]:
    if variant == "lucene":
        return {term: math.log1p((size - n + 0.5) / (n + 0.5)) for term, n in df.items()}
    idf = {term: math.log(size - n + 0.5) - math.log(n + 0.5) for term, n in df.items()}
    floor = idf_floor * sum(idf.values()) / max(len(idf), 1)
    return {term: floor if worth < 0 else worth for term, worth in idf.items()}
