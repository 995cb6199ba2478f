"""Cards: those of the course are what the chapters need; a bad file is told by row and column."""

import csv
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data.files import data_path
from course.data.maya import (
    COURSE_NOW,
    PUBLISHED,
    PUBLISHED_QUESTION,
    load_exam,
    maya_cards,
    published_cards,
)
from memlib.cards import COLUMNS, KINDS, CardError, load_cards, names_on
from memlib.extraction.reply import CATEGORIES, ENTITY_TYPES
from memlib.recency import age_hours

HEADER = "id,text,created_at"
SISTER = ("Liz", "Elizabeth")
HOURLESS = "has no time of day: write 2025-01-04T18:00Z"
ZONES = ("", "Z", "z", " Z", "+02:00", "-05:00", "+0200", "-05", " +02:00")
TYPES, JOIN = "type of person, place, company, pet", "separate names with ;"
JOINED = ("Tomasz:person, Zosia:person", "Sam:person|Paris:place", "Sam:person, Miso:cat")
TIME = "2025-06-01T10:00Z"
CARDS = maya_cards()


def write(path: Path, *lines: str, end: str = "\n", encoding: str = "utf-8") -> Path:
    path.write_bytes((end.join(lines) + end).encode(encoding))
    return path


def load(path: Path, now: datetime = COURSE_NOW) -> pd.DataFrame:
    """A file read by the rules of Maya's own."""
    return load_cards(path, now, CATEGORIES, ENTITY_TYPES)


def refusal(path: Path, **options: Any) -> str:
    """The message of the one error, which must be one line and begin with the file."""
    with pytest.raises(CardError) as caught:
        load(path, **options)
    message = str(caught.value)
    assert "\n" not in message and path.name in message.split()[0]
    return message


# --- the course's own cards ----------------------------------------------------------------


def test_maya_has_208_cards_and_the_published_come_first() -> None:
    assert len(CARDS) == 208
    assert tuple(CARDS.index[:8]) == PUBLISHED
    assert CARDS.index.is_unique and CARDS["text"].is_unique
    assert tuple(CARDS.columns) == COLUMNS
    pd.testing.assert_frame_equal(published_cards(), CARDS.iloc[:8])


def test_the_published_cards_have_the_published_hours_and_ratings() -> None:
    with data_path("published_figures.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["topic"] in ("recency", "importance")]
    figures = {row["what"]: row for row in rows}
    cards = published_cards()
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], COURSE_NOW)
    for name, age in zip(cards.index, hours, strict=True):
        assert figures[f"recency of {name}"]["inputs"] == f"hours={age:.0f}"
        assert age == round(age)
        assert float(figures[f"rating of {name}"]["published"]) == cards["importance"][name]


def test_sam_is_on_sixty_cards_and_miso_on_one() -> None:
    assert CARDS["text"].str.contains(r"\bSam\b").sum() == 60
    assert CARDS["text"].str.contains("Miso").sum() == 1
    for name, entities in CARDS["entities"].items():
        assert ("Sam:person" in entities) == bool(re.search(r"\bSam\b", CARDS["text"][name])), name


def test_names_on_cuts_the_type_at_the_last_colon_and_joins_aliases() -> None:
    shelf = [("Liz:person", "Studio: Loft:company"), ("Liz:person", "Elizabeth:person"), ()]
    assert names_on(shelf, {}) == [{"Liz", "Studio: Loft"}, {"Liz", "Elizabeth"}, set()]
    joined = names_on(shelf, {"Liz": "Elizabeth"})
    assert joined == [{"Elizabeth", "Studio: Loft"}, {"Elizabeth"}, set()]


def test_one_sister_is_on_nine_cards_under_two_names() -> None:
    entities = maya_cards()["entities"]
    counted = {name: sum(name in names for names in names_on(entities, {})) for name in SISTER}
    joined = names_on(entities, {SISTER[0]: SISTER[1]})
    assert counted == {"Liz": 5, "Elizabeth": 4}
    assert sum("Elizabeth" in names for names in joined) == 9
    assert not any("Liz" in names for names in joined)


def test_the_is_in_most_cards() -> None:
    assert CARDS["text"].str.contains(r"\bthe\b", case=False).mean() > 0.5


@pytest.mark.parametrize(
    "text",
    [
        *("Maya lives in London.", "Maya lives in Paris.", "Maya is vegetarian."),
        *("Maya has a serious peanut allergy.", "Maya asked for a pasta recipe yesterday."),
    ],
)
def test_a_text_on_which_a_chapter_leans_is_there_word_for_word(text: str) -> None:
    assert (CARDS["text"] == text).sum() == 1


@pytest.mark.parametrize("words", [("Poppy", "March 14"), ("Daisy", "March 15")])
def test_the_guinea_pigs_were_at_the_vet_on_two_days(words: tuple[str, str]) -> None:
    assert CARDS["text"].map(lambda text: all(word in text for word in words)).any()


def test_london_comes_before_paris() -> None:
    created = CARDS.set_index("text")["created_at"]
    assert created["Maya lives in London."] < created["Maya lives in Paris."]


def test_every_field_of_every_card_is_of_its_kind() -> None:
    assert set(CARDS["kind"]) == set(KINDS) == {"working", "episodic", "semantic"}
    assert set(CARDS["category"]) <= set(CATEGORIES)
    assert str(CARDS["created_at"].dt.tz) == str(CARDS["last_accessed_at"].dt.tz) == "UTC"
    assert CARDS["importance"].dropna().between(1, 10).all()
    assert CARDS["pinned"].dtype == bool
    assert (CARDS[["views", "cites", "edits"]] >= 0).all(axis=None)
    types = {entity.rpartition(":")[2] for entities in CARDS["entities"] for entity in entities}
    assert types == set(ENTITY_TYPES)
    assert not any(text != text.strip() or "\n" in text for text in CARDS["text"])


def test_the_cards_are_the_same_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.testing.assert_frame_equal(maya_cards(), CARDS)
    assert len(load_exam()) == 10


# --- the exam ------------------------------------------------------------------------------


def test_the_exam_asks_ten_questions_about_cards_that_exist() -> None:
    exam = load_exam()
    assert list(exam.index) == [f"q{n:02d}" for n in range(1, 11)]
    assert exam.loc["q01", "question"] == PUBLISHED_QUESTION
    assert exam["question"].is_unique and exam["about"].str.len().min() > 20
    for wanted in exam["wanted"]:
        assert 1 <= len(wanted) <= 3
        assert set(wanted) <= set(CARDS.index)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["id,words"], "columns missing: question, wanted; needed: id, question, wanted"),
        (["id,question,wanted,about", "q1,,miso,a"], "row 2: id, question and wanted must not"),
        (["id,question,wanted", "q1,Who?,miso", " ,Who?,miso"], "row 3: id, question and wanted"),
        (["id,question,wanted", "q\0,Who?,a"], "row 2, column 'id': 'q\\x00' must not hold a NUL"),
        (["id,question,wanted", "q1,W\0?,a"], "row 2, column 'question': 'W\\x00?' must not hold"),
        (["id,question,wanted", "q1,Who?,a\0"], "row 2, column 'wanted': 'a\\x00' must not hold"),
        (
            ["id,question,wanted,about", "q1,Who?,miso,a", "q2,Who?, ; ,a"],
            "row 3: id, question and",
        ),
        (
            ["id,question,wanted,about", "q1,A?,a,a", "q1,B?,b,b"],
            "row 3, column 'id': 'q1' stands in row 2 and row 3",
        ),
    ],
)
def test_a_bad_exam_is_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(CardError, match=re.escape(message)):
        load_exam(write(tmp_path / "exam.csv", *lines))


def test_an_exam_need_not_say_what_it_is_about(tmp_path: Path) -> None:
    exam = load_exam(write(tmp_path / "exam.csv", "id,question,wanted", "q1,Who?,miso;sam"))
    assert exam.drop(columns="asked_at").loc["q1"].to_dict() == {
        "question": "Who?",
        "wanted": ("miso", "sam"),
        "about": "",
        "group": "",
    }
    assert exam["asked_at"].isna().all() and str(exam["asked_at"].dtype).startswith("datetime64")


# --- reading one's own ---------------------------------------------------------------------


def test_what_is_left_out_takes_its_default(tmp_path: Path) -> None:
    cards = load(write(tmp_path / "own.csv", HEADER, f"miso,Miso naps.,{TIME}"))
    card = cards.loc["miso"].to_dict()
    assert pd.isna(card.pop("last_accessed_at")) and pd.isna(card.pop("importance"))
    assert card == {
        "text": "Miso naps.",
        "kind": "episodic",
        "category": "",
        "created_at": pd.Timestamp(TIME),
        "pinned": False,
        **{"tags": (), "title": "", "entities": (), "views": 0, "cites": 0, "edits": 0},
    }
    assert tuple(cards.columns) == COLUMNS
    assert str(cards["last_accessed_at"].dt.tz) == "UTC"


def test_an_empty_field_takes_the_same_default(tmp_path: Path) -> None:
    bare = load(write(tmp_path / "bare.csv", HEADER, f"miso,Miso naps.,{TIME}"))
    names = ["id", *COLUMNS]
    row = {"id": "miso", "text": "Miso naps.", "created_at": TIME}
    line = ",".join(row.get(name, "") for name in names)
    empty = load(write(tmp_path / "empty.csv", ",".join(names), line))
    pd.testing.assert_frame_equal(empty, bare)


def test_every_field_is_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "own.csv",
        "edits,cites,views,entities,title,tags,pinned,importance,last_accessed_at,created_at,"
        "category,kind,text,id",
        "3,2,1,Sam Lee:person; Paris:place,A title,music; jazz;,TRUE,7.5,2025-06-02T12:00+02:00,"
        "2025-06-01T10:00:30Z,pets,semantic, Miso naps. ,miso",
    )
    card = load(file).loc["miso"]
    assert card["text"] == "Miso naps."
    assert (card["kind"], card["category"], card["title"]) == ("semantic", "pets", "A title")
    assert card["created_at"] == datetime(2025, 6, 1, 10, 0, 30, tzinfo=UTC)
    assert card["last_accessed_at"] == datetime(2025, 6, 2, 10, tzinfo=UTC)
    assert (card["importance"], bool(card["pinned"])) == (7.5, True)
    assert card["tags"] == ("music", "jazz")
    assert card["entities"] == ("Sam Lee:person", "Paris:place")
    assert (card["views"], card["cites"], card["edits"]) == (1, 2, 3)


def test_capitals_and_other_words_for_yes_are_read(tmp_path: Path) -> None:
    header = "ID, Text ,Created_At,Kind,CATEGORY,Pinned"
    pins = {"yes": True, "No": False, "1": True, "0": False, "TRUE": True, "": False}
    lines = (f"c{n},One.,{TIME},Semantic,Food,{pin}" for n, pin in enumerate(pins))
    cards = load(write(tmp_path / "own.csv", header, *lines))
    assert cards["pinned"].tolist() == list(pins.values())
    assert set(cards["kind"]) == {"semantic"} and set(cards["category"]) == {"food"}


@pytest.mark.parametrize("column", ["views", "importance", "kind", "created_at"])
def test_a_very_long_value_is_told_in_short(tmp_path: Path, column: str) -> None:
    names = ["id", "text", "created_at", *{column} - {"created_at"}]
    row = {"id": "a", "text": "One.", "created_at": TIME} | {column: "9" * 5000}
    line = ",".join(row[name] for name in names)
    message = refusal(write(tmp_path / "own.csv", ",".join(names), line))
    assert f"row 2, column {column!r}: '{'9' * 79}…' is no" in message and len(message) < 250


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_spreadsheets_may_add_a_mark_and_other_line_ends(
    tmp_path: Path, end: str, encoding: str
) -> None:
    text = '"Zoë said: ""a cat, a mat"""'
    file = write(tmp_path / "own.csv", HEADER, f"zoë,{text},{TIME}", end=end, encoding=encoding)
    assert load(file)["text"].to_dict() == {"zoë": 'Zoë said: "a cat, a mat"'}


def test_a_quoted_text_may_run_over_lines_and_the_row_is_still_right(tmp_path: Path) -> None:
    file = write(tmp_path / "own.csv", HEADER, f'a,"One\nand two.",{TIME}', f"b,Three.,{TIME}")
    assert load(file)["text"].tolist() == ["One\nand two.", "Three."]
    late = write(tmp_path / "late.csv", HEADER, f'a,"One\nand two.",{TIME}', "b,Three.,later")
    assert "late.csv row 3, column 'created_at': 'later'" in refusal(late)


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    lines = [HEADER, "", f"a,One.,{TIME}", "", f"b,Two.,{TIME}", "", ""]
    assert load(write(tmp_path / "own.csv", *lines)).index.tolist() == ["a", "b"]
    for bad, said in (
        ("b,Two.,never", "row 5, column 'created_at': 'never'"),
        (f"a,Two.,{TIME}", "row 5, column 'id': 'a' stands in row 3 and row 5"),
        ("b,Two.,2026-01-01T00:00Z", "row 5, column 'created_at': 2026-01-01"),
        ("b,Two", "row 5: 2 fields"),
    ):
        assert said in refusal(write(tmp_path / "own.csv", *lines[:4], bad))


def test_words_that_pandas_would_take_for_missing_stay_words(tmp_path: Path) -> None:
    lines = [f"{word},{word},{TIME}" for word in ("NA", "null", "nan", "None", "001")]
    cards = load(write(tmp_path / "own.csv", HEADER, *lines))
    assert cards.index.tolist() == cards["text"].tolist() == ["NA", "null", "nan", "None", "001"]


def test_five_minutes_of_clock_skew_are_no_fault(tmp_path: Path) -> None:
    soon = (COURSE_NOW + timedelta(minutes=4)).isoformat()
    assert len(load(write(tmp_path / "own.csv", HEADER, f"a,One.,{soon}"))) == 1
    late = (COURSE_NOW + timedelta(minutes=6)).isoformat()
    own = write(tmp_path / "own.csv", HEADER, f"a,One.,{late}")
    assert "in the future of now" in refusal(own)
    assert len(load(own, now=COURSE_NOW + timedelta(days=1))) == 1


@pytest.mark.parametrize("now", [datetime(2025, 6, 11, 18), None, "today"])
def test_a_now_that_is_no_time_with_a_zone_is_named(tmp_path: Path, now: Any) -> None:
    own = write(tmp_path / "own.csv", HEADER, f"a,One.,{TIME}")
    if now is None:
        assert len(load(own)) == 1
        return
    with pytest.raises(ValueError, match=r"^now is .*(no time zone|must be a datetime)"):
        load(own, now)


# --- every refusal -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        *(("id", "", "must not be empty"), ("text", "", "must not be empty")),
        ("kind", "dream", "is none of semantic, episodic, working"),
        ("category", "Foods", "is none of family, friends, pets"),
        ("created_at", "", "is no time like"),
        ("created_at", "yesterday", "is no time like"),
        ("created_at", "2025-02-30T10:00Z", "is no time like"),
        ("created_at", "2025-06-01T10:00", "has no time zone"),
        ("created_at", "0001-01-01T00:00+14:00", "is no time like"),
        ("created_at", "2025-02-30", "is no time like"),
        *(("created_at", f"2025-01-04{zone}", HOURLESS) for zone in ZONES),
        ("last_accessed_at", "20250104", HOURLESS),
        ("created_at", "2025-01-04T10", "has no time zone"),
        ("last_accessed_at", "11/06/2025", "is no time like"),
        ("last_accessed_at", "2025-06-01 10:00", "has no time zone"),
        *((name, "a\0b", "must not hold a NUL") for name in ("id", "text", "title", "tags")),
        *(("importance", bad, "is no rating from 1 to 10") for bad in ("0", "11", "nan", "inf")),
        *(("importance", bad, "is no rating from 1 to 10") for bad in ("high", "7;5", "-3")),
        *(("pinned", bad, "is none of true, yes, 1, false, no, 0") for bad in ("2", "maybe")),
        *(("importance", "1_0", "is no rating"), ("views", "9" * 19, "is no count")),
        *(("id", "\u200b", "must not be empty"), ("text", "\u200b\ufeff", "must not be empty")),
        *(("entities", bad, "is not Name:type") for bad in ("Sam", "Sam:cat", ":person")),
        ("entities", "Sam:person|Paris", f"is not Name:type, {TYPES}; separate names with ;"),
        *(("entities", bad, f"holds a name with a : in it; {JOIN}") for bad in JOINED),
        *(("views", bad, "is no count") for bad in ("-1", "1.5", "²", "many")),
        *(("cites", "1e3", "is no count"), ("edits", "None", "is no count")),
    ],
)
def test_a_bad_field_is_told_by_row_column_and_value(
    tmp_path: Path, column: str, value: str, why: str
) -> None:
    names = ["id", "text", "created_at"] + [column] * (column not in HEADER.split(","))
    good, bad = ({"id": name, "text": "Words.", "created_at": TIME} for name in "ab")
    bad |= {column: f'"{value}"' if "," in value else value}
    lines = [",".join(row.get(name, "") for name in names) for row in (good, bad)]
    message = refusal(write(tmp_path / "own.csv", ",".join(names), *lines))
    assert message.startswith(f"own.csv row 3, column {column!r}: {value!r} {why}")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([HEADER, f"a,One.,{TIME}", f"a,Two.,{TIME}"], "'a' stands in row 2 and row 3"),
        ([HEADER, f"a,One.,{TIME}", f" a ,Two.,{TIME}"], "row 3, column 'id': 'a' stands in row"),
        ([HEADER, f"a,One, two.,{TIME}"], "row 2: 4 fields, the header has 3"),
        ([HEADER, f"a,One.,{TIME}", "b,Two."], "row 3: 2 fields, the header has 3"),
        ([HEADER], "no cards, only a header"),
        (["id,text", "a,One."], "own.csv: columns missing: created_at; needed: id, text, created"),
        (["text,created_at", f"One.,{TIME}"], "own.csv: columns missing: id; needed: id, text"),
        (
            ["id;text;created_at", f"a;One.;{TIME}"],
            "where the columns are named: save it with commas",
        ),
        (
            ["id\ttext\tcreated_at", f"a\tOne.\t{TIME}"],
            "one field, 'id\\ttext\\tcreated_at', where",
        ),
        (
            ["sep=,", HEADER, f"a,One.,{TIME}"],
            "save it with commas, and without a row that says sep=",
        ),
        (["sep=,", HEADER, f"a,One.,{TIME}"], "one field, 'sep=', where the columns are named"),
        (
            [HEADER, f"a,{'x' * 140_000},{TIME}"],
            "row 2: a text longer than 131,072 characters, or a quote that opens is not closed",
        ),
        ([f"{HEADER},ID", f"a,One.,{TIME},b"], "column 'id' stands there twice"),
        ([f"{HEADER},mood", f"a,One.,{TIME},glad"], "own.csv: columns unknown: 'mood'; needed: id"),
        ([f"{HEADER},text", f"a,One.,{TIME},Two."], "column 'text' stands there twice"),
        ([HEADER, f'a,"One.,{TIME}'], "own.csv row 2: a quote that opens is not closed"),
        (
            [HEADER, f'a,"One\ntwo.",{TIME}', "", f'b,"Three.,{TIME}', f"c,Four.,{TIME}"],
            "own.csv row 4: a quote that opens is not closed",
        ),
        (
            [HEADER, f'a,"One" two.,{TIME}'],
            "own.csv row 2: not a readable CSV: ',' expected after '\"' (a quote within a text is",
        ),
        (
            [HEADER, "a,One.,2025-06-12T18:00:59.123456Z"],
            "row 2, column 'created_at': 2025-06-12 18:00+00:00: in the future of now, 2025-06-11",
        ),
        (
            [f"{HEADER},last_accessed_at", f"a,One.,{TIME},2025-05-01T10:00Z"],
            "row 2, column 'last_accessed_at': 2025-05-01 10:00:00+00:00: before created_at",
        ),
        (
            [f"{HEADER},last_accessed_at", f"a,One.,{TIME},2025-07-01T10:00Z"],
            "row 2, column 'last_accessed_at': 2025-07-01 10:00+00:00: in the future of now",
        ),
    ],
)
def test_a_bad_table_is_told_by_row_and_column(tmp_path: Path, lines: list[str], said: str) -> None:
    assert said in refusal(write(tmp_path / "own.csv", *lines))


@pytest.mark.parametrize(
    "lines",
    [
        ["id;text;created_at", f'a;"One; two.";{TIME}'],
        ["", "id;text;created_at", f'a;"One."; {TIME};"'],
        ['"id";"text";"created_at"', f'"a";"One.";"{TIME}"'],
        ['"id"\t"text"\t"created_at"', f'"a"\t"One, two."\t"{TIME}"'],
        ["\tid\ttext\tcreated_at", f'0\ta\t"One"\t{TIME}'],
        ["sep=;", '"id";"text"', '"a";"One."'],
        ["Sep=,", HEADER, f'a,"One",{TIME}'],
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_another_separator_is_told_first_whatever_follows(
    tmp_path: Path, lines: list[str], encoding: str
) -> None:
    file = write(tmp_path / "own.csv", *lines, encoding=encoding)
    assert "one field, '" in (message := refusal(file)) and "save it with commas" in message
    file.write_bytes(file.read_bytes() + "c;café\n".encode("latin-1"))
    assert refusal(file) == message


@pytest.mark.parametrize("begin", ["[", " [", "\n\n  [\n ", "{", "\ufeff{"])
def test_json_is_known_also_under_another_name(tmp_path: Path, begin: str) -> None:
    said = "own.csv: this is JSON: a CSV is expected, whose first row names the columns"
    file = tmp_path / "own.csv"
    for end in ('"id": "a", "text": "One."}]', ""):
        file.write_bytes((begin + end).encode())
        assert refusal(file) == said


def test_all_that_is_wrong_with_the_columns_is_told_at_once(tmp_path: Path) -> None:
    file = write(tmp_path / "own.csv", "name,text,when,tags,", "a,One.,now,x,")
    assert refusal(file) == (
        "own.csv: columns missing: id, created_at; unknown: 'name', 'when', ''; "
        "needed: id, text, created_at; optional: kind, category, last_accessed_at, importance, "
        "pinned, tags, title, entities, views, cites, edits"
    )
    many = write(tmp_path / "many.csv", ",".join(f"{n}{'x' * 200}" for n in range(99)), ",")
    many.write_text(many.read_text(encoding="utf-8").partition("\n")[0], encoding="utf-8")
    assert len(message := refusal(many)) < 1500 and "…' and 87 more; needed: id" in message


FAULTS = {  # a row with one fault, and how the message goes on
    "date": (f"{{id}},Two.,soon,{TIME}", "column 'created_at': 'soon'"),
    "text": (f"{{id}},,{TIME},{TIME}", "column 'text': ''"),
    "again": (f"a,Two.,{TIME},{TIME}", "column 'id': 'a' stands in row 2 and row"),
    "future": ("{id},Two.,2026-01-01T00:00Z,", "column 'created_at': 2026-01-01"),
    "before": (f"{{id}},Two.,{TIME},2025-01-01T00:00Z", "column 'last_accessed_at': 2025-01-01"),
    "last": (f"{{id}},Two.,{TIME},soon", "column 'last_accessed_at': 'soon'"),
}


@pytest.mark.parametrize("second", FAULTS)
@pytest.mark.parametrize("first", FAULTS)
def test_of_several_faulty_rows_the_first_in_the_file_is_told(
    tmp_path: Path, first: str, second: str
) -> None:
    lines = [f"{HEADER},last_accessed_at", f"a,One.,{TIME},"]
    lines += [FAULTS[first][0].format(id="b"), FAULTS[second][0].format(id="c")]
    said = f"own.csv row 3, {FAULTS[first][1]}"
    assert refusal(write(tmp_path / "own.csv", *lines)).startswith(said)


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \n\t", b"\xef\xbb\xbf"])
def test_an_empty_file_is_said_to_be_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "own.csv").write_bytes(content)
    assert refusal(tmp_path / "own.csv") == "own.csv: empty, the first row must name the columns"


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    missing, folder = tmp_path / "none.csv", tmp_path / "folder.csv"
    folder.mkdir()
    for path in (missing, folder):
        with pytest.raises(CardError, match=re.escape(f"{path}: cannot be read: ")):
            load(path)


@pytest.mark.parametrize(
    "content",
    [f"{HEADER}\na,café,{TIME}\n".encode("latin-1"), b"\xff\xfea", "a\t".encode("utf-16")],
)
def test_another_encoding_is_told_by_byte(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "own.csv").write_bytes(content)
    assert "not UTF-8 at byte" in refusal(tmp_path / "own.csv")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_byte_is_counted_from_the_file_s_first(tmp_path: Path, mark: bytes) -> None:
    lines = f"{HEADER}\n".encode() + f"a,One.,{TIME}\n".encode() * 1000
    (tmp_path / "own.csv").write_bytes(mark + lines + b"\xe9")
    at = len(mark + lines)
    assert refusal(tmp_path / "own.csv") == f"own.csv: not UTF-8 at byte {at}: save it as UTF-8"


@pytest.mark.parametrize("begin", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"])
def test_an_excel_file_under_another_name_is_known(tmp_path: Path, begin: bytes) -> None:
    (tmp_path / "own.csv").write_bytes(begin + b"\x14\x00\xff")
    said = "own.csv: this is an Excel file: save it as CSV UTF-8"
    assert refusal(tmp_path / "own.csv") == said


def test_a_now_with_microseconds_is_told_to_the_minute(tmp_path: Path) -> None:
    own = write(tmp_path / "own.csv", HEADER, "a,One.,2025-06-12T18:00Z")
    now = datetime(2025, 6, 11, 18, 0, 1, 234567, tzinfo=UTC)
    assert refusal(own, now=now).endswith("in the future of now, 2025-06-11 18:00+00:00")


# --- round trip ----------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1).filter(
    lambda word: any(letter.isprintable() and not letter.isspace() for letter in word)
)
NAMES = st.from_regex(r"[A-Za-zé][\w ]{0,9}[a-z]", fullmatch=True)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2025, 1, 1), timezones=st.just(UTC))
ROWS = st.fixed_dictionaries(
    {
        "text": WORDS.map(str.strip),
        "kind": st.sampled_from(KINDS),
        "category": st.sampled_from(CATEGORIES),
        "created_at": MOMENTS,
        "last_accessed_at": st.none() | st.timedeltas(timedelta(0), timedelta(days=100)),
        "importance": st.none() | st.floats(1, 10),
        "pinned": st.booleans(),
        "tags": st.lists(NAMES, max_size=3).map(tuple),
        "title": WORDS.map(str.strip),
        "entities": st.lists(
            st.tuples(NAMES, st.sampled_from(ENTITY_TYPES)).map(":".join), max_size=3
        ).map(tuple),
        **{name: st.integers(0, 10**6) for name in ("views", "cites", "edits")},
    }
)


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    file = tmp_path_factory.mktemp("cards") / "own.csv"
    for row in rows:
        gap = row["last_accessed_at"]
        row["last_accessed_at"] = None if gap is None else row["created_at"] + gap
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["id", *COLUMNS])
        for number, row in enumerate(rows):
            cells = {
                name: ";".join(value)
                if isinstance(value, tuple)
                else ""
                if value is None
                else value
                for name, value in row.items()
            }
            writer.writerow([f"c{number}", *(cells[name] for name in COLUMNS)])
    cards = load(file)
    for card, row in zip(cards.to_dict("records"), rows, strict=True):
        for name in ("last_accessed_at", "importance"):
            if row[name] is None:
                assert pd.isna(card.pop(name))
                del row[name]
        assert card == row
