"""The course as the sandbox sees it: memlib and course without what the tasks ask for, data.

A copy, so that the checkout with its references and tests is nowhere in the sandbox.
"""

import ast
import atexit
import compileall
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from py_compile import PycInvalidationMode

ROOT = Path(__file__).parents[1]
SHOWN = ("memlib", "course", "data")
INSIDE = "_judge"  # the package in the copy that the kernel and its driver import from
MESSAGE = "withheld while grading"
Withheld = Mapping[str, tuple[str, ...]]


def make_course(folder: Path, withheld: Withheld) -> Path:
    """Fill an empty folder with memlib, data and the inner part, readable by everybody.

    withheld  module of memlib -> names of functions or of methods ("BM25.scores") whose bodies
              are taken out; an empty tuple takes out every one. Other modules: see `hidden`.
    Raises ValueError if a module or a name is not there: a renamed one would be given away.
    """
    for name in SHOWN:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / INSIDE).mkdir()
    (folder / INSIDE / "__init__.py").touch()
    for name in ("inside.py", "overwritten.py", "typed.py"):
        shutil.copy(Path(__file__).with_name(name), folder / INSIDE)
    for module, names in withheld.items():
        if module.split(".")[0] in SHOWN:
            path = folder.joinpath(*module.split(".")).with_suffix(".py")
            if not path.is_file():
                raise ValueError(f"WITHHELD names {module!r}: no such module")
            path.write_text(_without(path.read_text(encoding="utf-8"), module, names), "utf-8")
    unchecked = PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(folder, quiet=2, invalidation_mode=unchecked)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def _without(source: str, module: str, names: tuple[str, ...]) -> str:
    """The source without the bodies of these functions; comments and docstrings go with them."""
    tree, missing = ast.parse(source), set(names)

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = prefix + node.name
                missing.discard(name)
                if not names or name in names:
                    node.body = ast.parse(f"raise NotImplementedError({MESSAGE!r})").body

    visit(tree.body, "")
    if missing:
        raise ValueError(f"WITHHELD[{module!r}] names {sorted(missing)[0]!r}: not there")
    return ast.unparse(tree)


def hidden(withheld: Withheld) -> list[Path]:
    """What must not be seen in the environment: an installed memlib, libraries withheld."""
    libraries = {m.split(".")[0] for m in withheld} | {"memlib"}
    prefixes = {Path(p) for p in (sys.prefix, sys.base_prefix, "/usr", "/usr/local")}
    folders = {Path(p) for p in sys.path if Path(p).name.endswith("-packages")}
    for prefix in prefixes:
        folders |= {*prefix.glob("lib*/python*/*-packages")}
    patterns = ("{0}", "{0}.py", "{0}.*.so", "{0}.so", "__pycache__/{0}.*.pyc")
    found = {
        path.resolve()
        for folder in folders
        for library in libraries
        for pattern in patterns
        for path in folder.glob(pattern.format(library))
    }
    return sorted(found)


def temporary_course(withheld: Withheld) -> Path:
    """A course in a temporary folder that lives as long as this process."""
    holder = tempfile.TemporaryDirectory(prefix="memlib-course-", ignore_cleanup_errors=True)
    atexit.register(holder.cleanup)
    return make_course(Path(holder.name), withheld)
