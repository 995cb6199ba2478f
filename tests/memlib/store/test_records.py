"""Records: a store checks a field as a card file does, and gives back the table that it gave."""

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, maya_cards
from memlib.cards import COLUMNS, as_text, parse_field
from memlib.forgetting import FIRST_TAU_DAYS
from memlib.store.records import (
    FIELDS,
    STORED,
    card_table,
    clock,
    record,
    record_field,
    utc,
    vector_rows,
)

CARDS = maya_cards()
MISO = {"id": "miso", "text": "Miso naps."}
HOUR = timedelta(hours=1)


def refused(column: str, value: object) -> str:
    with pytest.raises(ValueError) as caught:
        record_field("card 'miso'", column, value)
    message = str(caught.value)
    assert message.startswith(f"card 'miso', column {column!r}: ") and "\n" not in message
    return message


# --- fields --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "kept"),
    [
        *(("id", " 04 ", "04"), ("text", "Zoë’s 猫.\nNaps.", "Zoë’s 猫.\nNaps.")),
        *(
            ("kind", None, "episodic"),
            ("kind", "Semantic", "semantic"),
            ("category", "", ""),
        ),
        *(("importance", math.nan, None), ("importance", pd.NA, None), ("importance", 7, 7.0)),
        ("importance", np.float64(7.1), 7.1),
        *(("pinned", True, True), ("pinned", np.bool_(False), False), ("pinned", None, False)),
        *(("tags", ("a", "b c"), "a;b c"), ("tags", ["a"], "a"), ("tags", " a; b;", "a;b")),
        *(("tags", (), ""), ("entities", ("Sam:person",), "Sam:person")),
        *(("views", np.int64(3), 3), ("views", 3.0, 3), ("cites", None, 0), ("bad", 2, 2)),
        *(("tau_days", None, FIRST_TAU_DAYS), ("tau_days", 0.1, 0.1), ("tau_days", 3, 3.0)),
        *(("interval_days", None, None), ("interval_days", 6.0, 6), ("interval_days", 1, 1)),
        *(("strength", None, 0.0), ("strength", 0.25, 0.25)),
        *(("last_review", pd.NaT, None), ("forgotten_at", None, None)),
        (
            "created_at",
            datetime(2025, 6, 1, 12, tzinfo=timezone(2 * HOUR)),
            "2025-06-01T10:00:00.000000+00:00",
        ),
        ("last_review", pd.Timestamp("2025-06-01T10:00:00.123456789Z"), None),
        ("embedder_id", "toy", "toy"),
    ],
)
def test_a_field_is_kept(column: str, value: object, kept: object) -> None:
    found = record_field("card 'miso'", column, value)
    if isinstance(value, pd.Timestamp) and not pd.isna(value):
        kept = "2025-06-01T10:00:00.123456+00:00"  # what is finer than a microsecond is cut
    assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        *(
            ("id", 4, "4 must be a str"),
            ("id", "", "'' must not be empty"),
            ("id", None, "None must"),
        ),
        *(("text", 4.5, "4.5 must be a str"), ("title", 1, "1 must be a str")),
        ("text", "x" * 131_073, "…' is longer than 131072 characters"),
        ("text", "half \ud83d", "must not hold half a character"),
        *(("kind", "dream", "'dream' is none of"), ("pinned", "maybe", "is none of true")),
        *(("importance", 11, "11 is no rating from 1 to 10"), ("importance", True, "is no rating")),
        *(("importance", math.inf, "inf is no rating"), ("pinned", 2, "2 is none of true")),
        *(("tags", ("a;b",), "none with a ; in it"), ("tags", (1,), "must be a tuple of str")),
        *(("tags", {"a"}, "must be a tuple of str"), ("entities", ("Sam",), "is not Name:type")),
        *(("views", -1, "-1 is no count"), ("views", 1.5, "1.5 is no count")),
        *(("helpful", -1, "is no count"), ("bad", "many", "is no count")),
        *(("interval_days", 0, "0 must be at least 1 day"), ("interval_days", 1.5, "is no count")),
        *(
            ("tau_days", 0, "above 0"),
            ("tau_days", math.inf, "above 0"),
            ("tau_days", "x", "above"),
        ),
        *(("strength", 1, "1 must be at least 0 and below 1"), ("strength", -0.1, "below 1")),
        ("created_at", datetime(2025, 6, 1), "has no time zone"),
        *(("last_review", "soon", "is no time like"), ("forgotten_at", 5, "is no time like")),
        *(("embedder_id", "", "must not be empty"), ("embedder_id", 4, "4 must be a str")),
    ],
)
def test_a_bad_field_is_refused_with_its_value(column: str, value: object, said: str) -> None:
    assert said in refused(column, value)


def test_every_field_of_the_course_s_cards_reads_back_as_it_was() -> None:
    for column in COLUMNS:
        for value in CARDS[column]:
            again = parse_field(column, as_text(column, value))
            assert again == value or (pd.isna(again) and pd.isna(value))


def test_the_longest_text_of_a_card_file_is_kept() -> None:
    assert len(record_field("", "text", "x" * 131_072)) == 131_072


# --- records -------------------------------------------------------------------------------


def test_what_is_left_out_takes_its_default() -> None:
    card = record("card 'miso'", MISO, COURSE_NOW)
    assert tuple(card) == FIELDS == STORED[:-2]
    assert card.pop("created_at") == "2025-06-11T18:00:00.000000+00:00"
    assert card == MISO | {
        **{"kind": "episodic", "category": "", "last_accessed_at": None},
        **{"importance": None, "pinned": False, "tags": "", "title": "", "entities": ""},
        **{"views": 0, "cites": 0, "edits": 0, "tau_days": FIRST_TAU_DAYS, "last_review": None},
        **{"interval_days": None, "helpful": 0, "bad": 0, "forgotten_at": None, "strength": 0.0},
    }


def test_a_field_that_no_card_has_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^card 'miso': unknown column 'mood'; known: id, text"):
        record("card 'miso'", {**MISO, "mood": "glad"}, COURSE_NOW)


@pytest.mark.parametrize("name", ["last_accessed_at", "last_review", "forgotten_at"])
def test_no_time_of_a_card_lies_in_the_future_or_before_its_creation(name: str) -> None:
    birth, soon = COURSE_NOW - HOUR, COURSE_NOW + timedelta(minutes=4)
    card = record("c", {**MISO, "created_at": birth, name: soon}, COURSE_NOW)
    assert card[name] == "2025-06-11T18:04:00.000000+00:00"
    for time, said in (
        (COURSE_NOW + HOUR, "in the future of now"),
        (birth - timedelta(seconds=1), "before created_at"),
    ):
        with pytest.raises(ValueError, match=f"^c, {name} is .*{said}"):
            record("c", {**MISO, "created_at": birth, name: time}, COURSE_NOW)


def test_a_card_of_tomorrow_and_a_now_without_a_zone_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^c, created_at is .*in the future of now"):
        record("c", {**MISO, "created_at": COURSE_NOW + HOUR}, COURSE_NOW)
    with pytest.raises(ValueError, match=r"^now is 2025-06-11 18:00:00: has no time zone"):
        record("c", MISO, datetime(2025, 6, 11, 18))


@pytest.mark.parametrize("bad", [None, "today", pd.NaT, 5])
def test_what_is_no_time_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^last_review is .*: must be a datetime"):
        utc("last_review", bad)


def test_a_time_out_of_the_calendar_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^now is 0001-01-01 .*: is no time like"):
        utc("now", datetime(1, 1, 1, tzinfo=timezone(14 * HOUR)))
    assert utc("now", datetime(2025, 1, 1, 9, tzinfo=timezone(9 * HOUR))) == datetime(
        2025, 1, 1, tzinfo=UTC
    )


# --- clocks --------------------------------------------------------------------------------


def test_a_clock_goes_forward_stays_within_the_skew_and_never_runs_back() -> None:
    card = record("c", {**MISO, "last_accessed_at": COURSE_NOW}, COURSE_NOW)
    stays, later = card["last_accessed_at"], COURSE_NOW + HOUR
    assert clock("now", later, card, "last_accessed_at") == "2025-06-11T19:00:00.000000+00:00"
    for minutes in (0, 1, 5):
        earlier = COURSE_NOW - timedelta(minutes=minutes)
        assert clock("now", earlier, card, "last_accessed_at") == stays
    with pytest.raises(ValueError, match=r"^now is .* before created_at of card 'miso', 2025-06"):
        clock("now", COURSE_NOW - timedelta(minutes=6), card)
    old = card | {"created_at": "2025-01-01T00:00:00.000000+00:00"}
    with pytest.raises(ValueError, match=r"^now is .* before last_accessed_at of card 'miso'"):
        clock("now", COURSE_NOW - timedelta(minutes=6), old, "last_accessed_at")


# --- vectors -------------------------------------------------------------------------------


def test_vectors_are_kept_as_float32() -> None:
    rows = vector_rows([[0.1, 0.2], [3, 4]], 2)
    assert rows.dtype == np.float32 and rows.tolist() == [
        [np.float32(0.1), np.float32(0.2)],
        [3, 4],
    ]


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1, 0], [0, 0]], r"vectors\[1\] is a zero vector"),
        ([[1, 0], [1e-60, 0]], r"vectors\[1\] is a zero vector"),
        ([[1, 0], [math.nan, 1]], r"vectors\[1, 0\] is nan"),
        ([[1, 0], [math.inf, 1]], r"vectors\[1, 0\] is inf"),
        ([[1, 0], [1e39, 1]], r"vectors\[1, 0\] is 1e\+39: must be at most"),
        ([[1, 0], [1, 0, 0]], "vectors must be numbers"),
        ([[1, 0]], r"vectors have shape \(1, 2\): 2 cards need \(2, d\)"),
        ([[], []], r"vectors have shape \(2, 0\)"),
        ([1, 0], r"vectors has shape \(2,\)"),
        ([["1", "0"], ["0", "1"]], "vectors must be numbers"),
    ],
)
def test_bad_vectors_are_refused(vectors: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        vector_rows(vectors, 2)


# --- the table -----------------------------------------------------------------------------


def test_the_table_is_that_of_load_cards() -> None:
    rows = [
        list(record("", {"id": str(id), **row}, COURSE_NOW).values())
        for id, row in CARDS.to_dict("index").items()
    ]
    table = card_table(rows)
    pd.testing.assert_frame_equal(table[list(COLUMNS)], CARDS)
    assert tuple(table.columns) == FIELDS[1:]
    assert table["interval_days"].isna().all() and table["last_review"].isna().all()
    empty = card_table([])
    assert empty.dtypes.equals(table.dtypes) and len(empty) == 0
