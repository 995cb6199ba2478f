"""The map of the chapters agrees with the chapters, the picture and the README."""

import json
import re
from pathlib import Path

from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch
from PIL import Image

from course.show import course_map, plots
from tests.notebooks.pictures import alike

ROOT = Path(__file__).parents[3]
PICTURE = ROOT / "notebooks" / "images" / "course.png"


def test_twelve_chapters_in_order() -> None:
    assert [c.number for c in course_map.CHAPTERS] == [f"{n:02d}" for n in range(12)]
    assert len(course_map.CHAPTERS) == len(course_map.ROWS) * course_map.COLUMNS


def test_every_chapter_has_a_notebook_that_names_the_same_minutes() -> None:
    for chapter in course_map.CHAPTERS:
        found = list((ROOT / "notebooks").glob(f"{chapter.number}_*.ipynb"))
        assert [path.stem for path in found] == [
            f"{chapter.number}_{re.sub('[ -]', '_', chapter.topic.lower())}"
        ]
        first = "".join(json.loads(found[0].read_text(encoding="utf-8"))["cells"][0]["source"])
        told = re.search(r"\*\*Time\*\* (\d+) minutes", first)
        assert told and int(told[1]) == chapter.minutes, found[0].name


def test_every_chapter_is_a_box() -> None:
    (ax,) = course_map.course_map().figure.axes
    boxes = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == len(course_map.CHAPTERS)
    assert {to_hex(box.get_edgecolor()) for box in boxes} == {plots.COLORS[0].lower()}


def test_every_box_and_the_sentence_say_the_same() -> None:
    picture = course_map.course_map()
    drawn = {text.get_text() for text in picture.figure.axes[0].texts}
    for chapter in course_map.CHAPTERS:
        assert f"{chapter.number} {chapter.topic}" in drawn and chapter.adds in drawn
        assert f"{chapter.minutes} minutes" in drawn
        assert f"{chapter.number} {chapter.topic} ({chapter.adds})" in picture.sentence


def test_the_time_plan_adds_up() -> None:
    *rows, last = course_map.time_plan().splitlines()[1:]
    minutes = [int(row.split()[-1]) for row in rows]
    assert last == f"{len(minutes)} chapters: {sum(minutes)} minutes"
    assert len(rows) == len(course_map.CHAPTERS)


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
