"""Learning weights: the loss by hand, its minimum by its slope, and an order that was planted."""

import math
import re
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlib import learning
from memlib.checks import Floats
from memlib.learning import PENALTY, STEPS, fit_weights, listwise_loss
from tests.oracles import learning as oracle

Call = Callable[[], object]
Questions = list[tuple[list[list[float]], set[int]]]
NAN, INF = float("nan"), float("inf")

unit = st.integers(0, 8).map(lambda n: n / 8)
weightings = st.lists(st.integers(-24, 24).map(lambda n: n / 8), min_size=3, max_size=3)
penalties = st.sampled_from([0.001, 0.01, 0.5])


@st.composite
def some_questions(draw: st.DrawFn) -> Questions:
    """One to three questions of three parts each, over one to five cards."""
    asked: Questions = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(1, 5))
        parts = [draw(st.lists(unit, min_size=n, max_size=n)) for _ in range(3)]
        asked.append((parts, draw(st.sets(st.integers(0, n - 1), min_size=1))))
    return asked


questions = some_questions()


def split(asked: Questions) -> tuple[list[list[list[float]]], list[set[int]]]:
    return [parts for parts, _ in asked], [rows for _, rows in asked]


def test_the_constants() -> None:
    assert (PENALTY, STEPS) == (0.001, 100)


# The loss


def test_the_loss_by_hand() -> None:
    one = [[[1.0, 0.0], [0.0, 1.0]]]
    assert listwise_loss([0, 0], one, [[0]]) == pytest.approx(math.log(2))
    assert listwise_loss([1, 0], one, [[0]], 0) == pytest.approx(math.log(1 + math.exp(-1)))
    assert listwise_loss([1, 0], one, [[1]], 0) == pytest.approx(math.log(1 + math.e))
    assert listwise_loss([3, 4], one, [[0]], 2) == pytest.approx(math.log(1 + math.e) + 2 * 25)


def test_the_relevant_cards_of_a_question_share_its_weight() -> None:
    three = [[2.0, 1.0, 0.0]]
    every = math.log(math.exp(2) + math.e + 1)
    assert listwise_loss([1], [three], [[0, 1]], 0) == pytest.approx(every - 1.5)
    both = listwise_loss([1], [three, three], [[0, 1], [2]], 0)
    assert both == pytest.approx((every - 1.5 + every) / 2)


def test_a_relevant_card_named_twice_counts_once() -> None:
    three = [[2.0, 1.0, 0.0]]
    assert listwise_loss([1], [three], [[0, 1, 0]]) == listwise_loss([1], [three], [{0, 1}])


def test_one_card_loses_nothing_and_teaches_nothing() -> None:
    assert listwise_loss([5, 5], [[[1.0], [0.0]]], [[0]], 0) == 0
    assert fit_weights([[[1], [0]]], [[0]]).tolist() == [0, 0]


def test_where_every_card_is_relevant_and_alike_nothing_is_learned() -> None:
    assert fit_weights([[[0.5, 0.5], [0.0, 0.0]]], [[0, 1]]).tolist() == [0, 0]
    assert fit_weights([[[1, 0], [0, 1]]], [[0, 1]]).tolist() == [0, 0]


def test_scores_that_no_exponential_could_hold_are_compared() -> None:
    assert listwise_loss([1], [[[5000.0, 4999.0, -5000.0]]], [[1]], 0) == pytest.approx(
        1 + math.log(1 + math.exp(-1))
    )


@given(questions, weightings, penalties)
def test_the_loss_agrees_with_the_oracle(
    asked: Questions, weights: list[float], penalty: float
) -> None:
    parts, relevant = split(asked)
    found = listwise_loss(weights, parts, relevant, penalty)
    assert found == pytest.approx(oracle.loss(weights, parts, relevant, penalty), abs=1e-10)
    assert found >= -1e-12


@given(questions, weightings, weightings)
def test_the_loss_is_convex(asked: Questions, one: list[float], other: list[float]) -> None:
    parts, relevant = split(asked)
    between = [(a + b) / 2 for a, b in zip(one, other, strict=True)]
    ends = listwise_loss(one, parts, relevant) + listwise_loss(other, parts, relevant)
    assert listwise_loss(between, parts, relevant) <= ends / 2 + 1e-12


@given(questions, weightings)
def test_a_number_added_to_every_card_changes_no_loss(
    asked: Questions, weights: list[float]
) -> None:
    parts, relevant = split(asked)
    lifted = [np.asarray(columns) + 0.5 for columns in parts]
    found = listwise_loss(weights, lifted, relevant)
    assert found == pytest.approx(listwise_loss(weights, parts, relevant), abs=1e-12)


# The minimum


@given(questions, penalties)
def test_at_the_learned_weights_the_loss_has_no_slope(asked: Questions, penalty: float) -> None:
    parts, relevant = split(asked)
    weights = fit_weights(parts, relevant, penalty).tolist()
    assert oracle.slope(weights, parts, relevant, penalty) == pytest.approx([0] * 3, abs=1e-6)


@given(questions, weightings, penalties)
def test_no_other_weights_have_a_smaller_loss(
    asked: Questions, other: list[float], penalty: float
) -> None:
    parts, relevant = split(asked)
    weights = fit_weights(parts, relevant, penalty)
    least = listwise_loss(weights, parts, relevant, penalty)
    assert least <= listwise_loss(other, parts, relevant, penalty) + 1e-12
    assert least <= listwise_loss([0, 0, 0], parts, relevant, penalty)


@given(questions)
@settings(max_examples=15)
def test_small_steps_lead_to_the_same_weights(asked: Questions) -> None:
    parts, relevant = split(asked)
    expected = oracle.fit(parts, relevant, 0.5)
    assert fit_weights(parts, relevant, 0.5) == pytest.approx(expected, abs=1e-4)


def made_questions(true: list[float], count: int = 40, cards: int = 30) -> Questions:
    """Questions whose one relevant card is the best by the `true` weights."""
    rng = np.random.default_rng(3)
    parts = rng.random((count, len(true), cards))
    return [(x.tolist(), {int((np.array(true) @ x).argmax())}) for x in parts]


def test_the_loss_never_rises_from_step_to_step(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, relevant = split(made_questions([1, 2, 0.5]))
    losses, loss = [], learning._loss
    tried: list[Floats] = []
    monkeypatch.setattr(learning, "_loss", lambda w, *rest: (tried.append(w), loss(w, *rest))[1])
    for steps in range(12):
        monkeypatch.setattr(learning, "STEPS", steps)
        try:
            reached = fit_weights(parts, relevant)
        except RuntimeError:
            reached = tried[-1]  # a step that is taken is the last one tried
        losses.append(listwise_loss(reached, parts, relevant))
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(math.log(30))
    assert losses[-1] == losses[-2] < losses[3]


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_search_that_ends_before_the_minimum_is_an_error(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    parts, relevant = split(made_questions([1, 2, 0.5]))
    assert fit_weights(parts, relevant).argmax() == 1
    monkeypatch.setattr(learning, "STEPS", steps)
    said = rf"^no minimum found: after {steps} steps the loss still falls, now \d"
    with pytest.raises(RuntimeError, match=said):
        fit_weights(parts, relevant)


def test_a_step_too_long_is_halved() -> None:
    parts = [[[1.0, *[0.0] * 99]]] * 10  # flat at 0, so the first step leads far beyond
    relevant = [{0}] * 7 + [{1}] * 3
    found = fit_weights(parts, relevant, 1e-9)[0]
    assert found == pytest.approx(math.log(99 * 7 / 3), rel=1e-5)  # where p of card 0 is 7 of 10


def test_a_planted_order_is_recovered() -> None:
    true = [3.0, 1.5, 0.0, -1.0]
    parts, relevant = split(made_questions(true))
    weights = fit_weights(parts, relevant)
    assert np.argsort(-weights).tolist() == [0, 1, 2, 3]
    assert weights[0] > 0 > weights[3]
    alike = weights @ true / (np.linalg.norm(weights) * np.linalg.norm(true))
    assert alike > 0.99
    firsts = [int((weights @ np.asarray(x)).argmax()) for x in parts]
    assert sum(first in rows for first, rows in zip(firsts, relevant, strict=True)) >= 38


def test_a_part_that_separates_gets_a_positive_weight_and_its_mirror_a_negative() -> None:
    parts = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.5, 0.5, 0.5]]
    good, bad, flat = fit_weights([parts], [[0]])
    assert good > 1
    assert bad == pytest.approx(-good)
    assert flat == pytest.approx(0, abs=1e-12)


def test_the_penalty_limits_the_weights() -> None:
    sizes = [float(fit_weights([[[1, 0, 0]]], [[0]], p)[0]) for p in (1e-9, 1e-3, 0.1, 10, 1e6)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 15 and 0 < sizes[-1] < 1e-6


@pytest.mark.parametrize("penalty", [1e-12, 1e-100, 5e-324])
def test_equal_parts_share_their_weight_however_small_the_penalty(penalty: float) -> None:
    one, other = fit_weights([[[1, 0, 0.5]] * 2, [[0, 1, 0]] * 2], [[0], [2]], penalty)
    assert one == pytest.approx(other, abs=1e-3)
    assert math.isfinite(one)


@given(questions, st.randoms(use_true_random=False))
def test_the_order_of_questions_and_of_cards_changes_nothing(
    asked: Questions, random: Random
) -> None:
    parts, relevant = split(asked)
    weights = fit_weights(parts, relevant, 0.01)
    turned: Questions = []
    for columns, rows in random.sample(asked, len(asked)):
        order = random.sample(range(len(columns[0])), len(columns[0]))
        moved = [[column[card] for card in order] for column in columns]
        turned.append((moved, {order.index(row) for row in rows}))
    assert fit_weights(*split(turned), 0.01) == pytest.approx(weights, abs=1e-7)


@given(questions)
def test_parts_in_another_order_get_their_weights_in_that_order(asked: Questions) -> None:
    parts, relevant = split(asked)
    weights = fit_weights(parts, relevant, 0.01)
    backwards = [columns[::-1] for columns in parts]
    assert fit_weights(backwards, relevant, 0.01)[::-1] == pytest.approx(weights, abs=1e-7)


@given(questions)
def test_every_question_asked_twice_teaches_the_same(asked: Questions) -> None:
    parts, relevant = split(asked)
    twice = fit_weights(parts * 2, relevant * 2, 0.01)
    assert twice == pytest.approx(fit_weights(parts, relevant, 0.01), abs=1e-7)


def test_questions_may_have_different_numbers_of_cards_and_rows_may_be_an_array() -> None:
    parts = [np.array([[1.0, 0.0]]), np.array([[0.0, 0.0, 1.0]])]
    plain = fit_weights(parts, [[0], [2]])
    assert plain[0] > 0
    assert fit_weights(parts, [np.array([0]), np.array([2, 2])]).tolist() == plain.tolist()


def test_what_is_given_is_left_alone() -> None:
    parts, weights, rows = np.array([[1.0, 0.0]]), np.array([1.0]), [0, 0]
    listwise_loss(weights, [parts], [rows])
    fit_weights([parts], [rows])
    assert (parts.tolist(), weights.tolist(), rows) == ([[1, 0]], [1], [0, 0])


ONE = [[[1.0, 0.0], [0.0, 1.0]]]
SHARED: list[tuple[object, object, str]] = [
    ([], [], "parts is empty: there must be at least one question"),
    (ONE, [], "lengths differ: parts 1, relevant 0"),
    (ONE, [[0], [1]], "lengths differ: parts 1, relevant 2"),
    ([*ONE, [[1, 0]]], [[0], [0]], "lengths differ: parts[0] 2, parts[1] 1"),
    ([[1, 0]], [[0]], "parts[0] has shape (2,): must have 2 dimension(s)"),
    ([0.5], [[0]], "parts[0] has shape (): must have 2 dimension(s)"),
    ([[[1, 0], [0, NAN]]], [[0]], "parts[0][1, 1] is nan: must be a number"),
    ([*ONE, [[1, INF], [0, 1]]], [[0], [0]], "parts[1][0, 1] is inf: must be finite"),
    (ONE, [[]], "relevant[0] is empty: a question without a relevant card"),
    (ONE * 2, [[0], set()], "relevant[1] is empty: a question without a relevant card"),
    (ONE, [[0, 2]], "relevant[0] names row 2: there are 2 cards"),
    (ONE * 2, [[0], [-1]], "relevant[1] names row -1: there are 2 cards"),
    (ONE, [[0.5]], "relevant[0] names row 0.5: there are 2 cards"),
    (ONE, [[True]], "relevant[0] names row True: there are 2 cards"),
    (ONE, [["D1:1"]], "relevant[0] names row D1:1: there are 2 cards"),
    (ONE, [np.array([7])], "relevant[0] names row 7: there are 2 cards"),
    ([[[], []]], [[0]], "relevant[0] names row 0: there are 0 cards"),
]


def check_refusal(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(("parts", "relevant", "message"), SHARED)
def test_bad_questions_are_refused_by_both(parts: object, relevant: object, message: str) -> None:
    check_refusal(lambda: listwise_loss([0, 0], parts, relevant), message)  # type: ignore[arg-type]
    check_refusal(lambda: fit_weights(parts, relevant), message)  # type: ignore[arg-type]


def test_parts_that_are_no_rectangle_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^parts\[0\] must be numbers: .*inhomogeneous"):
        fit_weights([[[1, 0], [0]]], [[0]])


REFUSED: list[tuple[Call, str]] = [
    (lambda: listwise_loss([0], ONE, [[0]]), "lengths differ: weights 1, parts[0] 2"),
    (lambda: listwise_loss([0, NAN], ONE, [[0]]), "weights[1] is nan: must be a number"),
    (
        lambda: listwise_loss([[0, 0]], ONE, [[0]]),
        "weights has shape (1, 2): must have 1 dimension(s)",
    ),
    (lambda: listwise_loss([0, 0], ONE, [[0]], -1), "penalty is -1.0: must be at least 0"),
    (lambda: listwise_loss([0, 0], ONE, [[0]], NAN), "penalty is nan: must be a number"),
    (lambda: fit_weights(ONE, [[0]], 0), "penalty is 0.0: must be at least 4.94066e-324"),
    (lambda: fit_weights(ONE, [[0]], -0.5), "penalty is -0.5: must be at least 4.94066e-324"),
    (lambda: fit_weights(ONE, [[0]], INF), "penalty is inf: must be finite"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    check_refusal(call, message)


def test_parts_that_no_curvature_can_hold_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^parts\[0\]\[0, 0\] is 10000000.0: must be at most"):
        fit_weights([[[1e7, 0.0]]], [[0]])
