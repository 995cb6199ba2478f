"""One hypothesis profile for every test, and no skip that hides a missing part on CI."""

import os

import pytest
from hypothesis import settings

settings.register_profile("course", deadline=None, derandomize=True, database=None)
settings.load_profile("course")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With MEMLIB_CI=1 a skipped or expected failure turns the whole run red."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("MEMLIB_CI") == "1" and reporter is not None:
        hidden = [*reporter.stats.get("skipped", []), *reporter.stats.get("xfailed", [])]
        for report in hidden:
            reporter.write_line(f"skipped or xfailed on CI: {report.nodeid}", red=True)
        if hidden and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
