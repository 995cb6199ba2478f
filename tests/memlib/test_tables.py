"""Text tables: every column aligned, every decimal fixed."""

import numpy as np
import pytest

from memlib import tables


def cells(table: str, widths: list[int]) -> list[list[str]]:
    """Cut the lines of a table at fixed columns; between two columns stands one blank."""
    found = []
    for line in table.splitlines():
        row, at = [], 0
        for i, width in enumerate(widths):
            assert i == 0 or line[at - 1 : at] in (" ", ""), f"no gap before column {i}: {line!r}"
            row.append(line[at : at + width].strip())
            at += width + 1
        assert len(line) < at, f"text beyond the last column: {line!r}"
        found.append(row)
    return found


def test_every_line_of_a_table_has_the_same_columns() -> None:
    names = ["Zoë’s café", "x" * 300, "a, b", "日本", "12"]
    table = tables.text_table(
        {"rank": [1, 10, 100, 7, 8], "fact": names, "": ["", "<-", "", "", "<-"]}, left=["fact", ""]
    )
    expected = [["rank", "fact", ""]]
    marks = zip((1, 10, 100, 7, 8), names, ("", "<-", "", "", "<-"), strict=True)
    assert cells(table, [4, 300, 2]) == expected + [[str(n), name, mark] for n, name, mark in marks]
    assert not any(line.endswith(" ") for line in table.splitlines())


def test_text_that_looks_like_something_else_is_printed_as_it_is() -> None:
    words = ["001", "NaN", "None", "1e5", "", "True", "…"]
    table = tables.text_table({"fact": words, "end": ["|"] * len(words)}, left=["fact"])
    assert table.splitlines() == ["fact end"] + [f"{word:<4}   |" for word in words]


def test_a_wide_number_pushes_its_whole_column() -> None:
    assert tables.text_table({"n": [1, 123456]}).splitlines() == ["     n", "     1", "123456"]


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        *((-0.0, 2, "0.00"), (-0.004, 2, "0.00"), (-1e-12, 4, "0.0000"), (-0.006, 2, "-0.01")),
        *((0.125, 2, "0.12"), (0.375, 2, "0.38"), (1.3360, 2, "1.34"), (2000.0, 0, "2000")),
    ],
)
def test_decimals_are_fixed_and_zero_has_no_minus(value: float, digits: int, shown: str) -> None:
    assert tables.decimals(np.array([value]), digits) == [shown]
