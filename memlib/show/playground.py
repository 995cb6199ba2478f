"""The playground: own memories, a question, two configurations, and what moves between them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from html import escape
from math import ceil
from time import monotonic
from typing import Any
from urllib.parse import quote

import ipywidgets as widgets
import pandas as pd

from memlib.show import shelf
from memlib.show.as_code import as_code
from memlib.show.comparison import Prepared
from memlib.show.configuration import (
    CHOICES,
    MOST_SHOWN,
    PARTS,
    RANGES,
    Finding,
    Settings,
    from_json,
    moment,
    to_json,
)
from memlib.show.side_by_side import LABELS, render
from memlib.show.widgets import parts
from memlib.sources.cards import PUBLISHED_QUESTION
from memlib.sources.dialogue import load_dialogue
from memlib.sources.embedders import Vectors, notes

A = Settings()
B = replace(A, relevance=0.5, recency=0.0, importance=0.0, names=0.1, bm25=0.4)  # as on LoCoMo
GROUPS: Mapping[str, Sequence[str]] = {
    "Weights": PARTS,
    "Recency and fusion": ("decay", "half_life_days", "normalizer", "tokenizer", "fusion"),
    "Diversity and threshold": (
        *("diversity", "w_duplicate", "mmr_lambda", "has_threshold", "threshold"),
    ),
}
WORDS = LABELS | {
    "half_life_days": "half-life in days",
    "normalizer": "normaliser",
    "w_duplicate": "penalty of a copy",
    "mmr_lambda": "MMR's lambda",
    "threshold": "threshold on S",
}
SHOWN = 8
TYPED = {"half_life_days": 0.5, "threshold": 0.01}  # ranges too wide for a slider; arrow keys step
SLOW_SECONDS = 2.0  # what takes longer shows a progress bar
MANY = 1_000  # cards; of more it is said before how long they take
NAMES = """<style onload="const name = () => {
  for (const h of document.querySelectorAll('.noUi-handle:not([aria-label])')) {
    const label = h.closest('.jupyter-widgets')?.querySelector('label')?.textContent;
    if (label) h.setAttribute('aria-label', label); } };
name(); new MutationObserver(name).observe(document.body, {childList: true, subtree: true});">
</style>"""  # ipywidgets leaves a slider's handle without a name: a screen reader needs one
HANDLE = {**parts.WIDE, "handle_color": parts.COLORS[0]}
SIZE = widgets.Layout(width="min(44em, 98%)")


def control(side: str, name: str, start: Settings) -> Any:
    """The control of one setting, with its side and its unit in the label."""
    value = getattr(start, name, None)
    if name in PARTS:
        return parts.slider(f"{side}: {LABELS[name]}, weight", value or 0.0, 0, 5, 0.05)
    if name in CHOICES:
        return parts.choice(f"{side}: {WORDS.get(name, name)}", list(CHOICES[name]), value)
    shared = {"style": parts.WIDE, "layout": SIZE}
    if name == "has_threshold":
        on, label = start.threshold is not None, f"{side}: use the threshold"
        return widgets.Checkbox(value=on, description=label, **shared)
    if name in TYPED:
        low, high = RANGES[name]
        ends = {"min": low, "max": high, "step": TYPED[name]}
        label = f"{side}: {WORDS[name]}"
        return widgets.BoundedFloatText(value=value or 0.0, description=label, **ends, **shared)
    return parts.slider(f"{side}: {WORDS[name]}", value or 0.0, 0, 1, 0.01)


def changes(a: Settings, b: Settings) -> str:
    """In what B differs from A, in words."""
    here, there = asdict(a), asdict(b)
    told = [
        f"{WORDS.get(name, name)} {_value(here[name])} → {_value(there[name])}"
        for name in here
        if here[name] != there[name]
    ]
    return f"From A to B: {', '.join(told)}." if told else "A and B are set alike."


def _value(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def facts(cards: pd.DataFrame) -> str:
    """What the cards give the parts to work with, in one line."""
    written, again = cards["created_at"], int(cards["last_accessed_at"].notna().sum())
    rated, named = (
        int(cards["importance"].notna().sum()),
        int((cards["entities"].str.len() > 0).sum()),
    )
    span = f"{written.min():%Y-%m-%d} to {written.max():%Y-%m-%d}"
    said = f"{len(cards):,} cards, written {span}; {again:,} accessed again, {rated:,} rated, "
    return f"{said}{named:,} with names."


def wait(cards: int, seconds: float) -> str:
    """How long so many cards take, before they are embedded.

    >>> wait(20_000, 140.0)
    '20,000 cards: embedding them takes about 3 minutes, and cannot be stopped.'
    """
    minutes = max(1, ceil(seconds / 60))
    about = "about a minute" if minutes == 1 else f"about {minutes} minutes"
    about = "less than a minute" if seconds < 45 else about
    return f"{cards:,} cards: embedding them takes {about}, and cannot be stopped."


class Playground:
    """The page and what it stands on: the cards, made ready once, and the last vectors."""

    def __init__(self) -> None:
        self.own: shelf.Shelf | None = None
        self.shelf = shelf.maya()
        self._prepared: tuple[Any, Prepared] | None = None
        self._queries: dict[str, tuple[Vectors, str]] = {}
        self._tables: dict[str, tuple[Any, pd.DataFrame]] = {}
        self._still, self._begun = False, 0.0
        self._build()
        self._facts()
        self.show()

    # --- what is computed -------------------------------------------------------------------

    def settings(self, side: str) -> Settings:
        """The settings as the controls stand."""
        values = {name: made.value for name, made in self.controls[side].items()}
        values["threshold"] = values["threshold"] if values.pop("has_threshold") else None
        try:
            return Settings(**values)
        except ValueError as error:
            raise ValueError(f"{side.upper()}: {error}") from None

    def finding(self) -> Finding:
        """All that is set, as it would be saved."""
        held, asked = self.shelf, self.question.value.strip()
        if not asked:
            raise ValueError("there is no question yet: type one and press Enter")
        now, both = moment(self.now.value), (self.settings("a"), self.settings("b"))
        return Finding(held.name, held.fingerprint, now, asked, self.shown.value, *both)

    def table(self, side: str, finding: Finding) -> pd.DataFrame:
        """One side's ranking; worked out again only if something that it depends on changed."""
        mine = getattr(finding, side)
        key = (*finding[:5], mine)
        if self._prepared is None or self._prepared[0] != finding[:3]:
            ready = Prepared(self.shelf.cards, self.shelf.vectors, finding.now)
            self._prepared = finding[:3], ready
        if side not in self._tables or self._tables[side][0] != key:
            query, _ = self._query(finding.question)
            try:
                made = self._prepared[1].rank(finding.question, query, mine, finding.shown)
            except ValueError as error:
                raise ValueError(f"{side.upper()}: {error}") from None
            self._tables[side] = key, made
        return self._tables[side][1]

    def _query(self, question: str) -> tuple[Vectors, str]:
        if question not in self._queries:
            self._queries[question] = shelf.embed_question(question)
        return self._queries[question]

    def show(self, _: Any = None) -> None:
        """Bring everything on the page up to what the controls say."""
        if self._still:
            return
        if not self.question.value.strip():
            self.output.value = parts.line("Now type a question and press Enter.")
            self.code.value = self.save.value = ""
            return
        try:
            finding = self.finding()
            result = render(self.table("a", finding), self.table("b", finding))
            typed = self._query(finding.question)[1] == "bundled"
            doubts = notes(shelf.bundled(), [finding.question]) if typed else []
            warned = [f"The question: {doubt}." for doubt in doubts]
            said = " ".join([changes(finding.a, finding.b), *warned])
            self.output.value = parts.line(said) + result
            self.code.value = self._code(finding) if self.as_code.value else ""
            self.save.value = _download("Save this finding", "finding.json", to_json(finding))
        except Exception as error:  # a reader must see it, not a log
            self.output.value, self.code.value, self.save.value = (
                parts.error_line(str(error)),
                "",
                "",
            )

    def _code(self, finding: Finding) -> str:
        asked_of = self._query(finding.question)[1]
        return "".join(
            _block(side, as_code(finding, side, self.shelf.code, asked_of)) for side in "ab"
        )

    # --- what the reader does ---------------------------------------------------------------

    def choose(self, change: Mapping[str, Any]) -> None:
        """Other cards, with a question to begin with where the course has one."""
        with self._told():
            if (name := change["new"]) == self.shelf.name:
                return
            made = {shelf.MAYA: shelf.maya, shelf.DIALOGUE: shelf.dialogue}.get(name)
            chosen = made() if made else self.own
            if chosen is not None:
                self._take(chosen)

    def upload(self, change: Mapping[str, Any]) -> None:
        """A card file: all of it or nothing; the cards before it stay when it is refused."""
        if not change["new"]:
            return
        file = change["new"][0]
        self.cards_file.value = ()  # so that the same name can be chosen again
        with self._told():
            self._begun = monotonic()
            name, content = file["name"], bytes(file["content"])
            try:
                made = shelf.own(name, content, datetime.now(UTC), self._embed)
            finally:
                self.progress.layout.visibility = "hidden"
            self.own = made
            with self._quiet():
                self.source.options = [shelf.MAYA, shelf.DIALOGUE, made.name]
                self.source.value = made.name
            self._take(made)
            self.message.value = parts.line(
                " ".join(
                    [f"{made.name} is loaded.", *notes(shelf.bundled(), list(made.cards["text"]))]
                )
            )

    def open_finding(self, change: Mapping[str, Any]) -> None:
        """A saved finding: its cards must be here, then all of it is set at once."""
        if not change["new"]:
            return
        file = change["new"][0]
        self.finding_file.value = ()
        with self._told():
            found = from_json(bytes(file["content"]))
            held = [self.own] if self.own else []
            held += [shelf.maya(), shelf.dialogue()]
            fitting = [h for h in held if h.fingerprint == found.fingerprint]
            if not fitting:
                said = f"this finding was made with other cards, called {found.cards}"
                raise ValueError(f"{said}: upload just those first; nothing was changed")
            with self._quiet():
                self.shelf = fitting[0]
                self.source.value, self.question.value = self.shelf.name, found.question
                self.now.value, self.shown.value = found.now.isoformat(), found.shown
                self.put("a", found.a)
                self.put("b", found.b)
            self._facts()
            self.show()
            self.message.value = parts.line(f"{file['name']} is open.")

    def put(self, side: str, settings: Settings) -> None:
        """Set every control of one side; a slider's end gives way to a larger value."""
        values = asdict(settings) | {"has_threshold": settings.threshold is not None}
        values["threshold"] = settings.threshold or 0.0
        for name, made in self.controls[side].items():
            if isinstance(made, widgets.FloatSlider):
                made.max = max(made.max, values[name])
            made.value = values[name]

    def reset(self, _: Any = None) -> None:
        """Both sides as at the start; the cards and the question stay."""
        with self._told(), self._quiet():
            self.shown.value = SHOWN
            self.put("a", A)
            self.put("b", B)
        self.show()

    def copy(self, _: Any = None) -> None:
        """B as A, to change one thing at a time."""
        with self._told(), self._quiet():
            self.put("b", self.settings("a"))
        self.show()

    def group(self, _: Any = None) -> None:
        """Show one group of settings on both sides; the place they take stays the same."""
        for side, box in self.boxes.items():
            box.children = [self.controls[side][name] for name in GROUPS[self.groups.value]]

    def _take(self, chosen: shelf.Shelf) -> None:
        self.shelf = chosen
        known = {
            shelf.MAYA: PUBLISHED_QUESTION,
            shelf.DIALOGUE: load_dialogue()[0].questions[0].text,
        }
        with self._quiet():
            self.now.value = chosen.now.isoformat()
            if chosen.name in known or self.question.value in known.values():
                self.question.value = known.get(chosen.name, "")
        self._facts()
        self.show()

    def _embed(self, texts: Sequence[str]) -> Vectors:
        def progress(done: int, of: int) -> None:
            spent = monotonic() - self._begun
            if done and spent / done * of > SLOW_SECONDS:
                self.progress.layout.visibility = "visible"
            self.progress.max, self.progress.value = of, done

        if len(texts) > MANY:
            self.message.value = parts.line(wait(len(texts), shelf.embedding_seconds(texts)))
        return shelf.embed_by_steps(texts, progress)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong becomes a line on the page, and what was there before stays."""
        self.message.value = ""
        try:
            yield
        except Exception as error:  # a reader must see it, not a log
            self.message.value = parts.error_line(str(error))

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Many controls change, the page follows once."""
        self._still = True
        try:
            yield
        finally:
            self._still = False

    def _facts(self) -> None:
        self.about.value = parts.line(facts(self.shelf.cards))

    # --- how it looks -----------------------------------------------------------------------

    def _build(self) -> None:
        self.message, self.about, self.output = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.code, self.save = widgets.HTML(), widgets.HTML()
        self.message.layout.min_height = "2.4em"  # nothing jumps when something is said
        self.source = parts.choice("memories", [shelf.MAYA, shelf.DIALOGUE], shelf.MAYA)
        self.cards_file = _file("Upload a CSV of memories", ".csv")
        self.finding_file = _file("Open a finding", ".json")
        self.progress = widgets.IntProgress(
            description="embedding", style=parts.WIDE, layout=widgets.Layout(visibility="hidden")
        )
        self.question = parts.text("question", PUBLISHED_QUESTION)
        self.now = parts.text("ages as of (time, zone)", self.shelf.now.isoformat())
        self.shown = widgets.IntSlider(
            SHOWN, 1, MOST_SHOWN, description="cards picked", style=HANDLE, layout=SIZE
        )
        self.groups = widgets.ToggleButtons(options=list(GROUPS), style={"button_width": "auto"})
        self.question.layout.width = "min(70em, 98%)"
        self.controls: dict[str, dict[str, Any]] = {
            side: {
                name: control(side.upper(), name, start)
                for names in GROUPS.values()
                for name in names
            }
            for side, start in (("a", A), ("b", B))
        }
        half = {"flex": "1 1 26em", "min_width": "0", "min_height": "13.5em"}
        self.boxes = {side: widgets.VBox(layout=widgets.Layout(**half)) for side in "ab"}
        reset = widgets.Button(description="Reset", tooltip="A and B as at the start")
        copy = widgets.Button(description="Make B like A", tooltip="To change one thing at a time")
        self.as_code = widgets.ToggleButton(description="Copy as code")
        follows = [self.question, self.now, self.shown, self.as_code]
        for made in [*follows, *self.controls["a"].values(), *self.controls["b"].values()]:
            made.observe(self.show, names="value")
        self.source.observe(self.choose, names="value")
        self.cards_file.observe(self.upload, names="value")
        self.finding_file.observe(self.open_finding, names="value")
        self.groups.observe(self.group, names="value")
        reset.on_click(self.reset)
        copy.on_click(self.copy)
        self.group()
        template = widgets.HTML(_download("A CSV to begin with", "memories.csv", shelf.TEMPLATE))
        self.root = widgets.VBox(
            [
                _row(self.source, self.cards_file, template, widgets.HTML(NAMES + parts.ARROW)),
                *(_row(self.about, self.progress), self.question),
                *(_row(self.now, self.shown), self.message),
                *(_row(self.groups, copy, reset), _row(*self.boxes.values()), self.output),
                *(_row(self.as_code, self.save, self.finding_file), self.code),
            ]
        )


def explore() -> Any:
    """The page, over Maya's cards until other ones are chosen."""
    root = Playground().root
    root.add_class("playground")  # for who scans the page, or styles it
    return root


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
    button = f'<button type="button" onclick="{put};this.textContent=\'Copied\'">Copy</button>'
    look = f"{parts.INK};background:none;{parts.SCROLL};user-select:all"
    return (
        f'<div style="{parts.INK}"><b>{side.upper()}</b> {button}'
        f'<pre tabindex="0" style="{look}">{escape(code)}</pre></div>'
    )
