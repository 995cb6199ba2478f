"""A store changes its embedder: stopped anywhere and gone on with, never a mixture in a search."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, load_exam, maya_cards
from course.data.recorded import Recorded
from memlib.embedders.minilm import Bundled
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import EmbedderUnavailable, Role, TooLong, Vectors
from memlib.librarian import Librarian
from memlib.store.database import Database
from memlib.store.records import SCHEMA, STORED
from memlib.store.reembed import BATCH, reembed
from memlib.store.sqlite import Store, StoreError
from tests.ollama_server import PROSE, URL, OllamaServer, serving

ROOT = Path(__file__).parents[3]
CARDS, NOW = maya_cards(), COURSE_NOW
TEXTS = list(CARDS["text"])
FORGOTTEN = ["birthday", "hiking"]
OLLAMA = "ollama:nomic-embed-text"


class Toy:
    """Two numbers a text, from its length."""

    id = "toy"
    dim = 2

    def __init__(self, before: Callable[[int], object] = lambda call: None) -> None:
        self.asked: list[str] = []
        self.before, self.calls = before, 0

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        self.calls += 1
        self.before(self.calls)
        self.asked += texts
        return np.array([[1, len(text)] for text in texts], np.float32)


def stop_at(call: int, error: type[BaseException]) -> Callable[[int], None]:
    def before(now: int) -> None:
        if now == call:
            raise error

    return before


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with serving() as running:
        yield running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The course's cards with the recorded vectors; two of them are forgotten."""
    recorded = Recorded()
    with Store(tmp_path / "cards.db") as store:
        store.add_many(CARDS, recorded.embed(TEXTS), recorded.id, NOW)
        for id in FORGOTTEN:
            store.soft_forget(id, NOW)
    return tmp_path / "cards.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


def in_use(store: Store) -> tuple[str | None, bytes, int]:
    return store.embedder_id, store.vectors(forgotten=True).tobytes(), store.revision


def check_searches_with(store: Store, embedder: Bundled | Ollama | Recorded) -> None:
    """The embedder finds what it finds alone: no vector of another is among those compared."""
    question = load_exam()["question"].iloc[0]
    found = Librarian(store, embedder).explain(question, NOW)
    query = embedder.embed([question], "query")[0]
    expected = embedder.embed(list(found["text"])) @ query
    np.testing.assert_allclose(found["dense"], expected, rtol=0, atol=1e-6)


# --- the change ----------------------------------------------------------------------------


def test_every_card_gets_its_new_vector_the_forgotten_ones_too(store, server) -> None:
    before = store.cards(forgotten=True)
    assert reembed(store, Ollama()) == len(TEXTS) == len(server.texts) == 208
    assert store.embedder_id == OLLAMA
    vectors = store.vectors(forgotten=True)
    np.testing.assert_allclose(vectors, Bundled().embed(TEXTS), rtol=0, atol=1e-6)
    pd.testing.assert_frame_equal(store.cards(forgotten=True), before)
    assert server.texts == TEXTS


def test_a_second_time_nothing_is_asked(store, server) -> None:
    toy = Toy()
    assert (reembed(store, toy), reembed(store, toy)) == (208, 0)
    assert len(toy.asked) == 208 and server.texts == []


def test_an_empty_store_has_nothing_to_embed(tmp_path: Path) -> None:
    with Store(tmp_path / "none.db") as empty:
        assert reembed(empty, Toy()) == 0
        assert empty.embedder_id is None


def test_the_librarian_finds_the_same_with_the_stand_in_as_with_the_bundled_model(
    store, server
) -> None:
    questions, later = list(load_exam()["question"]), NOW + timedelta(hours=1)
    bundled = [Librarian(store, Bundled()).explain(q, NOW) for q in questions]
    with pytest.raises(ValueError, match=r"the embedder is ollama:.*reembed\(store, embedder\)"):
        Librarian(store, Ollama())
    reembed(store, Ollama())
    with pytest.raises(ValueError, match=r"vectors come from ollama:.*never compared"):
        Librarian(store, Bundled())
    librarian = Librarian(store, Ollama())
    for question, expected in zip(questions, bundled, strict=True):
        found = librarian.explain(question, NOW)
        pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-6)
    assert len(librarian.search(questions[0], later)) > 0


def test_a_librarian_at_work_is_told_that_the_model_changed(store) -> None:
    librarian = Librarian(store, Recorded())
    librarian.explain("Where does Maya live?", NOW)
    reembed(store, Toy())
    with pytest.raises(ValueError, match="come from toy, the embedder is all-MiniLM"):
        librarian.explain("Where does Maya live?", NOW)


# --- stopped half-way ----------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, EmbedderUnavailable, MemoryError])
def test_a_stop_changes_nothing_in_use_and_costs_no_text(store, error) -> None:
    before = in_use(store)
    toy = Toy(stop_at(8, error))
    with pytest.raises(error):
        reembed(store, toy)
    assert len(toy.asked) == 7 * BATCH and in_use(store) == before
    check_searches_with(store, Recorded())
    assert reembed(store, toy) == 208 - 7 * BATCH
    assert toy.asked == TEXTS and store.embedder_id == "toy"


def test_a_server_that_fails_half_way_is_asked_for_the_rest_only(store, server) -> None:
    server.fault, server.after = "status 500", 5
    before = in_use(store)
    with pytest.raises(EmbedderUnavailable, match="llama runner"):
        reembed(store, Ollama())
    half, server.fault = len(set(server.texts)), ""
    assert in_use(store) == before and half == 5 * BATCH
    assert reembed(store, Ollama()) == 208 - half
    assert server.texts == TEXTS
    check_searches_with(store, Ollama())


CHILD = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from memlib.embedders.ollama import Ollama
from memlib.store.reembed import reembed
from memlib.store.sqlite import Store
with Store(sys.argv[1]) as store:
    reembed(store, Ollama(), progress=True)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_stopped_from_outside_at_half_and_gone_on_with_no_text_is_embedded_twice(
    path: Path, server: OllamaServer, sign: signal.Signals
) -> None:
    """But for the request that was under way, if there was one: at most one batch."""
    server.per_text = 0.02
    command = [sys.executable, "-c", CHILD, str(path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    while len(server.texts) < 104 and process.poll() is None:
        time.sleep(0.005)
    while process.poll() is None and len(server.texts) < 180:  # Python may swallow one SIGINT
        process.send_signal(sign)
        time.sleep(0.3)
    drawn = (process.communicate(timeout=60)[1] or b"").decode()
    assert process.returncode != 0 and 104 <= len(server.texts) < 208
    with Store(path) as store:
        assert store.embedder_id == Recorded().id
        check_searches_with(store, Recorded())
        made = reembed(store, Ollama())
        assert (store.embedder_id, server.texts[-1]) == (OLLAMA, TEXTS[-1])
        assert 0 < made <= 208 - 104 + BATCH
        np.testing.assert_allclose(store.vectors(forgotten=True), Bundled().embed(TEXTS), atol=1e-6)
    twice = [text for text in set(server.texts) if server.texts.count(text) > 1]
    assert set(server.texts) >= set(TEXTS) and len(twice) <= BATCH
    assert re.search(r"embedding: +\d+%.* \d+/208 ", drawn)


def test_the_bar_starts_where_the_first_run_stopped(store, capsys) -> None:
    with pytest.raises(KeyboardInterrupt):
        reembed(store, Toy(stop_at(3, KeyboardInterrupt)), progress=True)
    assert "208/208" not in capsys.readouterr().err
    reembed(store, Toy(), progress=True)
    drawn = capsys.readouterr().err
    assert f"{2 * BATCH}/208" in drawn and "208/208" in drawn and "| 0/208" not in drawn


# --- a card that is too long -----------------------------------------------------------------


def lengthen(store: Store, **texts: str) -> None:
    for id, text in texts.items():
        store.edit(id, text=text, vector=store.vectors([id])[0], embedder_id=Recorded().id)


def test_an_over_long_card_holds_up_no_other_and_is_named(store, server) -> None:
    first, late = CARDS.index[[2, 180]]
    lengthen(store, **{first: URL, late: URL[:-1], "vinyl": PROSE})
    before = in_use(store)
    for embedded in (206, 0):  # on every call
        server.texts.clear()
        with pytest.raises(TooLong) as caught:
            reembed(store, Ollama())
        assert len(server.texts) == embedded
        told = str(caught.value)
        assert told.startswith("2 of 208 cards are left, the others wait for them (Ollama at ")
        assert "exceeds the context length" in told and "Yesterday" not in told
        assert f"): shorten card {first!r} (800 characters, 'https://example.org/a7" in told
        assert f"card {late!r} (799 characters, " in told
        assert in_use(store) == before and set(store.unstaged(OLLAMA)) == {first, late}
    lengthen(store, **{first: "Short now."})
    server.texts.clear()
    with pytest.raises(TooLong, match=r"^1 of 208 cards are left"):
        reembed(store, Ollama())
    assert server.texts == ["Short now."]
    store.purge([late], confirm=True)
    assert reembed(store, Ollama()) == 0 and store.embedder_id == OLLAMA
    texts = list(store.cards(forgotten=True)["text"])
    np.testing.assert_allclose(
        store.vectors(forgotten=True), Bundled().embed(texts), rtol=0, atol=1e-6
    )


def test_an_over_long_card_that_is_deleted_meanwhile_is_not_waited_for(store, server, path) -> None:
    lengthen(store, vinyl=URL)

    class Busy(Ollama):
        def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
            if CARDS.at[CARDS.index[-1], "text"] in texts:
                with Store(path) as other:
                    other.purge(["vinyl"], confirm=True)
            return super().embed(texts, role)

    assert reembed(store, Busy()) == 207 and store.embedder_id == OLLAMA


# --- one model under two names ---------------------------------------------------------------


def old_spelling(path: Path, version: int, **waits: bytes) -> None:
    """The file as an earlier memlib wrote it for the model all-minilm:latest."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE cards SET embedder_id = 'ollama:all-minilm:latest'")
        rows = [(id, "ollama:nomic-embed-text:latest+prefixes", blob) for id, blob in waits.items()]
        file.executemany("INSERT INTO staged VALUES (?, ?, ?)", rows)
        file.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("version", [2, len(SCHEMA)])
def test_a_store_of_the_latest_model_is_one_of_the_model(path, server, version) -> None:
    old_spelling(path, version)
    with Store(path) as store:
        assert store.embedder_id == "ollama:all-minilm"
        Librarian(store, Ollama("all-minilm")).explain("Where is the key?", NOW)
        Librarian(store, Ollama("all-minilm:latest")).explain("Where is the key?", NOW)
        store.add(
            "new", "A new card.", vector=[0.05] * 384, embedder_id="ollama:all-minilm", now=NOW
        )
        named = "ollama:all-minilm:latest"
        store.add("more", "One more.", vector=[0.05] * 384, embedder_id=named, now=NOW)
        assert store.embedder_id == "ollama:all-minilm"


def test_nothing_is_embedded_anew_for_another_spelling(path, server) -> None:
    blob = np.full(384, 0.05, "<f4").tobytes()
    old_spelling(path, 2, vinyl=blob, pasta=blob)
    with Store(path) as store:
        assert (
            reembed(store, Ollama("all-minilm")) == reembed(store, Ollama("all-minilm:latest")) == 0
        )
        assert server.texts == []
        assert reembed(store, Ollama(prefixes=True)) == 206  # what waited is used
        assert store.embedder_id == f"{OLLAMA}+prefixes"
        assert store.vectors(["vinyl"]).tobytes() == blob


def test_an_export_of_the_latest_model_is_one_of_the_model(path, tmp_path, server) -> None:
    old_spelling(path, len(SCHEMA))  # exported as it is written
    with Store(path) as store, Store(tmp_path / "new.db") as new:
        store.export_csv(tmp_path / "cards.csv")
        assert "ollama:all-minilm:latest" in (tmp_path / "cards.csv").read_text(encoding="utf-8")
        new.import_csv(tmp_path / "cards.csv", NOW)
        assert (len(new), new.embedder_id) == (206, "ollama:all-minilm")
        assert reembed(new, Ollama("all-minilm")) == len(server.texts) == 0


def test_every_step_of_a_change_knows_both_spellings(store) -> None:
    latest, texts = "ollama:m:latest", store.unstaged("ollama:m")
    some = dict(list(texts.items())[:5])
    store.stage(latest, some, np.ones((5, 3)))
    assert len(store.unstaged("ollama:m")) == len(store.unstaged(latest)) == 203
    store.drop_staged(latest)
    assert len(store.unstaged("ollama:m")) == 208
    store.stage("ollama:m", texts, np.ones((208, 3)))
    assert store.use_staged(latest) and store.embedder_id == "ollama:m"
    assert store.unstaged(latest) == {}


def test_a_librarian_takes_an_embedder_of_either_spelling(store) -> None:
    other = Recorded()
    other.id = "ollama:other:latest"
    assert reembed(store, other) == 208 and store.embedder_id == "ollama:other"
    check_searches_with(store, other)


# --- while others write --------------------------------------------------------------------


def test_a_card_that_is_edited_added_or_deleted_meanwhile_is_seen(store, path) -> None:
    def others(call: int) -> None:
        if call != 5:
            return
        with Store(path) as other:
            old = other.vectors(["vinyl"])[0]
            for id in ("vinyl", CARDS.index[5 * BATCH - 1]):  # one staged, one being embedded
                other.edit(id, text=f"New words of {id}.", vector=old, embedder_id=Recorded().id)
            other.add("new", "A new card.", vector=old, embedder_id=Recorded().id, now=NOW)
            other.purge(["pasta"], confirm=True)

    toy = Toy(others)
    assert reembed(store, toy) == 208 + 3
    texts = store.cards(forgotten=True)["text"]
    assert len(texts) == 208 and "New words of vinyl." in set(texts)
    np.testing.assert_array_equal(store.vectors(forgotten=True), Toy().embed(list(texts)))


def test_what_waits_of_a_deleted_card_is_wiped(store, path) -> None:
    toy = Toy()
    store.stage("toy", {"pasta": CARDS.at["pasta", "text"]}, [[1.25, 77777]])
    assert "pasta" not in store.unstaged("toy")
    store.purge(["pasta"], confirm=True)
    store.close()
    blob = np.array([1.25, 77777], "<f4").tobytes()
    assert blob not in path.read_bytes()
    with Store(path) as again:
        assert reembed(again, toy) == 207


def test_two_changes_at_once_do_not_mix(store) -> None:
    with pytest.raises(KeyboardInterrupt):
        reembed(store, Toy(stop_at(3, KeyboardInterrupt)))
    other = Toy()
    other.id = "other"
    assert reembed(store, other) == 208
    assert store.embedder_id == "other"
    assert store.use_staged("toy") is False  # what the first left goes on waiting
    assert reembed(store, Toy()) == 208 - 2 * BATCH


@pytest.mark.parametrize("id", [" toy", "toy\n", "", " ", None, 3])
def test_an_id_that_would_never_be_found_again_is_refused_before_anything(store, id) -> None:
    toy = Toy()
    toy.id = id
    with pytest.raises(ValueError, match=r"^embedder.id is .*: must be a text, without white"):
        reembed(store, toy)
    assert toy.asked == []


def test_a_model_that_changed_its_dimension_is_told_the_way_out(store) -> None:
    before = in_use(store)
    store.stage("toy", dict(list(store.unstaged("toy").items())[:2]), [[1, 2, 3], [4, 5, 6]])
    told = r"^cards.db, embedder 'toy': vectors have 2 .* wait 3: store.drop_staged\('toy'\) wipes"
    with pytest.raises(ValueError, match=told):
        reembed(store, Toy())
    store.stage("other", {"vinyl": CARDS.at["vinyl", "text"]}, [[1]])
    store.drop_staged("toy")
    assert in_use(store) == before and "vinyl" not in store.unstaged("other")
    assert reembed(store, Toy()) == 208


# --- the store's three steps ---------------------------------------------------------------


def test_vectors_that_wait_are_of_one_dimension_and_none_comes_in_use_early(store) -> None:
    before = in_use(store)
    texts = dict(list(store.unstaged("toy").items())[:2])
    store.stage("toy", texts, [[1, 2], [3, 4]])
    for bad, said in (
        ([[1, 2, 3]] * 2, "vectors have 3 dimensions, those that wait 2"),
        ([[1, 2]], r"vectors have shape \(1, 2\): 2 cards need"),
        ([[1, 2], [0, 0]], r"vectors\[1\] is a zero vector"),
    ):
        with pytest.raises(ValueError, match=said):
            store.stage("toy", texts, bad)
    assert store.use_staged("toy") is False
    assert in_use(store) == before and len(store.unstaged("toy")) == 206
    store.stage("toy", {"vinyl": "other words", "nobody": "no card"}, [[1, 2], [3, 4]])
    assert len(store.unstaged("toy")) == 206  # neither is kept: their texts are not the cards'


def test_a_file_of_the_first_version_is_raised_with_its_cards(tmp_path: Path, path: Path) -> None:
    names = ", ".join(STORED)
    with Store(path) as new:
        rows = [tuple(row) for row in new._all(STORED, forgotten=True)]
    old = Database(tmp_path / "old.db", SCHEMA[:1], 5)
    with old.transaction():
        for row in rows:
            marks = ", ".join("?" * len(STORED))
            old.run(f"INSERT INTO cards ({names}) VALUES ({marks})", row)
    old.close()
    with Store(tmp_path / "old.db") as raised:
        assert [tuple(row) for row in raised._all(STORED, forgotten=True)] == rows
        assert reembed(raised, Toy()) == 208


def test_a_disk_that_is_full_at_the_switch_leaves_the_old_vectors(store, monkeypatch) -> None:
    before, run = in_use(store), Database.run

    def full(self: Database, statement: str, values: object = ()) -> None:
        if statement.startswith("DELETE FROM staged"):
            raise self.error("no space is left on the disk: nothing was changed")
        run(self, statement, values)

    toy = Toy()
    with monkeypatch.context() as patched:
        patched.setattr(Database, "run", full)
        with pytest.raises(StoreError, match="no space"):
            reembed(store, toy)
    assert in_use(store) == before
    assert reembed(store, toy) == 0 and len(toy.asked) == 208
    assert store.embedder_id == "toy"
