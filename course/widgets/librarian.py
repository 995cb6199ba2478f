"""Chapter 10's widget: two configurations of the librarian side by side, and what each drops."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from course.widgets import parts
from memlib.checks import Floats
from memlib.librarian import Librarian
from memlib.ranking import DIVERSITY, INJECTED, THETA_KEEP, FinalWeights, final_score, pick_diverse

PARTS = ("relevance", "recency", "importance", "usage")
LABELS = dict(zip(PARTS, ("alpha", "beta", "gamma", "delta"), strict=True))
M1 = FinalWeights()
START: dict[str, dict[str, Any]] = {
    side: {name: getattr(M1, name) for name in (*PARTS, "w_duplicate")}
    | {"diversity": "penalty", "threshold": THETA_KEEP}
    for side in "AB"
}
START["B"] |= {"relevance": 0.7, "recency": 0.1, "importance": 0.1}
ARROWS = "B's arrow is its move against A. "
ROWS = 6  # shown of each list; the first INJECTED go into the prompt


class Prepared(NamedTuple):
    """A question's candidates with all their features, and their vectors."""

    table: pd.DataFrame
    vectors: Floats


class _List(NamedTuple):
    rows: list[int]
    score: dict[int, float]
    kept: dict[int, bool]


def prepare(librarian: Librarian, questions: Sequence[str], now: datetime) -> dict[str, Prepared]:
    """Candidates and features of each question, worked out once; no clock is restarted."""
    found = {}
    for question in questions:
        table = librarian.explain(question, now)
        vectors = librarian.store.vectors(table.index.tolist())
        found[question] = Prepared(table, np.asarray(vectors, dtype=np.float64))
    return found


def render(values: parts.Values, prepared: Mapping[str, Prepared]) -> str:
    """Both rankings, how far each card of B moved against A, and why A's or B's cards are out.

    values    question: a key of prepared; for A and B each, such as "A relevance": the weights
              relevance, recency, importance, usage, w_duplicate; diversity; threshold
    prepared  what `prepare` returns
    Raises ValueError for what `final_score` and `pick_diverse` refuse.
    """
    question = prepared[values["question"]]
    lists = {side: _ranked(values, side, question) for side in "AB"}
    a, b = lists.values()
    place = {row: rank for rank, row in enumerate(a.rows, start=1)}
    level = [side for side in "AB" if not any(values[f"{side} {name}"] for name in PARTS)]
    body = []
    for rank, (left, right) in enumerate(zip(a.rows[:ROWS], b.rows[:ROWS], strict=False), start=1):
        arrow = "" if level else parts.moved(place[right], rank)
        cells = [_cell(a, left, rank, question), arrow, _cell(b, right, rank, question)]
        body.append([str(rank), *cells])
    kept = {side: sum(found.kept.values()) for side, found in lists.items()}
    caption = (
        f"Bold: in the prompt. {'' if level else ARROWS}Of {len(a.rows)} candidates "
        f"A keeps {kept['A']} at its threshold, B {kept['B']}."
    )
    caption += "".join(f" All weights of {x} are 0: its order says nothing." for x in level)
    shown = parts.table(caption, ("rank", "A", "moved", "B"), body)
    return shown + _dropped("A", a, "B", b, question) + _dropped("B", b, "A", a, question)


def _ranked(values: parts.Values, side: str, question: Prepared) -> _List:
    """All candidates in the order of picking."""
    mine = {name: values[f"{side} {name}"] for name in START[side]}
    weights = FinalWeights(*(mine[name] for name in (*PARTS, "w_duplicate")))
    table = question.table
    score = final_score(**{name: table[name].to_numpy() for name in PARTS}, weights=weights)
    how, cost = str(mine["diversity"]), weights.w_duplicate
    got = pick_diverse(score, question.vectors, table.index, len(table), how, cost)
    rows = got.rows.tolist()
    at = dict(zip(rows, got.score.tolist(), strict=True))
    return _List(rows, at, {row: at[row] >= mine["threshold"] for row in rows})


def _prompt(found: _List) -> list[int]:
    return [row for row in found.rows[:INJECTED] if found.kept[row]]


def _text(question: Prepared, row: int, width: int) -> str:
    return escape(shorten(str(question.table["text"].iloc[row]), width, placeholder=" …"))


def _cell(found: _List, row: int, rank: int, question: Prepared) -> str:
    said = f"{found.score[row]:.3f} {_text(question, row, 56)}"
    if not found.kept[row]:
        return f"<s>{said}</s> below the threshold"
    return f"<b>{said}</b>" if rank <= INJECTED else said


def _dropped(side: str, found: _List, other: str, others: _List, question: Prepared) -> str:
    """The other side's cards that this side leaves out of the prompt, and the reason."""
    mine, lines = _prompt(found), []
    for row in _prompt(others):
        if row not in mine:
            rank = found.rows.index(row) + 1
            why = f"rank {rank}" if found.kept[row] else "below the threshold"
            lines.append(f"<li>{_text(question, row, 70)}: S {found.score[row]:.3f}, {why}</li>")
    head = f"In the prompt of {other}, not of {side}:" + ("" if lines else " nothing.")
    return f'<div style="{parts.INK}">{head}<ul>{"".join(lines)}</ul></div>'


def explore(librarian: Librarian, questions: Sequence[str], now: datetime) -> Any:
    """The controls over these questions; ValueError if there are none, or no card."""
    prepared = prepare(librarian, questions, now)
    if not prepared or any(found.table.empty for found in prepared.values()):
        raise ValueError("questions or cards are empty: there is nothing to compare")
    controls = {"question": parts.choice("question", list(prepared), next(iter(prepared)))}
    for side, start in START.items():
        for name in PARTS:
            label = f"{side}: {LABELS[name]} ({name})"
            controls[f"{side} {name}"] = parts.slider(label, start[name], 0, 1, 0.05)
        controls |= {
            f"{side} w_duplicate": parts.slider(
                f"{side}: w_duplicate", start["w_duplicate"], 0, 1, 0.05
            ),
            f"{side} diversity": parts.choice(
                f"{side}: diversity", list(DIVERSITY), start["diversity"]
            ),
            f"{side} threshold": parts.slider(f"{side}: threshold", start["threshold"], 0, 1, 0.01),
        }

    def only_of_the_penalty(_: Any = None) -> None:
        for side in START:
            how = controls[f"{side} diversity"].value
            controls[f"{side} w_duplicate"].disabled = how != "penalty"

    for side in START:
        controls[f"{side} diversity"].observe(only_of_the_penalty, names="value")
    only_of_the_penalty()
    return parts.panel(lambda values: render(values, prepared), controls)
