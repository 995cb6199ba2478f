"""Reading a submission: every honest text is found, and what is hostile is that student's alone."""

import hashlib
import json

import nbformat
import pytest

from grader import reading
from grader.reading import CUT, LONGEST_CELL, LONGEST_REST, Handed, ReadingStopped, handed_in, read
from grader.tasks import load_tasks
from tests.grader.made_class import WRITTEN, notebook, save

CHAPTER = "ch02"
TASK = load_tasks(CHAPTER)[0].name
CODE = f"def {TASK}(hours, half_life):\n    return 1"


def book_of(cells):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def code(source):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}


def bytes_of_book(book):
    return nbformat.writes(book).encode()


def test_the_exercise_as_it_was_handed_out_says_nothing(tmp_path):
    assert handed_in(bytes_of_book(notebook(CHAPTER, {})), CHAPTER) == Handed()
    assert read(save(tmp_path / "a.ipynb", notebook(CHAPTER, {})), CHAPTER) == Handed()


def test_a_process_of_its_own_says_the_same(tmp_path):
    book = notebook(CHAPTER, {TASK: CODE}, "Mine: größer, \U0001f642.")
    book.cells += [nbformat.v4.new_code_cell("y = 2"), nbformat.v4.new_markdown_cell("By the way.")]
    path = save(tmp_path / "a.ipynb", book)
    told = read(path, CHAPTER)
    assert told == handed_in(path.read_bytes(), CHAPTER)
    assert told.answers == {f"{TASK}-answer": CODE, WRITTEN: "Mine: größer, \U0001f642."}
    assert told.others == ((True, "y = 2"), (False, "By the way."))


@pytest.mark.parametrize("version", [3, 2])
def test_an_old_format_is_read_as_today_s(version):
    old = nbformat.convert(notebook(CHAPTER, {TASK: CODE}, "Mine."), 3)
    for cell in old.worksheets[0].cells:
        if cell.cell_type == "code":
            cell.outputs = [{"output_type": "stream", "stream": "stdout", "text": "x"}]
    old = json.loads(json.dumps(old)) | {"nbformat": version}
    assert handed_in(json.dumps(old).encode(), CHAPTER) == Handed(
        {f"{TASK}-answer": CODE, WRITTEN: "Mine."}
    )


def test_plots_of_many_megabytes_hide_no_text(tmp_path):
    book = notebook(CHAPTER, {TASK: CODE}, "Mine.")
    plot = nbformat.v4.new_output("display_data", data={"image/png": "iVBORw0K" * 1_000_000})
    book.cells.append(nbformat.v4.new_code_cell("", outputs=[plot, plot]))
    path = save(tmp_path / "a.ipynb", book)
    assert 15_000_000 < path.stat().st_size < 20 * 2**20
    assert read(path, CHAPTER).answers == {f"{TASK}-answer": CODE, WRITTEN: "Mine."}


@pytest.mark.parametrize("how", ["code cell", "raw cell", "name lost", "id lost"])
def test_an_answer_is_found_in_its_cell_whatever_became_of_that(how):
    book = notebook(CHAPTER, {}, "Mine.")
    cell = next(c for c in book.cells if c.source == "Mine.")
    book.cells.insert(3, nbformat.v4.new_markdown_cell("A note."))
    if how.endswith("cell"):
        cell.cell_type = how.removesuffix(" cell")
        if how == "code cell":
            cell.outputs, cell.execution_count = [], None
    elif how == "name lost":
        cell.metadata.clear()
    else:
        cell.id = "another"
    assert handed_in(bytes_of_book(book), CHAPTER).answers == {WRITTEN: "Mine."}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff", "not UTF-8"),
        (b"", "broken JSON"),
        (b"[" * 5_000_000, "broken JSON"),
        (b'{"cells": ' + b"9" * 1_000_000 + b"}", "broken JSON"),
        (b"7", "JSON, but no notebook"),
        (b'{"cells": {}}', "JSON, but no notebook"),
        (b'{"cells": [7]}', "JSON, but no notebook"),
        (b'{"worksheets": 7}', "JSON, but no notebook"),
        (b'{"worksheets": [{"cells": [{}]}]}', "an old format that cannot be read"),
        (b'{"cells": [{"source": {}}]}', "a cell whose source is no text"),
        (b'{"cells": [{}' + b", {}" * 1_000_000 + b"]}", "1000001 cells, more than 10000"),
    ],
    ids=range(11),
)
def test_what_cannot_be_read_says_why(tmp_path, data, why):
    (tmp_path / "a.ipynb").write_bytes(data)
    told = read(tmp_path / "a.ipynb", CHAPTER)
    assert told.unread.startswith(why) and not told.answers and not told.others


def test_only_an_ordinary_file_is_read(tmp_path):
    save(tmp_path / "a.ipynb", notebook(CHAPTER, {}, "Hers."))
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "a.ipynb")
    assert read(tmp_path / "link.ipynb", CHAPTER).unread == "a link to another file"
    assert read(tmp_path / "none.ipynb", CHAPTER).unread == "No such file or directory"


@pytest.mark.parametrize(
    "source",
    [
        "x=1" + "\n" * 9_000_000,
        (" " * 1000 + "\n") * 9_000,
        f"async {TASK}\n" * 600_000,
        "a" * 9_000_000,
        f"{TASK} \n" * 600_000,
        "def \t" * 1_000_000,
    ],
    ids=["empty lines", "blanks", "half a definition", "a word", "no assignment", "no name"],
)
def test_no_source_takes_longer_than_its_length(tmp_path, source):
    """A quadratic pattern takes days on one of these, and meets the limit of time instead."""
    (tmp_path / "a.ipynb").write_bytes(book_of([code(source)]))
    told = read(tmp_path / "a.ipynb", CHAPTER)
    assert not told.unread and not told.answers and len(told.others) == bool(source.strip())


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (CODE, True),
        (f"\n\n  async  def {TASK}(x): ...", True),
        (f"if True:\n\tdef {TASK}(x): ...", True),
        (f"{TASK} = lambda *x: 1", True),
        (f"def {TASK}_2(x): ...", False),
        (f"print({TASK})", False),
        (f"# def {TASK}", False),
    ],
)
def test_a_function_is_known_by_its_definition(source, found):
    assert (f"{TASK}-answer" in handed_in(book_of([code(source)]), CHAPTER).answers) == found


def test_what_is_kept_is_short_and_says_where_it_was_cut():
    book = notebook(CHAPTER, {TASK: CODE + "\n#" + "x" * 50_000}, "y" * 50_000)
    book.cells += [nbformat.v4.new_code_cell(f"a = {n}\n" + "b." * 9_000) for n in range(50)]
    told = handed_in(bytes_of_book(book), CHAPTER)
    for text in told.answers.values():
        assert len(text) == LONGEST_CELL + len(CUT) and text.endswith(CUT)
    assert sum(len(text) for _, text in told.others) < LONGEST_REST + 100
    assert told.others[-1] == (False, "… (more cells are not shown)")


def test_a_file_that_changed_after_it_was_judged_is_not_taken_for_the_judged_one(tmp_path):
    path = save(tmp_path / "a.ipynb", notebook(CHAPTER, {}, "First."))
    judged = hashlib.sha256(path.read_bytes()).hexdigest()
    assert read(path, CHAPTER, judged).answers == {WRITTEN: "First."}
    save(path, notebook(CHAPTER, {}, "Second."))
    with pytest.raises(ReadingStopped, match="changed after it was judged"):
        read(path, CHAPTER, judged)


def test_time_and_memory_are_bounded(tmp_path, monkeypatch):
    path = save(tmp_path / "a.ipynb", notebook(CHAPTER, {}, "Mine."))
    monkeypatch.setattr(reading, "SECONDS", 0)
    with pytest.raises(ReadingStopped, match="took more than 0 s"):
        read(path, CHAPTER)
    monkeypatch.undo()
    monkeypatch.setattr(reading, "MEMORY_MB", 300)
    assert read(path, CHAPTER).answers == {WRITTEN: "Mine."}
    path.write_bytes(book_of([code("\n"), {"o": [[]] * 4_000_000}]))
    assert read(path, CHAPTER).unread == "reading it takes more than 300 MB of memory"
    monkeypatch.setattr(reading.sys, "executable", "/bin/false")
    with pytest.raises(ReadingStopped, match="ended with code 1"):
        read(path, CHAPTER)
