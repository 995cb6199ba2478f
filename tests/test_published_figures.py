"""Every figure of the source documents is recomputed, recorded, refuted, or owed to a chapter.

The value on the right of a table is memlib's, unrounded; the file's own string says how many
digits were printed, and at that precision the two must agree.
"""

import csv
from collections import Counter
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from memlib import importance as imp
from memlib import recency as rec
from memlib.importance import importance
from memlib.normalization import min_max
from memlib.ranking import INJECTED, rank_order, three_part_score
from memlib.recency import age_hours, half_life_days, recency
from memlib.similarity import cosine
from memlib.sources.cards import (
    COURSE_NOW,
    PUBLISHED_QUESTION,
    load_cards,
    published_cards,
)
from memlib.sources.data import data_path
from memlib.sources.embedders import choose

with data_path("published_figures.csv").open(encoding="utf-8", newline="") as lines:
    FIGURES = {row["id"]: row for row in csv.DictReader(lines)}

CARDS = published_cards()
HOURS = age_hours(CARDS["created_at"], CARDS["last_accessed_at"], COURSE_NOW)
_PUBLISHED = choose("published")
COSINES = cosine(
    _PUBLISHED.embed([PUBLISHED_QUESTION], role="query")[0],
    _PUBLISHED.embed(CARDS["text"].tolist()),
)
PARTS = three_part_score(COSINES, recency(HOURS), CARDS["importance"])

Pairs = list[tuple[str, float]]


def span(letter: str, first: int, last: int) -> list[str]:
    return [f"{letter}{number:03d}" for number in range(first, last + 1)]


def value_range(values: list[float]) -> float:
    """The range min_max divides by: with eps = 1 the top of a set is range / (range + 1)."""
    top = float(min_max(values, eps=1).max())
    return top / (1 - top)


def by_card(first: int, last: int, names: str, values: np.ndarray) -> Pairs:
    """Pair a run of ids with a column, in the order in which the document lists the cards."""
    rows = [CARDS.index.get_loc(name) for name in names.split()]
    return list(zip(span("A", first, last), values[rows].tolist(), strict=True))


BY_SIMILARITY = "birthday vinyl pasta kids printer hiking vegetarian engineer"
BY_RECENCY = "printer pasta vegetarian kids hiking engineer vinyl birthday"
BY_TOTAL = "birthday vinyl vegetarian kids pasta printer engineer hiking"
TABLE_C = [
    (f"A{45 + 4 * place + column:03d}", float(part[CARDS.index.get_loc(name)]))
    for place, name in enumerate(BY_TOTAL.split())
    for column, part in enumerate(PARTS)
]
HALF_LIFE_HOURS = 24 * half_life_days(0.995)


def hours_of(name: str) -> float:
    return float(HOURS[CARDS.index.get_loc(name)])


def lifted(pinned: bool, kind: str, policy: float = 0.0) -> float:
    return float(importance([0.5], [pinned], [kind], policy)[0]) - 0.5


RECOMPUTED: Pairs = [
    *zip(span("A", 10, 15), recency([1, 26, 120, 300, 1000, 2000]).tolist(), strict=True),
    *by_card(16, 23, BY_RECENCY, recency(HOURS)),
    ("A024", HALF_LIFE_HOURS),
    ("A025", round(HALF_LIFE_HOURS) / 24),
    ("A026", hours_of("kids") / 24),
    ("A027", hours_of("birthday") / 24),
    ("A028", 1000 / 168),
    ("A029", hours_of("vegetarian") / 24),
    *zip(span("A", 38, 40), min_max([0.35, 0.40, 0.69]).tolist(), strict=True),
    *zip(span("A", 41, 43), min_max([2, 5, 8]).tolist(), strict=True),
    ("A044", value_range([2, 5, 8])),
    *[pair for pair in TABLE_C if pair[0] != "A056"],
    ("A107", value_range([0.35, 0.40, 0.69])),
    ("B018", lifted(True, "episodic")),
    ("B019", lifted(False, "semantic")),
    ("B020", lifted(False, "episodic")),
    ("B021", lifted(False, "working")),
    ("B052", lifted(False, "episodic", policy=0.05)),
]

RECORDED: Pairs = [
    *by_card(1, 8, BY_SIMILARITY, COSINES),
    *by_card(30, 37, BY_SIMILARITY, CARDS["importance"].to_numpy()),
    ("A077", INJECTED),
    ("A092", rec.DECAY_PER_HOUR),
    *by_card(93, 100, BY_SIMILARITY, HOURS),
    ("A101", imp.LOWEST_RATING),
    ("A102", imp.HIGHEST_RATING),
    ("A103", CARDS.loc["printer", "importance"]),
    ("A104", load_cards().loc["peanut-allergy", "importance"]),
    ("A105", COSINES.min()),
    ("A106", COSINES.max()),
    ("B014", rec.HALF_LIFE_DAYS["working"]),
    ("B015", rec.HALF_LIFE_DAYS["episodic"]),
    ("B016", rec.HALF_LIFE_DAYS["semantic"]),
    ("B017", imp.from_rating([float("nan")])[0]),
]

ERRATUM = {  # id -> the test below that shows what is so instead
    "A009": "test_london_and_paris_lie_further_apart_than_was_claimed",
    "A056": "test_the_total_of_vegetarian_is_a_sum_of_rounded_parts",
}

OWED = {  # topic -> figures that a later chapter recomputes
    "bm25": ["A108"],
    "entity boost": ["A109"],
    "fusion": [*span("A", 78, 83), *span("A", 110, 116)],
    "locomo": span("A", 84, 91),
    "final score": span("B", 1, 5),
    "relevance": span("B", 6, 13),
    "usage": span("B", 22, 25),
    "diversity": ["B026"],
    "forgetting": span("B", 27, 39),
    "review": span("B", 40, 48),
    "pipeline": span("B", 49, 51),
    "strength": span("C", 1, 3),
}


def at_precision_of(printed: str, value: float) -> Decimal:
    """Round `value` half up to the last digit that `printed` shows: 0.995 has three decimals."""
    exact = Decimal(printed)
    return Decimal(repr(float(value))).quantize(exact, rounding=ROUND_HALF_UP)


def accounted() -> Iterable[str]:
    for pairs in (RECOMPUTED, RECORDED):
        yield from (figure for figure, _ in pairs)
    yield from ERRATUM
    for owed in OWED.values():
        yield from owed


def test_the_file_has_171_figures() -> None:
    with data_path("published_figures.csv").open(encoding="utf-8", newline="") as rows:
        ids = [row["id"] for row in csv.DictReader(rows)]
    assert len(ids) == len(set(ids)) == 171


def test_every_figure_is_accounted_for_exactly_once() -> None:
    counted = Counter(accounted())
    assert sorted(set(FIGURES) - set(counted)) == [], "not accounted for"
    assert sorted(set(counted) - set(FIGURES)) == [], "not in the file"
    assert sorted(figure for figure, times in counted.items() if times > 1) == [], "twice"


def test_every_erratum_names_a_test_of_this_module() -> None:
    assert [name for name in ERRATUM.values() if not callable(globals().get(name))] == []


def test_only_later_topics_are_owed() -> None:
    wrong = [
        (figure, topic)
        for topic in OWED
        for figure in OWED[topic]
        if topic not in FIGURES[figure]["topic"]
    ]
    assert wrong == []
    here = {"similarity", "recency", "importance", "normalization", "combined"}
    assert here.isdisjoint(OWED)
    assert {row["topic"] for row in FIGURES.values()} == here | set(OWED)


@pytest.mark.parametrize(("figure", "value"), RECOMPUTED, ids=[pair[0] for pair in RECOMPUTED])
def test_a_recomputed_figure_agrees_as_printed(figure: str, value: float) -> None:
    printed = FIGURES[figure]["published"]
    if figure.startswith("B"):  # a prescribed constant, not a rounded result
        assert value == pytest.approx(float(printed), abs=1e-12)
    assert at_precision_of(printed, value) == Decimal(printed), FIGURES[figure]["what"]


@pytest.mark.parametrize(("figure", "value"), RECORDED, ids=[pair[0] for pair in RECORDED])
def test_a_recorded_figure_is_what_the_course_holds(figure: str, value: float) -> None:
    printed = FIGURES[figure]["published"].split(" or ")
    if figure in ("A105", "A106") or figure in span("A", 1, 8):  # printed rounded
        assert at_precision_of(printed[0], value) == Decimal(printed[0])
    else:
        assert float(value) in [float(choice) for choice in printed]


@pytest.mark.parametrize(
    ("first", "last", "order"),
    [
        (1, 8, BY_SIMILARITY),
        (16, 23, BY_RECENCY),
        (30, 37, BY_SIMILARITY),
        (93, 100, BY_SIMILARITY),
    ],
)
def test_the_tables_here_list_the_cards_as_the_file_does(first: int, last: int, order: str) -> None:
    for figure, name in zip(span("A", first, last), order.split(), strict=True):
        assert name in FIGURES[figure]["what"]


def test_table_c_is_read_part_by_part_and_card_by_card() -> None:
    expected = [
        f"{part} of {name}"
        for name in BY_TOTAL.split()
        for part in ("relevance", "recency", "importance", "total")
    ]
    assert [FIGURES[figure]["what"] for figure, _ in TABLE_C] == expected


@pytest.mark.parametrize(
    ("scores", "order"),
    [(COSINES, BY_SIMILARITY), (recency(HOURS), BY_RECENCY), (PARTS.total, BY_TOTAL)],
    ids=["a", "b", "c"],
)
def test_the_three_published_tables_have_the_published_order(
    scores: np.ndarray, order: str
) -> None:
    assert CARDS.index[rank_order(scores, CARDS.index)].tolist() == order.split()
    top = CARDS.index[rank_order(scores, CARDS.index, INJECTED)].tolist()
    assert top == order.split()[:INJECTED]


def test_the_total_of_vegetarian_is_a_sum_of_rounded_parts() -> None:
    total = dict(TABLE_C)["A056"]
    assert total == pytest.approx(1.33596, abs=5e-6)
    assert at_precision_of("0.01", total) == Decimal("1.34")
    assert FIGURES["A056"]["published"] == "1.33"
    for place in range(8):  # each printed total is the sum of the three numbers before it
        first = 45 + 4 * place
        *parts, printed = (Decimal(FIGURES[f]["published"]) for f in span("A", first, first + 3))
        assert sum(parts) == printed


def test_the_half_life_in_days_was_computed_from_rounded_hours() -> None:
    assert Decimal("138.28") == at_precision_of("0.01", HALF_LIFE_HOURS)
    assert Decimal("5.76") == at_precision_of("0.01", half_life_days(0.995))
    assert FIGURES["A025"]["published"] == "5.75"
    assert Decimal("0.50") == at_precision_of("0.01", float(recency(138)))


def test_london_and_paris_lie_further_apart_than_was_claimed() -> None:
    recorded = choose("recorded")
    query = recorded.embed(["Where does Maya live?"], role="query")[0]
    homes = recorded.embed(["Maya lives in London.", "Maya lives in Paris."])
    london, paris = cosine(query, homes)
    assert abs(london - paris) > float(FIGURES["A009"]["published"])
    assert abs(london - paris) == pytest.approx(0.018, abs=0.001)


@pytest.mark.parametrize(
    ("printed", "value", "rounded"),
    [
        ("0.995", 0.99449, "0.994"),
        ("0.995", 0.9945, "0.995"),
        ("4.4e-05", 4.449e-05, "0.000044"),
        ("4.4e-05", 4.45e-05, "0.000045"),
        ("138", 138.49, "138"),
        ("1.00", 0.995, "1.00"),
        ("12.5", 12.44, "12.4"),
    ],
)
def test_the_printed_string_sets_the_precision(printed: str, value: float, rounded: str) -> None:
    assert at_precision_of(printed, value) == Decimal(rounded)
