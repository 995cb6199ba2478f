"""The exam: where the wanted cards land, and what counts as a pass."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlib.evaluation import sit_exam
from tests.oracles import ranking as oracle

IDS = ["miso", "sam", "ink", "kids", "work"]


def exam(*wanted: tuple[str, ...]) -> pd.DataFrame:
    names = [f"q{i:02d}" for i in range(1, len(wanted) + 1)]
    return pd.DataFrame({"question": [f"{n}?" for n in names], "wanted": wanted}, index=names)


def falling(question: str) -> list[float]:
    return [0.9, 0.7, 0.5, 0.3, 0.1]


def test_ranks_and_passes_by_hand() -> None:
    result = sit_exam(exam(("miso",), ("ink",), ("kids",), ("kids", "sam")), IDS, falling)
    assert list(result.columns) == ["question", "ranks", "passed"]
    assert list(result.index) == ["q01", "q02", "q03", "q04"]
    assert result["question"].tolist() == ["q01?", "q02?", "q03?", "q04?"]
    assert result["ranks"].tolist() == [(1,), (3,), (4,), (4, 2)]
    assert result["passed"].tolist() == [True, True, False, False]


def test_every_wanted_card_must_be_among_the_top_k() -> None:
    paper = exam(("miso", "kids"))
    assert [bool(sit_exam(paper, IDS, falling, k)["passed"].iloc[0]) for k in (1, 3, 4, 5)] == [
        False,
        False,
        True,
        True,
    ]


def test_each_question_gets_its_own_scores() -> None:
    def score(question: str) -> list[float]:
        return falling(question) if question == "q01?" else falling(question)[::-1]

    result = sit_exam(exam(("miso",), ("miso",)), pd.Index(IDS), score)
    assert result["ranks"].tolist() == [(1,), (5,)]


def test_equal_scores_rank_by_id() -> None:
    result = sit_exam(exam(("miso", "ink", "work")), IDS, lambda question: [0.5] * 5)
    assert result["ranks"].tolist() == [(3, 1, 5)]


def test_an_exam_without_questions_has_an_empty_result() -> None:
    result = sit_exam(exam(), IDS, falling)
    assert len(result) == 0
    assert list(result.columns) == ["question", "ranks", "passed"]


@pytest.mark.parametrize(
    ("wanted", "ids", "scores", "message"),
    [
        (("cat",), IDS, [0.0] * 5, "exam q01 wants 'cat': no card has that id"),
        (("miso",), IDS, [0.0] * 4, "lengths differ: scores 4, ids 5"),
        (("miso",), IDS, [0.0, float("nan"), 0, 0, 0], "scores[1] is nan: must be a number"),
        (("miso",), ["miso", "miso"], [1.0, 0.0], "ids[1] is 'miso': an id may occur only once"),
        (("miso",), ["miso", 4], [1.0, 0.0], "ids[1] is 4: an id must be a str"),
    ],
)
def test_a_refusal_says_what_is_wrong(
    wanted: tuple[str, ...], ids: list[str], scores: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        sit_exam(exam(wanted), ids, lambda question: scores)
    assert str(caught.value) == message


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=5, max_size=5),
    st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True),
    st.integers(1, 6),
)
def test_ranks_agree_with_the_oracle(scores: list[float], wanted: list[str], top_k: int) -> None:
    result = sit_exam(exam(tuple(wanted)), IDS, lambda question: scores, top_k)
    expected = oracle.ranks(scores, IDS, wanted)
    assert result["ranks"].tolist() == [expected]
    assert result["passed"].tolist() == [all(rank <= top_k for rank in expected)]
