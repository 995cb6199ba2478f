"""The sandbox: what can be seen in it, what can be used up in it, and that nothing is left."""

import errno
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader import sandbox, seccomp, withheld
from grader.sandbox import Bounds
from grader.typed import decode, pack
from grader.withheld import ROOT, hidden, make_course
from tests.grader.making import SECRET, needs_sandbox, numbers_with, processes_with
from tests.waiting import PATIENCE, eventually

pytestmark = needs_sandbox
BOUNDS = Bounds(
    wall_seconds=PATIENCE, memory_mb=1200, file_mb=10, processes=64, output_bytes=200_000
)
WITHHELD = {"memlib.normalization": ("min_max",), "rank_bm25": ()}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course"), WITHHELD)


@pytest.fixture
def ask(course):
    """Run cells in the sandbox, and return what its function `told` returns there."""

    def asked(*cells, argument=None, bounds=BOUNDS):
        job = {
            **{"cells": cells, "calls": [["told", [pack((argument,))]]], "cell_seconds": PATIENCE},
            **{"answer_characters": 100_000, "task_bytes": 100_000},
        }
        ran = sandbox.run(job, course, hidden(WITHHELD), bounds)
        events = [json.loads(line) for line in ran.output.splitlines()]
        answers = [event["answers"] for event in events if "task" in event]
        assert answers and isinstance(answers[0], list), (ran, events)
        return decode(answers[0][0])

    return asked


@pytest.fixture(
    params=["as this user", pytest.param("as an ordinary user", marks=pytest.mark.slow)]
)
def either_user(request, monkeypatch):
    """Root drops to a user of its own; for anybody else a user namespace is made."""
    if request.param == "as an ordinary user":
        monkeypatch.setattr(os, "geteuid", lambda: 1000)


# What can be seen


def test_the_course_is_there_without_what_is_asked_for(ask, either_user):
    told = ask("""
def told(_):
    import memlib.normalization, memlib.ranking, course.show.feedback, inspect
    from course.data.maya import maya_cards
    try:
        memlib.normalization.min_max([1, 2])
    except NotImplementedError as error:
        why = str(error)
    try:
        from rank_bm25 import BM25Okapi
    except ImportError:
        why += ", no BM25Okapi"
    z = memlib.normalization.z_score([1, 2]).tolist()
    source = inspect.getsource(memlib.normalization.min_max)
    return why, memlib.__file__, len(maya_cards()) > 8, z, len(source.splitlines())
""")
    why, file, cards, z, lines = told
    assert why == "withheld while grading, no BM25Okapi"
    assert (file, cards, z, lines) == ("/course/memlib/__init__.py", True, [-1, 1], 2)


SEARCH = """
def told(given):
    import os
    names, known = given
    found = []
    for folder, folders, files in os.walk("/", followlinks=False):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in known]
        found += [os.path.join(folder, n) for n in [*folders, *files] if n in names]
    return found
"""


@pytest.mark.slow
def test_no_answers_tests_gradebook_or_submissions_are_to_be_found(ask):
    """The system and the environment are this machine's, however full: not searched for names."""
    names = ["answers.py", "ch04.ipynb", "gradebook.db", "judge.py", "conftest.py", "submitted"]
    known = ["/proc", "/sys", "/usr", sys.prefix, str(Path(sys.base_prefix).resolve())]
    found = ask(SEARCH, argument=[[*names, "rank_bm25.py", "normalization.py"], known])
    widget = "/course/course/widgets/normalization.py"
    assert sorted(found) == [widget, "/course/memlib/normalization.py"]
    withheld_files = [str(path) for path in hidden(WITHHELD)]
    assert any("rank_bm25" in name for name in withheld_files)
    size = "sum(os.path.getsize(os.path.join(f, n)) for f, _, names in os.walk(p) for n in names)"
    look = f"""
def told(paths):
    import os
    return [p for p in paths if os.path.isfile(p) or {size} > 0]
"""
    assert ask(look, argument=withheld_files) == []


@pytest.mark.slow
def test_the_checkout_and_this_home_are_not_there(ask, either_user, tmp_path):
    (tmp_path / "gradebook.db").write_text("marks", encoding="utf-8")
    paths = [ROOT, ROOT / "memlib", ROOT / "tests", Path.home() / ".bashrc", tmp_path]
    paths += [tmp_path / "gradebook.db", Path("/etc/passwd"), Path("/etc/shadow"), Path("/var")]
    code = "def told(paths):\n    import os\n    return [p for p in paths if os.path.exists(p)]"
    found = ask(code, argument=[str(path) for path in paths])
    assert found in ([], [str(ROOT)]), "at most as the empty parent of an environment in it"
    assert ask("def told(p):\n    import os\n    return os.listdir('/')") is not None


@pytest.mark.slow
def test_the_environment_is_the_same_few_words_for_everybody(ask, either_user, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", SECRET)
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    told = ask("""
def told(_):
    import glob, os
    seen = dict(os.environ)
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            text = open(path, "rb").read().decode("latin-1")
        except OSError:
            continue
        seen[path] = text
    return seen
""")
    assert told["HOME"] == "/home/learner" and told["OMP_NUM_THREADS"] == "1"
    assert "JPY_PARENT_PID" not in told and "SECRET_TOKEN" not in told
    text = json.dumps(told)
    assert SECRET not in text and str(ROOT) not in text and str(Path.home()) + '"' not in text


@pytest.mark.slow
def test_no_file_of_the_judge_is_open_in_it(ask, either_user):
    told = ask("""
def told(_):
    import glob, os
    seen = []
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            seen.append(os.readlink(path))
        except OSError:
            pass
    return seen
""")
    files = [x for x in told if x.startswith("/") and not x.startswith(("/dev/", "/proc/"))]
    assert [x for x in files if not x.startswith(("/tmp/", "/home/learner"))] == []


def test_an_environment_that_holds_the_checkout_does_not_show_it(monkeypatch, course):
    monkeypatch.setattr(sys, "prefix", str(ROOT.parent))
    mounts = sandbox._mounts(course, (), BOUNDS)
    at = mounts.index(str(ROOT))
    assert mounts[at - 1] == "--tmpfs" and mounts.index(str(ROOT.parent)) < at
    monkeypatch.setattr(sys, "prefix", str(ROOT))
    sandbox.why_missing.cache_clear()
    assert "make one in a folder in it" in sandbox.why_missing()
    sandbox.why_missing.cache_clear()


def test_an_installed_memlib_and_its_compiled_code_are_hidden(tmp_path, monkeypatch):
    folder = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("memlib/__init__.py", "rank_bm25.py", "__pycache__/rank_bm25.cpython-311.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = {str(path.relative_to(folder)) for path in hidden(WITHHELD) if folder in path.parents}
    assert found == {"memlib", "rank_bm25.py", "__pycache__/rank_bm25.cpython-311.pyc"}


# Withheld


def test_a_name_that_is_not_there_is_refused(tmp_path):
    for number, (module, names) in enumerate(
        [
            ("memlib.normalization", ("minmax",)),
            ("memlib.normalisation", ()),
            ("memlib.bm25", ("BM25",)),
        ]
    ):
        with pytest.raises(ValueError, match="WITHHELD"):
            make_course(tmp_path / str(number), {module: names})


def test_a_method_a_whole_module_and_nothing_else_lose_their_bodies(tmp_path):
    given = {"memlib.bm25": ("BM25.scores",), "memlib.normalization": ()}
    folder = make_course(tmp_path, given) / "memlib"
    bm25, scaling = ((folder / f"{n}.py").read_text("utf-8") for n in ("bm25", "normalization"))
    assert bm25.count("withheld") == 1 and "def scores" in bm25
    assert scaling.count("withheld") == scaling.count("def ") > 1
    for path in (ROOT / "memlib").rglob("*.py"):
        copy = folder / path.relative_to(ROOT / "memlib")
        if path.name not in ("bm25.py", "normalization.py"):
            assert copy.read_bytes() == path.read_bytes()
    assert not list(folder.rglob("*.ipynb")) and oct(folder.stat().st_mode)[-3:] == "755"


# What can be done


def test_nothing_outside_can_be_written(ask, either_user, tmp_path):
    canary = tmp_path / "canary"
    canary.write_text("sings", encoding="utf-8")
    places = ["/", "/usr", "/etc", "/dev", "/home", "/course", "/course/memlib"]
    places += [sys.prefix, sys.base_prefix, str(tmp_path), str(ROOT), "/proc/sys/kernel"]
    told = ask(
        """
def told(places):
    import os
    written = []
    for place in places:
        try:
            with open(place + "/written", "w") as file:
                file.write("x")
            written.append(place)
        except OSError:
            pass
    for place in ("/tmp", "/home/learner", "/dev/shm"):
        open(place + "/mine", "w").close()
    for deed in (os.remove, os.rmdir, lambda p: os.chmod(p, 0o777), lambda p: os.truncate(p, 0)):
        try:
            deed("/course/memlib/__init__.py")
            written.append("changed")
        except OSError:
            pass
    return written
""",
        argument=places,
    )
    rooms = [place for place in told if place.startswith("/tmp/")]  # a checkout there: its own /tmp
    assert [place for place in told if place not in rooms] == []
    assert not any((Path(place) / "written").exists() for place in places)
    assert canary.read_text(encoding="utf-8") == "sings" and len(list(tmp_path.iterdir())) == 1
    assert not (Path("/tmp") / "mine").exists() and not (Path("/dev/shm") / "mine").exists()


def test_there_is_no_network(ask, either_user):
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as near,
    ):
        near.bind("\0memlib-test-socket")
        near.listen()
        server.setblocking(False)
        told = ask(
            """
def told(port):
    import socket
    reached = []
    for family, where in (
        (socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET, ("1.1.1.1", 53)),
        (socket.AF_UNIX, "\\0memlib-test-socket"),
    ):
        try:
            with socket.socket(family) as s:
                s.settimeout(1)
                s.connect(where)
            reached.append(str(where))
        except OSError:
            pass
    return reached, [name for _, name in socket.if_nameindex()]
""",
            argument=server.getsockname()[1],
        )
        with pytest.raises(BlockingIOError):  # nobody waits to be let in
            server.accept()
    assert told == ([], ["lo"])


@pytest.mark.skipif(not seccomp.program(), reason="no list of system calls for this machine")
def test_calls_that_lead_past_a_limit_are_refused(ask, either_user):
    told = ask("""
def told(_):
    import ctypes, errno, os
    libc = ctypes.CDLL(None, use_errno=True)
    calls = {
        "memfd_create": lambda: libc.memfd_create(b"x", 0),
        "shmget": lambda: libc.shmget(0, 1 << 20, 0o1600),
        "unshare": lambda: libc.unshare(0x10000000),
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "ptrace": lambda: libc.ptrace(16, os.getppid(), 0, 0),
        "process_vm_readv": lambda: libc.process_vm_readv(os.getppid(), None, 0, None, 0, 0),
        "io_uring": lambda: libc.syscall(425, 8, None),
        "clone": lambda: libc.syscall(56, 0x10000000 | 17, None, None, None, None),
        "clone3": lambda: libc.syscall(435, None, 0),
        "x32": lambda: libc.syscall(0x40000000 + 39),
    }
    seen = {}
    for name, call in calls.items():
        ctypes.set_errno(0)
        seen[name] = errno.errorcode.get(ctypes.get_errno(), "0") if call() == -1 else "done"
    return seen
""")
    assert told.pop("clone3") == "ENOSYS"
    assert set(told.values()) == {"EPERM"}, told


def test_whoever_grades_the_code_is_a_user_without_any_power(ask):
    uid, status = ask("""
def told(_):
    import os
    lines = open("/proc/self/status").read().splitlines()
    return os.getuid(), [x.split()[1] for x in lines if x[:3] == "Cap" or x[:10] == "NoNewPrivs"]
""")
    assert uid >= (sandbox.FIRST_UID if os.geteuid() == 0 else 1)
    assert {int(x, 16) for x in status[:5]} == {0} and status[5:] == ["1"]


# What can be used up


def test_a_fork_bomb_stops_at_the_limit(ask, course):
    told = ask("""
def told(_):
    import os, signal, time
    n = []
    try:
        while len(n) < 500:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            n.append(pid)
    except OSError:
        pass
    return len(n)
""")
    assert 10 < told < BOUNDS.processes
    assert processes_with(str(course)) == []


@pytest.mark.slow
def test_files_memory_and_open_files_have_a_limit(ask, either_user):
    told = ask("""
def told(_):
    import glob, os, signal
    seen = []
    def fails(deed):
        try:
            deed()
        except (OSError, MemoryError) as error:
            seen.append(getattr(error, "errno", None) or "memory")
    def fill(folder):
        for n in range(10):
            with open(f"{folder}/{n}", "wb") as file:
                for _ in range(6):
                    file.write(bytes(1 << 20))
    def clear(pattern):
        for path in glob.glob(pattern):
            os.remove(path)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    open("/tmp/large", "w").close()
    fails(lambda: os.truncate("/tmp/large", 11 << 20))
    for folder in ("/tmp", "/home/learner", "/dev/shm"):
        clear("/tmp/large")
        fails(lambda: fill(folder))
        clear(folder + "/[0-9]")
    fails(lambda: bytearray(1300 << 20))
    fails(lambda: [open("/dev/null") for _ in range(300)])
    return seen
""")
    assert told == [errno.EFBIG, *[errno.ENOSPC] * 3, "memory", errno.EMFILE]


HOLD = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(300 << 20)
        for at in range(0, len(held), 4096):
            held[at] = 1
        time.sleep(60)
time.sleep(60)
"""


@pytest.mark.slow
def test_processes_that_hold_too_much_together_are_all_ended(course, monkeypatch):
    monkeypatch.setattr(sandbox, "free_mb", lambda: float("inf"))  # whatever else runs here
    job = {
        **{"cells": [HOLD], "calls": [], "cell_seconds": PATIENCE},
        **{"answer_characters": 1000, "task_bytes": 1000},
    }
    ran = sandbox.run(job, course, (), BOUNDS)
    assert ran.stopped == "memory"
    assert processes_with(str(course)) == []


def test_a_machine_short_of_memory_ends_the_sandbox(course, monkeypatch):
    monkeypatch.setattr(sandbox, "free_mb", lambda: sandbox.FLOOR_MB - 1)
    job = {"cells": [], "calls": [], "cell_seconds": 1, "answer_characters": 1, "task_bytes": 1}
    assert sandbox.run(job, course, (), BOUNDS).stopped == "machine"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "seconds", "stopped"),
    [
        ("import time; time.sleep(600)", 3, "wall"),
        ("while True: print('x' * 1000)", PATIENCE, "flood"),
        ("import os; os.close(1); __import__('time').sleep(600)", 3, "wall"),
    ],
)
def test_what_never_ends_is_ended(code, seconds, stopped):
    bounds = BOUNDS._replace(wall_seconds=seconds)
    with Path(os.devnull).open("rb") as nothing:
        command = sandbox._command([sys.executable, "-c", code], None, (), bounds)
        ran = sandbox._watch(sandbox._start(command, nothing, None), bounds)
    assert ran.stopped == stopped and len(ran.output) < 400_000


@pytest.mark.slow
@pytest.mark.parametrize("how", ["end", "wall"])
def test_nothing_is_left_when_it_ends(course, how, either_user, monkeypatch):
    """Seen while they ran; then the cell's own child is killed, or the clock is put forward."""
    word = f"31337{os.getpid()}"
    cell = f"""
import subprocess, os, signal
for n in range(3):
    subprocess.Popen(["sleep", "{word}1"], start_new_session=True,
                     preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
subprocess.run(["sleep", "{word}2"])
"""
    job = {
        **{"cells": [cell], "calls": [], "cell_seconds": PATIENCE},
        **{"answer_characters": 1000, "task_bytes": 1000},
    }
    late, seen, clock = threading.Event(), [], sandbox.time
    monotonic = clock.monotonic
    forward = SimpleNamespace(
        monotonic=lambda: monotonic() + 10 * PATIENCE * late.is_set(), sleep=clock.sleep
    )
    monkeypatch.setattr(sandbox, "time", forward)

    def watch():
        seen.append(eventually(lambda: asleep("1") if len(asleep("1")) == 3 else {}))
        seen.append(eventually(lambda: asleep("2")))
        for number in seen[1] if how == "end" else ():
            os.kill(number, signal.SIGKILL)
        if how == "wall":
            late.set()

    def asleep(which):
        return {n: x for n, x in numbers_with(word + which).items() if x.startswith("sleep")}

    watcher = threading.Thread(target=watch)
    watcher.start()
    ran = sandbox.run(job, course, (), BOUNDS)
    left = processes_with(word)
    watcher.join()
    assert ran.stopped == ("wall" if how == "wall" else "")
    assert [len(found) for found in seen] == [3, 1], "they were seen while they ran"
    assert left == []


@pytest.mark.slow
def test_it_dies_with_its_parent(tmp_path):
    word = f"41337{os.getpid()}"
    code = f"""
import os, sys
from grader import sandbox
from tests.grader.making import processes_with
from tests.waiting import eventually
command = sandbox._command(["sleep", "{word}"], None, (), sandbox.Bounds(600, 500, 5, 64, 100))
sandbox._start(command, open(os.devnull, "rb"), None)
ran = eventually(lambda: any(line.startswith("sleep") for line in processes_with("{word}")))
os.kill(os.getpid(), 9 if ran else 15)
"""
    done = os.spawnve(
        os.P_WAIT,
        sys.executable,
        [sys.executable, "-c", code],
        os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done == -9
    assert eventually(lambda: processes_with(word) == [])


# Without bwrap


def test_a_machine_without_bwrap_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox.why_missing.cache_clear()
    try:
        assert "apt-get install bubblewrap" in sandbox.why_missing()
        monkeypatch.delenv("SANDBOX", raising=False)
        with pytest.raises(sandbox.SandboxMissing, match=r"strangers' code.*SANDBOX=none"):
            sandbox.require()
        monkeypatch.setenv("SANDBOX", "none")
        sandbox.require()
    finally:
        sandbox.why_missing.cache_clear()


def test_the_filter_is_a_program_that_the_kernel_can_read():
    for machine in seccomp.MACHINES:
        steps = seccomp.program(machine)
        assert len(steps) % 8 == 0 and len(steps) // 8 < 4096
        assert len(seccomp.MACHINES[machine][1]) == len(seccomp.REFUSED)
    assert seccomp.program("a machine of tomorrow") == b""


assert withheld.ROOT == ROOT
