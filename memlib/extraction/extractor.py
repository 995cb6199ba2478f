"""Extractor: asks a model for an extraction, checks what comes back, stores nothing by itself."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from memlib.extraction.reply import (
    CATEGORIES,
    ENTITY_TYPES,
    Extraction,
    ReplyError,
    fill_prompt,
    parse_reply,
    production_prompt,
    reply_schema,
)
from memlib.extraction.suspicion import suspicions, ungrounded
from memlib.server import NO_ADDRESS, address, check_request, client, refusal, silence

CHAT_MODEL = "llama3.2"
ATTEMPTS = 3
OPTIONS = {"temperature": 0, "num_ctx": 8192, "num_predict": 512}
LONGEST_CONVERSATION = 8000  # characters: with the prompt and the replies inside num_ctx
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(\{.*\})\s*\n```", re.DOTALL)
_AGAIN = "That reply was refused: {problem}. Answer the first message again, by its rules."


class ExtractorUnavailable(RuntimeError):
    """No reply can be had; the message is one line and says what to do next."""


class Refused(NamedTuple):
    """A reply as it came, and what was wrong with it."""

    reply: object
    problem: str


class ExtractionError(ReplyError):
    """No attempt gave a usable reply; `refused` keeps every one of them, `reply` the last."""

    def __init__(self, refused: tuple[Refused, ...]) -> None:
        last, n = refused[-1], len(refused)
        tries = f"{n} attempt{'s' if n > 1 else ''}"
        super().__init__(f"no usable reply in {tries}, the last: {last.problem}", last.reply)
        self.refused = refused


class Extracted(NamedTuple):
    """An extraction and everything that was noticed on the way to it."""

    extraction: Extraction
    suspicions: tuple[str, ...] = ()  # none, or somebody has to look before it is stored
    repairs: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()  # earlier attempts


def extract(
    conversation: str,
    model: str = CHAT_MODEL,
    host: str | None = None,
    timeout: float = 60.0,
    attempts: int = ATTEMPTS,
    categories: Sequence[str] = CATEGORIES,
    entity_types: Sequence[str] = ENTITY_TYPES,
) -> Extracted:
    """Ask a model of an Ollama server for the one fact to keep, with category, rating and names.

    conversation  1 to 8,000 characters
    host          address; None means OLLAMA_HOST, else 127.0.0.1:11434
    timeout       seconds to wait for each reply, between two packets: a server that trickles takes
                  longer; for a connection two at most
    attempts      how often to ask; from the second time on the model is told what was wrong
    categories, entity_types  the closed lists from which the model chooses; nothing else is taken
    returns       Extracted: read its `suspicions` before anything is stored, or use `card_fields`
    Raises ExtractionError when every reply was refused, ExtractorUnavailable for all that can go
    wrong between here and the model, ValueError for a bad argument.
    Source: *Scoring beyond similarity*, Importance (one call at write time).
    """
    prompt = fill_prompt(production_prompt(categories, entity_types), conversation)
    if len(conversation) > LONGEST_CONVERSATION:
        most = f"{LONGEST_CONVERSATION} at most"
        raise ValueError(f"conversation has {len(conversation)} characters: {most}, cut it")
    check_request(model, timeout)
    if not isinstance(attempts, int) or isinstance(attempts, bool) or attempts < 1:
        raise ValueError(f"attempts is {attempts!r}: must be a whole number, 1 or more")
    where, refused = address(host), list[Refused]()
    schema = reply_schema(categories, entity_types)
    if reason := silence(where, timeout):
        raise _unavailable(where, *reason)
    ask = [{"role": "user", "content": prompt}]
    for _ in range(attempts):
        reply = chat(ask, model, where, timeout, schema)
        try:
            extracted = read_reply(conversation, reply, categories, entity_types)
            return extracted._replace(refused=tuple(refused))
        except ReplyError as error:
            refused.append(Refused(reply, str(error)))
            ask.append({"role": "assistant", "content": reply or ""})
            ask.append({"role": "user", "content": _AGAIN.format(problem=error)})
    raise ExtractionError(tuple(refused))


def read_reply(
    conversation: str,
    reply: str | None,
    categories: Sequence[str] = CATEGORIES,
    entity_types: Sequence[str] = ENTITY_TYPES,
) -> Extracted:
    """What one reply gives: parsed, repaired where that is certain, held against the conversation.

    conversation  what the reply is about
    reply         as it came
    categories, entity_types  the lists that the model was given
    returns       Extracted, with its suspicions
    Raises ReplyError for a reply that `parse_reply` refuses or `suspicion.ungrounded` objects to.

    The only repair takes a code fence off exactly one object: what is inside stays as it is. A
    rating "7" is not made a 7: the schema forbids it, so the model answered without the schema.

    >>> read_reply("Maya: Sam sings.", '{"fact": "Sam sings.", "category": "leisure", '
    ...     '"importance": 3, "entities": [{"name": "Ollie", "type": "person"}]}')
    Traceback (most recent call last):
    memlib.extraction.reply.ReplyError: entities[0].name is 'Ollie': must stand in the fact
    """
    fence = _FENCE.fullmatch(reply.strip()) if isinstance(reply, str) else None
    try:
        found = parse_reply(fence[1] if fence else reply, categories, entity_types)  # type: ignore[arg-type]
    except ReplyError as error:
        raise ReplyError(str(error), reply) from None  # keep it as it came, fence and all
    if problem := ungrounded(conversation, found):
        raise ReplyError(problem, reply)
    repairs = ("code fence taken off",) if fence else ()
    return Extracted(found, suspicions(conversation, found), repairs)


def card_fields(found: Extracted, confirm: bool = False) -> dict[str, Any]:
    """The fields of a card for `Store.add`: nothing suspicious gets there unnoticed.

    confirm  True: somebody has read the suspicions and wants the card all the same
    returns  text, category, importance, entities
    Raises ValueError that lists the suspicions, where there are any and `confirm` is not True.

    >>> tea = Extraction(fact="Maya likes tea.", category="food", importance=10, entities=())
    >>> card_fields(Extracted(tea, suspicions("Maya: Tea, please.", tea)))
    Traceback (most recent call last):
    ValueError: look before you store this (then confirm=True): importance is 10, but the fact has \
no word of safety, health or law
    """
    if found.suspicions and confirm is not True:
        listed = "; ".join(found.suspicions)
        raise ValueError(f"look before you store this (then confirm=True): {listed}")
    kept = found.extraction
    names = tuple(f"{entity.name}:{entity.type}" for entity in kept.entities)
    fields = {"category": kept.category, "importance": kept.importance, "entities": names}
    return {"text": kept.fact} | fields


def live_model(host: str | None = None) -> str | None:
    """A model to chat with: CHAT_MODEL if the server has it, else its first one; None: no answer.

    It waits four seconds at most, where nobody answers two. Models that only embed are known by
    their names: "embed", "minilm" or "bge" in it. Raises ExtractorUnavailable for an OLLAMA_HOST,
    or a host, that is no address.
    """
    where = address(host)
    if reason := silence(where):
        if NO_ADDRESS in reason[0]:
            raise _unavailable(where, *reason)
        return None
    try:
        with client(where, 2.0) as asked:
            names = [str(listed.model) for listed in asked.list().models]
    except Exception:  # it was there a moment ago
        return None
    chats = [name for name in names if not re.search("embed|minilm|bge", name)]
    liked = [name for name in chats if name.split(":")[0] == CHAT_MODEL]
    return next(iter(liked + chats), None)


def chat(
    messages: list[dict[str, str]], model: str, host: str, timeout: float, schema: dict[str, Any]
) -> str | None:
    """One reply, as it came; ExtractorUnavailable for whatever a network or a server can do."""
    try:
        with client(host, timeout) as asked:
            answer = asked.chat(model, messages, format=schema, options=OPTIONS)
        reply: str | None = answer.message.content
    except Exception as error:
        what, todo = refusal(error, model, timeout)
        if "does not support chat" in what:
            todo = f"choose a model that chats, such as {CHAT_MODEL}"
        raise _unavailable(host, what, todo) from error
    return reply


def _unavailable(host: str, what: str, todo: str) -> ExtractorUnavailable:
    line = " ".join(what.split())
    line = line if len(line) < 200 else line[:199] + "…"
    return ExtractorUnavailable(f"Ollama at {host}: {line}: {todo}")
