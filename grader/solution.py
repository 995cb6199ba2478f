"""The solved exercise: `make solution CHAPTER=ch02`. Every stub gives way to the reference.

The notebook is executed, and there is none if one idea of the feedback does not hold.
"""

import ast
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from grader.gradebook import write
from grader.results import COURSE, make_private
from grader.tasks import EXERCISES, known_chapters, load_tasks


class Unsolved(AssertionError):
    """A reference that its own exercise does not accept."""


def defines(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module gives a meaning."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    given = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    return {n.id for target in given if target for n in ast.walk(target) if isinstance(n, ast.Name)}


def uses(node: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def needed(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements that a function stands on, itself included, in the order of the file."""
    wanted, todo = set(), {name}
    while todo:
        wanted |= todo
        found = [node for node in body if defines(node) & wanted]
        todo = set().union(*map(uses, found)) & {n for node in body for n in defines(node)} - wanted
    return [node for node in body if defines(node) & wanted]


def pieces(chapter: str) -> Iterator[tuple[str, str]]:
    """For each task its name and its code: the reference and what it calls, each told once."""
    text = (EXERCISES / chapter / "answers.py").read_text(encoding="utf-8")
    body, lines, told = ast.parse(text).body, text.splitlines(), set[int]()
    names = {task.name for task in load_tasks(chapter)}
    for task in load_tasks(chapter):
        parts: list[str] = []
        imports: list[str] = []
        for node in needed(body, task.name):
            own = task.name in defines(node)
            if node.lineno in told and not (own and defines(node) & names):
                continue
            told.add(node.lineno)
            source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            is_import = isinstance(node, ast.Import | ast.ImportFrom)
            (imports if is_import else parts).append(source)
        blocks = ["\n".join(imports)] if imports else []
        yield task.name, "\n\n\n".join([*blocks, *parts])


def solved(chapter: str) -> NotebookNode:
    """The exercise with its solutions, executed. Raises Unsolved where the feedback objects."""
    notebook = nbformat.read(EXERCISES / chapter / f"{chapter}.ipynb", as_version=4)
    cells = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}
    for name, source in pieces(chapter):
        cells[f"{name}-answer"].source = source
    with tempfile.TemporaryDirectory() as folder:  # sockets that nobody else can reach
        config = Config()
        config.KernelManager.transport = "ipc"
        config.KernelManager.ip = str(Path(folder) / "kernel")
        NotebookClient(notebook, timeout=60, kernel_name="python3", config=config).execute()
    for task in load_tasks(chapter):
        cell = cells[task.name]
        told = "".join(str(out.get("data", {}).get("text/plain", "")) for out in cell.outputs)
        if "ideas hold" not in told or "[look again]" in told:
            raise Unsolved(f"{chapter}, {task.name}: {told or 'the feedback says nothing'}")
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # no clock times
    return notebook


def main(chapter: str, course: Path = COURSE) -> int:
    known = known_chapters()
    if chapter not in known:
        print(f"CHAPTER={chapter}: name one of {' '.join(known)}", file=sys.stderr)
        return 2
    make_private(course)
    path = course / "solutions" / f"{chapter}.ipynb"
    write(path, solved(chapter))
    print(f"{path}: every idea of the feedback holds; the written answer is left to you")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
