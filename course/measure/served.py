"""Choose what a librarian serves, person by person, then look once: part of `make locomo`."""

import sys
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from course.data.fetch import DataUnavailable, cache_folder
from course.data.realmem import load_realmem
from course.data.recorded import choose
from course.measure.locomo import write
from course.measure.people import (
    BASELINE,
    CANDIDATES,
    CHOSEN_AT,
    KS,
    Person,
    best,
    course_people,
    person_recalls,
    realmem_people,
)
from course.measure.remeasure import FILE, compared, noted
from memlib.checks import Floats
from memlib.embedders.cached import Cached
from memlib.embedders.protocol import EmbedderUnavailable
from memlib.evaluation import (
    cluster_bootstrap,
    group_verdict,
    grouped_difference,
    holm,
    paired_bootstrap,
    signs_by_group,
)
from memlib.progress import progress
from memlib.retrieval import PRESETS, Ranking

FILES = ("people_results.csv", "realmem_results.csv")
SERVED = "what is served, on people's cards"
CHOSEN = "dated sum 0.9/0.1/0.2"  # the preset that was best over the five persons
COLUMNS = (
    *("method", "k", "recall", "difference", "low", "high", "p", "p_holm"),
    *("cluster_low", "cluster_high", "question_low", "question_high"),
    *("better", "equal", "worse", "n", "verdict"),
)


def put(people: Sequence[Person], rankings: Mapping[str, Ranking]) -> list[Floats]:
    """Each person's recalls: (questions, rankings, ks), in percent."""
    return [
        person_recalls(person, rankings) for person in progress(people, "questions to their cards")
    ]


def person_means(
    people: Sequence[Person], found: Sequence[Floats], names: Collection[str] = CANDIDATES
) -> pd.DataFrame:
    """The mean recall of each person, ranking and k: what the default is chosen on.

    found  as `put` gives it, for the rankings `names`
    """
    rows = [
        (person.id, name, k, round(float(values[:, j, i].mean()), 2))
        for person, values in zip(people, found, strict=True)
        for j, name in enumerate(names)
        for i, k in enumerate(KS)
    ]
    return pd.DataFrame(rows, columns=["person", "ranking", "k", "recall"])


def by_person(means: pd.DataFrame) -> pd.DataFrame:
    """Persons × rankings: the mean over the ks that decide."""
    deciding = means[means["k"].isin(CHOSEN_AT)]
    order = {"index": "person", "columns": "ranking", "values": "recall", "sort": False}
    return deciding.pivot_table(**order)  # type: ignore[arg-type]


def against_baseline(
    people: Sequence[Person], found: Sequence[Floats], names: Sequence[str]
) -> pd.DataFrame:
    """Each ranking's difference to similarity, person by person: t interval, p, bootstraps, signs.

    found    as `put` gives it, for the rankings `names`, of which one is similarity
    returns  columns COLUMNS; p_holm allows for the number of rankings at one k
    """
    groups = [person.id for person, values in zip(people, found, strict=True) for _ in values]
    every = np.concatenate(list(found))
    start, rows = every[:, list(names).index(BASELINE)], []
    for i, k in enumerate(KS):
        pairs = [(start[:, i], every[:, j, i]) for j in range(len(names))]
        spread = [grouped_difference(a, b, groups) for a, b in pairs]
        others = [j for j, name in enumerate(names) if name != BASELINE]
        adjusted = dict(zip(others, holm([spread[j].p for j in others]), strict=True))
        for j, name in enumerate(names):
            a, b = pairs[j]
            p = float(adjusted.get(j, 1.0))
            verdict = "baseline" if name == BASELINE else group_verdict(spread[j], p)
            points = _rounded((float(b.mean()), *spread[j][:3]), 2)
            ps = _rounded((spread[j].p, p), 4)
            beside = (*cluster_bootstrap(a, b, groups)[1:], *paired_bootstrap(a, b)[1:])
            signs = (*signs_by_group(a, b, groups), len(b))
            rows.append((name, k, *points, *ps, *_rounded(beside, 2), *signs, verdict))
    return pd.DataFrame(rows, columns=COLUMNS)


def _rounded(values: Sequence[float], digits: int) -> list[float]:
    return [round(value, digits) + 0.0 for value in values]


def looked_at() -> dict[str, Ranking]:
    """The few rankings that the held-out personas are asked about, once."""
    names = (
        "BM25, stem",
        "sum 0.5/0.5, stem",
        "RRF k = 60, stem",
        "similarity + 0.1 recency, 180 days",
    )
    return {
        BASELINE: CANDIDATES[BASELINE],
        CHOSEN: PRESETS[CHOSEN],
        **{name: CANDIDATES[name] for name in names},
        **{name: PRESETS[name] for name in ("three parts", "server")},
    }


def main() -> int:
    """Measure the candidates on five persons, and the chosen one on RealMem's other seven."""
    try:
        embedder = Cached(choose("bundled"), cache_folder())
        development, others = load_realmem()
        people = course_people(choose("recorded")) + realmem_people(development, embedder)
        means = person_means(people, put(people, CANDIDATES))
        held, rankings = realmem_people(others, embedder), looked_at()
        board = against_baseline(held, put(held, rankings), list(rankings))
        stay, where = compared(SERVED, FILES, (means, board))
        if not stay:
            write((*FILES, FILE), (means, board, noted(SERVED)))
    except (DataUnavailable, EmbedderUnavailable, OSError) as error:
        print(f"make locomo: {error}", file=sys.stderr)
        return 2
    chosen = best(by_person(means))
    print(f"of {len(CANDIDATES)} rankings the best over {len(people)} persons: {chosen}\n{where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
