"""Runs inside the sandbox: starts a kernel, sends it the cells, has its functions called.

Nothing here is secret, and nothing here is trusted: whoever takes it over writes their own answers.
It reads one JSON text from standard input and writes one JSON line an event to standard output.
"""

import ast
import hmac
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import overwritten
from .typed import TooLarge, decode, encode, encode_error

START_SECONDS = 60
GRACE_SECONDS = 10  # after an interrupt, and for what is the judge's own in a call
NOTED_CHARACTERS = 5000
TICK_MS = 20


class KernelDied(Exception):
    """The kernel's process is gone."""


class KernelGarbles(Exception):
    """The kernel's answer is none that a kernel gives."""


class KernelHangs(Exception):
    """The kernel does not answer, nor to an interrupt."""


def tell(**event: Any) -> None:
    os.write(1, (json.dumps(event) + "\n").encode())


class Kernel:
    """An ipykernel on sockets in the private /tmp; only its shell channel is listened to."""

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp())
        self.key = os.urandom(16).hex()
        ports = dict(zip(("shell", "iopub", "stdin", "control", "hb"), range(1, 6), strict=True))
        sockets = str(folder / "socket")
        connection = {f"{name}_port": port for name, port in ports.items()} | {
            **{"transport": "ipc", "ip": sockets, "key": self.key},
            "signature_scheme": "hmac-sha256",
        }
        file = folder / "connection.json"
        file.write_text(json.dumps(connection), encoding="utf-8")
        launch = ["-m", "ipykernel_launcher", "-f", str(file), "--HistoryManager.enabled=False"]
        self.process = subprocess.Popen(
            [sys.executable, *launch],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        import zmq  # while the kernel starts

        self.shell = zmq.Context().socket(zmq.DEALER)
        self.shell.reconnect_ivl = 10
        self.shell.maxmsgsize = 1_000_000
        self.shell.rcvhwm = 10
        self.shell.connect(f"ipc://{sockets}-1")
        self.sent = 0

    def run(self, code: str, seconds: float) -> str:
        """Execute a cell: "ok", "error NAME", "quit", or "stopped" after an interrupt."""
        self.sent += 1
        header = {
            **{"msg_id": f"{self.sent}", "session": "judge", "username": "judge"},
            **{"date": "2025-06-11T18:00:00Z", "msg_type": "execute_request", "version": "5.3"},
        }
        content = {
            **{"code": code, "silent": False, "store_history": True, "user_expressions": {}},
            **{"allow_stdin": False, "stop_on_error": False},
        }
        parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
        signature = hmac.new(self.key.encode(), b"".join(parts), "sha256").hexdigest().encode()
        self.shell.send_multipart([b"<IDS|MSG>", signature, *parts])
        deadline, stopped = time.monotonic() + seconds, False
        while True:
            status = self._reply(str(self.sent))
            if status:
                return "stopped" if stopped else status
            if self.process.poll() is not None:
                raise KernelDied
            if time.monotonic() > deadline:
                if stopped:
                    raise KernelHangs
                stopped, deadline = True, time.monotonic() + GRACE_SECONDS
                os.killpg(self.process.pid, signal.SIGINT)

    def _reply(self, msg_id: str) -> str:
        if not self.shell.poll(TICK_MS):
            return ""
        parts = self.shell.recv_multipart()
        try:
            body = parts[parts.index(b"<IDS|MSG>") + 2 :]
            parent, content = json.loads(body[1]), json.loads(body[3])
            error = str(content.get("ename"))
            known = len(error) <= 60 and error.isascii() and error.isidentifier()
            status = "ok" if content["status"] == "ok" else f"error {error if known else 'Error'}"
            if status == "ok" and content.get("asks_to_quit") is True:
                status = "quit"
            return status if parent["msg_id"] == msg_id else ""
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise KernelGarbles from None


def without_stubs(cells: list[str]) -> Iterator[tuple[int, str]]:
    """The cells but for an untouched stub of a function that another cell defines in earnest.

    A learner who copies a cell and works in the copy leaves the stub behind, often below.
    """
    trees = [_parsed(cell) for cell in cells]
    earnest = {
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not _is_stub(node)
    }
    for number, (cell, tree) in enumerate(zip(cells, trees, strict=True), start=1):
        only = tree.body[0] if len(tree.body) == 1 else None
        if not (isinstance(only, ast.FunctionDef) and _is_stub(only) and only.name in earnest):
            yield number, cell


def _parsed(cell: str) -> ast.Module:
    try:
        return ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])  # magics, or no Python at all: the kernel will see


def _is_stub(node: ast.FunctionDef) -> bool:
    body = [x for x in node.body if not isinstance(x, ast.Expr)]
    return len(body) == 1 and ast.unparse(body[0]).startswith("raise NotImplementedError")


class Nowhere(io.TextIOBase):
    """Where all output of the learner's code goes; it cannot be closed."""

    encoding = "utf-8"

    def write(self, text: str, /) -> int:
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def close(self) -> None:
        pass


class Forgotten(dict[int, list[Any]]):
    """IPython's history of outputs, which keeps none of them."""

    def __missing__(self, number: int) -> list[Any]:
        return []


def prepare() -> None:
    """Make the kernel one that nobody looks at and that a cell cannot end by quit() or exit().

    Its own output is sent by a thread, which lags behind a cell that prints for ever: the kernel
    then waits for it, and does not answer. A reply is as long as an error's text: one of megabytes
    never arrives. And 0.1 s after a quit() the kernel goes, in the middle of whatever it does.
    """
    from IPython import get_ipython

    shell = get_ipython()
    kernel, do_execute = shell.kernel, shell.kernel.do_execute
    sys.stdout = sys.stderr = Nowhere()
    shell.history_manager.outputs = Forgotten()  # else a cell that prints for ever fills the memory
    kernel.iopub_thread.send_multipart = lambda *arguments, **more: None
    shell.unobserve_all("exit_now")

    async def short(*arguments: Any, **more: Any) -> dict[str, Any]:
        reply = await do_execute(*arguments, **more)
        quits = any(part.get("source") == "ask_exit" for part in reply.get("payload", ()))
        return {"status": reply["status"], "ename": reply.get("ename"), "asks_to_quit": quits}

    kernel.do_execute = short


def look(cell: int, names: list[str]) -> None:
    """After a cell: note what the functions in it stand on."""
    from IPython import get_ipython

    overwritten.look(cell, names, get_ipython().user_ns)


def note(path: str) -> None:
    """After all cells: write down what of it was overwritten."""
    from IPython import get_ipython

    found = overwritten.overwritten(get_ipython().user_ns)
    Path(path).write_text(json.dumps(found), encoding="utf-8")


def call(name: str, calls: str, seconds: float, limit: int, answers: str) -> None:
    """Call a function of the notebook on each argument tuple; runs in the learner's kernel.

    In a process of its own, so that a call that never ends or dies costs this task alone.
    """
    from IPython import get_ipython

    function = get_ipython().user_ns.get(name)
    if not callable(function):
        Path(answers).write_text('"missing"', encoding="utf-8")
        return
    pid = os.fork()
    if pid == 0:
        _answer(function, calls, limit, Path(answers))
    deadline = time.monotonic() + seconds
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            Path(answers).write_text('"stopped"', encoding="utf-8")
            return
        time.sleep(0.002)


def _answer(function: Any, calls: str, limit: int, answers: Path) -> None:
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            sys.stdout = sys.stderr = nowhere
            coded = [_outcome(function, arguments, limit) for arguments in json.loads(calls)]
        draft = answers.with_suffix(".draft")
        draft.write_text(json.dumps(coded), encoding="utf-8")
        draft.rename(answers)
    finally:
        os._exit(0)


def _outcome(function: Any, arguments: Any, limit: int) -> Any:
    try:
        value = function(*decode(arguments))
    except BaseException as error:  # also sys.exit
        return encode_error(error)
    try:
        return encode(value, [limit])
    except TooLarge:
        return {"other": "a very large answer"}
    except BaseException:  # an object that does not let itself be read
        return {"other": "an unreadable object"}


def _read(path: str, limit: int) -> Any:
    """The answers that the call left, at most `limit` bytes of them."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return "died"
    with os.fdopen(handle, "rb") as file:
        text = file.read(limit + 1)
    try:
        return json.loads(text) if len(text) <= limit else "too large"
    except (ValueError, RecursionError):
        return "died"


def main() -> None:
    """Run the cells, then the tasks; every step is told before the next begins.

    A job with `after` (task -> cell) asks each task right after that cell instead.
    """
    job = json.load(sys.stdin)
    sys.stdin.close()
    kernel, where = Kernel(), {"cell": 0, "task": ""}
    try:
        kernel.run(_own("prepare"), START_SECONDS)
        tell(ready=True)
        _run(kernel, job, where)
        tell(end="done")
    except KernelDied:
        tell(end="died", **where)
    except KernelHangs:
        tell(end="hangs", **where)
    except KernelGarbles:
        tell(end="garbles", **where)


def _own(function: str, *arguments: Any) -> str:
    """Code that calls one of the functions above in the learner's kernel."""
    return f"import {__package__}.inside as __judge; __judge.{function}{arguments!r}"


def _run(kernel: Kernel, job: dict[str, Any], where: dict[str, Any]) -> None:
    seconds, folder, calls = job["cell_seconds"], tempfile.mkdtemp(), dict(job["calls"])
    after = job.get("after", {})

    def ask(name: str) -> None:
        where["task"] = name
        path = f"{folder}/{len(calls)}.json"
        given = json.dumps(calls.pop(name))
        code = _own("call", name, given, seconds, job["answer_characters"], path)
        kernel.run(code, seconds + GRACE_SECONDS)
        tell(task=name, answers=_read(path, job["task_bytes"]))

    for number, code in without_stubs(job["cells"]):
        where["cell"] = number
        tell(cell=number, how=kernel.run(code, seconds))
        named = [name for name in calls if name in code]
        if named and not after:
            kernel.run(_own("look", number, named), seconds)
        for name in [name for name in named if after.get(name) == number]:
            ask(name)
        if after and not calls:
            return
    if after:
        return
    for name in list(calls):
        ask(name)
    kernel.run(_own("note", f"{folder}/note.json"), seconds)
    noted = _read(f"{folder}/note.json", NOTED_CHARACTERS)
    tell(overwritten=noted if isinstance(noted, dict) else {})


if __name__ == "__main__":
    main()
