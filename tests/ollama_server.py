"""A stand-in for an Ollama server: it speaks the API, the bundled model gives its embeddings.

No Ollama model runs here. What the tests learn from it holds for the client and for the course's
own code; how good a model is, only a live server tells. `fault` makes it fail on demand.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch

from memlib.embedders.minilm import Bundled

EMBEDDERS, CHATS = ("nomic-embed-text", "all-minilm"), ("llama3.2",)
PROSE = "Yesterday Maya remembered every important question about breakfast. " * 18  # 1224 letters
URL = "https://example.org/" + "a7Q9x2_Zk0" * 78  # 800, in more word pieces than the model reads
REPLY = '{"fact": "Maya is vegetarian.", "category": "food", "importance": 6, "entities": []}'
TOO_LONG: tuple[tuple[int, object], ...] = (  # as Ollama and llama.cpp put it, by version
    (400, "the input length exceeds the context length"),
    (500, "input length exceeds maximum context length"),
    (413, "the input length exceeds the context length"),
    (500, {"code": 500, "message": "input is larger than the max context size. skipping"}),
    (500, {"code": 500, "message": "input is too large to process. increase the batch size"}),
)
VERSION, MADE = "0.12.0", "2025-06-11T18:00:00Z"
FAULTS = (
    *("slow", "silent", "dropped", "html", "not an object", "no field", "status 500"),
    *("wrong dimension", "fewer", "none", "ragged", "zero", "nan", "huge"),  # of /api/embed
    "cut",  # of /api/chat: the reply ends at half, as when num_predict is reached
    "down",  # of every GET: somebody answers, but not yet
)


class OllamaServer(ThreadingHTTPServer):
    """Answers on a free port of this machine, in threads.

    fault     "" or one of FAULTS; from the request number `after` on (counted from 0)
    seconds   how long every answer of a "slow" server takes
    per_text  seconds that embedding one text takes; a model embeds one text at a time
    refusal   status code and error of a request with a text that is longer than the model reads
    replies   what /api/chat says, one after the other; the last one stays
    requests  (path, body) of every POST;  texts  what /api/embed was asked for, in order
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.fault, self.after, self.seconds, self.per_text = "", 0, 0.6, 0.0
        self.refusal: tuple[int, object] = TOO_LONG[0]
        self.replies = [REPLY]
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []
        self.model, self.one_at_a_time = Bundled(), threading.Lock()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def failing(self) -> str:
        """The fault of the latest request."""
        assert self.fault in ("", *FAULTS), self.fault
        return self.fault if len(self.requests) > self.after else ""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that left in the middle


@contextmanager
def serving() -> Iterator[OllamaServer]:
    """A running stand-in; OLLAMA_HOST names it."""
    server = OllamaServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with patch.dict(os.environ, {"OLLAMA_HOST": server.host, "NO_PROXY": "127.0.0.1"}):
            yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def nobody() -> Iterator[str]:
    """An address where every connection is refused; OLLAMA_HOST names it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        host = f"127.0.0.1:{taken.getsockname()[1]}"
    with patch.dict(os.environ, {"OLLAMA_HOST": host, "NO_PROXY": "127.0.0.1"}):
        yield host


@contextmanager
def swallowing() -> Iterator[str]:
    """An address where nothing ever comes back, as behind a firewall; OLLAMA_HOST names it."""
    with socket.socket() as full, socket.socket() as one, socket.socket() as two:
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # once its queue is full, the system drops every further packet
        for waiting in (one, two):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        host = f"127.0.0.1:{full.getsockname()[1]}"
        with patch.dict(os.environ, {"OLLAMA_HOST": host, "NO_PROXY": "127.0.0.1"}):
            yield host


class _Answers(BaseHTTPRequestHandler):
    server: OllamaServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        tags = [_listed(name) for name in EMBEDDERS + CHATS]
        known = {"/api/tags": {"models": tags}, "/api/version": {"version": VERSION}}
        if self.server.fault == "down":
            self._send(503, {"error": "the server is starting"})
        elif self.path in known:
            self._send(200, known[self.path])
        else:
            self._send(404, {"error": "404 page not found"})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, request))
        name, fault = request["model"].removesuffix(":latest"), self.server.failing()
        if fault == "slow":
            time.sleep(self.server.seconds)
        if fault == "silent":
            self.close_connection = True
        elif fault == "status 500":
            self._send(500, {"error": "llama runner process has terminated: signal: killed"})
        elif fault == "not an object":
            self._send(200, ["not an", "object"])
        elif name not in EMBEDDERS + CHATS:
            self._send(404, {"error": f"model {name!r} not found".replace("'", '"')})
        elif self.path == "/api/embed":
            self._embed(request, fault)
        elif self.path == "/api/chat":
            self._chat(request, fault)
        else:
            self._send(200, _shown(name))

    def _embed(self, request: dict[str, Any], fault: str) -> None:
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        if not request.get("truncate", True) and any(self.server.model.truncated(texts)):
            status, error = self.server.refusal
            self._send(status, {"error": error})
            return
        with self.server.one_at_a_time:
            time.sleep(self.server.per_text * len(texts))
        self.server.texts += texts
        rows = self.server.model.embed(texts).tolist()
        match fault:
            case "wrong dimension":
                rows = [row[:-1] for row in rows]
            case "fewer":
                rows = rows[:-1]
            case "none":
                rows = []
            case "ragged":
                rows[0] = [1.0]
            case "zero" | "nan" | "huge":
                rows[0] = [{"zero": 0.0, "nan": float("nan"), "huge": 1e300}[fault]] * len(rows[0])
        spent = {"total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": 8}
        body = {"model": request["model"], "embeddings": rows} | spent
        if fault == "no field":
            del body["embeddings"]
        self._send(200, body)

    def _chat(self, request: dict[str, Any], fault: str) -> None:
        said = self.server.replies[0]
        if len(self.server.replies) > 1:
            self.server.replies.pop(0)
        ended = "length" if fault == "cut" else "stop"
        said = said[: len(said) // 2] if fault == "cut" else said
        pieces = [said[at : at + 16] for at in range(0, len(said), 16)]
        start = {"model": request["model"], "created_at": MADE}
        end = {"done": True, "done_reason": ended, "total_duration": 5_000_000_000}
        if not request.get("stream", True):
            body = start | {"message": {"role": "assistant", "content": said}} | end
            if fault == "no field":
                del body["message"]
            self._send(200, body)
            return
        lines = [
            start | {"message": {"role": "assistant", "content": piece}, "done": False}
            for piece in pieces
        ]
        lines.append(start | {"message": {"role": "assistant", "content": ""}} | end)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines[: len(lines) // 2] if fault == "dropped" else lines:
            piece = json.dumps(line).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if fault == "dropped":
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, status: int, body: object) -> None:
        fault = self.server.failing() if self.command == "POST" else ""
        content = b"<html>hello" if fault == "html" else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if fault == "dropped" else content)
        self.close_connection = self.close_connection or fault == "dropped"

    def log_message(self, *_: object) -> None:
        pass


def _details(name: str) -> dict[str, Any]:
    family = "nomic-bert" if name in EMBEDDERS else "llama"
    return {
        **{"parent_model": "", "format": "gguf", "family": family, "families": [family]},
        **{"parameter_size": "137M", "quantization_level": "F16"},
    }


def _listed(name: str) -> dict[str, Any]:
    full = f"{name}:latest"
    about = {"modified_at": MADE, "size": 274302450, "digest": "0" * 64}
    return {"name": full, "model": full} | about | {"details": _details(name)}


def _shown(name: str) -> dict[str, Any]:
    family = "nomic-bert" if name in EMBEDDERS else "llama"
    return {
        **{"modelfile": f"FROM {name}", "parameters": "", "template": "{{ .Prompt }}"},
        **{"details": _details(name), "model_info": {f"{family}.context_length": 256}},
        **{"capabilities": ["embedding" if name in EMBEDDERS else "completion"]},
        **{"modified_at": MADE},
    }
