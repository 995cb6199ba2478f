"""Run the checks in stages, time each, and tell at the end what was green."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("notebooks/*.ipynb"))
EXERCISES = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("notebooks/exercises/ch*/ch*.ipynb"))
PYTEST = [sys.executable, "-m", "pytest"]
NBVAL = [
    *(*PYTEST, "--nbval", "--nbval-cell-timeout=60", "-p", "no:cacheprovider"),
    *("--override-ini=filterwarnings=", "--override-ini=addopts="),
]

CHECK = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "types": [sys.executable, "-m", "mypy"],
    "doctests": [*PYTEST, "--doctest-modules", "memlib"],
    "units": [*PYTEST, "tests", "-m", "not slow"],
    "notebooks": [*NBVAL, *CHAPTERS],
    "exercise notebooks": [*NBVAL, *EXERCISES],
}
TEST = CHECK | {
    "install": [*PYTEST, "tests/test_install.py", "-m", "slow"],
    "alone and offline": [*PYTEST, "tests/notebooks", "-m", "slow"],
    "anti-vacuity": [*PYTEST, "tests/test_anti_vacuity.py", "-m", "slow"],
    "store": [*PYTEST, "tests/sources/test_store.py", "-m", "slow"],
    "LoCoMo": [*PYTEST, "tests/test_measure_locomo.py", "-m", "slow"],
    "what survived": [*PYTEST, "tests/test_measure_survivors.py", "-m", "slow"],
    "grading": [*PYTEST, "tests/exercises", "-m", "slow", "-s"],
    "site": [*PYTEST, "tests/site", "-m", "slow"],
    "browser": [*PYTEST, "tests/browser", "-m", "slow"],
    "benchmarks, small": [sys.executable, "-m", "tests.benchmarks.run", "--small"],
}


def main(which: str) -> int:
    """Run every stage, also after a failure; the exit code is 1 if any failed."""
    stages = CHECK if which == "check" else TEST
    results = []
    for name, command in stages.items():
        print(f"\n=== {name}: {' '.join(command[1:])[:150]}", flush=True)
        begin = time.monotonic()
        environment = os.environ | {"PYTHONUTF8": "1"}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        results.append((name, time.monotonic() - begin, code))
    print("\nstage               seconds  result")
    for name, seconds, code in results:
        print(f"{name:<18} {seconds:8.1f}  {'green' if code == 0 else f'FAILED ({code})'}")
    failed = sum(code != 0 for _, _, code in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
