"""LoCoMo beside REALTALK: measures by hand, who is compared with whom, and what the rule says."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data.fetch import DataUnavailable, cache_folder
from course.data.files import data_path
from course.data.locomo import load_locomo
from course.data.realtalk import load_realtalk
from course.data.recorded import choose
from course.measure import remeasure
from course.measure.leaderboard import METHODS
from course.measure.readings import (
    COLUMNS,
    DECIDES,
    FIRST,
    LEARNED,
    LOCOMO,
    MAIN,
    MEASURES,
    OWN,
    REALTALK,
    choose_all,
    leave_one_chat_out,
    measure,
    measures,
    pairs,
    read,
    ruled,
    survivors,
    table,
)
from course.measure.survivors import prepare
from course.measure.tuned import TUNED
from memlib.evaluation import grouped_difference
from tests.course.measure.test_leaderboard import NAMED, THREE
from tests.oracles import leaderboard as oracle

ALL_METHODS = [*METHODS, *TUNED]
COMMITTED = pd.read_csv(data_path("realtalk_results.csv"), encoding="utf-8")
FEW = [NAMED[name] for name in (FIRST, "BM25", "weighted sum")]


def test_measures_by_hand() -> None:
    scores = np.zeros(60)
    scores[[7, 3, 50]] = 3, 2, 1
    found = dict(zip(MEASURES, measures(scores, [3, 50, 59]), strict=True))
    assert found["recall@5"] == pytest.approx(100 * 2 / 3)
    assert found["recall@50"] == pytest.approx(100 * 2 / 3)  # of the equal ones row 59 is last
    assert (found["hit@10"], found["MRR"]) == (100, 50)
    ideal = 1 + 1 / np.log2(3) + 1 / np.log2(4)
    gain = 1 / np.log2(3) + 1 / np.log2(4)
    assert found["nDCG@10"] == pytest.approx(100 * gain / ideal)


def test_what_is_not_found_counts_nowhere() -> None:
    assert measures(np.full(5, -np.inf), [0]) == [0.0] * len(MEASURES)


@given(st.lists(st.sampled_from([-np.inf, 0.0, 1.0, 2.0]), min_size=1, max_size=12), st.data())
def test_recalls_are_those_of_the_slow_way(scores: list[float], data: st.DataObject) -> None:
    rows = st.integers(0, len(scores) - 1)
    evidence = data.draw(st.lists(rows, min_size=1, max_size=4, unique=True))
    found = measures(np.array(scores), evidence)
    wanted = [oracle.recall(scores, evidence, k) for k in (5, 10, 20, 50)]
    assert found[:4] == pytest.approx(wanted, abs=1e-12)


def test_each_idea_is_judged_once_and_over_the_method_that_the_rule_names() -> None:
    rule = dict(ruled(ALL_METHODS))
    assert len(rule) == len(list(ruled(ALL_METHODS))) == len(ALL_METHODS) - 2
    assert set(NAMED) - set(rule) == {FIRST, LEARNED}
    assert rule["weighted sum"] == rule["RRF of two, k chosen"] == rule["BM25"] == FIRST
    assert rule["+ length"] == LEARNED
    assert rule["2: and BM25"] == FIRST
    assert rule["4: and BM25 in context"] == "3: and speaker match"
    assert list(ruled(ALL_METHODS)) == list(pairs(ALL_METHODS))[: len(rule)]
    assert set(MAIN) <= set(NAMED)


def test_what_was_chosen_on_development_is_read_on_the_others() -> None:
    chosen = choose_all(FEW, THREE[:2])
    found = read(FEW, chosen, THREE[2:])
    for method in FEW:
        for row, asked in enumerate(THREE[2]):
            scores = method.score(asked, chosen[method.name])
            assert found[method.name][row].tolist() == measures(scores, asked.question.evidence)


def test_a_chat_is_never_chosen_on_when_it_is_tried() -> None:
    found = leave_one_chat_out(FEW, THREE)
    parts = []
    for i, left in enumerate(THREE):
        others = [third for j, third in enumerate(THREE) if j != i]
        parts.append(read(FEW, choose_all(FEW, others), [left])["weighted sum"])
    assert found["weighted sum"].tolist() == np.concatenate(parts).tolist()


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return measure(THREE[:1], THREE, THREE)


def test_a_table_tells_each_difference_by_conversation(results: pd.DataFrame) -> None:
    assert list(results) == list(COLUMNS)
    assert results["reading"].unique().tolist() == [LOCOMO, REALTALK, OWN]
    first = results[results["reading"] == LOCOMO]
    assert (first[first["measure"] == DECIDES].groupby(["method", "over"]).size() == 1).all()
    row = first.set_index(["method", "over", "measure"]).loc[("BM25", FIRST, DECIDES)]
    chosen = choose_all(FEW, THREE[:1])
    found, groups = read(FEW, chosen, THREE), [i for i, c in enumerate(THREE) for _ in c]
    j = MEASURES.index(DECIDES)
    wanted = grouped_difference(found[FIRST][:, j], found["BM25"][:, j], groups)
    assert row["difference"] == round(wanted.mean, 2) and row["low"] == round(wanted.low, 2)
    assert row["p"] == round(wanted.p, 4) and row["verdict"] == "too few groups"
    assert row["value"] == round(float(found["BM25"][:, j].mean()), 2) and row["n"] == len(groups)
    same = first[(first["over"] == FIRST) & (first["measure"] == DECIDES)]
    assert (same["p_holm"] >= same["p"]).all() and same["p_holm"].max() > same["p"].max() - 1e-9


def test_an_idea_survives_if_both_readings_say_so(results: pd.DataFrame) -> None:
    assert not any(survivors(results).values())
    good = results.copy()
    rows = (good["method"] == "BM25") & (good["over"] == FIRST) & (good["measure"] == DECIDES)
    good.loc[rows, "verdict"] = "better"
    assert [name for name, lives in survivors(good).items() if lives] == ["BM25"]
    good.loc[rows & (good["reading"] == REALTALK), "verdict"] = "within noise"
    assert not any(survivors(good).values())


@pytest.mark.slow
def test_measured_again_the_main_methods_find_on_realtalk_what_is_committed() -> None:
    try:
        development, _ = load_locomo(download=False)
        chats = load_realtalk(download=False)
    except DataUnavailable as missing:
        pytest.skip(str(missing))
    embedder, folder = choose("bundled"), cache_folder()
    main = [method for method in ALL_METHODS if method.name in MAIN]
    chosen = choose_all(main, prepare(development, embedder, folder))
    prepared = prepare(chats, embedder, folder)
    groups = [chat.id for chat, asked in zip(chats, prepared, strict=True) for _ in asked]
    new = table(REALTALK, main, read(main, chosen, prepared), groups)
    key = ["reading", "method", "over", "measure"]
    old = new[key].merge(COMMITTED, on=key)[list(COLUMNS)]
    new = new.merge(COMMITTED[key], on=key)
    assert len(new) > 60
    hung = ["p_holm", "verdict"]  # on how many are compared
    tolerance = 0.5  # points: on another processor one question of a chat's 70 may turn
    assert remeasure.disagreement(new.drop(columns=hung), old.drop(columns=hung), tolerance) == ""
