"""One place that knows where the course's data files lie."""

from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "data"


def data_path(name: str) -> Path:
    """Path of a data file of the course, from any working directory.

    name     file name inside data/, for example "cards.csv"
    returns  an existing path
    Raises FileNotFoundError that names the file.

    >>> data_path("cards.csv").name
    'cards.csv'
    """
    if (_FOLDER / name).is_file():
        return _FOLDER / name
    raise FileNotFoundError(f"no course data file {name!r} in {_FOLDER}: is the checkout complete?")
