"""One's own memory: every way of scoring, the recalls, the leaderboard, the questions needed."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.bm25 import stem, words
from memlib.evaluate import (
    BASELINE,
    FEWEST,
    KS,
    METHODS,
    for_texts,
    leaderboard,
    questions_needed,
    recalls,
    scorer,
    unread,
)
from memlib.evaluation import grouped_difference, paired_bootstrap
from memlib.retrieval import PRESETS
from tests.oracles import bm25 as words_oracle
from tests.oracles import entity_boost as names_oracle
from tests.oracles import evaluate as slow

Call = Callable[[], object]
NAN = float("nan")

quarters = st.integers(0, 4).map(lambda n: n / 4)
TEXTS = ["Miso is a cat, a small cat.", "Sam sold the cat food.", "Rent is due.", "Sam likes jazz."]
NAMES = [{"Miso"}, {"Sam"}, set(), {"Sam"}]
UNITS = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], np.float32)
NOW = datetime(2025, 6, 11, 18, tzinfo=UTC)
SERVER_S = "the server's S"


def deck(
    texts: Sequence[str],
    hours: Sequence[float],
    names: Sequence[Collection[str]] = ((),) * 99,
    ratings: Sequence[float] = (5.5,) * 99,
    pinned: Sequence[bool] = (False,) * 99,
    ids: Sequence[str] | None = None,
) -> pd.DataFrame:
    n = len(texts)
    columns: dict[str, object] = {
        "text": list(texts),
        "kind": "episodic",
        "category": "",
        "created_at": pd.to_datetime([NOW - timedelta(hours=h) for h in hours], utc=True),
        "last_accessed_at": pd.to_datetime([None] * n, utc=True),
        "importance": [float(rating) for rating in ratings[:n]],
        "pinned": list(pinned[:n]),
        "tags": [()] * n,
        "title": "",
        "entities": [tuple(f"{name}:person" for name in held) for held in names[:n]],
        "views": 0,
        "cites": 0,
        "edits": 0,
    }
    return pd.DataFrame(columns, index=pd.Index(ids or [f"c{i}" for i in range(n)]))


def exam(*wanted: object) -> pd.DataFrame:
    names = [f"q{i}" for i in range(1, len(wanted) + 1)]
    return pd.DataFrame({"question": [f"{n}?" for n in names], "wanted": wanted}, index=names)


# The ways of ranking


def expected(
    question: str,
    vector: Sequence[float],
    hours: Sequence[float],
    ratings: Sequence[float],
    pinned: Sequence[bool],
) -> dict[str, list[float]]:
    dense = [float(np.dot(np.float64(unit), np.float64(vector))) for unit in UNITS]
    documents, terms = [stem(text) for text in TEXTS], stem(question)
    okapi, lucene = (words_oracle.scores(documents, terms, variant=v) for v in ("okapi", "lucene"))
    plain = words_oracle.scores([words(text) for text in TEXTS], words(question), variant="lucene")
    asked = [name for name in ("Miso", "Sam") if name in question]
    boost = names_oracle.entity_boost(asked, NAMES)
    matters = [(rating - 1) / 9 for rating in ratings]
    return slow.methods(dense, okapi, lucene, plain, boost, hours, matters, pinned)


@given(
    st.lists(st.integers(0, 5000).map(float), min_size=4, max_size=4),
    st.lists(st.integers(1, 10).map(float), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.sampled_from(
        ["Does Sam feed the cat?", "Is the rent due?", "Who is Nobody?", "Miso? Miso!"]
    ),
)
def test_every_way_agrees_with_the_oracle(
    hours: list[float], ratings: list[float], pinned: list[bool], question: str
) -> None:
    vector = np.float32([0.6, 0.8])
    found = scorer(deck(TEXTS, hours, NAMES, ratings, pinned), UNITS)(question, vector, NOW)
    wanted = expected(question, vector.tolist(), hours, ratings, pinned)
    assert list(found) == [*wanted, SERVER_S] == list(METHODS)
    for name, scores in wanted.items():
        assert found[name] == pytest.approx(scores, abs=1e-6), (question, name)


def test_what_is_served_is_measured() -> None:
    """A card below the server's threshold, or beyond the cards that are picked, is not found."""
    score = scorer(deck(TEXTS, [1, 2, 3, 9000], NAMES), UNITS, top_k=2)
    served = score("Does Sam feed the cat?", np.float32([0.8, 0.6]), NOW)[SERVER_S]
    assert sorted(served.tolist()) == [-np.inf, -np.inf, -1, 0]
    none = scorer(deck(TEXTS, [9000.0] * 4), -UNITS)("Nothing?", np.float32([0.8, 0.6]), NOW)
    assert np.isneginf(none[SERVER_S]).all()


def test_the_names_tell_the_weights() -> None:
    assert (BASELINE, KS, FEWEST) == ("similarity alone", (1, 3, 5, 10), 6)
    for name, ranking in METHODS.items():
        if name.startswith("weighted sum"):
            weights = [ranking.relevance, ranking.bm25, ranking.names]
            assert name == "weighted sum " + "/".join(f"{weight:g}" for weight in weights)
        if days := re.search(r"([\d.]+) days?$", name):
            assert f"{ranking.half_life_days:.3g}" == days[1]
    assert METHODS[SERVER_S] == PRESETS["server"]


def test_every_preset_is_a_row() -> None:
    assert all(preset in METHODS.values() for preset in PRESETS.values())


# When a question was asked


def test_a_later_card_is_not_there_and_a_later_access_is_none() -> None:
    cards = deck(TEXTS, [10.0, 5.0, 1.0, 30.0])
    cards["last_accessed_at"] = pd.to_datetime([NOW, pd.NaT, pd.NaT, pd.NaT], utc=True)
    then = NOW - timedelta(hours=3)
    early = scorer(cards, UNITS)("Is the rent due?", UNITS[2], then)
    rows = [0, 1, 3]
    plain = cards.assign(last_accessed_at=pd.to_datetime([None] * 4, utc=True)).iloc[rows]
    alone = scorer(plain, UNITS[rows])("Is the rent due?", UNITS[2], then)
    for name, scores in early.items():
        assert scores[2] == -np.inf and scores[rows].tolist() == alone[name].tolist(), name
    both = scorer(cards, UNITS)
    first = both("Is the rent due?", UNITS[2], then)
    both("Is the rent due?", UNITS[2], NOW)
    again = both("Is the rent due?", UNITS[2], then)
    assert all(first[name].tolist() == again[name].tolist() for name in first)
    before = both("Is the rent due?", UNITS[2], NOW - timedelta(hours=99))
    assert all(np.isneginf(scores).all() for scores in before.values())


# Recall


@given(st.data())
def test_recalls_agree_with_the_oracle(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    ids = data.draw(st.permutations([f"c{i}" for i in range(n)]))
    column = st.lists(quarters, min_size=n, max_size=n)
    some = st.lists(st.sampled_from(ids), min_size=1, max_size=3)
    paper = exam(*(tuple(w) for w in data.draw(st.lists(some, min_size=1, max_size=4))))
    scores = {q: {m: data.draw(column) for m in ("one", "two")} for q in paper["question"]}
    ks = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3, unique=True))
    found = recalls(paper, ids, scores.__getitem__, ks)
    assert list(found) == ks
    for k, table in found.items():
        assert table.index.equals(paper.index) and list(table.columns) == ["one", "two"]
        for name, (question, wanted) in paper.iterrows():
            for method, values in scores[question].items():
                expected = slow.recall(values, ids, wanted, k)
                assert table.loc[name, method] == pytest.approx(expected, abs=1e-12), (k, name)


def test_recall_by_hand() -> None:
    def score(question: str) -> Mapping[str, list[float]]:
        down = [0.9, 0.7, 0.7, 0.1]
        flat = {"equal": [0.0] * 4, "nothing found": [-np.inf] * 4}
        return {"down": down, "up": down[::-1], **flat}

    found = recalls(exam(("d", "b"), ["a", "a"]), pd.Index(list("dcba")), score, (1, 2, 9))
    assert found[1].to_numpy().tolist() == [[0.5, 0, 0.25, 0], [0, 1, 0.25, 0]]
    assert found[2].to_numpy().tolist() == [[0.75, 0.25, 0.5, 0], [0, 1, 0.5, 0]]
    assert found[9].to_numpy().tolist() == [[1, 1, 1, 0], [1, 1, 1, 0]]


LITTLE = ["Кот спит.", "Кот ест.", "Miso is a cat.", "Who?", "Rent!", "Rent!", "2024"]


@given(st.permutations(range(7)), st.permutations(list("abcdefg")))
def test_neither_ids_nor_rows_decide_a_recall(order: list[int], ids: list[str]) -> None:
    """Texts that are equal, that share no word with a question, that the stemmer empties."""
    rng = np.random.default_rng(3)
    units = rng.normal(size=(8, 384)).astype(np.float32)
    units[4] = units[5]
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    hours, names = np.array([9.0, 9, 1, 1, 5, 5, 7]), [{"Miso"}, set(), {"Miso"}, set(), *"AAB"]
    ways = {name: ranking for name, ranking in METHODS.items() if ranking.diversity == "none"}

    def board(rows: list[int], called: list[str]) -> list[list[float]]:
        held = [set(names[row]) for row in rows]
        cards = deck([LITTLE[r] for r in rows], hours[rows], held, ids=called)
        score = scorer(cards, units[rows], for_texts(ways, LITTLE))
        asked = ["Где кот?", "Is the rent due?", "Is Miso here?", "Nobody knows."]
        wanted = [(0,), (4,), (2, 6), (5, 3)]
        paper = pd.DataFrame(
            {
                "question": asked,
                "wanted": [[called[rows.index(row)] for row in want] for want in wanted],
            }
        )
        found = recalls(paper, called, lambda q: score(q, units[7], NOW), (1, 2, 5))
        return [table.to_numpy().tolist() for table in found.values()]

    assert board(order, ids) == board(list(range(7)), list("abcdefg"))


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("She gave the cats names.", False),
        ("Zoë likes crème brûlée.", False),
        ("Когда мы купили дом?", True),
        ("В 2024 мы купили iPhone.", True),
        ("東京都 and the cats", True),
        ("Who is it?", False),
        ("", False),
        ("?!", False),
    ],
)
def test_what_the_stemmer_leaves_out_is_known(text: str, lost: bool) -> None:
    assert unread([text]) == [lost]


@given(st.lists(st.text(st.characters(max_codepoint=127)), min_size=1))
def test_plain_english_is_stemmed(texts: list[str]) -> None:
    assert for_texts(METHODS, texts) == METHODS


def test_a_tenth_of_the_texts_decides() -> None:
    texts = ["Кот спит.", *["The cat sleeps."] * 9]
    assert for_texts(METHODS, texts) == METHODS
    changed = for_texts(METHODS, texts[:9])
    assert {r.tokenizer for name, r in changed.items() if name != SERVER_S} == {"words"}
    assert changed[SERVER_S] == METHODS[SERVER_S]


def test_a_group_is_some_of_the_rows() -> None:
    table = pd.DataFrame({BASELINE: [0, 1, 0, 0.5], "new": [1, 0, 1, 0.5]}, index=list("abcd"))
    third = pd.Series(["x", "y", "x", "y"], index=table.index)
    found = {name: leaderboard(table[third == name]) for name in ("x", "y")}
    assert found["x"].loc["new", "difference"] == 100
    assert found["y"].loc["new", ["difference", "better", "equal", "worse"]].tolist() == [
        *(-50, 0, 1, 1)
    ]


# The leaderboard


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(1, 20))
    column = st.lists(quarters, min_size=n, max_size=n)
    return pd.DataFrame({name: draw(column) for name in ("BM25", BASELINE, "newest", "fused")})


@given(tables(), st.sampled_from([BASELINE, "fused"]))
def test_the_leaderboard_agrees_with_the_oracle(table: pd.DataFrame, baseline: str) -> None:
    board = leaderboard(table, baseline)
    expected = slow.leaders({name: table[name].tolist() for name in table}, baseline)
    assert list(board.index) == [row[0] for row in expected]
    for name, recall, gap, *signs in expected:
        row = board.loc[name]
        assert (row["recall"], row["difference"]) == pytest.approx((recall, gap), abs=1e-9)
        assert row[["better", "equal", "worse"]].tolist() == signs
        spread = paired_bootstrap(table[baseline], table[name])
        assert (row["low"], row["high"]) == pytest.approx(
            (100 * spread.low, 100 * spread.high), abs=1e-9
        )
        outside = row["low"] > 1e-9 or row["high"] < -1e-9
        proven = outside and signs[0] + signs[2] >= 6
        told = ("better" if gap > 0 else "worse") if proven else "within noise"
        assert row["verdict"] == ("baseline" if name == baseline else told)
    assert not board.isna().to_numpy().any()


@pytest.mark.parametrize(
    ("gains", "losses", "verdict"),
    [
        (6, 0, "better"),
        (5, 0, "within noise"),
        (0, 6, "worse"),
        (0, 5, "within noise"),
        (0, 0, "within noise"),
        (4, 3, "within noise"),
        (30, 3, "better"),
    ],
)
def test_a_verdict_needs_an_interval_and_six_questions(
    gains: int, losses: int, verdict: str
) -> None:
    start = [0.0] * gains + [1.0] * losses + [0.5] * 5
    other = [1.0] * gains + [0.0] * losses + [0.5] * 5
    board = leaderboard(pd.DataFrame({BASELINE: start, "new": other}))
    assert board.loc["new", "verdict"] == verdict


def test_five_of_five_prove_nothing_though_their_interval_has_no_width() -> None:
    row = leaderboard(pd.DataFrame({BASELINE: [0.0] * 5, "new": [1.0] * 5})).loc["new"]
    assert row["low"] == row["high"] == 100 and row["verdict"] == "within noise"


def test_equal_methods_go_by_the_tables_that_are_given_for_ties() -> None:
    table = pd.DataFrame({name: [1.0, 0.0] for name in ("a", BASELINE, "b", "c")})
    second = pd.DataFrame({"c": [1.0, 1], "b": [0.0, 1], BASELINE: [0.0, 1], "a": [0.0, 0]})
    third = pd.DataFrame({"a": [1.0, 1], "b": [1.0, 1], BASELINE: [0.0, 0], "c": [0.0, 0]})
    assert list(leaderboard(table, ties=[second, third]).index) == ["c", "b", BASELINE, "a"]


def test_equal_methods_stand_in_the_order_of_the_columns() -> None:
    x, y, z = 1 / 7, 2 / 3, 1 / 3  # added in another order, their sum ends in another digit
    table = pd.DataFrame({"b": [x, y, z], BASELINE: [z, y, x], "a": [y, x, z]})
    means = (100 * table.to_numpy()).mean(axis=0)
    assert means[0] < means[1] and means[0] == pytest.approx(means[1], abs=1e-9)
    assert list(leaderboard(table).index) == ["b", BASELINE, "a"]


# Questions needed


def test_questions_needed_by_hand() -> None:
    gaps = [100.0, -100.0] * 50
    spread = 100 * (100 / 99) ** 0.5
    assert questions_needed(gaps) == int((2.8 * spread / 2) ** 2) + 1 == 19798
    assert questions_needed(gaps, points=4) == 4950
    assert questions_needed([0, 0, 0]) == 1
    assert questions_needed([-1, 1], points=1000) == 1


@given(
    st.lists(st.integers(-4, 4).map(lambda x: 25.0 * x), min_size=2, max_size=30),
    st.sampled_from([1.0, 2.0, 5.0]),
)
def test_so_many_questions_have_a_power_of_80_percent(gaps: list[float], points: float) -> None:
    n = questions_needed(gaps, points)
    assert n >= 1
    if len(set(gaps)) > 1:
        assert slow.power(gaps, points, n) >= 0.7995
        assert n == 1 or slow.power(gaps, points, n - 1) < 0.7996
        assert questions_needed([-gap for gap in gaps], points) == n


def test_so_many_simulated_questions_show_it_eight_times_in_ten() -> None:
    rng = np.random.default_rng(7)
    pilot = rng.choice([-100.0, 0.0, 100.0], 2000, p=[0.05, 0.8, 0.15])
    n, seen = questions_needed(pilot, 10.0), 0
    for _ in range(1000):
        gaps = rng.choice([-100.0, 0.0, 100.0], n, p=[0.05, 0.8, 0.15])
        seen += gaps.mean() > 1.96 * gaps.std(ddof=1) / n**0.5
    assert 0.76 < seen / 1000 < 0.85


# Refusals


def asked(wanted: object, ids: list[str], scores: object, ks: object = (1,)) -> Call:
    return lambda: recalls(exam(wanted), ids, lambda question: scores, ks)  # type: ignore


def indexed(vectors: np.ndarray = UNITS, **other: object) -> Call:
    cards = deck(TEXTS, [1.0] * 4, NAMES).assign(**other)
    return lambda: scorer(cards, vectors)("Sam?", UNITS[0], NOW)


def varied(question: str) -> dict[str, list[float]]:
    return {question: [1.0]}


TWO = pd.DataFrame({BASELINE: [0.0, 1.0]})
REFUSED: list[tuple[Call, str]] = [
    (indexed(UNITS[:2]), "lengths differ: cards 4, vectors 2"),
    (indexed(2 * UNITS), "vectors[0] has length 2: must be a unit vector"),
    (indexed(importance=[5, 0, 5, 5]), "rating[1] is 0.0: must be at least 1"),
    (lambda: scorer(deck([], []), UNITS[:0]), "cards is empty: there is nothing to rank"),
    (lambda: recalls(exam(), ["a"], varied), "exam is empty: there is nothing to count"),
    (asked(("a",), ["a"], {"m": [1]}, ()), "ks is empty: there is nothing to count"),
    (asked(("a",), ["a"], {"m": [1]}, (1, 0)), "ks[1] is 0: must be a whole number, 1 or more"),
    (asked(("a",), ["a"], {"m": [1]}, (1.5,)), "ks[0] is 1.5: must be a whole number, 1 or more"),
    (asked(("x",), ["a"], {"m": [1]}), "exam q1 wants 'x': no card has that id"),
    (asked("a", ["a"], {"m": [1]}), "exam q1 wants 'a': must be card ids, at least one"),
    (asked((), ["a"], {"m": [1]}), "exam q1 wants (): must be card ids, at least one"),
    (asked(("a",), ["a", "a"], {"m": [1, 2]}), "ids[1] is 'a': an id may occur only once"),
    (asked(("a",), ["a", 4], {"m": [1, 2]}), "ids[1] is 4: an id must be a str"),  # type: ignore
    (asked(("a",), ["a"], {"m": [NAN]}), "scores[0] is nan: must be a number"),
    (asked(("a",), ["a"], {"m": [1, 2]}), "lengths differ: scores 2, ids 1"),
    (
        lambda: recalls(exam(("a",), ("a",)), ["a"], varied),
        "exam q2: scored by ['q2?'], before by ['q1?']",
    ),
    (
        lambda: leaderboard(TWO, "BM25"),
        "baseline is 'BM25': must be one of similarity alone",
    ),
    (lambda: leaderboard(TWO[:0]), "recalls has no rows: there is no question to compare"),
    (lambda: leaderboard(100 * TWO), "recalls[1, 0] is 100.0: must be at most 1"),
    (lambda: leaderboard(TWO * NAN), "recalls[0, 0] is nan: must be a number"),
    (lambda: questions_needed([1]), "differences has 1 value(s): one has no spread, give two"),
    (lambda: questions_needed([1, NAN]), "differences[1] is nan: must be a number"),
    (lambda: questions_needed([1, 2], 0), "points is 0.0: must be above 0"),
    (lambda: questions_needed([1, 2], NAN), "points is nan: must be a number"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_refusal_names_argument_row_and_value(call: Call, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


def test_tiny_points_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^points is 1e-200: too small"):
        questions_needed([0, 1], 1e-200)


def test_groups_count_one_each_and_the_board_is_theirs() -> None:
    groups = ["a"] * 10 + ["b", "c", "d", "e", "f"]
    gain = [1.0] * 10 + [0.0, 0.0, 0.0, 0.0, 0.0]
    table = pd.DataFrame({BASELINE: [0.0] * 15, "BM25": gain})
    assert leaderboard(table).loc["BM25", "verdict"] == "better"  # ten questions, all of one person
    row = leaderboard(table, groups=groups).loc["BM25"]
    wanted = grouped_difference([0] * 15, [100 * x for x in gain], groups)
    assert (row["difference"], row["low"], row["high"]) == wanted[:3]
    assert row[["better", "equal", "worse"]].tolist() == [1, 5, 0]
    assert row["verdict"] == "within noise" and row["recall"] == pytest.approx(100 * 10 / 15)
    every = leaderboard(table.assign(BM25=1.0), groups=groups)
    assert every["verdict"].to_dict() == {"BM25": "better", BASELINE: "baseline"}
    few = leaderboard(table, groups=["a"] * 10 + ["b"] * 5)
    assert few["verdict"].to_dict() == {"BM25": "too few groups", BASELINE: "baseline"}
    with pytest.raises(ValueError, match=r"^groups holds 1 label\(s\): one group has no spread"):
        leaderboard(table, groups=["a"] * 15)
