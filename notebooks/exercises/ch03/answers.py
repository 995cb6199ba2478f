"""Chapter 03's tasks: references, inputs, misconceptions."""

import json
import math
import random
from contextlib import suppress

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.importance": (),
    "memlib.retrieval": ("features", "server_importance"),
    "memlib.extraction.reply": (),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "importance_from_rating": (
        "memlib.importance:from_rating",
        "memlib.retrieval:server_importance",
    ),
    "system_importance": ("memlib.importance:importance", "memlib.retrieval:server_importance"),
    "apply_policy": ("memlib.importance:importance",),
    "reply_problem": ("memlib.extraction.reply:parse_reply",),
    "rating_needed": (),
}

BOOST = {"semantic": 0.10, "episodic": 0.0, "working": -0.05}
CATEGORIES = ["family", "food", "health", "home", "work"]


# --- importance_from_rating --------------------------------------------------------------------
def importance_from_rating(rating):
    if rating is None:
        return 0.5
    if not 1 <= rating <= 10:
        raise ValueError(f"rating is {rating}: must be from 1 to 10")
    return (rating - 1) / 9


def importance_from_rating_by_default(rating):
    value = 5.5 if rating is None else rating
    if value >= 1 and value <= 10:
        return value / 9 - 1 / 9
    raise ValueError(rating)


def importance_from_rating_from_the_top(rating):
    if rating is not None and (math.isnan(rating) or rating < 1 or rating > 10):
        raise ValueError("off the scale")
    return 1 - (10 - rating) / 9 if rating is not None else 0.5


def _on_the_scale(scale, unrated=0.5):
    """A wrong formula with every guard of the reference right: the idea alone is wrong."""

    def scaled(rating):
        if rating is None:
            return unrated
        importance_from_rating(rating)
        return scale(rating)

    return scaled


def _clamps_the_rating(rating):
    if rating is None:
        return 0.5
    return min(max((rating - 1) / 9, 0.0), 1.0)


def _zero_is_a_rating(rating):
    if rating is not None and not 0 <= rating <= 10:
        raise ValueError("off the scale")
    return 0.5 if rating is None else (rating - 1) / 9


def _ratings(rng: random.Random):
    whole = rng.sample(range(2, 10), 5)
    between = [rng.uniform(1, 10) for _ in range(4)]
    invalid = [0, rng.randint(11, 20), -rng.randint(1, 5), rng.uniform(0.1, 0.9), math.nan]
    invalid += [rng.uniform(10.1, 10.9)]
    return [(rating,) for rating in [*whole, *between, 1, 10, None, *invalid]]


# --- system_importance -------------------------------------------------------------------------
def system_importance(user, pinned, kind):
    if user is None:
        user = 0.5
    if not 0 <= user <= 1:
        raise ValueError(f"user is {user}: must be from 0 to 1")
    if kind not in BOOST:
        raise ValueError(f"kind is {kind!r}: must be working, episodic or semantic")
    return min(1.0, max(0.0, user + (0.20 if pinned else 0.0) + BOOST[kind]))


def system_importance_step_by_step(user, pinned, kind):
    total = 0.5 if user is None else float(user)
    if math.isnan(total) or total < 0 or total > 1:
        raise ValueError("user")
    if pinned:
        total += 0.2
    if kind == "semantic":
        total += 0.1
    elif kind == "working":
        total -= 0.05
    elif kind != "episodic":
        raise ValueError("kind")
    if total > 1:
        return 1.0
    return total if total > 0 else 0.0


def system_importance_by_sorting(user, pinned, kind):
    if user is not None and not (user >= 0 and user <= 1):
        raise ValueError(user)
    try:
        extra = dict(working=-5, episodic=0, semantic=10)[kind] + 20 * bool(pinned)
    except KeyError:
        raise ValueError(kind) from None
    return sorted([0.0, (0.5 if user is None else user) + extra / 100, 1.0])[1]


def _checked(combine, unrated=0.5):
    def combined(user, pinned, kind):
        system_importance(user, pinned, kind)
        return combine(unrated if user is None else user, int(pinned), BOOST[kind])

    return combined


def _clamp(value):
    return min(1.0, max(0.0, value))


def _unknown_kind_is_episodic(user, pinned, kind):
    return system_importance(user, pinned, kind if kind in BOOST else "episodic")


def _user_is_clamped_too(user, pinned, kind):
    return system_importance(None if user is None else _clamp(user), pinned, kind)


def _opinions(rng: random.Random):
    kinds = list(BOOST)
    cases = [(rng.uniform(0.1, 0.65), rng.random() < 0.5, kind) for kind in kinds * 3]
    cases += [(rng.uniform(0.2, 0.6), True, "semantic"), (rng.uniform(0.2, 0.6), True, "working")]
    edges = [(None, False, "episodic"), (None, True, "semantic"), (None, False, "working")]
    edges += [
        (0.0, False, "working"),
        (rng.uniform(0.86, 1), True, "working"),
        (1, True, "semantic"),
    ]
    level = rng.uniform(0.1, 0.9)
    invalid = [(1.5, False, "episodic"), (-level, True, "semantic"), (math.nan, False, "working")]
    return [*cases, *edges, *invalid, (level, False, "eternal"), (level, True, "")]


# --- apply_policy ------------------------------------------------------------------------------
def apply_policy(importances, categories, policy):
    if len(importances) != len(categories):
        raise ValueError("one category a card, please")
    return [
        _clamp(importance + policy.get(category, 0.0))
        for importance, category in zip(importances, categories)
    ]


def apply_policy_in_a_loop(importances, categories, policy):
    result = []
    if len(categories) != len(importances):
        raise ValueError(len(categories))
    for row in range(len(importances)):
        total = importances[row]
        if categories[row] in policy:
            total += policy[categories[row]]
        result.append(max(min(total, 1.0), 0.0))
    return result


def apply_policy_rule_by_rule(importances, categories, policy):
    if len(importances) - len(categories):
        raise ValueError("lengths")
    result = [float(x) for x in importances]
    for wanted, extra in policy.items():
        result = [r + extra * (c == wanted) for r, c in zip(result, categories, strict=True)]
    return [0.0 if r < 0 else 1.0 if r > 1 else r for r in result]


def _same_lengths(change):
    def changed(importances, categories, policy):
        apply_policy(importances, categories, policy)
        pairs = zip(importances, categories, strict=True)
        return [change(x, policy.get(c, 0.0), policy) for x, c in pairs]

    return changed


def _only_the_cards_named(importances, categories, policy):
    whole = apply_policy(importances, categories, policy)
    return [x for x, c in zip(whole, categories, strict=True) if c in policy]


def _cut_to_the_shorter(importances, categories, policy):
    n = min(len(importances), len(categories))
    return apply_policy(importances[:n], categories[:n], policy)


def _unknown_category_raises(importances, categories, policy):
    if any(category not in policy for category in categories):
        raise KeyError("category")
    return apply_policy(importances, categories, policy)


def _policies(rng: random.Random):
    cases = []
    for _ in range(8):
        names = [rng.choice(CATEGORIES) for _ in range(rng.randint(4, 7))]
        names[:2] = ["food", "health"]
        policy = {"health": rng.uniform(0.02, 0.2), "work": -rng.uniform(0.02, 0.2)}
        cases.append(([rng.uniform(0.25, 0.75) for _ in names], names, policy))
    high, low = rng.uniform(0.93, 1), rng.uniform(0, 0.07)
    cases += [
        ([high, low, 0.5], ["health", "work", "food"], {"health": 0.15, "work": -0.1}),
        ([0.6, 0.3], ["health", "health"], {"health": 0.05}),
        ([low, high], ["food", "home"], {}),
        ([], [], {"health": 0.05}),
        ([0.5, 0.5], ["food"], {"food": 0.05}),
        ([0.5], ["food", "home"], {}),
    ]
    return cases


# --- reply_problem -----------------------------------------------------------------------------
def reply_problem(text, categories):
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return "reply"
    if not isinstance(found, dict):
        return "reply"
    fact, importance = found.get("fact"), found.get("importance")
    if not isinstance(fact, str) or not fact.strip():
        return "fact"
    if found.get("category") not in categories:
        return "category"
    if type(importance) is not int or not 1 <= importance <= 10:
        return "importance"
    extra = [name for name in found if name not in ("fact", "category", "importance")]
    return extra[0] if extra else ""


def reply_problem_with_a_table(text, categories):
    rules = {
        "fact": lambda x: isinstance(x, str) and x.strip() != "",
        "category": lambda x: isinstance(x, str) and x in categories,
        "importance": lambda x: x in range(1, 11) and not isinstance(x, bool | float),
    }
    try:
        fields = dict(json.loads(text).items())
    except (ValueError, AttributeError):
        return "reply"
    for name, rule in rules.items():
        if name not in fields or not rule(fields[name]):
            return name
    return next((name for name in fields if name not in rules), "")


def reply_problem_popping(text, categories):
    try:
        left = json.loads(text)
        if type(left) is not dict:
            raise ValueError("no object")
    except ValueError:
        return "reply"
    if not str(left["fact"] if isinstance(left.get("fact"), str) else "").strip():
        return "fact"
    if left.get("category") not in list(categories):
        return "category"
    rating = left.get("importance")
    if isinstance(rating, bool) or not isinstance(rating, int) or rating < 1 or rating > 10:
        return "importance"
    for done in ("fact", "category", "importance"):
        left.pop(done)
    return next(iter(left), "")


def _digs_out_the_braces(text, categories):
    start, end = text.find("{"), text.rfind("}")
    return reply_problem(text[start : end + 1] if 0 <= start < end else text, categories)


def _mended(mend):
    """Mend the parsed object before it is checked: what a lenient reader lets through."""

    def checked(text, categories):
        try:
            found = json.loads(text)
        except json.JSONDecodeError:
            return "reply"
        return (
            reply_problem(json.dumps(mend(dict(found), categories)), categories)
            if (isinstance(found, dict))
            else "reply"
        )

    return checked


def _converts_the_rating(found, _):
    with suppress(KeyError, TypeError, ValueError):
        found["importance"] = int(found["importance"])
    return found


def _true_is_one(found, _):
    if isinstance(found.get("importance"), bool):
        found["importance"] = 1
    return found


def _ignores_extra_fields(found, _):
    return {name: found[name] for name in ("fact", "category", "importance") if name in found}


def _any_category(found, categories):
    return found | {"category": categories[0]} if isinstance(found.get("category"), str) else found


def _clamps_the_reply(found, _):
    rating = found.get("importance")
    if type(rating) is int:
        found["importance"] = min(10, max(1, rating))
    return found


def _empty_fact_will_do(found, _):
    return found | {"fact": "x"} if isinstance(found.get("fact"), str) else found


def _only_the_last_field(text, categories):
    problem = reply_problem(text, categories)
    if problem in ("fact", "category"):
        later = json.loads(text) | {"fact": "x"}
        return reply_problem(json.dumps(later | {"category": categories[0]}), categories) or problem
    return problem


def _replies(rng: random.Random):
    def reply(**change):
        base = {
            "fact": rng.choice(["Nina sings.", "Theo swims.", "Sam cooks."]),
            "category": rng.choice(CATEGORIES),
            "importance": rng.randint(1, 10),
        }
        fields = {k: v for k, v in (base | change).items() if v is not ...}
        return json.dumps(fields)

    texts = [reply() for _ in range(4)] + [reply(importance=1), reply(importance=10)]
    for value in (0, 11, rng.randint(12, 99), "high", str(rng.randint(1, 10)), True, None, ...):
        texts.append(reply(importance=value))
    texts += [reply(importance=rng.randint(1, 9) + 0.5), reply(importance=7.0)]
    texts += [reply(category="opera"), reply(category=...), reply(category=7), reply(fact=...)]
    texts += [reply(fact=value) for value in ("", "   ", 3)]
    texts += [reply(mood="glad"), reply(**{rng.choice(["tags", "note"]): 1}), reply(tags=1, note=2)]
    texts += ['{"mood": "glad", ' + reply()[1:]]
    texts += [reply(fact="", importance=0), reply(category="opera", importance="high")]
    texts += ["Here you are: " + reply(), reply()[:-3], f"[{reply()}]", "8", "", "null"]
    return [(text, CATEGORIES) for text in texts]


# --- rating_needed -----------------------------------------------------------------------------
def rating_needed(target, pinned, kind):
    if not 0 <= target <= 1:
        raise ValueError(f"target is {target}: must be from 0 to 1")
    for rating in range(1, 11):
        if system_importance((rating - 1) / 9, pinned, kind) >= target - 1e-9:
            return rating
    return None


def rating_needed_backwards(target, pinned, kind):
    if target < 0 or target > 1 or math.isnan(target):
        raise ValueError(target)
    if kind not in BOOST:
        raise ValueError(kind)
    user = max(0.0, target - 0.2 * bool(pinned) - BOOST[kind]) if target > 1e-9 else 0.0
    rating = 1 + math.ceil(9 * (user - 1e-9))
    return rating if rating <= 10 else None


def rating_needed_by_list(target, pinned, kind):
    system_importance(target, pinned, kind)
    good = [
        r
        for r in range(10, 0, -1)
        if target - _clamp((r - 1) / 9 + 0.2 * bool(pinned) + BOOST[kind]) <= 1e-9
    ]
    return min(good, default=None)


def _searched(reaches, otherwise=None):
    def needed(target, pinned, kind):
        system_importance(target, pinned, kind)
        for rating in range(1, 11):
            if reaches(rating, pinned, kind, target):
                return rating
        return otherwise

    return needed


def _reached(rating, pinned, kind, target):
    return system_importance((rating - 1) / 9, pinned, kind) >= target - 1e-9


def _largest_that_stays_below(target, pinned, kind):
    enough = rating_needed(target, pinned, kind)
    return 10 if enough is None else max(1, enough - 1)


def _targets(rng: random.Random):
    kinds = list(BOOST)
    cases = [(rng.uniform(0.32, 0.95), rng.random() < 0.5, kind) for kind in kinds * 4]
    cases += [(rng.uniform(0.4, 0.9), True, kind) for kind in kinds]
    whole = rng.randint(3, 9)
    level = (whole - 1) / 9
    exact = [(level, False, "episodic"), (1.0, False, "episodic")]
    exact += [(level - 0.05, False, "working")]
    exact += [(level + x * 1e-9, False, "episodic") for x in (0.5, 1.5)]  # reached, and not
    edges = [
        (0, False, "working"),
        (0.05, True, "semantic"),
        (rng.uniform(0.96, 1), False, "working"),
    ]
    invalid = [
        (rng.uniform(1.1, 2), True, "semantic"),
        (-0.1, False, "working"),
        (0.5, True, "old"),
    ]
    return [*cases, *exact, *edges, *invalid]


TASKS = (
    Task(
        reference=importance_from_rating,
        points=1,
        inputs=_ratings,
        right=(importance_from_rating_by_default, importance_from_rating_from_the_top),
        wrong=(
            Wrong(
                "unrated is worth 0",
                _on_the_scale(importance_from_rating, unrated=0.0),
                "Nobody rated the card. Does that tell you that it does not matter?",
            ),
            Wrong(
                "divide by 10",
                _on_the_scale(lambda r: r / 10),
                "The lowest rating is 1, and it must become 0. Where does r / 10 put it?",
            ),
            Wrong(
                "nine without the one",
                _on_the_scale(lambda r: r / 9),
                "A rating of 10 may not come out above 1: what is subtracted first?",
            ),
            Wrong(
                "subtract one, divide by ten",
                _on_the_scale(lambda r: (r - 1) / 10),
                "From 1 to 10 it is nine steps, not ten: the top must reach 1.",
            ),
            Wrong(
                "clamp the rating",
                _clamps_the_rating,
                "An 11 says that the rater left the scale. Mending it is guessing.",
            ),
            Wrong(
                "the scale starts at 0",
                _zero_is_a_rating,
                "The rubric knows no 0, and it would give an importance below 0.",
            ),
            Wrong(
                "whole ratings only",
                _on_the_scale(lambda r: (math.floor(r) - 1) / 9),
                "5.5 is the middle of the scale; do not cut the half off.",
            ),
        ),
    ),
    Task(
        reference=system_importance,
        points=2,
        inputs=_opinions,
        right=(system_importance_step_by_step, system_importance_by_sorting),
        wrong=(
            Wrong(
                "no clamp",
                _checked(lambda u, p, b: u + 0.20 * p + b),
                "What is the largest importance that the scale knows, and the smallest?",
            ),
            Wrong(
                "clamp only above",
                _checked(lambda u, p, b: min(1.0, u + 0.20 * p + b)),
                "The clamp has two ends. Which kind of card can fall through the floor?",
            ),
            Wrong(
                "clamp before the kind",
                _checked(lambda u, p, b: _clamp(u + 0.20 * p) + b),
                "The clamp closes the whole sum. Here the kind still moves it past the end.",
            ),
            Wrong(
                "a pin multiplies",
                _checked(lambda u, p, b: _clamp(u * (1 + 0.20 * p) + b)),
                "A pin is worth the same on every card: it is added.",
            ),
            Wrong(
                "the stronger of pin and kind",
                _checked(lambda u, p, b: _clamp(u + max(0.20 * p, b))),
                "Pin and kind both count, also when both apply.",
            ),
            Wrong(
                "working gains",
                _checked(lambda u, p, b: _clamp(u + 0.20 * p + abs(b))),
                "A note for tonight is worth less than an event: look at the sign.",
            ),
            Wrong(
                "no opinion is worth 0",
                _checked(lambda u, p, b: _clamp(u + 0.20 * p + b), unrated=0.0),
                "Where the user said nothing the document has a default, and it is not 0.",
            ),
            Wrong(
                "unknown kind passes as episodic",
                _unknown_kind_is_episodic,
                "A kind that nobody knows is a typing error somewhere. Say so at once.",
            ),
            Wrong(
                "the user's number is clamped",
                _user_is_clamped_too,
                "The clamp is for the sum. A user's 1.5 is an error to be named.",
            ),
        ),
    ),
    Task(
        reference=apply_policy,
        points=2,
        inputs=_policies,
        right=(apply_policy_in_a_loop, apply_policy_rule_by_rule),
        wrong=(
            Wrong(
                "no clamp",
                _same_lengths(lambda x, extra, policy: x + extra),
                "After the policy the number must still lie on the scale.",
            ),
            Wrong(
                "policy multiplies",
                _same_lengths(lambda x, extra, policy: _clamp(x * (1 + extra))),
                "The correction is a number of its own, added to the importance.",
            ),
            Wrong(
                "policy for everybody",
                _same_lengths(lambda x, extra, policy: _clamp(x + sum(policy.values()))),
                "Each card gets the correction of its own category, no other.",
            ),
            Wrong(
                "policies only raise",
                _same_lengths(lambda x, extra, policy: _clamp(x + max(0.0, extra))),
                "A project may also be worth less than others.",
            ),
            Wrong(
                "other cards dropped",
                _only_the_cards_named,
                "A category without a policy keeps its importance, and its place in the list.",
            ),
            Wrong(
                "a category without policy raises",
                _unknown_category_raises,
                "No policy for a category is the ordinary case: nothing is added.",
            ),
            Wrong(
                "cut to the shorter list",
                _cut_to_the_shorter,
                "If the lists differ in length, some card has lost its category. Say so.",
            ),
        ),
    ),
    Task(
        reference=reply_problem,
        points=3,
        inputs=_replies,
        right=(reply_problem_with_a_table, reply_problem_popping),
        wrong=(
            Wrong(
                "dig out the braces",
                _digs_out_the_braces,
                "Prose around the object is already a broken promise: do not repair it.",
            ),
            Wrong(
                "convert the rating",
                _mended(_converts_the_rating),
                "int() turns a text, a fraction and true into a number that nobody gave.",
            ),
            Wrong(
                "true is a number",
                _mended(_true_is_one),
                "In Python True passes as the int 1. Is it a rating?",
            ),
            Wrong(
                "extra fields are harmless",
                _mended(_ignores_extra_fields),
                "A field that you did not ask for says that the model invents. Name it.",
            ),
            Wrong(
                "any category",
                _mended(_any_category),
                "Categories are a closed list: opera is not on it.",
            ),
            Wrong(
                "clamp the rating",
                _mended(_clamps_the_reply),
                "A rating off the scale is refused, not pushed back.",
            ),
            Wrong(
                "an empty fact",
                _mended(_empty_fact_will_do),
                "What would a card with no words on it tell anybody?",
            ),
            Wrong(
                "the last problem",
                _only_the_last_field,
                "With two problems, name the one that comes first in the order given.",
            ),
        ),
    ),
    Task(
        reference=rating_needed,
        points=3,
        inputs=_targets,
        right=(rating_needed_backwards, rating_needed_by_list),
        wrong=(
            Wrong(
                "more than the target",
                _searched(lambda r, p, k, t: system_importance((r - 1) / 9, p, k) > t + 1e-9),
                "To reach a target, meeting it is enough.",
            ),
            Wrong(
                "pin forgotten",
                _searched(lambda r, p, k, t: _reached(r, False, k, t)),
                "A pinned card needs less from its rater. How much less?",
            ),
            Wrong(
                "kind forgotten",
                _searched(lambda r, p, k, t: _reached(r, p, "episodic", t)),
                "A lasting fact starts ahead of a note for tonight.",
            ),
            Wrong(
                "rating over ten",
                _searched(lambda r, p, k, t: system_importance(r / 10, p, k) >= t - 1e-9),
                "Turn the rating into an importance first: the scale starts at 1.",
            ),
            Wrong(
                "ten when out of reach",
                _searched(lambda r, p, k, t: _reached(r, p, k, t), otherwise=10),
                "If even a 10 does not reach it, 10 is a wrong answer. Say that there is none.",
            ),
            Wrong(
                "one too low",
                _largest_that_stays_below,
                "Put your answer back into the formula: does it reach the target?",
            ),
        ),
    ),
)
