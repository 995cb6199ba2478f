"""One JupyterLab and one browser for all of these tests; a page and a kernel for a notebook."""

from collections.abc import Iterator
from typing import Any

import pytest

from course.chapters import CHAPTERS

NAMES = [f"{chapter.file}.ipynb" for chapter in CHAPTERS]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium; skips, with the reason, where it or Playwright is missing."""
    pytest.importorskip("playwright.sync_api", reason="no playwright: pip install -e '.[dev]'")
    from playwright.sync_api import sync_playwright

    from tests.browser.lab import CHROMIUM, launch

    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        started = launch(playwright)
        yield started
        started.close()


@pytest.fixture(scope="session")
def context(browser: Any) -> Iterator[Any]:
    """One cache for all pages."""
    opened = browser.new_context(
        viewport={"width": 1280, "height": 900}, service_workers="block", reduced_motion="reduce"
    )
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from tests.browser.lab import start_lab

    with start_lab(tmp_path_factory.mktemp("lab")) as started:
        yield started


@pytest.fixture(scope="module")
def chapter(request: pytest.FixtureRequest, context: Any, lab: Any) -> Iterator[Any]:
    """A notebook of the course, every cell run."""
    from tests.browser.lab import Notebook

    notebook = Notebook(context.new_page())
    try:
        notebook.open(lab, request.param)
        notebook.run_all()
        yield notebook
    finally:
        notebook.stop(lab)
