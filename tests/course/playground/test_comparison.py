"""A form's ranking against memlib's own, and what the page adds to it."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, load_exam, maya_cards
from course.data.recorded import Recorded
from course.playground.comparison import BELOW, LATER, OUTSIDE, PICKED, rank
from course.playground.configuration import CHOICES, PARTS, Form
from memlib import retrieval
from memlib.bm25 import BM25, TOKENIZERS
from memlib.cards import names_on
from memlib.entity_boost import entity_boost, names_in
from memlib.fusion import weighted_sum
from memlib.importance import from_rating
from memlib.ranking import three_part_score
from memlib.recency import age_hours, recency
from memlib.retrieval import Index, Ranking
from memlib.similarity import cosine_of_units

CARDS, MODEL = maya_cards(), Recorded()
VECTORS = MODEL.embed(CARDS["text"].tolist())
QUESTION = str(load_exam()["question"].iloc[0])
QUERY = MODEL.embed([QUESTION], role="query")[0]
INDEX = Index(CARDS, VECTORS)
ALL = Form(1.0, 0.7, 0.3, 0.2, 0.4)


def ranked(form: Form, top_k: int = 10) -> pd.DataFrame:
    return rank(INDEX, QUESTION, QUERY, form, COURSE_NOW, top_k)


def raw(tokenizer: str = "stem") -> dict[str, np.ndarray]:
    names, cut = names_on(CARDS["entities"], {}), TOKENIZERS[tokenizer]
    hours = age_hours(CARDS["created_at"], CARDS["last_accessed_at"], COURSE_NOW)
    words = BM25([cut(text) for text in CARDS["text"]], variant="lucene").scores(cut(QUESTION))
    known = {name for card in names for name in card}
    return {
        "relevance": cosine_of_units(QUERY, VECTORS),
        "recency": recency(hours, 0.5 ** (1 / (24 * 5.76))),
        "importance": from_rating(CARDS["importance"].to_numpy()),
        "names": entity_boost(names_in(QUESTION, known), names),
        "bm25": words,
    }


def candidates_of(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["why"] != OUTSIDE]


def test_the_defaults_are_the_three_part_score_of_the_candidates() -> None:
    parts = raw()
    three = three_part_score(*(parts[name] for name in ("relevance", "recency", "importance")))
    table = ranked(Form())
    shown, wanted = candidates_of(table), pd.Series(three.total, CARDS.index)
    np.testing.assert_allclose(shown["S"], wanted[shown.index], atol=1e-12)
    assert shown["S"].is_monotonic_decreasing and 50 <= len(shown) < len(table) == len(CARDS)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_weighted_sum_is_memlib_s_and_its_parts_add_up(tokenizer: str) -> None:
    table = candidates_of(ranked(replace(ALL, tokenizer=tokenizer)))
    wanted = pd.Series(weighted_sum(raw(tokenizer), ALL.weights()), CARDS.index)
    np.testing.assert_array_equal(table["S"], wanted[table.index])
    np.testing.assert_allclose(table[list(PARTS)].sum(axis=1), table["S"], atol=1e-12)


FORMS = [
    *(replace(ALL, **{name: option}) for name, options in CHOICES.items() for option in options),
    replace(ALL, decay="by kind", half_life_days=15.0, diversity="mmr", mmr_lambda=0.3),
    replace(ALL, normalizer="none", diversity="penalty", w_duplicate=1.5, threshold=0.9),
    replace(ALL, fusion="RRF", names=0.0, threshold=0.04),
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_form_s_ranking_is_that_of_its_configuration(form: Form) -> None:
    table, shown = ranked(form, 7), candidates_of(ranked(form, 7))
    told = retrieval.rank(CARDS, VECTORS, QUESTION, QUERY, form.ranking(), COURSE_NOW, 7)
    columns = [*PARTS, "S", "penalty", "at"]
    pd.testing.assert_frame_equal(shown[columns], told[columns])
    assert [str(why).partition(" 0.")[0] for why in shown["why"]] == told["why"].tolist()
    assert table["listed"].tolist() == [True] * 7 + [False] * (len(CARDS) - 7)
    rest = table.drop(index=told.index)
    assert sorted(table.index) == sorted(CARDS.index) and (rest["why"] == OUTSIDE).all()
    assert not rest[[*columns, "copies"]].to_numpy().any()
    cost = {"none": 0.0, "penalty": form.w_duplicate, "mmr": 1 - form.mmr_lambda}[form.diversity]
    np.testing.assert_allclose(table["copies"], -cost * table["penalty"], atol=1e-12)


def test_a_form_becomes_a_ranking_by_name() -> None:
    form = Form(0.5, 0.1, 0.2, 0.3, 0.4, "half-life", 9.0, "z-score", "regex", "weighted sum")
    wanted = {"decay": "half-life", "half_life_days": 9.0, "normalizer": "z-score"}
    mine = Ranking(0.5, 0.1, 0.2, 0.3, 0.4, tokenizer="regex", w_duplicate=0.15, **wanted)
    assert form.ranking() == mine
    lives = replace(form, decay="by kind", half_life_days=15.0).ranking().half_life_days
    assert lives == {"working": 1.0, "episodic": 15.0, "semantic": 90.0}


def test_the_threshold_keeps_a_card_in_sight_and_says_why_it_is_out() -> None:
    table = ranked(replace(ALL, threshold=1.5))
    listed = table[table["listed"]]
    assert ((listed["why"] == PICKED) == (listed["at"] >= 1.5)).all()
    assert set(listed["why"]) == {PICKED, f"{BELOW} 1.5"} and len(listed) == 10
    assert set(table["why"][10:]) == {LATER, OUTSIDE}


def test_a_card_passed_over_names_its_twin() -> None:
    twins = pd.concat([CARDS.head(8), CARDS.head(1).rename(index={"birthday": "copy"})])
    vectors = np.concatenate([VECTORS[:8], VECTORS[:1]])
    harsh = Form(diversity="penalty", w_duplicate=9.0)
    table = rank(Index(twins, vectors), QUESTION, QUERY, harsh, COURSE_NOW, top_k=3)
    assert table.loc["copy", "why"] == "too much like birthday (1.00)"
    assert not table.loc["copy", "listed"]
    assert table.loc["birthday", "copies"] == 0 and (table["copies"][1:3] < 0).all()


def test_another_moment_is_another_ranking() -> None:
    later = rank(INDEX, QUESTION, QUERY, ALL, COURSE_NOW + timedelta(days=9_000))
    assert later["recency"].max() == 0 < ranked(ALL)["recency"].max()


def test_what_cannot_be_ranked_is_refused() -> None:
    with pytest.raises(ValueError, match="must be a text that is not empty"):
        rank(INDEX, " ", QUERY, ALL, COURSE_NOW)
    with pytest.raises(ValueError, match="every weight is 0: RRF needs"):
        ranked(Form(0, 0, 0, 0, 0, fusion="RRF"))
