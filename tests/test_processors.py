"""The stage of other processors: which are asked for, and that another one is refused."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import processors
from tests.processors import OWN, Processor, applicable, chosen, differences, environment, wanted
from tests.stages import CHAPTERS, EXERCISES, NBVAL, TEST

ROOT = Path(__file__).parents[1]
DISPATCH = ["X86_V3", "X86_V4"]
FAST: dict[str, Any] = {
    "library": "openblas",
    "kernel": "SkylakeX",
    "threads": 2,
    "features": ["AVX2", "FMA3", "AVX512F", "AVX512_SKX", *DISPATCH],
    "dispatch": DISPATCH,
}


def test_a_stage_of_make_test_runs_it() -> None:
    assert TEST["processors"] == [sys.executable, "-m", "tests.processors"]


def test_every_notebook_and_every_formula_is_run(tmp_path: Path) -> None:
    notebooks, units = processors.commands(tmp_path, wanted(Processor(OWN, True, 1), FAST))
    assert {*CHAPTERS, *EXERCISES, str(tmp_path / "probe.ipynb")} <= set(notebooks)
    assert notebooks[: len(NBVAL)] == NBVAL and "--nbval-lax" not in notebooks
    assert all((ROOT / path).exists() for path in processors.UNITS)
    assert set(processors.UNITS) < set(units)


@pytest.mark.parametrize(
    ("machine", "here", "kernels", "reasons"),
    [
        ("x86_64", {}, ["Prescott", "Haswell", "SkylakeX"], {}),
        ("AMD64", {}, ["Prescott", "Haswell", "SkylakeX"], {}),
        (
            "x86_64",
            {"features": ["AVX2", "FMA3"]},
            ["Prescott", "Haswell"],
            {"SkylakeX": "this processor has no AVX512F and no AVX512_SKX"},
        ),
        (
            "aarch64",
            {"features": ["NEON", "ASIMD"]},
            [OWN],
            dict.fromkeys(processors.KERNELS, "a kernel of x86-64, and this is aarch64"),
        ),
        (
            "arm64",
            {"library": "", "kernel": ""},
            [OWN],
            dict.fromkeys(processors.KERNELS, "a kernel of x86-64, and this is arm64"),
        ),
        (
            "x86_64",
            {"library": "mkl"},
            [OWN],
            dict.fromkeys(processors.KERNELS, "numpy has mkl, not OpenBLAS"),
        ),
    ],
)
def test_what_a_processor_cannot_run_is_not_applicable(
    machine: str, here: dict[str, Any], kernels: list[str], reasons: dict[str, str]
) -> None:
    assert applicable(machine, FAST | here) == (kernels, reasons)


@pytest.mark.parametrize("kernels", [["Prescott", "Haswell", "SkylakeX"], ["Prescott"], [OWN]])
def test_each_kernel_runs_and_both_ways_and_one_thread_and_two(kernels: list[str]) -> None:
    runs = chosen(kernels)
    assert {run.kernel for run in runs} == set(kernels)
    assert {run.lowered for run in runs} == {True, False}
    assert {run.threads for run in runs} == {1, 2}


def test_what_was_asked_for_is_found_in_a_process_of_its_own() -> None:
    here = processors.unasked()
    kernels, _ = applicable(platform.machine(), here)
    for asked in chosen(kernels):
        want = wanted(asked, here)
        assert differences(want, state_under(environment(asked, here))) == []
        assert want["dispatch"] == ([] if asked.lowered else here["dispatch"])


def state_under(variables: dict[str, str]) -> dict[str, Any]:
    code = "import json; from tests.processors import state; print(json.dumps(state()))"
    command = [sys.executable, "-c", code]
    told = subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, encoding="utf-8"
    )
    assert told.returncode == 0, told.stderr
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def test_another_processor_than_the_one_asked_for_is_refused() -> None:
    want = wanted(Processor("Haswell", True, 1), FAST)
    assert differences(want, FAST | {"kernel": "Haswell", "threads": 1, "dispatch": []}) == []
    assert differences(want, FAST) == [
        "kernel 'SkylakeX', not 'Haswell'",
        "threads 2, not 1",
        "dispatch ['X86_V3', 'X86_V4'], not []",
    ]


def test_pytest_and_a_kernel_of_jupyter_stop_under_another_processor(tmp_path: Path) -> None:
    wrong = {"kernel": ["Nehalem"], "threads": 64, "dispatch": ["X86_V9"]}
    file = tmp_path / "test_nothing.py"
    file.write_text("def test_nothing():\n    assert True\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.processors", str(file)]
    variables = os.environ | {processors.ASKED: json.dumps(wrong)}
    run = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, encoding="utf-8")
    assert run.returncode != 0 and "not the processor asked for: kernel" in run.stderr
    told = {name: processors.state()[name] for name in ("threads", "dispatch")}
    for want, code in ((told | {"kernel": [processors.state()["kernel"]]}, 0), (wrong, 1)):
        notebook = str(processors.probe(tmp_path, want))
        asked = subprocess.run(
            [*NBVAL, notebook], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
        )
        assert asked.returncode == code, asked.stdout
