"""Several people's cards: what a ranking finds there, and which is chosen without a person."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, maya_cards
from course.data.realmem import Persona, Request
from course.data.recorded import choose
from course.measure.people import (
    BASELINE,
    CANDIDATES,
    Choice,
    Person,
    Wish,
    bare,
    best,
    course_people,
    leave_a_person_out,
    person_recalls,
    realmem_people,
)
from memlib.evaluation import expected_recall
from memlib.retrieval import RRF, SERVER, Ranking, rank

DAY = datetime(2025, 12, 15, tzinfo=UTC)


def test_a_bare_import_keeps_texts_and_dates_alone() -> None:
    cards, rest = maya_cards(), bare(maya_cards())
    assert list(rest) == list(cards) or set(rest) == set(cards)
    assert rest["text"].equals(cards["text"]) and rest["created_at"].equals(cards["created_at"])
    assert rest["importance"].isna().all() and not rest["pinned"].any()
    assert rest["last_accessed_at"].isna().all() and set(rest["kind"]) == {"episodic"}
    assert set(rest["views"]) == {0} and set(rest["entities"]) == set(rest["tags"]) == {()}


def test_the_candidates_are_rankings_of_which_the_simplest_comes_first() -> None:
    assert list(CANDIDATES)[:3] == [BASELINE, "BM25, stem", "BM25, words"]
    assert len(CANDIDATES) == 1 + 2 * (9 + 9 + 7 + 1) + 4 * 4 * 3 + 3
    assert CANDIDATES["sum 0.6/0.4, words"] == Ranking(relevance=0.6, bm25=0.4, tokenizer="words")
    fading = CANDIDATES["sum 0.9/0.1, words + 0.2 recency, 180 days"]
    assert (fading.relevance, fading.bm25, fading.recency) == (0.9, 0.1, 0.2)
    assert (fading.half_life_days, fading.clock, fading.decay) == (180.0, "creation", "per hour")
    assert CANDIDATES["RRF k = 2, stem"].rrf_k == 2.0
    assert CANDIDATES["BM25, words"].relevance == 0.0
    assert CANDIDATES["server"] == SERVER and RRF in CANDIDATES.values()


def person(wishes: tuple[Wish, ...]) -> Person:
    texts = ["Miso naps.", "Rent is due.", "Miso is a cat."]
    made = [DAY, DAY + timedelta(days=1), DAY + timedelta(days=2)]
    cards = bare(pd.DataFrame({"text": texts, "created_at": made}, index=["a", "b", "c"]))
    units = np.float32([[1, 0], [0, 1], [0.8, 0.6]])
    return Person("Ida", cards, units, wishes, np.float32([[0.6, 0.8]] * len(wishes)))


def test_a_wish_is_put_to_the_cards_that_were_there() -> None:
    early = Wish("Who is Miso?", (0,), 2, DAY)  # of these two the rent is nearer
    late = Wish("Who is Miso?", (0, 2), 3, DAY + timedelta(days=9))
    found = person_recalls(person((early, late)), {"similarity": Ranking()}, ks=(1, 2))
    assert found.tolist() == [[[0.0, 100.0]], [[50.0, 50.0]]]


def test_recall_is_that_of_the_function_rank() -> None:
    wish = Wish("Who is Miso?", (0, 1), 3, DAY + timedelta(days=9))
    ida = person((wish,))
    for name, ranking in CANDIDATES.items():
        found = person_recalls(ida, {name: ranking}, ks=(1, 2))[0, 0]
        table = rank(ida.cards, ida.vectors, wish.text, ida.queries[0], ranking, wish.asked_at, 2)
        kept = table[table["why"] == "picked"] if ranking.threshold else table
        scores = kept["at"].reindex(ida.cards.index).fillna(-np.inf).to_numpy()
        if ranking.diversity == "none":
            wanted = [100 * expected_recall(scores.round(9), wish.wanted, k) for k in (1, 2)]
            assert found.tolist() == wanted, name


def test_the_course_s_people_ask_what_was_written_before_any_ranking() -> None:
    maya, anneke = course_people(choose("recorded"))
    assert (len(maya.wishes), len(anneke.wishes)) == (75, 72)
    assert {wish.asked_at for wish in maya.wishes} == {COURSE_NOW}
    first = maya.wishes[0]
    assert first.seen == len(maya.cards) == 208 and maya.vectors.shape == (208, 384)
    assert maya.cards.index[first.wanted[0]] == "lease-animals"


def test_a_persona_s_requests_see_what_was_there_and_those_without_a_card_are_left_out() -> None:
    cards = pd.DataFrame({"text": ["tea", "jam"], "created_at": [DAY, DAY]}, index=["0", "1"])
    requests = (Request("Tea?", 1, DAY, (0,), ()), Request("Else?", 2, DAY, (), ("lost",)))

    class Letters:
        id, dim = "letters", 2

        def embed(self, texts: list[str], role: str = "document") -> np.ndarray:
            return np.float32([[1, 0] if "ea" in text else [0, 1] for text in texts])

    (ida,) = realmem_people([Persona("Ida", cards, requests)], Letters())  # type: ignore[arg-type]
    assert ida.wishes == (Wish("Tea?", (0,), 1, DAY),) and ida.queries.shape == (1, 2)
    assert person_recalls(ida, {"similarity": Ranking()}, ks=(1,)).tolist() == [[[100.0]]]


MEANS = pd.DataFrame(
    {BASELINE: [60.0, 50.0, 40.0], "sum": [70.0, 55.0, 30.0], "rrf": [61.0, 51.0, 46.0]},
    index=["Maya", "Anneke", "Kim"],
)


def test_for_each_person_the_best_of_the_others_is_taken() -> None:
    assert leave_a_person_out(MEANS) == [
        Choice("Maya", "rrf", 61.0, 60.0),
        Choice("Anneke", "rrf", 51.0, 50.0),
        Choice("Kim", "sum", 30.0, 40.0),
    ]
    assert best(MEANS) == "rrf"


def test_of_equal_rankings_the_first_is_taken() -> None:
    same = pd.DataFrame({BASELINE: [1.0, 2.0], "sum": [2.0, 1.0]}, index=["a", "b"])
    assert best(same) == BASELINE


@pytest.mark.parametrize("name", list(CANDIDATES))
def test_every_candidate_ranks_a_bare_import(name: str) -> None:
    wish = Wish("Who is Miso?", (2,), 3, DAY + timedelta(days=9))
    assert np.isfinite(person_recalls(person((wish,)), {name: CANDIDATES[name]})).all()
