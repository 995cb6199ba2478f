"""Chapter 06's widget: type a question; which names it holds, what each is worth, who gains."""

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from course.widgets import parts
from memlib.cards import names_on
from memlib.checks import Floats
from memlib.entity_boost import DAMPING, damp, damp_by_square, entity_boost, names_in
from memlib.normalization import min_max
from memlib.ranking import rank_order

FORMS = (
    ("1 / log2(1 + df)", "log2"),
    ("1 / (1 + strength · (df − 1)²)", "square"),
    ("no damping: always 1", "none"),
)
START: dict[str, Any] = {
    "question": "Did Sam tell Elizabeth about Miso?",
    "damping": "log2",
    "strength": DAMPING,
    "aliases": True,
}
ROWS = 8  # a long table is cut here, and says so


def damping(values: parts.Values) -> Callable[[Any], Floats]:
    """The function df -> worth that the drop-down and the slider ask for."""
    forms: dict[str, Callable[[Any], Floats]] = {
        "log2": damp,
        "square": partial(damp_by_square, strength=values["strength"]),
        "none": partial(damp_by_square, strength=0),
    }
    return forms[values["damping"]]


def render(values: parts.Values, cards: pd.DataFrame, aliases: Mapping[str, str]) -> str:
    """The names found, their df and worth, and the cards that gain, before and after min-max.

    values   question: text; damping: log2, square or none; strength: 0 or more; aliases: bool
    cards    needs the columns text and entities
    aliases  other spelling -> name, used where values["aliases"] is true
    """
    if not str(values["question"]).strip():
        return parts.error_line("the question is empty: type one, then press Enter")
    known_as = aliases if values["aliases"] else {}
    held = names_on(cards["entities"], known_as)
    found = names_in(values["question"], set().union(*held), known_as)
    if not found:
        return parts.line("The question names nobody on a card: every boost is 0.")
    worth = damping(values)
    df = [sum(name in names for names in held) for name in found]
    each = [float(worth(n)) for n in df]
    told = [
        [escape(name), str(n), f"{w:.2f}", f"{w:.2f} / {len(found)} = {w / len(found):.3f}"]
        for name, n, w in zip(found, df, each, strict=True)
    ]
    names = parts.table(
        "Names in the question", ("name", "cards (df)", "worth", "what a card gains"), told
    )
    boost = entity_boost(found, held, worth)
    return names + _gains(found, held, boost, cards)


def _gains(found: tuple[str, ...], held: list[set[str]], boost: Floats, cards: pd.DataFrame) -> str:
    scaled = min_max(boost)
    gained = int((boost > 0).sum())
    body = []
    for rank, row in enumerate(rank_order(boost, cards.index)[: min(ROWS, gained)], start=1):
        shared = escape(", ".join(name for name in found if name in held[row]))
        fact = escape(str(cards["text"].iloc[row]))
        body.append([str(rank), f"{boost[row]:.3f}", f"{scaled[row]:.2f}", shared, fact])
    levels = np.unique(boost.round(9))[::-1]
    caption = f"{gained} of {len(cards)} cards gain. Boosts: "
    caption += ", ".join(f"{level:.3f}" for level in levels) + "; after min-max: "
    caption += ", ".join(f"{level:.2f}" for level in min_max(levels)) + "."
    if gained > ROWS:
        caption += f" The first {ROWS}, equal ones by id."
    return parts.table(caption, ("rank", "boost", "min-max", "names", "fact"), body)


def explore(cards: pd.DataFrame, aliases: Mapping[str, str]) -> Any:
    """A question over any set of cards, with the damping to choose."""
    told = ", ".join(f"{other} is {name}" for other, name in aliases.items())
    controls = {
        "question": parts.text("question", START["question"]),
        "damping": parts.choice("damping", FORMS, START["damping"]),
        "strength": parts.slider("strength (square)", START["strength"], 0, 0.01, 0.0001),
        "aliases": parts.choice("aliases", ((told, True), ("none", False)), START["aliases"]),
    }

    def only_of_the_square(_: Any = None) -> None:
        controls["strength"].disabled = controls["damping"].value != "square"

    controls["damping"].observe(only_of_the_square, names="value")
    only_of_the_square()
    return parts.panel(lambda values: render(values, cards, aliases), controls)
