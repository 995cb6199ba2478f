"""The course as a website: `make site` builds it from the outputs stored in the notebooks.

Nothing is executed, and no page asks the network for anything. Notebooks are read as they are
committed; `source-read` changes them in memory only.
"""

import json
from html import escape
from importlib.metadata import files
from pathlib import Path
from typing import Any

from course.chapters import CHAPTERS, TABLE, WITH_EXERCISE

HERE = Path(__file__).parent
PLACEHOLDER = "The controls appear here"  # how tests/notebooks/refresh.py stores a widget's view
VIEW = "application/vnd.jupyter.widget-view+json"  # how JupyterLab saves it

project = html_title = "Which memories come first?"
author = copyright = ""
root_doc = "index"
include_patterns = ["index.md", "[0-9]*.ipynb", "exercises/ch*/ch*.ipynb"]
extensions = ["myst_nb", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "off"
nb_merge_streams = True

# one file with the glyphs in it: no font to load, which a browser may refuse a page from a file
(mathjax,) = (f for f in files("sphinx-mathjax-offline") or [] if f.name == "tex-svg-full.js")
mathjax_path = mathjax.name
html_static_path = ["static", str(mathjax.locate())]
html_css_files = ["site.css"]
html_theme = "sphinx_book_theme"
html_theme_options = {
    "home_page_in_toc": True,
    "navbar_persistent": [],  # the search field stands in the sidebar already
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "use_fullscreen_button": False,
}
html_show_search_summary = False  # it would fetch the pages, which a browser refuses from a file
html_show_copyright = html_show_sphinx = html_use_index = False


def hint(page: str) -> str:
    """How to get from a page to the notebook that runs."""
    if page.startswith("exercises/"):
        name = page.removeprefix("exercises/")
        return f"**To do this exercise**, type `make lab` and open `work/{name}.ipynb`."
    return f"**To run this page**, type `make lab` and open `notebooks/{page}.ipynb`."


def panel(page: str) -> list[dict[str, Any]]:
    """What stands in place of a widget: its panel at the start, as a figure."""
    drawn = HERE / "panels" / f"{page}.html"
    return [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/html": drawn.read_text(encoding="utf-8")},
        }
    ]


def told(output: dict[str, Any], words: str) -> dict[str, Any]:
    """A printed text that says what a picture shows becomes a line below the picture."""
    if not words or " ".join("".join(output.get("text", "")).split()) != " ".join(words.split()):
        return output
    line = {"text/html": f'<p class="caption">{escape(words)}</p>'}
    return {"output_type": "display_data", "metadata": {}, "data": line}


def for_the_page(notebook: dict[str, Any], page: str) -> dict[str, Any]:
    """A notebook with the hint below its title, a figure for each widget, words for pictures."""
    title, _, rest = "".join(notebook["cells"][0]["source"]).partition("\n")
    below = f"```{{container}} lab\n{hint(page)}\n```"
    notebook["cells"][0]["source"] = f"{title}\n\n{below}\n\n{rest}"
    for cell in notebook["cells"]:
        outputs = cell.get("outputs", [])
        words = "".join(o.get("metadata", {}).get("image/png", {}).get("alt", "") for o in outputs)
        if words:
            cell["metadata"]["mystnb"] = {"image": {"alt": words}}
            cell["outputs"] = [told(output, words) for output in outputs]
        if any(mark in str(outputs) for mark in (PLACEHOLDER, VIEW)):
            cell["outputs"] = panel(page)
    return notebook


def with_lists(index: str) -> str:
    """The start page with the lists of chapters and exercises, as the table has them."""
    lists = {
        "CHAPTERS": [f"{c.name} <{c.file}>" for c in CHAPTERS],
        "EXERCISES": [f"{c.name} <exercises/ch{c.number}/ch{c.number}>" for c in WITH_EXERCISE],
    }
    for word, lines in lists.items():
        index = index.replace(f"\n{word}\n", "\n".join(["", *lines, ""]))
    return index


def on_source_read(app: Any, page: str, source: list[str]) -> None:
    if page == root_doc:
        source[0] = with_lists(source[0])
        app.env.note_dependency(str(TABLE))  # an index built before an entry came is built anew
    if app.env.doc2path(page).suffix == ".ipynb":
        source[0] = json.dumps(for_the_page(json.loads(source[0]), page))


def setup(app: Any) -> None:
    app.connect("source-read", on_source_read)
