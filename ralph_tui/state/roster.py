"""The agents of a run: which one is working, which ones cannot and why, and the work of each.

Rule: it only records; `loop/steps/agents.py` decides how long a refusal lasts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from ralph_tui import events as ev
from ralph_tui.state.fold import Fold
from ralph_tui.text.format import count, money, token_count

Limit = Literal["usage_limit", "overload", "outage"]
Cause = Limit | Literal["auth", "missing", "not_started", "unknown_model"]
CLOCK = "the clock"
"""`WaitEnded.by` if no one ended the wait."""


class Refusal(NamedTuple):
    """Why an agent could not work."""

    cause: Cause
    reason: str
    at: datetime
    """Time of the latest refusal."""
    since: datetime
    """Time of the first of the consecutive refusals."""
    tries: int = 1
    """Number of consecutive refusals."""
    resets_at: datetime | None = None
    """When the limit ends, if the service reported it."""

    @property
    def limit(self) -> Limit | None:
        """The limit to wait for; None if the user has to solve the problem."""
        match self.cause:
            case "usage_limit" | "overload" | "outage":
                return self.cause
        return None


@dataclass(slots=True)
class AgentWork:
    """An agent's work in this run."""

    iterations: list[int] = field(default_factory=list)
    sessions: int = 0
    cost_usd: float | None = None
    """None if the agent does not report it."""
    tokens: int = 0
    tokens_partial: bool = False
    """True if the agent has not counted all of its calls."""
    model: str = ""
    """The latest model that the agent reported."""

    @property
    def words(self) -> str:
        """The work in words, as in ``in iterations 2-4 (3 sessions, $1.20)``."""
        cost = "cost unknown" if self.cost_usd is None else money(self.cost_usd, exact=True)
        tokens = f"{token_count(self.tokens, partial=self.tokens_partial)} tokens"
        spent = [count(self.sessions, "session"), cost, *([tokens] if self.tokens else [])]
        return f"in {_iterations(self.iterations)} ({', '.join(spent)})"


class RosterFold(Fold):
    """The agents of a run."""

    def __init__(self) -> None:
        self.working = ""
        """The agent working now or next."""
        self.refusals: dict[str, Refusal] = {}
        """Refusals of the agents that cannot work, by agent."""
        self.away: dict[str, ev.AgentChanged] = {}
        """The change from each agent to its fallback; removed when the agent works again."""
        self.worked: dict[str, AgentWork] = {}
        """Keyed by the agent's name in its sessions, in the order of their first sessions."""
        self._first = self._session = ""
        self._waited: ev.WaitStarted | None = None

    @property
    def fallback_cause(self) -> ev.AgentChanged | None:
        """Why a fallback is working instead of the first agent; None while the first one works."""
        return self.away.get(self._first)

    @property
    def unreported(self) -> list[str]:
        """If there are several agents, those that have not reported their costs."""
        several = len(self.worked) > 1
        return [name for name, one in self.worked.items() if several and one.cost_usd is None]

    def on_run_started(self, event: ev.RunStarted) -> None:
        self._first = self.working = event.agent

    def on_agent_changed(self, event: ev.AgentChanged) -> None:
        self.working = event.agent
        self.away.pop(event.agent, None)
        if event.cause != "back":
            self.away[event.before] = event
        if event.cause == "outage" and event.before not in self.refusals:
            # No session reported the outage: the agent was silent.
            self.refusals[event.before] = Refusal(
                event.cause, event.reason, event.at, event.at, resets_at=event.until
            )

    def on_session_started(self, event: ev.SessionStarted) -> bool:
        self._session = event.agent
        worked = self.worked.setdefault(event.agent, AgentWork())
        worked.sessions += 1
        if worked.iterations[-1:] != [event.iteration]:
            worked.iterations.append(event.iteration)
        return False

    def on_session_described(self, event: ev.SessionDescribed) -> bool:
        worked = self.worked.get(self._session)
        if worked is not None and event.model:
            worked.model = event.model
        return False

    def on_has_worked(self, event: ev.AgentSpoke | ev.ToolStarted) -> bool:
        """Clear the agent's refusal: its model has answered."""
        return self.refusals.pop(self.working, None) is not None

    def on_usage_reported(self, event: ev.UsageReported) -> bool:
        worked = self.worked.get(self._session)
        if worked is not None and event.tokens_partial:
            worked.tokens_partial = True
        return False

    def on_session_finished(self, event: ev.SessionFinished) -> None:
        worked = self.worked.get(self._session)
        if worked is not None:
            worked.tokens += event.tokens
            if event.cost_usd is not None:
                worked.cost_usd = (worked.cost_usd or 0.0) + event.cost_usd
        match event.outcome:
            case "limited":
                self._refused(event, event.limit or "overload")
            case "auth" | "missing" | "not_started" | "unknown_model":
                self._refused(event, event.outcome)
            case "stopped" | "unresumable":
                pass
            case _:
                self.refusals.pop(self.working, None)

    def _refused(self, event: ev.SessionFinished, cause: Cause) -> None:
        before = self.refusals.get(self.working)
        again = before if before is not None and before.cause == cause else None
        self.refusals[self.working] = Refusal(
            cause,
            event.reason,
            event.at,
            again.since if again else event.at,
            again.tries + 1 if again else 1,
            event.resets_at,
        )

    def on_wait_started(self, event: ev.WaitStarted) -> bool:
        self._waited = event
        return False

    def on_wait_ended(self, event: ev.WaitEnded) -> bool:
        waited, self._waited = self._waited, None
        name = (waited.agent if waited else "") or self.working
        known = self.refusals.get(name)
        # A retry requested by the user does not lengthen the next wait.
        by_hand = event.by != CLOCK and waited is not None and waited.cause != "disk_full"
        if known is not None and by_hand:
            tries = max(0, known.tries - 1)
            self.refusals[name] = Refusal(
                known.cause, known.reason, known.at, known.since, tries, known.resets_at
            )
        return False

    def on_looked_after(self, event: ev.RunResumed | ev.Unpaused) -> bool:
        """Keep only limits with a known end: the user may have solved the other problems."""
        self._waited = None
        kept = {name: known for name, known in self.refusals.items() if known.resets_at is not None}
        changed, self.refusals = kept != self.refusals, kept
        return changed

    def explain_fallback(self, now: datetime) -> str:
        """Explain why a fallback is working instead of the first agent; empty if none is."""
        away = self.fallback_cause
        if away is None or self.working in self.refusals:
            return ""
        return away.words(now, self.working)

    @property
    def worked_words(self) -> list[str]:
        """The work of each of several agents: ``codex in iterations 2-4 (3 sessions, ...)``."""
        several = self.worked if len(self.worked) > 1 else {}
        return [f"{name} {one.words}" for name, one in several.items()]

    @property
    def unreported_text(self) -> str:
        """A note such as ``without the cost of codex``; empty if every agent reports its cost."""
        return f"without the cost of {' and '.join(self.unreported)}" if self.unreported else ""


def _iterations(numbers: Sequence[int]) -> str:
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    ranges = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
    return f"iteration{'s' if len(set(numbers)) > 1 else ''} {ranges}"
