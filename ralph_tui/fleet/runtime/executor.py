"""React to recorded events: send orders to hosts, and start work in the user's repository.

Journal first: a decision is in the journal before it is carried out, so that another process can
continue the fleet.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from ralph_tui.commands import Abort, Command, RetryNow, Stop
from ralph_tui.fleet import events as ev
from ralph_tui.fleet import ports as orders
from ralph_tui.fleet.decisions.placing import patience_s
from ralph_tui.fleet.events import AttemptKept, ConflictsFound, FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import FLEET_SENDER, HERE
from ralph_tui.fleet.records import Mirror
from ralph_tui.fleet.runtime.core import Core
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports.clones import Collected, Earlier, Place, Source

Mirrors = Callable[[str, int], Mirror]
"""Returns the mirror of an attempt's record in the fleet's folder, as the same object each time."""


class Results(Protocol):
    """The loops' work in the user's repository; everything except `copied` and `cancel` blocks.

    Methods raise only ``RalphError`` and ``OSError``.
    """

    @property
    def copied(self) -> dict[str, str]:
        """Files that every clone gets: base64 content by path."""

    def receive(
        self, collected: Collected, run_id: str, earlier: Earlier | None
    ) -> Sequence[FleetEvent]:
        """Turn a bundle into a branch; end with ``ResultCollected`` or ``CollectionFailed``.

        `earlier` is the loop's previously collected work, whose branch is continued.
        """

    def keep(self, collected: Collected, host: str, run_id: str) -> AttemptKept:
        """Make a branch for a replaced attempt's work; raise ``RalphError`` on failure."""

    def conflicts(self, loops: Sequence[LoopState]) -> Sequence[ConflictsFound]:
        """Return the conflicts among the branches of collected loops."""

    def verify(self, loop: LoopState) -> FleetEvent:
        """Run the completion command of a collected loop again, and return ``WinnerVerified``."""

    def bundle_base(self, commit: str) -> bytes:
        """Return the loops' base commit as a bundle, for a host that cannot get it elsewhere."""

    def cancel(self) -> None:
        """Ask work in progress to end soon; thread-safe."""


Send = Callable[[LoopState, Command], None]
"""Sends a command to the run of a loop."""


class Executor:
    """Carries out recorded events; called in the engine's thread."""

    def __init__(
        self, core: Core, source: Source, mirrors: Mirrors, results: Results, send: Send
    ) -> None:
        """`source` is where hosts get the base commit."""
        self._core = core
        self._source = source
        self._mirrors = mirrors
        self._results = results
        self._send = send

    def follow(self, event: FleetEvent) -> None:
        core, loop = self._core, self._core.state.loops.get(getattr(event, "loop", ""))
        if isinstance(event, ev.WinnerChosen):
            for beaten in core.state.attempts(event.tries_at):
                if beaten.outcome == "interrupted":  # the other clones have already been removed
                    self._remove(beaten)
            core.work("conflicts", self._conflicts, once=True)
        if loop is None:
            return
        match event:
            case ev.LoopPlaced():
                self._place(event, loop)
            case ev.LoopStopAsked():
                self._stop(event, loop)
            case ev.LoopRetried():
                self._send(loop, RetryNow(by=FLEET_SENDER))
            case ev.CollectionAsked():
                core.order(loop.host, orders.Collect(loop=event.loop, attempt=loop.attempt))
            case ev.VerificationBegan():
                core.work(f"verify {event.loop}", lambda: [self._results.verify(loop)])
            case ev.ResultCollected():
                self._remove(loop)
                core.work("conflicts", self._conflicts, once=True)

    def _remove(self, loop: LoopState) -> None:
        """Remove the clone of a loop whose work is on a branch, if it is no longer needed."""
        if loop.commit and loop.tree_is_done:
            order = orders.Remove(loop=loop.spec.id, attempt=loop.attempt)
            self._core.order(loop.host, order)

    def _place(self, placed: ev.LoopPlaced, loop: LoopState) -> None:
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

    def _stop(self, asked: ev.LoopStopAsked, loop: LoopState) -> None:
        """Stop a loop: at once with an `End` order, or with the command that fits."""
        stopping = self._core.state.stopping
        if loop.status == "running" and stopping is not None and stopping.abort:
            self._send(loop, Abort(by=stopping.by))
        elif loop.status != "running" or asked.now:
            self._core.order(loop.host, orders.End(loop=asked.loop))
        else:
            self._send(loop, Stop(mode="after_iteration", by=FLEET_SENDER))

    def _conflicts(self) -> list[FleetEvent]:
        """Return conflicts that changed since the last check; blocks."""
        state = self._core.state
        loops = [one for one in list(state.loops.values()) if may_be_merged(state, one)]
        found = self._results.conflicts(loops) if loops else []
        known = {one.branch: (one.conflicts, one.conflicts_unknown) for one in loops}
        return [
            one for one in mark_new(found, loops) if known[one.branch] != (one.others, one.unknown)
        ]


def may_be_merged(state: FleetState, loop: LoopState) -> bool:
    """True if the user may want to merge its branch; among attempts, only for the chosen one."""
    common = loop.spec.tries_at
    chosen = state.chosen.get(common) if common else None
    wanted = not common or (chosen is not None and chosen.loop in ("", loop.spec.id))
    return bool(loop.commit and loop.branch) and wanted


def mark_new(
    found: Sequence[ConflictsFound], loops: Sequence[LoopState]
) -> Iterator[ConflictsFound]:
    """Set `new` so that each conflicting pair is reported once.

    A pair is reported for the branch with the most new conflicts. `loops` contain the conflicts
    found before.
    """
    reported = {frozenset((loop.branch, other)) for loop in loops for other in loop.conflicts}

    def new_names(one: ConflictsFound) -> list[str]:
        return [name for name in one.others if frozenset((one.branch, name)) not in reported]

    for one in sorted(found, key=lambda each: -len(new_names(each))):
        new = new_names(one)
        reported.update(frozenset((one.branch, name)) for name in new)
        yield one.model_copy(update={"new": tuple(new)})
