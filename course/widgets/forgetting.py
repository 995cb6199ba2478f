"""Chapter 08's widget: move the rule and see which cards it would forget; a year of a store."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from course.widgets import parts
from memlib import forgetting as rule
from memlib.forgetting import INF, ForgetWeights, RetentionPolicy
from memlib.importance import from_rating, importance
from memlib.ranking import rank_order
from memlib.recency import HALF_LIFE_DAYS, age_hours, recency_by_half_life

PARTS = ["recency", "usage", "dup_ratio", "importance", "pinned"]
NAMES = tuple(field.name for field in fields(ForgetWeights))
M1, M1_POLICY = ForgetWeights(), RetentionPolicy()
ROWS = 10


def features(cards: pd.DataFrame, vectors: ArrayLike, now: datetime) -> pd.DataFrame:
    """What a sweep looks at, one row a card: kind, age since creation, the ForgetScore's parts."""
    kind, pinned = list(cards["kind"]), cards["pinned"].to_numpy()
    idle = age_hours(cards["created_at"], cards["last_accessed_at"], now) / 24
    age = age_hours(cards["created_at"], [None] * len(cards), now) / 24
    matters = importance(from_rating(cards["importance"]).tolist(), pinned, kind)
    return cards[["kind", "pinned"]].assign(
        age_days=age,
        recency=recency_by_half_life(idle, [HALF_LIFE_DAYS[word] for word in kind], pinned),
        usage=rule.usage(cards["views"], cards["cites"], cards["edits"]),
        dup_ratio=rule.duplicate_ratio(vectors, matters, age, list(cards.index)),
        importance=matters,
    )


def contributions(told: pd.DataFrame, weights: ForgetWeights = M1) -> pd.DataFrame:
    """The five terms of each card's ForgetScore, and the score; highest first, equal ones by id."""
    signed = {
        "age": weights.age * (1 - told["recency"]),
        "unused": weights.unused * (1 - told["usage"]),
        "duplicate": weights.duplicate * told["dup_ratio"],
        "importance": -weights.importance * told["importance"],
        "pinned": -weights.pinned * told["pinned"].astype(float),
    }
    score = rule.forget_score(**{name: told[name] for name in PARTS}, weights=weights)
    return pd.DataFrame(signed | {"score": score}).iloc[rank_order(score, told.index)]


def render(values: parts.Values, sets: Mapping[str, pd.DataFrame], cards: pd.DataFrame) -> str:
    """What a sweep would take under this rule, and the ten cards nearest to deletion.

    values  age, unused, duplicate, importance, pinned: weights; soft, hard: thresholds;
            ttl: factor on the TTLs; likeness: cosines below it count as 0; cards: one of `sets`
    sets    name -> `features` of the cards in it;  cards  needs the column text
    """
    alike = sets[values["cards"]]["dup_ratio"]
    told = sets[values["cards"]].assign(dup_ratio=alike.where(alike >= values["likeness"], 0.0))
    terms = contributions(told, ForgetWeights(**{name: values[name] for name in NAMES}))
    soft_ttl, hard_ttl = (
        {kind: days * values["ttl"] if days < INF else INF for kind, days in ttl.items()}
        for ttl in (M1_POLICY.soft_ttl_days, M1_POLICY.hard_ttl_days)
    )
    policy = RetentionPolicy(values["soft"], values["hard"], soft_ttl, hard_ttl)
    kind, age, pinned = (told[name].loc[terms.index] for name in ("kind", "age_days", "pinned"))
    verdict = rule.retention(terms["score"], age, list(kind), pinned, policy)
    count = ", ".join(f"{word} {verdict.count(word)}" for word in ("keep", "soft", "hard"))
    most, score = sum(values[name] for name in NAMES[:3]), terms["score"] + 0.0  # never -0.0
    caption = (
        f"A sweep of {len(told)} cards: {count}. Soft from {policy.soft:.2f}, hard from "
        f"{policy.hard:.2f}; a working card is safe for {soft_ttl['working']:.1f} and "
        f"{hard_ttl['working']:.1f} days, an episodic one for {soft_ttl['episodic']:.0f} and "
        f"{hard_ttl['episodic']:.0f}. "
    )
    if len(score) > 1 and np.ptp(score) == 0:
        caption += f"All scores are {score.iloc[0]:.2f}: the order says nothing."
    else:
        caption += f"No score is above {most:.2f}; the safest card, {terms.index[-1]}, has "
        caption += f"{score.iloc[-1]:.2f}."
    if len(told) < len(cards):
        caption += " Usage and duplicates are compared within this batch only, so its counts do "
        caption += "not add up to those of all cards."
    body = []
    for row, word in enumerate(verdict[:ROWS]):
        term, fact = terms.iloc[row], escape(str(cards["text"][str(terms.index[row])]))
        cells = [fact, kind.iloc[row], f"{age.iloc[row]:.0f}"]
        cells += [_signed(term[name]) for name in NAMES]
        risk = score.iloc[row]
        body.append([*cells, f"{round(risk, 3) + 0.0:.3f}", _signed(policy.hard - risk), word])
    header = ("fact", "kind", "days", *NAMES, "score", "short of hard", "sweep")
    return parts.table(caption, header, body)


def _signed(value: float) -> str:
    return f"{value:+.3f}" if round(value, 3) else "0.000"


def explore(cards: pd.DataFrame, vectors: ArrayLike, now: datetime) -> Any:
    """The rule's weights, thresholds and TTLs over all cards, or those of one kind."""
    units, kinds = np.asarray(vectors), cards["kind"].to_numpy()
    sets = {f"all {len(cards)} cards": features(cards, units, now)}
    for kind in sorted(set(kinds)):
        rows = kinds == kind
        sets[f"{kind} cards alone"] = features(cards[rows], units[rows], now)
    controls = {
        name: parts.slider(f"u{number} · {name}", getattr(M1, name), 0, 1, 0.01)
        for number, name in enumerate(NAMES, start=1)
    }
    controls["soft"] = parts.slider("soft from", M1_POLICY.soft, 0, 1, 0.01)
    controls["hard"] = parts.slider("hard from", M1_POLICY.hard, 0, 1, 0.01)
    controls["ttl"] = parts.slider("TTLs, times", 1, 0, 3, 0.1)
    controls["likeness"] = parts.slider("a duplicate from cosine", 0, 0, 1, 0.01)
    controls["cards"] = parts.choice("cards", list(sets), next(iter(sets)))
    return parts.panel(lambda values: render(values, sets, cards), controls)


def a_year(
    policy: RetentionPolicy, likeness: float = 0.0, purge_days: float = INF, days: int = 364
) -> pd.DataFrame:
    """An invented year: 3 cards and 8 wishes a day, a sweep a week; the same for every policy.

    likeness    cosines below it are no duplicates;  purge_days  in soft, then the card is purged
    returns     a row a sweep: live, soft and hard cards; restored and lost, the wishes so far for
                a card in soft, and for a purged one
    """
    rng, n = np.random.default_rng(8), 3 * days
    born, kind = np.arange(n) // 3, rng.choice(list(HALF_LIFE_DAYS), n, p=(0.4, 0.4, 0.2))
    half_life = np.array([HALF_LIFE_DAYS[word] for word in kind])
    matters = importance(from_rating(rng.integers(1, 11, n)), [False] * n, list(kind))
    units, no = rng.normal(size=(n, 64)), np.zeros(n)
    for row in np.flatnonzero(rng.random(n) < 0.1)[1:]:  # one card in ten is nearly a copy
        units[row] = units[rng.integers(row)] + 0.3 * rng.normal(size=64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    appeal, views, last = rng.pareto(1.5, n), no.copy(), born.copy()
    since, hard, restored, lost, told = np.full(n, INF), no > 0, 0, 0, []
    for day in range(1, days + 1):
        wish = appeal * np.exp2(-(day - born) / half_life / 2) * (born < day)
        for row in rng.choice(n, size=8, p=wish / wish.sum()):
            lost, restored = lost + hard[row], restored + (since[row] < INF and not hard[row])
            if not hard[row]:
                views[row], last[row], since[row] = views[row] + 1, day, INF
        if day % 7 == 0:
            live = np.flatnonzero((born < day) & (since == INF))
            age, ids, none = day - born[live], [f"{row:04}" for row in live], no[live]
            alike = rule.duplicate_ratio(units[live], matters[live], age, ids)
            fresh = recency_by_half_life(day - last[live], half_life[live])
            used = rule.usage(views[live], none, none)
            alike[alike < likeness] = 0
            risk = rule.forget_score(fresh, used, alike, matters[live], none)
            taken = np.array(rule.retention(risk, age, list(kind[live]), none, policy))
            since[live[taken != "keep"]] = day
            hard |= day - since >= purge_days
            hard[live[taken == "hard"]] = True
            live_now, soft = (born < day) & (since == INF), (since < INF) & ~hard
            told.append((day, live_now.sum(), soft.sum(), hard.sum(), restored, lost))
    columns = ["day", "live", "soft", "hard", "restored", "lost"]
    return pd.DataFrame(told, columns=columns, dtype=int).set_index("day")
