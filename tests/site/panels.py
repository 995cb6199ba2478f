"""Draw each chapter's panel at its start, as a figure for the site: python -m tests.site.panels."""

import ast
import contextlib
import io
import sys
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import matplotlib
import nbformat

from course.chapters import CHAPTERS
from course.widgets import parts
from tests.notebooks.refresh import PLACEHOLDER, ROOT

PANELLED = [ROOT / chapter.notebook for chapter in CHAPTERS]
PANELS = ROOT / "site" / "panels"
CAPTION = "The panel as it opens. Its controls move when you run the page in JupyterLab."


def widgets_of(path: Path) -> list[Any]:
    """The widgets of a chapter; its cells are run here, up to the last of them."""
    code = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    shown = [PLACEHOLDER in str(cell.outputs) for cell in code]
    names: dict[str, Any] = {"__name__": path.stem}
    found = []
    matplotlib.use("Agg")
    with contextlib.redirect_stdout(io.StringIO()):
        for cell, is_widget in zip(code, shown, strict=True):
            if len(found) == sum(shown):
                break
            tree = ast.parse(cell.source)
            last = tree.body.pop() if is_widget else None
            exec(compile(tree, path.name, "exec"), names)
            if isinstance(last, ast.Expr):
                found.append(eval(compile(ast.Expression(last.value), path.name, "eval"), names))
    return found


def drawn(widget: Any) -> str:
    """A widget and what it holds as HTML that needs no script; no control can be moved."""
    if isinstance(widget, widgets.Box):
        return "\n".join(filter(None, map(drawn, widget.children)))
    if isinstance(widget, widgets.HTML):
        return f"<div>{widget.value.removesuffix(parts.ARROW)}</div>"  # for lists that open
    if isinstance(widget, widgets.Button | widgets.IntProgress):
        return ""  # nothing to press, nothing under way
    label, value = escape(widget.description), widget.value
    if isinstance(widget, widgets.FloatSlider | widgets.IntSlider):
        shown = format(value, widget.readout_format)
        box = f'<input type="range" min="{widget.min}" max="{widget.max}" step="any" '
        box += f'value="{value}" disabled><output>{shown}</output>'
    elif isinstance(widget, widgets.Dropdown):
        box = f"<select disabled><option>{escape(str(widget.label))}</option></select>"
    elif isinstance(widget, widgets.Select):
        chosen = {name: " selected" for name in [widget.label]}
        names = "".join(
            f"<option{chosen.get(name, '')}>{escape(name)}</option>"
            for name in widget._options_labels
        )
        box = f'<select size="{widget.rows}" disabled>{names}</select>'
    elif isinstance(widget, widgets.Textarea):
        box = f'<textarea rows="{widget.rows}" disabled>{escape(value)}</textarea>'
    elif isinstance(widget, widgets.Text):
        box = f'<input type="text" value="{escape(value)}" disabled>'
    elif isinstance(widget, widgets.Checkbox):
        box = f'<input type="checkbox"{" checked" if value else ""} disabled>'
    else:
        raise TypeError(f"no way to draw {type(widget).__name__}: add one in {Path(__file__).name}")
    return f"<label><span>{label}</span>{box}</label>"


def figure(path: Path) -> str:
    """The chapter's panel, ready for its page."""
    (panel,) = widgets_of(path)
    return (
        f'<figure class="panel">\n<figcaption>{CAPTION}</figcaption>\n{drawn(panel)}\n</figure>\n'
    )


def main(folder: Path = PANELS) -> int:
    """Draw the panels of all chapters; unchanged ones keep their bytes."""
    folder.mkdir(exist_ok=True)
    for path in PANELLED:
        target = folder / f"{path.stem}.html"
        target.write_text(figure(path), encoding="utf-8", newline="\n")
        print(f"drawn {target.name}")
    for target in set(folder.iterdir()) - {folder / f"{path.stem}.html" for path in PANELLED}:
        target.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
