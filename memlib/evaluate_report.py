"""The ways of scoring on one's own cards and questions, as text: `python -m memlib evaluate`."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd

from memlib import tables
from memlib.bm25 import stem
from memlib.cards import CardError, load_cards, load_questions, names_on, read_rows, short
from memlib.checks import Floats
from memlib.embedders.minilm import WORD_PIECES, Bundled
from memlib.embedders.protocol import Embedder, embed_named
from memlib.entity_boost import names_in
from memlib.evaluate import (
    BASELINE,
    FEWEST,
    KS,
    leaderboard,
    questions_needed,
    recalls,
    scorer,
    words,
)
from memlib.importance import from_rating
from memlib.progress import progress_bar, watched
from memlib.recency import age_hours

WIDTH = 100  # letters of a line
FEW = 30  # with fewer questions the intervals are wide
POINTS = 2.0  # the difference that one wants to see
EMPTY = "empty"  # the verdict on a method that tells no two cards apart


def evaluation(
    embedder: Embedder,
    cards_file: Path,
    questions_file: Path,
    now: datetime | None = None,
    ks: Sequence[int] = KS,
    csv: Path | None = None,
) -> str:
    """The leaderboard of the ways of scoring on one's own cards and questions, as text.

    now   when every question is asked; None is the current time
    ks    how many cards count; the methods are compared at the last one, if it leaves out a card
    csv   where the recall of every question is written; None is nowhere
    Raises CardError or another ValueError whose one line says which file or option is wrong.
    """
    files = (cards_file, questions_file)
    if csv and csv.resolve() in [file.resolve() for file in files]:
        raise ValueError(f"--csv {csv}: would overwrite what is measured")
    time = now or datetime.now(UTC).replace(microsecond=0)
    cards, exam = load_cards(files[0], time), load_questions(files[1])
    _check_wanted(files, cards, exam)
    asked, texts = list(exam["question"]), list(cards["text"])
    held = names_on(cards["entities"], {})
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], time)
    matters, pinned = from_rating(cards["importance"]), cards["pinned"].to_numpy()
    rows = embed_named(embedder, [f"card {id!r}" for id in cards.index], texts)
    score = scorer(texts, rows, held, hours, matters, pinned)
    ids = [f"question {id!r}" for id in exam.index]
    vectors = dict(zip(asked, embed_named(embedder, ids, asked, "query"), strict=True))
    compared = _compared(ks, len(cards))
    ks = ks if compared in ks else (compared, *ks)
    flat: list[set[str]] = []  # question by question: methods by which all cards are equal
    unmatched: list[bool] = []  # and whether it has no word that stands on a card
    with progress_bar(len(exam), watched(), what="ranking", unit="question") as count:

        def put(question: str) -> dict[str, Floats]:
            scores = score(question, vectors[question])
            flat.append({m for m, x in scores.items() if (x == x[0]).all()})
            unmatched.append(bool(np.isneginf(scores["BM25"]).all()))
            count(1)
            return scores

        found = recalls(exam, cards.index, put, ks)
    if csv:
        _write(csv, exam, found)
    empty = set.intersection(*flat) - {BASELINE} if len(cards) > 1 else set()
    board, needed = leaderboard(found[compared]), _needed(found[compared])
    board["verdict"] = board["verdict"].mask(board.index.isin(empty), EMPTY)
    needed |= dict.fromkeys(empty)
    told = [
        *_told(board, needed, len(exam)),
        f"Limits: {_limits(embedder, [*asked, *texts], texts)}",
    ]
    notes = [*_silent(held, hours, matters), *_unread([*asked, *texts]), *_unsaid(unmatched)]
    if any(held) and not any(names_in(question, set().union(*held)) for question in asked):
        notes.append("no question has a name that a card lists: names move nothing")
    clock = "" if now else " (the current time; --now sets another)"
    lines = [
        f"{_many(exam, 'question')} ({files[1].name}) to {_many(cards, 'card')} ({files[0].name})",
        f"    embedder: {embedder.id}",
        f"    now: {time.isoformat()}{clock}",
        *(f"    note: {note}" for note in notes),
        "",
        "(a) Recall: how many of the wanted cards are among the first k, in percent",
        "",
        _recall_table(found, board.index),
        "",
        f"(b) At k = {compared}, beside {BASELINE}: difference in points and its 95% interval,",
        "    how many questions were answered better, equally well and worse",
        *_why(ks, compared, len(cards)),
        "",
        _board_table(board, needed),
        "",
        *(fill(paragraph, WIDTH) for paragraph in told),
    ]
    return "\n".join(lines)


def _compared(ks: Sequence[int], cards: int) -> int:
    """The k at which methods can differ: the last, else the largest that leaves out a card."""
    if ks[-1] < cards:
        return ks[-1]
    given, usual = ([k for k in some if k < cards] for some in (ks, KS))
    return max(given or usual, default=ks[-1])


def _why(ks: Sequence[int], compared: int, cards: int) -> list[str]:
    if cards == 1:
        return ["    (there is one card: whatever finds a card finds this one)"]
    if compared != ks[-1]:
        return [f"    (not at k = {ks[-1]}: it takes in the whole store, {cards:,} cards)"]
    return ["    (only at the last k: put yours last, as in --k 1,10,3)"] if len(ks) > 1 else []


def _check_wanted(files: Sequence[Path], cards: pd.DataFrame, exam: pd.DataFrame) -> None:
    if exam.empty:
        raise CardError(f"{files[1].name}: no questions, only a header")
    for row, wanted in zip(read_rows(files[1]).index, exam["wanted"], strict=True):
        for name in wanted:
            if name not in cards.index:
                said = f"{files[1].name} row {row}, column 'wanted': {short(name)}"
                todo = ": join ids by ;" if set(name) & set(", |") else ""
                raise CardError(f"{said} is the id of no card in {files[0].name}{todo}")


def _needed(found: pd.DataFrame) -> dict[str, int | None]:
    """Method -> questions until a difference of two points is seen; None if nothing differs."""
    gaps = 100 * found.sub(found[BASELINE], axis=0)
    tell = {name: len(gap) > 1 and bool((gap != 0).any()) for name, gap in gaps.items()}
    return {str(m): questions_needed(gaps[m], POINTS) if tell[m] else None for m in gaps}


def _recall_table(found: Mapping[int, pd.DataFrame], methods: Sequence[str] | pd.Index) -> str:
    percent = {
        f"k={k}": tables.decimals(100 * table[list(methods)].mean().to_numpy(), 1)
        for k, table in found.items()
    }
    return tables.text_table({"method": list(methods), **percent}, left=["method"])


def _board_table(board: pd.DataFrame, needed: Mapping[str, int | None]) -> str:
    measured = [name != BASELINE for name in board.index]
    columns: dict[str, list[str]] = {"method": list(board.index)}
    for name, title in (("recall", "recall"), ("difference", "diff"), ("low", ""), ("high", "")):
        values = tables.decimals(board[name].to_numpy(), 1)
        own = [v if m or name == "recall" else "" for v, m in zip(values, measured, strict=True)]
        columns[title or name] = own
    for name in ("better", "equal", "worse"):
        columns[name] = [str(n) if m else "" for n, m in zip(board[name], measured, strict=True)]
    told = {name: f"{n:,}" if (n := needed[name]) else "-" for name in board.index}
    columns["needed"] = ["" if name == BASELINE else told[name] for name in board.index]
    columns["verdict"] = list(board["verdict"])
    return tables.text_table(columns, left=["method", "verdict"])


def _told(board: pd.DataFrame, needed: Mapping[str, int | None], questions: int) -> list[str]:
    others = board[~board["verdict"].isin(["baseline", EMPTY])]
    noise = others.loc[others["verdict"] == "within noise", "difference"].abs()
    told = [
        f"Better or worse: the interval leaves out 0, and {FEWEST} questions or more differ."
        f" All else is within noise, here {len(noise)} of {len(others)} differences"
        + (f", up to {noise.max():.1f} points." if len(noise) else ".")
        + " With many methods, about one in twenty leaves out 0 by chance alone."
    ]
    if empty := list(board.index[board["verdict"] == EMPTY]):
        told.append(
            f"Empty: no question has a card that scores above another: {', '.join(empty)}."
            " What matched nothing is not found; what is equal is counted as chance would find it."
        )
    known = {name: n for name, n in needed.items() if n}
    if known:
        few, many = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        told.append(
            f"Needed: as many questions of this kind show a true difference of {POINTS:g} points"
            f" (two-sided 5%, power 80%), from {known[few]:,} ({few}) to {known[many]:,} ({many})."
            f" You have {questions:,}. The fewer of them differ, the rougher this guess."
        )
    if len(known) < len(board) - 1:
        told.append(
            "A - under needed: no question is answered differently, or there is only one question"
            f"{', or the method is empty' if empty else ''}, so no number can be told."
        )
    if questions < FEW:
        told.append(
            f"Fewer than {FEW} questions: the intervals are wide. Write more before you choose."
        )
    return told


def _silent(held: Sequence[set[str]], hours: Floats, matters: Floats) -> list[str]:
    """Which parts cannot tell these cards apart."""
    parts = {
        "all cards are of one age: recency moves nothing": np.ptp(hours) == 0,
        "all ratings are equal, or none is given: importance moves nothing": np.ptp(matters) == 0,
        "no card lists entities: names move nothing": not any(held),
    }
    return [note for note, silent in parts.items() if silent]


def _unread(texts: Sequence[str]) -> list[str]:
    """In how many texts BM25 reads words that the English stemmer leaves out."""
    n = sum(words(text) != stem(text) for text in texts)
    said = f"stem is English: what it leaves out of {n:,} of {len(texts):,} texts is cut by unicode"
    return [said] if n else []


def _unsaid(unmatched: Sequence[bool]) -> list[str]:
    """For how many questions BM25 is an empty signal."""
    n, of = sum(unmatched), len(unmatched)
    if n == of:
        return ["no question shares a word with a card: BM25 finds nothing and moves nothing"]
    return (
        [f"{n:,} of {of:,} questions share no word with a card: BM25 finds nothing there"]
        if n
        else []
    )


def _limits(embedder: Embedder, every: Sequence[str], texts: Sequence[str]) -> str:
    lost, cut = "", "A longer text than its model reads is refused by the server."
    if isinstance(embedder, Bundled):
        lost = f"; {sum(embedder.unknown(every))} of {len(every)} texts are mostly unknown to it"
        longer = f"{sum(embedder.truncated(texts))} of {len(texts)} cards are longer"
        cut = f"It reads the first {WORD_PIECES} word pieces of a text; {longer}."
    elif embedder.id == Bundled.id:  # recorded
        cut = f"It read the first {WORD_PIECES} word pieces of a text."
    model = ", and so is the model" if embedder.id == Bundled.id else ""
    return (
        f"stemmer and stop words are English{model}{lost}. {cut} The search is exact, over all"
        " cards, and every question is asked at the one time above."
    )


def _write(file: Path, exam: pd.DataFrame, found: Mapping[int, pd.DataFrame]) -> None:
    """One row a question and k: id, question, k, then the recall of every method."""
    parts = []
    for k, table in found.items():
        parts.append(table.round(6))
        parts[-1].insert(0, "question", exam["question"])
        parts[-1].insert(1, "k", k)
    try:
        pd.concat(parts).to_csv(file, index_label="id", encoding="utf-8", lineterminator="\n")
    except OSError as error:
        raise ValueError(f"{file}: cannot be written: {error.strerror or error}") from None


def _many(table: pd.DataFrame, what: str) -> str:
    return f"{len(table):,} {what}{'s' if len(table) != 1 else ''}"
