"""A slider move to new pixels in chapter 04's controls, in JupyterLab and Debian's Chromium."""

import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import numpy as np
from nbformat.v4 import new_code_cell, new_notebook

from tests.benchmarks.run import Row

CODE = """
from memlib.recency import age_hours
from course.widgets import normalization
from memlib.similarity import cosine
from course.data.maya import COURSE_NOW, PUBLISHED_QUESTION, published_cards
from course.data.maya import maya_cards
from course.data.recorded import choose
from tests.benchmarks.normalization import many
cards = {cards}
embedder = choose("recorded")
query = embedder.embed([PUBLISHED_QUESTION], role="query")[0]
hours = age_hours(cards["created_at"], cards["last_accessed_at"], COURSE_NOW)
normalization.explore(cards, cosine(query, embedder.embed(list(cards["text"]))), hours)"""
SETS = {8: "published_cards()", 208: "maya_cards()", 10_000: "many(10_000)"}
MOVE = """async ([slider, output, key]) => {
  const frame = () => new Promise(requestAnimationFrame), before = output.innerText;
  const begin = performance.now();
  slider.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
  while (output.innerText === before) {
    if (performance.now() - begin > 10000) throw new Error('nothing changed in 10 s');
    await new Promise(resolve => setTimeout(resolve));
  }
  await frame(); await frame();
  return performance.now() - begin;
}"""


def measure(small: bool) -> list[Row]:
    """Median and 95th percentile for 8, 208 and 10,000 cards; no row where there is no browser."""
    try:
        from playwright.sync_api import sync_playwright

        from tests.browser.lab import CHROMIUM, Notebook, launch, start_lab
    except ModuleNotFoundError as error:
        print(f"browser: {error}", file=sys.stderr)
        return []
    if CHROMIUM is None:
        print("browser: no Chromium", file=sys.stderr)
        return []
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        lab = stack.enter_context(start_lab(folder))
        context = launch(stack.enter_context(sync_playwright())).new_context()
        for n, cards in list(SETS.items())[: 1 if small else None]:
            name = f"cards-{n}.ipynb"
            book = new_notebook(cells=[new_code_cell(CODE.format(cards=cards))])
            nbformat.write(book, lab.folder / name)
            notebook = Notebook(context.new_page())
            notebook.open(lab, name)
            notebook.run_all()
            moves = slider_moves(notebook, 5 if small else 60)
            notebook.stop(lab)
            for said, value in (("median", 50), ("95th percentile", 95)):
                told = f"slider move to new pixels in the browser, {n:,} cards, {said}"
                rows.append(Row(told, float(np.percentile(moves, value)), "ms"))
    return rows


def slider_moves(notebook: Any, times: int) -> list[float]:
    """Milliseconds from a key on the slider to the frame after the text changed."""
    page = notebook.page
    slider = page.locator(".noUi-handle").first.element_handle()
    output = page.locator(".widget-html-content").first.element_handle()
    took = []
    for move in range(times + 3):
        key = "ArrowRight" if move % 40 < 20 else "ArrowLeft"
        took.append(page.evaluate(MOVE, [slider, output, key]))
        notebook.settle()
    return took[3:]  # the first ones warm up
