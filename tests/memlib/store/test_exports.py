"""Exports: what a store holds goes out as CSV and comes in again, bit for bit."""

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.data.maya import COURSE_NOW, maya_cards
from memlib.cards import CardError
from memlib.store.exports import read_export, write_export
from memlib.store.records import STORED
from memlib.store.sqlite import Store, StoreError
from tests.memlib.test_cards import ROWS

CARDS = maya_cards()
RANDOM = np.random.default_rng(5)
VECTORS = RANDOM.normal(size=(len(CARDS), 5)).astype(np.float32)


def check_same(one: Store, two: Store) -> None:
    pd.testing.assert_frame_equal(one.cards(forgotten=True), two.cards(forgotten=True))
    assert one.vectors(forgotten=True).tobytes() == two.vectors(forgotten=True).tobytes()
    assert one.embedder_id == two.embedder_id and len(one) == len(two)


def exported(path: Path) -> list[dict[str, str]]:
    """An export of two cards, as rows that a test may spoil."""
    with Store(path.with_suffix(".db")) as store:
        for name in ("tea", "jam"):
            store.add(name, f"{name}.", vector=[1, 0.1], embedder_id="toy", now=COURSE_NOW)
        store.export_csv(path)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_course_s_cards_and_every_change_make_the_round_trip(tmp_path: Path) -> None:
    with Store(tmp_path / "one.db") as one, Store(tmp_path / "two.db") as two:
        one.add_many(CARDS, VECTORS, "toy", COURSE_NOW)
        one.touch(["vinyl", "pasta"], COURSE_NOW)
        one.set_review("vinyl", 1 / 3, COURSE_NOW, 6, 2, 1)
        one.edit("pasta", strength=0.1, title='He said: "a, b"')
        one.soft_forget("printer", COURSE_NOW + timedelta(microseconds=1))
        one.pin("kids")
        one.export_csv(tmp_path / "all.csv")
        two.import_csv(tmp_path / "all.csv", COURSE_NOW)
        check_same(one, two)
        two.export_csv(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()
    assert not list(tmp_path.glob("*.tmp"))


FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=20)
@given(rows=st.lists(ROWS, max_size=4), data=st.data())
def test_whatever_a_store_takes_it_gives_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    vector = st.lists(FLOAT32, min_size=3, max_size=3).filter(lambda v: any(np.float32(v)))
    vectors = [data.draw(vector) for _ in rows]
    with Store(folder / "one.db") as one, Store(folder / "two.db") as two:
        for n, (row, numbers) in enumerate(zip(rows, vectors, strict=True)):
            gap = row["last_accessed_at"]
            seen = None if gap is None else row["created_at"] + gap
            card = row | {"last_accessed_at": seen}
            one.add(f"c{n}", vector=numbers, embedder_id="toy", now=COURSE_NOW, **card)
            found = one.get(f"c{n}")
            for name, value in card.items():
                assert found[name] == value or (value is None and pd.isna(found[name]))
        assert one.vectors().tobytes() == np.float32(vectors).tobytes()
        one.export_csv(folder / "all.csv")
        two.import_csv(folder / "all.csv", COURSE_NOW)
        check_same(one, two)


def test_an_empty_store_goes_out_and_comes_in(tmp_path: Path) -> None:
    with Store(tmp_path / "one.db") as store:
        store.export_csv(tmp_path / "none.csv")
        store.import_csv(tmp_path / "none.csv", COURSE_NOW)
        assert len(store) == 0
    assert read_export(tmp_path / "none.csv", COURSE_NOW) == ([], [], "")


def test_the_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    rows = [dict(reversed(row.items())) for row in exported(tmp_path / "all.csv")]
    cards, vectors, model = read_export(written(tmp_path / "turned.csv", rows), COURSE_NOW)
    assert [card["id"] for card in cards] == ["tea", "jam"] and model == "toy"
    assert np.array(vectors).tolist() == np.float32([[1, 0.1], [1, 0.1]]).tolist()


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("importance", "11", "row 3, column 'importance': '11' is no rating"),
        ("tau_days", "0", "row 3, column 'tau_days': '0' must be a number of days above 0"),
        ("created_at", "", "row 3, column 'created_at': '' is no time like"),
        ("created_at", "2026-01-01T00:00Z", "row 3, created_at is 2026-01-01 .* in the future"),
        ("vector", "AAA", "row 3, column 'vector': no float32 in base64"),
        ("vector", "AAAA", "row 3, column 'vector': no float32 in base64"),
        ("vector", "AACAPw AAgD8=", "row 3, column 'vector': no float32 in base64"),
        ("vector", "Miso!", "row 3, column 'vector': no float32 in base64"),
        ("embedder_id", "other", "row 3, column 'embedder_id': 'other', the rows before it have"),
    ],
)
def test_a_spoilt_export_is_told_by_row_and_adds_nothing(
    tmp_path: Path, column: str, value: str, said: str
) -> None:
    rows = exported(tmp_path / "all.csv")
    rows[1][column] = value
    with Store(tmp_path / "other.db") as store:
        with pytest.raises(ValueError, match=f"^bad.csv {said}"):
            store.import_csv(written(tmp_path / "bad.csv", rows), COURSE_NOW)
        assert len(store) == 0


@pytest.mark.parametrize("vector", ["", "AAAAAAAAAAA=", "AACAfwAAAAA="])
def test_a_spoilt_vector_adds_nothing(tmp_path: Path, vector: str) -> None:
    rows = exported(tmp_path / "all.csv")
    rows[1]["vector"] = vector  # no number, two zeros, infinity and zero
    with Store(tmp_path / "other.db") as store:
        with pytest.raises(ValueError, match="vectors"):
            store.import_csv(written(tmp_path / "bad.csv", rows), COURSE_NOW)
        assert len(store) == 0


def test_a_card_file_is_no_export_and_says_what_is(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("id,text,created_at\nmiso,Miso.,2025-06-01T10:00Z\n", encoding="utf-8")
    with pytest.raises(CardError, match=r"^own\.csv: not an export, which has the columns id, t"):
        read_export(file, COURSE_NOW)
    with pytest.raises(CardError, match=r"none\.csv: cannot be read"):
        read_export(tmp_path / "none.csv", COURSE_NOW)


def test_an_import_never_replaces_a_card(tmp_path: Path) -> None:
    exported(tmp_path / "all.csv")
    with Store(tmp_path / "other.db") as store:
        store.add("jam", "Mine.", vector=[1, 1], embedder_id="toy", now=COURSE_NOW)
        with pytest.raises(StoreError, match=r"^other\.db: there is a card 'jam' already$"):
            store.import_csv(tmp_path / "all.csv", COURSE_NOW)
        assert store.cards()["text"].to_dict() == {"jam": "Mine."}


def test_what_cannot_be_written_is_told_and_the_old_file_stays(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^all\.csv: cannot be written: No such file"):
        write_export(tmp_path / "none" / "all.csv", [])
    old = tmp_path / "all.csv"
    old.write_text("old", encoding="utf-8")
    shared = tmp_path / "shared.csv"
    shared.hardlink_to(old)  # a reader that has the old file open keeps it whole
    write_export(old, [])
    assert shared.read_text(encoding="utf-8") == "old" and old.stat().st_size > 100
    shared.replace(old)
    with pytest.raises(ZeroDivisionError):
        write_export(old, ([*"x" * (len(STORED) - 1), bytes(1 // n)] for n in (1, 0)))
    assert old.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["all.csv"]


def test_now_is_what_no_time_may_pass(tmp_path: Path) -> None:
    exported(tmp_path / "all.csv")
    with pytest.raises(ValueError, match=r"^all\.csv row 2, created_at .* in the future of now"):
        read_export(tmp_path / "all.csv", datetime(2025, 1, 1, tzinfo=UTC))


def test_an_export_over_the_store_itself_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "cards.db") as store:
        store.add("a", "Tea.", vector=[1, 0], embedder_id="toy", now=COURSE_NOW)
        for name in ("cards.db", "cards.db-wal", "cards.db-shm"):
            with pytest.raises(StoreError, match="this is the store itself"):
                store.export_csv(tmp_path / name)
    with Store(tmp_path / "cards.db") as again:
        assert len(again) == 1
