"""The waterfall: what each part adds, what is plotted, and the sentence below."""

import math
from dataclasses import replace

import pytest

from course.show.waterfall import contributions, waterfall
from memlib.ranking import FinalWeights
from memlib.retrieval import SERVER
from tests.notebooks.pictures import alike

CARD = {
    "dense": 0.5,
    "bm25_norm": 0.25,
    "tag_match": 1.0,
    "title_hit": 0.2,
    "recency": 0.5,
    "importance": 0.75,
    "usage": 1.0,
    "penalty": 0.4,
}
M1 = [0.15, 0.0375, 0.025, 0.005, 0.1, 0.15, 0.1, -0.06]  # with a pencil


def test_the_parts_are_weighted_twice_and_add_up_to_s():
    told = contributions(CARD)
    assert list(told.values()) == pytest.approx(M1)
    assert [*told][::7] == ["meaning", "copies"]
    assert sum(told.values()) == pytest.approx(0.5075)


def test_weights_are_those_of_the_ranking():
    doubled = replace(SERVER, final_weights=FinalWeights(1.0, 0.4, 0.4, 0.2, 0.3))
    assert list(contributions(CARD, doubled).values()) == pytest.approx([2 * x for x in M1])


@pytest.mark.parametrize("diversity", ["mmr", "none"])
def test_only_the_penalty_takes_copies_off_s(diversity):
    assert contributions(CARD, replace(SERVER, diversity=diversity))["copies"] == 0.0


def test_a_meaning_below_zero_adds_nothing():
    assert contributions(CARD | {"dense": -0.3})["meaning"] == 0.0


def test_each_bar_begins_where_the_one_before_ends_and_the_last_is_s():
    ax = waterfall(contributions(CARD)).figure.axes[0]
    edge = 0.0
    for bar, step in zip(ax.patches[:-1], M1, strict=True):
        assert bar.get_x() == pytest.approx(edge)
        assert bar.get_width() == pytest.approx(step)
        edge += step
    assert ax.patches[-1].get_x() == 0 and ax.patches[-1].get_width() == pytest.approx(edge)
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == ["copies", "S"]


def test_what_lowers_has_another_hatch():
    *_, copies, total = waterfall(contributions(CARD)).figure.axes[0].patches
    assert copies.get_hatch() and not total.get_hatch()


def test_the_sentence_tells_every_step_the_sum_and_the_threshold():
    picture = waterfall({"a": 0.25, "b": -0.125}, threshold=0.125)
    assert picture.sentence == (
        "Waterfall of S: a +0.250; b -0.125; S 0.125, not below the threshold 0.125."
    )
    assert waterfall({"a": 0.25}, None).sentence.endswith("S 0.250.")
    dashed = [line for line in picture.figure.axes[0].lines if line.get_linestyle() == "--"]
    assert [line.get_xdata()[0] for line in dashed] == [0.125]


@pytest.mark.parametrize(("threshold", "named"), [(0.35, ["threshold 0.35"]), (None, [])])
def test_the_threshold_s_line_has_a_name(threshold, named):
    texts = [text.get_text() for text in waterfall({"a": 0.25}, threshold).figure.axes[0].texts]
    assert [text for text in texts if "threshold" in text] == named


def test_the_picture_is_the_same_each_time():
    assert alike(waterfall({"a": 0.25}).png(), waterfall({"a": 0.25}).png())


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="steps is empty"):
        waterfall({})
    with pytest.raises(ValueError, match=r"steps\[1\]"):
        waterfall({"a": 0.1, "b": math.nan})
