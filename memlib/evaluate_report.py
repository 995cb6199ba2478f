"""The ways of scoring on one's own cards and questions, as text: `python -m memlib evaluate`."""

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd

from memlib import tables
from memlib.cards import CardError, names_on
from memlib.checks import Floats
from memlib.embedders.cached import Cached
from memlib.embedders.minilm import WORD_PIECES, Bundled
from memlib.embedders.protocol import Embedder, Vectors, embed_named
from memlib.entity_boost import names_in
from memlib.evaluate import (
    BASELINE,
    FEWEST,
    KS,
    METHODS,
    for_texts,
    leaderboard,
    questions_needed,
    recalls,
    scorer,
    unread,
)
from memlib.evaluate_files import Memory, read_memory, read_questions, read_vectors
from memlib.importance import from_rating
from memlib.librarian import _units
from memlib.progress import progress_bar, watched
from memlib.recency import age_hours
from memlib.retrieval import Ranking, ranking_code
from memlib.server import canonical

WIDTH = 100  # letters of a line
FEW = 30  # with fewer questions the intervals are wide
POINTS = 2.0  # the difference that one wants to see
EMPTY = "empty"  # the verdict on a method that tells no two cards apart


def evaluation(
    embedder: Embedder | None,
    cards_file: Path,
    questions_file: Path,
    now: datetime | None = None,
    ks: Sequence[int] = KS,
    csv: Path | None = None,
    vectors_file: Path | None = None,
    name: str = "bundled",
) -> str:
    """The leaderboard of the ways of ranking on one's own cards and questions, and what to use.

    embedder  None only with a vectors_file
    now       when a question is asked that does not say when; None is the current time
    ks        how many cards count; compared is at the last one, if it leaves out a card
    csv       where the recall of every question is written; None is nowhere
    name      by which `choose` knows the embedder
    Raises CardError or another ValueError whose one line says which file or option is wrong.
    """
    files = (cards_file, questions_file, *([vectors_file] if vectors_file else []))
    if csv and csv.exists() and any(file.exists() and csv.samefile(file) for file in files):
        raise ValueError(f"--csv {csv}: would overwrite what is measured")
    time = now or datetime.now(UTC).replace(microsecond=0)
    memory = read_memory(cards_file, time)
    cards = memory.cards
    exam = read_questions(questions_file, cards, cards_file, time)
    asked, texts = list(exam["question"]), list(cards["text"])
    if vectors_file:
        (rows, queries), name = read_vectors(vectors_file, len(cards), len(exam)), ""
    else:
        rows, queries = _embedded(embedder, memory, exam, cards_file)
    methods = for_texts(METHODS, [*asked, *texts])
    compared = _compared(ks, len(cards))
    ks = ks if compared in ks else (compared, *ks)
    score = scorer(cards, rows, methods, max(ks))
    of_question = dict(zip(exam.index, zip(queries, exam["asked_at"], strict=True), strict=True))
    flat: list[set[str]] = []  # question by question: methods by which all cards are equal
    unmatched: list[bool] = []  # and whether it has no word that stands on a card
    with progress_bar(len(exam), watched(), what="ranking", unit="question") as count:

        def put(id: Hashable) -> dict[str, Floats]:
            query, asked_at = of_question[id]
            scores = score(str(exam.at[id, "question"]), query, asked_at)
            flat.append({m for m, x in scores.items() if (x == x[0]).all()})
            unmatched.append(bool(np.isneginf(scores["BM25"]).all()))
            count(1)
            return scores

        found = recalls(exam.assign(question=exam.index), cards.index, put, ks)
    if csv:
        _write(csv, exam, found)
    empty = set.intersection(*flat) - {BASELINE} if len(cards) > 1 else set()
    smaller = [found[k] for k in sorted(found, reverse=True) if k < compared]
    groups = list(exam["group"]) if exam["group"].nunique() > 1 else None
    unit = "group" if groups else "question"
    board = leaderboard(found[compared], BASELINE, smaller, groups)
    needed = _needed(found[compared], groups)
    board["verdict"] = board["verdict"].mask(board.index.isin(empty), EMPTY)
    needed |= dict.fromkeys(empty)
    times = exam["asked_at"].nunique() > 1
    model = "bundled" if embedder and embedder.id == Bundled.id else name
    told = [
        *_told(board, needed, exam["group"].nunique() if groups else len(exam), unit),
        f"Limits: {_limits(embedder, [*asked, *texts], texts, times)}",
    ]
    clock = "" if now else " (the current time; --now sets another)"
    lines = [
        f"{_many(exam, 'question')} ({files[1].name}) to {_many(cards, 'card')} ({files[0].name})",
        f"    embedder: {_whose(embedder, memory, vectors_file)}",
        f"    now: {time.isoformat()}{clock}",
        *(f"    note: {note}" for note in _notes(memory, exam, time, methods, unmatched)),
        "",
        "(a) Recall: how many of the wanted cards are among the first k, in percent",
        "",
        _recall_table(found, board.index),
        "",
        f"(b) At k = {compared}, beside {BASELINE}: difference in points and its 95% interval,",
        f"    how many {unit}s were answered better, equally well and worse",
        *_why(ks, compared, len(cards)),
        "",
        _board_table(board, needed),
        "",
        *(fill(paragraph, WIDTH) for paragraph in told),
        "",
        *(fill(sentence, WIDTH) for sentence in advice(board, found[compared], groups)),
        "",
        paste(methods[chosen(board)], model, cards_file if memory.embedder_id else None),
    ]
    return "\n".join(lines)


def chosen(board: pd.DataFrame) -> str:
    """The method to use: the best of those that are better than the baseline, else the baseline.

    board  as `leaderboard` gives it, beside the baseline
    """
    better = board.index[board["verdict"] == "better"]
    return str(better[0]) if len(better) else BASELINE


def advice(
    board: pd.DataFrame, found: pd.DataFrame, groups: Sequence[Hashable] | None = None
) -> list[str]:
    """What to use, and what speaks for it, in sentences.

    board  as `leaderboard` gives it;  found  the recalls that it is made of;  groups  its own
    """
    if groups is not None and len(set(groups)) < FEWEST:
        return [
            f"Use {BASELINE}, the simplest: {len(set(groups))} groups are too few to tell, whatever"
            " the number of questions."
        ]
    name, of = chosen(board), board.loc[chosen(board)]
    differ = board.loc[board["verdict"] != EMPTY, ["better", "worse"]].sum(axis=1)
    if name == BASELINE and differ.max() < FEWEST:
        return [
            f"Use {BASELINE}, the simplest: fewer than {FEWEST} of your questions are answered"
            " differently by any other way, so they cannot tell which is better."
        ]
    if name == BASELINE:
        return [f"Use {BASELINE}: nothing beat it beyond noise."]
    others = [m for m in board.index[board["verdict"] == "better"] if m != name]
    beyond = leaderboard(found, name, groups=groups)
    above = beyond.index[beyond["verdict"] == "better"].tolist()
    told = [
        f"Use {name}: it beat {BASELINE} beyond noise, by {of['difference']:.1f} points"
        f" ({of['low']:.1f} to {of['high']:.1f}), and"
        + (f" was itself beaten by {', '.join(above)}." if above else " nothing beat it.")
    ]
    if others:
        told.append(f"Better than {BASELINE}, too: {', '.join(others)}.")
    return told


def paste(ranking: Ranking, name: str, store: Path | None) -> str:
    """Lines of Python that make a librarian with this ranking.

    name   by which `choose` knows the embedder; "" for one of the caller's own
    store  the store's file; None: another name is to be filled in
    """
    weights = {"RelevanceWeights": "four_part_relevance", "FinalWeights": "ranking"}
    code = ranking_code(ranking).rstrip()
    imports = [f"from memlib.{module} import {w}\n" for w, module in weights.items() if w in code]
    model = f"choose({name!r})" if name else "embedder"
    own = "" if name else "  # the embedder that made your vectors"
    return (
        f"from memlib import Librarian, Ranking, Store{', choose' if name else ''}\n"
        f"{''.join(imports)}\nranking = {code}\n"
        f"librarian = Librarian(Store({str(store or 'cards.db')!r}), {model}, ranking){own}"
    )


def _embedded(
    embedder: Embedder | None, memory: Memory, exam: pd.DataFrame, file: Path
) -> tuple[Vectors, Vectors]:
    """Vectors of cards and questions; a store brings its own, if they are of this model."""
    if embedder is None:
        raise ValueError("embedder is None: without one, vectors are needed")
    rows = memory.vectors
    if rows is None:
        ids = [f"card {id!r}" for id in memory.cards.index]
        rows = embed_named(embedder, ids, list(memory.cards["text"]))
    elif memory.embedder_id not in (embedder.id, canonical(embedder.id)):
        said = f"its vectors come from {memory.embedder_id}, --embedder is {embedder.id}"
        raise CardError(f"{file.name}: {said}: name the same one, or `reembed` the store")
    else:
        rows = _units(rows)
    ids = [f"question {id!r}" for id in exam.index]
    return rows, embed_named(embedder, ids, list(exam["question"]), "query")


def _whose(embedder: Embedder | None, memory: Memory, vectors: Path | None) -> str:
    if vectors or embedder is None:
        return f"yours, from {vectors.name if vectors else ''}"
    return f"{embedder.id}{', of the store' if memory.embedder_id else ''}"


def _notes(
    memory: Memory,
    exam: pd.DataFrame,
    time: datetime,
    methods: Mapping[str, Ranking],
    unmatched: Sequence[bool],
) -> list[str]:
    """What these cards and questions do not let one see."""
    cards, notes, asked = memory.cards, [], list(exam["question"])
    held = names_on(cards["entities"], {})
    hours = age_hours(cards["created_at"], cards["last_accessed_at"], time)
    if memory.forgotten:
        notes.append(f"{memory.forgotten:,} forgotten cards are left out")
    if (groups := exam["group"].nunique()) > 1:
        notes.append(f"the questions are of {groups:,} groups, which count one each")
    notes += [*_silent(held, hours, from_rating(cards["importance"]))]
    notes += [*_unread([*asked, *cards["text"]], methods["BM25"]), *_unsaid(unmatched)]
    if any(held) and not any(names_in(question, set().union(*held)) for question in asked):
        notes.append("no question has a name that a card lists: names move nothing")
    return notes


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


def _needed(found: pd.DataFrame, groups: Sequence[Hashable] | None) -> dict[str, int | None]:
    """Method -> questions, or groups, until a difference of two points is seen; None: of none."""
    gaps = 100 * found.sub(found[BASELINE], axis=0)
    if groups is not None:
        gaps = gaps.groupby(list(groups), sort=False).mean()
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


def _told(
    board: pd.DataFrame, needed: Mapping[str, int | None], many_asked: int, unit: str
) -> list[str]:
    others = board[~board["verdict"].isin(["baseline", EMPTY])]
    noise = others.loc[others["verdict"] == "within noise", "difference"].abs()
    rule = f"and {FEWEST} questions or more differ"
    if unit == "group":
        rule = "in all groups but at most one the sign is the same"
    told = [
        f"Better or worse: the interval leaves out 0, {rule}."
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
            f"Needed: as many {unit}s of this kind show a true difference of {POINTS:g} points"
            f" (two-sided 5%, power 80%), from {known[few]:,} ({few}) to {known[many]:,} ({many})."
            f" You have {many_asked:,}. The fewer of them differ, the rougher this guess."
        )
    if len(known) < len(board) - 1:
        told.append(
            "A - under needed: no question is answered differently, or there is only one question"
            f"{', or the method is empty' if empty else ''}, so no number can be told."
        )
    if unit == "question" and many_asked < FEW:
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


def _unread(texts: Sequence[str], by_words: Ranking) -> list[str]:
    """In how many texts the English stemmer leaves words out."""
    n = sum(unread(texts))
    instead = ": words of every script are read instead" if by_words.tokenizer == "words" else ""
    said = f"stem is English and leaves words of {n:,} of {len(texts):,} texts out{instead}"
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


def _limits(
    embedder: Embedder | None, every: Sequence[str], texts: Sequence[str], times: bool
) -> str:
    lost, cut = "", "A longer text than its model reads is refused by the server. "
    model = embedder.embedder if isinstance(embedder, Cached) else embedder
    if isinstance(model, Bundled):
        lost = f"; {sum(model.unknown(every))} of {len(every)} texts are mostly unknown to it"
        longer = f"{sum(model.truncated(texts))} of {len(texts)} cards are longer"
        cut = f"It reads the first {WORD_PIECES} word pieces of a text; {longer}. "
    elif model is None:
        cut = ""
    elif model.id == Bundled.id:  # recorded
        cut = f"It read the first {WORD_PIECES} word pieces of a text. "
    english = ", and so is the model" if model and model.id == Bundled.id else ""
    when = "at its own time" if times else "at the one time above"
    return (
        f"stemmer and stop words are English{english}{lost}. {cut}The search is exact, over all"
        f" cards, and every question is asked {when}."
    )


def _write(file: Path, exam: pd.DataFrame, found: Mapping[int, pd.DataFrame]) -> None:
    """One row a question and k: id, question, k, then the recall of every method."""
    parts = []
    for k, table in found.items():
        parts.append(table.round(6))
        parts[-1].insert(0, "question", exam["question"])
        parts[-1].insert(1, "k", k)
        if exam["group"].any():
            parts[-1].insert(2, "group", exam["group"])
    try:
        pd.concat(parts).to_csv(file, index_label="id", encoding="utf-8", lineterminator="\n")
    except OSError as error:
        raise ValueError(f"{file}: cannot be written: {error.strerror or error}") from None


def _many(table: pd.DataFrame, what: str) -> str:
    return f"{len(table):,} {what}{'s' if len(table) != 1 else ''}"
