"""Every preset against the slow way, on Maya's exam and on 2,000 cards; what no ranking may do."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, load_exam, maya_cards
from course.data.recorded import choose
from memlib.bm25 import BM25, TOKENIZERS, saturate
from memlib.cards import names_on
from memlib.entity_boost import entity_boost, names_in
from memlib.forgetting import usage, usage_raw
from memlib.four_part_relevance import RelevanceWeights, question_tags, tag_match, title_hit
from memlib.fusion import reciprocal_rank_fusion, weighted_sum
from memlib.importance import from_rating
from memlib.normalization import z_score
from memlib.ranking import FinalWeights, pick_diverse, three_part_score
from memlib.recency import HALF_LIFE_DAYS, age_hours, recency, recency_by_half_life
from memlib.retrieval import (
    ALIKE,
    BELOW,
    LATER,
    PARTS,
    PICKED,
    PRESETS,
    SERVER,
    Index,
    Ranking,
    all_tags,
    candidates,
    features,
    rank,
    ranking_code,
    server_importance,
)
from memlib.similarity import cosine_of_units
from tests.oracles import librarian as slow_librarian
from tests.oracles import retrieval as oracle

NOW, TOP_K = COURSE_NOW, 6
ALL = Ranking(1.0, 0.7, 0.3, 0.2, 0.4, 0.5, 0.6, 0.9)
EVERY = {"candidates_dense": None, "candidates_words": None}
QUESTION = "Which guinea pig was at the vet on March 15?"


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@cache
def many(n: int = 2_000) -> tuple[pd.DataFrame, np.ndarray]:
    """Cards of eight words, some rare, with every field filled in."""
    rng = np.random.default_rng(7)
    worth = 1 / np.arange(1, 401)
    drawn = rng.choice(400, size=(n, 8), p=worth / worth.sum()).tolist()
    kinds = np.array(["working", "episodic", "semantic"])[rng.integers(0, 3, n)]
    hours = rng.integers(1, 20_000, n).tolist()
    created = [NOW - timedelta(hours=h) for h in hours]
    seen = [NOW - timedelta(hours=h // 3) if h % 2 else pd.NaT for h in hours]
    who = rng.integers(0, 60, size=(n, 2)).tolist()
    table = {
        "text": [" ".join(f"w{word}" for word in row) for row in drawn],
        "kind": kinds,
        "category": "",
        "created_at": pd.to_datetime(pd.Series(created), utc=True).to_numpy(),
        "last_accessed_at": pd.to_datetime(pd.Series(seen), utc=True).to_numpy(),
        "importance": np.where(rng.random(n) < 0.2, np.nan, rng.integers(1, 11, n)),
        "pinned": rng.random(n) < 0.1,
        "tags": [(f"w{word}",) for word in rng.integers(0, 50, n).tolist()],
        "title": [f"w{row[0]} w{row[1]}" for row in drawn],
        "entities": [tuple(f"P{i}x:person" for i in sorted(set(pair))) for pair in who],
        "views": rng.integers(0, 20, n),
        "cites": rng.integers(0, 4, n),
        "edits": rng.integers(0, 4, n),
    }
    cards = pd.DataFrame(table, index=[f"c{row:04d}" for row in range(n)])
    for column in ("created_at", "last_accessed_at"):
        cards[column] = pd.to_datetime(cards[column], utc=True)
    return cards, unit(rng.normal(size=(n, 12)))


@cache
def maya() -> tuple[pd.DataFrame, np.ndarray]:
    cards = maya_cards()
    return cards, choose("recorded").embed(cards["text"].tolist())


def asked_of(which: str) -> list[tuple[str, np.ndarray]]:
    if which == "maya":
        questions = load_exam()["question"].tolist()
        return list(zip(questions, choose("recorded").embed(questions, role="query"), strict=True))
    questions = ["Did p3x tell P7x about w12, w340 and w5?", "w2 w9?", "Nothing of it."]
    return list(zip(questions, unit(np.random.default_rng(1).normal(size=(3, 12))), strict=True))


BOXES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {"maya": maya, "many": many}


def as_rows(cards: pd.DataFrame) -> list[dict[str, Any]]:
    table = cards.rename_axis("id").reset_index().astype(object)
    rows: list[dict[str, Any]] = table.where(table.notna(), None).to_dict("records")
    for row in rows:
        row["importance"] = np.nan if row["importance"] is None else row["importance"]
    return rows


@pytest.mark.parametrize("which", BOXES)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_ranks_as_the_slow_way_does(which: str, preset: str) -> None:
    cards, vectors = BOXES[which]()
    rows, units, ranking = as_rows(cards), vectors.tolist(), PRESETS[preset]
    index, by_id = Index(cards, vectors), dict(zip(cards.index, units, strict=True))
    for question, query in asked_of(which):
        told = index.rank(question, query, ranking, NOW, TOP_K)
        cut = TOKENIZERS[ranking.tokenizer]
        slow = oracle.scores(preset, rows, units, query.tolist(), question, NOW, cut)
        assert set(told.index) == set(slow) and 50 <= len(told) <= 100
        wanted = pd.DataFrame(slow).T.reindex(columns=[*PARTS, "S"], fill_value=0.0)
        wanted = wanted.loc[told.index]
        got = told[[*PARTS, "S"]].to_numpy(float)
        np.testing.assert_allclose(got, wanted.to_numpy(float), rtol=0, atol=2e-6)
        picked = oracle.pick(preset, slow, by_id, TOP_K)
        assert told.index[:TOP_K].tolist() == [id for id, _, _ in picked]
        assert told["at"].tolist()[:TOP_K] == pytest.approx([s for _, s, _ in picked], abs=2e-6)
        kept = [PICKED if keep else BELOW for _, _, keep in picked]
        assert told["why"].tolist()[:TOP_K] == kept
        rest = told.iloc[TOP_K:]
        assert (rest["at"] == rest["S"]).all() and (rest["penalty"] == 0).all()
        assert rest["S"].is_monotonic_decreasing


@pytest.mark.parametrize("preset", PRESETS)
def test_s_is_the_sum_of_what_the_parts_add(preset: str) -> None:
    cards, vectors = many()
    for question, query in asked_of("many"):
        told = rank(cards, vectors, question, query, PRESETS[preset], NOW, TOP_K)
        assert told["S"].tolist() == pytest.approx(
            told[list(PARTS)].sum(axis=1).tolist(), abs=1e-12
        )
        cost = PRESETS[preset].copy_cost
        at = told["S"] - cost * told["penalty"]
        assert told["at"].tolist() == pytest.approx(at.tolist(), abs=1e-12)
        assert (told["text"] == cards["text"].loc[told.index]).all()
        assert np.isfinite(told.select_dtypes(float).to_numpy()).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_the_cards_order_changes_nothing_and_other_ids_change_no_score(preset: str) -> None:
    cards, vectors = many(300)
    question, query = asked_of("many")[0]
    ranking = PRESETS[preset]
    told = rank(cards, vectors, question, query, ranking, NOW, TOP_K)
    order = np.random.default_rng(3).permutation(len(cards))
    mixed = rank(cards.iloc[order], vectors[order], question, query, ranking, NOW, TOP_K)
    pd.testing.assert_frame_equal(mixed, told, rtol=0, atol=1e-6)
    wide = replace(ranking, threshold=None, **EVERY)
    names = pd.Index([f"x{len(cards) - row:04d}" for row in range(len(cards))])
    before = rank(cards, vectors, question, query, wide, NOW).loc[cards.index]
    after = rank(cards.set_axis(names), vectors, question, query, wide, NOW).loc[names]
    columns = [*PARTS, "S"]
    np.testing.assert_array_equal(before[columns].to_numpy(), after[columns].to_numpy())


@pytest.mark.parametrize("preset", PRESETS)
def test_a_card_that_is_no_candidate_changes_only_bounds_and_statistics(preset: str) -> None:
    """One more of average age, rating and length, that no part of the question finds."""
    cards, vectors = many()
    question, query = asked_of("many")[0]
    ranking = PRESETS[preset]
    if ranking.bm25 or preset == "server":  # its words would change every idf: so let none match
        question = "P3x and P7x?"
    before = rank(cards, vectors, question, query, ranking, NOW, TOP_K)
    far = vectors[[int(np.argsort(vectors @ query)[300])]]
    inside = cards.iloc[[5]].set_axis(["zz"]).assign(entities=[()])
    one_more = pd.concat([cards, inside])
    told = rank(one_more, np.vstack([vectors, far]), question, query, ranking, NOW, TOP_K)
    pd.testing.assert_frame_equal(told, before, rtol=0, atol=1e-6)
    if preset in ("similarity", "three parts", "weighted sum 0.5/0.4/0.1"):
        farther = np.vstack([vectors, -query])
        moved = rank(one_more, farther, question, query, ranking, NOW, TOP_K)
        assert set(moved.index) == set(before.index)  # still no candidate, but the lowest cosine
        lowest = (vectors @ query).min()
        assert lowest > -0.99 and (moved["relevance"] >= before["relevance"].loc[moved.index]).all()
        assert moved["relevance"].max() == before["relevance"].max()
        assert (moved["relevance"] > before["relevance"].loc[moved.index]).sum() > 40


def raw(cards: pd.DataFrame, vectors: np.ndarray, question: str, query: np.ndarray) -> dict:
    names, cut = names_on(cards["entities"], {}), TOKENIZERS["stem"]
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], NOW)
    words = BM25([cut(text) for text in cards["text"]], variant="lucene").scores(cut(question))
    known = {name for card in names for name in card}
    tags = question_tags(question, all_tags(cards))
    return {
        "relevance": cosine_of_units(query, vectors),
        "recency": recency(hours, 0.995),
        "importance": from_rating(cards["importance"].to_numpy()),
        "names": entity_boost(names_in(question, known), names),
        "bm25": words,
        "usage": usage_raw(cards["views"], cards["cites"], cards["edits"]),
        "tags": tag_match(tags, cards["tags"].tolist()),
        "title": title_hit(question, cards["title"].tolist()),
    }


@pytest.mark.parametrize("which", BOXES)
def test_with_all_cards_as_candidates_a_sum_is_memlib_s_own(which: str) -> None:
    cards, vectors = BOXES[which]()
    for question, query in asked_of(which)[:1]:
        parts = raw(cards, vectors, question, query)

        def scored(ranking: Ranking, q: str = question, v: np.ndarray = query) -> np.ndarray:
            wide = replace(ranking, **EVERY)
            return rank(cards, vectors, q, v, wide, NOW)["S"].loc[cards.index].to_numpy()

        np.testing.assert_allclose(scored(ALL), weighted_sum(parts, ALL.weights), atol=1e-9)
        wanted = weighted_sum(parts, ALL.weights, z_score)
        np.testing.assert_allclose(scored(replace(ALL, normalizer="z-score")), wanted, atol=1e-9)
        three = three_part_score(parts["relevance"], parts["recency"], parts["importance"])
        np.testing.assert_allclose(scored(PRESETS["three parts"]), three.total, atol=1e-9)
        counts = usage(cards["views"], cards["cites"], cards["edits"])
        bare = parts | {"bm25": saturate(parts["bm25"]), "usage": counts}
        got = scored(replace(ALL, normalizer="none"))
        np.testing.assert_allclose(got, weighted_sum(bare, ALL.weights, None), atol=1e-9)
        held = [None, None, None, *(parts[n] > 0 for n in ("names", "bm25")), None]
        held += [parts[n] > 0 for n in ("tags", "title")]
        lists = parts | {"usage": counts}
        fused = reciprocal_rank_fusion([lists[name] for name in PARTS], held, rrf_k=7)
        np.testing.assert_allclose(scored(replace(ALL, fusion="RRF", rrf_k=7)), fused, atol=1e-12)


def test_min_max_looks_at_all_cards_and_a_constant_part_adds_nothing() -> None:
    cards, vectors = many()
    question, query = asked_of("many")[0]
    told = rank(cards, vectors, question, query, PRESETS["three parts"], NOW)
    assert told["relevance"].max() == 1
    assert told["relevance"].min() > 0.05  # the lowest of all is no candidate
    level = cards.assign(importance=np.nan)
    flat = rank(level, vectors, question, query, PRESETS["three parts"], NOW)
    assert (flat["importance"] == 0).all() and flat["recency"].max() > 0


def test_candidates_are_the_first_by_meaning_and_those_that_hold_a_word() -> None:
    cards, vectors = many()
    question, query = asked_of("many")[0]
    found = Index(cards, vectors).matches(question, query, SERVER)
    dense = dict(zip(cards.index, found.dense.tolist(), strict=True))
    words = dict(zip(cards.index, found.bm25.tolist(), strict=True))
    for near, said in ((50, 50), (3, 2), (1, 500), (None, 5), (5, None)):
        few = replace(SERVER, candidates_dense=near, candidates_words=said)
        rows = candidates(found.dense, found.bm25, cards.index, few)
        by_words = slow_librarian.best(words, said or 2_000)
        wanted = slow_librarian.best(dense, near or 2_000)
        wanted |= {id for id in by_words if words[id] > 0}
        assert set(cards.index[rows]) == wanted and np.all(np.diff(rows) > 0)


def test_the_clocks_the_rating_and_bm25_are_as_they_are_set() -> None:
    cards, vectors = many()
    question, query = asked_of("many")[0]
    index, pinned = Index(cards, vectors), cards["pinned"].to_numpy()
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], NOW)
    lives = {"working": 1.0, "episodic": 15.0, "semantic": 90.0}
    wanted = {
        "per hour": recency(hours, 0.5 ** (1 / (24 * 15.0))),
        "half-life": recency_by_half_life(hours / 24, 15.0, pinned),
        "by kind": recency_by_half_life(hours / 24, [lives[k] for k in cards["kind"]], pinned),
    }
    for decay, fresh in wanted.items():
        days = lives if decay == "by kind" else 15.0
        only = Ranking(0, 1, normalizer="none", decay=decay, half_life_days=days, **EVERY)
        told = index.rank(question, query, only, NOW)["S"].loc[cards.index]
        np.testing.assert_allclose(told, fresh, atol=1e-12)
    unused = age_hours(cards["created_at"], [None] * len(cards), NOW)
    assert (unused > hours).any()
    only = Ranking(0, 1, normalizer="none", half_life_days=15.0, clock="creation", **EVERY)
    told = index.rank(question, query, only, NOW)["S"].loc[cards.index]
    np.testing.assert_allclose(told, recency(unused, 0.5 ** (1 / (24 * 15.0))), atol=1e-12)
    shown = index.explain(question, query, only, NOW)["recency"].loc[cards.index]
    np.testing.assert_allclose(shown, told, atol=1e-12)
    for form, weight in (
        ("rating", from_rating(cards["importance"])),
        ("server", server_importance(cards)),
    ):
        only = Ranking(0, 0, 1, normalizer="none", importance_as=form, **EVERY)
        told = index.rank(question, query, only, NOW)["S"].loc[cards.index]
        np.testing.assert_allclose(told, weight, atol=1e-12)
    form = {"tokenizer": "regex", "k1": 0.9, "b": 0.4}
    only = Ranking(0, bm25=1, normalizer="none", k_norm=0.5, **form, **EVERY)
    cut = TOKENIZERS["regex"]
    words = BM25([cut(text) for text in cards["text"]], 0.9, 0.4, "lucene").scores(cut(question))
    told = index.rank(question, query, only, NOW)["S"].loc[cards.index]
    np.testing.assert_allclose(told, words / (words + 0.5), atol=1e-12)


def test_what_counts_from_creation_asks_no_store_for_its_cards() -> None:
    cards, vectors = maya()
    question, query = asked_of("maya")[0]

    def ask(ids: list[str] | None) -> pd.DataFrame:
        asked.append(ids)
        return cards if ids is None else cards.loc[ids]

    for ranking, everything in (
        (Ranking(recency=0.2, clock="creation"), False),
        (Ranking(recency=0.2, clock="creation", decay="half-life"), True),  # a pin counts there
        (Ranking(recency=0.2), True),
        (Ranking(recency=0.2, clock="creation", importance=0.1), True),
    ):
        asked: list[list[str] | None] = []
        Index(cards, vectors).rank(question, query, ranking, NOW, 3, ask)
        assert (None in asked) is everything and len(asked) == 1


def test_the_server_s_weights_are_those_that_are_given() -> None:
    cards, vectors = maya()
    question, query = asked_of("maya")[3]
    about, final = RelevanceWeights(0.4, 0.1, 0.3, 0.2), FinalWeights(0.25, 0.5, 0.125, 0.0625, 0.3)
    mine = replace(SERVER, relevance_weights=about, final_weights=final, threshold=None)
    index = Index(cards, vectors)
    told, shown = (x(question, query, mine, NOW, 5) for x in (index.rank, index.explain))
    assert told.index.tolist() == shown.index.tolist()
    wanted = 0.4 * shown["dense"].clip(0) + 0.1 * shown["bm25_norm"]
    wanted += 0.3 * shown["tag_match"] + 0.2 * shown["title_hit"]
    s = 0.25 * wanted + 0.5 * shown["recency"] + 0.125 * shown["importance"]
    s += 0.0625 * shown["usage"] - 0.3 * shown["penalty"]
    np.testing.assert_allclose(shown["S"], s, atol=1e-12)
    np.testing.assert_array_equal(shown["S"], told["at"])
    assert shown["penalty"].iloc[1:5].min() > 0
    assert replace(mine, w_duplicate=0.0).copy_cost == 0 and mine.copy_cost == 0.3
    assert replace(mine, diversity="mmr", mmr_lambda=0.75).copy_cost == 0.25


@pytest.mark.parametrize("how", ["penalty", "mmr", "none"])
def test_diversity_works_on_s_without_the_penalty(how: str) -> None:
    cards, vectors = maya()
    for question, query in asked_of("maya"):
        mine = replace(SERVER, diversity=how, mmr_lambda=0.6, threshold=None)
        told = rank(cards, vectors, question, query, mine, NOW, 8)
        rows = cards.index.get_indexer(told.index)
        wanted = pick_diverse(told["S"], vectors[rows], told.index, 8, how, 0.15, 0.6)
        assert told.index[:8].tolist() == told.index[wanted.rows].tolist()
        assert told["at"].tolist()[:8] == wanted.score.tolist()


def test_the_threshold_comes_last_and_why_says_what_kept_a_card_out() -> None:
    cards, vectors = maya()
    question, query = asked_of("maya")[3]
    free = rank(cards, vectors, question, query, replace(SERVER, threshold=None), NOW, 4)
    cut = replace(SERVER, threshold=float(free["at"].iloc[1]))  # what equals it is kept
    told = rank(cards, vectors, question, query, cut, NOW, 4)
    assert told["why"].tolist()[:4] == [PICKED, PICKED, BELOW, BELOW]
    pd.testing.assert_frame_equal(told.drop(columns="why"), free.drop(columns="why"))
    twins = pd.concat([cards.head(8), cards.head(1).set_axis(["copy"])])
    units = np.concatenate([vectors[:8], vectors[:1]])
    harsh = Ranking(1, 1, 1, diversity="penalty", w_duplicate=9)
    told = rank(twins, units, *asked_of("maya")[0], harsh, NOW, 3)
    assert told["why"]["copy"] == f"{ALIKE} birthday (1.00)"
    assert {str(why).partition(" like ")[0] for why in told["why"]} == {PICKED, LATER, "too much"}


def test_an_index_answers_each_question_moment_and_form_anew() -> None:
    cards, vectors = maya()
    index, later = Index(cards, vectors), NOW + timedelta(days=30)
    for question, query in asked_of("maya")[:2]:
        for now in (later, NOW):
            for ranking in (*PRESETS.values(), ALL, replace(ALL, tokenizer="naive", k1=1.0)):
                told = index.rank(question, query, ranking, now)
                fresh = rank(cards, vectors, question, query, ranking, now)
                pd.testing.assert_frame_equal(told, fresh)


def test_what_changed_since_is_asked_for_and_all_cards_only_where_bounds_need_them() -> None:
    cards, vectors = maya()
    question, query = asked_of("maya")[0]
    index, calls = Index(cards, vectors), list[int]()
    used = cards.assign(views=cards["views"].to_numpy()[::-1], last_accessed_at=NOW)

    def current(ids: list[str] | None) -> pd.DataFrame:
        calls.append(len(used) if ids is None else len(ids))
        return used if ids is None else used.loc[ids]

    for preset, ranking in (*PRESETS.items(), ("all", ALL)):
        calls.clear()
        told = index.rank(question, query, ranking, NOW, current=current)
        fresh = rank(used, vectors, question, query, ranking, NOW)
        pd.testing.assert_frame_equal(told, fresh)
        assert calls == [len(cards) if preset in ("three parts", "all") else len(told)]


def test_no_cards_give_an_empty_table_with_its_columns() -> None:
    cards, vectors = maya()
    question, query = asked_of("maya")[0]
    for ranking in (*PRESETS.values(), ALL):
        full = rank(cards, vectors, question, query, ranking, NOW)
        none = rank(cards.head(0), vectors[:0], question, query, ranking, NOW)
        assert none.empty and list(none.columns) == list(full.columns)
        one = rank(cards.head(1), vectors[:1], question, query, ranking, NOW)
        assert one.index.tolist() == ["birthday"] and np.isfinite(one["S"].iloc[0])


def test_features_are_those_of_the_cards_given() -> None:
    cards, vectors = maya()
    batch, (question, query) = cards.head(20), asked_of("maya")[3]
    dense, bm25 = cosine_of_units(query, vectors[:20]), np.linspace(-1, 3, 20)
    table = features(batch, dense, bm25, question, NOW)
    assert table["usage"].tolist() == usage(batch["views"], batch["cites"], batch["edits"]).tolist()
    assert (table["bm25_norm"][bm25 < 0] == 0).all() and "names" not in table
    assert table["tag_match"].tolist() == (
        tag_match(question_tags(question, all_tags(batch)), batch["tags"].tolist()).tolist()
    )
    other = features(batch, dense, bm25, question, NOW, replace(SERVER, k_norm=0.5), {"vet"})
    assert other["bm25_norm"].tolist() == saturate(bm25.clip(0), 0.5).tolist()
    assert other["tag_match"].tolist() == tag_match({"vet"}, batch["tags"].tolist()).tolist()
    shared = PRESETS["three parts"]
    mine = features(batch, dense, bm25, question, NOW, shared, names=np.full(20, 0.25))
    assert mine["importance"].tolist() == from_rating(batch["importance"]).tolist()
    assert mine["names"].tolist() == [0.25] * 20


# --- the configuration -----------------------------------------------------------------------


def test_presets_are_what_their_sources_say() -> None:
    assert list(PRESETS) == [*oracle.SUMS, "RRF", "server"]
    for name, weights in oracle.SUMS.items():
        assert tuple(PRESETS[name].weights.values())[:5] == weights
        assert set(tuple(PRESETS[name].weights.values())[5:]) == {0.0}
        assert (PRESETS[name].threshold, PRESETS[name].diversity) == (None, "none")
    assert 0.5 ** (1 / (24 * float(str(PRESETS["three parts"].half_life_days)))) == (
        pytest.approx(0.995, abs=1e-15)
    )
    dated = PRESETS["dated sum 0.9/0.1/0.2"]
    assert (dated.clock, dated.half_life_days, dated.tokenizer) == ("creation", 180, "words")
    assert (dated.decay, dated.variant) == ("per hour", "lucene") and not dated.changes
    assert SERVER.threshold == 0.35 and SERVER.half_life_days == HALF_LIFE_DAYS
    assert SERVER.copy_cost == 0.15 and PRESETS["RRF"].rrf_k == 60
    assert {r.candidates_dense for r in PRESETS.values()} == {50}
    assert {r.candidates_words for r in PRESETS.values()} == {50}


@pytest.mark.parametrize("preset", [*PRESETS, "all"])
def test_the_code_of_a_ranking_makes_it_again(preset: str) -> None:
    about = RelevanceWeights(dense=0.5)
    mine = replace(ALL, relevance_weights=about, threshold=-0.25, candidates_words=None)
    ranking = PRESETS.get(preset, mine)
    code = ranking_code(ranking)
    space = {"Ranking": Ranking, "RelevanceWeights": RelevanceWeights, "FinalWeights": FinalWeights}
    assert eval(code, dict(space)) == ranking
    changed = [f.name for f in fields(ranking) if getattr(ranking, f.name) != f.default]
    assert [line.strip().partition("=")[0] for line in code.splitlines()[1:-1]] == changed


def test_a_ranking_cannot_be_changed_nor_by_who_gave_its_mapping() -> None:
    days = dict(HALF_LIFE_DAYS)
    mine = Ranking(recency=1, decay="by kind", half_life_days=days)
    days["working"] = 99.0
    assert mine.half_life_days == HALF_LIFE_DAYS
    with pytest.raises(FrozenInstanceError):
        mine.recency = 2.0  # type: ignore[misc]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "weight": ({"names": -0.1}, r"^ranking\.names is -0\.1: must be at least 0"),
    "large": ({"title": 1e7}, r"^ranking\.title is 10000000\.0: must be at most 1e\+06"),
    "nan": ({"relevance": np.nan}, r"^ranking\.relevance is nan: must be a number"),
    "words": ({"usage": "much"}, r"^ranking\.usage must be numbers"),
    "none": ({"tags": None}, r"^ranking\.tags "),
    "true": ({"bm25": True}, r"^ranking\.bm25 is True: must be a number"),
    "normaliser": ({"normalizer": "max"}, r"^ranking\.normalizer is 'max': must be one of min-max"),
    "fusion": ({"fusion": "sum"}, r"^ranking\.fusion is 'sum': must be one of weighted sum, RRF"),
    "k": ({"rrf_k": 0}, r"^ranking\.rrf_k is 0\.0: must be at least"),
    "decay": ({"decay": "linear"}, r"^ranking\.decay is 'linear': must be one of per hour"),
    "clock": ({"clock": "edit"}, r"^ranking\.clock is 'edit': must be one of access, creation$"),
    "days": ({"half_life_days": 0}, r"^ranking\.half_life_days is 0: must be above 0"),
    "short": ({"half_life_days": 1e-9}, "half_life_days is 1e-09: so short that nothing is left"),
    "one": ({"decay": "by kind"}, r"^ranking\.half_life_days is .*: must be a mapping of kinds"),
    "kinds": ({"half_life_days": HALF_LIFE_DAYS}, "must be one number where decay is 'per hour'"),
    "kind": (
        {"decay": "by kind", "half_life_days": {"working": 2, "semantic": 180}},
        r"^ranking\.half_life_days has no 'episodic'",
    ),
    "a kind's": (
        {"decay": "by kind", "half_life_days": HALF_LIFE_DAYS | {"working": -2}},
        r"^ranking\.half_life_days\['working'\] is -2: must be above 0",
    ),
    "importance": ({"importance_as": "votes"}, r"^ranking\.importance_as is 'votes'"),
    "tokenizer": ({"tokenizer": "bytes"}, r"^ranking\.tokenizer is 'bytes': must be one of naive"),
    "variant": ({"variant": "plus"}, r"^ranking\.variant is 'plus': must be one of okapi, lucene"),
    "k1": ({"k1": -1}, r"^ranking\.k1 is -1\.0: must be at least 0"),
    "b": ({"b": 1.5}, r"^ranking\.b is 1\.5: must be at most 1"),
    "k_norm": ({"k_norm": 0}, r"^ranking\.k_norm is 0\.0: must be at least"),
    "diversity": ({"diversity": "some"}, r"^ranking\.diversity is 'some': must be one of penalty"),
    "copies": ({"w_duplicate": -1}, r"^ranking\.w_duplicate is -1\.0: must be at least 0"),
    "lambda": ({"mmr_lambda": 2}, r"^ranking\.mmr_lambda is 2\.0: must be at most 1"),
    "threshold": ({"threshold": np.nan}, r"^ranking\.threshold is nan: must be a number"),
    "nobody": ({"candidates_dense": 0}, r"^ranking\.candidates_dense is 0: must be a whole number"),
    "half": ({"candidates_words": 2.5}, r"^ranking\.candidates_words is 2\.5: must be a whole"),
    "yes": ({"candidates_words": True}, r"^ranking\.candidates_words is True: must be a whole"),
    "about": ({"relevance_weights": 1}, r"^ranking\.relevance_weights is 1: must be RelevanceW"),
    "final": ({"final_weights": None}, r"^ranking\.final_weights is None: must be FinalWeights"),
    "okapi S": ({"fusion": "server", "variant": "okapi"}, r"^ranking\.variant is 'okapi': its"),
    "okapi": ({"normalizer": "none", "variant": "okapi"}, r"^ranking\.variant is 'okapi': its"),
    "no list": ({"fusion": "RRF", "relevance": 0}, "^every weight is 0: RRF needs"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_field_that_cannot_be_is_named(name: str) -> None:
    given, said = BAD[name]
    with pytest.raises(ValueError, match=said):
        Ranking(**given)


def test_every_field_has_its_refusal() -> None:
    assert {name for given, _ in BAD.values() for name in given} >= {
        f.name for f in fields(Ranking)
    } - {"recency", "importance"}


def test_what_cannot_be_ranked_is_refused() -> None:
    cards, vectors = maya()
    question, query = asked_of("maya")[0]
    index = Index(cards, vectors)
    for text in ("", " \n", 4):
        with pytest.raises(ValueError, match=r"^question is .*: must be a text that is not empty"):
            index.rank(text, query, SERVER, NOW)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lengths differ: cards 208, vectors 207"):
        Index(cards, vectors[:-1])
    with pytest.raises(ValueError, match=r"^vectors\[0\] has length 2: must be a unit vector"):
        Index(cards, 2 * vectors)
    with pytest.raises(ValueError, match=r"^cards have no column 'entities'"):
        Index(cards.drop(columns="entities"), vectors)
    with pytest.raises(ValueError, match=r"^top_k is 0: must be a whole number"):
        index.rank(question, query, SERVER, NOW, 0)
    with pytest.raises(ValueError, match="has no time zone"):
        index.rank(question, query, SERVER, datetime(2025, 6, 11))
    with pytest.raises(ValueError, match=r"query has shape \(12,\)"):
        index.rank(question, asked_of("many")[0][1], SERVER, NOW)


@pytest.mark.parametrize("threshold", [None, 0.3])
@pytest.mark.parametrize("diversity", ["none", "penalty", "mmr"])
def test_what_is_served_is_what_is_picked(diversity: str, threshold: float | None) -> None:
    cards, vectors = maya()
    ranking = replace(SERVER, diversity=diversity, threshold=threshold)
    index = Index(cards, vectors)
    for question, query in asked_of("maya")[:4]:
        told = index.rank(question, query, ranking, NOW, TOP_K)
        picked = told.index[told["why"] == PICKED].tolist()
        scores = pd.Series(index.served(question, query, ranking, NOW, TOP_K), index=cards.index)
        found = scores[scores > -np.inf].sort_values(ascending=False, kind="stable")
        assert found.index[: len(picked)].tolist() == picked
        low = -np.inf if threshold is None else threshold
        kept = told.index[told["S"] >= low] if diversity == "none" else picked
        assert set(found.index) == set(kept)
