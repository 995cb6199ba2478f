"""Copy one notebook out of each home folder: `make collect CHAPTER=ch02 HOMES=/home`.

What lies in a home is its owner's to arrange: links, pipes, endless files. So each file is opened
with that owner's rights and no others, no link is followed below the home, only an ordinary file of
the owner's is taken, and both its size and the time are bounded.
"""

import argparse
import os
import select
import signal
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from grader.collect import hidden, plain
from grader.judge import Limits
from grader.tasks import known_chapters

SECONDS = 120  # for one home
MOST = int(Limits().notebook_mb * 2**20)  # bytes: the judge reads no more either
NOBODY = 65534  # a group that opens nothing
FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class NotTaken(Exception):
    """Why there is no copy; the message is for the instructor."""


def notebook_of(home: Path, parts: Sequence[str], seconds: float = SECONDS) -> bytes:
    """The bytes of the file at `parts` below a home, read with its owner's rights.

    Raises NotTaken.
    """
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(out)
            send(home, parts, into)
        finally:
            os._exit(0)
    os.close(into)
    try:
        answer = received(out, seconds)
    finally:
        os.close(out)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if answer[:1] != b"+":
        raise NotTaken(answer[1:].decode("utf-8", "replace") or "the copy ended too early")
    return answer[1:]


def send(home: Path, parts: Sequence[str], into: int) -> None:
    """The other process: "+" and the file's bytes into a pipe, or "-" and why not.

    It was root's a moment ago, so Linux lets its new owner look into it no more than into root's.
    """
    try:
        handle = os.open(home, FOLDER)
        owner = os.fstat(handle).st_uid
        take_on(owner)
        answer = b"+" + contents(handle, parts, owner)
    except NotTaken as error:
        answer = f"-{error}".encode("utf-8", "replace")
    except OSError as error:
        answer = f"-the home cannot be opened: {error.strerror}".encode()
    while answer:
        answer = answer[os.write(into, answer) :]


def take_on(owner: int) -> None:
    """Give up all rights but those of a home's owner; NotTaken where that cannot be."""
    if owner == 0:
        raise NotTaken("the home is root's, not a student's")
    if os.geteuid() not in (0, owner):
        raise NotTaken("the home is somebody else's, and only root can take on its owner's rights")
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(owner, owner, owner)


def contents(home: int, parts: Sequence[str], owner: int) -> bytes:
    """The bytes of an ordinary file that is reached from an open folder through no link."""
    at = home
    for depth, name in enumerate(parts, start=1):
        last = depth == len(parts)
        where = "/".join(parts[:depth])
        try:
            if stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                raise NotTaken(f"{where} is a link")
            at = os.open(name, FILE if last else FOLDER, dir_fd=at)
        except OSError as error:
            raise NotTaken(f"{where}: {error.strerror}") from None
    found = os.fstat(at)
    if not stat.S_ISREG(found.st_mode):
        raise NotTaken(f"{where} is no ordinary file")
    if found.st_uid != owner:
        raise NotTaken(f"{where} belongs to somebody else")
    with os.fdopen(at, "rb", buffering=0) as file:
        data = b""
        while len(data) <= MOST and (part := file.read(1 << 20)):
            data += part
    if len(data) > MOST or found.st_size > MOST:
        raise NotTaken(f"{where} has more than {MOST >> 20} MB")
    return data


def received(out: int, seconds: float) -> bytes:
    """All that comes out of a pipe, in the given time."""
    deadline, data = time.monotonic() + seconds, bytearray()
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([out], [], [], left)
        part = os.read(out, 1 << 20) if ready else b""
        if ready and not part:
            return bytes(data)
        data += part
        if len(data) > MOST + 1:
            raise NotTaken(f"more than {MOST >> 20} MB came")
    raise NotTaken(f"it took more than {seconds:g} s")


def collect_homes(homes: Path, parts: Sequence[str], into: Path) -> tuple[list[str], list[str]]:
    """Copy every home's file to `into`/NAME.ipynb; whose was copied, and a line for all others."""
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    copied, said = [], []
    with os.scandir(homes) as entries:
        found = sorted((e.name, e.is_dir(follow_symlinks=False)) for e in entries)
    for name, folder in found:
        home = homes / name
        if hidden(name) or not folder:
            said.append(f"{plain(name)}: no home folder")
            continue
        target, half = into / f"{name}.ipynb", into / f".{name}.part"
        try:
            data = notebook_of(home, parts)
        except NotTaken as error:
            kept = "; an earlier copy is kept" if target.exists() else ""
            said.append(f"{plain(name)}: {plain(str(error), 300)}{kept}")
            continue
        half.unlink(missing_ok=True)
        half.touch(mode=0o600, exist_ok=False)
        half.write_bytes(data)
        half.replace(target)
        copied.append(name)
    return copied, said


def refusal(chapter: str, homes: str, file: str) -> str:
    """Why nothing can be copied, or nothing."""
    known = known_chapters()
    if chapter not in known:
        return f"CHAPTER={plain(chapter)}: name one of {' '.join(known)}"
    if not homes or not Path(homes).is_dir():
        return f"HOMES={plain(homes)}: name the folder of the home folders, for example /home"
    if file.startswith("/") or {"", ".", ".."} & set(file.split("/")):
        return f"FILE={plain(file)}: a path below each home, for example work/ch02/ch02.ipynb"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; what make exports stands in for arguments that are not given."""
    given = os.environ.get
    parser = argparse.ArgumentParser(prog="collect", description=__doc__, allow_abbrev=False)
    parser.add_argument("--chapter", default=given("CHAPTER", ""), help="for example ch02")
    parser.add_argument("--homes", default=given("HOMES", ""), help="the folder of the homes")
    parser.add_argument("--file", default=given("FILE", ""), help="the path below each home")
    parser.add_argument("--into", default=given("INTO", ""), help="where to")
    options = parser.parse_args(arguments)
    file = options.file or f"work/{options.chapter}/{options.chapter}.ipynb"
    into = options.into or f"handed_in/{options.chapter}"
    why = refusal(options.chapter, options.homes, file)
    if why:
        print(why, file=sys.stderr)
        return 2
    copied, said = collect_homes(Path(options.homes), file.split("/"), Path(into))
    for line in said:
        print(line)
    print(f"{len(copied)} copied to {plain(into, 300)}, {len(said)} not")
    return 0


if __name__ == "__main__":
    sys.exit(main())
