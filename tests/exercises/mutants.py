"""Mutants: a reference with one small fault put in, which the drawn inputs must bring to light.

`python -m tests.exercises.mutants [ch04 ...]` prints the table and the survivors.
"""

import ast
import copy
import difflib
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from grader.tasks import EXERCISES, Task, known_chapters, load_module, outcome

DRAWS = (0, 1, 2)  # each must kill for itself: a class is marked on one
STEPS = 2_000  # rounds of while loops in one call; no reference needs 100
CHAPTERS = known_chapters()

ARITHMETIC = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.Pow: ast.Mult, ast.FloorDiv: ast.Div, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
}
COMPARISONS = {  # boundary, negation, direction
    ast.Lt: (ast.LtE, ast.GtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE),
    ast.Gt: (ast.GtE, ast.LtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    **{ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,)},
}
CALLS = {
    **{"min": "max", "max": "min", "any": "all", "all": "any", "sum": "max", "set": "list"},
    **{"floor": "ceil", "ceil": "floor", "log": "log10", "log2": "log", "sqrt": "abs"},
    **{"exp": "abs", "lower": "upper", "casefold": "upper", "rpartition": "partition"},
    **{"strip": "lstrip", "isfinite": "isnan"},
}
UNWRAPPED = {"abs", "bool", "float", "int", "list", "reversed", "round", "set", "sorted", "tuple"}
PATTERNS = {"findall", "search", "split", "sub"}
DROPPED = (
    *(ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.Raise, ast.Return, ast.While),
    *(ast.Try, ast.Break, ast.Continue),
)

Change = tuple[str, ast.AST | None]  # the operator's name, and what stands there in its place


class Endless(BaseException):
    """A loop of a mutant that does not end."""


@dataclass(frozen=True)
class Mutant:
    """A task's reference with one fault, in itself or in a function that it calls."""

    chapter: str
    task: str
    where: str
    operator: str
    before: str
    after: str
    source: str

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from others: a row of survivors.csv without its reason."""
        return self.chapter, self.task, self.where, self.operator, self.before, self.after


def _with(node: Any, **fields: Any) -> Any:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _expression(template: str, **parts: ast.AST) -> ast.expr:
    """`_expression("list(x)[1:]", x=node)`: the template with nodes in the place of names."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return parts.get(node.id, node)

    return Fill().visit(ast.parse(template, mode="eval")).body


def _without(items: list[Any]) -> Iterator[list[Any]]:
    for i in range(len(items)):
        yield items[:i] + items[i + 1 :]


def _instead(items: list[Any], i: int, item: Any) -> list[Any]:
    return [*items[:i], item, *items[i + 1 :]]


def _off_by_one(part: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(part, ast.Constant):
        yield _expression("part + 1", part=part)
        yield _expression("part - 1", part=part)


def changes(node: ast.AST) -> Iterator[Change]:
    """Every fault that the operators know for one node."""
    if isinstance(node, DROPPED):
        yield "statement dropped", None
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in ARITHMETIC:
                yield "arithmetic", _with(node, op=ARITHMETIC[type(op)]())
            yield "operand alone", left
            yield "operand alone", right
            if isinstance(op, ast.Sub | ast.Div | ast.Pow):
                yield "operands exchanged", _with(node, left=right, right=left)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "sign or not removed", operand
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield "comparison", _with(node, ops=_instead(ops, i, other()))
        case ast.BoolOp(op=op, values=values):
            yield "and, or", _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for rest in _without(values):
                yield "condition dropped", _with(node, values=rest) if rest[1:] else rest[0]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "one branch", body
            yield "one branch", orelse
            yield "branches exchanged", _with(node, body=orelse, orelse=body)
        case ast.If(test=test, orelse=orelse) | ast.While(test=test, orelse=orelse):
            for text in ("True", "False", "not test"):
                yield "condition turned", _with(node, test=_expression(text, test=test))
            if orelse:
                yield "else dropped", _with(node, orelse=[])
        case ast.For(iter=over) | ast.comprehension(iter=over):
            for text in ("list(x)[1:]", "list(x)[:-1]"):
                yield "first or last left out", _with(node, iter=_expression(text, x=over))
            for rest in _without(getattr(node, "ifs", [])):
                yield "condition dropped", _with(node, ifs=rest)
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            for other in (value + 1, value - 1, type(value)(0), 2 * value):
                yield "constant", _expression(repr(other))
        case ast.Constant(value=str() as value):
            yield "text", ast.Constant("" if value else "x")
            for i, sign in enumerate(value):
                if sign in "012345678":
                    other = value[:i] + str(int(sign) + 1) + value[i + 1 :]
                    yield "a digit in a text", ast.Constant(other)
        case ast.Slice(lower=lower, upper=upper):
            for name, part in (("lower", lower), ("upper", upper)):
                if part is not None:
                    yield "slice", _with(node, **{name: None})
                    for other in _off_by_one(part):
                        yield "slice", _with(node, **{name: other})
        case ast.Call():
            yield from _calls(node)
        case ast.Tuple(elts=elts, ctx=ast.Load()) | ast.List(elts=elts) | ast.Set(elts=elts):
            for rest in _without(elts):
                yield "element dropped", _with(node, elts=rest)
        case ast.Dict(keys=keys, values=values):
            for i in range(len(keys)):
                rest_of = {"keys": keys, "values": values}
                yield (
                    "element dropped",
                    _with(node, **{k: v[:i] + v[i + 1 :] for k, v in rest_of.items()}),
                )
        case ast.AugAssign(target=target, op=op, value=value):
            yield "arithmetic", _with(node, op=ARITHMETIC[type(op)]())
            yield "assigned, not added", ast.Assign([target], value, lineno=0)
        case ast.Return(value=value):
            zero = isinstance(value, ast.Constant) and value.value == 0
            for early in ("None", "[]") if zero else ("None", "0", "[]"):
                yield "returned early", ast.Return(_expression(early))
        case ast.Raise(exc=exc) if exc is not None:
            yield "another error", _with(node, exc=_expression("TypeError()"))
            yield "error returned, not raised", ast.Return(ast.Constant(None))
        case ast.ExceptHandler():
            yield "another error", _with(node, type=_expression("MemoryError"))
        case ast.Lambda(body=body):
            yield "returned early", _with(node, body=_expression("0"))


def _calls(node: ast.Call) -> Iterator[Change]:
    function, arguments = node.func, node.args
    name = getattr(function, "attr", getattr(function, "id", ""))
    if name in CALLS:
        field = "attr" if isinstance(function, ast.Attribute) else "id"
        if isinstance(function, ast.Attribute) and CALLS[name] == "abs":
            yield "another function", _with(node, func=_expression("abs"))
        else:
            yield "another function", _with(node, func=_with(function, **{field: CALLS[name]}))
    if name in PATTERNS and arguments and isinstance(arguments[0], ast.Constant):
        pattern = str(arguments[0].value)
        for i in range(len(pattern)):
            shorter = ast.Constant(pattern[:i] + pattern[i + 1 :])
            yield "a character of the pattern", _with(node, args=[shorter, *arguments[1:]])
    if name in UNWRAPPED and arguments:
        yield "call dropped", arguments[0]
    if isinstance(function, ast.Attribute) and not arguments and not node.keywords:
        yield "call dropped", function.value
    if name == "sorted":
        flipped = [k for k in node.keywords if k.arg != "reverse"]
        if len(flipped) == len(node.keywords):
            flipped = [*flipped, ast.keyword("reverse", ast.Constant(True))]
        yield "sorted the other way", _with(node, keywords=flipped)
    if name == "range":
        for i, part in enumerate(arguments):
            for other in _off_by_one(part):
                yield "range", _with(node, args=_instead(arguments, i, other))
    for rest in _without(node.keywords):
        yield "keyword dropped", _with(node, keywords=rest)
    for i in range(len(arguments) - 1):
        swapped = [*arguments[:i], arguments[i + 1], arguments[i], *arguments[i + 2 :]]
        yield "arguments exchanged", _with(node, args=swapped)
    if name in ("max", "min") and len(arguments) > 1:
        for part in arguments:
            yield "argument alone", part


def _bound_beside(part: ast.stmt) -> dict[str, set[str]]:
    """Name -> the names that are bound in the same place: parameters, or targets of one tuple."""
    beside: dict[str, set[str]] = {}
    for node in ast.walk(part):
        names: set[str] = set()
        if isinstance(node, ast.arguments):
            names = {x.arg for x in node.args}
        elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
            names = {x.id for x in node.elts if isinstance(x, ast.Name)}
        for name in names:
            beside[name] = beside.get(name, set()) | names
    return beside


def _another_name(node: ast.AST, beside: dict[str, set[str]]) -> Iterator[Change]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for other in sorted(beside.get(node.id, ())):
            yield "another name", ast.Name(other, ast.Load())


Place = tuple[ast.AST, Callable[[ast.AST | None], None]]


def places(node: ast.AST) -> Iterator[Place]:
    """Every node below this one, with a setter. What a raise says is left out: nobody sees it."""
    if isinstance(node, ast.Raise):
        return
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield value, lambda new, field=field: setattr(node, field, new)
            yield from places(value)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield item, lambda new, value=value, i=i: value.__setitem__(i, new)
                    yield from places(item)


def parts_of(tree: ast.Module, name: str) -> list[ast.stmt]:
    """The function of that name, and the functions and constants that it needs."""
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in ast.walk(node.targets[0]):
                if isinstance(target, ast.Name):
                    defined[target.id] = node
    found = [defined[name]]
    for part in found:
        for inner in ast.walk(part):
            needed = defined.get(inner.id) if isinstance(inner, ast.Name) else None
            if needed is not None and needed not in found:
                found.append(needed)
    return found


def mutants_of(part: ast.stmt) -> Iterator[tuple[str, str]]:
    """Operator and source of each mutant of a function or constant, each source once."""
    seen = {ast.unparse(part)}
    beside = _bound_beside(part)
    for node, put in list(places(part)):
        for operator, new in [*changes(node), *_another_name(node, beside)]:
            put(ast.Pass() if new is None else new)
            source = ast.unparse(part)
            put(node)
            if source not in seen:
                seen.add(source)
                yield operator, source


def _difference(old: str, new: str) -> tuple[int, str, str]:
    """Line number, and the lines that differ, before and after."""
    a, b = old.splitlines(), new.splitlines()
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    changed = [block for block in blocks if block[0] != "equal"]
    first, last = changed[0], changed[-1]
    before, after = a[first[1] : last[2]], b[first[3] : last[4]]
    return first[1] + 1, "; ".join(map(str.strip, before)), "; ".join(map(str.strip, after))


def mutants(chapter: str, task: Task) -> Iterator[Mutant]:
    """All mutants of a task's reference, its private functions and its constants.

    A public function that it calls is another task's reference, and has its mutants there.
    """
    tree = ast.parse((EXERCISES / chapter / "answers.py").read_text(encoding="utf-8"))
    for part in parts_of(tree, task.name):
        old = ast.unparse(part)
        name = part.name if isinstance(part, ast.FunctionDef) else old.split(" = ")[0]
        if isinstance(part, ast.FunctionDef) and name != task.name and not name.startswith("_"):
            continue
        for operator, new in mutants_of(part):
            line, before, after = _difference(old, new)
            where = f"{name}:{line}"
            yield Mutant(chapter, task.name, where, operator, before, after, new)


def _bounded(source: str) -> Any:
    """The compiled source; every round of a while loop takes one of the steps."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.While):
            node.body.insert(0, ast.parse("_step()").body[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(ast.fix_missing_locations(tree), "mutant", "exec")


class World:
    """A task's reference in a namespace of its own, where one part at a time is exchanged."""

    def __init__(self, module: ModuleType, chapter: str, task: Task) -> None:
        self.task = task
        self.names = dict(vars(module)) | {"_step": self._step}
        self.steps = 0
        tree = ast.parse((EXERCISES / chapter / "answers.py").read_text(encoding="utf-8"))
        for part in reversed(parts_of(tree, task.name)):
            exec(_bounded(ast.unparse(part)), self.names)
        self.draws = [list(task.inputs(random.Random(draw))) for draw in DRAWS]
        self.expected = [[outcome(task.reference, x) for x in draw] for draw in self.draws]

    def _step(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise Endless

    def kills(self, source: str) -> list[bool]:
        """For each draw, whether it tells this mutant from the reference."""
        kept = dict(self.names)
        try:
            exec(_bounded(source), self.names)
            return [
                any(map(self._differs, draw, expected))
                for draw, expected in zip(self.draws, self.expected, strict=True)
            ]
        except Exception:  # a constant that cannot be computed
            return [True for _ in DRAWS]
        finally:
            self.names.update(kept)

    def _differs(self, arguments: tuple[Any, ...], expected: Any) -> bool:
        self.steps = 0
        try:
            got = outcome(self.names[self.task.name], arguments)
        except Endless:
            return True
        return not self.task.agrees(got, expected)


@dataclass(frozen=True)
class Report:
    """A chapter's mutants: how many there are, and those that some draw leaves alive."""

    chapter: str
    made: int
    survivors: tuple[Mutant, ...]

    @property
    def rate(self) -> float:
        return 1 - len(self.survivors) / self.made

    def __str__(self) -> str:
        killed = self.made - len(self.survivors)
        return f"{self.chapter}  {killed:4d} of {self.made:4d} killed  {100 * self.rate:5.1f}%"


def report(chapter: str) -> Report:
    """Make and try all mutants of a chapter. Killed is what every single draw kills."""
    module = load_module(chapter)
    made = 0
    survivors = []
    for task in module.TASKS:
        world = World(module, chapter, task)
        assert not any(world.kills("")), "the reference differs from itself"
        for mutant in mutants(chapter, task):
            made += 1
            if not all(world.kills(mutant.source)):
                survivors.append(mutant)
    return Report(chapter, made, tuple(survivors))


def main(chapters: list[str]) -> int:
    """Print the table, and each survivor as survivors.csv tells it, but for the reason."""
    for chapter in chapters or CHAPTERS:
        told = report(chapter)
        print(told)
        for mutant in told.survivors:
            print("   ", *mutant.key[1:], sep=" | ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
