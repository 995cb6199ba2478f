"""A configuration as the call of memlib that gives the same ranking, without the playground."""

from course.playground.configuration import PARTS, Finding, Settings

IMPORTS = """from datetime import datetime
from pathlib import Path

from memlib.bm25 import BM25, TOKENIZERS, saturate
from memlib.entity_boost import entity_boost, names_in
from memlib.fusion import reciprocal_rank_fusion, weighted_sum
from memlib.importance import from_rating
from memlib.normalization import min_max, z_score
from memlib.ranking import pick_diverse
from memlib.recency import (
    HALF_LIFE_DAYS,
    age_hours,
    decay_per_hour,
    recency,
    recency_by_half_life,
)
from course.playground.shelf import dialogue_cards
from memlib.similarity import cosine_of_units
from memlib.cards import load_cards, names_on
from memlib.embedders.choose import choose
from course.data.maya import maya_cards
"""
SCALES = {"min-max": "min_max", "z-score": "z_score", "none": "None"}


def as_code(finding: Finding, side: str, load: str, model: str, asked_of: str) -> str:
    """The code that ends with `ids`, the cards picked, best first.

    side      "a" or "b"
    load      a line that makes `cards`, as `Shelf.code` holds it
    model     for `choose`: the embedder that made the cards' vectors
    asked_of  the one that made the question's vector; recorded and bundled are one model
    """
    settings: Settings = getattr(finding, side)
    asked = "model" if asked_of == model else f"choose({asked_of!r})"
    body = f"""
now = datetime.fromisoformat({finding.now.isoformat()!r})
{load}
model = choose({model!r})
question = {finding.question!r}
vectors = model.embed(cards["text"].tolist())
query = {asked}.embed([question], role="query")[0]

hours = age_hours(cards["created_at"], cards["last_accessed_at"], now)
names = names_on(cards["entities"], {{}})
cut = TOKENIZERS[{settings.tokenizer!r}]
words = BM25([cut(text) for text in cards["text"]], variant="lucene").scores(cut(question))
signals = {{
    "relevance": cosine_of_units(query, vectors),
    "recency": {_recency(settings)},
    "importance": from_rating(cards["importance"].to_numpy()),
    "names": entity_boost(names_in(question, sorted(set().union(*names))), names),
    "bm25": {_words(settings)},
}}
{_score(settings)}
found = pick_diverse(
    score,
    vectors,
    cards.index,
    top_k={finding.shown},
    diversity={settings.diversity!r},
    w_duplicate={settings.w_duplicate!r},
    mmr_lambda={settings.mmr_lambda!r},
    threshold={settings.threshold!r},
)
ids = cards.index[found.rows].tolist()
print(ids)
"""
    imports = IMPORTS
    if "recorded" in (model, asked_of):  # the course's own vectors
        imports = imports.replace("memlib.embedders.choose import", "course.data.recorded import")
    return _needed(imports, body) + body


def _recency(settings: Settings) -> str:
    days = settings.half_life_days
    if settings.decay == "per hour":
        return f"recency(hours, decay_per_hour({days!r}))"
    lives = f"{days!r}"
    if settings.decay == "by kind":
        share = f'{days!r} / HALF_LIFE_DAYS["episodic"]'
        lives = f'[HALF_LIFE_DAYS[kind] * ({share}) for kind in cards["kind"]]'
    return f'recency_by_half_life(hours / 24, {lives}, cards["pinned"].to_numpy())'


def _words(settings: Settings) -> str:
    plain = settings.fusion == "weighted sum" and settings.normalizer == "none"
    return "saturate(words)" if plain else "words"


def _score(settings: Settings) -> str:
    if settings.fusion == "weighted sum":
        return (
            f"weights = {settings.weights()!r}\n"
            f"score = weighted_sum(signals, weights, {SCALES[settings.normalizer]})"
        )
    used = [name for name in PARTS if settings.weights()[name]]
    return (
        f"lists = [signals[name] for name in {used!r}]\n"
        'matched = {"names": signals["names"] > 0, "bm25": words > 0}\n'
        f"score = reciprocal_rank_fusion(lists, [matched.get(name) for name in {used!r}])"
    )


def _needed(imports: str, body: str) -> str:
    """The import lines of which the body uses a name; of a list of names only those it uses."""
    joined = imports.replace("(\n    ", "").replace(",\n    ", ", ").replace(",\n)", "")
    kept = []
    for line in joined.splitlines():
        start, _, names = line.partition(" import ")
        used = [name for name in names.split(", ") if f"{name}" in _words_of(body)]
        kept += [f"{start} import {', '.join(used)}"] if used else [] if names else [""]
    return "\n".join(kept).replace("\n\n\n", "\n\n") + "\n"


def _words_of(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
