"""The judge: marks by name, misconceptions, statuses of what is no notebook, and its two ears."""

import json
import math
import os
import sys
from dataclasses import asdict, replace
from fractions import Fraction

import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.show.feedback import close
from grader import judge as judging
from grader import sandbox
from grader.hearing import Heard, Tampered, listen
from grader.judge import STATUSES, Limits, Unreadable, judge
from grader.tasks import EXERCISES, Task, known_chapters, load_tasks, outcome
from grader.typed import Other, Raised, TooLarge, decode, encode, encode_error, pack
from grader.worker import agrees, code_cells, draw, mark, verdict_of
from tests.grader.making import (
    DOUBLE,
    LABEL,
    LARGEST,
    OF,
    RIGHT,
    SECRET,
    needs_sandbox,
    write_chapter,
    write_notebook,
)
from tests.waiting import PATIENCE

PATIENT = Limits(cell_seconds=PATIENCE, wall_seconds=2 * PATIENCE, memory_mb=1200, file_mb=10)
BRIEF = replace(PATIENT, cell_seconds=8)  # where something is to be stopped
CHAPTERS = known_chapters()


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    return write_chapter(tmp_path_factory.mktemp("exercises"))


@pytest.fixture
def graded(chapter, tmp_path):
    def grade(cells, seed="s", limits=PATIENT):
        path = write_notebook(tmp_path / "ch77.ipynb", cells)
        return judge(path, "ada", "ch77", seed, limits=limits, exercises=chapter)

    return grade


def points(verdict):
    return {mark.task: mark.points for mark in verdict.marks}


# Marks


@needs_sandbox
def test_right_functions_get_all_points_and_the_verdict_says_whose_they_are(graded):
    verdict = graded(RIGHT)
    assert (verdict.student, verdict.chapter, verdict.status) == ("ada", "ch77", "graded")
    assert points(verdict) == {"double": 1, "label": 2, "largest": 3}
    assert verdict.note == "" and verdict.seconds > 0
    assert len(verdict.sha256) == 64
    assert all(mark == replace(mark, misconception="", hint="", note="") for mark in verdict.marks)


@needs_sandbox
def test_a_misconception_is_named_and_a_stub_is_not_attempted(graded):
    stub = "def largest(prices):\n    raise NotImplementedError"
    double, label, largest = graded(["def double(xs): return [2 * x for x in xs]", stub]).marks
    assert (double.points, double.of, double.misconception) == (0, 1, "lets NaN through")
    assert double.hint.startswith("A NaN must be refused")
    assert double.note == "1 of 8 answers differ"
    wanted = "got [nan, 2.0], expected the error ValueError"
    assert double.first == f"double([nan, 1.0]): {wanted}" and label.first == largest.first == ""
    assert label.note == "no function of this name"
    assert largest.note == "not attempted yet" and largest.misconception == ""


@needs_sandbox
def test_a_function_that_its_cell_s_error_kept_away_is_not_called_missing(graded):
    verdict = graded(["x = 1", "name = input()\n" + DOUBLE, "def label(n: return", LARGEST])
    why = "code cell 2 ended in StdinNotImplementedError, code cell 3 ended in SyntaxError"
    assert verdict.note == why and points(verdict)["largest"] == 3
    assert [mark.note for mark in verdict.marks[:2]] == [f"never defined: {why}"] * 2
    evil = "class E(Exception): pass\nE.__name__ = '<b>' * 99\nraise E"
    assert graded([evil]).note == "no function of ch77 is in it; code cell 1 ended in Error"
    assert graded([*RIGHT, "1 / 0"]).note == "", "an error that cost nothing is no news"


@needs_sandbox
@pytest.mark.slow
def test_a_task_gets_all_its_points_or_none(graded):
    rounded = "def double(xs):\n    if any(x != x for x in xs): raise ValueError\n"
    verdict = graded([rounded + "    return [round(2 * x, 2) for x in xs]", LARGEST])
    assert points(verdict) == {"double": 0, "label": 0, "largest": 3}
    assert verdict.marks[0].note == "6 of 8 answers differ"


@needs_sandbox
@pytest.mark.slow
def test_a_call_that_never_ends_or_dies_costs_its_own_task_alone(graded):
    verdict = graded(
        [
            "def double(xs):\n    while True:\n        try: pass\n        except: pass",
            "import os\ndef label(n): os._exit(0)",
            LARGEST,
        ],
        limits=BRIEF,
    )
    assert verdict.status == "graded"
    assert points(verdict) == {"double": 0, "label": 0, "largest": 3}
    assert verdict.marks[0].note == "calls of the function took too long"
    assert verdict.marks[1].note == "a call of the function ended the process"


# A cell that ends the kernel, or prints for ever


SLOW = "import time\n" + DOUBLE.replace("return", "time.sleep(0.1)\n    return")


@needs_sandbox
def test_a_cell_that_ends_the_kernel_changes_no_mark(graded):
    """The kernel would go 0.1 s after a quit(); the calls of `double` alone take 0.8 s."""
    ends = ["quit()", "exit", "exit(keep_kernel=True)", "get_ipython().ask_exit()"]
    errors = ["import sys; sys.exit()", "raise SystemExit", "from sys import exit; exit(1)"]
    told = "asked to end the kernel, which went on: code cell 4, 5, 6, 7"
    verdict = graded([SLOW, LABEL, LARGEST, *ends, *errors])
    assert (verdict.status, verdict.note) == ("graded", told)
    assert points(verdict) == {"double": 1, "label": 2, "largest": 3}
    above = graded(["quit()\nx = 1", *RIGHT, "assert x == 1"])
    assert above.note == "asked to end the kernel, which went on: code cell 1"
    assert points(above) == points(verdict)


@needs_sandbox
@pytest.mark.slow
def test_the_same_file_and_seed_give_the_same_verdict_twenty_times(chapter, tmp_path):
    path = write_notebook(tmp_path / "ch77.ipynb", [SLOW, LABEL, LARGEST, "quit()"])

    def verdict():
        told = judge(path, "ada", "ch77", "s", limits=PATIENT, exercises=chapter)
        return replace(told, seconds=0)

    [only] = {verdict() for _ in range(20)}
    assert points(only) == {"double": 1, "label": 2, "largest": 3}


@needs_sandbox
@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        *("while True: print('x', flush=True)", "while True: print('x' * 1_000_000)"),
        *("while True: display('x' * 1_000_000)", "!yes"),
    ],
)
def test_what_was_defined_before_a_cell_that_prints_for_ever_counts(cell, graded):
    verdict = graded([*RIGHT, cell], limits=BRIEF)
    assert (verdict.status, verdict.note) == ("graded", "interrupted after 8 s: code cell 4")
    assert points(verdict) == {"double": 1, "label": 2, "largest": 3}


@needs_sandbox
def test_a_long_error_and_a_closed_output_stop_no_reply(graded):
    long = "raise ValueError('x' * 5_000_000)"
    closed = "import sys\nsys.stdout.close()\nsys.stderr.close()"
    verdict = graded([long, closed, *RIGHT, "print(1)", long])
    assert (verdict.status, verdict.note) == ("graded", "")
    assert points(verdict) == {"double": 1, "label": 2, "largest": 3}


# A later cell that overwrites a name


SUMS = """
LIMIT = {"most": 100}
def nan(x): return x != x
def double(xs):
    if sum(map(nan, xs)): raise ValueError("not a number")
    return [min(x, LIMIT["most"]) * 2 for x in xs]
"""
LATER = {
    "a builtin": ("sum = 0", "sum"),
    "the function by its value": ("double = double([1.0])", "double"),
    "a helper": ("def nan(x): return True", "nan"),
    "a constant's content": ("LIMIT['most'] = 0", "LIMIT"),
    "by a loop": ("for sum in range(3): pass", "sum"),
    "deleted": ("del nan", "nan"),
    "two": ("sum = LIMIT = 0", "LIMIT, sum"),
}


@needs_sandbox
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n != "a builtin" else []) for n in LATER]
)
def test_a_function_counts_as_its_own_cell_left_it(name, graded):
    cell, names = LATER[name]
    verdict = graded([LABEL, SUMS, LARGEST, "double([2.0])", cell])
    assert points(verdict) == {"double": 1, "label": 2, "largest": 3}
    told = f"overwritten by a later cell: {names}; judged as its own cell left it: double"
    assert (verdict.status, verdict.note) == ("graded", told)
    assert verdict.marks[0].note == ""


@needs_sandbox
def test_a_notebook_that_clears_all_names_keeps_its_points_and_its_mistakes(graded):
    nan = "def double(xs): return [2 * x for x in xs]"
    verdict = graded([nan, LABEL, LARGEST, "double = double([1.0])\n%reset -f"])
    assert points(verdict) == {"double": 0, "label": 2, "largest": 3}
    assert verdict.marks[0].misconception == "lets NaN through"
    names = "double, label, largest"
    told = f"overwritten by a later cell: {names}; judged as its own cell left it: {names}"
    assert verdict.note == told


@needs_sandbox
@pytest.mark.slow
def test_one_of_the_two_states_must_be_right_in_all(graded):
    """Right in its half of the answers each time is right in neither; the last `def` counts."""
    half = "mode = 1\ndef largest(prices):\n    right = max(prices, key=prices.get, default=None)\n"
    half += "    return right if bool(prices) == bool(mode) else 'wrong'"
    verdict = graded([DOUBLE, LABEL, half, "mode = 0"])
    assert points(verdict) == {"double": 1, "label": 2, "largest": 0} and verdict.note == ""
    wrong = "def largest(prices): return 'tea'"
    assert points(graded([*RIGHT, wrong]))["largest"] == 0
    below = "def nan(x): return x != x"
    late = [SUMS.replace("def nan(x): return x != x", ""), below, LABEL, LARGEST]
    assert points(graded(late))["double"] == 1, "a helper may come later"


def test_a_second_run_is_asked_of_lost_functions_alone_and_only_where_names_changed(
    chapter, tmp_path, monkeypatch
):
    jobs, outputs = [], []

    def run(job, course, hidden, bounds):
        jobs.append(job)
        return sandbox.Ran(said(outputs.pop(0)), "")

    monkeypatch.setattr(sandbox, "run", run)
    path = write_notebook(tmp_path / "ch77.ipynb", ["a = 1", "b = 1", "c = 1"])
    order = {
        **{"chapter": "ch77", "seed": "s", "limits": asdict(PATIENT)},
        **{"exercises": str(chapter), "course": str(tmp_path)},
    }
    tasks = {t.name: t for t in judging.load_answers(chapter, "ch77")[0]}
    right = {
        name: [pack(task.reference(*x)) for x in draw(task, "s", "ch77")]
        for name, task in tasks.items()
        if name != "double"
    }
    cells = [{"ready": True}, *({"cell": n, "how": "ok"} for n in (1, 2, 3))]
    first = [*cells, {"task": "double", "answers": "missing"}, {"task": "label", "answers": "died"}]
    first.append({"task": "largest", "answers": right["largest"]})
    noted = {"double": [1, ["double"]], "label": [2, ["sum"]], "largest": [2, ["sum"]]}
    again = [*cells[:3], {"task": "label", "answers": right["label"]}, {"end": "done"}]

    def verdict(note, second):
        outputs[:] = [[*first, {"overwritten": note}, {"end": "done"}], second]
        jobs.clear()
        told = verdict_of(order, path.read_bytes())
        return [mark["points"] for mark in told["marks"]], told["status"], told["note"]

    found = verdict(noted, again)
    told = "overwritten by a later cell: sum; judged as its own cell left it: label"
    assert found == ([0, 2, 3], "graded", told)
    assert jobs[1]["after"] == {"double": 1, "label": 2} and "after" not in jobs[0]
    assert jobs[1]["calls"] == jobs[0]["calls"][:2], "the same inputs"
    assert jobs[1].keys() - {"after"} == jobs[0].keys()
    assert verdict({"largest": [2, ["sum"]]}, again) == ([0, 0, 3], "graded", "")
    assert len(jobs) == 1
    assert verdict(noted, []) == ([0, 0, 3], "graded", ""), "a second run that failed costs nothing"
    assert verdict(noted, [{"marks": 6}])[1] == "tampered"


def test_the_same_inputs_for_the_class_and_others_for_another_secret():
    task = load_tasks("ch04")[0]
    one, again, other = (draw(task, seed, "ch04") for seed in ("s", "s", "t"))
    assert str(one) == str(again) != str(other)


@needs_sandbox
@pytest.mark.slow
@pytest.mark.parametrize("chapter_name", CHAPTERS)
def test_the_references_of_every_chapter_get_all_points_and_the_stubs_none(chapter_name, tmp_path):
    """Answers fit in the bounds, and nothing that a reference needs is withheld from it."""
    book = nbformat.read(EXERCISES / chapter_name / f"{chapter_name}.ipynb", as_version=4)
    nbformat.write(book, tmp_path / "stub.ipynb")
    stub = judge(tmp_path / "stub.ipynb", "ada", chapter_name, "s")
    assert stub.status == "graded" and sum(points(stub).values()) == 0
    assert {mark.note for mark in stub.marks} == {"not attempted yet"}
    source = (EXERCISES / chapter_name / "answers.py").read_text(encoding="utf-8")
    functions = source[: source.index("\nTASKS")].replace("import Task, Wrong", "import Task")
    code = "\n".join(line for line in functions.splitlines() if "import Task" not in line)
    book.cells.append(nbformat.v4.new_code_cell(code))
    nbformat.write(book, tmp_path / "right.ipynb")
    right = judge(tmp_path / "right.ipynb", "ada", chapter_name, "s")
    assert points(right) == {mark.task: mark.of for mark in right.marks}, right


def test_only_cells_and_arguments_go_into_the_sandbox(chapter, tmp_path, monkeypatch):
    jobs = []

    def run(job, course, hidden, bounds):
        jobs.append(job)
        return sandbox.Ran(b"", "")

    monkeypatch.setattr(sandbox, "run", run)
    path = write_notebook(tmp_path / "ch77.ipynb", ["x = 1"])
    order = {
        **{"chapter": "ch77", "seed": "the seed", "limits": asdict(PATIENT)},
        **{"exercises": str(chapter), "course": str(tmp_path)},
    }
    told = verdict_of(order, path.read_bytes())
    assert (told["status"], told["note"]) == ("crashed", "the kernel did not start")
    [job] = jobs
    numbers = ("cell_seconds", "task_bytes", "answer_characters")
    assert job.keys() == {"cells", "calls", *numbers}
    drawn = {t.name: draw(t, "the seed", "ch77") for t in judging.load_answers(chapter, "ch77")[0]}
    assert job["calls"] == [(name, [pack(x) for x in draws]) for name, draws in drawn.items()]
    assert SECRET not in str(job) and "the seed" not in str(job)


def test_a_number_outside_its_bounds_is_wrong_even_by_a_hair():
    def share(x):
        return 1.0

    task = Task(share, 2, lambda rng: [(1,)], (), (share,), within=(0, 1))
    assert mark(task, [(1,)], [1.0]).points == 2
    assert mark(task, [(1,)], [1 + 1e-12]).points == 0
    assert mark(replace(task, within=(0, 2)), [(1,)], [1 + 1e-12]).points == 2


def differs(answers, expected):
    """What is told of answers to f(0), f(1), ..., which should have been `expected`."""

    def f(n):
        return expected[n]

    draws = [(n,) for n in range(len(expected))]
    return mark(Task(f, 1, lambda rng: draws, (), ()), draws, answers).first


def test_a_lost_task_tells_the_first_input_on_which_it_differs():
    assert differs([1.0, 5.0, 7.0], [1.0, 2.0, 3.0]) == "f(1): got 5.0, expected 2.0"
    assert differs([1.0, 2.0], [1.0, 2.0]) == ""
    assert differs([Raised(("TypeError",))], ["x"]) == "f(0): got the error TypeError, expected 'x'"
    assert differs([{"raises": "E"}], [2]) == "f(0): got {'raises': 'E'}, expected 2"
    assert differs([Other("set")], [2]) == "f(0): got an object of type 'set', expected 2"
    assert differs([Raised(())], [2]) == "f(0): got the error , expected 2", "forged, and harmless"
    refused = {"raises": "ValueError"}
    assert differs([0.5], [refused]) == "f(0): got 0.5, expected the error ValueError"


def test_of_a_long_answer_the_first_part_that_differs_is_told():
    wanted = [{"a": [n / 3] * 30} for n in range(9)]
    given = [{"a": [n / 3 + 1e-15] * 30} for n in range(9)]
    given[4]["a"][7] = 9.5
    told = differs([given], [wanted])
    assert told == "f(0) at [4]['a'][7]: got 9.5, expected 1.3333333333333333"
    assert "got [[], [], " in differs([[[]] * 999], [wanted]), "another length: as it begins"


LONG = {
    "markup": "<script>" * 9_000,
    "deep": {"<b>" * 99: {"<b>" * 99: ["x" * 999]}},
    "a wide list of unprintable texts": [["\u202e\n"] * 999],
    "a large number": 10**3_000,
    "an error's name": Raised(("E" * 9_000,)),
    "a type's name": Other("\n" * 9_000),
    "odd keys": {None: math.nan, (1, "\ud800"): "x" * 200},
}


@pytest.mark.parametrize("name", LONG)
def test_however_long_the_answer_the_word_on_it_is_short(name):
    for wanted in (1.5, "y" * 500, [["z"] * 999], {"<b>" * 99: {"<b>" * 99: ["y" * 999]}}):
        told = differs([LONG[name]], [wanted])
        assert told.startswith("f(0)") and ", expected " in told and len(told) <= 650
        assert "\n" not in told


# What is no notebook


UNREADABLE = {
    "empty": (b"", "an empty file"),
    "blank": (b" \n", "an empty file"),
    "broken JSON": (b'{"cells": [', "broken JSON"),
    "not UTF-8": ('{"cells": "Zoë"}'.encode("latin-1"), "not UTF-8"),
    "a list": (b"[]", "JSON, but no notebook"),
    "no cells": (b"{}", "JSON, but no notebook"),
    "cells of text": (b'{"cells": ["x"]}', "JSON, but no notebook"),
    "sheets of text": (b'{"worksheets": "x"}', "JSON, but no notebook"),
    "a source of numbers": (
        b'{"cells": [{"cell_type": "code", "source": [1]}]}',
        "a cell whose source is no text",
    ),
    "nested": (b"[" * 100_000, "broken JSON"),
    "a huge number": (b'{"cells": ' + b"9" * 10_000 + b"}", "broken JSON"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_notebook_is_unreadable(name):
    data, why = UNREADABLE[name]
    with pytest.raises(Unreadable, match=why):
        code_cells(data)


@needs_sandbox
def test_a_file_that_cannot_be_read_is_told_apart_from_one_that_is_missing(chapter, tmp_path):
    right = write_notebook(tmp_path / "right.ipynb", RIGHT)
    (tmp_path / "link.ipynb").symlink_to(right)
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    (tmp_path / "empty.ipynb").touch()
    with (tmp_path / "large.ipynb").open("wb") as file:
        file.truncate(10**12)  # a sparse file: absurdly large, and takes no room
    expected = {
        "Ch77.ipynb": ("missing", "no file Ch77.ipynb"),
        "link.ipynb": ("unreadable", "a link to another file"),
        "pipe.ipynb": ("unreadable", "no ordinary file"),
        "folder.ipynb": ("unreadable", "no ordinary file"),
        "large.ipynb": ("unreadable", "953674 MB, more than 20"),
        "empty.ipynb": ("unreadable", "an empty file"),
    }
    for name, (status, note) in expected.items():
        verdict = judge(tmp_path / name, "ada", "ch77", "s", limits=PATIENT, exercises=chapter)
        assert (verdict.status, verdict.note) == (status, note), name
        assert status in STATUSES and sum(points(verdict).values()) == 0
        assert [mark.of for mark in verdict.marks] == [1, 2, 3]


def test_code_cells_are_found_in_every_form_that_notebooks_had():
    four = {"cells": [{"cell_type": "markdown"}, {"cell_type": "code", "source": ["a\n", "b"]}]}
    three = {"worksheets": [{"cells": [{"cell_type": "code", "input": "a\nb"}]}]}
    bom = b"\xef\xbb\xbf" + json.dumps(four).encode()
    half = {"cells": [{"cell_type": "code", "source": "a\n\ud800"}]}
    for data in (json.dumps(four).encode(), json.dumps(three).encode(), bom):
        assert code_cells(data) == ["a\nb"]
    assert code_cells(json.dumps(half).encode()) == ["a\n?"]


# Typed answers


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_encoded_comes_back_with_its_types(value):
    back = decode(json.loads(json.dumps(pack(value))))
    assert back == value and repr(back) == repr(value)


def test_nan_infinity_and_minus_zero_come_back():
    back = decode(json.loads(json.dumps(pack([math.nan, -math.inf, -0.0]))))
    assert repr(back) == "[nan, -inf, -0.0]"


class Liar(float):
    def __eq__(self, other):
        return True

    def __repr__(self):
        return "2.0"

    __hash__, __str__, __float__ = float.__hash__, __repr__, __repr__


class Word(str):
    def __repr__(self):
        return "right"

    __str__ = __repr__


class Endless(list):
    def __iter__(self):
        return iter(int, 1)

    def __len__(self):
        return 2


class Keys(dict):
    def items(self):
        return [("right", 1)]

    keys = items


class Equal:
    __class__ = float
    __hash__ = None

    def __eq__(self, other):
        return True

    def __repr__(self):
        raise SystemExit

    def __float__(self):
        return 2.0


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Liar(1.5), 1.5),
        (Word("wrong"), "wrong"),
        (Endless([1]), [1]),
        (Keys(a=2), {"a": 2}),
        (Equal(), Other("Equal")),
        (float, Other("type")),
        ({1, 2}, Other("set")),
        (b"1", Other("bytes")),
        ((x for x in [1]), Other("generator")),
        (1 + 0j, Other("complex")),
        (np.array(1.0), Other("ndarray")),
    ],
    ids=[*"abcdefghijk"],
)
def test_an_object_is_read_by_the_methods_of_builtin_types_alone(value, plain):
    back = decode(json.loads(json.dumps(pack(value))))
    assert type(back) is type(plain) and back == plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (Fraction(1, 4), 0.25),
        (np.array([0.5, 2]), [0.5, 2.0]),
        ([np.float64(0.5), np.int32(2)], [0.5, 2]),
        (pd.Series([1.0, 2.0]), [1.0, 2.0]),
        ((0.5, 1.0), [0.5, 1.0]),
        (True, 1),
        (np.bool_(True), 1),
        ("1", 1),
        (None, 0),
        (0.5 + 1e-8, 0.5),
        (math.nan, 0.5),
        (math.inf, 0.5),
        (10**400, 0.5),
    ],
)
def test_the_judge_and_the_visible_checks_take_the_same_numbers(value, expected):
    try:
        visible = close(value, expected)
    except (TypeError, OverflowError):  # feedback counts an error as a check that fails
        visible = False
    assert agrees(decode(json.loads(json.dumps(pack(value)))), expected, 1e-9) == visible


def test_truth_words_and_texts_of_numpy_are_those_of_python():
    for value, plain in (
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ({"a": np.True_}, {"a": True}),
    ):
        assert agrees(decode(pack(value)), plain, 1e-9)


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**6,
        list(range(10**5)),
        {n: n for n in range(10**5)},
        1 << 10**6,
        np.zeros(10**9, "b"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_answer_that_is_too_large_is_given_up_early(value):
    with pytest.raises(TooLarge):
        encode(value, [5000])


def test_a_list_that_holds_itself_is_given_up():
    loop = []
    loop.append(loop)
    with pytest.raises(TooLarge):
        encode(loop, [sys.maxsize])


class Refusal(ValueError):
    """As a learner may define one: `except ValueError` knows it, and so does `refuses`."""


def test_an_error_is_known_as_what_it_is_a_kind_of():
    expected = {"raises": "ValueError"}
    false = type("ValueError", (Exception,), {})
    for error, right in (
        *((ValueError(), True), (Refusal(), True), (json.JSONDecodeError("", "", 0), True)),
        *((TypeError(), False), (false(), False), (SystemExit(), False)),
    ):
        assert agrees(decode(encode_error(error)), expected, 1e-9) == right, error
    assert not agrees({"raises": "ValueError"}, expected, 1e-9)  # returned, not raised
    assert not agrees(decode(encode_error(ValueError())), 1.0, 1e-9)


@pytest.mark.parametrize(
    "coded",
    [
        [],
        {},
        {"list": 1},
        {"set": [1]},
        {"list": [], "tuple": []},
        {"other": 1},
        {"raises": [1]},
        {"list": [{"raises": ["ValueError"]}]},
        {"dict": [[1]]},
        {"dict": [[{"list": []}, 1]]},
        {"list": [[1]]},
    ],
)
def test_what_encode_never_makes_is_refused(coded):
    with pytest.raises(ValueError):
        decode(coded)


# What the sandbox says


DRAWS = {"double": [(1,), (2,)], "label": [(3,)]}
LINES = [
    {"ready": True},
    {"cell": 1, "how": "ok"},
    {"cell": 3, "how": "stopped"},
    {"task": "double", "answers": [2, {"raises": ["ValueError"]}]},
    {"task": "label", "answers": "missing"},
    {"overwritten": {"double": [1, ["sum", "é"]], "label": [3, []]}},
    {"end": "done"},
]


def said(lines):
    return b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + b"\n" for x in lines)


def test_a_full_report_is_understood():
    answers = {"double": [2, Raised(("ValueError",))], "label": "missing"}
    noted = {"double": (1, ("sum", "é")), "label": (3, ())}
    heard = Heard(answers, True, 3, (3,), (), {"end": "done"}, (), noted)
    assert listen(said(LINES), DRAWS) == heard
    assert listen(said([{"cell": 2, "how": "quit"}]), DRAWS).quits == (2,)
    assert listen(said(LINES)[:-20], DRAWS).end == {}
    assert listen(b"", DRAWS) == Heard({}, False, 0, (), (), {})
    failed = listen(said([*LINES[:2], {"cell": 3, "how": "error SyntaxError"}]), DRAWS).failed
    assert failed == ("code cell 3 ended in SyntaxError",)


@pytest.mark.parametrize(
    "line",
    [
        b"\xff",
        b"no JSON",
        b"[" * 10_000,
        b"9" * 10_000,
        [],
        {"ready": True},
        {"cell": 3, "how": "ok"},
        {"cell": "4", "how": "ok"},
        {"cell": 4, "how": "error <b>"},
        {"cell": 4, "how": ["ok"]},
        {"cell": True, "how": "ok"},
        {"task": "double", "answers": [2, 2]},
        {"task": "largest", "answers": []},
        {"task": ["double"], "answers": []},
        {"overwritten": {}},
        {"marks": 6},
        {"end": "graded"},
        {"end": "done"},
    ],
)
def test_a_line_that_the_inner_part_never_says_is_tampering(line):
    with pytest.raises(Tampered):
        listen(said([*LINES[:4], line, *LINES[4:]]), DRAWS)


@pytest.mark.parametrize(
    "noted",
    [
        *([], "sum", {"largest": [1, []]}, {"double": 1}, {"double": [1]}, {"double": [0, []]}),
        *({"double": [9, []]}, {"double": ["1", []]}, {"double": [1, "sum"]}),
        *({"double": [1, [1]]}, {"double": [1, ["<b>"]]}, {"double": [1, ["x" * 61]]}),
        {"double": [1, ["a"] * 6]},
    ],
)
def test_a_note_on_names_in_another_form_is_tampering(noted):
    with pytest.raises(Tampered):
        listen(said([*LINES[:4], {"overwritten": noted}]), DRAWS)


@pytest.mark.parametrize("answers", [[1], [1, 2, 3], "right", 5, [[1], 2], [{"x": []}, 2], None])
def test_answers_in_another_form_are_tampering(answers):
    with pytest.raises(Tampered):
        listen(said([{"task": "double", "answers": answers}]), DRAWS)


@given(st.binary(max_size=200) | st.lists(st.sampled_from(LINES)).map(said))
def test_whatever_is_said_is_heard_or_refused(output):
    try:
        heard = listen(output, DRAWS)
    except Tampered:
        return
    assert heard.answers.keys() <= DRAWS.keys()


# The worker


@needs_sandbox
@pytest.mark.parametrize(
    "breaks", ["exit", *(pytest.param(x, marks=pytest.mark.slow) for x in ("memory", "time"))]
)
def test_the_parent_survives_a_worker_that_breaks(breaks, tmp_path):
    folder = write_chapter(tmp_path / "exercises")
    deed = {"memory": "bytearray(1 << 40)", "time": "time.sleep(99)", "exit": "os._exit(3)"}[breaks]
    answers = folder / "ch77" / "answers.py"
    code = f"\nimport os, sys, time\nif 'worker' in sys.argv[0]:\n    {deed}\n"
    answers.write_text(answers.read_text(encoding="utf-8") + code, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "WORKER_SECONDS", 0)
        limits = replace(PATIENT, wall_seconds=3)
        path = write_notebook(tmp_path / "ch77.ipynb", RIGHT)
        verdict = judge(path, "ada", "ch77", "s", limits=limits, exercises=folder)
    assert verdict.status == "crashed" and sum(points(verdict).values()) == 0
    assert "worker" in verdict.note


def test_without_a_sandbox_grading_refuses_and_says_why(monkeypatch, chapter, tmp_path):
    monkeypatch.delenv("SANDBOX", raising=False)
    monkeypatch.setattr(sandbox, "why_missing", lambda: "bwrap is not installed")
    with pytest.raises(sandbox.SandboxMissing, match=r"bwrap is not installed.*SANDBOX=none"):
        judge(tmp_path / "ch77.ipynb", "ada", "ch77", "s", exercises=chapter)


@needs_sandbox
@pytest.mark.slow
def test_without_a_sandbox_the_same_marks_if_that_is_asked_for(monkeypatch, graded):
    monkeypatch.setenv("SANDBOX", "none")
    verdict = graded([DOUBLE, LABEL, "import time\nwhile True: time.sleep(1)"], limits=BRIEF)
    assert points(verdict) == {"double": 1, "label": 2, "largest": 0}


def test_the_limit_of_answers_leaves_room_for_every_chapter_s():
    for name in CHAPTERS:
        draws = {task: draw(task, "s", name) for task in load_tasks(name)}
        each = int(0.8e6 * Limits().answers_mb) // sum(map(len, draws.values()))
        for task, drawn in draws.items():
            for arguments in drawn:
                expected = outcome(task.reference, arguments)
                assert encode(expected, [each // 2]) == pack(expected), task.name


assert OF == 6
