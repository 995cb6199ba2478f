"""Read built pages, and say what is wrong with them."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data"}
FROM_CSS = re.compile(r"@import\s+['\"]([^'\"]+)|url\(\s*['\"]?([^'\")]+)")


@dataclass
class Page:
    """What a page holds, links to, and loads."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    neighbours: dict[str, str] = field(default_factory=dict)
    speechless: list[str] = field(default_factory=list)  # pictures without words
    text: str = ""


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        page = self.page
        page.ids |= {has[name] for name in ("id", "name") if name in has}
        if tag == "a" and "href" in has:
            page.links.append(has["href"])
        if tag == "link" and has.get("rel") in ("next", "prev", "search"):
            page.neighbours[has["rel"]] = has["href"]
            page.links.append(has["href"])
        elif tag == "link":
            page.loads.append(has["href"])
        if has.get(LOADED.get(tag, "")):
            page.loads.append(has[LOADED[tag]])
        page.loads += [a or b for a, b in FROM_CSS.findall(has.get("style", ""))]
        if tag == "img" and len(has.get("alt", "").split()) < 5:
            page.speechless.append(has.get("src", ""))

    def handle_data(self, data: str) -> None:
        self.page.text += data


def read(path: Path) -> Page:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.page.text = " ".join(reader.page.text.split())
    return reader.page


def read_all(folder: Path) -> dict[str, Page]:
    """The pages of a folder by their path in it."""
    paths = sorted(folder.rglob("*.html"))
    return {p.relative_to(folder).as_posix(): read(p) for p in paths if "_static" not in p.parts}


def outside(address: str) -> bool:
    """Whether an address leads out of the folder; `data:` carries its content along."""
    return bool(urlsplit(address).netloc) or urlsplit(address).scheme not in ("", "data")


def broken(folder: Path, pages: dict[str, Page]) -> list[str]:
    """Links to files or places that are not there, and loaded files that are missing."""
    found = []
    for name, page in pages.items():
        for address in page.links + page.loads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
            path = target.resolve()
            if not path.is_file():
                found.append(f"{name}: {address}: no such file")
            elif parts.fragment and path.suffix == ".html":
                there = pages[path.relative_to(folder.resolve()).as_posix()]
                if unquote(parts.fragment) not in there.ids:
                    found.append(f"{name}: {address}: no such place on the page")
    return found


def fetched(folder: Path, pages: dict[str, Page]) -> list[str]:
    """What pages and style sheets would load from elsewhere: scripts, styles, pictures, fonts."""
    found = [f"{name}: {a}" for name, page in pages.items() for a in page.loads if outside(a)]
    for path in sorted(folder.rglob("*.css")):
        named = FROM_CSS.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.name}: {a or b}" for a, b in named if outside(a or b)]
    return found


def speechless(pages: dict[str, Page]) -> list[str]:
    """Pictures that a reader who cannot see them is told nothing about."""
    return [f"{name}: {src}" for name, page in pages.items() for src in page.speechless]
