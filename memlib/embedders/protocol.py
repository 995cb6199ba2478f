"""What every source of vectors offers, and the one error when it has none.

Each carries its model's id: never compare vectors of two ids.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

Role = Literal["query", "document"]
Vectors = NDArray[np.float32]
FURTHER = 0.1  # of the time-out, added for each further text of a request
NAMED = 8  # over-long texts that one message lists


class EmbedderUnavailable(RuntimeError):
    """No vectors can be had; the message is one line and says what to do next."""


class TooLong(EmbedderUnavailable):
    """Texts of a call that are longer than the model reads; none is cut, and no other is lost.

    what     who refused them, and in which words
    texts    those texts, by their number in the call
    vectors  of the other texts of the call, by number
    names    what each of those texts is called in the message, which lists the first eight
    """

    def __init__(
        self,
        what: str,
        texts: Mapping[int, str],
        vectors: Mapping[int, Vectors],
        names: Sequence[str] = (),
    ) -> None:
        self.what, self.texts, self.vectors = what, dict(texts), dict(vectors)
        self.names = [names[row] if names else f"texts[{row}]" for row in texts]
        listed = [
            f"{name} ({len(text)} characters, {text[:30]!r})"
            for name, text in zip(self.names[:NAMED], texts.values(), strict=False)
        ]
        more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
        super().__init__(f"{what}: shorten {', '.join(listed)}{more}")


def _line(what: str) -> str:
    line = " ".join(what.split())
    return line if len(line) < 200 else line[:199] + "…"


def unavailable(what: str, todo: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"{_line(what)}: {todo}")


class Embedder(Protocol):
    """What every source of vectors offers."""

    @property
    def id(self) -> str: ...
    @property
    def dim(self) -> int: ...
    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return one row a text, (n, dim) float32, each of length 1."""


def check_texts(texts: Sequence[str], role: Role) -> list[str]:
    """Return `texts` as a list, or raise ValueError that names the row and the value.

    A lone str is refused: it would be read as a list of letters.

    >>> check_texts(["Poppy", " "], "document")
    Traceback (most recent call last):
    ValueError: texts[1] is ' ': a text must not be empty
    """
    if role not in get_args(Role):
        raise ValueError(f"role is {role!r}: must be 'query' or 'document'")
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise ValueError(f"texts is {texts!r}: must be a list of texts")
    checked = list(texts)
    for row, text in enumerate(checked):
        if not isinstance(text, str):
            raise ValueError(f"texts[{row}] is {text!r}: a text must be a str")
        if not text.strip():
            raise ValueError(f"texts[{row}] is {text!r}: a text must not be empty")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError(f"texts[{row}] is {text!r}: a text must not hold half a character")
    return checked


def all_or_too_long(
    texts: Sequence[str], known: Mapping[int, Vectors], what: str, dim: int
) -> Vectors:
    """Return the vectors of all texts, (n, dim), or raise TooLong for those that have none.

    known  the vectors of the texts that have one, by number;  what  who refused the others

    >>> all_or_too_long(["a"], {0: np.float32([1, 0])}, "", 2).shape
    (1, 2)
    """
    if long := {row: text for row, text in enumerate(texts) if row not in known}:
        raise TooLong(what, long, known)
    return np.array([*known.values()], np.float32).reshape(-1, dim)


def embed_named(
    embedder: Embedder, names: Sequence[str], texts: Sequence[str], role: Role = "document"
) -> Vectors:
    """Return the texts' vectors, (n, dim); TooLong calls a text by its name, not by its row.

    >>> from memlib.embedders.choose import choose
    >>> embed_named(choose("bundled"), ["card 'poppy'"], ["Poppy"]).shape
    (1, 384)
    """
    try:
        return embedder.embed(texts, role)
    except TooLong as error:
        raise TooLong(error.what, error.texts, error.vectors, names) from error
