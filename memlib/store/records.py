"""A card as a store keeps it: every field checked on the way in, the same table on the way out."""

import csv
import math
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from memlib.cards import COLUMNS, as_text, parse_field, short
from memlib.checks import numbers
from memlib.embedders.protocol import Vectors
from memlib.forgetting import FIRST_TAU_DAYS
from memlib.recency import CLOCK_SKEW_HOURS, age_hours
from memlib.server import canonical

REVIEW = ("tau_days", "last_review", "interval_days", "helpful", "bad")
FIELDS = ("id", *COLUMNS, *REVIEW, "forgotten_at", "strength")
TIMES = ("created_at", "last_accessed_at", "last_review", "forgotten_at")
NUMBERS = ("importance", "tau_days", "interval_days", "strength")
COUNTS = ("views", "cites", "edits", "helpful", "bad")
LISTS = ("tags", "entities")
STORED = (*FIELDS, "embedder_id", "vector")
INDEXED = "text, title, tags, entities, vector, forgotten_at"
_CARDS = (
    """CREATE TABLE cards (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, kind TEXT NOT NULL,
    category TEXT NOT NULL, created_at TEXT NOT NULL, last_accessed_at TEXT, importance REAL,
    pinned INTEGER NOT NULL, tags TEXT NOT NULL, title TEXT NOT NULL, entities TEXT NOT NULL,
    views INTEGER NOT NULL, cites INTEGER NOT NULL, edits INTEGER NOT NULL, tau_days REAL NOT NULL,
    last_review TEXT, interval_days INTEGER, helpful INTEGER NOT NULL, bad INTEGER NOT NULL,
    forgotten_at TEXT, strength REAL NOT NULL, embedder_id TEXT NOT NULL, vector BLOB NOT NULL)""",
    "CREATE TABLE state (revision INTEGER NOT NULL)",
    "INSERT INTO state VALUES (0)",
    *(
        f"CREATE TRIGGER revise_{event[0].lower()} AFTER {event} ON cards"
        " BEGIN UPDATE state SET revision = revision + 1; END"
        for event in ("INSERT", "DELETE", f"UPDATE OF {INDEXED}")
    ),
)
_STAGED = (  # vectors of another embedder, which wait here until every card has one
    """CREATE TABLE staged (
    id TEXT NOT NULL, embedder_id TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (id, embedder_id))""",
    """CREATE TRIGGER unstage_deleted AFTER DELETE ON cards
    BEGIN DELETE FROM staged WHERE id = OLD.id; END""",
    """CREATE TRIGGER unstage_edited AFTER UPDATE OF text ON cards WHEN NEW.text IS NOT OLD.text
    BEGIN DELETE FROM staged WHERE id = OLD.id; END""",
)
_ONE_ID = tuple(  # of an embedder, as `canonical` gives it: without ":latest"
    f"""UPDATE OR REPLACE {table} SET embedder_id =
    substr(embedder_id, 1, length(embedder_id) - {len(":latest" + end)}) || '{end}'
    WHERE embedder_id GLOB 'ollama:?*:latest{end}'"""
    for table in ("cards", "staged")
    for end in ("", "+prefixes")
)
SCHEMA = (_CARDS, _STAGED, _ONE_ID)  # by version
MARKED_SINCE = 3  # the version since which a closed store's header says that it is closed
ALIKE = {  # checked by the rule of a card file's column
    **{"last_review": "last_accessed_at", "forgotten_at": "last_accessed_at"},
    **{"helpful": "views", "bad": "views", "embedder_id": "id"},
}
LARGEST = float(np.finfo(np.float32).max)

Record = dict[str, Any]


def record_field(where: str, column: str, value: object) -> Any:
    """One field as SQLite keeps it, by the rules of a card file and those of the store's own.

    returns  str (times in UTC, lists joined with ;), int, float, or None for unrated and never
    Raises ValueError that begins with `where` and names column, value and what was expected.

    >>> record_field("card 'miso'", "tags", ("cat", "nap"))
    'cat;nap'
    """
    try:
        like = ALIKE.get(column, column)
        text = as_text(like, value).strip()
        if len(text) > csv.field_size_limit():
            raise ValueError(f"is longer than {csv.field_size_limit()} characters")
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError("must not hold half a character")
        parsed = _parse(like, canonical(text) if column == "embedder_id" else text)
    except ValueError as error:
        told = short(value) if isinstance(value, str) else repr(value)[:80]
        raise ValueError(f"{where}, column {column!r}: {told} {error}") from None
    if parsed is None or parsed is pd.NaT or parsed != parsed:
        return None
    if isinstance(parsed, datetime):
        return parsed.isoformat(timespec="microseconds")
    return ";".join(parsed) if isinstance(parsed, tuple) else parsed


def record(where: str, fields: Mapping[str, object], now: datetime) -> Record:
    """All fields of one card as SQLite keeps them; what is left out takes its default.

    fields   id, text and any other of FIELDS; created_at is `now` if it is left out
    now      a time with a zone; no time of the card lies after it (five minutes of skew allowed)
    returns  a value for each of FIELDS
    Raises ValueError that begins with `where`, as `record_field` does.

    >>> from datetime import UTC
    >>> record("card 'a'", {"id": "a", "text": "Tea."}, datetime(2025, 6, 1, tzinfo=UTC))["kind"]
    'episodic'
    """
    moment = utc("now", now)
    for name in fields:
        if name not in FIELDS:
            known = ", ".join(FIELDS)
            raise ValueError(f"{where}: unknown column {name!r}; known: {known}")
    given = {"created_at": moment, **fields}
    values = {name: record_field(where, name, given.get(name)) for name in FIELDS}
    created, *later = (values[name] and datetime.fromisoformat(str(values[name])) for name in TIMES)
    try:
        age_hours([created] * len(later), later, moment)
    except ValueError as error:
        said = str(error).replace("created_at[0]", "created_at")
        for row, name in enumerate(TIMES[1:]):
            said = said.replace(f"last_accessed_at[{row}]", name)
        raise ValueError(f"{where}, {said}") from None
    return values


def vector_rows(vectors: ArrayLike, n: int) -> Vectors:
    """Vectors of n cards as float32, shape (n, d).

    Raises ValueError for another shape, a value that is not finite, a row of zeros.

    >>> vector_rows([[0.6, 0.8]], 1)
    array([[0.6, 0.8]], dtype=float32)
    """
    checked = numbers("vectors", vectors, ndim=2, low=-LARGEST, high=LARGEST)
    rows: Vectors = checked.astype("<f4")
    if len(rows) != n or rows.shape[1] == 0:
        raise ValueError(f"vectors have shape {rows.shape}: {n} cards need ({n}, d)")
    for row in np.flatnonzero(~rows.any(axis=1)):
        raise ValueError(f"vectors[{row}] is a zero vector: it has no direction")
    return rows


def utc(name: str, time: datetime) -> datetime:
    """The same moment in UTC.

    Raises ValueError that begins with `name` for what is no time, or has no zone.

    >>> utc("now", datetime(2025, 6, 1))
    Traceback (most recent call last):
    ValueError: now is 2025-06-01 00:00:00: has no time zone: write 2025-06-11T18:00Z or +02:00
    """
    if not isinstance(time, datetime) or pd.isna(time):
        raise ValueError(f"{name} is {time!r}: must be a datetime")
    try:
        return cast(datetime, parse_field("created_at", time.isoformat()))
    except ValueError as error:
        raise ValueError(f"{name} is {time}: {error}") from None


def clock(name: str, time: datetime, card: sqlite3.Row | Record, *columns: str) -> str:
    """A new time for a card, as SQLite keeps it: not before its creation or its time in `columns`.

    Clocks may disagree by five minutes: then the later time stays. Beyond that, ValueError.

    >>> from datetime import UTC
    >>> miso = {"id": "miso", "created_at": "2025-06-01T10:00:00.000000+00:00"}
    >>> clock("now", datetime(2025, 6, 1, 9, 58, tzinfo=UTC), miso)
    '2025-06-01T10:00:00.000000+00:00'
    """
    moment = utc(name, time)
    for column in ("created_at", *columns):
        known = card[column] and datetime.fromisoformat(card[column])
        if known and (known - moment) > timedelta(hours=CLOCK_SKEW_HOURS):
            told = f"before {column} of card {short(card['id'])}, {known}"
            raise ValueError(f"{name} is {moment}: {told}")
        moment = max(moment, known or moment)
    return moment.isoformat(timespec="microseconds")


def card_table(rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """Rows of FIELDS as the table that `load_cards` gives, with the store's own columns after it.

    >>> card_table([]).columns.equals(pd.Index(FIELDS[1:]))
    True
    """
    columns = list(zip(*rows, strict=True)) or [()] * len(FIELDS)
    data = {name: _column(name, list(v)) for name, v in zip(FIELDS, columns, strict=True)}
    return pd.DataFrame(data).set_index("id")


def _column(name: str, values: list[Any]) -> "pd.Series[Any]":
    if name in TIMES:
        times = pd.to_datetime(pd.Series(values, dtype="str"), utc=True, format="ISO8601")
        return times.dt.as_unit("us")
    if name in LISTS:
        return pd.Series([tuple(v.split(";")) if v else () for v in values], dtype=object)
    if name in NUMBERS:
        return pd.Series(values, dtype="float64")
    kind = "int64" if name in COUNTS else "bool" if name == "pinned" else "str"
    return pd.Series(values, dtype=kind)


def _parse(column: str, text: str) -> object:
    match column:
        case "interval_days":
            days = parse_field("views", text) if text else None
            if days == 0:
                raise ValueError("must be at least 1 day")
            return days
        case "tau_days":
            return _number(text, FIRST_TAU_DAYS, math.ulp(0), "must be a number of days above 0")
        case "strength":
            return _number(text, 0.0, 0.0, "must be at least 0 and below 1", below=1.0)
        case _:
            return parse_field(column, text)


def _number(text: str, default: float, low: float, rule: str, below: float = math.inf) -> float:
    try:
        number = float(text) if text else default
    except ValueError:
        number = math.nan
    if not low <= number < below:
        raise ValueError(rule)
    return number
