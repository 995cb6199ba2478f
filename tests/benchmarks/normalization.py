"""A slider move to new HTML in chapter 04's controls."""

import time

import numpy as np
import pandas as pd

from course.data.maya import COURSE_NOW, PUBLISHED_QUESTION, maya_cards, published_cards
from course.data.recorded import choose
from course.widgets import normalization
from memlib.recency import age_hours
from memlib.similarity import cosine
from tests.benchmarks.run import Row


def measure(small: bool) -> list[Row]:
    """Median and 95th percentile for 8, 208 and 10,000 cards."""
    rows = []
    for cards, limit in ((published_cards(), 30), (maya_cards(), None), (many(10_000), 100)):
        hours = age_hours(cards["created_at"], cards["last_accessed_at"], COURSE_NOW)
        moves = slider_moves(cards, hours, 5 if small else 60)
        for name, value in (("median", 50), ("95th percentile", 95)):
            said = f"slider move to new HTML, {len(cards):,} cards, {name}"
            rows.append(Row(said, float(np.percentile(moves, value)), "ms", limit))
    return rows


def many(n: int) -> pd.DataFrame:
    """The course's cards again and again, under new ids."""
    cards = maya_cards()
    more = pd.concat([cards] * (n // len(cards) + 1)).head(n)
    more.index = pd.Index([f"{name}-{row}" for row, name in enumerate(more.index)], name="id")
    return more


def slider_moves(cards: pd.DataFrame, hours: np.ndarray, times: int) -> list[float]:
    """Milliseconds from setting a slider's value to the new HTML being there."""
    embedder = choose("recorded")
    query = embedder.embed([PUBLISHED_QUESTION], role="query")[0]
    panel = normalization.explore(cards, cosine(query, embedder.embed(list(cards["text"]))), hours)
    slider, output = panel.children[1], panel.children[-1]
    took = []
    for move in range(times):
        before = output.value
        begin = time.perf_counter()
        slider.value = 0.1 + 2.5 * ((move * 0.37) % 1)
        took.append(1000 * (time.perf_counter() - begin))
        assert output.value != before
    return took
