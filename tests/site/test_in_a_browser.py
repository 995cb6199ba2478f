"""Five pages opened from the file system, on a wide and on a narrow screen."""

import shutil

import pytest

from tests.notebooks.refresh import ROOT

pytestmark = pytest.mark.slow
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SCREENS = ROOT / "build" / "screenshots" / "site"
WIDTHS = (1400, 400)
PAGES = (
    *("index", "02_recency", "04_normalization", "07_fusion", "exercises/ch02/ch02"),
    *("01_similarity_limits", "11_what_survived"),
)
FORMULAS = "[...document.querySelectorAll('.math')].map(m => m.querySelectorAll('svg').length)"
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNSEEN = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
# wider than the screen and in no box that scrolls by itself: cut off, though the page stands still
CUT_OFF = """
[...document.querySelectorAll('article *')].filter(e => {
  if (e.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let box = e; box.tagName != 'ARTICLE'; box = box.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) return false;
  return !e.closest('mjx-assistive-mml');
}).map(e => e.outerHTML.slice(0, 80))
"""
# the lowest ratio of luminances of a text and the ground that it stands on
CONTRAST = """
selector => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => numbers(colour).slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
  const ground = e => {
    const own = getComputedStyle(e).backgroundColor;
    return numbers(own)[3] === 0 ? ground(e.parentElement) : own;
  };
  return Math.min(...[...document.querySelectorAll(selector)].map(e => {
    const pair = [light(getComputedStyle(e).color), light(ground(e))];
    return Math.max(...pair) / Math.min(...pair);
  }));
}
"""


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip("no chromium here: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def asked(browser):
    """Opens pages, and holds every address that they asked for and every error that they raised."""
    context = browser.new_context()
    context.addresses, context.errors = [], []
    context.on("request", lambda request: context.addresses.append(request.url))
    context.on("weberror", lambda error: context.errors.append(str(error.error)))
    yield context
    context.close()


def opened(context, built, name, width):
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((built / f"{name}.html").as_uri())
    page.wait_for_function("!window.MathJax || MathJax.startup && MathJax.startup.promise")
    page.evaluate("window.MathJax && MathJax.startup.promise")
    return page


def elsewhere(addresses):
    return [address for address in addresses if not address.startswith(("file:", "data:"))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_whole_and_asks_the_network_for_nothing(asked, built, name, width):
    page = opened(asked, built, name, width)
    page.wait_for_load_state("networkidle")
    assert asked.addresses and elsewhere(asked.addresses) == []
    assert asked.errors == []
    drawn = page.evaluate(FORMULAS)
    assert all(drawn), "a formula stands there as LaTeX"
    assert drawn or not name.startswith("0")
    assert page.evaluate(UNSEEN) == []
    assert page.evaluate(SIDEWAYS) == 0
    assert page.evaluate(CUT_OFF) == []
    SCREENS.mkdir(parents=True, exist_ok=True)
    picture = SCREENS / f"{name.replace('/', '_')}-{width}.png"
    page.screenshot(path=picture, full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_panels_and_captions_can_be_read_in_both_themes(asked, built, scheme):
    page = opened(asked, built, "04_normalization", 1400)
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(f"document.documentElement.dataset.theme == '{scheme}'")
    for selector in (".panel td", ".panel figcaption", ".panel label", ".caption", ".lab"):
        assert page.evaluate(CONTRAST, selector) >= 4.5, selector
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.locator(".panel").screenshot(path=SCREENS / f"panel-{scheme}.png")


def test_the_search_finds_a_page(asked, built):
    page = asked.new_page()
    page.goto((built / "search.html").as_uri() + "?q=printer")
    # results come one by one: the first to be seen is not yet the list
    page.locator("#search-results li a[href*='04_normalization.html']").first.wait_for(
        timeout=10_000
    )
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state()
    assert page.locator("article h1").count() == 1
    assert elsewhere(asked.addresses) == [] and asked.errors == []


def test_next_leads_to_the_next_chapter(asked, built):
    page = opened(asked, built, "index", 400)
    for chapter in ("00_start_here", "01_similarity_limits", "02_recency"):
        page.locator("a.right-next").click()
        page.wait_for_url(f"**/{chapter}.html")
    page.locator("a.left-prev").click()
    page.wait_for_url("**/01_similarity_limits.html")
    assert page.locator("article h1").inner_text().startswith("When is the closest card")
