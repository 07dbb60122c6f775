"""What the readers of all agents' sessions share: usage, receipts, notes, signs of life. Pure."""

from typing import Literal

from ralph_tui import events as ev
from ralph_tui.adapters.agents.claims import SPOKEN
from ralph_tui.adapters.agents.ends import Tally
from ralph_tui.adapters.agents.tools import SessionTools
from ralph_tui.text.sanitize import shorten

BEAT_S = 20.0
"""Signs of life without news are told at most this often."""
MAX_COMPLAINTS = 5
"""Notes about unreadable lines and unknown kinds, per session."""


class SessionUsage:
    """What a session has used so far, as far as its agent tells; what it does not is unknown."""

    def __init__(self, iteration: int) -> None:
        self.tokens = 0
        self.partial = False
        """Whether the tokens are those of each prompt's last call only."""
        self.cost_usd: float | None = None
        self.context: int | None = None
        self.window: int | None = None
        self._iteration = iteration

    def report(self) -> ev.UsageReported:
        """What is known now."""
        return ev.UsageReported(
            iteration=self._iteration,
            tokens=self.tokens,
            tokens_partial=self.partial,
            context_tokens=self.context,
            context_window=self.window,
            cost_usd=self.cost_usd,
        )


class Receipts:
    """Guidance is delivered when the agent's program has it, acknowledged when its model takes it.

    Each receipt is told once, a delivery before its acknowledgement. Newer programs tell each state
    of a message by its identifier; older ones repeat the message.
    """

    def __init__(self) -> None:
        self.awaited: dict[str, str] = {}
        """Guidance on its way: its words by its identifier."""
        self._delivered: set[str] = {""}
        self._acknowledged: set[str] = {""}

    def told(self, guidance_id: str, state: str) -> list[ev.Event]:
        """The agent's program names a state of a message."""
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
        """The agent's program repeats words of its user as it takes them."""
        awaited = list(self.awaited.items())
        return self.told(next((key for key, words in awaited if words == text), ""), "started")


class SessionReader:
    """Reads one session; counters stand in its fields. Its subclasses know the agents' words."""

    usage: SessionUsage
    tools: SessionTools

    def __init__(self, iteration: int) -> None:
        self.iteration = iteration
        self.turns = 0
        """As the agent counts them."""
        self.receipts = Receipts()
        self._described: ev.SessionDescribed | None = None
        self._complaints: set[str] = set()
        self._beat = float("-inf")
        self._offset = 0
        self._now = 0.0

    def look(self, offset: int, now: float) -> None:
        """The next line stands here in the transcript, and was heard at this time."""
        self._offset, self._now = offset, now
        self.tools.look(offset, now)

    def closed(self) -> list[ev.Event]:
        """The process has closed its output: no more is told."""
        return []

    def tally(self) -> Tally:
        """The counters of the session."""
        usage, tools = self.usage, self.tools
        return Tally(usage.cost_usd, usage.tokens, self.turns, tools.calls, tools.errors)

    def _describe(self, **fields: str | None) -> list[ev.Event]:
        """What is known of the session with these fields; only news is told."""
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

    def _complain(self, about: str, text: str) -> list[ev.Event]:
        if about in self._complaints or len(self._complaints) >= MAX_COMPLAINTS:
            return []
        self._complaints.add(about)
        return [self._note(text, "warn")]
