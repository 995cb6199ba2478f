"""Chapter 07's tasks: references, inputs, misconceptions."""

import math
import random
import statistics
from collections import Counter

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.fusion": (),
    "memlib.evaluation": (
        *("evidence_recall", "expected_recall"),
        *("paired_bootstrap", "resample", "cluster_bootstrap"),
    ),
    "course.measure.experiment": ("evidence_ranks", "grid_scores", "rrf_scores", "measure_recalls"),
    "course.measure.leaderboard": ("recall", "total"),
    "course.measure.tuned": ("summed", "fused"),
    "course.measure.readings": ("measures",),
    "memlib.evaluate": ("recalls",),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "competition_ranks": ("memlib.fusion:competition_ranks",),
    "weighted_sum": (
        "memlib.fusion:weighted_sum",
        "course.measure.experiment:grid_scores",
        "course.measure.leaderboard:total",
        "course.measure.tuned:summed",
    ),
    "rrf_points": (
        "memlib.fusion:reciprocal_rank_fusion",
        "course.measure.experiment:rrf_scores",
        "course.measure.tuned:fused",
    ),
    "evidence_recall": (
        "memlib.evaluation:evidence_recall",
        "memlib.evaluation:expected_recall",
        "course.measure.experiment:evidence_ranks",
        "course.measure.experiment:measure_recalls",
        "course.measure.leaderboard:recall",
        "course.measure.readings:measures",
        "memlib.evaluate:recalls",
    ),
    "choose_and_judge": (),
    "verdict": (
        "memlib.evaluation:paired_bootstrap",
        "memlib.evaluation:resample",
        "memlib.evaluation:cluster_bootstrap",
    ),
}

CARDS = ["ink", "miso", "nina", "paris", "rent", "sam", "theo", "vinyl"]


# --- competition_ranks -------------------------------------------------------------------------
def competition_ranks(scores):
    if not all(map(math.isfinite, scores)):
        raise ValueError("a score is not finite")
    return [1 + sum(other > score for other in scores) for score in scores]


def competition_ranks_by_sorting(scores):
    if any(math.isnan(score) or math.isinf(score) for score in scores):
        raise ValueError(scores)
    ordered = sorted(scores, reverse=True)
    return [ordered.index(score) + 1 for score in scores]


def competition_ranks_by_counting(scores):
    place, places = 1, {}
    for score, times in sorted(Counter(scores).items(), reverse=True):
        if not math.isfinite(score):
            raise ValueError(score)
        places[score] = place
        place += times
    return [places[score] for score in scores]


def _finite(rank):
    """A wrong ranking that refuses what the reference refuses: the idea alone is wrong."""

    def ranked(scores):
        if not all(map(math.isfinite, scores)):
            raise ValueError("not finite")
        return rank(scores)

    return ranked


def _one_after_another(scores):
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    return [order.index(row) + 1 for row in range(len(scores))]


def _lets_nan_through(scores):
    return [1 + sum(other > score for other in scores) for score in scores]


def _score_lists(rng: random.Random):
    lists = [[rng.uniform(0, 1) for _ in range(rng.randint(2, 8))] for _ in range(6)]
    lists += [[rng.randint(1, 4) for _ in range(rng.randint(5, 9))] for _ in range(5)]
    level = rng.uniform(0.1, 0.9)
    lists += [[], [level], [level] * 3, [level, level, level / 2], [level, math.nan, 0.2]]
    return [(scores,) for scores in lists]


# --- weighted_sum ------------------------------------------------------------------------------
def weighted_sum(signals, weights):
    if set(signals) != set(weights):
        raise ValueError("the names differ")
    if any(weight < 0 for weight in weights.values()):
        raise ValueError("a weight is negative")
    columns = [[weights[name] * x for x in values] for name, values in signals.items()]
    return [sum(row) for row in zip(*columns)]


def weighted_sum_card_by_card(signals, weights):
    if signals.keys() != weights.keys() or min(weights.values(), default=0) < 0:
        raise ValueError(weights)
    cards = len(next(iter(signals.values()), []))
    return [math.fsum(weights[n] * signals[n][i] for n in weights) for i in range(cards)]


def weighted_sum_in_a_loop(signals, weights):
    total = []
    for name in sorted({*signals, *weights}):
        if name not in signals or name not in weights or weights[name] < 0:
            raise ValueError(name)
        total = total or [0.0] * len(signals[name])
        for row, value in enumerate(signals[name]):
            total[row] += value * weights[name]
    return total


def _weighing(join):
    """A wrong sum with the guards of the reference."""

    def scores(signals, weights):
        if set(signals) != set(weights) or any(weight < 0 for weight in weights.values()):
            raise ValueError("names or weights")
        return join(signals, weights)

    return scores


def _average(signals, weights):
    total = sum(weights.values()) or 1
    return [score / total for score in weighted_sum(signals, weights)]


def _scaled_again(signals, weights):
    scaled = {}
    for name, values in signals.items():
        low, span = min(values), max(values) - min(values)
        scaled[name] = [(x - low) / span if span else 0.0 for x in values]
    return weighted_sum(scaled, weights)


def _by_position(signals, weights):
    return weighted_sum(signals, dict(zip(signals, weights.values())))


def _all_alike(signals, weights):
    return [float(sum(row)) for row in zip(*signals.values())]


def _best_signal_only(signals, weights):
    return [
        max(weights[name] * x for name, x in zip(signals, row)) for row in zip(*signals.values())
    ]


def _no_refusal_of_names(signals, weights):
    if any(weight < 0 for weight in weights.values()):
        raise ValueError("a weight is negative")
    both = [name for name in signals if name in weights]
    return weighted_sum({n: signals[n] for n in both}, {n: weights[n] for n in both})


def _negative_weights_allowed(signals, weights):
    if set(signals) != set(weights):
        raise ValueError("the names differ")
    return [sum(weights[n] * x for n, x in zip(signals, row)) for row in zip(*signals.values())]


def _signals(rng: random.Random):
    names = ["dense", "bm25", "entity"]
    cases = []
    for _ in range(8):
        cards = rng.randint(2, 6)
        signals = {name: [rng.uniform(0.1, 0.9) for _ in range(cards)] for name in names}
        order = rng.choice([["bm25", "entity", "dense"], ["entity", "dense", "bm25"]])
        cases.append((signals, {name: rng.uniform(0.1, 0.7) for name in order}))
    some = {name: [rng.uniform(0.1, 0.9) for _ in range(3)] for name in names[:2]}
    x = rng.uniform(0.1, 0.9)
    cases += [
        (some, {"dense": 0, "bm25": 0}),
        ({"dense": [x]}, {"dense": 0.8}),
        (some, {"dense": 0.8, "bm25": -0.1}),
        (some, {"dense": -0.1, "bm25": 0.8}),
        (some, {"dense": 0.8, "entity": 0.1}),
        (some, {"dense": 0.8}),
    ]
    return cases


# --- rrf_points --------------------------------------------------------------------------------
def rrf_points(lists, rrf_k=60):
    if rrf_k <= 0:
        raise ValueError(f"rrf_k is {rrf_k}")
    points = {}
    for scores in lists:
        for card, score in scores.items():
            rank = 1 + sum(other > score for other in scores.values())
            points[card] = points.get(card, 0) + 1 / (rrf_k + rank)
    return points


def rrf_points_card_by_card(lists, rrf_k=60):
    if not rrf_k > 0:
        raise ValueError(rrf_k)

    def earned(card, scores):
        return 1 / (rrf_k + 1 + len([s for s in scores.values() if s > scores[card]]))

    cards = {card for scores in lists for card in scores}
    return {c: math.fsum(earned(c, scores) for scores in lists if c in scores) for c in cards}


def rrf_points_by_sorting(lists, rrf_k=60):
    points = Counter()
    if rrf_k <= 0:
        raise ValueError("rrf_k must be above 0")
    for scores in lists:
        ordered = sorted(scores.values(), reverse=True)
        for card in scores:
            points[card] += (rrf_k + ordered.index(scores[card]) + 1) ** -1
    return dict(points)


def _fusing(earn=None, join=sum, outside=None):
    """A wrong fusion; `earn` turns (rrf_k, rank, scores, card) into points."""
    earn = earn or (lambda k, rank, scores, card: 1 / (k + rank))

    def points(lists, rrf_k=60):
        if rrf_k <= 0:
            raise ValueError(rrf_k)
        earned = {card: [] for scores in lists for card in scores}
        for scores in lists:
            for card in earned:
                if card in scores:
                    rank = 1 + sum(other > scores[card] for other in scores.values())
                    earned[card].append(earn(rrf_k, rank, scores, card))
                elif outside:
                    earned[card].append(outside(rrf_k, scores))
        return {card: join(each) for card, each in earned.items()}

    return points


def _places_in_turn(k, rank, scores, card):
    order = sorted(scores, key=lambda name: -scores[name])
    return 1 / (k + order.index(card) + 1)


def _rankings(rng: random.Random):
    def ranking(values):
        cards = rng.sample(CARDS, rng.randint(3, 7))
        return {card: values() for card in cards}

    cases = []
    for _ in range(6):
        lists = [ranking(lambda: rng.uniform(-0.2, 0.9)), ranking(lambda: rng.uniform(1, 9))]
        cases.append((lists, rng.choice([1, 10, 60])))
    for _ in range(4):
        cases.append(([ranking(lambda: rng.randint(1, 3)) for _ in range(3)],))
    one, other, third = rng.sample(CARDS, 3)
    cases += [
        ([{one: 0.9, other: 0.9, third: 0.1}, {third: 5.0}],),
        ([{one: 0.4}, {}], 60),
        ([{one: 0.4, other: 0.3}], 1),
        ([],),
        ([{one: 0.4}], 0),
        ([{one: 0.4}], -rng.randint(1, 9)),
    ]
    return cases


# --- evidence_recall ---------------------------------------------------------------------------
def evidence_recall(ranking, evidence, top_k):
    wanted = set(evidence)
    if not wanted or top_k < 1:
        raise ValueError("no evidence, or nothing retrieved")
    return len(wanted & set(ranking[:top_k])) / len(wanted)


def evidence_recall_by_counting(ranking, evidence, top_k):
    if top_k <= 0 or len(evidence) == 0:
        raise ValueError(top_k)
    once = list(dict.fromkeys(evidence))
    return sum(turn in ranking[:top_k] for turn in once) / len(once)


def evidence_recall_by_places(ranking, evidence, top_k):
    if not evidence or top_k < 1:
        raise ValueError(evidence)
    place = {turn: i for i, turn in enumerate(ranking)}
    return statistics.fmean(place.get(turn, top_k) < top_k for turn in set(evidence))


def _recalling(count):
    """A wrong recall with the guards of the reference; evidence is handed over without doubles."""

    def recall(ranking, evidence, top_k):
        if not evidence or top_k < 1:
            raise ValueError("no evidence, or nothing retrieved")
        return count(ranking, list(dict.fromkeys(evidence)), top_k)

    return recall


def _hits(ranking, wanted, top_k):
    return len(set(wanted) & set(ranking[:top_k]))


def _doubles_count(ranking, evidence, top_k):
    if not evidence or top_k < 1:
        raise ValueError("no evidence, or nothing retrieved")
    return sum(turn in ranking[:top_k] for turn in evidence) / len(evidence)


def _no_evidence_is_nothing(ranking, evidence, top_k):
    return evidence_recall(ranking, evidence, top_k) if evidence else 0.0


def _talks(rng: random.Random):
    turns = [f"D{part}:{turn}" for part in (1, 2, 3) for turn in range(1, 9)]
    cases = []
    for _ in range(9):
        ranking = rng.sample(turns, 12)
        evidence = rng.sample(ranking[:6], 2) + rng.sample(ranking[6:], rng.randint(1, 2))
        cases.append((ranking, evidence, rng.choice([3, 6])))
    ranking = rng.sample(turns, 8)
    cases += [
        (ranking, [ranking[0], ranking[0], ranking[5]], 3),
        (ranking, [ranking[4]], 4),
        (ranking, [ranking[3]], 4),
        (ranking, [ranking[0], ranking[5]], 1),
        (ranking, ["D9:9"], 3),
        (ranking, ranking[:3], 20),
        (ranking, [], 3),
        (ranking, ranking[:1], 0),
    ]
    return cases


# --- choose_and_judge --------------------------------------------------------------------------
def choose_and_judge(rows, start):
    before = [row for row in rows if row["weights"] == start]
    if not before:
        raise ValueError("the start was not measured")
    best = max(rows, key=lambda row: (row["development"], row["weights"]))
    gains = [best[split] - before[0][split] for split in ("development", "held_out")]
    return [best["weights"], *gains]


def choose_and_judge_by_sorting(rows, start):
    recalls = {tuple(r["weights"]): (r["development"], r["held_out"]) for r in rows}
    if tuple(start) not in recalls:
        raise ValueError(start)
    chosen = sorted(recalls, key=lambda w: (-recalls[w][0], -w[0], -w[1]))[0]
    (here, there), (old_here, old_there) = recalls[chosen], recalls[tuple(start)]
    return [list(chosen), here - old_here, there - old_there]


def choose_and_judge_in_a_loop(rows, start):
    best = first = None
    for row in rows:
        if row["weights"] == start:
            first = row
        merit = (row["development"], *row["weights"])
        if best is None or merit > (best["development"], *best["weights"]):
            best = row
    if first is None:
        raise ValueError("no start")
    here = best["development"] - first["development"]
    return [best["weights"], here, best["held_out"] - first["held_out"]]


def _choosing(key, gains=None):
    """A wrong choice with the guard of the reference."""

    def chosen(rows, start):
        before = [row for row in rows if row["weights"] == start]
        if not before:
            raise ValueError("the start was not measured")
        best = max(rows, key=key)
        if gains:
            return [best["weights"], *gains(best, before[0], rows)]
        return [
            best["weights"],
            best["development"] - before[0]["development"],
            best["held_out"] - before[0]["held_out"],
        ]

    return chosen


def _honest(row):
    return (row["development"], row["weights"])


def _best_of_each(best, before, rows):
    top = max(row["held_out"] for row in rows)
    return best["development"] - before["development"], top - before["held_out"]


def _measured(rng: random.Random):
    grid = [[d / 10, b / 10, (10 - d - b) / 10] for d in range(11) for b in range(11 - d)]
    cases = []
    for _ in range(8):
        picked = rng.sample(grid, 7)
        rows = [
            {
                "weights": weights,
                "development": rng.randint(600, 800) / 10,
                "held_out": rng.randint(500, 700) / 10,
            }
            for weights in picked
        ]
        cases.append((rows, rng.choice(picked)))
    top = rng.randint(70, 80)
    tied = [
        {"weights": [0.5, 0.2, 0.3], "development": top, "held_out": 61},
        {"weights": [0.5, 0.4, 0.1], "development": top, "held_out": 62},
        {"weights": [0.4, 0.6, 0.0], "development": top, "held_out": 63},
        {"weights": [0.3, 0.1, 0.6], "development": top + 0.4, "held_out": 60},
        {"weights": [1.0, 0.0, 0.0], "development": top - 9, "held_out": 52},
        {"weights": [0.2, 0.8, 0.0], "development": top - 2, "held_out": 66},
    ]
    close_call = [tied[0], tied[3], tied[4], tied[5]]
    without = [row for row in tied if row != tied[3]]
    cases += [
        (tied, [1.0, 0.0, 0.0]),
        (without, [1.0, 0.0, 0.0]),
        (without[::-1], [1.0, 0.0, 0.0]),
        (close_call, [1.0, 0.0, 0.0]),
        (tied[4:5], [1.0, 0.0, 0.0]),
        (tied, [0.9, 0.1, 0.0]),
    ]
    return cases


# --- verdict -----------------------------------------------------------------------------------
def verdict(differences, resamples):
    if not resamples or not all(resamples):
        raise ValueError("nothing was drawn")
    means = [sum(differences[i] for i in drawn) / len(drawn) for drawn in resamples]
    if sum(mean <= 0 for mean in means) <= 0.025 * len(means):
        return "better"
    if sum(mean >= 0 for mean in means) <= 0.025 * len(means):
        return "worse"
    return "not sure"


def verdict_by_shares(differences, resamples):
    if len(resamples) == 0 or min(map(len, resamples)) == 0:
        raise ValueError(resamples)
    means = [statistics.fmean([differences[i] for i in drawn]) for drawn in resamples]
    below = statistics.fmean(mean <= 0 for mean in means)
    above = statistics.fmean(mean >= 0 for mean in means)
    return "better" if below <= 0.025 else "worse" if above <= 0.025 else "not sure"


def verdict_by_signs(differences, resamples):
    plus = minus = 0
    for drawn in resamples:
        if not drawn:
            raise ValueError("an empty resample")
        total = sum(differences[i] for i in drawn)
        plus, minus = plus + (total > 0), minus + (total < 0)
    if not resamples:
        raise ValueError("no resamples")
    if len(resamples) - plus <= len(resamples) / 40:
        return "better"
    return "worse" if len(resamples) - minus <= len(resamples) / 40 else "not sure"


def _judging(judge):
    """A wrong verdict with the guards of the reference, handed the means as well."""

    def judged(differences, resamples):
        if not resamples or not all(resamples):
            raise ValueError("nothing was drawn")
        means = [sum(differences[i] for i in drawn) / len(drawn) for drawn in resamples]
        return judge(means, differences, resamples)

    return judged


def _share(values, allowed=0.025, zero_decides=True):
    below = sum(x <= 0 if zero_decides else x < 0 for x in values) / len(values)
    above = sum(x >= 0 if zero_decides else x > 0 for x in values) / len(values)
    return "better" if below <= allowed else "worse" if above <= allowed else "not sure"


def _sign_of_the_mean(means, differences, resamples):
    mean = sum(differences) / len(differences)
    return "better" if mean > 0 else "worse" if mean < 0 else "not sure"


def _each_question_once(means, differences, resamples):
    return _share([sum(differences[i] for i in set(drawn)) for drawn in resamples])


def _upside_down(means, differences, resamples):
    return {"better": "worse", "worse": "better"}.get(_share(means), "not sure")


def _only_upwards(means, differences, resamples):
    return "better" if _share(means) == "better" else "not sure"


def _draws(rng: random.Random):
    """Resamples of chosen means: of 80, so many above, below and at 0."""

    def case(above, below, level=0):
        size = rng.uniform(1, 9)
        differences = [size, -size, 0.0, 3 * size]
        kinds = {1: [[0, 0, 2], [3, 1, 2]], -1: [[1, 1, 2], [1, 0, 1]], 0: [[2, 2], [0, 1, 2]]}
        wanted = [1] * above + [-1] * below + [0] * level
        rng.shuffle(wanted)
        return differences, [rng.choice(kinds[sign]) for sign in wanted]

    cases = [case(a, 80 - a) for a in (80, 79, 78, 77, 76, 40, 4, 3, 2, 1, 0)]
    cases += [case(76, 0, 4), case(0, 76, 4), case(78, 1, 1), case(0, 0, 80)]
    x = rng.uniform(1, 9)
    # most questions tell one thing, one large one another; doubles in a draw matter
    cases += [
        ([x, x, x, -9 * x], [[0, 1, 2, 3]] * 60 + [[0, 1, 2, 2]] * 20),
        ([3 * x, -2 * x], [[0, 1, 1]] * 80),
        ([x / 20, -x], [[0]] * 80),
        ([-x / 20, x], [[0]] * 80),
        # three of eighty are one too many, wherever they stand
        ([x, -x], [[1], *[[0]] * 77, [1], [1]]),
        ([-x, x], [[1], *[[0]] * 77, [1], [1]]),
        ([x], []),
        ([x], [[0], []]),
    ]
    return cases


TASKS = (
    Task(
        reference=competition_ranks,
        points=1,
        inputs=_score_lists,
        right=(competition_ranks_by_sorting, competition_ranks_by_counting),
        wrong=(
            Wrong(
                "equal scores one after another",
                _finite(_one_after_another),
                "Two cards with one score cannot be told apart: they share the better place.",
            ),
            Wrong(
                "no gap after a tie",
                _finite(lambda s: [1 + len({x for x in s if x > y}) for y in s]),
                "Two firsts are two cards ahead of the next one. Which place has it?",
            ),
            Wrong(
                "the worst place of a tie",
                _finite(lambda s: [sum(x >= y for x in s) for y in s]),
                "Equal scores share the best of their places, not the last.",
            ),
            Wrong(
                "places from 0",
                _finite(lambda s: [sum(x > y for x in s) for y in s]),
                "The winner has place 1. With 0 every card would earn too many points.",
            ),
            Wrong(
                "lowest first",
                _finite(lambda s: [1 + sum(x < y for x in s) for y in s]),
                "A higher score is better, and the best comes first.",
            ),
            Wrong(
                "lets NaN through",
                _lets_nan_through,
                "Nothing is larger than NaN, so it would come out first. Refuse it.",
            ),
        ),
    ),
    Task(
        reference=weighted_sum,
        points=2,
        inputs=_signals,
        right=(weighted_sum_card_by_card, weighted_sum_in_a_loop),
        wrong=(
            Wrong(
                "weighted average",
                _weighing(_average),
                "The score is a sum. You divide by the sum of the weights.",
            ),
            Wrong(
                "normalised twice",
                _weighing(_scaled_again),
                "These signals are normalised already; a second time changes them.",
            ),
            Wrong(
                "weights by position",
                _weighing(_by_position),
                "A weight belongs to the signal of its name, wherever it stands in the dict.",
            ),
            Wrong(
                "weights ignored",
                _weighing(_all_alike),
                "Your scores do not change with the weights.",
            ),
            Wrong(
                "the best signal only",
                _weighing(_best_signal_only),
                "A card that is found in two ways gains from both: add.",
            ),
            Wrong(
                "names may differ",
                _no_refusal_of_names,
                "A misspelt name would silently switch a signal off. Refuse it.",
            ),
            Wrong(
                "negative weights",
                _negative_weights_allowed,
                "With a weight below 0 a better match would push its card down.",
            ),
        ),
    ),
    Task(
        reference=rrf_points,
        points=3,
        inputs=_rankings,
        right=(rrf_points_card_by_card, rrf_points_by_sorting),
        wrong=(
            Wrong(
                "a missing card shares the last place",
                _fusing(outside=lambda k, scores: 1 / (k + len(scores) + 1)),
                "A list that does not hold the card says nothing about it: it earns nothing there.",
            ),
            Wrong(
                "places from 0",
                _fusing(lambda k, rank, scores, card: 1 / (k + rank - 1)),
                "Places count from 1: first place is worth 1/61 with the customary constant.",
            ),
            Wrong(
                "equal scores one after another",
                _fusing(_places_in_turn),
                "Two cards with one score share the better place, and so the points.",
            ),
            Wrong(
                "mean instead of sum",
                _fusing(join=lambda each: sum(each) / len(each)),
                "A card that two lists agree on must gain from both: add, do not average.",
            ),
            Wrong(
                "the best list only",
                _fusing(join=max),
                "A card that two lists agree on must gain from both.",
            ),
            Wrong(
                "the constant forgotten",
                _fusing(lambda k, rank, scores, card: 1 / rank),
                "Without the constant one first place outweighs every agreement.",
            ),
            Wrong(
                "scores added",
                _fusing(lambda k, rank, scores, card: scores[card]),
                "Only the place counts. Scores of two lists have no common unit.",
            ),
        ),
    ),
    Task(
        reference=evidence_recall,
        points=2,
        inputs=_talks,
        right=(evidence_recall_by_counting, evidence_recall_by_places),
        wrong=(
            Wrong(
                "precision",
                _recalling(lambda r, wanted, k: _hits(r, wanted, k) / k),
                "You divide by what was retrieved. Divide by what was wanted.",
            ),
            Wrong(
                "one hit is enough",
                _recalling(lambda r, wanted, k: float(_hits(r, wanted, k) > 0)),
                "An answer that needs two turns is half found with one of them.",
            ),
            Wrong(
                "all or nothing",
                _recalling(lambda r, wanted, k: float(_hits(r, wanted, k) == len(wanted))),
                "This is how the exam counts. Recall is a share.",
            ),
            Wrong(
                "the cut forgotten",
                _recalling(lambda r, wanted, k: _hits(r, wanted, len(r)) / len(wanted)),
                "Only the first top_k turns are retrieved; what stands below does not count.",
            ),
            Wrong(
                "one too many",
                _recalling(lambda r, wanted, k: _hits(r, wanted, k + 1) / len(wanted)),
                "With top_k of 3, three turns are retrieved.",
            ),
            Wrong(
                "doubles count",
                _doubles_count,
                "A turn that the evidence names twice is one turn.",
            ),
            Wrong(
                "no evidence is 0",
                _no_evidence_is_nothing,
                "A question without evidence would pull the mean down for no fault of the search.",
            ),
        ),
    ),
    Task(
        reference=choose_and_judge,
        points=3,
        inputs=_measured,
        right=(choose_and_judge_by_sorting, choose_and_judge_in_a_loop),
        wrong=(
            Wrong(
                "chosen on held-out",
                _choosing(lambda row: (row["held_out"], row["weights"])),
                "Who chooses on the questions that judge is marking their own exam.",
            ),
            Wrong(
                "chosen on both",
                _choosing(lambda row: (row["development"] + row["held_out"], row["weights"])),
                "Held-out may have no say at all, not even half of one.",
            ),
            Wrong(
                "the best of each side",
                _choosing(_honest, _best_of_each),
                "Judge the weights that you chose, not those that would have been best there.",
            ),
            Wrong(
                "the first of a tie",
                _choosing(lambda row: row["development"]),
                "Of equal recalls the most dense wins, wherever the row stands.",
            ),
            Wrong(
                "the least dense of a tie",
                _choosing(lambda row: (row["development"], [-w for w in row["weights"]])),
                "Of equal recalls the one with the most dense wins.",
            ),
            Wrong(
                "rounded before choosing",
                _choosing(lambda row: (round(row["development"]), row["weights"])),
                "Compare recalls unrounded: a small difference is no tie.",
            ),
            Wrong(
                "gains turned round",
                _choosing(
                    _honest,
                    lambda best, before, rows: (
                        before["development"] - best["development"],
                        before["held_out"] - best["held_out"],
                    ),
                ),
                "A gain is the new recall minus the old one.",
            ),
        ),
    ),
    Task(
        reference=verdict,
        points=3,
        inputs=_draws,
        right=(verdict_by_shares, verdict_by_signs),
        wrong=(
            Wrong(
                "the sign of the mean",
                _judging(_sign_of_the_mean),
                "One mean has a sign always, even by luck. The resamples tell how sure it is.",
            ),
            Wrong(
                "each question once",
                _judging(_each_question_once),
                "A question that was drawn twice counts twice: that is what makes draws differ.",
            ),
            Wrong(
                "questions instead of resamples",
                _judging(lambda means, differences, resamples: _share(differences)),
                "Count the means of the resamples, not the questions themselves.",
            ),
            Wrong(
                "five percent on each side",
                _judging(lambda means, differences, resamples: _share(means, 0.05)),
                "95% inside leaves 5% for both sides together.",
            ),
            Wrong(
                "no exception allowed",
                _judging(lambda means, differences, resamples: _share(means, 0)),
                "One mean in forty may lie on the other side: that is what 95% leaves you.",
            ),
            Wrong(
                "a mean of 0 is on your side",
                _judging(lambda means, differences, resamples: _share(means, zero_decides=False)),
                "A mean of exactly 0 speaks against a difference, whichever way.",
            ),
            Wrong(
                "better and worse swapped",
                _judging(_upside_down),
                "The differences are second minus first: above 0 the second is better.",
            ),
            Wrong(
                "never worse",
                _judging(_only_upwards),
                "A method can also be surely worse.",
            ),
        ),
    ),
)
