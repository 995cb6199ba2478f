"""Pictures: one style, a sentence under each that says the same, alt text in each."""

import base64
import functools
import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from memlib.checks import numbers, same_length

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")  # Okabe and Ito 2008
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
WIDTH = 88  # characters a line below a picture: a wider one JupyterLab breaks inside numbers
INTERVAL = "line: 95% interval; hollow: within noise"
STYLE = {
    "font.size": 10,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
    "hatch.linewidth": 0.6,
}


class Picture:
    """A figure with the sentence that says the same: shown below it, and its alt text."""

    def __init__(self, figure: Figure, sentence: str) -> None:
        self.figure, self.sentence = figure, sentence

    @functools.cached_property
    def _bytes(self) -> bytes:
        buffer = io.BytesIO()
        with matplotlib.rc_context(STYLE):
            self.figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        return buffer.getvalue()

    def png(self) -> bytes:
        """The picture's PNG bytes, drawn once: drawing again would move the layout a little."""
        return self._bytes

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        image = base64.b64encode(self.png()).decode("ascii")
        text = {"image/png": image, "text/plain": self.sentence}
        return text, {"image/png": {"alt": self.sentence}}

    def _ipython_display_(self) -> None:
        from IPython.display import display

        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        print(textwrap.fill(self.sentence, WIDTH, break_long_words=False, break_on_hyphens=False))


def axes(width: float = 7.0, height: float = 3.2) -> tuple[Figure, Axes]:
    """A new figure with one set of axes in the course's style."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def bars(
    labels: Sequence[str], values: ArrayLike, xlabel: str, top: int = 0, digits: int = 2
) -> Picture:
    """Horizontal bars, first label on top; the first `top` are hatched, as those injected."""
    x = numbers("values", values, ndim=1)
    figure, ax = axes(height=0.6 + 0.32 * len(labels))
    rows = np.arange(len(labels))
    ax.barh(rows[top:], x[top:], color=COLORS[0])
    ax.barh(rows[:top], x[:top], color=COLORS[1], hatch=HATCHES[1], edgecolor="white")
    ax.set_yticks(np.arange(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlabel(xlabel)
    for row, value in enumerate(x):
        ax.annotate(f" {value:.{digits}f}", (max(value, 0), row), va="center")
    told = "; ".join(f"{n} {value:.{digits}f}" for n, value in zip(labels, x, strict=True))
    return Picture(figure, f"Bars of {xlabel}: {told}.")


def stacked_bars(labels: Sequence[str], parts: Mapping[str, ArrayLike], xlabel: str) -> Picture:
    """One bar a label, made of parts; each part has a colour and a hatch."""
    figure, ax = axes(height=1.0 + 0.32 * len(labels))
    left = np.zeros(len(labels))
    for i, (name, values) in enumerate(parts.items()):
        width = numbers(name, values, ndim=1, low=0)
        style: dict[str, Any] = {"color": COLORS[i], "hatch": HATCHES[i], "edgecolor": "white"}
        ax.barh(np.arange(len(labels)), width, left=left, label=name, **style)
        left = left + width
    ax.set_yticks(np.arange(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlabel(xlabel)
    figure.legend(loc="outside upper center", ncols=len(parts), frameon=False)
    told = "; ".join(f"{name} {total:.2f}" for name, total in zip(labels, left, strict=True))
    return Picture(figure, f"Stacked bars of {' + '.join(parts)}, {xlabel}: {told}.")


def lines(
    x: ArrayLike, series: Mapping[str, ArrayLike], xlabel: str, ylabel: str, at: float
) -> Picture:
    """One line a series, each with its own dash and marker; the sentence tells each at `at`."""
    where = numbers("x", x, ndim=1)
    for row in np.flatnonzero(np.diff(where) < 0) + 1:  # np.interp would tell a wrong value
        raise ValueError(f"x[{row}] is {float(where[row])!r}: must not be below the x before it")
    figure, ax = axes()
    told = []
    for i, (name, values) in enumerate(series.items()):
        y = numbers(name, values, ndim=1)
        every = max(1, len(where) // 8)
        style: dict[str, Any] = {"linestyle": LINES[i], "marker": MARKERS[i], "markevery": every}
        ax.plot(where, y, color=COLORS[i], label=name, **style)
        told.append(f"{name} {np.interp(at, where, y):.2f}")
    ax.axvline(at, color="grey", linewidth=0.8)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(frameon=False)
    return Picture(figure, f"Lines of {ylabel} over {xlabel}; at {at:g}: {'; '.join(told)}.")


def heat_map(matrix: ArrayLike, labels: Sequence[str], title: str) -> Picture:
    """A square of pairwise values, each printed in its cell; the sentence tells the extremes."""
    values = numbers("matrix", matrix, ndim=2)
    n = len(labels)
    figure, ax = axes(2.6 + 0.55 * n, 1.2 + 0.5 * n)
    ax.imshow(values, cmap="cividis", vmin=0, vmax=1)
    ax.set_xticks(range(n), labels, rotation=40, ha="right")
    ax.set_yticks(range(n), labels)
    for row in range(n):
        for column in range(n):
            color = "white" if values[row, column] < 0.45 else "black"
            said = f"{values[row, column]:.2f}"
            ax.text(column, row, said, ha="center", va="center", color=color, fontsize=8)
    ax.set_title(title)
    pairs = [(values[i, j], labels[i], labels[j]) for i in range(n) for j in range(i)]
    (high, a, b), (low, c, d) = max(pairs), min(pairs)
    told = f"most alike {a} and {b} ({high:.2f}), least {c} and {d} ({low:.2f})"
    return Picture(figure, f"Heat map of {title}: {told}.")


def forest(
    labels: Sequence[str],
    mean: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    xlabel: str,
    clear: Sequence[bool] | None = None,
) -> Picture:
    """A point and its interval a row, first label on top; hollow where noise explains it.

    clear  which rows noise does not explain; None: those whose interval leaves out 0
    """
    figure, ax = axes(8.2, 0.8 + 0.27 * len(labels))
    told = forest_rows(ax, labels, mean, low, high, clear)
    ax.set_xlabel(f"{xlabel}\n{INTERVAL}")
    return Picture(figure, f"Forest of {xlabel}. {told}")


def forest_rows(
    ax: Axes,
    labels: Sequence[str],
    mean: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    clear: Sequence[bool] | None = None,
) -> str:
    """Draw the rows of a forest into axes; returns what they tell, grouped by verdict."""
    x = numbers("mean", mean, ndim=1)
    ends = numbers("low", low, ndim=1), numbers("high", high, ndim=1)
    same_length(labels=labels, mean=x, low=ends[0], high=ends[1])
    for bad in np.flatnonzero(ends[0] > ends[1]):
        raise ValueError(f"low[{bad}] is {float(ends[0][bad])!r}: must not be above high")
    solid = (ends[0] > 0) | (ends[1] < 0) if clear is None else np.asarray(clear, dtype=bool)
    same_length(labels=labels, clear=solid)
    told: dict[str, list[str]] = {"Above 0": [], "Below 0": [], "Within noise": []}
    ax.axvline(0, color="black", linewidth=0.8)
    for row, (name, at, left, right) in enumerate(zip(labels, x, *ends, strict=True)):
        group = "Within noise" if not solid[row] else "Above 0" if at > 0 else "Below 0"
        i = list(told).index(group)
        color = ("#0072B2", "#D55E00", "#595959")[i]
        ax.plot([left, right], [row, row], color=color, linewidth=1.5)
        fill = color if solid[row] else "white"
        ax.plot(at, row, marker=("^", "v", "o")[i], color=color, markerfacecolor=fill)
        said = f"{at:+.2f} [{left:.2f}, {right:.2f}]"
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
        ax.annotate(said, (1.02, row), fontsize=9, annotation_clip=False, **place)
        told[group].append(f"{name} {said}")
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    return " ".join(f"{group}: {'; '.join(rows)}." for group, rows in told.items() if rows)
