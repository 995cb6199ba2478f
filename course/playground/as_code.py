"""A form as the call of memlib that gives the same ranking, without the playground."""

from course.playground.configuration import Finding, Form
from memlib.retrieval import ranking_code

IMPORTS = """from datetime import datetime
from pathlib import Path

from memlib.cards import load_cards
from memlib.embedders.choose import choose
from memlib.retrieval import Ranking, rank
from course.data.maya import maya_cards
from course.playground.shelf import dialogue_cards
"""


def as_code(finding: Finding, side: str, load: str, model: str, asked_of: str) -> str:
    """The code that ends with `ids`, the cards picked, best first.

    side      "a" or "b"
    load      a line that makes `cards`, as `Shelf.code` holds it
    model     for `choose`: the embedder that made the cards' vectors
    asked_of  the one that made the question's vector; recorded and bundled are one model
    """
    form: Form = getattr(finding, side)
    asked = "model" if asked_of == model else f"choose({asked_of!r})"
    body = f"""
now = datetime.fromisoformat({finding.now.isoformat()!r})
{load}
model = choose({model!r})
question = {finding.question!r}
vectors = model.embed(cards["text"].tolist())
query = {asked}.embed([question], role="query")[0]

ranking = {ranking_code(form.ranking())}
table = rank(cards, vectors, question, query, ranking, now, top_k={finding.shown})
ids = table.index[table["why"] == "picked"].tolist()
print(ids)
"""
    imports = IMPORTS
    if "recorded" in (model, asked_of):  # the course's own vectors
        imports = imports.replace("memlib.embedders.choose import", "course.data.recorded import")
    return _needed(imports, body) + body


def _needed(imports: str, body: str) -> str:
    """The import lines of which the body uses a name."""
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in body).split())
    kept = []
    for line in imports.splitlines():
        names = line.partition(" import ")[2].split(", ")
        if not line or words & set(names):
            kept.append(line)
    return "\n".join(kept) + "\n"
