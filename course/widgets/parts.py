"""What every widget shares: labelled controls, a table in HTML, errors that can be read."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

COLORS = ("#0072B2", "#E69F00", "#009E73")
STRIPES = ("0deg", "45deg", "90deg")  # the second cue beside the colour
INK = "color: var(--jp-content-font-color1, #222);line-height:1.35"  # JupyterLab's is 28 px
SCROLL = "overflow-x:auto;container-type:inline-size;width:0;min-width:100%"  # never over the page
FACTS = ("fact", "card")  # columns of long text, which a narrow page must not squeeze
WIDE = {"description_width": "12.5em"}
ARROW = (  # of a drop-down, dark on dark in JupyterLab's dark theme; and its arrow keys, Lab's own
    "<style onload=\"document.addEventListener('focusin', window.ownArrows ??= e => "
    "e.target.closest?.('.widget-vbox') && e.target.matches('select') && "  # one listener a page
    "e.target.setAttribute('data-lm-suppress-shortcuts', 'true'))\">"
    '[data-jp-theme-light="false"] {--jp-widgets-dropdown-arrow: url("data:image/svg+xml,'
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'%3E%3Cpath fill='%23ddd' "
    "d='M4 6l5 5 5-5 1 1-6 6-6-6z'/%3E%3C/svg%3E\")}</style>"
)
NUMBER = re.compile(r"[+\-−]?[\d,]*\.?\d+%?|")  # or nothing: an empty cell of such a column

Values = Mapping[str, Any]


def slider(label: str, value: float, low: float, high: float, step: float) -> Any:
    """A slider whose label carries its unit, wide enough to be read at 200 % zoom."""
    digits = max(0, len(f"{step:.10f}".rstrip("0").split(".")[1]))
    return widgets.FloatSlider(
        value=value,
        min=low,
        max=high,
        step=step,
        description=label,
        readout_format=f".{digits}f",
        style={**WIDE, "handle_color": COLORS[0]},  # JupyterLab's is white on white
        layout=widgets.Layout(width="min(44em, 98%)"),
    )


def choice(label: str, options: Sequence[Any], value: Any) -> Any:
    """A drop-down; options are values or pairs (text, value)."""
    layout = widgets.Layout(width="min(44em, 98%)")
    return widgets.Dropdown(
        options=options, value=value, description=label, style=WIDE, layout=layout
    )


def text(label: str, value: str, rows: int = 1) -> Any:
    """A field for free text, of one line or several; several lines act when the focus leaves."""
    layout = widgets.Layout(width="min(44em, 98%)")
    kind = widgets.Text if rows == 1 else widgets.Textarea
    extra = {} if rows == 1 else {"rows": rows}
    return kind(
        value=value, description=label, style=WIDE, layout=layout, continuous_update=False, **extra
    )


def panel(render: Callable[[Values], str], controls: Mapping[str, Any]) -> Any:
    """Controls, a reset button and the rendered HTML, which follows every change.

    render    pure: the controls' values by name -> HTML; what it raises is shown as a line
    controls  by name, in the order shown
    """
    start = {name: control.value for name, control in controls.items()}
    output = widgets.HTML()
    look = ARROW if any(hasattr(control, "options") for control in controls.values()) else ""
    reset = widgets.Button(description="Reset", tooltip="Back to the values at the start")

    def show(_: Any = None) -> None:
        try:
            made = render({name: control.value for name, control in controls.items()})
        except Exception as error:  # a reader must see it, not a log
            made = error_line(str(error))
        output.value = made + look

    def back(_: Any) -> None:
        with output.hold_sync():  # the page sees the end, not every step on the way
            for name, control in controls.items():
                control.value = start[name]

    for control in controls.values():
        control.observe(show, names="value")
    reset.on_click(back)
    show()
    return widgets.VBox([*controls.values(), reset, output])


def error_line(message: str) -> str:
    """A readable line in place of the result."""
    return f'<p role="alert" style="{INK}"><b>Cannot show this:</b> {escape(message)}</p>'


def line(message: str) -> str:
    """A sentence where there is no table to show."""
    return f'<p style="{INK}">{escape(message)}</p>'


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table of cells that are HTML already; on a narrow page it scrolls by itself.

    A column of numbers lines up at its right edge.
    """
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    look = [
        f"text-align:{'right' if cells and all(map(NUMBER.fullmatch, cells)) else 'left'};"
        f"padding:.2em .6em{';min-width:14em' if name in FACTS else ''}"
        for name, cells in zip(header, columns, strict=True)
    ]
    head = "".join(
        f'<th scope="col" style="{style}">{name}</th>'
        for name, style in zip(header, look, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{style}">{cell}</td>' for cell, style in zip(row, look, strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div style="{SCROLL}">'
        f'<table style="{INK};border-collapse:collapse;font-variant-numeric:tabular-nums">'
        f'<caption style="text-align:left;{INK}">'
        f'<div style="max-width:100cqw">{escape(caption)}</div></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def stacked(parts: Mapping[str, float], full: float, width_em: float = 9) -> str:
    """A bar of coloured and striped parts; `full` is the value that fills the width."""
    told = ", ".join(f"{name} {value:.2f}" for name, value in parts.items())
    pieces = "".join(
        _block(i, value / full * width_em if full > 0 else 0.0, f"{name} {value:.2f}")
        for i, (name, value) in enumerate(parts.items())
    )
    box = f"display:inline-block;white-space:nowrap;width:{width_em}em"
    return f'<span role="img" aria-label="{escape(told)}" style="{box}">{pieces}</span>'


def legend(names: Sequence[str]) -> str:
    """Which colour and stripe of `stacked` is which part."""
    named = "&emsp;".join(f"{_block(i, 1, name)} {escape(name)}" for i, name in enumerate(names))
    return f'<div style="{INK}">{named}</div>'


def _block(i: int, width_em: float, title: str) -> str:
    color, angle = COLORS[i], STRIPES[i]
    fill = (
        f"repeating-linear-gradient({angle}, {color} 0 4px, "
        f"color-mix(in srgb, {color} 75%, white) 4px 6px)"
    )
    style = f"display:inline-block;height:.9em;width:{width_em:.2f}em;background:{fill}"
    return f'<span title="{escape(title)}" style="{style}"></span>'


def moved(before: int, now: int) -> str:
    """How far a row rose or fell against the start: an arrow and a number, or a dot."""
    if before == now:
        return "·"
    return f"▲{before - now}" if now < before else f"▼{now - before}"


def worked(text: str) -> str:
    """Preformatted text: a row worked out by hand."""
    return f'<pre style="{INK};background:none;white-space:pre;{SCROLL}">{escape(text)}</pre>'
