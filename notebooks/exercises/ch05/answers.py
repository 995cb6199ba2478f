"""Chapter 05's tasks: references, inputs, misconceptions."""

import math
import random
import re
from collections import Counter

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.bm25": (),
    "memlib.retrieval": ("features",),
    "course.measure.experiment": ("measure_signals",),
    "rank_bm25": (),
    "bm25s": (),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "idf": ("memlib.bm25:BM25.__init__", "rank_bm25:BM25Okapi"),
    "saturate": ("memlib.bm25:saturate", "memlib.retrieval:features"),
    "term_score": ("memlib.bm25:BM25.scores", "rank_bm25:BM25Okapi", "bm25s:BM25"),
    "tokenize": ("memlib.bm25:regex", "bm25s:tokenize"),
    "bm25_scores": (
        "memlib.bm25:BM25.scores",
        "course.measure.experiment:measure_signals",
        "rank_bm25:BM25Okapi",
        "bm25s:BM25",
    ),
}


# --- idf ---------------------------------------------------------------------------------------
def idf(n_docs, df):
    if n_docs < 1 or not 0 <= df <= n_docs:
        raise ValueError(f"{df} of {n_docs} cards")
    return math.log((n_docs - df + 0.5) / (df + 0.5))


def idf_by_difference(n_docs, df):
    if n_docs <= 0 or df < 0 or df > n_docs:
        raise ValueError("impossible counts")
    return math.log(n_docs - df + 0.5) - math.log(df + 0.5)


def idf_of_odds(n_docs, df):
    without = n_docs - df
    if min(df, without) < 0 or n_docs == 0:
        raise ValueError("impossible counts")
    return -math.log((2 * df + 1) / (2 * without + 1))


def _counted(worth):
    """A wrong worth with the reference's guards: the idea alone is wrong."""

    def guarded(n_docs, df):
        if n_docs < 1 or not 0 <= df <= n_docs:
            raise ValueError("impossible counts")
        return worth(n_docs, df)

    return guarded


def no_guard_for_counts(n_docs, df):
    return math.log(max(n_docs - df, 0) + 0.5) - math.log(max(df, 0) + 0.5)


def _counts(rng: random.Random):
    cases = []
    for _ in range(10):
        n = rng.randint(20, 5000)
        cases.append((n, rng.randint(1, n)))
    n = rng.randint(3, 200)
    cases += [(2 * n, n), (n, 0), (n, n), (1, 1), (208, 60)]
    return [*cases, (n, n + rng.randint(1, 9)), (n, -1), (0, 0)]


# --- saturate ----------------------------------------------------------------------------------
def saturate(scores, k_norm):
    if k_norm <= 0 or any(score < 0 for score in scores):
        raise ValueError("scores are 0 or more, k_norm above 0")
    return [score / (score + k_norm) for score in scores]


def saturate_from_above(scores, k_norm):
    if k_norm <= 0 or min(scores, default=0) < 0:
        raise ValueError("out of range")
    return [1 - k_norm / (score + k_norm) for score in scores]


def saturate_in_a_loop(scores, k_norm):
    if not k_norm > 0:
        raise ValueError(k_norm)
    result = []
    for score in scores:
        if score < 0:
            raise ValueError(score)
        result.append(0.0 if score == 0 else 1 / (1 + k_norm / score))
    return result


def _roofed(scale):
    def guarded(scores, k_norm):
        if k_norm <= 0 or any(score < 0 for score in scores):
            raise ValueError("out of range")
        return scale(scores, k_norm)

    return guarded


def _min_max(scores, k_norm):
    low, high = min(scores, default=0), max(scores, default=0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def lets_negatives_through(scores, k_norm):
    if k_norm <= 0:
        raise ValueError("out of range")
    return [max(score, 0.0) / (max(score, 0.0) + k_norm) for score in scores]


def _score_lists(rng: random.Random):
    cases = [
        ([rng.uniform(0, 12) for _ in range(rng.randint(2, 7))], rng.choice([0.5, 1.5, 2, 4]))
        for _ in range(9)
    ]
    level = rng.uniform(0.5, 6)
    cases += [([], 2), ([level], level), ([0, 0.0], 2), ([level, 1e6], 2), ([level], 0.5)]
    invalid = [([level, -0.27], 2), ([-0.27, level], 2), ([level], 0), ([level], -level)]
    return [*cases, *invalid]


# --- term_score --------------------------------------------------------------------------------
def term_score(tf, length, mean_length, idf, k1, b):
    if tf < 0 or not 0 <= b <= 1:
        raise ValueError("tf is 0 or more, b from 0 to 1")
    if tf == 0:
        return 0.0
    return idf * tf / (tf + k1 * (1 - b + b * length / mean_length))


def term_score_by_ratio(tf, length, mean_length, idf, k1, b):
    if tf < 0 or b < 0 or b > 1:
        raise ValueError("out of range")
    pull = k1 * ((1 - b) * mean_length + b * length) / mean_length
    return idf / (1 + pull / tf) if tf else 0.0


def term_score_by_loss(tf, length, mean_length, idf, k1, b):
    if min(tf, b, 1 - b) < 0:
        raise ValueError("out of range")
    if not tf:
        return 0.0
    relative = length / mean_length - 1
    missing = k1 + k1 * b * relative
    return idf - idf * missing / (tf + missing)


def _weighed(share):
    """The worth times a wrong share, with every guard of the reference right."""

    def scored(tf, length, mean_length, idf, k1, b):
        if tf < 0 or not 0 <= b <= 1:
            raise ValueError("out of range")
        return idf * share(tf, length / mean_length, k1, b) if tf else 0.0

    return scored


def _without_mean(tf, length, mean_length, idf, k1, b):
    return term_score(tf, length, 1, idf, k1, b)


def _without_idf(tf, length, mean_length, idf, k1, b):
    return term_score(tf, length, mean_length, 1.0, k1, b)


def _terms(rng: random.Random):
    cases = []
    for _ in range(9):
        mean = rng.uniform(6, 15)
        length, worth = rng.randint(3, 40), rng.uniform(0.5, 5)
        k1, b = rng.uniform(0.4, 2.5), rng.uniform(0.1, 0.9)
        cases.append((rng.randint(1, 6), length, mean, worth, k1, b))
    worth, length = rng.uniform(1, 5), rng.randint(11, 30)
    cases += [
        (2, length, 10.0, worth, 1.5, 0.75),
        (2, length, 10.0, worth, 1.5, 0),
        (2, length, 10.0, worth, 1.5, 1),
        (3, length, 10.0, worth, 0, 0.75),
        (0, length, 10.0, worth, 0, 0.75),
        (0, length, 10.0, worth, 1.5, 0.75),
    ]
    invalid = [(-1, 0.75), (1, 1.2), (1, -0.2)]
    return [*cases, *((tf, length, 10.0, worth, 1.5, b) for tf, b in invalid)]


# --- tokenize ----------------------------------------------------------------------------------
def tokenize(text):
    bare = re.sub(r"(?<=[a-z0-9])['’]s(?![a-z0-9])", " ", text.lower())
    return re.findall(r"[a-z0-9]+", bare)


def tokenize_word_by_word(text):
    pieces = re.findall(r"([a-z0-9]+)(?:['’]s(?![a-z0-9]))?", text.lower())
    return [piece for piece in pieces if piece]


def tokenize_letter_by_letter(text):
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    text, tokens, token, i = text.lower() + "  ", [], "", 0
    while i < len(text) - 1:
        if text[i] in letters:
            token += text[i]
        else:
            ends = i + 2 >= len(text) or text[i + 2] not in letters
            if token and text[i] in "'’" and text[i + 1] == "s" and ends:
                i += 1
            tokens += [token] if token else []
            token = ""
        i += 1
    return tokens


def _keeps_the_s(text):
    return re.findall("[a-z0-9]+", text.lower())


def _glues(text):
    return re.findall("[a-z0-9]+", re.sub("['’]", "", text.lower()))


def _drops_every_s(text):
    return [word for word in re.findall("[a-z0-9]+", text.lower()) if word != "s"]


def _white_space(text):
    return re.sub("['’]s(?![a-z0-9])", "", text.lower()).split()


def _keeps_case(text):
    return re.findall("[A-Za-z0-9]+", re.sub("(?<=[A-Za-z0-9])['’]s(?![A-Za-z0-9])", " ", text))


def _no_digits(text):
    return [word for word in tokenize(text) if not word.isdigit()]


def _straight_only(text):
    bare = re.sub("(?<=[a-z0-9])'s(?![a-z0-9])", " ", text.lower())
    return re.findall("[a-z0-9]+", bare)


def _every_apostrophe_s(text):
    return re.findall("[a-z0-9]+", re.sub("['’]s", " ", text.lower()))


def _unique(text):
    return list(dict.fromkeys(tokenize(text)))


def _texts(rng: random.Random):
    names = ["Sam", "Maya", "Nina", "Leela", "Theo", "Miso"]
    things = ["cat", "boots", "jazz", "printer", "rent", "wrist"]

    def draw():
        one, other = rng.choice(names), rng.choice(names)
        return (
            f"{one}'s {rng.choice(things)} and {other}’s {rng.choice(things)}, "
            f"room {rng.randint(2, 99)}: size s for {one}."
        )

    texts = [draw() for _ in range(9)]
    day = rng.randint(1, 28)
    edges = ["", "  ", "?!", "SAM", "o'clock, l'Orillon", f"On March {day}.", "the kids' room"]
    more = [
        "5's a crowd, 0's none: o's5, o's0",
        "Sam's",
        "'s",
        "it's Sam's, isn't it?",
        "caf\u00e9 d'sel 47B19",
        f"Nina’s {day}-{day}",
    ]
    return [(text,) for text in [*texts, *edges, *more]]


# --- bm25_scores -------------------------------------------------------------------------------
def bm25_scores(documents, question):
    if not documents or isinstance(question, str):
        raise ValueError("needs cards, and a question cut into tokens")
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for card in documents:
        score = 0.0
        for word in question:
            df = sum(word in other for other in documents)
            worth = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
            score += term_score(card.count(word), len(card), mean, worth, 1.5, 0.75)
        scores.append(score)
    return scores


def bm25_scores_with_counters(documents, question):
    if isinstance(question, str) or len(documents) == 0:
        raise ValueError("needs cards and tokens")
    n, mean = len(documents), sum(len(d) for d in documents) / len(documents)
    df = Counter(word for document in documents for word in set(document))
    totals = [0.0] * n
    for row, document in enumerate(documents):
        counts = Counter(document)
        bend = 1.5 * (0.25 + 0.75 * len(document) / mean)
        for word, times in Counter(question).items():
            if counts[word]:
                worth = math.log((n + 1) / (df[word] + 0.5))
                totals[row] += times * worth * counts[word] / (counts[word] + bend)
    return totals


def bm25_scores_word_by_word(documents, question):
    if isinstance(question, str):
        raise ValueError("a text")
    if not documents:
        raise ValueError("no cards")
    size = len(documents)
    total_length = sum(len(card) for card in documents)
    result = [0.0 for _ in documents]
    for word in question:
        holders = [row for row in range(size) if word in documents[row]]
        worth = math.log1p((size - len(holders) + 0.5) / (len(holders) + 0.5))
        for row in holders:
            tf = documents[row].count(word)
            relative = len(documents[row]) * size / total_length
            result[row] += worth * tf / (tf + 0.375 + 1.125 * relative)
    return result


def _scored(change=None, worth=None, share=None, df_of=None):
    """The reference with one idea changed: the question, the worth, the share or the df."""

    def scores(documents, question):
        if not documents or isinstance(question, str):
            raise ValueError("needs cards and tokens")
        n, mean = len(documents), sum(map(len, documents)) / len(documents)
        words = change(question) if change else question
        totals = []
        for card in documents:
            total = 0.0
            for word in words:
                tf = card.count(word)
                df = (df_of or _holders)(word, documents)
                value = (worth or _lucene)(n, df)
                part = (share or _share)(tf, len(card) / mean)
                total += value * part if tf else 0.0
            totals.append(total)
        return totals

    return scores


def _holders(word, documents):
    return sum(word in card for card in documents)


def _lucene(n, df):
    return math.log(1 + max(n - df + 0.5, 0.0) / (df + 0.5))


def _share(tf, relative):
    return tf / (tf + 1.5 * (0.25 + 0.75 * relative))


def _occurrences(word, documents):
    return sum(card.count(word) for card in documents)


def _letters_accepted(documents, question):
    if not documents:
        raise ValueError("no cards")
    return bm25_scores(documents, list(question))


def _boxes(rng: random.Random):
    words = ["the", "cat", "rent", "sam", "miso", "ink", "jazz", "boots", "paris"]

    def box(n):
        often = [6, 3, 2, 3, 1, 1, 1, 2, 1]
        return [rng.choices(words, often, k=rng.randint(2, 14)) for _ in range(n)]

    cases = [(box(rng.randint(4, 9)), rng.sample(words, rng.randint(1, 4))) for _ in range(8)]
    cases += [
        ([["cat", "cat", "the"], ["cat"], ["rent", "the"], *box(3)], ["cat", "the", "cat"]),
        (box(5), ["sam", "sam", "feline"]),
        (box(4), []),
        ([["cat"]], ["cat"]),
        ([["cat"], [], ["rent", "rose"]], ["cat"]),
    ]
    letters = [["a", "cat"], ["c", "t"], *box(2)]
    return [*cases, ([], ["cat"]), (letters, "cat")]


TASKS = (
    Task(
        reference=idf,
        points=2,
        inputs=_counts,
        right=(idf_by_difference, idf_of_odds),
        wrong=(
            Wrong(
                "the lucene form",
                _counted(lambda n, df: math.log(1 + (n - df + 0.5) / (df + 0.5))),
                "That is lucene's, which cannot be negative. Okapi has no 1 in the logarithm.",
            ),
            Wrong(
                "all cards above the line",
                _counted(lambda n, df: math.log((n + 0.5) / (df + 0.5))),
                "Above the line stand the cards that do not hold the word.",
            ),
            Wrong(
                "another logarithm",
                _counted(lambda n, df: math.log10((n - df + 0.5) / (df + 0.5))),
                "The logarithm is the natural one.",
            ),
            Wrong(
                "upside down",
                _counted(lambda n, df: math.log((df + 0.5) / (n - df + 0.5))),
                "A rare word must be worth more than a common one.",
            ),
            Wrong(
                "negative worth cut off",
                _counted(lambda n, df: max(0.0, math.log((n - df + 0.5) / (df + 0.5)))),
                "The task wants the bare form: beyond half of the cards it is negative.",
            ),
            Wrong(
                "the halves forgotten",
                _counted(lambda n, df: math.log((n - df) / df) if 0 < df < n else 0.0),
                "Two halves keep a word on no card, or on all, from an infinite worth.",
            ),
            Wrong(
                "no guard for counts",
                no_guard_for_counts,
                "Can a word be on more cards than there are?",
            ),
        ),
    ),
    Task(
        reference=saturate,
        points=1,
        inputs=_score_lists,
        right=(saturate_from_above, saturate_in_a_loop),
        wrong=(
            Wrong(
                "min-max instead",
                _roofed(_min_max),
                "Saturation looks at one score at a time, never at the other cards.",
            ),
            Wrong(
                "clamped at 1",
                _roofed(lambda s, k: [min(1.0, x / (2 * k)) for x in s]),
                "A straight line with a lid makes all strong matches equal. Bend it.",
            ),
            Wrong(
                "k_norm ignored",
                _roofed(lambda s, k: [x / (x + 1) for x in s]),
                "Which score shall count one half? It is an argument.",
            ),
            Wrong(
                "the other part of the whole",
                _roofed(lambda s, k: [k / (x + k) for x in s]),
                "A score of 0 must give 0; yours gives 1.",
            ),
            Wrong(
                "an exponential",
                _roofed(lambda s, k: [1 - math.exp(-x / k) for x in s]),
                "It stays below 1 too, but at k_norm it is not one half.",
            ),
            Wrong(
                "negative scores become 0",
                lets_negatives_through,
                "A negative score means the wrong variant. Refuse it, do not hide it.",
            ),
        ),
    ),
    Task(
        reference=term_score,
        points=2,
        inputs=_terms,
        right=(term_score_by_ratio, term_score_by_loss),
        wrong=(
            Wrong(
                "twice counts twice",
                _weighed(lambda tf, long, k1, b: tf / (1 - b + b * long)),
                "The count must bend: however often, a word adds less than its worth.",
            ),
            Wrong(
                "length ignored",
                _weighed(lambda tf, long, k1, b: tf / (tf + k1)),
                "A card longer than the mean must get less for the same word.",
            ),
            Wrong(
                "length upside down",
                _weighed(lambda tf, long, k1, b: tf / (tf + k1 * (1 - b + b / long))),
                "Your long cards gain. Which length stands above the line?",
            ),
            Wrong(
                "b on the wrong side",
                _weighed(lambda tf, long, k1, b: tf / (tf + k1 * (b + (1 - b) * long))),
                "b = 0 must switch length off, b = 1 fully on.",
            ),
            Wrong(
                "the okapi factor",
                _weighed(lambda tf, long, k1, b: tf * (k1 + 1) / (tf + k1 * (1 - b + b * long))),
                "The factor k1 + 1 belongs to okapi; lucene leaves it out.",
            ),
            Wrong(
                "length not divided by the mean",
                _without_mean,
                "Ten tokens are long or short only beside the mean.",
            ),
            Wrong(
                "worth forgotten",
                _without_idf,
                "A rare word must add more than a common one: where is its idf?",
            ),
        ),
    ),
    Task(
        reference=tokenize,
        points=2,
        inputs=_texts,
        right=(tokenize_word_by_word, tokenize_letter_by_letter),
        wrong=(
            Wrong(
                "a lone s is left",
                _keeps_the_s,
                "The s of a possessive is no word. Remove it before you cut.",
            ),
            Wrong(
                "apostrophe glued",
                _glues,
                "Without its apostrophe “Sam's” becomes “sams”, which is on no other card.",
            ),
            Wrong(
                "every s dropped",
                _drops_every_s,
                "“Size s” has an s of its own. Only the one after an apostrophe goes.",
            ),
            Wrong(
                "cut at white space",
                _white_space,
                "The full stop sticks to the word, and then nothing equals it.",
            ),
            Wrong(
                "case kept",
                _keeps_case,
                "To a computer Miso and miso are two words.",
            ),
            Wrong(
                "numbers dropped",
                _no_digits,
                "March 14 and March 15 differ by a number alone.",
            ),
            Wrong(
                "the straight apostrophe only",
                _straight_only,
                "Telephones write a curly apostrophe.",
            ),
            Wrong(
                "every apostrophe with an s",
                _every_apostrophe_s,
                "O'Sullivan keeps his S: what may not follow it in a possessive?",
            ),
            Wrong(
                "each word once",
                _unique,
                "How often a word stands there is needed later: keep repeats.",
            ),
        ),
    ),
    Task(
        reference=bm25_scores,
        points=3,
        inputs=_boxes,
        right=(bm25_scores_with_counters, bm25_scores_word_by_word),
        wrong=(
            Wrong(
                "the okapi worth",
                _scored(worth=lambda n, df: math.log((n - df + 0.5) / (df + 0.5))),
                "That is task 1's idf: on half of the cards a word is worth 0, and beyond it less.",
            ),
            Wrong(
                "all words worth the same",
                _scored(worth=lambda n, df: 1.0),
                "Rare words must count more than common ones.",
            ),
            Wrong(
                "occurrences counted for df",
                _scored(df_of=_occurrences),
                "df counts cards, not occurrences: two cats on one card are one card.",
            ),
            Wrong(
                "twice counts twice",
                _scored(share=lambda tf, relative: tf / (0.25 + 0.75 * relative)),
                "A word that occurs twice does not count twice: bend the count.",
            ),
            Wrong(
                "length ignored",
                _scored(share=lambda tf, relative: tf / (tf + 1.5)),
                "A long card must not win by having more words.",
            ),
            Wrong(
                "the question's words once",
                _scored(change=lambda question: sorted(set(question))),
                "Whoever asks for the cat twice wants it twice as much: keep the repeats.",
            ),
            Wrong(
                "letters accepted",
                _letters_accepted,
                "A text is a sequence of letters. Refuse it, or c, a and t are searched.",
            ),
        ),
    ),
)
