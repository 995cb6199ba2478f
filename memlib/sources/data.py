"""One place that knows where the course's data files lie."""

from pathlib import Path

_FOLDERS = (
    Path(__file__).parents[1] / "data",  # installed: the wheel carries the files inside memlib
    Path(__file__).parents[2] / "data",  # a checkout: beside memlib
)


def data_path(name: str) -> Path:
    """Path of a data file of the course, from any working directory.

    name     file name inside data/, for example "cards.csv"
    returns  an existing path
    Raises FileNotFoundError that names the file.

    >>> data_path("cards.csv").name
    'cards.csv'
    """
    for folder in _FOLDERS:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"no course data file {name!r} beside memlib: is the install complete?")
