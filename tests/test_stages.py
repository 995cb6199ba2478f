"""The stages of `make check` and `make test`: counted, under other Pythons too, and none hidden."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import pythons, stages

ROOT = Path(__file__).parents[1]

# A Python that says it is 3.12.1, and writes down how it is called
FAKE = """#!/bin/sh
[ "$1" = -c ] && echo "${VERSION:-3.12.1} $0" && exit
echo "$*" | sed "s#$PWD/##" >> "$CALLS"
[ "$2" = pip ] || { mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; }
"""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


# --- a Python that is not there, or does not work ------------------------------------------


def test_a_python_that_is_not_there_is_said_in_one_line() -> None:
    assert pythons.about("python3.99") is None
    found, absent = stages.other_pythons(["python3.99"])
    assert found == {}
    assert absent == ["python3.99: not applicable, this machine has no such Python"]


def test_a_stand_in_of_pyenv_for_a_python_that_it_does_not_serve_is_none(tmp_path: Path) -> None:
    shim = script(tmp_path / "python3.12", "#!/bin/sh\necho not found >&2\nexit 127\n")
    assert pythons.about(str(shim)) is None
    assert stages.other_pythons([str(shim)])[0] == {}


def test_a_python_that_is_there_and_fails_is_red(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = str(script(tmp_path / "python3.12", "#!/bin/sh\nexit 3\n"))
    found, absent = stages.other_pythons([broken])
    assert list(found) == [f"{broken}: set up"] and absent == []
    assert stages.run(found, absent) == 1
    told = capfd.readouterr()
    assert told.out.splitlines()[-1] == "0 passed, 1 failed"
    assert f"{broken} does not run" in told.err


# --- stages --------------------------------------------------------------------------------


def test_another_python_runs_all_of_check_but_what_reads_the_source() -> None:
    found, absent = stages.other_pythons([sys.executable])
    version = pythons.about(sys.executable).partition(" ")[0]
    own = [name.removeprefix(f"Python {version}: ") for name in found]
    assert own == ["set up", *list(stages.CHECK)[3:]] and absent == []
    assert set(stages.CHECK) - set(own) == {"lint", "format", "houses"}
    python = str(ROOT / f".venv-{version.rpartition('.')[0]}" / "bin" / "python")
    first, *others = found.values()
    assert first == [sys.executable, "-m", "tests.pythons", sys.executable]
    assert [command[0] for command in others] == [python] * len(others)
    for name, command in zip(own[1:], others, strict=True):
        assert command[1:] == stages.CHECK[name][1:]


@pytest.mark.parametrize(
    ("which", "names", "said"),
    [
        ("test", [], ["other Pythons: not applicable, PYTHONS= names none"]),
        ("check", [], []),
        *(
            (which, ["python3.98", "python3.99"], [f"python3.9{n}: not applicable" for n in "89"])
            for which in ("check", "test")
        ),
    ],
)
def test_what_is_not_applicable_stands_below_the_table(
    which: str,
    names: list[str],
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(stages, which.upper(), {"one": [sys.executable, "-c", ""]})
    assert stages.main(which, *names) == 0
    lines = capfd.readouterr().out.splitlines()
    told = [line for line in lines if "not applicable" in line]
    assert [line[: len(start)] for line, start in zip(told, said, strict=True)] == said
    assert lines[-1] == "1 passed, 0 failed"


def test_every_stage_runs_and_is_counted_also_after_a_failure(
    capfd: pytest.CaptureFixture[str],
) -> None:
    table = {
        "red": [sys.executable, "-c", "raise SystemExit(2)"],
        "no such program": ["/none/python", "-m", "pytest"],
        "green": [sys.executable, "-c", "print('I ran')"],
    }
    assert stages.run(table, []) == 1
    lines = capfd.readouterr().out.splitlines()
    assert "I ran" in lines
    assert [re.sub(r" +[0-9.]+  ", ": ", line) for line in lines[-4:]] == [
        *("red: FAILED (2)", "no such program: FAILED (127)", "green: green"),
        "1 passed, 2 failed",
    ]


# --- the environments ----------------------------------------------------------------------


def test_an_environment_is_made_once_and_anew_when_anything_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, calls = tmp_path / "with a space", tmp_path / "calls"
    root.mkdir()
    for name in ("requirements.txt", "pyproject.toml"):
        (root / name).touch()
    monkeypatch.setenv("CALLS", str(calls))
    monkeypatch.chdir(root)
    python = str(script(tmp_path / "bin" / "python3.12", FAKE))

    def made() -> list[str]:
        calls.unlink(missing_ok=True)
        assert pythons.set_up(python, root).parent == root
        return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []

    new = ["-m venv --clear .venv-3.12", "-m pip install -q -r requirements.txt -e ."]
    assert made() == new
    assert made() == []
    (root / "requirements.txt").write_text("numpy==1\n", encoding="utf-8")
    assert made() == new
    assert made() == []
    monkeypatch.setenv("VERSION", "3.12.7")
    assert made() == new
    monkeypatch.setenv("VERSION", "3.13.0")
    assert made()[0] == "-m venv --clear .venv-3.13"
    root = root.rename(tmp_path / "moved")
    monkeypatch.chdir(root)
    assert made()[0] == "-m venv --clear .venv-3.13"


def test_an_environment_that_was_broken_off_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("requirements.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    stopped = FAKE.replace("|| {", "&& exit 1 || {")
    python = str(script(tmp_path / "bin" / "python3.12", stopped))
    with pytest.raises(subprocess.CalledProcessError):
        pythons.set_up(python, tmp_path)
    assert not (tmp_path / ".venv-3.12" / ".ready").exists()
    script(Path(python), FAKE)
    assert (pythons.set_up(python, tmp_path) / ".ready").is_file()


def test_make_hands_the_pythons_on() -> None:
    for target in ("check", "test"):
        command = ["make", "-n", target, "PYTHONS=python3.12 /opt/python3.13"]
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        run = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, encoding="utf-8")
        assert f"-m tests.stages {target} python3.12 /opt/python3.13" in run.stdout


# --- CI ------------------------------------------------------------------------------------

CI_TOOLS = ("make", "unshare", "prlimit", "bwrap", "chromium", "apt-get")
SHELL_TOOLS = ("env", "bash", "sh", "dirname", "mktemp", "rm", "sed", "mkdir", "cp")


@pytest.mark.parametrize(
    ("on_path", "in_pyenv", "wanted"),
    [
        ([], [], "python3.12 python3.13"),
        (["python3.13"], [], "python3.12 {path}/python3.13"),
        ([], ["3.12.1"], "{pyenv}/3.12.1/bin/python python3.13"),
        (["python3.12"], ["3.12.1", "3.13.0"], "{path}/python3.12 {pyenv}/3.13.0/bin/python"),
    ],
)
def test_ci_looks_for_other_pythons_before_it_changes_home(
    tmp_path: Path, on_path: list[str], in_pyenv: list[str], wanted: str
) -> None:
    path, home, root = (tmp_path / name for name in ("path", "home", "project"))
    versions = home / ".pyenv" / "versions"
    for name in CI_TOOLS:
        script(path / name, '#!/bin/sh\necho "$0" "$@"\n')
    for name in SHELL_TOOLS:
        (path / name).symlink_to(shutil.which(name))
    says_where = '#!/bin/sh\necho "$0"\n'
    for name in on_path:
        script(path / name, says_where)
    for version in in_pyenv:
        script(versions / version / "bin" / "python", says_where)
    (root / ".ci").mkdir(parents=True)
    (root / ".venv-3.12").mkdir()
    shutil.copy(ROOT / ".ci" / "run", root / ".ci" / "run")
    run = subprocess.run(
        [root / ".ci" / "run"],
        env={"PATH": str(path), "HOME": str(home)},
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    listed = wanted.format(path=path, pyenv=versions)
    assert run.stdout.splitlines()[-1] == f"{path}/make test PYTHONS={listed}"
    assert not (root / ".venv-3.12").exists()


def test_what_begins_kernels_or_uses_every_core_runs_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each stage holds a file while it runs, and fails if such a stage meets another's."""
    look = """
import sys, time, pathlib
here, alone = pathlib.Path(sys.argv[1]), sys.argv[2] == "alone"
mine = here / sys.argv[3]
mine.touch()
time.sleep(0.3)
others = [p.name for p in here.iterdir() if p != mine]
mine.unlink()
sys.exit(bool(others) and (alone or any(name.startswith("alone") for name in others)))
"""
    table = {}
    for n, name in enumerate(("one", "notebooks", "two", "processors", "three", "x: set up")):
        kind = "lane" if name in ("one", "two", "three") else "alone"
        table[name] = [sys.executable, "-c", look, str(tmp_path), kind, f"{kind}{n}"]
    table["wide"] = [sys.executable, "-c", look, str(tmp_path), "alone", "alone9", *stages.WIDE]
    assert stages.run(table, []) == 0, capfd.readouterr().out
