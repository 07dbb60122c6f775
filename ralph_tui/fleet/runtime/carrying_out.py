"""Decisions carried out: recorded, then told to a host, or worked on in the user's repository.

Rule: journal first. What is decided stands in the journal before anybody is told, so that another
process can go on with it.
"""

from collections.abc import Callable

from ralph_tui.commands import Abort, Command, RetryNow, Stop
from ralph_tui.events.run import Outcome
from ralph_tui.fleet import decisions as to
from ralph_tui.fleet import events as told
from ralph_tui.fleet import ports as orders
from ralph_tui.fleet.conflicts import may_be_merged, with_news
from ralph_tui.fleet.plan import HERE, SIGNED
from ralph_tui.fleet.runtime.desk import Desk, Mirrors, Results
from ralph_tui.fleet.state import LoopState

Tell = Callable[[LoopState, Command], None]
"""Hands a command to the run of a loop."""


class CarryingOut:
    """Called in the engine's thread."""

    def __init__(
        self, desk: Desk, source: orders.Source, mirrors: Mirrors, results: Results, tell: Tell
    ) -> None:
        """`source`: where hosts get the commit that loops begin with."""
        self._desk = desk
        self._source = source
        self._mirrors = mirrors
        self._results = results
        self._tell = tell

    def carry_out(self, decision: to.Decision) -> None:
        """Record it, then do it."""
        desk = self._desk
        match decision:
            case to.PlaceLoop():
                self._place(decision)
            case to.StopLoop():
                self._stop(decision)
            case to.RetryLoop(loop=name):
                desk.record(told.LoopRetried(loop=name))
                self._tell(self._loop(name), RetryNow(by=SIGNED))
            case to.CollectLoop(loop=name):
                desk.record(told.CollectionAsked(loop=name))
                loop = self._loop(name)
                desk.order(loop.host, orders.Collect(loop=name, attempt=loop.attempt))
            case to.VerifyWinner(loop=name):
                desk.record(told.VerificationBegan(loop=name))
                loop = self._loop(name)
                desk.work(f"verify {name}", lambda: [self._results.verify(loop)])
            case _:
                desk.record(self._event_of(decision))

    def follow(self, event: told.FleetEvent) -> None:
        """What a recorded event brings about by itself."""
        if isinstance(event, told.ResultCollected):
            self._remove(self._loop(event.loop))
            self._desk.work("conflicts", self._conflicts, once=True)
        elif isinstance(event, told.WinnerChosen):
            for loop in self._desk.state.tries(event.tries_at):
                if loop.outcome == "interrupted":  # of the others it was removed already
                    self._remove(loop)
            self._desk.work("conflicts", self._conflicts, once=True)

    def _remove(self, loop: LoopState) -> None:
        """The tree of one whose work is a branch, and that does not go on in it."""
        if loop.commit and loop.tree_is_done:
            order = orders.Remove(loop=loop.spec.id, attempt=loop.attempt)
            self._desk.order(loop.host, order)

    def _event_of(self, decision: to.Decision) -> told.FleetEvent:
        """Of those that are nothing but their event."""
        match decision:
            case to.SkipLoop():
                return told.LoopSkipped(loop=decision.loop, reason=decision.reason)
            case to.LoseLoop():
                return told.LoopLost(loop=decision.loop, until=decision.until)
            case to.RequeueLoop():
                return told.LoopRequeued(
                    loop=decision.loop, reason=decision.reason, resume=decision.resume
                )
            case to.CloseLoop():
                return ended(self._loop(decision.loop), decision.outcome, decision.reason)
            case to.HoldAccount():
                return told.AccountHeld(
                    account=decision.account,
                    until=decision.until,
                    cause=decision.cause,
                    reason=decision.reason,
                )
            case to.ReleaseAccount():
                return told.AccountReleased(account=decision.account, loop=decision.loop)
            case to.LeaveWork():
                return told.CollectionFailed(loop=decision.loop, reason=decision.reason)
            case to.ChooseWinner():
                return told.WinnerChosen(
                    tries_at=decision.tries_at, loop=decision.loop, reason=decision.reason
                )
            case to.ReachBudget():
                return told.BudgetReached(
                    percent=decision.percent,
                    spent_usd=decision.spent_usd,
                    budget_usd=decision.budget_usd,
                )
        raise TypeError(f"no event stands for {decision!r}")

    def _loop(self, name: str) -> LoopState:
        return self._desk.state.loops[name]

    def _place(self, decision: to.PlaceLoop) -> None:
        started, loop = self._desk.state.started, self._loop(decision.loop)
        assert started is not None
        plan, branch = started.plan, f"ralph/{started.name}/{decision.loop}"
        self._desk.record(
            told.LoopPlaced(
                loop=decision.loop,
                attempt=decision.attempt,
                host=decision.host,
                branch=branch,
                budget_usd=decision.budget_usd,
                resumed=decision.resume,
            )
        )
        order = orders.Place(
            fleet_id=started.fleet_id,
            fleet=started.name,
            loop=loop.spec,
            attempt=decision.attempt,
            branch=branch,
            source=self._source,
            isolation=plan.isolation,
            setup=plan.setup,
            copied=self._results.copied,
            ports=plan.ports,
            lease_s=None if decision.host == HERE else plan.lease_s,
            budget_usd=decision.budget_usd,
            after_limit_s=to.patience_s(plan, loop.spec.login),
            unattended=self._desk.state.unattended,
            resume=decision.resume,
            seen=self._mirrors(decision.loop, decision.attempt).seq,
        )
        self._desk.order(decision.host, order)

    def _stop(self, decision: to.StopLoop) -> None:
        desk, loop = self._desk, self._loop(decision.loop)
        desk.record(
            told.LoopStopAsked(loop=decision.loop, reason=decision.reason, now=decision.now)
        )
        stopping = desk.state.stopping
        if loop.status != "running":
            desk.order(loop.host, orders.End(loop=decision.loop))
        elif stopping is not None and stopping.abort:
            self._tell(loop, Abort(by=stopping.by))
        elif decision.now:
            desk.order(loop.host, orders.End(loop=decision.loop))
        else:
            self._tell(loop, Stop(mode="after_iteration", by=SIGNED))

    def _conflicts(self) -> list[told.FleetEvent]:
        """What is new of them; blocks."""
        state = self._desk.state
        loops = [one for one in list(state.loops.values()) if may_be_merged(state, one)]
        found = self._results.conflicts(loops) if loops else []
        known = {one.branch: (one.conflicts, one.conflicts_unknown) for one in loops}
        return [
            one for one in with_news(found, loops) if known[one.branch] != (one.others, one.unknown)
        ]


def ended(
    loop: LoopState, outcome: Outcome, reason: str, over: orders.Over | None = None
) -> told.LoopEnded:
    """The end of a loop's attempt, with what it had reached; `over` is what its host said."""
    return told.LoopEnded(
        loop=loop.spec.id,
        outcome=outcome,
        reason=reason,
        iterations=loop.iteration,
        completion=loop.completions[-1] if loop.completions else None,
        cost_usd=loop.cost_usd,
        never_began=over is not None and over.never_began,
        elsewhere=over is not None and over.elsewhere,
        host=loop.host,
    )
