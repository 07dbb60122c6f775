"""Context use of the running session, and when the session must hand off.

An agent reports the usage of a message with its first words. A session that reaches L2 is therefore
about to use that message's tools, or to end its turn. The monitor waits for either, as long as a
tool may take. If the forecast says that the next call would jump over L2 to L3, the session hands
off before that call, as it would at L2.
"""

from dataclasses import dataclass

from ralph_tui.events import ContextLevelReached, Noticed
from ralph_tui.events.context import MAX_ROLLOVERS, Cause, Level
from ralph_tui.layers.context.levels import above, level_of, whole
from ralph_tui.layers.context.window import calls_until
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.plan_items import PlanItems
from ralph_tui.state import RunState
from ralph_tui.text.format import count


@dataclass(frozen=True)
class HandoffRequest:
    """A context handoff to carry out."""

    cause: Cause
    reason: str
    by: str = ""

    @property
    def at_once(self) -> bool:
        """True if the handoff does not wait for running tools."""
        return self.cause == "L3"


class ContextMonitor(Step):
    """Follows the context window of a run's sessions."""

    def __init__(self, run: Run, items: PlanItems) -> None:
        super().__init__(run)
        self.request: HandoffRequest | None = None
        """The pending handoff; None if the session need not hand off."""
        self._rules = run.settings.context
        self._items = items
        self._thresholds = self._rules.thresholds
        self._since = 0.0
        """Monotonic time at which the handoff became pending."""
        self._results = 0
        """Number of the session's tool calls that had ended at that time."""
        self._reported_last = 0
        """The last iteration that was reported to have had its maximum number of handoffs."""
        self._reported_unknown = False

    def begin(self) -> None:
        """Start to follow a new session, whose window is empty."""
        self.request = None

    def end(self) -> None:
        """Report that the ended session never reported its context size."""
        self._report_unknown()

    def watch(self) -> None:
        """Report levels and end a session that must hand off; called while the agent works."""
        if self._scheduler.session is None or not self._state.run.session_running:
            return  # until its start is recorded, the state describes the previous session
        self._report_unknown()
        self._report_level()
        if self._state.run.background is not None:
            return  # its turn is over: ending it would only lose its background work
        self._decide()
        if self.request is not None and self._may_end(self.request):
            self._scheduler.end_session("rolled_over" if self.can_hand_off else "context_full")

    def overflowed(self) -> None:
        """Record L3 for a session that ended with a full window, whatever was measured."""
        if above("L3", self._state.context.level or "L0"):
            self.record(reached(self._state, "L3", 100.0))

    @property
    def can_hand_off(self) -> bool:
        """True if this iteration may have another fresh session."""
        use = self._state.context.use
        return use is None or use.rollovers < MAX_ROLLOVERS

    def request_handoff(self, request: HandoffRequest) -> None:
        """Request a handoff, unless one is pending or the iteration has had too many.

        An immediate handoff (L3) overrides both.
        """
        before = self.request
        if before is not None and (before.at_once or not request.at_once):
            return
        if not self.can_hand_off and not request.at_once:
            self._report_last()
            return
        self.request = request
        if before is None:
            self._since, self._results = self._now(), self._state.context.results

    def _decide(self) -> None:
        context, acts = self._state.context, self._rules.rollover
        full = f"the context is {whole(context.percent or 0.0)} % full"
        if acts and context.level == "L3":
            self.request_handoff(HandoffRequest("L3", full))
        elif context.requested_by:
            by = context.requested_by
            note = f": {context.request_note}" if context.request_note else ""
            self.request_handoff(HandoffRequest("asked", f"requested by {by}{note}", by))
        elif acts and context.level == "L2":
            self.request_handoff(HandoffRequest("L2", full))
        elif acts and self._items.unfit:
            self.request_handoff(HandoffRequest("item", self._items.unfit))
        elif acts and self._fills_next():
            soon = f"and the next tool call is expected to take it past {self._thresholds.stop:g} %"
            self.request_handoff(HandoffRequest("forecast", f"{full}, {soon}"))

    def _fills_next(self) -> bool:
        """True if the forecast says that one more tool call takes the window past L2 to L3.

        Such a session would be stopped in the middle of its work.
        """
        context = self._state.context
        if context.level != "L1":
            return False
        return calls_until(self._thresholds.stop, context.readings, context.window) == 1

    def _may_end(self, request: HandoffRequest) -> bool:
        """True if the session may end now; its current work gets as long as a tool may take."""
        if request.at_once or self._now() - self._since >= self._rules.tool_wait_s:
            return True
        context = self._state.context
        if context.running:
            return False
        return request.cause not in ("L2", "forecast") or context.results > self._results

    def _report_level(self) -> None:
        context = self._state.context
        level = level_of(context.percent, self._thresholds)
        if level != "L0" and above(level, context.level or "L0"):
            self.record(reached(self._state, level, context.percent or 0.0))

    def _report_last(self) -> None:
        k = self._state.run.iteration
        if self._reported_last != k:
            self._reported_last = k
            self._warn(
                f"iteration {k} has had {count(MAX_ROLLOVERS, 'handoff')}: its session now runs "
                f"until it ends, or until its context is {self._thresholds.stop:g} % full"
            )

    def _report_unknown(self) -> None:
        context = self._state.context
        if self._reported_unknown or not self._rules.rollover or context.percent is not None:
            return
        if context.reports_tokens and not context.unreported:
            return  # some agents report it live, others at the end of a turn
        self._reported_unknown = True
        lacks = "how large" if context.tokens else "how full"
        text = (
            f"this agent does not report {lacks} its context window is: each session runs until it "
            "ends, or until you request a fresh one"
        )
        # An agent that never reports it is not faulty, so this is not a warning.
        if context.reports_tokens:
            self._warn(text)
        else:
            self.record(Noticed(source="context", text=text))

    def _warn(self, text: str) -> None:
        self.record(Noticed(level="warn", source="context", text=text))

    def _now(self) -> float:
        return self._scheduler.host.clock.monotonic()


def reached(state: RunState, level: Level, percent: float) -> ContextLevelReached:
    """Return the level event for the running session, or for the one that has just ended."""
    context = state.context
    return ContextLevelReached(
        iteration=state.run.iteration,
        level=level,
        percent=percent,
        tokens=context.tokens or 0,
        window=context.window or 0,
    )
