"""Chapter 02's tasks: references, inputs, misconceptions."""

import math
import random
from datetime import UTC, datetime, timedelta, timezone

from grader.tasks import Task, Wrong

WITHHELD: dict[str, tuple[str, ...]] = {  # module -> what the sandbox takes out; (): all of it
    "memlib.recency": (),
    "memlib.forgetting": ("recall_probability", "days_until_due"),
    "memlib.retrieval": ("features",),
}
ROUTES: dict[str, tuple[str, ...]] = {  # task -> what would answer it in a call; (): nothing does
    "recency_after": (
        "memlib.recency:recency",
        "memlib.recency:recency_by_half_life",
        "memlib.forgetting:recall_probability",
    ),
    "half_life_hours": ("memlib.recency:half_life_days", "memlib.forgetting:days_until_due"),
    "age_from_recency": ("memlib.forgetting:days_until_due",),
    "recency_by_kind": ("memlib.recency:recency_by_half_life", "memlib.retrieval:features"),
    "clock_after": (),
    "age_hours": ("memlib.recency:age_hours", "memlib.retrieval:features"),
}


# --- recency_after -----------------------------------------------------------------------------
def recency_after(hours, decay):
    if hours < 0:
        raise ValueError("hours must not be negative")
    if not 0 < decay <= 1:
        raise ValueError("decay must be above 0, up to 1")
    return float(decay**hours)


def recency_after_with_logarithms(hours, decay):
    if hours < 0 or decay > 1:
        raise ValueError("out of range")
    return math.exp(hours * math.log(decay))


def recency_after_in_two_steps(hours, decay):
    if decay <= 0 or decay > 1 or hours < 0:
        raise ValueError("out of range")
    whole = int(hours)
    left = 1.0
    for _ in range(whole):
        left *= decay
    return left * decay ** (hours - whole)


def _guarded_decay(idea):
    """A wrong decay with every guard of the reference right: the idea alone is wrong."""

    def decayed(hours, decay):
        if hours < 0 or not 0 < decay <= 1:
            raise ValueError("out of range")
        return idea(hours, decay)

    return decayed


def _future_counts_as_past(hours, decay):
    if not 0 < decay <= 1:
        raise ValueError("decay")
    return decay ** abs(hours)


def _hours_and_decays(rng: random.Random):
    cases = [(rng.uniform(0.5, 400), rng.uniform(0.98, 0.9999)) for _ in range(8)]
    cases += [(rng.randint(1, 50), rng.uniform(0.5, 0.95)) for _ in range(4)]
    hours, decay = rng.uniform(5, 60), rng.uniform(0.9, 0.99)
    edges = [(0, decay), (hours, 1), (1, decay)]
    invalid = [(-hours, decay), (-rng.uniform(0.1, 0.9), decay), (hours, 0), (hours, 1 + decay)]
    return [*cases, *edges, *invalid]


# --- half_life_hours ---------------------------------------------------------------------------
def half_life_hours(decay):
    if not 0 < decay <= 1:
        raise ValueError("decay must be above 0, up to 1")
    if decay == 1:
        return None
    return math.log(0.5) / math.log(decay)


def half_life_hours_base_two(decay):
    if decay <= 0 or decay > 1:
        raise ValueError(decay)
    return None if decay == 1 else 1 / math.log2(1 / decay)


def half_life_hours_by_change_of_base(decay):
    if decay > 1 or decay <= 0:
        raise ValueError("out of range")
    if math.log(decay) == 0:
        return None
    return math.log(0.5, decay)


def _guarded_half_life(idea):
    def half_life(decay):
        if not 0 < decay <= 1:
            raise ValueError("out of range")
        return None if decay == 1 else idea(decay)

    return half_life


def _never_is_zero(decay):
    return 0.0 if decay == 1 else half_life_hours(decay)


def _decays(rng: random.Random):
    cases = [rng.uniform(0.9, 0.9999) for _ in range(8)] + [rng.uniform(0.1, 0.9) for _ in range(4)]
    return [(decay,) for decay in [*cases, 0.995, 1, 0, -0.5, 1 + rng.random() / 10]]


# --- age_from_recency --------------------------------------------------------------------------
def age_from_recency(recency, decay):
    if not 0 < recency <= 1:
        raise ValueError("recency must be above 0, up to 1")
    if not 0 < decay < 1:
        raise ValueError("decay must lie between 0 and 1")
    return math.log(recency) / math.log(decay)


def age_from_recency_in_half_lives(recency, decay):
    if recency > 1 or decay >= 1 or min(recency, decay) <= 0:
        raise ValueError("out of range")
    halvings = -math.log2(recency)
    return halvings * (math.log(2) / -math.log(decay))


def age_from_recency_by_search(recency, decay):
    if not (0 < recency <= 1 and 0 < decay < 1):
        raise ValueError("out of range")
    low, high = 0.0, 1.0
    while decay**high > recency:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if decay**middle > recency else (low, middle)
    return high


def _guarded_age(idea):
    def age(recency, decay):
        if not (0 < recency <= 1 and 0 < decay < 1):
            raise ValueError("out of range")
        return idea(recency, decay)

    return age


def _above_one_is_negative_age(recency, decay):
    if not 0 < decay < 1:
        raise ValueError("decay")
    return math.log(recency) / math.log(decay)


def _recencies_and_decays(rng: random.Random):
    cases = [(rng.uniform(0.01, 0.95), rng.uniform(0.9, 0.9995)) for _ in range(8)]
    cases += [(rng.uniform(0.1, 0.9), rng.uniform(0.2, 0.8)) for _ in range(4)]
    level, decay = rng.uniform(0.1, 0.9), rng.uniform(0.9, 0.99)
    edges = [(1, decay), (0.222, 0.995)]
    invalid = [(0, decay), (1 + level, decay), (-level, decay), (level, 1), (level, 0)]
    return [*cases, *edges, *invalid]


# --- recency_by_kind ---------------------------------------------------------------------------
DAYS = {"working": 2, "episodic": 30, "semantic": 180}


def recency_by_kind(kind, age_days, pinned):
    if kind not in DAYS:
        raise ValueError(f"{kind!r} is no kind")
    if age_days < 0:
        raise ValueError("age_days must not be negative")
    return 1.0 if pinned else 0.5 ** (age_days / DAYS[kind])


def recency_by_kind_with_e(kind, age_days, pinned):
    if age_days < 0 or kind not in ("working", "episodic", "semantic"):
        raise ValueError("out of range")
    half_life = 2 if kind == "working" else 30 if kind == "episodic" else 180
    return 1.0 if pinned else math.exp(-math.log(2) * age_days / half_life)


def recency_by_kind_per_hour(kind, age_days, pinned):
    if age_days < 0:
        raise ValueError("age")
    try:
        decay = 0.5 ** (1 / (24 * DAYS[kind]))
    except KeyError:
        raise ValueError(kind) from None
    return decay ** (0 if pinned else 24 * age_days)


def _guarded_kind(idea):
    def fresh(kind, age_days, pinned):
        if kind not in DAYS or age_days < 0:
            raise ValueError("out of range")
        return 1.0 if pinned else float(idea(age_days, DAYS[kind]))

    return fresh


def _pin_ignored(kind, age_days, pinned):
    return recency_by_kind(kind, age_days, False)


def _unknown_is_episodic(kind, age_days, pinned):
    return recency_by_kind(kind if kind in DAYS else "episodic", age_days, pinned)


def _kinds_and_ages(rng: random.Random):
    cases = []
    for kind, days in DAYS.items():
        cases += [(kind, rng.uniform(0.1, 2.5) * days, False) for _ in range(3)]
        cases += [(kind, 0, False), (kind, rng.uniform(1, 3) * days, True)]
    return [*cases, ("procedural", rng.uniform(1, 9), False), ("semantic", -rng.random(), False)]


# --- clock_after -------------------------------------------------------------------------------
def clock_after(accesses, now):
    past = [hour for hour in accesses if hour <= now]
    return now - max(past) if past else None


def clock_after_by_differences(accesses, now):
    return min((now - hour for hour in accesses if now - hour >= 0), default=None)


def clock_after_sorted(accesses, now):
    for hour in sorted(accesses, reverse=True):
        if hour <= now:
            return now - hour
    return None


def _never_restarted(accesses, now):
    past = [hour for hour in accesses if hour <= now]
    return now - min(past) if past else None


def _last_in_the_list(accesses, now):
    past = [hour for hour in accesses if hour <= now]
    return now - past[-1] if past else None


def _later_accesses_too(accesses, now):
    return now - max(accesses) if accesses else None


def _nearest_access(accesses, now):
    return min((abs(now - hour) for hour in accesses), default=None)


def _access_now_left_out(accesses, now):
    return clock_after([hour for hour in accesses if hour < now], now)


def _zero_when_never(accesses, now):
    return clock_after(accesses, now) or 0


def _access_lists(rng: random.Random):
    cases = []
    for _ in range(8):
        now = rng.randint(300, 500)
        past = rng.sample(range(10, now - 40), 4)
        cases.append(([*past, now + rng.randint(1, 30)], now))
    now = rng.randint(100, 200)
    edges = [([now], now), ([10, now, 20], now), ([0], now), ([3 * now, 0], now), ([10], 10)]
    return [*cases, *edges, ([], now), ([now + 5, now + 1], now)]


# --- age_hours ---------------------------------------------------------------------------------
SKEW_HOURS = 5 / 60


def age_hours(created, last_accessed, now):
    times = [None if t is None else datetime.fromisoformat(t) for t in (created, last_accessed)]
    moment = datetime.fromisoformat(now)
    for time in (*times, moment):
        if time is not None and time.tzinfo is None:
            raise ValueError(f"{time} has no time zone")
    birth, access = times
    if access is not None and access < birth:
        raise ValueError("accessed before it was created")
    hours = (moment - (birth if access is None else access)).total_seconds() / 3600
    if hours < -SKEW_HOURS:
        raise ValueError("in the future")
    return max(0.0, hours)


def age_hours_in_utc(created, last_accessed, now):
    def seconds(text):
        time = datetime.fromisoformat(text)
        if time.utcoffset() is None:
            raise ValueError(text)
        return time.astimezone(UTC).timestamp()

    birth, moment = seconds(created), seconds(now)
    start = birth if last_accessed is None else seconds(last_accessed)
    if start < birth or start - moment > 300:
        raise ValueError("out of order")
    return max(moment - start, 0.0) / 3600


def age_hours_step_by_step(created, last_accessed, now):
    texts = [created, now] if last_accessed is None else [created, last_accessed, now]
    times = [datetime.fromisoformat(text) for text in texts]
    if not all(time.tzinfo for time in times):
        raise ValueError("no zone")
    if times[:-1] != sorted(times[:-1]):
        raise ValueError("accessed before creation")
    ahead = times[-2] - times[-1]
    if ahead > timedelta(minutes=5):
        raise ValueError("future")
    return 0.0 if ahead > timedelta(0) else -ahead / timedelta(hours=1)


def _always_from_creation(created, last_accessed, now):
    age_hours(created, last_accessed, now)
    return age_hours(created, None, now)


def _zones_dropped(created, last_accessed, now):
    age_hours(created, last_accessed, now)
    walls = [
        None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC).isoformat()
        for text in (created, last_accessed, now)
    ]
    return age_hours(*walls)


def _naive_is_utc(created, last_accessed, now):
    def aware(text):
        time = None if text is None else datetime.fromisoformat(text)
        return text if time is None or time.tzinfo else time.replace(tzinfo=UTC).isoformat()

    return age_hours(aware(created), aware(last_accessed), aware(now))


def _days_forgotten(created, last_accessed, now):
    hours = age_hours(created, last_accessed, now)
    return timedelta(hours=hours).seconds / 3600


def _in_days(created, last_accessed, now):
    return age_hours(created, last_accessed, now) / 24


def _ahead(created, last_accessed, now):
    """Hours by which the time that counts lies ahead of now, where the reference would judge."""
    start = datetime.fromisoformat(created if last_accessed is None else last_accessed)
    moment = datetime.fromisoformat(now)
    if start.tzinfo is None or moment.tzinfo is None:
        return 0.0
    return (start - moment).total_seconds() / 3600


def _future_is_always_zero(created, last_accessed, now):
    ahead = _ahead(created, last_accessed, now) > 0
    return 0.0 if ahead else age_hours(created, last_accessed, now)


def _future_is_turned_round(created, last_accessed, now):
    ahead = _ahead(created, last_accessed, now)
    return ahead if ahead > 0 else age_hours(created, last_accessed, now)


def _no_skew_allowed(created, last_accessed, now):
    if _ahead(created, last_accessed, now) > 0:
        raise ValueError("in the future")
    return age_hours(created, last_accessed, now)


def _stamps(rng: random.Random):
    now = datetime(2025, 6, 11, 18, 0, tzinfo=UTC) + timedelta(minutes=rng.randint(0, 9000))

    def stamp(minutes_ago, offset=0):
        zone = timezone(timedelta(hours=offset))
        return (now - timedelta(minutes=minutes_ago)).astimezone(zone).isoformat()

    def cases():
        for _ in range(6):
            last = rng.randint(60, 20_000)
            yield stamp(last + rng.randint(100, 90_000)), stamp(last), stamp(0)
            yield stamp(rng.randint(2_000, 60_000)), None, stamp(0)
        for offset in (2, 9, -5):
            yield stamp(rng.randint(900, 5_000), offset), None, stamp(0)
            last = rng.randint(900, 5_000)
            yield stamp(last + 9_000), stamp(last, offset), stamp(0, 2)

    naive = now.replace(tzinfo=None, microsecond=0) - timedelta(days=2)
    edges = [
        (stamp(0), None, stamp(0)),
        (stamp(-rng.randint(1, 4)), None, stamp(0)),
        (stamp(90), stamp(-rng.randint(1, 4)), stamp(0)),
        (stamp(90), stamp(90), stamp(0)),
        (stamp(-5), None, stamp(0)),
    ]
    invalid = [
        (stamp(-5 - rng.randint(1, 4) / 60), None, stamp(0)),
        (stamp(-rng.randint(6, 90)), None, stamp(0)),
        (stamp(9_000), stamp(-rng.randint(6, 90)), stamp(0)),
        (stamp(100), stamp(rng.randint(200, 900)), stamp(0)),
        (naive.isoformat(), None, stamp(0)),
        (stamp(9_000), naive.isoformat(), stamp(0)),
        (stamp(9_000), None, now.replace(tzinfo=None).isoformat()),
    ]
    return [*cases(), *edges, *invalid]


TASKS = (
    Task(
        reference=recency_after,
        points=1,
        inputs=_hours_and_decays,
        right=(recency_after_with_logarithms, recency_after_in_two_steps),
        wrong=(
            Wrong(
                "a straight line",
                _guarded_decay(lambda h, d: 1 - (1 - d) * h),
                "Each hour takes its share of what is left, not of the full 1 at the start.",
            ),
            Wrong(
                "a straight line that stops at 0",
                _guarded_decay(lambda h, d: max(0.0, 1 - (1 - d) * h)),
                "Stopping at 0 hides it, but the way there is still a straight line.",
            ),
            Wrong(
                "hours taken for days",
                _guarded_decay(lambda h, d: d ** (h / 24)),
                "The decay is per hour, and so is the age. Nothing has to be divided.",
            ),
            Wrong(
                "what is lost",
                _guarded_decay(lambda h, d: 1 - d**h),
                "Recency is what is left. Just after an access it is 1.",
            ),
            Wrong(
                "grows with age",
                _guarded_decay(lambda h, d: d**-h),
                "An older card came out fresher. Look at the sign of the exponent.",
            ),
            Wrong(
                "the future counts as past",
                _future_counts_as_past,
                "A negative age is a mistake in the data. Refuse it instead of turning it round.",
            ),
        ),
    ),
    Task(
        reference=half_life_hours,
        points=2,
        inputs=_decays,
        right=(half_life_hours_base_two, half_life_hours_by_change_of_base),
        wrong=(
            Wrong(
                "a straight line",
                _guarded_half_life(lambda d: 0.5 / (1 - d)),
                "Half a percent an hour is not half after 100 hours: it compounds.",
            ),
            Wrong(
                "days",
                _guarded_half_life(lambda d: half_life_hours(d) / 24),
                "That is the half-life in days. The task asks for hours.",
            ),
            Wrong(
                "fraction upside down",
                _guarded_half_life(lambda d: math.log(d) / math.log(0.5)),
                "A slower decay must give a longer half-life. Which logarithm goes below?",
            ),
            Wrong(
                "until 1/e is left",
                _guarded_half_life(lambda d: -1 / math.log(d)),
                "This is the time until 37 percent is left. Ask for one half.",
            ),
            Wrong(
                "whole hours",
                _guarded_half_life(lambda d: float(round(half_life_hours(d)))),
                "Rounded too early: this is how the published 5.75 days came about.",
            ),
            Wrong(
                "sign lost",
                _guarded_half_life(lambda d: math.log(0.5) / -math.log(d)),
                "Both logarithms are negative, so their quotient is not.",
            ),
            Wrong(
                "never is 0",
                _never_is_zero,
                "A card that never fades has no half-life; 0 would mean that it fades at once.",
            ),
        ),
    ),
    Task(
        reference=age_from_recency,
        points=2,
        inputs=_recencies_and_decays,
        right=(age_from_recency_in_half_lives, age_from_recency_by_search),
        wrong=(
            Wrong(
                "a straight line",
                _guarded_age(lambda r, d: (1 - r) / (1 - d)),
                "Equal hours take equal factors, not equal amounts. Use logarithms.",
            ),
            Wrong(
                "days",
                _guarded_age(lambda r, d: math.log(r) / math.log(d) / 24),
                "That is the age in days. The task asks for hours.",
            ),
            Wrong(
                "two sorts of logarithm",
                _guarded_age(lambda r, d: math.log10(r) / math.log(d)),
                "Any logarithm will do, but the same one above and below.",
            ),
            Wrong(
                "fraction upside down",
                _guarded_age(lambda r, d: math.log(d) / math.log(r) if r < 1 else 0.0),
                "The less is left, the older the card. Yours goes the other way.",
            ),
            Wrong(
                "divided, no logarithm",
                _guarded_age(lambda r, d: r / d),
                "The hours stand in the exponent. What brings an exponent down?",
            ),
            Wrong(
                "a rounded half-life",
                _guarded_age(lambda r, d: -math.log2(r) * round(math.log(0.5) / math.log(d))),
                "The idea is right, but the half-life was rounded before it was used.",
            ),
            Wrong(
                "recency above 1 accepted",
                _above_one_is_negative_age,
                "No card is fresher than 1: such a value has to be refused.",
            ),
        ),
        tolerance=1e-7,
    ),
    Task(
        reference=recency_by_kind,
        points=2,
        inputs=_kinds_and_ages,
        right=(recency_by_kind_with_e, recency_by_kind_per_hour),
        wrong=(
            Wrong(
                "ln 2 forgotten",
                _guarded_kind(lambda age, h: math.exp(-age / h)),
                "After one half-life one half must be left. Yours leaves 37 percent.",
            ),
            Wrong(
                "one clock for all",
                _guarded_kind(lambda age, h: 0.5 ** (age / 30)),
                "Each kind has its own half-life: 2, 30 or 180 days.",
            ),
            Wrong(
                "a straight line to 0",
                _guarded_kind(lambda age, h: max(0.0, 1 - age / (2 * h))),
                "After two half-lives a quarter is left, not nothing.",
            ),
            Wrong(
                "strong ones fade faster",
                _guarded_kind(lambda age, h: 0.5 ** (age * h / 900)),
                "A longer half-life must fade more slowly: does it divide the age?",
            ),
            Wrong(
                "age in hours",
                _guarded_kind(lambda age, h: 0.5 ** (24 * age / h)),
                "Age and half-life are both in days here.",
            ),
            Wrong(
                "pin ignored",
                _pin_ignored,
                "A pinned card is protected from decay, however old it is.",
            ),
            Wrong(
                "an unknown kind is episodic",
                _unknown_is_episodic,
                "A misspelt kind would go unnoticed. Refuse what is not one of the three.",
            ),
        ),
    ),
    Task(
        reference=clock_after,
        points=2,
        inputs=_access_lists,
        right=(clock_after_by_differences, clock_after_sorted),
        wrong=(
            Wrong(
                "never restarted",
                _never_restarted,
                "You count from the first access. Every access sets the clock back to 0.",
            ),
            Wrong(
                "the last of the list",
                _last_in_the_list,
                "The list is in any order. The latest access is the largest number.",
            ),
            Wrong(
                "later accesses too",
                _later_accesses_too,
                "An access after `now` has not happened yet.",
            ),
            Wrong(
                "the nearest access",
                _nearest_access,
                "The nearest access may lie after `now`, and has not happened yet.",
            ),
            Wrong(
                "an access at this moment left out",
                _access_now_left_out,
                "An access exactly at `now` counts: the clock stands at 0.",
            ),
            Wrong(
                "0 when never",
                _zero_when_never,
                "Not yet accessed is not the same as accessed just now.",
            ),
        ),
    ),
    Task(
        reference=age_hours,
        points=3,
        inputs=_stamps,
        right=(age_hours_in_utc, age_hours_step_by_step),
        wrong=(
            Wrong(
                "always from creation",
                _always_from_creation,
                "The clock restarts on access. Creation counts only for a card never used.",
            ),
            Wrong(
                "zones dropped",
                _zones_dropped,
                "You subtract wall clocks. The same moment must give the same age everywhere.",
            ),
            Wrong(
                "no zone means UTC",
                _naive_is_utc,
                "A time without a zone can be off by half a day. Refuse it, do not guess.",
            ),
            Wrong(
                "days forgotten",
                _days_forgotten,
                "`timedelta.seconds` leaves out whole days; `total_seconds()` has them.",
            ),
            Wrong(
                "days",
                _in_days,
                "That is the age in days. The task asks for hours.",
            ),
            Wrong(
                "the future is always 0",
                _future_is_always_zero,
                "Five minutes are a matter of clocks. Tomorrow is a mistake in the data.",
            ),
            Wrong(
                "the future turned round",
                _future_is_turned_round,
                "A card of tomorrow is not a card of yesterday.",
            ),
            Wrong(
                "no skew allowed",
                _no_skew_allowed,
                "Two clocks may disagree by up to five minutes: that is age 0, no error.",
            ),
        ),
    ),
)
