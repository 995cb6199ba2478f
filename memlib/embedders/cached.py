"""An embedder whose vectors are kept in a file, so that the next run embeds new texts only."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from memlib.embedders.protocol import (
    Embedder,
    Role,
    TooLong,
    Vectors,
    all_or_too_long,
    check_texts,
)


def cache_folder() -> Path:
    """Where vectors are kept: MEMLIB_CACHE, or ~/.cache/memlib; it need not be there yet."""
    return Path(os.environ.get("MEMLIB_CACHE") or Path.home() / ".cache" / "memlib")


class Cached:
    """An embedder that embeds each text once, in this run and in later ones.

    folder  a file for each embedder lies there: hashes of texts and their vectors, never a text.
            What cannot be read is set aside as .damaged; what cannot be written is not kept

    >>> from tempfile import TemporaryDirectory
    >>> from memlib.embedders.choose import choose
    >>> with TemporaryDirectory() as folder:
    ...     _ = Cached(choose("bundled"), Path(folder)).embed(["Poppy"])
    ...     Cached(choose("bundled"), Path(folder)).embed(["Poppy", "Daisy"]).shape
    (2, 384)
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.embedder, self.id = embedder, embedder.id
        name = hashlib.sha256(embedder.id.encode()).hexdigest()[:16]
        self.file = folder / f"embedded-{name}.npz"
        self.rows = self._read()

    @property
    def dim(self) -> int:
        return self.embedder.dim

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return one row a text, (n, dim); only texts that are new reach the embedder.

        Raises what the embedder raises; TooLong when all others are embedded, and kept.
        """
        texts = check_texts(texts, role)
        keys = [hashlib.sha256(f"{role}\0{text}".encode()).hexdigest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.rows}
        what = ""
        if new:
            try:
                vectors = dict(enumerate(self.embedder.embed(list(new.values()), role)))
            except TooLong as error:
                what, vectors = error.what, error.vectors
            names = list(new)
            self.rows |= {names[row]: vector for row, vector in vectors.items()}
            self._write()
        known = {row: self.rows[key] for row, key in enumerate(keys) if key in self.rows}
        return all_or_too_long(texts, known, what, self.dim)

    def _read(self) -> dict[str, Vectors]:
        try:
            with self.file.open("rb") as file, np.load(file, allow_pickle=False) as kept:
                keys, vectors = kept["keys"].tolist(), kept["vectors"]
                if vectors.ndim != 2 or vectors.dtype != np.float32 or len(keys) != len(vectors):
                    raise ValueError(f"{self.file} holds {vectors.shape} vectors of {len(keys)}")
                return dict(zip(keys, vectors, strict=True))
        except FileNotFoundError:
            return {}
        except Exception:  # whatever numpy and zipfile say of a damaged file
            with suppress(OSError):
                self.file.replace(self.file.with_suffix(".damaged"))
            return {}

    def _write(self) -> None:
        unfinished = self.file.with_name(f"{self.file.stem}.{os.getpid()}.part.npz")
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            try:
                keys = np.array(list(self.rows))
                np.savez(unfinished, keys=keys, vectors=np.array([*self.rows.values()]))
                unfinished.replace(self.file)
            finally:
                unfinished.unlink(missing_ok=True)
