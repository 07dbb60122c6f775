"""How a session ended: what every agent's session says of its own end."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from ralph_tui.adapters.processes.child import Exit
from ralph_tui.events import SessionFinished
from ralph_tui.events.agent import SessionOutcome

LONGEST_REASON = 300
"""Characters of foreign text in a reason."""

_STOPPED: Mapping[str, str] = {
    "timeout": "The session ran longer than it may and was stopped.",
    "interrupted": "The agent was interrupted.",
    "silent": "The agent said nothing for too long and was interrupted.",
    "budget": "The session used up its budget and was stopped.",
    "rolled_over": "The session was ended for its context, and hands over.",
    "context_full": "Its context was full, and the session was ended.",
    "stopped": "Stopped.",
}

Limit = Literal["usage_limit", "overload", "outage"]


@dataclass(frozen=True)
class SessionEnd:
    """An outcome and the sentence that explains it, empty on success."""

    outcome: SessionOutcome
    reason: str = ""
    limit: Limit | None = None
    """Which kind of limit it was, with outcome ``limited``."""
    resets_at: datetime | None = None
    """When that ends, UTC, as far as known."""


def stopped(outcome: str) -> SessionEnd:
    """A session that was stopped; `outcome` names why."""
    reason = _STOPPED.get(outcome, "The agent was stopped.")
    return SessionEnd(cast("SessionOutcome", outcome), reason)


@dataclass
class Tally:
    """The counters of a session, as far as the agent reports them."""

    cost_usd: float | None = None
    tokens: int = 0
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0


def session_finished(
    iteration: int, ended: Exit, end: SessionEnd, tally: Tally, duration_s: float
) -> SessionFinished:
    """The last event of a session, whose process is gone."""
    return SessionFinished(
        iteration=iteration,
        outcome=end.outcome,
        reason=end.reason,
        exit_code=ended.code,
        duration_s=round(duration_s, 3),
        limit=end.limit,
        resets_at=end.resets_at,
        cost_usd=tally.cost_usd,
        tokens=tally.tokens,
        turns=tally.turns,
        tool_calls=tally.tool_calls,
        tool_errors=tally.tool_errors,
        leftovers=ended.leftovers,
    )
