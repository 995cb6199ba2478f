"""Relevance in exact fractions, coefficients as printed; words cut letter by letter."""

import unicodedata
from collections.abc import Collection
from fractions import Fraction


def relevance(
    dense: Fraction, bm25_norm: Fraction, tag_match: Fraction, title_hit: Fraction
) -> Fraction:
    meaning = Fraction("0.60") * max(dense, Fraction(0)) + Fraction("0.30") * bm25_norm
    return meaning + Fraction("0.05") * tag_match + Fraction("0.05") * title_hit


def words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(x if x.isalnum() or x == "_" else " " for x in folded).split()


def stands_in(words_of_tag: list[str], asked: list[str]) -> bool:
    size = len(words_of_tag)
    return size > 0 and any(
        asked[at : at + size] == words_of_tag for at in range(len(asked) - size + 1)
    )


def question_tags(question: str, tags: Collection[str]) -> set[str]:
    return {tag for tag in tags if stands_in(words(tag), words(question))}


def tag_match(asked: Collection[str], tags: Collection[str]) -> Fraction:
    both = [tag for tag in set(asked) if tag in tags]
    either = {*asked, *tags}
    return Fraction(len(both), len(either)) if asked and tags else Fraction(0)


def title_hit(question: str, title: str) -> float:
    asked, named = words(question), words(title)
    if not asked or not named:
        return 0.0
    exact = asked == named
    prefix = len(named) >= len(asked) and all(x == y for x, y in zip(asked, named, strict=False))
    pair = any(
        asked[i : i + 2] == named[j : j + 2]
        for i in range(len(asked) - 1)
        for j in range(len(named) - 1)
    )
    alone = len(named) == 1 and named[0] in asked
    return float(
        min(Fraction(1), exact + Fraction(1, 2) * prefix + Fraction(1, 5) * (pair or alone))
    )
