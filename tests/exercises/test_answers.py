"""Every exercise: right answers pass, each misconception fails in its own way, nothing leaks."""

import ast
import inspect
import itertools
import json
import random

import nbformat
import pytest
from nbgrader.preprocessors import CheckCellMetadata

from memlib.show.feedback import Feedback
from notebooks.exercises.grading.tasks import EXERCISES, load_tasks, outcome, same

CHAPTERS = sorted(path.name for path in EXERCISES.glob("ch*"))
TASKS = {
    f"{chapter}-{task.name}": (chapter, task)
    for chapter in CHAPTERS
    for task in load_tasks(chapter)
}
DRAWS = range(20)
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
    exec("from memlib.show.feedback import close, feedback, refuses\nimport json, math", names)
    exec(compile(ast.fix_missing_locations(tree), "feedback", "exec"), names)
    assert isinstance(names["told"], Feedback)
    return names["told"].passed


def outcomes(function, draws):
    return [outcome(function, arguments) for arguments in draws]


def agreement(task, function, draws):
    expected = outcomes(task.reference, draws)
    got = outcomes(function, draws)
    return tuple(same(a, e, task.tolerance) for a, e in zip(got, expected, strict=True))


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
def test_the_notebook_holds_no_solution(chapter):
    text = "\n".join(cell.source for cell in notebook(chapter).cells)
    assert "answers" not in text.replace("answers.py", "answers") or "import answers" not in text
    for task in load_tasks(chapter):
        for function in (task.reference, *task.right):
            for line in inspect.getsource(function).splitlines()[1:]:
                assert len(line.strip()) < 25 or line.strip() not in text, line
        for wrong in task.wrong:
            assert wrong.hint not in text
