"""How the context window, rollovers and handoffs are worded, in the log and in the lines."""

from ralph_tui.events import (
    ContextCompacted,
    ContextLevelReached,
    Event,
    HandoffWritten,
    RolloverBegan,
    RolloverRequested,
    WorkCommitted,
)
from ralph_tui.events.context import Level
from ralph_tui.state.fold import on
from ralph_tui.state.wording import Row, Wording
from ralph_tui.text.format import count
from ralph_tui.text.terms import RowLevel

_FOLLOWS: dict[Level, tuple[RowLevel, str]] = {
    "L1": ("warn", "it fills"),
    "L2": ("warn", "the session is to hand over"),
    "L3": ("critical", "the session is ended at once"),
}


def _level(e: ContextLevelReached) -> Row:
    level, follows = _FOLLOWS[e.level]
    # Rounded down: none seems to have reached a level that it has not.
    return Row(level, "CONTEXT", f"{e.level} at {int(e.percent)} %: {follows}")


def compacted_words(e: ContextCompacted) -> str:
    """``the agent forgot: it summed its context up, from 90% to 20% of the window``."""
    shrunk = ""
    if e.before and e.after:
        shrunk = f", from {e.before:,} to {e.after:,} tokens"
        if e.window:
            before, after = (100 * tokens / e.window for tokens in (e.before, e.after))
            shrunk = f", from {before:.0f} % to {after:.0f} % of the window"
    return f"the agent summed its context up{shrunk}: what it no longer holds, it forgot"


def _rollover(e: RolloverBegan) -> Row:
    return Row("warn", "ROLLOVER", f"the session hands over: {e.reason}")


def _requested(e: RolloverRequested) -> Row:
    return Row("owner", "ROLLOVER", f"asked by {e.by}{': ' if e.note else ''}{e.note}")


def _handoff(e: HandoffWritten) -> Row:
    text = f"{e.path}, {count(e.characters, 'character')}"
    return Row("log", "HANDOFF", text, e.summary)


def _committed(e: WorkCommitted) -> Row:
    return Row("log", "COMMIT", f"{e.commit[:12]} {e.message}")


CONTEXT_ROWS: dict[type[Event], Wording] = dict(
    [
        on(ContextLevelReached, _level),
        on(ContextCompacted, lambda e: Row("warn", "FORGOT", compacted_words(e))),
        on(RolloverRequested, _requested),
        on(RolloverBegan, _rollover),
        on(HandoffWritten, _handoff),
        on(WorkCommitted, _committed),
    ]
)
"""Rows of the log that are lines, too."""
