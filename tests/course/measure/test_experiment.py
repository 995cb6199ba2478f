"""The experiment: ranks by sorting, every method by itself, the whole against a slow loop."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data.dialogue import VARIANTS, Conversation, Question, Turn, load_dialogue, turn_text
from course.measure.experiment import (
    GRID,
    KS,
    METHODS,
    NORMALIZERS,
    READINGS,
    Signals,
    Vectors,
    evidence_ranks,
    grid_scores,
    measure_recalls,
    measure_signals,
    method_row,
    rrf_scores,
)
from memlib.bm25 import TOKENIZERS
from memlib.entity_boost import names_in
from memlib.fusion import WEIGHTS, weighted_sum
from tests.oracles import bm25 as slow_bm25
from tests.oracles import entity_boost as slow_entity
from tests.oracles import experiment as oracle
from tests.oracles import fusion as slow_fusion
from tests.oracles import similarity as slow_similarity

(TALK,) = load_dialogue()
Rows = list[tuple[int, int, int, bool]]

level = st.integers(-2, 2)
tables = st.lists(st.tuples(level, level, level, st.booleans()), min_size=1, max_size=7)


def by_letters(texts: list[str]) -> Vectors:
    """Vectors made by hand: how often five letters occur, and a constant."""
    counts = [[text.count(letter) for letter in "aeint"] + [1] for text in texts]
    return np.array([row / np.linalg.norm(row) for row in counts], dtype=np.float32)


def vectors(talk: Conversation, variant: str) -> tuple[Vectors, Vectors]:
    turns = by_letters([turn_text(turn, variant) for turn in talk.turns])
    return turns, by_letters([question.text for question in talk.questions])


def signals(rows: Rows, evidence: tuple[int, ...] = (0,)) -> Signals:
    dense, words, names, hit = (np.array(column) for column in zip(*rows, strict=True))
    parts = dense.astype(float), np.abs(words) / 3.0, np.abs(names) / 2.0
    return Signals(*parts, hit.astype(bool), evidence)


def three(found: Signals) -> dict[str, np.ndarray]:
    return {"dense": found.dense, "bm25": found.bm25, "entity": found.entity}


# Methods


def test_the_grid_is_every_weighting_in_steps_of_a_tenth() -> None:
    exact = [tuple(Fraction(w).limit_denominator(10) for w in weights) for weights in GRID]
    assert len(exact) == len(set(exact)) == 66
    assert set(exact) == oracle.weightings()
    assert [float(w) for weights in exact for w in weights] == [w for row in GRID for w in row]
    assert GRID[0] == (1, 0, 0) and GRID[-1] == (0, 0, 1)


def test_the_methods_are_two_grids_and_two_fusions_of_ranks() -> None:
    names = [name for name, *_ in METHODS]
    assert names == ["minmax"] * 66 + ["zscore"] * 66 + ["rrf2", "rrf3"]
    assert len(METHODS) == 134
    assert tuple(weights for _, *weights in METHODS[:66]) == tuple(map(list, GRID))
    assert tuple(weights for _, *weights in METHODS[66:132]) == tuple(map(list, GRID))
    assert np.isnan([weights for _, *weights in METHODS[132:]]).all()


def test_k_readings_and_normalisers_are_those_of_the_tables() -> None:
    assert KS == (5, 10, 20, 30, 50, 75, 100)
    assert READINGS == ("mentioned", "said")
    assert list(NORMALIZERS) == ["minmax", "zscore"]
    assert list(WEIGHTS) == ["dense", "bm25", "entity"]  # the order of a weighting


def test_the_row_of_every_method_is_found() -> None:
    assert [method_row(*method) for method in METHODS] == list(range(134))
    assert method_row("minmax", 0.1 * 3, 0.7, 0) == METHODS.index(("minmax", 0.3, 0.7, 0.0))
    assert (method_row("rrf2"), method_row("rrf3")) == (132, 133)


@pytest.mark.parametrize(
    "method",
    [("rrf4",), ("minmax",), ("minmax", 0.5, 0.5, 0.5), ("minmax", 0.85, 0.15, 0), ("rrf2", 1)],
)
def test_a_method_that_was_not_measured_is_refused(method: tuple[str, *tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match=rf"^no method '{method[0]}' with weights .* was measured"):
        method_row(*method)


# Ranks


def test_ranks_by_hand() -> None:
    scores = np.array([[0.1, 0.9, 0.5, 0.9], [0.0, 0.0, 0.0, 0.0]])
    assert evidence_ranks(scores, (0, 3, 1)).tolist() == [[4, 2, 1], [1, 4, 2]]


@given(
    st.lists(st.lists(level, min_size=6, max_size=6), min_size=1, max_size=4),
    st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True),
)
def test_ranks_agree_with_sorting_and_ties_stay_in_turn_order(
    rows: list[list[int]], evidence: list[int]
) -> None:
    found = evidence_ranks(np.array(rows, dtype=float), evidence)
    assert found.tolist() == [oracle.evidence_ranks(scores, evidence) for scores in rows]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_the_ranks_of_all_turns_are_each_taken_once(scores: list[float]) -> None:
    found = evidence_ranks(np.array([scores]), range(len(scores)))
    assert sorted(found[0].tolist()) == list(range(1, len(scores) + 1))


# Scores


@given(tables)
def test_each_row_of_the_grid_is_the_weighted_sum_to_the_last_bit(rows: Rows) -> None:
    found = signals(rows)
    for name, normalizer in NORMALIZERS.items():
        scores = grid_scores(found, name)
        assert scores.shape == (66, len(rows))
        for row, weights in zip(scores, GRID, strict=True):
            named = dict(zip(WEIGHTS, weights, strict=True))
            assert row.tolist() == weighted_sum(three(found), named, normalizer).tolist()


def test_min_max_is_the_usual_normaliser() -> None:
    found = signals([(1, 2, 0, True), (0, 1, 2, True), (2, 0, 1, False)])
    assert grid_scores(found).tolist() == grid_scores(found, "minmax").tolist()
    assert grid_scores(found).tolist() != grid_scores(found, "zscore").tolist()


@given(tables)
def test_the_fusions_of_ranks_agree_with_the_oracle(rows: Rows) -> None:
    found = signals(rows)
    lists = [found.dense.tolist(), found.bm25.tolist(), found.entity.tolist()]
    everything = [True] * len(rows)
    held = [everything, found.matched.tolist(), [boost > 0 for boost in lists[2]]]
    two, of_three = rrf_scores(found)
    assert two == pytest.approx(slow_fusion.reciprocal_rank_fusion(lists[:2], held[:2]), abs=1e-15)
    assert of_three == pytest.approx(slow_fusion.reciprocal_rank_fusion(lists, held), abs=1e-15)


def test_a_list_holds_only_what_it_matched() -> None:
    found = Signals(*np.zeros((3, 2)), np.array([False, True]), (0,))
    assert rrf_scores(found).tolist() == [[1 / 61, 2 / 61]] * 2


# Signals


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("reading", READINGS)
def test_the_signals_of_a_question_are_those_of_the_oracles(variant: str, reading: str) -> None:
    turns, questions = vectors(TALK, variant)
    texts = [turn_text(turn, variant) for turn in TALK.turns]
    held = [
        [turn.speaker] if reading == "said" else [n for n in TALK.speakers if n in turn.text]
        for turn in TALK.turns
    ]
    documents = [slow_bm25.regex(text) for text in texts]
    found = measure_signals(TALK, turns, questions, variant, "regex", reading)
    assert len(found) == len(TALK.questions)
    for number in (0, 7):
        question, one = TALK.questions[number], found[number]
        terms = slow_bm25.regex(question.text)
        asked = [name for name in TALK.speakers if name in question.text]
        dense = slow_similarity.cosine(questions[number].tolist(), turns.tolist())
        assert one.dense == pytest.approx(dense, abs=1e-6)
        assert one.bm25 == pytest.approx(slow_bm25.scores(documents, terms), abs=1e-9)
        assert one.entity == pytest.approx(slow_entity.entity_boost(asked, held), abs=1e-12)
        assert one.matched.tolist() == [bool(set(terms) & set(words)) for words in documents]
        assert one.evidence == question.evidence


def test_what_is_searched_is_speaker_and_caption_stemmed_and_who_said_it() -> None:
    parts = vectors(TALK, "sc")
    for usual, named in zip(
        measure_signals(TALK, *parts),
        measure_signals(TALK, *parts, "sc", "stem", "said"),
        strict=True,
    ):
        assert [part.tolist() for part in usual[:4]] == [part.tolist() for part in named[:4]]


def test_a_name_counts_where_it_is_mentioned_or_where_it_speaks() -> None:
    turns = (Turn("D1:1", "Ida", "Max, look!", ""), Turn("D1:2", "Max", "Where?", ""))
    questions = (Question("What did Max say?", "", 1, (1,), ()),)
    talk = Conversation("two", ("Ida", "Max"), turns, questions)
    (mentioned,) = measure_signals(talk, *vectors(talk, "t"), "t", "naive", "mentioned")
    (said,) = measure_signals(talk, *vectors(talk, "t"), "t", "naive", "said")
    assert (mentioned.entity.tolist(), said.entity.tolist()) == ([1, 0], [0, 1])


def test_a_question_without_evidence_is_left_out_and_the_others_keep_their_vector() -> None:
    cut = TALK.questions[1]._replace(evidence=())
    talk = TALK._replace(questions=(TALK.questions[0], cut, *TALK.questions[2:]))
    parts = vectors(TALK, "t")
    all_of_them, fewer = measure_signals(TALK, *parts), measure_signals(talk, *parts)
    del all_of_them[1]
    assert len(fewer) == len(talk.questions) - 1
    for one, other in zip(all_of_them, fewer, strict=True):
        assert one.dense.tolist() == other.dense.tolist()


def test_a_vector_too_few_is_refused() -> None:
    turns, questions = vectors(TALK, "t")
    with pytest.raises(ValueError, match="shorter"):
        measure_signals(TALK, turns, questions[:-1])
    with pytest.raises(ValueError, match="longer"):
        measure_signals(TALK, turns, np.concatenate([questions, questions[:1]]))


# Recall


def scores_one_by_one(found: Signals) -> list[list[float]]:
    """The scores of each method, by the functions that chapters teach."""
    lists = [part.tolist() for part in (found.dense, found.bm25, found.entity)]
    held = [[True] * len(lists[0]), found.matched.tolist(), [boost > 0 for boost in lists[2]]]
    scores = [
        weighted_sum(three(found), dict(zip(WEIGHTS, weights, strict=True)), normalizer).tolist()
        for normalizer in NORMALIZERS.values()
        for weights in GRID
    ]
    return [
        *scores,
        slow_fusion.reciprocal_rank_fusion(lists[:2], held[:2]),
        slow_fusion.reciprocal_rank_fusion(lists, held),
    ]


@pytest.mark.parametrize("tokenizer", ["naive", "regex", "stem"])
def test_all_recalls_of_the_course_s_dialogue_equal_a_slow_loop(tokenizer: str) -> None:
    found = measure_signals(TALK, *vectors(TALK, "sc"), "sc", tokenizer, "said")[:12]
    recalls = measure_recalls(found)
    assert recalls.shape == (12, 134, 7)
    for question, by_method in zip(found, recalls.tolist(), strict=True):
        for scores, by_k in zip(scores_one_by_one(question), by_method, strict=True):
            ranks = oracle.evidence_ranks(scores, question.evidence)
            expected = [100 * sum(rank <= k for rank in ranks) / len(ranks) for k in KS]
            assert by_k == pytest.approx(expected, abs=1e-12)


@given(tables, st.integers(1, 7), st.data())
def test_recall_is_the_share_of_the_evidence_among_the_first(
    rows: Rows, k: int, data: st.DataObject
) -> None:
    evidence = data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1))
    found = signals(rows, tuple(evidence))
    ((by_method, *_),) = [measure_recalls([found], [k])]
    for scores, (recall,) in zip(grid_scores(found).tolist(), by_method[:66], strict=True):
        assert recall == pytest.approx(oracle.recall(scores, list(evidence), k), abs=1e-12)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_recall_is_a_percentage_and_rises_with_k(tokenizer: str, reading: str) -> None:
    recalls = measure_recalls(measure_signals(TALK, *vectors(TALK, "t"), "t", tokenizer, reading))
    assert recalls.shape == (50, 134, 7)
    assert np.isfinite(recalls).all()
    assert recalls.min() >= 0 and recalls.max() <= 100
    assert (np.diff(recalls, axis=2) >= 0).all()


def test_never_nan_though_nothing_matches_and_all_is_equal() -> None:
    turns = (Turn("D1:1", "Ida", "Hm.", ""), Turn("D1:2", "Ida", "Hm.", ""))
    questions = (Question("Who?", "", 1, (1,), ()),)
    talk = Conversation("same", ("Ida", "Max"), turns, questions)
    (found,) = measure_signals(talk, *vectors(talk, "t"), "t", "stem")
    assert names_in("Who?", talk.speakers) == ()
    for name in NORMALIZERS:
        assert np.isfinite(grid_scores(found, name)).all()
    assert np.isfinite(rrf_scores(found)).all()
    recalls = measure_recalls([found], [1, 2])[0]  # all are tied: the second turn comes second
    assert recalls.tolist() == [[0, 100]] * 134


def test_no_questions_give_no_recalls() -> None:
    assert measure_recalls([]).shape == (0, 134, 7)
