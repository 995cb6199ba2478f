"""Chapter 10's tasks: references, inputs, misconceptions."""

import math
import random
from itertools import pairwise

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.four_part_relevance": ("relevance", "title_hit", "_title"),
    "memlib.bm25": ("saturate",),
    "memlib.ranking": ("final_score", "pick_diverse"),
    "memlib.librarian": ("Librarian.explain", "Librarian.search"),
    "memlib.retrieval": ("features", "rank", "Index.rank", "Index.explain"),
    "course.show.waterfall": ("contributions",),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "title_hit": (
        "memlib.four_part_relevance:title_hit",
        "memlib.four_part_relevance:_title",
        "memlib.retrieval:features",
    ),
    "relevance": (
        "memlib.four_part_relevance:relevance",
        "memlib.retrieval:features",
        "memlib.bm25:saturate",
    ),
    "final_score": (
        "memlib.ranking:final_score",
        "memlib.retrieval:features",
        "course.show.waterfall:contributions",
    ),
    "pick": (
        "memlib.ranking:pick_diverse",
        "memlib.librarian:Librarian.explain",
        "memlib.retrieval:rank",
        "memlib.retrieval:Index.rank",
        "memlib.retrieval:Index.explain",
    ),
    "reasons": ("memlib.librarian:Librarian.explain", "memlib.librarian:Librarian.search"),
}


# --- title_hit ---------------------------------------------------------------------------------
def title_hit(question, title):
    asked, words = question.casefold().split(), title.casefold().split()
    if not asked or not words:
        return 0.0
    pairs = set(pairwise(asked)) & set(pairwise(words))
    worth = 1.0 * (asked == words) + 0.5 * (words[: len(asked)] == asked)
    worth += 0.2 * bool(pairs or (len(words) == 1 and words[0] in asked))
    return min(1.0, worth)


def title_hit_by_cases(question, title):
    q, t = question.lower().split(), title.lower().split()
    if q and q == t:
        return 1.0
    points = 0
    if q and t[: len(q)] == q:
        points += 5
    for left, right in pairwise(t):
        if any(q[i : i + 2] == [left, right] for i in range(len(q))):
            points += 2
            break
    if len(t) == 1 and t[0] in q:
        points += 2
    return points / 10


def title_hit_by_text(question, title):
    asked = f" {' '.join(question.lower().split())} "
    words = title.lower().split()
    whole = f" {' '.join(words)} "
    if not asked.strip() or not words:
        return 0.0
    grams = [f" {a} {b} " for a, b in pairwise(words)] or [f" {words[0]} "]
    found = any(gram in asked for gram in grams)
    return min(1.0, (asked == whole) + whole.startswith(asked) / 2 + found / 5)


def _titled(worth):
    """A wrong worth of a title, from the words of both; empty ones give 0 as they should."""

    def hit(question, title):
        asked, words = question.casefold().split(), title.casefold().split()
        return float(worth(asked, words)) if asked and words else 0.0

    return hit


def _parts(asked, words):
    pair = bool(set(pairwise(asked)) & set(pairwise(words)))
    single = len(words) == 1 and words[0] in asked
    return asked == words, words[: len(asked)] == asked, pair, single


def _not_clamped(asked, words):
    exact, prefix, pair, single = _parts(asked, words)
    return exact + 0.5 * prefix + 0.2 * (pair or single)


def _largest_only(asked, words):
    exact, prefix, pair, single = _parts(asked, words)
    return 1.0 if exact else 0.5 if prefix else 0.2 if pair or single else 0.0


def _any_shared_word(asked, words):
    exact, prefix, _, _ = _parts(asked, words)
    return min(1.0, exact + 0.5 * prefix + 0.2 * bool(set(asked) & set(words)))


def _any_two_shared_words(asked, words):
    exact, prefix, _, single = _parts(asked, words)
    return min(1.0, exact + 0.5 * prefix + 0.2 * (len(set(asked) & set(words)) > 1 or single))


def _question_starts_with_title(asked, words):
    exact, _, pair, single = _parts(asked, words)
    return min(1.0, exact + 0.5 * (asked[: len(words)] == words) + 0.2 * (pair or single))


def _no_single_word(asked, words):
    exact, prefix, pair, _ = _parts(asked, words)
    return min(1.0, exact + 0.5 * prefix + 0.2 * pair)


def _case_matters(question, title):
    asked, words = question.split(), title.split()
    return float(min(1.0, _not_clamped(asked, words))) if asked and words else 0.0


def _letters_not_words(question, title):
    if not question.split() or not title.split():
        return 0.0
    asked, words = question.casefold().split(), title.casefold().split()
    exact, _, pair, single = _parts(asked, words)
    starts = " ".join(words).startswith(" ".join(asked))
    return min(1.0, exact + 0.5 * starts + 0.2 * (pair or single))


def _titles(rng: random.Random):
    words = ["door", "code", "cat", "sam", "vet", "wifi", "pool", "rent", "lease", "bread"]

    def some(n):
        return rng.sample(words, n)

    a, b, c, d, e = some(5)
    return [
        (f"{a} {b}", f"{a.title()} {b}"),
        (f"{a} {b}", f"{a.title()} {b} {c}"),
        (a, f"{a.title()} {c}"),
        (a, f"{a}s {c}"),
        (f"{a} {b}", f"{a} {b}s {c}"),
        (f"{c} {a} {b}", f"{d} {a} {b}"),
        (f"{c} {a} {b}", f"{d} {b} {a}"),
        (f"{c} {a} {b}", f"{e} {a.title()}"),
        (f"{c} {a} {b}", f"{a.upper()}"),
        (f"{a} {b} {c}", f"{a} {b}"),
        (f"{a} {b} {c}", a),
        (f"{a.upper()} {b}", f"{a} {b} {c}"),
        (f"{a} {b}", c),
        (f"{a} {b}", f"{d} {e}"),
        (f"{a} {b}", ""),
        ("", f"{a} {b}"),
        ("", ""),
        (a, a.title()),
        (" ".join(some(rng.randint(2, 4))), " ".join(some(rng.randint(1, 4)))),
    ]


# --- relevance ---------------------------------------------------------------------------------
def relevance(cosine, bm25, tag_match, title_hit):
    if bm25 < 0:
        raise ValueError(f"bm25 is {bm25}")
    words = bm25 / (bm25 + 2)
    return 0.60 * max(0, cosine) + 0.30 * words + 0.05 * (tag_match + title_hit)


def relevance_by_pairs(cosine, bm25, tag_match, title_hit):
    if not bm25 >= 0:
        raise ValueError("negative")
    parts = (cosine if cosine > 0 else 0.0, 1 - 2 / (bm25 + 2), tag_match, title_hit)
    return math.fsum(w * x for w, x in zip((0.6, 0.3, 0.05, 0.05), parts))


def relevance_in_twentieths(cosine, bm25, tag_match, title_hit):
    if bm25 < 0:
        raise ValueError(bm25)
    whole = 6 * bm25 / (2 + bm25) + tag_match + title_hit
    return (whole + (12 * cosine if cosine >= 0 else 0)) / 20


def _relevant(formula):
    """A wrong relevance that refuses what the reference refuses."""

    def value(cosine, bm25, tag_match, title_hit):
        if bm25 < 0:
            raise ValueError(bm25)
        return float(formula(cosine, bm25, tag_match, title_hit))

    return value


def _weigh(cosine, words, tags, title):
    return 0.6 * cosine + 0.3 * words + 0.05 * tags + 0.05 * title


def _negative_words(cosine, bm25, tag_match, title_hit):
    return float(_weigh(max(0, cosine), max(0, bm25) / (max(0, bm25) + 2), tag_match, title_hit))


def _features(rng: random.Random):
    def four():
        return rng.uniform(0.1, 0.9), rng.uniform(0.5, 9), rng.uniform(0.1, 1), rng.uniform(0.1, 1)

    x, bm25, tags, title = four()
    return [
        *(four() for _ in range(7)),
        (-x, bm25, tags, title),
        (-x, 0, 0, 0),
        (x, 0, 0, 0),
        (1, 0.0, 1, 1),
        (x, -bm25, tags, title),
        (x, -rng.uniform(0.1, 0.9), tags, title),
        (-x, -bm25, 0, 0),
    ]


# --- final_score -------------------------------------------------------------------------------
PARTS = {"relevance": 0.50, "recency": 0.20, "importance": 0.20, "usage": 0.10}


def final_score(card, w_duplicate=0.15):
    if not all(0 <= card[name] <= 1 for name in (*PARTS, "penalty")):
        raise ValueError(card)
    return (
        sum(weight * card[name] for name, weight in PARTS.items()) - w_duplicate * card["penalty"]
    )


def final_score_written_out(card, w_duplicate=0.15):
    values = [card[n] for n in ("relevance", "recency", "importance", "usage", "penalty")]
    if min(values) < 0 or max(values) > 1:
        raise ValueError("outside 0 to 1")
    about, fresh, matters, used, copied = values
    return about / 2 + (fresh + matters) / 5 + used / 10 - copied * w_duplicate


def final_score_in_a_loop(card, w_duplicate=0.15):
    total = 0.0
    for name, weight in [*PARTS.items(), ("penalty", -w_duplicate)]:
        if card[name] > 1 or card[name] < 0:
            raise ValueError(name)
        total += weight * card[name]
    return total


def _scoring(formula):
    """A wrong score that refuses what the reference refuses."""

    def score(card, w_duplicate=0.15):
        if not all(0 <= card[name] <= 1 for name in (*PARTS, "penalty")):
            raise ValueError(card)
        good = sum(weight * card[name] for name, weight in PARTS.items())
        return float(formula(card, good, w_duplicate))

    return score


def _anything_goes(card, w_duplicate=0.15):
    good = sum(weight * card[name] for name, weight in PARTS.items())
    return float(good - w_duplicate * card["penalty"])


def _equal_weights(card, good, w):
    return sum(card[name] for name in PARTS) / 4 - w * card["penalty"]


def _scored_cards(rng: random.Random):
    def card(**changes):
        values = {name: round(rng.uniform(0.1, 0.9), 3) for name in (*PARTS, "penalty")}
        return values | changes

    low = dict.fromkeys((*PARTS, "penalty"), 0.0)
    return [
        *((card(), rng.uniform(0.2, 0.8)) for _ in range(5)),
        *((card(),) for _ in range(4)),
        (low | {"penalty": round(rng.uniform(0.4, 1), 3)},),
        (dict.fromkeys(low, 1.0),),
        (low,),
        (card(relevance=1 + rng.uniform(0.1, 0.9)),),
        (card(penalty=-rng.uniform(0.1, 1)),),
        (card(usage=rng.randint(2, 9)), 0.2),
    ]


# --- pick --------------------------------------------------------------------------------------
def pick(scores, alike, top_k, w_duplicate=0.15):
    if top_k < 1:
        raise ValueError(f"top_k is {top_k}")
    picked, left = [], list(range(len(scores)))
    while left and len(picked) < top_k:
        worth = {
            row: scores[row] - w_duplicate * max([0, *(alike[row][j] for j in picked)])
            for row in left
        }
        best = max(left, key=worth.get)
        picked.append(best)
        left.remove(best)
    return picked


def pick_with_running_penalties(scores, alike, top_k, w_duplicate=0.15):
    if not top_k >= 1:
        raise ValueError("nothing is wanted")
    penalty, order = [0.0] * len(scores), []
    for _ in range(min(top_k, len(scores))):
        rest = [i for i in range(len(scores)) if i not in order]
        chosen = min(rest, key=lambda i: (w_duplicate * penalty[i] - scores[i], i))
        order.append(chosen)
        penalty = [max(p, alike[i][chosen]) for i, p in enumerate(penalty)]
    return order


def pick_recursively(scores, alike, top_k, w_duplicate=0.15):
    if top_k < 1:
        raise ValueError(top_k)

    def more(done):
        todo = [i for i in range(len(scores)) if i not in done]
        if not todo or len(done) == top_k:
            return done
        costs = [max((max(0, alike[i][j]) for j in done), default=0) for i in todo]
        values = [scores[i] - w_duplicate * cost for i, cost in zip(todo, costs)]
        return more([*done, todo[values.index(max(values))]])

    return more([])


def _picking(penalty=None, worth=None, last=False):
    """A wrong way of picking: another penalty of the likenesses, or another worth."""

    def order(scores, alike, top_k, w_duplicate=0.15):
        if top_k < 1:
            raise ValueError(top_k)
        picked, left = [], list(range(len(scores)))
        while left and len(picked) < top_k:
            seen = picked[-1:] if last else picked
            cost = {i: (penalty or _largest)([alike[i][j] for j in seen]) for i in left}
            value = worth or (lambda s, p, w: s - w * p)
            best = max(left, key=lambda i: value(scores[i], cost[i], w_duplicate))
            picked.append(best)
            left.remove(best)
        return picked

    return order


def _largest(likenesses):
    return max([0, *likenesses])


def _by_score(scores, alike, top_k, w_duplicate=0.15):
    if top_k < 1:
        raise ValueError(top_k)
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:top_k]


def _nothing_wanted(scores, alike, top_k, w_duplicate=0.15):
    return pick(scores, alike, top_k, w_duplicate) if top_k >= 1 else []


def _likenesses(rng: random.Random):
    def table(n, pairs):
        rows = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
        for i, j, x in pairs:
            rows[i][j] = rows[j][i] = x
        return rows

    def drawn():
        n = rng.randint(3, 6)
        pairs = [(i, j, round(rng.uniform(-0.3, 1), 2)) for i in range(n) for j in range(i)]
        scores = [round(rng.uniform(0.2, 0.9), 3) for _ in range(n)]
        return scores, table(n, pairs), n, round(rng.uniform(0.2, 0.8), 2)

    s = round(rng.uniform(0.7, 0.9), 2)
    copy = table(3, [(0, 1, 0.9)])
    returns = table(4, [(0, 1, 1.0)])  # a copy that comes back once another card stood between
    sums = table(4, [(0, 2, 0.4), (1, 2, 0.4)])
    opposite = table(3, [(0, 1, -0.9)])
    return [
        *(drawn() for _ in range(6)),
        ([s, s - 0.02, s - 0.06], copy, 2),
        ([s, s - 0.01, s - 0.1, s - 0.4], returns, 4, 0.6),
        ([s, s - 0.1, s - 0.2, s - 0.35], sums, 4, 0.3),
        ([s, s - 0.2, s - 0.1], opposite, 3, 0.5),
        ([s, s - 0.1, s - 0.5], table(3, [(0, 1, 0.5)]), 3, 0.6),
        ([s, s, s], table(3, []), 3),
        ([s, s - 0.3, s - 0.35], table(3, [(0, 1, 0.2)]), 3),
        ([s - 0.1, s, s - 0.2], copy, 1),
        ([s], [[1.0]], 5),
        ([], [], 2),
        ([s, s - 0.1, s - 0.2], copy, 0),
        ([s, s - 0.1, s - 0.2], copy, -rng.randint(1, 3)),
    ]


# --- reasons -----------------------------------------------------------------------------------
PICKED, LOW, LATER = "picked", "below the threshold", "not among the first"


def reasons(scores, top_k, threshold):
    if top_k < 1:
        raise ValueError(f"top_k is {top_k}")
    low = -math.inf if threshold is None else threshold
    first = [LOW if score < low else PICKED for score in scores[:top_k]]
    return first + [LATER] * (len(scores) - len(first))


def reasons_one_by_one(scores, top_k, threshold):
    if not top_k > 0:
        raise ValueError("nothing wanted")
    told = []
    for place, score in enumerate(scores, start=1):
        if place > top_k:
            told.append(LATER)
        elif threshold is not None and threshold > score:
            told.append(LOW)
        else:
            told.append(PICKED)
    return told


def reasons_by_code(scores, top_k, threshold):
    if top_k <= 0:
        raise ValueError(top_k)
    codes = [
        2 if i >= top_k else int(threshold is not None and s < threshold)
        for i, s in enumerate(scores)
    ]
    return [(PICKED, LOW, LATER)[code] for code in codes]


def _telling(tell):
    """Wrong reasons that refuse what the reference refuses."""

    def told(scores, top_k, threshold):
        if top_k < 1:
            raise ValueError(top_k)
        return tell(scores, top_k, -math.inf if threshold is None else threshold)

    return told


def _fills_up(scores, top_k, low):
    told, places = [], top_k
    for score in scores:
        told.append(LOW if score < low else PICKED if places else LATER)
        places -= told[-1] == PICKED
    return told


def _stops_at_the_first_low(scores, top_k, low):
    told, stopped = [], False
    for place, score in enumerate(scores):
        stopped = stopped or score < low
        told.append(LATER if place >= top_k else LOW if stopped else PICKED)
    return told


def _sorts_first(scores, top_k, low):
    best = sorted(range(len(scores)), key=lambda i: -scores[i])[:top_k]
    return [LATER if i not in best else LOW if s < low else PICKED for i, s in enumerate(scores)]


def _none_is_m1(scores, top_k, threshold):
    return reasons(scores, top_k, 0.35 if threshold is None else threshold)


def _pick_times(rng: random.Random):
    def drawn():
        scores = [round(rng.uniform(0.1, 0.7), 3) for _ in range(rng.randint(4, 8))]
        return scores, rng.randint(2, 4), round(rng.uniform(0.3, 0.5), 2)

    theta = round(rng.uniform(0.3, 0.5), 2)
    return [
        *(drawn() for _ in range(6)),
        ([theta + 0.2, theta, theta - 0.01], 3, theta),
        ([theta + 0.1, theta - 0.2, theta + 0.05, theta + 0.02], 3, theta),
        ([theta + 0.1, theta - 0.1, theta + 0.05, theta + 0.02], 2, theta),
        ([theta + 0.3, theta + 0.1, theta - 0.2, theta - 0.25], 2, theta),
        ([0.3, 0.2, round(rng.uniform(0, 0.15), 2)], 2, None),
        ([0.2, 0.1], 5, 0.9),
        ([theta + 0.1, theta + 0.2], 1, theta),
        ([], 3, theta),
        ([0.6, 0.5], 0, theta),
        ([0.6, 0.5], -2, None),
    ]


TASKS = (
    Task(
        reference=title_hit,
        points=2,
        inputs=_titles,
        right=(title_hit_by_cases, title_hit_by_text),
        wrong=(
            Wrong(
                "not clamped",
                _titled(_not_clamped),
                "Every part of the score stays within 0 and 1. An exact hit adds up to more.",
            ),
            Wrong(
                "only the best kind of hit",
                _titled(_largest_only),
                "The kinds of hit add up: a start usually shares a pair as well.",
            ),
            Wrong(
                "one shared word is enough",
                _titled(_any_shared_word),
                "A single shared word counts only if it is the whole title.",
            ),
            Wrong(
                "any two shared words",
                _titled(_any_two_shared_words),
                "A pair is two neighbours, and their order counts in both.",
            ),
            Wrong(
                "question starts with title",
                _titled(_question_starts_with_title),
                "The title must start with the question, not the other way round.",
            ),
            Wrong(
                "no one-word titles",
                _titled(_no_single_word),
                "A title of one word has no pair. It still hits if the question holds it.",
            ),
            Wrong(
                "case matters",
                _case_matters,
                "Titles begin with a capital letter, questions rarely repeat it.",
            ),
            Wrong(
                "letters instead of words",
                _letters_not_words,
                "A title about cats does not start with the word cat: compare whole words.",
            ),
        ),
    ),
    Task(
        reference=relevance,
        points=2,
        inputs=_features,
        right=(relevance_by_pairs, relevance_in_twentieths),
        wrong=(
            Wrong(
                "raw BM25",
                _relevant(lambda c, b, t, h: _weigh(max(0, c), b, t, h)),
                "BM25 has no upper bound. Saturate it before you weigh it.",
            ),
            Wrong(
                "BM25 cut off at 1",
                _relevant(lambda c, b, t, h: _weigh(max(0, c), min(1, b), t, h)),
                "Cut off at 1, nearly every match counts as a perfect one. Saturate instead.",
            ),
            Wrong(
                "saturated with 1",
                _relevant(lambda c, b, t, h: _weigh(max(0, c), b / (b + 1), t, h)),
                "k_norm is 2: a BM25 of 2 is worth one half.",
            ),
            Wrong(
                "negative cosine",
                _relevant(lambda c, b, t, h: _weigh(c, b / (b + 2), t, h)),
                "A cosine below 0 counts as 0; it does not take anything away.",
            ),
            Wrong(
                "absolute cosine",
                _relevant(lambda c, b, t, h: _weigh(abs(c), b / (b + 2), t, h)),
                "An opposite meaning is no match. Take 0, not the size without its sign.",
            ),
            Wrong(
                "weights swapped",
                _relevant(lambda c, b, t, h: _weigh(b / (b + 2), max(0, c), t, h)),
                "Meaning has the weight 0.60 and words 0.30, not the other way round.",
            ),
            Wrong(
                "tags and title left out",
                _relevant(lambda c, b, t, h: _weigh(max(0, c), b / (b + 2), 0, 0)),
                "Tags and title are small parts, but parts.",
            ),
            Wrong(
                "negative BM25 counts as 0",
                _negative_words,
                "A negative BM25 means another variant of it. Refuse it, do not hide it.",
            ),
        ),
    ),
    Task(
        reference=final_score,
        points=2,
        inputs=_scored_cards,
        right=(final_score_written_out, final_score_in_a_loop),
        wrong=(
            Wrong(
                "penalty added",
                _scoring(lambda card, good, w: good + w * card["penalty"]),
                "A copy must lose by being one: the penalty is taken away.",
            ),
            Wrong(
                "penalty forgotten",
                _scoring(lambda card, good, w: good),
                "Your score does not change when a card is a copy.",
            ),
            Wrong(
                "penalty always 0.15",
                _scoring(lambda card, good, w: good - 0.15 * card["penalty"]),
                "w_duplicate is an argument: 0.15 is only its default.",
            ),
            Wrong(
                "penalty multiplied",
                _scoring(lambda card, good, w: good * (1 - w * card["penalty"])),
                "The penalty is subtracted; it does not scale the rest.",
            ),
            Wrong(
                "never below 0",
                _scoring(lambda card, good, w: max(0.0, good - w * card["penalty"])),
                "S may fall below 0; cut off there, bad cards could not be told apart.",
            ),
            Wrong(
                "equal weights",
                _scoring(_equal_weights),
                "Relevance has half of the weight, not a quarter.",
            ),
            Wrong(
                "anything goes",
                _anything_goes,
                "A part outside 0 to 1 was not normalised. Refuse it.",
            ),
        ),
    ),
    Task(
        reference=pick,
        points=3,
        inputs=_likenesses,
        right=(pick_with_running_penalties, pick_recursively),
        wrong=(
            Wrong(
                "by score alone",
                _by_score,
                "Two copies come out side by side: judge each card against those picked.",
            ),
            Wrong(
                "against the last pick only",
                _picking(last=True),
                "A copy of the first pick comes back as soon as another card stood between.",
            ),
            Wrong(
                "penalties added up",
                _picking(penalty=lambda found: sum(max(0, x) for x in found)),
                "The penalty is the largest likeness, not the sum of all.",
            ),
            Wrong(
                "mean likeness",
                _picking(penalty=lambda found: sum(found) / len(found) if found else 0),
                "One copy among many picks is still a copy: take the largest likeness.",
            ),
            Wrong(
                "opposites rewarded",
                _picking(penalty=lambda found: max(found, default=0)),
                "A cosine below 0 counts as 0; being opposite earns nothing.",
            ),
            Wrong(
                "MMR",
                _picking(worth=lambda s, p, w: (1 - w) * s - w * p),
                "That is MMR. Here the score keeps its whole weight.",
            ),
            Wrong(
                "copies first",
                _picking(worth=lambda s, p, w: s + w * p),
                "The likeness is a penalty: take it away.",
            ),
            Wrong(
                "nothing wanted",
                _nothing_wanted,
                "A top_k below 1 is a fault of the caller: say so.",
            ),
        ),
    ),
    Task(
        reference=reasons,
        points=2,
        inputs=_pick_times,
        right=(reasons_one_by_one, reasons_by_code),
        wrong=(
            Wrong(
                "fills the place up",
                _telling(_fills_up),
                "The place of a dropped card stays empty: too few is a right answer.",
            ),
            Wrong(
                "equal is too low",
                _telling(lambda scores, k, low: reasons_one_by_one(scores, k, low + 1e-12)),
                "S equal to the threshold is not below it.",
            ),
            Wrong(
                "threshold for the rest too",
                _telling(
                    lambda scores, k, low: [
                        LOW if s < low else PICKED if i < k else LATER for i, s in enumerate(scores)
                    ]
                ),
                "What was never among the first has one reason only, whatever its score.",
            ),
            Wrong(
                "stops at the first low one",
                _telling(_stops_at_the_first_low),
                "S at pick time need not fall all the way: judge each pick by itself.",
            ),
            Wrong(
                "sorted by score",
                _telling(_sorts_first),
                "The order of picking is given. Sorting again forgets the penalties.",
            ),
            Wrong(
                "None is 0.35",
                _none_is_m1,
                "None means that there is no threshold, not the usual one.",
            ),
            Wrong(
                "one too many",
                _telling(lambda scores, k, low: reasons_one_by_one(scores, k + 1, low)),
                "With top_k of 2, two candidates are looked at.",
            ),
        ),
    ),
)
