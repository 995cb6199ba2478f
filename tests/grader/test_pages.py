"""Feedback pages: one that cannot be made, or not in time, is that student's line."""

import sys

import pytest

from grader import pages

CHAPTER = "ch02"
LIVE = "<p>x</p><script src='https://cdn.example/x.js'>1</script>"


@pytest.fixture
def course(tmp_path):
    """Three students whose notebooks are shown, with pages of an earlier run."""
    for key in ("anna", "bea", "cem"):
        shown = tmp_path / "autograded" / key / CHAPTER / f"{CHAPTER}.ipynb"
        shown.parent.mkdir(parents=True)
        shown.touch()
        write(tmp_path, key, "earlier")
    return tmp_path


def write(course, key, text=LIVE):
    page = pages.page_of(course, key, CHAPTER)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


def test_a_page_that_is_never_ready_costs_no_other(course, monkeypatch):
    asked = []

    def run(folder, chapter, seconds, *more):
        asked.append((seconds, *more))
        if not more:
            write(folder, "anna")  # then bea's takes for ever
        elif more == ("--student=cem",):
            write(folder, "cem")
        return f"it took more than {seconds:g} s" if more != ("--student=cem",) else ""

    monkeypatch.setattr(pages, "run", run)
    assert pages.make(course, CHAPTER) == ["bea: no page (it took more than 240 s)"]
    assert asked == [(480,), (240, "--student=bea"), (240, "--student=cem")]
    assert not pages.page_of(course, "bea", CHAPTER).exists(), "the earlier one is out of date"
    for key in ("anna", "cem"):
        text = pages.page_of(course, key, CHAPTER).read_text(encoding="utf-8")
        assert text == "<p>x</p>", "it loads nothing"


def test_the_command_says_who_has_no_page(course, monkeypatch, capsys):
    monkeypatch.setattr(pages, "run", lambda *_: write(course, "anna") or "")
    assert pages.main(CHAPTER, course) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == [f"{key}: no page (nbgrader made none)" for key in ("bea", "cem")]
    assert told[2] == f"written: 1 pages in {course}/feedback"


@pytest.mark.parametrize(
    ("code", "seconds", "why"),
    [
        ("raise SystemExit(0)", 600, ""),
        ("raise SystemExit(3)", 600, "nbgrader ended with code 3"),
        ("import time; time.sleep(600)", 0.01, "it took more than 0.01 s"),
    ],
)
def test_a_run_has_a_limit_of_time(course, monkeypatch, code, seconds, why):
    monkeypatch.setattr(pages, "NBGRADER", (sys.executable, "-c", code))
    assert pages.run(course, CHAPTER, seconds) == why
