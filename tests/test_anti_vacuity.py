"""A check that cannot fail proves nothing: break one thing, run only its checks, want red."""

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import NamedTuple

import nbformat
import pytest

from tests.notebooks.refresh import NOTEBOOKS, ROOT

PYTEST = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider"]
NBVAL = [*PYTEST, "--nbval", "--nbval-cell-timeout=60", "-o", "filterwarnings=", "-o", "addopts="]
CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]
pytestmark = pytest.mark.slow


class Break(NamedTuple):
    """In `memlib/<module>.py`, inside `function`, `old` becomes `new`: its tests must turn red.

    $x in `old` is any one name, the same wherever it recurs: local variables may be renamed.
    """

    module: str
    function: str
    old: str
    new: str


FORMULAS = (
    Break("checks", "numbers", "$array < low", "$array < low - 1"),
    Break("checks", "unmasked", "np.ma.getmaskarray(values)", "[]"),
    Break("checks", "same_length", "> 1", "> 2"),
    Break("checks", "card_ids", "not $index.is_unique", "False"),
    Break("checks", "finite_fields", "ndim=0", "missing=True"),
    Break("words", "_Lazy.__init__", "= entry", "= str.upper"),
    Break("words", "plain", ".casefold()", ""),
    Break("words", "fold", "_strip(plain(text))", "plain(text)"),
    Break("words", "words", " if $word not in stop", ""),
    Break("words", "search_words", "whole=True", "whole=False"),
    Break("words", "inside", "$unit.start() + 1", "$unit.start()"),
    Break("words", "without_spaces", ") <= $high", ") < $high - 99"),
    Break("similarity", "cosine", '_units("query", $q)', "$q"),
    Break("similarity", "cosine_of_units", "< 1e-3", "< 1e3"),
    Break("similarity", "dots", "matrix, vector)", "matrix, -vector)"),
    Break("similarity", "euclidean", "axis=1", "axis=1, ord=1"),
    Break("recency", "recency", "** $age", "** ($age + 1)"),
    Break("recency", "recency_by_half_life", "np.exp2", "np.exp"),
    Break("recency", "half_life_days", "/ 24", "/ 12"),
    Break("recency", "decay_per_hour", "(24 * $days)", "$days"),
    Break("recency", "age_hours", "3600", "3601"),
    Break("importance", "from_rating", "DEFAULT_IMPORTANCE", "0.0"),
    Break("importance", "importance", "PINNED_BOOST * $pins", "$pins"),
    Break("importance", "weighted_kappa", "$x.mean() - $y.mean()", "0"),
    Break("importance", "top_three_changes", "<= HIGHEST_RATING", "< HIGHEST_RATING"),
    Break("normalization", "min_max", "$level)", "$level + 1)"),
    Break("normalization", "z_score", "$x.std()", "$x.std(ddof=1)"),
    Break("forgetting", "outranks", "$weight > $weight[row]", "$weight < $weight[row]"),
    Break("librarian", "Librarian.__init__", "settings or Settings()", "Settings()"),
    Break("librarian", "Librarian.explain", "self._current_cards", "None"),
    Break(
        "librarian", "Librarian.search", ".touch($found.index", ".touch(self.store.cards().index"
    ),
    Break("librarian", "Librarian.forget_scores", "pinned=$pinned", "pinned=$pinned * False"),
    Break("librarian", "Librarian.sweep", "$left[$row] = not $gone", "$left[$row] = True"),
    Break("librarian", "Librarian.due", "+ ROUNDING", ""),
    Break("librarian", "Librarian.reviewed", "helpful=0", "helpful=1"),
    Break("bm25", "naive", ".lower()", ""),
    Break("bm25", "regex", ".lower()", ""),
    Break("bm25", "stem", " not in STOPWORDS", ""),
    Break("bm25", "unicode", "NFKC", "NFC"),
    Break("bm25", "words", "(text, STOPWORDS)", "(text)"),
    Break("bm25", "BM25.__init__", "1 - b + b * $long", "b + (1 - b) * $long"),
    Break("bm25", "BM25.scores", "$times * ", ""),
    Break("bm25", "BM25.matched", "] = True", "] = False"),
    Break("bm25", "saturate", "$raw + $half", "$raw + 2 * $half"),
    Break("entity_boost", "damp", "1 + numbers", "2 + numbers"),
    Break("entity_boost", "damp_by_square", "($n - 1)", "$n"),
    Break("entity_boost", "names_in", "_nfc if $folded in $capital else plain", "plain"),
    Break("entity_boost", "entity_boost", "max(len($known), 1)", "max(len(mentioned), 1)"),
    Break("signals", "in_context", "$i - before", "$i - before - 1"),
    Break("signals", "by_group", "dict.fromkeys(groups)", "dict.fromkeys(groups[::-1])"),
    Break("signals", "neighbour_smoothing", "$x[1:][$together]", "$x[1:][~$together]"),
    Break("signals", "group_smoothing", "-best:", "-best - 1:"),
    Break("signals", "speaker_match", "$speaker in $names", "$speaker not in $names"),
    Break("signals", "length_prior", "np.log1p", "np.log2"),
    Break("signals", "hubness", "-np.inf", "1.0"),
    Break("signals", "date_match", "bool($months) +", "len($months) +"),
    Break("signals", "time_words", ".search(", ".match("),
    Break("signals", "date_words", "time.month - 1", "time.month - 2"),
    Break("signals", "feedback_query", "$share * ", ""),
    Break("signals", "feedback_terms", " * idf.get($word, 0.0)", ""),
    Break("learning", "listwise_loss", "len($w) !=", "0 >"),
    Break("learning", "fit_weights", "2 * $keep * $weights", "$keep * $weights"),
    Break("fusion", "weighted_sum", "$weight * (", "("),
    Break("fusion", "competition_ranks", '"right"', '"left"'),
    Break("fusion", "reciprocal_rank_fusion", "($values[$on])", "($values)[$on]"),
    Break("forgetting", "usage_raw", "VIEW * $seen + CITE", "VIEW * $seen + VIEW"),
    Break("forgetting", "usage", "eps=eps", "eps=0"),
    Break("forgetting", "forget_score", "weights.unused * (1 - $used)", "weights.unused * $used"),
    Break(
        "forgetting",
        "duplicate_ratio",
        "(-$weight[$row], $age[$row]",
        "(-$weight[$row], -$age[$row]",
    ),
    Break("forgetting", "retention", "elif not $pin and", "elif"),
    Break("forgetting", "recall_probability", "-$t / $tau", "-$t / 5 * $tau"),
    Break("forgetting", "days_until_due", "1 / $level", "2 / $level"),
    Break("forgetting", "next_tau", "- weights.bad", "+ weights.bad"),
    Break("forgetting", "next_interval", "* $u), 9)", "* $u), 99)"),
    Break("strength", "strength_of_vector", "$a.std(axis=1)", "$a.std(axis=1, ddof=1)"),
    Break("strength", "biased_cosine", "len($b) * $eps_a", "$eps_a"),
    Break("strength", "strength_slope", "len($b) * float", "float"),
    Break("strength", "bounded_strength", "(1 - $c)", "(1 + $c)"),
    Break("four_part_relevance", "relevance", ".clip(0, 1)", ""),
    Break("four_part_relevance", "question_tags", " in $asked)", " not in $asked)"),
    Break("four_part_relevance", "tag_match", "$asked | set($t)", "$asked"),
    Break("four_part_relevance", "title_hit", "min(1.0, ", "max(0.0, "),
    Break("ranking", "final_score", "- weights.w_duplicate", "+ weights.w_duplicate"),
    Break("ranking", "pick_diverse", "np.maximum($penalty, ", "np.maximum(0, "),
    Break("ranking", "three_part_score", "$w[1] * $f", "$f"),
    Break("ranking", "rank_order", "(-$values[$rows])", "(-$values[$rows].round(1))"),
    Break("retrieval", "Ranking.changes", '$name == "recency"', '$name == "usage"'),
    Break("retrieval", "candidates", "$words[$said] > 0", "$words[$said] >= 0"),
    Break("retrieval", "features", "known_tags is None", "True"),
    Break("retrieval", "all_tags", "for $tag in $tags)", "for $tag in ())"),
    Break("retrieval", "server_importance", 'cards["pinned"]', 'cards["views"] * 0'),
    Break("retrieval", "ranking_code", "if $value != $default", "if $value == $default"),
    Break("retrieval", "rank", "top_k)", "1)"),
    Break("retrieval", "Index.__init__", "< UNIT", "< 9"),
    Break("retrieval", "Index.rank", "ranking, top_k)", "ranking, 1)"),
    Break("retrieval", "Index.served", "where($score >= $low", "where($score >= -9"),
    Break("retrieval", "Index.explain", 'S=$ranked["at"]', 'S=$ranked["S"]'),
    Break("retrieval", "Index.matches", "if self._question != $key", "if not self._found"),
    Break("retrieval", "_Signals.of", "self.names[rows]", "self.names[rows] * 0"),
    Break("retrieval", "Ranking.weights", "for $name in PARTS", "for $name in PARTS[1:]"),
    Break("retrieval", "Ranking.copy_cost", "1 - self.mmr_lambda", "self.mmr_lambda"),
    Break("leaderboard", "fixed", "weights", "{}"),
    Break("leaderboard", "grid", ".argmax()", ".argmin()"),
    Break("leaderboard", "learned", "for $name in names", "for $name in names[::-1]"),
    Break("leaderboard", "total", "* asked.parts", "+ asked.parts"),
    Break("leaderboard", "held_out", "for $c in others", "for $c in development"),
    Break("leaderboard", "leave_one_out", "if $j != $i for", "for"),
    Break("leaderboard", "recall", "$place < $k", "$place <= $k"),
    Break("evaluate", "unread", "not $word.isascii()", "$word.isascii()"),
    Break("evaluate", "for_texts", "/ 10", "/ 5"),
    Break("evaluate", "scorer", "$made <= $last", "$made < $last"),
    Break("evaluate", "recalls", "l($row, $evidence, $k)", "l($row, $evidence, $k + 1)"),
    Break("evaluate", "leaderboard", "group_verdict($by_group)", "'worse'"),
    Break("evaluate", "questions_needed", "ddof=1", "ddof=0"),
    Break("evaluation", "sit_exam", "<= top_k", "< top_k"),
    Break("evaluation", "evidence_recall", "/ len($wanted)", "/ top_k"),
    Break("evaluation", "expected_recall", "$values == $score", "$values >= $score"),
    Break("evaluation", "paired_bootstrap", "[2.5, 97.5]", "[5, 95]"),
    Break("evaluation", "resample", "multinomial(n,", "multinomial(n + 1,"),
    Break("evaluation", "signs_by_group", "($means == 0)", "($means >= 0)"),
    Break("evaluation", "group_means", ".mean()", ".median()"),
    Break("evaluation", "grouped_difference", "ddof=1", "ddof=0"),
    Break("evaluation", "t_inside", "($power - 1) / $power", "$power / ($power + 1)"),
    Break("evaluation", "t_point", "($middle, freedom) < $wanted", "($middle, freedom) > $wanted"),
    Break("evaluation", "cluster_bootstrap", "[2.5, 97.5]", "[5, 95]"),
    Break("evaluation", "holm", "len($values), 0, -1", "1, len($values) + 1"),
    Break("evaluation", "group_verdict", "<= 1 and", "<= 2 and"),
)
CONSTANTS = (  # (module, line as it stands, line broken)
    ("recency", "DECAY_PER_HOUR = 0.995", "DECAY_PER_HOUR = 0.985"),
    ("recency", '"semantic": 180.0', '"semantic": 181.0'),
    ("importance", "PINNED_BOOST = 0.20", "PINNED_BOOST = 0.21"),
    ("importance", "PROJECT_POLICY = 0.05", "PROJECT_POLICY = 0.06"),
    ("importance", "DEFAULT_IMPORTANCE = 0.5", "DEFAULT_IMPORTANCE = 0.4"),
    ("importance", '"working": -0.05', '"working": 0.05'),
    ("ranking", "INJECTED = 3", "INJECTED = 4"),
    ("fusion", "RRF_K = 60", "RRF_K = 61"),
    ("fusion", '"dense": 0.8', '"dense": 0.7'),
    ("ranking", "MMR_LAMBDA = 0.8", "MMR_LAMBDA = 0.7"),
    ("ranking", "w_duplicate: float = 0.15", "w_duplicate: float = 0.16"),
    (
        "retrieval",
        "CANDIDATES_DENSE, CANDIDATES_WORDS = 50, 50",
        "CANDIDATES_DENSE, CANDIDATES_WORDS = 50, 49",
    ),
    ("four_part_relevance", "tags: float = 0.05", "tags: float = 0.06"),
    (
        "four_part_relevance",
        "EXACT, PREFIX, NGRAM = 1.0, 0.5, 0.2",
        "EXACT, PREFIX, NGRAM = 1.0, 0.4, 0.2",
    ),
    ("forgetting", "pinned: float = 0.30", "pinned: float = 0.31"),
    ("forgetting", "hard: float = 0.8", "hard: float = 0.7"),
    ("forgetting", '"working": 7.0', '"working": 8.0'),
    ("forgetting", "RECALL_DUE = 0.7", "RECALL_DUE = 0.6"),
    ("forgetting", "FIRST_INTERVALS = (1, 6)", "FIRST_INTERVALS = (1, 5)"),
    ("strength", "ALPHA, BETA = 0.5, 0.5", "ALPHA, BETA = 0.5, 0.4"),
)


def home(root: Path, module: str) -> Path:
    """Where a formula lives: in the library, or among the course's measurements."""
    library = root / "memlib" / f"{module}.py"
    return library if library.is_file() else root / "course" / "measure" / f"{module}.py"


def its_test(module: Path) -> Path:
    return Path("tests", module.parent, f"test_{module.stem}.py")


def red(copy, path: Path, text: str, command: list[str]) -> bool:
    """Put `text` into a file of the copy, run the checks there, put the file back."""
    before = path.read_text(encoding="utf-8")
    assert text != before, "nothing was broken"
    path.write_text(text, encoding="utf-8")
    try:
        environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    finally:
        path.write_text(before, encoding="utf-8")
    assert run.returncode in (0, 1), run.stdout[-1500:] + run.stderr[-1500:]
    return run.returncode == 1


def changed(text: str, old: str, new: str) -> str:
    """Replace the first place where `old` fits by `new`, with the names that $x stands for."""
    met: set[str] = set()

    def name(dollar: re.Match[str]) -> str:
        again, _ = dollar[1] in met, met.add(dollar[1])
        return rf"\b(?P={dollar[1]})\b" if again else rf"\b(?P<{dollar[1]}>[^\W\d]\w*)\b"

    place = re.search(re.sub(r"\\\$(\w+)", name, re.escape(old)), text)
    assert place, f"{old!r} is not there"
    return text[: place.start()] + Template(new).substitute(place.groupdict()) + text[place.end() :]


def function_of(source: str, name: str) -> ast.FunctionDef:
    """A function or Class.method of a module."""
    node = ast.parse(source)
    for part in name.split("."):
        (node,) = [n for n in node.body if getattr(n, "name", "") == part]
    return node


def in_function(source: str, name: str, old: str, new: str) -> str:
    """Replace `old` by `new` in the body of a function or Class.method, not in its docstring."""
    node = function_of(source, name)
    lines = source.splitlines(keepends=True)
    start, end = node.body[ast.get_docstring(node) is not None].lineno - 1, node.end_lineno
    body = "".join(lines[start:end])
    return "".join(lines[:start]) + changed(body, old, new) + "".join(lines[end:])


def with_other_locals(source: str, name: str, other: Callable[[str], str]) -> str:
    """A module with another name for each local variable of one function, but its parameters."""
    node, lines, depth = function_of(source, name), source.splitlines(keepends=True), 0
    names = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    names |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    names -= {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
    tokens, places = [*tokenize.generate_tokens(io.StringIO(source).readline)], []
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        depth += (token.string in set("([{")) - (token.string in set(")]}"))
        no_variable = before.string == "." or (depth and after.string == "=")
        inside = node.lineno < token.start[0] <= node.end_lineno
        if inside and token.string in names and not no_variable:
            places.append((token.start[0] - 1, token.start[1], token.end[1]))
    for row, start, end in reversed(places):
        lines[row] = lines[row][:start] + other(lines[row][start:end]) + lines[row][end:]
    return "".join(lines)


def formula_functions():
    """Every public function of the formula modules that exist, and what their classes do."""
    for module in {broken.module for broken in FORMULAS}:
        source = home(ROOT, module).read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield module, node.name
            protocol = isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases)
            for inner in node.body if isinstance(node, ast.ClassDef) and not protocol else ():
                method = inner.name if isinstance(inner, ast.FunctionDef) else "_"
                if method == "__init__" or not method.startswith("_"):
                    yield module, f"{node.name}.{method}"


def test_every_formula_function_is_broken_once():
    assert sorted((b.module, b.function) for b in FORMULAS) == sorted(formula_functions())


@pytest.mark.parametrize("broken", FORMULAS, ids=lambda b: f"{b.module}.{b.function}")
def test_no_break_pins_the_name_of_a_local_variable(broken):
    source = home(ROOT, broken.module).read_text(encoding="utf-8")
    longer = with_other_locals(source, broken.function, lambda name: f"{name}_")
    here = in_function(source, *broken[1:])
    there = in_function(longer, *broken[1:])
    assert with_other_locals(here, broken.function, lambda name: f"{name}_") == there


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("-$a[$b]", "-$a[$b].round(1)", "y = -x[rows].round(1)"),
        ("$a[$a]", "$a", None),
        ("-x[$rows]", "$rows", "y = rows"),
        ("y = -z", "z", None),
    ],
)
def test_a_place_is_found_by_its_form(old, new, found):
    if found:
        assert changed("y = -x[rows]", old, new) == found
    else:
        with pytest.raises(AssertionError, match="is not there"):
            changed("y = -x[rows]", old, new)


@pytest.mark.parametrize("broken", FORMULAS, ids=lambda b: f"{b.module}.{b.function}")
def test_a_broken_formula_is_noticed_by_its_own_tests(copy, broken):
    path = home(copy, broken.module)
    source = path.read_text(encoding="utf-8")
    text = in_function(source, broken.function, broken.old, broken.new)
    assert red(copy, path, text, [*PYTEST, str(its_test(path.relative_to(copy)))])


@pytest.mark.parametrize(("module", "old", "new"), CONSTANTS, ids=[c[1] for c in CONSTANTS])
def test_a_changed_constant_is_noticed(copy, module, old, new):
    path = copy / "memlib" / f"{module}.py"
    text = changed(path.read_text(encoding="utf-8"), old, new)
    assert red(copy, path, text, [*PYTEST, "tests/test_published_figures.py"])


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_one_digit_in_a_stored_table_is_noticed(copy, chapter):
    path = copy / chapter.relative_to(ROOT)
    notebook = nbformat.read(path, as_version=4)
    texts = [o for c in notebook.cells for o in c.get("outputs", []) if "text" in o]
    outputs = [output for output in texts if re.search(r"\d", output.text)]
    table = max(outputs, key=lambda output: output.text.count("\n"))
    digit = max(re.finditer(r"\d", table.text), key=lambda m: m.start())
    other = str((int(digit.group()) + 1) % 10)
    table.text = table.text[: digit.start()] + other + table.text[digit.end() :]
    assert red(copy, path, nbformat.writes(notebook) + "\n", [*NBVAL, str(path)])


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_cleared_output_is_noticed(copy, chapter):
    path = copy / chapter.relative_to(ROOT)
    notebook = nbformat.read(path, as_version=4)
    cell = next(c for c in notebook.cells if c.get("outputs"))
    cell.outputs, cell.execution_count = [], None
    lint = [*PYTEST, "tests/notebooks/test_lint.py", "-k", chapter.stem]
    assert red(copy, path, nbformat.writes(notebook) + "\n", lint)


@pytest.mark.parametrize("chapter", CHAPTERS[1:], ids=lambda path: path.stem)
def test_a_changed_constant_turns_its_chapter_red(copy, chapter):
    module, old, new = {
        "01": ("similarity", '_units("query", $q)).clip', "$q / 2).clip"),
        "02": ("recency", "DECAY_PER_HOUR = 0.995", "DECAY_PER_HOUR = 0.994"),
        "03": ("importance", "PINNED_BOOST = 0.20", "PINNED_BOOST = 0.21"),
        "04": ("ranking", "$w[1] * $f", "$f"),
        "05": ("bm25", "K1, B = 1.5, 0.75", "K1, B = 1.4, 0.75"),
        "06": ("entity_boost", "1 / np.log2(1 +", "1 / np.log2(2 +"),
        "07": ("fusion", "RRF_K = 60", "RRF_K = 50"),
        "08": (
            "forgetting",
            "VIEW, CITE, EDIT = 1.0, 2.0, 0.5",
            "VIEW, CITE, EDIT = 1.0, 2.0, 0.6",
        ),
        "09": ("strength", "ALPHA, BETA = 0.5, 0.5", "ALPHA, BETA = 0.5, 0.6"),
        "10": ("ranking", "relevance: float = 0.50", "relevance: float = 0.51"),
        "11": ("learning", "PENALTY = 0.001", "PENALTY = 0.01"),
    }[chapter.stem[:2]]
    path = copy / "memlib" / f"{module}.py"
    text = changed(path.read_text(encoding="utf-8"), old, new)
    assert red(copy, path, text, [*NBVAL, str(copy / chapter.relative_to(ROOT))])
