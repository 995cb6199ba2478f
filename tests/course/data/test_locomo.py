"""LoCoMo: taken by its hash or not at all, in one clear line, and nothing half-written."""

import hashlib
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import HTTPError

import numpy as np
import pytest

from course.data import locomo
from course.data.dialogue import Conversation, Question, Turn
from course.data.locomo import (
    DEVELOPMENT,
    LocomoUnavailable,
    cache_folder,
    cached_vectors,
    load_locomo,
    locomo_path,
)
from memlib.embedders.protocol import EmbedderUnavailable, Role, Vectors


def talk(name: str) -> dict[str, object]:
    turn = {"dia_id": "D1:1", "speaker": "Ida", "text": f"This is {name}."}
    people = {"speaker_a": "Ida", "speaker_b": "Max"}
    return {"sample_id": name, "conversation": people | {"session_1": [turn]}, "qa": []}


NAMES = ("conv-26", "conv-30", "conv-41", "conv-42", "conv-50")
CONTENT = json.dumps([talk(name) for name in NAMES]).encode()
OTHER = CONTENT.replace(b"conv-50", b"conv-51")


class Handler(BaseHTTPRequestHandler):
    """Answers each path in its own way: whole, other, cut short, or not found."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        body = {"/whole": CONTENT, "/other": OTHER, "/cut": CONTENT}.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == "/cut" else body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    served = HTTPServer(("127.0.0.1", 0), Handler)
    served.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    served.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no LOCOMO_PATH, the hash of CONTENT, and no way to the real address."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MEMLIB_CACHE", str(folder))
    monkeypatch.delenv("LOCOMO_PATH", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(locomo, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(locomo, "ADDRESS", "http://127.0.0.1:9/never")
    return folder


def serve(server: HTTPServer, path: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(locomo, "ADDRESS", f"http://127.0.0.1:{server.server_port}{path}")
    asked: list[str] = server.asked  # type: ignore[attr-defined]
    return asked


def refusal(download: bool = True) -> str:
    with pytest.raises(LocomoUnavailable) as caught:
        locomo_path(download)
    if isinstance(answer := caught.value.__context__, HTTPError):
        answer.close()  # it holds the connection
    message = str(caught.value)
    assert "\n" not in message and len(message) < 300
    return message


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_measured_is_the_published_file() -> None:
    assert locomo.SHA256 == "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
    assert locomo.ADDRESS.startswith("https://") and locomo.ADDRESS.endswith("/locomo10.json")
    assert NAMES[:3] == DEVELOPMENT


# LOCOMO_PATH


def test_a_named_file_with_the_right_hash_is_taken(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "mine.json"
    own.write_bytes(CONTENT)
    monkeypatch.setenv("LOCOMO_PATH", str(own))
    assert locomo_path() == locomo_path(download=False) == own
    assert not cache.exists()


def test_a_named_file_with_another_hash_is_refused_though_the_cache_has_it(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache_folder() / "locomo10.json").write_bytes(CONTENT)
    own = tmp_path / "mine.json"
    own.write_bytes(OTHER)
    monkeypatch.setenv("LOCOMO_PATH", str(own))
    digest = hashlib.sha256(OTHER).hexdigest()[:12]
    assert refusal().startswith(f"LOCOMO_PATH: {own} has sha256 {digest}…, wanted ")
    assert own.read_bytes() == OTHER


@pytest.mark.parametrize("name", ["none.json", "."])
def test_a_named_file_that_cannot_be_read_is_refused(
    name: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCOMO_PATH", str(tmp_path / name))
    assert refusal().startswith(f"LOCOMO_PATH: {tmp_path / name} cannot be read: ")
    assert not cache.exists()


# The cache


def test_the_cache_is_the_named_folder_and_made_when_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLIB_CACHE", str(tmp_path / "a" / "b"))
    assert cache_folder() == tmp_path / "a" / "b"
    assert cache_folder().is_dir()


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_name_the_cache_is_in_the_home_folder(
    value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("MEMLIB_CACHE", raising=False)
    if value is not None:
        monkeypatch.setenv("MEMLIB_CACHE", value)
    assert cache_folder() == tmp_path / ".cache" / "memlib"
    assert cache_folder().is_dir()


def test_a_cache_that_cannot_be_made_is_told(cache: Path) -> None:
    cache.write_text("a file", encoding="utf-8")
    assert refusal().startswith(f"MEMLIB_CACHE: no folder {cache}: ")


def test_a_cached_file_is_taken_without_the_network(cache: Path) -> None:
    stored = cache_folder() / "locomo10.json"
    stored.write_bytes(CONTENT)
    assert locomo_path() == locomo_path(download=False) == stored


def test_a_cached_file_with_another_hash_is_refused_and_left_alone(cache: Path) -> None:
    stored = cache_folder() / "locomo10.json"
    stored.write_bytes(OTHER)
    message = refusal()
    assert message.startswith("the cache (delete it to download again): ")
    assert stored.read_bytes() == OTHER


def test_without_leave_nothing_is_downloaded(
    cache: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = serve(server, "/whole", monkeypatch)
    message = "LoCoMo is not here: set LOCOMO_PATH or run `make locomo`"
    assert refusal(download=False) == message
    assert asked == []


# The download


def test_a_download_with_the_right_hash_is_kept_and_not_fetched_again(
    cache: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = serve(server, "/whole", monkeypatch)
    assert locomo_path() == locomo_path() == cache / "locomo10.json"
    assert (cache / "locomo10.json").read_bytes() == CONTENT
    assert names(cache) == ["locomo10.json"]
    assert asked == ["/whole"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/other", f"the download has sha256 {hashlib.sha256(OTHER).hexdigest()[:12]}…, wanted "),
        ("/cut", "no download (IncompleteRead("),
        ("/none", "no download (HTTP Error 404: Not Found): "),
    ],
)
def test_a_bad_download_is_told_and_not_kept(
    path: str, reason: str, cache: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = serve(server, path, monkeypatch)
    assert refusal().startswith(reason)
    assert names(cache) == []
    assert asked == [path]


def test_no_network_is_told_with_what_to_do(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:  # bound but not listening: nobody answers, nobody else can
        bound.bind(("127.0.0.1", 0))
        monkeypatch.setattr(locomo, "ADDRESS", f"http://127.0.0.1:{bound.getsockname()[1]}/x")
        message = refusal()
    assert message.startswith("no download (")
    assert message.endswith("fetch locomo10.json yourself and set LOCOMO_PATH to it")
    assert names(cache) == []


def test_a_full_disk_leaves_nothing_half_written(
    cache: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    serve(server, "/whole", monkeypatch)
    monkeypatch.setattr(Path, "write_bytes", full)
    assert refusal() == f"{cache / 'locomo10.json'} cannot be written: No space left on device"
    assert names(cache) == []


# What is loaded


def test_the_first_three_are_for_development_the_others_held_out(cache: Path) -> None:
    (cache_folder() / "locomo10.json").write_bytes(CONTENT)
    development, held_out = load_locomo(download=False)
    assert tuple(c.id for c in development) == NAMES[:3]
    assert tuple(c.id for c in held_out) == NAMES[3:]


def test_what_cannot_be_had_cannot_be_loaded(cache: Path) -> None:
    with pytest.raises(LocomoUnavailable, match=r"^LoCoMo is not here"):
        load_locomo(download=False)


# Vectors


class Counting:
    """An embedder that never gives the same vector twice, so a kept vector cannot be a new one."""

    dim = 2

    def __init__(self, name: str = "counting") -> None:
        self.id = name
        self.asked: list[tuple[Role, list[str]]] = []
        self.made = 0

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        self.asked.append((role, list(texts)))
        angle = np.arange(self.made, self.made + len(texts)) / 10
        self.made += len(texts)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


class Broken(Counting):
    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        raise EmbedderUnavailable("no model: install one")


TALK = Conversation(
    "talk",
    ("Ida", "Max"),
    (Turn("D1:1", "Ida", "Hi.", ""), Turn("D1:2", "Max", "Look!", "a red kite")),
    (Question("Who flies?", "Max", 1, (1,), ()),),
)


def test_turns_are_documents_in_their_variant_and_questions_are_queries() -> None:
    model = Counting()
    turns, questions = cached_vectors(TALK, "sc", model, None)
    texts = ["Ida: Hi.", "Max: Look! [shares a photo: a red kite]"]
    assert model.asked == [("document", texts), ("query", ["Who flies?"])]
    assert turns.shape == (2, 2) and questions.shape == (1, 2)


def test_turns_may_be_embedded_with_their_neighbours_of_the_same_part(tmp_path: Path) -> None:
    later = Turn("D2:1", "Ida", "Bye.", "")
    talk = TALK._replace(turns=(*TALK.turns, later))
    model = Counting()
    turns, questions = cached_vectors(talk, "s", model, tmp_path, neighbours=1)
    both = "Ida: Hi.\nMax: Look!"
    assert model.asked == [("document", [both, both, "Ida: Bye."]), ("query", ["Who flies?"])]
    assert turns.shape == (3, 2) and questions.shape == (1, 2)
    kept = cached_vectors(talk, "s", Broken(), tmp_path, neighbours=1)
    assert [part.tobytes() for part in kept] == [turns.tobytes(), questions.tobytes()]


def test_vectors_with_neighbours_are_kept_apart_from_those_without(tmp_path: Path) -> None:
    alone = cached_vectors(TALK, "t", Counting(), tmp_path, neighbours=0)
    model = Counting()
    cached_vectors(TALK, "t", model, tmp_path, neighbours=1)
    assert model.asked[0] == ("document", ["Hi.\nLook!"] * 2)
    assert len(names(tmp_path)) == 2
    again = cached_vectors(TALK, "t", Broken(), tmp_path)
    assert again[0].tobytes() == alone[0].tobytes()


def test_a_negative_number_of_neighbours_is_refused_before_anything_is_embedded() -> None:
    model = Counting()
    with pytest.raises(ValueError, match=r"^before is -1: must be a whole number, 0 or more$"):
        cached_vectors(TALK, "t", model, None, neighbours=-1)
    assert model.asked == []


def test_vectors_are_kept_by_texts_and_embedder(tmp_path: Path) -> None:
    first = cached_vectors(TALK, "t", Counting(), tmp_path)
    again = cached_vectors(TALK._replace(id="other"), "t", Broken(), tmp_path)
    assert [part.tobytes() for part in again] == [part.tobytes() for part in first]
    assert again[0].dtype == np.float32
    for other in (TALK, TALK._replace(questions=()), TALK._replace(turns=TALK.turns[:1])):
        model = Counting("another" if other is TALK else "counting")
        cached_vectors(other, "t", model, tmp_path)
        assert len(model.asked) == 2
    for variant in ("s", "c", "sc"):
        model = Counting()
        cached_vectors(TALK, variant, model, tmp_path)
        assert len(model.asked) == 2
    assert len(names(tmp_path)) == 7
    assert all(name.startswith("vectors-") and ".part" not in name for name in names(tmp_path))


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = Counting()
    for _ in range(2):
        cached_vectors(TALK, "t", model, None)
    assert len(model.asked) == 4
    assert names(tmp_path) == []


def test_an_embedder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"^no model"):
        cached_vectors(TALK, "t", Broken(), tmp_path)
    assert names(tmp_path) == []
