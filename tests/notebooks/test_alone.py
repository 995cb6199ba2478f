"""Every notebook runs alone, from another folder, without a network, and gives what is stored."""

import shutil
import subprocess
import sys

import pytest

from tests.notebooks.refresh import NOTEBOOKS, ROOT

SCRIPT = """
import socket, sys
from pathlib import Path
from tests.notebooks.refresh import as_text, execute
try:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
except ConnectionRefusedError:
    sys.exit("there is a network")  # in a namespace of its own even loopback is down
except OSError:
    pass
path = Path(sys.argv[1])
sys.exit(as_text(execute(path, Path(sys.argv[2]))) != path.read_text(encoding="utf-8"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_alone_elsewhere_and_offline(path, tmp_path):
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare, from util-linux, is not installed")
    private = ["--net"] if sys.platform == "linux" and _root() else ["--net", "--map-root-user"]
    command = [unshare, *private, sys.executable, "-c", SCRIPT, str(path), str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]


def _root():
    import os

    return os.geteuid() == 0
