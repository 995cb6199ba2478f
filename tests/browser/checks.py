"""What is looked for on a page: each check returns the faults found, none is good."""

from typing import Any

from tests.browser.lab import Notebook

CELLS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .filter(cell => cell.type === 'code' && cell.sharedModel.source.trim())
  .map(cell => ({count: cell.executionCount, outputs: cell.outputs.toJSON()}))"""
FORMULAS = r"""() => [...document.querySelectorAll('.jp-MarkdownCell')].map(cell => {
  const shown = cell.querySelector('.jp-RenderedMarkdown')?.cloneNode(true);
  const source = cell.querySelector('.jp-MarkdownCell') ?? cell;
  if (!shown) return {lost: 'a cell of text is not rendered', count: 0};
  const made = [...shown.querySelectorAll('mjx-container')];
  const bad = made.filter(m => m.querySelector('mjx-merror, [data-mjx-error]') || !m.innerHTML)
    .concat(made.filter(m => m.querySelector('mjx-mtext[style*="color: red"]')));
  made.concat([...shown.querySelectorAll('code, pre')]).forEach(node => node.remove());
  const left = shown.textContent.match(/\$[^$\n]+\$|\\\(|\\\[|\\frac|\\cdot/);
  return {count: made.length, bad: bad.map(m => m.textContent), lost: left && left[0]};
})"""


def cells(notebook: Notebook, expected: int) -> list[str]:
    """Code cells that did not run in order, and those that ended in an error or a warning."""
    found = notebook.page.evaluate(CELLS)
    counts = [cell["count"] for cell in found]
    faults = [] if counts == list(range(1, expected + 1)) else [f"executed: {counts}"]
    for cell in found:
        for output in cell["outputs"]:
            if output["output_type"] == "error" or output.get("name") == "stderr":
                said = output.get("evalue") or output.get("text")
                faults.append(f"In [{cell['count']}]: {said}")
    return faults


def page(notebook: Notebook) -> list[str]:
    """Requests to other machines, crashed scripts, dialogs, and errors sent by the kernel."""
    faults = [f"asked for {url}" for url in notebook.outside]
    faults += [f"script: {said}" for said in notebook.crashes]
    dialogs = notebook.page.locator(".jp-Dialog-header")
    faults += [f"dialog: {said}" for said in dialogs.all_inner_texts()]
    faults += [
        f"kernel: {said}" for said in notebook.page.evaluate("() => window.watch?.errors ?? []")
    ]
    return faults


def formulas(notebook: Notebook) -> tuple[int, list[str]]:
    """How many formulas MathJax has drawn; errors in them, and formulas left as text."""
    found: list[dict[str, Any]] = notebook.page.evaluate(FORMULAS)
    faults = [f"formula with an error: {said}" for cell in found for said in cell.get("bad", [])]
    faults += [f"left as text: {cell['lost']}" for cell in found if cell["lost"]]
    return sum(cell["count"] for cell in found), faults
