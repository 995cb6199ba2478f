"""Collecting from home folders: with each owner's rights, no link followed, size and time bounded.

As root every home has an owner of its own. Without root all are the tester's, and the one test that
needs two owners shows that the other's home is refused, and why.
"""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from grader import homes
from grader.homes import NotTaken, collect_homes, notebook_of
from tests.notebooks.refresh import ROOT

ROOTED = os.geteuid() == 0
FIRST = 54_000  # uids that nobody has
PARTS = ("work", "ch02", "ch02.ipynb")
SECRET = b'{"cells": ["private"]}'


def owned(path: Path, uid: int, mode: int) -> Path:
    path.chmod(mode)
    if ROOTED:
        os.chown(path, uid, uid, follow_symlinks=False)
    return path


def home_of(folder: Path, name: str, uid: int) -> Path:
    """A home that only its owner can look into, with an empty work/ch02."""
    home = folder / name
    (home / "work" / "ch02").mkdir(parents=True)
    for path in (home / "work" / "ch02", home / "work", home):
        owned(path, uid, 0o700)
    return home


@pytest.fixture
def hub(tmp_path):
    """The folder of the homes, with bea's: her private notebook is for nobody else."""
    folder = tmp_path / "homes"
    bea = home_of(folder, "bea", FIRST)
    (bea / "work" / "ch02" / "ch02.ipynb").write_bytes(SECRET)
    owned(bea / "work" / "ch02" / "ch02.ipynb", FIRST, 0o600)
    return folder


def test_each_home_s_notebook_is_copied(hub, tmp_path):
    anna = home_of(hub, "anna", FIRST + 1)
    (anna / "work" / "ch02" / "ch02.ipynb").write_bytes(b"hers")
    owned(anna / "work" / "ch02" / "ch02.ipynb", FIRST + 1, 0o600)
    home_of(hub, "cem", FIRST + 2)
    (hub / "lost.txt").write_text("x", encoding="utf-8")
    (hub / "linked").symlink_to(hub / "bea")
    copied, said = collect_homes(hub, PARTS, tmp_path / "in")
    assert copied == ["anna", "bea"]
    assert said == [
        "cem: work/ch02/ch02.ipynb: No such file or directory",
        "linked: no home folder",
        "lost.txt: no home folder",
    ]
    files = {path.name: path.read_bytes() for path in (tmp_path / "in").iterdir()}
    assert files == {"anna.ipynb": b"hers", "bea.ipynb": SECRET}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "in").iterdir()}
    assert modes == {0o600} and stat.S_IMODE((tmp_path / "in").stat().st_mode) == 0o700


def linked_file(home, bea):
    (home / "work" / "ch02" / "ch02.ipynb").symlink_to(bea / "work" / "ch02" / "ch02.ipynb")


def linked_folder(home, bea):
    (home / "work" / "ch02").rmdir()
    (home / "work" / "ch02").symlink_to(bea / "work" / "ch02")


def linked_work(home, bea):
    (home / "work" / "ch02").rmdir()
    (home / "work").rmdir()
    (home / "work").symlink_to(bea / "work")


def pipe(home, _):
    os.mkfifo(home / "work" / "ch02" / "ch02.ipynb")


def folder(home, _):
    (home / "work" / "ch02" / "ch02.ipynb").mkdir()


def sparse(home, _):
    with (home / "work" / "ch02" / "ch02.ipynb").open("wb") as file:
        file.truncate(10**12)


def a_byte_too_many(home, _):
    with (home / "work" / "ch02" / "ch02.ipynb").open("wb") as file:
        file.truncate(homes.MOST + 1)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (linked_file, "work/ch02/ch02.ipynb is a link"),
        (linked_folder, "work/ch02 is a link"),
        (linked_work, "work is a link"),
        (pipe, "work/ch02/ch02.ipynb is no ordinary file"),
        (folder, "work/ch02/ch02.ipynb is no ordinary file"),
        (sparse, "work/ch02/ch02.ipynb has more than 20 MB"),
        (a_byte_too_many, "work/ch02/ch02.ipynb has more than 20 MB"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_no_ordinary_file_of_the_student_s_is_not_taken(hub, tmp_path, make, why):
    anna = home_of(hub, "anna", FIRST + 1)
    make(anna, hub / "bea")
    for path in anna.rglob("*.ipynb"):
        if ROOTED:
            os.chown(path, FIRST + 1, FIRST + 1, follow_symlinks=False)
    copied, said = collect_homes(hub, PARTS, tmp_path / "in")
    assert (copied, said) == (["bea"], [f"anna: {why}"])
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["bea.ipynb"]


def test_another_s_file_is_never_read(hub):
    """What stands in the way of a link that is put there between two looks: the owner's rights."""
    anna = home_of(hub, "anna", FIRST + 1)
    file = anna / "work" / "ch02" / "ch02.ipynb"
    if not ROOTED:
        with pytest.raises(NotTaken, match="only root can take on its owner's rights"):
            homes.take_on(FIRST)
        return
    os.link(hub / "bea" / "work" / "ch02" / "ch02.ipynb", file)  # a name more, bea's file
    with pytest.raises(NotTaken, match=r"ch02\.ipynb: Permission denied"):
        notebook_of(anna, PARTS)
    file.chmod(0o644)
    with pytest.raises(NotTaken, match="belongs to somebody else"):
        notebook_of(anna, PARTS)
    file.unlink()
    owned(anna / "work" / "ch02", FIRST, 0o700)
    with pytest.raises(NotTaken, match="Permission denied"):
        notebook_of(anna, PARTS)


@pytest.mark.skipif(not ROOTED, reason="only root can have a home that is root's")
def test_root_s_home_is_no_student_s_and_another_than_root_takes_nobody_s_rights(hub, tmp_path):
    owned(hub / "bea", 0, 0o755)
    with pytest.raises(NotTaken, match="root's, not a student's"):
        notebook_of(hub / "bea", PARTS)
    owned(hub / "bea", FIRST, 0o755)
    pid = os.fork()
    if pid == 0:  # somebody who is not root
        os.setresuid(FIRST + 7, FIRST + 7, FIRST + 7)
        try:
            homes.take_on(FIRST)
        except NotTaken as error:
            os._exit(7 if "only root can take on its owner's rights" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_what_never_ends_is_given_up(hub, monkeypatch):
    """A folder that never answers, as a student's own file system may be."""
    monkeypatch.setattr(homes, "contents", lambda *_: threading.Event().wait())
    with pytest.raises(NotTaken, match=r"it took more than 0\.2 s"):
        notebook_of(hub / "bea", PARTS, seconds=0.2)


def test_an_earlier_copy_is_kept_and_a_newer_one_takes_its_place(hub, tmp_path):
    collect_homes(hub, PARTS, tmp_path / "in")
    file = hub / "bea" / "work" / "ch02" / "ch02.ipynb"
    file.write_bytes(b"newer")
    assert collect_homes(hub, PARTS, tmp_path / "in") == (["bea"], [])
    assert (tmp_path / "in" / "bea.ipynb").read_bytes() == b"newer"
    file.unlink()
    _, said = collect_homes(hub, PARTS, tmp_path / "in")
    assert said == ["bea: work/ch02/ch02.ipynb: No such file or directory; an earlier copy is kept"]
    assert (tmp_path / "in" / "bea.ipynb").read_bytes() == b"newer"


def test_the_command(hub, tmp_path):
    command = [sys.executable, "-m", "grader.homes"]
    given = os.environ | {"CHAPTER": "ch02", "HOMES": str(hub), "INTO": str(tmp_path / "in")}
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 copied to {tmp_path / 'in'}, 0 not\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--chapter", "ch99"], "CHAPTER=ch99: name one of ch01"),
        (["--chapter", "ch02", "--homes", "/none"], "HOMES=/none: name the folder"),
        (["--chapter", "ch02", "--homes", "/", "--file", "/etc/x"], "FILE=/etc/x: a path below"),
        (["--chapter", "ch02", "--homes", "/", "--file", "a/../b"], "FILE=a/../b: a path below"),
    ],
)
def test_what_cannot_be_done_is_refused(capsys, words, why):
    assert homes.main(words) == 2
    assert why in capsys.readouterr().err
