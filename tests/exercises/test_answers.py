"""Every exercise: right answers pass, each misconception fails in its own way, nothing leaks."""

import ast
import importlib
import importlib.util
import inspect
import itertools
import json
import random
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbgrader.preprocessors import CheckCellMetadata

from course.show.feedback import Feedback, close, feedback, refuses
from grader import typed
from grader.tasks import EXERCISES, known_chapters, load_module, load_tasks, outcome, same
from grader.withheld import make_course

CHAPTERS = known_chapters()
TASKS = {
    f"{chapter}-{task.name}": (chapter, task)
    for chapter in CHAPTERS
    for task in load_tasks(chapter)
}
DRAWS = range(20)
CAPSTONE = "ch11"  # between its tasks and the written answer stands a ranking, marked by hand
tasks = pytest.mark.parametrize(("chapter", "task"), TASKS.values(), ids=TASKS)
chapters = pytest.mark.parametrize("chapter", CHAPTERS)


def notebook(chapter):
    return nbformat.read(EXERCISES / chapter / f"{chapter}.ipynb", as_version=4)


def graded(chapter):
    cells = [c for c in notebook(chapter).cells if c.metadata.get("nbgrader", {}).get("grade")]
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells}


def visible(chapter, task, function):
    """Run the notebook's feedback cell with `function` in the place of the learner's."""
    tree = ast.parse(graded(chapter)[task.name].source)
    tree.body[-1] = ast.Assign([ast.Name("told", ast.Store())], tree.body[-1].value)
    names = {task.name: function}
    exec("from course.show.feedback import close, feedback, refuses\nimport json, math", names)
    exec(compile(ast.fix_missing_locations(tree), "feedback", "exec"), names)
    assert isinstance(names["told"], Feedback)
    return names["told"].passed


def outcomes(function, draws):
    return [outcome(function, arguments) for arguments in draws]


def agreement(task, function, draws):
    expected = outcomes(task.reference, draws)
    got = outcomes(function, draws)
    return tuple(itertools.starmap(task.agrees, zip(got, expected, strict=True)))


@tasks
def test_right_answers_agree_with_the_reference(chapter, task):
    assert len(task.right) >= 2
    for draw, function in itertools.product(DRAWS, task.right):
        assert all(agreement(task, function, task.inputs(random.Random(draw)))), function.__name__


@tasks
def test_every_misconception_fails_on_every_draw(chapter, task):
    assert len(task.wrong) >= 5
    for draw, wrong in itertools.product(DRAWS, task.wrong):
        assert not all(agreement(task, wrong.function, task.inputs(random.Random(draw)))), (
            wrong.name
        )


@tasks
def test_no_two_misconceptions_answer_alike(chapter, task):
    for draw in DRAWS:
        draws = task.inputs(random.Random(draw))
        for one, other in itertools.combinations(task.wrong, 2):
            alike = map(same, outcomes(one.function, draws), outcomes(other.function, draws))
            assert not all(alike), (one.name, other.name)
    assert len({wrong.name for wrong in task.wrong}) == len(task.wrong)
    assert all(len(wrong.hint) > 15 for wrong in task.wrong)


@tasks
def test_visible_checks_are_passed_by_right_and_partly_by_wrong_answers(chapter, task):
    for function in (task.reference, *task.right):
        assert all(visible(chapter, task, function)), function.__name__
    for wrong in task.wrong:
        assert any(visible(chapter, task, wrong.function)), wrong.name


@tasks
def test_wrong_answers_have_the_right_type_somewhere(chapter, task):
    draws = task.inputs(random.Random(0))
    for wrong in task.wrong:
        pairs = zip(outcomes(task.reference, draws), outcomes(wrong.function, draws), strict=True)
        assert any(type(answer) is type(expected) for expected, answer in pairs), wrong.name


@tasks
def test_inputs_are_json_and_hold_ordinary_and_invalid_ones(chapter, task):
    draws = list(task.inputs(random.Random(1)))
    assert json.loads(json.dumps(draws)) == json.loads(json.dumps([list(d) for d in draws]))
    assert len(draws) >= 10
    assert str(draws) == str(list(task.inputs(random.Random(1)))), "the same draw twice"
    assert str(draws) != str(list(task.inputs(random.Random(2)))), "another draw differs"


@tasks
def test_the_stub_has_the_reference_s_signature_and_says_not_attempted(chapter, task):
    cells = {
        c.metadata.nbgrader.grade_id: c for c in notebook(chapter).cells if "nbgrader" in c.metadata
    }
    names = {}
    exec(cells[f"{task.name}-answer"].source, names)
    stub = names[task.name]
    expected = [(p.name, p.default) for p in inspect.signature(task.reference).parameters.values()]
    assert [(p.name, p.default) for p in inspect.signature(stub).parameters.values()] == expected
    assert not any(visible(chapter, task, stub))
    assert "not attempted yet" in str(graded(chapter)[task.name].outputs)


@chapters
def test_the_notebook_is_one_that_nbgrader_accepts(chapter):
    CheckCellMetadata().preprocess(notebook(chapter), {})
    points = {name: cell.metadata.nbgrader.points for name, cell in graded(chapter).items()}
    machine = {task.name: task.points for task in load_tasks(chapter)}
    assert machine.items() <= points.items()
    written = points.keys() - machine.keys()
    assert len(machine) >= 4 and len(written) == 1


@chapters
def test_the_exercises_read_as_one_series(chapter):
    """The same beginning, then a heading, a text, a stub and a feedback for each task in turn."""
    cells = notebook(chapter).cells
    title, first, *rest = cells[0].source.split("\n\n")
    names = [task.name for task in load_tasks(chapter)]
    count = {5: "five", 6: "six"}[len(names)]
    assert re.fullmatch(rf"# Exercises {chapter[2:]}: [A-Za-z0-9 -]+", title)
    assert re.fullmatch(
        rf"\*\*Time\*\* \d+ minutes · \*\*Chapter\*\* {chapter[2:]} .+ · {count} functions "
        "and one answer in words",
        first,
    )
    assert rest[0] == notebook("ch01").cells[0].source.split("\n\n")[2]
    assert rest[1].startswith(notebook("ch01").cells[0].source.split("\n\n")[3])
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells[2:]]
    in_turn = [[None, f"{name}-answer", name] for name in names]
    capstone = ids[3 * len(names) : -2]
    assert ids == [*itertools.chain(*in_turn), *capstone, None, "in_your_own_words"]
    assert {*capstone} == ({None, "rank-answer"} if chapter == CAPSTONE else set())
    words = cells[-2].source
    points = 10 if chapter == CAPSTONE else 3
    assert words.startswith(f"## {len(names) + 1}. In your own words ({points} points)\n\n")
    assert cells[-1].metadata.nbgrader.points == points
    assert re.search(r"(Five|five|six|Seven) sentences or fewer", words)


@tasks
def test_the_text_tells_points_signature_and_an_example_that_is_true(chapter, task):
    cells = notebook(chapter).cells
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells]
    text = cells[ids.index(f"{task.name}-answer") - 1].source
    number = [task.name for task in load_tasks(chapter)].index(task.name) + 1
    points = "1 point" if task.points == 1 else f"{task.points} points"
    assert re.match(rf"## {number}\. [^\n]+ \({points}\)\n\n", text)
    signature = f"`{task.name}{inspect.signature(task.reference)}`: "
    told = text.split("\n\n")[1]
    assert told.startswith(signature) and " → " in told
    call, said = re.search(r"^Example: `(.+?)` → `(.+?)`", text, re.MULTILINE).groups()
    assert call.startswith(f"{task.name}(")
    assert task.agrees(eval(call, {task.name: task.reference}), ast.literal_eval(said))
    if any(outcome(task.reference, x) == {"raises": "ValueError"} for x in task.inputs(rng())):
        assert "`ValueError`" in text


def rng():
    return random.Random(0)


@chapters
def test_the_course_in_the_sandbox_answers_nothing(chapter, tmp_path):
    module = load_module(chapter)
    course = make_course(tmp_path, module.WITHHELD)
    for route in itertools.chain(*module.ROUTES.values()):
        name, _, function = route.partition(":")
        if name.startswith("memlib"):
            path = course.joinpath(*name.split(".")).with_suffix(".py")
            node = ast.parse(path.read_text(encoding="utf-8"))
            for part in function.split("."):
                node = next(x for x in node.body if getattr(x, "name", "") == part)
            assert ast.unparse(node.body[0]).startswith("raise NotImplementedError"), route


@chapters
def test_the_notebook_holds_no_solution(chapter):
    text = "\n".join(cell.source for cell in notebook(chapter).cells)
    assert "answers" not in text.replace("answers.py", "answers") or "import answers" not in text
    for task in load_tasks(chapter):
        for function in (task.reference, *task.right):
            for line in inspect.getsource(function).splitlines()[1:]:
                assert len(line.strip()) < 25 or line.strip() not in text, line
        for wrong in task.wrong:
            assert wrong.hint not in text


def resolve(route):
    """The object of a route such as `memlib.bm25:BM25.scores`."""
    module, _, name = route.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def covers(withheld, route):
    module, _, name = route.partition(":")
    return module in withheld and (withheld[module] == () or name in withheld[module])


@chapters
def test_what_the_sandbox_withholds_is_there(chapter):
    extras = (EXERCISES.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    for module, names in load_module(chapter).WITHHELD.items():
        optional = importlib.util.find_spec(module) is None and f'"{module}"' in extras
        assert optional or importlib.import_module(module)
        for name in names:
            assert inspect.isroutine(inspect.unwrap(resolve(f"{module}:{name}"))), name
        if not module.startswith(("memlib.", "course.")):
            assert names == (), "of another library the whole module goes"


@chapters
def test_every_call_that_would_answer_a_task_is_withheld(chapter):
    module = load_module(chapter)
    assert list(module.ROUTES) == [task.name for task in module.TASKS]
    routes = [route for found in module.ROUTES.values() for route in found]
    for route in routes:
        assert covers(module.WITHHELD, route), route
        if importlib.util.find_spec(route.partition(":")[0]) is not None:
            assert callable(resolve(route)), route
    assert set(module.WITHHELD) <= {route.partition(":")[0] for route in routes}


def test_what_answers_a_recall_is_withheld_in_both_chapters_that_ask_for_one():
    first, second = load_module("ch07"), load_module("ch11")
    assert set(first.ROUTES["evidence_recall"]) == set(second.ROUTES["recalls"])
    assert all(covers(first.WITHHELD, route) for route in second.ROUTES["recalls"])


@tasks
def test_no_function_of_ours_is_named_like_a_task_and_not_withheld(chapter, task):
    """A first guess of whoever looks for an answer: the function of the same name."""
    withheld = load_module(chapter).WITHHELD
    houses = [EXERCISES.parents[1] / name for name in ("memlib", "course")]
    for path in (path for house in houses for path in house.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = ".".join(path.relative_to(EXERCISES.parents[1]).with_suffix("").parts)
        if any(isinstance(node, ast.FunctionDef) and node.name == task.name for node in tree.body):
            assert covers(withheld, f"{name}:{task.name}"), name


@chapters
def test_the_feedback_works_without_what_is_withheld(chapter):
    imported = {
        alias.name.split(".")[0] if isinstance(node, ast.Import) else node.module
        for cell in notebook(chapter).cells[: 2 + 3 * len(load_tasks(chapter))]
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported - {"math", "json"} == {"course.show.feedback"}
    code = inspect.getsource(importlib.import_module("course.show.feedback"))
    assert "from memlib" not in code and "import memlib" not in code


ANSWERS = [
    *(1, 1.0, 0, 0.5, -1, True, False, None, "1", "", float("nan"), float("inf"), 10**400, 1 + 0j),
    *([1], (1,), [1, 2], (1, 2), [(1, 2)], [[1, 2]], {1, 2}, range(1, 3), {"a": 1}, {"a": 1.0}),
    *(np.float64(1), np.int64(1), np.float32(0.5), np.array([1, 2]), np.array([[1, 2]])),
    *(np.array([]), np.array(1), np.bool_(True), np.str_("1"), pd.Series([1, 2]), pd.Index([1, 2])),
    *(Fraction(1, 2), Decimal("0.5"), Counter({"a": 1}), {"a": np.int64(1)}, [np.float64(1), 2]),
    *(
        [],
        (),
        {},
        b"1",
        object(),
        print,
        1 + 1e-12,
        1 + 1e-6,
        [None],
        ["1"],
        pd.DataFrame({"a": [1]}),
    ),
]
EXPECTED = [1, 1.0, 0.5, 0, [1, 2], [1.0, 2.0], [], [[1, 2]], float("inf"), [1]]


def the_judge_agrees(answer, expected):
    """What `same` says of an answer that left the sandbox as typed JSON."""
    try:
        coded = json.dumps(typed.encode(answer, [100_000]))
    except typed.TooLarge:
        return False
    return same(typed.decode(json.loads(coded)), expected)


def the_feedback_agrees(answer, expected, check):
    told = feedback(lambda: answer, [("the answer", lambda f: check(f(), expected))])
    return told.passed[0]


@pytest.mark.parametrize(
    "answer", ANSWERS, ids=lambda x: f"{type(x).__name__} {x}".partition(" at 0x")[0][:40]
)
def test_what_the_feedback_accepts_the_judge_accepts(answer):
    for expected in EXPECTED:
        by_feedback = the_feedback_agrees(answer, expected, close)
        assert by_feedback == the_judge_agrees(answer, expected), expected
        if the_feedback_agrees(answer, expected, lambda a, e: type(a) is not bool and a == e):
            assert by_feedback, expected


@pytest.mark.parametrize("error", [ValueError, json.JSONDecodeError, UnicodeError, TypeError])
def test_a_special_value_error_is_one_for_both(error):
    def function():
        raise error("x", "y", 0) if error is json.JSONDecodeError else error("x")

    told = feedback(function, [("refused", lambda f: refuses(f))])
    assert told.passed[0] == same(outcome(function, ()), {"raises": "ValueError"})
