"""Words in the world's scripts: what is one, what is folded, and what never is."""

import unicodedata
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlib.words import (
    DASHES,
    fold,
    inside,
    plain,
    search_words,
    without_spaces,
    words,
)
from tests.oracles import words as oracle

SCRIPTS = {  # a text and its words
    "Latin": ("Zoë a dit: l’été, à Łódź!", ["zoe", "a", "dit", "l", "ete", "a", "lodz"]),
    "Turkish": ("İstanbul, ISPARTA, Isparta, ısparta", ["istanbul", *["isparta"] * 3]),
    "Vietnamese": ("Phở Đà Nẵng", ["pho", "da", "nang"]),
    "Greek": ("Η Σοφία πίνει καφέ ΚΑΦΈΣ", ["η", "σοφια", "πινει", "καφε", "καφεσ"]),
    "Cyrillic": ("Чай и ёлка, Йод; Сергій", ["чай", "и", "ёлка", "йод", "сергій"]),
    "Armenian": ("Անի՝ թեյ", ["անի", "թեյ"]),
    "Hebrew": ("שָׁלוֹם, בית־ספר", ["שלום", "בית", "ספר"]),
    "Arabic": ("سَلَامٌ، شـــاي أحمد ٢٠٢٥", ["سلام", "شاي", "أحمد", "2025"]),
    "Persian": ("می\u200cخواهم میخواهم", ["میخواهم", "میخواهم"]),
    "Devanagari": ("माया को दूध, १२ मूली।", ["माया", "को", "दूध", "12", "मूली"]),
    "Bengali": ("মায়া চা খায়", ["মায়া", "চা", "খায়"]),
    "Tamil": ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
    "Malayalam": ("മലയാളം ചായ", ["മലയാളം", "ചായ"]),
    "Thai": ("ดื่มชา", ["ดื่ม", "มช", "ชา"]),
    "Thai vowels": ("ที่นี่", ["ที่นี่"]),
    "Lao": ("ສະບາຍ", ["ສະ", "ະບ", "ບາ", "າຍ"]),
    "Khmer": ("ភាសាខ្មែរ", ["ភាសា", "សាខ្មែ", "ខ្មែរ"]),
    "Burmese": ("မြန်မာစာ", ["မြန်", "န်မာ", "မာစာ"]),
    "Burmese stack": ("မန္တလေး", ["မန္တ", "န္တလေး"]),
    "Han": ("我爱猫。東京２０２５", ["我爱", "爱猫", "東京", "2025"]),
    "Kana": ("が ｶﾞ かきﾞ ラーメン", ["が", "ガ", "かぎ", "ラー", "ーメ", "メン"]),
    "Hangul": ("서울은 비", ["서울", "울은", "비"]),
    "Georgian": ("ᲛᲐᲘᲐ მაია", ["მაია", "მაია"]),
    "Ethiopic": ("ሰላም፣ ቡና", ["ሰላም", "ቡና"]),
    "Tibetan": ("བོད་སྐད་", ["བོད", "སྐད"]),
}


@pytest.mark.parametrize(("text", "expected"), SCRIPTS.values(), ids=list(SCRIPTS))
def test_the_words_of_a_script(text: str, expected: list[str]) -> None:
    want = [unicodedata.normalize("NFC", word) for word in expected]
    assert words(text) == oracle.words(text) == want
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert words(unicodedata.normalize(form, text)) == want


APART = [  # pairs that must never meet
    *(("मेल", "माला"), ("माला", "मूली"), ("मेल", "मेला"), ("दूध", "दध")),
    *(("й", "и"), ("ё", "е"), ("ї", "і"), ("за\u0301мок", "замок")),
    *(("が", "か"), ("ガ", "カ"), ("パ", "ハ"), ("か", "カ")),
    *(("أ", "ا"), ("ى", "ي"), ("ة", "ه")),
    *(("ที่", "ที"), ("ไม่", "ไม"), ("ମା", "ମ"), ("கா", "க"), ("မာ", "မ"), ("ខ្មែ", "ខមែ")),
    *(("s", "z"), ("猫", "狗"), ("ש", "ת")),
]
ALIKE = [  # two ways to write the same, or what matching folds
    *(("İstanbul", "istanbul"), ("İSTANBUL", "ıstanbul"), ("Straße", "STRASSE")),
    *(("Béatrice", "Beatrice"), ("Søren", "soren"), ("Łukasz", "LUKASZ"), ("Œuvre", "oeuvre")),
    *(("ΣΊΣΥΦΟΣ", "σισυφος"), ("ᾠδή", "ωιδη"), ("Ναΐς", "ναις")),
    *(("שָׁלוֹם", "שלום"), ("בְּרֵאשִׁית", "בראשית"), ("שּׁ", "ש")),
    *(("مُحَمَّد", "محمد"), ("الرَّحْمٰن", "الرحمن"), ("ﻼ", "لا")),
    *(("ｶﾌｪ", "カフェ"), ("서울", "\u1109\u1165\u110b\u116e\u11af"), ("２０２５", "٢٠٢٥")),
    *(("क़", "क\u093c"), ("ﬁne", "FINE"), ("葛\U000e0100", "葛"), ("co\u00adop", "coop")),
    *(("ភាសា\u200bខ្មែរ", "ភាសាខ្មែរ"), ("1\ufe0f\u20e3", "1"), ("ΌΣΟΣ", "όσος")),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_a_mark_that_is_no_accent_makes_another_word(one: str, other: str) -> None:
    assert set(words(one)).isdisjoint(words(other))
    assert fold(one) != fold(other)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_two_spellings_of_a_word_meet(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert words(one) == words(other) != []


@pytest.mark.parametrize("mark", "’‘ʼʻ′`´＇‛׳՚ꞌ")
def test_an_apostrophe_is_an_apostrophe(mark: str) -> None:
    assert fold(f"O{mark}Brien") == "o'brien"
    assert search_words(f"O{mark}Brien{mark}s") == ["o'brien", "o", "brien", "s"]


@pytest.mark.parametrize("mark", "‐‑‒–−﹣－⁃־゠﹘")
def test_a_hyphen_is_a_hyphen(mark: str) -> None:
    assert fold(f"Jean{mark}Luc") == "jean-luc"
    assert search_words(f"Jean{mark}Luc") == ["jean-luc", "jean", "luc"]


@pytest.mark.parametrize("mark", sorted(DASHES))
def test_a_long_dash_parts_clauses(mark: str) -> None:
    assert search_words(f"Sam{mark}Nina") == ["sam", "nina"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E-4012", ["e-4012", "e", "4012"]),
        ("snake_case __init__", ["snake_case", "snake", "case", "init"]),
        ("version 2.4.6.", ["version", "2.4.6", "2", "4", "6"]),
        ("maya@example.com", ["maya@example.com", "maya", "example", "com"]),
        ("https://example.com/a?b", ["https", "example.com/a", "example", "com", "a", "b"]),
        ("06:30, 24/7", ["06:30", "06", "30", "24/7", "24", "7"]),
        ("47B19", ["47b19"]),
        ("col·lecció", ["col·leccio", "col", "leccio"]),
        ("Wi‑Fi接続", ["wi-fi", "wi", "fi", "接続"]),
        ("चाय-दूध", ["चाय-दूध", "चाय", "दूध"]),
        ("Sam's don’t we'LL", ["sam", "s", "don", "t", "we", "ll"]),
        ("Jean-Luc's", ["jean-luc", "jean", "luc", "s"]),
        ("l'eau d’Artagnan", ["l'eau", "l", "eau", "d'artagnan", "d", "artagnan"]),
        ("one. two... three -- 'four' -five-", ["one", "two", "three", "four", "five"]),
    ],
)
def test_an_identifier_counts_whole_and_in_parts(text: str, expected: list[str]) -> None:
    assert search_words(text) == expected
    assert words(text) == [word for word in expected if not set(word) & set("'_-./:@·")]


def test_a_stop_word_is_compared_with_its_accents() -> None:
    assert words("the thé à a", stop=("the", "a")) == ["the", "a"]
    assert search_words("the thé", stop={"the"}) == ["the"]
    assert words("東京都の", stop={"京都"}) == ["東京", "都の"]


def test_the_letters_in_a_row_can_be_chosen() -> None:
    assert words("東京都 ดื่ม Tea", gram=1) == ["東", "京", "都", "ดื่", "ม", "tea"]
    assert words("東京都", gram=3) == words("東京都", gram=9) == ["東京都"]
    with pytest.raises(ValueError, match="gram is 0: must be 1 or more"):
        words("東京都", gram=0)


def test_no_text_no_words() -> None:
    for text in ("", " ", "…!?", "’", "-", "\u0301\u093e", "🙂", "\u200b\ufeff", "ـ", "\u0e35"):
        assert words(text) == search_words(text) == []
    assert fold("") == plain("") == ""
    assert not without_spaces("")


def test_plain_keeps_accents() -> None:
    assert plain("ZOË’s thé‑crème, Ｂ") == "zoë's thé-crème, b"
    assert plain("ra\u200bte \u034fthis") == "rate this"


def test_a_cut_inside_a_word_is_known() -> None:
    assert inside("sam") == {1, 2}
    assert inside("sam_1 is") == {1, 2, 3, 4, 7}
    assert inside("o'b") == inside("東京") == inside("m東") == set()
    assert inside("दूध") == {1, 2}
    assert inside("ที่นี่") == {1, 2, 4, 5}


ALPHABET = (
    "aEéøßİıŉǆ0９٣१’'-‑—_.:@/ ,σΣςᾳΐё\u0439ґאשׁבּ־َّأابـदूिकक्षதமி์ที่นำแᨀ"
    "ກຳខ្មែឲမြန်္တ猫々〇ーカガﾞｶ서ㅎㅏᄒ\u1161\u11ab\u0301\u0308\u0345\u3099\u200b\u200d\ufe0f½①🙂\n"
)
letters = st.text(ALPHABET, max_size=12) | st.text(max_size=8)


@given(letters)
@example("ᾴ")
@example("α\u0345\u0301")
@example("a\u064b\u0301")
@example("ㅎㅏ")
def test_fold_agrees_with_the_oracle_and_folds_once_for_all(text: str) -> None:
    assert fold(text) == oracle.fold(text) == fold(fold(text))
    assert fold(text) == fold(plain(text)) and plain(text) == plain(plain(text))
    assert fold(text) == fold(unicodedata.normalize("NFD", text).casefold())


@given(letters, st.integers(1, 3))
def test_words_agree_with_the_oracle_in_every_normal_form(text: str, gram: int) -> None:
    expected = oracle.words(text, gram)
    assert words(text, gram) == expected
    for form in ("NFC", "NFD"):
        assert words(unicodedata.normalize(form, text), gram) == expected


@given(letters)
def test_every_word_holds_a_letter_or_digit_and_stays_as_it_is(text: str) -> None:
    for word in words(text) + search_words(text):
        assert any(map(str.isalnum, word)) and fold(word) == word
        assert unicodedata.category(word[0])[0] != "M"
    assert set(words(text)) <= set(search_words(text))


@given(letters)
def test_what_is_inside_never_parts_words(text: str) -> None:
    folded, pieces, start = fold(text), list[str](), 0
    for place in [*sorted(set(range(1, len(folded))) - inside(folded)), len(folded)]:
        pieces, start = [*pieces, folded[start:place]], place
    cut = [word for piece in pieces for word in words(piece, gram=1)]
    assert cut == words(text, gram=1)


def test_every_character_of_unicode_agrees_with_the_oracle() -> None:
    points = [*range(0x3400), *range(0x3400, 0x30000, 101), *range(0xF900, 0x10000)]
    seen = 0
    for letter in map(chr, points):
        if unicodedata.category(letter) in ("Cn", "Co", "Cs"):
            continue
        seen += 1
        assert fold(letter) == oracle.fold(letter) == fold(fold(letter)), hex(ord(letter))
        for text in (letter, f"a{letter}b"):
            assert words(text) == oracle.words(text), hex(ord(letter))
    assert seen > 10_000


@pytest.mark.parametrize(("base", "mark"), [*product("aω1", "\u0301\u0308\u0327\u20d0")])
def test_accents_leave_latin_greek_and_digits(base: str, mark: str) -> None:
    assert fold(base + mark) == base
    assert fold("ж" + mark) == unicodedata.normalize("NFC", "ж" + mark)
