"""What chapters 10 and 11 show of the later readings: two data sets, and persons' cards."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from course.measure.readings import DECIDES, FIRST, LOCOMO, REALTALK
from course.show.plots import STYLE, Picture, forest_rows
from course.show.survivors import select
from memlib.tables import text_table

BY_GROUP = "95% interval over {}, mark filled: better or worse by the rule"
MARKS = {"better": "+", "worse": "-", "within noise": "~", "baseline": "=", "too few groups": "?"}


def side_by_side(
    results: pd.DataFrame, methods: Sequence[str], over: str = FIRST, measure: str = DECIDES
) -> Picture:
    """The same methods on LoCoMo and on REALTALK: differences to another one, a panel each.

    results  realtalk_results.csv
    Raises ValueError for a method that was not compared with `over`.
    """
    told = []
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.8, 1.4 + 0.32 * len(methods)), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True, sharex=True)
        for ax, reading in zip(axes, (LOCOMO, REALTALK), strict=True):
            rows = select(results, reading=reading, over=over, measure=measure)
            part = pd.concat([select(rows, method=name) for name in methods])
            mean, low, high = (part[name].to_numpy(float) for name in ("difference", "low", "high"))
            clear = part["verdict"].isin(["better", "worse"]).tolist()
            said = forest_rows(ax, list(methods), mean, low, high, clear)
            groups = int(part[["better", "equal", "worse"]].iloc[0].sum())
            count = f"{reading}: {int(part['n'].iloc[0]):,} questions, {groups} conversations"
            ax.set_title(count, loc="left", fontsize=10)
            told.append(f"{count}. {said}")
        figure.supxlabel(
            f"difference of {measure} to {over}, points\n{BY_GROUP.format('conversations')}",
            fontsize=10,
        )
    head = f"Difference of {measure} to {over} in points, with its 95% interval over conversations"
    return Picture(figure, f"{head}. {' '.join(told)}")


def both(results: pd.DataFrame, methods: Sequence[str], over: str, measure: str = DECIDES) -> str:
    """A row a method: its value and its difference to `over` on both, with signs and verdict."""
    columns: dict[str, list[str]] = {f"over {over}": list(methods)}
    for reading in (LOCOMO, REALTALK):
        part = select(results, reading=reading, over=over, measure=measure)
        rows = [select(part, method=name).iloc[0] for name in methods]
        name = reading.partition(" ")[0]
        columns[name] = [f"{row['value']:.1f}" for row in rows]
        columns[" " * len(columns)] = [_spread(row) for row in rows]
    return text_table(columns, left=[f"over {over}"])


def on_cards(results: pd.DataFrame, k: int) -> str:
    """A ranking a row: recall@k on RealMem's held-out personas, difference to similarity, signs."""
    rows = select(results, k=k).sort_values("recall", ascending=False, kind="stable")
    columns = {
        "ranking": rows["method"].tolist(),
        f"recall@{k}": [f"{value:.1f}" for value in rows["recall"]],
        "to similarity": [_spread(row) for _, row in rows.iterrows()],
    }
    return text_table(columns, left=["ranking"])


def _spread(row: "pd.Series[Any]") -> str:
    difference, low, high = (float(row[name]) for name in ("difference", "low", "high"))
    signs = f"{row['better']}:{row['worse']}"
    return f"{difference:+.1f} [{low:.1f}, {high:.1f}] {signs} {MARKS[str(row['verdict'])]}"


def person_table(means: pd.DataFrame, rankings: Sequence[str]) -> str:
    """A ranking a row: mean recall of each person, over the ks that decide, and of all persons.

    means  persons × rankings, as `served.by_person` gives it
    """
    columns: dict[str, list[str]] = {"ranking": list(rankings)}
    for person in map(str, means.index):
        row = means.loc[person, list(rankings)].to_numpy(float)
        columns[person.partition("_")[0]] = [f"{value:.1f}" for value in row]
    columns["mean"] = [f"{float(value):.1f}" for value in means[list(rankings)].mean()]
    return text_table(columns, left=["ranking"])
