"""Colours. One accent; severity is never told by colour alone.

The variables beginning with ``ink-`` are what panes draw with, beside accent and severities.
"""

from collections.abc import Iterable
from dataclasses import replace

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

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
        "ink-dim": "#838d9d",
        "ink-faint": "#3d4554",
        "ink-frame": "#323a48",
        "ink-output": "#7fc8dc",
        "ink-error": "#b8a1e3",
        "ink-mean": "#7d93c4",
        "ink-done": "#8fa18a",
        "ink-cursor": "#232a37",
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
        "ink-dim": "#666d78",
        "ink-faint": "#c3c3bd",
        "ink-frame": "#cfcec8",
        "ink-output": "#0f6a86",
        "ink-error": "#7446b0",
        "ink-mean": "#4863a8",
        "ink-done": "#5f7a54",
        "ink-cursor": "#e4e6e6",
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
        "ink-dim": "ansi_default",
        "ink-faint": "ansi_default",
        "ink-frame": "ansi_default",
        "ink-output": "ansi_cyan",
        "ink-error": "ansi_magenta",
        "ink-mean": "ansi_blue",
        "ink-done": "ansi_default",
        "ink-cursor": "ansi_default",
    },
)
"""The sixteen colours of the terminal itself, or none at all."""

THEMES = (DARK, LIGHT, TERMINAL)
"""In the order the theme key walks through."""


def ink_for(theme: Theme) -> dict[str, str]:
    """The ``ink-`` variables for a theme that does not name them, from its own colours."""
    if theme.ansi:
        return {name: TERMINAL.variables[name] for name in TERMINAL.variables if "ink-" in name}
    model = DARK if theme.dark else LIGHT
    front = Color.parse(theme.foreground or model.foreground or "#888888")
    back = Color.parse(theme.background or model.background or "#888888")
    accent = theme.accent or theme.primary
    return {
        "ink-dim": back.blend(front, 0.6).hex,
        "ink-faint": back.blend(front, 0.25).hex,
        "ink-frame": back.blend(front, 0.2).hex,
        "ink-output": accent,
        "ink-error": theme.secondary or theme.primary,
        "ink-mean": theme.primary,
        "ink-done": back.blend(front, 0.6).hex,
        "ink-cursor": back.blend(front, 0.1).hex,
    }


def named(name: str | None, known: Iterable[str]) -> str:
    """The theme a setting means: ours by its short name, or any of Textual's; the first else."""
    names = set(known)
    return next((full for full in (f"ralph-{name}", name) if full in names), DARK.name)
