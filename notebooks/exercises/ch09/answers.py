"""Chapter 09's tasks: references, inputs, misconceptions."""

import math
import random
import statistics

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.strength": (),
    "memlib.similarity": (),
    "course.widgets.strength": ("strengths",),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "strength_of_vector": (
        "memlib.strength:strength_of_vector",
        "course.widgets.strength:strengths",
    ),
    "biased_cosine": ("memlib.strength:biased_cosine", "memlib.similarity:cosine"),
    "effect_of_strength": ("memlib.strength:strength_slope",),
    "bounded_strength": ("memlib.strength:bounded_strength",),
    "strength_to_draw_level": (),
}


# --- strength_of_vector ------------------------------------------------------------------------
def strength_of_vector(vector, alpha=0.5, beta=0.5):
    if not vector:
        raise ValueError("a vector without coordinates")
    mean = sum(vector) / len(vector)
    variance = sum((x - mean) ** 2 for x in vector) / len(vector)
    return alpha * (mean + beta * math.sqrt(variance))


def strength_of_vector_by_statistics(vector, alpha=0.5, beta=0.5):
    if len(vector) == 0:
        raise ValueError(vector)
    return alpha * statistics.fmean(vector) + alpha * beta * statistics.pstdev(vector)


def strength_of_vector_by_distance(vector, alpha=0.5, beta=0.5):
    n = len(vector)
    if n < 1:
        raise ValueError("empty")
    mean = math.fsum(vector) / n
    return alpha * mean + alpha * beta * math.dist(vector, [mean] * n) / n**0.5


def _from_vector(formula):
    """A wrong strength that refuses what the reference refuses: the idea alone is wrong."""

    def strength(vector, alpha=0.5, beta=0.5):
        if not vector:
            raise ValueError(vector)
        mean, std = statistics.fmean(vector), statistics.pstdev(vector)
        return float(formula(vector, mean, std, alpha, beta))

    return strength


def _sample_std(vector):
    return statistics.stdev(vector) if len(vector) > 1 else 0.0


def _empty_is_zero(vector, alpha=0.5, beta=0.5):
    return strength_of_vector(vector, alpha, beta) if vector else 0.0


def _vectors(rng: random.Random):
    def vector():
        return [round(rng.uniform(-2, 2), 3) for _ in range(rng.randint(2, 6))]

    drawn = [(vector(), rng.uniform(0.1, 2), rng.uniform(0.1, 0.9)) for _ in range(7)]
    level = rng.uniform(0.2, 3)
    return [
        *drawn,
        *((vector(),) for _ in range(4)),
        ([level] * 3, 0.5, 0.5),
        ([level], 0.7, 0.3),
        (vector(), 0, 1),
        ([], 0.5, 0.5),
    ]


# --- biased_cosine -----------------------------------------------------------------------------
def _pair(query, memory):
    if len(query) != len(memory):
        raise ValueError(f"{len(query)} and {len(memory)} coordinates")
    if not any(query) or not any(memory):
        raise ValueError("a zero vector has no direction")


def biased_cosine(query, memory, query_strength, strength):
    _pair(query, memory)
    dot = sum((b + query_strength) * (a + strength) for b, a in zip(query, memory))
    return dot / (math.sqrt(sum(b * b for b in query)) * math.sqrt(sum(a * a for a in memory)))


def biased_cosine_expanded(query, memory, query_strength, strength):
    lengths = math.hypot(*query) * math.hypot(*memory)
    if len(query) != len(memory) or lengths == 0:
        raise ValueError("no cosine")
    dot = math.fsum(x * y for x, y in zip(query, memory))
    sums = strength * math.fsum(query) + query_strength * math.fsum(memory)
    return (dot + sums + len(query) * strength * query_strength) / lengths


def biased_cosine_on_units(query, memory, query_strength, strength):
    _pair(query, memory)
    b, a = math.hypot(*query), math.hypot(*memory)
    return sum(
        (query[i] / b + query_strength / b) * (memory[i] / a + strength / a)
        for i in range(len(query))
    )


def _dotted(dot, lengths=None):
    """A wrong product, or wrong lengths, with the guards of the reference."""
    lengths = lengths or (lambda b, a, e_b, e_a: math.hypot(*b) * math.hypot(*a))

    def score(query, memory, query_strength, strength):
        _pair(query, memory)
        given = (query, memory, query_strength, strength)
        return float(dot(*given) / lengths(*given))

    return score


def _literal(b, a, e_b, e_a):
    return sum((x + e_b) * (y + e_a) for x, y in zip(b, a))


def _plain(b, a):
    return sum(x * y for x, y in zip(b, a))


def _shifted_lengths(b, a, e_b, e_a):
    lengths = math.hypot(*(x + e_b for x in b)) * math.hypot(*(y + e_a for y in a))
    return lengths or math.inf


def _clipped(query, memory, query_strength, strength):
    return min(1.0, biased_cosine(query, memory, query_strength, strength))


def _zero_scores_zero(query, memory, query_strength, strength):
    if len(query) == len(memory) and not (any(query) and any(memory)):
        return 0.0
    return biased_cosine(query, memory, query_strength, strength)


def _shorter_one(query, memory, query_strength, strength):
    n = min(len(query), len(memory))
    return biased_cosine(query[:n], memory[:n], query_strength, strength)


def _pairs(rng: random.Random):
    def vector(n):
        return [round(rng.uniform(0.1, 3) * rng.choice([1, 1, -1]), 2) for _ in range(n)]

    cases = []
    for _ in range(8):
        n = rng.randint(2, 5)
        cases.append((vector(n), vector(n), rng.uniform(0.1, 1), rng.uniform(0.1, 1)))
    like = [rng.uniform(1, 2) for _ in range(3)]
    return [
        *cases,
        (like, like, 0.5, rng.uniform(0.5, 1)),
        (vector(3), vector(3), 0, rng.uniform(0.1, 1)),
        (vector(3), vector(3), rng.uniform(0.1, 1), 0),
        (vector(3), vector(3), 0, 0),
        (vector(2), vector(2), 0.1, -rng.uniform(0.1, 1)),
        (vector(3), [0, 0, 0], 0.1, 0.2),
        ([0, 0], vector(2), 0.1, 0.2),
        ([0, *vector(2)], vector(3), 0.1, rng.uniform(0.1, 1)),
        (vector(3), [*vector(2), 0], 0.1, rng.uniform(0.1, 1)),
        (vector(2), vector(3), 0.1, 0.2),
        (vector(3), vector(2), 0.1, 0.2),
    ]


# --- effect_of_strength ------------------------------------------------------------------------
def effect_of_strength(query, query_strength):
    if not any(query):
        raise ValueError("a zero vector has no direction")
    slope = sum(query) + len(query) * query_strength
    if abs(slope) <= 1e-9:
        return "nothing"
    return "raises" if slope > 0 else "lowers"


def effect_by_shifting(query, query_strength):
    if math.hypot(*query) == 0:
        raise ValueError(query)
    slope = math.fsum(b + query_strength for b in query)
    return {-1: "lowers", 0: "nothing", 1: "raises"}[(slope > 1e-9) - (slope < -1e-9)]


def effect_by_trying(query, query_strength):
    memory = [1.0] * len(query)
    weak, strong = (biased_cosine_expanded(query, memory, query_strength, e) for e in (0, 1))
    if math.isclose(weak, strong, abs_tol=1e-10):
        return "nothing"
    return "lowers" if strong < weak else "raises"


def _saying(slope):
    """The words for a wrong slope, with the guard of the reference."""

    def effect(query, query_strength):
        if not any(query):
            raise ValueError(query)
        value = slope(query, query_strength)
        return "nothing" if abs(value) <= 1e-9 else "raises" if value > 0 else "lowers"

    return effect


def _nothing_is_raised(query, query_strength):
    said = effect_of_strength(query, query_strength)
    return "raises" if said == "nothing" else said


def _zero_vector_is_nothing(query, query_strength):
    return effect_of_strength(query, query_strength) if any(query) else "nothing"


def _asked(rng: random.Random):
    """Coordinates in quarters, so that sums of nothing are exactly nothing."""
    n = rng.randint(3, 6)
    up = [rng.randint(1, 12) / 4 for _ in range(n)]
    mixed = [-rng.randint(1, 4) / 4, *(rng.randint(4, 12) / 4 for _ in range(n - 1))]
    x, y = rng.randint(1, 9) / 4, rng.randint(1, 9) / 4
    down = [-value for value in up]
    total = sum(up)
    return [
        (up, 0),
        (mixed, rng.randint(0, 3) / 4),
        (down, 0),
        ([-value for value in mixed], 0),
        ([x, -x, y, -y], 0),
        ([x, -x], rng.randint(1, 4) / 4),
        ([-x, y, -y], -rng.randint(1, 4) / 4),
        ([-2.0, -2.0, x, -x], 1.0),
        ([-1.0, -1.0, -1.0, -rng.randint(1, 3) / 4], rng.choice([1.25, 1.5])),
        (up, -math.ceil(total / n) - rng.randint(0, 2)),
        ([-8.0, x, y, 0.5], 0.25),
        ([0, 0, 0], rng.choice([0.25, 0.5])),
        ([-x, x - 3, 0.0], 1),
        ([x, -x - 0.5], 0),
        ([0.1, 0.2, -0.3], 0),  # not exactly 0, by a stray bit
        ([x, -x], 0.75e-9),
    ]


# --- bounded_strength --------------------------------------------------------------------------
def _ranges(cosine, strength):
    if not -1 <= cosine <= 1:
        raise ValueError(f"cosine is {cosine}")
    if not 0 <= strength < 1:
        raise ValueError(f"strength is {strength}")


def bounded_strength(cosine, strength):
    _ranges(cosine, strength)
    return cosine + strength * (1 - cosine)


def bounded_strength_from_one(cosine, strength):
    if abs(cosine) > 1 or strength < 0 or strength >= 1:
        raise ValueError((cosine, strength))
    return 1 - (1 - strength) * (1 - cosine)


def bounded_strength_as_a_mixture(cosine, strength):
    _ranges(cosine, strength)
    return math.fsum([(1 - strength) * cosine, strength])


def _strengthened(formula):
    """A wrong form with the guards of the reference."""

    def score(cosine, strength):
        _ranges(cosine, strength)
        return float(formula(cosine, strength))

    return score


def _no_refusal(cosine, strength):
    return cosine + strength * (1 - cosine)


def _one_is_a_strength(cosine, strength):
    return 1.0 if strength == 1 and -1 <= cosine <= 1 else bounded_strength(cosine, strength)


def _cosines(rng: random.Random):
    drawn = [(rng.uniform(-0.9, 0.95), rng.uniform(0.05, 0.9)) for _ in range(8)]
    return [
        *drawn,
        (-rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9)),
        (rng.uniform(0.7, 0.9), rng.uniform(0.5, 0.9)),
        (rng.uniform(0.1, 0.5), 0),
        (1, rng.uniform(0.1, 0.9)),
        (-1, 0.5),
        (rng.uniform(0.1, 0.5), 1),
        (rng.uniform(0.1, 0.5), -0.1),
        (1.2, 0.3),
        (-1.2, 0.3),
    ]


# --- strength_to_draw_level --------------------------------------------------------------------
def strength_to_draw_level(leader, leader_strength, follower):
    goal = bounded_strength(leader, leader_strength)
    _ranges(follower, 0)
    if follower >= goal:
        return 0.0
    return None if goal == 1 else (goal - follower) / (1 - follower)


def draw_level_by_what_is_missing(leader, leader_strength, follower):
    for cosine in (leader, follower):
        _ranges(cosine, leader_strength)
    missing = (1 - leader) * (1 - leader_strength)
    if 1 - follower <= missing:
        return 0.0
    return 1 - missing / (1 - follower) if missing > 0 else None


def draw_level_by_halving(leader, leader_strength, follower):
    goal = bounded_strength_from_one(leader, leader_strength)
    if abs(follower) > 1:
        raise ValueError(follower)
    if leader == 1 and follower < 1:
        return None
    low, high = 0.0, 1.0
    while follower < goal and high - low > 1e-13:
        middle = (low + high) / 2
        if follower + middle * (1 - follower) < goal:
            low = middle
        else:
            high = middle
    return low


def _levelling(formula):
    """A wrong solution with the guards and the two special answers of the reference."""

    def strength(leader, leader_strength, follower):
        right = strength_to_draw_level(leader, leader_strength, follower)
        if right is None or right == 0:
            return right
        return float(formula(leader, leader_strength, follower))

    return strength


def _leader_plain(leader, leader_strength, follower):
    _ranges(leader, leader_strength)
    return strength_to_draw_level(leader, 0, follower)


def _below_nothing(leader, leader_strength, follower):
    right = strength_to_draw_level(leader, leader_strength, follower)
    if right == 0 and follower < 1:
        return (bounded_strength(leader, leader_strength) - follower) / (1 - follower)
    return right


def _one_in_the_end(leader, leader_strength, follower):
    right = strength_to_draw_level(leader, leader_strength, follower)
    return 1.0 if right is None else right


def _never_already_there(leader, leader_strength, follower):
    right = strength_to_draw_level(leader, leader_strength, follower)
    return None if right == 0 else right


def _races(rng: random.Random):
    cases = []
    for _ in range(8):
        low, high = sorted(rng.uniform(-0.5, 0.95) for _ in range(2))
        cases.append((high + 0.01, rng.uniform(0.05, 0.8), low))
    low, high = sorted(rng.uniform(0.1, 0.9) for _ in range(2))
    return [
        *cases,
        (high + 0.01, 0, low),
        (low, 0.5, low),
        (low / 2, 0, high),
        (low, 0.01, 0.97),
        (high, 0, high),
        (1, rng.uniform(0, 0.5), high),
        (1, 0.2, 1),
        (high, rng.uniform(0.1, 0.5), -1),
        (high, 1, low),
        (high, -0.2, low),
        (1.3, 0.2, low),
        (high, 0.2, -1.1),
        (high, 0.2, 1 + low),
    ]


TASKS = (
    Task(
        reference=strength_of_vector,
        points=1,
        inputs=_vectors,
        right=(strength_of_vector_by_statistics, strength_of_vector_by_distance),
        wrong=(
            Wrong(
                "beta left out",
                _from_vector(lambda v, mean, std, alpha, beta: alpha * (mean + std)),
                "That is the document's comment. How much does the spread count in its code?",
            ),
            Wrong(
                "divided by n minus 1",
                _from_vector(
                    lambda v, mean, std, alpha, beta: alpha * (mean + beta * _sample_std(v))
                ),
                "The spread here is that of the whole vector, not an estimate from a sample.",
            ),
            Wrong(
                "alpha on the mean only",
                _from_vector(lambda v, mean, std, alpha, beta: alpha * mean + beta * std),
                "Alpha is the size of the whole strength: what stands inside its bracket?",
            ),
            Wrong(
                "variance for spread",
                _from_vector(lambda v, mean, std, alpha, beta: alpha * (mean + beta * std**2)),
                "The spread has the unit of the coordinates. One step is missing at the end.",
            ),
            Wrong(
                "sum for mean",
                _from_vector(lambda v, mean, std, alpha, beta: alpha * (sum(v) + beta * std)),
                "A vector with more coordinates must not be stronger for that alone.",
            ),
            Wrong(
                "mean of sizes",
                _from_vector(
                    lambda v, mean, std, alpha, beta: (
                        alpha * (statistics.fmean(map(abs, v)) + beta * std)
                    )
                ),
                "Negative coordinates count as they are. A strength may be below 0.",
            ),
            Wrong(
                "nothing has no strength",
                _empty_is_zero,
                "A vector without coordinates has no mean, and must be refused.",
            ),
        ),
    ),
    Task(
        reference=biased_cosine,
        points=2,
        inputs=_pairs,
        right=(biased_cosine_expanded, biased_cosine_on_units),
        wrong=(
            Wrong(
                "lengths of the moved vectors",
                _dotted(_literal, _shifted_lengths),
                "Which vectors have their lengths below the line: the plain or the moved ones?",
            ),
            Wrong(
                "the question's strength forgotten",
                _dotted(lambda b, a, e_b, e_a: _literal(b, a, 0, e_a)),
                "Both sides have a strength.",
            ),
            Wrong(
                "added once",
                _dotted(lambda b, a, e_b, e_a: _plain(b, a) + e_a + e_b),
                "A strength is added to every coordinate, before the product.",
            ),
            Wrong(
                "one term short",
                _dotted(lambda b, a, e_b, e_a: _plain(b, a) + e_a * sum(b) + e_b * sum(a)),
                "A bracket times a bracket has four terms. What becomes of the two strengths?",
            ),
            Wrong(
                "n forgotten",
                _dotted(
                    lambda b, a, e_b, e_a: _plain(b, a) + e_a * sum(b) + e_b * sum(a) + e_a * e_b
                ),
                "The two strengths meet once in every coordinate.",
            ),
            Wrong(
                "sums of the wrong side",
                _dotted(
                    lambda b, a, e_b, e_a: (
                        _plain(b, a) + e_a * sum(a) + e_b * sum(b) + len(a) * e_a * e_b
                    )
                ),
                "The memory's strength is multiplied by the coordinates of the other vector.",
            ),
            Wrong(
                "clipped to 1",
                _clipped,
                "This score has no bound: leave it as it comes out.",
            ),
            Wrong(
                "a zero vector scores 0",
                _zero_scores_zero,
                "A zero vector has no direction, with or without a strength: refuse it.",
            ),
            Wrong(
                "the shorter one decides",
                _shorter_one,
                "Vectors of different dimensions come from different models: refuse them.",
            ),
        ),
    ),
    Task(
        reference=effect_of_strength,
        points=2,
        inputs=_asked,
        right=(effect_by_shifting, effect_by_trying),
        wrong=(
            Wrong(
                "always raises",
                _saying(lambda query, query_strength: 1.0),
                "Expand the bracket: by what is the memory's strength multiplied?",
            ),
            Wrong(
                "the question's strength ignored",
                _saying(lambda query, query_strength: sum(query)),
                "The memory's strength also meets that of the question.",
            ),
            Wrong(
                "n forgotten",
                _saying(lambda query, query_strength: sum(query) + query_strength),
                "The two strengths meet once in every coordinate.",
            ),
            Wrong(
                "turned round",
                _saying(lambda query, query_strength: -sum(query) - len(query) * query_strength),
                "A sum above 0 means that the score grows with the strength.",
            ),
            Wrong(
                "any negative coordinate lowers",
                _saying(lambda query, query_strength: min(query) + query_strength),
                "One coordinate below 0 does not decide. Add all of them up.",
            ),
            Wrong(
                "first coordinate only",
                _saying(lambda query, query_strength: query[0] + query_strength),
                "Every coordinate has a say, not only the first.",
            ),
            Wrong(
                "nothing counted as a rise",
                _nothing_is_raised,
                "There is a third answer: the score may stay where it is.",
            ),
            Wrong(
                "a zero vector does nothing",
                _zero_vector_is_nothing,
                "A question without a direction has no score that could move: refuse it.",
            ),
        ),
    ),
    Task(
        reference=bounded_strength,
        points=2,
        inputs=_cosines,
        right=(bounded_strength_from_one, bounded_strength_as_a_mixture),
        wrong=(
            Wrong(
                "added",
                _strengthened(lambda cosine, strength: cosine + strength),
                "A good card with a high strength passes 1 in your answer.",
            ),
            Wrong(
                "added and clamped",
                _strengthened(lambda cosine, strength: min(1.0, cosine + strength)),
                "All good cards become equal at 1. Close a share of what is missing instead.",
            ),
            Wrong(
                "a share of the cosine",
                _strengthened(lambda cosine, strength: cosine * (1 + strength)),
                "Below 0 your strength lowers the score. A share of what should be added?",
            ),
            Wrong(
                "the cosine shrinks",
                _strengthened(lambda cosine, strength: (1 - strength) * cosine),
                "A term is missing: with more strength the score must come closer to 1, not to 0.",
            ),
            Wrong(
                "gap taken without its sign",
                _strengthened(lambda cosine, strength: cosine + strength * (1 - abs(cosine))),
                "How far is a cosine of -1 from 1? Farther than one of 0.",
            ),
            Wrong(
                "no refusal",
                _no_refusal,
                "A cosine above 1 or a strength below 0 is somebody's mistake: refuse it.",
            ),
            Wrong(
                "strength 1 let in",
                _one_is_a_strength,
                "With a strength of 1 every card scores 1, whatever it says. It is out of range.",
            ),
        ),
    ),
    Task(
        reference=strength_to_draw_level,
        points=3,
        inputs=_races,
        right=(draw_level_by_what_is_missing, draw_level_by_halving),
        wrong=(
            Wrong(
                "the leader's strength ignored",
                _leader_plain,
                "The leader may be strong, too. Which score has to be reached?",
            ),
            Wrong(
                "the bare difference",
                _levelling(lambda lead, s, follow: bounded_strength(lead, s) - follow),
                "A strength closes a share of the gap to 1. A share of what, for the follower?",
            ),
            Wrong(
                "share of the leader's gap",
                _levelling(
                    lambda lead, s, follow: (bounded_strength(lead, s) - follow) / (1 - lead)
                ),
                "Whose gap to 1 does the follower's strength close?",
            ),
            Wrong(
                "relative to the goal",
                _levelling(
                    lambda lead, s, follow: (
                        (bounded_strength(lead, s) - follow) / bounded_strength(lead, s)
                    )
                ),
                "Solve cos + s (1 - cos) = goal for s, step by step.",
            ),
            Wrong(
                "strengths added",
                _levelling(lambda lead, s, follow: s + (lead - follow) / (1 - follow)),
                "Two strengths do not add up: each closes a share of what is still open.",
            ),
            Wrong(
                "a strength below 0",
                _below_nothing,
                "A follower that is ahead already needs nothing. A strength is never below 0.",
            ),
            Wrong(
                "a strength of 1",
                _one_in_the_end,
                "Strengths stay below 1. What can reach a score of 1, then?",
            ),
            Wrong(
                "no answer where nothing is needed",
                _never_already_there,
                "Level already is an answer, too: which strength changes nothing?",
            ),
        ),
    ),
)
