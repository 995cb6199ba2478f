"""Chapter 01's tasks: references, inputs, misconceptions."""

import math
import random
import statistics

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.similarity": (),
    "memlib.strength": ("biased_cosine",),
    "memlib.ranking": ("rank_order", "pick_diverse"),
    "memlib.forgetting": ("duplicate_ratio",),
    "memlib.signals": ("hubness",),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "euclidean": ("memlib.similarity:euclidean",),
    "cosine": (
        "memlib.similarity:cosine",
        "memlib.similarity:cosine_of_units",
        "memlib.strength:biased_cosine",
        "memlib.forgetting:duplicate_ratio",
        "memlib.signals:hubness",
    ),
    "distance_from_cosine": (),
    "rank_by_cosine": ("memlib.ranking:rank_order", "memlib.ranking:pick_diverse"),
    "nearest_two_gap": (),
}


def _vector(rng: random.Random, d: int, scale: float = 1.0):
    return [scale * rng.choice((-1, 1)) * rng.uniform(0.2, 3) for _ in range(d)]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def _norm(a):
    return math.sqrt(_dot(a, a))


# --- euclidean ---------------------------------------------------------------------------------
def euclidean(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} dimensions")
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)))


def euclidean_by_dist(a, b):
    if len(a) != len(b):
        raise ValueError("dimensions differ")
    return math.dist(a, b)


def euclidean_in_a_loop(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total**0.5


def _one_dimension(idea):
    """A wrong idea with the reference's guard: only the idea fails."""

    def measured(a, b):
        if len(a) != len(b):
            raise ValueError("dimensions differ")
        return idea(a, b)

    return measured


def _distance_of_the_common_part(a, b):
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)))


def _root_of_the_mean(a, b):
    return _norm([x - y for x, y in zip(a, b)]) / math.sqrt(len(a) or 1)


def _pairs(rng: random.Random):
    pairs = [(_vector(rng, d), _vector(rng, d)) for d in (1, 2, 2, 3, 3, 5, 8, 8)]
    same = _vector(rng, 4)
    edges = [([], []), (same, same), (same, [0.0] * 4), ([0, 0], [3, 4])]
    invalid = [(_vector(rng, 2), _vector(rng, 3)), (_vector(rng, 3), _vector(rng, 2)), ([], [1.0])]
    return [*pairs, *edges, *invalid]


# --- cosine ------------------------------------------------------------------------------------
def cosine(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} dimensions")
    if not any(a) or not any(b):
        raise ValueError("a zero vector has no direction")
    dot = sum(x * y for x, y in zip(a, b))
    cos = dot / (math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(y * y for y in b)))
    return max(-1.0, min(1.0, cos))


def cosine_of_unit_vectors(a, b):
    lengths = math.hypot(*a), math.hypot(*b)
    if len(a) != len(b) or 0 in lengths:
        raise ValueError("no cosine")
    unit_a = [x / lengths[0] for x in a]
    unit_b = [y / lengths[1] for y in b]
    return min(max(math.fsum(x * y for x, y in zip(unit_a, unit_b)), -1.0), 1.0)


def cosine_in_a_loop(a, b):
    dot = square_a = square_b = 0.0
    for x, y in zip(a, b, strict=True):
        dot += x * y
        square_a += x * x
        square_b += y * y
    if square_a == 0 or square_b == 0:
        raise ValueError("zero vector")
    cos = dot / square_a**0.5 / square_b**0.5
    return math.copysign(1.0, cos) if abs(cos) > 1 else cos


def _guarded(idea):
    """A wrong idea with every guard of the reference right."""

    def measured(a, b):
        if len(a) != len(b) or not any(a) or not any(b):
            raise ValueError("no cosine")
        return idea(a, b)

    return measured


def _not_clipped(a, b):
    return _dot(a, b) / (_norm(a) * _norm(b))


def _zero_scores_zero(a, b):
    if len(a) == len(b) and (not any(a) or not any(b)):
        return 0.0
    return cosine(a, b)


def _cosine_of_the_common_part(a, b):
    short = min(len(a), len(b))
    return cosine(a[:short], b[:short])


def _two_vectors(rng: random.Random):
    pairs = [(_vector(rng, d), _vector(rng, d, 4)) for d in (2, 2, 3, 3, 5, 8, 8)]
    one = _vector(rng, 3)
    edges = [
        (one, [2 * x for x in one]),
        (one, [-x for x in one]),
        ([3, 4], [4, -3]),
        ([1, 5], [1, 5]),  # rounding carries these two a hair outside
        ([1, 5], [-1, -5]),
        ([rng.uniform(1, 2)], [rng.uniform(3, 4)]),
        ([0, *_vector(rng, 2)], one),
        (one, [*_vector(rng, 2), 0]),
    ]
    invalid = [
        (one, [0.0, 0.0, 0.0]),
        ([0, 0], [3, 4]),
        (_vector(rng, 2), _vector(rng, 3)),
        (_vector(rng, 3), _vector(rng, 2)),
    ]
    return [*pairs, *edges, *invalid]


# --- distance_from_cosine ----------------------------------------------------------------------
def distance_from_cosine(c):
    if not -1 <= c <= 1:
        raise ValueError(f"{c} is no cosine")
    return math.sqrt(2 - 2 * c)


def distance_from_the_angle(c):
    return 2 * math.sin(math.acos(c) / 2)  # a chord; acos itself refuses what is no cosine


def distance_between_two_arrows(c):
    if abs(c) > 1:
        raise ValueError(c)
    x, y = c, (1 - c * c) ** 0.5
    return math.hypot(1 - x, y)


def _of_cosines(idea):
    def distance(c):
        if not -1 <= c <= 1:
            raise ValueError("no cosine")
        return idea(c)

    return distance


def _without_a_guard(c):
    return math.sqrt(abs(2 - 2 * c))


def _cosines(rng: random.Random):
    inside = [rng.uniform(-0.95, 0.95) for _ in range(9)]
    outside = [rng.uniform(1.1, 3), rng.uniform(-1.9, -1.1), rng.uniform(-4, -2)]
    return [(c,) for c in [*inside, -1, 0, 1, 0.5, *outside]]


# --- rank_by_cosine ----------------------------------------------------------------------------
def rank_by_cosine(query, memories):
    scores = [cosine(query, memory) for memory in memories]
    return sorted(range(len(memories)), key=lambda i: -scores[i])  # sorted keeps level ones


def rank_by_stable_sort(query, memories):
    scores = [cosine(query, memory) for memory in memories]
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)


def rank_by_picking(query, memories):
    left = {i: cosine(query, memory) for i, memory in enumerate(memories)}
    order = []
    while left:
        best = max(left, key=lambda i: left[i])
        order.append(best)
        del left[best]
    return order


def _ranking(idea):
    """A wrong order of the right cards: zero vectors and other dimensions are still refused."""

    def ranked(query, memories):
        for memory in memories:
            cosine(query, memory)
        return idea(query, memories)

    return ranked


def _by_dot_product(query, memories):
    return sorted(range(len(memories)), key=lambda i: (-_dot(query, memories[i]), i))


def _by_distance(query, memories):
    return sorted(range(len(memories)), key=lambda i: (math.dist(query, memories[i]), i))


def _least_alike_first(query, memories):
    return sorted(range(len(memories)), key=lambda i: (cosine(query, memories[i]), i))


def _ties_from_the_end(query, memories):
    pairs = sorted(((cosine(query, m), i) for i, m in enumerate(memories)), reverse=True)
    return [i for _, i in pairs]


def _places(query, memories):
    order = rank_by_cosine(query, memories)
    return [order.index(i) for i in range(len(order))]


def _counted_from_one(query, memories):
    return [i + 1 for i in rank_by_cosine(query, memories)]


def _rounded_first(query, memories):
    scores = [round(cosine(query, memory), 2) for memory in memories]
    return sorted(range(len(memories)), key=lambda i: (-scores[i], i))


def _zero_goes_last(query, memories):
    good = [i for i, memory in enumerate(memories) if any(memory)]
    order = [good[i] for i in rank_by_cosine(query, [memories[i] for i in good])]
    return order + [i for i in range(len(memories)) if i not in good]


def _stores(rng: random.Random):
    """Cards are level only as copies or doubles: their cosines are the same floats."""
    stores = []
    for _ in range(8):
        d = rng.randint(2, 5)
        memories = [_vector(rng, d, rng.choice((0.5, 1, 6))) for _ in range(rng.randint(3, 7))]
        stores.append((_vector(rng, d), memories))
    size = rng.choice((0.5, 1, 2))
    toys = [[4, 3], [0, 10], [6, 8]]
    one, other = _vector(rng, 3), _vector(rng, 3)
    near = rng.uniform(0.01, 0.03)
    edges = [
        ([3, 4], [[size * x for x in toy] for toy in toys]),
        (_vector(rng, 3), [one, other, one, [2 * x for x in one]]),
        (one, [other, one, [2 * x for x in one]]),
        ([1, 0], [[1, near + 0.03], [1, near + 0.02], [1, near], [0, 1]]),
        ([0, 1], [[1, 0], [1, 2], [0, 5], [-1, -1]]),
        (_vector(rng, 3), [one, other]),
        (one, [other]),
        (one, []),
        ([0.0, 0.0, 0.0], []),
    ]
    invalid = [
        (one, [other, [0.0, 0.0, 0.0], one]),
        (one, [other, other[:2]]),
        (one, [[0.0, 0.0, 0.0]]),
    ]
    return [*stores, *edges, *invalid]


# --- nearest_two_gap ---------------------------------------------------------------------------
def nearest_two_gap(query, memories):
    scores = sorted(cosine(query, memory) for memory in memories)
    return scores[-1] - scores[-2] if len(scores) > 1 else None


def gap_by_taking_out_the_best(query, memories):
    scores = [cosine(query, memory) for memory in memories]
    if len(scores) < 2:
        return None
    best = max(scores)
    scores.remove(best)
    return best - max(scores)


def gap_in_a_loop(query, memories):
    first = second = None
    for memory in memories:
        score = cosine(query, memory)
        if first is None or score > first:
            first, second = score, first
        elif second is None or score > second:
            second = score
    return None if second is None else first - second


def _gap(idea):
    """A wrong gap with the reference's care for small and for bad stores."""

    def measured(query, memories):
        scores = sorted((cosine(query, memory) for memory in memories), reverse=True)
        return idea(query, memories, scores) if len(scores) > 1 else None

    return measured


def _of_different_scores(_query, _memories, scores):
    different = sorted(set(scores), reverse=True)
    return different[0] - different[1] if len(different) > 1 else 0.0


def _of_dot_products(query, memories, _scores):
    dots = sorted(_dot(query, memory) for memory in memories)
    return dots[-1] - dots[-2]


def _of_distances(query, memories, _scores):
    far = sorted(math.dist(query, memory) for memory in memories)
    return far[1] - far[0]


def _of_the_first_two(query, memories, _scores):
    return cosine(query, memories[0]) - cosine(query, memories[1])


def _alone_is_certain(query, memories):
    if len(memories) == 1:
        return cosine(query, memories[0])
    return nearest_two_gap(query, memories)


TASKS = (
    Task(
        reference=euclidean,
        points=1,
        inputs=_pairs,
        right=(euclidean_by_dist, euclidean_in_a_loop),
        wrong=(
            Wrong(
                "root forgotten",
                _one_dimension(lambda a, b: sum((x - y) ** 2 for x, y in zip(a, b)) + 0.0),
                "You have the square of the distance. What undoes a square?",
            ),
            Wrong(
                "city blocks",
                _one_dimension(lambda a, b: sum(abs(x - y) for x, y in zip(a, b)) + 0.0),
                "That is the way along the streets. The straight line needs squares.",
            ),
            Wrong(
                "largest difference only",
                _one_dimension(lambda a, b: max((abs(x - y) for x, y in zip(a, b)), default=0.0)),
                "Every place of the vectors adds its part, not only the one that differs most.",
            ),
            Wrong(
                "added instead of subtracted",
                _one_dimension(lambda a, b: math.sqrt(sum((x + y) ** 2 for x, y in zip(a, b)))),
                "How far is a vector from itself? Look at the sign between the two.",
            ),
            Wrong(
                "difference of the lengths",
                _one_dimension(lambda a, b: abs(_norm(a) - _norm(b))),
                "Two arrows of one length may point anywhere. Subtract place by place first.",
            ),
            Wrong(
                "mean under the root",
                _one_dimension(_root_of_the_mean),
                "The squares are added. Nothing is divided by their number.",
            ),
            Wrong(
                "common part only",
                _distance_of_the_common_part,
                "zip stops at the shorter list in silence. Vectors of two dimensions do not mix.",
            ),
        ),
    ),
    Task(
        reference=cosine,
        points=2,
        inputs=_two_vectors,
        within=(-1.0, 1.0),
        right=(cosine_of_unit_vectors, cosine_in_a_loop),
        wrong=(
            Wrong(
                "dot product only",
                _guarded(lambda a, b: float(_dot(a, b))),
                "A vector twice as long must score the same. What takes its length out?",
            ),
            Wrong(
                "divided by one length",
                _guarded(lambda a, b: _dot(a, b) / _norm(a)),
                "Only one of the two lengths is taken out. Double each vector in turn.",
            ),
            Wrong(
                "roots forgotten",
                _guarded(lambda a, b: _dot(a, b) / (_dot(a, a) * _dot(b, b))),
                "A length is the root of the sum of squares; you divide by the squares.",
            ),
            Wrong(
                "sign lost",
                _guarded(lambda a, b: abs(_dot(a, b)) / (_norm(a) * _norm(b))),
                "Opposite arrows are as unlike as can be: a cosine may be negative.",
            ),
            Wrong(
                "one minus the cosine",
                _guarded(lambda a, b: 1 - cosine(a, b)),
                "That is a distance, where small means alike. Here 1 means the same direction.",
            ),
            Wrong(
                "angle instead of its cosine",
                _guarded(lambda a, b: math.acos(max(-1.0, min(1.0, cosine(a, b))))),
                "You went one step too far: the angle itself is not asked for.",
            ),
            Wrong(
                "not clipped",
                _guarded(_not_clipped),
                "Rounding carries some cosines a hair outside -1 to 1, where no angle is. Clip it.",
            ),
            Wrong(
                "zero vector scores 0",
                _zero_scores_zero,
                "A zero vector has no direction. A silent 0 hides that its embedding failed.",
            ),
            Wrong(
                "common part only",
                _cosine_of_the_common_part,
                "zip stops at the shorter list in silence. Vectors of two models do not mix.",
            ),
        ),
    ),
    Task(
        reference=distance_from_cosine,
        points=1,
        inputs=_cosines,
        right=(distance_from_the_angle, distance_between_two_arrows),
        wrong=(
            Wrong(
                "one minus the cosine",
                _of_cosines(lambda c: 1.0 - c),
                "It falls as it should, but it is not what a ruler measures between two tips.",
            ),
            Wrong(
                "root forgotten",
                _of_cosines(lambda c: 2.0 - 2 * c),
                "You have the square of the distance.",
            ),
            Wrong(
                "half the square",
                _of_cosines(lambda c: math.sqrt(1 - c)),
                "Both vectors bring a 1 into the sum of squares.",
            ),
            Wrong(
                "plus instead of minus",
                _of_cosines(lambda c: math.sqrt(2 + 2 * c)),
                "The more alike, the nearer. Yours grows with the cosine.",
            ),
            Wrong(
                "angle",
                _of_cosines(lambda c: math.acos(c)),
                "That is the way along the circle. The ruler goes straight.",
            ),
            Wrong(
                "sine",
                _of_cosines(lambda c: math.sqrt(max(0.0, 1 - c * c))),
                "Opposite arrows must be furthest apart, and yours meet.",
            ),
            Wrong(
                "no guard",
                _without_a_guard,
                "No two vectors have a cosine of 1.5. Say so instead of returning a number.",
            ),
        ),
    ),
    Task(
        reference=rank_by_cosine,
        points=2,
        inputs=_stores,
        right=(rank_by_stable_sort, rank_by_picking),
        wrong=(
            Wrong(
                "dot product",
                _ranking(_by_dot_product),
                "Long vectors win in your order, whatever they are about.",
            ),
            Wrong(
                "distance",
                _ranking(_by_distance),
                "Distance gives the cosine's order for unit vectors only; these have any length.",
            ),
            Wrong(
                "least alike first",
                _ranking(_least_alike_first),
                "The card that is most alike comes first.",
            ),
            Wrong(
                "ties from the end",
                _ties_from_the_end,
                "Equal cosines keep the cards' order; reverse=True turned the positions too.",
            ),
            Wrong(
                "places instead of an order",
                _places,
                "You tell each card its place. Asked is which card stands first, second, third.",
            ),
            Wrong(
                "counted from 1",
                _counted_from_one,
                "Positions in a list begin at 0.",
            ),
            Wrong(
                "rounded before ranking",
                _rounded_first,
                "Two cosines that print alike may differ. Rank them unrounded.",
            ),
            Wrong(
                "zero vector goes last",
                _zero_goes_last,
                "A zero vector has no cosine, so no place. Refuse it, and the fault is found.",
            ),
        ),
    ),
    Task(
        reference=nearest_two_gap,
        points=3,
        inputs=_stores,
        right=(gap_by_taking_out_the_best, gap_in_a_loop),
        wrong=(
            Wrong(
                "best minus worst",
                _gap(lambda _q, _m, scores: scores[0] - scores[-1]),
                "First place is threatened by the second, not by the last.",
            ),
            Wrong(
                "equal cards counted once",
                _gap(_of_different_scores),
                "Two cards level in first place: then the lead is 0.",
            ),
            Wrong(
                "dot products",
                _gap(_of_dot_products),
                "Your gap grows when a card's vector grows. Take the lengths out first.",
            ),
            Wrong(
                "distances",
                _gap(_of_distances),
                "Asked is the gap between cosines, not between distances.",
            ),
            Wrong(
                "first two of the list",
                _gap(_of_the_first_two),
                "The cards come in any order. Find the best two.",
            ),
            Wrong(
                "share of the best",
                _gap(lambda _q, _m, scores: (scores[0] - scores[1]) / (scores[0] or 1)),
                "The gap is a difference. A cosine is no amount of which to take a share.",
            ),
            Wrong(
                "best minus the mean of the others",
                _gap(lambda _q, _m, scores: scores[0] - statistics.fmean(scores[1:])),
                "Only the runner-up counts, not all the others together.",
            ),
            Wrong(
                "alone is certain",
                _alone_is_certain,
                "With one card there is no second to compare with: the answer is None.",
            ),
        ),
    ),
)
