"""Run the checks in stages, time each, and tell at the end what was green.

First, one after the other, what uses every core or begins kernels; then the others, two at a time,
each shown whole when it ends.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import IO

from course import chapters
from tests.pythons import about, folder

ROOT = Path(__file__).parents[1]
CHAPTERS = [*(c.notebook for c in chapters.CHAPTERS), "notebooks/playground.ipynb"]
EXERCISES = [c.exercise for c in chapters.WITH_EXERCISE]
PYTEST = [sys.executable, "-m", "pytest"]
AS_STORED = [
    *("--nbval", "--nbval-cell-timeout=60", "-p", "no:cacheprovider"),
    *("--override-ini=filterwarnings=", "--override-ini=addopts="),
]
NBVAL = [*PYTEST, *AS_STORED]
WIDE = ("-n", "auto")  # these tests are spread over all cores
KERNELS = ("notebooks", "processors")  # begin a kernel a notebook: two at once may pick one port
LANES = 2  # of all other stages, so many run beside each other
ALIKE = ("lint", "format", "houses")  # these read the source: no matter which Python starts them

Stages = dict[str, list[str]]


def check(python: str) -> Stages:
    """What `make check` runs, with one Python."""
    pytest = [python, "-m", "pytest"]
    return {
        "lint": [python, "-m", "ruff", "check", "."],
        "format": [python, "-m", "ruff", "format", "--check", "."],
        "houses": [str(Path(python).with_name("lint-imports"))],
        "types": [python, "-m", "mypy"],
        "doctests": [*pytest, "--doctest-modules", "memlib", "course", "grader"],
        "units": [*pytest, "tests", "-m", "not slow", *WIDE],
        "notebooks": [*pytest, *AS_STORED, *CHAPTERS],
        "exercise notebooks": [*pytest, *AS_STORED, *EXERCISES],
    }


CHECK = check(sys.executable)
TEST = CHECK | {
    "processors": [sys.executable, "-m", "tests.processors"],
    "install": [*PYTEST, "tests/test_install.py", "-m", "slow"],
    "alone and offline": [*PYTEST, "tests/notebooks", "-m", "slow"],
    "anti-vacuity": [*PYTEST, "tests/test_anti_vacuity.py", "-m", "slow", *WIDE],
    "store": [*PYTEST, "tests/memlib/store/test_sqlite.py", "-m", "slow"],
    "LoCoMo": [*PYTEST, "tests/course/measure/test_locomo.py", "-m", "slow"],
    "what survived": [*PYTEST, "tests/course/measure/test_survivors.py", "-m", "slow"],
    "other people": [
        *(*PYTEST, "tests/course/data", "tests/course/measure/test_readings.py"),
        *("tests/course/measure/test_served.py", "-m", "slow"),
    ],
    "grading": [*PYTEST, "tests/exercises", "tests/grader", "-m", "slow", "-s"],
    "site": [*PYTEST, "tests/site", "-m", "slow"],
    "browser": [*PYTEST, "tests/browser", "-m", "slow"],
    "benchmarks, small": [sys.executable, "-m", "tests.benchmarks.run", "--small"],
}


def other_pythons(names: Sequence[str]) -> tuple[Stages, list[str]]:
    """The stages of each other Python, and one line for each that this machine does not have."""
    stages: Stages = {}
    absent = [] if names else ["other Pythons: not applicable, PYTHONS= names none"]
    for name in names:
        here = about(name)
        if here is None:
            absent.append(f"{name}: not applicable, this machine has no such Python")
            continue
        version = here.partition(" ")[0]
        told = f"Python {version}" if version else name
        stages[f"{told}: set up"] = [sys.executable, "-m", "tests.pythons", name]
        if version:
            own = check(str(folder(version) / "bin" / "python"))
            stages |= {f"{told}: {stage}": own[stage] for stage in own if stage not in ALIKE}
    return stages, absent


def code_of(command: Sequence[str], output: IO[str] | None = None) -> int:
    """The exit code of a command; 127, as in a shell, if there is no such program."""
    try:
        environment = os.environ | {"PYTHONUTF8": "1"}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=False, stdout=output, stderr=output
        )
        return done.returncode
    except FileNotFoundError:
        return 127


def run(stages: Mapping[str, Sequence[str]], absent: Sequence[str]) -> int:
    """Run every stage, also after a failure; the exit code is 1 if any failed."""
    results: dict[str, tuple[float, int]] = {}
    one_at_a_time = Lock()

    def head(name: str) -> str:
        return f"\n=== {name}: {' '.join(stages[name][1:])[:150]}"

    def timed(name: str, output: IO[str] | None = None) -> None:
        begin = time.monotonic()
        code = code_of(stages[name], output)
        results[name] = (time.monotonic() - begin, code)

    def in_a_lane(name: str) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            timed(name, output)
            output.seek(0)
            with one_at_a_time:
                print(head(name), output.read(), sep="\n", flush=True)

    alone = ("set up", *KERNELS)
    first = [name for name in stages if name.endswith(alone) or stages[name][-2:] == [*WIDE]]
    for name in first:
        print(head(name), flush=True)
        timed(name)
    with ThreadPoolExecutor(LANES) as lanes:
        list(lanes.map(in_a_lane, [name for name in stages if name not in first]))
    wide = max(map(len, stages), default=0)
    print(f"\n{'stage':<{wide}}  seconds  result")
    for name in stages:
        seconds, code = results[name]
        print(f"{name:<{wide}} {seconds:8.1f}  {'green' if code == 0 else f'FAILED ({code})'}")
    for line in absent:
        print(line)
    failed = sum(code != 0 for _, code in results.values())
    print(f"{len(results) - failed} passed, {failed} failed")
    return int(failed > 0)


def main(which: str, *pythons: str) -> int:
    """`check` or `test`, then the names of other Pythons to check with."""
    stages, absent = other_pythons(pythons)
    if which == "check":
        return run(CHECK | stages, absent if pythons else [])
    return run(TEST | stages, absent)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
