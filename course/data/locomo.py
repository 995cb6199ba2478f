"""LoCoMo: found or downloaded by its hash, never stored in the project (CC BY-NC 4.0)."""

import hashlib
import os
import urllib.request
from http.client import HTTPException
from pathlib import Path

import numpy as np

from course.data.dialogue import Conversation, load_dialogue, turn_text
from memlib.embedders import cached
from memlib.embedders.protocol import Embedder, Vectors
from memlib.signals import in_context

SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
ADDRESS = "https://raw.githubusercontent.com/snap-research/LoCoMo/main/data/locomo10.json"
DEVELOPMENT = ("conv-26", "conv-30", "conv-41")  # the first three in file order
SECONDS = 30.0


class LocomoUnavailable(RuntimeError):
    """The data cannot be had, or is not the data that was measured: says what to do."""


def cache_folder() -> Path:
    """Where downloads and vectors are kept: memlib's own cache, made if missing.

    Raises LocomoUnavailable if the folder cannot be made.
    """
    folder = cached.cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocomoUnavailable(f"MEMLIB_CACHE: no folder {folder}: {error.strerror}") from None
    return folder


def locomo_path(download: bool = True) -> Path:
    """Path of locomo10.json with the right hash: LOCOMO_PATH, else the cache, else a download.

    download  False: never touch the network
    Raises LocomoUnavailable for a missing file, a wrong hash, no network; nothing half-written.
    Source: snap-research/LoCoMo, data/locomo10.json.
    """
    named = os.environ.get("LOCOMO_PATH")
    if named:
        return _checked(Path(named), "LOCOMO_PATH")
    cached = cache_folder() / "locomo10.json"
    if cached.exists():
        return _checked(cached, "the cache (delete it to download again)")
    if not download:
        raise LocomoUnavailable("LoCoMo is not here: set LOCOMO_PATH or run `make locomo`")
    return _download(cached)


def load_locomo(
    download: bool = True,
) -> tuple[tuple[Conversation, ...], tuple[Conversation, ...]]:
    """Development (the first three conversations) and held-out (the other seven).

    Raises LocomoUnavailable as `locomo_path` does.
    Source: Maharana et al. 2024; the split is that of *Scoring beyond similarity*: 385 development
    questions.
    """
    conversations = load_dialogue(locomo_path(download))
    development = tuple(c for c in conversations if c.id in DEVELOPMENT)
    return development, tuple(c for c in conversations if c.id not in DEVELOPMENT)


def cached_vectors(
    conversation: Conversation,
    variant: str,
    embedder: Embedder,
    folder: Path | None,
    neighbours: int = 0,
) -> tuple[Vectors, Vectors]:
    """Vectors of a conversation's turns, (n, d), and of its questions, (q, d).

    variant     of the turns' texts, as `turn_text` takes it
    folder      keeps them between runs, by texts and embedder; None keeps nothing
    neighbours  how many turns before and after are embedded with each (`signals.in_context`)
    Raises what the embedder raises; nothing half-written.
    """
    alone = [turn_text(turn, variant) for turn in conversation.turns]
    sessions = [turn.session for turn in conversation.turns]
    turns = in_context(alone, sessions, neighbours, neighbours)
    questions = [question.text for question in conversation.questions]
    key = hashlib.sha256("\0".join([embedder.id, *turns, *questions]).encode()).hexdigest()[:24]
    cached = None if folder is None else folder / f"vectors-{key}.npz"
    if cached is not None and cached.exists():
        with np.load(cached) as stored:
            return stored["turns"], stored["questions"]
    made = embedder.embed(turns), embedder.embed(questions, role="query")
    if cached is not None:
        unfinished = cached.with_suffix(".part.npz")
        np.savez(unfinished, turns=made[0], questions=made[1])
        unfinished.replace(cached)
    return made


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _checked(path: Path, where: str) -> Path:
    try:
        found = _digest(path.read_bytes())
    except OSError as error:
        raise LocomoUnavailable(f"{where}: {path} cannot be read: {error.strerror}") from None
    if found != SHA256:
        raise LocomoUnavailable(
            f"{where}: {path} has sha256 {found[:12]}…, wanted {SHA256[:12]}…: other data than was"
            " measured"
        )
    return path


def _download(target: Path) -> Path:
    try:
        with urllib.request.urlopen(ADDRESS, timeout=SECONDS) as answer:
            content: bytes = answer.read()
    except (OSError, HTTPException) as error:
        raise LocomoUnavailable(
            f"no download ({error}): fetch locomo10.json yourself and set LOCOMO_PATH to it"
        ) from None
    if _digest(content) != SHA256:
        raise LocomoUnavailable(
            f"the download has sha256 {_digest(content)[:12]}…, wanted {SHA256[:12]}…: it is cut or"
            " was changed; nothing was kept"
        )
    unfinished = target.with_suffix(".part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise LocomoUnavailable(f"{target} cannot be written: {error.strerror}") from None
    return target
