"""What students get: `make release` packs the course without answers, judge and tests.

The same files give the same bytes. Before anything is written, every file is searched for what
only an instructor should hand out; one find, and there is no archive.
"""

import ast
import inspect
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.tasks import EXERCISES, known_chapters, load_tasks

ROOT = EXERCISES.parents[1]
ARCHIVE = ROOT / "dist" / "memory-scoring-course.zip"
FOLDER = "memory-scoring-course"
HANDED_OUT = (
    *("README.md", "Makefile", "requirements.txt", "pyproject.toml", "LICENSE", "LICENSE-TEXT"),
    *("notebooks/[0-9][0-9]_*.ipynb", "notebooks/images/*", "notebooks/exercises/ch*/ch*.ipynb"),
    *("memlib/**/*.py", "memlib/**/*.txt", "memlib/py.typed", "course/**/*.py", "data/*.*"),
    "course/chapters.toml",
)
BARRED = {
    "answers.py",
    "grader",
    "grading",
    "tests",
    "private",
    "work",
    ".git",
    ".venv",
    "__pycache__",
}
SHORTEST_LINE = 25  # a shorter line of a solution may be anybody's
COPIED = 3
PLACEHOLDER = "*Write your answer here.*"
TEACHERS = (
    "check|test|test-browser|refresh|release|collect|grade|formgrader|feedback|solution|bench|site"
)
EPOCH = (1980, 1, 1, 0, 0, 0)


def files(root: Path = ROOT) -> dict[str, Path]:
    """What goes into the archive, by the name that it has there; links and hidden files do not."""
    found = {p for pattern in HANDED_OUT for p in root.glob(pattern) if p.is_file()}
    named = {path.relative_to(root).as_posix(): path for path in found if not path.is_symlink()}
    return {name: named[name] for name in sorted(named) if "/." not in f"/{name}"}


def texts(value: Any) -> Iterator[str]:
    """Every text in JSON, wherever it stands: sources, outputs, metadata, keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, list):
        if value and all(isinstance(part, str) for part in value):
            yield "".join(value)  # nbformat keeps a text as a list of its lines
        else:
            for inner in value:
                yield from texts(inner)


def content(path: Path) -> str:
    """The text of a file as a reader would see it; a notebook's without JSON's own quoting."""
    text = path.read_bytes().decode("utf-8", "ignore")
    return "\n".join(texts(json.loads(text))) if path.suffix == ".ipynb" else text


def hints(chapter: str) -> set[str]:
    """Words that the judge keeps for the report: the hints of all named mistakes."""
    return {wrong.hint for task in load_tasks(chapter) for wrong in task.wrong}


def solution_lines(chapter: str) -> set[str]:
    """The lines of every reference and right answer that are long enough to give it away."""
    functions = [f for task in load_tasks(chapter) for f in (task.reference, *task.right)]
    lines = {ln.strip() for f in functions for ln in inspect.getsource(f).splitlines()[1:]}
    return {line for line in lines if len(line) >= SHORTEST_LINE}


def is_stub(node: ast.stmt) -> bool:
    """A function whose body is `raise NotImplementedError`, with or without a docstring."""
    if not isinstance(node, ast.FunctionDef):
        return False
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return [ast.unparse(line) for line in body] == ["raise NotImplementedError"]


def answered(path: Path, chapter: str) -> Iterator[str]:
    """Answer cells that are no stubs, and other cells that define a task's function."""
    tasks = {task.name for task in load_tasks(chapter)}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source, about = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
        name = about.get("grade_id", "a cell")
        if cell["cell_type"] != "code":
            if about.get("solution") and source.strip() != PLACEHOLDER:
                yield name
            continue
        try:
            body = ast.parse(source).body
        except SyntaxError:
            body = []
        defined = {getattr(node, "name", "") for node in body if not is_stub(node)}
        stub = len(body) == 1 and is_stub(body[0])
        if (about.get("solution") and not stub) or defined & tasks:
            yield name


def leaks(handed: Mapping[str, Path], chapters: Iterable[str]) -> list[str]:
    """What must not be handed out, one line each; empty if all is well.

    An exercise's answer cells are stubs; it holds no hint of its chapter, and no line of
    SHORTEST_LINE characters or more that is one of a solution's. Chapters and
    memlib teach the same formulas, and may share a sentence or a line with the answers; but
    COPIED hints in one file are a copy of an answers.py.
    """
    found = [f"{name}: not for students" for name in handed if BARRED & set(Path(name).parts)]
    read = {name: content(path) for name, path in handed.items()}
    for chapter in chapters:
        secret, lines = hints(chapter), solution_lines(chapter)
        for name, text in read.items():
            own = name.startswith(f"notebooks/exercises/{chapter}/")
            told = sorted(hint for hint in secret if hint in text)
            if own or len(told) >= COPIED:
                found += [f"{name}: a hint of {chapter}, {hint!r}" for hint in told]
            if own:
                found += [f"{name}: {c}: no stub" for c in answered(handed[name], chapter)]
                given = lines & {line.strip() for line in text.splitlines()}
                found += [f"{name}: of a solution, {line!r}" for line in sorted(given)]
    return found


def packed(name: str, data: bytes) -> bytes:
    """A file as students get it: their Makefile lists no target that needs what they lack."""
    listed = rf"^({TEACHERS})(:[^#\n]*) ## .*$".encode()
    return re.sub(listed, rb"\1\2", data, flags=re.MULTILINE) if name == "Makefile" else data


def pack(handed: Mapping[str, Path], target: Path) -> Path:
    """Write the archive: files in order, one fixed date, the same bytes every time."""
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_suffix(".part")
    with zipfile.ZipFile(half, "w") as archive:
        for name in sorted(handed):
            entry = zipfile.ZipInfo(f"{FOLDER}/{name}", EPOCH)
            entry.external_attr, entry.create_system = 0o100644 << 16, 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, packed(name, handed[name].read_bytes()), compresslevel=9)
    half.replace(target)
    return target


def main() -> int:
    handed = files()
    found = leaks(handed, known_chapters())
    if found:
        print("\n".join(["Nothing is packed. Students would get:", *found]), file=sys.stderr)
        return 1
    size = pack(handed, ARCHIVE).stat().st_size
    print(f"{ARCHIVE.relative_to(ROOT)}: {len(handed)} files, {size / 1e6:.1f} MB, no answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
