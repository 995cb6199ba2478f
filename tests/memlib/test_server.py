"""The only door to an Ollama server: whether one answers, and what every failure is called."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from ollama import ResponseError

from memlib.server import (
    DEFAULT_HOST,
    INSTALL,
    LOG,
    START,
    WAIT_SECONDS,
    BadAddress,
    address,
    canonical,
    client,
    refusal,
    silence,
)
from tests.ollama_server import REPLY, OllamaServer, nobody, serving, swallowing

ASKED = [{"role": "user", "content": "Maya: no meat for me."}]


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with serving() as running:
        yield running


def failure(host: str, timeout: float = 5, **options: Any) -> Exception:
    """What the real client raises in a chat."""
    with client(host, timeout) as asked, pytest.raises(Exception) as caught:
        list(asked.chat(**({"model": "llama3.2", "messages": ASKED} | options)))
    assert isinstance(caught.value, Exception)
    return caught.value


def test_the_host_is_the_given_one_else_that_of_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "192.0.2.7:1234")
    assert (address("192.0.2.8"), address()) == ("192.0.2.8", "192.0.2.7:1234")
    for blank in ("", " ", '""', "' '"):
        monkeypatch.setenv("OLLAMA_HOST", blank)
        assert address() == DEFAULT_HOST


@pytest.mark.parametrize("around", ["{} ", "\t{}\n", "'{}'", '"{}"', ' " {} " '])
def test_what_a_shell_leaves_around_an_address_is_taken_off(monkeypatch, around: str) -> None:
    given = around.format("192.0.2.7:1234")
    assert address(given) == "192.0.2.7:1234"
    monkeypatch.setenv("OLLAMA_HOST", given)
    assert address() == address(" ") == "192.0.2.7:1234"


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.1:99999", "Port out of range 0-65535"),
        ("127.0.0.1:eleven", "Port could not be cast"),
        ("127.0.0.1 :11434", "a space or a quotation mark is in it"),
        ('"127.0.0.1:11434', "a space or a quotation mark is in it"),
        ("ftp://127.0.0.1", "ftp:// instead of http://"),
        ("http://[::1", "Invalid IPv6 URL"),
        ("\ufeff127.0.0.1", "Invalid IDNA hostname"),
        ("127.0.0.1\0", "Invalid non-printable ASCII character"),
    ],
)
def test_what_is_no_address_is_refused_before_anything_is_sent(host: str, why: str) -> None:
    with pytest.raises(BadAddress) as caught:
        client(host, 5)
    assert str(caught.value).startswith(f"host is {host!r}, no address of a server ({why}")
    told = silence(host) or ("", "")
    assert told == (str(caught.value), f"give one such as {DEFAULT_HOST}, or leave it out")


@pytest.mark.parametrize(
    "host",
    ["localhost", ":11434", "[::1]", "[::1]:80", "https://a.example/ollama/", "me:pw@a.example:80"],
)
def test_every_shape_of_address_that_ollama_takes_is_taken(host: str) -> None:
    with client(host, 5) as asked:
        assert str(asked._client.base_url).startswith("http")


CHILD = """
import os
from memlib.server import address, silence
print(silence(address()))
print(repr(os.environ["OLLAMA_HOST"]))
"""


@pytest.mark.parametrize("value", ["{} ", "'{}'", "127.0.0.1:99999", "127.0.0.1:"])
def test_the_client_is_imported_whatever_stands_in_the_environment(
    server: OllamaServer, value: str
) -> None:
    """Its import makes a client of OLLAMA_HOST, and would raise."""
    value = value.format(server.host)
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=os.environ | {"OLLAMA_HOST": value, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    reason, kept = done.stdout.splitlines()
    assert kept == repr(value)
    if server.host in value:
        assert reason == "None"
    elif "9" in value:
        assert "OLLAMA_HOST is '127.0.0.1:99999', no address of a server" in reason


@pytest.mark.parametrize(
    ("id", "one"),
    [
        ("ollama:all-minilm:latest", "ollama:all-minilm"),
        ("ollama:all-minilm:latest+prefixes", "ollama:all-minilm+prefixes"),
        ("ollama:me/model:latest", "ollama:me/model"),
        *((same, same) for same in ("ollama:m:22m", "ollama:m:latest2", "toy:latest", "latest")),
        *((same, same) for same in ("ollama::latest", "my-ollama:m:latest", "")),
    ],
)
def test_an_embedder_has_one_id(id: str, one: str) -> None:
    assert canonical(id) == one == canonical(one)


def test_a_connection_may_take_less_time_than_an_answer(server) -> None:
    with client(server.host, 90) as asked:
        assert asked._client.timeout.connect == WAIT_SECONDS == 2
        assert asked._client.timeout.read == asked._client.timeout.write == 90
    with client(server.host, 0.5) as asked:
        assert asked._client.timeout.connect == 0.5


# --- is anybody there? ---------------------------------------------------------------------


def test_a_server_that_answers_breaks_the_silence(server: OllamaServer) -> None:
    assert silence(server.host) is None
    assert server.requests == []  # no model is woken


def test_nobody_answers_where_connections_are_refused_or_swallowed() -> None:
    with nobody() as host:
        assert silence(host) == ("no answer", START)
    with swallowing() as host:
        assert silence(host, 0.2) == ("no answer within 0.2 s", START)


def test_a_name_that_takes_long_to_look_up_does_not_hold_up(monkeypatch) -> None:
    """No time-out of the client reaches the look-up of a name."""
    import threading

    stuck = threading.Event()
    monkeypatch.setattr("memlib.server.client", lambda *_: stuck.wait(20))
    assert silence("slow.example", 0.1) == ("no answer within 0.1 s", START)
    stuck.set()


def test_another_program_at_the_address_is_no_ollama(server: OllamaServer, monkeypatch) -> None:
    monkeypatch.setattr("tests.ollama_server._listed", lambda name: "not a model")
    what, todo = silence(server.host) or ("", "")
    assert what.startswith("no Ollama is there: ") and "OLLAMA_HOST" in todo
    what, todo = silence(f"http://{server.host}/elsewhere") or ("", "")
    assert what == "no Ollama is there: 404 page not found (status code: 404)"


def test_without_the_client_there_is_something_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ollama", None)
    what, todo = silence("127.0.0.1") or ("", "")
    assert "ollama" in what and todo == INSTALL


def test_a_server_that_is_not_ready_is_no_missing_ollama(server: OllamaServer) -> None:
    server.fault = "down"
    assert silence(server.host) == ("the server is starting (status code: 503)", LOG)


# --- what the client raises ----------------------------------------------------------------


def test_a_refused_connection_has_two_names_and_one_message() -> None:
    with nobody() as host:
        plain, streamed = failure(host), failure(host, stream=True)
    assert type(plain) is ConnectionError and type(streamed) is httpx.ConnectError
    assert refusal(plain, "m", 5) == refusal(streamed, "m", 5) == ("no answer", START)


def test_a_swallowed_connection_is_a_time_out_of_its_own() -> None:
    with swallowing() as host:
        error = failure(host, timeout=0.2)
    assert type(error) is httpx.ConnectTimeout
    assert refusal(error, "m", 0.2) == ("no answer", START)


def test_an_unknown_model_is_a_404(server: OllamaServer) -> None:
    for stream in (False, True):
        error = failure(server.host, model="missing", stream=stream)
        assert isinstance(error, ResponseError) and error.status_code == 404
        told = ("no model 'missing'", "run `ollama pull missing`")
        assert refusal(error, "missing", 5) == told


def test_a_404_of_another_program_is_no_missing_model() -> None:
    error = ResponseError("404 page not found", 404)
    assert refusal(error, "m", 5) == ("404 page not found (status code: 404)", LOG)


def test_an_answer_of_llama_cpp_is_told_by_its_message() -> None:
    error = ResponseError('{"error": {"code": 500, "message": "out of memory"}}', 500)
    assert refusal(error, "m", 5) == ("out of memory (status code: 500)", LOG)


@pytest.mark.parametrize("stream", [False, True])
def test_a_slow_answer_is_a_read_time_out(server: OllamaServer, stream: bool) -> None:
    server.fault = "slow"
    error = failure(server.host, timeout=0.2, stream=stream)
    assert type(error) is httpx.ReadTimeout
    what, todo = refusal(error, "m", 0.2)
    assert what == "no answer within 0.2 s" and "`timeout`" in todo


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["silent", "dropped"])
def test_a_dropped_connection_is_told(server: OllamaServer, fault: str, stream: bool) -> None:
    server.fault = fault
    error = failure(server.host, stream=stream)
    assert type(error) is httpx.RemoteProtocolError
    assert refusal(error, "m", 5) == (str(error), "read the log of `ollama serve`")


@pytest.mark.parametrize("fault", ["html", "not an object", "no field", "status 500"])
def test_a_malformed_reply_is_told(server: OllamaServer, fault: str) -> None:
    server.fault = fault
    what, todo = refusal(failure(server.host), "m", 5)
    assert what and todo == "read the log of `ollama serve`"


# --- the stand-in itself -------------------------------------------------------------------


def test_the_stand_in_replies_whole_in_pieces_or_cut(server: OllamaServer) -> None:
    with client(server.host, 5) as asked:
        whole = asked.chat("llama3.2", ASKED)
        pieces = list(asked.chat("llama3.2", ASKED, stream=True))
        server.fault = "cut"
        cut = asked.chat("llama3.2", ASKED)
    assert (whole.message.content, whole.done_reason) == (REPLY, "stop")
    assert len(pieces) > 2 and pieces[-1].done
    assert "".join(piece.message.content or "" for piece in pieces) == REPLY
    assert cut.done_reason == "length" and REPLY.startswith(cut.message.content or "no")


def test_the_stand_in_lists_and_shows_its_models(server: OllamaServer) -> None:
    with client(server.host, 5) as asked:
        assert asked.list().models[0].model == "nomic-embed-text:latest"
        assert asked.show("nomic-embed-text").capabilities == ["embedding"]
        with pytest.raises(ResponseError):
            asked.show("missing")
    assert httpx.get(f"http://{server.host}/api/version").json() == {"version": "0.12.0"}


def test_a_fault_can_begin_later(server: OllamaServer) -> None:
    server.fault, server.after = "status 500", 1
    with client(server.host, 5) as asked:
        assert asked.chat("llama3.2", ASKED).message.content == REPLY
    assert isinstance(failure(server.host), ResponseError)
