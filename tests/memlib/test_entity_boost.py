"""Entity boost: which names a text mentions, and what each is worth."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlib.entity_boost import (
    COMMON_WORDS,
    DAMPING,
    damp,
    damp_by_square,
    entity_boost,
    names_in,
)
from tests.oracles import entity_boost as oracle

Call = Callable[[], object]
NAN = float("nan")
KNOWN = ["Sam", "Nina", "Will", "May", "York", "New York", "Jean-Luc", "O'Brien"]

names = st.sampled_from(["Sam", "Sam Lee", "Lee", "May", "Will", "New York", "York", "A.B", "C+"])
fragments = st.sampled_from(
    [
        *("Sam", "SAM", "sam", "Lee", "lee", "May", "may", "MAY", "Will", "New", "York", "A.B"),
        *("AxB", "C+", " ", " ", " ", "'s", "’s", "-", ".", "sung", "_", "1", "é"),
    ]
)
texts = st.lists(fragments, max_size=10).map("".join)
people = st.sampled_from(["Sam", "Nina", "Theo", "Liz", "Miso"])
card_sets = st.lists(st.sets(people), max_size=8)


def test_the_constants() -> None:
    assert DAMPING == 0.001
    assert {"may", "will", "mark", "rose"} <= COMMON_WORDS
    assert all(word == word.casefold() for word in COMMON_WORDS)


# Damping


def test_a_name_on_one_card_keeps_its_worth_and_one_on_sixty_little() -> None:
    assert damp([1, 3, 7, 1023]).tolist() == [1, 0.5, pytest.approx(1 / 3), 0.1]
    assert float(damp(60)) == pytest.approx(0.17, abs=0.005)
    assert damp_by_square(1) == 1
    assert float(damp_by_square(60)) == pytest.approx(1 / (1 + 0.001 * 59**2))
    assert damp_by_square([2, 11], strength=0.01).tolist() == pytest.approx([1 / 1.01, 0.5])
    assert damp_by_square([1, 60], strength=0).tolist() == [1, 1]


@given(st.integers(1, 10**6), st.floats(0, 10))
def test_damping_agrees_with_the_oracle_and_never_rises(df: int, strength: float) -> None:
    assert float(damp(df)) == pytest.approx(oracle.damp(df), rel=1e-12)
    found = float(damp_by_square(df, strength))
    assert found == pytest.approx(oracle.damp_by_square(df, strength), rel=1e-12)
    for one, next_one in (
        (damp(df), damp(df + 1)),
        (damp_by_square(df, strength), damp_by_square(df + 1, strength)),
    ):
        assert 0 < next_one <= one <= 1


def test_the_square_spares_a_rare_name_and_both_press_a_common_one() -> None:
    few = np.arange(2, 30)
    assert (damp_by_square(few) > damp(few)).all()
    assert damp_by_square(200) < damp(200)


# Names in a text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("Nobody here.", ()),
        ("What should I get Sam?", ("Sam",)),
        ("Sam", ("Sam",)),
        ("(Sam), “Nina”!", ("Sam", "Nina")),
        ("Nina met Sam and Nina.", ("Nina", "Sam")),
        ("Sam's tea", ("Sam",)),
        ("Sam’s tea", ("Sam",)),
        ("the Sams", ()),
        ("a Samsung, Balsam, Sam_1, Sam2", ()),
        ("SAM and nina", ("Sam", "Nina")),
        ("Sam-Nina, Nina/Sam", ("Sam", "Nina")),
        ("Sam\nNina", ("Sam", "Nina")),
        ("Will Will come in May?", ("Will", "May")),
        ("she may or she will", ()),
        ("MAY WILL", ()),
        ("May's mother will call", ("May",)),
        ("In New York or in York", ("New York", "York")),
        ("In new york", ("New York",)),
        ("New Yorkers", ()),
        ("Jean-Luc's tea", ("Jean-Luc",)),
        ("O'Brien's tea", ("O'Brien",)),
        ("猫 Sam 猫", ("Sam",)),
        ("🙂Sam🙂", ("Sam",)),
    ],
)
def test_the_names_that_a_text_mentions(text: str, found: tuple[str, ...]) -> None:
    assert names_in(text, KNOWN) == found


def test_the_longest_name_wins_whatever_the_order() -> None:
    for known in (["Sam", "Sam Lee", "Lee"], ["Lee", "Sam Lee", "Sam"]):
        assert names_in("Sam Lee called", known) == ("Sam Lee",)
        assert names_in("Lee and Sam", known) == ("Lee", "Sam")
    assert names_in("Jean-Luc and Jean", ["Jean", "Jean-Luc"]) == ("Jean-Luc", "Jean")


def test_a_common_word_is_a_name_only_as_it_is_written() -> None:
    assert names_in("the sony and the mark", ["Sony", "Mark"]) == ("Sony",)
    assert names_in("Mark it!", ["Mark"]) == ("Mark",)
    assert names_in("she may", ["May"], common=()) == ("May",)
    assert names_in("a sony", ["Sony"], common={"sony"}) == ()
    assert names_in("on May Day", ["May", "May Day"]) == ("May Day",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Liz called", ("Elizabeth",)),
        ("liz and Elizabeth", ("Elizabeth",)),
        ("Lizzy's tea", ("Elizabeth",)),
        ("Beth", ("Elizabeth",)),
        ("Mum and Nina", ("Hélène", "Nina")),
        ("she may call Bill, bill in hand", ("William",)),
        ("bill in hand", ()),
    ],
)
def test_an_alias_is_resolved_even_through_another(text: str, found: tuple[str, ...]) -> None:
    chain = {"Liz": "Elizabeth", "Lizzy": "Liz", "Beth": "Lizzy", "Mum": "Hélène"}
    assert names_in(text, ["Elizabeth", "Nina"], {**chain, "Bill": "William"}) == found


def test_a_long_chain_of_aliases_ends_and_so_does_a_circle() -> None:
    chain = {f"A{i}": f"A{i + 1}" for i in range(20)}
    assert names_in("A0 A7", ["A20"], chain) == ("A20",)
    assert len(names_in("Ann", [], {"Ann": "Nan", "Nan": "Ann"})) == 1


@pytest.mark.parametrize("name", ["A.B", "C+", "(Bob)", "T*", "[x]", "a|b", "^", "$", r"\d", "{2}"])
def test_a_name_is_text_not_a_pattern(name: str) -> None:
    assert names_in(f"see {name} there", [name, "Sam"]) == (name,)
    assert names_in("A-B CC T ax x 5 22 ", [name]) == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Weiß", "Herr Weiß"),
        ("Weiß", "HERR WEISS"),
        ("Weiss", "Herr Weiß and Weiss"),
        ("İzmir", "in İzmir"),
        ("Hélène", "He\u0301le\u0300ne sings"),
        ("He\u0301le\u0300ne", "HÉLÈNE sings"),
        ("Søren", "SØREN's tea"),
        ("Σοφία", "ΣΟΦΊΑ"),
        ("Ольга", "ольга пришла"),
    ],
)
def test_names_beyond_ascii(name: str, text: str) -> None:
    assert names_in(text, [name]) == (name,)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("O’Brien", "is O'Brien's tea ready"),
        ("O'Brien", "O’BRIEN’s tea"),
        ("Jean-Luc", "Jean‑Luc and Jean–Luc"),
        ("Béatrice", "did beatrice call"),
        ("Beatrice", "Be\u0301atrice called"),
        ("İstanbul", "in istanbul"),
        ("istanbul", "in İSTANBUL"),
        ("Weiss", "Herr Weiß"),
        ("Łukasz", "lukasz"),
        ("Αλέξης", "ΑΛΕΞΗΣ"),
        ("माला", "माला आई"),
        ("דָּוִד", "דוד בא"),
        ("مُحَمَّد", "جاء محمد"),
        ("玛雅", "玛雅对花生严重过敏"),
        ("มายา", "มายาแพ้ถั่ว"),
        ("さくら", "さくらさんは"),
        ("지민", "지민이가 왔다"),
        ("မောင်", "မောင်လာတယ်"),
        ("Sam", "Samは来た"),
        ("Sam", "Sa\u00adm, Sam\u200b"),
    ],
)
def test_a_name_is_found_however_it_is_typed(name: str, text: str) -> None:
    assert names_in(text, [name]) == (name,)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("मेल", "मेला में"),
        ("माल", "माला"),
        ("Петр", "Пётр"),
        ("かな", "がな"),
        ("أحمد", "احمد"),
        ("ที", "ที่นี่"),
        ("Jean-Luc", "Jean—Luc"),
        ("Sam", "Samé"),
    ],
)
def test_a_mark_that_is_no_accent_makes_another_name(name: str, text: str) -> None:
    assert names_in(text, [name]) == ()


def test_of_two_known_spellings_each_finds_its_own() -> None:
    for both in (["Zoe", "Zoë"], ["Zoë", "Zoe"]):
        assert names_in("Zoe\u0308 naps; ZOE too", both) == ("Zoë", "Zoe")
        assert names_in("zoé", both) == ("Zoë",)  # neither: the last in the order of letters
    assert names_in("Mark it, mark. Márk", ["Márk"]) == ("Márk",)
    assert names_in("Zoe", ["Zoë"], {"Zoe": "Zora"}) == ("Zora",)


def test_nothing_is_known() -> None:
    assert names_in("Sam", []) == ()
    assert names_in("Sam", ["", " "]) == ()
    assert names_in("Sam", ["", "Sam"]) == ("Sam",)
    assert names_in("Liz", [], {"Liz": "Elizabeth"}) == ("Elizabeth",)
    assert names_in("Liz", iter(["Liz"])) == ("Liz",)


@given(texts, st.sets(names, min_size=1))
@example("SAM Lee's York", {"Sam", "Lee", "York"})
def test_names_agree_with_the_oracle(text: str, known: set[str]) -> None:
    expected = oracle.names_in(text, {name: name for name in known}, COMMON_WORDS)
    assert names_in(text, known) == expected


# The boost of each card


def test_the_boost_by_hand() -> None:
    cards = [{"Sam"}, {"Sam", "Miso"}, {"Nina"}, set()]
    assert entity_boost({"Miso"}, cards).tolist() == [0, 1, 0, 0]
    assert entity_boost({"Nina", "Miso"}, cards).tolist() == [0, 0.5, 0.5, 0]
    both = 1 / np.log2(3)
    assert entity_boost({"Sam"}, cards) == pytest.approx([both, both, 0, 0])
    assert entity_boost({"Sam", "Miso"}, cards) == pytest.approx([both / 2, (both + 1) / 2, 0, 0])


def test_sixty_cards_share_little() -> None:
    boost = entity_boost({"Sam"}, [{"Sam"}] * 60 + [{"Miso"}])
    assert boost[:60] == pytest.approx([0.17] * 60, abs=0.005)
    assert boost[60] == 0
    assert entity_boost({"Miso"}, [{"Sam"}] * 60 + [{"Miso"}])[60] == 1


def test_a_name_on_no_card_is_not_known_and_takes_nothing_away() -> None:
    cards = [{"Sam"}, {"Nina"}]
    assert entity_boost({"Nina", "Zeus"}, cards).tolist() == [0, 1]
    assert entity_boost({"Zeus"}, cards).tolist() == [0, 0]
    assert entity_boost(set(), cards).tolist() == [0, 0]
    assert entity_boost({"Sam"}, []).shape == (0,)


def test_a_name_counts_once_however_often_it_is_given() -> None:
    cards = [("Sam", "Sam"), ("Nina",)]
    assert entity_boost(("Sam", "Sam", "Nina"), cards).tolist() == [0.5, 0.5]


def test_another_damping_may_be_handed_in() -> None:
    cards = [{"Sam"}, {"Sam"}, {"Nina"}]
    assert entity_boost({"Sam"}, cards, damp_by_square) == pytest.approx([1 / 1.001] * 2 + [0])
    assert entity_boost({"Sam"}, cards, lambda df: 1 / np.asarray(df)).tolist() == [0.5, 0.5, 0]


@given(st.sets(people), card_sets)
def test_the_boost_agrees_with_the_oracle(mentioned: set[str], cards: list[set[str]]) -> None:
    found = entity_boost(mentioned, cards)
    assert found == pytest.approx(oracle.entity_boost(mentioned, cards), abs=1e-12)
    assert [bool(x) for x in found] == [bool(card & mentioned) for card in cards]


@given(st.integers(1, 60), card_sets)
def test_no_boost_passes_one(count: int, cards: list[set[str]]) -> None:
    many = [f"name {i}" for i in range(count)]
    found = entity_boost(many, [*cards, many])
    assert found[-1] == 1
    assert ((found >= 0) & (found <= 1)).all()


@given(st.sets(people, min_size=1), card_sets, st.data())
def test_one_card_more_with_the_name_lowers_the_others(
    mentioned: set[str], cards: list[set[str]], data: st.DataObject
) -> None:
    known = sorted(name for name in mentioned if any(name in card for card in cards))
    if known:
        extra = {data.draw(st.sampled_from(known))}
        before, after = entity_boost(mentioned, cards), entity_boost(mentioned, [*cards, extra])
        assert (after[:-1] <= before + 1e-12).all()
        assert (after[:-1] < before)[[bool(card & extra) for card in cards]].all()


REFUSED: list[tuple[Call, str]] = [
    (lambda: damp([1, 0]), "df[1] is 0.0: must be at least 1"),
    (lambda: damp(NAN), "df is nan: must be a number"),
    (lambda: damp_by_square([0.5]), "df[0] is 0.5: must be at least 1"),
    (lambda: damp_by_square(1, -0.1), "strength is -0.1: must be at least 0"),
    (lambda: names_in("Sam", "Sam"), "names is the text 'Sam': give a collection of names"),
    (
        lambda: entity_boost("Sam", [{"Sam"}]),
        "mentioned is the text 'Sam': give a collection of names",
    ),
    (
        lambda: entity_boost({"Sam"}, [{"Sam"}, "Samsung"]),
        "cards[1] is the text 'Samsung': give a collection of names",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message
