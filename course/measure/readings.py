"""LoCoMo beside REALTALK: everything chosen on LoCoMo's development, read on both, by conversation.

The rule, written before REALTALK was read: an idea survives if on LoCoMo's held-out conversations
and on REALTALK its recall@20 is better (`evaluation.group_verdict`: Student's t over conversations,
all signs but at most one, Holm over the ideas compared with the same method) than that of
similarity alone, for the ideas of the documents and what is tuned beside them; than that of the
learned sum of three, for what is added to it; than that of the rung below, for the ladder.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from course.data.fetch import DataUnavailable, cache_folder
from course.data.locomo import load_locomo
from course.data.realtalk import load_realtalk
from course.data.recorded import choose
from course.measure.ideas import Asked
from course.measure.leaderboard import BASELINE, BEST, METHODS, Method, Weights
from course.measure.locomo import write
from course.measure.remeasure import FILE, compared, noted
from course.measure.survivors import prepare
from course.measure.tuned import TUNED
from memlib.checks import Floats
from memlib.embedders.protocol import EmbedderUnavailable
from memlib.evaluation import (
    Grouped,
    cluster_bootstrap,
    group_verdict,
    grouped_difference,
    holm,
    paired_bootstrap,
    signs_by_group,
)
from memlib.progress import progress

FILES = ("realtalk_results.csv",)
READ = "LoCoMo beside REALTALK"
LOCOMO, REALTALK, OWN = "LoCoMo held-out", "REALTALK", "REALTALK, chosen there"
FIRST, WORDS, LEARNED = "similarity alone", "BM25", "learned sum of three"
RECALLS = ("recall@5", "recall@10", "recall@20", "recall@50")
MEASURES = (*RECALLS, "hit@10", "MRR", "nDCG@10")
DECIDES = "recall@20"
MAIN = (FIRST, WORDS, BASELINE, "RRF of two", LEARNED, "4: and BM25 in context", BEST)
CHOSEN_THERE = (BASELINE, LEARNED, BEST)  # afterwards, leaving one chat out
COLUMNS = (
    *("reading", "method", "family", "over", "measure", "value"),
    *("difference", "low", "high", "p", "p_holm", "cluster_low", "cluster_high"),
    *("question_low", "question_high", "better", "equal", "worse", "n", "verdict"),
)
Values = dict[str, Floats]  # method -> (questions, measures), in percent


def measures(scores: Floats, evidence: Sequence[int]) -> list[float]:
    """Of one question, MEASURES in percent; equal scores go in turn order, −inf is never found.

    >>> [round(value) for value in measures(np.array([0.2, 0.9, 0.4]), [2])]
    [100, 100, 100, 100, 100, 50, 63]
    """
    place = np.empty(len(scores))
    place[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    ranks = np.where(np.isfinite(scores), place, np.inf)[list(evidence)]
    recalls = [float((ranks <= int(name.partition("@")[2])).mean()) for name in RECALLS]
    gains = np.where(ranks <= 10, 1 / np.log2(1 + ranks), 0.0).sum()
    ideal = (1 / np.log2(2 + np.arange(min(10, len(ranks))))).sum()
    rest = (float((ranks <= 10).any()), float(1 / ranks.min()), float(gains / ideal))
    return [100 * value for value in (*recalls, *rest)]


def read(
    methods: Sequence[Method],
    chosen: Mapping[str, Weights],
    conversations: Sequence[Sequence[Asked]],
) -> Values:
    """Every method, with what was chosen for it, on every question."""
    every = [asked for c in conversations for asked in c]
    return {
        m.name: np.array([measures(m.score(q, chosen[m.name]), q.question.evidence) for q in every])
        for m in progress(methods, "methods")
    }


def choose_all(
    methods: Sequence[Method], development: Sequence[Sequence[Asked]]
) -> dict[str, Weights]:
    """What each method chooses on all development questions together."""
    every = [asked for c in development for asked in c]
    return {m.name: m.choose(every) for m in progress(methods, "choosing on development")}


def ruled(methods: Sequence[Method]) -> Iterator[tuple[str, str]]:
    """(method, over which other it is judged by the rule)."""
    ladder = [FIRST, *(m.name for m in methods if m.family == "ladder")]
    for m in methods:
        if m.family in ("documents", "tuned") and m.name != FIRST:
            yield m.name, FIRST
        elif m.family == "beyond" and m.name != LEARNED:
            yield m.name, LEARNED
    yield from ((over, under) for under, over in pairwise(ladder))


def pairs(methods: Sequence[Method]) -> Iterator[tuple[str, str]]:
    """What the rule compares, then what else is shown."""
    yield from ruled(methods)
    yield LEARNED, BASELINE
    for m in methods:
        if m.family in ("documents", "tuned") and m.name != BASELINE:
            yield m.name, BASELINE
    yield from ((name, WORDS) for name in MAIN if name not in (FIRST, WORDS))
    yield from ((m.name, FIRST) for m in methods if m.family == "ladder" or m.name == LEARNED)


def table(
    reading: str, methods: Sequence[Method], found: Values, groups: Sequence[str]
) -> pd.DataFrame:
    """Differences of one reading, conversation by conversation: the columns COLUMNS.

    The main methods have every measure, the others recall@10, 20 and 50. `value` is the mean over
    the questions; `difference` the mean over the conversations.
    """
    family = {m.name: m.family for m in methods}
    parts = []
    for j, measure in enumerate(MEASURES):
        rows = []
        wide = measure in ("recall@10", DECIDES, "recall@50")
        for name, over in dict.fromkeys(pairs(methods)):
            if name in found and over in found and (wide or {name, over} <= set(MAIN)):
                a, b = found[over][:, j], found[name][:, j]
                rows.append((name, over, measure, a, b, grouped_difference(a, b, groups)))
        for over in dict.fromkeys(row[1] for row in rows):
            same = [row for row in rows if row[1] == over]
            adjusted = holm([row[-1].p for row in same])
            parts += [
                (reading, row[0], family[row[0]], *row[1:3], *_line(*row[3:], float(p), groups))
                for row, p in zip(same, adjusted, strict=True)
            ]
    return pd.DataFrame(parts, columns=COLUMNS)


def _line(
    a: Floats, b: Floats, spread: Grouped, p: float, groups: Sequence[str]
) -> tuple[object, ...]:
    points = [round(value, 2) + 0.0 for value in (float(b.mean()), *spread[:3])]
    beside = (*cluster_bootstrap(a, b, groups)[1:], *paired_bootstrap(a, b)[1:])
    verdict = group_verdict(spread, p)
    return (
        *points,
        *(round(value, 4) for value in (spread.p, p)),
        *(round(value, 2) + 0.0 for value in beside),
        *signs_by_group(a, b, groups),
        len(a),
        verdict,
    )


def leave_one_chat_out(methods: Sequence[Method], chats: Sequence[Sequence[Asked]]) -> Values:
    """Each method chosen on all chats but one and tried on that one, for each in turn."""
    parts: dict[str, list[Floats]] = {m.name: [] for m in methods}
    for i, left in enumerate(progress(chats, "leaving one chat out")):
        others = [chat for j, chat in enumerate(chats) if j != i]
        for name, values in read(methods, choose_all(methods, others), [left]).items():
            parts[name].append(values)
    return {name: np.concatenate(values) for name, values in parts.items()}


def survivors(results: pd.DataFrame) -> dict[str, bool]:
    """Method -> whether it survives by the rule at the head of this module."""
    rows = results[results["measure"] == DECIDES].set_index(["reading", "method", "over"])
    verdict = rows["verdict"]
    return {
        name: all(verdict[(reading, name, over)] == "better" for reading in (LOCOMO, REALTALK))
        for name, over in ruled([*METHODS, *TUNED])
    }


def measure(
    development: Sequence[Sequence[Asked]],
    others: Sequence[Sequence[Asked]],
    chats: Sequence[Sequence[Asked]],
) -> pd.DataFrame:
    """Choose on development, read both others; afterwards choose on REALTALK, a chat left out."""
    methods = [*METHODS, *TUNED]
    chosen = choose_all(methods, development)
    parts = []
    for reading, conversations in ((LOCOMO, others), (REALTALK, chats)):
        found = read(methods, chosen, conversations)
        parts.append(table(reading, methods, found, _groups(conversations)))
    there = [m for m in methods if m.name in CHOSEN_THERE]
    own = leave_one_chat_out(there, chats)
    own |= {m.name: found[m.name] for m in methods if m.name in (FIRST, WORDS)}
    parts.append(table(OWN, methods, own, _groups(chats)))
    return pd.concat(parts, ignore_index=True)


def _groups(conversations: Sequence[Sequence[Asked]]) -> list[str]:
    return [asked.ready.conversation.id for c in conversations for asked in c]


def main() -> int:
    """Measure, write the table into data/, and say whether anything differs, and where."""
    try:
        embedder, folder = choose("bundled"), cache_folder()
        splits = (*load_locomo(), load_realtalk())
        results = measure(*(prepare(split, embedder, folder) for split in splits))
        stay, where = compared(READ, FILES, [results])
        if not stay:
            write((*FILES, FILE), (results, noted(READ)))
    except (DataUnavailable, EmbedderUnavailable, OSError) as error:
        print(f"make locomo: {error}", file=sys.stderr)
        return 2
    print(f"{len(results):,} differences on {LOCOMO} and {REALTALK}\n{where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
