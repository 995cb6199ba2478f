"""The code that is copied gives the ranking that is shown: it is executed."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from course.playground import shelf
from course.playground.as_code import as_code
from course.playground.comparison import PICKED, rank
from course.playground.configuration import CHOICES, Finding, Form
from course.playground.models import BUNDLED, OLLAMA, Models
from memlib.retrieval import Index
from tests.ollama_server import serving

ALL = Form(1.0, 0.7, 0.3, 0.2, 0.4)
QUESTION = "Where's Sam's \"birthday\" present?\n{x}\\"
SETTINGS = [
    *(replace(ALL, **{name: option}) for name, options in CHOICES.items() for option in options),
    replace(ALL, fusion="RRF", recency=0.0, names=0.0, tokenizer="regex"),
    replace(ALL, normalizer="none", diversity="penalty", w_duplicate=1.5, threshold=0.7),
    replace(ALL, diversity="mmr", mmr_lambda=0.3, decay="by kind", half_life_days=2.25),
    replace(ALL, half_life_days=400.0),
    Form(1.0, 0.0, 0.0, 0.0, 1.0, fusion="RRF"),
    replace(ALL, threshold=99.0),
]


@pytest.fixture(scope="module")
def models() -> Models:
    return Models(lambda done, of: None)


def found(held: shelf.Shelf, question: str, settings: Form, by: str = BUNDLED) -> Finding:
    return Finding(held.name, held.fingerprint, by, held.now, question, 7, settings, ALL)


def run(
    models: Models,
    held: shelf.Shelf,
    question: str,
    settings: Form,
    by: str = BUNDLED,
    shown: int = 7,
) -> Any:
    query, asked_of = models.question(question, by)
    finding = found(held, question, settings, by)._replace(shown=shown)
    vectors = models.cards(held, by)
    table = rank(Index(held.cards, vectors), question, query, settings, held.now, finding.shown)
    space: dict[str, Any] = {}
    exec(as_code(finding, "a", held.code, models.name(held, by), asked_of), space)
    return space, table.index[table["why"] == PICKED].tolist()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_code_gives_the_same_cards_in_the_same_order(
    models: Models, settings: Form, capsys: pytest.CaptureFixture[str]
) -> None:
    space, picked = run(models, shelf.maya(), QUESTION, settings)
    assert space["ids"] == picked and space["question"] == QUESTION
    assert capsys.readouterr().out == f"{picked}\n"


@pytest.mark.parametrize("fusion", ["RRF", "weighted sum"])
def test_a_question_whose_words_few_cards_hold(models: Models, fusion: str) -> None:
    both = Form(1.0, 0.0, 0.0, 0.0, 1.0, fusion=fusion)
    space, picked = run(models, shelf.maya(), "What is the name of the cat?", both, shown=12)
    assert space["ids"] == picked


def test_all_choices_are_tried(models: Models) -> None:
    assert len(SETTINGS) == len(list(itertools.chain(*CHOICES.values()))) + 6
    assert len(run(models, shelf.maya(), QUESTION, SETTINGS[0])[1]) == 7
    assert run(models, shelf.maya(), QUESTION, SETTINGS[-1])[1] == []


def test_the_dialogue_and_one_s_own_file_in_code(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, picked = run(models, shelf.dialogue(), "Who drives a tram?", ALL)
    assert space["ids"] == picked and len(picked) == 7
    content = shelf.TEMPLATE.encode()
    own = shelf.own("my cards.csv", content, shelf.COURSE_NOW)
    (tmp_path / "my cards.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    space, picked = run(models, own, "Who drinks coffee?", ALL)
    assert space["ids"] == picked and sorted(picked) == ["tea", "trip"]


@pytest.mark.parametrize("held", [shelf.maya(), shelf.dialogue()], ids=lambda held: held.name)
def test_the_code_runs_with_the_embedder_that_is_chosen(held: shelf.Shelf) -> None:
    with serving() as server:
        space, picked = run(Models(lambda done, of: None), held, QUESTION, ALL, OLLAMA)
        assert space["ids"] == picked and len(picked) == 7
        assert space["model"].id == OLLAMA and space["vectors"].shape == (len(held.cards), 384)
        assert server.texts[-1] == QUESTION and len(server.texts) == 2 * (len(held.cards) + 1)


def test_a_recorded_question_is_asked_of_the_record_and_b_is_b() -> None:
    held = shelf.maya()
    finding = found(held, "What should I cook tonight?", ALL)._replace(b=Form())
    one = as_code(finding, "a", held.code, "recorded", "recorded")
    two = as_code(finding, "b", held.code, "recorded", "bundled")
    assert "model = choose('recorded')\n" in one and "query = model.embed([question]" in one
    assert "model = choose('recorded')\n" in two
    assert "query = choose('bundled').embed([question]" in two
    assert "bm25=0.4," in one and "bm25=" not in two


def test_only_what_is_used_is_imported() -> None:
    held = shelf.maya()
    code = as_code(found(held, "?", ALL), "a", held.code, "recorded", "bundled")
    assert "from memlib.retrieval import Ranking, rank\n" in code
    assert not any(word in code for word in ("Path", "load_cards", "dialogue_cards"))
    assert len(code.splitlines()) < 30
    assert max(len(line) for line in code.splitlines()) <= 100
