"""Chapter 01's controls: your question, a second wording, your cards and who embeds them."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
import numpy as np

from memlib.checks import Floats
from memlib.ranking import INJECTED, rank_order
from memlib.show.widgets import parts
from memlib.similarity import cosine
from memlib.sources.embedders import Embedder, Ollama, Role, Vectors, check_texts, notes

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
ROWS = 20  # a long table is cut here, and says so
AT_ONCE = 16  # texts between two steps of the bar


class Remembered:
    """An embedder that embeds each text once, so that a new question costs one embedding.

    told  is told, while it works, how many texts are embedded, and of how many
    """

    def __init__(
        self, embedder: Embedder, told: Callable[[int, int], object] = lambda done, of: None
    ) -> None:
        self.told = told
        self.embedder, self.rows = embedder, dict[tuple[Role, str], Any]()
        self.id = embedder.id

    @property
    def dim(self) -> int:
        return self.embedder.dim

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return one row a text, (n, dim); only texts that are new reach the embedder."""
        texts = check_texts(texts, role)
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self.rows]
        for at in range(0, len(new), AT_ONCE):
            some = new[at : at + AT_ONCE]
            vectors = self.embedder.embed(some, role)
            self.rows |= {(role, text): row for text, row in zip(some, vectors, strict=True)}
            self.told(at + len(some), len(new))
        found = [self.rows[role, text] for text in texts]
        return np.array(found, np.float32).reshape(-1, self.dim)


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
    caption = f"“{question}” by {embedder.id}."
    if len(order) > 1:
        caption += f" First place leads by {rel[order[0]] - rel[order[1]]:.4f}."
    if other:
        caption += f" ▲▼ against “{other}”, where “{cards[before[0]]}” is first."
    caption += "".join(f" {note}." for note in notes(embedder, [question, *cards]))
    if len(order) > ROWS:
        caption += f" The first {ROWS} of {len(order)} cards."
    header = ("rank", "moved", "cosine", "0 to 1", "", "card")
    return parts.table(caption, header, body)


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
