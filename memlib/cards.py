"""Cards: the table of an agent's memories, read from CSV and checked field by field."""

import csv
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pandas as pd

from memlib.importance import HIGHEST_RATING, KIND_BOOST, LOWEST_RATING
from memlib.recency import age_hours

KINDS = tuple(KIND_BOOST)
YES, NO = ("true", "yes", "1"), ("false", "no", "0")
COLUMNS = (
    "text",
    "kind",
    "category",
    "created_at",
    "last_accessed_at",
    "importance",
    "pinned",
    "tags",
    "title",
    "entities",
    "views",
    "cites",
    "edits",
)
NEEDED = ("id", "text", "created_at")
MOST_NAMED = 12  # columns that one message lists
EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how an .xlsx and an .xls begin
DAY = re.compile(r"(\d{4}-\d\d-\d\d|\d{8})\s*(Z|[+-]\d\d(:?\d\d)?)?", re.IGNORECASE)


class CardError(ValueError):
    """A card file that cannot be used: names the file, the row, the column and the value."""


def load_cards(
    path: Path | str,
    now: datetime | None = None,
    categories: Collection[str] = (),
    entity_types: Collection[str] = (),
) -> pd.DataFrame:
    """Read and check a card table.

    path          CSV with the columns id, text and created_at; every other column may be left out
                  and takes its default (episodic, no category, never accessed, unrated, not
                  pinned, nothing, 0)
    now           a time with a zone; no card may be dated after it (five minutes of skew allowed);
                  None is the current time
    categories    the only ones allowed; empty allows any text
    entity_types  the only ones allowed in "Name:type"; empty allows any word
    returns       DataFrame indexed by id: text, kind, category, created_at and last_accessed_at
                  (UTC, NaT = never), importance (1 to 10, NaN = unrated), pinned, tags and entities
                  (tuples), title, views, cites, edits
    Raises CardError that names row (the header is row 1), column, value and what was expected, for
    the first row at fault; nothing is loaded by half.
    Source: this course; the fields are those of the two documents' formulas.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "cards.csv"
    ...     _ = file.write_text("id,text,created_at\\nmiso,Miso naps.,2025-06-01T10:00Z")
    ...     load_cards(file).loc["miso", "text"]
    'Miso naps.'
    """
    file, now = Path(path), now or datetime.now(UTC)
    allowed = {"category": categories, "entities": entity_types}
    raw = read_rows(file)
    _check_columns(file.name, raw.columns.tolist(), NEEDED, COLUMNS)
    if raw.empty:
        raise CardError(f"{file.name}: no cards, only a header")
    fields, fault = _until_fault(file.name, raw, allowed)
    cards = pd.DataFrame(fields).set_index("id")
    for column in ("created_at", "last_accessed_at"):
        cards[column] = pd.to_datetime(cards[column], utc=True)
    try:
        age_hours(cards["created_at"], cards["last_accessed_at"], now)
    except ValueError as error:
        if str(error).startswith("now "):
            raise
        said = _to_the_minute(_with_row(str(error), raw.index))
        raise CardError(f"{file.name} {said}") from None
    if fault:
        raise fault
    return cards


def load_questions(path: Path | str) -> pd.DataFrame:
    """Read questions and the cards that each of them wants.

    path     CSV with the columns id, question, wanted (ids joined by ;); may be left out: about,
             group (questions that belong together), asked_at (a time with a zone)
    returns  DataFrame indexed by id: question, wanted (tuple of card ids), about, group, asked_at
             (UTC, NaT = not said)
    Raises CardError for a missing column, an empty id or question, one that wants nothing, a NUL,
    a time that is none.
    Source: this course.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "questions.csv"
    ...     _ = file.write_text("id,question,wanted\\nq1,Where is Miso?,miso;nap")
    ...     load_questions(file).loc["q1", "wanted"]
    ('miso', 'nap')
    """
    file = Path(path)
    raw = read_rows(file)
    _check_columns(file.name, raw.columns.tolist(), ("id", "question", "wanted"))
    fields = zip(raw.index, raw["id"], raw["question"], raw["wanted"], strict=True)
    rows: dict[str, int] = {}
    for row, name, question, wanted in fields:
        if not name.strip() or not question.strip() or not _split(wanted):
            raise CardError(f"{file.name} row {row}: id, question and wanted must not be empty")
        for column, value in (("id", name), ("question", question), ("wanted", wanted)):
            if "\0" in value:
                said = f"{file.name} row {row}, column {column!r}: {short(value)}"
                raise CardError(f"{said} must not hold a NUL character")
        if (before := rows.setdefault(name, row)) != row:
            raise CardError(f"{file.name} {_twice(name, before, row)}")
    exam = raw.assign(**{c: "" for c in ("about", "group", "asked_at") if c not in raw})
    times: list[object] = []
    for row, value in zip(raw.index, exam["asked_at"].str.strip(), strict=True):
        try:
            times.append(_time(value) if value else pd.NaT)
        except ValueError as error:
            said = f"{file.name} row {row}, column 'asked_at': {short(value)} {error}"
            raise CardError(said) from None
    exam["asked_at"] = pd.to_datetime(pd.Series(times, raw.index, dtype=object), utc=True)
    exam["wanted"] = [_split(value) for value in exam["wanted"]]
    return exam.set_index("id")


def names_on(entities: Iterable[Iterable[str]], aliases: Mapping[str, str]) -> list[set[str]]:
    """The names on each card, types cut off and aliases resolved.

    entities  a card table's column: n collections of "Name:type" (checked when the file is read)
    aliases   other spelling -> name; empty joins nothing
    returns   n sets of names
    Source: *Scoring beyond similarity*, By names: the entity boost (names listed at write time).

    >>> names_on([["Liz:person"], []], {"Liz": "Elizabeth"})
    [{'Elizabeth'}, set()]
    """
    plain = [[entity.rpartition(":")[0] for entity in row] for row in entities]
    return [{aliases.get(name, name) for name in row} for row in plain]


def read_rows(file: Path) -> pd.DataFrame:
    """All fields of a CSV as text, before any of them is checked.

    returns  DataFrame of str; the index holds each row's number in the file, where blank rows count
    Raises CardError for a file that is no such CSV.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "cards.csv"
    ...     _ = file.write_text("id,importance\\nmiso,8")
    ...     read_rows(file).loc[2, "importance"]
    '8'
    """
    try:
        content = file.read_bytes()
        _check_begin(file.name, content)
        rows = _parsed(file.name, content.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise CardError(f"{file.name}: not UTF-8 at byte {error.start}: save it as UTF-8") from None
    except OSError as error:
        raise CardError(f"{file}: cannot be read: {error.strerror}") from None
    (_, first), *body = rows
    header = [column.strip().lower() for column in first]
    for column in header:
        if header.count(column) > 1:
            raise CardError(f"{file.name}: column {short(column)} stands there twice")
    for row, fields in body:
        if (many := len(fields)) != len(header):
            said = f"{file.name} row {row}: {many} fields, the header has {len(header)}"
            raise CardError(f"{said} (a text with a comma needs quotes)")
    numbers, values = [row for row, _ in body], [fields for _, fields in body]
    return pd.DataFrame(values, index=numbers, columns=header, dtype=str)


def _check_begin(name: str, content: bytes) -> None:
    """Refuse another kind of file by how it begins, whatever follows."""
    if content.startswith(EXCEL):
        raise CardError(f"{name}: this is an Excel file: save it as CSV UTF-8")
    begin = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not begin:
        raise CardError(f"{name}: empty, the first row must name the columns")
    if begin.startswith((b"[", b"{")):
        said = "this is JSON: a CSV is expected, whose first row names the columns"
        raise CardError(f"{name}: {said}")
    top = re.split(rb"[\r\n]", begin[: csv.field_size_limit()], maxsplit=1)[0]
    first = next(csv.reader([top.decode("utf-8", "replace")]))
    if "\0" in first[0]:  # UTF-16, told as no UTF-8
        return
    if first[0].lower().startswith("sep=") or (len(first) == 1 and {";", "\t"} & set(first[0])):
        said = f"{name}: one field, {short(first[0])}, where the columns are named"
        raise CardError(f"{said}: save it with commas, and without a row that says sep=")


def _check_columns(
    name: str, found: list[str], needed: tuple[str, ...], known: tuple[str, ...] = ()
) -> None:
    """Tell all that is wrong with the columns; where none is known, any may stand there."""
    missing = [column for column in needed if column not in found]
    unknown = [short(column) for column in found if known and column not in (*needed, *known)]
    said = [f"missing: {', '.join(missing)}"] if missing else []
    if unknown:
        more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
        said.append(f"unknown: {', '.join(unknown[:MOST_NAMED])}{more}")
    optional = ", ".join(column for column in known if column not in needed)
    said += [f"needed: {', '.join(needed)}", *([f"optional: {optional}"] if known else [])]
    if missing or unknown:
        raise CardError(f"{name}: columns {'; '.join(said)}")


def _parsed(name: str, text: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV with their numbers, without the blank ones."""
    reader, rows, read = csv.reader(StringIO(text, newline=""), strict=True), [], 0
    try:
        for read, row in enumerate(reader, 1):
            if row:
                rows.append((read, row))
    except csv.Error as error:
        open_quote = "a quote that opens is not closed"
        if "unexpected end" in str(error):
            raise CardError(f"{name} row {read + 1}: {open_quote}") from None
        if "field limit" in str(error):
            said = f"a text longer than {csv.field_size_limit():,} characters"
            raise CardError(f"{name} row {read + 1}: {said}, or {open_quote}") from None
        said = f"not a readable CSV: {error} (a quote within a text is written twice)"
        raise CardError(f"{name} row {read + 1}: {said}") from None
    return rows


def _until_fault(
    name: str, raw: pd.DataFrame, allowed: Mapping[str, Collection[str]]
) -> tuple[dict[str, list[object]], CardError | None]:
    """Column -> the checked fields of all rows before the first at fault, and that fault."""
    columns, rows = ("id", *COLUMNS), dict[object, int]()
    fields: dict[str, list[object]] = {column: [] for column in columns}
    values = raw.reindex(columns=list(columns), fill_value="").to_numpy().tolist()
    for row, texts in zip(raw.index, values, strict=True):
        card: list[object] = []
        for column, text in zip(columns, texts, strict=True):
            try:
                card.append(parse_field(column, text.strip(), allowed.get(column, ())))
            except ValueError as error:
                said = f"{name} row {row}, column {column!r}: {short(text)} {error}"
                return fields, CardError(said)
        if (before := rows.setdefault(card[0], row)) != row:
            return fields, CardError(f"{name} {_twice(str(card[0]), before, row)}")
        for column, value in zip(columns, card, strict=True):
            fields[column].append(value)
    return fields, None


def parse_field(column: str, value: str, allowed: Collection[str] = ()) -> object:
    """One field of a card file, checked; an empty one takes its default.

    allowed  the only categories, or types of entities; empty allows any

    Raises ValueError that says what was expected, and leaves it to the caller to say where.

    >>> parse_field("tags", "music; jazz")
    ('music', 'jazz')
    """
    _expect(value, "\0" not in value, "must not hold a NUL character")
    match column:
        case "id" | "text":
            seen = any(letter.isprintable() and not letter.isspace() for letter in value)
            return _expect(value, seen, "must not be empty")
        case "kind":
            return _choice(value.lower() or "episodic", KINDS)
        case "category":
            return _choice(value.lower(), allowed) if value and allowed else value
        case "created_at" | "last_accessed_at":
            if not value and column == "last_accessed_at":
                return pd.NaT
            return _time(value)
        case "importance":
            return float("nan") if not value else _rating(value)
        case "pinned":
            return _choice(value.lower() or "false", (*YES, *NO)) in YES
        case "tags":
            return _split(value)
        case "entities":
            return tuple(_entity(part, allowed) for part in _split(value))
        case "views" | "cites" | "edits":
            count = value or "0"
            fine = count.isdecimal() and len(count) <= 18  # what fits into 64 bits
            return int(_expect(count, fine, "is no count (0, 1, 2, …)"))
        case _:
            return value


def as_text(column: str, value: object) -> str:
    """One field as a card file holds it: what `parse_field` reads again.

    None, NaN and NaT make an empty field; a str is taken as the file would have it
    Raises ValueError for words that are no str, or a list whose parts could not be told apart.

    >>> as_text("tags", ("music", "jazz"))
    'music;jazz'
    """
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    if isinstance(value, str):
        return value
    if column in ("id", "text", "kind", "category", "title"):
        raise ValueError("must be a str")
    if column in ("tags", "entities"):
        parts = value if isinstance(value, (tuple, list)) else (value,)
        if not all(isinstance(part, str) and ";" not in part for part in parts):
            raise ValueError("must be a tuple of str, none with a ; in it")
        return ";".join(parts)
    if isinstance(value, float) and value.is_integer():  # a count in a column that had gaps
        return str(int(value))
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _expect(value: str, fine: bool, otherwise: str) -> str:
    if not fine:
        raise ValueError(otherwise)
    return value


def _choice(value: str, choices: Collection[str]) -> str:
    return _expect(value, value in choices, f"is none of {', '.join(choices)}")


def _time(value: str) -> datetime:
    day = DAY.fullmatch(value)
    try:
        time = datetime.fromisoformat(day[1] if day else value)
        utc = time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is no time like 2025-06-11T18:00Z") from None
    if day:  # hours are counted, so none is guessed
        raise ValueError(f"has no time of day: write {time.date()}T18:00Z")
    if time.utcoffset() is None:
        raise ValueError("has no time zone: write 2025-06-11T18:00Z or +02:00")
    try:
        return utc
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999 in UTC") from None


def _rating(value: str) -> float:
    try:
        rating = float(value.replace("_", "?"))  # Python reads 1_0 as 10
    except ValueError:
        rating = float("nan")
    if not LOWEST_RATING <= rating <= HIGHEST_RATING:
        raise ValueError(f"is no rating from {LOWEST_RATING} to {HIGHEST_RATING}")
    return rating


def _entity(part: str, types: Collection[str]) -> str:
    name, _, kind = part.rpartition(":")
    _expect(part, ":" not in name, "holds a name with a : in it; separate names with ;")
    known = f", type of {', '.join(types)}" if types else ""
    rule = f"is not Name:type{known}; separate names with ;"
    return _expect(part, bool(name) and (kind in types if types else bool(kind)), rule)


def short(value: str) -> str:
    """A value as a message shows it: quoted, at most 80 characters.

    >>> short("Miso")
    "'Miso'"
    """
    return repr(value if len(value) <= 80 else value[:79] + "…")


def _split(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(";") if part.strip())


def _twice(value: str, before: int, row: int) -> str:
    return f"row {row}, column 'id': {short(value)} stands in row {before} and row {row}"


def _with_row(message: str, rows: pd.Index) -> str:
    column, row, rest = message.replace("]", "[", 1).split("[", 2)
    return f"row {rows[int(row)]}, column {column!r}: {rest.removeprefix(' is ')}"


def _to_the_minute(message: str) -> str:
    """Without seconds where two times lie minutes apart: an age must not be below zero."""
    if "in the future" not in message:
        return message
    return re.sub(r"(\d\d:\d\d):\d\d(\.\d+)?(?=[+-]\d\d:\d\d)", r"\1", message)
