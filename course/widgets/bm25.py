"""Chapter 05's controls: k1, b, the tokenizer and your question, over Maya's cards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from course.widgets import parts
from memlib.bm25 import BM25, K1, TOKENIZERS, B
from memlib.ranking import rank_order

START: dict[str, Any] = {
    "question": "What is the name of the cat?",
    "tokenizer": "stem",
    "k1": K1,
    "b": B,
}
ROWS = 10
Documents = Mapping[str, Sequence[Sequence[str]]]


def render(values: parts.Values, cards: pd.DataFrame, documents: Documents, first: BM25) -> str:
    """The ten best cards by BM25 (lucene), with the words that matched and what each added.

    values     question, tokenizer (a key of documents), k1 (0 or more), b (0 to 1)
    cards      needs the column text
    documents  by tokenizer: the cards' tokens, in the cards' order
    first      the index at the start's settings: what the arrows compare with
    """
    question, tokenizer = " ".join(str(values["question"]).split()), values["tokenizer"]
    if not question:
        return parts.error_line("the question is empty: type one, then press Enter")
    terms = TOKENIZERS[tokenizer](question)
    index = BM25(documents[tokenizer], values["k1"], values["b"], "lucene")
    matched = int(index.matched(terms).sum())
    said = ", ".join(dict.fromkeys(_worth(term, index) for term in terms)) or "nothing"
    caption = (
        f"{tokenizer}, k1 {values['k1']:.2f}, b {values['b']:.2f}. The question becomes: {said}. "
        f"{matched} of {len(cards)} cards hold a word of it."
    )
    order = rank_order(index.scores(terms), cards.index)[: min(ROWS, matched)].tolist()
    if not order:
        return parts.line(caption + " All scores are 0: the order says nothing.")
    start = TOKENIZERS[START["tokenizer"]](question)
    before, known = rank_order(first.scores(start), cards.index), first.matched(start)
    place = {row: rank for rank, row in enumerate(before.tolist(), start=1) if known[row]}
    each = {term: index.scores([term] * times) for term, times in Counter(terms).items()}
    body = []
    for rank, row in enumerate(order, start=1):
        added = {term: part[row] for term, part in each.items() if part[row] > 0}
        words = " + ".join(f"{escape(term)} {part:.2f}" for term, part in added.items())
        total = f"{sum(added.values()):.2f}"
        fact = escape(str(cards["text"].iloc[row]))
        arrow = parts.moved(place[row], rank) if row in place else "new"
        body.append([str(rank), arrow, total, words, fact])
    caption += f" ▲▼ against {START['tokenizer']}, k1 {K1:.2f}, b {B:.2f}."
    if not place.keys() >= set(order):
        caption += " new: no word of it matched there."
    header = ("rank", "moved", "score", "words matched and what each added", "card")
    return parts.table(caption, header, body)


def _worth(term: str, index: BM25) -> str:
    if term not in index.df:
        return f"{term} (on no card)"
    where = "1 card" if index.df[term] == 1 else f"{index.df[term]} cards"
    return f"{term} (on {where}, worth {index.idf[term]:.2f})"


def explore(cards: pd.DataFrame) -> Any:
    """The controls of chapter 05 over any set of cards."""
    documents = {name: [cut(text) for text in cards["text"]] for name, cut in TOKENIZERS.items()}
    controls = {
        "question": parts.text("question", START["question"]),
        "tokenizer": parts.choice("tokenizer", list(TOKENIZERS), START["tokenizer"]),
        "k1": parts.slider("k1: what repeating adds", K1, 0, 3, 0.05),
        "b": parts.slider("b: how length counts", B, 0, 1, 0.05),
    }
    first = BM25(documents[START["tokenizer"]], variant="lucene")
    return parts.panel(lambda values: render(values, cards, documents, first), controls)
