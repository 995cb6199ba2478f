"""Other processors, as far as this one can play them: `python -m tests.processors`.

Every notebook and the unit tests of the formulas, under the kernels of OpenBLAS that this processor
can run, with numpy's faster instructions off and on, with one thread and two: the text that is
printed must be the text that is stored. As a plugin of pytest (`-p tests.processors`) it refuses to
start unless the processor is really the one asked for; a notebook asks the same inside a kernel.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from hypothesis import settings

from tests.stages import CHAPTERS, EXERCISES, NBVAL, PYTEST, ROOT

ASKED = "MEMLIB_PROCESSOR"  # what the plugin and the notebook want to find, as JSON
KERNELS = {  # of OpenBLAS on x86-64, slowest first: what numpy must find for each, its other names
    "Prescott": ((), ("Prescott", "Katmai")),
    "Haswell": (("AVX2", "FMA3"), ("Haswell",)),
    "SkylakeX": (("AVX512F", "AVX512_SKX"), ("SkylakeX",)),
}
OWN = ""  # the kernel that OpenBLAS chooses by itself
X86 = ("x86_64", "amd64")
TUNABLES = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"  # glibc's exp, log and pow of older ones
FORMULAS = (
    *("similarity", "recency", "importance", "normalization", "bm25", "entity_boost", "signals"),
    *(
        "fusion",
        "forgetting",
        "strength",
        "four_part_relevance",
        "learning",
        "ranking",
        "evaluation",
    ),
    *("evaluate", "librarian"),
)
MEASURES = ("experiment", "ideas", "leaderboard")
UNITS = [
    *(f"tests/memlib/test_{name}.py" for name in FORMULAS),
    *(f"tests/course/measure/test_{name}.py" for name in MEASURES),
    "tests/test_published_figures.py",
]
EXAMPLES = 10  # of hypothesis a test: "units" tries a hundred, here it is run four times
SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")
SETTINGS += ("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "GLIBC_TUNABLES")
STATE = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from threadpoolctl import threadpool_info
blas = [found for found in threadpool_info() if found["user_api"] == "blas"]
state = {
    "library": "".join(found["internal_api"] for found in blas),
    "kernel": "".join(found.get("architecture", "") for found in blas),
    "threads": max((found["num_threads"] for found in blas), default=1),
    "features": sorted(name for name, on in __cpu_features__.items() if on),
    "dispatch": sorted(name for name in __cpu_dispatch__ if __cpu_features__[name]),
}
"""


class Processor(NamedTuple):
    """How a run is to calculate."""

    kernel: str  # of OpenBLAS, or OWN
    lowered: bool  # numpy's and the C library's faster instructions off
    threads: int

    def __str__(self) -> str:
        told = "one thread" if self.threads == 1 else f"{self.threads} threads"
        instructions = "off" if self.lowered else "on"
        return f"{self.kernel or 'own kernel'}, faster instructions {instructions}, {told}"


def state() -> dict[str, Any]:
    """How this process calculates: kernel, threads, what numpy may choose from."""
    names: dict[str, Any] = {}
    exec(STATE, names)
    found: dict[str, Any] = names["state"]
    return found


def unasked() -> dict[str, Any]:
    """How a process calculates that nothing was asked of."""
    code = "import json\nfrom tests.processors import state\nprint(json.dumps(state()))"
    variables = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, "-c", code]
    told = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, encoding="utf-8", check=True
    )
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def applicable(machine: str, here: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The kernels that can be asked for here, slowest first; and of each other one the reason.

    machine  `platform.machine()`;  here  what `state` says of a process that nothing was asked of
    """
    missing: dict[str, str] = {}
    for name, (needed, _) in KERNELS.items():
        lacks = [feature for feature in needed if feature not in here["features"]]
        if machine.lower() not in X86:
            missing[name] = f"a kernel of x86-64, and this is {machine}"
        elif here["library"] != "openblas":
            missing[name] = f"numpy has {here['library'] or 'no BLAS that is known'}, not OpenBLAS"
        elif lacks:
            missing[name] = f"this processor has no {' and no '.join(lacks)}"
    return [name for name in KERNELS if name not in missing] or [OWN], missing


def chosen(kernels: list[str]) -> list[Processor]:
    """Each kernel with the faster instructions off, one thread and two in turn; the last with all.

    >>> for processor in chosen(["Prescott", "Haswell"]): print(processor)
    Prescott, faster instructions off, one thread
    Haswell, faster instructions off, 2 threads
    Haswell, faster instructions on, one thread
    """
    turns = [Processor(name, True, 1 + i % 2) for i, name in enumerate(kernels)]
    return [*turns, Processor(kernels[-1], False, 1 + len(kernels) % 2)]


def wanted(asked: Processor, here: Mapping[str, Any]) -> dict[str, Any]:
    """What must be found where a processor was asked for."""
    names = KERNELS[asked.kernel][1] if asked.kernel else (here["kernel"],)
    both = here["library"] == "openblas"  # which takes no more threads than there are cores
    threads = min(asked.threads, here["threads"]) if both else here["threads"]
    dispatch = [] if asked.lowered else here["dispatch"]
    return {"kernel": list(names), "threads": threads, "dispatch": dispatch}


def environment(asked: Processor, here: Mapping[str, Any]) -> dict[str, str]:
    """The variables that make numpy, OpenBLAS and the C library calculate as asked."""
    given = {
        "PYTHONUTF8": "1",
        "OPENBLAS_NUM_THREADS": str(asked.threads),
        ASKED: json.dumps(wanted(asked, here)),
    }
    if asked.kernel:
        given["OPENBLAS_CORETYPE"] = asked.kernel
    if asked.lowered:
        given["NPY_DISABLE_CPU_FEATURES"] = " ".join(here["dispatch"])
        given["GLIBC_TUNABLES"] = TUNABLES
    return given


def differences(want: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """In what a process calculates otherwise than was asked for."""
    said = []
    if found["kernel"] not in want["kernel"]:
        said.append(f"kernel {found['kernel']!r}, not {' or '.join(want['kernel'])!r}")
    for name in ("threads", "dispatch"):
        if found[name] != want[name]:
            said.append(f"{name} {found[name]}, not {want[name]}")
    return said


def pytest_configure() -> None:
    """Refuse to run under another processor than the one asked for; a few examples are enough."""
    fixed: dict[str, Any] = {"deadline": None, "derandomize": True, "database": None}
    settings.register_profile("few", max_examples=EXAMPLES, **fixed)
    settings.load_profile("few")
    if said := differences(json.loads(os.environ[ASKED]), state()):
        raise RuntimeError(f"not the processor asked for: {'; '.join(said)}")


def probe(folder: Path, want: Mapping[str, Any]) -> Path:
    """A notebook that prints how its kernel calculates, with what it must print as its output."""
    code = f"{STATE}\nprint(state['kernel'] in {want['kernel']!r}, state['threads'])\n"
    cell = nbformat.v4.new_code_cell(code + "print(state['dispatch'])", id="probe")
    text = f"True {want['threads']}\n{want['dispatch']}\n"
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
    cell.execution_count = 1
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    path = folder / "probe.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=about), path)
    return path


def commands(folder: Path, want: Mapping[str, Any]) -> Iterator[list[str]]:
    """What is run under each processor."""
    plugin = ["-p", "tests.processors"]
    yield [*NBVAL, *plugin, str(probe(folder, want)), *CHAPTERS, *EXERCISES]
    yield [*PYTEST, *plugin, "-m", "not slow", *UNITS]


def run(asked: Processor, here: Mapping[str, Any]) -> tuple[Processor, list[str]]:
    """Run everything under a processor; returns what the runs that failed printed."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        variables = kept | environment(asked, here)
        done = [
            subprocess.run(
                command, cwd=ROOT, env=variables, capture_output=True, encoding="utf-8", check=False
            )
            for command in commands(Path(folder), wanted(asked, here))
        ]
    return asked, [each.stdout + each.stderr for each in done if each.returncode != 0]


def main() -> int:
    """Run every processor that can be played here; the exit code is 1 if any printed other text."""
    here = unasked()
    kernels, missing = applicable(platform.machine(), here)
    for name, why in missing.items():
        print(f"{name}: not applicable, {why}")
    failed = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for asked, faults in pool.map(lambda each: run(each, here), chosen(kernels)):
            print(f"{asked}: {'the same text' if not faults else 'FAILED'}", flush=True)
            print("".join(faults), end="")
            failed += bool(faults)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
