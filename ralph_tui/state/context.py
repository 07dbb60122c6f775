"""The context window as a run has seen it: how full, how often, and what was handed over."""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui import events as ev
from ralph_tui.events.context import Level
from ralph_tui.state.fold import Fold
from ralph_tui.text.format import percent_of

CUT_OFF = ("stopped", "interrupted", "limited", "silent", "unresumable", "rolled_over")
"""Ends of a session after which its work is not over: another one goes on with it."""
TOOLS_HELD = 64
"""Calls that may run at once and are told apart; an agent has fewer."""
READINGS_KEPT = 20
"""For the forecast."""


@dataclass(slots=True)
class ContextUse:
    """How full the window got in one iteration: a row of the seed's ``context_history``."""

    iteration: int
    peak_percent: float | None = None
    """None while nothing is known."""
    rollovers: int = 0
    compactions: int = 0
    sessions: int = 0
    filled: int = 0
    """Windows that were full: those handed over for it, and those that the agent summed up."""

    @property
    def checkpoint(self) -> bool:
        """Whether a session of it was ended for its context."""
        return self.rollovers > 0


class ContextFold(Fold):
    """What the gauge shows, and what a rollover needs to know."""

    def __init__(self) -> None:
        self.tokens: int | None = None
        """In the window of the running session, or of the last one; None while unknown."""
        self.tells = True
        """Whether the agent can tell this; False: it is never known."""
        self.untold = False
        """Whether the agent has worked for a whole session and told nothing of this."""
        self.window: int | None = None
        """Tokens it holds."""
        self.level: Level | None = None
        """The highest that this session has reached; None below all."""
        self.calls = 0
        """Tool calls of this session, those of subagents left out."""
        self.results = 0
        """Those of them that have ended."""
        self.first_tokens: int | None = None
        """What was in the window when the session was first heard of."""
        self.readings: list[tuple[int, int]] = []
        """Tool calls of this session and tokens after them, the last ones: see `forecast`."""
        self.running: dict[str, str] = {}
        """Tools of the main thread that run now, by their ids."""
        self.history: list[ContextUse] = []
        """One per iteration."""
        self.compactions: list[ev.ContextCompacted] = []
        """Of this session."""
        self.due_at: datetime | None = None
        """When it was first known that this session is to hand over; None: it is not."""
        self.requested_by = ""
        """Who wants a rollover that has not begun; empty: nobody."""
        self.request_note = ""
        """Why, in their words."""
        self.rollover: ev.RolloverBegan | None = None
        """The one under way: no session has taken over yet."""
        self.handoff: ev.HandoffWritten | None = None
        """What no session has worked with to its end: the next prompt tells it."""
        self.handoffs: list[ev.HandoffWritten] = []
        """All of this run."""
        self.item: ev.PlanItemBegan | None = None
        """The plan's first open item, as it was last noticed."""
        self.told: list[str] = []
        """What you have said to the sessions of this iteration."""
        self._queued: dict[str, str] = {}
        self._carried: ev.HandoffWritten | None = None
        """What the running session goes on from; it has not come to its end."""

    @property
    def percent(self) -> float | None:
        """How full the window is, 0-100; None while unknown."""
        return percent_of(self.tokens, self.window)

    @property
    def tokens_left(self) -> int | None:
        """Until the window is full; None while unknown."""
        if not self.window or self.tokens is None:
            return None
        return max(0, self.window - self.tokens)

    @property
    def use(self) -> ContextUse | None:
        """Of this iteration."""
        return self.history[-1] if self.history else None

    def on_iteration_started(self, event: ev.IterationStarted) -> None:
        self.history.append(ContextUse(event.iteration))
        self.rollover = self._carried = None
        self.tokens = self.first_tokens = None
        # What is handed on tells the next session again what you said to the last one.
        self.told = list(self.handoff.guidance) if self.handoff else []

    def on_agent_changed(self, _: ev.AgentChanged) -> None:
        self.window = self.tokens = None  # told by its successor anew
        self.untold = False

    def on_session_started(self, event: ev.SessionStarted) -> None:
        """Its window is empty; what the last one was told and held is over."""
        self.tells = event.tells_context
        self._carried = self.handoff or self._carried
        self.tokens = self.first_tokens = self.level = self.rollover = self.handoff = None
        self.calls = self.results = 0
        self.requested_by, self.due_at = "", None
        self.compactions, self.readings = [], []
        self.running.clear()
        if self.use is not None:
            self.use.sessions += 1

    def on_session_finished(self, event: ev.SessionFinished) -> None:
        if event.outcome == "success" and (event.turns or event.tool_calls):
            self.untold = self.percent is None
        self.running.clear()
        self.requested_by = ""
        if event.outcome not in CUT_OFF:
            self._carried = None

    def on_usage_reported(self, event: ev.UsageReported) -> bool:
        before = self.tokens, self.window
        if event.context_window is not None:
            self.window = event.context_window or None
        if event.context_tokens is not None and event.context_tokens > 0:
            self.tokens = event.context_tokens
            if self.first_tokens is None:
                self.first_tokens = event.context_tokens
            self._read(event.context_tokens)
        if self.percent is not None:
            self._filled(self.percent)
        return before != (self.tokens, self.window)

    def _filled(self, percent: float) -> None:
        if self.use is not None:
            self.use.peak_percent = max(self.use.peak_percent or 0.0, percent)

    def _read(self, tokens: int) -> None:
        if self.readings and self.readings[-1][0] == self.calls:
            self.readings.pop()
        self.readings = [*self.readings, (self.calls, tokens)][-READINGS_KEPT:]

    def on_tool_started(self, event: ev.ToolStarted) -> bool:
        if event.parent is None:
            self.calls += 1
            if len(self.running) < TOOLS_HELD:
                self.running[event.tool_id] = event.tool
        return False

    def on_tool_finished(self, event: ev.ToolFinished) -> bool:
        if self.running.pop(event.tool_id, None) is not None:
            self.results += 1
        return False

    def on_level_reached(self, event: ev.ContextLevelReached) -> None:
        self.level = event.level
        if event.level != "L1" and self.due_at is None:
            self.due_at = event.at

    def on_compacted(self, event: ev.ContextCompacted) -> None:
        self.compactions.append(event)
        if self.use is not None:
            full = percent_of(event.before, event.window or self.window)
            if full is not None:
                self._filled(full)
            self.use.compactions += 1
            self.use.filled += 1
        if event.after:
            self.tokens = self.first_tokens = event.after
            self.calls, self.readings = 0, [(0, event.after)]

    def on_requested(self, event: ev.RolloverRequested) -> None:
        self.requested_by, self.request_note = event.by, event.note
        self.due_at = self.due_at or event.at

    def on_rollover_began(self, event: ev.RolloverBegan) -> None:
        self.rollover, self.requested_by = event, ""
        if self.use is not None:
            self.use.rollovers += 1
            self.use.filled += event.cause in ("L2", "L3")

    def on_handed_over(self, event: ev.HandoffWritten) -> None:
        self.handoff, self._carried = event, None
        # An edit is written again, under the same number.
        same = (event.iteration, event.number)
        self.handoffs = [h for h in self.handoffs if (h.iteration, h.number) != same]
        self.handoffs.append(event)

    def on_item_began(self, event: ev.PlanItemBegan) -> None:
        self.item = event

    def on_guidance_queued(self, event: ev.GuidanceQueued) -> bool:
        self._queued[event.guidance_id] = event.text
        return False

    def on_guidance_delivered(self, event: ev.GuidanceDelivered) -> bool:
        if words := self._queued.pop(event.guidance_id, ""):
            self.told.append(words)
        return False

    def on_run_resumed(self, event: ev.RunResumed) -> None:
        """A session that was cut off has not used up what it was to go on from."""
        self.handoff = self.handoff or self._carried
        self._carried = None
        self._cut_off()

    def on_ended(self, _: ev.RunFinished | ev.RunCrashed) -> None:
        self._cut_off()

    def _cut_off(self) -> None:
        self.requested_by = ""
        self.running.clear()
