"""What the board took as given, varied: each way by hand on the course's own dialogue."""

import numpy as np
import pytest

from course.measure.leaderboard import METHODS, recall
from course.measure.tuned import (
    FORMS,
    HALVES,
    RRF_KS,
    TUNED,
    Form,
    by_form,
    fused,
    stemmed,
    without_stop_words,
)
from memlib.bm25 import BM25, STOPWORDS, regex, stem
from tests.course.measure.test_leaderboard import ALL, NAMED, THREE

BY_NAME = {method.name: method for method in TUNED}
ONE = ALL[0]


def test_names_are_new_and_every_way_is_a_method() -> None:
    assert not set(BY_NAME) & set(NAMED) and len(BY_NAME) == len(TUNED) == 21
    assert {method.family for method in TUNED} == {"tuned"}
    assert {f"BM25, {name}" for name in FORMS} <= set(BY_NAME)


def test_stemmer_and_stop_words_together_are_the_course_s_stems() -> None:
    for text in ("The cats of Sam were running", "Who is it?", "O'Brien's E-4012"):
        kept = [word for word in regex(text) if word not in STOPWORDS]
        assert without_stop_words(text) == kept
        assert [w for w, raw in zip(stemmed(text), regex(text), strict=True) if raw in kept] == (
            stem(text)
        )


@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_bm25_finds_what_it_matches_alone(name: str) -> None:
    cut, variant, k1, b = form = FORMS[name]
    for asked in ALL[:5]:
        scores = by_form(form, asked, {})
        texts = [cut(text) for text in asked.ready.texts]
        plain = BM25(texts, k1, b, variant).scores(cut(asked.question.text))
        terms = set(cut(asked.question.text))
        held = [bool(terms & set(text)) for text in texts]
        np.testing.assert_array_equal(scores, np.where(held, plain, -np.inf))
    assert Form(cut, variant, k1, b) == form


def test_rrf_of_two_at_sixty_is_the_board_s() -> None:
    for asked in ALL:
        same = NAMED["RRF of two"].score(asked, {})
        np.testing.assert_allclose(2 * fused(asked, {"rrf_k": 60.0}), same, atol=1e-12)
        whole = fused(asked, {}, depth=len(same))
        np.testing.assert_allclose(2 * whole, same, atol=1e-12)


def test_of_each_list_only_the_first_are_fused() -> None:
    few = fused(ONE, {}, depth=1)
    first = {int(ONE.part(name).argmax()) for name in ("similarity", "BM25")}
    assert set(np.flatnonzero(few).tolist()) == first


def test_a_sum_of_two_with_one_weight_is_that_part() -> None:
    score = BY_NAME["sum of two"].score
    np.testing.assert_allclose(score(ONE, {"BM25": 0.0}), ONE.part("similarity"))
    np.testing.assert_allclose(score(ONE, {"BM25": 1.0}), ONE.part("BM25"))
    z = BY_NAME["z-score sum of two"].score(ONE, {"BM25": 0.0})
    np.testing.assert_allclose(np.argsort(z), np.argsort(ONE.part("similarity")))


@pytest.mark.parametrize("name", [name for name in BY_NAME if "chosen" in name or "sum" in name])
def test_the_best_setting_is_chosen_and_of_equal_ones_the_first(name: str) -> None:
    method, questions = BY_NAME[name], THREE[0]
    chosen = method.choose(questions)

    def mean(weights: dict[str, float]) -> float:
        found = [recall(method.score(q, weights), q.question.evidence, (20,))[0] for q in questions]
        return round(float(np.mean(found)), 9)

    shares = HALVES if "sum" in name else HALVES[1:-1] if "weights" in name else (None,)
    ks = (None,) if "sum" in name else RRF_KS
    options = [
        {**({} if k is None else {"rrf_k": k}), **({} if share is None else {"BM25": share})}
        for k in ks
        for share in shares
    ]
    means = [mean(option) for option in options]
    assert chosen == options[means.index(max(means))]
    assert len(METHODS) == 43
