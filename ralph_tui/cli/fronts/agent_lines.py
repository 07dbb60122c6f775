"""What an agent said, did and came to, as plain lines."""

from ralph_tui.events import (
    AgentReported,
    AgentSpoke,
    BackgroundAwaited,
    SessionFinished,
    ToolDenied,
    ToolFinished,
)
from ralph_tui.state.claims import without_claims
from ralph_tui.state.wording import background_words, denied_words, permit_words
from ralph_tui.text.format import count, duration, money, percent
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import FAILED, in_words
from ralph_tui.text.words import same_words

ENDED = {
    "success": "ended",
    "auth": "sign-in refused",
    "missing": "cannot be run",
    "not_started": "did not start",
    "limited": "stopped by a limit",
    "unknown_model": "model refused",
    "context_full": "context full",
}
"""Outcomes of a session whose names in the events are no plain words."""
SPOKEN_LINES = 40
"""Of what the agent says at once; its transcript has the rest."""


def agent_reported(e: AgentReported, said: str = "") -> str:
    """A line each: its own claim is no measurement, and what stands in its way is not glued to it.

    `said`: its last words; what it sums up in the same ones has its lines.
    """
    claim = e.completion is not None and f"claims {percent(e.completion)}"
    blocked = [f"blocked by {' '.join(what.split())}" for what in e.blockers]
    told = [*([claim] if claim else []), *blocked, *([f"next: {e.next}"] if e.next else [])]
    summary = " ".join(e.summary.split())
    if summary and same_words(summary) not in same_words(without_claims(said)):
        told.insert(0, summary)
    return "\n".join(f"agent   {one_line(what)}" for what in told or [summary or "empty report"])


def agent_spoke(e: AgentSpoke) -> str | None:
    """What it says, a line each; report and promise have lines of their own."""
    text = e.text if e.parent is not None else without_claims(e.text)
    lines = [line for line in text.splitlines() if line.strip()]
    rest = count(len(lines) - SPOKEN_LINES, "more line")
    more = [f"… and {rest}, in the transcript of iteration {e.iteration}"]
    return "\n".join(
        f"agent   {line}"
        for line in [*lines[:SPOKEN_LINES], *(more if lines[SPOKEN_LINES:] else [])]
    )


def tool_finished(e: ToolFinished) -> str | None:
    """A tool call that failed."""
    return None if e.ok or e.prevented else f"agent   {FAILED.glyph} {e.summary}"


def background_awaited(e: BackgroundAwaited) -> str | None:
    """What holds a session whose turn is over."""
    words = background_words(e)
    return f"agent   {words}" if words else None


def tool_denied(e: ToolDenied) -> str:
    """What permits it on a line of its own: behind a long message it would be cut off."""
    how = f"\nagent   {permit_words(e)}" if e.permit or e.final else ""
    return f"agent   {one_line(denied_words(e))}{how}"


def session_finished(e: SessionFinished) -> str:
    """How it ended, after how long, at what cost."""
    cost = "" if e.cost_usd is None else f", {money(e.cost_usd, exact=True)}"
    why = f": {e.reason}" if e.reason else ""
    # An agent that tells of no calls may have made some.
    calls = f", {count(e.tool_calls, 'tool call')}" if e.tool_calls else ""
    how = ENDED.get(e.outcome) or in_words(e.outcome)
    return f"agent   {how} after {duration(e.duration_s)}{calls}{cost}{why}"
