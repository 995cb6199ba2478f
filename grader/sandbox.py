"""A kernel that sees a read-only system, a copy of the course, and nothing else; bounded in all.

The only way out is one pipe, of which the judge reads so many bytes and no more.
"""

import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from grader import seccomp
from grader.withheld import INSIDE, ROOT

COURSE, HOME = "/course", "/home/learner"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime")
PROGRAMS = ("bwrap", "prlimit", "setpriv", "choom")
TICK_SECONDS = 0.1
WATCHED_SECONDS = 30  # how long a killed tree may take to be gone
OPEN_FILES = 256
FLOOR_MB = 500  # less memory than this free on the machine: whatever runs here is ended
FIRST_UID = 100_000


class SandboxMissing(RuntimeError):
    """There is no sandbox on this machine, and SANDBOX=none was not said."""


class Bounds(NamedTuple):
    """What the whole of a sandbox may use."""

    wall_seconds: float
    memory_mb: int
    file_mb: int
    processes: int
    output_bytes: int


class Ran(NamedTuple):
    """What came out, and what ended it: "" for itself, "wall", "memory", "machine", "flood"."""

    output: bytes
    stopped: str


def switched_off() -> bool:
    return os.environ.get("SANDBOX") == "none"


@lru_cache
def why_missing() -> str:
    """Why the sandbox does not work here; empty if it does."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian: apt-get install bubblewrap util-linux)"
    if ROOT.resolve() in {Path(p).resolve() for p in (sys.prefix, sys.base_prefix)}:
        return f"the environment is the checkout itself ({ROOT.name}): make one in a folder in it"
    bounds = Bounds(60, 1000, 10, 64, 1000)
    python = [sys.executable, "-c", "import ipykernel; print('ready')"]
    with tempfile.TemporaryFile() as nothing, tempfile.TemporaryFile() as told:
        ran = _watch(_start(_command(python, None, (), bounds), nothing, told), bounds)
        told.seek(0)
        why = told.read(2000).decode("utf-8", "replace").strip().splitlines()
    if ran.output.strip() == b"ready":
        return ""
    return f"bwrap does not work here: {why[-1] if why else ran.stopped or 'it says nothing'}"


def require() -> None:
    """Raise SandboxMissing where nothing would protect this machine."""
    if not switched_off() and why_missing():
        raise SandboxMissing(
            f"{why_missing()}. Grading runs strangers' code: without a sandbox it could read and "
            "change all that you can. SANDBOX=none grades without one, for notebooks you trust."
        )


def run(job: dict[str, Any], course: Path, hidden: Sequence[Path], bounds: Bounds) -> Ran:
    """Run the inner part on a job; returns what it said, when all of its processes are gone."""
    python = [sys.executable, "-m", f"{INSIDE}.inside"]
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as given:
        given.write(json.dumps(job).encode())
        given.seek(0)
        if switched_off():
            process = _start(_limited(python, bounds, []), given, None, str(course), home)
        else:
            process = _start(_command(python, course, hidden, bounds), given, None)
        return _watch(process, bounds)


# The command


def _command(
    python: Sequence[str], course: Path | None, hidden: Sequence[Path], bounds: Bounds
) -> list[str]:
    bwrap = ["choom", "-n", "1000", "--", "bwrap", "--die-with-parent", "--new-session"]
    bwrap += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    bwrap += ["--unshare-cgroup-try", "--hostname", "sandbox"]
    first: list[str] = []
    if os.geteuid() == 0:  # a real user of its own: root has no limit of processes
        uid = str(FIRST_UID + os.getpid() % 1_000_000)
        bwrap += [x for cap in ("SETUID", "SETGID", "SETPCAP") for x in ("--cap-add", f"CAP_{cap}")]
        first = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"]
        first += ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]
    else:
        bwrap += ["--unshare-user", "--cap-drop", "ALL"]
    bwrap += _mounts(course, hidden, bounds)
    return [*bwrap, "--chdir", HOME, "--", *first, *_limited(python, bounds, [])]


def _mounts(course: Path | None, hidden: Sequence[Path], bounds: Bounds) -> list[str]:
    """Every folder, outer before inner; the checkout is hidden wherever it lies in one of them."""
    shown = [Path(p) for p in (*SYSTEM, *SYSTEM_FILES, sys.prefix, sys.base_prefix)]
    shown += [Path(p).resolve() for p in (sys.prefix, sys.base_prefix)]
    shown += [Path(sys.executable).resolve().parents[1]]
    steps = {p: ["--ro-bind", str(p), str(p)] for p in shown if p.exists() and not p.is_symlink()}
    steps |= {p: ["--symlink", str(p.readlink()), str(p)] for p in shown if p.is_symlink()}
    for path in {ROOT, ROOT.resolve(), *hidden}:
        if any(path.is_relative_to(p) for p in steps):
            bind = ["--ro-bind", "/dev/null", str(path)]
            steps[path] = ["--tmpfs", str(path), "--remount-ro", str(path)]
            if path.is_file():
                steps[path] = bind
    size = str(bounds.file_mb << 20)
    for room in ("/tmp", HOME, "/dev/shm"):
        steps[Path(room)] = ["--perms", "1777", "--size", size, "--tmpfs", room]
    steps |= {Path("/proc"): ["--proc", "/proc"], Path("/dev"): ["--dev", "/dev"]}
    if course is not None:
        steps[Path(COURSE)] = ["--ro-bind", str(course), COURSE]
    for parent in {p for path in steps for p in path.parents} - {Path("/")}:
        if not any(parent.is_relative_to(p) for p in shown):  # else bwrap copies a closed 0700
            steps.setdefault(parent, ["--perms", "0755", "--dir", str(parent)])
    ordered = sorted(steps, key=lambda p: len(p.parts))
    mounts = [word for path in ordered for word in steps[path]]
    return [*mounts, "--remount-ro", "/dev", "--remount-ro", "/"]


def _limited(command: Sequence[str], bounds: Bounds, more: Sequence[str]) -> list[str]:
    limits = {
        **{"as": bounds.memory_mb << 20, "fsize": bounds.file_mb << 20, "core": 0},
        **{"nproc": bounds.processes, "nofile": OPEN_FILES},
        **{"cpu": int(bounds.wall_seconds) + 2, "memlock": 0, "msgqueue": 0},
    }
    return ["prlimit", *(f"--{name}={n}:{n}" for name, n in limits.items()), "--", *command]


def _environment(course: str, home: str) -> dict[str, str]:
    """All that a learner's code can know of the machine's settings."""
    return {
        **{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "TMPDIR": "/tmp", "TZ": "UTC"},
        **{"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0"},
        **{"PYTHONPATH": course, "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        **{name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")},
        **{"MALLOC_ARENA_MAX": "2", "MPLBACKEND": "agg"},
    }


def _start(
    command: list[str],
    given: IO[bytes],
    told: IO[bytes] | None,
    course: str = COURSE,
    home: str = HOME,
) -> subprocess.Popen[bytes]:
    """Start it with no variable and no open file of ours: bwrap's own can be read in /proc."""
    with tempfile.TemporaryFile() as rules:
        rules.write(seccomp.program())
        rules.seek(0)
        keep: tuple[int, ...] = ()
        if "bwrap" in command and seccomp.program():
            at = command.index("bwrap") + 1
            command = [*command[:at], "--seccomp", str(rules.fileno()), *command[at:]]
            keep = (rules.fileno(),)
        return subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=told or subprocess.DEVNULL,
            env=_environment(course, home),
            cwd="/",
            pass_fds=keep,
            start_new_session=True,
        )


# The watch


def _watch(process: subprocess.Popen[bytes], bounds: Bounds) -> Ran:
    """Read until it ends or until it uses more than it may; then kill all of it."""
    assert process.stdout is not None
    pipe, output, stopped = process.stdout.fileno(), bytearray(), ""
    deadline, next_look = time.monotonic() + bounds.wall_seconds, 0.0
    tree: list[int] = []
    while not stopped:
        ready, _, _ = select.select([pipe], [], [], TICK_SECONDS)
        if ready:
            part = os.read(pipe, 65536)
            if not part:
                break
            output += part
            stopped = "flood" if len(output) > bounds.output_bytes else ""
        if time.monotonic() > deadline:
            stopped = "wall"
        elif time.monotonic() > next_look:
            next_look = time.monotonic() + TICK_SECONDS
            tree = descendants(process.pid)
            if resident_mb(tree) > bounds.memory_mb < proportional_mb(tree):
                stopped = "memory"
            elif free_mb() < FLOOR_MB:
                stopped = "machine"
    _end(process, {*tree, *descendants(process.pid)})
    return Ran(bytes(output), stopped)


def _end(process: subprocess.Popen[bytes], tree: Iterable[int]) -> None:
    """Kill bwrap, and with it every process in its namespace; wait until none is left."""
    born = {pid: _born(pid) for pid in tree}
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    deadline = time.monotonic() + WATCHED_SECONDS
    while born and time.monotonic() < deadline:
        born = {pid: at for pid, at in born.items() if at and _born(pid) == at}
        for pid in born if switched_off() else ():  # no namespace that dies as one
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def _stat(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat after the name, from the state on; empty if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    fields = text.rpartition(")")[2].split()
    return [] if fields[0] == "Z" else fields


def _born(pid: int) -> str:
    fields = _stat(pid)
    return fields[19] if fields else ""


def descendants(pid: int) -> list[int]:
    """A process and all that came from it, which are still there."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        fields = _stat(folder.name)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


def resident_mb(pids: Iterable[int]) -> float:
    """The memory that processes hold; what two of them share counts twice."""
    pages = 0
    for pid in pids:
        with suppress(OSError, IndexError):
            pages += int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * resource.getpagesize() / 2**20


def proportional_mb(pids: Iterable[int]) -> float:
    """The same, what several share counted once; slower to learn, so asked second."""
    mb = 0.0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
            mb += int(text.partition("\nPss:")[2].split()[0]) / 1024
        except (OSError, IndexError):  # it is gone, or does not let itself be seen
            mb += resident_mb([pid])
    return mb


def free_mb() -> float:
    """The memory that the machine could still give out."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / 1024
    return float("inf")  # no Linux: there is no bwrap either
