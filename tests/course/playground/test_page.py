"""The page in the kernel: every control acts, bad files change nothing, a finding comes back."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import ipywidgets
import numpy as np
import pytest

from course.data.maya import PUBLISHED_QUESTION
from course.playground import models, shelf
from course.playground import page as playground
from course.playground.controls import GROUPS, A, B
from course.playground.models import BUNDLED, OLLAMA
from course.playground.page import Playground
from memlib.embedders.protocol import Role, Vectors
from memlib.server import client
from tests.course.widgets.test_drive import tree
from tests.notebooks.refresh import ROOT, as_text, normalise
from tests.notebooks.test_lint import prose, read, unexecuted
from tests.ollama_server import OllamaServer, nobody, serving, swallowing


@pytest.fixture(scope="module")
def made() -> Playground:
    return Playground()


@pytest.fixture
def page(made: Playground) -> Iterator[Playground]:
    """One page for all tests, brought back to its start: making one takes a while."""
    made.embedder.value = BUNDLED
    made.asked.clear()
    made.source.value, made.as_code.value = shelf.MAYA, False
    made.question.value, made.now.value = PUBLISHED_QUESTION, shelf.maya().now.isoformat()
    made.reset()
    made.message.value = ""
    yield made


def file(name: str, content: str) -> tuple[dict[str, Any], ...]:
    """What the browser sends: the value of an upload."""
    body = memoryview(content.encode())
    kind, written = "text/plain", datetime(2025, 6, 1, tzinfo=UTC)
    facts = {"type": kind, "size": len(body), "last_modified": written}
    return ({"name": name, "content": body, **facts},)


def upload(page: Playground, name: str, content: str) -> None:
    page.cards_file.value = file(name, content)


def counted(button: Any) -> list[str]:
    """The files that a button counts: it has kept nothing of what is in them."""
    assert all(bytes(file["content"]) == b"" and file["size"] > 0 for file in button.value)
    return [file["name"] for file in button.value]


def reopen(page: Playground, content: str) -> None:
    page.finding_file.value = file("finding.json", content)


def as_line(begin: str) -> str:
    """How a plain line of the page begins, unlike a refusal."""
    return playground.parts.line(begin).removesuffix("</p>")


def saved(page: Playground) -> str:
    return playground.to_json(page.finding())


def test_the_page_begins_with_two_rankings(page: Playground) -> None:
    assert 'role="alert"' not in page.output.value + page.message.value
    assert page.output.value.count("<li class=") == 2 * playground.SHOWN
    assert Playground().progress.layout.visibility == "hidden"
    assert "208 cards" in page.about.value and (page.settings("a"), page.settings("b")) == (A, B)


OTHER = {  # another place for each control, and what must be set for it to act
    "decay": ("by kind", {"recency": 1.0}),
    "half_life_days": (400.0, {"recency": 1.0}),
    "normalizer": ("none", {}),
    "tokenizer": ("naive", {"bm25": 1.0}),
    "fusion": ("RRF", {}),
    "diversity": ("penalty", {"w_duplicate": 0.9}),
    "w_duplicate": (0.9, {"diversity": "penalty"}),
    "mmr_lambda": (0.2, {"diversity": "mmr"}),
    "has_threshold": (True, {"threshold": 0.7}),
    "threshold": (0.65, {"has_threshold": True}),
}


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("name", [name for names in GROUPS.values() for name in names])
def test_every_control_moves_the_page(page: Playground, side: str, name: str) -> None:
    value, first = OTHER.get(name, (3.0, {}))
    for other, setting in first.items():
        page.controls[side][other].value = setting
    before = page.output.value
    page.controls[side][name].value = value
    assert page.output.value != before and 'role="alert"' not in page.output.value
    page.reset()
    assert (page.settings("a"), page.settings("b")) == (A, B)


def test_every_control_has_a_label_of_its_own_and_stands_in_one_group(page: Playground) -> None:
    labels = [c.description for side in "ab" for c in page.controls[side].values()]
    assert all(labels) and len(set(labels)) == len(labels) == 30
    for group, names in GROUPS.items():
        page.groups.value = group
        shown = [box.children for box in page.boxes.values()]
        assert shown == [tuple(page.controls[s][n] for n in names) for s in "ab"]
    page.groups.value = "Weights"
    modules = {widget._model_module for widget in tree(page.root)}
    assert modules <= {"@jupyter-widgets/controls", "@jupyter-widgets/base"}


def test_one_side_s_move_leaves_the_other_s_ranking_alone(page: Playground) -> None:
    page.show()
    kept = page._tables["a"][1]
    page.controls["b"]["recency"].value = 2.0
    assert page._tables["a"][1] is kept
    page.question.value = "What should I cook tonight?"
    assert page._tables["a"][1] is not kept


def test_one_s_own_cards_are_loaded_whole(page: Playground) -> None:
    upload(page, "mine.csv", shelf.TEMPLATE)
    assert page.source.value == "mine.csv" and "2 cards" in page.about.value
    assert page.question.value == "" and as_line("Now type a question") in page.output.value
    assert "alert" not in page.output.value and page.save.value == page.code.value == ""
    assert page.progress.layout.visibility == "hidden" and counted(page.cards_file) == ["mine.csv"]
    assert "mine.csv is loaded" in page.message.value
    page.question.value = "What does Ana drink?"
    assert "Ana drinks tea" in page.output.value
    page.source.value = shelf.DIALOGUE
    assert "195 cards" in page.about.value
    page.source.value = "mine.csv"
    assert "2 cards" in page.about.value


def test_every_set_of_cards_keeps_the_question_that_was_asked_of_it(page: Playground) -> None:
    upload(page, "mine.csv", shelf.TEMPLATE)
    page.question.value = "What does Ana drink?"
    page.source.value = shelf.MAYA
    assert page.question.value == PUBLISHED_QUESTION
    page.question.value = "What should I cook tonight?"
    upload(page, "edited.csv", shelf.TEMPLATE.replace("tea,", "chai,", 1))
    assert page.question.value == "What does Ana drink?"
    page.source.value = shelf.DIALOGUE
    page.source.value = shelf.MAYA
    assert page.question.value == "What should I cook tonight?"
    page.source.value = "edited.csv"
    assert page.question.value == "What does Ana drink?"
    page.source.value = shelf.MAYA
    page.question.value = " "
    page.source.value = "edited.csv"
    page.source.value = shelf.MAYA
    assert page.question.value == PUBLISHED_QUESTION


def test_a_message_goes_with_the_next_change(page: Playground) -> None:
    bad = shelf.TEMPLATE.replace(",7,", ",11,")
    changes: list[tuple[Any, Any]] = [(page.question, "Who is Miso?"), (page.shown, 5)]
    changes += [(page.controls["b"]["recency"], 2.0), (page.as_code, True)]
    for control, value in changes:
        upload(page, "bad.csv", bad)
        assert 'role="alert"' in page.message.value
        control.value = value
        assert page.message.value == "" and 'role="alert"' not in page.output.value
    for press in (page.copy, page.reset):
        upload(page, "bad.csv", bad)
        press()
        assert page.message.value == ""


def test_a_second_file_leaves_the_typed_question_alone(page: Playground) -> None:
    upload(page, "mine.csv", shelf.TEMPLATE)
    page.question.value = "What does Ana drink?"
    upload(page, "edited.csv", shelf.TEMPLATE.replace("tea,", "chai,", 1))
    assert page.question.value == "What does Ana drink?"
    assert page.source.value == "edited.csv" and "chai" in page.shelf.cards.index
    assert "Ana drinks tea" in page.output.value


def test_a_bad_file_says_where_and_the_old_cards_stay(page: Playground) -> None:
    before = page.output.value, page.about.value, page.source.options
    upload(page, "bad.csv", shelf.TEMPLATE.replace(",7,", ",11,"))
    said = "bad.csv row 3, column &#x27;importance&#x27;: &#x27;11&#x27; is no rating from 1 to 10"
    assert said in page.message.value and 'role="alert"' in page.message.value
    assert (page.output.value, page.about.value, page.source.options) == before
    upload(page, "bad.csv", shelf.TEMPLATE)  # mended, under the same name
    assert "bad.csv is loaded" in page.message.value


def test_a_button_counts_the_last_file_that_was_taken(page: Playground) -> None:
    fresh = Playground()
    upload(fresh, "bad.csv", "id\n")
    assert counted(fresh.cards_file) == []
    upload(fresh, "mine.csv", shelf.TEMPLATE)
    assert counted(fresh.cards_file) == ["mine.csv"]
    fresh.source.value = shelf.MAYA
    for _ in range(2):  # the same file again is read again
        upload(fresh, "bad.csv", "id\n")
        assert counted(fresh.cards_file) == ["mine.csv"]
        assert "bad.csv" in fresh.message.value
        fresh.message.value = ""
    upload(fresh, "mine.csv", shelf.TEMPLATE)
    assert fresh.source.value == "mine.csv" and "is loaded" in fresh.message.value
    reopen(fresh, "{}")
    assert counted(fresh.finding_file) == []


def test_the_largest_file_is_told_beside_its_button(page: Playground) -> None:
    said = " ".join(" ".join(str(getattr(w, "value", "")) for w in tree(page.root)).split())
    assert f"At most {shelf.MOST_CARDS:,} cards and {shelf.MOST_MB} MB." in said
    assert f"{shelf.MOST_MB}e6 >= file.size" in said


def test_a_finding_comes_back(page: Playground) -> None:
    page.controls["a"]["relevance"].value = 2.5
    page.controls["b"]["half_life_days"].value = 5.761
    page.controls["b"]["has_threshold"].value = True
    page.question.value = "What should I cook tonight?"
    text, shown = saved(page), page.output.value
    page.source.value = shelf.DIALOGUE
    page.reset()
    reopen(page, text)
    assert saved(page) == text and page.output.value == shown
    assert "finding.json is open" in page.message.value
    assert counted(page.finding_file) == ["finding.json"]


def test_a_finding_beyond_a_slider_s_end_is_not_bent(page: Playground) -> None:
    body = json.loads(saved(page))
    body["a"]["recency"], body["b"]["w_duplicate"], body["b"]["threshold"] = 12.345, 3.0, -2.5
    text = json.dumps(body, indent=1, ensure_ascii=False)
    reopen(page, text)
    assert saved(page) == text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fingerprint": "0" * 12, "cards": "hers.csv"}, "other cards, called hers.csv"),
        ({"shown": 0}, "shown is 0"),
        ({"version": 9}, "version is 9"),
        ({"a": {}}, "a has no &#x27;relevance&#x27;"),
    ],
)
def test_a_finding_that_does_not_fit_changes_nothing(
    page: Playground, change: dict[str, Any], said: str
) -> None:
    text, before = saved(page), page.output.value
    reopen(page, json.dumps(json.loads(text) | {"question": "Else?"} | change))
    assert said in page.message.value and 'role="alert"' in page.message.value
    assert (saved(page), page.output.value) == (text, before)


def test_a_finding_of_a_file_s_other_edition_says_so(page: Playground) -> None:
    upload(page, "mine.csv", shelf.TEMPLATE)
    page.question.value = "What does Ana drink?"
    text = saved(page)
    upload(page, "mine.csv", shelf.TEMPLATE.replace("tea,", "chai,", 1))
    reopen(page, text)
    said = "other cards than those here, though both are called mine.csv: "
    assert said in page.message.value and "nothing was changed" in page.message.value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("today", "“ages as of” is &#x27;today&#x27;: must be a time with a zone"),
        ("0001-01-01T00:00+05:00", "“ages as of” is &#x27;0001-01-01T00:00+05:00&#x27;: outside"),
        (
            "2025-06-11T16:50Z",
            "card printer: last_accessed_at is 2025-06-11 17:00+00:00, later than",
        ),
        ("0001-01-01T00:00Z", "card birthday: created_at is 2022-01-05 21:44+00:00, later"),
    ],
)
def test_what_cannot_be_ranked_is_a_line_on_the_page(
    page: Playground, value: str, said: str
) -> None:
    page.now.value = value
    assert said in page.output.value and 'role="alert"' in page.output.value
    assert "“ages as of”" in page.output.value
    assert page.save.value == ""


def test_a_side_is_named_when_its_settings_fail(page: Playground) -> None:
    page.controls["b"]["fusion"].value = "RRF"
    for name in ("relevance", "names", "bm25"):
        page.controls["b"][name].value = 0.0
    assert "B: every weight is 0" in page.output.value


def test_b_can_be_made_like_a(page: Playground) -> None:
    page.controls["a"]["recency"].value = 2.0
    page.copy()
    assert page.settings("b") == page.settings("a") != A
    assert "A and B are set alike." in page.output.value


def test_what_has_no_effect_says_why(page: Playground) -> None:
    page.copy()
    page.controls["b"]["mmr_lambda"].value = 0.5
    said = "MMR&#x27;s lambda 0.8 → 0.5 (no effect: no side picks by mmr)."
    shown = page.output.value.replace("MMR's", "MMR&#x27;s")
    assert said in shown and "No card listed moves." in shown
    page.controls["b"]["tokenizer"].value = "naive"  # other words find other candidates
    assert "tokenizer stem → naive, " in page.output.value
    page.controls["b"]["names"].value = 1.0
    assert "names 0 → 1, " in page.output.value
    page.question.value = "What should I cook tonight?"
    assert "names 0 → 1 (no effect: the question holds no name that a" in page.output.value


def test_the_code_of_both_sides_is_shown_when_asked_for(page: Playground) -> None:
    assert page.code.value == ""
    page.as_code.value = True
    assert page.code.value.count("= rank(cards, ") == 2
    assert ">Copy A</button>" in page.code.value and ">Copy B</button>" in page.code.value
    assert page.code.value.count("font-family:monospace") == 2
    page.controls["b"]["recency"].value = 1.35
    assert "recency=1.35," in page.code.value


def test_a_question_in_letters_that_the_model_does_not_know_is_doubted(page: Playground) -> None:
    page.question.value = "🎂 🎂"
    assert "The question: 1 of 1 texts are mostly unknown" in page.output.value


@pytest.fixture
def fresh(made: Playground, monkeypatch: pytest.MonkeyPatch, page: Playground) -> Playground:
    """The page, with models that embedded nothing yet."""
    monkeypatch.setattr(made, "models", models.Models(made._step))
    return made


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with serving() as running:
        yield running


def state(page: Playground) -> tuple[Any, ...]:
    """All that a failure must leave as it was."""
    shown = page.output.value, page.about.value, page.code.value
    return *shown, saved(page), page.source.value, page.source.options, page.embedder.value


def test_another_embedder_embeds_all_anew_and_going_back_is_immediate(
    fresh: Playground, server: OllamaServer
) -> None:
    assert fresh.embedder.options == (BUNDLED, OLLAMA) == ("all-MiniLM-L6-v2-int8", OLLAMA)
    before, seen = state(fresh), list[tuple[str, int]]()
    bar = fresh.progress
    bar.observe(lambda change: seen.append((bar.layout.visibility, change["new"])), "value")
    fresh.embedder.value = OLLAMA
    bar.unobserve_all("value")
    texts = fresh.shelf.cards["text"].tolist()
    assert server.texts == [*texts, PUBLISHED_QUESTION]
    steps = [*range(16, 208, 16), 208]
    assert [("visible", done) for done in steps] == [step for step in seen if step[1] > 1]
    assert bar.layout.visibility == "hidden" and fresh.message.value == ""
    assert json.loads(saved(fresh))["embedder"] == OLLAMA
    fresh.embedder.value = BUNDLED
    assert state(fresh) == before
    server.texts.clear()
    fresh.embedder.value = OLLAMA
    assert server.texts == []


def test_vectors_of_two_models_never_meet(
    fresh: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Turned(models.Bundled):
        """Other axes: the same cosines between its own vectors, none with the model's."""

        def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
            return -super().embed(texts, role)[:, ::-1]

    monkeypatch.setattr(models, "choose", lambda name: Turned())
    for by, turn in ((OLLAMA, -1), (BUNDLED, 1), (OLLAMA, -1)):
        fresh.embedder.value = by
        fresh.question.value = f"What should I cook for {by}?"
        _, ready = fresh._index or pytest.fail("nothing is prepared")
        own = models.bundled().embed([*fresh.shelf.cards["text"][:3], fresh.question.value])
        np.testing.assert_allclose(ready.vectors[:3], turn * own[:3, ::turn], atol=1e-6)
        assert ready._question is not None
        query = np.frombuffer(ready._question[1], np.float32)
        np.testing.assert_allclose(query, turn * own[3, ::turn], atol=1e-6)


def test_other_cards_and_questions_are_embedded_by_the_one_that_is_chosen(
    fresh: Playground, server: OllamaServer
) -> None:
    fresh.embedder.value = OLLAMA
    server.texts.clear()
    fresh.source.value = shelf.DIALOGUE
    texts = shelf.dialogue_cards()["text"].tolist()
    assert server.texts == [*dict.fromkeys(texts), fresh.question.value]
    server.texts.clear()
    upload(fresh, "mine.csv", shelf.TEMPLATE + "key,鍵,2025-05-02T09:00Z,,\n")
    assert "unknown" not in fresh.about.value  # no doubt: it may know the word
    fresh.question.value = "🎂 🎂"
    assert server.texts == [*fresh.shelf.cards["text"], "🎂 🎂"]
    assert "unknown" not in fresh.output.value and "alert" not in fresh.output.value
    fresh.embedder.value = BUNDLED
    assert "1 of 3 texts are mostly unknown" in fresh.about.value
    assert "The question: 1 of 1 texts are mostly unknown" in fresh.output.value


def test_without_a_server_one_line_says_so_and_nothing_changes(fresh: Playground) -> None:
    before = state(fresh)
    for where, waited in ((nobody, ""), (swallowing, " within 2 s")):
        with where() as host:
            fresh.embedder.value = OLLAMA
        assert f"Ollama at {host}: no answer{waited}: run" in fresh.message.value
        assert "run `ollama serve` or set OLLAMA_HOST" in fresh.message.value
        assert fresh.message.value.count("role=") == 1 and "Traceback" not in fresh.message.value
        assert state(fresh) == before and fresh.progress.layout.visibility == "hidden"
    with serving():  # now one was started
        fresh.embedder.value = OLLAMA
        assert fresh.message.value == "" and fresh.by == fresh.embedder.value == OLLAMA


@pytest.mark.parametrize(
    ("fault", "after", "said"),
    [
        ("wrong dimension", 1, "instead of (16, 384)"),
        ("wrong dimension", 13, "instead of (1, 384)"),  # of the question
        ("dropped", 3, "Ollama at"),
        ("nan", 0, "Ollama at"),
        ("html", 0, "Ollama at"),
    ],
)
def test_a_failure_on_the_way_leaves_all_as_it_was(
    fresh: Playground, server: OllamaServer, fault: str, after: int, said: str
) -> None:
    before = state(fresh)
    server.fault, server.after = fault, after
    fresh.embedder.value = OLLAMA
    assert said in fresh.message.value and 'role="alert"' in fresh.message.value
    assert state(fresh) == before and len(server.requests) == after + 1
    server.fault = ""
    fresh.embedder.value = OLLAMA
    assert fresh.message.value == "" and fresh.by == OLLAMA
    assert len(server.texts) <= 209 + 16  # what was embedded is not embedded again


def test_an_interrupt_leaves_all_as_it_was(
    fresh: Playground, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(fresh)

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fresh.models, "told", stop)
    with pytest.raises(KeyboardInterrupt):
        fresh.embedder.value = OLLAMA
    assert state(fresh) == before and fresh.progress.layout.visibility == "hidden"


def test_other_cards_stay_out_when_the_server_leaves(fresh: Playground) -> None:
    with serving() as server, pytest.MonkeyPatch.context() as moved:
        fresh.embedder.value = OLLAMA
        before = state(fresh)
        moved.setattr("memlib.embedders.ollama.client", lambda _, wait: client("127.0.0.1:1", wait))
        fresh.source.value = shelf.DIALOGUE
        assert "no answer" in fresh.message.value and state(fresh) == before
        upload(fresh, "mine.csv", shelf.TEMPLATE)
        assert "no answer" in fresh.message.value and state(fresh) == before
        fresh.question.value = "What does Ana drink?"
        assert "no answer" in fresh.output.value and 'role="alert"' in fresh.output.value
        assert len(server.texts) == 209
        fresh.embedder.value = BUNDLED  # a question is never what keeps you there
    assert fresh.by == BUNDLED and "alert" not in fresh.output.value + fresh.message.value


def test_a_finding_brings_its_embedder(fresh: Playground, server: OllamaServer) -> None:
    fresh.embedder.value = OLLAMA
    fresh.controls["b"]["recency"].value = 2.0
    text, shown = saved(fresh), fresh.output.value
    fresh.embedder.value = BUNDLED
    fresh.reset()
    reopen(fresh, text)
    assert (saved(fresh), fresh.output.value, fresh.embedder.value) == (text, shown, OLLAMA)
    assert "finding.json is open" in fresh.message.value
    other = json.dumps(json.loads(text) | {"embedder": "ollama:all-minilm"})
    reopen(fresh, other)
    assert fresh.embedder.value == fresh.by == "ollama:all-minilm"
    assert fresh.embedder.options[:2] == (BUNDLED, OLLAMA)


@pytest.mark.parametrize(
    ("embedder", "said"),
    [
        ("ollama:llava", "no model &#x27;llava&#x27;: run `ollama pull llava`"),
        ("e5-large", f"embedder is &#x27;e5-large&#x27;: must be {BUNDLED} or ollama:MODEL"),
        ("recorded", "must be"),
    ],
)
def test_a_finding_whose_embedder_is_not_here_changes_nothing(
    fresh: Playground, server: OllamaServer, embedder: str, said: str
) -> None:
    before, options = state(fresh), fresh.embedder.options
    made = {"embedder": embedder, "question": "Else?", "shown": 3}
    reopen(fresh, json.dumps(json.loads(saved(fresh)) | made))
    assert said in fresh.message.value and 'role="alert"' in fresh.message.value
    assert state(fresh) == before and fresh.embedder.options == options


def test_the_code_says_which_embedder(fresh: Playground, server: OllamaServer) -> None:
    fresh.as_code.value = True
    assert fresh.code.value.count("choose(&#x27;recorded&#x27;)") == 2
    fresh.embedder.value = OLLAMA
    assert fresh.code.value.count("choose(&#x27;ollama:nomic-embed-text&#x27;)") == 2
    assert "recorded" not in fresh.code.value


def test_another_model_in_code(server: OllamaServer) -> None:
    page = Playground("ollama:all-minilm")
    assert page.embedder.options == (BUNDLED, OLLAMA, "ollama:all-minilm") and page.by == BUNDLED
    page.embedder.value = "ollama:all-minilm"
    assert {body["model"] for _, body in server.requests} == {"all-minilm"}
    assert page.message.value == "" and page.by == "ollama:all-minilm"
    with pytest.raises(ValueError, match="embedder is 'gpt': must be"):
        playground.explore("gpt")


def test_many_cards_are_announced_for_a_server_too(
    fresh: Playground, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(playground, "MANY", 200)
    fresh.message.observe(lambda change: said.append(change["new"]), "value")
    fresh.embedder.value = OLLAMA
    fresh.message.unobserve_all("value")
    assert len(said) == 2 and "208 cards: embedding them takes less than a minute" in said[0]
    assert said[1] == fresh.message.value == ""


def test_a_slow_embedding_shows_its_progress(
    page: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, clock = [], iter(range(100))
    monkeypatch.setattr(playground, "monotonic", lambda: float(next(clock)))
    page.progress.observe(
        lambda change: seen.append((page.progress.layout.visibility, change["new"])), "value"
    )
    rows = "".join(f'c{i},"Card {i}.",2025-05-02T09:00Z\n' for i in range(40))
    upload(page, "forty.csv", "id,text,created_at\n" + rows)
    assert [step for step in seen if step[1]] == [("visible", n) for n in (16, 32, 40)]
    assert page.progress.layout.visibility == "hidden"


def test_many_cards_are_announced_before_they_are_embedded(
    page: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    class Fixed(models.Bundled):
        def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
            order.append(page.message.value)
            return np.ones((len(texts), 384), np.float32)

    monkeypatch.setattr(page, "models", models.Models(page._step))
    monkeypatch.setattr(models, "bundled", Fixed)
    monkeypatch.setattr(playground, "seconds_for", lambda texts, model: 0.1 * len(texts))
    rows = [f"c{i},Card {i}.,2025-05-02T09:00Z\n" for i in range(playground.MANY + 1)]
    upload(page, "few.csv", "id,text,created_at\n" + "".join(rows[1:]))
    new = "".join(rows).replace("Card", "Memo")  # a text that was embedded is not embedded again
    upload(page, "many.csv", "id,text,created_at\n" + new)
    said = "1,001 cards: embedding them takes about 2 minutes, and cannot be stopped."
    assert list(dict.fromkeys(order)) == ["", playground.parts.line(said)]
    assert "many.csv is loaded" in page.message.value


def test_a_file_with_a_name_that_stands_there_or_is_markup(page: Playground) -> None:
    upload(page, shelf.MAYA, shelf.TEMPLATE)
    own = f"{shelf.MAYA} (your file)"
    assert page.source.options == (shelf.MAYA, shelf.DIALOGUE, own) and page.source.value == own
    page.source.value = shelf.MAYA
    assert "208 cards" in page.about.value
    page.source.value = own
    assert "2 cards" in page.about.value
    upload(page, "<b>x</b>.csv", shelf.TEMPLATE)
    assert page.source.value == "<b>x</b>.csv"
    assert "&lt;b&gt;x&lt;/b&gt;.csv is loaded" in page.message.value


def test_no_label_is_cut_at_the_side() -> None:
    root = playground.explore()
    labels = [w.description for w in tree(root) if hasattr(w, "description") and w.description]
    assert max(len(label) for label in labels if not label[0].isupper()) <= 24
    assert isinstance(root, ipywidgets.VBox)


def test_the_notebook_is_one_intro_and_one_cell() -> None:
    path = ROOT / "notebooks" / "playground.ipynb"
    notebook = read(path)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code"]
    assert notebook.cells[1].metadata["tags"] == ["nbval-ignore-output"]
    assert notebook.cells[1].source.endswith("\nplayground.explore()")
    assert unexecuted(notebook) == [] and len(prose(notebook)[0].source) < 900
    assert path.read_text(encoding="utf-8") == as_text(normalise(notebook))


def test_the_page_s_template_drops_every_sheet_from_elsewhere() -> None:
    folder = ROOT / "notebooks" / "voila" / "templates" / "course"
    assert json.loads((folder / "conf.json").read_text(encoding="utf-8")) == {
        "base_template": "lab"
    }
    text = (folder / "index.html.j2").read_text(encoding="utf-8")
    assert 'replace(\'<link rel="stylesheet" href="https://\'' in text
