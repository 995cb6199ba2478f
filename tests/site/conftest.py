"""The site, built once for all its tests."""

import os
import subprocess
import sys

import pytest

from tests.notebooks.refresh import ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the site, built as `make site` builds it; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", ROOT / "site"]
    command += ["-d", folder / "doctrees", ROOT / "notebooks", folder / "html"]
    run = subprocess.run(command, text=True, capture_output=True, env=os.environ | {"TZ": "UTC"})
    assert (run.returncode, run.stdout + run.stderr) == (0, "")
    return folder / "html"
