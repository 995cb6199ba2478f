"""Pictures are compared by pixels, and `make refresh` keeps one that only another bit changed."""

import base64
import io
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from course.show import course_map, plots
from tests.notebooks import refresh
from tests.notebooks.pictures import NEAR, alike

X = [0.0, 1.0, 2.0]


def drawn(*values: float, label: str = "score") -> bytes:
    return plots.lines(X, {"card": list(values)}, "strength", label, at=1).png()


def changed(png: bytes, by: int, words: str = "") -> bytes:
    """The picture with one pixel `by` levels darker, and a description if `words` are given."""
    with Image.open(io.BytesIO(png)) as image:
        pixels, dpi = np.array(image.convert("RGBA")), image.info["dpi"]
    pixels[100, 200, :3] -= np.uint8(by)
    about, buffer = PngInfo(), io.BytesIO()
    if words:
        about.add_text("Description", words)
    Image.fromarray(pixels).save(buffer, format="png", dpi=dpi, pnginfo=about)
    return buffer.getvalue()


WHITE = drawn(0.1, 0.5, 0.9)


def test_a_last_bit_on_an_edge_is_the_same_picture() -> None:
    near = changed(WHITE, NEAR)
    assert near != WHITE
    assert alike(near, WHITE) and alike(WHITE, near)


@pytest.mark.parametrize(
    "other",
    [
        changed(WHITE, NEAR + 1),
        changed(WHITE, 0, "other words"),
        drawn(0.1, 0.51, 0.9),
        drawn(0.1, 0.5, 0.9, label="scare"),
        plots.bars(["a"], [1.0], "score").png(),
    ],
    ids=["one pixel", "its words", "a point", "a letter", "another picture"],
)
def test_what_a_reader_could_see_is_another_picture(other: bytes) -> None:
    assert not alike(WHITE, other)


def notebook(*pictures: bytes) -> nbformat.NotebookNode:
    outputs = [
        nbformat.v4.new_output(
            "display_data", {"image/png": base64.b64encode(png).decode(), "text/plain": "Lines."}
        )
        for png in pictures
    ]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("draw()", outputs=outputs)])


def pictures(found: nbformat.NotebookNode) -> list[bytes]:
    return [base64.b64decode(output.data["image/png"]) for output in found.cells[0].outputs]


def test_a_stored_picture_stays_unless_it_changed() -> None:
    stored, near, other = WHITE, changed(WHITE, 1), drawn(0.9, 0.5, 0.1)
    kept = refresh.with_stored_pictures(notebook(near, other), notebook(stored, stored))
    assert pictures(kept) == [stored, other]
    grown = refresh.with_stored_pictures(notebook(near, near), notebook(stored))
    assert pictures(grown) == [stored, near]


def test_a_notebook_run_elsewhere_keeps_its_stored_picture(tmp_path: Path) -> None:
    path = tmp_path / "one.ipynb"
    draw = "from course.show import plots\n"
    draw += 'plots.lines([0, 1, 2], {"card": [0.1, 0.5, 0.9]}, "strength", "score", at=1)'
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(draw, id="draw")]), path
    )
    found = refresh.execute(path, tmp_path)
    (shown, _) = found.cells[0].outputs
    assert base64.b64decode(shown.data["image/png"]) == WHITE
    stored = changed(WHITE, 1)
    shown.data["image/png"] = base64.b64encode(stored).decode()
    path.write_text(refresh.as_text(found), encoding="utf-8")
    assert refresh.as_text(refresh.execute(path, tmp_path)) == path.read_text(encoding="utf-8")


def test_the_map_is_written_only_if_it_changed(tmp_path: Path) -> None:
    place = tmp_path / "course.png"
    refresh.store_map(place)
    fresh = place.read_bytes()
    with Image.open(place) as image:
        words = image.info["Description"]
    place.write_bytes(near := changed(fresh, 1, words))
    refresh.store_map(place)
    assert place.read_bytes() == near
    place.write_bytes(changed(fresh, 0, "an older map"))
    refresh.store_map(place)
    assert place.read_bytes() == fresh


def test_the_readme_says_what_is_on_the_map(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("Before.\n\n![Map of the course: an older one.](x.png)\n", encoding="utf-8")
    refresh.store_sentence(readme)
    told = readme.read_text(encoding="utf-8")
    assert told == f"Before.\n\n![{course_map.sentence()}](x.png)\n"
