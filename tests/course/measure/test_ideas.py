"""Every part of a score: its range, the formula behind it, and what it must not look at."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data.dialogue import Conversation, Question, Turn, load_dialogue, turn_text
from course.data.recorded import choose
from course.measure import experiment
from course.measure.experiment import Vectors
from course.measure.ideas import PARTS, STACK, Asked, Prepared, above, ask, diverse, part_row, rrf
from memlib import bm25, recency, signals, strength
from memlib.bm25 import BM25, stem
from memlib.checks import Floats
from memlib.entity_boost import entity_boost, names_in
from memlib.fusion import reciprocal_rank_fusion
from memlib.normalization import min_max
from memlib.ranking import pick_diverse
from memlib.similarity import cosine
from tests.oracles import bm25 as slow_bm25
from tests.oracles import entity_boost as slow_entity
from tests.oracles import fusion as slow_fusion
from tests.oracles import normalization as slow_normalization
from tests.oracles import ranking as slow_ranking
from tests.oracles import recency as slow_recency
from tests.oracles import similarity as slow_similarity

(TALK,) = load_dialogue()
BEGAN = (
    datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    datetime(2023, 5, 9, 13, 56, tzinfo=UTC),
    datetime(2023, 6, 8, 13, 56, tzinfo=UTC),
)


def turn(name: str, speaker: str, text: str) -> Turn:
    return Turn(name, speaker, text, "", BEGAN[int(name[1]) - 1])


TINY = Conversation(
    "tiny",
    ("Ida", "Max"),
    (
        turn("D1:1", "Ida", "Max, I flew my red kite yesterday."),
        turn("D1:2", "Max", "Nice!"),
        turn("D2:1", "Max", "The kite was stolen in May."),
        turn("D2:2", "Ida", "My sister Nina sings in Turin."),
        turn("D3:1", "Max", "Nice!"),
    ),
    (
        Question("Where does Ida's sister sing?", "Turin", 4, (3,), ()),
        Question("Whom did Max and Ida forget?", "", 4, (), ()),
        Question("What was stolen in May 2023?", "The kite", 4, (2, 0), ()),
        Question("What do Max and Ida say of the kite?", "Nice", 4, (1, 4), ()),
        Question("Hm?", "", 4, (1,), ()),
    ),
)


def made_up(rows: int, dim: int, start: int) -> Vectors:
    vectors = np.random.default_rng(start).normal(size=(rows, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@cache
def vectors(talk: Conversation) -> tuple[Vectors, Vectors, Vectors]:
    """Turns, turns in context, questions; recorded for the course's dialogue but the context's."""
    if talk is TALK:
        recorded = choose("recorded")
        turns = recorded.embed([turn_text(turn) for turn in talk.turns])
        questions = recorded.embed([question.text for question in talk.questions], "query")
    else:
        turns, questions = made_up(len(talk.turns), 6, 1), made_up(len(talk.questions), 6, 2)
    return turns, made_up(len(turns), turns.shape[1], 3), questions


def measured(talk: Conversation) -> list[Asked]:
    turns, context, questions = vectors(talk)
    return ask(Prepared(talk, turns, context), questions)


DIALOGUE, TINY_ASKED = measured(TALK), measured(TINY)
BOTH = pytest.mark.parametrize("talk", [TALK, TINY], ids=["dialogue", "tiny"])


def with_evidence(talk: Conversation) -> list[tuple[Question, np.ndarray]]:
    pairs = zip(talk.questions, vectors(talk)[2], strict=True)
    return [(question, vector) for question, vector in pairs if question.evidence]


def asked_of(talk: Conversation) -> list[Asked]:
    return DIALOGUE if talk is TALK else TINY_ASKED


# The shape of every part


@BOTH
def test_every_part_is_one_number_a_turn_in_0_to_1(talk: Conversation) -> None:
    for asked in asked_of(talk):
        assert asked.parts.shape == (len(PARTS), len(talk.turns)) == asked.matched.shape
        assert np.isfinite(asked.parts).all()
        assert asked.parts.min() >= 0 and asked.parts.max() <= 1
        for row in asked.parts:  # min-max reaches both ends, or cannot tell turns apart
            assert (row.min(), row.max()) in ((0, 1), (0, 0))


@BOTH
def test_a_part_is_found_by_its_name(talk: Conversation) -> None:
    asked = asked_of(talk)[0]
    assert len(asked.parts) == len(PARTS)
    for name, row in zip(PARTS, asked.parts, strict=True):
        assert asked.part(name).tolist() == row.tolist()


def test_no_part_of_the_dialogue_is_flat_in_every_question() -> None:
    flat = {name for name in PARTS if all(asked.part(name).max() == 0 for asked in DIALOGUE)}
    dated = any(signals.MONTHS[i] in q.text for q in TALK.questions for i in range(12))
    assert flat == (set() if dated else {"date match"})


def test_the_stack_is_made_of_different_parts() -> None:
    assert set(STACK) <= set(PARTS)
    assert len(set(STACK)) == len(STACK)


# The formulas, called directly


def directly(talk: Conversation) -> dict[str, Callable[[str, np.ndarray], Floats]]:
    """Each part as chapters teach it, from the conversation alone."""
    turns, context, _ = vectors(talk)
    texts = [turn_text(turn, "sc") for turn in talk.turns]
    days = [turn.session for turn in talk.turns]
    speakers = [turn.speaker for turn in talk.turns]
    tokens = [stem(text) for text in texts]
    times = [turn.said_at for turn in talk.turns if turn.said_at is not None]
    hours = [(max(times) - time) / timedelta(hours=1) for time in times]
    dated = [
        words + stem(signals.date_words(turn.said_at))
        for words, turn in zip(tokens, talk.turns, strict=True)
    ]
    whole, rows = signals.by_group(texts, days)
    spoken = BM25([stem(text) for text in whole], variant="lucene")

    def names(q: str) -> tuple[str, ...]:
        return names_in(q, talk.speakers)

    def first(q: str, v: np.ndarray) -> Floats:
        words = min_max(BM25(tokens).scores(stem(q)))
        return 0.5 * min_max(turns @ v) + 0.5 * words

    def moved(q: str, v: np.ndarray) -> Floats:
        return turns @ signals.feedback_query(v, turns, first(q, v))

    def more_words(q: str, v: np.ndarray) -> Floats:
        index = BM25(tokens)
        return index.scores(signals.feedback_terms(tokens, first(q, v), stem(q), index.idf))

    def stronger(q: str, v: np.ndarray) -> Floats:
        own = float(strength.strength_of_vector([v])[0])
        return strength.biased_cosine(v, turns, own, strength.strength_of_vector(turns))

    return {
        "similarity": lambda q, v: turns @ v,
        "BM25": lambda q, v: BM25(tokens).scores(stem(q)),
        "speaker match": lambda q, v: signals.speaker_match(names(q), speakers),
        "BM25 in context": lambda q, v: BM25(
            [stem(text) for text in signals.in_context(texts, days)]
        ).scores(stem(q)),
        "similarity in context": lambda q, v: context @ v,
        "BM25 of the session": lambda q, v: spoken.scores(stem(q))[rows],
        "length": lambda q, v: signals.length_prior([len(words) for words in tokens]),
        "date match": lambda q, v: signals.date_match(q, [turn.said_at for turn in talk.turns]),
        "time words": lambda q, v: signals.time_words([turn.text for turn in talk.turns]),
        "hubness": lambda q, v: signals.hubness(turns),
        "recency": lambda q, v: recency.recency(hours),
        "slow recency": lambda q, v: recency.recency_by_half_life(np.array(hours) / 24, 180),
        "strength": stronger,
        "names mentioned": lambda q, v: entity_boost(
            names(q), [names_in(turn.text, talk.speakers) for turn in talk.turns]
        ),
        "who said it": lambda q, v: entity_boost(names(q), [[name] for name in speakers]),
        "neighbour smoothing": lambda q, v: signals.neighbour_smoothing(turns @ v, days),
        "session smoothing": lambda q, v: signals.group_smoothing(turns @ v, days),
        "feedback on vectors": moved,
        "feedback on words": more_words,
        "BM25 with dates": lambda q, v: BM25(dated).scores(stem(q)),
        "BM25, k1 0.9, b 0.4": lambda q, v: BM25(tokens, k1=0.9, b=0.4).scores(stem(q)),
        "BM25, k1 2, b 1": lambda q, v: BM25(tokens, k1=2, b=1).scores(stem(q)),
    }


@pytest.mark.parametrize("name", PARTS)
@BOTH
def test_a_part_is_what_its_formula_gives(talk: Conversation, name: str) -> None:
    formula = directly(talk)[name]
    pairs = list(zip(with_evidence(talk), asked_of(talk), strict=True))
    for (question, vector), asked in pairs[:: 1 + len(pairs) // 12]:
        expected = min_max(formula(question.text, vector))
        assert asked.part(name) == pytest.approx(
            expected, abs=1e-5
        )  # float32 inside, spread by min-max


def test_all_formulas_are_called() -> None:
    assert list(directly(TINY)) == list(PARTS)


def test_the_parts_of_the_tiny_conversation_agree_with_the_oracles() -> None:
    turns, _, _ = vectors(TINY)
    texts = [f"{turn.speaker}: {turn.text}" for turn in TINY.turns]
    tokens = [bm25.stem(text) for text in texts]
    near = ["\n".join(texts[:2])] * 2 + ["\n".join(texts[2:4])] * 2 + texts[4:]
    dates = ["8 May 2023"] * 2 + ["9 May 2023"] * 2 + ["8 June 2023"]
    dated = [bm25.stem(f"{text} {date}") for text, date in zip(texts, dates, strict=True)]
    days = [bm25.stem(text) for text in (near[0], near[2], near[4])]
    hours = [31 * 24.0, 31 * 24.0, 30 * 24.0, 30 * 24.0, 0.0]
    pairs = zip(with_evidence(TINY), TINY_ASKED, strict=True)
    for (question, vector), asked in pairs:
        terms = bm25.stem(question.text)
        names = [name for name in TINY.speakers if name in question.text]
        by_day = slow_bm25.scores(days, terms, variant="lucene")
        raw = {
            "similarity": slow_similarity.cosine(vector.tolist(), turns.tolist()),
            "BM25": slow_bm25.scores(tokens, terms),
            "BM25 in context": slow_bm25.scores([bm25.stem(text) for text in near], terms),
            "BM25 with dates": slow_bm25.scores(dated, terms),
            "BM25, k1 0.9, b 0.4": slow_bm25.scores(tokens, terms, k1=0.9, b=0.4),
            "BM25, k1 2, b 1": slow_bm25.scores(tokens, terms, k1=2, b=1),
            "BM25 of the session": [by_day[day] for day in (0, 0, 1, 1, 2)],
            "recency": slow_recency.recency(hours, 0.995),
            "names mentioned": slow_entity.entity_boost(names, [["Max"], [], [], [], []]),
            "who said it": slow_entity.entity_boost(names, [[t.speaker] for t in TINY.turns]),
            "speaker match": [float(turn.speaker in names) for turn in TINY.turns],
            "time words": [1, 0, 1, 0, 0],
        }
        for name, values in raw.items():
            expected = slow_normalization.min_max(values)
            assert asked.part(name) == pytest.approx(expected, abs=1e-5), name


def test_a_date_that_is_asked_for_is_matched_by_the_session_s_own() -> None:
    (dated,) = [asked for asked in TINY_ASKED if "2023" in asked.question.text]
    assert dated.part("date match").tolist() == [1, 1, 1, 1, 0]  # 0.5 is the least: min-max


def test_a_conversation_that_tells_no_times_has_no_recency() -> None:
    turns = tuple(turn._replace(said_at=None) for turn in TINY.turns)
    half = (TINY.turns[0], *turns[1:])
    for timeless in (turns, half):
        parts = vectors(TINY)
        for asked in ask(Prepared(TINY._replace(turns=timeless), *parts[:2]), parts[2]):
            assert not asked.part("recency").any() and not asked.part("slow recency").any()
            assert np.isfinite(asked.parts).all()


# What a part must not look at


@BOTH
def test_no_part_reads_the_evidence_or_the_answer(talk: Conversation) -> None:
    changed = tuple(
        question._replace(evidence=(len(talk.turns) - 1 - i % 3,), answer="No.", category=1)
        if question.evidence
        else question
        for i, question in enumerate(talk.questions)
    )
    turns, context, questions = vectors(talk)
    other = ask(Prepared(talk._replace(questions=changed), turns, context), questions)
    assert len(other) == len(asked_of(talk))
    for one, two in zip(asked_of(talk), other, strict=True):
        assert one.question.answer != two.question.answer
        assert one.parts.tolist() == two.parts.tolist()
        assert one.matched.tolist() == two.matched.tolist()


@BOTH
def test_no_question_changes_the_parts_of_another(talk: Conversation) -> None:
    turns, context, questions = vectors(talk)
    asked = asked_of(talk)
    numbers = [i for i, question in enumerate(talk.questions) if question.evidence]
    backwards = talk._replace(questions=talk.questions[::-1])
    turned = ask(Prepared(backwards, turns, context), questions[::-1])[::-1]
    for one, two in zip(asked, turned, strict=True):
        assert one.question == two.question
        assert one.parts.tolist() == two.parts.tolist()
    for i in (0, len(asked) - 1):
        number = numbers[i]
        lone = talk._replace(questions=talk.questions[number : number + 1])
        (alone,) = ask(Prepared(lone, turns, context), questions[number : number + 1])
        assert alone.parts.tolist() == asked[i].parts.tolist()


def test_asking_twice_gives_the_same() -> None:
    turns, context, questions = vectors(TALK)
    ready = Prepared(TALK, turns, context)
    once, again = ask(ready, questions), ask(ready, questions)
    assert [a.parts.tolist() for a in once] == [a.parts.tolist() for a in again]


def test_parts_stand_in_their_own_order() -> None:
    assert [part_row(name) for name in PARTS] == list(range(len(PARTS)))
    with pytest.raises(ValueError, match="'luck' is not in list"):
        part_row("luck")


def test_a_question_without_evidence_is_left_out_and_the_others_keep_their_vector() -> None:
    assert [asked.question for asked in TINY_ASKED] == [q for q in TINY.questions if q.evidence]
    assert len(TINY_ASKED) == len(TINY.questions) - 1
    turns, _, questions = vectors(TINY)
    for asked, row in zip(TINY_ASKED, (0, 2, 3, 4), strict=True):
        expected = min_max(cosine(questions[row], turns))
        assert asked.part("similarity") == pytest.approx(expected, abs=1e-5)


def test_a_vector_too_few_or_too_many_is_refused() -> None:
    turns, context, questions = vectors(TINY)
    ready = Prepared(TINY, turns, context)
    with pytest.raises(ValueError, match="shorter"):
        ask(ready, questions[:-1])
    with pytest.raises(ValueError, match="longer"):
        ask(ready, np.concatenate([questions, questions[:1]]))


def test_the_text_that_is_searched_is_the_variant_s() -> None:
    photo = TINY.turns[1]._replace(caption="a green boat")
    talk = TINY._replace(turns=(TINY.turns[0], photo, *TINY.turns[2:]))
    turns, context, _ = vectors(TINY)
    for variant in ("t", "s", "c", "sc"):
        texts = Prepared(talk, turns, context, variant).texts
        assert texts == [turn_text(turn, variant) for turn in talk.turns]
    assert Prepared(talk, turns, context).texts[1] == "Max: Nice! [shares a photo: a green boat]"


# Fusion of ranks


def test_the_fusion_of_ranks_is_that_of_the_experiment() -> None:
    turns, _, questions = vectors(TALK)
    found = experiment.measure_signals(TALK, turns, questions)
    both = 0
    for asked, raw in zip(DIALOGUE, found, strict=True):
        two, three = experiment.rrf_scores(raw)
        assert rrf(asked, ("similarity", "BM25")).tolist() == two.tolist()
        assert rrf(asked, ("similarity", "BM25", "who said it")).tolist() == three.tolist()
        both += len(names_in(asked.question.text, TALK.speakers)) == 2
    assert both  # here the rarer speaker's turns get more, the other's not nothing


def test_the_fusion_of_ranks_agrees_with_the_oracle() -> None:
    for asked, (question, _) in zip(TINY_ASKED, with_evidence(TINY), strict=True):
        terms = set(stem(question.text))
        names = [name for name in TINY.speakers if name in question.text]
        held = [
            [True] * len(TINY.turns),
            [bool(terms & set(stem(turn_text(turn)))) for turn in TINY.turns],
            [turn.speaker in names for turn in TINY.turns],
        ]
        parts = ("similarity", "BM25", "who said it")
        lists = [asked.part(name).tolist() for name in parts]
        expected = slow_fusion.reciprocal_rank_fusion(lists, held)
        assert rrf(asked, parts) == pytest.approx(expected, abs=1e-15)


def test_a_list_of_names_holds_both_speakers_where_both_are_asked_for() -> None:
    asked = TINY_ASKED[2]
    assert names_in(asked.question.text, TINY.speakers) == ("Max", "Ida")
    alone = rrf(asked, ["who said it"])  # Ida speaks less: hers are worth more
    assert alone.tolist() == [1 / 61, 1 / 63, 1 / 63, 1 / 61, 1 / 63]
    assert reciprocal_rank_fusion([[2, 1, 1, 2, 1]]).tolist() == alone.tolist()


# Diversity and the threshold


def scores_of(asked: Asked) -> Floats:
    return 0.6 * asked.part("similarity") + 0.4 * asked.part("BM25")


@pytest.mark.parametrize("diversity", ["mmr", "penalty"])
def test_diverse_scores_are_in_the_order_of_picking(diversity: str) -> None:
    turns, _, _ = vectors(TALK)
    ids = [f"{row:05d}" for row in range(len(turns))]
    changed = 0
    for asked in DIALOGUE[:10]:
        scores = scores_of(asked)
        picked = pick_diverse(scores, turns, ids, 50, diversity, 0.15, 0.8).rows
        found = diverse(asked, scores, diversity)
        assert np.argsort(-found, kind="stable")[:50].tolist() == picked.tolist()
        assert np.isneginf(np.delete(found, picked)).all()
        assert np.isfinite(found[picked]).all() and len(set(found[picked])) == 50
        changed += picked.tolist() != np.argsort(-scores, kind="stable")[:50].tolist()
    assert changed == 10


@pytest.mark.parametrize(("diversity", "gain", "cost"), [("mmr", 0.8, 0.2), ("penalty", 1, 0.15)])
def test_diverse_agrees_with_the_oracle(diversity: str, gain: float, cost: float) -> None:
    turns, _, _ = vectors(TINY)
    for asked in TINY_ASKED:
        scores = scores_of(asked)
        picks = slow_ranking.pick_diverse(
            scores.tolist(), turns.tolist(), list("abcde"), 5, gain, cost
        )
        found = diverse(asked, scores, diversity)
        assert np.argsort(-found, kind="stable").tolist() == [row for row, _ in picks]
        assert np.isfinite(found).all()


def test_equal_turns_are_picked_in_turn_order_also_beyond_the_ninth() -> None:
    said = tuple(Turn(f"D1:{i + 1}", "Ida", "Hm.", "") for i in range(120))
    talk = Conversation("long", ("Ida", "Max"), said, (Question("Who?", "", 4, (7,), ()),))
    alike = np.tile(made_up(1, 4, 1), (120, 1))
    ready = Prepared(talk, alike, alike)
    assert sorted(ready.ids) == ready.ids and len(set(ready.ids)) == 120
    (asked,) = ask(ready, made_up(1, 4, 2))
    assert not asked.part("BM25").any()
    for diversity in ("mmr", "penalty"):
        found = diverse(asked, np.zeros(120), diversity)
        assert found.tolist() == [-float(row) for row in range(50)] + [-np.inf] * 70


@given(st.lists(st.sampled_from([0.0, 0.1, 0.35, 0.36, 0.9]), min_size=1, max_size=9))
def test_what_is_below_the_threshold_is_out_and_the_rest_stays(scores: list[float]) -> None:
    expected = [score if score >= 0.35 else -np.inf for score in scores]
    assert above(np.array(scores)).tolist() == expected
    assert above(np.array(scores), 0.9).tolist() == [s if s == 0.9 else -np.inf for s in scores]
