"""Every widget of the course driven in the kernel: each control to its ends, and the text follows.

A callback that raises goes unnoticed in a notebook run, and so does a slider that moves nothing.
"""

import atexit
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ipywidgets
import pandas as pd
import pytest

from course import widgets
from course.data.files import data_path
from course.data.maya import COURSE_NOW, PUBLISHED_QUESTION, load_exam, maya_cards, published_cards
from course.data.recorded import Published, Recorded
from course.measure.locomo import committed
from course.widgets import parts
from memlib.embedders.minilm import Bundled
from memlib.embedders.protocol import Embedder
from memlib.librarian import Librarian
from memlib.recency import age_hours, recency
from memlib.similarity import cosine
from memlib.store.sqlite import Store
from tests.ollama_server import serving

NAMES = sorted(m.name for m in pkgutil.iter_modules(widgets.__path__) if m.name != "parts")
OUTPUTS = ipywidgets.HTML | ipywidgets.IntProgress
OTHER_TEXT = {  # a second text for a field, by its label; else a line is added
    "question": "What should I cook tonight?",
}


def course(cards: pd.DataFrame, model: Embedder) -> dict[str, Any]:
    """What the chapters hand to their widgets: cards, their cosines, hours and recency."""
    query = model.embed([PUBLISHED_QUESTION], role="query")[0]
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], COURSE_NOW)
    return {
        "cards": cards,
        "relevance": cosine(query, model.embed(list(cards["text"]))),
        "hours": hours,
        "recency": recency(hours),
    }


def published() -> dict[str, Any]:
    return course(published_cards(), Published())


def all_cards() -> dict[str, Any]:
    return course(maya_cards(), Recorded())


def asked() -> dict[str, Any]:
    cards, questions, model = maya_cards(), list(load_exam()["question"]), Recorded()
    queries = dict(zip(questions, model.embed(questions, role="query"), strict=True))
    return {"cards": cards, "vectors": model.embed(list(cards["text"])), "queries": queries}


def swept() -> dict[str, Any]:
    cards = maya_cards()
    vectors = Recorded().embed(list(cards["text"]))
    return {"cards": cards, "vectors": vectors, "now": COURSE_NOW}


def served() -> dict[str, Any]:
    cards, model, folder = maya_cards(), Recorded(), TemporaryDirectory()
    store = Store(Path(folder.name) / "cards.db")
    atexit.register(folder.cleanup)
    atexit.register(store.close)
    store.add_many(cards, model.embed(list(cards["text"])), model.id, COURSE_NOW)
    questions = list(load_exam()["question"])
    return {"librarian": Librarian(store, model), "questions": questions, "now": COURSE_NOW}


def survived() -> dict[str, Any]:
    return {"board": pd.read_csv(data_path("survivors.csv"), encoding="utf-8")}


def pick(from_: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: from_[name] for name in names}


ARGUMENTS: dict[str, list[Callable[[], dict[str, Any]]]] = {  # what explore(...) is given
    "bm25": [lambda: pick(published(), "cards"), lambda: pick(all_cards(), "cards")],
    "similarity_limits": [lambda: {"embedder": Bundled()}],
    "recency": [
        lambda: pick(published(), "cards", "hours"),
        lambda: pick(all_cards(), "cards", "hours"),
    ],
    "importance": [lambda: pick(published(), "cards", "relevance", "recency")],
    "normalization": [
        lambda: pick(published(), "cards", "relevance", "hours"),
        lambda: pick(all_cards(), "cards", "relevance", "hours"),
    ],
    "entity_boost": [lambda: {"cards": maya_cards(), "aliases": {"Liz": "Elizabeth"}}],
    "fusion": [lambda: {"results": committed().results}],
    "forgetting": [swept],
    "librarian": [served],
    "strength": [asked],
    "what_survived": [survived],
}
CASES = [(name, make) for name in NAMES for make in ARGUMENTS.get(name, [])]


def tree(widget: Any) -> Iterator[Any]:
    """A widget and everything inside it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from tree(child)


def text_of(root: Any) -> list[str]:
    return [widget.value for widget in tree(root) if isinstance(widget, ipywidgets.HTML)]


def controls(root: Any) -> list[Any]:
    """What a reader can move: all that has a value and is no output."""
    return [
        widget
        for widget in tree(root)
        if "value" in widget.trait_names() and not isinstance(widget, OUTPUTS)
    ]


def places(control: Any) -> list[Any]:
    """Every value to which a reader can bring a control, or its ends, other than where it is."""
    if hasattr(control, "options"):
        wanted = [o[1] if isinstance(o, tuple) else o for o in control.options]
    elif hasattr(control, "min"):
        wanted = [control.min, control.max]
    elif isinstance(control, ipywidgets.Text | ipywidgets.Textarea):
        more = "\nMiso sleeps on the printer." if isinstance(control, ipywidgets.Textarea) else "!"
        wanted = [OTHER_TEXT.get(control.description, control.value + more)]
    elif isinstance(control.value, bool):
        wanted = [not control.value]
    else:
        raise AssertionError(f"how does one drive a {type(control).__name__}?")
    return [value for value in wanted if value != control.value]


def faults(root: Any) -> list[str]:
    """What goes wrong when each control is brought from the start to each of its places.

    A control may be without effect where another switches it off; it must have one somewhere, so
    it is tried again under each option of every drop-down.
    """
    found = [f"no text at the start of {root}"] if not any(text_of(root)) else []
    found += ["an alert at the start"] if alert(root) else []
    start = [(control, control.value) for control in controls(root)]
    switches = [
        (control, option)
        for control, _ in start
        if hasattr(control, "options")
        for option in [control.value, *places(control)][:8]
    ]

    def back() -> None:
        for control, value in start:
            control.value = value

    for control, _ in start:
        still: set[Any] = set()
        for value in places(control):
            for switch, option in [(None, None), *switches]:
                back()
                if switch is not None and switch is not control:
                    switch.value = option
                before = text_of(root)
                moved = control.value != value
                control.value = value
                if alert(root):
                    found.append(f"{control.description!r} at {value!r} gives an alert")
                if moved and text_of(root) != before:
                    still.discard(value)
                    break
                still.add(value)
        found += [f"{control.description!r} at {v!r} changes nothing" for v in still]
    back()
    for button in (w for w in tree(root) if isinstance(w, ipywidgets.Button)):
        before = text_of(root)
        for control, _ in start:
            control.value = places(control)[-1]
        button.click()
        if text_of(root) != before:
            found.append(f"{button.description!r} does not bring the start back")
    return found


def alert(root: Any) -> bool:
    return any('role="alert"' in text for text in text_of(root))


def test_every_widget_of_the_course_is_driven() -> None:
    assert {"importance", "normalization", "recency", "similarity_limits"} <= set(NAMES)
    unknown = set(NAMES) - set(ARGUMENTS)
    assert not unknown, f"{unknown}: say in ARGUMENTS what their explore(...) is given"
    assert all(hasattr(load(name), "explore") for name in NAMES)


def load(name: str) -> Any:
    return importlib.import_module(f"{widgets.__name__}.{name}")


@pytest.mark.parametrize(("name", "make"), CASES, ids=[name for name, _ in CASES])
def test_every_control_changes_the_text_and_none_gives_an_alert(
    name: str, make: Callable[[], dict[str, Any]]
) -> None:
    with serving():  # for those who offer an embedder of a server
        root = load(name).explore(**make())
        assert len(controls(root)) >= 2
        assert faults(root) == []


@pytest.mark.parametrize(("name", "make"), CASES, ids=[name for name, _ in CASES])
def test_every_control_is_labelled_and_of_the_core(
    name: str, make: Callable[[], dict[str, Any]]
) -> None:
    root = load(name).explore(**make())
    labels = [control.description for control in controls(root)]
    assert all(labels) and len(set(labels)) == len(labels)
    modules = {widget._model_module for widget in tree(root)}
    assert modules <= {"@jupyter-widgets/controls", "@jupyter-widgets/base"}


# --- the driver itself ---------------------------------------------------------------------


def test_the_driver_sees_a_dead_slider() -> None:
    alive, dead = parts.slider("alive", 1, 0, 2, 1), parts.slider("dead", 1, 0, 2, 1)
    root = parts.panel(lambda values: f"{values['a']}", {"a": alive, "b": dead})
    assert faults(root) == ["'dead' at 0.0 changes nothing", "'dead' at 2.0 changes nothing"]


def test_the_driver_sees_an_end_that_fails() -> None:
    slider = parts.slider("n", 1, 0, 2, 1)
    root = parts.panel(lambda values: f"{1 / values['n']}", {"n": slider})
    assert faults(root) == ["'n' at 0.0 gives an alert"]


def test_the_driver_sees_an_option_that_fails_and_one_that_does_nothing() -> None:
    said = {"a": "A", "b": "A"}
    choice = parts.choice("letter", ["a", "b", "c"], "a")
    root = parts.panel(lambda values: said[values["letter"]], {"letter": choice})
    assert faults(root) == ["'letter' at 'c' gives an alert", "'letter' at 'b' changes nothing"]


def test_the_driver_sees_a_text_field_that_is_not_read() -> None:
    field = parts.text("question", "Who?")
    root = parts.panel(lambda values: "always the same", {"q": field})
    (fault,) = faults(root)
    assert fault == f"'question' at {OTHER_TEXT['question']!r} changes nothing"


def test_the_driver_lets_a_control_rest_where_another_switches_it_off() -> None:
    form = parts.choice("form", ["left", "right"], "left")
    left, right = parts.slider("left", 1, 0, 2, 1), parts.slider("right", 1, 0, 2, 1)
    root = parts.panel(
        lambda values: f"{values['form']} {values[values['form']]}",
        {"form": form, "left": left, "right": right},
    )
    assert faults(root) == []


def test_the_driver_sees_a_reset_that_forgets() -> None:
    slider, button, output = parts.slider("n", 1, 0, 2, 1), ipywidgets.Button(), ipywidgets.HTML()
    slider.observe(lambda change: setattr(output, "value", str(change["new"])), names="value")
    output.value = "1.0"
    button.description = "Reset"
    assert faults(ipywidgets.VBox([slider, button, output])) == [
        "'Reset' does not bring the start back"
    ]
