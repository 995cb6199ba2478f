"""Data of others: taken by its hash or not at all, in one clear line, nothing half-written."""

import gc
import hashlib
import socket
import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from course.data.fetch import DataUnavailable, Source, cache_folder, fetch

CONTENT = b'{"turns": [1, 2, 3]}' * 50
OTHER = CONTENT.replace(b"3", b"4")
OWN, COPY = (hashlib.sha256(content).hexdigest() for content in (CONTENT, b"a reduced copy"))
NOWHERE = "http://127.0.0.1:9/never"
TOY = Source("Toy", "TOY_PATH", NOWHERE, {"toy.json": (OWN, COPY)})
TWO = replace(TOY, files={"toy.json": (OWN,), "copy.json": (COPY,)})


class Handler(BaseHTTPRequestHandler):
    """Answers each path in its own way: whole, other, cut short, or not found."""

    def do_GET(self) -> None:
        self.server.requests.append(self.path)  # type: ignore[attr-defined]
        way = self.path.split("/")[1]
        body = {"whole": CONTENT, "other": OTHER, "cut": CONTENT}.get(way, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if way == "cut" else body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    served = HTTPServer(("127.0.0.1", 0), Handler)
    served.requests = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    served.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no TOY_PATH."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MEMLIB_CACHE", str(folder))
    monkeypatch.delenv("TOY_PATH", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return folder


def at(server: HTTPServer, way: str) -> Source:
    return replace(TOY, address=f"http://127.0.0.1:{server.server_port}/{way}")


def refusal(source: Source = TOY, download: bool = True) -> str:
    with pytest.raises(DataUnavailable) as caught:
        fetch(source, download)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 300
    del caught
    with warnings.catch_warnings():  # requests leaves it to the collector to close a connection
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    return message


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# The named file or folder


@pytest.mark.parametrize("content", [CONTENT, b"a reduced copy"])
def test_a_named_file_with_a_right_hash_is_taken(
    content: bytes, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "mine.json"
    own.write_bytes(content)
    monkeypatch.setenv("TOY_PATH", str(own))
    assert fetch(TOY) == fetch(TOY, download=False) == [own]
    assert not cache.exists()


def test_a_named_folder_holds_the_files_by_their_names(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.json").write_bytes(CONTENT)
    monkeypatch.setenv("TOY_PATH", str(tmp_path))
    assert fetch(TOY) == [tmp_path / "toy.json"]
    assert refusal(TWO).startswith(f"TOY_PATH: {tmp_path / 'copy.json'} cannot be read: No such")
    (tmp_path / "copy.json").write_bytes(b"a reduced copy")
    assert [path.name for path in fetch(TWO)] == ["toy.json", "copy.json"]
    assert not cache.exists()


def test_a_named_file_with_another_hash_is_refused_though_the_cache_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache_folder() / "toy.json").write_bytes(CONTENT)
    own = tmp_path / "mine.json"
    own.write_bytes(OTHER)
    monkeypatch.setenv("TOY_PATH", str(own))
    digest = hashlib.sha256(OTHER).hexdigest()[:12]
    assert refusal().startswith(f"TOY_PATH: {own} has sha256 {digest}…, wanted {OWN[:12]}…: ")
    assert own.read_bytes() == OTHER


def test_a_named_file_that_is_not_there_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_PATH", str(tmp_path / "none.json"))
    assert refusal().startswith(f"TOY_PATH: {tmp_path / 'none.json'} cannot be read: ")
    assert not cache.exists()


# The cache


def test_the_cache_is_the_named_folder_and_made_when_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLIB_CACHE", str(tmp_path / "a" / "b"))
    assert cache_folder() == tmp_path / "a" / "b"
    assert cache_folder().is_dir()


def test_a_cache_that_cannot_be_made_is_told(cache: Path) -> None:
    cache.write_text("a file", encoding="utf-8")
    assert refusal().startswith(f"MEMLIB_CACHE: no folder {cache}: ")


def test_a_cached_file_is_taken_without_the_network() -> None:
    kept = cache_folder() / "toy.json"
    kept.write_bytes(CONTENT)
    assert fetch(TOY) == fetch(TOY, download=False) == [kept]


def test_a_cached_file_with_another_hash_is_refused_and_left_alone() -> None:
    kept = cache_folder() / "toy.json"
    kept.write_bytes(OTHER)
    assert refusal().startswith("the cache (delete it to download again): ")
    assert kept.read_bytes() == OTHER


def test_without_leave_nothing_is_downloaded(server: HTTPServer) -> None:
    message = "Toy is not here: set TOY_PATH or run `make locomo`"
    assert refusal(at(server, "whole"), download=False) == message
    assert server.requests == []  # type: ignore[attr-defined]


# The download


def test_a_download_with_the_right_hash_is_kept_and_not_fetched_again(
    cache: Path, server: HTTPServer
) -> None:
    source = at(server, "whole")
    assert fetch(source) == fetch(source) == [cache / "toy.json"]
    assert (cache / "toy.json").read_bytes() == CONTENT
    assert names(cache) == ["toy.json"]
    assert server.requests == ["/whole/toy.json"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("other", f"toy.json: wanted sha256 {OWN[:12]}…: the download is cut or was changed;"),
        ("cut", "toy.json: no download ("),
        ("none", "toy.json: no download (HTTPError"),
    ],
)
def test_a_bad_download_is_told_and_not_kept(
    way: str, reason: str, cache: Path, server: HTTPServer
) -> None:
    assert refusal(at(server, way)).startswith(reason)
    assert names(cache) == []


def test_no_network_is_told_with_what_to_do(cache: Path) -> None:
    with socket.socket() as bound:  # bound but not listening: nobody answers, nobody else can
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}/x"
        message = refusal(replace(TOY, address=address))
    assert message == (
        "toy.json: no download (ConnectionError): fetch it yourself and set TOY_PATH to it"
    )
    assert names(cache) == []


def test_a_full_disk_is_told_and_nothing_is_kept(
    cache: Path, server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pooch.core.shutil.move", full)
    assert refusal(at(server, "whole")).startswith("toy.json: no download (No space left on device")
    assert names(cache) == []
