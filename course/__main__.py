"""The course in a terminal: `python -m course demo`, or `evaluate` on Maya's cards and exam."""

import sys
from collections.abc import Sequence
from functools import partial

from course import demo
from course.data.files import data_path
from course.data.maya import COURSE_NOW
from memlib.__main__ import evaluate
from memlib.terminal import Parser, run

EXAM = (
    *("--cards", str(data_path("cards.csv")), "--questions", str(data_path("exam.csv"))),
    *("--now", COURSE_NOW.isoformat()),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command: `demo` prints tables (a), (b) and (c), `evaluate` a leaderboard.

    returns  0, or 2 after one line that says what is wrong
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = Parser("python -m course", description="The course in a terminal.")
    told = "demo: the published experiment; evaluate: the ways of scoring on Maya's exam"
    commands.add_argument("command", choices=["demo", "evaluate"], help=told)
    if commands.parse_args(given[:1]).command == "evaluate":
        own = any(option.startswith(("--cards", "--questions")) for option in given)
        known = "bundled (default), recorded, ollama or ollama:MODEL"
        options = given[1:] if own else [*EXAM, *given[1:]]
        return run(partial(evaluate, options, demo.choose_for_own_texts, known))
    return run(lambda: demo.experiment(demo.parser().parse_args(given[1:])))


if __name__ == "__main__":
    sys.exit(main())
