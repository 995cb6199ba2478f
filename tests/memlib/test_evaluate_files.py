"""What `evaluate` reads: three kinds of card files, questions with times, vectors of one's own."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from memlib.cards import COLUMNS, CardError, load_cards
from memlib.evaluate_files import read_memory, read_questions, read_vectors
from memlib.store.sqlite import Store

NOW = datetime(2025, 6, 11, 18, tzinfo=UTC)


def table(folder: Path) -> Path:
    file = folder / "cards.csv"
    lines = ["id,text,created_at", "a,Miso naps.,2025-06-01T10:00Z", "b,Rent.,2025-06-02T10:00Z"]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def asked(folder: Path, *lines: str) -> Path:
    file = folder / "asked.csv"
    file.write_text("\n".join(["id,question,wanted,asked_at", *lines]), encoding="utf-8")
    return file


def test_a_table_a_store_and_its_export_are_the_same_cards(tmp_path: Path) -> None:
    plain = read_memory(table(tmp_path), NOW)
    assert (plain.vectors, plain.embedder_id, plain.forgotten) == (None, None, 0)
    with Store(tmp_path / "cards.db") as store:
        store.add_many(plain.cards, np.float32([[1, 0], [0, 2]]), "mine", NOW)
        store.export_csv(tmp_path / "export.csv")
    for name in ("cards.db", "export.csv"):
        memory = read_memory(tmp_path / name, NOW)
        columns = list(COLUMNS)
        pd.testing.assert_frame_equal(
            memory.cards[columns], plain.cards[columns], check_dtype=False, check_names=False
        )
        assert memory.vectors is not None and memory.vectors.tolist() == [[1, 0], [0, 2]]
        assert (memory.embedder_id, memory.forgotten) == ("mine", 0)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError, match=r"none\.csv: cannot be read: "):
        read_memory(tmp_path / "none.csv", NOW)
    (tmp_path / "cut.db").write_bytes(b"SQLite format 3\0 and no more")
    with pytest.raises(CardError, match=r"^cut\.db: "):
        read_memory(tmp_path / "cut.db", NOW)
    with Store(tmp_path / "empty.db"):
        pass
    with pytest.raises(CardError, match=r"^empty\.db: no cards that are not forgotten$"):
        read_memory(tmp_path / "empty.db", NOW)


def test_a_question_is_asked_now_unless_it_says_when(tmp_path: Path) -> None:
    file = table(tmp_path)
    paper = asked(tmp_path, "q1,Cat?,a,2025-06-01T10:00Z", "q2,Rent?,b,", "q3,Both?,a;b,")
    exam = read_questions(paper, load_cards(file, NOW), file, NOW)
    assert exam["asked_at"].tolist() == [pd.Timestamp("2025-06-01T10:00Z"), NOW, NOW]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1,Rent?,b,2025-06-01T10:00Z", "column 'wanted': 'b' was made at 2025-06-02 10:00:00"),
        ("q1,Rent?,c,", "column 'wanted': 'c' is the id of no card in cards.csv"),
        ("q1,Rent?,b,June", "column 'asked_at': 'June' "),
    ],
)
def test_a_question_at_fault_names_row_column_and_value(
    tmp_path: Path, line: str, said: str
) -> None:
    file = table(tmp_path)
    with pytest.raises(CardError) as error:
        read_questions(asked(tmp_path, line), load_cards(file, NOW), file, NOW)
    assert str(error.value).startswith(f"asked.csv row 2, {said}")


def test_clocks_may_differ_by_five_minutes(tmp_path: Path) -> None:
    file = table(tmp_path)
    cards = load_cards(file, NOW)
    for minutes, fine in ((4, True), (6, False)):
        time = (cards.at["b", "created_at"] - timedelta(minutes=minutes)).isoformat()
        paper = asked(tmp_path, f"q1,Rent?,b,{time}")
        if fine:
            read_questions(paper, cards, file, NOW)
        else:
            with pytest.raises(CardError, match="after asked_at"):
                read_questions(paper, cards, file, NOW)


def test_vectors_of_ones_own_are_made_units(tmp_path: Path) -> None:
    file = tmp_path / "own.npz"
    np.savez(file, cards=np.array([[3, 4], [0, 2]]), questions=np.array([[1e-3, 0]]))
    cards, questions = read_vectors(file, 2, 1)
    assert cards.tolist() == np.float32([[0.6, 0.8], [0, 1]]).tolist()
    assert questions.tolist() == [[1, 0]] and cards.dtype == questions.dtype == np.float32
