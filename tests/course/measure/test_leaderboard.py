"""The leaderboard: recall by picking, weights chosen by looking at each, nothing seen twice."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data.dialogue import load_dialogue, turn_text
from course.data.recorded import choose
from course.measure import leaderboard
from course.measure.experiment import GRID, Signals, measure_recalls, method_row
from course.measure.experiment import METHODS as EXPERIMENTS
from course.measure.ideas import PARTS, STACK, Asked, Prepared, above, ask, diverse, part_row, rrf
from course.measure.leaderboard import (
    BASELINE,
    BEST,
    CHOSEN_AT,
    KS,
    METHODS,
    SIGNALS,
    START,
    Method,
    Weights,
    fixed,
    grid,
    held_out,
    learned,
    leave_one_out,
    recall,
    total,
)
from memlib import fusion
from memlib.checks import Floats
from memlib.fusion import weighted_sum
from memlib.learning import fit_weights
from tests.oracles import fusion as slow_fusion
from tests.oracles import leaderboard as oracle

(TALK,) = load_dialogue()
NAMED = {method.name: method for method in METHODS}


def thirds() -> list[list[Asked]]:
    """The course's dialogue three times, each time with another third of the questions."""
    recorded = choose("recorded")
    turns = recorded.embed([turn_text(turn) for turn in TALK.turns])
    made_up = np.random.default_rng(4).normal(size=turns.shape)  # nothing is recorded in context
    context = (made_up / np.linalg.norm(made_up, axis=1, keepdims=True)).astype(np.float32)
    found = []
    for i, name in enumerate(("one", "two", "three")):
        talk = TALK._replace(id=name, questions=TALK.questions[i::3])
        texts = [question.text for question in talk.questions]
        found.append(ask(Prepared(talk, turns, context), recorded.embed(texts, "query")))
    return found


THREE = thirds()
ALL = [asked for third in THREE for asked in third]
score = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0])


def others(left: int) -> list[Asked]:
    return [asked for i, third in enumerate(THREE) if i != left for asked in third]


# Recall


@given(st.lists(score, min_size=1, max_size=12), st.data())
def test_recall_agrees_with_picking_one_by_one(scores: list[float], data: st.DataObject) -> None:
    rows = st.integers(0, len(scores) - 1)
    evidence = data.draw(st.lists(rows, min_size=1, max_size=4, unique=True))
    ks = data.draw(st.lists(st.integers(1, 13), min_size=1, max_size=3))
    expected = [oracle.recall(scores, evidence, k) for k in ks]
    assert recall(np.array(scores), evidence, ks) == pytest.approx(expected, abs=1e-12)


def test_equal_turns_go_in_turn_order_and_minus_infinity_is_never_found() -> None:
    same = np.zeros(60)
    assert recall(same, [9, 10, 49, 50]) == [25, 50, 75]
    gone = np.where(np.arange(60) == 3, -np.inf, 0)
    assert recall(gone, [3]) == [0, 0, 0]
    assert recall(np.full(5, -np.inf), [0]) == [0, 0, 0]
    assert recall(np.array([-np.inf, 1]), [0, 1], [1, 2]) == [50, 50]
    assert KS == (10, 20, 50) and CHOSEN_AT in KS


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_scores_every_turn_and_recall_rises_with_k(method: Method) -> None:
    weights = method.choose(ALL[:12])
    for asked in ALL[::7]:
        scores = method.score(asked, weights)
        assert scores.shape == (len(TALK.turns),)
        assert not np.isnan(scores).any() and (scores < np.inf).all()
        found = recall(scores, asked.question.evidence)
        expected = [oracle.recall(scores.tolist(), asked.question.evidence, k) for k in KS]
        assert found == pytest.approx(expected, abs=1e-12)
        assert 0 <= found[0] <= found[1] <= found[2] <= 100


# Methods


def test_the_names_of_methods_are_distinct() -> None:
    assert len(NAMED) == len(METHODS)
    assert {method.family for method in METHODS} == {"documents", "beyond", "ladder"}
    assert BASELINE in NAMED


def test_the_ladder_takes_one_part_more_at_each_step_and_ends_in_the_whole_stack() -> None:
    ladder = [method for method in METHODS if method.family == "ladder"]
    for n, method in enumerate(ladder, start=2):
        assert tuple(method.choose(ALL[:6])) == STACK[:n]
        assert method.name == f"{n}: and {STACK[n - 1]}"
    assert len(ladder) == len(STACK) - 1
    assert ladder[-1].name == BEST == METHODS[-1].name
    assert set(STACK) <= set(PARTS)


def test_every_idea_is_added_to_the_same_three() -> None:
    start, *added = [method for method in METHODS if method.family == "beyond"]
    assert tuple(start.choose(ALL[:6])) == START == STACK[:3]
    assert {method.name for method in added} == {
        f"+ {part}" for part in PARTS if part not in (*START, "strength")
    }
    for method in added:
        part = method.name.removeprefix("+ ")
        usual = (*START, part)
        other = (START[0], part, START[2])
        instead = part in ("BM25 with dates", "BM25, k1 0.9, b 0.4", "BM25, k1 2, b 1")
        assert tuple(method.choose(ALL[:6])) == (other if instead else usual)


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("similarity alone", {"similarity": 1}),
        ("newest first", {"recency": 1}),
        ("similarity + recency, equal", {"similarity": 1, "recency": 1}),
        ("similarity + recency, 0.9/0.1", {"similarity": 0.9, "recency": 0.1}),
        ("similarity + slow recency, 0.9/0.1", {"similarity": 0.9, "slow recency": 0.1}),
        ("strength-biased cosine", {"strength": 1}),
        ("BM25", {"BM25": 1}),
        ("published sum, mentioned", {"similarity": 0.8, "BM25": 0.1, "names mentioned": 0.1}),
        ("published sum, who said it", {"similarity": 0.8, "BM25": 0.1, "who said it": 0.1}),
    ],
)
def test_a_method_of_the_documents_has_the_weights_that_they_print(
    name: str, weights: dict[str, float]
) -> None:
    method = NAMED[name]
    assert dict(method.choose(ALL)) == dict(method.choose([])) == weights
    for asked in ALL[::9]:
        parts = {part: asked.part(part).tolist() for part in weights}
        expected = slow_fusion.weighted_sum(parts, weights, scaled=False)
        assert method.score(asked, weights) == pytest.approx(expected, abs=1e-12)


def test_newest_first_finds_the_last_turns_of_the_file_s_times() -> None:
    scores = NAMED["newest first"].score(ALL[0], {"recency": 1.0})
    last = max(turn.session for turn in TALK.turns)
    assert {TALK.turns[row].session for row in np.flatnonzero(scores == 1)} == {last}


def test_the_weighted_sum_is_that_of_the_formula_to_the_last_bit() -> None:
    method = NAMED[BASELINE]
    for weights in ((0.8, 0.1, 0.1), (0.3, 0.3, 0.4), (0.1, 0.7, 0.2)):
        for asked in ALL:
            parts = {name: asked.part(name) for name in SIGNALS}
            named = dict(zip(SIGNALS, weights, strict=True))
            assert method.score(asked, named).tolist() == weighted_sum(parts, named).tolist()
            unscaled = weighted_sum(parts, named, normalize=None)
            assert total(asked, named).tolist() == unscaled.tolist()
    assert tuple(fusion.WEIGHTS.values()) == (0.8, 0.1, 0.1)


def test_a_weight_may_be_below_nothing() -> None:
    asked = ALL[0]
    expected = asked.part("similarity") - 2 * asked.part("hubness")
    assert total(asked, {"similarity": 1.0, "hubness": -2.0}).tolist() == expected.tolist()


def test_turns_of_equal_parts_have_equal_scores_wherever_they_stand() -> None:
    rng = np.random.default_rng(0)
    for n in range(2, 200):
        parts = rng.random((len(PARTS), n))
        parts[:, n - 1] = parts[:, rng.integers(0, n - 1)]
        asked = replace(ALL[0], parts=parts)
        weights = dict(zip(STACK, rng.normal(size=len(STACK)).tolist(), strict=True))
        twins = np.flatnonzero((parts == parts[:, n - 1 :]).all(axis=0))
        assert len(twins) == 2
        assert len(set(total(asked, weights)[twins])) == 1


def test_after_the_weighted_sum_come_fusion_diversity_and_the_threshold() -> None:
    named = dict(zip(SIGNALS, (0.7, 0.2, 0.1), strict=True))
    for asked in ALL[::11]:
        base = total(asked, named)
        expected = {
            "RRF of two": rrf(asked, ("similarity", "BM25")),
            "RRF of three": rrf(asked, ("similarity", "BM25", "who said it")),
            f"{BASELINE}, MMR": diverse(asked, base, "mmr"),
            f"{BASELINE}, duplication penalty": diverse(asked, base, "penalty"),
            f"{BASELINE}, threshold": above(base, 0.35),
        }
        for name, scores in expected.items():
            weights = {} if name.startswith("RRF") else named
            assert NAMED[name].score(asked, weights).tolist() == scores.tolist()
    for name in (BASELINE, *(name for name in NAMED if name.startswith(f"{BASELINE}, "))):
        assert NAMED[name].choose is grid


# Choosing weights


def as_signals(asked: Asked) -> Signals:
    words = asked.matched[part_row("BM25")]
    return Signals(*(asked.part(name) for name in SIGNALS), words, asked.question.evidence)


@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_the_grid_picks_what_the_experiment_says_is_best(left: int) -> None:
    questions = others(left)  # all of them, if 3 is left out
    means = measure_recalls(map(as_signals, questions), [CHOSEN_AT])[:, :66, 0].mean(axis=0)
    best = means.round(9).argmax()
    assert EXPERIMENTS[best][0] == "minmax"
    chosen = grid(questions)
    assert chosen == dict(zip(SIGNALS, GRID[best], strict=True))
    assert method_row("minmax", *chosen.values()) == best
    assert means.min() < means[best]


def test_the_grid_picks_the_first_of_the_best_by_the_oracle() -> None:
    for questions in ([ALL[0]], ALL[:3], ALL[20:26]):
        means = []
        for weights in GRID:
            named = dict(zip(SIGNALS, weights, strict=True))
            found = [
                oracle.recall(total(asked, named).tolist(), asked.question.evidence, CHOSEN_AT)
                for asked in questions
            ]
            means.append(sum(map(Fraction, found)) / len(found))
        rounded = [round(mean, 9) for mean in means]
        best = GRID[oracle.first_best(rounded)]
        assert grid(questions) == dict(zip(SIGNALS, best, strict=True))


def test_learned_weights_are_those_of_the_formula() -> None:
    for names in (START, ("hubness", "similarity"), STACK):
        weights = learned(*names)(ALL)
        parts = [np.array([asked.part(name) for name in names]) for asked in ALL]
        expected = fit_weights(parts, [asked.question.evidence for asked in ALL])
        assert list(weights) == list(names)
        assert list(weights.values()) == expected.tolist()


def test_learned_weights_belong_to_names_whatever_their_order() -> None:
    forth, back = learned(*START)(ALL), learned(*START[::-1])(ALL)
    assert list(back) == list(forth)[::-1]
    assert [back[name] for name in START] == pytest.approx(list(forth.values()), abs=1e-6)


def test_fixed_weights_never_look_at_the_questions() -> None:
    assert fixed({"BM25": 0.5})(ALL) == fixed({"BM25": 0.5})([]) == {"BM25": 0.5}


# What may be seen


class Spy:
    """A method that remembers what it chose on, and tells each choice apart by its weight."""

    def __init__(self) -> None:
        self.chosen_on: list[list[Asked]] = []
        self.scored: list[tuple[Asked, float]] = []

    def choose(self, questions: Sequence[Asked]) -> Weights:
        self.chosen_on.append(list(questions))
        return {"similarity": float(len(self.chosen_on))}

    def score(self, asked: Asked, weights: Weights) -> Floats:
        self.scored.append((asked, weights["similarity"]))
        return asked.part("similarity")

    @property
    def method(self) -> Method:
        return Method("spy", "beyond", self.choose, self.score)


def ids(questions: Sequence[Asked]) -> list[int]:
    return [id(asked) for asked in questions]


def test_what_is_left_out_is_never_chosen_on() -> None:
    spy = Spy()
    tried = leave_one_out(spy.method, THREE)
    assert [ids(seen) for seen in spy.chosen_on] == [ids(others(i)) for i in range(3)]
    for seen, third in zip(spy.chosen_on, THREE, strict=True):
        assert not set(ids(seen)) & set(ids(third))
    assert ids([asked for asked, _ in spy.scored]) == ids(ALL)
    assert [w for _, w in spy.scored] == [i + 1.0 for i in range(3) for _ in THREE[i]]
    assert tried.weights == {name: {"similarity": i} for i, name in enumerate(NAMES, start=1)}
    assert tried.method == spy.method


NAMES = ("one", "two", "three")


def test_the_held_out_conversations_are_never_chosen_on() -> None:
    spy = Spy()
    tried = held_out(spy.method, THREE[:2], THREE[2:])
    assert [ids(seen) for seen in spy.chosen_on] == [ids(others(2))]
    assert ids([asked for asked, _ in spy.scored]) == ids(THREE[2])
    assert {w for _, w in spy.scored} == {1.0}
    assert tried.weights == {"all": {"similarity": 1.0}}


@pytest.mark.parametrize("name", ["similarity alone", BASELINE, "learned sum of three", BEST])
def test_a_trial_is_the_recall_of_each_question_in_order(name: str) -> None:
    method = NAMED[name]
    expected = []
    for i, third in enumerate(THREE):
        weights = method.choose(others(i))
        expected += [recall(method.score(a, weights), a.question.evidence) for a in third]
    tried = leave_one_out(method, THREE)
    assert tried.recalls.shape == (len(ALL), len(KS))
    assert tried.recalls.tolist() == expected
    assert list(tried.weights) == list(NAMES)
    weights = method.choose(others(2))
    apart = held_out(method, THREE[:2], THREE[2:])
    assert apart.recalls.tolist() == expected[-len(THREE[2]) :]
    assert apart.weights == {"all": weights}


def test_a_conversation_that_cannot_be_tried_is_told_by_its_name() -> None:
    ready = THREE[0][0].ready
    silent = tuple(question._replace(evidence=()) for question in TALK.questions[:2])
    ready = replace(ready, conversation=TALK._replace(id="small talk", questions=silent))
    asked = choose("recorded").embed([question.text for question in silent], "query")
    with pytest.raises(ValueError, match=r"^conversation 'small talk' has no question with evid"):
        leave_one_out(NAMED["similarity alone"], [*THREE, ask(ready, asked)])


def test_the_evidence_of_what_is_left_out_changes_no_weight_of_its_own_trial() -> None:
    moved = [
        replace(asked, question=asked.question._replace(evidence=(i,)))
        for i, asked in enumerate(THREE[2])
    ]
    for name in (BASELINE, "learned sum of three"):
        usual = leave_one_out(NAMED[name], THREE)
        other = leave_one_out(NAMED[name], [*THREE[:2], moved])
        assert usual.weights["three"] == other.weights["three"]
        assert usual.recalls[-len(moved) :].tolist() != other.recalls[-len(moved) :].tolist()
        one, two = (held_out(NAMED[name], THREE[:2], [x]) for x in (THREE[2], moved))
        assert one.weights == two.weights


def test_the_module_reads_no_conversation_by_itself() -> None:
    assert not [name for name in vars(leaderboard) if name.startswith(("load", "read"))]
