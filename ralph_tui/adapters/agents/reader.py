"""The common part of all agents' session readers: usage, receipts, notes, heartbeats. Pure."""

from typing import Literal

from ralph_tui import events as ev
from ralph_tui.adapters.agents.claims import SPOKEN
from ralph_tui.adapters.agents.ends import Tally
from ralph_tui.adapters.agents.tools import SessionTools
from ralph_tui.text.sanitize import shorten

BEAT_S = 20.0
"""Minimum seconds between heartbeats, which contain nothing new."""
MAX_REPORTS = 5
"""Maximum number of notes about unreadable lines and unknown kinds, per session."""


class SessionUsage:
    """Usage of a session so far. Anything that its agent does not report stays unknown."""

    def __init__(self, iteration: int) -> None:
        self.tokens = 0
        self.partial = False
        """True if the tokens are only those of each prompt's last call."""
        self.cost_usd: float | None = None
        self.context: int | None = None
        self.window: int | None = None
        self._iteration = iteration

    def report(self) -> ev.UsageReported:
        """Return the current usage as an event."""
        return ev.UsageReported(
            iteration=self._iteration,
            tokens=self.tokens,
            tokens_partial=self.partial,
            context_tokens=self.context,
            context_window=self.window,
            cost_usd=self.cost_usd,
        )


class Receipts:
    """Receipts for guidance.

    Guidance is delivered once the agent's program has it, and acknowledged once its model has it.
    Each is reported once, the delivery first. Newer programs report each state of a message by its
    id; older ones repeat the message.
    """

    def __init__(self) -> None:
        self.awaited: dict[str, str] = {}
        """Text of guidance that has not been acknowledged yet, by id."""
        self._delivered: set[str] = {""}
        self._acknowledged: set[str] = {""}

    def record(self, guidance_id: str, state: str) -> list[ev.Event]:
        """Record a message's state as reported by the agent's program."""
        events: list[ev.Event] = []
        if state not in ("queued", "started", "completed"):
            return events
        if guidance_id not in self._delivered:
            self._delivered.add(guidance_id)
            events.append(ev.GuidanceDelivered(guidance_id=guidance_id, into="session"))
        if state != "queued" and guidance_id not in self._acknowledged:
            self._acknowledged.add(guidance_id)
            self.awaited.pop(guidance_id, None)
            events.append(ev.GuidanceAcknowledged(guidance_id=guidance_id))
        return events

    def repeated(self, text: str) -> list[ev.Event]:
        """Acknowledge guidance that the agent's program repeats."""
        awaited = list(self.awaited.items())
        return self.record(next((key for key, words in awaited if words == text), ""), "started")


class SessionReader:
    """Base of the readers, which turn one session's output into events and counters."""

    usage: SessionUsage
    tools: SessionTools

    def __init__(self, iteration: int) -> None:
        self.iteration = iteration
        self.turns = 0
        """Number of turns, as counted by the agent."""
        self.receipts = Receipts()
        self._described: ev.SessionDescribed | None = None
        self._complaints: set[str] = set()
        self._beat = float("-inf")
        self._offset = 0
        self._now = 0.0

    def seek(self, offset: int, now: float) -> None:
        """Set the next line's offset in the transcript, and when it arrived."""
        self._offset, self._now = offset, now
        self.tools.seek(offset, now)

    def closed(self) -> list[ev.Event]:
        """Return the last events, once the process has closed its output."""
        return []

    def tally(self) -> Tally:
        """Return the session's counters."""
        usage, tools = self.usage, self.tools
        return Tally(usage.cost_usd, usage.tokens, self.turns, tools.calls, tools.errors)

    def _describe(self, **fields: str | None) -> list[ev.Event]:
        """Update the description of the session; return an event if it changed."""
        known = self._described or ev.SessionDescribed(iteration=self.iteration)
        described = known.model_copy(update=fields)
        if described == self._described:
            return []
        self._described = described
        return [described]

    def _beats(self) -> list[ev.Event]:
        if self._now - self._beat < BEAT_S:
            return []
        self._beat = self._now
        return [self.usage.report()]

    def _note(
        self,
        text: str,
        level: Literal["log", "warn", "error"] = "log",
        parent: str | None = None,
        service: Literal["", "silent", "usage_limit", "overload", "outage"] = "",
    ) -> ev.AgentNoted:
        return ev.AgentNoted(
            iteration=self.iteration,
            level=level,
            text=shorten(text, SPOKEN),
            parent=parent,
            service=service,
            offset=self._offset,
        )

    def _report_once(self, about: str, text: str) -> list[ev.Event]:
        if about in self._complaints or len(self._complaints) >= MAX_REPORTS:
            return []
        self._complaints.add(about)
        return [self._note(text, "warn")]
