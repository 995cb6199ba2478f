"""The LoCoMo measurement: whole on a tiny pair of splits, in what is committed, and once more."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from course.data.dialogue import VARIANTS, Conversation, Question, Turn
from course.data.fetch import DataUnavailable, fetch
from course.data.files import data_path
from course.data.locomo import SOURCE, load_locomo
from course.data.recorded import choose, read_recorded
from course.data.turn_vectors import cached_vectors
from course.data.vectors import course_texts
from course.measure import locomo as measure_locomo
from course.measure import remeasure
from course.measure import survivors as measure_survivors
from course.measure.experiment import GRID, KS, METHODS, READINGS, measure_recalls, measure_signals
from course.measure.locomo import (
    CHOSEN,
    CONTRAST_COLUMNS,
    FACT_COLUMNS,
    FILES,
    FUSION,
    NAMED,
    PAIRS,
    RESULT_COLUMNS,
    SPLITS,
    WORDS,
    Measured,
    committed,
    largest_difference,
    main,
    measure,
)
from course.measure.remeasure import FILE, TOLERANCE, processor
from memlib.embedders.protocol import EmbedderUnavailable, Role, Vectors
from memlib.evaluation import paired_bootstrap, signs_by_group
from tests.oracles import experiment as oracle

ROOT = Path(__file__).parents[3]
KEYS = [*RESULT_COLUMNS[:7], "split", "k"]
SETTINGS = [(v, w, r) for v in VARIANTS for w in WORDS for r in READINGS]
COUNTS = ["conversations", "turns", "questions", "questions with evidence"]
COUNTS += ["evidence that leads to no turn"]
TWO_DECIMALS = 0.005 + 1e-9  # what rounding may take from a value


# A tiny pair of splits


class ByLetters:
    """An embedder made by hand: how often eight letters occur, and a constant."""

    id, dim = "by letters", 9

    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        counts = [[text.count(letter) for letter in "aeiknrst"] + [1] for text in texts]
        rows = [np.array(row) / np.linalg.norm(row) for row in counts]
        return np.array(rows, dtype=np.float32).reshape(-1, 9)


class Broken(ByLetters):
    def embed(self, texts: Sequence[str], role: Role = "document") -> Vectors:
        raise EmbedderUnavailable("no model: install one")


SAID = (
    *("Max, have you seen my red kite?", "It hangs in the kitchen, Ida.", "Who put it there?"),
    *("I did, after the rain.", "Thanks! Tomorrow I fly to Turin.", "Alone, or with your sister?"),
    *("With Nina. She sings there.", "Send me a picture of the stage!", "Look at this, Max!"),
    *("Nice lights. How was the train?", "Late, as ever.", "Then rest, Ida."),
)


def talk(name: str, shift: int, *questions: Question) -> Conversation:
    texts = [SAID[(i + shift) % len(SAID)] for i in range(len(SAID))]
    turns = [
        Turn(f"D1:{i + 1}", ("Ida", "Max")[i % 2], text, "a stage" if "Look" in text else "")
        for i, text in enumerate(texts)
    ]
    return Conversation(name, ("Ida", "Max"), tuple(turns), questions)


def asked(text: str, *evidence: int, dropped: tuple[str, ...] = ()) -> Question:
    return Question(text, "", 1, evidence, dropped)


TINY = (
    (
        talk("a", 0, asked("Where does the red kite of Ida hang?", 1), asked("Who sings?", 6, 8)),
        talk("b", 1, asked("When did Max hang it?", 2, dropped=("D",)), asked("Why?")),
        talk("c", 5, asked("Was the train of Ida late?", 5), asked("Are Ida and Max friends?", 0)),
    ),
    (
        talk("d", 3, asked("Where does Ida fly to?", 1), asked("What does Ida show?", 5, 3)),
        talk("e", 7, asked("What rests?", 4), asked("Did Nina sing?", 11, dropped=("D7:7", "D"))),
    ),
)


@pytest.fixture(scope="module")
def tiny() -> Measured:
    return measure(TINY, ByLetters())


def recalls_of(setting: tuple[str, str, str]) -> list[list[np.ndarray]]:
    variant = setting[0]
    return [
        [
            measure_recalls(
                measure_signals(c, *cached_vectors(c, variant, ByLetters(), None), *setting)
            )
            for c in split
        ]
        for split in TINY
    ]


def test_the_results_have_a_row_for_each_setting_method_split_and_k(tiny: Measured) -> None:
    table = tiny.results
    assert tuple(table.columns) == RESULT_COLUMNS
    rows = [
        (*setting, *(-1 if weight != weight else weight for weight in method), split, k)
        for setting in SETTINGS
        for split in SPLITS
        for method in METHODS
        for k in KS
    ]
    told = table[KEYS].fillna(-1)  # RRF has no weights
    assert len(table) == 24 * 134 * 2 * 7 == 45_024
    assert list(told.itertuples(index=False, name=None)) == rows
    assert table.groupby("split")["n"].unique().map(list).to_dict() == {
        "development": [5],
        "held-out": [4],
    }


def test_a_result_is_the_mean_recall_of_the_questions(tiny: Measured) -> None:
    indexed = tiny.results.set_index([*RESULT_COLUMNS[:3], "split"])["recall"]
    for setting in (SETTINGS[0], SETTINGS[-1]):
        for split, recalls in zip(SPLITS, recalls_of(setting), strict=True):
            means = np.concatenate(recalls).mean(axis=0).ravel()
            assert indexed.loc[(*setting, split)].to_numpy() == pytest.approx(
                means, abs=TWO_DECIMALS
            )


@pytest.mark.parametrize("setting", [SETTINGS[0], SETTINGS[11], SETTINGS[-1]])
def test_the_contrasts_are_paired_bootstraps_of_the_questions(
    tiny: Measured, setting: tuple[str, str, str]
) -> None:
    table = tiny.contrasts
    assert tuple(table.columns) == CONTRAST_COLUMNS
    assert len(table) == 24 * 2 * 7 * 9
    recalls = recalls_of(setting)
    development = np.concatenate(recalls[0]).mean(axis=0)
    mine = table[(table[list(RESULT_COLUMNS[:3])] == list(setting)).all(axis=1)]
    lines = mine.itertuples(index=False)
    for split, by_conversation in zip(SPLITS, recalls, strict=True):
        every = np.concatenate(by_conversation)
        groups = [i for i, part in enumerate(by_conversation) for _ in range(len(part))]
        for j, k in enumerate(KS):
            best = max(range(66), key=lambda i: development[i, j])
            told = "/".join(f"{weight:g}" for weight in GRID[best])
            rows = NAMED | {CHOSEN: best}
            for pair in PAIRS:
                a, b = (every[:, rows[name], j] for name in pair)
                spread = tuple(round(value, 2) for value in paired_bootstrap(a, b))
                signs = signs_by_group(a, b, groups)
                chosen = told if CHOSEN in pair else ""
                line = (*setting, split, k, *pair, chosen, *spread, *signs, len(every))
                assert next(lines) == line
    assert next(lines, None) is None


def test_the_facts_count_turns_questions_and_evidence(tiny: Measured) -> None:
    table = tiny.facts
    assert tuple(table.columns) == FACT_COLUMNS
    assert len(table) == 2 * 6 + 2 * 4
    counts = table[table["fact"].isin(COUNTS)].pivot(index="fact", columns="split", values="value")
    assert counts.loc[COUNTS, list(SPLITS)].to_numpy().tolist() == [
        [3, 2],
        [36, 24],
        [6, 4],
        [5, 4],
        [1, 2],
    ]
    rest = table[~table["fact"].isin(COUNTS)].set_index(["fact", "split", "text_variant"])
    # four turns of a talk name a speaker; an odd shift lets the person named say them
    addressed = rest.loc["turns naming a speaker that address the other", ["value", "n"]]
    assert addressed.to_numpy().tolist() == [[round(100 * 4 / 12, 1), 12], [0, 8]]
    shares = rest.loc["top ten said by the person asked about"]
    assert shares["n"].to_dict() == {
        (split, variant): n for split, n in zip(SPLITS, (3, 2), strict=True) for variant in VARIANTS
    }


def test_the_share_of_the_person_asked_about_is_counted_in_the_dense_top_ten(
    tiny: Measured,
) -> None:
    for variant in VARIANTS:
        shares = []
        for c in TINY[0]:
            turns, questions = cached_vectors(c, variant, ByLetters(), None)
            for question, vector in zip(c.questions, questions, strict=True):
                named = [name for name in c.speakers if name in question.text]
                if len(named) == 1:
                    first = oracle.order((turns @ vector).tolist())[:10]
                    shares.append(sum(c.turns[row].speaker == named[0] for row in first) / 10)
        line = tiny.facts[
            (tiny.facts["fact"] == "top ten said by the person asked about")
            & (tiny.facts["split"] == "development")
            & (tiny.facts["text_variant"] == variant)
        ]
        assert line["value"].tolist() == [round(100 * sum(shares) / len(shares), 1)]


def test_without_names_the_shares_are_zero_of_none() -> None:
    turns = (Turn("D1:1", "Ida", "Hm.", ""), Turn("D1:2", "Max", "Oh.", ""))
    silent = Conversation("x", ("Ida", "Max"), turns, (asked("Who?", 1),))
    facts = measure([[silent], [silent._replace(id="y")]], ByLetters()).facts
    assert facts.loc[~facts["fact"].isin(COUNTS), ["value", "n"]].to_numpy().max() == 0


def test_vectors_are_kept_and_taken_from_the_cache(tiny: Measured, tmp_path: Path) -> None:
    first = measure(TINY, ByLetters(), tmp_path)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(kept) == 5 * 4
    again = measure(TINY, Broken(), tmp_path)
    for one, other, plain in zip(first, again, tiny, strict=True):
        pd.testing.assert_frame_equal(one, other)
        pd.testing.assert_frame_equal(one, plain)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    Broken.id = "another"
    try:
        with pytest.raises(EmbedderUnavailable):
            measure(TINY, Broken(), tmp_path)
    finally:
        Broken.id = ByLetters.id


def test_the_largest_difference_is_of_recalls_of_the_same_rows(tiny: Measured) -> None:
    assert largest_difference(tiny, tiny) == 0
    changed = tiny.results.copy()
    changed.loc[[7, 9], "recall"] += [0.25, -1.5]
    assert largest_difference(tiny._replace(results=changed), tiny) == pytest.approx(1.5)
    fewer = tiny._replace(results=tiny.results.iloc[:-1])
    other = tiny._replace(results=tiny.results.assign(n=6))
    assert largest_difference(fewer, tiny) == largest_difference(other, tiny) == float("inf")


# The command


@pytest.fixture
def written(tiny: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for data/, and a measurement that is the tiny one."""

    def found(name: str) -> Path:
        if name in (*FILES, FILE) and not (tmp_path / name).exists():
            raise FileNotFoundError(name)
        return tmp_path / name

    monkeypatch.setattr(measure_locomo, "data_path", found)
    monkeypatch.setattr(remeasure, "data_path", found)
    monkeypatch.setattr(measure_locomo, "cache_folder", lambda: None)
    monkeypatch.setattr(measure_locomo, "load_locomo", lambda: TINY)
    monkeypatch.setattr(measure_locomo, "measure", lambda *_: tiny)
    return tmp_path


def test_the_command_writes_the_tables_and_says_what_differs(
    written: Path, tiny: Measured, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = "45,024 rows on 9 of 10 questions, 1 have no evidence, 3 pieces lead to no turn; "
    assert main() == 0
    told, where = capsys.readouterr().out.splitlines()
    assert told == counts + "nothing that can be compared was committed before"
    assert where.startswith(f"measured on {processor()}, before on an unknown processor: ")
    assert sorted(path.name for path in written.iterdir()) == sorted((*FILES, FILE))
    stored = {name: (written / name).read_bytes() for name in FILES}
    assert main() == 0
    same = f"nothing differs\nmeasured on {processor()}, as before\n"
    assert capsys.readouterr().out == counts + same
    assert {name: (written / name).read_bytes() for name in FILES} == stored
    pd.testing.assert_frame_equal(committed().results, tiny.results)
    assert b"\r" not in b"".join(stored.values())


@pytest.mark.parametrize(
    ("name", "column", "told"),
    [
        ("locomo_results.csv", "recall", "recall by up to 0.50 points"),
        ("locomo_contrasts.csv", "high", "recall by up to 0.00 points"),
        ("locomo_facts.csv", "value", "recall by up to 0.00 points"),
    ],
)
def test_a_difference_in_any_table_is_told_and_mended(
    name: str, column: str, told: str, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main()
    right = (written / name).read_bytes()
    table = pd.read_csv(written / name, encoding="utf-8")
    table.loc[3, column] += 0.5
    table.to_csv(written / name, index=False, encoding="utf-8")
    capsys.readouterr()
    assert main() == 0
    said = f"; {name} changed: {told}\nmeasured on {processor()}, as before\n"
    assert capsys.readouterr().out.endswith(said)
    assert (written / name).read_bytes() == right


@pytest.mark.parametrize(("moved", "stays"), [(0.1, True), (0.12, False)])
def test_on_another_processor_a_tenth_of_a_point_is_accepted(
    moved: float,
    stays: bool,
    written: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main()
    table = pd.read_csv(written / FILES[0], encoding="utf-8")
    table.loc[3, "recall"] += moved
    table.to_csv(written / FILES[0], index=False, encoding="utf-8")
    before = {path.name: path.read_bytes() for path in written.iterdir()}
    monkeypatch.setattr(remeasure, "processor", lambda: "riscv64 with nothing")
    capsys.readouterr()
    assert main() == 0
    said = capsys.readouterr().out.splitlines()[1]
    assert "riscv64 with nothing" in said and processor() in said
    assert said.endswith("no verdict turned" if stays else "recall moved by 0.12 points")
    assert ({path.name: path.read_bytes() for path in written.iterdir()} == before) == stays
    assert (remeasure.measured_on(FUSION) == processor()) == stays


@pytest.mark.parametrize(
    "error", [DataUnavailable("no data"), EmbedderUnavailable("no model"), OSError("disk full")]
)
@pytest.mark.parametrize("command", [measure_locomo, measure_survivors])
def test_what_fails_is_one_line_and_writes_nothing(
    command: ModuleType,
    error: Exception,
    written: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(measure_survivors, "cache_folder", lambda: None)
    monkeypatch.setattr(measure_survivors, "load_locomo", lambda: ((), ()))
    monkeypatch.setattr(command, "measure", fail)
    assert command.main() == 2
    assert capsys.readouterr() == ("", f"make locomo: {error}\n")
    assert list(written.iterdir()) == []


def test_a_missing_file_is_one_line_on_the_terminal_and_nothing_is_written(tmp_path: Path) -> None:
    data = data_path("cards.csv").parent
    before = {path.name: path.stat().st_mtime_ns for path in data.glob("locomo*")}
    cache = tmp_path / "cache"
    done = subprocess.run(
        [sys.executable, "-m", "course.measure.locomo"],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env=os.environ | {"LOCOMO_PATH": "/nonexistent", "MEMLIB_CACHE": str(cache)},
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("make locomo: LOCOMO_PATH: /nonexistent cannot be read: ")
    assert done.stderr.count("\n") == 1
    assert {path.name: path.stat().st_mtime_ns for path in data.glob("locomo*")} == before
    assert not cache.exists()


# What is committed


COMMITTED = committed()
RESULTS = COMMITTED.results.set_index(KEYS)["recall"].sort_index()
CONTRASTS = COMMITTED.contrasts


def at_20(variant: str, tokenizer: str, *weights: float) -> list[float]:
    """Committed recall@20 of a weighting, on development and held-out."""
    table = COMMITTED.results
    wanted = {"text_variant": variant, "tokenizer": tokenizer, "entity": "said", "k": 20}
    wanted |= {"method": "minmax"} | dict(
        zip(("w_dense", "w_bm25", "w_entity"), weights, strict=True)
    )
    rows = table[np.logical_and.reduce([table[name] == value for name, value in wanted.items()])]
    assert rows["split"].tolist() == list(SPLITS)
    found: list[float] = rows["recall"].tolist()
    return found


def test_every_row_is_committed_once_and_has_a_recall() -> None:
    assert len(COMMITTED.results) == 45_024
    assert tuple(COMMITTED.results.columns) == RESULT_COLUMNS
    assert RESULTS.index.is_unique
    assert RESULTS.between(0, 100).all()
    assert COMMITTED.results.groupby("split")["n"].unique().map(list).to_dict() == {
        "development": [383],
        "held-out": [1153],
    }
    assert set(COMMITTED.results["method"]) == {"minmax", "zscore", "rrf2", "rrf3"}


def test_recall_rises_with_k() -> None:
    by_k = COMMITTED.results["recall"].to_numpy().reshape(-1, len(KS))
    assert COMMITTED.results["k"].to_numpy().reshape(-1, len(KS)).tolist() == [list(KS)] * 6432
    assert (np.diff(by_k, axis=1) >= 0).all()


@pytest.mark.parametrize("k", KS)
def test_a_signal_with_no_weight_changes_nothing(k: int) -> None:
    table = COMMITTED.results[COMMITTED.results["k"] == k]
    dense = table[(table["w_dense"] == 1)]
    assert (dense.groupby(["text_variant", "split"])["recall"].nunique() == 1).all()
    no_names = table[(table["w_entity"] == 0)]
    settings = ["text_variant", "tokenizer", "method", "w_dense", "split"]
    assert (no_names.groupby(settings)["recall"].nunique() == 1).all()


@pytest.mark.parametrize(
    ("variant", "tokenizer", "weights", "reference"),
    [
        ("t", "stem", (1, 0, 0), (35.6, 39.5)),
        ("sc", "stem", (1, 0, 0), (61.8, 52.3)),
        ("sc", "naive", (0, 1, 0), (46.7, 45.7)),
        ("sc", "regex", (0, 1, 0), (60.6, 57.5)),
        ("sc", "stem", (0, 1, 0), (69.8, 67.6)),
    ],
)
def test_the_reference_points(
    variant: str, tokenizer: str, weights: tuple[int, ...], reference: tuple[float, float]
) -> None:
    assert at_20(variant, tokenizer, *weights) == pytest.approx(reference, abs=0.5)


def test_the_reference_point_of_dense_and_words_chosen_on_development() -> None:
    lines = [at_20("sc", "stem", *weights) for weights in GRID if weights[2] == 0]
    assert len(lines) == 11
    assert max(lines) == pytest.approx((77.1, 69.6), abs=0.5)


def test_the_counts_are_those_of_the_published_split() -> None:
    facts = COMMITTED.facts.set_index(["fact", "split"])["value"]
    expected = {
        "conversations": (3, 7),
        "turns": (1451, 4431),
        "questions": (385, 1155),
        "questions with evidence": (383, 1153),
        "evidence that leads to no turn": (0, 4),
    }
    assert list(expected) == COUNTS
    for fact, values in expected.items():
        assert tuple(facts[(fact, split)] for split in SPLITS) == values


def test_the_committed_contrasts_are_complete_and_agree_with_the_results() -> None:
    assert tuple(CONTRASTS.columns) == CONTRAST_COLUMNS
    assert len(CONTRASTS) == 3_024
    assert not CONTRASTS.duplicated(list(CONTRAST_COLUMNS[:7])).any()
    recall = COMMITTED.results["recall"].to_numpy().reshape(len(SETTINGS), 2, len(METHODS), len(KS))
    rows = {"/".join(f"{w:g}" for w in weights): i for i, weights in enumerate(GRID)}
    for line in CONTRASTS.itertuples(index=False):
        setting = SETTINGS.index((line.text_variant, line.tokenizer, line.entity))
        j = KS.index(line.k)
        named = NAMED | {CHOSEN: rows.get(line.chosen)}
        by_method = recall[setting, SPLITS.index(line.split), :, j]
        gap = by_method[named[line.second]] - by_method[named[line.first]]
        assert line.difference == pytest.approx(gap, abs=3 * TWO_DECIMALS)
        assert line.low <= line.difference <= line.high
        assert (
            line.better + line.equal + line.worse == {"development": 3, "held-out": 7}[line.split]
        )
        assert (line.chosen in rows) == (CHOSEN in (line.first, line.second))
        if line.chosen in rows:
            grid = recall[setting, 0, :66, j]
            assert grid[rows[line.chosen]] == pytest.approx(grid.max(), abs=2 * TWO_DECIMALS)


# Once more


def reproduced() -> float:
    """By how much the bundled model's vectors of the course's texts differ from the recorded."""
    recorded, bundled = choose("recorded"), choose("bundled")
    assert read_recorded(data_path("vectors.json").parent)[0] == bundled.id
    gaps = []
    for role in ("document", "query"):
        texts = [text for r, text in course_texts() if r == role]
        gaps.append(np.abs(recorded.embed(texts, role) - bundled.embed(texts, role)).max())
    return float(max(gaps))


@pytest.mark.slow
def test_measured_again_the_figures_are_those_committed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        fetch(SOURCE, download=False)
    except DataUnavailable as error:
        pytest.skip(str(error))
    gap = reproduced()
    new = measure(load_locomo(download=False), choose("bundled"), tmp_path)
    change = largest_difference(new, COMMITTED)
    with capsys.disabled():
        print(
            f"\nLoCoMo measured again on {processor()}, committed from"
            f" {remeasure.measured_on(FUSION)}: recorded vectors reproduced to {gap:.1g};"
            f" the largest change of a recall is {change:.2f} points, {TOLERANCE} are allowed"
        )
    assert remeasure.disagreements(FILES, new) == []
