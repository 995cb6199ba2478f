"""Form and findings: round trips, and every refusal by name."""

import json
from dataclasses import asdict, replace
from datetime import datetime

import pytest

from course.data.maya import COURSE_NOW, maya_cards
from course.playground.configuration import (
    CHOICES,
    RANGES,
    Finding,
    Form,
    fingerprint,
    from_json,
    moment,
    to_json,
)
from memlib.retrieval import Ranking

OTHER = Form(
    *(0.5, 0.0, 2.0, 0.1, 0.4),
    *("by kind", 12.5, "z-score", "unicode", "RRF", "mmr", 0.3, 0.25, 0.0325),
)
FOUND = Finding(
    *("Maya's cards", "0123456789ab", "ollama:nomic-embed-text", COURSE_NOW),
    *("Où est “Miso”?", 8, Form(), OTHER),
)


def changed(side: str | None = None, drop: str = "", **values: object) -> str:
    body = json.loads(to_json(FOUND))
    where = body if side is None else body[side]
    where.update(values)
    where.pop(drop, None)
    return json.dumps(body)


def test_a_finding_survives_its_file() -> None:
    assert from_json(to_json(FOUND)) == FOUND
    assert from_json(to_json(FOUND).encode()) == FOUND
    assert to_json(from_json(to_json(FOUND))) == to_json(FOUND)


def test_every_setting_is_in_the_file() -> None:
    body = json.loads(to_json(FOUND))
    assert body["b"] == asdict(OTHER) and (body["format"], body["version"]) == ("memlib finding", 1)
    assert set(CHOICES) | set(RANGES) == set(asdict(OTHER))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no readable JSON"),
        ("[" * 100_000, "no readable JSON"),
        ("[]", "its format is not"),
        (changed(format="csv"), "its format is not"),
        (changed(version=2), "version is 2: this course reads 1"),
        (changed(version=True), "version is True"),
        (changed(colour="red"), "the finding has 'colour': unknown; known: format"),
        (changed(drop="now"), "the finding has no 'now'"),
        (changed(drop="embedder"), "the finding has no 'embedder'"),
        (changed(embedder=" "), "embedder is ' ': must be a text"),
        (changed(embedder=None), "embedder is 'None': must be a text"),
        (changed(question=" "), "question is ' ': must be a text"),
        (changed(question=7), "question is '7': must be a text"),
        (changed(now="tomorrow"), "now is 'tomorrow': must be a time with a zone"),
        (changed(now="2025-06-11T18:00"), "now is '2025-06-11T18:00'"),
        (changed(shown=0), "shown is 0: must be a whole number from 1 to 30"),
        (changed(shown=8.0), "shown is 8.0"),
        (changed(shown=True), "shown is True"),
        (changed(a=[1]), r"a is '\[1\]': must hold the settings by name"),
        (changed("a", speed=1), "a has 'speed': unknown; known: relevance"),
        (changed("b", drop="fusion"), "b has no 'fusion'"),
        (changed("b", fusion="sum"), "b: fusion is 'sum': must be one of weighted sum, RRF"),
        (changed("b", fusion=["RRF"]), "b: fusion is"),
        (changed("a", recency=-1), "a: recency is -1.0: must be at least 0"),
        (changed("a", recency="1"), "a: recency must be numbers"),
        (changed("a", recency=True), "a: recency is True: must be a number"),
        (changed("a", recency=None), "a: recency"),
        (changed("a", half_life_days=0), "a: half_life_days is 0.0: must be at least 0.1"),
        (changed("a", mmr_lambda=1.5), "a: mmr_lambda is 1.5: must be at most 1"),
        (changed("a", threshold=float("nan")), "a: threshold is nan: must be a number"),
        (changed("a", bm25=float("inf")), "a: bm25 is inf: must be finite"),
    ],
)
def test_what_is_no_finding_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        from_json(text)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_is_one_of_those_offered(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 'other': must be one of"):
        Form(**{name: "other"})  # type: ignore[arg-type]


def test_now_needs_a_zone() -> None:
    assert moment(" 2025-06-11T20:00+02:00 ") == COURSE_NOW
    with pytest.raises(ValueError, match="must be a time with a zone"):
        moment(datetime(2025, 1, 1).isoformat())
    with pytest.raises(ValueError, match=r"^“ages as of” is '2025-08-01': must be a time with a"):
        moment("2025-08-01", "“ages as of”")
    with pytest.raises(ValueError, match=r"^now is '0001-01-01T00:00[+]05:00': outside the years"):
        moment("0001-01-01T00:00+05:00")


def test_a_fingerprint_tells_any_change_and_any_order() -> None:
    cards = maya_cards().head(5)
    same, key = maya_cards().head(5), fingerprint(cards)
    assert fingerprint(same) == key and len(key) == 12
    assert fingerprint(cards.iloc[::-1]) != key
    assert fingerprint(cards.assign(importance=3.0)) != key
    assert fingerprint(cards.assign(tags=[("x",)] * 5)) != key
    assert fingerprint(cards.rename(index={"birthday": "day"})) != key


def test_a_file_of_the_first_edition_still_opens() -> None:
    side = """{"relevance": 1.0, "recency": 0.5, "importance": 1.0, "names": 0.0, "bm25": 0.4,
     "decay": "by kind", "half_life_days": 15.0, "normalizer": "min-max", "tokenizer": "stem",
     "fusion": "weighted sum", "diversity": "mmr", "w_duplicate": 0.15, "mmr_lambda": 0.7,
     "threshold": null}"""
    told = from_json(
        f"""{{"format": "memlib finding", "version": 1, "cards": "Maya's cards",
     "fingerprint": "0123456789ab", "embedder": "all-MiniLM-L6-v2-int8",
     "now": "2025-06-11T18:00:00+00:00", "question": "Who?", "shown": 8,
     "a": {side}, "b": {side}}}"""
    )
    lives = {"working": 1.0, "episodic": 15.0, "semantic": 90.0}
    wanted = Ranking(1.0, 0.5, 1.0, 0.0, 0.4, decay="by kind", half_life_days=lives)
    assert told.a.ranking() == replace(wanted, diversity="mmr", w_duplicate=0.15, mmr_lambda=0.7)
