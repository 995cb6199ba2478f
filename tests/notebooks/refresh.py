"""Run notebooks in fresh kernels and store clean outputs: `make refresh`."""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm
from traitlets.config import Config

from memlib.show import course_map

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(
    [
        *ROOT.glob("notebooks/[0-9]*.ipynb"),
        ROOT / "notebooks" / "playground.ipynb",
        *ROOT.glob("notebooks/exercises/ch*/ch*.ipynb"),
    ]
)
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
    return normalise(notebook)


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
    course_map.save(ROOT / "notebooks" / "images" / "course.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
