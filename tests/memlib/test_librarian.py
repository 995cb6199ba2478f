"""The librarian over a real store: what is found, why, and what a search leaves behind."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, fields, replace
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, PUBLISHED_QUESTION, maya_cards
from course.data.recorded import choose
from memlib import forgetting
from memlib.forgetting import FIRST_TAU_DAYS, RetentionPolicy, days_until_due
from memlib.four_part_relevance import RelevanceWeights
from memlib.librarian import Librarian, Settings
from memlib.ranking import INJECTED, FinalWeights
from memlib.recency import age_hours
from memlib.retrieval import BELOW, DEFAULT, LATER, PICKED, PRESETS, SERVER, features
from memlib.store.sqlite import Store, StoreError
from tests.oracles import forgetting as slow_forgetting
from tests.oracles import librarian as oracle

NOW, HOUR, DAY = COURSE_NOW, timedelta(hours=1), timedelta(days=1)
CARDS = maya_cards()
RECORDED = choose("recorded")
VECTORS = RECORDED.embed(CARDS["text"].tolist())
VET = "Which guinea pig was at the vet on March 15?"
QUESTIONS = (PUBLISHED_QUESTION, VET, "What is the name of the cat?")
PARTS = ["dense", "bm25_norm", "tag_match", "title_hit"]
PARTS += ["relevance", "recency", "importance", "usage", "S"]


class Toy:
    """An embedder of two dimensions: a question's words are a vector, or it looks east."""

    id = "toy"

    def embed(self, texts: Sequence[str], role: str = "document") -> np.ndarray:
        assert role == "query"
        return np.array([[1, 0] for _ in texts], dtype=np.float32)


def put(store: Store, id: str, vector: Sequence[float] = (1, 0), **fields: Any) -> None:
    given = {"text": f"Words of {id}.", "embedder_id": "toy", "now": NOW} | fields
    store.add(id, vector=vector, **given)


def state(store: Store) -> tuple[pd.DataFrame, int]:
    """All that a store holds, to be compared."""
    return store.cards(forgotten=True), store.revision


def assert_unchanged(store: Store, before: tuple[pd.DataFrame, int]) -> None:
    pd.testing.assert_frame_equal(store.cards(forgotten=True), before[0])
    assert store.revision == before[1]


@pytest.fixture
def maya(tmp_path: Path) -> Iterator[Store]:
    """Maya's cards with their recorded vectors."""
    with Store(tmp_path / "maya.db") as store:
        store.add_many(CARDS, VECTORS, RECORDED.id, NOW)
        yield store


@pytest.fixture
def toys(tmp_path: Path) -> Iterator[Store]:
    """No card yet."""
    with Store(tmp_path / "toys.db", timeout_seconds=0) as store:
        yield store


def slow_search(question: str) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    table = CARDS.reset_index().astype(object).where(lambda t: t.notna(), None)
    rows = table.to_dict("records")
    for row in rows:
        row["importance"] = np.nan if row["importance"] is None else row["importance"]
    query = RECORDED.embed([question], role="query")[0].tolist()
    found = oracle.search(rows, VECTORS.tolist(), query, question, NOW)
    return found, dict(zip(CARDS.index, VECTORS.tolist(), strict=True))


# --- search ----------------------------------------------------------------------------------


@pytest.mark.parametrize("question", QUESTIONS)
def test_candidates_parts_and_picks_are_those_of_the_slow_way(maya: Store, question: str) -> None:
    wanted, vectors = slow_search(question)
    librarian = Librarian(maya, RECORDED, replace(SERVER, threshold=None))
    told = librarian.explain(question, NOW, top_k=6)
    assert set(told.index) == set(wanted) and 50 <= len(told) <= 100
    base = told.assign(S=told["S"] + 0.15 * told["penalty"])
    slow = pd.DataFrame(wanted).T.loc[told.index, PARTS]
    np.testing.assert_allclose(base[PARTS].to_numpy(), slow.to_numpy(), rtol=0, atol=2e-7)
    picked = oracle.pick({name: row["S"] for name, row in wanted.items()}, vectors, 6)
    assert told.index[:6].tolist() == [name for name, _ in picked]
    assert told["penalty"].tolist()[:6] == pytest.approx([p for _, p in picked], abs=1e-6)
    assert (told["penalty"].iloc[6:] == 0).all() and told["S"].iloc[6:].is_monotonic_decreasing
    found = librarian.search(question, NOW, top_k=6)
    pd.testing.assert_frame_equal(found, told.iloc[:6].drop(columns="why"))


@pytest.mark.parametrize("diversity", ["penalty", "mmr", "none"])
def test_s_is_the_weighted_sum_of_the_parts_that_are_returned(maya: Store, diversity: str) -> None:
    found = Librarian(maya, RECORDED, replace(SERVER, diversity=diversity, threshold=None)).search(
        VET, NOW, top_k=8
    )
    about = 0.6 * found["dense"].clip(0) + 0.3 * found["bm25_norm"]
    about += 0.05 * found["tag_match"] + 0.05 * found["title_hit"]
    assert found["relevance"].tolist() == pytest.approx(about.tolist(), abs=1e-12)
    s = 0.5 * about + 0.2 * found["recency"] + 0.2 * found["importance"] + 0.1 * found["usage"]
    s -= 0.15 * found["penalty"] * (diversity == "penalty")
    assert found["S"].tolist() == pytest.approx(s.tolist(), abs=1e-12)
    assert len(found) == 8 and found["penalty"].iloc[0] == 0 < found["penalty"].iloc[1:].min()


def test_mmr_works_on_s_without_the_penalty_and_lambda_1_is_the_order_by_s(maya: Store) -> None:
    wanted, vectors = slow_search(VET)
    s = {name: row["S"] for name, row in wanted.items()}

    def found(**how: Any) -> list[str]:
        rules = replace(SERVER, threshold=None, **how)
        return Librarian(maya, RECORDED, rules).explain(VET, NOW, top_k=8).index[:8].tolist()

    by_hand = {
        cost: [name for name, _ in oracle.pick(s, vectors, 8, gain, cost)]
        for gain, cost in ((0.8, 0.2), (0.8, 0.2 + 0.8 * 0.15), (0.5, 0.5))
    }
    assert found(diversity="mmr") == by_hand[0.2] != by_hand[0.2 + 0.8 * 0.15]  # twice punished
    assert found(diversity="mmr", mmr_lambda=0.5) == by_hand[0.5]
    by_score = sorted(s, key=lambda name: -s[name])[:8]
    assert found(diversity="mmr", mmr_lambda=1) == found(diversity="none") == by_score
    assert found(diversity="penalty") != by_score


def test_candidates_are_fifty_by_meaning_and_fifty_by_words(toys: Store) -> None:
    rows = [f"m{n:02d}" for n in range(60)] + [f"w{n:02d}" for n in range(60)]
    texts = ["Rain." for _ in range(60)] + ["A kettle." for _ in range(60)]
    turn = np.radians([*range(60), *range(80, 140)])  # the w cards look away
    table = pd.DataFrame({"text": texts}, index=rows)
    toys.add_many(table, np.column_stack([np.cos(turn), np.sin(turn)]), "toy", NOW)
    librarian = Librarian(toys, Toy())
    assert sorted(librarian.explain("Kettle?", NOW).index) == rows[:50] + rows[60:110]
    nothing = librarian.explain("Bicycle?", NOW)
    assert sorted(nothing.index) == rows[:50] and (nothing["bm25_norm"] == 0).all()
    few = Librarian(toys, Toy(), replace(SERVER, candidates_dense=3, candidates_words=2))
    assert sorted(few.explain("Kettle?", NOW).index) == [*rows[:3], *rows[60:62]]


def test_a_card_that_only_its_words_find_is_among_the_candidates(maya: Store) -> None:
    librarian = Librarian(maya, RECORDED, replace(SERVER, candidates_dense=1))
    told = librarian.explain(VET, NOW)
    assert (told["bm25_norm"] > 0).sum() >= len(told) - 1 > 1


def test_usage_is_measured_among_the_candidates_alone(toys: Store) -> None:
    for id, vector, views in (("a", (1, 0), 0), ("b", (0.8, 0.6), 3), ("far", (-1, 0), 99)):
        put(toys, id, vector, views=views)
    told = Librarian(toys, Toy(), replace(SERVER, candidates_dense=2)).explain("Who?", NOW)
    assert told["usage"].to_dict() == {"a": 0, "b": pytest.approx(1, abs=1e-6)}
    wide = Librarian(toys, Toy()).explain("Who?", NOW)
    assert wide["usage"]["b"] == pytest.approx(np.log(4) / np.log(100), abs=1e-6)


def test_a_question_s_tags_are_sought_in_the_whole_store(toys: Store) -> None:
    put(toys, "a", tags=("vet",))
    put(toys, "far", (-1, 0), tags=("garden",))
    rules = replace(SERVER, candidates_dense=1)
    told = Librarian(toys, Toy(), rules).explain("Is the vet in the garden?", NOW)
    assert told["tag_match"].to_dict() == {"a": 0.5}
    alone = features(toys.cards(ids=["a"]), [1.0], [0.0], "Is the vet in the garden?", NOW)
    assert alone["tag_match"].tolist() == [1]


def test_a_pinned_card_stays_fresh(toys: Store) -> None:
    old = {"created_at": NOW - 3000 * DAY, "kind": "working"}
    put(toys, "pinned", pinned=True, **old)
    put(toys, "loose", **old)
    told = Librarian(toys, Toy(), SERVER).explain("Who?", NOW)
    assert told["recency"].to_dict() == {"pinned": 1, "loose": pytest.approx(0, abs=1e-12)}
    assert told["importance"].to_dict() == pytest.approx({"pinned": 0.65, "loose": 0.45})


def test_vectors_of_any_length_are_compared_by_direction(toys: Store) -> None:
    put(toys, "long", (3, 4))
    put(toys, "short", (0.03, 0.04))
    librarian = Librarian(toys, Toy(), replace(SERVER, threshold=None))
    assert librarian.explain("Who?", NOW)["dense"].tolist() == pytest.approx([0.6, 0.6])
    assert librarian.explain("Who?", NOW)["penalty"].tolist() == pytest.approx([0, 1])
    assert sorted(librarian.forget_scores(NOW)["dup_ratio"]) == pytest.approx([0, 1])


def test_every_weight_can_be_changed(toys: Store) -> None:
    put(toys, "a", (0.6, 0.8), created_at=NOW - DAY, importance=10, title="Who")
    days = {"working": 1, "episodic": 1, "semantic": 1}
    ranking = replace(
        SERVER,
        relevance_weights=RelevanceWeights(1, 0, 0, 0.25),
        final_weights=FinalWeights(0.25, 0.5, 0, 0),
        half_life_days=days,
    )
    rules = Settings(half_life_days=days, forget=forgetting.ForgetWeights(0, 0, 0, -2))
    librarian = Librarian(toys, Toy(), ranking, rules)
    assert librarian.explain("Who?", NOW)["S"].tolist() == pytest.approx([0.25 * 0.85 + 0.5 * 0.5])
    assert librarian.forget_scores(NOW)["score"].tolist() == pytest.approx([2])


# --- threshold -------------------------------------------------------------------------------


def test_the_threshold_comes_last_and_says_what_it_dropped(maya: Store) -> None:
    everything = Librarian(maya, RECORDED, replace(SERVER, threshold=None)).explain(
        VET, NOW, top_k=4
    )
    assert everything["why"].tolist() == [PICKED] * 4 + [LATER] * (len(everything) - 4)
    at = everything["S"].iloc[1]
    librarian = Librarian(maya, RECORDED, replace(SERVER, threshold=at))  # what equals it is kept
    told = librarian.explain(VET, NOW, top_k=4)
    assert told["why"].tolist()[:4] == [PICKED, PICKED, BELOW, BELOW]
    pd.testing.assert_frame_equal(told.drop(columns="why"), everything.drop(columns="why"))
    before = state(maya)[0]
    assert librarian.search(VET, NOW, top_k=4).index.tolist() == told.index[:2].tolist()
    views = maya.cards()["views"] - before["views"]
    assert views[views > 0].to_dict() == dict.fromkeys(told.index[:2], 1)


def test_none_and_fewer_than_asked_for_are_right_answers(maya: Store, toys: Store) -> None:
    before = state(maya)
    librarian = Librarian(maya, RECORDED, replace(SERVER, threshold=0.99))
    none = librarian.search(VET, NOW)
    assert none.empty and list(none.columns) == ["text", *PARTS, "penalty"]
    whys = {str(why).partition(" like ")[0] for why in librarian.explain(VET, NOW)["why"]}
    assert whys == {BELOW, LATER, "too much"}
    assert_unchanged(maya, before)
    put(toys, "only")
    assert Librarian(toys, Toy()).search("Who?", NOW, top_k=9).index.tolist() == ["only"]


def test_an_empty_store_gives_empty_tables_with_their_columns(toys: Store, maya: Store) -> None:
    librarian = Librarian(toys, Toy())
    for name in ("explain", "search"):
        empty = getattr(librarian, name)("Who?", NOW)
        full = getattr(Librarian(maya, RECORDED), name)(VET, NOW)
        assert empty.empty and list(empty.columns) == list(full.columns)
        assert empty.index.name == full.index.name == "id"
    assert librarian.sweep(NOW).empty
    for name in ("forget_scores", "due"):
        empty = getattr(librarian, name)(NOW)
        assert empty.empty and list(empty.columns) == list(
            getattr(Librarian(maya, RECORDED), name)(NOW).columns
        )
    put(toys, "first")
    assert librarian.search("Who?", NOW).index.tolist() == ["first"]
    toys.purge(["first"], confirm=True)
    assert librarian.search("Who?", NOW).empty


# --- clocks ----------------------------------------------------------------------------------


def test_score_first_then_only_the_returned_cards_clocks_restart(maya: Store) -> None:
    librarian, before = Librarian(maya, RECORDED, SERVER), maya.cards()
    told = librarian.explain(PUBLISHED_QUESTION, NOW)
    found = librarian.search(PUBLISHED_QUESTION, NOW)
    pd.testing.assert_frame_equal(found, told.iloc[:INJECTED].drop(columns="why"))  # no clock in it
    after = maya.cards()
    assert (after.loc[found.index, "last_accessed_at"] == NOW).all()
    assert (after["views"] - before["views"]).loc[found.index].tolist() == [1] * INJECTED
    rest = before.index.difference(found.index)
    pd.testing.assert_frame_equal(after.loc[rest], before.loc[rest])
    same = after.columns.difference(["views", "last_accessed_at"])
    pd.testing.assert_frame_equal(after[same], before[same])
    again = librarian.search(PUBLISHED_QUESTION, NOW + HOUR)
    assert again.loc[found.index, "recency"].min() > 0.98 > found["recency"].min()
    assert (maya.cards().loc[again.index, "last_accessed_at"] == NOW + HOUR).all()


def test_the_default_is_similarity_and_no_search_moves_it(maya: Store) -> None:
    librarian = Librarian(maya, RECORDED)
    assert librarian.ranking == DEFAULT == PRESETS["similarity"]
    first = librarian.search(PUBLISHED_QUESTION, NOW)
    again = librarian.search(PUBLISHED_QUESTION, NOW)  # clocks have restarted, views have risen
    assert again.index.tolist() == first.index.tolist()
    pd.testing.assert_series_equal(again["S"], first["S"])


def test_looking_changes_nothing(maya: Store) -> None:
    librarian, before = Librarian(maya, RECORDED), state(maya)
    for question in QUESTIONS:
        librarian.explain(question, NOW + DAY)
    librarian.forget_scores(NOW + DAY)
    librarian.due(NOW + DAY)
    assert_unchanged(maya, before)


class Counting(Store):
    """A store that counts how often all its cards were asked for."""

    read = 0

    def cards(self, forgotten: bool = False, **only: Any) -> pd.DataFrame:
        self.read += not only
        return super().cards(forgotten, **only)


def test_the_index_is_made_anew_when_the_cards_changed_and_only_then(tmp_path: Path) -> None:
    with Counting(tmp_path / "cards.db") as store, Store(tmp_path / "cards.db") as elsewhere:
        put(store, "tea", text="A kettle.")
        librarian = Librarian(store, Toy())

        def found(question: str = "Kettle?") -> list[str]:
            told = librarian.search(question, NOW)
            return told.index[told["bm25_norm"] > 0].tolist()

        assert found() == ["tea"] and store.read == 1
        store.cite("tea")
        store.pin("tea")
        store.pin("tea", False)
        librarian.reviewed("tea", True, NOW)
        store.read = 0
        assert found() == ["tea"] and store.read == 0
        assert store.get("tea")["views"] == 2
        for change, wanted in (
            (lambda: put(elsewhere, "pot", (0.6, 0.8), text="My kettle."), ["tea", "pot"]),
            (lambda: elsewhere.soft_forget("tea", NOW), ["pot"]),
            (lambda: elsewhere.restore("tea"), ["tea", "pot"]),
            (
                lambda: elsewhere.edit("tea", text="Jam.", vector=[1, 0], embedder_id="toy"),
                ["pot"],
            ),
            (lambda: store.purge(["pot"], confirm=True), []),
        ):
            change()
            store.read = 0
            assert found() == wanted and found() == wanted and store.read == 1
        assert found("Jam?") == ["tea"]


def test_a_forgotten_card_is_out_of_search_and_of_document_frequencies(toys: Store) -> None:
    for id in ("a", "b", "c"):
        put(toys, id, text="A kettle." if id != "c" else "Rain.")
    librarian = Librarian(toys, Toy())
    common = librarian.explain("Kettle?", NOW)["bm25_norm"]["a"]
    toys.soft_forget("b", NOW)
    rare = librarian.explain("Kettle?", NOW)
    assert sorted(rare.index) == ["a", "c"] and rare["bm25_norm"]["a"] > common


# --- while another program changes the store -------------------------------------------------

ROOT = Path(__file__).parents[2]
WORK = """
from itertools import count
from sys import argv
from time import sleep
from course.data.maya import COURSE_NOW as NOW
from memlib.store.sqlite import Store
store = Store(argv[1], 60)
for n in count():
    print("at work" * (n == 0), end="\\n" * (n == 0), flush=True)
"""
ADD = """
    store.add(f"new{n}", "Rain.", vector=[1, 0], embedder_id="toy", now=NOW)
"""
COME_AND_GO = """
    id = f"c{n % 40}"
    store.soft_forget(id, NOW)
    store.restore(id)
    store.purge([id], confirm=True)
    store.add(id, "A kettle.", vector=[1, 0], embedder_id="toy", now=NOW)
    sleep(0.02)  # others want to write, too
"""


@contextmanager
def another_program(path: Path, does: str) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that changes the store until it is stopped."""
    command = [sys.executable, "-c", WORK + does, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as worker:
        try:
            assert worker.stdout is not None and worker.stdout.readline() == "at work\n"
            yield worker
            assert worker.poll() is None  # it still is
        finally:
            worker.kill()


class Once(Counting):
    """A store whose cards are all read at most once: who asks again might ask for ever."""

    def cards(self, forgotten: bool = False, **only: Any) -> pd.DataFrame:
        found = super().cards(forgotten, **only)
        assert self.read <= 1
        return found


def test_a_search_returns_while_another_program_goes_on_adding(tmp_path: Path) -> None:
    with Once(tmp_path / "cards.db", 60) as store:
        table = pd.DataFrame({"text": ["A kettle."] * 3000}, index=[f"c{n}" for n in range(3000)])
        store.add_many(table, np.ones((3000, 2)), "toy", NOW)
        librarian = Librarian(store, Toy())
        with another_program(tmp_path / "cards.db", ADD):
            for ask in (librarian.search, librarian.explain, librarian.search):
                store.read = 0
                assert len(ask("Kettle?", NOW))


def test_a_search_skips_what_another_program_takes_away(tmp_path: Path) -> None:
    with Store(tmp_path / "cards.db", 60) as store:
        put(store, "kept", (1, 0.1), text="A kettle.")
        for n in range(40):
            put(store, f"c{n}", text="A kettle.")
        librarian = Librarian(store, Toy(), replace(SERVER, threshold=None))
        with another_program(tmp_path / "cards.db", COME_AND_GO):
            for _ in range(10):
                assert len(librarian.search("Kettle?", NOW, top_k=40)) >= 35
                assert len(librarian.forget_scores(NOW)) >= 40
                librarian.sweep(NOW)


class Meddling(Store):
    """A store that another program changes right before one of its answers."""

    at, meddle = "", staticmethod(lambda: None)

    def _late(self, name: str) -> None:
        if name == self.at:
            self.at = ""
            self.meddle()

    def vectors(self, *args: Any, **only: Any) -> np.ndarray:
        self._late("vectors")
        return super().vectors(*args, **only)

    def cards(self, *args: Any, **only: Any) -> pd.DataFrame:
        self._late("ids" if only else "cards")
        return super().cards(*args, **only)

    def touch(self, *args: Any, **how: Any) -> list[str]:
        self._late("touch")
        return super().touch(*args, **how)


@pytest.mark.parametrize("at", ["vectors", "ids"])
@pytest.mark.parametrize("ask", ["search", "explain", "forget_scores", "sweep"])
def test_an_answer_is_of_one_state_of_the_store(tmp_path: Path, ask: str, at: str) -> None:
    path = tmp_path / "cards.db"
    with Meddling(path) as store, Store(path) as other:
        for id in ("a", "b", "c"):
            put(store, id, kind="working", text="A kettle.")
        question = ("Kettle?",) if ask in ("search", "explain") else ()

        def change() -> None:
            other.edit("b", text="Rain.", vector=[0, 1], embedder_id="toy")
            other.soft_forget("c", NOW)
            put(other, "d")

        wanted = getattr(Librarian(other, Toy()), ask)(*question, NOW)
        store.at, store.meddle = at, change
        found = getattr(Librarian(store, Toy()), ask)(*question, NOW)
        if ask == "search":  # what is forgotten meanwhile is not handed out
            wanted = wanted.drop(index=["c"], errors="ignore")
        pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize("way", ["forget", "purge"])
def test_a_card_that_goes_before_its_clock_restarts_is_left_out(tmp_path: Path, way: str) -> None:
    path = tmp_path / "cards.db"
    with Meddling(path) as store, Store(path) as other:
        for id in ("a", "b", "c"):
            put(store, id)
        gone = {
            "forget": lambda: other.soft_forget("b", NOW),
            "purge": lambda: other.purge(["b"], confirm=True),
        }
        librarian = Librarian(store, Toy(), replace(SERVER, threshold=None))
        store.at, store.meddle = "touch", gone[way]
        assert sorted(librarian.search("Who?", NOW).index) == ["a", "c"]
        assert store.cards()["views"].to_dict() == {"a": 1, "c": 1}
        with pytest.raises(StoreError, match="'b'"):  # asked by hand it is an error as before
            store.touch(["a", "b"], NOW)


# --- other embedders, bad input --------------------------------------------------------------


def test_vectors_of_another_embedder_are_refused_also_later(maya: Store, toys: Store) -> None:
    said = r"^the store's vectors come from .*, the embedder is toy: .* `memlib\.store\.reembed"
    with pytest.raises(ValueError, match=said):
        Librarian(maya, Toy())
    librarian = Librarian(toys, Toy())  # nothing in it yet
    put(toys, "a", embedder_id="other")
    for ask in (librarian.search, librarian.explain):
        with pytest.raises(ValueError, match="come from other, the embedder is toy"):
            ask("Who?", NOW)
    assert toys.get("a")["views"] == 0


class Wrong(Toy):
    """An embedder whose vectors do not fit."""

    def __init__(self, *vector: float) -> None:
        self.vector = vector

    def embed(self, texts: Sequence[str], role: str = "document") -> np.ndarray:
        return np.array([self.vector for _ in texts], dtype=np.float32)


NAIVE = datetime(2025, 6, 11)
EARLIER = NOW - 1000 * DAY
BAD: dict[str, tuple[Callable[[Librarian], object], str]] = {
    "empty": (lambda lib: lib.search("", NOW), "^question is '': must be a text that is not empty"),
    "blank": (lambda lib: lib.explain(" \n", NOW), "^question is ' .n': must be a text"),
    "number": (lambda lib: lib.search(4, NOW), "^question is 4: must be a text"),
    "none": (lambda lib: lib.search("Who?", NOW, top_k=0), "^top_k is 0: must be a whole number"),
    "half": (
        lambda lib: lib.search("Who?", NOW, top_k=1.5),
        "^top_k is 1.5: must be a whole number",
    ),
    "naive search": (
        lambda lib: lib.search("Who?", NAIVE),
        "^now is 2025-06-11 .*has no time zone",
    ),
    "naive sweep": (lambda lib: lib.sweep(NAIVE), "^now is 2025-06-11 .*has no time zone"),
    "naive due": (lambda lib: lib.due(NAIVE), "^now is 2025-06-11 .*has no time zone"),
    "naive review": (lambda lib: lib.reviewed("a", True, NAIVE), "^now is .*has no time zone"),
    "future card": (
        lambda lib: lib.search("Who?", EARLIER),
        r"^created_at\[0\] is .*in the future of",
    ),
    "future sweep": (lambda lib: lib.sweep(EARLIER), r"^created_at\[0\] is .*in the future of"),
    "future due": (lambda lib: lib.due(EARLIER), r"^created_at\[0\] is .*in the future of"),
    "future review": (lambda lib: lib.reviewed("a", True, EARLIER), "in the future of now"),
    "unknown id": (
        lambda lib: lib.reviewed("ghost", True, NOW),
        "^id is 'ghost': no live card has it",
    ),
    "forgotten id": (
        lambda lib: lib.reviewed("old", True, NOW),
        "^id is 'old': no live card has it",
    ),
    "number as id": (lambda lib: lib.reviewed(4, True, NOW), "^id is 4: no live card has it"),
    "verdict": (
        lambda lib: lib.reviewed("a", "no", NOW),
        "^helpful is 'no': must be True or False",
    ),
    "dimensions": (
        lambda lib: Librarian(lib.store, Wrong(1, 0, 0)).search("Who?", NOW),
        r"^query has shape \(3,\), memories have shape \(2, 2\)",
    ),
    "no unit": (
        lambda lib: Librarian(lib.store, Wrong(3, 4)).search("Who?", NOW),
        "^query has length 5: must be a unit vector",
    ),
    "nan": (
        lambda lib: Librarian(lib.store, Wrong(np.nan, 0)).search("Who?", NOW),
        "^query has len",
    ),
    "diversity": (
        lambda lib: Librarian(lib.store, Toy(), replace(SERVER, diversity="some")).search(
            "Who?", NOW
        ),
        r"^ranking\.diversity is 'some': must be one of penalty, mmr, none",
    ),
    "lambda": (
        lambda lib: Librarian(lib.store, Toy(), replace(SERVER, mmr_lambda=2)).search("Who?", NOW),
        r"^ranking\.mmr_lambda is 2.0: must be at most 1",
    ),
    "candidates": (
        lambda lib: Librarian(lib.store, Toy(), replace(SERVER, candidates_words=0)).search(
            "Who?", NOW
        ),
        "must be a whole number, 1 or more",
    ),
    "no ranking": (
        lambda lib: Librarian(lib.store, Toy(), Settings()),  # type: ignore[arg-type]
        r"^ranking is Settings\(.*must be a Ranking",
    ),
    "threshold": (lambda lib: replace(SERVER, threshold=np.nan), "^ranking.threshold is nan"),
    "half-lives": (
        lambda lib: Settings(half_life_days={"working": 2, "semantic": 180}),
        "^settings.half_life_days has no 'episodic'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_error_and_nothing_changes(toys: Store, name: str) -> None:
    for id in ("a", "b", "old"):
        put(toys, id)
    toys.soft_forget("old", NOW)
    librarian, before = Librarian(toys, Toy()), state(toys)
    ask, said = BAD[name]
    with pytest.raises(ValueError, match=said) as caught:
        ask(librarian)
    assert "\n" not in str(caught.value)
    assert_unchanged(toys, before)


@pytest.mark.parametrize("name", ["empty", "none", "naive search", "naive sweep", "naive due"])
def test_an_empty_store_is_no_excuse_for_bad_input(toys: Store, name: str) -> None:
    ask, said = BAD[name]
    with pytest.raises(ValueError, match=said):
        ask(Librarian(toys, Toy()))


def test_five_minutes_between_two_clocks_are_no_fault(toys: Store) -> None:
    put(toys, "a")
    late = Librarian(toys, Toy()).search("Who?", NOW - timedelta(minutes=5))
    assert late["recency"].tolist() == [1] and toys.get("a")["views"] == 1


CHANGES: dict[str, Callable[[Librarian], object]] = {
    "search": lambda librarian: librarian.search("Who?", NOW + 5 * DAY),
    "sweep": lambda librarian: librarian.sweep(NOW + 5 * DAY),
    "reviewed": lambda librarian: librarian.reviewed("a", True, NOW + 5 * DAY),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_write_that_fails_raises_and_changes_nothing(
    toys: Store, tmp_path: Path, name: str
) -> None:
    for id in ("a", "b"):  # copies: one is due
        put(toys, id, kind="working")
    librarian, before = Librarian(toys, Toy()), state(toys)
    told = librarian.explain("Who?", NOW + 5 * DAY)
    other = sqlite3.connect(tmp_path / "toys.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # another program is in the middle of a change
    with pytest.raises(StoreError, match=r"^toys\.db: locked by another program"):
        CHANGES[name](librarian)
    other.execute("ROLLBACK")
    other.close()
    assert_unchanged(toys, before)
    pd.testing.assert_frame_equal(librarian.explain("Who?", NOW + 5 * DAY), told)
    CHANGES[name](librarian)
    assert not state(toys)[0].equals(before[0])


# --- sweep -----------------------------------------------------------------------------------


def test_forget_scores_are_those_of_the_slow_way(tmp_path: Path) -> None:
    cards, vectors, later = CARDS[:60], VECTORS[:60], NOW + 90 * DAY
    with Store(tmp_path / "cards.db") as store:
        store.add_many(cards, vectors, RECORDED.id, NOW)
        table = Librarian(store, RECORDED).forget_scores(later)
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], later)
    days = age_hours(cards["created_at"], [None] * 60, later) / 24
    halves = np.array([oracle.HALF_LIFE_DAYS[kind] for kind in cards["kind"]])
    fresh = np.where(cards["pinned"], 1, 0.5 ** (hours / 24 / halves))
    used = slow_forgetting.usage(*[cards[c].tolist() for c in ("views", "cites", "edits")])
    assert table["recency"].tolist() == pytest.approx(fresh.tolist())
    assert table["usage"].tolist() == pytest.approx([float(u) for u in used])
    weight = table["importance"].tolist()
    copied = slow_forgetting.duplicate_ratio(vectors.tolist(), weight, days, cards.index.tolist())
    assert table["dup_ratio"].tolist() == pytest.approx(copied, abs=1e-6)
    for row, (use, (_, card)) in enumerate(zip(used, table.iterrows(), strict=True)):
        parts = [Fraction(float(card[name])) for name in ("recency", "dup_ratio", "importance")]
        pin = bool(cards["pinned"].iloc[row])
        risk = slow_forgetting.forget_score(parts[0], use, parts[1], parts[2], pin)
        assert card["score"] == pytest.approx(float(risk), abs=1e-9)
    assert len(set(table["decision"])) > 1 and "hard" not in set(table["decision"])


def test_of_two_copies_one_survives_and_the_other_can_be_restored(toys: Store) -> None:
    for id in ("b", "a"):
        put(toys, id, kind="working", tags=("tea",))
    librarian, before = Librarian(toys, Toy()), toys.cards()
    swept = librarian.sweep(NOW + 5 * DAY)
    assert list(swept.columns) == ["text", "kind", "score", "decision", "done"]
    assert swept.index.tolist() == ["b"] and swept["decision"].tolist() == ["soft"]
    assert swept["done"].tolist() == [True] and swept["text"].tolist() == ["Words of b."]
    score = 0.35 * (1 - 0.5**2.5) + 0.25 + 0.20 - 0.15 * 0.45
    assert swept["score"].tolist() == pytest.approx([score])
    assert toys.cards().index.tolist() == ["a"]
    assert librarian.search("Who?", NOW + 5 * DAY).index.tolist() == ["a"]
    toys.restore("b")
    pd.testing.assert_frame_equal(toys.cards().loc[["b"]], before.loc[["b"]])


def test_after_each_card_the_rest_is_judged_anew(toys: Store) -> None:
    put(toys, "a", (1, 0), kind="working")
    put(toys, "b", (0.9, 0.19**0.5), kind="working")
    turn = np.arccos(0.9) + np.arccos(0.8)
    put(toys, "c", (np.cos(turn), np.sin(turn)), kind="working")  # like b, not so like a
    librarian, later = Librarian(toys, Toy()), NOW + 6 * DAY
    assert librarian.forget_scores(later)["decision"].to_dict() == {
        **{"a": "keep", "b": "soft", "c": "soft"},
    }
    assert librarian.sweep(later).index.tolist() == ["b"]
    assert toys.cards().index.tolist() == ["a", "c"]


def test_the_most_at_risk_goes_first(toys: Store) -> None:
    for id, created in (("d", NOW), ("c", NOW - 4 * DAY), ("b", NOW - 9 * DAY), ("a", NOW)):
        put(toys, id, kind="working", created_at=created, now=NOW)
    swept = Librarian(toys, Toy()).sweep(NOW + 5 * DAY)
    assert swept.index.tolist() == ["b", "c", "d"] and swept["score"].is_monotonic_decreasing


def test_a_hard_deletion_is_listed_first_and_done_when_confirmed(toys: Store) -> None:
    for id in ("a", "b"):
        put(toys, id, kind="working")
    rules = Settings(policy=RetentionPolicy(hard=0.65))
    librarian, before, later = Librarian(toys, Toy(), settings=rules), state(toys), NOW + 8 * DAY
    listed = librarian.sweep(later)
    assert listed[["text", "decision", "done"]].to_dict("index") == {
        "b": {"text": "Words of b.", "decision": "hard", "done": False}
    }
    assert_unchanged(toys, before)
    done = librarian.sweep(later, confirm=True)
    pd.testing.assert_frame_equal(done, listed.assign(done=True))
    assert toys.cards(forgotten=True).index.tolist() == ["a"]


def test_a_pinned_card_is_never_swept_whatever_the_policy(toys: Store) -> None:
    never = dict.fromkeys(("working", "episodic", "semantic"), 0.0)
    policy = RetentionPolicy(-1, -1, never, never)
    risk = forgetting.ForgetWeights(pinned=-9)
    for id in ("a", "b", "c"):
        put(toys, id, kind="working", pinned=id != "c")
    librarian = Librarian(toys, Toy(), settings=Settings(policy=policy, forget=risk))
    assert librarian.sweep(NOW + 900 * DAY, confirm=True).index.tolist() == ["c"]
    assert toys.cards(forgotten=True).index.tolist() == ["a", "b"]


def test_nothing_due_gives_an_empty_table_and_changes_nothing(toys: Store) -> None:
    put(toys, "a")
    before = state(toys)
    swept = Librarian(toys, Toy()).sweep(NOW, confirm=True)
    assert swept.empty and swept.index.name == "id"
    assert list(swept.columns) == ["text", "kind", "score", "decision", "done"]
    assert_unchanged(toys, before)


# --- review ----------------------------------------------------------------------------------


def test_the_first_review_falls_on_day_1_and_the_most_faded_come_first(toys: Store) -> None:
    put(toys, "b")
    put(toys, "a")
    put(toys, "old", created_at=NOW - HOUR, now=NOW)
    librarian = Librarian(toys, Toy())
    assert librarian.due(NOW + 22 * HOUR).empty
    assert librarian.due(NOW + 23 * HOUR).index.tolist() == ["old"]
    due = librarian.due(NOW + DAY)
    assert due.index.tolist() == ["old", "a", "b"] and list(due.columns) == ["text", "p_recall"]
    assert due["p_recall"].tolist() == pytest.approx([0.7 ** (25 / 24), 0.7, 0.7])
    librarian.reviewed("old", True, NOW + DAY)
    assert librarian.due(NOW + DAY).index.tolist() == ["a", "b"]


def test_a_card_is_due_again_at_the_moment_its_tau_says(toys: Store) -> None:
    librarian, at, second = Librarian(toys, Toy()), NOW + DAY, timedelta(seconds=1)
    put(toys, "a")
    for helpful in [True, False, True] * 5:
        tau = librarian.reviewed("a", helpful, at)
        assert librarian.due(at).empty
        at += timedelta(days=days_until_due(tau))
        assert librarian.due(at - second).empty
        assert librarian.due(at).index.tolist() == ["a"]


def test_a_review_moves_tau_by_the_formula_and_starts_new_counts(toys: Store) -> None:
    put(toys, "a", importance=10, kind="semantic", views=7)
    put(toys, "b", importance=4, kind="working", views=1)
    put(toys, "c")
    put(toys, "d", importance=4, kind="working", views=1)
    toys.set_review("b", 10, NOW, 6, 2, 1)
    toys.set_review("d", 10, NOW, 6, 1, 1)
    librarian, later = Librarian(toys, Toy()), NOW + 3 * DAY
    eighth = np.log(2) / (np.log(8) + 1e-6)
    for id, helpful, before, weight, used, rates in (
        ("a", False, FIRST_TAU_DAYS, 1, np.log(8) / (np.log(8) + 1e-6), (0, 1)),
        ("b", True, 10, Fraction(1, 3) - Fraction("0.05"), eighth, (0.75, 0.25)),
        ("d", False, 10, Fraction(1, 3) - Fraction("0.05"), eighth, (1 / 3, 2 / 3)),
    ):
        parts = [Fraction(float(part)) for part in (before, weight, used, *rates)]
        tau = librarian.reviewed(id, helpful, later)
        assert tau == pytest.approx(float(slow_forgetting.next_tau(*parts)), rel=1e-12)
        card = toys.get(id)
        assert card["tau_days"] == tau and card["last_review"] == later
        assert (card["helpful"], card["bad"]) == (0, 0)
    growth = slow_forgetting.growth(Fraction(17, 60), Fraction(float(eighth)))
    assert toys.get("a")["interval_days"] == 1  # the first
    assert toys.get("b")["interval_days"] == slow_forgetting.next_interval(6, growth) == 8
    assert pd.isna(toys.get("c")["last_review"]) and toys.get("c")["tau_days"] == FIRST_TAU_DAYS
    assert pd.isna(toys.get("a")["last_accessed_at"])  # a review is no access


def test_intervals_are_those_of_the_preset(toys: Store) -> None:
    put(toys, "a", importance=10)
    librarian, told = Librarian(toys, Toy()), []
    for day in range(4):
        librarian.reviewed("a", True, NOW + day * DAY)
        told.append(int(toys.get("a")["interval_days"]))
    assert told == [1, 6, 9, 14]


def test_the_weights_of_a_review_can_be_changed(toys: Store) -> None:
    put(toys, "a")
    weights = forgetting.ReviewWeights(importance=0, helpful=1)
    librarian = Librarian(toys, Toy(), settings=Settings(review=weights))
    assert librarian.reviewed("a", True, NOW) == pytest.approx(2 * FIRST_TAU_DAYS)


def test_a_pin_lowers_the_deletion_risk_that_is_shown(toys: Store) -> None:
    old = {"created_at": NOW - 900 * DAY, "kind": "working"}
    put(toys, "pinned", pinned=True, **old)
    put(toys, "loose", vector=(0, 1), **old)
    shown = Librarian(toys, Toy()).forget_scores(NOW)["score"]
    assert shown["pinned"] == pytest.approx(0.25 - 0.15 * 0.65 - 0.30)
    assert shown["loose"] == pytest.approx(0.35 + 0.25 - 0.15 * 0.45)


def test_a_sweep_judges_use_once_and_never_cascades(toys: Store) -> None:
    """Six cards of different use: each that stays after the first judgement stays for good."""
    angles = np.linspace(0, np.pi / 2, 6)
    for views, angle in zip((200, 50, 8, 3, 1, 0), angles, strict=True):
        old = {"created_at": NOW - 400 * DAY, "importance": 1, "views": views}
        put(toys, f"c{views}", (np.cos(angle), np.sin(angle)), **old)
    librarian = Librarian(toys, Toy())
    first = librarian.forget_scores(NOW).query("decision != 'keep'").index
    assert 0 < len(first) < 6
    assert set(librarian.sweep(NOW).index) <= set(first)


def test_a_card_that_changed_while_a_sweep_ran_is_kept(toys: Store, tmp_path: Path) -> None:
    never = dict.fromkeys(("working", "episodic", "semantic"), 0.0)
    put(toys, "a", created_at=NOW - 900 * DAY, kind="working")
    librarian = Librarian(
        toys, Toy(), settings=Settings(policy=RetentionPolicy(0.1, 0.2, never, never))
    )
    judged = librarian.forget_scores(NOW)
    with Store(tmp_path / "toys.db") as other:
        late = lambda now: [judged, other.cite("a")][0]  # noqa: E731
        librarian.forget_scores = late  # type: ignore[method-assign]
        swept = librarian.sweep(NOW, confirm=True)
    assert swept["done"].tolist() == [False] and len(toys) == 1


def test_vectors_of_extreme_length_are_compared_by_direction(toys: Store) -> None:
    put(toys, "huge", (3e20, 4e20))
    put(toys, "tiny", (3e-23, 4e-23))
    told = Librarian(toys, Toy(), replace(SERVER, threshold=None)).explain("Who?", NOW)
    assert told["dense"].tolist() == pytest.approx([0.6, 0.6])


def test_of_two_reviews_at_once_the_later_is_refused_and_none_is_lost(
    toys: Store, tmp_path: Path
) -> None:
    put(toys, "a")
    librarian = Librarian(toys, Toy())
    with Store(tmp_path / "toys.db") as second:
        cards = toys.cards()
        other = Librarian(second, Toy())
        other.store = _Late(second, cards)  # read before, written after the first review
        tau = librarian.reviewed("a", True, NOW + DAY)
        with pytest.raises(StoreError, match="was reviewed meanwhile"):
            other.reviewed("a", True, NOW + DAY)
    assert toys.get("a")["tau_days"] == pytest.approx(tau)


class _Late:
    """A store whose cards were read a moment ago."""

    def __init__(self, store: Store, cards: pd.DataFrame) -> None:
        self.store, self.read = store, cards

    def cards(self) -> pd.DataFrame:
        return self.read

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def test_a_set_of_settings_once_made_is_never_changed() -> None:
    rules = Settings()
    for field in fields(rules):
        with pytest.raises(FrozenInstanceError):
            setattr(rules, field.name, 1.0)
