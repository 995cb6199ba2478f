"""The controls of one configuration: a slider, a drop-down or a field for every setting."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import ipywidgets as widgets

from course.playground.configuration import CHOICES, PARTS, RANGES, Form
from course.playground.shelf import MOST_CARDS, MOST_MB
from course.playground.side_by_side import LABELS
from course.widgets import parts

A = Form()
B = replace(A, relevance=0.5, recency=0.0, importance=0.0, names=0.1, bm25=0.4)  # as on LoCoMo
GROUPS: Mapping[str, Sequence[str]] = {
    "Weights": PARTS,
    "Recency and fusion": ("decay", "half_life_days", "normalizer", "tokenizer", "fusion"),
    "Diversity and threshold": (
        *("diversity", "w_duplicate", "mmr_lambda", "has_threshold", "threshold"),
    ),
}
WORDS = LABELS | {
    "half_life_days": "half-life in days",
    "normalizer": "normaliser",
    "w_duplicate": "penalty of a copy",
    "mmr_lambda": "MMR's lambda",
    "threshold": "threshold on S",
}
NO_REASONS: Mapping[str, str] = {}
TYPED = {"half_life_days": 0.5, "threshold": 0.01}  # ranges too wide for a slider; arrow keys step
NAMES = """<style onload="const name = () => {
  for (const h of document.querySelectorAll('.noUi-handle:not([aria-label])')) {
    const label = h.closest('.jupyter-widgets')?.querySelector('label')?.textContent;
    if (label) h.setAttribute('aria-label', label); } };
name(); new MutationObserver(name).observe(document.body, {childList: true, subtree: true});">
</style>"""  # ipywidgets leaves a slider's handle without a name: a screen reader needs one
ROOM = f"""<span style="{parts.INK}">At most {MOST_CARDS:,} cards and {MOST_MB} MB. A
server not started by make lab or make playground may lose a file over 10 MB.</span>"""
GUARD = f"""<style onload="window.ownFiles ??= (() => {{
  let said = null;
  document.addEventListener('click', e => {{
    const button = e.target.closest?.('.widget-upload');
    said = button?.closest('.playground')?.querySelector('.too-large');
    said?.replaceChildren(); }}, true);
  const read = FileReader.prototype.readAsArrayBuffer;
  FileReader.prototype.readAsArrayBuffer = function (file) {{
    if (!said || {MOST_MB}e6 >= file.size) return read.call(this, file);
    const line = document.createElement('span'), size = (file.size / 1e6).toFixed(1);
    line.setAttribute('role', 'alert');
    line.textContent = `${{file.name}}: ${{size}} MB, the playground takes {MOST_MB} MB at most`;
    said.replaceChildren(line); }};  // and a promise that nobody keeps: nothing is sent
  return true; }})()"></style><span class="too-large" style="{parts.INK}"></span>"""
HANDLE = {**parts.WIDE, "handle_color": parts.COLORS[0]}
SIZE = widgets.Layout(width="min(44em, 98%)")


def control(side: str, name: str, start: Form) -> Any:
    """The control of one setting, with its side and its unit in the label."""
    value = getattr(start, name, None)
    if name in PARTS:
        return parts.slider(f"{side}: {LABELS[name]}, weight", value or 0.0, 0, 5, 0.05)
    if name in CHOICES:
        return parts.choice(f"{side}: {WORDS.get(name, name)}", list(CHOICES[name]), value)
    shared = {"style": parts.WIDE, "layout": SIZE}
    if name == "has_threshold":
        on, label = start.threshold is not None, f"{side}: use the threshold"
        return widgets.Checkbox(value=on, description=label, **shared)
    if name in TYPED:
        low, high = RANGES[name]
        ends = {"min": low, "max": high, "step": TYPED[name]}
        label = f"{side}: {WORDS[name]}"
        return widgets.BoundedFloatText(value=value or 0.0, description=label, **ends, **shared)
    return parts.slider(f"{side}: {WORDS[name]}", value or 0.0, 0, 1, 0.01)


def controls(side: str, start: Form) -> dict[str, Any]:
    """All controls of one side, by name."""
    return {name: control(side, name, start) for names in GROUPS.values() for name in names}


def put(made: Mapping[str, Any], settings: Form) -> None:
    """Set every control of one side; a slider's end gives way to a larger value."""
    values = asdict(settings) | {"has_threshold": settings.threshold is not None}
    values["threshold"] = settings.threshold or 0.0
    for name, one in made.items():
        if isinstance(one, widgets.FloatSlider):
            one.max = max(one.max, values[name])
        one.value = values[name]


def standing(made: Mapping[str, Any]) -> Form:
    """The settings as the controls of one side stand; ValueError for what is no setting."""
    values = {name: one.value for name, one in made.items()}
    values["threshold"] = values["threshold"] if values.pop("has_threshold") else None
    return Form(**values)


def changes(a: Form, b: Form, idle: Mapping[str, str] = NO_REASONS) -> str:
    """In what B differs from A, in words.

    idle  of the settings that can move no card: why, as `effects.without_effect` tells it
    """
    here, there = asdict(a), asdict(b)
    told = [
        f"{WORDS.get(name, name)} {_value(here[name])} → {_value(there[name])}"
        + (f" (no effect: {idle[name]})" if name in idle else "")
        for name in here
        if here[name] != there[name]
    ]
    return f"From A to B: {', '.join(told)}." if told else "A and B are set alike."


def _value(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
