"""The code that is copied gives the ranking that is shown: it is executed."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memlib.show import shelf
from memlib.show.as_code import as_code
from memlib.show.comparison import PICKED, rank
from memlib.show.configuration import CHOICES, Finding, Settings
from memlib.sources.embedders import Recorded

ALL = Settings(1.0, 0.7, 0.3, 0.2, 0.4)
QUESTION = "Where's Sam's \"birthday\" present?\n{x}\\"
SETTINGS = [
    *(replace(ALL, **{name: option}) for name, options in CHOICES.items() for option in options),
    replace(ALL, fusion="RRF", recency=0.0, names=0.0, tokenizer="regex"),
    replace(ALL, normalizer="none", diversity="penalty", w_duplicate=1.5, threshold=0.7),
    replace(ALL, diversity="mmr", mmr_lambda=0.3, decay="by kind", half_life_days=2.25),
    replace(ALL, half_life_days=400.0),
    Settings(1.0, 0.0, 0.0, 0.0, 1.0, fusion="RRF"),
    replace(ALL, threshold=99.0),
]


def run(held: shelf.Shelf, question: str, settings: Settings, shown: int = 7) -> Any:
    query, asked_of = shelf.embed_question(question)
    finding = Finding(held.name, held.fingerprint, held.now, question, shown, settings, ALL)
    table = rank(held.cards, held.vectors, question, query, settings, held.now, shown)
    space: dict[str, Any] = {}
    exec(as_code(finding, "a", held.code, asked_of), space)
    return space, table.index[table["why"] == PICKED].tolist()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_code_gives_the_same_cards_in_the_same_order(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    space, picked = run(shelf.maya(), QUESTION, settings)
    assert space["ids"] == picked and space["question"] == QUESTION
    assert capsys.readouterr().out == f"{picked}\n"


@pytest.mark.parametrize("fusion", ["RRF", "weighted sum"])
def test_a_question_whose_words_few_cards_hold(fusion: str) -> None:
    both = Settings(1.0, 0.0, 0.0, 0.0, 1.0, fusion=fusion)
    space, picked = run(shelf.maya(), "What is the name of the cat?", both, shown=12)
    assert space["ids"] == picked


def test_all_choices_are_tried() -> None:
    assert len(SETTINGS) == len(list(itertools.chain(*CHOICES.values()))) + 6
    assert len(run(shelf.maya(), QUESTION, SETTINGS[0])[1]) == 7
    assert run(shelf.maya(), QUESTION, SETTINGS[-1])[1] == []


def test_the_dialogue_and_one_s_own_file_in_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, picked = run(shelf.dialogue(), "Who drives a tram?", ALL)
    assert space["ids"] == picked and len(picked) == 7
    content = shelf.TEMPLATE.encode()
    own = shelf.own("my cards.csv", content, shelf.COURSE_NOW, shelf.bundled().embed)
    (tmp_path / "my cards.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    space, picked = run(own, "Who drinks coffee?", ALL)
    assert space["ids"] == picked and sorted(picked) == ["tea", "trip"]


def test_a_recorded_question_is_asked_of_the_record_and_b_is_b() -> None:
    held, question = shelf.maya(), "What should I cook tonight?"
    finding = Finding(held.name, held.fingerprint, held.now, question, 7, ALL, Settings())
    assert "choose('recorded').embed([question]" in as_code(finding, "b", held.code, "recorded")
    assert "'bm25': 0.0" in as_code(finding, "b", held.code)
    assert "'bm25': 0.4" in as_code(finding, "a", held.code)


def test_only_what_is_used_is_imported() -> None:
    held = shelf.maya()
    finding = Finding(held.name, held.fingerprint, held.now, "?", 7, ALL, ALL)
    code = as_code(finding, "a", held.code)
    assert "from memlib.fusion import weighted_sum\n" in code
    assert not any(word in code for word in ("Path", "z_score", "HALF_LIFE", "dialogue_cards"))
    assert max(len(line) for line in code.splitlines()) <= 100
    assert Recorded().id == shelf.bundled().id  # so a recorded card and a bundled question compare
