"""The playground: own memories, a question, two configurations, and what moves between them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from math import inf
from time import monotonic
from typing import Any
from urllib.parse import quote

import ipywidgets as widgets
import pandas as pd

from course.data.dialogue import load_dialogue
from course.data.maya import PUBLISHED_QUESTION
from course.playground import shelf
from course.playground.as_code import as_code
from course.playground.comparison import rank
from course.playground.configuration import (
    MOST_SHOWN,
    Finding,
    Form,
    from_json,
    moment,
    to_json,
)
from course.playground.controls import (
    GROUPS,
    GUARD,
    HANDLE,
    NAMES,
    ROOM,
    SIZE,
    A,
    B,
    changes,
    controls,
    put,
    standing,
)
from course.playground.effects import ground, without_effect
from course.playground.models import BUNDLED, OLLAMA, Models, check_id, seconds_for, wait
from course.playground.side_by_side import render
from course.widgets import parts
from memlib.embedders.minilm import notes
from memlib.retrieval import Index

SHOWN = 8
AGES = "“ages as of”"  # the field, as errors call it
SLOW_SECONDS = 2.0  # what takes longer shows a progress bar
MANY = 1_000  # cards; of more it is said before how long they take


class Playground:
    """The page and what it stands on: the cards, made ready once, and the models' vectors.

    other  a further embedder to choose, "ollama:MODEL"
    """

    def __init__(self, other: str = "") -> None:
        self.own: shelf.Shelf | None = None
        self.shelf, self.by = shelf.maya(), BUNDLED
        self.others = [OLLAMA, *([check_id(other)] if other else [])]
        self.models = Models(self._step)
        self.asked: dict[str, str] = {}  # the last question by kind of cards
        self._index: tuple[Any, Index] | None = None
        self._tables: dict[str, tuple[Any, pd.DataFrame]] = {}
        self._still, self._begun = False, inf
        self._build()
        self._facts()
        self.show()

    # --- what is computed -------------------------------------------------------------------

    def settings(self, side: str) -> Form:
        """The settings as the controls stand."""
        try:
            return standing(self.controls[side])
        except ValueError as error:
            raise ValueError(f"{side.upper()}: {error}") from None

    def finding(self) -> Finding:
        """All that is set, as it would be saved."""
        held, asked = self.shelf, self.question.value.strip()
        if not asked:
            raise ValueError("there is no question yet: type one and press Enter")
        now = moment(self.now.value, AGES)
        both = self.settings("a"), self.settings("b")
        known = held.name, held.fingerprint, self.by
        return Finding(*known, now, asked, self.shown.value, *both)

    def ready(self, finding: Finding) -> Index:
        """The cards made ready, once for all questions and settings."""
        if self._index is None or self._index[0] != finding[:4]:
            vectors = self.models.cards(self.shelf, self.by)
            if late := shelf.too_new(self.shelf.cards, finding.now):
                raise ValueError(f"{late}, later than {AGES}, {finding.now.isoformat()}")
            self._index = finding[:4], Index(self.shelf.cards, vectors)
        return self._index[1]

    def table(self, side: str, finding: Finding) -> pd.DataFrame:
        """One side's ranking; worked out again only if something that it depends on changed."""
        mine, ready = getattr(finding, side), self.ready(finding)
        key = (*finding[:6], mine)
        if side not in self._tables or self._tables[side][0] != key:
            query, _ = self.models.question(finding.question, self.by)
            try:
                made = rank(ready, finding.question, query, mine, finding.now, finding.shown)
            except ValueError as error:
                raise ValueError(f"{side.upper()}: {error}") from None
            self._tables[side] = key, made
        return self._tables[side][1]

    def show(self, change: Any = None) -> None:
        """Bring everything on the page up to what the controls say.

        change  the reader's own, of one control: what was said of an earlier action goes
        """
        if self._still:
            return
        if change is not None:
            self.message.value = ""
        if not self.question.value.strip():
            self.output.value = parts.line("Now type a question and press Enter.")
            self.code.value = self.save.value = ""
            return
        try:
            finding = self.finding()
            tables = self.table("a", finding), self.table("b", finding)
            query, asked_of = self.models.question(finding.question, self.by)
            doubts = notes(self.models.of(asked_of), [finding.question])
            warned = [f"The question: {doubt}." for doubt in doubts]
            stands = ground(self.ready(finding), finding.question, query, finding.now, *tables)
            idle = without_effect(finding.a, finding.b, stands)
            said = " ".join([changes(finding.a, finding.b, idle), *warned])
            self.output.value = parts.line(said) + render(*tables)
            self.code.value = self._code(finding, asked_of) if self.as_code.value else ""
            self.save.value = _download("Save this finding", "finding.json", to_json(finding))
        except Exception as error:  # a reader must see it, not a log
            self.output.value, self.code.value, self.save.value = (
                parts.error_line(str(error)),
                "",
                "",
            )

    def _code(self, finding: Finding, asked_of: str) -> str:
        made_by = self.models.name(self.shelf, self.by), asked_of
        return "".join(
            _block(side, as_code(finding, side, self.shelf.code, *made_by)) for side in "ab"
        )

    # --- what the reader does ---------------------------------------------------------------

    def choose(self, change: Mapping[str, Any]) -> None:
        """Other cards, with a question to begin with where the course has one."""
        if self._still or (name := change["new"]) == self.shelf.name:
            return
        with self._told():
            made = {shelf.MAYA: shelf.maya, shelf.DIALOGUE: shelf.dialogue}.get(name)
            chosen = made() if made else self.own
            if chosen is not None:
                self._take(chosen, self.by, self._question(chosen), chosen.now.isoformat())

    def switch(self, change: Mapping[str, Any]) -> None:
        """Another embedder: cards and question are embedded anew, then all of it is shown."""
        if self._still or change["new"] == self.by:
            return
        with self._told():
            self._take(self.shelf, change["new"], self.question.value, self.now.value)

    def upload(self, change: Mapping[str, Any]) -> None:
        """A card file: all of it or nothing; the cards before it stay when it is refused."""
        if self._still or not change["new"]:
            return
        file = self._given(change)
        with self._told():
            made = shelf.own(file["name"], bytes(file["content"]), datetime.now(UTC))
            said, now = f"{made.name} is loaded.", made.now.isoformat()
            self._take(made, self.by, self._question(made), now, said)
            self.own = made
            self._count(self.cards_file, file)

    def open_finding(self, change: Mapping[str, Any]) -> None:
        """A saved finding: its cards must be here, then all of it is set at once."""
        if self._still or not change["new"]:
            return
        file = self._given(change)
        with self._told():
            found = from_json(bytes(file["content"]))
            held = [self.own] if self.own else []
            held += [shelf.maya(), shelf.dialogue()]
            fitting = [h for h in held if h.fingerprint == found.fingerprint]
            if not fitting and found.cards in [h.name for h in held]:
                said = "this finding was made with other cards than those here, though both are"
                raise ValueError(f"{said} called {found.cards}: nothing was changed")
            if not fitting:
                said = f"this finding was made with other cards, called {found.cards}"
                raise ValueError(f"{said}: upload just those first; nothing was changed")
            now, said = found.now.isoformat(), f"{file['name']} is open."
            self._take(fitting[0], check_id(found.embedder), found.question, now, said, found)
            self._count(self.finding_file, file)

    def _given(self, change: Mapping[str, Any]) -> Mapping[str, Any]:
        """The file that a button was given; until it is taken the button counts what it did."""
        with self._quiet():  # the same file can be given again
            change["owner"].value = change["old"]
        file: Mapping[str, Any] = change["new"][0]
        return file

    def _count(self, button: Any, file: Mapping[str, Any]) -> None:
        """Let a button say "(1)": it has the file's name and size, and not its bytes."""
        with self._quiet():
            button.value = ({**file, "content": memoryview(b"")},)

    def reset(self, _: Any = None) -> None:
        """Both sides as at the start; the cards and the question stay."""
        with self._told(), self._quiet():
            self.shown.value = SHOWN
            put(self.controls["a"], A)
            put(self.controls["b"], B)
        self.show()

    def copy(self, _: Any = None) -> None:
        """B as A, to change one thing at a time."""
        with self._told(), self._quiet():
            put(self.controls["b"], self.settings("a"))
        self.show()

    def group(self, _: Any = None) -> None:
        """Show one group of settings on both sides; the place they take stays the same."""
        for side, box in self.boxes.items():
            box.children = [self.controls[side][name] for name in GROUPS[self.groups.value]]

    def _question(self, chosen: shelf.Shelf) -> str:
        """The question for other cards: the last one, the course's own, what the reader typed."""
        known = {
            shelf.MAYA: PUBLISHED_QUESTION,
            shelf.DIALOGUE: load_dialogue()[0].questions[0].text,
        }
        if last := self.asked.get(_kind(chosen), "").strip():
            return last
        asked: str = self.question.value
        if chosen.name in known or asked in known.values():
            return known.get(chosen.name, "")
        return asked

    def _take(
        self,
        held: shelf.Shelf,
        embedder: str,
        question: str,
        now: str,
        said: str = "",
        found: Finding | None = None,
    ) -> None:
        """Embed all that will be shown, then change the page: what fails changes nothing."""
        self._embed(held, embedder, question.strip())
        with self._quiet():
            self.shelf, self.by = held, embedder
            self.question.value, self.now.value = question, now
            if found:
                self.shown.value = found.shown
                put(self.controls["a"], found.a)
                put(self.controls["b"], found.b)
        self._facts()
        self.show()
        self.message.value = parts.line(said) if said else ""

    def _embed(self, held: shelf.Shelf, embedder: str, question: str) -> None:
        self._begun, self.progress.value = monotonic(), 0
        missing = self.models.missing(held, embedder)
        try:
            if missing and embedder != BUNDLED:  # a server's first answer takes a while
                self.progress.layout.visibility = "visible"
            if len(missing) > MANY:
                model = self.models.of(self.models.name(held, embedder)).embedder
                self.message.value = parts.line(wait(len(missing), seconds_for(missing, model)))
            self.models.cards(held, embedder)
            if question:
                self.models.question(question, embedder)
        finally:
            self._begun, self.progress.layout.visibility = inf, "hidden"

    def _step(self, done: int, of: int) -> None:
        spent = monotonic() - self._begun
        if done < of and spent / done * of > SLOW_SECONDS:
            self.progress.layout.visibility = "visible"
        self.progress.max, self.progress.value = of, done

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong becomes a line on the page, and what was there before stays."""
        self.message.value, self.asked[_kind(self.shelf)] = "", self.question.value
        try:
            yield
        except Exception as error:  # a reader must see it, not a log
            self.message.value = parts.error_line(str(error))
        finally:
            with self._quiet():  # the drop-downs say what is shown, after a failure too
                own = [self.own.name] if self.own else []
                self.source.options = [shelf.MAYA, shelf.DIALOGUE, *own]
                self.source.value = self.shelf.name
                options = [*self.embedder.options, self.by]
                self.embedder.options, self.embedder.value = list(dict.fromkeys(options)), self.by

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Many controls change, the page follows once."""
        self._still = True
        try:
            yield
        finally:
            self._still = False

    def _facts(self) -> None:
        doubts = [f"{doubt}." for doubt in self.models.doubts(self.shelf, self.by)]
        self.about.value = parts.line(" ".join([shelf.facts(self.shelf.cards), *doubts]))

    # --- how it looks -----------------------------------------------------------------------

    def _build(self) -> None:
        self.message, self.about, self.output = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.code, self.save = widgets.HTML(), widgets.HTML()
        self.message.layout.min_height = "2.4em"  # nothing jumps when something is said
        self.source = parts.choice("memories", [shelf.MAYA, shelf.DIALOGUE], shelf.MAYA)
        self.embedder = parts.choice("embedder", [BUNDLED, *self.others], BUNDLED)
        self.cards_file = _file("Upload a CSV of memories", ".csv")
        self.finding_file = _file("Open a finding", ".json")
        self.progress = widgets.IntProgress(
            description="embedding", style=parts.WIDE, layout=widgets.Layout(visibility="hidden")
        )
        self.question = parts.text("question", PUBLISHED_QUESTION)
        self.now = parts.text(f"{AGES.strip('“”')} (time, zone)", self.shelf.now.isoformat())
        self.shown = widgets.IntSlider(
            SHOWN, 1, MOST_SHOWN, description="cards picked", style=HANDLE, layout=SIZE
        )
        self.groups = widgets.ToggleButtons(options=list(GROUPS), style={"button_width": "auto"})
        self.question.layout.width = "min(70em, 98%)"
        self.controls = {"a": controls("A", A), "b": controls("B", B)}
        half = {"flex": "1 1 26em", "min_width": "0", "min_height": "13.5em"}
        self.boxes = {side: widgets.VBox(layout=widgets.Layout(**half)) for side in "ab"}
        reset = widgets.Button(description="Reset", tooltip="A and B as at the start")
        copy = widgets.Button(description="Make B like A", tooltip="To change one thing at a time")
        self.as_code = widgets.ToggleButton(description="Copy as code")
        follows = [self.question, self.now, self.shown, self.as_code]
        for made in [*follows, *self.controls["a"].values(), *self.controls["b"].values()]:
            made.observe(self.show, names="value")
        self.source.observe(self.choose, names="value")
        self.embedder.observe(self.switch, names="value")
        self.cards_file.observe(self.upload, names="value")
        self.finding_file.observe(self.open_finding, names="value")
        self.groups.observe(self.group, names="value")
        reset.on_click(self.reset)
        copy.on_click(self.copy)
        apart = widgets.HBox([copy, reset], layout=widgets.Layout(margin="0 0 0 auto"))  # no tabs
        self.group()
        template = widgets.HTML(_download("A CSV to begin with", "memories.csv", shelf.TEMPLATE))
        self.root = widgets.VBox(
            [
                _row(self.source, self.embedder),
                _row(self.cards_file, template, widgets.HTML(ROOM + GUARD + NAMES + parts.ARROW)),
                *(_row(self.about, self.progress), self.question),
                *(_row(self.now, self.shown), self.message),
                *(_row(self.groups, apart), _row(*self.boxes.values()), self.output),
                *(_row(self.as_code, self.save, self.finding_file), self.code),
            ]
        )


def explore(other: str = "") -> Any:
    """The page, over Maya's cards until other ones are chosen.

    other  a further embedder for the drop-down, "ollama:MODEL"
    """
    root = Playground(other).root
    root.add_class("playground")  # for who scans the page, or styles it
    return root


def _kind(held: shelf.Shelf) -> str:
    """Whose cards: Maya's, the dialogue's, or one's own, of whatever file."""
    return held.name if held.name in (shelf.MAYA, shelf.DIALOGUE) else "own"


def _row(*children: Any) -> Any:
    flow = {"display": "flex", "flex_flow": "row wrap", "align_items": "center", "width": "100%"}
    return widgets.Box(children, layout=widgets.Layout(**flow))


def _file(label: str, accept: str) -> Any:
    return widgets.FileUpload(
        accept=accept, multiple=False, description=label, layout=widgets.Layout(width="auto")
    )


def _download(label: str, name: str, text: str) -> str:
    """A link that saves a text as a file; the page itself holds the text."""
    kind = "text/csv" if name.endswith(".csv") else "application/json"
    link = f'href="data:{kind};charset=utf-8,{quote(text)}" download="{name}"'
    return f'<a {link} style="{parts.INK};text-decoration:underline;margin:0 1em">{label}</a>'


def _block(side: str, code: str) -> str:
    """Code to be copied: by the button, or by a click that selects all of it."""
    put = "navigator.clipboard.writeText(this.nextElementSibling.textContent)"
    name, copied = side.upper(), f"this.textContent='Copied {side.upper()}'"
    button = f'<button type="button" onclick="{put};{copied}">Copy {name}</button>'
    look = f"{parts.INK};font-family:monospace;background:none;{parts.SCROLL};user-select:all"
    return (
        f'<div style="{parts.INK}"><b>{name}</b> {button}'
        f'<pre tabindex="0" style="{look}">{escape(code)}</pre></div>'
    )
