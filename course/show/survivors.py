"""What chapter 11 shows of the measurements: the leaderboard, the ladder, recency's story."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course.measure.leaderboard import BASELINE
from course.show.plots import COLORS, HATCHES, INTERVAL, MARKERS, STYLE, Picture, axes, forest_rows
from memlib.checks import numbers
from memlib.evaluate import FEWEST
from memlib.tables import decimals, text_table

ALL = "all"  # every kind of question
FIRST = "similarity alone"  # where the ladder begins
CHOSEN = {"development": "leave one out", "held-out": "chosen on development"}
RANKS = {"rank_similarity": FIRST, "rank_sum": BASELINE, "rank_stack": "whole stack"}
SIGNS = {"better": "+", "worse": "-", "within noise": "~", "baseline": "="}


def judged(method: str, low: float, high: float) -> str:
    """A difference to the weighted sum in a word: "within noise" if its interval holds 0.

    >>> judged("BM25", -7.79, -1.81), judged("RRF of three", -4.26, 0.36)
    ('worse', 'within noise')
    """
    if method == BASELINE:
        return "baseline"
    return "better" if low > 0 else "worse" if high < 0 else "within noise"


def select(board: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The rows of a table whose columns have the wanted values, in the table's order.

    Raises ValueError for values that no row has.
    """
    rows = board
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    if rows.empty:
        asked = ", ".join(f"{name} {value!r}" for name, value in wanted.items())
        raise ValueError(f"nothing was measured for {asked}")
    return rows


def board_table(
    board: pd.DataFrame,
    costs: pd.DataFrame,
    split: str,
    k: int,
    questions: str = ALL,
    order: str = "recall",
    families: Sequence[str] = (),
) -> str:
    """The leaderboard, a method a row: recall, difference to the weighted sum, verdict, cost.

    order     "recall": best first, equal ones as measured; "measured": the file's order
    families  which of "documents", "beyond", "ladder"; none is all of them
    Raises ValueError for an unknown order, what was not measured, a method without a cost.
    """
    if order not in ("recall", "measured"):
        raise ValueError(f"order is {order!r}: must be 'recall' or 'measured'")
    rows = select(board, split=split, k=k, questions=questions)
    if families:
        rows = rows[rows["family"].isin(families)]
    if order == "recall":
        rows = rows.sort_values("recall", ascending=False, kind="stable")
    cost = costs.set_index("method")["milliseconds"].reindex(rows["method"])
    spread = list(rows[["method", "difference", "low", "high"]].itertuples(index=False, name=None))
    signs = rows[["better", "equal", "worse"]].itertuples(index=False, name=None)
    columns = {
        "method": list(rows["method"]),
        "recall": decimals(rows["recall"].to_numpy(dtype=float), 2),
        "difference": [f"{d:+.2f}" for _, d, _, _ in spread],
        "95% interval": [f"[{low:.2f}, {high:.2f}]" for _, _, low, high in spread],
        "verdict": [judged(name, low, high) for name, _, low, high in spread],
        "+/=/-": ["/".join(map(str, three)) for three in signs],
        "ms": decimals(numbers("milliseconds", cost.to_numpy(), low=0), 2),
    }
    head = (
        f"Recall@{k} in percent on {_count(rows, split, questions)}, {CHOSEN[split]};\n"
        f"difference to the {BASELINE} in points; +/=/-: conversations better, equal, worse;\n"
        "ms: milliseconds a question, beyond embedding it"
    )
    return f"{head}\n{text_table(columns, left=['method', 'verdict'])}"


def by_question(board: pd.DataFrame, methods: Sequence[str], k: int, split: str) -> str:
    """Recall@k by kind of question, a method a row, each marked against the weighted sum."""
    kinds = list(dict.fromkeys(select(board, split=split, k=k)["questions"]))
    parts = [select(board, split=split, k=k, questions=kind) for kind in kinds]
    count = ", ".join(f"{kind} {p['n'].iloc[0]:,}" for kind, p in zip(kinds, parts, strict=True))
    head = (
        f"Recall@{k} in percent by kind of question, {split}, {CHOSEN[split]};\nquestions: {count}"
    )
    return _marked(head, methods, dict(zip(kinds, parts, strict=True)))


def by_k(board: pd.DataFrame, methods: Sequence[str], split: str, questions: str = ALL) -> str:
    """Recall by the number retrieved, a method a row, each marked against the weighted sum."""
    rows = select(board, split=split, questions=questions)
    parts = {f"k = {k}": select(rows, k=k) for k in dict.fromkeys(rows["k"])}
    head = f"Recall in percent by k on {_count(rows, split, questions)}, {CHOSEN[split]}"
    return _marked(head, methods, parts)


def ladder(board: pd.DataFrame, k: int, questions: str = ALL) -> Picture:
    """Recall from similarity alone to the whole stack, a step a row, both splits side by side.

    The sentence tells start, end and largest step of each split, then every step. Steps have no
    interval of their own; the end has the one of its difference to the weighted sum.
    """
    rows = select(board, k=k, questions=questions)
    rows = rows[(rows["method"] == FIRST) | (rows["family"] == "ladder")]
    splits = list(dict.fromkeys(rows["split"]))
    steps = list(dict.fromkeys(rows["method"]))
    figure, ax = axes(8.2, 1.3 + 0.3 * len(steps))
    told, said = [], [*steps]
    for i, split in enumerate(splits):
        part = select(rows, split=split).set_index("method").loc[steps]
        recall = part["recall"].to_numpy(dtype=float)
        face = COLORS[0] if i == 0 else "white"
        look: dict[str, Any] = {"color": COLORS[(0, 5)[i]], "linestyle": ("-", "--")[i]}
        label = f"{split}, {CHOSEN[split]} ({part['n'].iloc[0]:,} questions)"
        ax.plot(
            recall, range(len(steps)), marker=MARKERS[i], markerfacecolor=face, label=label, **look
        )
        for row, value in enumerate(recall):
            place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
            x = 1.02 + 0.12 * i
            ax.annotate(f"{value:.2f}", (x, row), color=look["color"], fontsize=9, **place)
            said[row] += f"{', ' if i else ' '}{value:.2f}"
        told.append(f"{split} {_climb(steps, recall)}, {_against(part.iloc[-1])}")
    ax.set_yticks(range(len(steps)), steps)
    ax.set_ylim(len(steps) - 0.5, -0.5)
    ax.set_xlabel(f"recall@{k} in percent")
    figure.legend(loc="outside upper center", ncols=len(splits), frameon=False)
    head = f"Ladder of recall@{k} in percent: {'; '.join(told)}"
    return Picture(figure, f"{head}. Steps, {', '.join(splits)}: {'; '.join(said)}.")


def recency_story(
    ages: pd.DataFrame, superseded: pd.DataFrame, k: int = 1, methods: Sequence[str] = ()
) -> Picture:
    """Where a benchmark's evidence lies and what recency rewards; then facts that change.

    ages        tenth (1 is the newest), evidence in percent, mean recency in [0, 1]
    superseded  as `measure_survivors.measure_superseded` gives it
    methods     rows of `superseded`; none: similarity with recency in every way
    Left, both as shares of their sum. Right, difference to similarity alone, by third.
    """
    names = list(methods) or sorted(
        {name for name in superseded["method"] if name.startswith("similarity + ")}, key=_half_life
    )
    rows = select(superseded, k=k)
    thirds = [third for third in dict.fromkeys(rows["third"]) if third != ALL]
    parts = [select(rows, third=third).set_index("method").loc[names] for third in thirds]
    with matplotlib.rc_context(STYLE):
        figure = Figure(
            figsize=(9.8, max(3.2, 1.3 + 0.25 * len(names) * len(thirds))), layout="constrained"
        )
        left, right = figure.subplots(1, 2, width_ratios=(1, 1))
        locomo = _shares(left, ages)
        both = pd.concat(parts)
        mean, low, high = (both[name].to_numpy(float) for name in ("difference", "low", "high"))
        short = [name.removeprefix("similarity + ") for name in names]
        labels = [f"{third}: {name}" for third in thirds for name in short]
        clear = both["verdict"].isin(["better", "worse"]).tolist()
        told = forest_rows(right, labels, mean, low, high, clear)
        for i in range(1, len(thirds)):
            right.axhline(i * len(names) - 0.5, color="grey", linewidth=0.6, linestyle=":")
        right.set_xlabel(f"difference of recall@{k} to {FIRST}, points\n{INTERVAL}")
        right.set_title("facts that change: similarity with recency", loc="left", fontsize=10)
    counts = "; ".join(
        f"{third} ({part['n'].iloc[0]} questions): {_tally(part['verdict'])}"
        for third, part in zip(thirds, parts, strict=True)
    )
    head = f"On facts that change, similarity with recency in {len(names)} ways against {FIRST}"
    rule = f"within noise also where fewer than {FEWEST} questions differ"
    return Picture(figure, f"{locomo} {head}, recall@{k} in points, {rule}: {counts}. {told}")


def dissected(rows: pd.DataFrame) -> Picture:
    """The points that each part gives to one question's wanted turn, and three methods' ranks.

    rows  one question of survivors_dissected.csv; points are in weights of similarity
    """
    asked = rows[["conversation", "question", "category", "evidence", *RANKS]].drop_duplicates()
    if len(asked) != 1:
        raise ValueError(f"rows are of {len(asked)} questions: give those of one")
    one = asked.iloc[0]
    points = numbers("points", rows["points"].to_numpy(), ndim=1)
    figure, ax = axes(8.2, 1.3 + 0.3 * len(points))
    for row, value in enumerate(points):
        look: dict[str, Any] = {"color": COLORS[0]}
        if value < 0:
            look = {"color": COLORS[1], "hatch": HATCHES[1], "edgecolor": "white"}
        ax.barh(row, value, **look)
        ax.annotate(f" {value:.2f}", (max(value, 0.0), row), va="center")
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(points)), list(rows["part"]))
    ax.set_ylim(len(points) - 0.5, -0.5)
    ax.margins(x=0.1)
    ax.set_xlabel("points for the wanted turn (a similarity of 1 gives 1)")
    name = f"{one['evidence']} of {one['conversation']}, question {one['question']}"
    ranks = ", ".join(f"{method} {one[column]}" for column, method in RANKS.items())
    ax.set_title(f"{name} ({one['category']})\nrank: {ranks}", loc="left", fontsize=10)
    told = "; ".join(f"{part} {p:.2f}" for part, p in zip(rows["part"], points, strict=True))
    head = f"Bars of the points for turn {name} ({one['category']}): {told}"
    return Picture(figure, f"{head}; together {points.sum():.2f}. Its rank: {ranks}.")


def _count(rows: pd.DataFrame, split: str, questions: str) -> str:
    kind = "" if questions == ALL else f" ({questions})"
    return f"{int(rows['n'].iloc[0]):,} {split} questions{kind}"


def _marked(head: str, methods: Sequence[str], parts: dict[str, pd.DataFrame]) -> str:
    columns: dict[str, Sequence[str]] = {"method": methods}
    for name, rows in parts.items():
        found = [select(rows, method=method).iloc[0] for method in methods]
        words = [judged(str(row["method"]), row["low"], row["high"]) for row in found]
        pairs = zip(found, words, strict=True)
        columns[name] = [f"{row['recall']:.2f} {SIGNS[word]}" for row, word in pairs]
    foot = f"against the {BASELINE}, 95% interval: + better, - worse, ~ within noise"
    return f"{head}\n{text_table(columns, left=['method'])}\n{foot}"


def _climb(steps: Sequence[str], recall: Any) -> str:
    gain = np.diff(recall)
    said = f"from {recall[0]:.2f} with {steps[0]} to {recall[-1]:.2f} with {steps[-1]}"
    if gain.size == 0:
        return said
    best = int(gain.argmax())
    return f"{said}, largest step {gain[best]:+.2f} at {steps[best + 1]}"


def _against(row: "pd.Series[Any]") -> str:
    spread = f"{row['difference']:+.2f} [{row['low']:.2f}, {row['high']:.2f}]"
    return f"at the end {spread} against the {BASELINE}"


def _half_life(name: str) -> tuple[str, float]:
    """Sorts names like "similarity + 0.1 recency, 30 days": by weight, then by days."""
    kind, days = name.split(", ")
    return kind, float(days.split()[0])


def _tally(verdicts: "pd.Series[Any]") -> str:
    found = list(verdicts)
    return ", ".join(f"{found.count(word)} {word}" for word in ("better", "worse", "within noise"))


def _shares(ax: Axes, ages: pd.DataFrame) -> str:
    """Draw evidence and recency's credit by age, both in percent of their sum; tell both."""
    held, given = (
        numbers(name, ages[name].to_numpy(), ndim=1, low=0) for name in ("evidence", "recency")
    )
    held, given = 100 * held / held.sum(), 100 * given / given.sum()
    tenth = list(ages["tenth"])
    ax.bar(tenth, held, color=COLORS[4], label=f"evidence, newest {held[0]:.1f}")
    look: dict[str, Any] = {"color": COLORS[5], "marker": MARKERS[1], "linestyle": "--"}
    ax.plot(tenth, given, label=f"credit, newest {given[0]:.1f}", **look)
    ax.set_xticks(tenth)
    ax.set(xlabel="tenth of a conversation, 1 is the newest", ylabel="percent of the sum")
    ax.set_title(
        "LoCoMo: where the evidence lies,\nand what recency rewards", loc="left", fontsize=10
    )
    ax.legend(loc="upper right", frameon=False)
    ends = [
        f"{held[i]:.1f}% of the evidence and {given[i]:.1f}% of recency's credit" for i in (0, -1)
    ]
    each = [", ".join(decimals(values, 1)) for values in (held, given)]
    return (
        f"LoCoMo's newest tenth has {ends[0]}, its oldest {ends[1]}"
        f" (newest to oldest: evidence {each[0]}; credit {each[1]})."
    )
