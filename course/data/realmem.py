"""RealMem: ten personas' dated fact cards and requests, written by a model (Apache-2.0)."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from course.data.fetch import Source, fetch

COMMIT = "67afd0891d603adcc4458ff0449df306ef296b7a"
SOURCE = Source(
    "RealMem",
    "REALMEM_PATH",
    f"https://raw.githubusercontent.com/AvatarMemory/RealMemBench/{COMMIT}/dataset",
    {  # the second hash is that of a copy without the texts of turns that ask nothing
        "Adeleke_Okonjo_dialogues_256k.json": (
            "9dc2a8bf2777c182108b3859be6987b4203b65bd6df5cbb6e1a02e4e9f871fdb",
            "3e92d0bc35f2d64b1a298db64c4544611301f8002f2493e6284e486a62ea7790",
        ),
        "Ethan_Hunt_dialogues_256k.json": (
            "67bd20d962cd0b01c1531cc82a73a0b1a1e58ef17db6e2f743fc9b35273734ac",
            "5648724e6bc9bec6a455f6104d8283077281eb45036b1fb39f383c280bb6e4ab",
        ),
        "Kenta_Tanaka_dialogues_256k.json": (
            "b8fe2e606db96dbce1ffa0ab7c21b23ce83d4b5d472d80cd4bd23cd8a259d397",
            "9f5a853c2d34d183970ad62b198410602b25479587eb9ed8733c5fb14ba0295a",
        ),
        "Kim_Ji_young_dialogues_256k.json": (
            "e3e286120bc5e42d3dbe513d720f969ecebf3518fbe1a4782595e927474356a9",
            "153586a5edab384405e4fe18609fb3f5008f73c18fbe03e90cb8755ae4290a62",
        ),
        "Liam_O_Connor_dialogues_256k.json": (
            "2427ab7d7012b28c0da9b2a70b1763cb60630f5198cf6eeed1ee68d0271c551c",
            "0d7e7dd61a9a229c87df2485b1ba9673276fb5d0d6349730cebb5941c41ae238",
        ),
        "Lin_Wanyu_dialogues_256k.json": (
            "a7a751066c48e829b3012a94f2b365febd0e6fb6db454a6d5f4ec01f9c55008a",
            "43b73d5ff1667fbd5ef49bc754528e36a587e7b6757b7fe0f6f62e950520559c",
        ),
        "Oliver_Smith_dialogues_256k.json": (
            "25a829eb690d7f81bd47141a0cd7c174e1aa98d899111d8b04e9115f0b92e1f3",
            "376dda0f983199ba838787435428b582add92e2ed8a708791c5cba055035896d",
        ),
        "Pak_Budi_dialogues_256k.json": (
            "d35e08ac141e83780b8b7bc3611feef042dbd082d0986812da1d885d028b638a",
            "140d2aab614566c477192d089660e953570ae4872005cdff45f24f7382910e1a",
        ),
        "Sarah_Miller_dialogues_256k.json": (
            "2e84cfb4e29bfceebfb4eed09b84e7a2a7cae8a908d8584830e4c94a29819a6d",
            "aeb84e080b35927974bdedf34ff47c2aaf6ab11e3cc66742bc79c231a9b39f98",
        ),
        "Sophie_Dubois_dialogues_256k.json": (
            "75f71e5ec0d14606debaea409075a6e631faf6a57d74ce7ec49f17476ef44e26",
            "692e0daf2e27d1623aa5114b9369792d9020f98e525dad00da4db9a9f4fc598d",
        ),
    },
)
DEVELOPMENT = ("Adeleke_Okonjo", "Ethan_Hunt", "Kenta_Tanaka")  # the first three in file order


class Request(NamedTuple):
    """A turn of the user whose reply used memories: which cards it may see, and which it wants.

    seen     how many cards there are, those of earlier sessions: rows 0 to seen - 1
    wanted   rows of the cards that the reply used;  dropped  what it used and no card says
    """

    text: str
    seen: int
    asked_at: datetime
    wanted: tuple[int, ...]
    dropped: tuple[str, ...]


class Persona(NamedTuple):
    """A person's cards (index id; text, created_at) in the order of their sessions; requests."""

    id: str
    cards: pd.DataFrame
    requests: tuple[Request, ...]


class RealMemError(ValueError):
    """A file that is not in RealMem's schema: names it and what is missing."""


def load_realmem(download: bool = True) -> tuple[tuple[Persona, ...], tuple[Persona, ...]]:
    """Development (the first three personas in file order) and held-out (the other seven).

    Raises DataUnavailable as `fetch` does; RealMemError that names the file and what is missing.
    Source: Bian et al. 2026, RealMem; the split is this course's.
    """
    people = [read_persona(path) for path in fetch(SOURCE, download)]
    development = tuple(p for p in people if p.id in DEVELOPMENT)
    return development, tuple(p for p in people if p.id not in DEVELOPMENT)


def read_persona(path: Path) -> Persona:
    """One persona's file.

    A card is an extracted memory, made on its session's day; equal content within a session is one
    card, in another session a card of its own. A request sees the cards of earlier sessions and
    wants what the next turn used.
    Raises RealMemError that names the file and what is missing.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return _persona(raw)
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise RealMemError(f"{path.name}: not in RealMem's schema: {error!r}") from None


def _persona(raw: dict[str, Any]) -> Persona:
    texts: list[str] = []
    days: list[datetime] = []
    where: dict[tuple[str, str], int] = {}  # session and content -> row
    requests = []
    for session in raw["dialogues"]:
        day = datetime.fromisoformat(session["current_time"][:10]).replace(tzinfo=UTC)
        seen, turns = len(texts), session["dialogue_turns"]
        for turn, reply in zip(turns, [*turns[1:], {}], strict=True):
            if turn.get("is_query"):
                used = [(m["session_uuid"], _text(m["content"])) for m in reply["memory_used"]]
                rows = dict.fromkeys(where[m] for m in used if m in where)
                lost = tuple(text for session, text in used if (session, text) not in where)
                requests.append(Request(turn["content"], seen, day, tuple(rows), lost))
        for memory in session["extracted_memory"]:
            key = session["session_uuid"], _text(memory["content"])
            if key not in where:
                where[key] = len(texts)
                texts.append(key[1])
                days.append(day)
    ids = pd.Index([f"{row:04d}" for row in range(len(texts))], name="id")
    cards = pd.DataFrame({"text": texts, "created_at": days}, index=ids)
    return Persona(str(raw["_metadata"]["person_name"]), cards, tuple(requests))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
