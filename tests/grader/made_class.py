"""Made submissions: right in several ways, wrong in each named way, untouched."""

import ast
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.solution import defines, uses
from grader.tasks import EXERCISES, load_tasks

WRITTEN = "in_your_own_words"


@dataclass(frozen=True)
class Variant:
    """One way to answer a task: code for its cell ("" leaves the stub), and what it is worth."""

    code: str
    points: int
    misconception: str = ""


def needed(body: Sequence[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """The statements of answers.py on which these names stand."""
    wanted: set[str] = set()
    todo = set(names)
    while todo:
        wanted |= todo
        found = [node for node in body if defines(node) & wanted]
        todo = set[str]().union(*map(uses, found)) - wanted
    return [node for node in body if defines(node) & wanted]


def variants(chapter: str) -> dict[str, list[Variant]]:
    """Every way to answer each task: reference, both alternatives, each named mistake, the stub."""
    tree = ast.parse((EXERCISES / chapter / "answers.py").read_text(encoding="utf-8"))
    body = [n for n in tree.body if "TASKS" not in defines(n) and "Wrong" not in defines(n)]
    table = next(node for node in tree.body if "TASKS" in defines(node))
    calls = [n for n in ast.walk(table) if isinstance(n, ast.Call)]
    told = {}
    for call in calls:
        if ast.unparse(call.func) == "Task":
            given = {word.arg: word.value for word in call.keywords}
            told[ast.unparse(given["reference"])] = given
    ways: dict[str, list[Variant]] = {}
    for task in load_tasks(chapter):
        given = told[task.name]
        right, wrong = given["right"], given["wrong"]
        assert isinstance(right, ast.Tuple) and isinstance(wrong, ast.Tuple)
        ways[task.name] = [
            Variant(code(body, task.name, node), task.points)
            for node in (given["reference"], *right.elts)
        ]
        for node in wrong.elts:
            assert isinstance(node, ast.Call)
            name = ast.literal_eval(node.args[0])
            ways[task.name].append(Variant(code(body, task.name, node.args[1]), 0, name))
        ways[task.name].append(Variant("", 0))
    return ways


def code(body: Sequence[ast.stmt], name: str, value: ast.expr) -> str:
    """A cell that makes `name` from an expression of answers.py and all that it stands on."""
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    parts = [ast.unparse(node) for node in needed(body, names)]
    inside = textwrap.indent("\n".join([*parts, f"return {ast.unparse(value)}"]), "    ")
    return f"def _made():\n{inside}\n\n\n{name} = _made()\n"


def notebook(chapter: str, codes: Mapping[str, str], written: str = "") -> NotebookNode:
    """The exercise with these cells filled in; an empty text leaves a cell as it is."""
    book = nbformat.read(EXERCISES / chapter / f"{chapter}.ipynb", as_version=4)
    for cell in book.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        answer = codes.get(name.removesuffix("-answer"), "") if name.endswith("-answer") else ""
        cell.source = answer or (written if name == WRITTEN and written else cell.source)
    return book


def save(path: Path, book: NotebookNode) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(book) + "\n", encoding="utf-8")
    return path


def make_class(chapter: str, folder: Path, size: int) -> dict[str, dict[str, Variant]]:
    """Files named after students, and who answered what: every way to answer is somebody's."""
    ways = variants(chapter)
    plan: dict[str, dict[str, Variant]] = {}
    for number in range(size):
        chosen = {}
        for place, (name, known) in enumerate(ways.items()):
            at = {0: 0, 1: 1, 2: 2, 3: -1}.get(number, (number + 3 * place) % len(known))
            chosen[name] = known[at]
        student = f"student{number:03}"
        book = notebook(
            chapter, {name: way.code for name, way in chosen.items()}, f"Mine, {number}."
        )
        save(folder / f"{student}.ipynb", book)
        plan[student] = chosen
    return plan
