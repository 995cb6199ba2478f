"""BM25 word by word and document by document, logarithms in 50 decimal digits."""

import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

HALF = Fraction(1, 2)
PAIRED = ("CJK UNIFIED", "CJK COMPATIBILITY", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC")


def ln(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 50
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).ln())


def idf(documents: Sequence[Sequence[str]], variant: str, idf_floor: float) -> dict[str, Fraction]:
    worth: dict[str, Fraction] = {}
    for term in {term for document in documents for term in document}:
        holding = sum(term in document for document in documents)
        odds = (len(documents) - holding + HALF) / (holding + HALF)
        worth[term] = ln(1 + odds) if variant == "lucene" else ln(odds)
    mean = sum(worth.values(), Fraction(0)) / max(len(worth), 1)
    return {term: Fraction(idf_floor) * mean if x < 0 else x for term, x in worth.items()}


def scores(
    documents: Sequence[Sequence[str]],
    terms: Sequence[str],
    k1: float = 1.5,
    b: float = 0.75,
    variant: str = "okapi",
    idf_floor: float = 0.25,
    known: Mapping[str, Fraction] | None = None,
) -> list[float]:
    worth = idf(documents, variant, idf_floor) if known is None else known
    steep, hold = Fraction(k1), Fraction(b)
    mean = Fraction(sum(map(len, documents)), len(documents))
    found = []
    for document in documents:
        total = Fraction(0)
        for term in terms:
            times = list(document).count(term)
            if times:
                pull = steep * (1 - hold + hold * len(document) / mean)
                gain = steep + 1 if variant == "okapi" else 1
                total += worth[term] * times * gain / (times + pull)
        found.append(float(total))
    return found


def _words(text: str, letters: str) -> list[str]:
    return "".join(c if c in letters else " " for c in text).split(" ")


def regex(text: str) -> list[str]:
    return [w for w in _words(text.lower(), "abcdefghijklmnopqrstuvwxyz0123456789") if w]


def unicode(text: str) -> list[str]:
    tokens: list[str] = []
    run = ""
    for character in unicodedata.normalize("NFKC", text).casefold() + " ":
        kind = _kind(character)
        if run and kind != _kind(run[0]):
            pairs = [a + b for a, b in pairwise(run)]
            tokens += pairs if _kind(run[0]) == "paired" and pairs else [run]
            run = ""
        if kind != "gap":
            run += character
    return tokens


def _kind(character: str) -> str:
    if not (character.isalnum() or character == "_"):
        return "gap"
    return "paired" if unicodedata.name(character, "").startswith(PAIRED) else "word"
