"""Run notebooks in fresh kernels and store clean outputs: `make refresh`."""

import base64
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm
from traitlets.config import Config

from course.chapters import CHAPTERS, WITH_EXERCISE
from course.show import course_map
from tests.notebooks.pictures import alike

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [
    *(ROOT / chapter.notebook for chapter in CHAPTERS),
    *(ROOT / chapter.exercise for chapter in WITH_EXERCISE),
    ROOT / "notebooks" / "playground.ipynb",
]
WIDGET = "application/vnd.jupyter.widget-view+json"
PLACEHOLDER = "The controls appear here when you run this cell: click it, then press Shift+Enter."
CELL_SECONDS = 60
NO_SERVER = "127.0.0.1:9"  # what is stored is what a reader without Ollama sees


def execute(path: Path, cwd: Path) -> nbformat.NotebookNode:
    """Run a notebook top to bottom in a fresh kernel that talks through files, not the network."""
    notebook = nbformat.read(path, as_version=4)
    os.environ["OLLAMA_HOST"] = NO_SERVER
    with tempfile.TemporaryDirectory() as sockets:
        config = Config()
        config.KernelManager.transport = "ipc"
        config.KernelManager.ip = str(Path(sockets) / "kernel")
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            coalesce_streams=True,
            resources={"metadata": {"path": str(cwd)}},
            config=config,
        )
        client.execute()
    return with_stored_pictures(normalise(notebook), nbformat.read(path, as_version=4))


def normalise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Strip what differs from run to run: times, widget state, widget views, versions."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        for noise in ("execution", "collapsed", "scrolled", "jupyter"):
            cell.metadata.pop(noise, None)
        for output in cell.get("outputs", []):
            if WIDGET in output.get("data", {}):
                output.data = nbformat.from_dict({"text/plain": PLACEHOLDER})
    return notebook


def with_stored_pictures(
    notebook: nbformat.NotebookNode, stored: nbformat.NotebookNode
) -> nbformat.NotebookNode:
    """A picture that only another processor's last bit changed stays the one that is stored."""
    for cell, before in zip(notebook.cells, stored.cells, strict=True):
        for new, old in zip(cell.get("outputs", []), before.get("outputs", []), strict=False):
            pair = [output.get("data", {}).get("image/png") for output in (new, old)]
            if None not in pair and alike(*map(base64.b64decode, pair)):
                new.data["image/png"] = old.data["image/png"]
    return notebook


def store_map(place: Path) -> None:
    """Draw the map of the chapters; one that looks like the new one stays."""
    with tempfile.TemporaryDirectory() as folder:
        course_map.save(drawn := Path(folder) / "course.png")
        if not (place.exists() and alike(drawn.read_bytes(), place.read_bytes())):
            place.write_bytes(drawn.read_bytes())


def store_sentence(readme: Path) -> None:
    """The README tells whoever cannot see the map what is on it."""
    before = readme.read_text(encoding="utf-8")
    alt = f"![{course_map.sentence()}]"
    text = re.sub(r"!\[Map of the course[^\]]*\]", lambda _: alt, before)
    if text != before:
        readme.write_text(text, encoding="utf-8", newline="\n")


def as_text(notebook: nbformat.NotebookNode) -> str:
    """The bytes of a notebook file, always the same for the same notebook."""
    return nbformat.writes(notebook) + "\n"


def main(names: list[str]) -> int:
    """Refresh all notebooks, or those whose path contains one of `names`."""
    chosen = [p for p in NOTEBOOKS if not names or any(name in str(p) for name in names)]
    for path in tqdm(chosen, desc="notebooks", file=sys.stderr):
        text = as_text(execute(path, path.parent))
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8", newline="\n")
            tqdm.write(f"stored {path.relative_to(ROOT)}")
    store_map(ROOT / "notebooks" / "images" / "course.png")
    store_sentence(ROOT / "README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
