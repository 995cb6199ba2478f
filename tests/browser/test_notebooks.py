"""Every chapter in JupyterLab, in a real browser: it runs, its formulas show, its widgets follow.

Screenshots of the widgets in both themes are kept in build/browser.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import NAMES

pytestmark = pytest.mark.slow
NARROW, WIDE = {"width": 640, "height": 1400}, {"width": 1280, "height": 1400}  # 200 % and 100 %
FORMULA = re.compile(r"\$\$.+?\$\$|(?<!\\)\$[^$\n]+\$", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
WITHOUT_WIDGET = ("00_start_here",)


def cells(lab: Any, name: str, kind: str) -> list[str]:
    book = nbformat.read(lab.folder / name, as_version=4)
    found = [cell.source for cell in book.cells if cell.cell_type == kind]
    return [source for source in found if source.strip()]


@pytest.mark.parametrize("chapter", NAMES, indirect=True)
class TestChapter:
    def test_it_runs_in_order_without_error(self, chapter: Any, lab: Any) -> None:
        from tests.browser import checks

        assert checks.cells(chapter, len(cells(lab, chapter.name, "code"))) == []

    def test_its_formulas_are_drawn(self, chapter: Any, lab: Any) -> None:
        from tests.browser import checks

        texts = [CODE.sub("", text) for text in cells(lab, chapter.name, "markdown")]
        wanted = [formula for text in texts for formula in FORMULA.findall(text)]
        assert checks.formulas(chapter) == (len(wanted), [])

    def test_its_widgets_follow_the_keys(self, chapter: Any) -> None:
        from tests.browser import widgets

        roots = widgets.roots(chapter.page)
        assert roots or Path(chapter.name).stem in WITHOUT_WIDGET
        for root in roots:
            assert len(widgets.controls(root)) >= 2
            assert widgets.unreached(root) == []
            assert widgets.faults(root, chapter.settle) == []

    def test_its_widgets_fit_both_themes_and_both_sizes(self, chapter: Any) -> None:
        from tests.browser import widgets

        for theme, size in (("Light", WIDE), ("Light", NARROW), ("Dark", WIDE)):
            chapter.page.set_viewport_size(size)
            chapter.command("apputils:change-theme", theme=f"JupyterLab {theme}")
            chapter.settle()
            for number, root in enumerate(widgets.roots(chapter.page)):
                name = f"{Path(chapter.name).stem}-{number}-{theme.lower()}-{size['width']}.png"
                widgets.keep(root, name)
                assert widgets.cut_off(root) == [], name
                assert widgets.faint(root) == [], name

    def test_nothing_else_went_wrong_and_nothing_was_fetched(self, chapter: Any) -> None:
        from tests.browser import checks

        assert checks.page(chapter) == []
