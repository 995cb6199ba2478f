"""A configuration's ranking against memlib's own calls, and the explanations beside it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, load_exam, maya_cards
from course.data.recorded import Recorded
from course.playground import comparison
from course.playground.comparison import BELOW, LATER, PICKED, Prepared, rank
from course.playground.configuration import PARTS, Settings
from memlib.bm25 import BM25, TOKENIZERS, saturate
from memlib.cards import names_on
from memlib.entity_boost import entity_boost, names_in
from memlib.fusion import weighted_sum
from memlib.importance import from_rating
from memlib.normalization import z_score
from memlib.ranking import pick_diverse, three_part_score
from memlib.recency import age_hours, recency, recency_by_half_life
from memlib.similarity import cosine_of_units

CARDS, MODEL = maya_cards(), Recorded()
VECTORS = MODEL.embed(CARDS["text"].tolist())
QUESTION = str(load_exam()["question"].iloc[0])
QUERY = MODEL.embed([QUESTION], role="query")[0]
ALL = Settings(1.0, 0.7, 0.3, 0.2, 0.4)


def ranked(settings: Settings, top_k: int = 10) -> pd.DataFrame:
    return rank(CARDS, VECTORS, QUESTION, QUERY, settings, COURSE_NOW, top_k)


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


def test_the_defaults_are_the_three_part_score() -> None:
    parts = raw()
    three = three_part_score(*(parts[name] for name in ("relevance", "recency", "importance")))
    table = ranked(Settings())
    np.testing.assert_allclose(table["S"].reindex(CARDS.index), three.total, atol=1e-12)
    assert table["S"].is_monotonic_decreasing and len(table) == len(CARDS)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_weighted_sum_is_memlib_s_and_its_parts_add_up(tokenizer: str) -> None:
    table = ranked(replace(ALL, tokenizer=tokenizer)).reindex(CARDS.index)
    expected = weighted_sum(raw(tokenizer), ALL.weights())
    np.testing.assert_array_equal(table["S"], expected)
    np.testing.assert_allclose(table[list(PARTS)].sum(axis=1), expected, atol=1e-12)


def test_z_scores_and_bare_parts() -> None:
    scaled = ranked(replace(ALL, normalizer="z-score")).reindex(CARDS.index)
    np.testing.assert_array_equal(scaled["S"], weighted_sum(raw(), ALL.weights(), z_score))
    bare, parts = ranked(replace(ALL, normalizer="none")).reindex(CARDS.index), raw()
    parts["bm25"] = saturate(parts["bm25"])
    np.testing.assert_array_equal(bare["S"], weighted_sum(parts, ALL.weights(), None))


def test_rrf_takes_the_parts_above_0_and_lists_only_what_matches() -> None:
    table = ranked(Settings(1.0, 0.0, 0.0, 0.0, 0.2, fusion="RRF")).reindex(CARDS.index)
    words, dense = raw()["bm25"], raw()["relevance"]
    ranks = [1 + (dense > value).sum() for value in dense]
    np.testing.assert_allclose(table["relevance"], 1 / (60 + np.array(ranks)), atol=1e-12)
    assert (table["bm25"][words == 0] == 0).all() and table["bm25"].max() == pytest.approx(1 / 61)
    assert not table[["recency", "importance", "names"]].to_numpy().any()
    with pytest.raises(ValueError, match="every weight is 0"):
        ranked(Settings(0, 0, 0, 0, 0, fusion="RRF"))


def test_the_three_forms_of_decay() -> None:
    held = Prepared(CARDS, VECTORS, COURSE_NOW)
    hour, half, kind = (
        held.recency(Settings(decay=form, half_life_days=15.0))
        for form in ("per hour", "half-life", "by kind")
    )
    pinned = CARDS["pinned"].to_numpy()
    np.testing.assert_allclose(hour[~pinned], half[~pinned], atol=1e-12)
    assert (half[pinned] == 1).all() and (hour[pinned] < 1).any()
    lives = CARDS["kind"].map({"working": 1.0, "episodic": 15.0, "semantic": 90.0}).to_numpy()
    np.testing.assert_allclose(kind, recency_by_half_life(held.hours / 24, lives, pinned))


@pytest.mark.parametrize("few", [12, 1000])
@pytest.mark.parametrize(
    "settings",
    [
        replace(ALL, diversity="penalty", w_duplicate=0.15),
        replace(ALL, diversity="penalty", w_duplicate=3.0),
        replace(ALL, diversity="mmr", mmr_lambda=0.8),
        replace(ALL, diversity="mmr", mmr_lambda=0.05),
        replace(ALL, diversity="mmr", mmr_lambda=0.0),
        replace(ALL, diversity="none"),
    ],
)
def test_looking_at_few_cards_first_picks_what_all_would_give(
    settings: Settings, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "FEW", few)
    table = ranked(settings)
    score = weighted_sum(raw(), ALL.weights())
    how = settings.diversity, settings.w_duplicate, settings.mmr_lambda
    found = pick_diverse(score, VECTORS, CARDS.index, 10, *how)
    assert table.index[:10].tolist() == CARDS.index[found.rows].tolist()
    np.testing.assert_allclose(table["at"][:10], found.score, atol=1e-6)
    if settings.diversity != "none":
        np.testing.assert_allclose(table["likeness"][:10], found.penalty, atol=1e-6)
    assert table["listed"].tolist() == [True] * 10 + [False] * (len(CARDS) - 10)
    assert sorted(table.index) == sorted(CARDS.index)


def test_the_threshold_keeps_a_card_in_sight_and_says_why_it_is_out() -> None:
    table = ranked(replace(ALL, threshold=1.5))
    listed = table[table["listed"]]
    assert ((listed["why"] == PICKED) == (listed["at"] >= 1.5)).all()
    assert set(listed["why"]) == {PICKED, f"{BELOW} 1.5"} and len(listed) == 10
    assert set(table["why"][10:]) == {LATER}


def test_a_card_passed_over_names_its_twin() -> None:
    twins = pd.concat([CARDS.head(8), CARDS.head(1).rename(index={"birthday": "copy"})])
    vectors = np.concatenate([VECTORS[:8], VECTORS[:1]])
    harsh = Settings(diversity="penalty", w_duplicate=9.0)
    table = rank(twins, vectors, QUESTION, QUERY, harsh, COURSE_NOW, top_k=3)
    assert table.loc["copy", "why"] == "too much like birthday (1.00)"
    assert not table.loc["copy", "listed"]
    assert table.loc["birthday", "copies"] == 0 and (table["copies"][1:3] < 0).all()


def test_another_question_or_vector_is_not_answered_from_memory() -> None:
    held = Prepared(CARDS, VECTORS, COURSE_NOW)
    other = str(load_exam()["question"].iloc[1])
    asked = MODEL.embed([other], role="query")[0]
    first = held.rank(QUESTION, QUERY, ALL)
    second = held.rank(other, asked, ALL)
    assert first.index[:5].tolist() != second.index[:5].tolist()
    pd.testing.assert_frame_equal(held.rank(QUESTION, QUERY, ALL), first)
    pd.testing.assert_frame_equal(second, rank(CARDS, VECTORS, other, asked, ALL, COURSE_NOW))


def test_what_cannot_be_ranked_is_refused() -> None:
    held = Prepared(CARDS, VECTORS, COURSE_NOW)
    with pytest.raises(ValueError, match="the question is empty"):
        held.rank(" ", QUERY, ALL)
    with pytest.raises(ValueError, match="lengths differ"):
        Prepared(CARDS, VECTORS[:-1], COURSE_NOW)
