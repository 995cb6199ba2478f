"""Chapter 11's widget: a row of the leaderboard, its interval as a bar, its verdict and rank."""

from html import escape
from typing import Any

import ipywidgets
import pandas as pd

from course.measure.leaderboard import BASELINE, BEST
from course.show.survivors import ALL, CHOSEN, FIRST, judged, select
from course.widgets import parts

START: dict[str, Any] = {"split": "development", "k": 20, "questions": ALL, "method": BEST}
COLORS = {"better": "#0072B2", "worse": "#D55E00"}
WIDTH, HEIGHT, EDGE = 180.0, 16.0, 6.0  # of a bar, in px


def render(values: parts.Values, board: pd.DataFrame) -> str:
    """The chosen method's row beside similarity alone, the weighted sum and the first of all.

    values  split, k, questions, method as in the measurements
    board   survivors.csv
    """
    setting = {name: values[name] for name in ("split", "k", "questions")}
    try:
        rows = select(board, **setting)
        chosen = select(rows, method=values["method"]).iloc[0]
    except ValueError as error:
        return parts.error_line(str(error))
    first = rows.iloc[int(rows["recall"].to_numpy().argmax())]
    beside = [select(rows, method=name).iloc[0] for name in (BASELINE, FIRST)]
    shown = (chosen, first, *beside)
    ends = min(row["low"] for row in shown), max(row["high"] for row in shown)  # 0: the baseline's
    names = ("your row", "first here", "", "")
    body = [_row(name, row, rows, ends) for name, row in zip(names, shown, strict=True)]
    scale = " to ".join(f"{end:+.2f}" if end else "0" for end in ends) + " points"
    ranked = f"rank of {len(rows)}"
    header = ("", "method", "recall", ranked, "difference", scale, "verdict", "+/=/-")
    return parts.table(_caption(setting, rows), header, body) + parts.line(sentence(chosen))


def sentence(row: "pd.Series[Any]") -> str:
    """A row of the leaderboard in words."""
    word = judged(str(row["method"]), row["low"], row["high"])
    if word == "baseline":
        return f"{BASELINE}: every other row is compared with this one."
    where = f"{abs(row['difference']):.2f} points {'above' if row['difference'] > 0 else 'below'}"
    span = f"95% interval {row['low']:.2f} to {row['high']:.2f}"
    signs = row["better"] + row["equal"] + row["worse"]
    held = f"higher in {row['better']} of {signs} conversations, lower in {row['worse']}"
    return f"{row['method']}: {where} the {BASELINE}, {span}: {word}; {held}."


def interval_bar(mean: float, low: float, high: float, ends: tuple[float, float], word: str) -> str:
    """An interval as a line with a dot on a scale with 0; hollow if noise explains it."""
    reach = ends[1] - ends[0] or 1.0
    x0, x1, x2, x = (
        EDGE + (value - ends[0]) / reach * (WIDTH - 2 * EDGE) for value in (0.0, low, high, mean)
    )
    color = COLORS.get(word, "#767676")
    fill = color if word in COLORS else "var(--jp-layout-color1, white)"
    y = HEIGHT / 2
    told = escape(f"{mean:+.2f}, from {low:.2f} to {high:.2f}, {word}")
    return (
        f'<svg role="img" aria-label="{told}" width="{WIDTH:g}" height="{HEIGHT:g}">'
        f'<line x1="{x0:.1f}" x2="{x0:.1f}" y1="0" y2="{HEIGHT:g}" stroke="currentColor"/>'
        f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:g}" y2="{y:g}" stroke="{color}"'
        ' stroke-width="2"/>'
        f'<circle cx="{x:.1f}" cy="{y:g}" r="4" fill="{fill}" stroke="{color}"'
        ' stroke-width="2"/></svg>'
    )


def _row(
    name: str, row: "pd.Series[Any]", rows: pd.DataFrame, ends: tuple[float, float]
) -> list[str]:
    word = judged(str(row["method"]), row["low"], row["high"])
    return [
        name,
        escape(str(row["method"])),
        f"{row['recall']:.2f}",
        str(1 + int((rows["recall"] > row["recall"]).sum())),
        f"{row['difference']:+.2f} [{row['low']:.2f}, {row['high']:.2f}]",
        interval_bar(row["difference"], row["low"], row["high"], ends, word),
        word,
        f"{row['better']}/{row['equal']}/{row['worse']}",
    ]


def _caption(setting: parts.Values, rows: pd.DataFrame) -> str:
    split, kind = setting["split"], setting["questions"]
    which = "" if kind == ALL else f" ({kind})"
    return (
        f"Recall@{setting['k']} in percent on {int(rows['n'].iloc[0]):,} {split} questions{which},"
        f" {CHOSEN[split]}; difference to the {BASELINE} in points with its 95% interval;"
        " +/=/-: conversations better, equal, worse. With so many rows, about one in twenty"
        " of those without any effect leaves its interval by chance."
    )


def explore(board: pd.DataFrame) -> Any:
    """The committed leaderboard, row by row."""
    options = {name: list(dict.fromkeys(board[name])) for name in START}
    method = ipywidgets.Select(
        options=options["method"],
        value=START["method"],
        description="method",
        rows=8,
        style=parts.WIDE,
        layout=ipywidgets.Layout(width="min(44em, 98%)"),
    )
    controls = {
        "split": parts.choice("conversations", options["split"], START["split"]),
        "k": parts.choice("k: number retrieved", options["k"], START["k"]),
        "questions": parts.choice("kind of question", options["questions"], START["questions"]),
        "method": method,
    }
    return parts.panel(lambda values: render(values, board), controls)
