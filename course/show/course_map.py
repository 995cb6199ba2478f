"""The chapters: what each adds, how long it takes, and the picture of them all.

`python -m course.show.course_map notebooks/images/course.png` draws the README's picture.
"""

import io
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.patches import FancyBboxPatch

from course.show import plots, tables


class Chapter(NamedTuple):
    """A chapter: its number and topic, what it adds, and the minutes it takes."""

    number: str
    topic: str
    adds: str
    minutes: int


CHAPTERS = (
    Chapter("00", "start here", "Maya, her cards, the exam", 40),
    Chapter("01", "similarity limits", "relevance", 45),
    Chapter("02", "recency", "recency", 50),
    Chapter("03", "importance", "importance", 60),
    Chapter("04", "normalization", "one fair sum, weights", 50),
    Chapter("05", "BM25", "search by exact words", 55),
    Chapter("06", "entity boost", "search by names", 45),
    Chapter("07", "fusion", "one ranking out of several", 65),
    Chapter("08", "forgetting", "what to delete or review", 65),
    Chapter("09", "strength-biased cosine", "memories made stronger", 50),
    Chapter("10", "librarian", "the whole pipeline", 65),
    Chapter("11", "what survived", "what measuring kept", 75),
)
ROWS = ("three parts of a score", "put together, and more ways to search", "a librarian at work")
COLUMNS = 4


def course_map() -> plots.Picture:
    """Draw the chapters in three rows, an arrow from each to the next.

    returns  a Picture; its sentence names every chapter with what it adds

    >>> course_map().sentence[:38]
    'Map of the course: 00 start here (Maya'
    """
    figure, ax = plots.axes(9.2, 4.2)
    ax.set_axis_off()
    ax.set(xlim=(-0.05, COLUMNS), ylim=(len(ROWS) - 0.38, -0.2))
    for row, title in enumerate(ROWS):
        ax.text(0, row - 0.06, title, color="#444444", fontsize=9)
    for place, chapter in enumerate(CHAPTERS):
        row, column = divmod(place, COLUMNS)
        _box(ax, column, row, chapter)
    return plots.Picture(figure, sentence())


def sentence() -> str:
    """The map in words: what the picture shows, and its alt text."""
    told = "; ".join(f"{c.number} {c.topic} ({c.adds})" for c in CHAPTERS)
    return f"Map of the course: {told}."


def time_plan() -> str:
    """The chapters as a table, with minutes.

    >>> print(time_plan().splitlines()[1])
    00 start here             Maya, her cards, the exam       40
    """
    minutes = [chapter.minutes for chapter in CHAPTERS]
    table = tables.text_table(
        {
            "chapter": [f"{chapter.number} {chapter.topic}" for chapter in CHAPTERS],
            "adds": [chapter.adds for chapter in CHAPTERS],
            "minutes": [str(each) for each in minutes],
        },
        left=["chapter", "adds"],
    )
    return f"{table}\n{len(minutes)} chapters: {sum(minutes)} minutes"


def save(path: Path) -> None:
    """Write the map as PNG; the file carries the sentence as its description."""
    picture, buffer = course_map(), io.BytesIO()
    about = {"Software": None, "Description": picture.sentence}
    with matplotlib.rc_context(plots.STYLE):
        picture.figure.savefig(buffer, format="png", dpi=110, metadata=about)
    path.write_bytes(buffer.getvalue())


def _box(ax: Any, column: int, row: int, chapter: Chapter) -> None:
    width, height = 0.9, 0.58
    look: dict[str, Any] = {"facecolor": "#CFE4F3", "edgecolor": plots.COLORS[0], "linewidth": 1.6}
    ax.add_patch(
        FancyBboxPatch((column, row), width, height, "round,pad=0,rounding_size=.06", **look)
    )
    said = f"{chapter.number} {chapter.topic}"
    middle = column + width / 2
    bold: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8.5}
    ax.text(middle, row + 0.16, said, weight="bold", **bold)
    ax.text(middle, row + 0.31, chapter.adds, **bold)
    ax.text(middle, row + 0.46, f"{chapter.minutes} minutes", **bold)
    if column + 1 < COLUMNS:
        arrow = {"arrowstyle": "->", "color": "#444444"}
        ax.annotate("", (column + 1, row + 0.29), (column + 0.9, row + 0.29), arrowprops=arrow)


if __name__ == "__main__":
    save(Path(sys.argv[1]))
