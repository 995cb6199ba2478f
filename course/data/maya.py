"""Maya: her cards, her exam, and the moment at which the course takes place."""

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from course.data.files import data_path
from memlib.cards import load_cards, load_questions, read_rows
from memlib.extraction.reply import CATEGORIES, ENTITY_TYPES

COURSE_NOW = datetime(2025, 6, 11, 18, 0, tzinfo=UTC)  # a week before Sam's birthday
PUBLISHED = (
    *("birthday", "vinyl", "pasta", "kids"),
    *("printer", "hiking", "vegetarian", "engineer"),
)
PUBLISHED_QUESTION = "What should I get Sam as a birthday present?"


def maya_cards() -> pd.DataFrame:
    """Maya's cards: `memlib.cards.load_cards` of data/cards.csv, with the course's own lists.

    returns  208 cards, indexed by id; none is later than COURSE_NOW

    >>> maya_cards().loc["birthday", "importance"]
    np.float64(8.0)
    """
    return load_cards(data_path("cards.csv"), COURSE_NOW, CATEGORIES, ENTITY_TYPES)


def published_cards() -> pd.DataFrame:
    """The eight cards of the published experiment, in the published order of relevance.

    returns  the first eight of Maya's cards, same columns
    Source: *Scoring beyond similarity*, tables (a) to (c).

    >>> list(published_cards().index[:2])
    ['birthday', 'vinyl']
    """
    return maya_cards().loc[list(PUBLISHED)]


def load_exam(path: Path | None = None) -> pd.DataFrame:
    """The exam: questions to Maya's assistant and the cards that must reach the top three.

    path     another file of questions; None is data/exam.csv, fixed before any method was run on it
    returns  as `memlib.cards.load_questions`

    >>> load_exam().loc["q01", "wanted"]
    ('birthday', 'vinyl')
    """
    return load_questions(path or data_path("exam.csv"))


def load_practice() -> tuple[pd.DataFrame, list[str]]:
    """Questions to choose a ranking on, as Maya would ask them; the exam stays for judging.

    returns  75 questions as `memlib.cards.load_questions` gives them, with a `kind` each
             (paraphrase, changed, safety, several, direct); and five that no card answers

    >>> questions, unanswered = load_practice()
    >>> len(questions), unanswered[0]
    (75, "What is Karim's phone number?")
    """
    rows = read_rows(data_path("practice.csv"))
    answered = rows["wanted"] != ""
    questions = rows[answered].set_index("id")
    questions["wanted"] = [tuple(wanted.split(";")) for wanted in questions["wanted"]]
    return questions, rows.loc[~answered, "question"].tolist()
