"""The store: each method does what it says, a fault changes nothing, a kill loses nothing."""

import math
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, maya_cards
from memlib.cards import COLUMNS
from memlib.forgetting import FIRST_TAU_DAYS
from memlib.store.records import STORED
from memlib.store.sqlite import Store, StoreError

ROOT = Path(__file__).parents[3]
CARDS = maya_cards()
VECTORS = np.random.default_rng(8).normal(size=(len(CARDS), 4)).astype(np.float32)
NOW, HOUR = COURSE_NOW, timedelta(hours=1)


def put(store: Store, *ids: str, **fields: Any) -> None:
    given = {"vector": [1, 0.5], "embedder_id": "toy", "now": NOW} | fields
    for id in ids:
        store.add(id, f"Words of {id}.", **given)


def state(store: Store) -> tuple[list[tuple[Any, ...]], int]:
    """All that a store holds, to be compared."""
    return [tuple(row) for row in store._all(STORED, forgotten=True)], store.revision


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three cards; the last is forgotten."""
    with Store(tmp_path / "cards.db") as opened:
        put(opened, "tea", "jam", "old")
        opened.soft_forget("old", NOW)
        yield opened


# --- adding and reading --------------------------------------------------------------------


def test_the_course_s_cards_come_back_as_load_cards_gave_them(tmp_path: Path) -> None:
    with Store(tmp_path / "cards.db") as store:
        store.add_many(CARDS, VECTORS, "toy", NOW)
    with Store(str(tmp_path / "cards.db")) as store:
        found = store.cards()
        pd.testing.assert_frame_equal(found[list(COLUMNS)], CARDS)
        assert (found["tau_days"] == FIRST_TAU_DAYS).all() and (found["strength"] == 0).all()
        assert store.vectors().tobytes() == VECTORS.tobytes()
        assert (len(store), store.embedder_id) == (208, "toy")
        pd.testing.assert_series_equal(store.get("birthday"), found.loc["birthday"])


def test_one_store_s_table_can_be_added_to_another(store: Store, tmp_path: Path) -> None:
    store.set_review("tea", 7.5, NOW, 6, 1, 0)
    with Store(tmp_path / "other.db") as other:
        table, vectors = store.cards(forgotten=True), store.vectors(forgotten=True)
        other.add_many(table, vectors, "toy", NOW)
        pd.testing.assert_frame_equal(other.cards(forgotten=True), table)


def test_an_empty_store_has_the_same_columns_and_no_embedder(store: Store, tmp_path: Path) -> None:
    with Store(tmp_path / "none.db") as empty:
        assert (len(empty), empty.embedder_id, empty.revision) == (0, None, 0)
        assert empty.cards().dtypes.equals(store.cards().dtypes)
        assert empty.vectors().shape == (0, 0)
        empty.add_many(CARDS[:0], np.empty((0, 4)), "toy", NOW)
    assert store.vectors([]).shape == (0, 2)


def test_vectors_come_in_the_order_asked_for_and_may_be_changed(tmp_path: Path) -> None:
    with Store(tmp_path / "cards.db") as store:
        store.add_many(CARDS, VECTORS, "toy", NOW)
        some = ["pasta", "birthday", "kids"]
        found = store.vectors(some)
        assert found.dtype == np.float32
        assert found.tolist() == VECTORS[CARDS.index.get_indexer(some)].tolist()
        found *= 2
        assert store.vectors(CARDS.index[:2]).tolist() == VECTORS[:2].tolist()


def test_some_cards_come_in_the_order_asked_for(store: Store) -> None:
    some = store.cards(ids=["jam", "tea"])
    pd.testing.assert_frame_equal(some, store.cards().loc[["jam", "tea"]])
    assert store.cards(ids=[]).dtypes.equals(some.dtypes)
    for bad, said in (("old", "is forgotten: restore it first"), ("ghost", "no card has the id")):
        with pytest.raises(StoreError, match=said):
            store.cards(ids=["tea", bad])
    assert list(store.cards(forgotten=True, ids=["old", "tea"]).index) == ["old", "tea"]


def test_a_table_without_times_is_created_now_and_gaps_take_defaults(tmp_path: Path) -> None:
    table = pd.DataFrame({"text": ["Tea.", "Jam."], "views": [3, None]}, index=["a", "b"])
    with Store(tmp_path / "cards.db") as store:
        store.add_many(table, [[1, 0], [0, 1]], "toy", NOW)
        assert store.cards()["views"].tolist() == [3, 0]
        assert (store.cards()["created_at"] == NOW).all()


@pytest.mark.parametrize(
    ("fields", "error", "said"),
    [
        ({"importance": 11}, ValueError, r"^card 'new', column 'importance': 11 is no rating"),
        ({"kind": "dream"}, ValueError, "'dream' is none of semantic, episodic, working"),
        ({"mood": "glad"}, ValueError, "unknown column 'mood'"),
        ({"created_at": NOW + HOUR}, ValueError, "created_at is .* in the future of now"),
        ({"created_at": datetime(2025, 6, 1)}, ValueError, "has no time zone"),
        ({"now": datetime(2025, 6, 1)}, ValueError, "^now is .* has no time zone"),
        ({"vector": [1, 0, 0]}, ValueError, "^vectors have 3 dimensions, the store 2$"),
        ({"vector": [0, 0]}, ValueError, "zero vector"),
        ({"vector": [math.nan, 0]}, ValueError, "is nan"),
        ({"vector": 1.0}, ValueError, "vectors"),
        ({"embedder_id": ""}, ValueError, "column 'embedder_id': '' must not be empty"),
        (
            {"embedder_id": "other"},
            StoreError,
            "^cards.db: its vectors are of 'toy', these of 'other': never mix them",
        ),
    ],
)
def test_a_bad_card_is_refused_and_nothing_changes(
    store: Store, fields: dict[str, Any], error: type[Exception], said: str
) -> None:
    before = state(store)
    with pytest.raises(error, match=said) as caught:
        put(store, "new", **fields)
    assert "\n" not in str(caught.value) and state(store) == before


def test_an_id_is_taken_once_also_by_a_forgotten_card(store: Store) -> None:
    before = state(store)
    with pytest.raises(StoreError, match=r"^cards\.db: there is a card 'tea' already$"):
        put(store, "tea")
    with pytest.raises(StoreError, match=r"'old' already, forgotten: restore or purge it$"):
        put(store, "old")
    assert state(store) == before


@pytest.mark.parametrize("last", ["tea", "a", ""])
def test_a_table_with_one_bad_row_adds_none(store: Store, last: str) -> None:
    table = pd.DataFrame({"text": ["One.", "Two.", "Three."]}, index=["a", "b", last])
    before, kept = state(store), table.copy()
    with pytest.raises((StoreError, ValueError), match=repr(last)):
        store.add_many(table, np.eye(3, 2) + 1, "toy", NOW)
    assert state(store) == before
    pd.testing.assert_frame_equal(table, kept)


@pytest.mark.parametrize(
    ("index", "vectors", "said"),
    [
        ([4, 5], [[1, 0], [0, 1]], r"ids\[0\] is 4: an id must be a str"),
        (["a", "b"], [[1, 0]], r"vectors have shape \(1, 2\): 2 cards need"),
        (["a", "b"], [[1, 0], [0, 0]], r"vectors\[1\] is a zero vector"),
    ],
)
def test_a_bad_table_is_refused(store: Store, index: Any, vectors: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        store.add_many(pd.DataFrame({"text": ["A.", "B."]}, index=index), vectors, "toy", NOW)
    assert len(store) == 2


CHANGES: dict[str, Callable[[Store, Any], object]] = {
    "get": lambda store, id: store.get(id),
    "vectors": lambda store, id: store.vectors(["tea", id]),
    "touch": lambda store, id: store.touch(["tea", id], NOW),
    "cite": lambda store, id: store.cite(id),
    "edit": lambda store, id: store.edit(id, title="New"),
    "pin": lambda store, id: store.pin(id),
    "set_review": lambda store, id: store.set_review(id, 3, NOW, 1, 0, 0),
    "set_vectors": lambda store, id: store.set_vectors("toy", ["tea", id], np.eye(2)),
    "soft_forget": lambda store, id: store.soft_forget(id, NOW),
    "restore": lambda store, id: store.restore(id),
    "purge": lambda store, id: store.purge(["tea", id], confirm=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_unknown_id_is_told_and_nothing_changes(store: Store, name: str) -> None:
    put(store, "4")
    before = state(store)
    with pytest.raises(StoreError, match=r"^cards\.db: no card has the id 'ghost'$"):
        CHANGES[name](store, "ghost")
    with pytest.raises(ValueError, match="is 4: an id must be a str"):
        CHANGES[name](store, 4)
    assert state(store) == before


@pytest.mark.parametrize("name", ["vectors", "touch", "purge"])
def test_one_id_is_no_list_of_ids(store: Store, name: str) -> None:
    put(store, "t", "e", "a")
    before = state(store)
    with pytest.raises(ValueError, match=r"^ids is 'tea': must be a list of ids"):
        getattr(store, name)("tea", **{"touch": {"now": NOW}}.get(name, {}))
    with pytest.raises(ValueError, match=r"ids\[1\] is 'tea': an id may occur only once"):
        getattr(store, name)(["tea", "tea"], **{"touch": {"now": NOW}}.get(name, {}))
    assert state(store) == before


# --- changes -------------------------------------------------------------------------------


def test_a_touch_restarts_the_clocks_and_counts_a_view(store: Store) -> None:
    assert pd.isna(store.get("tea")["last_accessed_at"])
    store.touch(["tea", "jam"], NOW + HOUR)
    store.touch(["jam"], NOW + 2 * HOUR)
    cards = store.cards()
    assert cards["views"].to_dict() == {"tea": 1, "jam": 2}
    assert cards["last_accessed_at"].tolist() == [NOW + HOUR, NOW + 2 * HOUR]
    assert store.get("old")["views"] == 0


def test_time_does_not_run_back_but_for_the_skew_of_two_clocks(store: Store) -> None:
    store.touch(["tea"], NOW + HOUR)
    store.touch(["tea"], NOW + HOUR - timedelta(minutes=5))
    assert store.get("tea")["last_accessed_at"] == NOW + HOUR and store.get("tea")["views"] == 2
    before = state(store)
    for refused in (
        lambda: store.touch(["jam", "tea"], NOW + HOUR - timedelta(minutes=6)),
        lambda: store.touch(["jam"], NOW - HOUR),
        lambda: store.soft_forget("jam", NOW - HOUR),
        lambda: store.set_review("jam", 3, NOW - HOUR, 1, 0, 0),
    ):
        with pytest.raises(ValueError, match=r"is .* before (last_accessed_at|created_at) of card"):
            refused()
    with pytest.raises(ValueError, match=r"^now is .*has no time zone"):
        store.touch(["tea"], datetime(2025, 7, 1))
    assert state(store) == before


def test_citations_edits_and_pins_are_counted_and_kept(store: Store) -> None:
    store.cite("tea")
    store.cite("tea")
    store.edit("tea", importance=7, tags=("a", "b"), kind="semantic", strength=0.5)
    store.edit("tea", importance=None, title="Tea")
    card = store.get("tea")
    assert (card["cites"], card["edits"], card["views"]) == (2, 2, 0)
    assert (card["tags"], card["kind"], card["title"]) == (("a", "b"), "semantic", "Tea")
    assert pd.isna(card["importance"]) and card["strength"] == 0.5
    store.pin("tea")
    assert store.cards()["pinned"].to_dict() == {"tea": True, "jam": False}
    store.pin("tea", False)
    assert not store.get("tea")["pinned"]
    assert store.get("jam")["cites"] == store.get("jam")["edits"] == 0


def test_a_new_text_needs_its_new_vector(store: Store) -> None:
    before = state(store)
    for fields, error, said in (
        ({"text": "New."}, ValueError, "^card 'tea': a new text needs its new vector"),
        ({"text": "New.", "vector": [1, 2]}, ValueError, "column 'embedder_id': '' must not"),
        ({"vector": [1, 2], "embedder_id": "other"}, StoreError, "are of 'toy', these of 'other'"),
        ({"vector": [1, 2, 3], "embedder_id": "toy"}, ValueError, "3 dimensions, the store 2"),
        ({"views": 4}, ValueError, "^views cannot be edited, only text, kind, category"),
        ({"id": "new"}, TypeError, "multiple values"),
        ({}, ValueError, "^card 'tea': nothing to edit was given"),
        ({"importance": 0}, ValueError, "'importance': 0 is no rating"),
    ):
        with pytest.raises(error, match=said):
            store.edit("tea", **fields)
    assert state(store) == before
    store.edit("tea", text="Words of tea.", title="Same words")
    store.edit("tea", text="New.", vector=[1, 2], embedder_id="toy")
    assert store.get("tea")["text"] == "New." and store.get("tea")["edits"] == 2
    assert store.vectors(["tea"]).tolist() == [[1, 2]]


def test_a_review_is_kept_whole(store: Store) -> None:
    store.set_review("tea", 5.5, NOW + HOUR, 6, 2, 1)
    card = store.get("tea")
    assert card["tau_days"] == 5.5 and card["last_review"] == NOW + HOUR
    assert (card["interval_days"], card["helpful"], card["bad"]) == (6, 2, 1)
    assert pd.isna(card["last_accessed_at"])  # a review is no access
    store.set_review("tea", 7, NOW + 2 * HOUR, None, 0, 0)
    assert pd.isna(store.get("tea")["interval_days"])
    before = state(store)
    for values, said in (
        ((0, NOW + 2 * HOUR, 6, 0, 0), "'tau_days': 0 must be a number of days above 0"),
        ((5, NOW + HOUR, 6, 0, 0), "^last_review is .* before last_review of card 'tea'"),
        ((5, datetime(2025, 7, 1), 6, 0, 0), "^last_review is .* has no time zone"),
        ((5, NOW + 2 * HOUR, 0, 0, 0), "'interval_days': 0 must be at least 1 day"),
        ((5, NOW + 2 * HOUR, 6, -1, 0), "'helpful': -1 is no count"),
        ((5, NOW + 2 * HOUR, 6, 0, 0.5), "'bad': 0.5 is no count"),
    ):
        with pytest.raises(ValueError, match=said):
            store.set_review("tea", *values)
    assert state(store) == before


# --- forgetting ----------------------------------------------------------------------------


def test_a_forgotten_card_is_out_until_it_is_restored(store: Store) -> None:
    assert len(store) == 2 and list(store.cards().index) == ["tea", "jam"]
    assert store.vectors().shape == (2, 2) and store.vectors(forgotten=True).shape == (3, 2)
    assert store.get("old")["forgotten_at"] == NOW
    assert store.cards(forgotten=True)["forgotten_at"].notna().tolist() == [False, False, True]
    assert store.vectors(["old"], forgotten=True).shape == (1, 2)
    before = store.get("old").drop("forgotten_at")
    for name in ("vectors", "touch", "cite", "edit", "pin", "set_review", "soft_forget"):
        with pytest.raises(
            StoreError, match=r"^cards\.db: card 'old' is forgotten: restore it first"
        ):
            CHANGES[name](store, "old")
    with pytest.raises(StoreError, match="card 'tea' is not forgotten"):
        store.restore("tea")
    store.restore("old")
    assert list(store.cards().index) == ["tea", "jam", "old"]
    assert pd.isna(store.get("old")["forgotten_at"])
    pd.testing.assert_series_equal(store.get("old").drop("forgotten_at"), before)


def test_a_pinned_card_is_neither_forgotten_nor_purged(store: Store) -> None:
    store.pin("jam")
    before = state(store)
    for name in ("soft_forget", "purge"):
        with pytest.raises(StoreError, match=r"^cards\.db: card 'jam' is pinned: unpin it first"):
            CHANGES[name](store, "jam")
    assert state(store) == before


def test_a_purge_says_what_it_would_delete_before_it_may(store: Store, tmp_path: Path) -> None:
    before = state(store)
    with pytest.raises(StoreError) as caught:
        store.purge(["tea", "old"])
    assert str(caught.value) == (
        "cards.db: 2 cards would be deleted for good, 'tea' ('Words of tea.'), "
        "'old' ('Words of old.'): say confirm=True"
    )
    assert state(store) == before
    store.purge(["tea", "old"], confirm=True)
    assert list(store.cards(forgotten=True).index) == ["jam"]
    store.close()
    content = (tmp_path / "cards.db").read_bytes()
    assert b"Words of jam" in content and b"Words of tea" not in content  # wiped, not only unlinked


# --- vectors of another model --------------------------------------------------------------


def test_another_model_replaces_the_vectors_of_all_cards_or_of_none(store: Store) -> None:
    before = state(store)
    with pytest.raises(
        StoreError, match=r"1 cards, such as 'old', would keep vectors of 'toy' \(2"
    ):
        store.set_vectors("other", store.cards().index, np.eye(2, 3))
    with pytest.raises(StoreError, match="would keep vectors of 'toy'"):
        store.set_vectors("toy", ["tea"], [[1, 2, 3]])
    with pytest.raises(ValueError, match=r"vectors\[1\] is a zero vector"):
        store.set_vectors("other", ["tea", "jam", "old"], [[1], [0], [1]])
    assert state(store) == before
    store.set_vectors("other", ["old", "tea", "jam"], [[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    assert store.embedder_id == "other"
    assert store.vectors(forgotten=True).tolist() == [[2, 2, 2], [3, 3, 3], [1, 1, 1]]
    store.set_vectors("other", ["jam"], [[4, 4, 5]])
    assert store.vectors().tolist() == [[2, 2, 2], [4, 4, 5]]
    with pytest.raises(
        StoreError, match="are of 'other', these of 'toy': never mix them, `reembed` "
    ):
        put(store, "new")


def test_the_revision_grows_when_an_index_would_be_out_of_date(
    store: Store, tmp_path: Path
) -> None:
    def grows(change: Callable[[], object]) -> bool:
        before = store.revision
        change()
        return store.revision > before

    for leaves in (
        lambda: store.touch(["tea"], NOW),
        lambda: store.cite("tea"),
        lambda: store.set_review("tea", 3, NOW, 1, 0, 0),
        lambda: store.edit("tea", importance=9),
        lambda: store.export_csv(tmp_path / "all.csv"),
    ):
        assert not grows(leaves)
    with Store(tmp_path / "cards.db") as elsewhere:
        for moves in (
            lambda: put(elsewhere, "new"),
            lambda: store.edit("tea", title="Tea"),
            lambda: store.edit("tea", entities=("Sam:person",)),
            lambda: store.edit("tea", vector=[1, 2], embedder_id="toy"),
            lambda: store.soft_forget("tea", NOW),
            lambda: store.restore("tea"),
            lambda: store.set_vectors("toy", ["tea"], [[2, 1]]),
            lambda: store.purge(["tea"], confirm=True),
        ):
            assert grows(moves)


# --- faults of the disk --------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, bool]]:
    """A disk of one megabyte, and whether it is a real one: only root may mount it."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path)]
    real = sys.platform == "linux" and subprocess.run(mount, capture_output=True).returncode == 0
    yield tmp_path, real
    if real:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_full_disk_is_one_clear_error_and_nothing_is_lost(
    small_disk: tuple[Path, bool],
) -> None:
    folder, real = small_disk
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(300_000))
    long = {"vector": np.ones(3000), "title": "x" * 5000}
    with Store(folder / "cards.db") as store:
        if not real:
            store._db.run("PRAGMA max_page_count = 100")
        kept = 0
        full = r"^cards\.db: no space is left on the disk: nothing was changed$"
        with pytest.raises(StoreError, match=full):
            for kept in range(1000):
                put(store, f"c{kept}", **long)
        ids = [f"c{n}" for n in range(kept)]
        before = state(store)
        assert kept > 5 and list(store.cards().index) == ids
        table = pd.DataFrame({"text": ["A."] * 50}, index=[f"n{n}" for n in range(50)])
        with pytest.raises(StoreError, match=full):
            store.add_many(table, np.ones((50, 3000)), "toy", NOW)
        assert state(store) == before
    with Store(folder / "cards.db") as store:
        assert state(store) == before
        ballast.unlink()
        put(store, "new", **long)
        assert list(store.cards().index) == [*ids, "new"]


def test_a_backup_on_a_full_disk_is_told_and_leaves_nothing(
    small_disk: tuple[Path, bool], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, real = small_disk
    with Store(tmp_path_factory.mktemp("large") / "cards.db") as store:
        put(store, *(f"c{n}" for n in range(50)), vector=np.ones(8000))
        if real:
            with pytest.raises(StoreError, match=r"^copy\.db: no space is left on the disk"):
                store.backup(folder / "copy.db")
            assert list(folder.iterdir()) == []
        store.backup(store._db.path.with_name("copy.db"))
        with Store(store._db.path.with_name("copy.db")) as copy:
            assert state(copy) == state(store)


def test_a_copy_of_an_open_store_is_never_an_empty_one(tmp_path: Path) -> None:
    path, copy = tmp_path / "cards.db", tmp_path / "copy.db"
    with Store(path) as store:
        put(store, *(f"c{n}" for n in range(20)))
        shutil.copy(path, copy)
        with pytest.raises(
            StoreError, match=r"^copy\.db: a copy of an open store, without its log"
        ):
            Store(copy)
        store.backup(tmp_path / "backup.db")
        with Store(tmp_path / "backup.db") as whole:
            assert state(whole) == state(store) and len(whole) == 20
    with Store(copy, without_log=True) as rest:
        assert len(rest) == 0


def each(store: Store) -> object:
    return store.vectors([f"c{n}" for n in range(20)])


def export(store: Store) -> None:
    store.export_csv(store._db.path.with_suffix(".csv"))


@pytest.mark.parametrize("ask", [Store.cards, Store.vectors, each, export])
@pytest.mark.parametrize("lost", [2000, 4000])
@pytest.mark.parametrize("way", ["cut", "zeros"])
def test_a_damaged_store_is_one_clear_error(
    tmp_path: Path, way: str, lost: int, ask: Callable[[Store], object]
) -> None:
    """Zeros, which SQLite also reads where a file ends too early, it may take for fields."""
    path = tmp_path / "cards.db"
    with Store(path) as store:
        put(store, *(f"c{n}" for n in range(20)), vector=np.ones(384))
    size = path.stat().st_size
    os.truncate(path, size - lost)
    if way == "zeros":
        os.truncate(path, size)
    said = r"^cards\.db: damaged: go back to a copy made by"
    with pytest.raises(StoreError, match=said), Store(path) as store:
        ask(store)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cards.db").write_text("id,text\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match=r"^cards\.db: not a database"):
        Store(tmp_path / "cards.db")


# --- two writers and a kill ----------------------------------------------------------------


def add_two_hundred(path: Path, name: str) -> None:
    with Store(path, timeout_seconds=60) as store:
        for n in range(200):
            put(store, f"{name}{n}")
            store.touch(["shared"], NOW)


def test_two_programs_add_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "cards.db"
    with Store(path) as store:
        put(store, "shared")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add_two_hundred, args=(path, name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    with Store(path) as store:
        wanted = {f"{name}{n}" for name in "ab" for n in range(200)} | {"shared"}
        assert set(store.cards().index) == wanted and len(store) == 401
        assert store.get("shared")["views"] == 400


def test_of_two_programs_one_waits_or_is_told(tmp_path: Path) -> None:
    with Store(tmp_path / "cards.db") as one, Store(tmp_path / "cards.db", 0.05) as two:
        put(one, "tea")
        with one._db.transaction():
            with pytest.raises(StoreError, match="locked by another program for longer than"):
                two.touch(["tea"], NOW)
            assert len(two) == 1  # reading goes on
        two.touch(["tea"], NOW)
        assert one.get("tea")["views"] == 1


def make_changes(store: Store, seed: int) -> Iterator[None]:
    """A thousand random changes, the same for the same number; pauses after each."""
    draw, live, gone = random.Random(seed), ["c0"], list[str]()
    put(store, "c0")
    yield
    for n in range(1, 1000):
        now = NOW + n * timedelta(seconds=1)
        kind, id = draw.choice("aaamtttcepsfrxv"), draw.choice(live)
        vector = [draw.uniform(0.1, 1), n]
        match kind:
            case "m":
                names = [f"c{n}.{k}" for k in range(20)]
                table = pd.DataFrame({"text": [f"Words {k}." for k in names]}, index=names)
                store.add_many(table, np.full((20, 2), vector), "toy", now)
                live += names
            case "t":
                store.touch(draw.sample(live, min(len(live), 10)), now)
            case "c":
                store.cite(id)
            case "e":
                store.edit(id, text=f"Edited {n}.", vector=vector, embedder_id="toy")
            case "p":
                store.pin(id, pinned=False)
            case "s":
                store.set_review(id, n + 1, now, n, 1, 0)
            case "f" if len(live) > 1:
                store.soft_forget(id, now)
                live.remove(id)
                gone.append(id)
            case "r" if gone:
                store.restore(gone[0])
                live.append(gone.pop(0))
            case "x" if gone:
                store.purge(gone[-3:], confirm=True)
                del gone[-3:]
            case "v":
                every = store.cards(forgotten=True).index
                store.set_vectors("toy", every, np.full((len(every), 2), vector))
            case _:
                put(store, f"c{n}", now=now, vector=vector)
                live.append(f"c{n}")
        yield


def change_and_tell(path: str, seed: int) -> None:
    with Store(path) as store:
        for n, _ in enumerate(make_changes(store, seed), 1):
            print(n, flush=True)


@pytest.mark.slow
def test_a_kill_in_the_middle_of_1000_changes_loses_nothing_50_times(tmp_path: Path) -> None:
    reached = []
    for seed in range(50):
        path = tmp_path / f"{seed}.db"
        code = (
            "import sys; from tests.memlib.store.test_sqlite import change_and_tell as run; "
            "run(sys.argv[1], int(sys.argv[2]))"
        )
        command = [sys.executable, "-c", code, str(path), str(seed)]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
        ) as worker:
            assert worker.stdout is not None
            draw = random.Random(seed)
            for _ in range(draw.randrange(1, 1000)):
                told = int(worker.stdout.readline())
            time.sleep(draw.uniform(0, 0.02))  # into the middle of a change
            worker.kill()
            told = max([told, *map(int, worker.stdout.read().split())])
        reached.append(told)
        with Store(tmp_path / f"{seed}.again.db") as again, Store(path) as store:
            assert store._db.value("PRAGMA integrity_check") == "ok"
            again._db.run("PRAGMA synchronous = OFF")
            changes = make_changes(again, seed)
            for _ in range(told):
                next(changes)
            if state(again) != state(store):  # one more was kept before it could be told
                next(changes, None)
                assert state(again) == state(store)
        path.unlink()
    assert len(set(reached)) > 40 and min(reached) < 200 < 800 < max(reached)


def test_the_random_changes_are_the_same_each_time(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as one, Store(tmp_path / "b.db") as two:
        for store in (one, two):
            changes = make_changes(store, 3)
            assert sum(1 for _ in zip(range(60), changes, strict=False)) == 60
        assert state(one) == state(two)
        assert len(one) > 20
