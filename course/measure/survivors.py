"""Measure what survived on LoCoMo and write the tables of chapter 11: part of `make locomo`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from course.data.dialogue import Conversation
from course.data.fetch import DataUnavailable, cache_folder
from course.data.files import data_path
from course.data.locomo import load_locomo
from course.data.maya import COURSE_NOW, load_exam
from course.data.recorded import choose
from course.data.turn_vectors import cached_vectors
from course.measure.ideas import PARTS, STACK, Asked, Prepared, ask
from course.measure.leaderboard import (
    BASELINE,
    BEST,
    KS,
    METHODS,
    SIGNALS,
    Method,
    Tried,
    Weights,
    held_out,
    leave_one_out,
)
from course.measure.locomo import SPLITS, as_csv, write
from course.measure.remeasure import FILE, compared, noted
from memlib.cards import load_cards
from memlib.checks import Floats
from memlib.embedders.protocol import Embedder, EmbedderUnavailable
from memlib.evaluate import leaderboard, recalls, scorer
from memlib.evaluation import paired_bootstrap, signs_by_group
from memlib.progress import progress
from memlib.ranking import rank_order

Line = tuple[object, ...]
FILES = (
    *("survivors.csv", "survivors_weights.csv", "survivors_ages.csv"),
    *("survivors_dissected.csv", "survivors_steps.csv", "survivors_costs.csv"),
    "superseded_results.csv",
)
COSTS = FILES[5]  # of the machine: written, never compared
COMPARED = tuple(name for name in FILES if name != COSTS)
SURVIVORS = "what survived on LoCoMo"  # what FILES hold, where the processor is noted
CATEGORIES = {1: "several turns", 2: "time", 3: "inference", 4: "one turn"}  # LoCoMo's numbers
ALL = "all"
CARD_KS = (1, 3)
TENTHS = 10
TIMED = 50  # questions, of which the median is taken
BOARD_COLUMNS = (
    *("method", "family", "split", "questions", "k", "recall"),
    *("difference", "low", "high", "better", "equal", "worse", "n"),
)
WEIGHT_COLUMNS = ("method", "left_out", "part", "weight")
AGE_COLUMNS = ("tenth", "evidence", "recency")
DISSECTED_COLUMNS = (
    *("conversation", "question", "category", "evidence", "part", "value", "points"),
    *("rank_similarity", "rank_sum", "rank_stack"),
)
STEP_COLUMNS = (
    *("method", "over", "split", "k", "difference", "low", "high"),
    *("better", "equal", "worse", "n"),
)
COST_COLUMNS = ("method", "milliseconds", "turns")


class Survivors(NamedTuple):
    """What was measured on LoCoMo, in the order of FILES."""

    board: pd.DataFrame
    weights: pd.DataFrame
    ages: pd.DataFrame
    dissected: pd.DataFrame
    steps: pd.DataFrame
    costs: pd.DataFrame


def prepare(
    conversations: Sequence[Conversation], embedder: Embedder, folder: Path | None
) -> list[list[Asked]]:
    """Every part of every question, conversation by conversation.

    folder  where vectors are kept between runs; None keeps nothing
    """
    found = []
    for c in progress(conversations, "vectors and parts"):
        turns, questions = cached_vectors(c, "sc", embedder, folder)
        context, _ = cached_vectors(c, "sc", embedder, folder, neighbours=1)
        found.append(ask(Prepared(c, turns, context), questions))
    return found


def measure(
    development: Sequence[Sequence[Asked]], others: Sequence[Sequence[Asked]] = ()
) -> Survivors:
    """Every method of the leaderboard: left one out on development, as chosen there on the others.

    others  held-out conversations; without them development alone is measured
    """
    tried = [leave_one_out(method, development) for method in progress(METHODS, SPLITS[0])]
    board = list(_board(SPLITS[0], tried, development))
    weights, steps = list(_weights(tried)), list(_steps(SPLITS[0], tried, development))
    if others:
        held = [held_out(method, development, others) for method in progress(METHODS, SPLITS[1])]
        board += _board(SPLITS[1], held, others)
        weights += _weights(held)
        steps += _steps(SPLITS[1], held, others)
    return Survivors(
        pd.DataFrame(board, columns=BOARD_COLUMNS),
        pd.DataFrame(weights, columns=WEIGHT_COLUMNS),
        pd.DataFrame(_ages(development), columns=AGE_COLUMNS),
        pd.DataFrame(_dissected(development), columns=DISSECTED_COLUMNS),
        pd.DataFrame(steps, columns=STEP_COLUMNS),
        pd.DataFrame(_costs(development), columns=COST_COLUMNS),
    )


def _board(
    split: str, tried: Sequence[Tried], conversations: Sequence[Sequence[Asked]]
) -> Iterator[Line]:
    every = [asked for c in conversations for asked in c]
    groups = np.array(_groups(conversations))
    category = np.array([asked.question.category for asked in every])
    sets = {ALL: np.full(len(every), True)}
    sets |= {name: category == number for number, name in CATEGORIES.items()}
    base = next(found.recalls for found in tried if found.method.name == BASELINE)
    for found in tried:
        for name, rows in sets.items():
            for j, k in enumerate(KS):
                a, b = base[rows, j], found.recalls[rows, j]
                told = _difference(a, b, groups[rows].tolist())
                yield *found.method[:2], split, name, k, round(float(b.mean()), 2), *told


def _groups(conversations: Sequence[Sequence[Asked]]) -> list[str]:
    return [asked.ready.conversation.id for c in conversations for asked in c]


def _difference(first: Floats, second: Floats, groups: Sequence[str]) -> Line:
    spread = [round(value, 2) + 0.0 for value in paired_bootstrap(first, second)]
    return *spread, *signs_by_group(first, second, groups), len(first)


def _steps(
    split: str, tried: Sequence[Tried], conversations: Sequence[Sequence[Asked]]
) -> Iterator[Line]:
    """What each idea adds to the learned sum of three, and each rung of the ladder to the last."""
    beyond = [found for found in tried if found.method.family == "beyond"]
    ladder = [found for found in tried if found.method.family == "ladder"]
    pairs = [(beyond[0], found) for found in beyond[1:]]
    pairs += list(pairwise([tried[0], *ladder]))
    for under, over in pairs:
        for j, k in enumerate(KS):
            told = _difference(under.recalls[:, j], over.recalls[:, j], _groups(conversations))
            yield over.method.name, under.method.name, split, k, *told


def _weights(tried: Sequence[Tried]) -> Iterator[Line]:
    """Weights that were chosen, as multiples of similarity's: only their ratios count."""
    for found in tried:
        for left_out, weights in found.weights.items():
            scale = weights.get("similarity", 0.0) or 1.0
            for part, weight in weights.items():
                yield found.method.name, left_out, part, round(weight / scale, 2)


def _ages(development: Sequence[Sequence[Asked]]) -> Iterator[Line]:
    """Evidence in percent and mean recency by tenth of the conversation, the newest first."""
    places = np.zeros(TENTHS)
    credit: list[list[Floats]] = [[] for _ in range(TENTHS)]
    for c in development:
        n = len(c[0].ready.texts)
        tenth = (np.arange(n)[::-1] * TENTHS) // n
        for i in range(TENTHS):
            credit[i].append(c[0].part("recency")[tenth == i])
        for asked in c:
            for row in asked.question.evidence:
                places[tenth[row]] += 1 / len(asked.question.evidence)
    for i in range(TENTHS):
        mean = float(np.concatenate(credit[i]).mean())
        yield i + 1, round(100 * places[i] / places.sum(), 1), round(mean, 3)


def _ranks(scores: Floats) -> Floats:
    rank = np.empty(len(scores))
    rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return rank


def _dissected(development: Sequence[Sequence[Asked]]) -> Iterator[Line]:
    """Three questions with one evidence turn: the stack's largest gain, its largest loss, a miss.

    gain and loss in log rank against similarity; the miss is the best stack rank that is not
    within 20 while similarity's is not either. Weights are those of all but the conversation.
    """
    methods = {m.name: m for m in METHODS}
    found = []
    for i, c in enumerate(development):
        rest = [asked for j, other in enumerate(development) if j != i for asked in other]
        chosen = {name: methods[name].choose(rest) for name in (BASELINE, BEST)}
        for number, asked in enumerate(c):
            if len(asked.question.evidence) == 1:
                row = asked.question.evidence[0]
                scores = (
                    asked.part("similarity"),
                    *(methods[name].score(asked, chosen[name]) for name in chosen),
                )
                ranks = [int(_ranks(values)[row]) for values in scores]
                found.append((asked, number, chosen[BEST], ranks))
    gain = [np.log(ranks[0] / ranks[2]) for _, _, _, ranks in found]
    missed = [i for i, (_, _, _, r) in enumerate(found) if min(r) > 20]
    picked = [int(np.argmax(gain)), int(np.argmin(gain))]
    picked += [min(missed, key=lambda i: found[i][3][2])] if missed else []
    for i in picked:
        asked, number, weights, ranks = found[i]
        row = asked.question.evidence[0]
        for part in STACK:
            value = float(asked.part(part)[row])
            points = round(weights[part] / weights["similarity"] * value, 2)
            who = (asked.ready.conversation.id, number, CATEGORIES[asked.question.category])
            turn = asked.ready.conversation.turns[row].id
            yield (*who, turn, part, round(value, 2), points, *ranks)


def _costs(development: Sequence[Sequence[Asked]]) -> Iterator[Line]:
    """Median milliseconds a question beyond embedding it: its parts, their sum, and the order."""
    asked = development[0][:TIMED]
    ready = asked[0].ready
    vector = ready.turns[0]
    taken = {}
    for name, part in PARTS.items():
        part(ready, asked[0].question.text, vector)  # indexes are built before the clock runs
        taken[name] = [
            _milliseconds(partial(part, ready, one.question.text, vector)) for one in asked
        ]
    for method in METHODS:
        weights = method.choose(asked)
        order = [_milliseconds(partial(_order, method, one, weights)) for one in asked]
        whole = np.sum([order, *(taken[name] for name in weights or SIGNALS)], axis=0)
        yield method.name, round(float(np.median(whole)), 2), len(ready.texts)


def _order(method: Method, asked: Asked, weights: Weights) -> NDArray[np.intp]:
    return np.argsort(-method.score(asked, weights), kind="stable")


def _milliseconds(call: Callable[[], object]) -> float:
    begin = perf_counter()
    call()
    return 1000 * (perf_counter() - begin)


def measure_superseded(embedder: Embedder) -> pd.DataFrame:
    """Ways of scoring cards, on facts that change: a leaderboard a third, beside similarity alone.

    Equal scores go by id here, as LoCoMo's go in turn order.
    returns  third, k, method, then the columns of `evaluate.leaderboard`
    """
    cards = load_cards(data_path("superseded_cards.csv"))
    exam = load_exam(data_path("superseded.csv"))
    score = scorer(cards, embedder.embed(list(cards["text"])), top_k=max(CARD_KS))
    asked = list(exam["question"])
    vectors = dict(zip(asked, embedder.embed(asked, role="query"), strict=True))

    def placed(question: str) -> dict[str, Floats]:
        scores = score(question, vectors[question], COURSE_NOW)
        return {m: _by_id(x, cards.index) for m, x in scores.items()}

    found = recalls(exam, cards.index, placed, CARD_KS)
    parts = []
    for third in (*dict.fromkeys(exam["third"]), ALL):
        rows = exam.index if third == ALL else exam.index[exam["third"] == third]
        for k, table in found.items():
            board = leaderboard(table.loc[rows]).round(2).rename_axis("method").reset_index()
            parts.append(board.assign(third=third, k=k, n=len(rows)))
    whole = pd.concat(parts, ignore_index=True)
    return whole[["third", "k", *[name for name in whole if name not in ("third", "k")]]]


def _by_id(scores: Floats, ids: pd.Index) -> Floats:
    """The same order, each score below the one before; what was not found goes last."""
    places = np.empty(len(scores))
    places[rank_order(scores.clip(min=-1e9), ids)] = -np.arange(len(scores), dtype=np.float64)
    return places


def main() -> int:
    """Measure, write the tables into data/, and say whether anything differs, and where."""
    try:
        embedder, folder = choose("bundled"), cache_folder()
        splits = load_locomo()
        development, others = (prepare(split, embedder, folder) for split in splits)
        found = measure(development, others)
        tables = (*found, measure_superseded(embedder))
        told = [name for name, table in zip(FILES, tables, strict=True) if _differs(name, table)]
        judged = [table for name, table in zip(FILES, tables, strict=True) if name != COSTS]
        stay, where = compared(SURVIVORS, COMPARED, judged)
        if not stay:
            write((*FILES, FILE), (*tables, noted(SURVIVORS)))
    except (DataUnavailable, EmbedderUnavailable, OSError) as error:
        print(f"make locomo: {error}", file=sys.stderr)
        return 2
    print(
        f"{len(METHODS)} methods, {len(found.board):,} rows;"
        f" {', '.join(told) + ' changed' if told else 'nothing differs'}\n{where}"
    )
    return 0


def _differs(name: str, table: pd.DataFrame) -> bool:
    path = data_path("cards.csv").with_name(name)
    return name != COSTS and (
        not path.exists() or path.read_text(encoding="utf-8") != as_csv(table)
    )


if __name__ == "__main__":
    sys.exit(main())
