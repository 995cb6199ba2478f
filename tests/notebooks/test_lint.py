"""What every notebook must keep to: executed in order, clean, described, small steps, no numbers
in prose that nothing printed."""

import ast
import itertools
import json
import re
import sys

import nbformat
import pytest

from tests.notebooks.refresh import NOTEBOOKS, PLACEHOLDER, ROOT, as_text, normalise

CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]
EXERCISES = [path for path in NOTEBOOKS if path.parent.name != "notebooks"]
every = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
IGNORED = "nbval-ignore-output"
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)")
WIDGET_CALL = re.compile(r"^(?:\w+\.)?explore\(")
MACHINE = re.compile(r"/(?:home|root|tmp|usr|var|Users|opt|mnt)/|[A-Z]:\\")
FETCH = re.compile(r"^\s*[!%]|pip install|urllib|requests\.|urlopen|read_csv\(['\"]http")


def read(path):
    return nbformat.read(path, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def printed(notebook):
    """All text of a notebook's code and outputs, pictures left out."""
    said = []
    for cell in code(notebook):
        said.append(cell.source)
        for output in cell.outputs:
            said += [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
    return "\n".join(said)


def unexecuted(notebook):
    """Code cells that were never run, or run out of order."""
    counts = [cell.execution_count for cell in code(notebook)]
    return [f"{i}: {c}" for i, c in enumerate(counts, 1) if c != i]


def silent(notebook):
    """Cells that end in a print or an expression, and show nothing."""
    found = []
    for cell in code(notebook):
        last = ast.parse(cell.source).body[-1]
        if isinstance(last, ast.Expr) and not cell.outputs:
            found.append(cell.source)
    return found


def unprinted_numbers(notebook):
    """Decimal numbers in prose that stand in no code and no output of the notebook."""
    known = printed(notebook)
    numbers = set(re.findall(r"\d+\.\d+", known))
    found = []
    for cell in prose(notebook):
        text = re.sub(r"\]\([^)]*\)|\$\$.*?\$\$|\$[^$]*\$", " ", cell.source, flags=re.S)
        text = re.sub(r"Example: `.*", " ", text)  # a worked example: a visible check holds it
        found += [n for n in NUMBER.findall(text) if n not in numbers]
    return found


def test_there_are_notebooks_of_both_sorts():
    assert CHAPTERS and EXERCISES


@every
def test_every_cell_was_run_once_in_order_without_an_error(path):
    notebook = read(path)
    assert unexecuted(notebook) == []
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []
    assert silent(notebook) == []


@every
def test_the_file_is_as_refresh_writes_it(path):
    notebook = read(path)
    assert path.read_text(encoding="utf-8") == as_text(normalise(notebook))
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "nbgrader"}
        assert set(cell.metadata.get("tags", [])) <= {IGNORED}


@every
def test_nothing_of_a_machine_is_stored_and_nothing_is_fetched(path):
    notebook = read(path)
    assert MACHINE.findall(printed(notebook)) == []
    assert [cell.source for cell in code(notebook) if FETCH.search(cell.source)] == []
    assert "\x1b[" not in json.dumps([cell.outputs for cell in code(notebook)])


@every
def test_output_is_ignored_only_where_a_widget_is_shown(path):
    for cell in code(read(path)):
        is_widget = bool(WIDGET_CALL.match(cell.source.splitlines()[-1]))
        assert (IGNORED in cell.metadata.get("tags", [])) == is_widget, cell.source
        placeholder = any(PLACEHOLDER in str(output.get("data", "")) for output in cell.outputs)
        assert placeholder == is_widget, cell.source


@every
def test_cells_are_small_steps(path):
    lengths = [len(cell.source.splitlines()) for cell in code(read(path))]
    assert max(lengths) <= 15
    assert sorted(lengths)[len(lengths) // 2] <= 6


@every
def test_headings_begin_with_one_title_and_skip_no_level(path):
    lines = "\n".join(cell.source for cell in prose(read(path))).splitlines()
    levels = [len(line) - len(line.lstrip("#")) for line in lines if re.match(r"#+ ", line)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(deeper - level <= 1 for level, deeper in itertools.pairwise(levels))


@every
def test_every_picture_has_words(path):
    for cell in prose(read(path)):
        for words in re.findall(r"!\[([^\]]*)\]\(", cell.source):
            assert len(words.split()) >= 5
        assert "<img" not in cell.source
    for cell in code(read(path)):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                alt = output.metadata["image/png"]["alt"]
                assert len(alt.split()) >= 5 and alt == output.data["text/plain"]
                said = [" ".join(other.get("text", "").split()) for other in cell.outputs]
                assert any(" ".join(alt.split()) in text for text in said)


@every
def test_no_output_depends_on_a_plotting_library_s_words(path):
    """A figure's text is our sentence, and no cell hides its value behind a semicolon."""
    for cell in code(read(path)):
        assert not cell.source.rstrip().endswith(";")
        texts = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
        assert not re.search(r"<Figure|<Axes|matplotlib|object at 0x", " ".join(texts))


def embeds_live(source):
    """Whether a cell runs the bundled model, whose last digits are the processor's."""
    live = re.search(r"""choose\((["']bundled["'])?\)|\bBundled\(""", source)
    command = "-m memlib evaluate" in source and "--embedder recorded" not in source
    return bool(live) or command


@every
def test_no_stored_output_hangs_on_the_last_digits_of_the_model(path):
    for cell in code(read(path)):
        if embeds_live(cell.source):
            assert IGNORED in cell.metadata.get("tags", []), cell.source


@pytest.mark.parametrize(
    ("source", "live"),
    [
        *(('embedder = choose("bundled")', True), ("explore(choose())", True), ("Bundled()", True)),
        *(('choose("recorded")', False), ('run("-m memlib evaluate")', True)),
        ('run("-m memlib evaluate --embedder recorded --k 1,3")', False),
    ],
)
def test_a_cell_that_embeds_live_is_known(source, live):
    assert embeds_live(source) == live


def test_widgets_are_built_from_core_ipywidgets_alone():
    allowed = {"ipywidgets", "numpy", "pandas", "memlib", *sys.stdlib_module_names}
    for path in (ROOT / "memlib" / "show" / "widgets").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= allowed, path.name


@every
def test_every_number_in_prose_is_printed_or_in_the_code(path):
    assert unprinted_numbers(read(path)) == []


@chapter
def test_a_chapter_has_its_anatomy(path):
    text = "\n".join(cell.source for cell in prose(read(path)))
    assert re.match(r"# .*\?\n", text), "the title is a question"
    assert "**Time**" in text and "**Next**" in text and "**redict" not in text
    assert "**Predict" in text
    for heading in ("## What you take along",):
        assert heading in text
    if not path.stem.startswith("00"):
        for heading in ("## Where it breaks", "### You might think", "## Back to the exam"):
            assert heading in text
        assert "## Do you still know?" in text and text.count("<summary>") >= 3
        assert WIDGET_CALL.search(
            "\n".join(
                c.source.splitlines()[-1]
                for c in code(read(path))
                if IGNORED in c.metadata.get("tags", [])
            )
        )


@chapter
def test_links_lead_to_files_that_exist(path):
    for cell in prose(read(path)):
        for target in re.findall(r"\]\(([^)#]+)\)", cell.source):
            assert target.startswith("https://") or (path.parent / target).exists(), target
