"""How the context window, rollovers and handoffs are worded, in the log and in the lines."""

from ralph_tui.events import (
    ContextCompacted,
    ContextLevelReached,
    Event,
    HandoffWritten,
    PlanItemBegan,
    RolloverBegan,
    RolloverRequested,
    WorkCommitted,
)
from ralph_tui.events.context import Level
from ralph_tui.state.fold import on
from ralph_tui.state.wording import Row, Wording
from ralph_tui.text.format import count, filled
from ralph_tui.text.terms import CONTEXT_LEVELS, FORGOT, RowLevel, who_words

_LEVELS: dict[Level, RowLevel] = {"L1": "warn", "L2": "warn", "L3": "critical"}
"""What follows from it, if anything does, has a row of its own."""


def _level(e: ContextLevelReached) -> Row:
    tokens = (
        f"{e.tokens:,} of {e.window:,} tokens: {CONTEXT_LEVELS[e.level].word}" if e.window else ""
    )
    return Row(_LEVELS[e.level], "CONTEXT", f"the window is {filled(e.percent)} full", tokens)


def shrunk_words(e: ContextCompacted) -> str:
    """``, from 90 % to 20 % of the window``; empty where the agent does not tell."""
    if not (e.before and e.after):
        return ""
    if not e.window:
        return f", from {e.before:,} to {e.after:,} tokens"
    before, after = (filled(100 * tokens / e.window) for tokens in (e.before, e.after))
    return f", from {before} to {after} of the window"


def compacted_words(e: ContextCompacted) -> str:
    """``the agent summed its context up, from 90 % to 20 % of the window: it forgot details``."""
    return f"the agent summed its context up{shrunk_words(e)}: it {FORGOT.word} details"


def _rollover(e: RolloverBegan) -> Row:
    why = f": {e.reason}" if e.reason else ""
    return Row("warn", "ROLLOVER", f"the session hands over to a fresh one{why}")


def written_words(e: HandoffWritten) -> str:
    """``worded by a model, edited by you``; empty: by template, as it was."""
    parts = ["worded by a model"] if e.origin == "model" else []
    parts += [f"edited by {e.edited_by}"] if e.edited_by else []
    return ", ".join(parts)


def _requested(e: RolloverRequested) -> Row:
    return Row("owner", "ROLLOVER", f"asked by {who_words(e.by)}{': ' if e.note else ''}{e.note}")


def _handoff(e: HandoffWritten) -> Row:
    how = written_words(e)
    text = f"{e.path or 'not kept in a file'}{f', {how}' if how else ''}"
    return Row("log", "HANDOFF", text, "\n".join(_told(e)))


def _told(e: HandoffWritten) -> list[str]:
    """What its record says, a line each."""
    facts = (("in progress", e.summary), ("item", e.item), ("next", e.next_step))
    lines = [f"{name}: {words}" for name, words in facts if words]
    lines += [f"file: {file.path} {file.lines}".rstrip() for file in e.files]
    return [*lines, *(f"you said: {words}" for words in e.guidance)]


def item_words(e: PlanItemBegan) -> str:
    """``write the lexer · medium, 20-40 % of a window``."""
    if not e.item:
        return "all items of the plan are done"
    return f"{e.item} · {e.size}, {e.low:.0f}-{e.high:.0f} % of a window"


def _committed(e: WorkCommitted) -> Row:
    files = f", {count(e.files, 'file')}" if e.files else ""
    return Row("log", "COMMIT", f"{e.commit[:12]} {e.message}{files}")


CONTEXT_ROWS: dict[type[Event], Wording] = dict(
    [
        on(ContextLevelReached, _level),
        on(ContextCompacted, lambda e: Row("warn", "FORGOT", compacted_words(e))),
        on(RolloverRequested, _requested),
        on(RolloverBegan, _rollover),
        on(HandoffWritten, _handoff),
        on(PlanItemBegan, lambda e: Row("log", "ITEM", item_words(e))),
        on(WorkCommitted, _committed),
    ]
)
"""Rows of the log that are lines, too."""
