"""An embedder that keeps what it embedded, for a page that asks again and again."""

from collections.abc import Callable, Sequence
from typing import Any

from memlib.embedders.protocol import (
    Embedder,
    Role,
    TooLong,
    Vectors,
    all_or_too_long,
    check_texts,
)

AT_ONCE = 16  # texts between two steps of the bar


class Remembered:
    """An embedder that embeds each text once, so that a new question costs one embedding.

    told  is told, while it works, how many texts are embedded, and of how many

    >>> from memlib.embedders.choose import choose
    >>> texts = Remembered(choose("bundled"))
    >>> texts.embed(["Poppy", "Daisy", "Poppy"]).shape, len(texts.rows)
    ((3, 384), 2)
    """

    def __init__(
        self, embedder: Embedder, told: Callable[[int, int], object] = lambda done, of: None
    ) -> None:
        self.told = told
        self.embedder, self.rows = embedder, dict[tuple[Role, str], Any]()
        self.id = embedder.id

    @property
    def dim(self) -> int:
        return self.embedder.dim

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return one row a text, (n, dim); only texts that are new reach the embedder.

        Raises TooLong when all others are embedded, and kept.
        """
        texts, what = check_texts(texts, role), ""
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self.rows]
        for at in range(0, len(new), AT_ONCE):
            some = new[at : at + AT_ONCE]
            try:
                vectors = dict(enumerate(self.embedder.embed(some, role)))
            except TooLong as error:
                vectors, what = error.vectors, error.what
            self.rows |= {(role, some[row]): vector for row, vector in vectors.items()}
            self.told(at + len(some), len(new))
        stored = self.rows
        found = {row: stored[role, t] for row, t in enumerate(texts) if (role, t) in stored}
        return all_or_too_long(texts, found, what, self.dim)
