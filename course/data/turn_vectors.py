"""Vectors of a conversation's turns and questions, kept between runs."""

import hashlib
from pathlib import Path

import numpy as np

from course.data.dialogue import Conversation, turn_text
from memlib.embedders.protocol import Embedder, Vectors
from memlib.signals import in_context


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
