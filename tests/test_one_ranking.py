"""One ranking: librarian, playground and exported code pick the same cards in the same order."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from course.data.maya import COURSE_NOW, load_exam
from course.data.recorded import choose
from course.playground import comparison, shelf
from course.playground.as_code import as_code
from course.playground.configuration import Finding, Form
from course.playground.models import BUNDLED
from memlib.librarian import Librarian
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
    known = MAYA.name, MAYA.fingerprint, BUNDLED
    finding = Finding(*known, NOW, QUESTIONS[-1], TOP_K, form, form)
    space: dict[str, Any] = {}
    exec(as_code(finding, "b", MAYA.code, "recorded", "recorded"), space)
    assert space["ids"] == picked and capsys.readouterr().out == f"{picked}\n"
