"""Chapter 01's controls: your question, a second wording, your cards and who embeds them."""

from html import escape
from typing import Any

import ipywidgets as widgets

from course.widgets import parts
from memlib.checks import Floats
from memlib.embedders.minilm import notes
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import Embedder
from memlib.embedders.remembered import Remembered
from memlib.ranking import INJECTED, rank_order
from memlib.similarity import cosine

START = {
    "question": "Where does Maya live?",
    "other": "Which city is Maya's home?",
    "cards": "\n".join(
        (
            "Maya lives in London.",
            "Maya lives in Paris.",
            "Maya has a serious peanut allergy.",
            "Maya asked for a pasta recipe yesterday.",
            "Maya is vegetarian.",
        )
    ),
}
MOST = 200  # cards that are read: about a second of embedding
WIDTH = 80  # characters of a text that the caption repeats
ROWS = 20  # a long table is cut here, and says so


def render(values: parts.Values, embedder: Embedder) -> str:
    """The cards by their cosine with the question, and how far a second wording moves them.

    values    question; other: a second wording, may be empty; cards: one a line, blank lines
              are left out
    embedder  embeds all three; its id stands in the caption
    """
    question, other = (" ".join(str(values[name]).split()) for name in ("question", "other"))
    cards = [line.strip() for line in str(values["cards"]).splitlines() if line.strip()]
    if not question:
        return parts.error_line("the question is empty: type one, then press Enter")
    if not cards:
        return parts.error_line("there is no card: type one a line, then press Tab")
    if len(cards) > MOST:
        return parts.error_line(f"{len(cards)} cards: at most {MOST} are read here")
    vectors, ids = embedder.embed(cards), [f"{row:03d}" for row in range(len(cards))]

    def relevance(wording: str) -> Floats:
        return cosine(embedder.embed([wording], role="query")[0], vectors)

    rel = relevance(question)
    order = rank_order(rel, ids)
    before = order if not other else rank_order(relevance(other), ids)
    place = {int(row): rank for rank, row in enumerate(before, start=1)}
    body = []
    for rank, row in enumerate(order[:ROWS].tolist(), start=1):
        mark = "<b>inject</b>" if rank <= INJECTED else ""
        bar = parts.stacked({"cosine": max(0.0, float(rel[row]))}, 1)
        number = f"{round(float(rel[row]), 4) + 0.0:.4f}"
        arrow = parts.moved(place[row], rank)
        body.append([str(rank), arrow, number, bar, mark, escape(cards[row])])
    caption = f"“{_brief(question)}” by {embedder.id}."
    if len(order) > 1:
        caption += f" First place leads by {rel[order[0]] - rel[order[1]]:.4f}."
    if other:
        caption += f" ▲▼ against “{_brief(other)}”, where “{_brief(cards[before[0]])}” is first."
    caption += "".join(f" {note}." for note in notes(embedder, [question, *cards]))
    if len(order) > ROWS:
        caption += f" The first {ROWS} of {len(order)} cards."
    header = ("rank", "moved", "cosine", "0 to 1", "", "card")
    return parts.table(caption, header, body)


def _brief(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def explore(embedder: Embedder) -> Any:
    """The controls of chapter 01; a model that is missing is said in a line, not raised.

    embedder  the one at the start; the drop-down also holds nomic-embed-text of an Ollama server.
              For another model give it here: explore(choose("ollama:MODEL"))
    Each embedder has its own vectors: after a change every text is embedded anew, with a bar.
    """
    bar = widgets.IntProgress(description="embedding", style=parts.WIDE)
    bar.layout.display = "none"

    def told(done: int, of: int) -> None:
        bar.max, bar.value = of, done
        bar.layout.display = "none" if done == of else ""

    models = {one.id: Remembered(one, told) for one in (Ollama(), embedder)}
    controls = {
        "question": parts.text("question", START["question"]),
        "other": parts.text("the same in other words", START["other"]),
        "cards": parts.text("cards, one a line", START["cards"], rows=8),
        "embedder": parts.choice("embedder", list(reversed(models)), embedder.id),
    }

    def shown(values: parts.Values) -> str:
        try:
            return render(values, models[values["embedder"]])
        finally:
            bar.layout.display = "none"

    return widgets.VBox([bar, parts.panel(shown, controls)])
