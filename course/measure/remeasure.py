"""Measured again: on which processor, and whether a table still says what is committed."""

import platform
from collections.abc import Sequence

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from course.data.files import data_path

FILE = "measured_on.csv"
COLUMNS = ("measured", "processor")
TOLERANCE = 0.1  # points that the last digits of another processor's vectors may move
FREE = ("better", "equal", "worse", "chosen")  # one question may move a conversation, or a tie
RANKS = "rank_"  # so begin the columns of single ranks


def processor() -> str:
    """Architecture of this machine, and the faster instructions that numpy uses on it.

    >>> processor().partition(" with ")[0] == platform.machine()
    True
    """
    config = np.show_config(mode="dicts") or {}
    found = config.get("SIMD Extensions", {}).get("found", [])
    return f"{platform.machine()} with {', '.join(found) or 'no faster instructions'}"


def measured_on(what: str) -> str:
    """The processor that measured the committed tables; "an unknown processor" if none is noted."""
    return _noted().get(what, "an unknown processor")


def noted(what: str) -> pd.DataFrame:
    """The table of FILE with this machine's processor as the one that measured `what`."""
    return pd.DataFrame((_noted() | {what: processor()}).items(), columns=COLUMNS)


def _noted() -> dict[str, str]:
    try:
        table = pd.read_csv(data_path(FILE), encoding="utf-8")
    except FileNotFoundError:
        return {}
    return dict(zip(table["measured"], table["processor"], strict=True))


def verdicts(table: pd.DataFrame) -> list[str]:
    """ "better", "worse" or "within noise" a row, by its interval; none for a table without one.

    >>> verdicts(pd.DataFrame({"low": [0.1, -3.0, -1.0], "high": [2.0, -0.1, 1.0]}))
    ['better', 'worse', 'within noise']
    """
    if not {"low", "high"} <= set(table):
        return []
    words = np.where(table["high"] < 0, "worse", "within noise")
    found: list[str] = np.where(table["low"] > 0, "better", words).tolist()
    return found


def disagreement(
    new: pd.DataFrame, old: pd.DataFrame, tolerance: float = TOLERANCE, unit: str = "points"
) -> str:
    """What a table says otherwise than before, in words; empty where it says the same.

    Rows, words and whole numbers must be equal, other numbers within `tolerance`, and no interval
    may turn a verdict. Counts of conversations, the weights chosen and single ranks may move.

    >>> old = pd.DataFrame({"method": ["BM25"], "recall": [67.60], "low": [0.02], "high": [1.0]})
    >>> disagreement(old.assign(recall=67.65), old)
    ''
    >>> disagreement(old.assign(recall=67.80), old)
    'recall moved by 0.20 points'
    >>> disagreement(old.assign(low=-0.03), old)
    "1 verdict turned, the first from 'better' to 'within noise' (row 0)"
    """
    if list(new) != list(old) or len(new) != len(old):
        return "other rows or columns were measured"
    for name in old:
        if name in FREE or str(name).startswith(RANKS):
            continue
        if is_float_dtype(old[name]) and is_float_dtype(new[name]):
            gap = (new[name] - old[name]).abs().max()
            if gap > tolerance + 1e-9 or (new[name].isna() != old[name].isna()).any():
                return f"{name} moved by {gap:.2f} {unit}"
        elif new[name].fillna("").tolist() != old[name].fillna("").tolist():
            return f"{name} is another"
    pairs = enumerate(zip(verdicts(old), verdicts(new), strict=True))
    turned = [(row, was, now) for row, (was, now) in pairs if was != now]
    if not turned:
        return ""
    row, was, now = turned[0]
    many = "verdict" if len(turned) == 1 else "verdicts"
    return f"{len(turned)} {many} turned, the first from {was!r} to {now!r} (row {row})"


def disagreements(names: Sequence[str], new: Sequence[pd.DataFrame]) -> list[str]:
    """What the tables say otherwise than the committed files of these names, a line a file."""
    said = []
    for name, table in zip(names, new, strict=True):
        try:
            why = disagreement(table, pd.read_csv(data_path(name), encoding="utf-8"))
        except (FileNotFoundError, pd.errors.EmptyDataError, pd.errors.ParserError):
            why = "nothing that can be compared was committed before"
        said += [f"{name}: {why}"] if why else []
    return said


def compared(what: str, names: Sequence[str], new: Sequence[pd.DataFrame]) -> tuple[bool, str]:
    """Whether the committed files stay, and a sentence that names both processors.

    They stay if another processor measured them and the new tables say the same.
    """
    here, there = processor(), measured_on(what)
    if here == there:
        return False, f"measured on {here}, as before"
    if said := disagreements(names, new):
        return False, f"measured on {here}, before on {there}: {'; '.join(said)}"
    same = f"within {TOLERANCE} points and no verdict turned"
    return True, f"measured on {here}; the committed files, from {there}, stay: {same}"
