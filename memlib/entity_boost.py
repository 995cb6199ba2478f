"""Entity boost: search by names, each name damped by the number of cards that share it."""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from memlib.checks import Floats, numbers
from memlib.words import fold, inside, plain

DAMPING = 0.001  # ours: how soon `damp_by_square` bites
COMMON_WORDS = frozenset(["may", "will", "mark", "rose", "grace", "hope", "june", "april", "bill"])


def damp(df: ArrayLike) -> Floats:
    """What a name is worth that stands on df cards.

    damp = 1 / log2(1 + df)

    df       cards that hold the name, 1 or more, any shape
    returns  in (0, 1]: 1.0 on one card, about 0.17 on sixty
    Raises ValueError for a df below 1.
    Source: *Scoring beyond similarity*, By names: the entity boost (asks for damping, gives no
    formula; this one is the course's).

    >>> damp([1, 3, 60]).round(2)
    array([1.  , 0.5 , 0.17])
    """
    return 1 / np.log2(1 + numbers("df", df, low=1))


def damp_by_square(df: ArrayLike, strength: float = DAMPING) -> Floats:
    """A damping that spares rare names longer.

    damp = 1 / (1 + strength · (df − 1)²)

    df        cards that hold the name, 1 or more, any shape
    strength  0 or more; 0 does not damp
    returns   in (0, 1]
    Raises ValueError for a df below 1 or a negative strength.
    Source: *Scoring beyond similarity*, By names: the entity boost (a second form of the course's).

    >>> damp_by_square([1, 2, 60]).round(2)
    array([1.  , 1.  , 0.22])
    """
    n = numbers("df", df, low=1)
    return 1 / (1 + float(numbers("strength", strength, low=0, ndim=0)) * (n - 1) ** 2)


def names_in(
    text: str,
    names: Iterable[str],
    aliases: Mapping[str, str] | None = None,
    common: Collection[str] = COMMON_WORDS,
) -> tuple[str, ...]:
    """The known names that a text mentions, in order of first mention.

    text     a question or a card
    names    known names as they are written on cards
    aliases  other spelling -> name, for example {"Liz": "Elizabeth"}
    common   names that are words too (case-folded): these must match with their capital letter
    returns  names, each once, aliases resolved
    Whole words only ("Sam" is not in "Samsung"), a possessive counts ("Sam's" is Sam), the longest
    name wins ("New York" hides "York"), upper and lower case are the same but for `common`, and so
    are apostrophes, hyphens and accents as `memlib.words` folds them ("Zoe" finds Zoë; where both
    are known, each spelling finds its own).
    Raises ValueError for names given as one str.
    Source: *Scoring beyond similarity*, By names: the entity boost (look-up at read time).

    >>> names_in("Will Sam's sister like the Samsung?", ["Sam", "Will", "York"])
    ('Will', 'Sam')
    """
    if isinstance(names, str):
        raise ValueError(f"names is the text {names!r}: give a collection of names")
    spelled = {name: name for name in sorted(set(names))} | dict(aliases or {})
    for _ in range(len(aliases or ()).bit_length()):  # an alias may lead to an alias
        spelled = {spelling: spelled.get(name, name) for spelling, name in spelled.items()}
    known: dict[str, dict[str, str]] = {}  # folded -> its spellings, each with its name
    for spelling, name in spelled.items():
        if fold(spelling).strip():
            known.setdefault(fold(spelling), {})[spelling] = name
    capital = {fold(word) for word in common}
    mentioned: dict[str, None] = {}
    for folded, written in _mentions(text, known):
        as_it_is = _nfc if folded in capital else plain
        fits = [name for s, name in known[folded].items() if as_it_is(s) == as_it_is(written)]
        fits = fits or ([] if folded in capital else list(known[folded].values()))
        mentioned |= dict.fromkeys(fits[-1:])
    return tuple(mentioned)


def entity_boost(
    mentioned: Collection[str],
    cards: Sequence[Collection[str]],
    damping: Callable[[ArrayLike], Floats] = damp,
) -> Floats:
    """How much each card gains from the names in a question.

    boost = Σ over the question's known names on the card of damp(df) / number of known names

    mentioned  names in the question, as `names_in` returns them; a name on no card is not known
    cards      n collections of names
    damping    df -> worth; `damp` or `damp_by_square`
    returns    shape (n,), in [0, 1]; all 0 when the question knows no name
    Raises ValueError for a card or question that is a str.
    Source: *Scoring beyond similarity*, By names: the entity boost.

    >>> entity_boost({"Sam", "Miso"}, [{"Sam"}, {"Sam", "Miso"}, {"Nina"}]).round(2)
    array([0.32, 0.82, 0.  ])
    """
    for name, value in (
        ("mentioned", mentioned),
        *((f"cards[{i}]", c) for i, c in enumerate(cards)),
    ):
        if isinstance(value, str):
            raise ValueError(f"{name} is the text {value!r}: give a collection of names")
    holds = {
        name: np.array([name in card for card in cards], dtype=bool) for name in set(mentioned)
    }
    known = {name: rows for name, rows in sorted(holds.items()) if rows.any()}
    boost = np.zeros(len(cards))
    for rows in known.values():
        boost[rows] += float(damping(int(rows.sum())))
    return boost / max(len(known), 1)


def _mentions(text: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each known folded name in a text, the longest from each place on, and as it is written."""
    folded, read = fold(text), 0
    cuts = set(range(len(folded) + 1)) - inside(folded)
    lengths = sorted(set(map(len, known)), reverse=True)
    for start in sorted(cuts):
        ends = (start + n for n in lengths if start + n in cuts)
        end = next((end for end in ends if folded[start:end] in known), read)
        if start >= read and end > start:
            read = end
            yield folded[start:end], text[_place(text, start) : _place(text, end)]


def _place(text: str, place: int) -> int:
    """Where a place of the folded text is in the text, behind marks and what nobody sees."""
    return bisect_right(range(len(text) + 1), place, key=lambda at: len(fold(text[:at]))) - 1


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
