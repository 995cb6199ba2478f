"""Who embeds the playground's cards: each model for itself, each text once."""

from collections.abc import Sequence

import numpy as np
import pytest

from course.data.maya import COURSE_NOW
from course.data.recorded import Recorded
from course.playground import models, shelf
from course.playground.models import BUNDLED, OLLAMA, Models, check_id, seconds_for, wait
from memlib.embedders.minilm import Bundled
from memlib.embedders.protocol import EmbedderUnavailable, Role, Vectors
from tests.ollama_server import URL, nobody, serving

QUESTION = "What should I cook tonight?"


def quiet() -> Models:
    return Models(lambda done, of: None)


def own(content: str = shelf.TEMPLATE) -> shelf.Shelf:
    return shelf.own("mine.csv", content.encode(), COURSE_NOW)


def test_recorded_and_bundled_are_one_model() -> None:
    assert Recorded().id == Bundled().id == BUNDLED  # so a recorded card and a typed question fit
    assert OLLAMA == "ollama:nomic-embed-text"


def test_the_course_s_cards_are_recorded_and_one_s_own_are_not() -> None:
    used = quiet()
    for held in (shelf.maya(), shelf.dialogue()):
        texts = held.cards["text"].tolist()
        np.testing.assert_array_equal(used.cards(held, BUNDLED), Recorded().embed(texts))
    texts = own().cards["text"].tolist()
    np.testing.assert_array_equal(used.cards(own(), BUNDLED), Bundled().embed(texts))
    assert [used.name(h, BUNDLED) for h in (shelf.maya(), own())] == ["recorded", "bundled"]
    assert used.name(own(), OLLAMA) == used.name(shelf.maya(), OLLAMA) == OLLAMA


def test_a_question_is_recorded_or_bundled() -> None:
    vector, by = quiet().question(QUESTION, BUNDLED)
    np.testing.assert_array_equal(vector, Recorded().embed([QUESTION], role="query")[0])
    assert by == "recorded" and quiet().question("Is the tram late?", BUNDLED)[1] == "bundled"


def test_each_model_embeds_each_text_once_in_its_role(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Role, str]] = []

    class Fixed:
        dim = 3

        def __init__(self, id: str) -> None:
            self.id = id

        def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
            asked.extend((self.id, role, text) for text in texts)
            return np.full((len(texts), 3), len(self.id), np.float32)

    monkeypatch.setattr(models, "choose", Fixed)
    used, held = quiet(), own()
    texts = held.cards["text"].tolist()
    assert used.missing(held, "ollama:a") == texts
    for _ in range(2):
        for by in ("ollama:a", "ollama:bc"):
            assert (used.cards(held, by) == len(by)).all()
            assert (used.question("Tea?", by)[0] == len(by)).all()
            assert used.question("Tea?", by)[1] == by and used.missing(held, by) == []
    assert asked == [
        (by, role, text)
        for by in ("ollama:a", "ollama:bc")
        for role, text in [*(("document", text) for text in texts), ("query", "Tea?")]
    ]


def test_what_was_embedded_before_a_failure_is_not_embedded_again() -> None:
    told: list[tuple[int, int]] = []
    used, held = Models(lambda done, of: told.append((done, of))), shelf.dialogue()
    with serving() as server:
        server.fault, server.after = "dropped", 2
        with pytest.raises(EmbedderUnavailable):
            used.cards(held, OLLAMA)
        assert told == [(16, 195), (32, 195)] and len(used.missing(held, OLLAMA)) == 163
        server.fault = ""
        server.texts.clear()
        assert used.cards(held, OLLAMA).shape == (195, 384)
        assert server.texts == held.cards["text"].tolist()[32:]


def test_a_server_that_never_answered_is_looked_for_anew() -> None:
    used = quiet()
    with nobody() as host, pytest.raises(EmbedderUnavailable, match=host):
        used.cards(own(), OLLAMA)
    with serving():
        assert used.cards(own(), OLLAMA).shape == (2, 384)


def test_an_over_long_card_is_named_by_its_id_and_the_others_are_kept() -> None:
    used = quiet()
    rows = "".join(f"c{n},Card {n}.,2025-05-02T09:00Z\n" for n in range(20))
    held = own(f"id,text,created_at\n{rows}link,{URL},2025-05-02T09:00Z\n")
    with serving():
        with pytest.raises(
            EmbedderUnavailable, match=r": shorten card 'link' \(800 characters, 'h"
        ):
            used.cards(held, OLLAMA)
        assert used.missing(held, OLLAMA) == [URL]
        assert seconds_for([URL, "Poppy"], used.of(OLLAMA)) >= 0


def test_only_the_bundled_model_is_doubted() -> None:
    used = quiet()
    held = own('id,text,created_at\na,"鍵 🎂",2025-05-02T09:00Z\n')
    assert "1 of 1 texts are mostly unknown" in used.doubts(held, BUNDLED)[0]
    assert used.doubts(held, BUNDLED) is used.doubts(held, BUNDLED)  # it takes a while
    assert used.doubts(held, OLLAMA) == used.doubts(shelf.maya(), BUNDLED) == []


@pytest.mark.parametrize("name", [BUNDLED, OLLAMA, "ollama:all-minilm:22m"])
def test_what_can_be_chosen(name: str) -> None:
    assert check_id(name) == name


def test_a_model_is_chosen_once_whether_its_tag_is_said_or_not() -> None:
    assert check_id("ollama:all-minilm:latest") == "ollama:all-minilm"


@pytest.mark.parametrize(
    "name", ["", "bundled", "published", "ollama", "ollama:", "ollama: x", "llama:x", BUNDLED[:-1]]
)
def test_what_cannot(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^embedder is '{name}': must be {BUNDLED} or ollama:"):
        check_id(name)


@pytest.mark.parametrize("texts", [1, 31, 32, 33, 64, 1000])
def test_the_wait_is_told_from_a_sample(texts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[int] = []
    monkeypatch.setattr(models, "monotonic", lambda: float(sum(embedded)))  # a second a text

    class Counting:
        id, dim = "counting", 1

        def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
            embedded.append(len(texts))
            return np.ones((len(texts), 1), np.float32)

    assert seconds_for(["A card."] * texts, Counting()) == pytest.approx(texts)
    assert embedded[0] == 1 and sum(embedded) <= 1 + models.SAMPLE


@pytest.mark.parametrize(
    ("seconds", "about"),
    [
        *((1, "less than a minute"), (44, "less than a minute"), (45, "about a minute")),
        *((60, "about a minute"), (61, "about 2 minutes"), (600, "about 10 minutes")),
    ],
)
def test_a_wait_is_told_in_minutes(seconds: float, about: str) -> None:
    assert f"takes {about}, and" in wait(5000, seconds)
