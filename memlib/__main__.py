"""One's own memory in a terminal: `python -m memlib evaluate`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from memlib.embedders.cached import Cached, cache_folder
from memlib.embedders.choose import choose
from memlib.embedders.minilm import Bundled
from memlib.embedders.ollama import Ollama
from memlib.embedders.protocol import Embedder
from memlib.evaluate import KS
from memlib.evaluate_report import evaluation
from memlib.terminal import Parser, chosen, common_options, run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, `evaluate`.

    returns  0, or 2 after one line that says what is wrong
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = Parser("python -m memlib", description="An agent's memory, from the terminal.")
    commands.add_argument("command", choices=["evaluate"], help="which ranking suits your memory")
    commands.parse_args(given[:1])
    return run(partial(evaluate, given[1:]))


def evaluate(
    arguments: Sequence[str],
    choose: Callable[[str], Embedder] = choose,
    known: str = "bundled (default), ollama or ollama:MODEL",
) -> str:
    """The leaderboard of the ways of scoring on one's own memory, for these arguments."""
    own = evaluate_parser(choose, known).parse_args(arguments)
    embedder: Embedder | None = None
    if own.vectors is None:
        embedder = chosen(own.embedder, choose, own.timeout)
        if isinstance(embedder, Bundled | Ollama) and not own.no_cache:
            embedder = Cached(embedder, cache_folder())
    files = own.cards, own.questions, own.now, own.k, own.csv, own.vectors
    return evaluation(embedder, *files, own.embedder)


def _ks(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 7 and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r}: must be whole numbers, 1 or more, like 1,3,10")
    return [int(part) for part in dict.fromkeys(parts)]


def evaluate_parser(choose: Callable[[str], Embedder], known: str) -> Parser:
    """The options of `evaluate`."""
    parser = Parser(
        "python -m memlib evaluate",
        description="Put every way of scoring to your own cards and questions: recall, intervals,"
        " and how many questions a difference of two points needs.",
    )
    common_options(parser, "your cards", known, "bundled", choose, cards_needed=True)
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        help="CSV with the columns id, question, wanted (ids of cards, joined by ;); asked_at (a"
        " time: later cards are not seen) and group may stand there, too",
    )
    ks = ",".join(map(str, KS))
    parser.add_argument(
        "--k",
        type=_ks,
        default=list(KS),
        help=f"how many cards count, default {ks}; the methods are compared at the last one"
        " that leaves out a card",
    )
    parser.add_argument(
        "--vectors",
        type=Path,
        help="an .npz with vectors of your own, `cards` and `questions`, rows in file order",
    )
    again = "embed every text again; else vectors are kept in MEMLIB_CACHE or ~/.cache/memlib"
    parser.add_argument("--no-cache", action="store_true", help=again)
    parser.add_argument("--csv", type=Path, help="write the recall of every question into this")
    return parser


if __name__ == "__main__":
    sys.exit(main())
