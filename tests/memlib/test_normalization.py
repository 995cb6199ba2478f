"""Min-max and z-score: exact cases, the whole range of floats, and what they are blind to."""

import re
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlib.normalization import min_max, z_score
from tests.oracles import normalization as oracle

Call = Callable[[], object]
NAN, INF = float("nan"), float("inf")
TINIEST, HUGEST = 5e-324, sys.float_info.max

anything = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8)
whole = st.lists(st.integers(-1000, 1000), min_size=1, max_size=8)


def test_by_hand() -> None:
    assert min_max([2, 5, 8]).tolist() == [0, 0.5, 1]
    assert min_max([8, 2, 5]).tolist() == [1, 0, 0.5]
    assert min_max([-1, 3]).tolist() == [0, 1]
    assert min_max([0.35, 0.40, 0.69]) == pytest.approx([0, 5 / 34, 1], abs=1e-15)


def test_with_eps_the_top_stays_below_one() -> None:
    assert min_max([0, 1, 3], eps=1).tolist() == [0, 0.25, 0.75]
    assert min_max([0, 4], eps=1e-6)[1] == pytest.approx(4 / (4 + 1e-6), rel=1e-15)
    assert min_max([0, 4], eps=1e-6)[1] < 1


@pytest.mark.parametrize("values", [[5], [5, 5], [0.0, -0.0], [-3, -3, -3], [HUGEST] * 2])
def test_a_constant_set_cannot_tell_cards_apart(values: list[float]) -> None:
    assert min_max(values).tolist() == [0] * len(values)
    assert min_max(values, constant=0.5).tolist() == [0.5] * len(values)
    assert min_max(values, eps=1e-6, constant=1).tolist() == [1] * len(values)


def test_constant_speaks_only_for_a_constant_set() -> None:
    assert min_max([1, 2], constant=0.5).tolist() == [0, 1]


def test_no_values_give_no_values() -> None:
    assert min_max([]).shape == (0,)


def test_an_outlier_presses_the_others_together() -> None:
    assert min_max([1, 2, 3]).tolist() == [0, 0.5, 1]
    assert min_max([1, 2, 3, 1001]).tolist() == [0, 0.001, 0.002, 1]


REFUSED: list[tuple[Call, str]] = [
    (lambda: min_max([1, NAN]), "values[1] is nan: must be a number"),
    (lambda: min_max([INF, 1]), "values[0] is inf: must be finite"),
    (lambda: min_max([1, -INF]), "values[1] is -inf: must be finite"),
    (lambda: min_max([[1, 2]]), "values has shape (1, 2): must have 1 dimension(s)"),
    (lambda: min_max(3), "values has shape (): must have 1 dimension(s)"),
    (lambda: min_max(["a", "b"]), "values must be numbers: found <U1"),
    (lambda: min_max([1, 2], eps=-1e-6), "eps is -1e-06: must be at least 0"),
    (lambda: min_max([1, 2], eps=NAN), "eps is nan: must be a number"),
    (lambda: min_max([1, 2], constant=1.5), "constant is 1.5: must be at most 1"),
    (lambda: min_max([1, 2], constant=NAN), "constant is nan: must be a number"),
    (lambda: z_score([1, NAN]), "values[1] is nan: must be a number"),
    (lambda: z_score([INF, 1]), "values[0] is inf: must be finite"),
    (lambda: z_score([[1, 2]]), "values has shape (1, 2): must have 1 dimension(s)"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@given(anything, st.floats(0, HUGEST), st.floats(0, 1))
@example([0, TINIEST], 0.0, 0.0)
@example([0, TINIEST, 2 * TINIEST], 0.0, 0.0)
@example([-1e308, 0, 1e308], 0.0, 0.0)
@example([-HUGEST, HUGEST], HUGEST, 0.5)
@example([1.0, np.nextafter(1.0, 2)], 0.0, 0.0)
def test_over_all_floats_it_stays_in_bounds_and_agrees_with_the_oracle(
    values: list[float], eps: float, constant: float
) -> None:
    found = min_max(values, eps, constant)
    assert ((found >= 0) & (found <= 1)).all()
    expected = oracle.min_max(values, eps, constant)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(anything.filter(lambda values: len(set(values)) > 1))
def test_the_smallest_becomes_zero_and_the_largest_one(values: list[float]) -> None:
    found = min_max(values)
    assert found[np.argmin(values)] == 0
    assert found[np.argmax(values)] == 1


@given(anything)
def test_it_never_turns_an_order_round(values: list[float]) -> None:
    assert (np.diff(min_max(sorted(values))) >= 0).all()


@given(whole, st.floats(0.01, 100), st.integers(-1000, 1000))
def test_a_change_of_unit_or_origin_changes_nothing(values: list[int], a: float, b: int) -> None:
    changed = [a * value + b for value in values]
    assert min_max(changed) == pytest.approx(min_max(values), abs=1e-9)
    mirrored = [-a * value + b for value in values]
    if len(set(values)) > 1:
        assert min_max(mirrored) == pytest.approx(1 - min_max(values), abs=1e-9)


@given(whole, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(values: list[int], random: object) -> None:
    rows = list(range(len(values)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    assert min_max([values[row] for row in rows]).tolist() == min_max(values)[rows].tolist()


@given(whole, st.floats(1e-9, 10))
def test_eps_scales_by_range_over_range_plus_eps(values: list[int], eps: float) -> None:
    span = max(values) - min(values)
    expected = min_max(values) * (span / (span + eps))
    assert min_max(values, eps) == pytest.approx(expected, rel=1e-12)


def test_z_scores_by_hand() -> None:
    assert z_score([2, 2, 6, 6]) == pytest.approx([-1, -1, 1, 1], abs=1e-15)
    assert z_score([0, 0, 0, 0, 5]) == pytest.approx([-0.5, -0.5, -0.5, -0.5, 2], abs=1e-15)
    assert z_score([3, 1]) == pytest.approx([1, -1], abs=1e-15)
    assert z_score([]).shape == (0,)


@pytest.mark.parametrize("values", [[5], [5, 5], [0.0, -0.0], [-3, -3, -3], [HUGEST] * 2])
def test_a_constant_set_has_z_scores_of_zero(values: list[float]) -> None:
    assert z_score(values).tolist() == [0] * len(values)


def test_z_scores_leave_the_unit_interval_and_an_outlier_hurts_them_too() -> None:
    assert z_score([0] * 99 + [1]).max() == pytest.approx(np.sqrt(99))
    assert np.ptp(z_score([1, 2, 3, 1001])[:3]) < 0.01


@given(anything)
@example([0, TINIEST])
@example([-HUGEST, HUGEST])
@example([1.0, np.nextafter(1.0, 2)])
def test_over_all_floats_z_scores_are_finite_and_keep_the_order(values: list[float]) -> None:
    found = z_score(sorted(values))
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()
    assert (np.abs(found) <= len(values)).all()


@given(whole)
def test_z_scores_agree_with_the_oracle(values: list[int]) -> None:
    found = z_score(values)
    assert found == pytest.approx(oracle.z_score(values), abs=1e-12)
    if len(set(values)) > 1:
        assert found.mean() == pytest.approx(0, abs=1e-12)
        assert found.std() == pytest.approx(1, abs=1e-12)


@given(whole, st.floats(0.01, 100), st.integers(-1000, 1000))
def test_a_change_of_unit_or_origin_changes_no_z_score(values: list[int], a: float, b: int) -> None:
    changed = [a * value + b for value in values]
    if len(set(values)) > 1:
        assert z_score(changed) == pytest.approx(z_score(values), abs=1e-7)
        assert z_score([-value for value in values]) == pytest.approx(-z_score(values), abs=1e-12)


@pytest.mark.parametrize("name", ["eps", "constant"])
def test_eps_and_constant_are_one_number_each(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} has shape \(1,\): must have 0 dimension"):
        min_max([1, 2], **{name: [1.0]})  # type: ignore[arg-type]
