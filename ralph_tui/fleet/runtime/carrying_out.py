"""What follows from recorded events: hosts get orders, and work goes on in the user's repository.

Rule: journal first. What is decided stands in the journal before anybody is told, so that another
process can go on with it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from ralph_tui.commands import Abort, Command, RetryNow, Stop
from ralph_tui.fleet import events as told
from ralph_tui.fleet import ports as orders
from ralph_tui.fleet.decisions.placing import patience_s
from ralph_tui.fleet.events import AttemptKept, ConflictsFound, FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import HERE, SIGNED
from ralph_tui.fleet.records import Mirror
from ralph_tui.fleet.runtime.core import Core
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports.clones import Collected, Earlier, Place, Source

Mirrors = Callable[[str, int], Mirror]
"""The copy of a loop's record in the fleet's folder, of one attempt; the same one each time."""


class Results(Protocol):
    """What becomes of loops' work in the user's repository; all but `copied` and `cancel` blocks.

    None raises anything but ``RalphError`` and ``OSError``.
    """

    @property
    def copied(self) -> dict[str, str]:
        """The files that every tree gets: path and content, base64."""

    def receive(
        self, collected: Collected, run_id: str, earlier: Earlier | None
    ) -> Sequence[FleetEvent]:
        """Make a branch of a bundle: ``ResultCollected`` or ``CollectionFailed`` is the last event.

        `earlier` is what was collected of the loop before: its branch goes on.
        """

    def keep(self, collected: Collected, host: str, run_id: str) -> AttemptKept:
        """Make a branch of an attempt whose place another one has taken; raises ``RalphError``."""

    def conflicts(self, loops: Sequence[LoopState]) -> Sequence[ConflictsFound]:
        """Which of the branches of collected loops cannot be merged one after the other."""

    def verify(self, loop: LoopState) -> FleetEvent:
        """Run the completion command of a collected loop once more: ``WinnerVerified``."""

    def bundle_base(self, commit: str) -> bytes:
        """The commit that all loops begin with, for a host that cannot get it."""

    def cancel(self) -> None:
        """End what goes on soon; from any thread."""


Tell = Callable[[LoopState, Command], None]
"""Hands a command to the run of a loop."""


class CarryingOut:
    """Called in the engine's thread."""

    def __init__(
        self, core: Core, source: Source, mirrors: Mirrors, results: Results, tell: Tell
    ) -> None:
        """`source`: where hosts get the commit that loops begin with."""
        self._core = core
        self._source = source
        self._mirrors = mirrors
        self._results = results
        self._tell = tell

    def follow(self, event: FleetEvent) -> None:
        """Do what a recorded event brings about."""
        core, loop = self._core, self._core.state.loops.get(getattr(event, "loop", ""))
        if isinstance(event, told.WinnerChosen):
            for beaten in core.state.tries(event.tries_at):
                if beaten.outcome == "interrupted":  # of the others it was removed already
                    self._remove(beaten)
            core.work("conflicts", self._conflicts, once=True)
        if loop is None:
            return
        match event:
            case told.LoopPlaced():
                self._place(event, loop)
            case told.LoopStopAsked():
                self._stop(event, loop)
            case told.LoopRetried():
                self._tell(loop, RetryNow(by=SIGNED))
            case told.CollectionAsked():
                core.order(loop.host, orders.Collect(loop=event.loop, attempt=loop.attempt))
            case told.VerificationBegan():
                core.work(f"verify {event.loop}", lambda: [self._results.verify(loop)])
            case told.ResultCollected():
                self._remove(loop)
                core.work("conflicts", self._conflicts, once=True)

    def _remove(self, loop: LoopState) -> None:
        """The tree of one whose work is a branch, and that does not go on in it."""
        if loop.commit and loop.tree_is_done:
            order = orders.Remove(loop=loop.spec.id, attempt=loop.attempt)
            self._core.order(loop.host, order)

    def _place(self, placed: told.LoopPlaced, loop: LoopState) -> None:
        state, started = self._core.state, self._core.state.started
        assert started is not None
        plan = started.plan
        order = Place(
            fleet_id=started.fleet_id,
            fleet=started.name,
            loop=loop.spec,
            attempt=placed.attempt,
            branch=placed.branch,
            source=self._source,
            isolation=plan.isolation,
            setup=plan.setup,
            copied=self._results.copied,
            ports=plan.ports,
            lease_s=None if placed.host == HERE else plan.lease_s,
            budget_usd=placed.budget_usd,
            after_limit_s=patience_s(plan, loop.spec.login),
            unattended=state.unattended,
            resume=placed.resumed,
            seen=self._mirrors(placed.loop, placed.attempt).seq,
        )
        self._core.order(placed.host, order)

    def _stop(self, asked: told.LoopStopAsked, loop: LoopState) -> None:
        """At once by the order to end; of an aborted fleet by the command to abort."""
        stopping = self._core.state.stopping
        if loop.status == "running" and stopping is not None and stopping.abort:
            self._tell(loop, Abort(by=stopping.by))
        elif loop.status != "running" or asked.now:
            self._core.order(loop.host, orders.End(loop=asked.loop))
        else:
            self._tell(loop, Stop(mode="after_iteration", by=SIGNED))

    def _conflicts(self) -> list[FleetEvent]:
        """What is new of them; blocks."""
        state = self._core.state
        loops = [one for one in list(state.loops.values()) if may_be_merged(state, one)]
        found = self._results.conflicts(loops) if loops else []
        known = {one.branch: (one.conflicts, one.conflicts_unknown) for one in loops}
        return [
            one for one in with_news(found, loops) if known[one.branch] != (one.others, one.unknown)
        ]


def may_be_merged(state: FleetState, loop: LoopState) -> bool:
    """Whether somebody may want to merge its branch: of several tries the chosen one alone."""
    common = loop.spec.tries_at
    chosen = state.chosen.get(common) if common else None
    wanted = not common or (chosen is not None and chosen.loop in ("", loop.spec.id))
    return bool(loop.commit and loop.branch) and wanted


def with_news(
    found: Sequence[ConflictsFound], loops: Sequence[LoopState]
) -> Iterator[ConflictsFound]:
    """The same with `new`: each pair is told once, of the branch that has come last.

    `loops` have what was found before.
    """
    told = {frozenset((loop.branch, other)) for loop in loops for other in loop.conflicts}

    def untold(one: ConflictsFound) -> list[str]:
        return [name for name in one.others if frozenset((one.branch, name)) not in told]

    for one in sorted(found, key=lambda each: -len(untold(each))):
        new = untold(one)
        told.update(frozenset((one.branch, name)) for name in new)
        yield one.model_copy(update={"new": tuple(new)})
