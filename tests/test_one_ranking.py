"""One ranking: librarian, playground, exported code and evaluate pick the same, in one order."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, load_exam
from course.data.recorded import choose
from course.playground import comparison, shelf
from course.playground.as_code import as_code
from course.playground.configuration import Finding, Form
from course.playground.models import BUNDLED
from memlib.checks import Floats
from memlib.evaluate import scorer
from memlib.librarian import Librarian
from memlib.ranking import rank_order
from memlib.retrieval import PICKED, PRESETS, Index, Ranking, rank
from memlib.store.sqlite import Store

MAYA, MODEL, NOW, TOP_K = shelf.maya(), choose("recorded"), COURSE_NOW, 7
VECTORS = MODEL.embed(MAYA.cards["text"].tolist())
QUESTIONS = load_exam()["question"].tolist()


@dataclass(frozen=True)
class Preset(Form):
    """A form that stands at a preset, also at one that its controls cannot reach."""

    name: str = "similarity"

    def ranking(self) -> Ranking:
        return PRESETS[self.name]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("one") / "maya.db"
    with Store(path) as made:
        made.add_many(MAYA.cards, VECTORS, MODEL.id, NOW)
        yield made


score = scorer(MAYA.cards, VECTORS, PRESETS, TOP_K)


def measured(scores: Floats, ids: pd.Index) -> list[str]:
    """The ids that `evaluate` counts as found."""
    best = rank_order(scores.clip(-1e9), ids, TOP_K)
    return ids[best[scores[best] > -np.inf]].tolist()


@pytest.mark.parametrize("name", PRESETS)
def test_every_caller_gives_the_same_ids_in_the_same_order(
    store: Store, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    form, index = Preset(name=name), Index(MAYA.cards, VECTORS)
    librarian = Librarian(store, MODEL, PRESETS[name])
    for question in QUESTIONS:
        query = MODEL.embed([question], role="query")[0]
        plain = rank(MAYA.cards, VECTORS, question, query, PRESETS[name], NOW, TOP_K)
        picked = plain.index[plain["why"] == PICKED].tolist()
        told = librarian.explain(question, NOW, TOP_K)
        assert told.index.tolist() == plain.index.tolist()
        assert told.index[told["why"] == PICKED].tolist() == picked
        shown = comparison.rank(index, question, query, form, NOW, TOP_K)
        assert shown.index[shown["why"] == PICKED].tolist() == picked
        assert len(picked) == TOP_K or name == "server"
        assert measured(score(question, query, NOW)[name], MAYA.cards.index) == picked
    known = MAYA.name, MAYA.fingerprint, BUNDLED
    finding = Finding(*known, NOW, QUESTIONS[-1], TOP_K, form, form)
    space: dict[str, Any] = {}
    exec(as_code(finding, "b", MAYA.code, "recorded", "recorded"), space)
    assert space["ids"] == picked and capsys.readouterr().out == f"{picked}\n"


@pytest.mark.parametrize("name", PRESETS)
def test_on_two_thousand_cards_too(tmp_path: Path, name: str) -> None:
    """Ten of each of Maya's cards: other dates, ratings and words, so that no two are alike."""
    rng = np.random.default_rng(7)
    many = pd.concat([MAYA.cards] * 10)
    many.index = pd.Index([f"{id}-{n // 208}" for n, id in enumerate(many.index)])
    many["text"] += [f" Note {n}." for n in range(len(many))]
    many["created_at"] -= pd.to_timedelta(rng.integers(0, 9000, len(many)), unit="h")
    many["importance"] = rng.integers(1, 11, len(many)).astype(float)
    many["last_accessed_at"] = many["last_accessed_at"].mask(rng.random(len(many)) < 0.5)
    noise = rng.normal(scale=0.02, size=(len(many), VECTORS.shape[1]))
    vectors = np.tile(VECTORS, (10, 1)) + noise
    units = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    evaluated = scorer(many, units, {name: PRESETS[name]}, TOP_K)
    with Store(tmp_path / "many.db") as store:
        store.add_many(many, units, MODEL.id, NOW)
        librarian = Librarian(store, MODEL, PRESETS[name])
        for question in QUESTIONS:
            query = MODEL.embed([question], role="query")[0]
            told = librarian.explain(question, NOW, TOP_K)
            picked = told.index[told["why"] == PICKED].tolist()
            plain = rank(many, units, question, query, PRESETS[name], NOW, TOP_K)
            assert plain.index.tolist() == told.index.tolist()
            assert measured(evaluated(question, query, NOW)[name], many.index) == picked
