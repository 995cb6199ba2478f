"""Words: what counts as one in any script, for search, titles, tags, names and the extractor."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

WITHOUT_SPACES = (  # scripts that set no spaces between words, and Hangul, whose endings stick
    (0x0E01, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Burmese
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # 々, 〇, numerals, repeat marks
    (0x3021, 0x3029),
    (0x3031, 0x303C),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
    (0x3041, 0x30FF),  # Kana
    (0x31F0, 0x31FF),
    (0x1AFF0, 0x1B16F),
    (0x3105, 0x312F),  # Bopomofo
    (0x31A0, 0x31BF),
    (0x1100, 0x11FF),  # Hangul
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
)
APOSTROPHES = frozenset("'`´ʹʻʼʽʾʿˈ׳՚‘’‛′ꞌ᾽᾿＇")
DASHES = frozenset("—―⸺⸻〜〰")  # between clauses, never inside a word
HYPHENS = frozenset("-−⁃")  # and every other dash of Unicode's class Pd
JOINTS = frozenset("-./:@·")  # and apostrophes and _: inside an identifier, between its parts
UNSEEN = frozenset(  # looks like nothing, as all of class Cf does; the kashida only stretches
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0\u0640"
) | frozenset(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
STACKERS = "\u1039\u17d2"  # Burmese and Khmer: the next consonant stands below this one

_LETTERS = str.maketrans(  # Latin letters that Unicode does not take apart
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ð": "d"}
    | {"æ": "ae", "œ": "oe", "þ": "th"}
)
_POINTS = frozenset(  # Hebrew points and accents; Arabic harakat and Koranic signs
    [
        *(*range(0x0591, 0x05BE), 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7, 0xFB1E),
        *(*range(0x0610, 0x061B), *range(0x064B, 0x0653), *range(0x0656, 0x0660), 0x0670),
        *(*range(0x06D6, 0x06DD), *range(0x06DF, 0x06E5), 0x06E7, 0x06E8, *range(0x06EA, 0x06EE)),
        *(*range(0x0898, 0x08A0), *range(0x08CA, 0x0900)),
    ]
)
_ACCENTED = re.compile(  # Latin, Greek or a digit, then its marks
    "([a-z0-9\u00c0-\u02af\u0370-\u03ff\u1d00-\u1dbf\u1e00-\u1fff\u2c60-\u2c7f\ua720-\ua7ff"
    "\uab30-\uab6f])[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_CONTRACTED = re.compile(r"'(?:d|ll|m|re|s|t|ve)$")  # Sam's, don't: English, no identifier
_JOINT = re.compile(r"['_\-./:@·]")
# One letter a character: s letter of a script without spaces, w other letter or digit, m mark,
# v stacker, _ underscore, j another joint
_CLUSTER = re.compile(r"s(?:vm*s|[mv])*")
_PIECE = re.compile(r"(?:s(?:vm*s|[mv])*)+|w[wmv]*(?:[_j]w[wmv]*)*")
_UNIT = re.compile(r"s(?:vm*s|[mv])*|[w_][w_mv]*")


class _Lazy(dict[int, str]):
    """A table for str.translate whose entries are worked out when a character is first met."""

    def __init__(self, entry: Callable[[str], str]) -> None:
        self.entry = entry

    def __missing__(self, point: int) -> str:
        self[point] = self.entry(chr(point))
        return self[point]


def _form(letter: str) -> str:
    kind = unicodedata.category(letter)
    if letter in APOSTROPHES:
        return "'"
    if letter in HYPHENS or (kind == "Pd" and letter not in DASHES):
        return "-"
    if letter in UNSEEN or ord(letter) in _POINTS or kind == "Cf":
        return ""
    return str(unicodedata.decimal(letter)) if kind == "Nd" else letter


def _kind(letter: str) -> str:
    if letter == "_" or letter == "'" or letter in JOINTS:
        return "_" if letter == "_" else "j"
    if unicodedata.category(letter).startswith("M"):
        return "v" if letter in STACKERS else "m"
    if not letter.isalnum():
        return " "
    return "s" if without_spaces(letter) else "w"


_FORMS, _KINDS = _Lazy(_form), _Lazy(_kind)


def without_spaces(word: str) -> bool:
    """Whether a word begins in a script that goes as pairs of characters.

    >>> without_spaces("東京"), without_spaces("tokyo")
    (True, False)
    """
    return any(low <= ord(word[0]) <= high for low, high in WITHOUT_SPACES) if word else False


def plain(text: str) -> str:
    """One form of each letter, Latin and Greek accents kept: case, width, apostrophes, hyphens.

    text     any str
    returns  in NFC, case folded, digits 0 to 9; without points in Hebrew, harakat in Arabic and
             characters that nobody sees
    Source: Unicode Standard 17, definition 146 (compatibility caseless match); this course.

    >>> plain("Zoë O’Brien‑LEE, ２")
    "zoë o'brien-lee, 2"
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    for form in ("NFD", "NFKD", "NFKD"):
        text = unicodedata.normalize(form, text).translate(_FORMS).casefold()
    return unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """`plain` without accents in Latin and Greek: what two texts share that should match.

    text     any str
    returns  folded text, in NFC; only Latin, Greek, Hebrew and Arabic have lost marks
    Source: this course.

    >>> fold("Béatrice, İstanbul; दूध, が, й")
    'beatrice, istanbul; दूध, が, й'
    """
    return _strip(plain(text))


def words(text: str, gram: int = 2, stop: Collection[str] = ()) -> list[str]:
    """The folded words of a text, in order; what holds joints goes in its parts.

    text     any str
    gram     letters in a row that make a word where a script sets no spaces, 1 or more; a letter
             keeps its marks, and a run of fewer letters is one word
    stop     words left out, compared before accents fold: "thé" is not "the"
    returns  a list; each word holds a letter or digit
    Raises ValueError for a gram below 1.
    Source: this course; the pairs of characters as in Lucene's CJK analysis.

    >>> words("Sam's door-code, 東京都")
    ['sam', 's', 'door', 'code', '東京', '京都']
    """
    if gram < 1:
        raise ValueError(f"gram is {gram!r}: must be 1 or more")
    parts = [part for piece in _pieces(plain(text), gram) for part in piece]
    return [_bare(word) for word in parts if word not in stop]


def search_words(text: str, stop: Collection[str] = ()) -> list[str]:
    """`words`, and before its parts each identifier as a whole.

    >>> search_words("O’Brien's E‑4012")
    ["o'brien", 'o', 'brien', 's', 'e-4012', 'e', '4012']
    """
    parts = [part for piece in _pieces(plain(text), 2, whole=True) for part in piece]
    return [_bare(word) for word in parts if word not in stop]


def inside(text: str) -> set[int]:
    """The places at which a cut would part a word, or a letter from its marks; _ parts nothing.

    >>> sorted(inside("Sam_1 दू"))
    [1, 2, 3, 4, 7]
    """
    units = _UNIT.finditer(text.translate(_KINDS))
    return {place for unit in units for place in range(unit.start() + 1, unit.end())}


def _pieces(text: str, gram: int, whole: bool = False) -> Iterator[list[str]]:
    """Each run of letters cut into its words, the identifier itself first if `whole`."""
    kinds = text.translate(_KINDS)
    for piece in _PIECE.finditer(kinds):
        start, end = piece.span()
        if kinds[start] == "s":
            cuts = [start + cluster.start() for cluster in _CLUSTER.finditer(piece[0])] + [end]
            last = max(len(cuts) - gram, 1)
            yield [text[cuts[i] : cuts[min(i + gram, len(cuts) - 1)]] for i in range(last)]
            continue
        parts = _JOINT.split(text[start:end])
        name = _CONTRACTED.sub("", text[start:end]) if whole and len(parts) > 1 else ""
        yield [name, *parts] if _JOINT.search(name) else parts


def _strip(text: str) -> str:
    if text.isascii():
        return text
    text = unicodedata.normalize("NFD", text).translate(_LETTERS)
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", text))


_bare = lru_cache(maxsize=1 << 16)(_strip)  # for words, which come again and again
