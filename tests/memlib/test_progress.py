"""The bar: who sees it, what it says, and that the work is the same without it."""

import sys

import pytest

from memlib.progress import progress, progress_bar, watched

Capture = pytest.CaptureFixture[str]


def test_a_bar_starts_where_the_work_stopped(capsys: Capture) -> None:
    with progress_bar(20, shown=True, done=12, delay_seconds=0) as count:
        count(8)
    drawn = capsys.readouterr().err
    assert "12/20" in drawn and "20/20" in drawn
    with progress_bar(20, shown=False) as count:
        count(20)
    assert capsys.readouterr().err == ""


def test_what_is_over_soon_draws_nothing(capsys: Capture) -> None:
    with progress_bar(2, shown=True) as count:
        count(2)
    assert capsys.readouterr() == ("", "")


def test_a_bar_says_what_is_done_and_to_what(capsys: Capture) -> None:
    with progress_bar(2, True, delay_seconds=0) as count:
        count(2)
    drawn = capsys.readouterr().err
    assert "embedding: " in drawn and "text/s" in drawn and drawn.endswith("\n")
    with progress_bar(2, True, 0, 0, "ranking", "question", leave=False) as count:
        count(2)
    drawn = capsys.readouterr().err
    assert "ranking: " in drawn and "question/s" in drawn and drawn.endswith(" \r")


@pytest.mark.parametrize("terminal", [True, False])
def test_steps_come_one_by_one_and_a_terminal_counts_them(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert watched() is terminal
    assert list(progress("abc", "letters")) == ["a", "b", "c"]
    drawn = capsys.readouterr().err
    assert ("letters: " in drawn and "0/3" in drawn) is terminal
    assert terminal or drawn == ""


def test_without_tqdm_or_a_stream_there_is_no_bar_and_no_error(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as gone:
        gone.setitem(sys.modules, "tqdm", None)
        with progress_bar(2, shown=True, delay_seconds=0) as count:
            count(2)
        assert capsys.readouterr() == ("", "")
        gone.setattr(sys, "stderr", None)
        assert not watched()
        assert list(progress([1, 2], "numbers")) == [1, 2]
