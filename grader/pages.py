"""The learners' feedback pages: nbgrader makes them, one that it cannot make costs no other.

`python -m grader.pages ch02`, which `make feedback` calls.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from grader import results
from grader.tasks import EXERCISES

SECONDS_TO_START, SECONDS = 120, 120  # for nbgrader, and for each page; most take less than one
SCRIPT = re.compile(r"<script\b.*?</script\s*>", re.IGNORECASE | re.DOTALL)
NBGRADER = (str(Path(sys.executable).with_name("nbgrader")),)


def page_of(course: Path, key: str, chapter: str) -> Path:
    return course / "feedback" / key / chapter / f"{chapter}.html"


def make(course: Path, chapter: str) -> list[str]:
    """Make every page of a chapter anew; returns a line for each student without one.

    All at once, which is quickest. Who has no page then gets one alone, with a limit of time.
    """
    keys = sorted(p.parts[-3] for p in course.glob(f"autograded/*/{chapter}/{chapter}.ipynb"))
    for key in keys:
        page_of(course, key, chapter).unlink(missing_ok=True)
    if keys:
        run(course, chapter, SECONDS_TO_START + SECONDS * len(keys))
    said = []
    for key in keys:
        page = page_of(course, key, chapter)
        if not page.is_file():
            why = run(course, chapter, SECONDS_TO_START + SECONDS, f"--student={key}")
            if not page.is_file():
                said.append(f"{key}: no page ({why or 'nbgrader made none'})")
                continue
        quiet(page)
    return said


def run(course: Path, chapter: str, seconds: float, *more: str) -> str:
    """Have nbgrader make pages; returns what ended it, if that was not its own end."""
    words = ["generate_feedback", chapter, "--force", "--log-level=WARN", *more]
    done = subprocess.Popen(
        [*NBGRADER, *words, f"--CourseDirectory.root={course.resolve()}"],
        cwd=EXERCISES.parents[1],  # its settings lie there
        env=os.environ | {"PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore"},
    )
    try:
        code = done.wait(seconds)
    except subprocess.TimeoutExpired:
        return f"it took more than {seconds:g} s"
    finally:
        done.kill()
        done.wait()
    return f"nbgrader ended with code {code}" if code else ""


def quiet(page: Path) -> None:
    """Take every script out of a page: they load formulas' fonts from the network."""
    page.write_text(SCRIPT.sub("", page.read_text(encoding="utf-8")), encoding="utf-8")


def main(chapter: str, course: Path = results.COURSE) -> int:
    """Make the pages, say who has none; the exit code is 1 if there is such a one."""
    without = make(course, chapter)
    for line in without:
        print(line)
    made = len(list(course.glob(f"feedback/*/{chapter}/{chapter}.html")))
    print(f"written: {made} pages in {course}/feedback")
    return int(bool(without))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
