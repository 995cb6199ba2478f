"""Chapter 05's widget: what it shows, recomputed word by word with the standard library."""

import math
import re
from html import unescape

import pandas as pd
import pytest

from course.data.maya import maya_cards
from course.widgets import bm25 as widget
from memlib.bm25 import BM25, TOKENIZERS

CARDS = maya_cards()
TOKENS = {name: [cut(text) for text in CARDS["text"]] for name, cut in TOKENIZERS.items()}
FIRST = BM25(TOKENS["stem"], variant="lucene")


def render(**changes: object) -> str:
    return widget.render(widget.START | changes, CARDS, TOKENS, FIRST)


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def caption(html: str) -> str:
    return plain(html.partition("<thead>")[0])


def rows(html: str) -> list[list[str]]:
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    lines = re.findall(r"<tr>.*?</tr>", body)
    return [[plain(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)] for line in lines]


def added_by_hand(term: str, row: int, documents: list[list[str]], k1: float, b: float) -> float:
    df = sum(term in document for document in documents)
    mean = sum(map(len, documents)) / len(documents)
    tf = documents[row].count(term)
    if tf == 0:
        return 0.0
    idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + k1 * (1 - b + b * len(documents[row]) / mean))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tokenizer": "regex", "k1": 0.0},
        {"tokenizer": "unicode", "b": 0.0},
        {"tokenizer": "naive", "k1": 3.0, "b": 1.0},
        {"question": "the cat, the cat", "tokenizer": "regex"},
    ],
)
def test_scores_and_words_by_hand(changes: dict[str, object]) -> None:
    values = widget.START | changes
    documents = TOKENS[values["tokenizer"]]
    terms = TOKENIZERS[values["tokenizer"]](values["question"])
    totals = {
        name: sum(added_by_hand(t, row, documents, values["k1"], values["b"]) for t in terms)
        for row, name in enumerate(CARDS.index)
    }
    best = sorted(totals, key=lambda name: (-round(totals[name], 9), name))[:10]
    shown = rows(render(**changes))
    assert [line[2] for line in shown] == [f"{totals[n]:.2f}" for n in best if totals[n] > 0]
    for rank, (line, name) in enumerate(zip(shown, best, strict=False), start=1):
        assert (line[0], line[4]) == (str(rank), CARDS["text"][name])
        row = list(CARDS.index).index(name)
        for piece in line[3].split(" + "):
            term, _, value = piece.rpartition(" ")
            part = added_by_hand(term, row, documents, values["k1"], values["b"])
            assert value == f"{terms.count(term) * part:.2f}"


def test_the_start_finds_miso_by_two_words() -> None:
    html = render()
    assert len(rows(html)) == 6
    assert rows(html)[0] == [
        *("1", "·", "3.41", "name 1.54 + cat 1.87"),
        "After three days of voting the kids gave the cat a name: Miso.",
    ]
    assert "name (on 5 cards, worth 3.64), cat (on 2 cards, worth 4.43)" in caption(html)
    assert "6 of 208 cards" in caption(html)


def test_another_tokenizer_moves_cards_and_keeps_the_question_mark() -> None:
    html = render(tokenizer="naive")
    assert "cat? (on no card)" in caption(html)
    assert {line[1] for line in rows(html)} == {"▲3", "new"}
    assert "new: no word of it matched there" in caption(html)
    assert "new:" not in caption(render(b=0.0))
    assert {line[1] for line in rows(render())} == {"·"}


def test_a_word_on_one_card_is_said_in_the_singular() -> None:
    assert "miso (on 1 card, worth 4.94)" in caption(render(question="Miso!"))


@pytest.mark.parametrize("question", ["feline", "?!", "what is the"])
def test_a_question_without_a_card_s_word_has_no_order(question: str) -> None:
    html = render(question=question)
    assert rows(html) == []
    assert "0 of 208 cards hold a word of it. All scores are 0" in plain(html)
    assert html.startswith("<p") and "<table" not in html


def test_an_empty_question_is_said_in_a_line() -> None:
    assert "the question is empty" in render(question="  ")


def test_hostile_text_stays_text() -> None:
    cards = pd.DataFrame({"text": ["<b>cat</b> & <i>", "rent"]}, index=["a", "b"])
    tokens = {name: [cut(text) for text in cards["text"]] for name, cut in TOKENIZERS.items()}
    values = widget.START | {"question": "<b>cat</b>", "tokenizer": "naive"}
    html = widget.render(values, cards, tokens, BM25(tokens["stem"]))
    assert "<b>" not in html and "&lt;b&gt;cat&lt;/b&gt;" in html


@pytest.mark.parametrize(
    ("changes", "message"), [({"k1": -0.5}, "k1 is -0.5"), ({"b": 1.5}, "b is 1.5")]
)
def test_a_value_that_cannot_be_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render(**changes)


def test_explore_follows_its_controls_and_comes_back() -> None:
    *controls, reset, output = widget.explore(CARDS).children
    assert [control.value for control in controls] == list(widget.START.values())
    start = output.value
    assert start == render() + widget.parts.ARROW
    controls[2].value = 0.0
    assert output.value == render(k1=0.0) + widget.parts.ARROW != start
    controls[0].value = "feline"
    assert "All scores are 0" in output.value
    reset.click()
    assert output.value == start
