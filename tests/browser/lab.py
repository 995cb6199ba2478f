"""A JupyterLab of its own, a browser that reaches nothing else, and a notebook opened in both."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page, Playwright

from tests.notebooks.refresh import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARTEFACTS = ROOT / "build" / "browser"  # git knows not to look there
HOST = "127.0.0.1"
SETTINGS = {  # a kernel without a question, no look at the news, every cell in the page
    "notebook-extension/tracker": {"autoStartDefaultKernel": True, "windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel"
WATCH = """kernel => {
  const watch = window.watch = {pending: new Set(), errors: []};
  kernel.anyMessage.connect((_, {msg, direction}) => {
    const {msg_type, msg_id} = msg.header;
    if (direction === 'send' && msg_type === 'comm_msg') watch.pending.add(msg_id);
    if (msg_type === 'error') watch.errors.push(msg.content.ename + ': ' + msg.content.evalue);
    if (msg_type === 'status' && msg.content.execution_state === 'idle')
      watch.pending.delete(msg.parent_header.msg_id);
  });
}"""
WIRE = """() => {  // the same for a page whose kernel cannot be asked: it reads the sockets
  const watch = window.watch = {pending: new Set(), errors: []}, text = new TextDecoder();
  const read = data => {
    if (typeof data === 'string') return JSON.parse(data);
    const view = new DataView(data.buffer ?? data, data.byteOffset ?? 0);
    const at = i => Number(view.getBigUint64(8 * (i + 1), true));
    const part = i => text.decode(new Uint8Array(view.buffer, view.byteOffset + at(i),
      at(i + 1) - at(i)));
    return {header: JSON.parse(part(1)), parent_header: JSON.parse(part(2)), content: part(4)};
  };
  const body = message => typeof message.content === 'string' ? JSON.parse(message.content)
    : message.content;
  window.WebSocket = class extends WebSocket {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', event => {
        const message = read(event.data), type = message.header.msg_type;
        if (type === 'error') watch.errors.push(body(message).ename + ': ' + body(message).evalue);
        if (type === 'status' && body(message).execution_state === 'idle')
          watch.pending.delete(message.parent_header.msg_id);
      });
    }
    send(data) {
      const {msg_type, msg_id} = read(data).header;
      if (msg_type === 'comm_msg') watch.pending.add(msg_id);
      super.send(data);
    }
  };
}"""
SETTLE = """async frames => {
  const frame = () => new Promise(requestAnimationFrame), end = Date.now() + 30000;
  for (let calm = 0; calm < frames; calm = window.watch.pending.size ? 0 : calm + 1) {
    if (Date.now() > end) throw new Error('the kernel did not answer a widget in 30 s');
    await frame();
  }
}"""


class Server(NamedTuple):
    """A server that was started here: its address and the folder that holds the notebooks."""

    url: str
    folder: Path

    def kernels(self) -> list[dict[str, Any]]:
        with urlopen(f"{self.url}/api/kernels", timeout=10) as reply:
            return list(json.load(reply))


@contextmanager
def server(folder: Path, command: list[str], ready: str) -> Iterator[Server]:
    """A server in private directories over a copy of the notebooks; stopped at the end.

    command  after `python -m`; the port is added
    ready    the path that answers when the server is up
    """
    notebooks = folder / "notebooks"
    shutil.copytree(ROOT / "notebooks", notebooks, ignore=shutil.ignore_patterns("exercises", ".*"))
    settings = folder / "settings" / "@jupyterlab"
    for name, value in SETTINGS.items():
        write(settings / f"{name}.jupyterlab-settings", value)
    write(
        folder / "config" / "labconfig" / "page_config.json",
        {"disabledExtensions": {"@jupyter/nbgrader": True}},
    )
    private = {
        name: str(folder / name.split("_")[-2].lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    private |= {
        "HOME": str(folder / "home"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))).rstrip(":"),
        "JUPYTER_PATH": str(notebooks),  # the template of `make playground`
        "OLLAMA_HOST": f"{HOST}:9",  # nobody answers there
    }
    (folder / "home").mkdir()
    log = folder / "server.log"
    port = free_port()
    with log.open("w", encoding="utf-8") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", *command, f"--port={port}"],
            cwd=notebooks,
            env=os.environ | private,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    url = f"http://{HOST}:{port}"
    try:
        wait_for(url + ready, running, log)
        yield Server(url, notebooks)
    finally:
        running.terminate()
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def start_lab(folder: Path) -> Any:
    """JupyterLab without a token, whose app a page can reach as window.jupyterapp."""
    options = ["--no-browser", "--allow-root", "--expose-app-in-browser", f"--ServerApp.ip={HOST}"]
    options += ["--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"]
    options += ["--ServerApp.port_retries=0", "--ServerApp.terminals_enabled=False"]
    options += [f"--ServerApp.tornado_settings={makefile('UPLOADS')}"]  # as `make lab` has it
    return server(folder, ["jupyterlab", *options], "/api/status")


def start_voila(folder: Path) -> Any:
    """The playground as `make playground` serves it, but that a kernel without a page ends soon."""
    flags = makefile("VOILA_FLAGS").replace("$(UPLOADS)", makefile("UPLOADS"))
    flags = flags.replace("idle_timeout=300", "idle_timeout=8").replace("interval=30", "interval=1")
    command = ["voila", "--no-browser", *shlex.split(flags), "playground.ipynb"]
    return server(folder, command, "/voila/static/x")


def makefile(name: str) -> str:
    """What a variable of the Makefile is set to."""
    found = re.search(rf"^{name} := ((?:.*\\\n)*.*)", read(ROOT / "Makefile"), re.MULTILINE)
    assert found, f"the Makefile has no {name}"
    return found[1].replace("\\\n", " ")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, running: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(240):
        if running.poll() is not None:
            break
        try:
            urlopen(url, timeout=10).close()
            return
        except HTTPError:  # it says no, but it answers
            return
        except OSError:
            pass
        time.sleep(0.25)
    raise RuntimeError(f"{url} does not answer\n{read(log)[-3000:]}")


def launch(playwright: Playwright) -> Browser:
    """Debian's Chromium, for which no name but this machine's leads anywhere."""
    rules = f"MAP * ~NOTFOUND, EXCLUDE {HOST}"
    return playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={rules}"],
    )


def leaves(url: str) -> bool:
    """Whether a request goes to another machine than this one."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != HOST


class Notebook:
    """A page with a notebook, or another page of a server, and what went wrong on it.

    outside  addresses on other machines that the page asked for
    crashes  exceptions in the page's own scripts
    """

    def __init__(self, page: Page) -> None:
        self.page, self.name, self.frames = page, "", 2
        self.outside, self.crashes = list[str](), list[str]()
        page.route(leaves, lambda route: route.abort())
        page.on("request", lambda request: self._note(request.url))
        page.on("websocket", lambda socket: self._note(socket.url))
        page.on("pageerror", lambda error: self.crashes.append(str(error)))

    def _note(self, url: str) -> None:
        if leaves(url):
            self.outside.append(url)

    def open(self, lab: Server, name: str) -> None:
        """Open a notebook in JupyterLab and wait for an idle kernel that is connected."""
        self.name, before = name, {kernel["id"] for kernel in lab.kernels()}
        self.page.goto(f"{lab.url}/lab/tree/{name}?reset")
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel",
            timeout=60_000,
        )
        for _ in range(240):
            mine = [kernel for kernel in lab.kernels() if kernel["id"] not in before]
            if mine and mine[0]["execution_state"] == "idle" and mine[0]["connections"]:
                break
            self.page.wait_for_timeout(250)
        else:
            raise RuntimeError(f"{name}: no idle kernel in a minute: {lab.kernels()}")
        self.page.evaluate(f"({WATCH})({KERNEL})")
        self.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")

    def visit(self, url: str) -> None:
        """Open a page that runs its notebook by itself, such as Voilà's."""
        self.frames = 6  # its messages are seen before they are handled
        self.page.add_init_script(f"({WIRE})()")
        self.page.goto(url)

    def command(self, name: str, timeout: int = 120_000, **arguments: Any) -> None:
        """One of JupyterLab's commands, to its end."""
        self.page.evaluate(
            """([name, args]) => { window.done = false;
              window.jupyterapp.commands.execute(name, args)
                .then(() => window.done = 'done', error => window.done = String(error)); }""",
            [name, arguments],
        )
        self.page.wait_for_function("() => window.done", timeout=timeout)
        said = self.page.evaluate("() => window.done")
        if said != "done":
            raise RuntimeError(f"{name}: {said}")

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")
        self.settle()

    def settle(self) -> None:
        """Wait until the kernel has answered every widget and the page has drawn it."""
        self.page.evaluate(SETTLE, self.frames)

    def stop(self, lab: Server) -> None:
        """End the kernel and close the page."""
        kernel = self.page.evaluate(f"() => window.jupyterapp && ({KERNEL})?.id")
        self.page.close()
        if kernel:
            request = Request(f"{lab.url}/api/kernels/{kernel}", method="DELETE")
            with suppress(OSError), urlopen(request, timeout=20):
                pass
