"""The form of one ranking, and a finding: two of them with a question, as a small file."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pandas as pd

from memlib.bm25 import TOKENIZERS
from memlib.cards import COLUMNS, as_text, short
from memlib.checks import numbers
from memlib.ranking import DIVERSITY, LARGEST_WEIGHT
from memlib.recency import HALF_LIFE_DAYS
from memlib.retrieval import DECAYS, NORMALIZERS, Ranking

PARTS = ("relevance", "recency", "importance", "names", "bm25")
FUSIONS = ("weighted sum", "RRF")
CHOICES = {
    "decay": DECAYS,
    "normalizer": tuple(NORMALIZERS),
    "tokenizer": tuple(TOKENIZERS),
    "fusion": FUSIONS,
    "diversity": DIVERSITY,
}
RANGES = {name: (0.0, LARGEST_WEIGHT) for name in (*PARTS, "w_duplicate")} | {
    "half_life_days": (0.1, 10_000.0),
    "mmr_lambda": (0.0, 1.0),
    "threshold": (-LARGEST_WEIGHT, LARGEST_WEIGHT),
}
FORMAT, VERSION = "memlib finding", 1
MOST_SHOWN = 30


@dataclass(frozen=True)
class Form:
    """What the controls of one side set; the defaults are the three parts, 0.995 an hour.

    relevance, recency, importance, names, bm25  weights, 0 or more; in RRF above 0 takes part
    decay       "per hour" (0.5 to the power of hours over half-life), "half-life" (the same, but
                pinned cards stay fresh), "by kind" (as that; half_life_days is the episodic one,
                working and semantic keep their ratio of 2 : 30 : 180)
    normalizer  of a weighted sum; "none" takes the parts as they are, BM25 saturated
    threshold   on S at pick time; None for none
    Raises ValueError that names the setting and the value.

    >>> Form(decay="linear")
    Traceback (most recent call last):
    ValueError: decay is 'linear': must be one of per hour, half-life, by kind
    """

    relevance: float = 1.0
    recency: float = 1.0
    importance: float = 1.0
    names: float = 0.0
    bm25: float = 0.0
    decay: str = "per hour"
    half_life_days: float = 5.76
    normalizer: str = "min-max"
    tokenizer: str = "stem"
    fusion: str = "weighted sum"
    diversity: str = "none"
    w_duplicate: float = 0.15
    mmr_lambda: float = 0.8
    threshold: float | None = None

    def __post_init__(self) -> None:
        for name, options in CHOICES.items():
            if (value := getattr(self, name)) not in options:
                raise ValueError(f"{name} is {value!r}: must be one of {', '.join(options)}")
        for name, (low, high) in RANGES.items():
            if isinstance(value := getattr(self, name), bool):
                raise ValueError(f"{name} is {value!r}: must be a number")
            if not (name == "threshold" and value is None):
                numbers(name, value, low=low, high=high, ndim=0)

    def weights(self) -> dict[str, float]:
        """The five weights by part."""
        return {name: float(getattr(self, name)) for name in PARTS}

    def ranking(self) -> Ranking:
        """The form as the configuration that memlib ranks by."""
        values = asdict(self)
        if self.decay == "by kind":
            share = self.half_life_days / HALF_LIFE_DAYS["episodic"]
            values["half_life_days"] = {k: days * share for k, days in HALF_LIFE_DAYS.items()}
        return Ranking(**values)


class Finding(NamedTuple):
    """What a colleague needs to see the same: the cards' name and fingerprint, all that was set.

    embedder  the id of the model of both the cards' vectors and the question's
    """

    cards: str
    fingerprint: str
    embedder: str
    now: datetime
    question: str
    shown: int
    a: Form
    b: Form


def fingerprint(cards: pd.DataFrame) -> str:
    """A short hash of every field of every card: equal only for the same cards in one order."""
    digest = hashlib.sha256()
    for column, values in {"id": cards.index, **{c: cards[c] for c in COLUMNS}}.items():
        digest.update("\x1f".join([column, *(as_text(column, v) for v in values)]).encode())
    return digest.hexdigest()[:12]


def to_json(finding: Finding) -> str:
    """A finding as the text of a file, the same bytes for the same finding."""
    body = finding._asdict() | {"now": finding.now.isoformat()}
    body |= {side: asdict(getattr(finding, side)) for side in "ab"}
    return json.dumps({"format": FORMAT, "version": VERSION} | body, indent=1, ensure_ascii=False)


def from_json(text: str | bytes) -> Finding:
    """Read a finding, all of it or nothing.

    Raises ValueError, in one line, for what is no such file, another version, a name that is
    missing or unknown, a value that is out of range.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a finding: no readable JSON ({error})") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise ValueError(f"not a finding: its format is not {FORMAT!r}")
    if body.get("version") != VERSION or isinstance(body["version"], bool):
        raise ValueError(f"version is {body.get('version')!r}: this course reads {VERSION}")
    _names("the finding", body, ("format", "version", *Finding._fields))
    for name in ("cards", "fingerprint", "embedder", "now", "question"):
        if not isinstance(body[name], str) or not body[name].strip():
            raise ValueError(f"{name} is {short(str(body[name]))}: must be a text")
    shown = body["shown"]
    if type(shown) is not int or not 1 <= shown <= MOST_SHOWN:
        raise ValueError(f"shown is {shown!r}: must be a whole number from 1 to {MOST_SHOWN}")
    return Finding(
        body["cards"],
        body["fingerprint"],
        body["embedder"],
        moment(body["now"]),
        body["question"],
        shown,
        *(_settings(side, body[side]) for side in "ab"),
    )


def moment(text: str, name: str = "now") -> datetime:
    """The time as of which ages are counted.

    name  of what it was read from, for the ValueError when it is no such time

    >>> moment("2025-06-11T18:00Z").hour
    18
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        time = None
    if time is None or time.utcoffset() is None:
        said = f"{name} is {short(text)}: must be a time with a zone"
        raise ValueError(f"{said}, as 2025-06-11T18:00Z")
    try:
        time.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{name} is {short(text)}: outside the years 1 to 9999 in UTC") from None
    return time


def _settings(side: str, body: Any) -> Form:
    if not isinstance(body, dict):
        raise ValueError(f"{side} is {short(str(body))}: must hold the settings by name")
    _names(side, body, tuple(field.name for field in fields(Form)))
    try:
        return Form(**body)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{side}: {error}") from None


def _names(where: str, body: dict[str, Any], wanted: tuple[str, ...]) -> None:
    for name in body:
        if name not in wanted:
            raise ValueError(f"{where} has {short(name)}: unknown; known: {', '.join(wanted)}")
    for name in wanted:
        if name not in body:
            raise ValueError(f"{where} has no {name!r}")
