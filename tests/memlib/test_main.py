"""`python -m memlib`: a command is named, and what `evaluate` needs."""

import subprocess
import sys

import pytest

from memlib.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: command"),
        (["rank"], "argument command: invalid choice: 'rank' (choose from "),
        (["evaluate"], "the following arguments are required: --cards, --questions"),
        (["evaluate", "--questions", "q.csv"], "the following arguments are required: --cards"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    told, complaint = capsys.readouterr()
    assert (end.value.code, told) == (2, "")
    assert complaint.startswith(f"memlib: {said}") and complaint.count("\n") == 1


def test_the_command_is_a_process_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memlib", "evaluate", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0 and "--questions" in done.stdout
