"""The browser tests tested: each of their checks sees the fault that it is there for."""

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

pytestmark = pytest.mark.slow
OUTSIDE = "http://example.org/pixel.png"
TEXT = rf"$\left( x$ and $\nosuchmacro{{x}}$ and \$5 ![pixel]({OUTSIDE})"
WIDGET = """
import ipywidgets
from course.widgets import parts
n, dead = parts.slider("n", 1, 0, 2, 1), parts.slider("dead", 1, 0, 2, 1)
dead.description = "a label that is far too long for the place where it stands"
look = "color:#999;background:#fff"
said = lambda v: f"<div style='{look}'>{2 / v['n']:.0f} faint</div>" * int(v["n"])
box = parts.panel(said, {"n": n, "d": dead})
def broken(change):
    raise RuntimeError("in a callback")
n.observe(broken, names="value")
*controls, reset, output = box.children
box.children = (output, *controls, ipywidgets.Button(description="Reset"))
box"""
CODE = ("import sys; print('careful', file=sys.stderr)", WIDGET, "1 / 0", "'never run'")


@pytest.fixture(scope="module")
def bad(context: Any, lab: Any) -> Iterator[Any]:
    """A notebook with every fault in it."""
    from tests.browser.lab import Notebook

    book = new_notebook(cells=[new_markdown_cell(TEXT), *map(new_code_cell, CODE)])
    nbformat.write(book, lab.folder / "bad.ipynb")
    notebook = Notebook(context.new_page())
    try:
        notebook.open(lab, "bad.ipynb")
        notebook.run_all()
        yield notebook
    finally:
        notebook.stop(lab)


def test_a_cell_that_fails_warns_or_never_ran_is_seen(bad: Any) -> None:
    from tests.browser import checks

    executed, warned, failed = checks.cells(bad, 4)
    assert executed == "executed: [1, 2, 3, None]"
    assert (warned, failed) == ("In [1]: careful\n", "In [3]: division by zero")
    assert checks.cells(bad, 3)[0] == executed


def test_a_formula_with_an_error_is_seen(bad: Any) -> None:
    from tests.browser import checks

    count, faults = checks.formulas(bad)
    assert count == 2
    assert len([said for said in faults if "with an error" in said]) == 2


def test_a_formula_left_as_text_is_seen(bad: Any) -> None:
    from tests.browser import checks

    bad.page.evaluate("() => document.querySelector('mjx-container').replaceWith('$x^2$')")
    assert "left as text: $x^2$" in checks.formulas(bad)[1]


def test_what_is_wrong_with_a_widget_is_seen(bad: Any) -> None:
    from tests.browser import widgets

    (root,) = widgets.roots(bad.page)
    n, dead = (control.label for control in widgets.controls(root))
    assert widgets.unreached(root) == []
    last = root.locator(".widget-slider").last
    last.evaluate("slider => { slider.inert = true; }")
    assert widgets.unreached(root) == [dead]
    last.evaluate("slider => { slider.inert = false; }")
    assert dead in widgets.cut_off(root)
    assert widgets.faint(root) == ["2 faint"]
    faults = widgets.faults(root, bad.settle)
    assert f"{dead}: the text does not follow" in faults
    assert f"{n}: Reset does not bring the start back" in faults
    assert f"{n} at 2: the controls jump" in faults
    assert any(said.startswith(f"{n} at 0: Cannot show this:") for said in faults)


def test_an_error_in_a_callback_is_seen(bad: Any) -> None:
    from tests.browser import checks

    assert "kernel: RuntimeError: in a callback" in checks.page(bad)


def test_a_request_to_another_machine_is_seen_and_goes_nowhere(bad: Any) -> None:
    from tests.browser import checks

    assert f"asked for {OUTSIDE}" in checks.page(bad)
    load = "u => fetch(u).then(() => 'reached', () => 'blocked')"
    assert bad.page.evaluate(load, "https://example.org/script.js") == "blocked"
    assert "asked for https://example.org/script.js" in checks.page(bad)


def test_a_script_that_crashes_and_a_dialog_are_seen(bad: Any) -> None:
    from tests.browser import checks

    bad.page.evaluate("() => { setTimeout(() => { throw new Error('boom'); }); }")
    bad.page.evaluate("() => { window.jupyterapp.commands.execute('help:about'); }")
    bad.page.wait_for_selector(".jp-Dialog-header")
    faults = checks.page(bad)
    assert "script: boom" in faults
    assert any(said.startswith("dialog: ") for said in faults)


@pytest.mark.parametrize(
    ("url", "outside"),
    [
        ("http://127.0.0.1:8888/lab", False),
        ("ws://127.0.0.1:8888/api/kernels", False),
        ("data:image/png;base64,AAAA", False),
        ("blob:http://127.0.0.1:8888/1", False),
        ("http://localhost.example.org/", True),
        ("https://cdn.jsdelivr.net/npm/mathjax", True),
        ("wss://example.org/", True),
        ("http://127.0.0.1.example.org/", True),
    ],
)
def test_what_is_another_machine(url: str, outside: bool) -> None:
    pytest.importorskip("playwright.sync_api", reason="no playwright: pip install -e '.[dev]'")
    from tests.browser.lab import leaves

    assert leaves(url) is outside
