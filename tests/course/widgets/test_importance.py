"""Chapter 03's controls: rendered text for known ratings, readable errors, the slider's start."""

import re
from html import unescape

import pytest

from course.data.maya import COURSE_NOW, published_cards
from course.widgets import importance as controls
from memlib.recency import age_hours, recency

CARDS = published_cards()
RELEVANCE = [0.6942, 0.6627, 0.4227, 0.4058, 0.3880, 0.3744, 0.3721, 0.3475]
FRESH = recency(age_hours(CARDS["created_at"], CARDS["last_accessed_at"], COURSE_NOW))
ORDER = ["birthday", "vinyl", "vegetarian", "kids", "pasta", "printer", "engineer", "hiking"]


def text_of(card: str, rating: float) -> str:
    html = controls.render({"card": card, "rating": rating}, CARDS, RELEVANCE, FRESH)
    return unescape(re.sub(r"<[^>]+>", " ", html))


def order(text: str) -> list[str]:
    rows = text[text.index("total") :]
    return sorted(CARDS.index, key=lambda name: rows.index(CARDS["text"][name]))


def test_at_the_hand_rating_the_published_order_stands_and_nothing_moves():
    text = text_of("vegetarian", 6)
    assert order(text) == ORDER
    assert "Rated 6: rank 3" in text
    assert "▼" not in text.replace("▲▼", "") and "1.34" in text


def test_one_point_less_and_vegetarian_falls_from_third_to_fifth():
    text = text_of("vegetarian", 5)
    assert order(text) == [*ORDER[:2], "kids", "pasta", "vegetarian", *ORDER[5:]]
    assert "Rated 5: rank 5" in text
    assert "▼2" in text and text.replace("▲▼", "").count("▲1") == 2


def test_ranks_at_every_rating_and_where_the_card_enters():
    ranks = controls.rank_by_rating("vegetarian", CARDS, RELEVANCE, FRESH)
    assert ranks == [6, 6, 6, 6, 5, 3, 3, 3, 2, 2]
    assert controls.entry(ranks) == "in the top three from rating 6 on"
    assert controls.entry([8] * 10) == "in the top three at no rating"
    assert controls.entry([1] * 10) == "in the top three at every rating"


@pytest.mark.parametrize("card", CARDS.index)
def test_a_higher_rating_never_lowers_the_card(card):
    ranks = controls.rank_by_rating(card, CARDS, RELEVANCE, FRESH)
    assert ranks == sorted(ranks, reverse=True)


def test_an_unrated_card_counts_as_the_middle():
    cards = CARDS.assign(importance=CARDS["importance"].where(CARDS.index != "kids"))
    html = controls.render({"card": "kids", "rating": 7}, cards, RELEVANCE, FRESH)
    assert "5.5 → <b>7</b>" in html


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"card": "vegetarian", "rating": 11}, "rating is 11.0: must be at most 10"),
        ({"card": "vegetarian", "rating": float("nan")}, "rating is nan: must be a number"),
        ({"card": "unicorn", "rating": 5}, "card is 'unicorn': no card has that id"),
    ],
)
def test_values_out_of_range_are_named(values, line):
    with pytest.raises(ValueError, match=re.escape(line)):
        controls.render(values, CARDS, RELEVANCE, FRESH)


def test_another_card_brings_its_own_rating_and_reset_brings_the_first_back():
    panel = controls.explore(CARDS, RELEVANCE, FRESH)
    card, rating, reset, output = panel.children
    assert (card.value, rating.value) == ("vegetarian", 6)
    card.value = "printer"
    assert rating.value == 1 and "Rated 1: rank 6" in output.value
    rating.value = 10
    assert "Rated 10: rank 1" in output.value
    reset.click()
    assert (card.value, rating.value) == ("vegetarian", 6) and "rank 3" in output.value


def test_cards_of_ones_own_start_at_the_first():
    own = CARDS.drop(index="vegetarian")
    card, rating, *_ = controls.explore(own, RELEVANCE[:7], FRESH[:7]).children
    assert (card.value, rating.value) == ("birthday", 8)
    with pytest.raises(ValueError, match=r"^card is 'vegetarian': no card has that id$"):
        controls.explore(own, RELEVANCE[:7], FRESH[:7], card="vegetarian")
    with pytest.raises(ValueError, match=r"^cards is empty: there is nothing to rate$"):
        controls.explore(CARDS[:0], [], [])


def test_a_slider_s_own_rounding_is_no_other_rating():
    text = text_of("hiking", 3.9999999999999996)
    assert text == text_of("hiking", 4) and "Rated 4: rank 8" in text and "→ 4" not in text
