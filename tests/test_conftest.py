"""Skips and expected failures: told to a learner, forbidden on CI."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.notebooks.refresh import ROOT

SKIPS = "import pytest\n@pytest.mark.skip(reason='no tool')\ndef test_a():\n    assert False\n"
XFAILS = "import pytest\n@pytest.mark.xfail\ndef test_a():\n    assert False\n"


@pytest.mark.parametrize("hides", [SKIPS, XFAILS], ids=["skip", "xfail"])
@pytest.mark.parametrize(("ci", "code"), [("0", 0), ("1", 1)])
def test_what_is_skipped_is_red_on_ci_alone(tmp_path, hides, ci, code):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(hides, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    run = subprocess.run(command, cwd=tmp_path, env=os.environ | {"MEMLIB_CI": ci}, text=True)
    assert run.returncode == code
