"""The map of the chapters agrees with the chapters, the picture and the README."""

from pathlib import Path

from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch
from PIL import Image

from course.chapters import CHAPTERS
from course.show import course_map, plots
from tests.notebooks.pictures import alike

ROOT = Path(__file__).parents[3]
PICTURE = ROOT / "notebooks" / "images" / "course.png"


def test_every_chapter_is_a_box() -> None:
    (ax,) = course_map.course_map().figure.axes
    boxes = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == len(CHAPTERS)
    assert {to_hex(box.get_edgecolor()) for box in boxes} == {plots.COLORS[0].lower()}


def test_every_box_and_the_sentence_say_the_same() -> None:
    picture = course_map.course_map()
    drawn = {text.get_text() for text in picture.figure.axes[0].texts}
    for chapter in CHAPTERS:
        assert chapter.name in drawn and chapter.adds in drawn
        assert f"{chapter.minutes} minutes" in drawn
        assert f"{chapter.name} ({chapter.adds})" in picture.sentence


def test_the_time_plan_adds_up() -> None:
    *rows, last = course_map.time_plan().splitlines()[1:]
    minutes = [int(row.split()[-1]) for row in rows]
    assert last == f"{len(minutes)} chapters: {sum(minutes)} minutes"
    assert len(rows) == len(CHAPTERS)


def test_the_stored_picture_and_the_readme_are_up_to_date() -> None:
    sentence = course_map.sentence()
    with Image.open(PICTURE) as stored:
        assert stored.info["Description"] == sentence, "run `make refresh`"
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"![{sentence}](notebooks/images/course.png)" in readme


def test_drawn_twice_it_is_the_same_picture(tmp_path: Path) -> None:
    course_map.save(tmp_path / "one.png")
    course_map.save(tmp_path / "two.png")
    assert alike((tmp_path / "one.png").read_bytes(), (tmp_path / "two.png").read_bytes())
