"""The chapters, read from `chapters.toml`: the map, the site, the panels and the tests ask here."""

import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("chapters.toml")


@dataclass(frozen=True)
class Chapter:
    """A chapter, as its entry in the table says.

    part     the row of the map that it stands in
    file     its notebook's name: two digits, then its topic
    title    its topic in words
    adds     what it adds to the score, in a few words
    minutes  how long it takes
    """

    part: str
    file: str
    title: str
    adds: str
    minutes: int

    @property
    def number(self) -> str:
        """Two digits, for example 05."""
        return self.file[:2]

    @property
    def name(self) -> str:
        """Number and title, as lists call it."""
        return f"{self.number} {self.title}"

    @property
    def notebook(self) -> str:
        """The notebook's path in the project."""
        return f"notebooks/{self.file}.ipynb"

    @property
    def exercise(self) -> str:
        """The path of its exercise; every chapter WITH_EXERCISE has one."""
        return f"notebooks/exercises/ch{self.number}/ch{self.number}.ipynb"


def read(table: Path = TABLE) -> tuple[Chapter, ...]:
    """The chapters of a table in their order.

    ValueError, naming the chapter, the key and the value, if an entry lacks something, holds
    something unknown, or is not numbered by its place.

    >>> [chapter.name for chapter in read()][5]
    '05 BM25'
    """
    found: list[Chapter] = []
    for part in tomllib.loads(table.read_text(encoding="utf-8"))["part"]:
        for entry in part["chapters"]:
            where = f"{table.name}, chapter {len(found):02d}"
            found.append(_chapter(where, f"{len(found):02d}", {"part": part["title"], **entry}))
    return tuple(found)


def _chapter(where: str, number: str, entry: dict[str, Any]) -> Chapter:
    wanted = [field.name for field in fields(Chapter)]
    if odd := sorted(set(wanted) ^ set(entry)):
        raise ValueError(f"{where}: {', '.join(odd)}: must hold {', '.join(wanted[1:])}, no more")
    for name in wanted[:-1]:
        if not isinstance(entry[name], str) or not entry[name].strip():
            raise ValueError(f"{where}: {name} is {entry[name]!r}: must be a text, not empty")
    if not re.fullmatch(rf"{number}_[a-z0-9_]+", entry["file"]):
        raise ValueError(f"{where}: file is {entry['file']!r}: must be {number}_ and a topic")
    if type(entry["minutes"]) is not int or entry["minutes"] < 1:
        raise ValueError(f"{where}: minutes is {entry['minutes']!r}: must be a whole number, 1 up")
    return Chapter(**entry)


CHAPTERS = read()
WITH_EXERCISE = CHAPTERS[1:]
