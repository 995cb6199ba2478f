"""One's own memory: every way of scoring, the recalls, the leaderboard, the questions needed."""

import re
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.bm25 import stem, unicode
from memlib.evaluate import (
    BASELINE,
    FEWEST,
    KS,
    LOCOMO_WEIGHTS,
    card_methods,
    leaderboard,
    questions_needed,
    recalls,
    scorer,
    words,
)
from memlib.evaluation import paired_bootstrap
from tests.oracles import bm25 as words_oracle
from tests.oracles import entity_boost as names_oracle
from tests.oracles import own_memory as slow

Call = Callable[[], object]
NAN = float("nan")

quarters = st.integers(0, 4).map(lambda n: n / 4)
TEXTS = ["Miso is a cat, a small cat.", "Sam sold the cat food.", "Rent is due.", "Sam likes jazz."]
NAMES = [{"Miso"}, {"Sam"}, set(), {"Sam"}]
UNITS = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], np.float32)


@st.composite
def signals(draw: st.DrawFn) -> dict[str, list[float]]:
    n = draw(st.integers(1, 7))

    def column(values: st.SearchStrategy[float]) -> list[float]:
        return draw(st.lists(values, min_size=n, max_size=n))

    return {
        "dense": column(st.integers(-5, 10).map(lambda x: x / 10)),
        "bm25": column(st.integers(0, 8).map(lambda x: x / 2)),
        "entity": column(quarters),
        "hours": column(st.integers(0, 5000).map(float)),
        "importance": column(st.integers(0, 9).map(lambda x: x / 9)),
        "pinned": column(st.sampled_from([0.0, 1.0])),
    }


def exam(*wanted: object) -> pd.DataFrame:
    names = [f"q{i}" for i in range(1, len(wanted) + 1)]
    return pd.DataFrame({"question": [f"{n}?" for n in names], "wanted": wanted}, index=names)


# The ways of scoring


@given(signals())
def test_every_way_agrees_with_the_oracle(given: dict[str, list[float]]) -> None:
    found = card_methods(**given)
    expected = slow.methods(*given.values())
    assert list(found) == list(expected)
    for name, scores in found.items():
        assert scores == pytest.approx(expected[name], abs=1e-9), name


def test_the_ways_by_hand() -> None:
    hours, importance = [240.0, 0.0, 720.0], [1.0, 0.0, 0.5]
    found = card_methods([0.9, 0.5, 0.1], [0.0, 2.0, 4.0], [0.0, 0.0, 1.0], hours, importance)
    assert len(found) == 15
    assert found["newest first"].tolist() == [-240, 0, -720]
    assert found[BASELINE].tolist() == [0.9, 0.5, 0.1]
    assert found["BM25"].tolist() == [-np.inf, 2, 4]  # what matched nothing is not found
    half = 2 ** (-1 / 3)  # ten days of thirty
    slow_one = found["similarity + recency, 30 days"]
    assert slow_one == pytest.approx([1 + (half - 0.5) / 0.5, 1.5, 0])
    faint = found["similarity + 0.1 recency, 30 days"]
    assert faint == pytest.approx([1 + 0.1 * (half - 0.5) / 0.5, 0.6, 0])
    old, oldest = 0.995**240, 0.995**720
    fresh = (old - oldest) / (1 - oldest)
    assert found["similarity + recency, 5.76 days"] == pytest.approx([1 + fresh, 1.5, 0])
    assert found["three parts, equal weights"] == pytest.approx([2 + fresh, 1.5, 0.5])
    assert found["three parts, relevance times 5"] == pytest.approx([6 + fresh, 3.5, 0.5])
    assert found["weighted sum 0.8/0.1/0.1"] == pytest.approx([0.8, 0.45, 0.2])
    assert found["weighted sum 0.5/0.4/0.1"] == pytest.approx([0.5, 0.45, 0.5])
    two = [1 / 61, 1 / 62 + 1 / 62, 1 / 63 + 1 / 61]  # no BM25, no place in its list
    assert found["RRF of similarity and BM25"] == pytest.approx(two)
    three = [two[0], two[1], two[2] + 1 / 61]
    assert found["RRF of similarity, BM25, names"] == pytest.approx(three)


def test_the_weights_are_those_that_are_told() -> None:
    assert LOCOMO_WEIGHTS == {"dense": 0.5, "bm25": 0.4, "entity": 0.1}
    assert (BASELINE, KS, FEWEST) == ("similarity alone", (1, 3, 5, 10), 6)


def test_a_pinned_card_stays_fresh_and_is_no_newer() -> None:
    plain = {"dense": [0.5, 0.5], "bm25": [0, 0], "entity": [0, 0], "importance": [0, 0]}
    found = card_methods(**plain, hours=[999, 24], pinned=[True, False])
    assert found["similarity + recency, 1 day"].tolist() == [1, 0]
    assert found["three parts, equal weights"].tolist() == [1, 0]
    assert found["newest first"].tolist() == [-999, -24]


@given(signals())
def test_a_part_that_is_equal_everywhere_moves_nothing(given: dict[str, list[float]]) -> None:
    n = len(given["dense"])
    given |= {"hours": [100.0] * n, "importance": [0.5] * n, "pinned": [0.0] * n}
    found = card_methods(**given)
    alone = found[BASELINE].argsort(kind="stable")
    for name in found:
        if name.startswith(("similarity +", "three parts")):
            assert found[name].argsort(kind="stable").tolist() == alone.tolist(), name


# The index


def test_the_scorer_brings_words_names_and_meaning_together() -> None:
    hours, matters = [1.0, 2, 3, 4], [0.1, 0.2, 0.3, 0.4]
    score = scorer(TEXTS, UNITS, NAMES, hours, matters)
    for question in ("Does Sam feed the cat?", "Is the rent due?", "Who is Nobody?", "Miso! Miso?"):
        found = score(question, np.float32([0.6, 0.8]))
        dense = [0.6, 0.96, 0.8, 1.0]
        documents = [stem(text) for text in TEXTS]
        said = words_oracle.scores(documents, stem(question), variant="lucene")
        asked = [name for name in ("Miso", "Sam") if name in question]
        boost = names_oracle.entity_boost(asked, NAMES)
        expected = slow.methods(dense, [float(x) for x in said], boost, hours, matters, [False] * 4)
        assert list(found) == list(expected)
        for name, scores in found.items():
            assert scores == pytest.approx(expected[name], abs=1e-6), (question, name)


def test_the_scorer_knows_pins_and_needs_no_names() -> None:
    score = scorer(TEXTS, UNITS, [()] * 4, [9, 9, 9, 9], [0.5] * 4, pinned=[0, 0, 0, 1])
    found = score("Sam?", UNITS[0])
    assert found["similarity + recency, 1 day"] == pytest.approx([1, 0.8, 0, 1.6])
    assert found["RRF of similarity, BM25, names"].tolist() == (
        found["RRF of similarity and BM25"].tolist()
    )


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

    def board(rows: list[int], called: list[str]) -> list[list[float]]:
        held = [set(names[row]) for row in rows]
        score = scorer([LITTLE[r] for r in rows], units[rows], held, hours[rows], [0.5] * 7)
        asked = ["Где кот?", "Is the rent due?", "Is Miso here?", "Nobody knows."]
        wanted = [(0,), (4,), (2, 6), (5, 3)]
        paper = pd.DataFrame(
            {
                "question": asked,
                "wanted": [[called[rows.index(row)] for row in want] for want in wanted],
            }
        )
        found = recalls(paper, called, lambda q: score(q, units[7]), (1, 2, 5))
        return [table.to_numpy().tolist() for table in found.values()]

    assert board(order, ids) == board(list(range(7)), list("abcdefg"))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("She gave the cats names.", ["gave", "cat", "name"]),
        ("Когда мы купили дом?", ["когда", "мы", "купили", "дом"]),
        ("В 2024 мы купили iPhone.", ["2024", "iphon", "в", "мы", "купили"]),
        ("東京都 and the cats", ["cat", "東京", "京都"]),
        ("Who is it?", ["who", "is", "it"]),
        ("", []),
        ("?!", []),
    ],
)
def test_what_the_stemmer_leaves_out_is_cut_by_unicode(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens


@given(st.text(st.characters(max_codepoint=127)))
def test_of_plain_english_the_stems_are_read(text: str) -> None:
    assert words(text) == (stem(text) or unicode(text))


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


def methods(**other: object) -> Call:
    plain = {"dense": [0.1, 0.2], "bm25": [0, 1], "entity": [0, 1], "hours": [1, 2]}
    return lambda: card_methods(**(plain | {"importance": [0, 1]} | other))  # type: ignore[arg-type]


def asked(wanted: object, ids: list[str], scores: object, ks: object = (1,)) -> Call:
    return lambda: recalls(exam(wanted), ids, lambda question: scores, ks)  # type: ignore


def indexed(**other: object) -> Call:
    plain = {"texts": TEXTS, "vectors": UNITS, "names": NAMES, "hours": [1] * 4}
    made = lambda: scorer(**(plain | {"importance": [0] * 4} | other))  # type: ignore # noqa: E731
    return lambda: made()("Sam?", UNITS[0])


def varied(question: str) -> dict[str, list[float]]:
    return {question: [1.0]}


TWO = pd.DataFrame({BASELINE: [0.0, 1.0]})
REFUSED: list[tuple[Call, str]] = [
    (methods(dense=[0.1, NAN]), "dense[1] is nan: must be a number"),
    (methods(bm25=[0, -1]), "bm25[1] is -1.0: must be at least 0"),
    (methods(entity=[0, 2]), "entity[1] is 2.0: must be at most 1"),
    (methods(hours=[-1, 0]), "hours[0] is -1.0: must be at least 0"),
    (methods(importance=[5, 0]), "importance[0] is 5.0: must be at most 1"),
    (
        methods(hours=[1]),
        "lengths differ: dense 2, bm25 2, entity 2, hours 1, importance 2",
    ),
    (methods(pinned=[2, 0]), "pinned[0] is 2.0: must be at most 1"),
    (indexed(texts=TEXTS[:2]), "lengths differ: texts 2, vectors 4, names 4"),
    (indexed(vectors=2 * UNITS), "vectors[0] has length 2: must be a unit vector"),
    (indexed(hours=[1]), "lengths differ: vectors 4, hours 1, importance 4"),
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


def test_pins_and_tiny_points_are_checked() -> None:
    cards = [0.7, 0.6], [0, 2], [0, 0], [1, 99], [0.5, 0.5]
    with pytest.raises(ValueError, match=r"^pinned has shape \(3,\)"):
        card_methods(*cards, pinned=[True, False, True])
    with pytest.raises(ValueError, match=r"^pinned\[0\] is 2.0"):
        card_methods(*cards, pinned=[2, 0])
    with pytest.raises(ValueError, match=r"^hours\[0\] is -1.0"):
        scorer(["a", "b"], np.eye(2, dtype=np.float32), [[], []], [-1, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"^points is 1e-200: too small"):
        questions_needed([0, 1], 1e-200)
