"""Colour themes. One accent; colour is never the only sign of severity.

Panes draw with the variables that begin with ``style-``, the accent, and the severities.
"""

from collections.abc import Iterable
from dataclasses import replace

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

READABLE = 4.5
"""Minimum contrast between text and background (WCAG 2.2, AA)."""

DARK = Theme(
    name="ralph-dark",
    dark=True,
    primary="#7fc8dc",
    accent="#7fc8dc",
    secondary="#b8a1e3",
    success="#9ccc8c",
    warning="#e3bb74",
    error="#ea8377",
    foreground="#ccd3de",
    background="#13161d",
    surface="#13161d",
    panel="#1b202a",
    variables={
        "style-dim": "#8b95a5",
        "style-faint": "#3d4554",
        "style-frame": "#323a48",
        "style-output": "#7fc8dc",
        "style-error": "#b8a1e3",
        "style-mean": "#7d93c4",
        "style-done": "#8fa18a",
        "style-cursor": "#232a37",
    },
)

LIGHT = Theme(
    name="ralph-light",
    dark=False,
    primary="#0f6a86",
    accent="#0f6a86",
    secondary="#7446b0",
    success="#38741f",
    warning="#8f5a00",
    error="#b0322a",
    foreground="#262b33",
    background="#fbfaf7",
    surface="#fbfaf7",
    panel="#efede7",
    variables={
        "style-dim": "#5c636e",
        "style-faint": "#c3c3bd",
        "style-frame": "#cfcec8",
        "style-output": "#0f6a86",
        "style-error": "#7446b0",
        "style-mean": "#4863a8",
        "style-done": "#50684a",
        "style-cursor": "#e4e6e6",
    },
)

_ANSI = BUILTIN_THEMES["ansi-dark"]
TERMINAL = replace(
    _ANSI,
    name="ralph-terminal",
    primary="ansi_cyan",
    accent="ansi_cyan",
    secondary="ansi_magenta",
    variables={
        **_ANSI.variables,
        "style-dim": "ansi_default",
        "style-faint": "ansi_default",
        "style-frame": "ansi_default",
        "style-output": "ansi_cyan",
        "style-error": "ansi_magenta",
        "style-mean": "ansi_blue",
        "style-done": "ansi_default",
        "style-cursor": "ansi_default",
    },
)
"""The terminal's own sixteen colours, or none at all."""

THEMES = (DARK, LIGHT, TERMINAL)
"""In the order in which the theme key switches them."""


def styles_for(theme: Theme) -> dict[str, str]:
    """Derive the ``style-`` variables of a theme that does not define them."""
    if theme.ansi:
        return {name: TERMINAL.variables[name] for name in TERMINAL.variables if "style-" in name}
    model = DARK if theme.dark else LIGHT
    front = Color.parse(theme.foreground or model.foreground or "#888888")
    back = Color.parse(theme.background or model.background or "#888888")
    accent = theme.accent or theme.primary
    return {
        "style-dim": _dim(front, back).hex,
        "style-faint": back.blend(front, 0.25).hex,
        "style-frame": back.blend(front, 0.2).hex,
        "style-output": accent,
        "style-error": theme.secondary or theme.primary,
        "style-mean": theme.primary,
        "style-done": _dim(front, back).hex,
        "style-cursor": back.blend(front, 0.1).hex,
    }


def _dim(front: Color, back: Color) -> Color:
    """Return the dimmest text colour that is still readable."""
    steps = (back.blend(front, tenths / 10) for tenths in range(6, 10))
    return next((dim for dim in steps if contrast(dim, back) >= READABLE), front)


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two colours, 1 to 21, as WCAG 2.2 defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    parts = (value / 255 for value in (colour.r, colour.g, colour.b))
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def named(name: str | None, known: Iterable[str]) -> str:
    """Return the theme named by a setting: ours by short name, or any of Textual's.

    An unknown name selects the default theme.
    """
    names = set(known)
    return next((full for full in (f"ralph-{name}", name) if full in names), DARK.name)
