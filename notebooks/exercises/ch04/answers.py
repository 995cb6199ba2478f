"""Chapter 04's tasks: references, inputs, misconceptions."""

import math
import random
import statistics

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.normalization": (),
    "memlib.ranking": ("three_part_score", "rank_order", "pick_diverse"),
    "memlib.fusion": ("weighted_sum",),
    "memlib.evaluation": ("sit_exam",),
    "course.show.tables": ("work_out",),
    "memlib.tables": ("decimals",),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "min_max": (
        "memlib.normalization:min_max",
        "memlib.ranking:three_part_score",
        "memlib.fusion:weighted_sum",
        "course.show.tables:work_out",
    ),
    "printed_total": ("memlib.tables:decimals",),
    "combined_totals": ("memlib.ranking:three_part_score", "memlib.fusion:weighted_sum"),
    "top_three": (
        "memlib.ranking:rank_order",
        "memlib.ranking:pick_diverse",
        "memlib.evaluation:sit_exam",
    ),
    "crossing_weight": (),
}


# --- min_max -----------------------------------------------------------------------------------
def min_max(values):
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{value} is not finite")
    if not values or min(values) == max(values):
        return [0.0 for _ in values]
    low, high = min(values), max(values)
    return [(value - low) / (high - low) for value in values]


def min_max_by_sorting(values):
    if not all(map(math.isfinite, values)):
        raise ValueError("not finite")
    ordered = sorted(values)
    span = ordered[-1] - ordered[0] if ordered else 0
    return [(v - ordered[0]) / span if span else 0.0 for v in values]


def min_max_in_a_loop(values):
    result = []
    for value in values:
        if math.isnan(value) or math.isinf(value):
            raise ValueError(value)
    for value in values:
        span = max(values) - min(values)
        result.append(0.0 if span == 0 else (value - min(values)) / span)
    return result


def _guarded(scale):
    """A wrong scaling with every guard of the reference right: the idea alone is wrong."""

    def scaled(values):
        if not all(map(math.isfinite, values)):
            raise ValueError("not finite")
        if not values or min(values) == max(values):
            return [0.0 for _ in values]
        return scale(values)

    return scaled


def constant_is_one(values):
    return [1.0 for _ in values] if len(set(values)) == 1 else min_max(values)


def constant_is_half(values):
    return [0.5 for _ in values] if len(set(values)) == 1 else min_max(values)


def no_guard_for_constants(values):
    if not all(map(math.isfinite, values)):
        raise ValueError("not finite")
    return [(v - min(values)) / (max(values) - min(values)) for v in values]


def lets_nan_through(values):
    finite = [v for v in values if math.isfinite(v)]
    if len(set(finite)) < 2:
        return [0.0 for _ in values]
    return [(v - min(finite)) / (max(finite) - min(finite)) for v in values]


def _value_lists(rng: random.Random):
    lists = [[rng.uniform(-5, 5) for _ in range(rng.randint(2, 9))] for _ in range(8)]
    lists += [[rng.randint(1, 10) for _ in range(6)] for _ in range(3)]
    level = rng.uniform(0.1, 3)
    edges = [[], [level], [level] * 4, [0.0, level]]
    invalid = [[level, math.nan, 0.1], [math.inf, level], [level, 0.1, -math.inf]]
    return [(values,) for values in [*lists, *edges, *invalid]]


# --- printed_total -----------------------------------------------------------------------------
def printed_total(parts):
    return f"{sum(parts):.2f}"


def printed_total_exactly(parts):
    return f"{math.fsum(parts):.2f}"


def printed_total_in_a_loop(parts):
    total = 0.0
    for part in parts:
        total += part
    return f"{total:.2f}"


def _part_lists(rng: random.Random):
    """Parts whose rounded sum differs from the sum of rounded parts in half of the cases."""
    safe = [[rng.randint(0, 100) / 100 + 0.001 for _ in range(3)] for _ in range(6)]
    trap = [[rng.randint(0, 99) / 100 + 0.0043 for _ in range(3)] for _ in range(6)]
    up = [[rng.randint(0, 99) / 100 + 0.0057 for _ in range(3)] for _ in range(4)]
    return [(parts,) for parts in [*safe, *trap, *up, [0.0, 0.0, 0.0], [0.5]]]


# --- combined_totals ---------------------------------------------------------------------------
def combined_totals(relevance, recency, importance, weights):
    scaled = [min_max(part) for part in (relevance, recency, importance)]
    if any(weight < 0 for weight in weights):
        raise ValueError("a weight is negative")
    return [sum(w * x for w, x in zip(weights, row)) for row in zip(*scaled)]


def combined_totals_by_index(relevance, recency, importance, weights):
    if min(weights) < 0:
        raise ValueError("a weight is negative")
    a, b, c = min_max(relevance), min_max(recency), min_max(importance)
    wa, wb, wc = weights
    return [wa * a[i] + wb * b[i] + wc * c[i] for i in range(len(a))]


def combined_totals_part_by_part(relevance, recency, importance, weights):
    totals = [0.0] * len(relevance)
    for part, weight in zip((relevance, recency, importance), weights):
        if weight < 0:
            raise ValueError(weight)
        totals = [total + weight * x for total, x in zip(totals, min_max(part))]
    return totals


def _weighed(combine):
    def totals(relevance, recency, importance, weights):
        if any(weight < 0 for weight in weights):
            raise ValueError("a weight is negative")
        return combine([relevance, recency, importance], weights)

    return totals


def _raw_sum(parts, weights):
    return [sum(w * x for w, x in zip(weights, row)) for row in zip(*parts)]


def _weights_before(parts, weights):
    return _raw_sum([min_max([w * x for x in p]) for w, p in zip(weights, parts)], (1, 1, 1))


def _weights_ignored(parts, weights):
    return _raw_sum([min_max(part) for part in parts], (1, 1, 1))


def _scaled_at_the_end(parts, weights):
    return min_max(_raw_sum([min_max(part) for part in parts], weights))


def _average(parts, weights):
    total = sum(weights) or 1
    return _raw_sum([min_max(part) for part in parts], [w / total for w in weights])


def _last_two_swapped(parts, weights):
    return _raw_sum([min_max(part) for part in parts], (weights[0], weights[2], weights[1]))


def _weights_backwards(parts, weights):
    return _raw_sum([min_max(part) for part in parts], weights[::-1])


def _three_parts(rng: random.Random):
    cases = []
    for _ in range(8):
        n = rng.randint(3, 8)
        parts = [
            [rng.uniform(0.2, 0.8) for _ in range(n)],
            [0.995 ** rng.randint(0, 2000) for _ in range(n)],
            [rng.randint(1, 10) for _ in range(n)],
        ]
        cases.append((*parts, [rng.uniform(0.1, 3) for _ in range(3)]))
    flat = [0.4, 0.4, 0.4]
    cases.append((flat, [0.1, 0.5, 0.9], [2, 5, 8], [1, 1, 1]))
    cases.append(([0.1, 0.5, 0.9], flat, [2, 5, 8], [0, 2, 1]))
    invalid = [[-1, 1, 1], [1, -1, 1], [1, 1, -rng.random()]]
    return [*cases, *(([0.1, 0.5], [0.2, 0.4], [2, 5], weights) for weights in invalid)]


# --- top_three ---------------------------------------------------------------------------------
def top_three(totals, ids):
    if len(set(ids)) < len(ids):
        raise ValueError("an id occurs twice")
    return [name for _, name in sorted(zip(totals, ids), key=lambda p: (-p[0], p[1]))[:3]]


def top_three_by_index(totals, ids):
    if any(ids.count(name) > 1 for name in ids):
        raise ValueError("an id occurs twice")
    rows = sorted(range(len(ids)), key=lambda i: ids[i])
    rows.sort(key=lambda i: totals[i], reverse=True)
    return [ids[i] for i in rows[:3]]


def top_three_by_picking(totals, ids):
    left = dict(zip(ids, totals))
    if len(left) < len(ids):
        raise ValueError("an id occurs twice")
    picked = []
    while left and len(picked) < 3:
        best = min(name for name in left if left[name] == max(left.values()))
        picked.append(best)
        del left[best]
    return picked


def _distinct(choose):
    def chosen(totals, ids):
        if len(set(ids)) < len(ids):
            raise ValueError("an id occurs twice")
        return choose(list(zip(totals, ids)))

    return chosen


def _ties_by_position(pairs):
    return [name for _, name in sorted(pairs, key=lambda p: -p[0])[:3]]


def _ties_reversed(pairs):
    return [name for _, name in sorted(pairs, reverse=True)[:3]]


def _lowest_first(pairs):
    return [name for _, name in sorted(pairs)[:3]]


def _rounded_first(pairs):
    return [name for _, name in sorted(pairs, key=lambda p: (-round(p[0], 2), p[1]))[:3]]


def _right_set_in_id_order(pairs):
    return sorted(name for _, name in sorted(pairs, key=lambda p: (-p[0], p[1]))[:3])


def _totals_and_ids(rng: random.Random):
    words = ["ink", "miso", "nina", "paris", "rent", "sam", "theo", "vinyl"]
    cases = []
    for _ in range(8):
        ids = rng.sample(words, rng.randint(4, 8))
        cases.append(([rng.uniform(0, 3) for _ in ids], ids))
    tied = rng.sample(words, 6)
    base = rng.randint(100, 200) / 100
    cases += [
        ([base] * 6, tied),
        ([base, base + 0.004, base + 0.003, base + 0.002, 0.1, 0.2], tied),
        ([base + 0.002, base, base + 0.004, base + 0.001, 0.1, 0.2], sorted(tied)),
        ([1.0, 2.0], ["miso", "ink"]),
        ([], []),
        ([1.0, 2.0, 0.5], ["miso", "ink", "miso"]),
    ]
    return cases


# --- crossing_weight ---------------------------------------------------------------------------
def crossing_weight(a, b):
    gap = (a[0] + a[2]) - (b[0] + b[2])
    gain = b[1] - a[1]
    if gain == 0:
        return None
    weight = gap / gain
    return weight if weight >= 0 else None


def crossing_weight_as_lines(a, b):
    height_a, height_b = a[0] + a[2], b[0] + b[2]
    if a[1] == b[1]:
        return None
    weight = (height_b - height_a) / (a[1] - b[1])
    return None if weight < 0 else weight


def crossing_weight_by_steps(a, b):
    slope = b[1] - a[1]
    start = b[0] + b[2] - a[0] - a[2]
    if slope == 0 or -start / slope < 0:
        return None
    return -start / slope


def _never_none_when_negative(a, b):
    return None if a[1] == b[1] else ((a[0] + a[2]) - (b[0] + b[2])) / (b[1] - a[1])


def _zero_is_no_weight(a, b):
    return crossing_weight(a, b) or None


def _all_parts_in_the_gap(a, b):
    weight = None if a[1] == b[1] else (sum(a) - sum(b)) / (b[1] - a[1])
    return weight if weight is not None and weight >= 0 else None


def _upside_down(a, b):
    gap = (a[0] + a[2]) - (b[0] + b[2])
    weight = None if gap == 0 else (b[1] - a[1]) / gap
    return weight if weight is not None and weight >= 0 else None


def _absolute(a, b):
    gain = abs(b[1] - a[1])
    return None if gain == 0 else abs((a[0] + a[2]) - (b[0] + b[2])) / gain


def _forgets_importance(a, b):
    weight = None if a[1] == b[1] else (a[0] - b[0]) / (b[1] - a[1])
    return weight if weight is not None and weight >= 0 else None


def _pairs_of_cards(rng: random.Random):
    def draw():
        return [rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0, 1)]

    cases = [(draw(), draw()) for _ in range(14)]
    a, b = draw(), draw()
    high, low = [0.9, 0.1, 0.9], [0.2, 0.8, 0.3]
    cases += [(a, [b[0], a[1], b[2]]), (a, a), (high, low), (low, high), ([1, 1, 1], [0, 0, 0])]
    cases.append(([0.5, 0.2, 0.25], [0.5, 0.7, 0.5]))  # less than 0, more than -1
    cases.append(([0.25, a[1], 0.75], [0.5, b[1], 0.5]))  # level but for recency: a weight of 0
    return cases


TASKS = (
    Task(
        reference=min_max,
        points=2,
        inputs=_value_lists,
        right=(min_max_by_sorting, min_max_in_a_loop),
        wrong=(
            Wrong(
                "divide by the largest",
                _guarded(lambda v: [x / max(v) if max(v) else 0.0 for x in v]),
                "The smallest value must become 0. Where does it land when you only divide?",
            ),
            Wrong(
                "centre on the mean",
                _guarded(lambda v: [(x - statistics.fmean(v)) / (max(v) - min(v)) for x in v]),
                "Subtract the smallest, not the mean: nothing may come out below 0.",
            ),
            Wrong(
                "largest becomes 0",
                _guarded(lambda v: [(max(v) - x) / (max(v) - min(v)) for x in v]),
                "The order turned round: the best card must stay the best.",
            ),
            Wrong(
                "a constant set is worth 1",
                constant_is_one,
                "A part that is equal for all cards cannot tell them apart. What may it add?",
            ),
            Wrong(
                "a constant set is worth 0.5",
                constant_is_half,
                "That is the Generative Agents code. In this course such a part adds 0.",
            ),
            Wrong(
                "no guard for constants",
                no_guard_for_constants,
                "What is the range of a set of equal values, and what happens when you divide?",
            ),
            Wrong(
                "lets NaN through",
                lets_nan_through,
                "A value that is not finite must be refused, or it spoils the order silently.",
            ),
        ),
    ),
    Task(
        reference=printed_total,
        points=1,
        inputs=_part_lists,
        right=(printed_total_exactly, printed_total_in_a_loop),
        wrong=(
            Wrong(
                "round first, add second",
                lambda parts: f"{sum(round(p, 2) for p in parts):.2f}",
                "This is how the published 1.33 came about. Add first.",
            ),
            Wrong(
                "cut off instead of round",
                lambda parts: f"{math.floor(sum(parts) * 100) / 100:.2f}",
                "1.336 is nearer to 1.34 than to 1.33.",
            ),
            Wrong(
                "always round up",
                lambda parts: f"{math.ceil(sum(parts) * 100 - 1e-9) / 100:.2f}",
                "1.331 is nearer to 1.33 than to 1.34.",
            ),
            Wrong(
                "one decimal",
                lambda parts: f"{sum(parts):.1f}",
                "The table prints two decimals.",
            ),
            Wrong(
                "the last zero is lost",
                lambda parts: str(round(sum(parts), 2)),
                "One half is printed 0.50: a number has no decimals to keep, a text has.",
            ),
            Wrong(
                "four decimals",
                lambda parts: f"{sum(parts):.4f}",
                "The table prints two decimals.",
            ),
        ),
    ),
    Task(
        reference=combined_totals,
        points=2,
        inputs=_three_parts,
        right=(combined_totals_by_index, combined_totals_part_by_part),
        wrong=(
            Wrong(
                "raw sum",
                _weighed(_raw_sum),
                "The parts have different units. Which step puts them on one scale?",
            ),
            Wrong(
                "weight before min-max",
                _weighed(_weights_before),
                "Min-max takes a factor away again. Apply the weight after it.",
            ),
            Wrong(
                "weights ignored",
                _weighed(_weights_ignored),
                "Your totals do not change with the weights.",
            ),
            Wrong(
                "min-max at the end",
                _weighed(_scaled_at_the_end),
                "Normalise the parts, not the total: a total of 2.00 is a right answer.",
            ),
            Wrong(
                "weighted average",
                _weighed(_average),
                "The score is a sum. You divide by the sum of the weights.",
            ),
            Wrong(
                "weights in another order",
                _weighed(_last_two_swapped),
                "The weights come as relevance, recency, importance.",
            ),
            Wrong(
                "weights backwards",
                _weighed(_weights_backwards),
                "The first weight is relevance's, the last importance's.",
            ),
        ),
    ),
    Task(
        reference=top_three,
        points=2,
        inputs=_totals_and_ids,
        right=(top_three_by_index, top_three_by_picking),
        wrong=(
            Wrong(
                "ties by position",
                _distinct(_ties_by_position),
                "Equal totals are ordered by id, so that the order of the file does not matter.",
            ),
            Wrong(
                "ties from z to a",
                _distinct(_ties_reversed),
                "Equal totals go from a to z; reverse=True turns the ids round as well.",
            ),
            Wrong(
                "lowest first",
                _distinct(_lowest_first),
                "The best card has the highest total.",
            ),
            Wrong(
                "round before ranking",
                _distinct(_rounded_first),
                "Two totals that print alike may differ. Rank unrounded totals.",
            ),
            Wrong(
                "sorted by id at the end",
                _distinct(_right_set_in_id_order),
                "The right three cards, but the best must come first.",
            ),
        ),
    ),
    Task(
        reference=crossing_weight,
        points=3,
        inputs=_pairs_of_cards,
        right=(crossing_weight_as_lines, crossing_weight_by_steps),
        wrong=(
            Wrong(
                "a negative weight",
                _never_none_when_negative,
                "A weight below 0 is no weight: the answer is None.",
            ),
            Wrong(
                "0 is no weight",
                _zero_is_no_weight,
                "At weight 0 recency says nothing, and the two cards may still be level.",
            ),
            Wrong(
                "recency counted twice",
                _all_parts_in_the_gap,
                "The gap to close is what the two other parts leave.",
            ),
            Wrong(
                "fraction upside down",
                _upside_down,
                "Gap divided by gain: the larger the gap, the more weight it takes.",
            ),
            Wrong(
                "absolute values",
                _absolute,
                "Signs matter: sometimes more recency widens the gap.",
            ),
            Wrong(
                "importance forgotten",
                _forgets_importance,
                "Two parts besides recency make the gap.",
            ),
        ),
    ),
)
