"""Two rankings side by side as HTML: lines between the same cards, bars of parts, what is out."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd

from course.playground.comparison import LATER, OUTSIDE, PICKED
from course.playground.configuration import PARTS
from course.widgets.parts import INK
from memlib.checks import Floats

LABELS = dict(zip(PARTS, ("relevance", "recency", "importance", "names", "BM25"), strict=True))
LABELS["copies"] = "copies (taken away)"
FILLS = {  # colours of Okabe and Ito 2008; the pattern is the second cue
    "relevance": "#0072B2",
    "recency": "repeating-linear-gradient(45deg,#E69F00 0 4px,#8a5f00 4px 6px)",
    "importance": "repeating-linear-gradient(90deg,#009E73 0 4px,#b9f0de 4px 6px)",
    "names": "repeating-linear-gradient(0deg,#CC79A7 0 3px,#5c2344 3px 5px)",
    "bm25": "repeating-linear-gradient(135deg,#56B4E9 0 3px,#0b3d5c 3px 5px)",
    "copies": "repeating-linear-gradient(90deg,#D55E00 0 2px,transparent 2px 4px)",
}
STYLE = """<style>
.mlsbs{container-type:inline-size;overflow-x:auto;width:0;min-width:100%}
.mlsbs .two{--row:3.3em;display:grid;grid-template-columns:minmax(13em,1fr) 5em minmax(13em,1fr)}
@container (max-width:64em){.mlsbs .two{--row:6em;
 grid-template-columns:minmax(11em,1fr) 3em minmax(11em,1fr)}}
.mlsbs ol{list-style:none;margin:0;padding:0}
.mlsbs li.card{height:var(--row);box-sizing:border-box;padding:.15em 0;overflow:hidden}
.mlsbs .said{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:1;overflow:hidden}
@container (max-width:64em){.mlsbs .said{-webkit-line-clamp:3}}
.mlsbs .id{display:inline-block;max-width:10em;overflow:hidden;text-overflow:ellipsis;
 white-space:nowrap;vertical-align:-.37em;font-size:.8em;opacity:.8}
.mlsbs .bar{display:flex;gap:.5em;align-items:center;font-variant-numeric:tabular-nums}
.mlsbs .track{position:relative;flex:1;height:.8em;border-bottom:1px solid
 var(--jp-border-color1,#999)} .mlsbs .track i{position:absolute;height:100%}
.mlsbs .key i{display:inline-block;width:1.6em;height:.8em;margin-right:.3em}
.mlsbs .key span{margin-right:1.2em;white-space:nowrap} .mlsbs .out{opacity:.75}
.mlsbs svg{width:100%;height:calc(var(--n)*var(--row))} .mlsbs ul{margin:.2em 0;padding-left:1.4em}
</style>"""
LOOK = {  # how a line looks: rose, fell, stayed
    1: 'stroke="#0072B2" stroke-width="2.5"',
    -1: 'stroke="#D55E00" stroke-width="2.5" stroke-dasharray="7 4"',
    0: 'stroke="currentColor" stroke-width="1"',
}


class Move(NamedTuple):
    """A card's place in A and in B, the part that did most to move it, and where it did so."""

    id: str
    text: str
    before: int
    after: int
    part: str
    side: str


def movers(a: pd.DataFrame, b: pd.DataFrame) -> list[Move]:
    """How the listed cards move from A to B, and by which part; the farthest first.

    A part lifts a card by how much more it adds to it than to the middle one of the cards listed
    in A or B: a weight that lifts all alike moves none. Where some part, not 0 throughout, adds
    the same to every card on both sides, the sides have one scale. Else, as a sum and RRF have
    other scales, each side's parts are first divided by the spread of its S over those cards.

    a, b     what `comparison.rank` returns, of the same cards
    returns  a Move for every card listed; part and side are "" where it does not move, or where no
             part lifts it, against the middle card, the way that it moves; part is "candidates"
             where the card is no candidate on that side
    """
    before, after = _places(a), _places(b)
    listed = list(dict.fromkeys([*a.index[a["listed"]], *b.index[b["listed"]]]))
    names, inside = [*PARTS, "copies"], [t.index[t["why"] != OUTSIDE] for t in (a, b)]
    both = inside[0].intersection(inside[1], sort=False)
    one_scale = any(a[n].any() and np.array_equal(a[n][both], b[n][both]) for n in PARTS)
    ids = [id for id in listed if id in both]
    lifts = [_relative(table.loc[ids, names], one_scale) for table in (a, b)]
    moved = [
        Move(id, str(a.loc[id, "text"]), before[id], after[id], "candidates", "AB"[id in inside[0]])
        for id in listed
        if id not in both
    ]
    for id, old, new in zip(ids, *lifts, strict=True):
        up = before[id] - after[id]
        favours = (new - old) * np.sign(up)
        most, part, side = int(np.argmax(favours)), "", ""
        if favours[most] > 0:
            part, side = names[most], "AB"[int(abs(new[most]) > abs(old[most]))]
        moved.append(Move(id, str(a.loc[id, "text"]), before[id], after[id], part, side))
    return sorted(moved, key=lambda m: -abs(m.before - m.after))


def _said(move: Move) -> str:
    """One move in words."""
    rises = move.after < move.before
    if move.part == "candidates":
        there, here = ("B", move.before) if move.side == "B" else ("A", move.after)
        other = "A" if there == "B" else "B"
        return f"“{_short(move.text, 60)}” is {here} in {other} and no candidate in {there}"
    way = f"{'rises' if rises else 'falls'} from {move.before} to {move.after}"
    said = f"“{_short(move.text, 60)}” {way}"
    if not move.part:
        return said
    did = {"A": "held it down in A", "B": "lifts it in B"}[move.side]
    if not rises:
        did = {"A": "held it up in A", "B": "holds it down in B"}[move.side]
    return f"{said}: {LABELS[move.part].partition(' (')[0]} {did}"


def summary(a: pd.DataFrame, b: pd.DataFrame, most: int = 3) -> str:
    """What the comparison says, in plain text."""
    listed = [set(t.index[t["listed"] & (t["why"] == PICKED)]) for t in (a, b)]
    same = len(listed[0] & listed[1])
    verb = "is" if same == 1 else "are"
    said = f"A picks {len(listed[0])}, B picks {len(listed[1])}; {same} {verb} in both."
    moves = [move for move in movers(a, b) if move.before != move.after][:most]
    if not moves:
        return f"{said} No card listed moves."
    told = "; ".join(map(_said, moves))
    return f"{said} From A to B, the farthest moves: {told}."


def render(a: pd.DataFrame, b: pd.DataFrame) -> str:
    """The two lists with lines between the same cards, bars of what each part adds, what is out.

    a, b     what `comparison.rank` returns, of the same cards
    """
    lists, n = (a[a["listed"]], b[b["listed"]]), int(max(a["listed"].sum(), b["listed"].sum()))
    before, after = (_places(t[t["why"] != OUTSIDE]) for t in (a, b))
    shown = [name for name in (*PARTS, "copies") if any(t[name].any() for t in lists)]
    keys = "".join(
        f'<span><i style="background:{FILLS[name]}"></i>{LABELS[name]}</span>' for name in shown
    )
    columns = [
        f'<div><b>{side}</b><ol aria-label="{side}, best first">{_rows(found, other, arrow)}</ol>'
        "</div>"
        for side, found, other, arrow in (("A", lists[0], after, ""), ("B", lists[1], before, "A"))
    ]
    lines = _lines(list(lists[0].index), list(lists[1].index), n)
    out = [
        f"<div><b>{side} leaves out:</b> {_left_out(mine, theirs)}</div>"
        for side, mine, theirs in (("A", a, b), ("B", b, a))
    ]
    return (
        f'{STYLE}<div class="mlsbs" style="{INK}"><p><b>{escape(summary(a, b))}</b></p>'
        f'<div class="key">{keys}</div><div class="two" style="--n:{n}">{columns[0]}'
        f"<div>&nbsp;{lines}</div>{columns[1]}</div>"
        f'<div class="two">{out[0]}<div></div>{out[1]}</div></div>'
    )


def _rows(found: pd.DataFrame, other: dict[str, int], back: str) -> str:
    names = [*PARTS, "copies"]
    parts: Floats = found[names].to_numpy(dtype=np.float64)
    low = min(0.0, float(parts.clip(max=0).sum(axis=1).min(initial=0)))
    high = max(0.0, float(parts.clip(min=0).sum(axis=1).max(initial=0)))
    wide, rows = (high - low) or 1.0, []
    for place, (row, card) in enumerate(zip(parts, found.itertuples(), strict=True), start=1):
        there = other.get(str(card.Index))
        arrow = "new" if there is None else "·"
        if there is not None and there != place:
            arrow = f"{'▲' if place < there else '▼'}{abs(there - place)}"
        said = f"{place}. {arrow} " if back else f"{place}. "
        said += f"{_id(card.Index)} {escape(str(card.text))}"
        out, at = card.why != PICKED, float(str(card.at))
        told = ", ".join(
            f"{LABELS[name]} {value:+.3f}" for name, value in zip(names, row, strict=True) if value
        )
        note = ", out" if out else ""
        tip = escape(f"{card.Index}: {card.text}")
        rows.append(
            f'<li class="card{" out" if out else ""}"><div class="said" title="{tip}">'
            f"{'<s>' if out else ''}{said}{'</s>' if out else ''}</div>"
            f'<div class="bar"><span class="track" role="img" aria-label="{escape(told)}" '
            f'title="{escape(told)}">{_blocks(row, low, wide)}</span>'
            f"<span>S {_number(at)}{note}</span></div></li>"
        )
    return "".join(rows)


def _blocks(row: Floats, low: float, wide: float) -> str:
    """Parts above 0 to the right of zero, those below to the left."""
    right = left = -low
    blocks = []
    for name, value in zip((*PARTS, "copies"), row.tolist(), strict=True):
        start = right if value > 0 else left + value
        right, left = right + max(0.0, value), left + min(0.0, value)
        if value:
            box = f"left:{100 * start / wide:.2f}%;width:{100 * abs(value) / wide:.2f}%"
            blocks.append(f'<i style="{box};background:{FILLS[name]}"></i>')
    return "".join(blocks)


def _lines(left: Sequence[str], right: Sequence[str], n: int) -> str:
    """Lines between the same cards; a card that is listed on one side only leads off the list."""
    where = {id: place for place, id in enumerate(right)}
    drawn = []
    for place, id in enumerate(left):
        end = where.get(id)
        down = 10 * n if end is None else 10 * end + 5
        look = LOOK[-1 if end is None else int(np.sign(place - end))]
        drawn.append((10 * place + 5, down, look))
    drawn += [(10 * n, 10 * where[id] + 5, LOOK[1]) for id in right if id not in left]
    shapes = "".join(
        f'<line x1="3" x2="97" y1="{y1}" y2="{y2}" {look} vector-effect="non-scaling-stroke"/>'
        for y1, y2, look in drawn
    )
    words = "lines between the same cards: solid where B lifts one, dashed where it falls"
    return (
        f'<svg viewBox="0 0 100 {10 * n}" preserveAspectRatio="none" role="img" '
        f'aria-label="{words}">{shapes}</svg>'
    )


def _left_out(mine: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """What the threshold, the diversity or the mere order keeps out of one side, and why."""
    places = _places(mine)
    picked = set(mine.index[mine["why"] == PICKED])
    wanted = [id for id in theirs.index[theirs["why"] == PICKED] if id not in picked]
    dropped = mine.index[~mine["why"].isin((PICKED, LATER, OUTSIDE))]
    rows = []
    for id in dict.fromkeys([*dropped, *wanted]):
        card = mine.loc[id]
        why = f"rank {places[id]}" if card["why"] == LATER else str(card["why"])
        short = _short(str(card["text"]), 70)
        at = f"S\N{NO-BREAK SPACE}{_number(float(card['at']))}, "
        why = why.replace(" ", "\N{NO-BREAK SPACE}", 1)
        at = "" if card["why"] == OUTSIDE else at
        rows.append(f"<li>{_id(id)} {escape(f'“{short}” {at}{why}')}</li>")
    return f"<ul>{''.join(rows)}</ul>" if rows else "nothing that the other picks"


def _relative(parts: pd.DataFrame, as_it_is: bool) -> Floats:
    """What each part adds, beyond the middle card, as it is or in units of the spread of S."""
    values: Floats = parts.to_numpy(dtype=np.float64)
    spread = 1.0 if as_it_is else float(np.ptp(values.sum(axis=1)))
    return (values - np.median(values, axis=0)) / (spread if spread > 0 else 1.0)


def _id(id: object) -> str:
    return f'<span class="id">{escape(str(id))}</span>'


def _places(table: pd.DataFrame) -> dict[str, int]:
    return dict(zip(table.index, range(1, len(table) + 1), strict=True))


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) >= 0.1 or value == 0 else f"{value:.4f}"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"
