"""Mutants of the references die of the drawn inputs; those that live on are listed: why, too."""

import ast
import csv
from pathlib import Path

import pytest

from grader.tasks import load_module
from tests.exercises.mutants import CHAPTERS, STEPS, World, mutants, mutants_of, report

LEAST = 0.95
COLUMNS = ["chapter", "task", "where", "operator", "before", "after", "reason"]
FILE = Path(__file__).with_name("survivors.csv")
chapters = pytest.mark.parametrize("chapter", CHAPTERS)


def listed():
    with FILE.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@chapters
def test_all_die_but_the_listed_ones(chapter, capsys):
    told = report(chapter)
    with capsys.disabled():
        print(f"\n{told}", end="")
    rows = [tuple(row[name] for name in COLUMNS[:-1]) for row in listed()]
    alive = sorted(mutant.key for mutant in told.survivors)
    assert alive == sorted(row for row in rows if row[0] == chapter)
    assert told.rate >= LEAST


def test_each_survivor_is_listed_once_with_a_reason_of_one_sentence():
    rows = listed()
    assert list(rows[0]) == COLUMNS
    assert len({tuple(row.values())[:-1] for row in rows}) == len(rows)
    for row in rows:
        reason = row["reason"].removeprefix("equivalent: ")
        assert len(reason.split()) >= 5 and ". " not in reason and reason == reason.strip(), row
    assert {row["chapter"] for row in rows} <= set(CHAPTERS)


@chapters
def test_every_task_has_mutants_of_several_sorts(chapter):
    for task in load_module(chapter).TASKS:
        made = list(mutants(chapter, task))
        assert len(made) >= 6 and len({mutant.operator for mutant in made}) >= 3, task.name
        assert len({(mutant.where.split(":")[0], mutant.source) for mutant in made}) == len(made)


def all_of(source):
    return {(operator, new) for operator, new in mutants_of(ast.parse(source).body[0])}


@pytest.mark.parametrize(
    ("line", "operator", "new"),
    [
        ("return a + 1", "arithmetic", "return a - 1"),
        ("return a - b", "operands exchanged", "return b - a"),
        ("return a * b", "operand alone", "return a"),
        ("return -a", "sign or not removed", "return a"),
        ("return a < b", "comparison", "return a <= b"),
        ("return a < b", "comparison", "return a >= b"),
        ("return a == b", "comparison", "return a != b"),
        ("return a and b", "and, or", "return a or b"),
        ("return a and b", "condition dropped", "return b"),
        ("return not a", "sign or not removed", "return a"),
        ("return a if b else 1", "branches exchanged", "return 1 if b else a"),
        ("f(3)", "constant", "f(4)"),
        ("f(3)", "constant", "f(2)"),
        ("f(3)", "constant", "f(0)"),
        ("f(3)", "constant", "f(6)"),
        ("return 'a'", "text", "return ''"),
        ("return f'{a:.2f}'", "a digit in a text", "return f'{a:.3f}'"),
        ("return a[:b]", "slice", "return a[:b + 1]"),
        ("return a[1:]", "slice", "return a[:]"),
        ("return range(a)", "range", "return range(a - 1)"),
        ("return max(a, 1)", "arguments exchanged", "return max(1, a)"),
        ("return max(a, 1)", "another function", "return min(a, 1)"),
        ("return max(a, 1)", "argument alone", "return a"),
        ("return sorted(a)", "sorted the other way", "return sorted(a, reverse=True)"),
        ("return sorted(a)", "call dropped", "return a"),
        ("return a.lower()", "call dropped", "return a"),
        ("return f(a, key=b)", "keyword dropped", "return f(a)"),
        ("return re.sub('ab', b, a)", "a character of the pattern", "return re.sub('a', b, a)"),
        ("return [a, 1]", "element dropped", "return [a]"),
        ("return {'x': a}", "element dropped", "return {}"),
        ("return [x for x in a]", "first or last left out", "return [x for x in list(a)[1:]]"),
        ("return [x for x in a if x]", "condition dropped", "return [x for x in a]"),
        ("return [x - y for x, y in a]", "another name", "return [y - y for x, y in a]"),
        ("return a", "another name", "return b"),
        ("return a", "returned early", "return None"),
        ("raise ValueError(a)", "another error", "raise TypeError()"),
        ("raise ValueError(a)", "error returned, not raised", "return None"),
        ("a += 1", "assigned, not added", "a = 1"),
        ("a += 1", "arithmetic", "a -= 1"),
        ("a.append(b)", "statement dropped", "pass"),
        ("while a:\n        break", "condition turned", "while not a:\n        break"),
    ],
)
def test_an_operator_makes_its_fault(line, operator, new):
    made = all_of(f"def f(a, b):\n    {line}")
    assert (operator, f"def f(a, b):\n    {new}") in made


def test_no_operator_touches_what_an_error_says():
    made = all_of("def f(a):\n    raise ValueError(f'{a + 1} is not {2 * a}')")
    assert {operator for operator, _ in made} == {
        *("statement dropped", "another error", "error returned, not raised")
    }


def test_a_loop_without_an_end_is_a_dead_mutant():
    module = load_module("ch10")
    pick = next(task for task in module.TASKS if task.name == "pick")
    world = World(module, "ch10", pick)
    endless = "def pick(scores, alike, top_k, w_duplicate=0.15):\n    while True:\n        pass"
    assert all(world.kills(endless)) and world.steps == STEPS + 1
    assert not any(world.kills("")), "and the reference is back in its place"
