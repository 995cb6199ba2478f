"""The data folder: found from anywhere, and every file listed with origin, licence and hash.

After a file of data/ has changed, `python -m tests.course.data.test_files` rewrites the hashes.
"""

import hashlib
import re
from pathlib import Path

import pytest

from course.data.files import data_path

ROOT = Path(__file__).parents[3]
DATA = ROOT / "data"
README = DATA / "README.md"
LICENCES = ("CC-BY-4.0", "Apache-2.0")
ROW = re.compile(r"^\| (?P<file>\S+) \| (?P<origin>.+) \| (?P<licence>\S+) \| (?P<sha256>\S+) \|$")


def place(name: str, folder: Path = DATA) -> Path:
    """A listed file: what memlib needs lies inside it, all else in data/."""
    return ROOT / name if name.startswith("memlib/") else folder / name


def listing(readme: str) -> list[re.Match[str]]:
    """The rows of the table between the two markers."""
    _, table = readme.split("<!-- files: ", 1)
    lines = table.split("<!-- end of files -->")[0].strip().splitlines()
    start = lines.index("|---|---|---|---|") + 1
    rows = [ROW.match(line) for line in lines[start:] if line]
    found = [row for row in rows if row]
    assert len(found) == len(rows) > 0, "data/README.md: a row has not four filled columns"
    return found


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def with_hashes(readme: str, folder: Path) -> str:
    """The README with the hash of each listed file that is there."""
    for row in listing(readme):
        path = place(row["file"], folder)
        if path.is_file():
            line = f"{row[0][: row.start('sha256') - row.start()]}{sha256(path)} |"
            readme = readme.replace(row[0], line)
    return readme


LISTED = listing(README.read_text(encoding="utf-8"))
FILES = [
    path
    for path in (*sorted(DATA.rglob("[!.]*")), *sorted((ROOT / "memlib").rglob("*.txt")))
    if path.is_file() and path != README
]


def test_every_file_is_listed_exactly_once_and_nothing_else_is() -> None:
    listed = {place(row["file"]) for row in LISTED}
    assert len(listed) == len(LISTED) and listed == set(FILES)


@pytest.mark.parametrize("row", LISTED, ids=lambda row: row["file"])
def test_the_hash_is_that_of_the_file(row: re.Match[str]) -> None:
    found = sha256(place(row["file"]))
    line = f"| {row['file']} | {row['origin']} | {row['licence']} | {found} |"
    assert row["sha256"] == found, f"if the change is meant, data/README.md wants:\n{line}"


@pytest.mark.parametrize("row", LISTED, ids=lambda row: row["file"])
def test_the_licence_is_one_that_the_project_carries(row: re.Match[str]) -> None:
    text = (ROOT / "LICENSE-TEXT").read_text(encoding="utf-8")
    assert row["licence"] in LICENCES and row["licence"] in text
    if row["licence"] != "CC-BY-4.0":
        assert place(row["file"]).relative_to(ROOT).as_posix() in text, (
            "LICENSE-TEXT must name the exception"
        )


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix != ".npy"], ids=lambda path: path.name
)
def test_text_is_utf8_with_line_feeds_and_a_last_one(path: Path) -> None:
    content = path.read_bytes()  # .gitattributes asks for line feeds: others would change the hash
    assert b"\r" not in content and not content.startswith(b"\xef\xbb\xbf")
    assert content.decode("utf-8").endswith("\n")


def test_the_hashes_can_be_rewritten(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n", encoding="utf-8")
    old = f"""<!-- files: -->

| file | origin | licence | sha256 |
|---|---|---|---|
| a.csv | here, there | CC-BY-4.0 | - |
| b.csv | nowhere yet | CC-BY-4.0 | {"0" * 64} |

<!-- end of files -->
| a.csv | another table | is left | - |
"""
    new = with_hashes(old, tmp_path)
    digest = hashlib.sha256(b"x\n").hexdigest()
    assert new == old.replace("CC-BY-4.0 | - |", f"CC-BY-4.0 | {digest} |")
    assert with_hashes(new, tmp_path) == new


@pytest.mark.parametrize("row", ["| a.csv | here | - |", "| a.csv |  | CC-BY-4.0 | - |", ""])
def test_a_row_that_says_too_little_is_refused(row: str) -> None:
    with pytest.raises(AssertionError, match="a row has not four filled columns"):
        listing(f"<!-- files: -->\n|---|---|---|---|\n{row}\n<!-- end of files -->")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"'nothing\.csv'"):
        data_path("nothing.csv")


def test_data_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for row in LISTED:
        assert "/" in row["file"] or data_path(row["file"]).read_bytes()


if __name__ == "__main__":
    README.write_text(with_hashes(README.read_text(encoding="utf-8"), DATA), encoding="utf-8")
    print(f"rewrote the hashes in {README.relative_to(ROOT)}")
