"""How a session ended: what every agent's session says of its own end."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ralph_tui.events.agent import SessionOutcome

LONGEST_REASON = 300
"""Characters of foreign text in a reason."""

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


@dataclass
class Tally:
    """The counters of a session, as far as the agent reports them."""

    cost_usd: float | None = None
    tokens: int = 0
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
