"""Chapter 08's tasks: references, inputs, misconceptions."""

import math
import random
from fractions import Fraction

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.forgetting": (
        "usage_raw",
        "usage",
        "forget_score",
        "duplicate_ratio",
        "outranks",
        "retention",
        "recall_probability",
        "days_until_due",
        "next_interval",
    ),
    "memlib.librarian": ("Librarian.forget_scores", "Librarian.sweep", "Librarian.due"),
    "course.widgets.forgetting": ("features", "contributions"),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "usage_raw": ("memlib.forgetting:usage_raw", "memlib.forgetting:usage"),
    "forget_score": (
        "memlib.forgetting:forget_score",
        "memlib.librarian:Librarian.forget_scores",
        "course.widgets.forgetting:contributions",
    ),
    "decide": ("memlib.forgetting:retention", "memlib.librarian:Librarian.sweep"),
    "review": (
        "memlib.forgetting:recall_probability",
        "memlib.forgetting:days_until_due",
        "memlib.librarian:Librarian.due",
    ),
    "next_interval": ("memlib.forgetting:next_interval",),
    "dup_ratios": (
        "memlib.forgetting:duplicate_ratio",
        "memlib.forgetting:outranks",
        "course.widgets.forgetting:features",
    ),
}

KINDS = ["working", "episodic", "semantic"]


# --- usage_raw ---------------------------------------------------------------------------------
def usage_raw(views, cites, edits):
    # a negative count: there is no logarithm of 0 or less, and math.log raises ValueError
    return math.log(1 + views) + 2 * math.log(1 + cites) + 0.5 * math.log(1 + edits)


def usage_raw_by_log1p(views, cites, edits):
    total = 0.0
    for count, weight in ((views, 1), (cites, 2), (edits, 0.5)):
        if count < 0:
            raise ValueError(count)
        total += weight * math.log1p(count)
    return total


def usage_raw_as_one_logarithm(views, cites, edits):
    if views < 0 or cites < 0 or edits < 0:
        raise ValueError(views, cites, edits)
    return math.log((1 + views) * (1 + cites) ** 2 * math.sqrt(1 + edits))


def _counting(worth):
    """A wrong usage that refuses what the reference refuses: the idea alone is wrong."""

    def use(views, cites, edits):
        if min(views, cites, edits) < 0:
            raise ValueError("a count is negative")
        return worth(views, cites, edits)

    return use


def _ln(n):
    return math.log(n) if n > 0 else 0.0


def _no_counts_below_zero(views, cites, edits):
    return usage_raw(max(views, 0), max(cites, 0), max(edits, 0))


def _counts(rng: random.Random):
    ordinary = [tuple(rng.randint(1, 60) for _ in range(3)) for _ in range(8)]
    few = rng.randint(1, 9)
    invalid = [(-few, 2, 3), (4, -few, 0), (5, 1, -few)]
    return [*ordinary, (0, 0, 0), (few, 0, 0), (0, 0, few), *invalid]


# --- forget_score ------------------------------------------------------------------------------
def _unit(*parts):
    if not all(0 <= part <= 1 for part in parts):
        raise ValueError(f"{parts}: outside 0 to 1")


def forget_score(recency, usage, dup_ratio, importance, pinned):
    _unit(recency, usage, dup_ratio, importance)
    danger = 0.35 * (1 - recency) + 0.25 * (1 - usage) + 0.20 * dup_ratio
    return danger - 0.15 * importance - (0.30 if pinned else 0)


def forget_score_from_the_top(recency, usage, dup_ratio, importance, pinned):
    for part in (recency, usage, dup_ratio, importance):
        if part < 0 or part > 1:
            raise ValueError(part)
    return 0.6 - 0.35 * recency - usage / 4 + dup_ratio / 5 - 0.15 * importance - 0.3 * pinned


def forget_score_term_by_term(recency, usage, dup_ratio, importance, pinned):
    parts = [1 - recency, 1 - usage, dup_ratio, importance, float(pinned)]
    if min(parts) < 0 or max(parts) > 1:
        raise ValueError("a part is outside 0 to 1")
    return sum(w * part for w, part in zip((0.35, 0.25, 0.20, -0.15, -0.30), parts))


def _scoring(score):
    def wrong(recency, usage, dup_ratio, importance, pinned):
        _unit(recency, usage, dup_ratio, importance)
        return score(recency, usage, dup_ratio, importance, pinned)

    return wrong


def _without_refusal(recency, usage, dup_ratio, importance, pinned):
    return forget_score_from_the_top(
        *(min(1, max(0, part)) for part in (recency, usage, dup_ratio, importance)), pinned
    )


def _parts(rng: random.Random):
    def part():
        return round(rng.uniform(0.05, 0.95), 3)

    cases = [(part(), part(), part(), part(), rng.random() < 0.3) for _ in range(8)]
    cases += [(0.9, 0.8, 0.1, part(), True), (0.2, part(), 0.9, part(), False)]
    cases += [(0.0, 0.0, 1.0, 0.0, False), (1.0, 1.0, 0.0, 1.0, True)]
    cases += [(0.0, 0.1, 0.8, part(), True), (0.95, 0.95, 0.05, 0.9, False)]
    invalid = []
    for place in range(4):
        for value in (-0.2, 1.5):
            bad = [part() for _ in range(4)]
            bad[place] = value
            invalid.append((*bad, False))
    return [*cases, *invalid]


# --- decide ------------------------------------------------------------------------------------
SOFT_TTL = {"working": 2, "episodic": 30, "semantic": math.inf}
HARD_TTL = {"working": 7, "episodic": 180, "semantic": math.inf}


def _card(age_days, kind):
    if age_days < 0 or kind not in SOFT_TTL:
        raise ValueError(age_days, kind)


def decide(score, age_days, kind, pinned):
    _card(age_days, kind)
    if pinned:
        return "keep"
    if score >= 0.8 and age_days >= HARD_TTL[kind]:
        return "hard"
    if score >= 0.6 and age_days >= SOFT_TTL[kind]:
        return "soft"
    return "keep"


def decide_step_by_step(score, age_days, kind, pinned):
    if age_days < 0:
        raise ValueError(age_days)
    if kind == "working":
        soft, hard = 2, 7
    elif kind == "episodic":
        soft, hard = 30, 180
    elif kind == "semantic":
        return "keep"
    else:
        raise ValueError(kind)
    if pinned or score < 0.6 or age_days < soft:
        return "keep"
    return "soft" if score < 0.8 or age_days < hard else "hard"


def decide_from_the_end(score, age_days, kind, pinned):
    limits = {"working": (2, 7), "episodic": (30, 180), "semantic": (math.inf, math.inf)}
    if kind not in limits or age_days < 0:
        raise ValueError(kind)
    verdict = "keep"
    for word, least, ttl in zip(("soft", "hard"), (0.6, 0.8), limits[kind]):
        if score >= least and age_days >= ttl and not pinned:
            verdict = word
    return verdict


def _deciding(soft, hard, refuse=_card, spare=True):
    """The reference with other conditions: each gets score, age and kind."""

    def wrong(score, age_days, kind, pinned):
        refuse(age_days, kind)
        if pinned and spare:
            return "keep"
        if hard(score, age_days, kind):
            return "hard"
        return "soft" if soft(score, age_days, kind) else "keep"

    return wrong


def _soft(score, age, kind):
    return score >= 0.6 and age >= SOFT_TTL.get(kind, math.inf)


def _hard(score, age, kind):
    return score >= 0.8 and age >= HARD_TTL.get(kind, math.inf)


def _as_episodic(kind):
    return "episodic" if kind == "semantic" else kind


def _cards(rng: random.Random):
    cases = [
        (round(rng.uniform(0.3, 0.95), 2), rng.randint(0, 300), rng.choice(KINDS), False)
        for _ in range(6)
    ]
    cases += [
        (0.6, 40, "episodic", False),
        (0.8, 200, "episodic", False),
        (0.7, 2, "working", False),
        (0.85, rng.randint(3, 6), "working", False),
        (0.9, rng.randint(30, 150), "episodic", False),
        (0.7, rng.randint(5, 25), "episodic", False),
        (0.95, rng.randint(200, 900), "semantic", False),
        (0.9, rng.randint(200, 900), "episodic", True),
        (0.4, rng.randint(200, 900), "working", False),
        (0.7, 0, "working", False),
        (0.7, -1, "working", False),
        (0.2, -rng.randint(2, 9), "episodic", False),
        (0.7, 40, "procedural", False),
    ]
    for kind in ("working", "episodic"):  # at each TTL, and a day before it
        for limit in (SOFT_TTL[kind], HARD_TTL[kind]):
            cases += [(0.9, limit, kind, False), (0.9, limit - 1, kind, False)]
    return cases


# --- review ------------------------------------------------------------------------------------
def _clock(days, tau_days):
    if days < 0 or tau_days <= 0:
        raise ValueError(days, tau_days)


def review(days, tau_days):
    _clock(days, tau_days)
    return [math.exp(-days / tau_days), max(0.0, tau_days * math.log(1 / 0.7) - days)]


def review_by_powers(days, tau_days):
    if not (days >= 0 and tau_days > 0):
        raise ValueError("days below 0, or tau not above 0")
    due = -tau_days * math.log(0.7)
    return [math.e ** (-days / tau_days), due - days if due > days else 0.0]


def review_by_what_is_left(days, tau_days):
    if days < 0 or tau_days <= 0:
        raise ValueError(days)
    p = 1 / math.exp(days / tau_days)
    if p <= 0.7:
        return [p, 0.0]
    return [p, tau_days * (math.log(10 / 7) + math.log(p))]


def _reviewing(recall, due):
    def wrong(days, tau_days):
        _clock(days, tau_days)
        return [recall(days, tau_days), due(days, tau_days)]

    return wrong


def _p(t, tau):
    return math.exp(-t / tau)


def _left(t, tau):
    return max(0.0, tau * math.log(1 / 0.7) - t)


def _any_tau(days, tau_days):
    return review(max(days, 0), tau_days if tau_days > 0 else 1)


def _clocks(rng: random.Random):
    cases = []
    for _ in range(5):
        tau = round(rng.uniform(2, 60), 1)
        cases += [(round(rng.uniform(0.05, 0.3) * tau, 2), tau)]
        cases += [(round(rng.uniform(0.4, 3) * tau, 2), tau)]
    edges = [(0, rng.randint(1, 90)), (0.1, round(rng.uniform(0.5, 0.9), 2))]
    invalid = [(2, 0), (2, -rng.randint(1, 9)), (-rng.randint(1, 5), 10), (-0.5, 10)]
    return [*cases, *edges, *invalid]


# --- next_interval -----------------------------------------------------------------------------
def _check_all(interval_days, importance, usage):
    _unit(importance, usage)
    if interval_days is not None and interval_days < 1:
        raise ValueError(interval_days)


def next_interval(interval_days, importance, usage):
    _check_all(interval_days, importance, usage)
    if interval_days is None:
        return 1
    if interval_days == 1:
        return 6
    return math.ceil(round(interval_days * (1 + 0.5 * importance + 0.3 * usage), 9))


def next_interval_by_fractions(interval_days, importance, usage):
    if min(importance, usage) < 0 or max(importance, usage) > 1:
        raise ValueError(importance, usage)
    if interval_days is None:
        return 1
    if interval_days < 1:
        raise ValueError(interval_days)
    if interval_days == 1:
        return 6
    gain = Fraction(str(importance)) / 2 + Fraction(str(usage)) * 3 / 10
    return math.ceil(interval_days * (1 + gain))


def next_interval_from_below(interval_days, importance, usage):
    first = {None: 1, 1: 6}
    if not (0 <= importance <= 1 and 0 <= usage <= 1 and (interval_days or 1) >= 1):
        raise ValueError("out of range")
    if interval_days == 0:
        raise ValueError(interval_days)
    if interval_days in first:
        return first[interval_days]
    wanted = round(interval_days + interval_days * (importance / 2 + 0.3 * usage), 9)
    days = interval_days
    while days < wanted:
        days += 1
    return days


def _spacing(days, first=6):
    """The reference with another rule after the second interval, or another second interval."""

    def wrong(interval_days, importance, usage):
        _check_all(interval_days, importance, usage)
        if interval_days is None:
            return 1
        if interval_days == 1 and first:
            return first
        return days(interval_days, importance, usage)

    return wrong


def _product(n, importance, usage):
    return round(n * (1 + 0.5 * importance + 0.3 * usage), 9)


def _no_limits(interval_days, importance, usage):
    return next_interval(
        None if interval_days is None else max(interval_days, 1),
        min(1, max(0, importance)),
        min(1, max(0, usage)),
    )


def _intervals(rng: random.Random):
    cases = [
        (rng.randint(6, 90), round(rng.uniform(0, 1), 2), round(rng.uniform(0, 1), 2))
        for _ in range(9)
    ]
    cases += [
        (None, 0.5, 0.5),
        (1, round(rng.random(), 2), 0.2),
        (10, 0.2, 1.0),
        (20, 1.0, 0.1),
        (20, 0.1, 1.0),
        (11, 0.25, 0.0),
        (10, 0.2 + 6e-10, 1.0),  # nine decimals of 14.000000003 are more than 14
        (rng.randint(6, 30), -0.3, 0.2),
        (rng.randint(6, 30), 1.4, 0.2),
        (rng.randint(6, 30), 0.2, rng.choice([-0.3, 1.4])),
        (0, 0.5, 0.5),
    ]
    return cases


# --- dup_ratios --------------------------------------------------------------------------------
def _square(cosines, importance, age_days):
    n = len(cosines)
    if any(len(row) != n for row in cosines) or len(importance) != n or len(age_days) != n:
        raise ValueError("not square, or a list of another length")
    return range(n)


def dup_ratios(cosines, importance, age_days):
    rows = _square(cosines, importance, age_days)
    rank = {i: (-importance[i], age_days[i], i) for i in rows}
    return [max([0.0] + [cosines[i][j] for j in rows if rank[j] < rank[i]]) for i in rows]


def dup_ratios_in_order(cosines, importance, age_days):
    n = len(cosines)
    if {len(importance), len(age_days), *map(len, cosines)} - {n}:
        raise ValueError(n)
    ratios, seen = [0.0] * n, []
    for i in sorted(range(n), key=lambda i: (-importance[i], age_days[i])):
        for j in seen:
            ratios[i] = max(ratios[i], cosines[i][j])
        seen.append(i)
    return ratios


def dup_ratios_pair_by_pair(cosines, importance, age_days):
    rows = _square(cosines, importance, age_days)
    ratios = [0.0 for _ in rows]
    for j in rows:
        for i in range(j):
            first = (importance[i], -age_days[i]) >= (importance[j], -age_days[j])
            loser = j if first else i
            ratios[loser] = max(ratios[loser], cosines[i][j])
    return ratios


def _ranking(outranks, join=lambda found: max([0.0, *found])):
    """The reference with another idea of who outranks whom, or of what is taken."""

    def wrong(cosines, importance, age_days):
        rows = _square(cosines, importance, age_days)
        cards = list(zip(importance, age_days, rows))
        return [join([cosines[i][j] for j in rows if outranks(cards[j], cards[i])]) for i in rows]

    return wrong


def _rank(card):
    return (-card[0], card[1], card[2])


def _above(j, i):
    return _rank(j) < _rank(i)


def _cut_to_fit(cosines, importance, age_days):
    n = min([len(cosines), len(importance), len(age_days), *map(len, cosines)])
    return dup_ratios([row[:n] for row in cosines[:n]], importance[:n], age_days[:n])


def _shelves(rng: random.Random):
    cases = []
    for _ in range(8):
        n = rng.randint(3, 6)
        table = [[1.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                table[i][j] = table[j][i] = round(rng.uniform(0.1, 0.95), 3)
        matters = [rng.choice([0.3, 0.5, 0.7]) for _ in range(n)]
        cases.append((table, matters, [rng.randint(0, 40) for _ in range(n)]))
    trio = [[1.0, 0.8, 0.3], [0.8, 1.0, 0.6], [0.3, 0.6, 1.0]]
    cases += [
        (trio, [0.5, 0.5, 0.5], [9, 2, 30]),
        (trio, [0.5, 0.5, 0.5], [4, 4, 4]),
        (trio, [0.7, 0.5, 0.6], [30, 2, 9]),
        ([[1.0, -0.4], [-0.4, 1.0]], [0.5, 0.7], [rng.randint(1, 9), 3]),
        ([], [], []),
        (trio[:2], [0.5, 0.5], [4, 4]),
        (trio[:2], [0.5] * 3, [4] * 3),
        ([trio[0], trio[1][:2], trio[2]], [0.5] * 3, [4] * 3),
        ([[1.0, 0.8, 0.3], [0.8, 1.0]], [0.5] * 2, [4] * 2),
        ([[1.0, 0.8], [0.8, 1.0, 0.3]], [0.5] * 2, [4] * 2),
    ]
    for n in (2, 4):
        cases += [(trio, [0.5] * n, [4] * 3), (trio, [0.5] * 3, [4] * n)]
    return cases


TASKS = (
    Task(
        reference=usage_raw,
        points=1,
        inputs=_counts,
        right=(usage_raw_by_log1p, usage_raw_as_one_logarithm),
        wrong=(
            Wrong(
                "counts without logarithm",
                _counting(lambda v, c, e: v + 2 * c + 0.5 * e),
                "The hundredth view tells less than the first. What flattens a count?",
            ),
            Wrong(
                "logarithm of the count itself",
                _counting(lambda v, c, e: _ln(v) + 2 * _ln(c) + 0.5 * _ln(e)),
                "What does the first view add in your answer? Something is added to a count first.",
            ),
            Wrong(
                "one logarithm around the sum",
                _counting(lambda v, c, e: math.log(1 + v + 2 * c + 0.5 * e)),
                "Each count has a logarithm of its own; the weights stand outside.",
            ),
            Wrong(
                "weights inside the logarithm",
                _counting(lambda v, c, e: sum(map(math.log1p, (v, 2 * c, 0.5 * e)))),
                "The weights multiply the logarithms, not the counts.",
            ),
            Wrong(
                "base ten",
                _counting(lambda v, c, e: usage_raw(v, c, e) / math.log(10)),
                "The logarithm is the natural one.",
            ),
            Wrong(
                "all counts alike",
                _counting(lambda v, c, e: math.log((1 + v) * (1 + c) * (1 + e))),
                "Being cited says more than being seen, and being edited says less.",
            ),
            Wrong(
                "no refusal",
                _no_counts_below_zero,
                "A negative count is a bug somewhere. Refuse it, rather than call it 0.",
            ),
        ),
    ),
    Task(
        reference=forget_score,
        points=2,
        inputs=_parts,
        right=(forget_score_from_the_top, forget_score_term_by_term),
        wrong=(
            Wrong(
                "recency not turned round",
                _scoring(lambda r, u, d, i, p: forget_score(1 - r, u, d, i, p)),
                "A fresh card is in less danger. Which way does recency enter?",
            ),
            Wrong(
                "usage not turned round",
                _scoring(lambda r, u, d, i, p: forget_score(r, 1 - u, d, i, p)),
                "A used card is in less danger. Which way does usage enter?",
            ),
            Wrong(
                "duplicates turned round",
                _scoring(lambda r, u, d, i, p: forget_score(r, u, 1 - d, i, p)),
                "A copy is in more danger, not in less.",
            ),
            Wrong(
                "importance added",
                _scoring(lambda r, u, d, i, p: forget_score(r, u, d, i, p) + 0.30 * i),
                "What matters is protected. Which sign does that take?",
            ),
            Wrong(
                "pin forgotten",
                _scoring(lambda r, u, d, i, p: forget_score(r, u, d, i, False)),
                "A pinned card has a lower score than the same card without its pin.",
            ),
            Wrong(
                "pinned is zero",
                _scoring(lambda r, u, d, i, p: 0.0 if p else forget_score(r, u, d, i, p)),
                "In the score a pin is one term among five. The rule that spares it is another.",
            ),
            Wrong(
                "never below zero",
                _scoring(lambda r, u, d, i, p: max(0.0, forget_score(r, u, d, i, p))),
                "The score may be negative: that is a card in no danger at all.",
            ),
            Wrong(
                "no refusal",
                _without_refusal,
                "A part outside 0 to 1 was computed wrongly before. Refuse it.",
            ),
        ),
    ),
    Task(
        reference=decide,
        points=2,
        inputs=_cards,
        right=(decide_step_by_step, decide_from_the_end),
        wrong=(
            Wrong(
                "score or age",
                _deciding(
                    lambda s, age, kind: s >= 0.6 or age >= SOFT_TTL[kind],
                    _hard,
                ),
                "Both must hold: a high score and an age past the TTL.",
            ),
            Wrong(
                "thresholds must be passed",
                _deciding(
                    lambda s, age, kind: s > 0.6 and age >= SOFT_TTL[kind],
                    lambda s, age, kind: s > 0.8 and age >= HARD_TTL[kind],
                ),
                "Reaching a threshold exactly is enough.",
            ),
            Wrong(
                "age ignored",
                _deciding(lambda s, age, kind: s >= 0.6, lambda s, age, kind: s >= 0.8),
                "A young card is safe, whatever its score. What is the TTL for?",
            ),
            Wrong(
                "pin ignored",
                _deciding(_soft, _hard, spare=False),
                "A pin is also a rule: no sweep takes a pinned card.",
            ),
            Wrong(
                "one TTL for both",
                _deciding(_soft, lambda s, age, kind: s >= 0.8 and age >= SOFT_TTL[kind]),
                "Hard deletion has a longer TTL of its own.",
            ),
            Wrong(
                "too young for hard is kept",
                _deciding(lambda s, age, kind: s < 0.8 and _soft(s, age, kind), _hard),
                "A card that may not go for good yet may still go to soft.",
            ),
            Wrong(
                "semantic goes like episodic",
                _deciding(
                    lambda s, age, kind: _soft(s, age, _as_episodic(kind)),
                    lambda s, age, kind: _hard(s, age, _as_episodic(kind)),
                ),
                "What is the TTL of a semantic card, and can any age reach it?",
            ),
            Wrong(
                "an unknown kind is kept",
                _deciding(_soft, _hard, refuse=lambda age, kind: _card(age, "working")),
                "A kind without a TTL cannot be decided. Refuse it.",
            ),
        ),
    ),
    Task(
        reference=review,
        points=3,
        inputs=_clocks,
        right=(review_by_powers, review_by_what_is_left),
        wrong=(
            Wrong(
                "tau is the half-life",
                _reviewing(
                    lambda t, tau: 0.5 ** (t / tau),
                    lambda t, tau: max(0.0, tau * math.log2(1 / 0.7) - t),
                ),
                "After tau days, is half left? Put t = tau into the formula.",
            ),
            Wrong(
                "due at a half",
                _reviewing(_p, lambda t, tau: max(0.0, tau * math.log(2) - t)),
                "A card is due long before a half is gone: at which probability?",
            ),
            Wrong(
                "wait from the last review",
                _reviewing(_p, lambda t, tau: tau * math.log(1 / 0.7) * (_left(t, tau) > 0)),
                "The wait is asked from now. Some of it has passed already.",
            ),
            Wrong(
                "overdue is negative",
                _reviewing(_p, lambda t, tau: tau * math.log(1 / 0.7) - t),
                "A card that is due already waits 0 days, not fewer.",
            ),
            Wrong(
                "due at seven tenths of tau",
                _reviewing(_p, lambda t, tau: max(0.0, 0.7 * tau - t)),
                "0.7 is a probability, not a share of tau. Solve for t.",
            ),
            Wrong(
                "probability of forgetting",
                _reviewing(lambda t, tau: 1 - _p(t, tau), _left),
                "Just after a review, is the probability of recall 0 or 1?",
            ),
            Wrong(
                "no refusal",
                _any_tau,
                "A tau of 0 or below, or days below 0, mean nothing. Refuse them.",
            ),
        ),
    ),
    Task(
        reference=next_interval,
        points=3,
        inputs=_intervals,
        right=(next_interval_by_fractions, next_interval_from_below),
        wrong=(
            Wrong(
                "a stray bit rounds up",
                _spacing(lambda n, i, u: math.ceil(n * (1 + 0.5 * i + 0.3 * u))),
                "What does your product look like for 10 days, 0.2 and 1? Print all its digits.",
            ),
            Wrong(
                "rounded to the nearest",
                _spacing(lambda n, i, u: round(_product(n, i, u))),
                "The preset rounds up, always.",
            ),
            Wrong(
                "rounded down",
                _spacing(lambda n, i, u: math.floor(_product(n, i, u))),
                "The preset rounds up, never down.",
            ),
            Wrong(
                "no second step",
                _spacing(lambda n, i, u: math.ceil(_product(n, i, u)), first=None),
                "After the first day comes a fixed interval, before the formula begins.",
            ),
            Wrong(
                "weights swapped",
                _spacing(lambda n, i, u: math.ceil(_product(n, u, i))),
                "Which of the two gains is the larger, importance or usage?",
            ),
            Wrong(
                "gains multiplied",
                _spacing(lambda n, i, u: math.ceil(round(n * (1 + i / 2) * (1 + 0.3 * u), 9))),
                "There is one bracket: the gains are added in it.",
            ),
            Wrong(
                "days not whole",
                _spacing(lambda n, i, u: _product(n, i, u)),
                "Nobody reviews after 7.5 days: the interval is a whole number.",
            ),
            Wrong(
                "no refusal",
                _no_limits,
                "An interval below 1, or a part outside 0 to 1, must be refused.",
            ),
        ),
    ),
    Task(
        reference=dup_ratios,
        points=3,
        inputs=_shelves,
        right=(dup_ratios_in_order, dup_ratios_pair_by_pair),
        wrong=(
            Wrong(
                "both copies are duplicates",
                _ranking(lambda j, i: j[2] != i[2]),
                "Then both may go. Only a card that outranks this one counts.",
            ),
            Wrong(
                "a card resembles itself",
                _ranking(lambda j, i: _rank(j) <= _rank(i)),
                "Every card has cosine 1 with itself. Leave it out.",
            ),
            Wrong(
                "the less important survives",
                _ranking(lambda j, i: (j[0], j[1], j[2]) < (i[0], i[1], i[2])),
                "Which of two copies would you keep, the more or the less important?",
            ),
            Wrong(
                "the older survives",
                _ranking(lambda j, i: (-j[0], -j[1], j[2]) < (-i[0], -i[1], i[2])),
                "Among cards as important, the newer one outranks.",
            ),
            Wrong(
                "only the date counts",
                _ranking(lambda j, i: (j[1], j[2]) < (i[1], i[2])),
                "Importance comes first; the date decides only between cards as important.",
            ),
            Wrong(
                "equals do not count",
                _ranking(lambda j, i: (-j[0], j[1]) < (-i[0], i[1])),
                "Where importance and date are equal, the first in the list outranks.",
            ),
            Wrong(
                "negative likeness",
                _ranking(_above, join=lambda found: max(found) if found else 0.0),
                "A cosine below 0 counts as 0.",
            ),
            Wrong(
                "average likeness",
                _ranking(_above, join=lambda found: sum(found) / len(found) if found else 0.0),
                "One good copy is enough: take the largest, not the mean.",
            ),
            Wrong(
                "cut to fit",
                _cut_to_fit,
                "A table that is not square, or a list of another length, must be refused.",
            ),
        ),
    ),
)
