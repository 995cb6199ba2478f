"""The command line: the published experiment, one's own cards, and one line for every mistake."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from course.__main__ import main as course
from course.data.maya import PUBLISHED_QUESTION, published_cards
from course.data.recorded import Recorded
from memlib.cards import COLUMNS
from memlib.embedders.minilm import Bundled
from tests.ollama_server import PROSE, URL, nobody, serving, swallowing
from tests.oracles import ranking as ranking_oracle
from tests.oracles import recency as recency_oracle
from tests.oracles import similarity as similarity_oracle

ROOT = Path(__file__).parents[2]
CARDS = published_cards()
IDS, FACTS = list(CARDS.index), list(CARDS["text"])
HOURS = [2000.0, 1992, 26, 300, 1, 700, 120, 1500]
RATINGS = [8.0, 6, 2, 7, 1, 4, 6, 5]
ORDER = ["birthday", "vinyl", "vegetarian", "kids", "pasta", "printer", "engineer", "hiking"]
TIME = "2025-06-01T10:00Z"

Capture = pytest.CaptureFixture[str]


def named(arguments: Sequence[str]) -> list[str]:
    """The same arguments behind a command: demo, if none is named."""
    return [*([] if arguments[:1] in (["evaluate"], ("evaluate",)) else ["demo"]), *arguments]


def main(arguments: list[str]) -> int:
    return course(named(arguments))


def out(capsys: Capture, *arguments: str) -> str:
    """What a run prints that goes well; it prints nothing else."""
    assert main(list(arguments)) == 0
    told, complaint = capsys.readouterr()
    assert complaint == ""
    return told


def refused(capsys: Capture, *arguments: str) -> str:
    """The one line of a run that is refused."""
    try:
        status = main(list(arguments))
    except SystemExit as end:  # argparse ends a run by itself
        status = end.code
    told, complaint = capsys.readouterr()
    assert (status, told) == (2, "")
    assert complaint.startswith("memlib: ") and complaint.count("\n") == 1
    assert complaint.endswith("\n") and "Traceback" not in complaint
    return complaint.removeprefix("memlib: ").rstrip("\n")


def section(text: str, letter: str) -> list[str]:
    """The rows of table (a), (b) or (c), without its header."""
    block = text.partition(f"({letter}) ")[2].split("\n\n")[1]
    return block.splitlines()[1:]


def ranked(rows: list[str]) -> list[str]:
    """The ids of the cards in the order of these rows."""
    return [next(i for i, fact in zip(IDS, FACTS, strict=True) if fact in row) for row in rows]


def own_cards(folder: Path, *lines: str, header: str = "id,text,created_at") -> str:
    path = folder / "own.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return str(path)


def child(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "course", *named(arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        encoding="utf-8",
    )


# --- the published experiment --------------------------------------------------------------


def test_the_published_run_gives_the_published_order_and_the_erratum(capsys: Capture) -> None:
    text = out(capsys)
    rows = section(text, "c")
    assert ranked(rows) == ORDER
    totals = [
        row.removeprefix(FACTS[IDS.index(name)]).split()[3]
        for name, row in zip(ORDER, rows, strict=True)
    ]
    assert totals[:3] == ["2.00", "1.62", "1.34"]
    assert [row.endswith("<- inject") for row in rows] == [True] * 3 + [False] * 5
    assert text.count("<- inject") == 3
    note = " ".join(text.splitlines()[-2:])
    assert 'prints 1.33 for "Maya is vegetarian."' in note
    assert "Unrounded the total is 1.3360, so 1.34." in note


def test_the_other_two_tables_are_the_published_ones(capsys: Capture) -> None:
    text = out(capsys)
    assert ranked(section(text, "a")) == IDS
    assert ranked(section(text, "b")) == [
        *("printer", "pasta", "vegetarian", "kids", "hiking", "engineer", "vinyl", "birthday")
    ]
    assert "0.995 ^ hours, half after 5.76 days" in text
    assert f'question: "{PUBLISHED_QUESTION}"' in text


def test_the_bundled_models_figures_stand_beside(capsys: Capture) -> None:
    """Recomputed from the recorded vectors, which the bundled model made elsewhere."""
    text, recorded = out(capsys), Recorded()
    query = recorded.embed([PUBLISHED_QUESTION], "query")[0].tolist()
    cosines = similarity_oracle.cosine(query, recorded.embed(FACTS).tolist())
    fresh = recency_oracle.recency(HOURS, 0.995)
    totals = ranking_oracle.three_part_total(cosines, fresh, RATINGS, [1, 1, 1])
    assert "MiniLM" in text and f"with the bundled model, {recorded.id}." in text
    for row in section(text, "a"):
        card = IDS.index(ranked([row])[0])
        assert float(row.split()[2]) == pytest.approx(cosines[card], abs=0.0011)
    for row in section(text, "c"):
        card = IDS.index(ranked([row])[0])
        numbers = row.removeprefix(FACTS[card]).split()
        assert float(numbers[4]) == pytest.approx(totals[card], abs=0.011)


def test_the_recorded_vectors_give_the_bundled_figures(capsys: Capture) -> None:
    both = [out(capsys, "--embedder", name) for name in ("recorded", "bundled")]
    first, second = (section(text, "c") for text in both)
    assert ranked(first) == ranked(second)
    assert all("erratum" not in text and "1.3360" not in text for text in both)


@pytest.mark.parametrize(("weight", "leader"), [("2.0", "pasta"), ("2.1", "printer")])
def test_a_recency_weight_of_2_1_brings_the_printer_up(
    capsys: Capture, weight: str, leader: str
) -> None:
    text = out(capsys, "--weights", "1", weight, "1")
    assert ranked(section(text, "c"))[0] == leader
    assert f"weights: 1, {float(weight):g}, 1 (relevance, recency, importance)" in text


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--weights", "1", "1", "1.5"], ["--decay", "0.99"], ["--now", "2025-06-12T18:00Z"]),
        *(["--embedder", "bundled"], ["--question", "What does Sam like?"]),
    ],
)
def test_the_erratum_is_told_of_the_published_run_only(
    capsys: Capture, arguments: list[str]
) -> None:
    text = out(capsys, *arguments)
    assert "published table" not in text and "Unrounded" not in text


def test_options_that_say_the_default_change_nothing(capsys: Capture) -> None:
    plain = out(capsys)
    same = ["--weights", "1", "1", "1", "--decay", "0.995", "--embedder", "published"]
    now = ["--now", "2025-06-11T20:00+02:00", "--question", PUBLISHED_QUESTION]
    assert out(capsys, *same, *now) == plain


def test_a_decay_of_one_never_fades(capsys: Capture) -> None:
    text = out(capsys, "--decay", "1")
    assert "1 ^ hours, never half\n" in text
    assert {row.split()[1] for row in section(text, "b")} == {"1.000000"}


def test_a_later_now_makes_every_card_older(capsys: Capture) -> None:
    rows = section(out(capsys, "--now", "2025-06-12T18:00Z"), "b")
    ages = {ranked([row])[0]: float(row.split()[2]) for row in rows}
    assert ages == {name: hours + 24 for name, hours in zip(IDS, HOURS, strict=True)}


def test_another_question_is_put_to_the_bundled_model(capsys: Capture) -> None:
    text = out(capsys, "--question", "What can  we\ncook for dinner?")
    assert 'question: "What can we cook for dinner?"' in text
    assert "cosine(all-MiniLM-L6-v2-int8)" in text
    assert ranked(section(text, "a"))[0] in ("pasta", "vegetarian")


# --- one's own cards -----------------------------------------------------------------------


def test_three_cards_of_ones_own(capsys: Capture, tmp_path: Path) -> None:
    file = own_cards(
        tmp_path,
        f"cat,The cat is called Miso.,{TIME},9",
        "rent,Rent is due on the first.,2025-06-10T10:00+02:00,",
        '"milk","Buy milk, and bread.",2025-06-11T10:00Z,2',
        header="id,text,created_at,importance",
    )
    text = out(capsys, "--cards", file, "--question", "What is the name of my cat?")
    assert "cosine(all-MiniLM-L6-v2-int8)" in text
    rows = section(text, "a")
    assert len(rows) == 3 and rows[0].endswith("The cat is called Miso.")
    assert "Buy milk, and bread." in section(text, "b")[0]
    assert text.count("<- inject") == 3
    assert "published" not in text


def test_a_text_with_line_ends_and_escape_codes_stays_in_its_row(
    capsys: Capture, tmp_path: Path
) -> None:
    file = own_cards(tmp_path, f'a,"One\nand\t\x1b[31mtwo.",{TIME}', f"b,Three.,{TIME}")
    text = out(capsys, "--cards", file)
    assert "\x1b" not in text and "One and [31mtwo." in text
    assert len(section(text, "a")) == 2


def test_many_cards_are_cut_at_twenty_rows(capsys: Capture, tmp_path: Path) -> None:
    file = own_cards(tmp_path, *(f"c{n},Note {n}.,{TIME}" for n in range(25)))
    text = out(capsys, "--cards", file)
    assert text.count("… the first 20 of 25 cards") == 3
    assert len(section(text, "c")) == 21


def test_the_courses_own_file_can_be_given_too(capsys: Capture) -> None:
    text = out(capsys, "--cards", str(ROOT / "data" / "cards.csv"), "--embedder", "recorded")
    assert text.count("… the first 20 of 208 cards") == 3


def test_ones_own_cards_are_as_old_as_they_are_today(capsys: Capture, tmp_path: Path) -> None:
    begin = datetime.now(UTC)
    new = (begin - timedelta(hours=3)).isoformat()
    text = out(capsys, "--cards", own_cards(tmp_path, f"a,One.,{new}", f"b,Two.,{TIME}"))
    assert section(text, "b")[0].split()[2] == "3"
    told, _, how = text.partition("    now: ")[2].partition("\n")[0].partition(" ")
    assert abs(datetime.fromisoformat(told) - begin) < timedelta(minutes=2)
    assert how == "(the current time; --now sets another)"
    earlier = out(capsys, "--cards", own_cards(tmp_path, f"b,Two.,{TIME}"), "--now", TIME)
    assert "    now: 2025-06-01T10:00:00+00:00\n" in earlier


def test_what_the_bundled_model_cannot_read_is_said(capsys: Capture, tmp_path: Path) -> None:
    lines = (f"a,鍵,{TIME}", f"b,🎂,{TIME}", f"c,{'sea ' * 300},{TIME}", f"d,A key.,{TIME}")
    file = own_cards(tmp_path, *lines)
    text = out(capsys, "--cards", file, "--question", "鍵")
    unknown = "mostly unknown to the bundled model (it knows English): their scores mean little"
    assert f"    note: 3 of 5 texts are {unknown}\n" in text
    assert "    note: 1 of 5 texts are read only to 256 word pieces\n" in text
    assert "note:" not in out(capsys)


def test_one_long_fact_leaves_the_tables_readable(capsys: Capture, tmp_path: Path) -> None:
    exact, over = "x" * 80, "y" * 81
    lines = (f"a,{exact},{TIME}", f"b,{over},{TIME}", f"c,{'word ' * 900},{TIME}")
    text = out(capsys, "--cards", own_cards(tmp_path, *lines))
    assert exact in text and over not in text and "y" * 79 + "…" in text
    assert max(map(len, text.splitlines())) < 130


def test_a_decay_close_to_one_is_told_in_full(capsys: Capture) -> None:
    assert "0.99999999 ^ hours, half after 2888113" in out(capsys, "--decay", "0.99999999")


# --- mistakes ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [[], ["evaluate"]])
def test_help_names_every_column(capsys: Capture, command: list[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "CSV with the columns id, text, created_at (like 2025-06-11T18:00Z)" in told
    assert all(
        re.search(rf"\b{column}\b", told.partition("left out:")[2])
        for column in {*COLUMNS} - {"text", "created_at"}
    )
    if command:
        assert "CSV with the columns id, question, wanted (ids of cards, joined by ;)" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--decay", "0"], "decay is 0.0: must be above 0"),
        (["--decay", "1.5"], "decay is 1.5: must be at most 1"),
        (["--decay", "nan"], "decay is nan: must be a number"),
        (["--decay", "abc"], "argument --decay: invalid float value: 'abc'"),
        (["--decay"], "argument --decay: expected one argument"),
        (["--weights", "1", "-2", "1"], "weights[1] is -2.0: must be at least 0"),
        (["--weights", "1", "1"], "argument --weights: expected 3 arguments"),
        (["--weights", "1", "x", "1"], "argument --weights: invalid float value: 'x'"),
        (["--weights", "inf", "1", "1"], "weights[0] is inf: must be finite"),
        (["--weights", "1", "1", "1e308"], "weights[2] is 1e+308: must be at most 1e+06"),
        (["--now", "2025-06-11T18:00"], "argument --now: '2025-06-11T18:00' has no time zone"),
        (
            ["--now", "2025-06-11"],
            "argument --now: '2025-06-11' has no time zone: write 2025-06-11T18:00Z for UTC",
        ),
        (["--now", "nonsense"], "argument --now: 'nonsense' is no time like"),
        (["--now", "0001-01-01T00:00+05:00"], "argument --now: '0001-01-01T00:00+05:00' is no"),
        (["--now", "2020-01-01T00:00Z"], "created_at[0] is 2022-01-05 21:44:00+00:00: in the fut"),
        (["--embedder", "openai"], "argument --embedder: 'openai': must be published, recorded,"),
        (["--embedder", ""], "argument --embedder: '': must be published, recorded,"),
        (["--question", ""], "argument --question: '': a text must not be empty"),
        (["--question", " \n"], "argument --question: ' \\n': a text must not be empty"),
        (["--question", "\u200b"], "argument --question: '\\u200b': a text must not be empty"),
        (["--question", "\udcff"], "argument --question: '\\udcff': a text must not hold half"),
        (["--embedder", "published", "--question", "Who?"], "no vector for the query 'Who?': only"),
        (["--embedder", "recorded", "--question", "Who?"], "no vector for the query 'Who?': rec"),
        (["--colour"], "unrecognized arguments: --colour"),
        (["birthday"], "unrecognized arguments: birthday"),
    ],
)
def test_a_bad_option_gets_one_line(capsys: Capture, arguments: list[str], said: str) -> None:
    assert refused(capsys, *arguments).startswith(said)


@pytest.mark.parametrize("address", [nobody, swallowing])
@pytest.mark.parametrize("command", [[], ["evaluate"]])
def test_a_server_that_is_not_there_gets_one_line(
    capsys: Capture, command: list[str], address: Callable[[], AbstractContextManager[str]]
) -> None:
    with address() as host:
        line = refused(capsys, *command, "--embedder", "ollama")
    assert line.startswith(f"Ollama at {host}: no answer")
    assert "ollama serve" in line and "use bundled" in line


@pytest.mark.parametrize("command", [[], ["evaluate"]])
def test_an_impossible_address_is_named_in_one_line(capsys: Capture, command: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OLLAMA_HOST", "127.0.0.1:99999")
        line = refused(capsys, *command, "--embedder", "ollama")
    assert "OLLAMA_HOST is '127.0.0.1:99999', no address of a server (Port out of range" in line
    assert line.endswith("set it to one such as 127.0.0.1:11434, or unset it")


def test_an_over_long_card_or_question_is_named(capsys: Capture, tmp_path: Path) -> None:
    cards = own_cards(tmp_path, f"prose,{PROSE},{TIME}", f"link,{URL},{TIME}", f"tea,Tea.,{TIME}")
    asked = tmp_path / "asked.csv"
    asked.write_text("id,question,wanted\nq1,Tea?,tea\n", encoding="utf-8")
    known = ["--embedder", "ollama", "--cards", cards]
    with serving():
        for command in (known, ["evaluate", *known, "--questions", str(asked)]):
            line = refused(capsys, *command)
            assert line.endswith(
                ": shorten card 'link' (800 characters, 'https://example.org/a7Q9x2_Zk0')"
            )
        line = refused(capsys, "--embedder", "ollama", "--question", URL)
        assert ": shorten the question (800 characters" in line
        Path(cards).write_text(f"id,text,created_at\ntea,Tea.,{TIME}\n", encoding="utf-8")
        asked.write_text(f"id,question,wanted\nq1,Tea?,tea\nq2,{URL},tea\n", encoding="utf-8")
        line = refused(capsys, "evaluate", *known, "--questions", str(asked))
        assert ": shorten question 'q2' (800 characters" in line


@pytest.mark.parametrize("command", [[], ["evaluate"]])
def test_the_time_out_is_an_option(capsys: Capture, command: list[str]) -> None:
    with serving() as server:
        server.fault, server.seconds = "slow", 1.5
        line = refused(capsys, *command, "--embedder", "ollama", "--timeout", "0.2")
        assert "no answer within " in line and line.endswith("give a longer --timeout")
        server.seconds = 0.4
        out(capsys, *command, "--embedder", "ollama", "--timeout", "60")
        assert "no answer within 0.2 s" in refused(
            capsys, "--embedder", "ollama", "--timeout", "0.2"
        )
    for wrong in ("0", "-1", "nan", "inf", "soon"):
        line = refused(capsys, *command, "--embedder", "ollama", f"--timeout={wrong}")
        assert line == f"argument --timeout: {wrong!r}: must be a positive number of seconds"
    line = refused(capsys, *command, "--embedder", "bundled", "--timeout", "60")
    assert line == "--timeout 60: only ollama and ollama:MODEL wait for a server"


@pytest.mark.parametrize("command", [[], ["evaluate"]])
def test_an_unknown_model_of_a_server_gets_one_line(capsys: Capture, command: list[str]) -> None:
    with serving() as server:
        line = refused(capsys, *command, "--embedder", "ollama:missing")
    assert line == f"Ollama at {server.host}: no model 'missing': run `ollama pull missing`"


# --- a server, here a stand-in that answers from the bundled model -------------------------


@pytest.mark.parametrize(
    "arguments",
    [[], ["--question", "What can we cook for dinner?"], ["--weights", "1", "2.1", "1"]],
)
def test_a_server_gives_the_bundled_models_tables(capsys: Capture, arguments: list[str]) -> None:
    expected = out(capsys, "--embedder", "bundled", *arguments)
    with serving() as server:
        text = out(capsys, "--embedder", "ollama", *arguments)
        other = out(capsys, "--embedder", "ollama:all-minilm", *arguments)
    assert Bundled.id in expected and len(server.texts) == 18
    assert text == expected.replace(Bundled.id, "ollama:nomic-embed-text")
    assert other == expected.replace(Bundled.id, "ollama:all-minilm")


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        (
            "id,text",
            ["a,One."],
            "own.csv: columns missing: created_at; needed: id, text, created_at",
        ),
        ("id,text,created_at", [], "own.csv: no cards, only a header"),
        (
            "id,text,created_at,mood",
            [f"a,One.,{TIME},x"],
            "own.csv: columns unknown: 'mood'; needed:",
        ),
        ("id,text,created_at", [f"a,One, two.,{TIME}"], "own.csv row 2: 4 fields, the header has"),
        ("id,text,created_at", [f"a,One.,{TIME}"] * 2, "own.csv row 3, column 'id': 'a' stands"),
        ("id,text,created_at", ["a,One.,soon"], "own.csv row 2, column 'created_at': 'soon' is no"),
        (
            "id,text,created_at",
            ["a,One.,2025-06-01T10:00"],
            "own.csv row 2, column 'created_at': '2025-06-01T10:00' has no time zone",
        ),
        (
            "id,text,created_at,importance",
            [f"a,One.,{TIME},11"],
            "own.csv row 2, column 'importance': '11' is no rating from 1 to 10",
        ),
        (
            "id,text,created_at,kind",
            [f"a,One.,{TIME},dream"],
            "own.csv row 2, column 'kind': 'dream' is none of",
        ),
        (
            "id,text,created_at,views",
            [f"a,One.,{TIME},-1"],
            "own.csv row 2, column 'views': '-1' is no count",
        ),
        (
            "id,text,created_at",
            ["a,One.,9025-07-01T10:00Z"],
            "own.csv row 2, column 'created_at': 9025-07-01 10:00+00:00: in the future",
        ),
        (
            "id,text,created_at,last_accessed_at",
            [f"a,One.,{TIME},2025-05-01T10:00Z"],
            "own.csv row 2, column 'last_accessed_at': 2025-05-01 10:00:00+00:00: before created",
        ),
        ("id,text,text,created_at", [f"a,One.,Two.,{TIME}"], "own.csv: column 'text' stands there"),
    ],
)
def test_a_bad_file_gets_one_line_that_says_where(
    capsys: Capture, tmp_path: Path, header: str, rows: list[str], said: str
) -> None:
    file = own_cards(tmp_path, *rows, header=header)
    assert refused(capsys, "--cards", file).startswith(said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "own.csv: empty, the first row must name the columns"),
        (b"id,text,created_at\na,caf\xe9,2025-06-01T10:00Z\n", "own.csv: not UTF-8 at byte 24"),
        (b'id,text,created_at\na,"One.', "own.csv row 2: a quote that opens is not closed"),
        (b"PK\x03\x04\x14\x00\xff", "own.csv: this is an Excel file: save it as CSV UTF-8"),
    ],
)
def test_a_file_that_is_no_table_gets_one_line(
    capsys: Capture, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "own.csv").write_bytes(content)
    assert refused(capsys, "--cards", str(tmp_path / "own.csv")).startswith(said)


@pytest.mark.parametrize("name", ["missing.csv", ""])
def test_a_missing_file_and_a_folder_get_one_line(
    capsys: Capture, tmp_path: Path, name: str
) -> None:
    path = str(tmp_path / name)
    assert refused(capsys, "--cards", path).startswith(f"{path.rstrip('/')}: cannot be read: ")


def test_a_now_before_ones_own_cards_names_the_row(capsys: Capture, tmp_path: Path) -> None:
    file = own_cards(tmp_path, "a,One.,2024-01-01T10:00Z", f"b,Two.,{TIME}")
    line = refused(capsys, "--cards", file, "--now", "2025-01-01T00:00Z")
    assert line.startswith("own.csv row 3, column 'created_at': ")
    assert line.endswith("of now, 2025-01-01 00:00+00:00: --now sets another")


# --- as a process --------------------------------------------------------------------------


def test_as_a_process_from_another_folder_in_another_code_page(tmp_path: Path) -> None:
    file = own_cards(tmp_path, f"a,Zoë’s 猫 naps.,{TIME}", f"b,Two.,{TIME}")
    done = child("--cards", file, cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Zoë’s 猫 naps." in done.stdout


def test_a_mistake_as_a_process_ends_with_2(tmp_path: Path) -> None:
    done = child("--cards", str(tmp_path / "Zoë.csv"), cwd=tmp_path, PYTHONUTF8="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"memlib: \S+Zoë\.csv: cannot be read: [^\n]+\n", done.stderr)


def test_a_closed_pager_is_no_mistake(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "course", "demo", "--embedder", "recorded"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=pipe,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("target", "said"),
    [("/dev/full", "cannot print: "), ("&-", "cannot print: the standard output is closed\n")],
)
def test_what_cannot_be_printed_is_said_in_one_line(target: str, said: str) -> None:
    if target == "/dev/full" and not Path(target).exists():
        pytest.skip("this system has no /dev/full")
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m course demo --embedder recorded >{target}', sys.executable],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"memlib: {said}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_wait_is_shown_in_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    asked = []
    monkeypatch.setattr(
        Bundled, "embed", lambda self, texts, role: asked.append(self.progress) or np.eye(1, 384)
    )
    monkeypatch.setattr("course.demo.cosine", lambda query, memories: np.arange(8.0))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    out(capsys, "--embedder", "bundled")
    assert asked == [terminal, terminal]
