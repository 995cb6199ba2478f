"""Chapter 02's controls: one clock for eight cards, as decay per hour or as half-life in days."""

from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from course.widgets import parts
from memlib.checks import Floats, numbers, same_length
from memlib.ranking import rank_order
from memlib.recency import (
    DECAY_PER_HOUR,
    HALF_LIFE_DAYS,
    decay_per_hour,
    half_life_days,
    recency_by_half_life,
)

DECAY, HALF_LIFE, KIND = "decay per hour", "half-life in days", "half-life by kind"
FORMS = {  # what counts, and what a slider that does not count moves
    DECAY: "The half-life's slider moves only the last line.",
    HALF_LIFE: "The decay's slider moves only the last line but one.",
    KIND: "Both sliders move only the last two lines.",
}
START = {"form": DECAY, "decay": DECAY_PER_HOUR, "half_life_days": HALF_LIFE_DAYS["episodic"]}
LEVELS = (0.5, 0.25, 0.1)  # the reading: after how many days recency has come down to these


def reading(half_life: float) -> str:
    """After how many days recency has come down to a half, a quarter, a tenth.

    >>> reading(30)
    '0.5 after 30.00 days, 0.25 after 60.00 days, 0.1 after 99.66 days'
    """
    if np.isinf(half_life):
        return "never less than 1"
    days = [half_life * float(np.log2(1 / level)) for level in LEVELS]
    return ", ".join(f"{level:g} after {x:.2f} days" for level, x in zip(LEVELS, days, strict=True))


def linked(decay: float, half_life: float) -> str:
    """Both sliders in both forms, so that either can be read off the other."""
    days, factor = half_life_days(decay), decay_per_hour(half_life)
    shown = "has no half-life" if np.isinf(days) else f"is a half-life of {days:.2f} days"
    return (
        f"{DECAY} {decay:.4f} {shown};\n"
        f"half-life {half_life:.2f} days is a decay of {factor:.6f} per hour."
    )


def clocks(values: parts.Values, cards: pd.DataFrame) -> Floats:
    """Each card's half-life in days under the form that counts."""
    if values["form"] == KIND:
        for row, kind in enumerate(cards["kind"]):
            if kind not in HALF_LIFE_DAYS:
                known = ", ".join(HALF_LIFE_DAYS)
                raise ValueError(f"kind[{row}] is {kind!r}: must be one of {known}")
        return np.array([HALF_LIFE_DAYS[kind] for kind in cards["kind"]])
    days = half_life_days(values["decay"])
    both = {DECAY: days, HALF_LIFE: float(values["half_life_days"])}
    return np.full(len(cards), both[values["form"]])


def render(values: parts.Values, cards: pd.DataFrame, hours: ArrayLike) -> str:
    """The cards by recency under the form that counts, and what the other form would be.

    values  form: one of FORMS; decay: in (0, 1]; half_life_days: above 0
    cards   needs the columns text and kind
    hours   shape (n,), since last access
    """
    age = numbers("hours", hours, low=0, ndim=1)
    same_length(cards=cards, hours=age)
    half_lives = clocks(values, cards)
    fresh = recency_by_half_life(age / 24, half_lives)
    body = []
    for rank, row in enumerate(rank_order(fresh, cards.index), start=1):
        fact, kind = (escape(str(cards[name].iloc[row])) for name in ("text", "kind"))
        bar = parts.stacked({"recency": fresh[row]}, 1.0)
        body.append([str(rank), fact, kind, f"{age[row]:.0f}", f"{fresh[row]:.4f}", bar])
    if values["form"] == KIND:
        lines = [f"{kind}: {reading(days)}" for kind, days in HALF_LIFE_DAYS.items()]
    else:
        lines = [f"recency is {reading(float(half_lives[0]))}"]
    lines.append(f"above one half: {int((fresh > 0.5).sum())} of {len(cards)} cards")
    lines.append(linked(values["decay"], values["half_life_days"]))
    header = ("rank", "fact", "kind", "hours", "recency", "")
    caption = f"What counts: {values['form']}. {FORMS[values['form']]}"
    if len(fresh) > 1 and np.ptp(fresh) == 0:
        caption += f" All recencies are {fresh[0]:.4f}: the order says nothing."
    return parts.table(caption, header, body) + parts.worked("\n".join(lines))


def explore(cards: pd.DataFrame, hours: ArrayLike) -> Any:
    """The controls of chapter 02 over any set of cards."""
    controls = {
        "form": parts.choice("which one counts", list(FORMS), START["form"]),
        "decay": parts.slider(DECAY, DECAY_PER_HOUR, 0.9, 1, 0.0001),
        "half_life_days": parts.slider(HALF_LIFE, HALF_LIFE_DAYS["episodic"], 0.5, 365, 0.5),
    }
    return parts.panel(lambda values: render(values, cards, hours), controls)
