"""Records the vectors of every course text: `make vectors`, or `python -m course.data.vectors`.

What is recorded already keeps its bytes; what is missing is embedded; what is unused is dropped.
"""

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import cast, get_args

import numpy as np

from course.data.dialogue import load_dialogue, turn_text
from course.data.files import data_path
from course.data.maya import PUBLISHED_QUESTION, load_exam, load_practice
from course.data.recorded import read_recorded, text_key
from memlib.cards import load_cards
from memlib.embedders.minilm import Bundled
from memlib.embedders.protocol import Embedder, EmbedderUnavailable, Role, Vectors, check_texts

BOXES = (  # cards and the questions about them
    ("cards.csv", "exam.csv"),
    ("superseded_cards.csv", "superseded.csv"),
    ("capstone_cards.csv", "capstone_questions.csv"),
)


def course_texts() -> list[tuple[Role, str]]:
    """Return each text that a chapter embeds, with its role, once.

    Each box's cards (document) and questions (query), the published question and the practice
    questions (query), the dialogue's turns, bare and with speaker and caption (document), and its
    questions (query), and the rows of data/texts.csv.
    Raises ValueError for a row of texts.csv with an unknown role or no text.

    >>> ("query", PUBLISHED_QUESTION) in course_texts()
    True
    """
    found: list[tuple[Role, str]] = [("query", PUBLISHED_QUESTION)]
    for cards, questions in BOXES:
        found += [("document", text) for text in load_cards(data_path(cards))["text"]]
        found += [("query", text) for text in load_exam(data_path(questions))["question"]]
    practice, unanswered = load_practice()
    found += [("query", text) for text in (*practice["question"], *unanswered)]
    for talk in load_dialogue():
        found += [("document", turn_text(turn, v)) for turn in talk.turns for v in ("t", "sc")]
        found += [("query", asked.text) for asked in talk.questions]
    with data_path("texts.csv").open(encoding="utf-8", newline="") as file:
        for row, line in enumerate(csv.DictReader(file), start=2):
            role, text = cast(Role, line["role"]), line["text"]
            try:
                check_texts([text], role)
            except ValueError as error:
                raise ValueError(f"texts.csv row {row}: {error}") from None
            found.append((role, text))
    return list(dict.fromkeys(found))


def record(
    texts: Iterable[tuple[Role, str]], embedder: Embedder, folder: Path
) -> tuple[int, int, int]:
    """Write vectors.npy and vectors.json into `folder`; return how many (added, dropped, kept).

    Rows are sorted by key, so the same texts give the same bytes. Vectors of another model, or
    files that do not fit each other, count as nothing recorded. Each file is replaced whole.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     record([("document", "Poppy")], Bundled(), Path(folder))
    (1, 0, 0)
    """
    try:
        model, old = read_recorded(folder)
    except EmbedderUnavailable:
        model, old = embedder.id, {}
    wanted = {text_key(role, text): (role, text) for role, text in texts}
    kept = {key: old[key] for key in wanted if model == embedder.id and key in old}
    rows = dict(kept)
    for role in get_args(Role):
        missing = {k: text for k, (r, text) in wanted.items() if r == role and k not in kept}
        if missing:
            vectors = embedder.embed(list(missing.values()), role)
            rows |= dict(zip(missing, vectors, strict=True))
    _write(folder, embedder, dict(sorted(rows.items())))
    return len(rows) - len(kept), len(old) - len(kept), len(kept)


def _write(folder: Path, embedder: Embedder, rows: dict[str, Vectors]) -> None:
    stored = io.BytesIO()
    np.save(stored, np.array(list(rows.values()), np.float32).reshape(-1, embedder.dim))
    about = {
        "embedder": embedder.id,
        "dim": embedder.dim,
        "sha256": hashlib.sha256(stored.getvalue()).hexdigest(),
        "keys": list(rows),
    }
    _replace(folder / "vectors.npy", stored.getvalue())
    _replace(folder / "vectors.json", (json.dumps(about, indent=0) + "\n").encode())


def _replace(path: Path, content: bytes) -> None:
    """Put `content` in place of a file so that no reader ever sees half of it."""
    new = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        new.write_bytes(content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def main() -> None:
    """Bring data/vectors.npy and data/vectors.json up to date and say what changed."""
    texts = course_texts()
    added, dropped, kept = record(texts, Bundled(progress=True), data_path("texts.csv").parent)
    print(f"{len(texts)} texts: {added} added, {dropped} dropped, {kept} kept")


if __name__ == "__main__":
    main()
