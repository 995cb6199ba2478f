"""Names looked up letter by letter; damping in 50 decimal digits."""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction


def damp(df: float) -> float:
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(2).ln() / (1 + Decimal(df)).ln())


def damp_by_square(df: float, strength: float = 0.001) -> float:
    return float(1 / (1 + Fraction(strength) * (Fraction(df) - 1) ** 2))


def entity_boost(mentioned: Collection[str], cards: Sequence[Collection[str]]) -> list[float]:
    df = {name: sum(name in card for card in cards) for name in set(mentioned)}
    known = [name for name, holding in df.items() if holding]
    return [
        sum(damp(df[name]) for name in known if name in card) / len(known) if known else 0.0
        for card in cards
    ]


def names_in(text: str, spellings: Mapping[str, str], common: Collection[str]) -> tuple[str, ...]:
    """For spellings that no folding makes longer, none of which is a prefix of itself folded."""
    found: list[str] = []
    at = 0
    while at < len(text):
        fits = [s for s in spellings if _stands(s, text, at)]
        longest = max(fits, key=len, default="")
        if longest and (longest.casefold() not in common or text.startswith(longest, at)):
            found += [spellings[longest]] if spellings[longest] not in found else []
        at += max(len(longest), 1)
    return tuple(found)


def _stands(spelling: str, text: str, at: int) -> bool:
    end = at + len(spelling)
    whole = not _word(text[at - 1 : at]) and not _word(text[end : end + 1])
    return whole and text[at:end].casefold() == spelling.casefold()


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"
