"""How many tokens the context window holds. Nothing that a hook is given says so. Pure."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ralph_tui.layers.context.state_file import State

VARIABLE = "RALPH_CONTEXT_WINDOW"
FIELD = "context_window"
"""Of the state file."""
LEAST, LARGEST = 1000, 10**9

_SIZE = re.compile(r"([0-9]{1,10})([km]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1000, "m": 1_000_000}
_LEFT_OVER = 33_000
"""Tokens that are still free when Claude Code sums up its context."""
_CERTAIN = re.compile(
    r"claude-3-|claude-(?:opus-4-(?:1|5|2025\d{4})|haiku-4-5)(?![0-9])", re.IGNORECASE
)
"""Models that were only ever offered with `_OF_CERTAIN` tokens."""
_OF_CERTAIN = 200_000


class Window(NamedTuple):
    """What is known."""

    tokens: int | None
    problem: str = ""
    """Why it is not known, and what to do, one sentence."""


def window_of(environ: Mapping[str, str], state: State, model: str, used: int | None) -> Window:
    """What the user says, else the state file, else the model's name where that is certain.

    A guess that the tokens in use contradict is none.
    """
    named = environ.get(VARIABLE, "").strip()
    if named:
        size = size_of(named)
        if size is None:
            return Window(None, f"{VARIABLE} is no number of tokens such as 200000, 200k or 1m")
        return Window(size)
    kept = size_of(state.get(FIELD))
    if kept is not None:
        return Window(kept)
    if _CERTAIN.match(model) and (used or 0) <= _OF_CERTAIN:
        return Window(_OF_CERTAIN)
    return Window(
        None,
        f"how large the context window of {model or 'this model'} is cannot be known here: set "
        f"{VARIABLE}, or {FIELD} in the state file, to its tokens (1000000, 200k); until then no "
        "level is watched",
    )


def sums_up_before(window: int, checkpoint: float, environ: Mapping[str, str]) -> str:
    """What to say where Claude Code sums up its context before the checkpoint comes; else empty."""
    percent = 100 * (window - _LEFT_OVER) / window
    if percent >= checkpoint or environ.get("DISABLE_AUTO_COMPACT"):
        return ""
    return (
        f"Claude Code sums up its context by itself at about {percent:.0f} %, before the "
        f"checkpoint at {checkpoint:.0f} %, unless you have turned that off: start it with "
        "DISABLE_AUTO_COMPACT=1 (`env` in .claude/settings.json), or set context_thresholds in the "
        "state file"
    )


def contradicted(window: int, used: int) -> str:
    """What to say where more is used than the window is said to hold."""
    return (
        f"the context holds {used:,} tokens, more than its window of {window:,}: it counts as "
        f"full; set {VARIABLE}, or {FIELD} in the state file, to what it really is"
    )


def size_of(value: object) -> int | None:
    """A number of tokens, also as ``200k`` or ``1m``; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip().replace("_", "").replace(",", ""))
        value = int(found[1]) * _TIMES[found[2].lower()] if found else None
    return value if isinstance(value, int) and LEAST <= value <= LARGEST else None
