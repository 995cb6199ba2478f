"""Chapter 11's tasks: references, inputs, misconceptions."""

import math
import random
import statistics
from collections import Counter, defaultdict

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.evaluation": (
        *("evidence_recall", "expected_recall"),
        *("paired_bootstrap", "resample", "signs_by_group"),
        *("group_means", "cluster_bootstrap"),
    ),
    "course.measure.experiment": ("evidence_ranks", "measure_recalls"),
    "course.measure.leaderboard": ("leave_one_out", "recall"),
    "course.measure.people": ("leave_a_person_out", "best"),
    "course.measure.readings": ("measures",),
    "memlib.evaluate": ("recalls", "leaderboard", "questions_needed"),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "recalls": (
        "memlib.evaluation:evidence_recall",
        "memlib.evaluation:expected_recall",
        "course.measure.experiment:evidence_ranks",
        "course.measure.experiment:measure_recalls",
        "course.measure.leaderboard:recall",
        "course.measure.readings:measures",
        "memlib.evaluate:recalls",
    ),
    "differences": (),
    "signs": (
        "memlib.evaluation:signs_by_group",
        "memlib.evaluation:group_means",
        "memlib.evaluate:leaderboard",
    ),
    "questions_needed": ("memlib.evaluate:questions_needed",),
    "interval": (
        "memlib.evaluation:paired_bootstrap",
        "memlib.evaluation:resample",
        "memlib.evaluation:cluster_bootstrap",
        "memlib.evaluate:leaderboard",
    ),
    "leave_one_out": (
        "course.measure.leaderboard:leave_one_out",
        "course.measure.people:leave_a_person_out",
        "course.measure.people:best",
    ),
}

CARDS = ["bees", "choir", "ink", "leeks", "miso", "rent", "slate", "tuner", "van", "vet"]


# --- recalls -----------------------------------------------------------------------------------
def recalls(rankings, wanted, top_k):
    if top_k < 1 or not all(wanted.values()):
        raise ValueError("nothing is retrieved, or a question wants nothing")
    found = {}
    for question, cards in wanted.items():
        first = rankings.get(question, [])[:top_k]
        found[question] = 100 * len(set(first) & set(cards)) / len(set(cards))
    return found


def recalls_by_counting(rankings, wanted, top_k):
    if not top_k >= 1 or any(len(cards) == 0 for cards in wanted.values()):
        raise ValueError(top_k)
    return {
        q: 100 * statistics.fmean(card in rankings.get(q, ())[:top_k] for card in set(cards))
        for q, cards in wanted.items()
    }


def recalls_by_places(rankings, wanted, top_k):
    if top_k <= 0:
        raise ValueError(top_k)
    shares = dict.fromkeys(wanted, 0.0)
    for question, cards in wanted.items():
        if not cards:
            raise ValueError(question)
        for place, card in enumerate(rankings.get(question) or [], 1):
            if place <= top_k and card in cards:
                shares[question] += 100 / len(Counter(cards))
    return shares


def _recalling(share, missing=0.0):
    """A wrong recall with the guards of the reference; missing None leaves such questions out."""

    def found(rankings, wanted, top_k):
        if top_k < 1 or not all(wanted.values()):
            raise ValueError("refused")
        told = {}
        for question, cards in wanted.items():
            if question in rankings or missing is not None:
                told[question] = float(share(rankings.get(question, []), cards, top_k))
        return told

    return found


def _percent(ranking, cards, k):
    return 100 * len(set(ranking[:k]) & set(cards)) / len(set(cards))


def _searched(rng: random.Random):
    def drawn(missing=False):
        rankings, wanted = {}, {}
        for number in range(rng.randint(3, 6)):
            rankings[f"q{number}"] = rng.sample(CARDS, len(CARDS))
            wanted[f"q{number}"] = rng.sample(CARDS, rng.randint(1, 4))
        if missing:
            del rankings[rng.choice(list(rankings))]
        return rankings, wanted, rng.randint(2, 5)

    a, b, c, d, e = rng.sample(CARDS, 5)
    ranking = {"q": [a, b, c, d]}
    return [
        *(drawn() for _ in range(6)),
        *(drawn(missing=True) for _ in range(3)),
        (ranking, {"q": [b, e]}, 3),
        (ranking, {"q": [d]}, 3),
        (ranking, {"q": [d]}, 9),
        (ranking, {"q": [a, a, d]}, 2),
        (ranking, {"q": [a]}, 1),
        (ranking, {"q": [e, b]}, 1),
        (ranking | {"r": [e]}, {"q": [c]}, 3),
        ({}, {"q": [a]}, 3),
        (ranking, {}, 3),
        (ranking, {"q": [a]}, 0),
        (ranking, {"q": [a]}, -rng.randint(1, 3)),
        (ranking, {"q": [a], "r": []}, 3),
    ]


# --- differences -------------------------------------------------------------------------------
def differences(first, second):
    if first.keys() != second.keys():
        raise ValueError("not the same questions")
    return {question: second[question] - first[question] for question in first}


def differences_in_a_loop(first, second):
    gains = {}
    for question in sorted({*first, *second}):
        if question not in first or question not in second:
            raise ValueError(question)
        gains[question] = -(first[question] - second[question])
    return gains


def differences_from_a_copy(first, second):
    if len(first) != len(second) or set(first) - set(second):
        raise ValueError("one was asked something else")
    gains = dict(second)
    for question, recall in first.items():
        gains[question] -= recall
    return gains


def _paired(gains):
    """A wrong way of pairing that refuses what the reference refuses."""

    def told(first, second):
        if first.keys() != second.keys():
            raise ValueError("not the same questions")
        return gains(first, second)

    return told


def _by_place(first, second):
    return {q: b - a for q, a, b in zip(first, first.values(), second.values())}


def _mean_for_all(first, second):
    gain = (sum(second.values()) - sum(first.values())) / max(1, len(first))
    return dict.fromkeys(first, gain)


def _shared_only(first, second):
    return {q: second[q] - first[q] for q in first if q in second}


def _missing_is_nothing(first, second):
    return {q: second.get(q, 0) - first.get(q, 0) for q in {**first, **second}}


def _two_methods(rng: random.Random):
    def recall():
        return rng.choice([0, 0, 25, 50, 50, 75, 100, 100])

    def shuffled(table):
        names = list(table)
        rng.shuffle(names)
        return {name: table[name] for name in names}

    def drawn():
        names = [f"q{i}" for i in range(rng.randint(4, 7))]
        return {q: recall() for q in names}, shuffled({q: recall() for q in names})

    x, y = sorted(rng.sample(range(1, 99), 2))
    short = {"q1": x, "q2": y}
    return [
        *(drawn() for _ in range(6)),
        (short, {"q2": y + 1, "q1": x}),
        (short, {"q2": x, "q1": y}),
        ({"q1": y}, {"q1": x}),
        (short, short),
        ({}, {}),
        (short, {"q1": x}),
        ({"q2": x}, short),
        (short, {"q1": x, "q3": y}),
        ({}, {"q1": x}),
    ]


# --- signs -------------------------------------------------------------------------------------
def signs(differences, groups):
    if not differences.keys() <= groups.keys():
        raise ValueError("a question of no group")
    together = defaultdict(list)
    for question, difference in differences.items():
        together[groups[question]].append(difference)
    means = [sum(found) / len(found) for found in together.values()]
    better, worse = sum(mean > 1e-9 for mean in means), sum(mean < -1e-9 for mean in means)
    return [better, len(means) - better - worse, worse]


def signs_group_by_group(differences, groups):
    counts = [0, 0, 0]
    for question in differences:
        if question not in groups:
            raise ValueError(question)
    for group in {groups[question] for question in differences}:
        mean = statistics.fmean(d for q, d in differences.items() if groups[q] == group)
        counts[1 if math.isclose(mean, 0, abs_tol=1e-9) else 0 if mean > 0 else 2] += 1
    return counts


def signs_by_sums(differences, groups):
    if set(differences) - set(groups):
        raise ValueError("no group")
    total, size = Counter(), Counter()
    for question, difference in differences.items():
        total[groups[question]] += difference
        size[groups[question]] += 1
    rounded = [round(total[group] / size[group], 9) for group in size]
    return [sum(x > 0 for x in rounded), rounded.count(0), sum(x < 0 for x in rounded)]


def _signing(count, means=None):
    """A wrong count, of the groups' means or of other numbers, that refuses as the reference."""

    def told(differences, groups):
        if not differences.keys() <= groups.keys():
            raise ValueError("a question of no group")
        return count((means or _means)(differences, groups))

    return told


def _means(differences, groups):
    together = defaultdict(list)
    for question, difference in differences.items():
        together[groups[question]].append(difference)
    return [round(statistics.fmean(found), 12) for found in together.values()]


def _counted(values):
    plus, minus = sum(x > 0 for x in values), sum(x < 0 for x in values)
    return [plus, len(values) - plus - minus, minus]


def _votes(differences, groups):
    signed = {q: (d > 0) - (d < 0) for q, d in differences.items()}
    return _means(signed, groups)


def _unrounded(differences, groups):
    together = defaultdict(list)
    for question, difference in differences.items():
        together[groups[question]].append(difference)
    return [sum(found) / len(found) for found in together.values()]


def _every_group(differences, groups):
    empty = set(groups.values()) - {groups[q] for q in differences}
    return _means(differences, groups) + [0] * len(empty)


def _asked_in_groups(rng: random.Random):
    def drawn():
        names = [f"q{i}" for i in range(rng.randint(6, 12))]
        groups = {q: f"talk {rng.randint(1, 4)}" for q in names}
        return {q: rng.choice([-100, -50, 0, 0, 25, 50, 100]) for q in names}, groups

    x = rng.randint(10, 90)
    one = {"q1": "ann", "q2": "ann", "q3": "ann", "q4": "ben", "q5": "cy", "q6": "cy"}
    return [
        *(drawn() for _ in range(6)),
        ({"q1": x, "q2": -x, "q4": -x, "q5": x}, one),
        ({"q1": -x, "q2": -x, "q3": 3 * x, "q4": x}, one),
        ({"q1": x, "q2": x, "q3": -3 * x, "q4": x, "q5": 0}, one),
        ({"q1": 0.1, "q2": 0.2, "q3": -0.3, "q4": -x}, one),
        ({"q1": x, "q2": -x + 0.5, "q4": -0.1}, one),
        ({"q5": 0.0, "q6": 0.0}, one),
        ({"q1": -x, "q4": x, "q5": -x}, one),
        ({"q4": -x}, one),
        ({"q4": 2e-9, "q5": -2e-9, "q1": 3e-10}, one),
        ({"q4": 0.0, "q5": -3e-10, "q1": -2e-9}, one),
        ({"q1": 4e-10, "q2": 4e-10, "q3": 4e-10, "q4": x}, one),
        ({}, one),
        ({}, {}),
        ({"q1": x, "q9": x}, one),
        ({"q1": x}, {}),
    ]


# --- questions_needed --------------------------------------------------------------------------
def questions_needed(differences, points):
    if points <= 0:
        raise ValueError("no difference to look for")
    needed = (1.96 + 0.84) * statistics.stdev(differences) / points  # refuses fewer than two
    return max(1, math.ceil(needed**2))


def questions_needed_by_hand(differences, points):
    if not points > 0:
        raise ValueError(points)
    if len(differences) in (0, 1):
        raise ValueError("one question has no spread")
    mean = sum(differences) / len(differences)
    variance = sum((d - mean) ** 2 for d in differences) / (len(differences) - 1)
    return math.ceil(2.8**2 * variance / points**2) or 1


def questions_needed_from_squares(differences, points):
    n = len(differences)
    if n <= 1 or points <= 0:
        raise ValueError(n, points)
    among = sum((a - b) ** 2 for a in differences for b in differences) / (2 * n * (n - 1))
    needed = (1.96 + 0.84) * math.sqrt(among) / points
    return max(1, -int(-(needed**2) // 1))


def _needing(formula, join=math.ceil):
    """A wrong number of questions that refuses what the reference refuses."""

    def told(differences, points):
        if points <= 0 or len(differences) < 2:
            raise ValueError("refused")
        return max(1, join(formula(statistics.stdev(differences), points, differences)))

    return told


def _any_points(differences, points):
    if points == 0 or len(differences) < 2:
        raise ValueError("refused")
    return max(1, math.ceil((2.8 * statistics.stdev(differences) / points) ** 2))


def _spreads(rng: random.Random):
    """Differences and points such that the number is nowhere near a whole one."""

    def case(needed, size=None, values=(-100, -50, 0, 0, 0, 50, 100)):
        found = [rng.choice(values) for _ in range(size or rng.randint(8, 20))]
        found += [rng.choice([50, 100]), rng.choice([0, -50])]
        return found, 2.8 * statistics.stdev(found) / math.sqrt(needed)

    x = rng.randint(20, 90)
    return [
        *(case(rng.randint(40, 900) + rng.choice([0.2, 0.35, 0.7])) for _ in range(6)),
        case(rng.randint(100, 300) + 0.2),
        case(rng.randint(100, 300) + 0.8),
        case(rng.randint(2000, 9000) + 0.3, size=3),
        case(1.3),
        ([0, x], x / 3),
        ([x, x, x, x - 1], 50),
        ([x, x, x], 2),
        ([0, 0], 5),
        ([0, x], rng.uniform(0.4, 0.9)),
        ([x], 2),
        ([], 2),
        ([0, x, x], 0),
        ([0, x, x], -rng.randint(1, 5)),
        ([0, x, x], -0.5),
    ]


# --- interval ----------------------------------------------------------------------------------
def interval(first, second, draws):
    if len(first) != len(second) or not draws or not all(draws):
        raise ValueError("not the same questions, or nothing was drawn")
    gains = [b - a for a, b in zip(first, second)]
    means = sorted(sum(gains[i] for i in drawn) / len(drawn) for drawn in draws)
    ends = []
    for place in (0.025 * (len(means) - 1), 0.975 * (len(means) - 1)):
        below, above = means[math.floor(place)], means[math.ceil(place)]
        ends.append(below + (place - math.floor(place)) * (above - below))
    return ends


def interval_method_by_method(first, second, draws):
    if len(draws) == 0 or min(map(len, draws)) == 0 or len(first) != len(second):
        raise ValueError(draws)
    a = [statistics.fmean(first[i] for i in drawn) for drawn in draws]
    b = [statistics.fmean(second[i] for i in drawn) for drawn in draws]
    means = sorted(y - x for x, y in zip(a, b))
    means.append(means[-1])
    whole, rest = divmod((len(draws) - 1) * 25, 1000)
    weight, last = rest / 1000, len(draws) - 1
    low = (1 - weight) * means[whole] + weight * means[whole + 1]
    high = (1 - weight) * means[last - whole] + weight * means[last - whole - (rest > 0)]
    return [low, high]


def interval_by_library(first, second, draws):
    if len(first) != len(second):
        raise ValueError("lengths")
    means = []
    for drawn in draws:
        if not drawn:
            raise ValueError("an empty draw")
        means.append(sum(second[i] - first[i] for i in drawn) / len(drawn))
    if not means:
        raise ValueError("no draws")
    cuts = statistics.quantiles(means * (2 if len(means) == 1 else 1), n=40, method="inclusive")
    return [cuts[0], cuts[-1]]


def _percentiles(values, share=0.025):
    ordered = sorted(values)

    def at(place):
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return [at(share * (len(ordered) - 1)), at((1 - share) * (len(ordered) - 1))]


def _means_of(values, draws):
    return [sum(values[i] for i in drawn) / len(drawn) for drawn in draws]


def _spanning(ends):
    """A wrong interval with the guards of the reference, handed the differences."""

    def told(first, second, draws):
        if len(first) != len(second) or not draws or not all(draws):
            raise ValueError("refused")
        return ends([b - a for a, b in zip(first, second)], draws, first, second)

    return told


def _apart(gains, draws, first, second):
    other = draws[1:] + draws[:1]
    pairs = zip(_means_of(first, other), _means_of(second, draws))
    return _percentiles([b - a for a, b in pairs])


def _subtracted(gains, draws, first, second):
    a, b = _percentiles(_means_of(first, draws)), _percentiles(_means_of(second, draws))
    return [b[0] - a[1], b[1] - a[0]]


def _like_ends(gains, draws, first, second):
    a, b = _percentiles(_means_of(first, draws)), _percentiles(_means_of(second, draws))
    return [b[0] - a[0], b[1] - a[1]]


def _two_errors(gains, draws, first, second):
    means, middle = _means_of(gains, draws), sum(gains) / len(gains)
    spread = 1.96 * statistics.pstdev(means)
    return [middle - spread, middle + spread]


def _next_draw(gains, draws, first, second):
    means = sorted(_means_of(gains, draws))
    last = len(means) - 1
    return [float(means[math.floor(0.025 * last)]), float(means[math.ceil(0.975 * last)])]


def _resampled(rng: random.Random):
    def recall():
        return rng.choice([0, 0, 50, 100, 100, 25, 75])

    def drawn(times, size=None):
        n = size or rng.randint(5, 9)
        first, second = [recall() for _ in range(n)], [recall() for _ in range(n)]
        first[:2], second[:2] = [0, 100], [100, 50]
        return first, second, [[rng.randrange(n) for _ in range(n)] for _ in range(times)]

    x = rng.randint(10, 90)
    return [
        *(drawn(rng.randint(25, 38)) for _ in range(6)),
        drawn(41),
        drawn(40),
        drawn(10),
        drawn(60, size=3),
        ([0, x], [x, 0], [[0, 0], [0, 1], [1, 1]]),
        ([0, x, 0], [x, x, 0], [[0, 0, 1], [2, 2, 0], [1, 2, 2]]),
        ([0, 0], [x, x], [[0, 1], [1, 1]]),
        ([0, 0], [x, 0], [[0, 1]]),
        ([x, 0], [0, 0], [[0, 0], [0, 1], [1, 0], [1, 1]]),
        ([0, x], [x, 0], []),
        ([0, x], [x, 0], [[0, 1], []]),
        ([0, x], [x], [[0, 0]]),
        ([x], [x, 0], [[0, 0]]),
        ([], [], []),
    ]


# --- leave_one_out -----------------------------------------------------------------------------
def leave_one_out(scores):
    groups = next(iter(scores.values()), {})
    if len(groups) < 2 or any(row.keys() != groups.keys() for row in scores.values()):
        raise ValueError("nothing to choose on")
    choices = {}
    for left_out in groups:
        others = {name: sum(row.values()) - row[left_out] for name, row in scores.items()}
        choices[left_out] = max(others, key=others.get)
    found = [scores[choices[group]][group] for group in groups]
    return [choices, sum(found) / len(found)]


def leave_one_out_by_sorting(scores):
    names = list(scores)
    if not names or len(scores[names[0]]) <= 1:
        raise ValueError("one group, or none")
    if len({frozenset(row) for row in scores.values()}) != 1:
        raise ValueError("groups differ")

    def choice(group):
        return sorted(names, key=lambda n: -sum(s for g, s in scores[n].items() if g != group))[0]

    chosen = {group: choice(group) for group in scores[names[0]]}
    return chosen, statistics.fmean(scores[name][group] for group, name in chosen.items())


def leave_one_out_in_a_loop(scores):
    groups = sorted({group for row in scores.values() for group in row})
    if len(groups) < 2:
        raise ValueError(groups)
    choices, total = {}, 0.0
    for group in groups:
        best = -math.inf
        for name, row in scores.items():
            if sorted(row) != groups:
                raise ValueError(name)
            mean = math.fsum(row[other] for other in groups if other != group) / (len(groups) - 1)
            if mean > best:
                best, choices[group] = mean, name
        total += scores[choices[group]][group]
    return [choices, total / len(groups)]


def _leaving(choose, judge=None):
    """A wrong way to choose a setting for each group, or to judge it."""

    def told(scores):
        groups = list(next(iter(scores.values()), {}))
        if len(groups) < 2 or any(row.keys() != set(groups) for row in scores.values()):
            raise ValueError("refused")
        choices = {group: choose(scores, group) for group in groups}
        found = judge or (lambda s, c: [s[c[g]][g] for g in groups])
        return [choices, statistics.fmean(found(scores, choices))]

    return told


def _best(scores, rate):
    rated = {name: rate(row) for name, row in scores.items()}
    return max(rated, key=rated.get)


def _others(scores, group, sign=1):
    return _best(scores, lambda row: sign * (sum(row.values()) - row[group]))


def _last_of_a_tie(scores, group):
    return _others(dict(reversed(scores.items())), group)


def _best_single_group(scores, group):
    return _best(scores, lambda row: max(x for g, x in row.items() if g != group))


def _on_the_others(scores, choices):
    return [
        statistics.fmean(x for g, x in scores[name].items() if g != group)
        for group, name in choices.items()
    ]


def _most_chosen(scores, choices):
    counted = Counter(choices.values())
    name = max(scores, key=lambda n: counted[n])
    return list(scores[name].values())


def _groups_may_differ(scores):
    groups = list(next(iter(scores.values()), {}))
    if len(groups) < 2:
        raise ValueError("refused")
    filled = {name: {g: row.get(g, 0) for g in groups} for name, row in scores.items()}
    return leave_one_out(filled)


def _settings(rng: random.Random):
    """Scores in halves: ties are exact. In every draw, a group on which the favourite fails."""

    def drawn():
        groups = [f"talk {i}" for i in range(1, rng.randint(4, 6))]
        names = rng.sample(["names", "plain", "rrf", "stem", "words"], rng.randint(2, 4))
        return ({n: {g: rng.randint(80, 160) / 2 for g in groups} for n in names},)

    x = rng.randint(50, 60)
    plain = {"a": x, "b": x, "c": x}
    lucky = {"a": x + 30, "b": x - 10, "c": x - 14}
    return [
        *(drawn() for _ in range(8)),
        ({"plain": plain, "words": lucky},),
        ({"words": lucky, "plain": plain},),
        ({"words": plain, "plain": dict(plain)},),
        ({"z": {"a": x, "b": x + 2, "c": x}, "y": {"a": x, "b": x, "c": x + 4}, "x": plain},),
        ({"plain": {"a": x, "b": 0}, "words": {"b": x + 1, "a": 1}},),
        ({"plain": {"a": -x, "b": -1}, "words": {"a": -2, "b": -x}},),
        ({"plain": plain},),
        ({"plain": {"a": x}, "words": {"a": x + 1}},),
        ({"plain": plain, "words": {"a": x, "b": x}},),
        ({"plain": {"a": x, "b": x}, "words": plain},),
        ({"plain": plain, "words": {"a": x, "b": x, "d": x}},),
        ({"plain": {}},),
        ({},),
    ]


TASKS = (
    Task(
        reference=recalls,
        points=1,
        inputs=_searched,
        right=(recalls_by_counting, recalls_by_places),
        wrong=(
            Wrong(
                "divided by k",
                _recalling(lambda r, w, k: 100 * len(set(r[:k]) & set(w)) / k),
                "That is precision. Recall is a share of the wanted cards, not of the places.",
            ),
            Wrong(
                "hit or miss",
                _recalling(lambda r, w, k: 100 if set(r[:k]) & set(w) else 0),
                "Half of what the answer needs is half found, not all of it.",
            ),
            Wrong(
                "all or nothing",
                _recalling(lambda r, w, k: 100 if set(w) <= set(r[:k]) else 0),
                "This is how the exam counts. Recall is a share.",
            ),
            Wrong(
                "the cut forgotten",
                _recalling(lambda r, w, k: _percent(r, w, len(r))),
                "Only the first top_k cards are retrieved; what stands below does not count.",
            ),
            Wrong(
                "one too many",
                _recalling(lambda r, w, k: _percent(r, w, k + 1)),
                "With top_k of 3, three cards are retrieved.",
            ),
            Wrong(
                "unanswered left out",
                _recalling(_percent, missing=None),
                "A question without a ranking was asked, too. Leaving it out flatters the method.",
            ),
            Wrong(
                "a share, no percent",
                _recalling(lambda r, w, k: _percent(r, w, k) / 100),
                "Recall is told in percent here: everything found is 100.",
            ),
        ),
    ),
    Task(
        reference=differences,
        points=1,
        inputs=_two_methods,
        right=(differences_in_a_loop, differences_from_a_copy),
        wrong=(
            Wrong(
                "paired by place",
                _paired(_by_place),
                "The two dicts need not hold the questions in one order: pair by id.",
            ),
            Wrong(
                "first minus second",
                _paired(lambda a, b: {q: a[q] - b[q] for q in a}),
                "Above 0 the second method shall be better.",
            ),
            Wrong(
                "sizes without a sign",
                _paired(lambda a, b: {q: abs(b[q] - a[q]) for q in a}),
                "A question that got worse counts against the second method: keep the sign.",
            ),
            Wrong(
                "the difference of the means",
                _paired(_mean_for_all),
                "One difference a question is asked for; the means have lost the pairs.",
            ),
            Wrong(
                "ties left out",
                _paired(lambda a, b: {q: b[q] - a[q] for q in a if a[q] != b[q]}),
                "A question on which both are alike counts, as 0. Without it, gains look larger.",
            ),
            Wrong(
                "what both were asked",
                _shared_only,
                "Methods that were asked different questions are no pair. Refuse them.",
            ),
            Wrong(
                "missing is nothing",
                _missing_is_nothing,
                "A method that was not asked has not failed. Refuse what is no pair.",
            ),
        ),
    ),
    Task(
        reference=signs,
        points=2,
        inputs=_asked_in_groups,
        right=(signs_group_by_group, signs_by_sums),
        wrong=(
            Wrong(
                "questions instead of groups",
                _signing(_counted, lambda d, g: list(d.values())),
                "Count groups: questions of one conversation are not independent.",
            ),
            Wrong(
                "a vote in each group",
                _signing(_counted, _votes),
                "A group's mean decides, not how many of its questions are above 0.",
            ),
            Wrong(
                "a zero is a win",
                _signing(lambda m: [sum(x >= 0 for x in m), 0, sum(x < 0 for x in m)]),
                "No difference is no win. Equal groups have a place of their own.",
            ),
            Wrong(
                "a zero is a loss",
                _signing(lambda m: [sum(x > 0 for x in m), 0, sum(x <= 0 for x in m)]),
                "No difference is no loss. Equal groups have a place of their own.",
            ),
            Wrong(
                "better and worse swapped",
                _signing(lambda m: _counted(m)[::-1]),
                "A difference above 0 says that the second method is better.",
            ),
            Wrong(
                "rounding noise is a sign",
                _signing(_counted, _unrounded),
                "0.1 + 0.2 − 0.3 is not quite 0 in a computer. Allow for that.",
            ),
            Wrong(
                "rounded to whole points",
                _signing(lambda m: _counted([round(x) for x in m])),
                "A mean of half a point is small, but it has a sign.",
            ),
            Wrong(
                "groups without questions",
                _signing(_counted, _every_group),
                "A group that was asked nothing is not equal: nothing is known of it.",
            ),
        ),
    ),
    Task(
        reference=questions_needed,
        points=2,
        inputs=_spreads,
        right=(questions_needed_by_hand, questions_needed_from_squares),
        wrong=(
            Wrong(
                "population spread",
                _needing(lambda sd, points, d: (2.8 * statistics.pstdev(d) / points) ** 2),
                "Your questions are a sample: divide the squares by one less than their number.",
            ),
            Wrong(
                "no chance to miss it",
                _needing(lambda sd, points, d: (1.96 * sd / points) ** 2),
                "With 1.96 alone you would miss a true difference every second time.",
            ),
            Wrong(
                "not squared",
                _needing(lambda sd, points, d: 2.8 * sd / points),
                "An interval shrinks with the root of the number: half as wide takes four times.",
            ),
            Wrong(
                "two groups",
                _needing(lambda sd, points, d: 2 * (2.8 * sd / points) ** 2),
                "Doubling is for two methods asked different questions. Yours are paired.",
            ),
            Wrong(
                "variance for spread",
                _needing(lambda sd, points, d: (2.8 * sd**2 / points) ** 2),
                "Take the standard deviation, the root of the variance.",
            ),
            Wrong(
                "error of the mean",
                _needing(lambda sd, points, d: (2.8 * sd / math.sqrt(len(d)) / points) ** 2),
                "The spread of one question is asked for, not that of the mean you have now.",
            ),
            Wrong(
                "rounded down",
                _needing(lambda sd, points, d: (2.8 * sd / points) ** 2, math.floor),
                "A part of a question cannot be asked, and one too few is too few: round up.",
            ),
            Wrong(
                "points below 0",
                _any_points,
                "How large a difference should be seen is a size, above 0. Refuse the rest.",
            ),
        ),
    ),
    Task(
        reference=interval,
        points=3,
        inputs=_resampled,
        right=(interval_method_by_method, interval_by_library),
        wrong=(
            Wrong(
                "resampled apart",
                _spanning(_apart),
                "Both methods must answer the same draw, else the luck of the draw counts twice.",
            ),
            Wrong(
                "two intervals subtracted",
                _spanning(_subtracted),
                "That interval is unpaired, and too wide: differences first, percentiles last.",
            ),
            Wrong(
                "end minus end",
                _spanning(_like_ends),
                "The ends of two intervals belong to different draws. Subtract within a draw.",
            ),
            Wrong(
                "percentiles of the questions",
                _spanning(lambda g, draws, a, b: _percentiles(g)),
                "How questions differ is one thing; how sure their mean is tell the draws.",
            ),
            Wrong(
                "each question once",
                _spanning(lambda g, draws, a, b: _percentiles(_means_of(g, map(set, draws)))),
                "A question that was drawn twice counts twice: that is what makes draws differ.",
            ),
            Wrong(
                "lowest and highest draw",
                _spanning(lambda g, draws, a, b: _percentiles(_means_of(g, draws), 0)),
                "The extremes grow with the number of draws. Leave 2.5% of them on each side.",
            ),
            Wrong(
                "five percent on each side",
                _spanning(lambda g, draws, a, b: _percentiles(_means_of(g, draws), 0.05)),
                "95% inside leaves 5% for both sides together.",
            ),
            Wrong(
                "no way between two draws",
                _spanning(_next_draw),
                "A place between two draws is reached by a straight line between their means.",
            ),
            Wrong(
                "twice the standard error",
                _spanning(_two_errors),
                "That presumes a bell. The percentiles of the draws presume nothing.",
            ),
            Wrong(
                "first minus second",
                _spanning(lambda g, draws, a, b: _percentiles(_means_of([-x for x in g], draws))),
                "Above 0 the second method shall be better.",
            ),
        ),
    ),
    Task(
        reference=leave_one_out,
        points=3,
        inputs=_settings,
        right=(leave_one_out_by_sorting, leave_one_out_in_a_loop),
        wrong=(
            Wrong(
                "chosen on everything",
                _leaving(lambda scores, group: _best(scores, lambda row: sum(row.values()))),
                "The group that judges had a say in the choice. Leave it out first.",
            ),
            Wrong(
                "the best of each group",
                _leaving(lambda scores, group: _best(scores, lambda row: row[group])),
                "Nobody knows beforehand what will be best on a new group: choose on the others.",
            ),
            Wrong(
                "judged where it was chosen",
                _leaving(_others, _on_the_others),
                "Choose on the others, but judge on the group that was left out.",
            ),
            Wrong(
                "one winner for all",
                _leaving(_others, _most_chosen),
                "The setting chosen most often was chosen with every group's help.",
            ),
            Wrong(
                "the last of a tie",
                _leaving(_last_of_a_tie),
                "Of equal settings the one that stands first wins.",
            ),
            Wrong(
                "one good group is enough",
                _leaving(_best_single_group),
                "Choose by the mean over the other groups, not by their best one.",
            ),
            Wrong(
                "the lowest wins",
                _leaving(lambda scores, group: _others(scores, group, -1)),
                "These are recalls: more is better.",
            ),
            Wrong(
                "a missing group is 0",
                _groups_may_differ,
                "A setting that was not measured on a group did not fail there. Refuse it.",
            ),
        ),
    ),
)
