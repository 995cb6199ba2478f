"""Relevance: four parts with weights that add up to 1, tags, and titles."""

import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.four_part_relevance import (
    EXACT,
    NGRAM,
    PREFIX,
    RelevanceWeights,
    question_tags,
    relevance,
    tag_match,
    title_hit,
)
from tests.oracles import relevance as oracle

Call = Callable[[], object]
NAN = float("nan")

signed = st.integers(-40, 40).map(lambda n: Fraction(n, 40))
unit = st.integers(0, 40).map(lambda n: Fraction(n, 40))
parts = st.tuples(signed, unit, unit, unit)
word = st.sampled_from(["door", "Code", "CODE", "cat", "straße", "STRASSE", "9", "猫"])
phrase = st.lists(word, max_size=4).flatmap(
    lambda words: st.sampled_from([" ", ", ", "-", "! "]).map(lambda gap: gap.join(words))
)


def one(dense: float, words: float, tags: float, title: float) -> float:
    return float(relevance([dense], [words], [tags], [title])[0])


def hit(question: str, title: str) -> float:
    return float(title_hit(question, [title])[0])


def test_the_constants() -> None:
    assert RelevanceWeights() == RelevanceWeights(0.60, 0.30, 0.05, 0.05)
    assert sum(map(Fraction, ("0.60", "0.30", "0.05", "0.05"))) == 1
    assert sum(vars(RelevanceWeights()).values()) == pytest.approx(1, abs=1e-15)
    assert (EXACT, PREFIX, NGRAM) == (1, 0.5, 0.2)


# The sum


def test_relevance_by_hand() -> None:
    assert [one(1, 0, 0, 0), one(0, 1, 0, 0), one(0, 0, 1, 0), one(0, 0, 0, 1)] == [
        *(0.60, 0.30, 0.05, 0.05)
    ]
    assert one(1, 1, 1, 1) == 1
    assert one(0, 0.75, 0, 0) == pytest.approx(0.225)
    mine = RelevanceWeights(1, 2, 4, 8)
    assert relevance([0.5], [0.5], [0.5], [0.5], mine).tolist() == [7.5]
    assert relevance([], [], [], []).shape == (0,)


def test_a_cosine_below_0_counts_as_0() -> None:
    assert one(-1, 0.5, 0, 0) == one(0, 0.5, 0, 0) == 0.15


@given(parts)
def test_relevance_agrees_with_the_oracle_and_stays_in_bounds(
    card: tuple[Fraction, Fraction, Fraction, Fraction],
) -> None:
    found = one(*map(float, card))
    assert found == pytest.approx(float(oracle.relevance(*card)), abs=1e-15)
    assert 0 <= found <= 1


@given(parts, st.integers(0, 3), unit)
def test_relevance_rises_with_each_part(
    card: tuple[Fraction, Fraction, Fraction, Fraction], which: int, other: Fraction
) -> None:
    low, high = [float(x) for x in card], [float(x) for x in card]
    low[which], high[which] = sorted((low[which], float(other)))
    assert one(*low) <= one(*high)


# Tags


def test_a_tag_counts_only_where_it_stands_whole() -> None:
    tags = ["vet", "pets", "Door Code", "say cheese", "naïve", "", "!"]
    assert question_tags("What did the vet say?", tags) == {"vet"}
    assert question_tags("Velvet, the vets, vet's", tags) == {"vet"}
    assert question_tags("velvet vets", tags) == frozenset()
    assert question_tags("the door-code, please", tags) == {"Door Code"}
    assert question_tags("code of the door", tags) == frozenset()
    assert question_tags("so NAI\u0308VE", tags) == {"naïve"}  # two ways to write one letter
    assert question_tags("", tags) == frozenset()
    assert question_tags("vet", []) == frozenset()


@pytest.mark.parametrize(
    ("question", "tag", "stands"),
    [
        ("क्या दूध है?", "दूध", True),
        ("मेला कब है?", "मेल", False),
        ("Call O'Brien", "o’brien", True),
        ("Jean-Luc's tea", "jean‑luc", True),
        ("Was Beatrice in?", "Béatrice", True),
        ("in İstanbul?", "istanbul", True),
        ("איפה הבית ספר?", "סֵפֶר", True),
        ("من هو محمد؟", "مُحَمَّد", True),
        ("кто пьёт чай", "пьет", False),
        ("抹茶が好き?", "茶", True),
        ("東京に行く", "京都", False),
        ("ฉันแพ้ถั่วไหม", "ถั่ว", True),
        ("ฉันแพ้ถั่วไหม", "ถัว", False),
        ("What was E‑4012?", "E-4012", True),
    ],
)
def test_a_tag_stands_in_a_question_of_any_script(question: str, tag: str, stands: bool) -> None:
    assert question_tags(question, [tag]) == ({tag} if stands else set())


@given(phrase, st.lists(phrase, max_size=5))
def test_question_tags_agree_with_the_oracle(question: str, tags: list[str]) -> None:
    assert question_tags(question, tags) == oracle.question_tags(question, tags)


def test_tag_match_by_hand() -> None:
    cards = [("vet", "pets"), ("vet",), (), ("home",), ("a", "b", "vet", "pets")]
    assert tag_match({"vet"}, cards) == pytest.approx([1 / 2, 1, 0, 0, 1 / 4])
    assert tag_match({"vet", "home"}, cards) == pytest.approx([1 / 3, 1 / 2, 0, 1 / 2, 1 / 5])
    assert tag_match(set(), cards).tolist() == [0] * 5
    assert tag_match({"vet"}, [("vet", "vet")]).tolist() == [1]
    assert tag_match({"vet"}, []).shape == (0,)


letters = st.lists(st.sampled_from("abcd"), max_size=5)


@given(letters, st.lists(letters, max_size=5))
def test_tag_match_agrees_with_the_oracle(asked: list[str], cards: list[list[str]]) -> None:
    found = tag_match(asked, cards)
    assert found.tolist() == [float(oracle.tag_match(asked, tags)) for tags in cards]
    assert ((found >= 0) & (found <= 1)).all()


# Titles


@pytest.mark.parametrize(
    ("question", "title", "value"),
    [
        ("door code", "door code", 1.0),  # exact, and so a prefix and a pair: clamped
        ("Door code?", "DOOR, CODE!", 1.0),
        ("Straße", "STRASSE", 1.0),
        ("code", "Code", 1.0),
        ("door code", "Door code, back", 0.7),  # prefix and pair
        ("door", "Door code", 0.5),  # prefix alone
        ("door", "Doors of the house", 0.0),  # not at a word boundary
        ("what is the door code", "Door code", 0.2),  # a pair in common
        ("what is the door code", "Door of code", 0.0),
        ("what is the door code", "Code door", 0.0),
        ("what is the code", "Code", 0.2),  # a one-word title that stands in the question
        ("what is the code", "Codes", 0.0),
        ("what is the code", "Code of the house", 0.0),
        ("what is the code", "Is the code safe", 0.2),
        ("door code", "", 0.0),
        ("", "Door code", 0.0),
        ("?!", "?!", 0.0),
        ("cafe\u0301 hours", "Café hours", 1.0),
        ("माला", "माला", 1.0),
        ("माला", "मेल", 0.0),
        ("माला", "मूली", 0.0),
        ("o'brien", "O’Brien", 1.0),
        ("Beatrice", "Béatrice", 1.0),
        ("istanbul", "İstanbul", 1.0),
        ("jean-luc", "Jean‐Luc", 1.0),
        ("running", "run", 0.0),  # unstemmed
        ("东京塔", "东京塔在哪里", 0.7),
        ("חתול", "חָתוּל", 1.0),
        ("ชา", "ชาร้อน", 0.5),
    ],
)
def test_title_hit_case_by_case(question: str, title: str, value: float) -> None:
    assert hit(question, title) == value


def test_titles_come_back_one_a_card() -> None:
    assert title_hit("code", ["Code", "", "Code of the house"]).tolist() == [1, 0, 0.5]
    assert title_hit("code", []).shape == (0,)


@given(phrase, phrase)
def test_title_hit_agrees_with_the_oracle(question: str, title: str) -> None:
    assert hit(question, title) == oracle.title_hit(question, title)
    assert hit(question, title) in (0, 0.2, 0.5, 0.7, 1)


REFUSED: list[tuple[Call, str]] = [
    (lambda: relevance([1.5], [0], [0], [0]), "dense[0] is 1.5: must be at most 1"),
    (lambda: relevance([NAN], [0], [0], [0]), "dense[0] is nan: must be a number"),
    (lambda: relevance([0], [25.9], [0], [0]), "bm25_norm[0] is 25.9: must be at most 1"),
    (lambda: relevance([0], [0], [-1], [0]), "tag_match[0] is -1.0: must be at least 0"),
    (lambda: relevance([0], [0], [0], [1.7]), "title_hit[0] is 1.7: must be at most 1"),
    (
        lambda: relevance([0, 1], [0], [0], [0]),
        "lengths differ: dense 2, bm25_norm 1, tag_match 1, title_hit 1",
    ),
    (lambda: RelevanceWeights(dense=NAN), "weights.dense is nan: must be a number"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


def test_columns_of_pandas_in_another_order_are_refused() -> None:
    column = pd.Series([0.1, 0.9], index=["x", "y"])
    with pytest.raises(ValueError, match="bring both into one order, or pass"):
        relevance(column, column, column[::-1], column)
    assert relevance(column, column, np.zeros(2), column).shape == (2,)


def test_a_set_of_weights_once_made_is_never_changed() -> None:
    rules = RelevanceWeights()
    for field in fields(rules):
        with pytest.raises(FrozenInstanceError):
            setattr(rules, field.name, 1.0)
