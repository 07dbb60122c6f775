"""While the agent works: how full its context window is, and when its session has to hand over.

The usage of a message is told with its first words, so a session that reaches L2 is about to use
the tools of that message, or to end its turn: either is waited for, for as long as a tool may take.
"""

from dataclasses import dataclass

from ralph_tui.events import ContextLevelReached, Noticed
from ralph_tui.events.context import MOST_ROLLOVERS, Cause, Level
from ralph_tui.layers.context.levels import Thresholds, above, level_of, whole
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.plan_items import PlanItems
from ralph_tui.state import RunState
from ralph_tui.text.format import count


@dataclass(frozen=True)
class Wanted:
    """A rollover that is to be carried out."""

    cause: Cause
    reason: str
    by: str = ""

    @property
    def at_once(self) -> bool:
        """Whether no running tool is waited for."""
        return self.cause == "L3"


class ContextMonitor(Step):
    """Follows the sessions of a run."""

    def __init__(self, run: Run, items: PlanItems) -> None:
        super().__init__(run)
        self.wanted: Wanted | None = None
        """Why the session is to hand over; None while it is not."""
        self._rules = run.settings.context
        self._items = items
        self._thresholds = Thresholds(
            self._rules.warn_percent, self._rules.checkpoint_percent, self._rules.stop_percent
        )
        self._since = 0.0
        """When the session was to hand over, by the monotonic clock."""
        self._results = 0
        """Calls of it that had ended by then."""
        self._told_last = 0
        """The iteration whose last rollover was told to be its last."""
        self._told_unknown = False

    def begin(self) -> None:
        """A session starts, with an empty window."""
        self.wanted = None

    def end(self) -> None:
        """The session is over: by now it has told how full its window is, or does not."""
        self._tell_unknown()

    def watch(self) -> None:
        """Tell levels, and end the session when it has to hand over; called while it works."""
        if self._scheduler.session is None or not self._state.run.session_running:
            return  # until its start is recorded, the state tells of the session before
        self._tell_unknown()
        self._tell_level()
        if self._state.run.background is not None:
            return  # its turn is over: ended now, it would lose what it waits for, and win nothing
        self._decide()
        if self.wanted is not None and self._may_end(self.wanted):
            self._scheduler.end_session("rolled_over" if self.may_roll_over else "context_full")

    def overflowed(self) -> None:
        """The session ended because its window was full: that is L3, whatever was measured."""
        if above("L3", self._state.context.level or "L0"):
            self.record(reached(self._state, "L3", 100.0))

    @property
    def may_roll_over(self) -> bool:
        """Whether a fresh session of this iteration may follow."""
        use = self._state.context.use
        return use is None or use.rollovers < MOST_ROLLOVERS

    def want(self, wanted: Wanted) -> None:
        """Have the session hand over, unless it is to do so already or has done it too often."""
        before = self.wanted
        if before is not None and (before.at_once or not wanted.at_once):
            return
        if not self.may_roll_over and not wanted.at_once:
            self._tell_last()
            return
        self.wanted = wanted
        if before is None:
            self._since, self._results = self._now(), self._state.context.results

    def _decide(self) -> None:
        context, acts = self._state.context, self._rules.rollover
        full = f"the context is {whole(context.percent or 0.0)} % full"
        if acts and context.level == "L3":
            self.want(Wanted("L3", full))
        elif context.requested_by:
            by = context.requested_by
            note = f": {context.request_note}" if context.request_note else ""
            self.want(Wanted("asked", f"asked by {by}{note}", by))
        elif acts and context.level == "L2":
            self.want(Wanted("L2", full))
        elif acts and self._items.unfit:
            self.want(Wanted("item", self._items.unfit))

    def _may_end(self, wanted: Wanted) -> bool:
        """What it is at ends first, within the time of a tool."""
        if wanted.at_once or self._now() - self._since >= self._rules.tool_wait_s:
            return True
        context = self._state.context
        if context.running:
            return False
        return wanted.cause != "L2" or context.results > self._results

    def _tell_level(self) -> None:
        context = self._state.context
        level = level_of(context.percent, self._thresholds)
        if level != "L0" and above(level, context.level or "L0"):
            self.record(reached(self._state, level, context.percent or 0.0))

    def _tell_last(self) -> None:
        k = self._state.run.iteration
        if self._told_last != k:
            self._told_last = k
            self._warn(
                f"iteration {k} has had {count(MOST_ROLLOVERS, 'rollover')}: its session runs to "
                f"its own end, or until its context is {self._thresholds.stop:g} % full"
            )

    def _tell_unknown(self) -> None:
        context = self._state.context
        if self._told_unknown or not self._rules.rollover or context.percent is not None:
            return
        if context.tells and not context.untold:
            return  # some tell it live, others at the end of their turn
        self._told_unknown = True
        lacks = "how large" if context.tokens else "how full"
        text = (
            f"this agent does not tell {lacks} its context window is: each session works until it "
            "ends by itself, or until you ask for a fresh one"
        )
        # Of an agent that never tells nothing is wrong.
        if context.tells:
            self._warn(text)
        else:
            self.record(Noticed(source="context", text=text))

    def _warn(self, text: str) -> None:
        self.record(Noticed(level="warn", source="context", text=text))

    def _now(self) -> float:
        return self._scheduler.host.clock.monotonic()


def reached(state: RunState, level: Level, percent: float) -> ContextLevelReached:
    """The fact to record of a level of the running session, or of the one that has just ended."""
    context = state.context
    return ContextLevelReached(
        iteration=state.run.iteration,
        level=level,
        percent=percent,
        tokens=context.tokens or 0,
        window=context.window or 0,
    )
