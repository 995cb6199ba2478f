"""The playground in JupyterLab and as the page of `make playground`, used as a reader would.

Screenshots are kept in build/browser.
"""

import csv
import io
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.notebooks.refresh import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / "notebooks" / "playground.ipynb").is_file(), reason="no playground yet"
    ),
]
TOPICS = ("tea", "trains", "a garden", "old maps", "swimming")


class Place:
    """The playground on a page."""

    def __init__(self, notebook: Any, name: str) -> None:
        from tests.browser import widgets

        self.notebook, self.page, self.name = notebook, notebook.page, name
        self.page.wait_for_selector(".mlsbs li.card", timeout=120_000)
        notebook.settle()
        (self.root,) = widgets.roots(self.page)

    def lists(self) -> list[str]:
        return list(self.root.locator(".mlsbs li.card").all_inner_texts())

    def dark(self) -> bool:
        """Whether what lies behind the text is nearer to black than to white."""
        said = self.page.evaluate(
            "() => getComputedStyle(document.body).getPropertyValue('--jp-layout-color0')"
        )
        return str(said).strip().lower() not in ("white", "#fff", "#ffffff")

    def alerts(self) -> list[str]:
        return list(self.root.locator('[role="alert"]').all_inner_texts())

    def press(self, button: str) -> None:
        self.root.get_by_role("button", name=button).click()
        self.notebook.settle()

    def ask(self, question: str) -> None:
        self.root.get_by_label("question").fill(question)
        self.root.get_by_label("question").press("Enter")
        self.notebook.settle()

    def choose(self, memories: str) -> None:
        self.root.get_by_label("memories").select_option(label=memories)
        self.notebook.settle()

    def give(self, button: str, name: str, text: str) -> None:
        """Hand a file to an upload button."""
        with self.page.expect_file_chooser() as chooser:
            self.root.get_by_role("button", name=button).click()
        chooser.value.set_files(
            {"name": name, "mimeType": "text/plain", "buffer": text.encode("utf-8")}
        )
        self.page.wait_for_timeout(500)  # the browser reads the file before it sends it
        self.notebook.settle()


@pytest.fixture(scope="module", params=["lab", "voila"])
def place(
    request: pytest.FixtureRequest, context: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    from tests.browser.lab import Notebook, start_voila

    notebook = Notebook(context.new_page())
    with ExitStack() as stack:
        if request.param == "lab":
            lab = request.getfixturevalue("lab")
            stack.callback(notebook.stop, lab)
            notebook.open(lab, "playground.ipynb")
            notebook.run_all()
        else:
            pytest.importorskip("voila", reason="no voila")
            voila = stack.enter_context(start_voila(tmp_path_factory.mktemp("voila")))
            stack.callback(notebook.page.close)
            notebook.visit(voila.url)
        yield Place(notebook, request.param)


def memories(n: int, **wrong: str) -> str:
    """A CSV of own memories; `wrong` values stand in the last row."""
    out = io.StringIO()
    rows = csv.DictWriter(out, ["id", "text", "created_at", "importance"], lineterminator="\n")
    rows.writeheader()
    for i in range(n):
        row = {"id": f"m{i:02}", "text": f"Ana spoke of {TOPICS[i % 5]} on day {i}."}
        row |= {"created_at": f"2025-05-{1 + i % 28:02}T09:00Z", "importance": str(1 + i % 10)}
        rows.writerow(row | wrong if i == n - 1 else row)
    return out.getvalue()


def test_it_begins_with_two_lists_and_no_error(place: Place) -> None:
    assert len(place.lists()) == 16
    assert place.alerts() == []


@pytest.mark.parametrize("group", ["Weights", "Recency and fusion", "Diversity and threshold"])
def test_every_setting_follows_the_keys(place: Place, group: str) -> None:
    from tests.browser import widgets

    place.press(group)
    assert widgets.unreached(place.root) == []
    sides = ("A: ", "B: ", "cards picked") if group == "Weights" else ("A: ", "B: ")
    found = widgets.faults(place.root, place.notebook.settle, lambda said: said.startswith(sides))
    assert found == []
    place.press("Weights")


def test_a_question_is_answered_and_an_empty_one_is_told(place: Place) -> None:
    before, asked = place.lists(), place.root.get_by_label("question").input_value()
    place.ask("What can we cook without peanuts?")
    assert place.lists() != before
    place.ask("")
    assert "Now type a question" in place.root.inner_text() and place.lists() == []
    place.ask(asked)
    assert (place.lists(), place.alerts()) == (before, [])


def test_own_memories_are_all_loaded_or_none(place: Place) -> None:
    start = place.lists()
    place.give("Upload a CSV of memories", "bad.csv", memories(50, importance="eleven"))
    assert len(place.alerts()) == 1
    assert "importance" in place.alerts()[0] and "eleven" in place.alerts()[0]
    assert place.lists() == start
    asked = place.root.get_by_label("question").input_value()
    place.ask("What can we cook without peanuts?")
    assert place.alerts() == [] and place.lists() != start
    place.ask(asked)
    place.give("Upload a CSV of memories", "mine.csv", memories(50))
    place.ask("Who likes swimming?")
    assert place.alerts() == []
    assert "swimming" in place.lists()[0]
    ids = place.root.locator(".mlsbs li.card .id").all_inner_texts()
    assert len(ids) == 16 and int(ids[0].removeprefix("m")) % 5 == TOPICS.index("swimming")
    assert "50 cards" in place.root.inner_text()
    place.choose("a dialogue's turns")
    assert place.alerts() == [] and place.lists() and "Ana" not in place.lists()[0]
    place.choose("Maya's cards")
    assert place.lists() == start
    place.choose("mine.csv")
    assert place.root.get_by_label("question").input_value() == "Who likes swimming?"
    place.choose("Maya's cards")


def test_a_file_of_twelve_megabytes_is_loaded_and_counted(place: Place) -> None:
    start = place.lists()
    header, *rows = memories(120).splitlines()
    title = "tea " * 25_000  # 100,000 letters
    large = "\n".join([f"{header},title", *(f"{row},{title}" for row in rows)])
    assert len(large) > 12e6
    place.give("Upload a CSV of memories", "large.csv", large)
    place.root.get_by_text("large.csv is loaded.").wait_for(timeout=120_000)
    place.notebook.settle()
    assert place.alerts() == [] and "120 cards" in place.root.inner_text()
    button = place.root.get_by_role("button", name="Upload a CSV of memories")
    assert button.inner_text().strip() == "Upload a CSV of memories (1)"
    place.choose("Maya's cards")
    assert place.lists() == start


def test_a_file_that_is_too_large_is_told_and_the_page_goes_on(
    place: Place, tmp_path: Path
) -> None:
    start, huge = place.lists(), tmp_path / "huge.csv"
    with huge.open("wb") as out:
        out.truncate(201_000_000)
    assert "At most 20,000 cards and 200 MB" in place.root.inner_text()
    for button in ("Open a finding", "Upload a CSV of memories"):
        with place.page.expect_file_chooser() as chooser:
            place.root.get_by_role("button", name=button).click()
        chooser.value.set_files(huge)
        place.root.get_by_role("alert").wait_for(timeout=60_000)
        said = ["huge.csv: 201.0 MB, the playground takes 200 MB at most"]
        assert (place.alerts(), place.lists()) == (said, start)
    place.give("Upload a CSV of memories", "small.csv", memories(5))
    place.root.get_by_text("small.csv is loaded.").wait_for(timeout=120_000)
    assert place.alerts() == [] and "5 cards" in place.root.inner_text()
    place.choose("Maya's cards")
    assert place.lists() == start


def test_an_embedder_without_its_server_is_told_in_a_line_and_nothing_changes(
    place: Place,
) -> None:
    from tests.browser import widgets

    start, about = place.lists(), place.root.inner_text()
    (embedder,) = [c for c in widgets.controls(place.root) if c.label == "embedder"]
    bundled = embedder.reading()
    for _ in range(2):  # by keys, and again: the drop-down went back
        embedder.keys.focus()
        embedder.keys.press("End")
        place.notebook.settle()
        assert len(place.alerts()) == 1 and widgets.OFFLINE in place.alerts()[0]
        assert (place.lists(), embedder.reading()) == (start, bundled)
    place.press("Reset")
    assert (place.alerts(), place.root.inner_text()) == ([], about)


def test_code_is_given(place: Place) -> None:
    place.press("Copy as code")
    first = place.root.locator("pre").first.inner_text()
    assert "memlib" in first
    for side in "AB":
        assert place.root.get_by_role("button", name=f"Copy {side}", exact=True).count() == 1
    look = "block => getComputedStyle(block).fontFamily"
    assert "monospace" in place.root.locator("pre").first.evaluate(look)
    place.press("Copy as code")
    assert place.root.locator("pre").count() == 0


def test_a_finding_is_saved_and_opened_again(place: Place, tmp_path: Path) -> None:
    start = place.lists()
    place.press("Make B like A")
    alike = place.lists()
    assert alike != start
    with place.page.expect_download() as download:
        place.root.get_by_role("link", name="Save this finding").click()
    download.value.save_as(tmp_path / "finding.json")
    saved = (tmp_path / "finding.json").read_text(encoding="utf-8")
    assert isinstance(json.loads(saved), dict)
    place.press("Reset")
    assert place.lists() == start
    place.give("Open a finding", "finding.json", saved)
    assert (place.lists(), place.alerts()) == (alike, [])
    place.press("Reset")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_can_be_read_and_has_no_serious_fault_of_access(place: Place, theme: str) -> None:
    from tests.browser import widgets

    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")

    if place.name == "lab":
        place.notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
    elif theme == "Dark":
        place.page.goto(place.page.url.split("?")[0] + "?theme=dark")
        place = Place(place.notebook, "voila")
    for width in (1280, 640):
        place.page.set_viewport_size({"width": width, "height": 2200})
        place.notebook.settle()
        assert (theme == "Dark") == place.dark()
        widgets.keep(place.root, f"playground-{place.name}-{theme.lower()}-{width}.png")
        assert widgets.cut_off(place.root) == []
        assert apart(place) and readable(place) == []
    place.page.set_viewport_size({"width": 1280, "height": 2200})
    assert widgets.faint(place.root) == []
    whole = None if place.name == "voila" else ".jp-OutputArea-output:has(.mlsbs)"
    found = axe.Axe().run(place.page, context=whole).response["violations"]
    assert [serious(fault) for fault in found if fault["impact"] in ("serious", "critical")] == []


def apart(place: Place) -> bool:
    """Whether "Make B like A" stands off the tabs: on another line, or with a gap."""
    tab = place.root.get_by_role("button", name="Diversity and threshold").bounding_box()
    copy = place.root.get_by_role("button", name="Make B like A").bounding_box()
    assert tab and copy
    return bool(copy["y"] >= tab["y"] + tab["height"] or copy["x"] >= tab["x"] + tab["width"] + 24)


def readable(place: Place) -> list[str]:
    """Cards whose id leaves no room for the text beside it."""
    taken = (
        "card => card.querySelector('.id').offsetWidth / card.querySelector('.said').offsetWidth"
    )
    cards = place.root.locator(".mlsbs li.card").all()
    return [card.inner_text()[:60] for card in cards if not 0 < card.evaluate(taken) < 0.6]


def serious(fault: dict[str, Any]) -> str:
    return f"{fault['id']}: {fault['help']}: {[node['html'][:200] for node in fault['nodes']]}"


def test_nothing_else_went_wrong_and_nothing_was_fetched(place: Place) -> None:
    from tests.browser import checks

    assert checks.page(place.notebook) == []


@pytest.fixture
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of its own, for a test that harms it or reads its log."""
    pytest.importorskip("playwright.sync_api", reason="no playwright: pip install -e '.[dev]'")
    pytest.importorskip("voila", reason="no voila")
    from tests.browser.lab import start_voila

    with start_voila(tmp_path_factory.mktemp("voila")) as started:
        yield started


def test_a_page_that_cannot_be_made_says_so_and_fetches_nothing(voila: Any) -> None:
    (voila.folder / "playground.ipynb").write_text('{"cells": [', encoding="utf-8")
    with pytest.raises(HTTPError) as caught:
        urlopen(voila.url, timeout=20)
    said = caught.value.read().decode("utf-8")
    assert "400" in said and "Back to the playground" in said
    assert "//" not in said.replace("<!", "")


def test_a_page_that_is_gone_leaves_no_kernel_behind(voila: Any) -> None:
    urlopen(voila.url, timeout=60).close()  # a kernel, and nobody who stays
    log = voila.folder.parent / "server.log"
    for _ in range(120):
        if "Kernel shutdown: " in log.read_text(encoding="utf-8"):
            break
        time.sleep(0.25)
    assert "Kernel shutdown: " in log.read_text(encoding="utf-8"), "it is there after 30 s"
