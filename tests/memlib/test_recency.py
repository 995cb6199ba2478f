"""Recency: decay per hour, half-life in days, and the age that both are fed."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.recency import (
    CLOCK_SKEW_HOURS,
    DECAY_PER_HOUR,
    HALF_LIFE_DAYS,
    age_hours,
    decay_per_hour,
    half_life_days,
    recency,
    recency_by_half_life,
)
from tests.oracles import recency as oracle

NOW = datetime(2025, 6, 11, 18, tzinfo=UTC)
NAN, INF = float("nan"), float("inf")
ZONES = [
    UTC,
    timezone(timedelta(hours=9)),
    timezone(timedelta(hours=-11, minutes=-30)),
    ZoneInfo("Europe/Berlin"),
    ZoneInfo("America/New_York"),
    ZoneInfo("Asia/Kathmandu"),
]
Call = Callable[[], object]

decays = st.floats(0.5, 0.9999)
hour_lists = st.lists(st.integers(0, 1000), min_size=1, max_size=8)
past = st.integers(0, 5 * 365 * 86400).map(lambda s: NOW - timedelta(seconds=s, microseconds=s % 7))


def test_the_constants() -> None:
    assert DECAY_PER_HOUR == 0.995
    assert HALF_LIFE_DAYS == {"working": 2, "episodic": 30, "semantic": 180}
    assert pytest.approx(5 / 60) == CLOCK_SKEW_HOURS


def test_recency_by_hand() -> None:
    assert recency([0, 1, 2, 3], decay=0.5).tolist() == [1, 0.5, 0.25, 0.125]
    assert recency([0, 1, 2]) == pytest.approx([1, 0.995, 0.990025], rel=1e-15)
    assert recency(2, decay=0.5).shape == ()
    assert recency([[1], [2]], decay=0.5).tolist() == [[0.5], [0.25]]
    assert recency([]).shape == (0,)


def test_a_decay_of_one_never_fades_and_a_far_past_fades_to_zero() -> None:
    assert recency([0, 1e6, 1e308], decay=1).tolist() == [1, 1, 1]
    assert recency([1e6, 1e308]).tolist() == [0, 0]


def test_half_life_by_hand() -> None:
    assert recency_by_half_life([0, 2, 4, 6], 2).tolist() == [1, 0.5, 0.25, 0.125]
    each = recency_by_half_life([30, 30, 30], [30, 15, INF])
    assert each.tolist() == [0.5, 0.25, 1]
    assert half_life_days(0.5) == pytest.approx(1 / 24)
    assert half_life_days(1) == INF
    assert decay_per_hour(INF) == 1
    assert decay_per_hour(1 / 24) == pytest.approx(0.5)


def test_a_pinned_card_stays_fresh_and_only_that_one() -> None:
    assert recency_by_half_life([60, 60], 30, [True, False]).tolist() == [1, 0.25]
    assert recency_by_half_life([60, 600], 30, True).tolist() == [1, 1]


REFUSED: list[tuple[Call, str]] = [
    (lambda: recency([5, -1]), "hours[1] is -1.0: must be at least 0"),
    (lambda: recency([NAN]), "hours[0] is nan: must be a number"),
    (lambda: recency([1, INF]), "hours[1] is inf: must be finite"),
    (lambda: recency(-2), "hours is -2.0: must be at least 0"),
    (lambda: recency([1], decay=0), "decay is 0.0: must be above 0"),
    (lambda: recency([1], decay=-0.5), "decay is -0.5: must be above 0"),
    (lambda: recency([1], decay=1.005), "decay is 1.005: must be at most 1"),
    (lambda: recency([1], decay=NAN), "decay is nan: must be a number"),
    (
        lambda: recency([1, 2], decay=[0.9, 0.8]),  # type: ignore[arg-type]
        "decay has shape (2,): must have 0 dimension(s)",
    ),
    (lambda: half_life_days(0), "decay is 0.0: must be above 0"),
    (lambda: half_life_days(2), "decay is 2.0: must be at most 1"),
    (lambda: decay_per_hour(0), "half_life_days is 0.0: must be above 0"),
    (lambda: decay_per_hour(-3), "half_life_days is -3.0: must be above 0"),
    (lambda: decay_per_hour(-INF), "half_life_days is -inf: must be finite"),
    (lambda: recency_by_half_life([1, -1], 2), "age_days[1] is -1.0: must be at least 0"),
    (lambda: recency_by_half_life([1, INF], 2), "age_days[1] is inf: must be finite"),
    (lambda: recency_by_half_life([1, 1], [2, 0]), "half_life_days[1] is 0.0: must be above 0"),
    (lambda: recency_by_half_life([1], NAN), "half_life_days is nan: must be a number"),
    (lambda: recency_by_half_life([1], 2, [NAN]), "pinned[0] is nan: must be a number"),
    (lambda: recency_by_half_life([1], 2, ["no"]), "pinned must be numbers: found <U2"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@given(hour_lists, decays)
def test_recency_agrees_with_the_oracle(hours: list[int], decay: float) -> None:
    assert recency(hours, decay) == pytest.approx(oracle.recency(hours, decay), rel=1e-12)


@given(
    st.lists(
        st.tuples(st.floats(0, 2000), st.floats(0.5, 500), st.booleans()), min_size=1, max_size=6
    )
)
def test_half_life_agrees_with_the_oracle(rows: list[tuple[float, float, bool]]) -> None:
    age, half_life, pinned = (list(column) for column in zip(*rows, strict=True))
    expected = oracle.recency_by_half_life(age, half_life, pinned)
    found = recency_by_half_life(age, half_life, pinned)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(st.floats(0.01, 10_000))
def test_decay_and_half_life_are_inverses_and_agree_with_the_oracle(days: float) -> None:
    decay = decay_per_hour(days)
    assert decay == pytest.approx(oracle.decay_per_hour(days), rel=1e-14)
    assert half_life_days(decay) == pytest.approx(days, rel=1e-9)
    assert half_life_days(decay) == pytest.approx(oracle.half_life_days(decay), rel=1e-12)


@given(st.floats(0.01, 10_000), st.floats(0, 20))
def test_both_forms_are_one_curve(days: float, halvings: float) -> None:
    hours = 24 * days * halvings
    by_hour = recency(hours, decay_per_hour(days))
    assert by_hour == pytest.approx(recency_by_half_life(hours / 24, days), rel=1e-8)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=8, unique=True), decays)
def test_recency_strictly_falls_with_hours(hours: list[int], decay: float) -> None:
    fresh = recency(sorted(hours), decay)
    assert (np.diff(fresh) < 0).all()
    assert fresh[-1] > 0
    assert fresh[0] <= 1
    assert (np.diff(recency_by_half_life(sorted(hours), half_life_days=5)) < 0).all()


@given(hour_lists, decays, decays)
def test_a_higher_decay_never_fades_faster(hours: list[int], a: float, b: float) -> None:
    fast, slow = recency(hours, min(a, b)), recency(hours, max(a, b))
    assert (fast <= slow * (1 + 1e-12)).all()
    assert half_life_days(min(a, b)) <= half_life_days(max(a, b))


@given(st.integers(0, 500), st.integers(0, 500), decays)
def test_two_waits_multiply(first: int, second: int, decay: float) -> None:
    both = float(recency(first, decay) * recency(second, decay))
    assert recency(first + second, decay) == pytest.approx(both, rel=1e-10)


def test_age_by_hand() -> None:
    created = [datetime(2025, 6, 1, 18, tzinfo=UTC)] * 3
    accessed = [None, datetime(2025, 6, 11, 17, 30, tzinfo=UTC), NOW]
    assert age_hours(created, accessed, NOW).tolist() == [240, 0.5, 0]
    assert age_hours([], [], NOW).shape == (0,)


def test_an_access_restarts_the_clock() -> None:
    created = [NOW - timedelta(days=70)] * 2
    weekly = NOW - timedelta(days=3)
    idle, used = recency(age_hours(created, [None, weekly], NOW))
    assert idle == pytest.approx(0.995**1680)
    assert used == pytest.approx(0.995**72)


def test_age_reads_columns_of_a_card_table() -> None:
    created = pd.Series(pd.to_datetime(["2025-06-01T18:00Z", "2025-06-02T18:00Z"], utc=True))
    accessed = pd.Series(pd.to_datetime([None, "2025-06-10T18:00Z"], utc=True))
    assert age_hours(created, accessed, NOW).tolist() == [240, 24]


@given(st.lists(st.tuples(past, st.none() | st.floats(0, 1)), min_size=1, max_size=5))
def test_age_agrees_with_the_oracle(rows: list[tuple[datetime, float | None]]) -> None:
    created = [birth for birth, _ in rows]
    accessed = [None if part is None else birth + part * (NOW - birth) for birth, part in rows]
    expected = oracle.age_hours(created, accessed, NOW)
    assert age_hours(created, accessed, NOW) == pytest.approx(expected, rel=1e-15, abs=1e-15)


@given(past, past, st.sampled_from(ZONES), st.sampled_from(ZONES), st.sampled_from(ZONES))
def test_the_time_zone_changes_nothing(
    a: datetime, b: datetime, one: timezone, two: timezone, three: timezone
) -> None:
    birth, access = min(a, b), max(a, b)
    plain = age_hours([birth], [access], NOW)
    moved = age_hours([birth.astimezone(one)], [access.astimezone(two)], NOW.astimezone(three))
    assert moved.tolist() == plain.tolist()
    created_only = age_hours([birth.astimezone(one)], [None], NOW.astimezone(one))
    assert created_only.tolist() == age_hours([birth], [None], NOW).tolist()


def test_the_night_the_clocks_change_has_its_true_length() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for day, hours in ((datetime(2025, 3, 29, 12), 23), (datetime(2025, 10, 25, 12), 25)):
        noon = day.replace(tzinfo=berlin)
        assert age_hours([noon], [None], noon + timedelta(days=1)).tolist() == [hours]


def test_an_access_in_the_repeated_hour_is_after_a_creation_in_the_first() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2025, 10, 26, 2, 50, tzinfo=berlin, fold=0)
    second = datetime(2025, 10, 26, 2, 10, tzinfo=berlin, fold=1)
    now = datetime(2025, 10, 26, 2, 40, tzinfo=berlin, fold=1)
    assert age_hours([first], [second], now).tolist() == [0.5]


def test_five_minutes_of_skew_are_no_age_and_no_more() -> None:
    just, beyond = NOW + timedelta(minutes=5), NOW + timedelta(minutes=5, seconds=1)
    assert age_hours([just], [None], NOW).tolist() == [0]
    assert age_hours([NOW], [just], NOW).tolist() == [0]
    with pytest.raises(ValueError, match="in the future"):
        age_hours([beyond], [None], NOW)


EARLY = datetime(2025, 6, 1, tzinfo=UTC)
LATE = datetime(2025, 6, 12, tzinfo=UTC)
NAIVE = datetime(2025, 6, 1)
REFUSED_TIMES: list[tuple[Call, str]] = [
    (
        lambda: age_hours([EARLY, LATE], [None, None], NOW),
        "created_at[1] is 2025-06-12 00:00:00+00:00: in the future of now, "
        "2025-06-11 18:00:00+00:00",
    ),
    (
        lambda: age_hours([EARLY], [LATE], NOW),
        "last_accessed_at[0] is 2025-06-12 00:00:00+00:00: in the future of now, "
        "2025-06-11 18:00:00+00:00",
    ),
    (
        lambda: age_hours([NOW], [EARLY], NOW),
        "last_accessed_at[0] is 2025-06-01 00:00:00+00:00: before created_at "
        "2025-06-11 18:00:00+00:00",
    ),
    (
        lambda: age_hours([EARLY, NAIVE], [None, None], NOW),
        "created_at[1] is 2025-06-01 00:00:00: has no time zone; say which, for example UTC",
    ),
    (
        lambda: age_hours([EARLY], [NAIVE], NOW),
        "last_accessed_at[0] is 2025-06-01 00:00:00: has no time zone; say which, for example UTC",
    ),
    (
        lambda: age_hours([EARLY], [None], NAIVE),
        "now is 2025-06-01 00:00:00: has no time zone; say which, for example UTC",
    ),
    (lambda: age_hours([None], [None], NOW), "created_at[0] is None: must be a datetime"),
    (lambda: age_hours([pd.NaT], [None], NOW), "created_at[0] is NaT: must be a datetime"),
    (
        lambda: age_hours(["2025-06-01"], [None], NOW),  # type: ignore[list-item]
        "created_at[0] is '2025-06-01': must be a datetime",
    ),
    (
        lambda: age_hours([datetime(9999, 12, 31, 23, tzinfo=ZONES[2])], [None], NOW),
        "created_at[0] is 9999-12-31 23:00:00-11:30: outside the years 1 to 9999 in UTC",
    ),
    (
        lambda: age_hours([EARLY], [None, None], NOW),
        "lengths differ: created_at 1, last_accessed_at 2",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED_TIMES)
def test_a_refused_time_is_named(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("days", [1e-5, 5e-324])
def test_a_half_life_of_seconds_has_no_decay_per_hour(days: float) -> None:
    with pytest.raises(ValueError, match=f"^half_life_days is {days!r}: so short that nothing is"):
        decay_per_hour(days)
    assert decay_per_hour(1e-4) > 0


def test_a_list_is_no_single_half_life() -> None:
    with pytest.raises(ValueError, match=r"^half_life_days has shape \(1,\): must have 0 dim"):
        decay_per_hour([1.0])  # type: ignore[arg-type]


def test_columns_in_another_order_are_refused() -> None:
    born = pd.Series([NOW - timedelta(2), NOW - timedelta(1)], index=["x", "y"])
    age = pd.Series([2.0, 1.0], index=["x", "y"])
    for call in (
        lambda: age_hours(born, born[::-1], NOW),
        lambda: recency_by_half_life(age, age[::-1]),
        lambda: recency_by_half_life(age, 30, pinned=(age > 1)[::-1]),
    ):
        with pytest.raises(
            ValueError, match=r"\[0\] is of row 'y', the argument before it has 'x'"
        ):
            call()
    assert recency_by_half_life(age, age).tolist() == [0.5, 0.5]
