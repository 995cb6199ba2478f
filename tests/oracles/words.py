"""Words letter by letter; a letter's script is read off its Unicode name."""

import unicodedata
from itertools import dropwhile, groupby, takewhile

RUN_TOGETHER = ("THAI", "LAO", "MYANMAR", "KHMER", "CJK", "IDEOGRAPHIC", "HANGZHOU", "BOPOMOFO")
RUN_TOGETHER += ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HENTAIGANA", "HANGUL")
REPEATS = ("VERTICAL KANA", "VERTICAL IDEOGRAPHIC", "MASU MARK")
STAYS = ("ARABIC MADDAH ABOVE", "ARABIC HAMZA ABOVE", "ARABIC HAMZA BELOW")
APART = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ð": "d"}
APART |= {"æ": "ae", "œ": "oe", "þ": "th"}
INVISIBLE = "\u0640\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
LONG_DASHES = "—―⸺⸻〜〰"
APOSTROPHES = "'`´ʹʻʼʽʾʿˈ׳՚‘’‛′ꞌ᾽᾿＇"


def fold(text: str) -> str:
    for form in ("NFD", "NFKD", "NFKD"):
        text = "".join(map(_form, unicodedata.normalize(form, text))).casefold()
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFC", text))
    letters = "".join(APART.get(x, x) for x in text if not _point(x))
    return unicodedata.normalize("NFC", "".join(map(_bare, _clusters(letters))))


def words(text: str, gram: int = 2) -> list[str]:
    found: list[str] = []
    for alike, run in groupby(_clusters(fold(text)), _kind):
        if alike == "apart":
            found += "".join(run).split()
        elif alike == "together":
            letters = list(run)
            if len(letters) <= gram:
                found.append("".join(letters))
            else:
                found += ["".join(letters[i : i + gram]) for i in range(len(letters) - gram + 1)]
    return found


def runs_together(letter: str) -> bool:
    name = unicodedata.name(letter, "?")
    together = name.split()[0] in RUN_TOGETHER or name.startswith(REPEATS)
    return together and "TALLY" not in name


def _form(letter: str) -> str:
    kind, name = unicodedata.category(letter), unicodedata.name(letter, "?")
    if letter in APOSTROPHES:
        return "'"
    if letter in "−⁃" or (kind == "Pd" and letter not in LONG_DASHES):
        return "-"
    if kind == "Cf" or "VARIATION SELECTOR" in name or letter in INVISIBLE:
        return ""
    return str(unicodedata.digit(letter)) if kind == "Nd" else letter


def _point(letter: str) -> bool:
    name, mark = unicodedata.name(letter, "?"), unicodedata.category(letter) == "Mn"
    hebrew = mark and name.startswith("HEBREW")
    return hebrew or (mark and "ARABIC" in name and name not in STAYS)


def _clusters(text: str) -> list[str]:
    found: list[str] = []
    for x in text:
        both = found and all(y.isalnum() and runs_together(y) for y in (found[-1][0], x))
        marks = reversed(found[-1]) if both else ""
        stacked = {"\u1039", "\u17d2"} & set(takewhile(lambda y: not y.isalnum(), marks))
        if found and (unicodedata.category(x)[0] == "M" or stacked):
            found[-1] += x
        else:
            found.append(x)
    return found


def _bare(cluster: str) -> str:
    base, marks = cluster[0], list(cluster[1:])
    if unicodedata.name(base, "?").split()[0] in ("LATIN", "GREEK") or base in "0123456789":
        marks = list(dropwhile(_accent, marks))
    return base + "".join(marks)


def _accent(mark: str) -> bool:
    inherited = ((0x300, 0x36F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF))
    return any(low <= ord(mark) <= high for low, high in (*inherited, (0xFE20, 0xFE2F)))


def _kind(cluster: str) -> str:
    if not cluster[0].isalnum():
        return "neither"
    return "together" if runs_together(cluster[0]) else "apart"
