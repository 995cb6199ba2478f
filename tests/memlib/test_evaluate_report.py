"""The command `evaluate`: one's own memory, a leaderboard as text, one line for every mistake."""

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from course.data.maya import COURSE_NOW, load_exam, maya_cards
from course.data.recorded import Recorded
from memlib import evaluate_report as report
from memlib.embedders.cached import Cached
from memlib.embedders.choose import choose
from memlib.embedders.minilm import Bundled
from memlib.evaluate import BASELINE, METHODS, leaderboard, questions_needed, recalls, scorer
from memlib.evaluate_report import advice, paste
from memlib.store.sqlite import Store
from tests.course.test_demo import TIME, Capture, child, out, own_cards, refused
from tests.ollama_server import serving

HEADER = "id,text,created_at"


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("MEMLIB_CACHE", str(folder))
    return folder


ASKED = "id,question,wanted"
DAYS = [f"2025-05-{day:02d}T10:00Z" for day in range(1, 31)]
THINGS = (
    *("cat", "dog", "car", "house", "garden", "dentist", "piano", "coffee", "passport", "bicycle"),
    *("sister", "rent", "laptop", "holiday", "doctor", "school", "bakery", "phone", "tax", "train"),
)


def memory(
    folder: Path, *questions: str, cards: tuple[str, ...] = (), header: str = HEADER
) -> list[str]:
    """Options for twenty cards, or other ones, and these questions."""
    plain = [f"{t},Something about the {t}.,{d}" for t, d in zip(THINGS, DAYS, strict=False)]
    paper = folder / "asked.csv"
    paper.write_text("\n".join([ASKED, *questions]) + "\n", encoding="utf-8")
    own = own_cards(folder, *(cards or plain), header=header)
    return ["evaluate", "--cards", own, "--questions", str(paper), "--now", "2025-06-01T10:00Z"]


def rows(text: str, letter: str) -> dict[str, list[str]]:
    """Method -> the other words of its row in table (a) or (b)."""
    lines = text.partition(f"({letter}) ")[2].split("\n\n")[1].splitlines()[1:]
    width = max(map(len, METHODS))
    assert len(lines) == len(METHODS) == 17
    return {line[:width].strip(): line[width:].split() for line in lines}


def test_the_courses_own_exam_is_the_example(capsys: Capture) -> None:
    text = out(capsys, "evaluate", "--embedder", "recorded")
    assert text.startswith("10 questions (exam.csv) to 208 cards (cards.csv)\n")
    assert f"    embedder: {Recorded().id}\n    now: 2025-06-11T18:00:00+00:00\n" in text
    assert "current time" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert "Fewer than 30 questions: the intervals are wide." in text
    assert "nan" not in text.lower().split()


def test_both_tables_hold_what_the_package_measures(capsys: Capture) -> None:
    cards, exam, recorded = maya_cards(), load_exam(), Recorded()
    score = scorer(cards, recorded.embed(list(cards["text"])), top_k=7)

    def put(question: str) -> dict[str, Any]:
        return score(question, recorded.embed([question], "query")[0], COURSE_NOW)

    found = recalls(exam, cards.index, put, (2, 7, 5))
    text = out(capsys, "evaluate", "--embedder", "recorded", "--k", "2,7, 5")
    board = leaderboard(found[5], ties=[found[2]])
    assert "(b) At k = 5, beside similarity alone" in text
    assert list(rows(text, "a")) == list(rows(text, "b")) == list(board.index)
    for name, told in rows(text, "a").items():
        assert told == [f"{100 * found[k][name].mean():.1f}" for k in (2, 7, 5)]
    for name, told in rows(text, "b").items():
        row = board.loc[name]
        if name == "similarity alone":
            assert told == [f"{row['recall']:.1f}", "baseline"]
            continue
        percents = [f"{row[c]:.1f}" for c in ("recall", "difference", "low", "high")]
        counts = [str(row[c]) for c in ("better", "equal", "worse")]
        gaps = 100 * (found[5][name] - found[5]["similarity alone"])
        needed = f"{questions_needed(gaps):,}" if gaps.any() else "-"
        assert told == [*percents, *counts, needed, *row["verdict"].split()]
    noise = board[board["verdict"] == "within noise"]["difference"].abs()
    told = " ".join(text.split())
    assert f"here {len(noise)} of 16 differences, up to {noise.max():.1f} points." in told


def test_questions_by_hand(capsys: Capture, tmp_path: Path) -> None:
    """Thirty questions; each names its card's word, so that all but the newest find it."""
    asked = [f"q{n},What about the {t}?,{t}" for n, t in enumerate((*THINGS, *THINGS[:10]))]
    text = out(capsys, *memory(tmp_path, *asked), "--k", "1,20,19")
    assert "30 questions (asked.csv) to 20 cards (own.csv)" in text
    assert "    now: 2025-06-01T10:00:00+00:00\n" in text
    found = rows(text, "a")
    assert found["similarity alone"] == found["BM25"] == ["100.0"] * 3
    assert found["newest first"] == ["3.3", "100.0", "93.3"]
    assert "note: all ratings are equal, or none is given: importance moves nothing\n" in text
    assert "note: no card lists entities: names move nothing\n" in text
    assert "one age" not in text
    assert "Fewer than 30" not in text
    assert "here 16 of 16 differences, up to 6.7 points." in " ".join(text.split())
    first = out(capsys, *memory(tmp_path, *asked), "--k", "1")
    assert rows(first, "b")["newest first"][1:2] == ["-96.7"]
    assert rows(first, "b")["newest first"][-1] == "worse"
    assert "You have 30." in " ".join(first.split())
    assert "Fewer than 30" in out(capsys, *memory(tmp_path, *asked[:29]))


def test_the_limits_are_told(capsys: Capture, tmp_path: Path) -> None:
    long = " ".join(["sea"] * 254), " ".join(["sea"] * 255)  # and two pieces frame a text
    cards = (f"a,{long[0]},{TIME}", f"b,{long[1]},{TIME}", f"c,鍵,{TIME}")
    told = out(capsys, *memory(tmp_path, f"q1,{long[1]}?,b", cards=cards))
    limits = " ".join(told.partition("Limits: ")[2].partition("\n\n")[0].split())
    assert limits == (
        "stemmer and stop words are English, and so is the model; 1 of 4 texts are mostly unknown"
        " to it. It reads the first 256 word pieces of a text; 1 of 3 cards are longer. The search"
        " is exact, over all cards, and every question is asked at the one time above."
    )
    assert "note: all cards are of one age: recency moves nothing" in told


def test_one_card_and_one_question_are_enough(capsys: Capture, tmp_path: Path) -> None:
    text = out(capsys, *memory(tmp_path, "q1,A cat?,a", cards=(f"a,A cat.,{TIME}",)))
    assert {tuple(told) for told in rows(text, "a").values()} == {("100.0",) * 4}
    assert rows(text, "b")["BM25"] == [
        *("100.0", "0.0", "0.0", "0.0", "0", "1", "0", "-", "within", "noise")
    ]


def test_every_question_can_be_written_to_a_file(capsys: Capture, tmp_path: Path) -> None:
    options = memory(tmp_path, 'q1,"The cat, the dog?",cat;dog', "q2,Zoë’s rent?,rent")
    file = tmp_path / "out.csv"
    text = out(capsys, *options, "--k", "1,2", "--csv", str(file))
    assert text == out(capsys, *options, "--k", "1,2")
    table = pd.read_csv(file, encoding="utf-8")
    assert list(table.columns[:3]) == ["id", "question", "k"]
    assert set(table.columns[3:]) == set(rows(text, "a"))
    assert table["id"].tolist() == ["q1", "q2", "q1", "q2"] and table["k"].tolist() == [1, 1, 2, 2]
    assert table["question"][:2].tolist() == ["The cat, the dog?", "Zoë’s rent?"]
    assert table["similarity alone"].tolist() == [0.5, 1, 1, 1]
    assert b"\r" not in file.read_bytes()


def test_ones_own_memory_is_as_old_as_it_is_today(capsys: Capture, tmp_path: Path) -> None:
    text = out(capsys, *memory(tmp_path, "q1,The cat?,cat")[:-2])
    told, _, how = text.partition("    now: ")[2].partition("\n")[0].partition(" ")
    assert abs(datetime.fromisoformat(told) - datetime.now(UTC)) < timedelta(minutes=2)
    assert how == "(the current time; --now sets another)"


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([], "asked.csv: no questions, only a header"),
        (["q1,The cat?,cat", "", "q2,Who?,cat;nobody"], "asked.csv row 4, column 'wanted': 'nob"),
        (["q1,The cat?,"], "asked.csv row 2: id, question and wanted must not be empty"),
        ([",The cat?,cat"], "asked.csv row 2: id, question and wanted must not be empty"),
        (["q1,The cat?,cat", "q1,The dog?,dog"], "asked.csv row 3, column 'id': 'q1' stands in"),
        (["q1,The cat, the dog?,cat"], "asked.csv row 2: 4 fields, the header has 3"),
    ],
)
def test_bad_questions_get_one_line_that_says_where(
    capsys: Capture, tmp_path: Path, questions: list[str], said: str
) -> None:
    assert refused(capsys, *memory(tmp_path, *questions)).startswith(said)


def test_a_wanted_card_that_is_not_there_names_both_files(capsys: Capture, tmp_path: Path) -> None:
    line = refused(capsys, *memory(tmp_path, "q1,Who?,cat;Cat"))
    assert line == "asked.csv row 2, column 'wanted': 'Cat' is the id of no card in own.csv"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--k", "0"], "argument --k: '0': must be whole numbers, 1 or more, like 1,3,10"),
        (["--k", "3,x"], "argument --k: '3,x': must be whole numbers"),
        (["--k", ""], "argument --k: '': must be whole numbers"),
        (["--k", "1.5"], "argument --k: '1.5': must be whole numbers"),
        (["--k", "1" * 5000], "argument --k: '111"),
        (["--embedder", "openai"], "argument --embedder: 'openai': must be published, recorded,"),
        (
            ["--embedder", "recorded"],
            "no vector for the document 'Something about the cat.': recorded knows only the"
            " course's texts; use --embedder bundled",
        ),
        (
            ["--now", "2025-05-02T00:00Z"],
            "own.csv row 3, column 'created_at': 2025-05-02 10:00+00:",
        ),
        (["--weights", "1", "1", "1"], "unrecognized arguments: --weights 1 1 1"),
        (["again"], "unrecognized arguments: again"),
    ],
)
def test_a_bad_option_of_evaluate_gets_one_line(
    capsys: Capture, tmp_path: Path, options: list[str], said: str
) -> None:
    assert refused(capsys, *memory(tmp_path, "q1,The cat?,cat"), *options).startswith(said)


def test_a_now_before_the_cards_says_which_option_helps(capsys: Capture, tmp_path: Path) -> None:
    line = refused(capsys, *memory(tmp_path, "q1,The cat?,cat"), "--now", "2025-05-02T00:00Z")
    assert line.endswith("in the future of now, 2025-05-02 00:00+00:00: --now sets another")


@pytest.mark.parametrize(("wanted"), ['"cat,dog"', "cat dog", "cat|dog"])
def test_wanted_ids_that_are_joined_otherwise_are_told_how(
    capsys: Capture, tmp_path: Path, wanted: str
) -> None:
    line = refused(capsys, *memory(tmp_path, f"q1,Who?,{wanted}"))
    assert line.endswith(" is the id of no card in own.csv: join ids by ;")


def test_the_last_k_and_the_dash_are_explained_where_they_stand(
    capsys: Capture, tmp_path: Path
) -> None:
    options = memory(tmp_path, *(f"q{n},The {t}?,{t}" for n, t in enumerate(THINGS)))
    one, two = (out(capsys, *options, "--k", k) for k in ("1", "20,1"))
    last = "    (only at the last k: put yours last, as in --k 1,10,3)\n\n"
    assert last not in one and f"equally well and worse\n{last}" in two
    told = "A - under needed: no question is answered differently"
    assert ("-" in rows(one, "b")["BM25"], "-" in rows(two, "b")["BM25"]) == (True, True)
    assert told in one and told in two
    course = out(capsys, "evaluate", "--embedder", "recorded", "--k", "3")
    assert (told in course) == any("-" in row for row in rows(course, "b").values())


@pytest.mark.parametrize("which", ["--cards", "--questions"])
def test_cards_and_questions_belong_together(capsys: Capture, which: str) -> None:
    line = refused(capsys, "evaluate", which, "mine.csv")
    other = {"--cards": "--questions", "--questions": "--cards"}[which]
    assert line == f"the following arguments are required: {other}"


def test_a_file_to_write_is_never_one_that_is_read(capsys: Capture, tmp_path: Path) -> None:
    options = memory(tmp_path, "q1,The cat?,cat")
    for read in (options[2], options[4]):
        before = Path(read).read_bytes()
        line = refused(capsys, *options, "--csv", str(tmp_path / "." / Path(read).name))
        assert line.endswith(": would overwrite what is measured")
        assert Path(read).read_bytes() == before
    vectors, link, hard = (tmp_path / name for name in ("own.npz", "link.csv", "hard.csv"))
    np.savez(vectors, cards=np.eye(3, dtype=np.float32), questions=np.eye(3, dtype=np.float32)[:1])
    before = vectors.read_bytes()
    link.symlink_to(vectors)
    hard.hardlink_to(vectors)
    for name in (vectors, link, hard):
        line = refused(capsys, *options, "--vectors", str(vectors), "--csv", str(name))
        assert line == f"--csv {name}: would overwrite what is measured"
        assert vectors.read_bytes() == before
    nowhere = tmp_path / "no" / "out.csv"
    line = refused(capsys, *options, "--csv", str(nowhere))
    assert line.startswith(f"{nowhere}: cannot be written: ")
    assert refused(capsys, *options, "--csv", str(tmp_path)).startswith(f"{tmp_path}: cannot be")


def test_missing_questions_get_one_line(capsys: Capture, tmp_path: Path) -> None:
    options = memory(tmp_path, "q1,The cat?,cat")
    Path(options[4]).unlink()
    assert refused(capsys, *options).startswith(f"{options[4]}: cannot be read: ")


@pytest.mark.parametrize("terminal", [True, False])
def test_evaluate_shows_a_long_wait_in_a_terminal(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    watched, bars = [], []
    embed = Bundled.embed

    def seen(self: Bundled, texts: list[str], role: str) -> object:
        watched.append(self.progress)
        self.progress = False
        return embed(self, texts)

    class Bar:
        def __init__(self, total: int, delay: float, **_: object) -> None:
            bars.append(self)
            self.total, self.delay, self.n, self.closed = total, delay, 0, False

        def update(self, questions: int) -> None:
            self.n += questions

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None:
            self.closed = True

    monkeypatch.setattr(Bundled, "embed", seen)
    monkeypatch.setattr("tqdm.tqdm", Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    out(capsys, *memory(tmp_path, "q1,The cat?,cat", "q2,The dog?,dog"))
    assert watched[0] is terminal
    shown = [(bar.total, bar.delay, bar.n, bar.closed) for bar in bars]
    assert shown == ([(2, 2.0, 2, True)] if terminal else [])


def test_evaluate_as_a_process_from_another_folder(tmp_path: Path) -> None:
    done = child(*memory(tmp_path, "q1,Zoë’s cat?,cat"), cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 question (asked.csv) to 20 cards (own.csv)\n")
    done = child(*memory(tmp_path, "q1,Zoë’s cat?,Zoë"), cwd=tmp_path, PYTHONUTF8="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        r"memlib: asked\.csv row 2, column 'wanted': 'Zoë' is [^\n]+\n", done.stderr
    )


def test_a_server_gives_the_bundled_models_leaderboard(capsys: Capture) -> None:
    expected = out(capsys, "evaluate")
    with serving() as server:
        text = out(capsys, "evaluate", "--embedder", "ollama")
    tables, limits = text.split("Limits: ")
    assert tables == expected.split("Limits: ")[0].replace(Bundled.id, "ollama:nomic-embed-text")
    assert "refused by the server" in " ".join(limits.split())
    assert len(server.texts) == len(maya_cards()) + len(load_exam())


# --- signals that are empty, and a k that takes in everything --------------------------------

NOUNS = (
    *("кот", "пёс", "дом", "сад", "врач", "кофе", "паспорт", "сестра", "аренда", "отпуск"),
    *("доктор", "школа", "пекарня", "налог", "поезд", "море", "лес", "книга", "стол", "мост"),
    *("рояль", "шкаф", "окно", "ключ"),
)
SEVEN = (
    *("Miso is a cat.", "Rent is due on Friday.", "Sam plays the piano.", "Nina moved to Paris."),
    *("The passport expires in June.", "Coffee keeps me awake.", "Grandma bakes bread."),
)
FEW_WORDS = ("Which pet is here?", "Who is musical?", "Where does she live?", "Does Grandma cook?")


def renamed(
    folder: Path, texts: tuple[str, ...], asked: dict[str, int], ids: list[str], rows: list[int]
) -> list[str]:
    """Options for these cards in this order of rows, called by these ids; question -> its card."""
    days = [f"2025-05-{1 + i:02}T10:00Z" for i in range(len(texts))]
    cards = tuple(f"{ids[i]},{texts[i]},{days[i]}" for i in rows)
    questions = [f"q{n},{q},{ids[i]}" for n, (q, i) in enumerate(asked.items())]
    return memory(folder, *questions, cards=cards)


RUSSIAN = tuple(f"Сегодня {noun} был рядом." for noun in NOUNS)
ASKED_RUSSIAN = {f"Где {noun}?": i for i, noun in enumerate(NOUNS[:10])}
ASKED_SEVEN = dict(zip(FEW_WORDS, (0, 2, 3, 6), strict=True))


@pytest.mark.parametrize(
    ("texts", "asked"), [(RUSSIAN, ASKED_RUSSIAN), (SEVEN, ASKED_SEVEN)], ids=["24", "7"]
)
def test_how_ids_are_spelt_and_rows_stand_changes_no_figure(
    capsys: Capture, tmp_path: Path, texts: tuple[str, ...], asked: dict[str, int]
) -> None:
    n = len(texts)
    rising, rows = [f"c{i:02}" for i in range(n)], list(range(n))
    first = out(capsys, *renamed(tmp_path, texts, asked, rising, rows))
    mixed = [f"{7919 * i % 97:02}x{i}" for i in range(n)]
    for ids, order in [(rising[::-1], rows), (rising, rows[::-1]), (mixed, rows[3:] + rows[:3])]:
        assert out(capsys, *renamed(tmp_path, texts, asked, ids, order)) == first


def test_texts_of_which_the_stemmer_leaves_nothing_are_cut_by_words_of_every_script(
    capsys: Capture, tmp_path: Path
) -> None:
    ids = [f"c{i:02}" for i in range(24)]
    options = renamed(tmp_path, RUSSIAN, ASKED_RUSSIAN, ids, list(range(24)))
    text = out(capsys, *options, "--k", "1,3,10")
    assert rows(text, "a")["BM25"] == ["100.0"] * 3
    said = "note: stem is English and leaves words of 34 of 34 texts out: words of every script are"
    assert f"{said} read instead\n" in text
    plain = out(capsys, *memory(tmp_path, "q1,The cat?,cat"))
    assert "stem is English and" not in plain and "share no word" not in plain


def test_a_signal_that_matches_nothing_is_said_to_be_empty(capsys: Capture, tmp_path: Path) -> None:
    ids = [f"c{i}" for i in range(7)]
    asked = {f"Zebra {i}?": i for i in range(7)}
    text = out(capsys, *renamed(tmp_path, SEVEN, asked, ids, list(range(7))))
    assert "note: no question shares a word with a card: BM25 finds nothing and moves" in text
    assert rows(text, "a")["BM25"] == ["0.0"] * 4
    assert rows(text, "b")["BM25"][-2:] == ["-", "empty"]
    assert "worse" not in [row[-1] for m, row in rows(text, "b").items() if m == "BM25"]
    told = " ".join(text.split())
    empty = "Empty: no question has a card that scores above another: BM25, the server's S."
    assert f"{empty} What matched" in told
    assert " of 14 differences" in told and "(BM25)" not in told


def test_how_many_questions_find_no_word_is_told(capsys: Capture, tmp_path: Path) -> None:
    ids = [f"c{i}" for i in range(7)]
    text = out(capsys, *renamed(tmp_path, SEVEN, ASKED_SEVEN, ids, list(range(7))))
    assert "note: 3 of 4 questions share no word with a card: BM25 finds nothing there\n" in text
    assert rows(text, "a")["BM25"] == ["25.0"] * 4  # the fourth, and no card by chance
    assert "empty" not in rows(text, "b")["BM25"]


def test_cards_of_one_age_are_found_by_chance_and_names_that_nobody_asks_for_are_told(
    capsys: Capture, tmp_path: Path
) -> None:
    cards = tuple(f"{n}{i},{n} walks.,{TIME},{n}:person" for i, n in enumerate(("Ana", "Bo") * 5))
    header = "id,text,created_at,entities"
    options = memory(tmp_path, "q1,Where was I?,Ana0", cards=cards, header=header)
    text = out(capsys, *options, "--k", "1,5")
    assert rows(text, "a")["newest first"] == ["10.0", "50.0"]
    assert rows(text, "b")["newest first"][-1] == "empty"
    assert "note: no question has a name that a card lists: names move nothing\n" in text
    options = memory(tmp_path, "q1,Where was Ana?,Ana0", cards=cards, header=header)
    assert "names move nothing" not in out(capsys, *options)


@pytest.mark.parametrize(
    ("options", "compared", "columns", "said"),
    [
        ([], 5, 4, "    (not at k = 10: it takes in the whole store, 7 cards)\n"),
        (["--k", "2,7"], 2, 2, "    (not at k = 7: it takes in the whole store, 7 cards)\n"),
        (["--k", "4,9,2,8"], 4, 4, "    (not at k = 8: it takes in the whole store, 7 cards)\n"),
        (["--k", "7"], 5, 2, "    (not at k = 7: it takes in the whole store, 7 cards)\n"),
        (["--k", "7,6"], 6, 2, "    (only at the last k: put yours last, as in --k 1,10,3)\n"),
    ],
)
def test_a_k_that_takes_in_the_whole_store_compares_nothing(
    capsys: Capture, tmp_path: Path, options: list[str], compared: int, columns: int, said: str
) -> None:
    ids = [f"c{i}" for i in range(7)]
    own = renamed(tmp_path, SEVEN, ASKED_SEVEN, ids, list(range(7)))
    text = out(capsys, *own, *options)
    assert f"(b) At k = {compared}, beside" in text and said in text
    assert len(rows(text, "a")["BM25"]) == columns


# --- what to use -----------------------------------------------------------------------------


def board_of(**recalls: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    found = pd.DataFrame({name.replace("_", " "): values for name, values in recalls.items()})
    return leaderboard(found), found


def test_similarity_alone_is_used_where_nothing_beat_it() -> None:
    told = advice(*board_of(similarity_alone=[1.0] * 9 + [0.0] * 9, BM25=[0.0] * 9 + [1.0] * 9))
    assert told == ["Use similarity alone: nothing beat it beyond noise."]
    few = advice(*board_of(similarity_alone=[1.0] * 9, BM25=[0.0] * 5 + [1.0] * 4))
    assert few[0].startswith("Use similarity alone, the simplest: fewer than 6 of your questions")


def test_what_beat_similarity_is_used_and_what_did_too_is_named() -> None:
    start, half = [0.0] * 20, [1.0] * 10 + [0.0] * 10
    told = advice(*board_of(similarity_alone=start, BM25=half, RRF=[1.0] * 18 + [0.0] * 2))
    assert told[0].startswith("Use RRF: it beat similarity alone beyond noise, by 90.0 points (")
    assert told[0].endswith("), and nothing beat it.")
    assert told[1:] == ["Better than similarity alone, too: BM25."]
    alone = advice(*board_of(similarity_alone=start, BM25=half))
    assert len(alone) == 1 and alone[0].startswith("Use BM25: it beat")


@pytest.mark.parametrize("name", METHODS)
def test_the_lines_to_paste_make_this_ranking(name: str, tmp_path: Path) -> None:
    space: dict[str, Any] = {}
    exec(paste(METHODS[name], "bundled", tmp_path / "cards.db"), space)
    with space["librarian"].store:
        assert space["ranking"] == space["librarian"].ranking == METHODS[name]
    own = paste(METHODS[name], "", None)
    assert "choose" not in own and "Store('cards.db'), embedder, ranking)  # the embedder" in own


def pasted(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec("from memlib import" + text.partition("\nfrom memlib import")[2], space)
    return space


# --- a store, its export, vectors of one's own -----------------------------------------------

MODEL = choose("bundled")


def stored(folder: Path) -> tuple[Path, list[str]]:
    """Twenty cards in a store, one of them forgotten, and options for a question each."""
    options = memory(folder, *(f"q{n},What about the {t}?,{t}" for n, t in enumerate(THINGS[1:])))
    path, now = folder / "own.db", datetime(2025, 5, 30, tzinfo=UTC)
    with Store(path) as store:
        for thing in THINGS:
            text = f"Something about the {thing}."
            unit = MODEL.embed([text])[0]
            store.add(thing, text, vector=3 * unit, embedder_id=MODEL.id, now=now)
        store.soft_forget(THINGS[0], now)
        store.export_csv(folder / "export.csv")
    return path, options


@pytest.mark.parametrize("file", ["own.db", "export.csv"])
def test_a_store_and_its_export_are_cards(capsys: Capture, tmp_path: Path, file: str) -> None:
    path, options = stored(tmp_path)
    with Store(path) as store:
        before = store.cards(forgotten=True)
    options[2] = str(tmp_path / file)
    text = out(capsys, *options, "--k", "1,3")
    assert text.startswith(f"19 questions (asked.csv) to 19 cards ({file})\n")
    assert f"    embedder: {MODEL.id}, of the store\n" in text
    assert "note: 1 forgotten cards are left out\n" in text
    assert rows(text, "a")["similarity alone"] == ["100.0", "100.0"]
    with Store(path) as store:
        pd.testing.assert_frame_equal(store.cards(forgotten=True), before)
    assert f"Store('{options[2]}'), choose('bundled')" in text
    if file == "own.db":
        space = pasted(text)
        with space["librarian"].store:
            found = space["librarian"].search("What about the dog?", datetime.now(UTC), 1)
        assert found.index.tolist() == ["dog"]


def test_a_store_of_another_model_is_refused(capsys: Capture, tmp_path: Path) -> None:
    path, options = stored(tmp_path)
    options[2] = str(path)
    line = refused(capsys, *options, "--embedder", "ollama")
    said = f"own.db: its vectors come from {MODEL.id}, --embedder is ollama:nomic-embed-text"
    assert line.startswith(said)
    with Store(tmp_path / "empty.db"):
        pass
    options[2] = str(tmp_path / "empty.db")
    assert refused(capsys, *options) == "empty.db: no cards that are not forgotten"
    (tmp_path / "cut.db").write_bytes(path.read_bytes()[:3000])
    options[2] = str(tmp_path / "cut.db")
    assert refused(capsys, *options).startswith("cut.db: ")


def test_vectors_of_ones_own_need_no_embedder(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = memory(tmp_path, *(f"q{n},Number {n}?,{t}" for n, t in enumerate(THINGS[:3])))
    monkeypatch.setattr(Bundled, "embed", None)
    file = tmp_path / "own.npz"
    np.savez(file, cards=5 * np.eye(20), questions=np.eye(20)[:3])
    text = out(capsys, *options, "--vectors", str(file), "--k", "1")
    assert "    embedder: yours, from own.npz\n" in text and "word pieces" not in text
    assert rows(text, "a")["similarity alone"] == ["100.0"]
    assert "embedder, ranking)  # the embedder that made your vectors" in text


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"cards": np.eye(20)}, "own.npz: no .npz with `cards` and `questions`: "),
        (
            {"cards": np.eye(19), "questions": np.eye(20)[:1]},
            "own.npz: cards has shape (19, 19) and dtype float64: must be (20, d), numbers",
        ),
        (
            {"cards": np.eye(20), "questions": np.eye(19)[:1]},
            "own.npz: cards have 20 dimensions, questions 19",
        ),
        (
            {"cards": np.eye(20, k=1), "questions": np.eye(20)[:1]},
            "own.npz: cards[19] has length 0",
        ),
        (
            {"cards": np.eye(20), "questions": np.full((1, 20), np.nan)},
            "own.npz: questions[0] has length nan",
        ),
        (
            {"cards": np.eye(20), "questions": np.array([["a"] * 20])},
            "own.npz: questions has shape (1, 20) and dtype <U1: must be (1, d), numbers",
        ),
    ],
)
def test_vectors_that_do_not_fit_are_refused(
    capsys: Capture, tmp_path: Path, arrays: dict[str, Any], said: str
) -> None:
    file = tmp_path / "own.npz"
    np.savez(file, **arrays)
    options = [*memory(tmp_path, "q1,The cat?,cat"), "--vectors"]
    assert refused(capsys, *options, str(file)).startswith(said)
    file.write_bytes(b"no zip")
    assert refused(capsys, *options, str(file)).startswith("own.npz: no .npz with")
    file.unlink()
    assert refused(capsys, *options, str(file)).startswith(f"{file}: cannot be read: ")


# --- embedded once ---------------------------------------------------------------------------


def test_what_was_embedded_before_is_not_embedded_again(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    options, seen = memory(tmp_path, "q1,The cat?,cat", "q2,The dog?,dog"), list[str]()
    embed = Bundled.embed

    def counted(self: Bundled, texts: list[str], role: Any) -> Any:
        seen.extend(texts)
        return embed(self, texts, role)

    monkeypatch.setattr(Bundled, "embed", counted)
    first = out(capsys, *options)
    assert len(seen) == 22
    out(capsys, *memory(tmp_path, "q1,The cat?,cat", "q2,The car?,car"))
    assert seen[22:] == ["The car?"]
    options = memory(tmp_path, "q1,The cat?,cat", "q2,The dog?,dog")
    out(capsys, *options, "--no-cache")
    assert len(seen) == 45
    (kept,) = own_cache.glob("*.npz")
    assert b"cat" not in kept.read_bytes()
    kept.write_bytes(kept.read_bytes()[:2000])
    assert out(capsys, *options) == first and len(seen) == 67
    assert [file.suffix for file in sorted(own_cache.iterdir())] == [".damaged", ".npz"]


def test_a_folder_that_cannot_be_written_keeps_nothing_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    model = Cached(MODEL, tmp_path / "file")
    assert model.embed(["Poppy"]).shape == (1, 384) and model.dim == 384
    assert Cached(MODEL, tmp_path / "file").embed(["Poppy"]).shape == (1, 384)


# --- when, and in which group ----------------------------------------------------------------


def test_a_question_sees_what_there_was_when_it_was_asked(capsys: Capture, tmp_path: Path) -> None:
    options = memory(tmp_path, "q1,Newest?,cat")
    Path(options[4]).write_text(
        "id,question,wanted,asked_at,group\n"
        "q1,Anything?,cat,2025-05-01T11:00Z,a\nq2,Newest?,train,,b\nq3,Newest?,car,2025-05-03T12:00+02:00,b\n",
        encoding="utf-8",
    )
    file = tmp_path / "out.csv"
    text = out(capsys, *options, "--k", "1", "--csv", str(file))
    assert rows(text, "a")["newest first"] == ["100.0"]
    assert "note: the questions are of 2 groups, which count one each\n" in text
    assert "how many groups were answered better, equally well and worse\n" in text
    plain = " ".join(text.split())
    assert "Use similarity alone, the simplest: 2 groups are too few to tell" in plain
    assert set(rows(text, "b")["newest first"][-3:]) == {"too", "few", "groups"}
    assert "every question is asked at its own time." in " ".join(text.split())
    assert pd.read_csv(file)["group"].tolist() == ["a", "b", "b"]
    Path(options[4]).write_text(
        "id,question,wanted,asked_at\nq1,Dog?,dog,2025-05-01T11:00Z\n", encoding="utf-8"
    )
    assert refused(capsys, *options) == (
        "asked.csv row 2, column 'wanted': 'dog' was made at 2025-05-02 10:00:00+00:00, after"
        " asked_at, 2025-05-01 11:00:00+00:00"
    )
    Path(options[4]).write_text(
        "id,question,wanted,asked_at\nq1,Dog?,dog,yesterday\n", encoding="utf-8"
    )
    assert refused(capsys, *options).startswith("asked.csv row 2, column 'asked_at': 'yesterday'")


def test_of_six_groups_the_intervals_are_over_groups_and_so_is_what_is_needed() -> None:
    groups = [name for name in "abcdef" for _ in range(4)]
    gains = np.repeat([0.25, 0.5, 0.25, 0.5, 0.25, 0.5], 4)
    found = pd.DataFrame({BASELINE: np.full(24, 0.25), "BM25": 0.25 + gains})
    board = leaderboard(found, groups=groups)
    told = report._needed(found, groups)
    assert told == {BASELINE: None, "BM25": questions_needed([25, 50] * 3)}
    (advice,) = report.advice(board, found, groups)
    row = board.loc["BM25"]
    said = f"by 37.5 points ({row['low']:.1f} to {row['high']:.1f}), and nothing beat it."
    assert advice == f"Use BM25: it beat {BASELINE} beyond noise, {said}"
    plain = " ".join(report._told(board, told, 6, "group"))
    assert "in all groups but at most one the sign is the same" in plain
    assert "as many groups of this kind" in plain and "You have 6." in plain
