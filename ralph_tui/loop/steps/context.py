"""While the agent works: how full its context window is, and when its session has to hand over."""

from dataclasses import dataclass

from ralph_tui.commands import MOST_ROLLOVERS
from ralph_tui.events import ContextLevelReached, Noticed
from ralph_tui.events.context import Cause, Level
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.plan_items import PlanItems
from ralph_tui.loop.waiting.controls import Steps
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


class ContextMonitor:
    """Follows the sessions of one iteration."""

    def __init__(self, run: Run, items: PlanItems) -> None:
        self.wanted: Wanted | None = None
        """Why the session is to hand over; None while it is not."""
        self._scheduler = run.scheduler
        self._state = run.state
        self._rules = run.rules.context
        self._items = items
        self._since = 0.0
        """When it was to hand over, by the monotonic clock."""
        self._ended = False
        self._told_last = False

    def begin(self) -> None:
        """A session starts, with an empty window."""
        self.wanted, self._ended, self._told_last = None, False, False

    def watch(self) -> Steps[None]:
        """Tell levels, and end the session when it has to hand over; called while it works."""
        session = self._scheduler.session
        if session is None or self._ended:
            return
        yield from self._tell_levels()
        yield from self._decide()
        if self.wanted is not None and self._may_end(self.wanted):
            self._ended = True
            session.stop("rolled_over" if self.may_roll_over else "context_full")

    @property
    def may_roll_over(self) -> bool:
        """Whether a fresh session of this iteration may follow."""
        use = self._state.context.use
        return use is None or use.rollovers < MOST_ROLLOVERS

    def _tell_levels(self) -> Steps[None]:
        context = self._state.context
        percent = context.percent
        if percent is None:
            return
        for level, least in self._levels():
            if percent >= least and (context.level or "") < level:
                yield ContextLevelReached(
                    iteration=self._state.run.iteration,
                    level=level,
                    percent=percent,
                    tokens=context.tokens or 0,
                    window=context.window or 0,
                )

    def _levels(self) -> tuple[tuple[Level, float], ...]:
        rules = self._rules
        return (
            ("L1", rules.warn_percent),
            ("L2", rules.checkpoint_percent),
            ("L3", rules.stop_percent),
        )

    def _decide(self) -> Steps[None]:
        context, before = self._state.context, self.wanted
        level, percent = context.level, context.percent or 0.0
        if level == "L3" and self._rules.rollover:
            wanted = Wanted("L3", f"the context is {percent:.0f} % full")
        elif context.requested_by:
            wanted = Wanted("asked", f"asked by {context.requested_by}", context.requested_by)
        elif level == "L2" and self._rules.rollover:
            wanted = Wanted("L2", f"the context is {percent:.0f} % full")
        elif self._items.unfit and self._rules.rollover:
            wanted = Wanted("item", self._items.unfit)
        else:
            return
        if before is not None and (before.at_once or not wanted.at_once):
            return
        if not self.may_roll_over and not wanted.at_once:
            if not self._told_last:
                self._told_last = True
                yield Noticed(
                    level="warn",
                    source="context",
                    text=f"this iteration has had {count(MOST_ROLLOVERS, 'rollover')}: its session "
                    "runs to its own end",
                )
            return
        self.wanted = wanted
        if before is None:
            self._since = self._scheduler.host.clock.monotonic()

    def _may_end(self, wanted: Wanted) -> bool:
        """The running tool ends first, within its time."""
        if wanted.at_once or not self._state.context.running:
            return True
        waited = self._scheduler.host.clock.monotonic() - self._since
        return waited >= self._rules.tool_wait_s
