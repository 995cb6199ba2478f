"""The course as a site: whole, in order, sound in its links, and silent on the network."""

import itertools
import posixpath
import re
import runpy
import subprocess
import sys

import nbformat
import pytest

from tests.notebooks.refresh import NOTEBOOKS, PLACEHOLDER, ROOT
from tests.site import panels
from tests.site.pages import broken, fetched, read_all, speechless

NOT_A_PAGE = ["playground"]  # nothing stored in it can be read: it lives from its controls
PAGES = [p for p in NOTEBOOKS if p.stem not in NOT_A_PAGE]
NAMES = [p.relative_to(ROOT / "notebooks").with_suffix("").as_posix() for p in PAGES]


def listed():
    """The pages in the order of the index: chapters, then exercises."""
    conf = runpy.run_path(str(ROOT / "site" / "conf.py"))
    index = conf["with_lists"]((ROOT / "notebooks" / "index.md").read_text(encoding="utf-8"))
    return re.findall(r"^\d\d .+ <(.+)>$", index, flags=re.M)


def without_space(text):
    return "".join(text.split())


def led(page, address):
    """Where an address on a page leads, as a path in the site."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), address))


def outputs(cell):
    """What a cell printed, as text."""
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        if PLACEHOLDER not in text and "image/png" not in output.get("data", {}):
            yield text


def test_the_index_lists_every_notebook_in_its_order():
    chapters = [name for name in NAMES if "/" not in name]
    exercises = [name for name in NAMES if "/" in name]
    assert listed() == chapters + exercises


@pytest.mark.slow
def test_every_link_leads_somewhere(built):
    pages = read_all(built)
    assert len(pages) == len(NAMES) + 2  # the index and the search
    assert broken(built, pages) == []


@pytest.mark.slow
def test_links_between_notebooks_are_links_between_pages(built):
    pages = read_all(built)
    for path, name in zip(PAGES, NAMES, strict=True):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        for target in re.findall(r"\]\(([\w./-]+)\.ipynb\)", prose):
            assert target in NOT_A_PAGE or f"{target}.html" in pages[f"{name}.html"].links
        links = [a for a in pages[f"{name}.html"].links if a.endswith(".ipynb")]
        assert all("_sources/" in a or "_downloads/" in a for a in links)  # to be saved


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(built):
    assert fetched(built, read_all(built)) == []


@pytest.mark.slow
def test_every_picture_has_words(built):
    pages = read_all(built)
    assert speechless(pages) == []
    pictures = {a for page in pages.values() for a in page.loads if "_images/" in a}
    assert len(pictures) >= len([n for n in NAMES if "/" not in n])


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), list(zip(PAGES, NAMES, strict=True)), ids=NAMES)
def test_what_a_notebook_says_and_prints_stands_on_its_page(built, path, name):
    page = without_space(read_all(built)[f"{name}.html"].text)
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert without_space(cell.source) in page
            for text in outputs(cell):
                assert without_space(text) in page
    assert without_space(PLACEHOLDER) not in page
    at = f"work{name.removeprefix('exercises')}" if "/" in name else f"notebooks/{name}"
    assert f"typemakelabandopen{at}.ipynb." in page


@pytest.mark.slow
def test_a_chapter_that_jupyterlab_saved_keeps_its_panel():
    pytest.importorskip("myst_nb", reason="no sphinx: pip install -e '.[dev]'")
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "VBox()"}
    saved = {"output_type": "display_data", "metadata": {}, "data": view}
    cells = [
        {"cell_type": "markdown", "source": "# Title\n\nText.", "metadata": {}},
        {"cell_type": "code", "source": "explore()", "metadata": {}, "outputs": [saved]},
        {"cell_type": "code", "source": "1", "metadata": {}, "outputs": []},
    ]
    conf = runpy.run_path(str(ROOT / "site" / "conf.py"))
    made = conf["for_the_page"]({"cells": cells}, "08_forgetting")["cells"]
    drawn = (ROOT / "site" / "panels" / "08_forgetting.html").read_text(encoding="utf-8")
    assert [output["data"]["text/html"] for output in made[1]["outputs"]] == [drawn]
    assert made[2]["outputs"] == []


@pytest.mark.slow
def test_previous_and_next_go_through_chapters_then_exercises(built):
    pages = read_all(built)
    order = ["index.html", *(f"{name}.html" for name in listed())]
    for before, after in itertools.pairwise(order):
        assert led(before, pages[before].neighbours["next"]) == after
        assert led(after, pages[after].neighbours["prev"]) == before
    assert "next" not in pages[order[-1]].neighbours


@pytest.mark.slow
def test_each_chapter_s_panel_is_drawn_as_it_is(tmp_path):
    command = [sys.executable, "-m", "tests.site.panels", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    drawn, stored = (
        {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
        for folder in (tmp_path, panels.PANELS)
    )
    assert stored == drawn, "draw them again: python -m tests.site.panels"
