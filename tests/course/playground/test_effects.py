"""What is said to have no effect has none: case by case, and over the course's cards."""

from dataclasses import asdict, replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from course.data.maya import COURSE_NOW
from course.playground.comparison import rank
from course.playground.configuration import CHOICES, PARTS, Form
from course.playground.effects import Ground, ground, without_effect
from memlib.retrieval import Index
from tests.course.playground.test_comparison import CARDS, MODEL, QUERY, QUESTION, VECTORS

S = Form()
RRF = Form(names=1.0, bm25=1.0, fusion="RRF")
FREE = Ground(pinned=False)
EPISODIC = Ground(kinds=frozenset(["episodic"]))
NAMELESS = frozenset(["names"])
UNRATED = Ground(frozenset(["importance"]), frozenset(["importance"]), rated=False)


def level(*names: str, **more: bool) -> Ground:
    return Ground(level=frozenset(names), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("a", "change", "of", "why"),
    [
        (RRF, {"recency": 0.5}, Ground(), "RRF uses ranks, not the size of a weight"),
        (RRF, {"recency": 0.0}, Ground(), ""),
        (S, {"recency": 0.5}, Ground(), ""),
        (RRF, {"normalizer": "z-score"}, Ground(), "RRF uses ranks and normalises nothing"),
        (S, {"normalizer": "z-score"}, Ground(), ""),
        (S, {"tokenizer": "naive"}, Ground(), "BM25 has weight 0"),
        (S, {"tokenizer": "naive"}, Ground(same=False), ""),
        (RRF, {"tokenizer": "naive"}, Ground(), ""),
        (RRF, {"tokenizer": "naive"}, Ground(frozenset(["bm25"])), "it is the same for every card"),
        (S, {"names": 1.0}, Ground(NAMELESS, named=False, asked=False), "no card lists names"),
        (
            *(S, {"names": 1.0}, Ground(NAMELESS, asked=False)),
            "the question holds no name that a card lists",
        ),
        (S, {"names": 1.0}, Ground(NAMELESS), "it is the same for every card"),
        (S, {"names": 1.0}, Ground(), ""),
        (S, {"w_duplicate": 0.9}, Ground(), "no side picks by penalty"),
        (replace(S, diversity="mmr"), {"w_duplicate": 0.9}, Ground(), "no side picks by penalty"),
        (replace(S, diversity="penalty"), {"w_duplicate": 0.9}, Ground(), ""),
        (S, {"mmr_lambda": 0.5}, Ground(), "no side picks by mmr"),
        (replace(S, diversity="penalty"), {"mmr_lambda": 0.5}, Ground(), "no side picks by mmr"),
        (replace(S, diversity="mmr"), {"mmr_lambda": 0.5}, Ground(), ""),
        (replace(S, recency=0.0), {"decay": "by kind"}, Ground(), "recency has weight 0"),
        (replace(S, recency=0.0), {"half_life_days": 9.0}, Ground(), "recency has weight 0"),
        (S, {"half_life_days": 9.0}, FREE, ""),
        (S, {"decay": "half-life"}, FREE, "no card is pinned"),
        (S, {"decay": "half-life"}, Ground(), ""),
        (S, {"decay": "half-life"}, FREE._replace(oldest_days=1e4), ""),
        (S, {"decay": "by kind"}, FREE, ""),
        (
            *(S, {"decay": "by kind"}, EPISODIC._replace(pinned=False)),
            "no card is pinned and every card is episodic",
        ),
        (S, {"decay": "by kind"}, EPISODIC, ""),
        (replace(S, decay="half-life"), {"decay": "by kind"}, EPISODIC, "every card is episodic"),
        (
            *(replace(S, decay="half-life"), {"decay": "by kind"}),
            *(Ground(kinds=frozenset(["semantic"])), ""),
        ),
        (S, {"importance": 0.5}, UNRATED, "no card is rated"),
        (S, {"importance": 0.5}, UNRATED._replace(rated=True), "it is the same for every card"),
        (S, {"importance": 0.5}, Ground(), ""),
        (S, {"importance": 0.5}, level("importance", rated=False), "no card is rated"),
        (replace(S, threshold=0.1), {"importance": 0.5}, level("importance"), ""),
        (replace(RRF, importance=0.0), {"importance": 1.0}, level("importance"), ""),
        (S, {"fusion": "RRF"}, UNRATED, ""),
        (S, {"diversity": "mmr"}, UNRATED, ""),
        (S, {"threshold": 0.1}, UNRATED, ""),
    ],
)
def test_a_reason_is_given_where_it_is_one(
    a: Form, change: dict[str, object], of: Ground, why: str
) -> None:
    b = replace(a, **change)  # type: ignore[arg-type]
    expected = {name: why for name in change if why}
    assert without_effect(a, b, of) == without_effect(b, a, of) == expected


def test_what_another_change_hides_is_not_said_to_have_no_effect() -> None:
    silent = Ground(frozenset(["bm25", "recency"]), frozenset(["bm25", "recency"]))
    two = Form(bm25=0.4, tokenizer="naive")  # under "stem" it might match
    assert without_effect(S, two, silent) == {}
    two = Form(decay="by kind")
    assert without_effect(replace(S, recency=0.0), two, silent) == {}
    assert without_effect(S, S, silent) == {}


KINDS = {
    "as they are": {},
    "none pinned": {"pinned": False},
    "all episodic": {"pinned": False, "kind": "episodic"},
    "all semantic": {"pinned": False, "kind": "semantic"},
    "unrated": {"importance": np.nan},
    "without names": {"entities": [()] * len(CARDS)},
    "of one time": {"created_at": CARDS["created_at"].min(), "last_accessed_at": pd.NaT},
}
READY = {
    name: Index(CARDS.assign(**change), VECTORS)  # type: ignore[arg-type]
    for name, change in KINDS.items()
}
NOBODY = "zzz?"
QUERIES = {QUESTION: QUERY, NOBODY: MODEL.embed(["What should I cook tonight?"], role="query")[0]}
WEIGHT = st.sampled_from([0.0, 0.0, 0.3, 1.0, 2.0])
OTHERS = CHOICES | {
    "half_life_days": (0.1, 5.76, 40.0),
    "w_duplicate": (0.15, 0.9),
    "mmr_lambda": (0.8, 0.2),
    "threshold": (None, None, 0.5),
}
SETTINGS = st.builds(
    Form, **dict.fromkeys(PARTS, WEIGHT), **{n: st.sampled_from(v) for n, v in OTHERS.items()}
)


def ranking(ready: Index, question: str, form: Form) -> pd.DataFrame:
    return rank(ready, question, QUERIES[question], form, COURSE_NOW, 8)


def weighs(settings: Form) -> bool:
    return settings.fusion != "RRF" or any(settings.weights().values())


@examples(max_examples=400)
@given(
    *(st.sampled_from(sorted(READY)), st.sampled_from(sorted(QUERIES)), SETTINGS, SETTINGS),
    st.lists(st.sampled_from(sorted(asdict(S))), min_size=1, max_size=2, unique=True),
)
def test_what_all_has_no_effect_moves_nothing(
    cards: str, question: str, a: Form, other: Form, changed: list[str]
) -> None:
    b = replace(a, **{name: getattr(other, name) for name in changed})
    if not (weighs(a) and weighs(b)):
        return
    one, two = (ranking(READY[cards], question, settings) for settings in (a, b))
    of = ground(READY[cards], question, QUERIES[question], COURSE_NOW, one, two)
    idle = without_effect(a, b, of)
    if idle.keys() == {name for name in changed if getattr(a, name) != getattr(b, name)}:
        assert one.index.tolist() == two.index.tolist()
        pd.testing.assert_frame_equal(one[["listed", "why"]], two[["listed", "why"]])


@pytest.mark.parametrize(
    ("cards", "question", "change", "why"),
    [
        ("without names", QUESTION, {"names": 1.0}, "no card lists names"),
        ("unrated", QUESTION, {"importance": 0.2}, "no card is rated"),
        ("unrated", QUESTION, {"importance": 0.2, "normalizer": "none"}, "no card is rated"),
        *(("as they are", QUESTION, {part: 0.2}, "") for part in PARTS),
        ("as they are", NOBODY, {"names": 1.0}, "the question holds no name that a card lists"),
        ("none pinned", QUESTION, {"decay": "half-life"}, "no card is pinned"),
        ("as they are", QUESTION, {"decay": "half-life"}, ""),
        ("all semantic", QUESTION, {"decay": "by kind"}, ""),
        *(
            ("of one time", QUESTION, {"recency": w}, "it is the same for every card")
            for w in (0, 2)
        ),
    ],
)
def test_what_the_cards_and_the_question_hold_decides(
    cards: str, question: str, change: dict[str, object], why: str
) -> None:
    bare = change.get("normalizer") == "none"
    ready, a = READY[cards], replace(S, normalizer="none" if bare else "min-max")
    b = replace(a, **change)  # type: ignore[arg-type]
    tables = [ranking(ready, question, settings) for settings in (a, b)]
    of = ground(ready, question, QUERIES[question], COURSE_NOW, *tables)
    assert list(without_effect(a, b, of).values()) == ([why] if why else [])


def test_what_faded_long_ago_is_not_told_apart() -> None:
    index, late = READY["as they are"], COURSE_NOW + timedelta(days=9_000)
    tables = [rank(index, QUESTION, QUERY, S, late, 8)] * 2
    of = ground(index, QUESTION, QUERY, late, *tables)
    assert of.oldest_days > 9_000 and of.kinds == {"working", "episodic", "semantic"}
    assert of.rated and of.named and of.pinned and of.nothing == {"recency", "names", "bm25"}
    assert without_effect(S, replace(S, decay="half-life"), of._replace(pinned=False)) == {}
