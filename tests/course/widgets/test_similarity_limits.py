"""Chapter 01's controls: what the HTML says for known values."""

import html
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from course.data.recorded import choose
from course.widgets.similarity_limits import MOST, START, explore, render
from memlib.embedders.protocol import EmbedderUnavailable, Role, Vectors
from memlib.embedders.remembered import Remembered
from memlib.ranking import rank_order
from memlib.server import client
from memlib.similarity import cosine
from tests.ollama_server import nobody, serving


class Letters:
    """Counts the letters a, b and c; the last axis keeps a vector from being zero."""

    id = "letters"
    dim = 4

    def __init__(self) -> None:
        self.asked: list[tuple[Role, str]] = []

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        self.asked += [(role, text) for text in texts]
        rows = [[text.count(letter) for letter in "abc"] + [0.01] for text in texts]
        return np.array([np.array(row) / np.linalg.norm(row) for row in rows], np.float32)


class Missing:
    """A model that is not there."""

    id = "missing"
    dim = 4

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        raise EmbedderUnavailable("no bundled model: run `pip install <it>`")


def rows(page: str) -> list[list[str]]:
    """The table's rows as plain text, one list a row."""
    return [
        [html.unescape(re.sub("<[^>]+>", "", cell)) for cell in re.findall("<td.*?</td>", row)]
        for row in re.findall("<tr>(.*?)</tr>", page)[1:]
    ]


def values(**changed: str) -> dict[str, str]:
    return {"question": "a", "other": "", "cards": "a\nab\nb", **changed}


def test_cards_stand_by_their_cosine() -> None:
    shown = rows(render(values(cards="b\nab\n\n  a  \n"), Letters()))
    assert [(row[0], row[2], row[5]) for row in shown] == [
        ("1", "1.0000", "a"),
        ("2", "0.7071", "ab"),
        ("3", "0.0001", "b"),
    ]


def test_the_caption_says_how_sure_first_place_is() -> None:
    assert "First place leads by 0.2929." in render(values(), Letters())
    assert "leads" not in render(values(cards="only"), Letters())


def test_a_second_wording_shows_who_rose_and_fell() -> None:
    shown = rows(render(values(other="b"), Letters()))
    assert [(row[1], row[5]) for row in shown] == [("▲2", "a"), ("·", "ab"), ("▼2", "b")]
    assert {row[1] for row in rows(render(values(), Letters()))} == {"·"}


def test_equal_cards_keep_their_lines_order() -> None:
    shown = rows(render(values(cards="xa\nb\na\nax"), Letters()))
    assert [row[5] for row in shown] == ["xa", "a", "ax", "b"]


def test_a_long_list_is_cut_and_says_so() -> None:
    page = render(values(cards="\n".join(["a"] * 25)), Letters())
    assert len(rows(page)) == 20
    assert "The first 20 of 25 cards." in page


def test_three_are_marked_for_the_prompt() -> None:
    marks = [row[4] for row in rows(render(values(cards="a\nb\nc\nab"), Letters()))]
    assert marks == ["inject", "inject", "inject", ""]


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"question": "  "}, "the question is empty"),
        ({"cards": "\n \n"}, "there is no card"),
        ({"cards": "a\n" * (MOST + 1)}, f"{MOST + 1} cards: at most {MOST} are read here"),
    ],
)
def test_what_cannot_be_ranked_is_said(changed: dict[str, str], line: str) -> None:
    page = render(values(**changed), Letters())
    assert 'role="alert"' in page
    assert line in page


def test_typed_text_never_becomes_html() -> None:
    page = render(values(question="a<b>", other="<i>", cards="<script>a</script>\nb"), Letters())
    assert "<script>" not in page and "<i>" not in page and "a<b>" not in page


def test_a_text_is_embedded_once_a_role() -> None:
    letters = Letters()
    remembered = Remembered(letters)
    for question in ("a", "b", "a"):
        render(values(question=question, cards="a\nb\na"), remembered)
    assert letters.asked == [("document", "a"), ("document", "b"), ("query", "a"), ("query", "b")]


def test_the_start_shows_two_homes_for_two_wordings() -> None:
    recorded = choose("recorded")
    page = render(START, recorded)
    shown = rows(page)
    assert [row[5] for row in shown[:2]] == ["Maya lives in Paris.", "Maya lives in London."]
    assert [row[1] for row in shown[:2]] == ["▲1", "▼1"]
    assert "home?”, where “Maya lives in London.” is first." in html.unescape(page)
    cards = START["cards"].splitlines()
    rel = cosine(recorded.embed([START["question"]], "query")[0], recorded.embed(cards))
    order = rank_order(rel, list("abcde"))
    assert [row[2] for row in shown] == [f"{x:.4f}" for x in rel[order]]


def test_a_missing_model_is_one_readable_line() -> None:
    page = explore(Missing()).children[-1].children[-1].value
    assert 'role="alert"' in page and "run `pip install &lt;it&gt;`" in page
    assert "Traceback" not in page


def test_typing_a_question_ranks_again() -> None:
    _, panel = explore(Letters()).children
    question, other, cards, _, _, output = panel.children
    question.value, other.value, cards.value = "b", "", "a\nb"
    assert [row[5] for row in rows(output.value)] == ["b", "a"]
    question.value = ""
    assert "the question is empty" in output.value


def by_two() -> tuple[Any, Any, Any]:
    """The widget with Letters: its bar, its drop-down of embedders, its output."""
    bar, panel = explore(Letters()).children
    return bar, panel.children[3], panel.children[-1]


def test_another_embedder_embeds_every_text_anew_and_the_first_comes_back() -> None:
    with serving() as server:
        bar, embedder, output = by_two()
        first, ollama = embedder.options
        start, seen = output.value, list[int]()
        bar.observe(lambda change: seen.append(change["new"]), names="value")
        embedder.value = ollama
        assert "by ollama:nomic-embed-text." in output.value
        assert server.texts == [*START["cards"].splitlines(), START["question"], START["other"]]
        assert seen[0] == len(START["cards"].splitlines()) and bar.layout.display == "none"
        server.texts.clear()
        embedder.value = first
        assert output.value == start
        embedder.value = ollama
        assert server.texts == []  # each text is embedded once


def test_without_a_server_the_widget_says_so_and_works_on() -> None:
    with nobody() as host:
        _, embedder, output = by_two()
        start = output.value
        embedder.value = embedder.options[1]
    assert 'role="alert"' in output.value and "Traceback" not in output.value
    assert f"Ollama at {host}: no answer: run `ollama serve`" in output.value
    with serving() as server, pytest.MonkeyPatch.context() as moved:
        moved.setattr("memlib.server.client", lambda _, wait: client(server.host, wait))
        moved.setattr("memlib.embedders.ollama.client", lambda _, wait: client(server.host, wait))
        embedder.value = embedder.options[0]
        embedder.value = embedder.options[1]  # now one was started
        assert "by ollama:nomic-embed-text." in output.value
    embedder.value = embedder.options[0]
    assert output.value == start


def test_what_the_bundled_model_cannot_read_is_said_in_the_caption():
    remembered = Remembered(choose("bundled"))
    values = START | {"question": "鍵", "other": "", "cards": "鬱\n" + "sea " * 300}
    page = render(values, remembered)
    assert "2 of 3 texts are mostly unknown to the bundled model (it knows English)" in page
    assert "1 of 3 texts are read only to 256 word pieces." in page
    assert "texts are" not in render(START, remembered)


def test_a_long_question_is_shortened_in_the_caption_alone() -> None:
    question, other, card = "a" * 200, "b " * 100 + "b", "abc " * 50
    caption = render(values(question=question, other=other, cards=card), Letters()).partition(
        "<thead>"
    )[0]
    assert f"“{'a' * 79}…”" in caption and f"against “{('b ' * 100)[:79]}…”" in caption
    assert f"where “{card[:79]}…” is first" in caption
    assert f"“{'a' * 80}”" in render(values(question="a" * 80), Letters())
