"""Data that the project may not give on: named by a variable, in the cache, or downloaded."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pooch

from memlib.embedders import cached

SECONDS = 30.0
pooch.get_logger().setLevel("WARNING")


class DataUnavailable(RuntimeError):
    """The data cannot be had, or is not the data that was measured: says what to do."""


@dataclass(frozen=True)
class Source:
    """Files of others, and the only contents that are taken for them.

    name      for messages
    variable  of the environment: the folder that holds the files, or the file if there is one
    address   of the folder they are downloaded from, at one commit
    files     name -> the sha256 that is accepted, the download's own first
    """

    name: str
    variable: str
    address: str
    files: Mapping[str, tuple[str, ...]]


def cache_folder() -> Path:
    """Where downloads and vectors are kept: memlib's own cache, made if missing.

    Raises DataUnavailable if the folder cannot be made.
    """
    folder = cached.cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataUnavailable(f"MEMLIB_CACHE: no folder {folder}: {error.strerror}") from None
    return folder


def fetch(source: Source, download: bool = True) -> list[Path]:
    """Paths of a source's files, in its order, each with the right hash.

    download  False: never touch the network
    Raises DataUnavailable for a missing file, another hash, no network; nothing half-written.
    """
    if named := os.environ.get(source.variable):
        own = Path(named)
        paths = [own] if len(source.files) == 1 and not own.is_dir() else []
        paths = paths or [own / name for name in source.files]
        return [
            _checked(path, hashes, source.variable)
            for path, hashes in zip(paths, source.files.values(), strict=True)
        ]
    return [_cached(source, name, download) for name in source.files]


def _cached(source: Source, name: str, download: bool) -> Path:
    folder, hashes = cache_folder(), source.files[name]
    path = folder / name
    if path.exists():
        return _checked(path, hashes, "the cache (delete it to download again)")
    if not download:
        said = f"set {source.variable} or run `make locomo`"
        raise DataUnavailable(f"{source.name} is not here: {said}")
    get = pooch.HTTPDownloader(timeout=SECONDS)
    try:
        pooch.retrieve(f"{source.address}/{name}", f"sha256:{hashes[0]}", name, folder, None, get)
    except ValueError:  # another hash: pooch keeps nothing
        said = "the download is cut or was changed; nothing was kept"
        raise DataUnavailable(f"{name}: wanted sha256 {hashes[0][:12]}…: {said}") from None
    except OSError as error:  # requests' errors are such, too
        said = f"fetch it yourself and set {source.variable} to it"
        raise DataUnavailable(f"{name}: no download ({_short(error)}): {said}") from None
    return path


def _short(error: OSError) -> str:
    """The last cause in a line: a library's errors hold pages of what led to them."""
    return str(error.strerror or error.__class__.__name__)


def _checked(path: Path, hashes: tuple[str, ...], where: str) -> Path:
    try:
        digest = pooch.file_hash(str(path))
    except OSError as error:
        raise DataUnavailable(f"{where}: {path} cannot be read: {error.strerror}") from None
    if digest not in hashes:
        said = f"has sha256 {digest[:12]}…, wanted {hashes[0][:12]}…: other data than was measured"
        raise DataUnavailable(f"{where}: {path} {said}")
    return path
