"""Argument checks: what gets through, and what the refusal says."""

import re
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.checks import card_ids, finite_fields, numbers, same_length

NAN, INF = float("nan"), float("inf")

FILL = "leave such rows out, or fill them"
ONCE = "as one before it is: a label may occur only once, or pass .to_numpy()"
TWICE = pd.Series([1.0, 2.0, 3.0], index=["a", "a", "b"])


def masked(at: int | tuple[int, int], below: object) -> np.ndarray:
    """Numbers in as many dimensions as `at` has, of which one is masked."""
    full = np.zeros((2,) * np.size(at), dtype=object if below is None else type(below))
    full[at] = below
    hides = np.zeros(full.shape, dtype=bool)
    hides[at] = True
    return np.ma.array(full, mask=hides)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: numbers("hours", [0, -1], low=0), "hours[1] is -1.0: must be at least 0"),
    (lambda: numbers("rating", [1, 11], high=10), "rating[1] is 11.0: must be at most 10"),
    (lambda: numbers("user", [0.5, 1.25], low=0, high=1), "user[1] is 1.25: must be at most 1"),
    (lambda: numbers("eps", -0.5, low=0), "eps is -0.5: must be at least 0"),
    (lambda: numbers("query", [1, NAN]), "query[1] is nan: must be a number"),
    (lambda: numbers("query", [1, None]), "query[1] is nan: must be a number"),
    (lambda: numbers("query", [INF, 1]), "query[0] is inf: must be finite"),
    (lambda: numbers("query", [1, -INF]), "query[1] is -inf: must be finite"),
    (lambda: numbers("ttl", [1, -INF], infinite=True), "ttl[1] is -inf: must be finite"),
    (lambda: numbers("score", [-INF, INF], absent=True), "score[1] is inf: must be finite"),
    (lambda: numbers("score", [-INF, NAN], absent=True), "score[1] is nan: must be a number"),
    (lambda: numbers("rating", [NAN, INF], missing=True), "rating[1] is inf: must be finite"),
    (lambda: numbers("m", [[1, 2], [3, NAN]]), "m[1, 1] is nan: must be a number"),
    (lambda: numbers("m", [[1, 2], [-3, 4]], low=0), "m[1, 0] is -3.0: must be at least 0"),
    (lambda: numbers("q", [[1, 2]], ndim=1), "q has shape (1, 2): must have 1 dimension(s)"),
    (lambda: numbers("decay", [0.9], ndim=0), "decay has shape (1,): must have 0 dimension(s)"),
    (
        lambda: same_length(relevance=[1], recency=[2, 3]),
        "lengths differ: relevance 1, recency 2",
    ),
    (lambda: card_ids(["miso", 4]), "ids[1] is 4: an id must be a str"),  # type: ignore[list-item]
    (lambda: card_ids(pd.Index([1, 2])), "ids[0] is 1: an id must be a str"),
    (lambda: card_ids(pd.Index(["miso", None])), "ids[1] is nan: an id must be a str"),
    (lambda: card_ids(["a", None]), "ids[1] is None: an id must be a str"),  # type: ignore[list-item]
    (lambda: card_ids(["a", "b", "a"]), "ids[2] is 'a': an id may occur only once"),
    (lambda: numbers("x", masked(1, 26)), f"x[1] is masked, with 26 below: {FILL}"),
    (lambda: numbers("m", masked((1, 1), 4.5)), f"m[1, 1] is masked, with 4.5 below: {FILL}"),
    (lambda: numbers("m", [[1, 2], masked(0, 3)]), f"m[1][0] is masked, with 3 below: {FILL}"),
    (lambda: numbers("k", np.ma.masked), f"k is masked, with 0.0 below: {FILL}"),
    (lambda: numbers("x", (1, np.ma.masked)), f"x[1] is masked, with 0.0 below: {FILL}"),
    (lambda: numbers("x", masked(1, None)), f"x[1] is masked, with None below: {FILL}"),
    (lambda: numbers("b", TWICE, like=TWICE.index), f"b[1] is of row 'a', {ONCE}"),
    (lambda: numbers("b", TWICE, like=TWICE), f"b[1] is of row 'a', {ONCE}"),
    (lambda: same_length(a=TWICE, b=TWICE), f"a[1] is of row 'a', {ONCE}"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_refusal_names_argument_row_and_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message) + "$") as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "values",
    [
        ["4", "5"],
        pd.Series(["4", "5"]),
        [4, "5"],
        [1, 2j],
        np.array([1j]),
        np.array(["2025-06-11"], dtype="datetime64[D]"),
        np.array([26], dtype="timedelta64[h]"),
        [pd.Timestamp("2025-06-11T18:00Z")],
        [[1, 2], [3]],
        [10**400],
        "many",
    ],
    ids=lambda values: type(values).__name__,
)
def test_what_is_not_a_number_is_never_cast_in_silence(values: object) -> None:
    with pytest.raises(ValueError, match=r"^hours must be numbers: "):
        numbers("hours", values)  # type: ignore[arg-type]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_finite_numbers_come_back_unchanged_as_float64(values: list[float]) -> None:
    for given_as in (values, tuple(values), np.array(values), pd.Series(values, dtype=float)):
        array = numbers("x", given_as, ndim=1)
        assert array.dtype == np.float64
        assert array.tolist() == values


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6), st.floats(-3, 0), st.floats(0, 3))
def test_bounds_are_inclusive_and_the_first_row_outside_is_named(
    values: list[float], low: float, high: float
) -> None:
    outside = [row for row, value in enumerate(values) if not low <= value <= high]
    below = [row for row, value in enumerate(values) if value < low]
    if not outside:
        assert numbers("x", values, low=low, high=high).tolist() == values
    else:
        row = (below or outside)[0]
        with pytest.raises(ValueError, match=re.escape(f"x[{row}] is {values[row]!r}: must be at")):
            numbers("x", values, low=low, high=high)


def test_missing_and_infinite_get_through_only_where_asked() -> None:
    assert np.isnan(numbers("rating", [NAN, 3], missing=True)[0])
    assert numbers("half_life_days", [INF], infinite=True).tolist() == [INF]
    assert numbers("score", [1, -INF], absent=True).tolist() == [1, -INF]
    assert numbers("x", [INF, -INF], infinite=True, absent=True).tolist() == [INF, -INF]
    assert numbers("rating", [1, 10], low=1, high=10).tolist() == [1, 10]
    assert numbers("pinned", [True, False]).tolist() == [1, 0]
    assert numbers("hours", []).shape == (0,)


def test_a_masked_array_that_masks_nothing_is_an_array() -> None:
    assert numbers("x", np.ma.array([1, 2])).tolist() == [1, 2]
    assert numbers("x", np.ma.array([1, 2], mask=[False, False])).tolist() == [1, 2]


def test_same_length_counts_lists_arrays_and_columns_alike() -> None:
    assert same_length(a=[1, 2], b=np.zeros((2, 9)), c=pd.Series([1, 2]), d=("x", "y")) == 2


@given(st.lists(st.text(max_size=4), unique=True, max_size=6))
def test_distinct_strings_are_good_ids_in_their_order(ids: list[str]) -> None:
    assert list(card_ids(ids)) == ids
    assert list(card_ids(pd.Index(ids, dtype=object))) == ids


def test_an_index_of_strings_is_not_copied() -> None:
    index = pd.Index(["miso", "sam"])
    assert card_ids(index) is index
    assert list(card_ids(pd.CategoricalIndex(["b", "a"]))) == ["b", "a"]


ROWS, TURNED = pd.Series([0.1, 0.2], index=["x", "y"]), pd.Series([0.2, 0.1], index=["y", "x"])
TURNED_SAID = (
    "b[0] is of row 'y', the argument before it has 'x' there: bring both into one order, "
    "or pass .to_numpy()"
)


@pytest.mark.parametrize(
    "call",
    [
        lambda: numbers("b", TURNED, like=ROWS),
        lambda: numbers("b", TURNED, like=ROWS.index),
        lambda: same_length(a=ROWS, b=TURNED),
    ],
)
def test_columns_of_pandas_in_another_order_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=re.escape(TURNED_SAID) + "$"):
        call()


def test_columns_of_one_order_and_bare_numbers_go_together() -> None:
    assert same_length(a=ROWS, b=ROWS.copy(), c=TURNED.to_numpy()) == 2
    assert numbers("b", TURNED, like=[1, 2]).tolist() == [0.2, 0.1]
    assert numbers("b", [1, 2], like=ROWS).tolist() == [1, 2]
    with pytest.raises(ValueError, match="lengths differ: a 2, b 1"):
        same_length(a=ROWS, b=TURNED[:1])


@pytest.mark.parametrize("bad", [NAN, INF, -INF, None, "1", [1]])
def test_a_coefficient_that_is_no_finite_number_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match=r"^weights\.recency "):
        finite_fields("weights", SimpleNamespace(relevance=1, recency=bad))
    finite_fields("weights", SimpleNamespace(relevance=-1, recency=0.5))
