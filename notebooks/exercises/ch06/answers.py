"""Chapter 06's tasks: references, inputs, misconceptions."""

import math
import random
import re
from collections import Counter

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.entity_boost": (),
    "memlib.cards": ("names_on",),
    "course.measure.experiment": ("measure_signals",),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "damp": ("memlib.entity_boost:damp",),
    "count_cards": ("memlib.cards:names_on",),
    "names_in_question": ("memlib.entity_boost:names_in",),
    "entity_boost": (
        "memlib.entity_boost:entity_boost",
        "course.measure.experiment:measure_signals",
    ),
    "boosted_rows": (
        "memlib.entity_boost:names_in",
        "memlib.entity_boost:entity_boost",
        "memlib.cards:names_on",
    ),
}

NAMES = ["Sam", "Miso", "Nina", "Theo", "Leela", "Ollie", "Poppy", "Daisy", "Jonas", "Aiko"]


# --- damp --------------------------------------------------------------------------------------
def damp(df):
    if df < 1:
        raise ValueError(f"df is {df}")
    return 1 / math.log2(1 + df)


def damp_by_natural_logarithms(df):
    if not df >= 1:
        raise ValueError(df)
    return math.log(2) / math.log(df + 1)


def damp_as_a_power(df):
    if df <= 0:
        raise ValueError("a name on no card")
    return math.log(df + 1, 2) ** -1


def _refusing(worth):
    """A wrong worth that refuses what the reference refuses: the idea alone is wrong."""

    def worth_of(df):
        if df < 1:
            raise ValueError(df)
        return worth(df)

    return worth_of


def _no_refusal(df):
    return 1 / math.log2(1 + df) if df > 0 else 1.0


def _counts(rng: random.Random):
    ordinary = [1, 3, 60, *(rng.randint(2, 300) for _ in range(8))]
    return [(df,) for df in [*ordinary, 0, -rng.randint(1, 9)]]


# --- count_cards -------------------------------------------------------------------------------
def _name(entity):
    name, colon, _ = entity.rpartition(":")
    if not colon:
        raise ValueError(f"{entity} has no type")
    return name


def count_cards(cards):
    df = {}
    for card in cards:
        for name in {_name(entity) for entity in card}:
            df[name] = df.get(name, 0) + 1
    return df


def count_cards_by_counter(cards):
    return dict(Counter(name for card in cards for name in set(map(_name, card))))


def count_cards_name_by_name(cards):
    plain = [[_name(entity) for entity in card] for card in cards]
    return {name: sum(name in card for card in plain) for card in plain for name in card}


def _mentions(cards):
    return dict(Counter(_name(entity) for card in cards for entity in card))


def _types_kept(cards):
    for card in cards:
        for entity in card:
            _name(entity)
    return dict(Counter(entity for card in cards for entity in set(card)))


def _first_name_only(cards):
    names = [[_name(entity) for entity in card] for card in cards]
    return dict(Counter(card[0] for card in names if card))


def _first_colon(cards):
    for card in cards:
        for entity in card:
            _name(entity)
    return dict(Counter(name for card in cards for name in {e.split(":")[0] for e in card}))


def _no_type_no_matter(cards):
    return dict(Counter(n for card in cards for n in {e.rpartition(":")[0] or e for e in card}))


def _shares(cards):
    return {name: n / len(cards) for name, n in count_cards(cards).items()}


def _lower_case(cards):
    return count_cards([[entity.lower() for entity in card] for card in cards])


def _entity_lists(rng: random.Random):
    def entity():
        return f"{rng.choice(NAMES)}:{rng.choice(['person', 'pet'])}"

    cases = [
        [[entity() for _ in range(rng.randint(0, 4))] for _ in range(rng.randint(3, 9))]
        for _ in range(8)
    ]
    one, other = rng.sample(NAMES, 2)
    cases += [
        [[f"{one}:person", f"{one}:person"], [f"{one}:person", f"{other}:pet"]],
        [[f"{one}:person", f"{one}:place"], []],
        [[f"Studio: {one}:company", f"{other}:person"]],
        [],
        [[f"{one}:person"], [other]],
    ]
    return [(cards,) for cards in cases]


# --- names_in_question -------------------------------------------------------------------------
def _collection(names):
    if isinstance(names, str):
        raise ValueError(f"{names} is a text")
    return names


def names_in_question(question, names):
    spelled = {name.lower(): name for name in _collection(names)}
    found = []
    for word in re.findall(r"\w+", question.lower()):
        if word in spelled and spelled[word] not in found:
            found.append(spelled[word])
    return found


def names_in_question_by_place(question, names):
    words = [word.casefold() for word in re.split(r"\W+", question)]
    there = [name for name in dict.fromkeys(_collection(names)) if name.casefold() in words]
    return sorted(there, key=lambda name: words.index(name.casefold()))


def names_in_question_by_pattern(question, names):
    places = []
    for name in set(_collection(names)):
        match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
        if match:
            places.append((match.start(), name))
    return [name for _, name in sorted(places)]


def _substring(question, names):
    low = question.lower()
    there = [name for name in _collection(names) if name.lower() in low]
    return sorted(there, key=lambda name: low.index(name.lower()))


def _cut_at_spaces(question, names):
    spelled = {name.lower(): name for name in _collection(names)}
    words = question.lower().split()
    return list(dict.fromkeys(spelled[word] for word in words if word in spelled))


def _possessive_missed(question, names):
    spelled = {name.lower(): name for name in _collection(names)}
    words = [word.strip(".,;:!?") for word in question.lower().split()]
    return list(dict.fromkeys(spelled[word] for word in words if word in spelled))


def _capitals_wanted(question, names):
    words = re.findall(r"\w+", question)
    return list(dict.fromkeys(word for word in words if word in _collection(names)))


def _order_of_the_list(question, names):
    words = re.findall(r"\w+", question.lower())
    return [name for name in _collection(names) if name.lower() in words]


def _twice(question, names):
    spelled = {name.lower(): name for name in _collection(names)}
    words = re.findall(r"\w+", question.lower())
    return [spelled[word] for word in words if word in spelled]


def _as_typed(question, names):
    return [
        next(w for w in re.findall(r"\w+", question) if w.lower() == name.lower())
        for name in names_in_question(question, names)
    ]


def _letters(question, names):
    return names_in_question(question, list(names))


def _questions(rng: random.Random):
    a, b, c = rng.sample(NAMES, 3)
    names = [a, b, c]
    texts = [
        f"Where is {a}?",
        f"What did {b} give {a}?",
        f"Where are {c}'s boots?",
        f"is {c.lower()} at home, {a}",
        f"{a} or {b}: who fed {a}?",
        f"Why does the {b}sung sing to {c}?",
        f"Nobody here, says the {a.lower()}bird.",
        f"{c} asks {a.upper()}",
        "What should I cook tonight?",
        "",
    ]
    drawn = [(text, rng.sample(names, 3)) for text in texts]
    ordered = [(f"Does {b} like {a}?", [a, b]), (f"Does {a} like {b}?", [a, b])]
    return [*drawn, *ordered, (f"Where is {a}?", []), ("Is A at home?", "A")]


# --- entity_boost ------------------------------------------------------------------------------
def _checked(cards):
    for card in cards:
        if isinstance(card, str):
            raise ValueError(f"{card} is a text")
    return cards


def _df(name, cards):
    return sum(name in card for card in cards)


def entity_boost(mentioned, cards):
    cards = _checked(cards)
    known = [name for name in dict.fromkeys(mentioned) if _df(name, cards) > 0]
    worth = {name: 1 / math.log2(1 + _df(name, cards)) for name in known}
    return [sum(worth[n] for n in known if n in card) / max(len(known), 1) for card in cards]


def entity_boost_name_by_name(mentioned, cards):
    _checked(cards)
    rows = {name: [i for i, card in enumerate(cards) if name in card] for name in mentioned}
    rows = {name: where for name, where in rows.items() if where}
    total = [0.0 for _ in cards]
    for where in rows.values():
        for i in where:
            total[i] += 1 / math.log2(1 + len(where)) / len(rows)
    return total


def entity_boost_by_sets(mentioned, cards):
    held = [set(card) for card in _checked(cards)]
    known = set(mentioned) & set().union(*held)
    if not known:
        return [0.0] * len(cards)
    df = Counter(name for names in held for name in names & known)
    return [math.fsum(1 / math.log2(1 + df[n]) for n in s & known) / len(known) for s in held]


def _summing(worth=None, divide=None, join=sum):
    """The reference with one idea turned: the worth, the divisor or how worths are joined."""
    worth = worth or (lambda n: 1 / math.log2(1 + n))
    divide = divide or (lambda known, mentioned, card: len(known))

    def boost(mentioned, cards):
        known = [n for n in dict.fromkeys(mentioned) if _df(n, _checked(cards)) > 0]
        return [
            join([worth(_df(n, cards)) for n in known if n in card] or [0.0])
            / max(divide(known, mentioned, card), 1)
            for card in cards
        ]

    return boost


def _all_names_wanted(mentioned, cards):
    known = {name for name in mentioned if _df(name, _checked(cards)) > 0}
    whole = entity_boost(mentioned, cards)
    return [b if known <= set(card) else 0.0 for b, card in zip(whole, cards)]


def _mentioned_and_cards(rng: random.Random):
    cases = []
    for _ in range(8):
        some = rng.sample(NAMES, 5)
        cards = [rng.sample(some, rng.randint(0, 3)) for _ in range(rng.randint(4, 9))]
        cases.append((rng.sample(some, rng.randint(1, 3)), cards))
    a, b, c, stranger = rng.sample(NAMES, 4)
    shelf = [[a], [a, b], [a, c], [b], []]
    cases += [
        ([a, b], shelf),
        ([a, b, c], [[a, b, c], [a], [a], [b, c], []]),
        ([a, stranger], shelf),
        ([c, a], [[a], [a], [c]]),
        ([a, a, b], shelf),
        ([stranger], shelf),
        ([], shelf),
        ([a], []),
        ([a], [[a], a]),
        ([a], [a, [a]]),
        ([], [[a], a]),
    ]
    return cases


# --- boosted_rows ------------------------------------------------------------------------------
def boosted_rows(question, cards, aliases):
    held = [{aliases.get(name, name) for name in card} for card in _checked(cards)]
    spelled = {name.lower(): name for names in held for name in names}
    spelled |= {other.lower(): name for other, name in aliases.items()}
    words = re.findall(r"\w+", question.lower())
    boost = entity_boost([spelled[word] for word in words if word in spelled], held)
    rows = [row for row in range(len(cards)) if boost[row] > 0]
    return sorted(rows, key=lambda row: (-boost[row], row))


def boosted_rows_step_by_step(question, cards, aliases):
    joined = []
    for card in _checked(cards):
        joined.append([aliases.get(name, name) for name in card])
    asked = set(re.split(r"\W+", question.casefold()))
    found = {aliases[other] for other in aliases if other.casefold() in asked}
    found |= {name for card in joined for name in card if name.casefold() in asked}
    scored = list(zip(entity_boost_by_sets(sorted(found), joined), range(len(cards))))
    return [row for score, row in sorted(scored, key=lambda s: (-s[0], s[1])) if score]


def boosted_rows_by_picking(question, cards, aliases):
    renamed = [[aliases.get(name, name) for name in card] for card in _checked(cards)]
    everyone = [name for card in [*renamed, aliases] for name in card]
    found = [aliases.get(name, name) for name in names_in_question(question, everyone)]
    gains = entity_boost_name_by_name(found, renamed)
    left = [row for row, gain in enumerate(gains) if gain > 0]
    picked = []
    while left:
        best = min(row for row in left if gains[row] == max(gains[r] for r in left))
        picked.append(best)
        left.remove(best)
    return picked


def _aliases_ignored(question, cards, aliases):
    return boosted_rows(question, cards, {})


def _only_the_question(question, cards, aliases):
    everyone = [name for card in _checked(cards) for name in card] + list(aliases)
    found = [aliases.get(name, name) for name in names_in_question(question, everyone)]
    boost = entity_boost(found, cards)
    return sorted((r for r in range(len(cards)) if boost[r] > 0), key=lambda r: (-boost[r], r))


def _only_the_cards(question, cards, aliases):
    held = [[aliases.get(name, name) for name in card] for card in _checked(cards)]
    return boosted_rows(question, held, {})


def _only_spellings_on_a_card(question, cards, aliases):
    everyone = {name for card in _checked(cards) for name in card}
    seen = {other: name for other, name in aliases.items() if other in everyone}
    held = [[aliases.get(name, name) for name in card] for card in cards]
    return boosted_rows(question, held, seen)


def _each_spelling_counted_alone(question, cards, aliases):
    everyone = [name for card in _checked(cards) for name in card] + list(aliases)
    asked = {aliases.get(name, name) for name in names_in_question(question, everyone)}
    spellings = [name for name in dict.fromkeys(everyone) if aliases.get(name, name) in asked]
    boost = entity_boost(spellings, cards)
    return sorted((r for r in range(len(cards)) if boost[r] > 0), key=lambda r: (-boost[r], r))


def _sorting(key, keep=lambda gain: gain > 0):
    def rows(question, cards, aliases):
        held = [[aliases.get(name, name) for name in card] for card in _checked(cards)]
        everyone = [name for card in [*held, aliases] for name in card]
        found = [aliases.get(name, name) for name in names_in_question(question, everyone)]
        gain = entity_boost(found, held)
        return sorted(
            (r for r in range(len(cards)) if keep(gain[r])), key=lambda r: key(gain[r], r)
        )

    return rows


def _shelves(rng: random.Random):
    cases = []
    for _ in range(6):
        a, b, other = rng.sample(NAMES, 3)
        cards = [rng.sample([a, b, other], rng.randint(0, 2)) for _ in range(rng.randint(4, 8))]
        cases.append((f"Did {a} call {b}'s friend?", [*cards, [a], [b]], {}))
    a, b, c = rng.sample(NAMES, 3)
    joined = {"Liz": "Elizabeth"}
    sister = [["Liz", a], [b], ["Elizabeth"], [c], ["Liz"], ["Elizabeth", "Liz"], []]
    cases += [
        ("Has Liz rung?", sister, joined),
        ("Where is Liz?", [[a], ["Elizabeth"], [b, "Elizabeth"]], joined),
        ("What does elizabeth teach?", sister, joined),
        (f"Does Liz know {b}?", sister, joined),
        (f"Does Elizabeth know {a}?", [["Liz"], [a], [a], ["Elizabeth"], ["Liz"]], joined),
        (f"Where is {a}?", [["Liz"], [b], [a], [c], [a, b]], joined),
        ("What should I cook tonight?", sister, joined),
        ("", [], {}),
        (f"{a}, where are you?", [[a], [b], [b, c]], joined),
        (f"Where is {a}?", [[b], [c, b], [a]], {}),
        (f"Where is {a}?", [[a], a], joined),
        (f"Where is {a}?", [a, [a]], joined),
    ]
    return cases


TASKS = (
    Task(
        reference=damp,
        points=1,
        inputs=_counts,
        right=(damp_by_natural_logarithms, damp_as_a_power),
        wrong=(
            Wrong(
                "more cards, more worth",
                _refusing(lambda df: math.log2(1 + df)),
                "The more cards share a name, the less a match leaves out. Which way must it go?",
            ),
            Wrong(
                "natural logarithm",
                _refusing(lambda df: 1 / math.log(1 + df)),
                "On one card a name is worth exactly 1. Which base of the logarithm does that?",
            ),
            Wrong(
                "one divided by df",
                _refusing(lambda df: 1 / df),
                "That is a damping too, but a much harder one: on three cards it must be a half.",
            ),
            Wrong(
                "the other form",
                _refusing(lambda df: 1 / (1 + 0.001 * (df - 1) ** 2)),
                "That is the chapter's second damping, which spares rare names. Take the first.",
            ),
            Wrong(
                "logarithm of df without the 1",
                _refusing(lambda df: 1 / math.log2(df) if df > 1 else 1.0),
                "What is the logarithm of 1, and what happens when you divide by it?",
            ),
            Wrong(
                "no refusal",
                _no_refusal,
                "A name on no card has no worth at all: it must be refused.",
            ),
        ),
    ),
    Task(
        reference=count_cards,
        points=2,
        inputs=_entity_lists,
        right=(count_cards_by_counter, count_cards_name_by_name),
        wrong=(
            Wrong(
                "mentions instead of cards",
                _mentions,
                "A card counts once, however often the name is on it.",
            ),
            Wrong(
                "type kept in the name",
                _types_kept,
                "The question says Sam, not Sam:person. What must be cut off?",
            ),
            Wrong(
                "first name of each card only",
                _first_name_only,
                "A card may name several. Each of them stands on that card.",
            ),
            Wrong(
                "cut at the first colon",
                _first_colon,
                "A name may hold a colon. The type is what follows the last one.",
            ),
            Wrong(
                "no type, no matter",
                _no_type_no_matter,
                "An entry without a type is broken, and must be refused rather than guessed.",
            ),
            Wrong(
                "share of the cards",
                _shares,
                "Count cards; do not divide by how many there are.",
            ),
            Wrong(
                "lower case",
                _lower_case,
                "Names stay as they are written on the cards.",
            ),
        ),
    ),
    Task(
        reference=names_in_question,
        points=3,
        inputs=_questions,
        right=(names_in_question_by_place, names_in_question_by_pattern),
        wrong=(
            Wrong(
                "substring",
                _substring,
                "A name inside a longer word is another word. Look for whole words.",
            ),
            Wrong(
                "cut at spaces",
                _cut_at_spaces,
                "Punctuation sticks to the words that you cut out.",
            ),
            Wrong(
                "possessive missed",
                _possessive_missed,
                "Sam's is Sam. What do your words look like when a possessive is among them?",
            ),
            Wrong(
                "capitals wanted",
                _capitals_wanted,
                "People type in lower case, and sometimes they shout.",
            ),
            Wrong(
                "order of the list",
                _order_of_the_list,
                "The names come in the order in which the question mentions them.",
            ),
            Wrong(
                "named twice",
                _twice,
                "A name that occurs twice is still one name.",
            ),
            Wrong(
                "as typed",
                _as_typed,
                "Give the name as it stands in the list, or the look-up on the cards fails.",
            ),
            Wrong(
                "letters for names",
                _letters,
                "A text in the place of a list: its letters would pass for names. Refuse it.",
            ),
        ),
    ),
    Task(
        reference=entity_boost,
        points=3,
        inputs=_mentioned_and_cards,
        right=(entity_boost_name_by_name, entity_boost_by_sets),
        wrong=(
            Wrong(
                "no division",
                _summing(divide=lambda known, mentioned, card: 1),
                "A question that lists the whole family must not shout louder than one name.",
            ),
            Wrong(
                "unknown names dilute",
                _summing(divide=lambda known, mentioned, card: len(set(mentioned))),
                "A name on no card is not known, and does not count in the division.",
            ),
            Wrong(
                "divided by the names on the card",
                _summing(divide=lambda known, mentioned, card: len(card)),
                "Divide by the names of the question, not by those of the card.",
            ),
            Wrong(
                "no damping",
                _summing(worth=lambda n: 1.0),
                "Sam and Miso gain the same in your answer. What does df do?",
            ),
            Wrong(
                "the best name only",
                _summing(join=max),
                "A card with both names gains both worths.",
            ),
            Wrong(
                "all names wanted",
                _all_names_wanted,
                "A card with one of the two names gains as well, only less.",
            ),
            Wrong(
                "a name said twice counts twice",
                _summing(divide=lambda known, mentioned, card: len(mentioned)),
                "Each name of the question counts once, however often it is said.",
            ),
        ),
    ),
    Task(
        reference=boosted_rows,
        points=3,
        inputs=_shelves,
        right=(boosted_rows_step_by_step, boosted_rows_by_picking),
        wrong=(
            Wrong(
                "aliases ignored",
                _aliases_ignored,
                "Liz and Elizabeth are one sister: join them before you count.",
            ),
            Wrong(
                "aliases in the question only",
                _only_the_question,
                "The cards, too, say Liz. They are not found when only the question is joined.",
            ),
            Wrong(
                "aliases on the cards only",
                _only_the_cards,
                "The question, too, may say Liz, a spelling that no joined card holds.",
            ),
            Wrong(
                "only spellings that stand on a card",
                _only_spellings_on_a_card,
                "A question may use a spelling that no card has: look through the aliases as well.",
            ),
            Wrong(
                "each spelling counted alone",
                _each_spelling_counted_alone,
                "Join first, count second: two spellings are one name with one df.",
            ),
            Wrong(
                "ties from the last row",
                _sorting(lambda gain, row: (-gain, -row)),
                "Equal boosts keep the order of the cards.",
            ),
            Wrong(
                "cards that gain nothing",
                _sorting(lambda gain, row: (-gain, row), keep=lambda gain: True),
                "Only cards that gain are asked for.",
            ),
            Wrong(
                "in the order of the cards",
                _sorting(lambda gain, row: row),
                "The card that gains most comes first.",
            ),
        ),
    ),
)
