"""Chapter 07's widget: choose a setting and a row of measured weights, read its recall."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from course.widgets import parts

TEXTS = (
    ("t: the bare text", "t"),
    ("s: the speaker's name before it", "s"),
    ("c: a photo's caption after it", "c"),
    ("sc: both", "sc"),
)
READINGS = (("who said it", "said"), ("names mentioned", "mentioned"))
NORMALIZERS = (("min-max", "minmax"), ("z-score", "zscore"))
KEYS = ["text_variant", "tokenizer", "entity", "method", "split", "k"]
WEIGHTS = ["w_dense", "w_bm25", "w_entity"]
DENSE, PUBLISHED = (1.0, 0.0, 0.0), (0.8, 0.1, 0.1)
START: dict[str, Any] = {
    "text": "sc",
    "tokenizer": "stem",
    "entity": "said",
    "split": "development",
    "k": 20,
    "normalizer": "minmax",
    "weights": PUBLISHED,
}


def by_setting(results: pd.DataFrame) -> pd.DataFrame:
    """The weighted rows of the measurements, ready to be looked up by setting."""
    weighted = results[results["method"].isin([name for _, name in NORMALIZERS])]
    return weighted.set_index(KEYS).sort_index()


def render(values: parts.Values, measured: pd.DataFrame) -> str:
    """The chosen weighting's recall and rank among all, beside dense, published and best.

    values    text, tokenizer, entity, split, k, normalizer as in the measurements; weights: a
              triple dense, BM25, entity
    measured  what `by_setting` returns
    """
    order = ("text", "tokenizer", "entity", "normalizer", "split", "k")
    setting = tuple(values[name] for name in order)
    if setting not in measured.index:
        return parts.error_line(f"nothing was measured for {', '.join(map(str, setting))}")
    rows = measured.loc[[setting]]
    triples = [tuple(round(float(w), 1) for w in row) for row in rows[WEIGHTS].to_numpy()]
    recall = dict(zip(triples, rows["recall"].tolist(), strict=True))
    chosen = tuple(values["weights"])
    if chosen not in recall:
        return parts.error_line(f"nothing was measured for the weights {said(chosen)}")
    best = max(recall, key=lambda triple: recall[triple])
    named = {"your row": chosen, "dense alone": DENSE, "published": PUBLISHED, "best here": best}
    body = [
        [
            name,
            said(triple),
            f"{recall[triple]:.2f}",
            str(1 + sum(other > recall[triple] for other in recall.values())),
            f"{recall[triple] - recall[DENSE]:+.1f}",
        ]
        for name, triple in named.items()
    ]
    header = ("", "dense/BM25/entity", "recall", f"rank of {len(recall)}", "against dense alone")
    return parts.table(_caption(values, int(rows["n"].iloc[0])), header, body)


def _caption(values: parts.Values, n: int) -> str:
    normalizer = dict((name, label) for label, name in NORMALIZERS)[values["normalizer"]]
    reading = dict((name, label) for label, name in READINGS)[values["entity"]]
    return (
        f"Recall@{values['k']} in percent on {n:,} {values['split']} questions: text"
        f" {values['text']}, tokenizer {values['tokenizer']}, entity: {reading}, {normalizer}."
        " Differences without an interval."
    )


def said(triple: Sequence[float]) -> str:
    """Weights as text, in the order dense, BM25, entity.

    >>> said((0.8, 0.1, 0.1))
    '0.8/0.1/0.1'
    """
    return "/".join(f"{weight:g}" for weight in triple)


def explore(results: pd.DataFrame) -> Any:
    """The committed measurements, setting by setting."""
    measured = by_setting(results)
    rows = measured[WEIGHTS].round(1).drop_duplicates().itertuples(index=False, name=None)
    weights = sorted(rows, reverse=True)
    level = {key: measured.index.unique(key).tolist() for key in KEYS}
    controls = {
        "text": parts.choice("text", TEXTS, START["text"]),
        "tokenizer": parts.choice("tokenizer", level["tokenizer"], START["tokenizer"]),
        "entity": parts.choice("entity", READINGS, START["entity"]),
        "split": parts.choice("questions", level["split"], START["split"]),
        "k": parts.choice("k: number retrieved", level["k"], START["k"]),
        "normalizer": parts.choice("normaliser", NORMALIZERS, START["normalizer"]),
        "weights": parts.choice(
            "dense/BM25/entity", [(said(w), w) for w in weights], START["weights"]
        ),
    }
    return parts.panel(lambda values: render(values, measured), controls)
