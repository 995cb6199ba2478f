"""Measure fusion on LoCoMo, write what was found, say whether it differs: `make locomo`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from course.data.dialogue import VARIANTS, Conversation
from course.data.fetch import DataUnavailable, cache_folder
from course.data.files import data_path
from course.data.locomo import load_locomo
from course.data.recorded import choose
from course.data.turn_vectors import cached_vectors
from course.measure.experiment import KS, METHODS, READINGS, measure_recalls, measure_signals
from course.measure.experiment import method_row as row
from course.measure.remeasure import FILE, compared, noted
from memlib.bm25 import TOKENIZERS
from memlib.checks import Floats
from memlib.embedders.protocol import Embedder, EmbedderUnavailable, Vectors
from memlib.entity_boost import names_in
from memlib.evaluation import paired_bootstrap, signs_by_group
from memlib.progress import progress
from memlib.similarity import cosine_of_units

Line = tuple[object, ...]
Splits = Sequence[Sequence[Conversation]]
Embedded = Mapping[str, tuple[Vectors, Vectors]]  # conversation -> vectors of turns, of questions

SPLITS = ("development", "held-out")
WORDS = tuple(name for name in TOKENIZERS if name not in ("unicode", "words"))
FUSION = "fusion on LoCoMo"  # what FILES hold, where the processor is noted
FILES = ("locomo_results.csv", "locomo_contrasts.csv", "locomo_facts.csv")
SETTING = ("text_variant", "tokenizer", "entity")
METHOD = ("method", "w_dense", "w_bm25", "w_entity")
RESULT_COLUMNS = (*SETTING, *METHOD, "split", "k", "recall", "n")
CONTRAST_COLUMNS = (
    *(*SETTING, "split", "k", "first", "second", "chosen"),
    *("difference", "low", "high", "better", "equal", "worse", "n"),
)
FACT_COLUMNS = ("fact", "split", "text_variant", "value", "n")
NAMED = {  # methods that the contrasts compare, by the name that a reader meets
    "dense alone": row("minmax", 1, 0, 0),
    "nearly equal 0.4/0.3/0.3": row("minmax", 0.4, 0.3, 0.3),
    "0.8/0.2/0": row("minmax", 0.8, 0.2, 0),
    "0.8/0.1/0.1": row("minmax", 0.8, 0.1, 0.1),
    "RRF of two": row("rrf2"),
    "RRF of three": row("rrf3"),
}
CHOSEN = "chosen on development"
PAIRS = (  # (first, second): the contrast is second - first
    ("dense alone", "0.8/0.1/0.1"),
    ("nearly equal 0.4/0.3/0.3", "0.8/0.1/0.1"),
    ("0.8/0.2/0", "0.8/0.1/0.1"),
    ("dense alone", "0.8/0.2/0"),
    ("dense alone", "RRF of two"),
    ("dense alone", "RRF of three"),
    ("0.8/0.1/0.1", "RRF of three"),
    ("dense alone", CHOSEN),
    ("0.8/0.1/0.1", CHOSEN),
)


class Measured(NamedTuple):
    """The three tables that are committed."""

    results: pd.DataFrame
    contrasts: pd.DataFrame
    facts: pd.DataFrame


def measure(splits: Splits, embedder: Embedder, folder: Path | None = None) -> Measured:
    """Every text, tokenizer, reading, weighting and k, on development and held-out.

    splits  development and held-out conversations
    folder  where vectors are kept between runs; None keeps nothing
    """
    results: list[Line] = []
    contrasts: list[Line] = []
    facts = list(_facts(splits))
    every = [c for split in splits for c in split]
    for variant in VARIANTS:
        steps = progress(every, f"vectors of {variant}")
        vectors = {c.id: cached_vectors(c, variant, embedder, folder) for c in steps}
        facts += _speaker_shares(splits, vectors, variant)
        settings = list(product([variant], WORDS, READINGS))
        for setting in progress(settings, f"recalls on {variant}"):
            recalls = [
                [measure_recalls(measure_signals(c, *vectors[c.id], *setting)) for c in split]
                for split in splits
            ]
            results += _result_rows(setting, recalls)
            contrasts += _contrast_rows(setting, recalls)
    return Measured(
        pd.DataFrame(results, columns=RESULT_COLUMNS),
        pd.DataFrame(contrasts, columns=CONTRAST_COLUMNS),
        pd.DataFrame(facts, columns=FACT_COLUMNS),
    )


def committed() -> Measured:
    """The measurements that the course tells of."""
    return Measured(*(pd.read_csv(data_path(name), encoding="utf-8") for name in FILES))


def largest_difference(new: Measured, old: Measured) -> float:
    """Largest difference between recalls, in points; infinite if other rows were measured."""
    keys = [name for name in RESULT_COLUMNS if name != "recall"]
    if not new.results[keys].equals(old.results[keys]):
        return float("inf")
    return float((new.results["recall"] - old.results["recall"]).abs().max())


def _result_rows(setting: Line, recalls: Sequence[Sequence[Floats]]) -> Iterator[Line]:
    for split, by_conversation in zip(SPLITS, recalls, strict=True):
        found = np.concatenate(by_conversation)
        for method, means in zip(METHODS, found.mean(axis=0).round(2), strict=True):
            for k, recall in zip(KS, means.tolist(), strict=True):
                yield (*setting, *method, split, k, recall, len(found))


def _contrast_rows(setting: Line, recalls: Sequence[Sequence[Floats]]) -> Iterator[Line]:
    weighted = [i for i, method in enumerate(METHODS) if method[0] == "minmax"]
    best = np.concatenate(recalls[0]).mean(axis=0)[weighted].argmax(axis=0)  # one a k
    for split, by_conversation in zip(SPLITS, recalls, strict=True):
        found = np.concatenate(by_conversation)
        groups = [i for i, part in enumerate(by_conversation) for _ in part]
        for j, k in enumerate(KS):
            chosen = weighted[best[j]]
            rows = NAMED | {CHOSEN: chosen}
            for pair in PAIRS:
                a, b = (found[:, rows[name], j] for name in pair)
                spread = [round(value, 2) for value in paired_bootstrap(a, b)]
                signs = signs_by_group(a, b, groups)
                told = "/".join(f"{w:g}" for w in METHODS[chosen][1:]) if CHOSEN in pair else ""
                yield (*setting, split, k, *pair, told, *spread, *signs, len(found))


def _facts(splits: Splits) -> Iterator[Line]:
    for name, split in zip(SPLITS, splits, strict=True):
        questions = [question for c in split for question in c.questions]
        naming = [
            turn.speaker not in said
            for c in split
            for turn in c.turns
            if (said := names_in(turn.text, c.speakers))
        ]
        counts = {
            "conversations": len(split),
            "turns": sum(len(c.turns) for c in split),
            "questions": len(questions),
            "questions with evidence": sum(bool(q.evidence) for q in questions),
            "evidence that leads to no turn": sum(len(q.dropped) for q in questions),
        }
        yield from ((fact, name, "", value, value) for fact, value in counts.items())
        yield "turns naming a speaker that address the other", name, "t", *_share(naming)


def _speaker_shares(splits: Splits, vectors: Embedded, variant: str) -> Iterator[Line]:
    """How much of the dense top ten was said by the one person whom a question names."""
    for name, split in zip(SPLITS, splits, strict=True):
        shares = []
        for c in split:
            turns, questions = vectors[c.id]
            said = np.array([turn.speaker for turn in c.turns])
            for question, vector in zip(c.questions, questions, strict=True):
                asked = names_in(question.text, c.speakers)
                if question.evidence and len(asked) == 1:
                    top = np.argsort(-cosine_of_units(vector, turns), kind="stable")[:10]
                    shares.append(float(np.mean(said[top] == asked[0])))
        yield "top ten said by the person asked about", name, variant, *_share(shares)


def _share(values: Sequence[float]) -> tuple[float, int]:
    """Mean in percent and how many there are; no values are 0 percent."""
    return round(100 * float(np.mean(values)), 1) if values else 0.0, len(values)


def as_csv(table: pd.DataFrame) -> str:
    """A table as it is committed."""
    return table.to_csv(index=False, lineterminator="\n")


def write(names: Sequence[str], tables: Sequence[pd.DataFrame]) -> None:
    """Put tables in the place of files of data/, each replaced whole."""
    for name, table in zip(names, tables, strict=True):
        target = data_path("cards.csv").with_name(name)
        unfinished = target.with_suffix(".part")
        unfinished.write_text(as_csv(table), encoding="utf-8", newline="\n")
        unfinished.replace(target)


def _told(found: Measured) -> str:
    """Whether anything differs from what is committed."""
    try:
        old = committed()
    except (FileNotFoundError, pd.errors.EmptyDataError, pd.errors.ParserError):
        return "nothing that can be compared was committed before"
    pairs = zip(FILES, found, old, strict=True)
    differ = [name for name, new, was in pairs if as_csv(new) != as_csv(was)]
    change = f"recall by up to {largest_difference(found, old):.2f} points"
    return f"{', '.join(differ)} changed: {change}" if differ else "nothing differs"


def main() -> int:
    """Measure, write the three files into data/, and say whether anything differs, and where."""
    try:
        found = measure(load_locomo(), choose("bundled"), cache_folder())
        told, (stay, where) = _told(found), compared(FUSION, FILES, found)
        if not stay:
            write((*FILES, FILE), (*found, noted(FUSION)))
    except (DataUnavailable, EmbedderUnavailable, OSError) as error:
        print(f"make locomo: {error}", file=sys.stderr)
        return 2
    counts = found.facts.groupby("fact", sort=False)["value"].sum().astype(int)
    asked, held = counts["questions"], counts["questions with evidence"]
    print(
        f"{len(found.results):,} rows on {held:,} of {asked:,} questions, {asked - held} have no"
        f" evidence, {counts['evidence that leads to no turn']} pieces lead to no turn; {told}\n"
        f"{where}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
