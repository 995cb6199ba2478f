"""An embedder that asks an Ollama server."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from memlib.embedders.protocol import (
    FURTHER,
    EmbedderUnavailable,
    Role,
    TooLong,
    Vectors,
    _line,
    check_texts,
)
from memlib.progress import progress_bar
from memlib.server import (
    LOG,
    START,
    address,
    canonical,
    check_request,
    client,
    refusal,
    silence,
    too_long,
)

BATCH = 16  # texts in one request to a server


class Ollama:
    """A model of an Ollama server, by default nomic-embed-text on this machine.

    model     its name; with ":latest" at its end it is the same model, of the same id
    host      address; None means OLLAMA_HOST, else 127.0.0.1:11434
    timeout   seconds to wait for the answer about one text, between two packets; a request holds up
              to 16 texts, and each further one adds a tenth; for a connection two at most
    prefixes  put "search_query: " or "search_document: " before each text; part of the id
    progress  show a bar after two seconds
    A text is never cut: where one is too long for the model, those of its request are asked for one
    by one, the others go on, and TooLong names it. Every failure is one EmbedderUnavailable, and so
    is TooLong; ValueError for a model that is no name, or has spaces around it, for a host that is
    no str and for a bad timeout.

    >>> Ollama("nomic-embed-text:latest", prefixes=True).id
    'ollama:nomic-embed-text+prefixes'
    """

    def __init__(
        self,
        model: str = "nomic-embed-text",
        host: str | None = None,
        timeout: float = 30.0,
        prefixes: bool = False,
        progress: bool = False,
    ) -> None:
        check_request(model, timeout)
        self.id = canonical(f"ollama:{model}{'+prefixes' if prefixes else ''}")
        self.model, self.timeout, self.prefixes = model, timeout, prefixes
        self.host, self.progress = address(host), progress
        self._dim: int | None = None

    @property
    def dim(self) -> int:
        """Length of a vector; asks the server if it was never asked before."""
        return self._dim or self.embed(["dimension"]).shape[1]

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return (n, dim); no text is ever cut (TooLong). No texts give (0, dim)."""
        checked, found, what = check_texts(texts, role), dict[int, Vectors](), ""
        sent = [f"search_{role}: {text}" for text in checked] if self.prefixes else checked
        with progress_bar(len(sent), self.progress) as count:
            for at in range(0, len(sent), BATCH):
                rows = range(at, min(at + BATCH, len(sent)))
                try:
                    found |= zip(rows, self._ask(sent[at : at + BATCH]), strict=True)
                except TooLong as error:  # a server does not say which of them it was
                    what = error.what
                    for row in rows if len(rows) > 1 else ():
                        with suppress(TooLong):
                            found[row] = self._ask([sent[row]])[0]
                count(len(rows))
        if long := {row: text for row, text in enumerate(checked) if row not in found}:
            raise TooLong(what, long, found)
        return np.array([*found.values()]) if found else np.empty((0, self.dim), np.float32)

    def _ask(self, texts: list[str]) -> Vectors:
        if self._dim is None and (reason := silence(self.host, self.timeout)):
            raise self._unavailable(*reason)
        seconds = self.timeout * (1 + FURTHER * (len(texts) - 1))
        try:
            with client(self.host, seconds) as asked:
                sent = asked.embed(self.model, texts, truncate=False).embeddings
            rows = np.array(sent, np.float64)
            if rows.shape != (expected := (len(texts), self._dim or rows.shape[-1])):
                raise ValueError(f"vectors of shape {rows.shape} instead of {expected}")
            with np.errstate(over="ignore"):
                lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            if not (np.isfinite(lengths) & (lengths > 0)).all():
                raise ValueError("a zero or non-finite vector")
        except Exception as error:  # whatever a network or a server can do ends as one error
            what, todo = refusal(error, self.model, seconds)
            if too_long(error):
                raise TooLong(self._said(what), dict(enumerate(texts)), {}) from error
            raise self._unavailable(what, todo) from error
        self._dim = rows.shape[1]
        unit: Vectors = (rows / lengths).astype(np.float32)
        return unit

    def _said(self, what: str) -> str:
        return _line(f"Ollama at {self.host}: {what}")

    def _unavailable(self, what: str, todo: str) -> EmbedderUnavailable:
        also = ", or use bundled" if todo in (START, LOG) else ""
        return EmbedderUnavailable(f"{self._said(what)}: {todo}{also}")
