"""The map of the chapters, and their time plan, from the table in `course/chapters.toml`.

`python -m course.show.course_map notebooks/images/course.png` draws the README's picture.
"""

import io
import itertools
import sys
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.patches import FancyBboxPatch

from course.chapters import CHAPTERS, Chapter
from course.show import plots, tables

COLUMNS = 4


def course_map() -> plots.Picture:
    """Draw a row for each part of the course, more where it is long, with arrows along them.

    returns  a Picture; its sentence names every chapter with what it adds

    >>> course_map().sentence[:38]
    'Map of the course: 00 start here (Maya'
    """
    rows = _rows()
    figure, ax = plots.axes(9.2, 1.4 * len(rows))
    ax.set_axis_off()
    ax.set(xlim=(-0.05, COLUMNS), ylim=(len(rows) - 0.38, -0.2))
    for row, (title, chapters) in enumerate(rows):
        ax.text(0, row - 0.06, title, color="#444444", fontsize=9)
        for column, chapter in enumerate(chapters):
            _box(ax, column, row, chapter, last=chapter is chapters[-1])
    return plots.Picture(figure, sentence())


def sentence() -> str:
    """The map in words: what the picture shows, and its alt text."""
    told = "; ".join(f"{c.name} ({c.adds})" for c in CHAPTERS)
    return f"Map of the course: {told}."


def time_plan() -> str:
    """The chapters as a table, with minutes.

    >>> print(time_plan().splitlines()[1])
    00 start here             Maya, her cards, the exam       40
    """
    minutes = [chapter.minutes for chapter in CHAPTERS]
    table = tables.text_table(
        {
            "chapter": [chapter.name for chapter in CHAPTERS],
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


def _rows() -> list[tuple[str, list[Chapter]]]:
    """The chapters of each row, with the title above it: a part's, once."""
    rows = []
    for part, group in itertools.groupby(CHAPTERS, lambda chapter: chapter.part):
        chapters = list(group)
        for start in range(0, len(chapters), COLUMNS):
            rows.append(("" if start else part, chapters[start : start + COLUMNS]))
    return rows


def _box(ax: Any, column: int, row: int, chapter: Chapter, last: bool) -> None:
    width, height = 0.9, 0.58
    look: dict[str, Any] = {"facecolor": "#CFE4F3", "edgecolor": plots.COLORS[0], "linewidth": 1.6}
    ax.add_patch(
        FancyBboxPatch((column, row), width, height, "round,pad=0,rounding_size=.06", **look)
    )
    middle = column + width / 2
    bold: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8.5}
    ax.text(middle, row + 0.16, chapter.name, weight="bold", **bold)
    ax.text(middle, row + 0.31, chapter.adds, **bold)
    ax.text(middle, row + 0.46, f"{chapter.minutes} minutes", **bold)
    if not last:
        arrow = {"arrowstyle": "->", "color": "#444444"}
        ax.annotate("", (column + 1, row + 0.29), (column + 0.9, row + 0.29), arrowprops=arrow)


if __name__ == "__main__":
    save(Path(sys.argv[1]))
