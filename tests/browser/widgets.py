"""A reader's hands on a widget: keys for every control, and the text that follows."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from playwright.sync_api import Locator, Page

from tests.browser.lab import ARTEFACTS

KINDS = {  # class of the control -> what takes the keys
    "widget-slider": ".noUi-handle",
    "widget-dropdown": "select",
    "widget-select": "select",
    "widget-checkbox": "input",
    "widget-text": "input",
    "widget-textarea": "textarea",
}
LISTS = ("widget-dropdown", "widget-select")
FAINT = """root => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => c.slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0.5) return c;
    }
    return [255, 255, 255];
  };
  return [...root.querySelectorAll('*')]
    .filter(e => e.offsetParent && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .filter(e => !e.closest('[disabled], .noUi-target'))
    .map(e => [light(parse(getComputedStyle(e).color)), light(behind(e)), e.innerText])
    .filter(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5)
    .map(([a, b, said]) => said);
}"""
OFFLINE = "Ollama at 127.0.0.1:9: no answer"  # the only alert that these tests may meet
OTHER_TEXT = {"question": "Did Sam tell Liz about the cat?"}


class Control(NamedTuple):
    """A labelled control of a widget."""

    label: str
    kind: str
    box: Locator
    keys: Locator

    def reading(self) -> str:
        """What the control itself says."""
        if self.kind == "widget-slider":  # its aria-valuenow has one decimal
            return self.box.locator(".widget-readout").inner_text()
        return str(self.keys.evaluate("e => e.type === 'checkbox' ? e.checked : e.value"))

    def disabled(self) -> bool:
        """Whether another control switches it off; ipywidgets marks a slider's bar for that."""
        return self.box.locator("[disabled]").count() > 0


def roots(page: Page) -> list[Locator]:
    """The outermost boxes of the widgets on a page."""
    boxes = page.locator(".widget-vbox:not(.jupyter-widgets .widget-vbox)")
    return [box for box in boxes.all() if box.locator(", ".join(f".{k}" for k in KINDS)).count()]


def controls(root: Locator) -> list[Control]:
    """Every control in the order on the page."""
    found = []
    for box in root.locator(", ".join(f".{kind}" for kind in KINDS)).all():
        (kind,) = set((box.get_attribute("class") or "").split()) & set(KINDS)
        named = ".widget-label-basic" if kind == "widget-checkbox" else "label"
        label = box.locator(named).first.inner_text().strip()
        found.append(Control(label, kind, box, box.locator(KINDS[kind]).first))
    return found


def shown(root: Locator) -> str:
    """The text that a reader sees below the controls."""
    return "\n".join(root.locator(".widget-html-content").all_inner_texts())


def bring(control: Control, settle: Callable[[], None]) -> Iterator[str]:
    """Bring a control to its ends by keys alone; say where it stands after each."""
    control.keys.focus()
    if control.kind == "widget-slider":
        presses: list[Callable[[], Any]] = [key(control, n) for n in ("Home", "ArrowUp", "End")]
    elif control.kind in LISTS:
        presses = [key(control, name) for name in ("Home", "ArrowDown", "ArrowUp", "End")]
    elif control.kind == "widget-checkbox":
        presses = [key(control, "Space"), key(control, "Space")]
    else:
        presses = [lambda: write(control)]
    for press in presses:
        press()
        settle()
        yield control.reading()


def key(control: Control, name: str) -> Callable[[], None]:
    return lambda: control.keys.press(name)


def write(control: Control) -> None:
    other = control.keys.input_value() + "\nMiso sleeps on the printer."
    if control.keys.get_attribute("type") == "number":
        other = "0.9" if control.keys.input_value() != "0.9" else "0.5"
    control.keys.fill(OTHER_TEXT.get(control.label, other))
    control.keys.press("Enter" if control.kind == "widget-text" else "Tab")


def faults(
    root: Locator, settle: Callable[[], None], only: Callable[[str], bool] = bool
) -> list[str]:
    """What goes wrong when each control is brought to its ends by keys, and then reset.

    A control may be without effect where another switches it off, so it is tried again under
    each option of every drop-down and with every box ticked.

    only  which controls, by their label
    """
    start, at = shown(root), offsets(root)
    found = [] if start.strip() else ["no text at the start"]
    reset = root.get_by_role("button", name="Reset")
    for control in (control for control in controls(root) if only(control.label)):
        follows = False
        for _ in switches(root, control, settle, only):
            if control.disabled():
                continue
            before, places, texts = shown(root), list[str](), list[str]()
            for place in bring(control, settle):
                places.append(place)
                texts.append(shown(root))
                if root.locator('[role="alert"]').count() and OFFLINE not in texts[-1]:
                    found.append(f"{control.label} at {place}: {texts[-1]}")
                if offsets(root) != at:
                    found.append(f"{control.label} at {place}: the controls jump")
            if len(places) > 1 and places[0] == places[-1]:
                found.append(f"{control.label} stays at {places[0]}")
            if control.kind == "widget-slider" and places[0] == places[1]:
                found.append(f"{control.label}: ArrowUp leaves it at {places[0]}")
            if control.kind in LISTS and not places[1] != places[0] == places[2]:
                found.append(f"{control.label}: ArrowDown, ArrowUp go {' → '.join(places[:3])}")
            follows = texts[0] != (before if len(texts) == 1 else texts[-1])
            if follows:
                break
        if not follows:
            found.append(f"{control.label}: the text does not follow")
        if reset.count():
            reset.click()
            settle()
            if not becomes(root, start):
                found.append(f"{control.label}: Reset does not bring the start back")
    return found


def becomes(root: Locator, said: str) -> bool:
    """Whether the text is this one within two seconds: a busy machine draws late."""
    for _ in range(20):
        if shown(root) == said:
            return True
        root.page.wait_for_timeout(100)
    return False


def switches(
    root: Locator, control: Control, settle: Callable[[], None], only: Callable[[str], bool]
) -> Iterator[None]:
    """The widget as it is, then under each of the first options of every other control."""
    yield
    for other in controls(root):
        if other.label == control.label or not only(other.label):
            continue
        if other.kind == "widget-dropdown":
            was = other.keys.input_value()
            for option in range(min(8, other.keys.locator("option").count())):
                other.keys.select_option(index=option)
                settle()
                yield
            other.keys.select_option(was)
            settle()
        elif other.kind == "widget-checkbox":
            for last in (False, True):
                other.keys.press("Space")
                settle()
                if not last:
                    yield


def offsets(root: Locator) -> list[int]:
    """Where each control stands, in px below the top of its widget."""
    script = """root => [...root.querySelectorAll('label')].filter(e => e.offsetParent).map(
      e => Math.round(e.getBoundingClientRect().top - root.getBoundingClientRect().top))"""
    return list(root.evaluate(script))


def unreached(root: Locator) -> list[str]:
    """Controls that the Tab key does not come to from the first one on."""
    wanted = controls(root)
    wanted[0].keys.focus()
    left = {at for at, control in enumerate(wanted) if not control.disabled()}
    script = """(root, kinds) => [...root.querySelectorAll(kinds)]
      .findIndex(e => e.contains(document.activeElement))"""
    for _ in range(4 * len(wanted)):
        left.discard(root.evaluate(script, ", ".join(f".{kind}" for kind in KINDS)))
        root.page.keyboard.press("Tab")
    return [wanted[at].label for at in sorted(left)]


def cut_off(root: Locator) -> list[str]:
    """Labels and readouts that do not fit, and a widget that is wider than its place."""
    script = """root => [...root.querySelectorAll('label, .widget-readout, button')]
      .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)
      .concat(root.scrollWidth > root.clientWidth + 1 ? ['the whole widget'] : [])"""
    return list(root.evaluate(script))


def faint(root: Locator) -> list[str]:
    """Texts whose contrast with what is behind them is below 4.5 to 1."""
    return list(root.evaluate(FAINT))


def keep(root: Locator, name: str) -> None:
    """A picture of the widget, for a person to look at."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    root.scroll_into_view_if_needed()
    root.screenshot(path=ARTEFACTS / name)
