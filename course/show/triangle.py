"""Weightings of three signals as a triangle: one cell a weighting, its value printed in it."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from course.show.plots import STYLE, Picture
from memlib.checks import Floats, numbers, same_length


def triangle(
    weights: ArrayLike, panels: Mapping[str, ArrayLike], unit: str, mark: Sequence[float]
) -> Picture:
    """Heat maps of one value a weighting, side by side on one scale, two weightings framed.

    weights  shape (n, 3): dense, BM25, entity, in equal steps, each row adding up to 1
    panels   title -> n values
    unit     what the values are, for example "recall@20"
    mark     a weighting to frame with dashes in every panel; the best of each has a full frame
    Colours begin at the 5th percentile, or one outlier would take half of the scale.
    The sentence tells each panel's best, worst and marked value. Raises ValueError for lengths
    that differ, a value not finite, a mark that is no weighting.

    >>> corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> triangle(corners, {"stem": [3, 2, 1]}, "recall", [0, 1, 0]).sentence[-61:]
    'stem: best 3.00 at 1/0/0, worst 1.00 at 0/0/1, 2.00 at 0/1/0.'
    """
    grid = numbers("weights", weights, ndim=2, low=0)
    values = {title: numbers(title, panel, ndim=1) for title, panel in panels.items()}
    same_length(weights=grid, **values)
    marked = np.flatnonzero(np.isclose(grid, mark).all(axis=1))
    if marked.size == 0:
        raise ValueError(f"mark is {list(mark)}: no weighting of the grid")
    low, high = np.percentile(np.concatenate(list(values.values())), [5, 100])
    told = []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6 * len(values), 4.4), layout="constrained")
        every = figure.subplots(1, len(values), squeeze=False)[0]
        for ax, (title, panel) in zip(every, values.items(), strict=True):
            _panel(ax, grid, panel, low, high)
            best, worst = int(panel.argmax()), int(panel.argmin())
            _frame(ax, grid, best, "-")
            _frame(ax, grid, int(marked[0]), "--")
            ax.set_title(title)
            said = [_say(grid, panel, row) for row in (best, worst, int(marked[0]))]
            told.append(f"{title}: best {said[0]}, worst {said[1]}, {said[2]}")
    head = f"Triangles of {unit} by the weights dense/BM25/entity"
    return Picture(figure, f"{head}; {'; '.join(told)}.")


def _steps(grid: Floats) -> int:
    return round(1 / float(grid[grid > 1e-9].min()))


def _panel(ax: Any, grid: Floats, panel: Floats, low: float, high: float) -> None:
    n = _steps(grid)
    cells = np.rint(grid * n).astype(int)
    square = np.full((n + 1, n + 1), np.nan)
    square[cells[:, 2], cells[:, 1]] = panel
    ax.imshow(square, cmap="cividis", vmin=low, vmax=high, origin="lower")
    for (_, column, row), value in zip(cells, panel, strict=True):
        color = "white" if value - low < 0.46 * (high - low) else "black"
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "color": color}
        ax.text(column, row, f"{value:.1f}", **style)
    ticks = range(0, n + 1, max(1, n // 5))
    ax.set_xticks(ticks, [f"{tick / n:.1f}" for tick in ticks])
    ax.set_yticks(ticks, [f"{tick / n:.1f}" for tick in ticks])
    ax.set(xlabel="weight of BM25", ylabel="weight of entity")
    ax.text(n, n, "dense has the rest", ha="right", va="top")


def _frame(ax: Any, grid: Floats, row: int, line: str) -> None:
    _, column, height = np.rint(grid[row] * _steps(grid))
    look: dict[str, Any] = {"fill": False, "edgecolor": "#D55E00", "linewidth": 2}
    ax.add_patch(Rectangle((column - 0.5, height - 0.5), 1, 1, linestyle=line, **look))


def _say(grid: Floats, panel: Floats, row: int) -> str:
    return f"{panel[row]:.2f} at {'/'.join(f'{w:g}' for w in grid[row])}"
