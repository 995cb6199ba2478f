"""nbgrader's settings for this course: everything of an instructor's lies in grading/."""

from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.CourseDirectory.root = str(Path(__file__).resolve().parent / "grading")
