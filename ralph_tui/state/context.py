"""The run's context window: how full it is, how often it filled up, and its handoffs."""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui import events as ev
from ralph_tui.events.context import Level
from ralph_tui.state.fold import Fold
from ralph_tui.text.format import percent_of

CUT_OFF = ("stopped", "interrupted", "limited", "silent", "unresumable", "rolled_over")
"""Outcomes of sessions that were cut off: another session continues their work."""
TOOLS_HELD = 64
"""Maximum number of running tool calls tracked by id; an agent runs fewer at once."""
READINGS_KEPT = 20
"""Number of measurements kept for the forecast."""


@dataclass(slots=True)
class ContextUse:
    """How full the window got in one iteration: a row of ``context_history``."""

    iteration: int
    peak_percent: float | None = None
    """None while unknown."""
    rollovers: int = 0
    compactions: int = 0
    sessions: int = 0
    filled: int = 0
    """Windows that filled up: those that ended in a handoff and those that the agent compacted."""

    @property
    def checkpoint(self) -> bool:
        """True if a session of this iteration was ended because of its context."""
        return self.rollovers > 0


class ContextFold(Fold):
    """State of the context gauge, and the input of the decision to hand off."""

    def __init__(self) -> None:
        self.tokens: int | None = None
        """Tokens in the window of the running or the last session; None while unknown."""
        self.reports_tokens = True
        """False if the agent can never report its tokens."""
        self.unreported = False
        """True if the agent worked for a whole session without reporting its tokens."""
        self.window: int | None = None
        """Size of the window in tokens; None while unknown."""
        self.level: Level | None = None
        """The highest level that this session reached; None below L1."""
        self.calls = 0
        """Number of tool calls in this session, excluding those of subagents."""
        self.results = 0
        """Number of those calls that have ended."""
        self.first_tokens: int | None = None
        """Tokens in the window at the session's first report."""
        self.readings: list[tuple[int, int]] = []
        """Tool calls so far and tokens after them, newest last; the input of `forecast`."""
        self.running: dict[str, str] = {}
        """Tools that the main thread is running, by call id."""
        self.history: list[ContextUse] = []
        """One entry per iteration."""
        self.earlier: list[ContextUse] = []
        """Entries of earlier runs in this repository, which show whether windows fill up."""
        self.compactions: list[ev.ContextCompacted] = []
        """Compactions of this session."""
        self.due_at: datetime | None = None
        """When this session was first known to need a handoff; None if it needs none."""
        self.requested_by = ""
        """The requester of a handoff that has not begun; empty if there is no request."""
        self.request_note = ""
        """The reason given with the request."""
        self.rollover: ev.RolloverBegan | None = None
        """The handoff in progress; None once a new session starts."""
        self.handoff: ev.HandoffWritten | None = None
        """The handoff for the next prompt; None once a session has started with it."""
        self.handoffs: list[ev.HandoffWritten] = []
        self.item: ev.PlanItemBegan | None = None
        """The plan's first open item when it was last read."""
        self.guidance: list[str] = []
        """Guidance delivered to the sessions of this iteration."""
        self._queued: dict[str, str] = {}
        self._carried: ev.HandoffWritten | None = None
        """The handoff that the running session continues from, until the session is complete."""

    @property
    def percent(self) -> float | None:
        """How full the window is, 0-100; None while unknown."""
        return percent_of(self.tokens, self.window)

    @property
    def tokens_left(self) -> int | None:
        """Tokens until the window is full; None while unknown."""
        if not self.window or self.tokens is None:
            return None
        return max(0, self.window - self.tokens)

    @property
    def use(self) -> ContextUse | None:
        """The entry of this iteration."""
        return self.history[-1] if self.history else None

    def on_earlier_read(self, event: ev.EarlierWindowsRead) -> bool:
        self.earlier = [ContextUse(0, peak) for peak in event.peaks]
        return False

    def on_iteration_started(self, event: ev.IterationStarted) -> None:
        self.history.append(ContextUse(event.iteration))
        self.rollover = self._carried = None
        self.tokens = self.first_tokens = None
        # A handoff repeats the last session's guidance to the next one.
        self.guidance = list(self.handoff.guidance) if self.handoff else []

    def on_agent_changed(self, _: ev.AgentChanged) -> None:
        self.window = self.tokens = None  # its successor reports its own
        self.unreported = False

    def on_session_started(self, event: ev.SessionStarted) -> None:
        """Start with an empty window and drop the state of the last session."""
        self.reports_tokens = event.tells_context
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
            self.unreported = self.percent is None
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
            self.use.filled += event.cause in ("L2", "L3", "forecast")

    def on_handed_over(self, event: ev.HandoffWritten) -> None:
        self.handoff, self._carried = event, None
        # An edited handoff is written again under the same number.
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
            self.guidance.append(words)
        return False

    def on_run_resumed(self, event: ev.RunResumed) -> None:
        """Restore the handoff of a session that was cut off: its work is not done."""
        self.handoff = self.handoff or self._carried
        self._carried = None
        self._cut_off()

    def on_ended(self, _: ev.RunFinished | ev.RunCrashed) -> None:
        self._cut_off()

    def _cut_off(self) -> None:
        self.requested_by = ""
        self.running.clear()
