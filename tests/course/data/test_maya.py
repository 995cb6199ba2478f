"""Maya's cards and exam, loaded with the course's own lists and moment."""

from pathlib import Path

import pytest

from course.data.maya import (
    COURSE_NOW,
    PUBLISHED,
    load_exam,
    load_practice,
    maya_cards,
    published_cards,
)
from memlib.bm25 import stem
from memlib.cards import CardError, load_cards
from memlib.extraction.reply import CATEGORIES, ENTITY_TYPES


def test_maya_has_208_cards_of_her_own_categories_none_after_now() -> None:
    cards = maya_cards()
    assert len(cards) == 208 and set(cards["category"]) <= set(CATEGORIES)
    assert cards["created_at"].max() <= COURSE_NOW
    types = {entity.rpartition(":")[2] for row in cards["entities"] for entity in row}
    assert types <= set(ENTITY_TYPES)


def test_the_published_eight_come_first_and_in_their_order() -> None:
    assert tuple(published_cards().index) == PUBLISHED == tuple(maya_cards().index[:8])


def test_the_exam_wants_cards_that_there_are() -> None:
    wanted = {card for cards in load_exam()["wanted"] for card in cards}
    assert len(load_exam()) == 10 and wanted <= set(maya_cards().index)


def test_practice_wants_cards_that_there_are_and_asks_nothing_of_the_exam() -> None:
    questions, unanswered = load_practice()
    assert (len(questions), len(unanswered)) == (75, 5) and questions.index.is_unique
    assert {card for cards in questions["wanted"] for card in cards} <= set(maya_cards().index)
    assert not {*questions["question"], *unanswered} & set(load_exam()["question"])
    assert set(questions["kind"]) == {"paraphrase", "changed", "safety", "several", "direct"}


def test_half_of_practice_shares_no_word_with_what_it_wants() -> None:
    questions, texts = load_practice()[0], maya_cards()["text"]
    alone = [
        not set(stem(question)) & {word for card in wanted for word in stem(texts[card])}
        for question, wanted in zip(questions["question"], questions["wanted"], strict=True)
    ]
    assert 40 <= sum(alone) <= 45


def test_the_lists_are_hers_and_nobody_elses(tmp_path: Path) -> None:
    """A practitioner's card of 2026, of a category and a type that Maya does not know."""
    file = tmp_path / "own.csv"
    row = "a,Ship it.,2026-03-01T10:00Z,project,Falcon:ship"
    file.write_text(f"id,text,created_at,category,entities\n{row}\n", encoding="utf-8")
    card = load_cards(file).loc["a"]
    assert (card["category"], card["entities"]) == ("project", ("Falcon:ship",))
    with pytest.raises(CardError, match="in the future of now, 2025-06-11"):
        load_cards(file, COURSE_NOW)
    with pytest.raises(CardError, match="column 'category': 'project' is none of family"):
        load_cards(file, categories=CATEGORIES)
    with pytest.raises(CardError, match="'Falcon:ship' is not Name:type, type of person, place"):
        load_cards(file, entity_types=ENTITY_TYPES)
