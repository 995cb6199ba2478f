"""BM25: equal to rank-bm25, equal to the formula by hand, and where its scores may lie."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from course.data.maya import load_exam, maya_cards
from memlib import bm25
from memlib.bm25 import (
    BM25,
    IDF_FLOOR,
    K1,
    K_NORM,
    STOPWORDS,
    TOKENIZERS,
    VARIANTS,
    B,
    naive,
    regex,
    saturate,
    stem,
    unicode,
    words,
)
from tests.oracles import bm25 as oracle

Call = Callable[[], object]
Documents = list[list[str]]
NAN = float("nan")

terms = st.sampled_from("abcdefg")
documents = st.lists(st.lists(terms, max_size=8), min_size=1, max_size=7)
questions = st.lists(st.sampled_from("aabcdefgz"), max_size=6)
k1s, bs = st.floats(0, 3), st.floats(0, 1)
variants = st.sampled_from(VARIANTS)
pieces = st.sampled_from(
    ["The", "cat", "cats", "Miso", "Sam's", "name", "names", "42", "café", "gave", "is", "?", "."]
)
texts = st.lists(pieces, max_size=9).map(" ".join)
letters = st.text("aZ9é_ßİ²ﬁ東京都人々〇ヶしりとりツーㇷ㐀서울글﨑𠮷 .,!'’-・🙂\n", max_size=14)


def theirs(corpus: Documents, terms: list[str], **how: float) -> np.ndarray:
    return BM25Okapi(corpus, **how).get_scores(terms)


def test_the_constants() -> None:
    assert (K1, B, IDF_FLOOR, K_NORM) == (1.5, 0.75, 0.25, 2.0)
    assert VARIANTS == ("okapi", "lucene")
    assert list(TOKENIZERS.values()) == [naive, regex, stem, unicode, words]
    assert [function.__name__ for function in TOKENIZERS.values()] == list(TOKENIZERS)


# Scores


def test_by_hand() -> None:
    index = BM25([["miso", "cat"], ["sam", "jazz"], ["rent", "due"]])
    assert index.scores(["cat"]) == pytest.approx([np.log(2.5 / 1.5), 0, 0], abs=1e-15)
    lucene = BM25([["miso", "cat"], ["sam", "jazz"], ["rent", "due"]], variant="lucene")
    assert lucene.scores(["cat"]) == pytest.approx([np.log(1 + 2.5 / 1.5) / 2.5, 0, 0], abs=1e-15)
    long = BM25([["cat", "cat", "nap"], ["nap"], ["sun"], ["tea"]], k1=2, b=0.5)
    expected = np.log(3.5 / 1.5) * 2 * 3 / (2 + 2 * (0.5 + 0.5 * 2))
    assert long.scores(["cat"]) == pytest.approx([expected, 0, 0, 0], abs=1e-15)


@given(documents.filter(any), questions, st.floats(0.01, 3), st.floats(0, 0.99), st.floats(0, 1))
@example([["a"]], ["a", "a"], 1.5, 0.75, 0.25)
@example([["a"], ["a", "b"]], ["a", "b", "z"], 1.5, 0.75, 0.25)
@example([["a"], [], ["a", "b"]], ["a"], 1.5, 0.75, 0.25)
@example([["a"], ["b"]], [], 1.5, 0.75, 0.25)
def test_okapi_equals_rank_bm25(
    corpus: Documents, terms: list[str], k1: float, b: float, floor: float
) -> None:
    found = BM25(corpus, k1, b, "okapi", floor).scores(terms)
    assert found == pytest.approx(theirs(corpus, terms, k1=k1, b=b, epsilon=floor), abs=1e-12)


@pytest.mark.parametrize("name", ["naive", "regex", "stem"])
@given(st.lists(texts, min_size=1, max_size=6), texts)
def test_okapi_equals_rank_bm25_however_the_words_are_cut(
    name: str, cards: list[str], question: str
) -> None:
    corpus, terms = [TOKENIZERS[name](card) for card in cards], TOKENIZERS[name](question)
    index = BM25(corpus)
    if any(corpus):
        assert index.scores(terms) == pytest.approx(theirs(corpus, terms), abs=1e-12)
    else:
        assert not index.scores(terms).any()


@pytest.mark.parametrize("name", TOKENIZERS)
def test_okapi_equals_rank_bm25_on_the_course_s_cards_and_exam(name: str) -> None:
    cut = TOKENIZERS[name]
    corpus = [cut(text) for text in maya_cards()["text"]]
    index = BM25(corpus)
    for question in load_exam()["question"]:
        found = index.scores(cut(question))
        assert found == pytest.approx(theirs(corpus, cut(question)), abs=1e-12)
        assert found.any()


def test_a_negative_idf_becomes_a_share_of_the_mean_which_may_be_negative_too() -> None:
    everywhere = [["the", "cat"], ["the", "tea"], ["the", "sun"]]
    idf = BM25(everywhere).idf
    assert idf["the"] == pytest.approx(0.25 * (3 * np.log(2.5 / 1.5) + np.log(0.5 / 3.5)) / 4)
    alone = BM25([["a"]])
    assert alone.idf["a"] == pytest.approx(0.25 * np.log(0.5 / 1.5))
    assert alone.scores(["a"])[0] < 0
    assert alone.scores(["a"]) == pytest.approx(theirs([["a"]], ["a"]), abs=1e-15)


@given(documents, questions, k1s, bs, variants, st.floats(0, 1))
@example([["a", "a"], [], ["b"]], ["a"], 1.5, 1.0, "okapi", 0.25)
@example([["a", "a"], ["b"]], ["a"], 0.0, 0.75, "lucene", 0.25)
@example([[], []], ["a"], 1.5, 0.75, "okapi", 0.25)
def test_both_variants_agree_with_the_oracle(
    corpus: Documents, terms: list[str], k1: float, b: float, variant: str, floor: float
) -> None:
    found = BM25(corpus, k1, b, variant, floor).scores(terms)
    assert found == pytest.approx(oracle.scores(corpus, terms, k1, b, variant, floor), abs=1e-12)


@given(documents, questions, k1s, bs)
def test_lucene_is_never_negative(corpus: Documents, terms: list[str], k1: float, b: float) -> None:
    index = BM25(corpus, k1, b, "lucene")
    assert all(worth > 0 for worth in index.idf.values())
    assert ((index.scores(terms) > 0) == index.matched(terms)).all()


@given(documents, questions, variants)
def test_only_documents_that_hold_a_term_are_touched(
    corpus: Documents, terms: list[str], variant: str
) -> None:
    index = BM25(corpus, variant=variant)
    holding = [bool(set(document) & set(terms)) for document in corpus]
    assert index.matched(terms).tolist() == holding
    assert (index.scores(terms)[~np.array(holding)] == 0).all()
    assert index.size == len(corpus)
    assert index.df == {t: sum(t in d for d in corpus) for d in corpus for t in d}


@given(documents, questions, questions, variants)
def test_each_term_counts_each_time(
    corpus: Documents, terms: list[str], more: list[str], variant: str
) -> None:
    index = BM25(corpus, variant=variant)
    both = index.scores(terms + more)
    assert both == pytest.approx(index.scores(terms) + index.scores(more), abs=1e-12)
    assert index.scores(terms * 3) == pytest.approx(3 * index.scores(terms), abs=1e-12)


@given(documents, questions, variants)
def test_the_order_of_documents_and_terms_does_not_matter(
    corpus: Documents, terms: list[str], variant: str
) -> None:
    forwards = BM25(corpus, variant=variant).scores(terms)
    backwards = BM25(corpus[::-1], variant=variant).scores(terms[::-1])
    assert backwards[::-1] == pytest.approx(forwards, abs=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_question_of_no_or_of_unknown_words_scores_nothing(variant: str) -> None:
    index = BM25([["cat"], ["sun"]], variant=variant)
    for terms in ([], ["moon"], ["moon", "moon"]):
        assert index.scores(terms).tolist() == [0, 0]
        assert index.matched(terms).tolist() == [False, False]


def test_an_answer_may_be_changed_without_harm() -> None:
    index = BM25([["cat"], ["sun"], ["tea"]])
    first = index.scores(["cat"])
    expected = first.tolist()
    first += 7
    assert index.scores(["cat"]).tolist() == expected


# What each knob does: every document below has "cat", 60 others make it rare

OTHERS = [["tea", "sun", "rain", "soup"]] * 60


@pytest.mark.parametrize("variant", VARIANTS)
def test_more_of_a_word_scores_more_but_each_time_less_so(variant: str) -> None:
    repeated = [["cat"] * times + ["nap"] * (9 - times) for times in range(1, 10)]
    scores = BM25(repeated + OTHERS, variant=variant).scores(["cat"])[:9]
    gains = np.diff(scores)
    assert (gains > 0).all()
    assert (np.diff(gains) < 0).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_longer_document_scores_less_unless_b_is_zero(variant: str) -> None:
    lengths = [["cat"] + ["nap"] * more for more in range(9)]
    assert (np.diff(BM25(lengths + OTHERS, variant=variant).scores(["cat"])[:9]) < 0).all()
    flat = BM25(lengths + OTHERS, b=0, variant=variant).scores(["cat"])[:9]
    assert len(set(flat.tolist())) == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_with_k1_zero_a_word_is_there_or_not(variant: str) -> None:
    mixed = [["cat"] * times + ["nap"] * (3 * times) for times in range(1, 6)]
    index = BM25(mixed + OTHERS, k1=0, variant=variant)
    assert index.scores(["cat"])[:5] == pytest.approx([index.idf["cat"]] * 5, abs=1e-15)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rare_word_is_worth_more(variant: str) -> None:
    index = BM25([["miso", "cat"], ["cat"], ["sun"], ["tea"], ["rain"]], variant=variant)
    assert index.idf["miso"] > index.idf["cat"] > 0


@given(documents, questions, k1s, bs)
def test_no_term_passes_its_ceiling(
    corpus: Documents, terms: list[str], k1: float, b: float
) -> None:
    okapi, lucene = BM25(corpus, k1, b), BM25(corpus, k1, b, "lucene")
    for index, gain in ((okapi, k1 + 1), (lucene, 1)):
        ceiling = sum(abs(index.idf.get(term, 0)) * gain for term in terms)
        assert (np.abs(index.scores(terms)) <= ceiling + 1e-12).all()


REFUSED: list[tuple[Call, str]] = [
    (lambda: BM25([]), "documents is empty: BM25 needs at least one"),
    (lambda: BM25([["a"]], variant="plus"), "variant is 'plus': must be one of okapi, lucene"),
    (lambda: BM25([["a"]], k1=-0.1), "k1 is -0.1: must be at least 0"),
    (lambda: BM25([["a"]], k1=NAN), "k1 is nan: must be a number"),
    (lambda: BM25([["a"]], b=1.01), "b is 1.01: must be at most 1"),
    (lambda: BM25([["a"]], b=-1), "b is -1.0: must be at least 0"),
    (lambda: BM25([["a"]], idf_floor=NAN), "idf_floor is nan: must be a number"),
    (
        lambda: BM25([["a"], "the cat"]),
        "documents[1] is the text 'the cat': cut it into a list of tokens first",
    ),
    (lambda: BM25("cat"), "documents[0] is the text 'c': cut it into a list of tokens first"),
    (
        lambda: BM25([["a"]]).scores("a"),
        "terms is the text 'a': cut it into a list of tokens first",
    ),
    (
        lambda: BM25([["a"]]).matched("a"),
        "terms is the text 'a': cut it into a list of tokens first",
    ),
    (lambda: saturate([0, -0.1]), "scores[1] is -0.1: must be at least 0"),
    (lambda: saturate([NAN]), "scores[0] is nan: must be a number"),
    (lambda: saturate(float("inf")), "scores is inf: must be finite"),
    (lambda: saturate([1], -2), "k_norm is -2.0: must be at least 4.94066e-324"),
    (lambda: saturate([1], 0), "k_norm is 0.0: must be at least 4.94066e-324"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


# Saturation


def test_saturation_by_hand() -> None:
    assert saturate([0, 2, 6, 18]).tolist() == [0, 0.5, 0.75, 0.9]
    assert saturate([[1, 3]], k_norm=1).tolist() == [[0.5, 0.75]]
    assert float(saturate(2)) == 0.5
    assert saturate([]).shape == (0,)


@given(st.lists(st.floats(0, 1e9), max_size=8), st.floats(1e-6, 1e6))
def test_saturation_stays_below_one_and_keeps_the_order(scores: list[float], k_norm: float) -> None:
    found = saturate(sorted(scores), k_norm)
    assert ((found >= 0) & (found < 1)).all()
    assert (np.diff(found) >= 0).all()
    expected = [score / (score + k_norm) for score in sorted(scores)]
    assert found == pytest.approx(expected, abs=1e-15)


def test_the_same_match_saturates_higher_in_okapi_than_in_lucene() -> None:
    corpus = [["miso", "naps"], *[["sam", "sings"]] * 199]
    okapi, lucene = (BM25(corpus, variant=v).scores(["miso"]).max() for v in VARIANTS)
    assert float(saturate(okapi)) == pytest.approx(0.71, abs=0.005)
    assert float(saturate(lucene)) == pytest.approx(0.50, abs=0.01)
    with pytest.raises(ValueError, match="must be at least 0"):
        saturate(BM25([["a"]]).scores(["a"]))


# Cutting words


def test_the_stop_words_are_common_english_ones_each_once() -> None:
    words = Path(bm25.__file__).with_name("stopwords_en.txt").read_text(encoding="utf-8").split()
    assert len(words) == len(set(words)) == len(STOPWORDS) == 71
    assert {"the", "t", "your"} <= STOPWORDS and not {"cat", "may", "not"} & STOPWORDS


CUT: list[tuple[str, list[str], list[str], list[str], list[str]]] = [
    # text, naive, regex, stem, unicode
    ("", [], [], [], []),
    (" \t\n", [], [], [], []),
    ("🙂 — !?", ["🙂", "—", "!?"], [], [], []),
    *[(word, [word], [word], [], [word]) for word in ("the", "with", "ll")],
    (
        "The cat's name? Miso.",
        ["the", "cat's", "name?", "miso."],
        ["the", "cat", "s", "name", "miso"],
        ["cat", "name", "miso"],
        ["the", "cat", "s", "name", "miso"],
    ),
    (
        "Sam’s rent: £1,200 (2x)",
        ["sam’s", "rent:", "£1,200", "(2x)"],
        ["sam", "s", "rent", "1", "200", "2x"],
        ["sam", "rent", "1", "200", "2x"],
        ["sam", "s", "rent", "1", "200", "2x"],
    ),
    (
        "Café CRÈME naïve",
        ["café", "crème", "naïve"],
        ["caf", "cr", "me", "na", "ve"],
        ["caf", "cr", "na"],
        ["café", "crème", "naïve"],
    ),
    ("snake_case", ["snake_case"], ["snake", "case"], ["snake", "case"], ["snake_case"]),
    ("猫は寝る", ["猫は寝る"], [], [], ["猫は", "は寝", "寝る"]),
    ("東京Tower", ["東京tower"], ["tower"], ["tower"], ["東京", "tower"]),
    ("猫", ["猫"], [], [], ["猫"]),
    ("서울은 비", ["서울은", "비"], [], [], ["서울", "울은", "비"]),
    ("我爱猫。", ["我爱猫。"], [], [], ["我爱", "爱猫"]),
    ("時々", ["時々"], [], [], ["時々"]),
    ("𠮷野家", ["𠮷野家"], [], [], ["𠮷野", "野家"]),
]


@pytest.mark.parametrize("row", CUT, ids=[repr(row[0]) for row in CUT])
def test_each_published_tokenizer_cuts_exactly_so(
    row: tuple[str, list[str], list[str], list[str], list[str]],
) -> None:
    text, *expected = row
    assert [cut(text) for cut in (naive, regex, stem, unicode)] == expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("Who were the Zoës?", ["zoe"]),
        ("running allergies, CAT'S cats", ["run", "allergi", "cat", "cat"]),
        ("The thé is à la carte", ["the", "a", "la", "cart"]),
        ("Error E‑4012 in get_user", ["error", "e-4012", "e", "4012", "get_user", "get", "user"]),
        ("O’Briens’ T-4", ["o'briens", "o", "brien", "t-4", "4"]),
        ("दूध और чай", ["दूध", "और", "чай"]),
        ("東京Tower ดื่มชา", ["東京", "tower", "ดื่ม", "มช", "ชา"]),
    ],
)
def test_words_cuts_exactly_so(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens


ISSUE = [  # card, another card, a question that finds the first alone, a tokenizer that does not
    ("माया को दूध पसंद है", "माया को दही पसंद है", "दूध", unicode),
    ("माला", "मूली मेल", "माला", unicode),
    ("தமிழ் பால்", "பூ மலர்", "பால்", unicode),
    ("ฉันแพ้ถั่วลิสงมาก", "ถ้วยใบใหม่", "ถั่ว", unicode),
    ("בְּרֵאשִׁית בָּרָא", "אֶרֶץ", "בראשית", unicode),
    ("مُحَمَّد يشرب", "أحمد", "محمد", unicode),
    ("Maya in İstanbul", "Maya in Bursa", "istanbul", unicode),
    ("Ask O’Brien", "Ask Connor", "O'Brien", naive),
    ("Béatrice called", "Sam called", "Beatrice", stem),
    ("Παίρνει το φάρμακό της", "Πίνει τσάι", "φαρμακο", unicode),
    ("Code E‑4012", "Code 4, 4013", "E-4012", naive),
    ("កូនឆ្មាផឹកទឹកដោះគោ", "គាត់ចូលចិត្តតែក្តៅ", "កូនឆ្មា", unicode),
    ("ကြောင်နို့သောက်တယ်", "သူလက်ဖက်ရည်ကြိုက်တယ်", "ကြောင်", unicode),
    ("ແມວດື່ມນົມ", "ລາວດື່ມ", "ນົມ", unicode),
]


@pytest.mark.parametrize("row", ISSUE, ids=[row[2] for row in ISSUE])
def test_words_finds_what_another_tokenizer_misses(
    row: tuple[str, str, str, Callable[[str], list[str]]],
) -> None:
    card, other, question, old = row

    def found(cut: Callable[[str], list[str]]) -> list[bool]:
        index = BM25([cut(card), cut(other)], variant="lucene")
        assert (index.scores(cut(question)) > 0).tolist() == index.matched(cut(question)).tolist()
        return index.matched(cut(question)).tolist()

    assert found(words) == [True, False]
    assert found(old) != [True, False]


@pytest.mark.parametrize(("card", "letter"), [("我爱猫", "猫"), ("កូនឆ្មា", "ឆ្មា")])
def test_one_letter_alone_is_not_found_inside_a_run(card: str, letter: str) -> None:
    assert len(words(letter)) == 1 and not set(words(letter)) & set(words(card))


@given(texts)
def test_words_keeps_what_stem_keeps_of_plain_english(text: str) -> None:
    plain = text.replace("é", "e")
    assert words(plain) == stem(plain)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("２０２５ ＡＢＣ", "2025 abc"),
        ("ｶﾌｪ", "カフェ"),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "CAFÉ"),
        ("ﬁne", "fine"),
        ("서울".encode().decode(), "\u1109\u1165\u110b\u116e\u11af"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ],
)
def test_unicode_reads_two_spellings_as_one(one: str, other: str) -> None:
    assert unicode(one) == unicode(other) != []


@pytest.mark.parametrize(
    ("forms", "stemmed"),
    [
        (["cat", "cats", "Cats", "CAT'S"], "cat"),
        (["name", "names", "named", "naming"], "name"),
        (["allergy", "allergies"], "allergi"),
        (["running", "runs", "run"], "run"),
    ],
)
def test_stems_bring_the_forms_of_a_word_together(forms: list[str], stemmed: str) -> None:
    assert [stem(form) for form in forms] == [[stemmed]] * len(forms)


def test_what_a_stem_cannot_bring_together() -> None:
    assert stem("gave give") == ["gave", "give"]
    assert stem("mouse mice") == ["mous", "mice"]


@given(letters)
def test_regex_and_unicode_agree_with_the_oracle(text: str) -> None:
    assert regex(text) == oracle.regex(text)
    assert unicode(text) == oracle.unicode(text)


@given(texts)
def test_stem_is_regex_without_stop_words(text: str) -> None:
    kept = [word for word in regex(text) if word not in STOPWORDS]
    assert len(stem(text)) == len(kept)
    assert all(
        s[0] == word[0] and len(s) <= len(word) for s, word in zip(stem(text), kept, strict=True)
    )


@pytest.mark.parametrize("cut", TOKENIZERS.values(), ids=list(TOKENIZERS))
@given(text=st.text(max_size=30))
def test_no_text_gives_an_empty_token(cut: Callable[[str], list[str]], text: str) -> None:
    assert all(token and not token.isspace() for token in cut(text))
