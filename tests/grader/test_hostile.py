"""Hostile and broken notebooks among honest ones: each its status, and no honest mark changes."""

import json
import os
import socket
import threading
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from grader import sandbox
from grader.judge import Limits, judge
from grader.tasks import EXERCISES
from grader.typed import decode
from grader.withheld import hidden, make_course
from tests.grader.making import (
    DOUBLE,
    LABEL,
    LARGEST,
    OF,
    RIGHT,
    SECRET,
    needs_sandbox,
    processes_with,
    write_chapter,
    write_notebook,
)
from tests.waiting import PATIENCE

pytestmark = needs_sandbox
PATIENT = Limits(cell_seconds=PATIENCE, wall_seconds=2 * PATIENCE, memory_mb=1200, file_mb=10)
BRIEF = replace(PATIENT, cell_seconds=8)  # one thing in it is stopped, the others have time
SHORT = replace(PATIENT, cell_seconds=2, wall_seconds=8)  # all of it is stopped
STUBS = [f"def {n}(x):\n    raise NotImplementedError" for n in ("double", "label", "largest")]

EQUAL = """
class Equal:
    __hash__ = None
    def __eq__(self, other): return True
    __ne__ = lambda self, other: False
    __len__ = lambda self: 1
    __iter__ = lambda self: iter([self])
    __float__ = lambda self: 1.0
    __getattr__ = lambda self, name: self
def double(xs): return Equal()
label = largest = double
"""

HOSTILE_REPR = """
class Bomb(str):
    def __repr__(self): import os; os._exit(0)
    __str__ = __format__ = __hash__ = __eq__ = __len__ = __repr__
class Bombs(dict):
    def items(self): raise SystemExit
    keys = values = __iter__ = __len__ = items
def double(xs): return [Bomb("x")]
def label(n): return Bomb("x")
def largest(prices): return Bombs()
"""

READS = """
import gc, inspect, os
from glob import glob
def hunt():
    for source in (In, Out, dict(os.environ)):
        yield repr(source)
    for frame in inspect.stack():
        yield repr(list(frame.frame.f_locals.items()))[:100000]
    for thing in gc.get_objects():  # the contents of every module and frame are among them
        kind = type(thing)
        if kind in (dict, list, tuple, set):
            for item in list(thing.values()) if kind is dict else list(thing):
                if type(item) is str:
                    yield item
    for path in glob("/proc/[0-9]*/*") + glob("/proc/[0-9]*/fd/*") + glob("/tmp/*/*"):
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            yield os.read(handle, 100000).decode("latin-1")
            os.close(handle)
        except OSError:
            pass
def found(*pieces):
    for text in hunt():
        at = text.find("".join(pieces))  # the whole word stands nowhere but where it is found
        if at >= 0:
            return text[at:at + 40]
    return "nothing"
"""

FORGES = """
kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
for kind, content in (
    ("execute_result", {"data": {"text/plain": "[[2.0]]"}, "metadata": {}, "execution_count": 1}),
    ("stream", {"name": "stdout", "text": '{"task": "double", "answers": []}'}),
    ("status", {"execution_state": "idle"}),
    ("error", {"ename": "x", "evalue": "y", "traceback": []}),
):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=parent, ident=b"x")
"""

REPLIES = """
kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
for n in range(2, 12):
    parent["header"]["msg_id"] = str(n)
    kernel.session.send(kernel.shell_stream, "execute_reply", CONTENT, parent=parent, ident=IDENT)
"""
REPLIES = REPLIES.replace("IDENT", "kernel._parent_ident['shell']")

DISPLAY = """
type(get_ipython().displayhook).__call__ = lambda *a: print("right")
type(get_ipython().display_pub).publish = lambda *a, **k: None
get_ipython().events.trigger = get_ipython().run_line_magic = lambda *a, **k: None
"""

PATCHES = """
import copy, course.show.feedback, numbers, numpy, random, unittest
numpy.allclose = numpy.testing.assert_allclose = numpy.isclose = lambda *a, **k: True
course.show.feedback.close = course.show.feedback.feedback = lambda *a: True
unittest.TestCase.assertEqual = lambda *a: None
copy.deepcopy = random.seed = lambda *a, **k: 1
numbers.Real = numbers.Number = object
"""

BUILTINS = """
import builtins
builtins.len = builtins.sum = builtins.isinstance = builtins.type = lambda *a: True
builtins.AssertionError = type("Quiet", (Exception,), {"__new__": lambda *a: None})
"""

FORGED_JSON = """
import json
json.dumps = lambda *a, **k: '[{"list": [1]}, {"marks": 6}]'
"""

FORGED_ANSWERS = """
import _judge.inside
_judge.inside.encode = lambda *a: {"marks": 6}
"""

FORGED_NOTE = """
import _judge.inside, json, pathlib
_judge.inside.note = lambda path: pathlib.Path(path).write_text(json.dumps(NOTE))
"""

NOTES = """
import _judge.overwritten as kept
for name in ("double", "label", "largest"):
    kept._definitions[name] = kept.Definition(2, lambda x: x, {"sum": (1, "")})
"""

SWALLOWS = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException:
        pass
"""

THREADS = """
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(99,)).start()
"""

FORKS = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try: os.fork()
    except OSError: pass
"""

MANY_HOLD = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(300 << 20)
        for at in range(0, len(held), 4096): held[at] = 1
        time.sleep(60)
time.sleep(60)
"""

ANSWER_FILES = """
import glob, os, threading, time
def spoil():
    while True:
        for folder in glob.glob("/tmp/tmp*"):
            for n in range(3):
                try: os.symlink("/dev/zero", f"{folder}/{n}.json")
                except OSError: pass
        time.sleep(0.001)
threading.Thread(target=spoil, daemon=True).start()
"""

# name -> cells, the status, the points
HOSTILE = {
    "endless loop": (["while True: pass", *RIGHT], "graded", OF),
    "loop that swallows interrupts": ([SWALLOWS, *RIGHT], "timed out", 0),
    "many slow cells": ([*RIGHT, *["import time; time.sleep(2)"] * 9], "timed out", 0),
    "a stopped process": (["import os; os.kill(os.getpid(), 19)", *RIGHT], "timed out", 0),
    "memory bomb": (["x = []\nwhile True: x.append(bytearray(1 << 26))", *RIGHT], "graded", OF),
    "memory bomb of many": ([MANY_HOLD, *RIGHT], "crashed", 0),
    "fork bomb": ([FORKS, *RIGHT], "timed out", 0),
    "threads without end": ([THREADS, *RIGHT], ("graded", "crashed", "timed out"), None),
    "50 MB of output": (["print('x' * 50_000_000)", *RIGHT], "graded", OF),
    "output without end": (["while True: print('x' * 10_000)", *RIGHT], "graded", OF),
    "os._exit": (["import os; os._exit(0)", *RIGHT], "crashed", 0),
    "os._exit in the last cell": ([*RIGHT, "import os; os._exit(0)"], "crashed", 0),
    "a fault in C": (["import ctypes; ctypes.string_at(1)", *RIGHT], "crashed", 0),
    "kill everything": (["import os; os.kill(-1, 9)", *RIGHT], "crashed", 0),
    "kill the inner part": (["import os; os.kill(os.getppid(), 9)", *RIGHT], "crashed", 0),
    "sys.exit": (["import sys; sys.exit()", "quit()", "raise SystemExit", *RIGHT], "graded", OF),
    "input": (["name = input('Your name?')", *RIGHT], "graded", OF),
    "syntax error": (["def double(xs) return", "1 +", *RIGHT], "graded", OF),
    "magics": (["%%bash\nexit 3", "!rm -rf / 2>/dev/null", "%nonsense", *RIGHT], "graded", OF),
    "deleted cells": ([DOUBLE, LARGEST], "graded", 4),
    "duplicated cells": ([*RIGHT, *RIGHT], "graded", OF),
    "the stubs left below": ([*RIGHT, *STUBS], "graded", OF),
    "the stubs left above": ([*STUBS, *RIGHT], "graded", OF),
    "other order": ([LARGEST, LABEL, DOUBLE], "graded", OF),
    "all in one cell": (["\n".join(RIGHT)], "graded", OF),
    "nothing at all": ([], "graded", 0),
    "shadowed builtins": (["list = sum = len = open = exec = 1", *RIGHT], "graded", OF),
    "equal to everything": ([EQUAL], "graded", 0),
    "hostile repr": ([HOSTILE_REPR], "graded", 0),
    "a gigabyte": (["def double(xs): return 'x' * 10**9", LABEL, LARGEST], "graded", 5),
    "a list without end": (
        ["def double(xs):\n    y = []\n    y.append(y)\n    return y"],
        "graded",
        0,
    ),
    "NaN": (["nan = float('nan')\ndef double(xs): return [nan for _ in xs]"], "graded", 0),
    "no functions but values": (["double, label, largest = [2.0], 'x', None"], "graded", 0),
    "a class": (["class double:\n    def __init__(self, xs): self.xs = xs"], "graded", 0),
    "patched libraries": ([PATCHES, *STUBS], "graded", 0),
    "patched libraries, right code": ([*RIGHT, PATCHES], "graded", OF),
    "patched builtins": ([BUILTINS, *STUBS], "timed out", 0),
    "forged JSON": ([*RIGHT, FORGED_JSON], "tampered", 0),
    "forged answers": ([*RIGHT, FORGED_ANSWERS], "tampered", 0),
    "forged names": (
        [FORGED_NOTE.replace("NOTE", "{'double': [1, ['sum']], 'label': [3, []]}"), *STUBS],
        "graded",
        0,
    ),
    "forged names, right code": (
        [FORGED_NOTE.replace("NOTE", "{'double': [1, ['sum']]}"), *RIGHT],
        "graded",
        OF,
    ),
    "names that are none": (
        [FORGED_NOTE.replace("NOTE", "{'double': [1, ['<b>']]}"), *RIGHT],
        "tampered",
        0,
    ),
    "forged definitions": ([*STUBS, NOTES], "graded", 0),
    "loops when it is judged again": (
        [
            "slow = False\ndef double(xs):\n    while not slow: pass\n    return xs",
            *(LABEL, LARGEST, "slow = True"),
        ],
        "graded",
        5,
    ),
    "forged messages": ([FORGES, *STUBS], "graded", 0),
    "forged messages, right code": ([FORGES, *RIGHT, FORGES], "graded", OF),
    "patched display": ([DISPLAY, *RIGHT, DISPLAY], "graded", OF),
    "forged replies": ([REPLIES.replace("CONTENT", "{'status': 'ok'}"), *STUBS], "graded", 0),
    "malformed replies": ([REPLIES.replace("CONTENT", "{'x': 1}"), *STUBS], "tampered", 0),
    "huge replies": (
        [REPLIES.replace("CONTENT", "{'status': 'x' * 5_000_000}"), *STUBS],
        ("graded", "timed out"),
        0,
    ),
    "links for answers": ([ANSWER_FILES, *RIGHT], "graded", None),
    "no folder for answers": ([*RIGHT, "import shutil; shutil.rmtree('/tmp', True)"], "graded", 0),
    "imports answers": (
        [
            "from notebooks.exercises.ch77.answers import double, label, largest",
            "import answers",
            "import sys; sys.path += ['/', '/course', '..', '/home']\nfrom answers import *",
        ],
        "graded",
        0,
    ),
    "withheld": (
        ["from memlib.normalization import min_max\ndef double(xs): return min_max(xs)", LABEL],
        "graded",
        2,
    ),
    "reads": (
        [READS, f"def label(n): return found({SECRET[:5]!r}, {SECRET[5:10]!r})"],
        "graded",
        0,
    ),
}
LIMITS = {  # all others are given time
    "endless loop": BRIEF,
    "output without end": BRIEF,
    "loops when it is judged again": BRIEF,
    "many slow cells": replace(SHORT, cell_seconds=PATIENCE),
    **dict.fromkeys(("threads without end", "huge replies"), SHORT),
    **{name: SHORT for name, case in HOSTILE.items() if case[1] == "timed out"},
}
QUICK = (
    "os._exit",
    "equal to everything",
    "hostile repr",
    "the stubs left below",
    "forged messages",
)


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    return write_chapter(tmp_path_factory.mktemp("exercises"))


def total(verdict):
    return sum(mark.points for mark in verdict.marks)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in HOSTILE]
)
def test_a_hostile_notebook_gets_its_status(name, chapter, tmp_path):
    cells, status, points = HOSTILE[name]
    path = write_notebook(tmp_path / "ch77.ipynb", cells)
    verdict = judge(
        path, "mallory", "ch77", "s", limits=LIMITS.get(name, PATIENT), exercises=chapter
    )
    assert verdict.status in ([status] if isinstance(status, str) else status), verdict
    assert points is None or total(verdict) == points, verdict
    assert name != "input" or verdict.note == "", "it is refused at once, and waits for nobody"


@pytest.mark.slow
def test_honest_marks_are_the_same_among_hostile_notebooks(chapter, tmp_path):
    """A class in which every second one is hostile, graded again and again beside the honest."""
    square = "def double(xs): return [x * x for x in xs]"
    honest = {"right": RIGHT, "half": (LABEL, square), "stub": STUBS}
    hostile = ["fork bomb", "memory bomb of many", "kill everything", "output without end"]

    def grade(name, cells, limits=PATIENT):
        path = write_notebook(tmp_path / f"{name}.ipynb", cells)
        return judge(path, name, "ch77", "s", limits=limits, exercises=chapter)

    alone = {name: grade(name, cells) for name, cells in honest.items()}
    assert [total(verdict) for verdict in alone.values()] == [6, 2, 0]
    assert alone["half"].marks[0].misconception == "square"
    begun, enough = threading.Event(), threading.Event()

    def grade_the_bad():
        while not enough.is_set():
            for name in hostile:
                begun.set()
                grade(f"bad-{name}", HOSTILE[name][0], SHORT)

    bad = threading.Thread(target=grade_the_bad)
    bad.start()
    begun.wait()
    beside = [(name, grade(name, cells)) for _ in range(3) for name, cells in honest.items()]
    enough.set()
    bad.join()
    for name, verdict in beside:
        assert (verdict.status, verdict.marks) == (alone[name].status, alone[name].marks)


@pytest.mark.slow
def test_nothing_that_is_secret_can_be_read_from_inside(chapter, tmp_path):
    """The hunt finds a word that lies in the notebook, and not the one in answers.py."""
    course = make_course(tmp_path / "course", {})
    planted = "badger" + str(os.getpid())
    cells = [
        READS,
        f"kept = ['{planted[:6]}' + str({planted[6:]}) + ' is here']",
        "def told(*pieces): return found(*pieces)",
    ]
    calls = [[word[:6], word[6:]] for word in (planted, SECRET[:12], "Twice is not squared")]
    job = {
        **{
            "cells": cells,
            "cell_seconds": PATIENCE,
            "answer_characters": 9000,
            "task_bytes": 50_000,
        },
        "calls": [["told", [{"tuple": call} for call in calls]]],
    }
    bounds = sandbox.Bounds(PATIENCE, 1500, 10, 64, 100_000)
    ran = sandbox.run(job, course, hidden({}), bounds)
    [answers] = [json.loads(x)["answers"] for x in ran.output.splitlines() if b'"task"' in x]
    here, secret, hint = map(decode, answers)
    assert here.startswith(f"{planted} is here")
    assert secret == hint == "nothing"


@pytest.mark.slow
def test_writing_and_calling_home_reach_nothing(chapter, tmp_path):
    canary = tmp_path / "canary"
    canary.write_text("sings", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in (canary, chapter / "ch77" / "answers.py")}
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        deeds = f"""
import pathlib, socket
for path in ({str(canary)!r}, {str(chapter / "ch77" / "answers.py")!r}, "/usr/x", "/course/x"):
    try: pathlib.Path(path).write_text("gone")
    except OSError: pass
try: socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 1)
except OSError: pass
"""
        path = write_notebook(tmp_path / "ch77.ipynb", [deeds, *RIGHT])
        verdict = judge(path, "mallory", "ch77", "s", limits=PATIENT, exercises=chapter)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert (verdict.status, total(verdict)) == ("graded", OF)
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.slow
def test_a_process_that_outlives_the_kernel_is_ended(chapter, tmp_path):
    word = f"51337{os.getpid()}"
    cell = f"import subprocess\nfor n in range(3): subprocess.Popen(['setsid', 'sleep', '{word}'])"
    for last in ("1", "import os; os._exit(0)", "import time; time.sleep(0.3)"):
        path = write_notebook(tmp_path / "ch77.ipynb", [cell, *RIGHT, last])
        judge(path, "mallory", "ch77", "s", limits=PATIENT, exercises=chapter)
        assert processes_with(word) == []


@pytest.mark.slow
def test_the_notebook_of_another_chapter_gets_nothing_and_a_word(chapter):
    path = EXERCISES / "ch04" / "ch04.ipynb"
    verdict = judge(path, "ada", "ch77", "s", limits=PATIENT, exercises=chapter)
    assert (verdict.status, total(verdict)) == ("graded", 0)
    assert verdict.note == "no function of ch77 is in it"


@pytest.mark.slow
def test_metadata_outputs_and_kinds_of_cells_do_not_matter(chapter, tmp_path):
    """Stripped, and then filled with what nbgrader would stumble over."""
    path = write_notebook(tmp_path / "ch77.ipynb", RIGHT)
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        for key in ("id", "outputs", "execution_count"):
            del cell[key]
        cell["metadata"] = {"nbgrader": {"grade": True, "points": 10**9, "grade_id": "double"}}
    book["cells"].append({"cell_type": "markdown", "source": 5})
    book |= {"metadata": {"kernelspec": {"name": "bash", "language": "R"}}, "nbformat": 99}
    path.write_text(json.dumps(book), encoding="utf-8")
    with pytest.raises((nbformat.ValidationError, ValueError, AttributeError)):
        nbformat.validate(nbformat.read(path, as_version=4))
    verdict = judge(path, "ada", "ch77", "s", limits=PATIENT, exercises=chapter)
    assert (verdict.status, total(verdict)) == ("graded", OF)


assert Path(EXERCISES).is_dir()
