"""A simulated fleet: its decisions are carried out by scripted hosts, loops and git.

It counts what really runs on a host apart from the fold, so that no loop runs twice unnoticed.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.decisions import decide
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.state import FleetState
from tests.fleet_events import START, started


@dataclass
class LiveRun:
    """A loop's run on a host."""

    host: str
    attempt: int
    until: datetime | None = None
    """When the host stops the loop, having lost the fleet; None: not."""


@dataclass
class PlayedFleet:
    """`settle` carries out what is decided, and says whether all rules were kept."""

    plan: Plan
    now: datetime = START
    state: FleetState = field(default_factory=FleetState)
    events: list[FleetEvent] = field(default_factory=list)
    made: list[FleetEvent] = field(default_factory=list)
    """All decisions so far."""
    alive: dict[str, list[LiveRun]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin."""
        self.record(started(self.plan))

    def record(self, event: FleetEvent) -> None:
        """Record an event with its number and time, as the engine does."""
        number = len(self.events) + 1
        stamped = event.model_copy(update={"seq": number, "at": self.now})
        self.events.append(stamped)
        self.state.apply(stamped)

    def wait(self, seconds: float) -> None:
        """Time passes; a host that has lost the fleet stops its loops when their lease ends."""
        self.now += timedelta(seconds=seconds)
        for runs in self.alive.values():
            runs[:] = [run for run in runs if run.until is None or run.until > self.now]

    def settle(self) -> list[FleetEvent]:
        """Decide until there is nothing left to decide; return the decisions."""
        made: list[FleetEvent] = []
        while decisions := decide(self.state, self.now):
            for decision in decisions:
                self._carry_out(decision)
            made += decisions
            assert len(made) < 1000, f"decided again and again: {made[-5:]}"
        self.made += made
        return made

    # -- what hosts say ------------------------------------------------------------------------

    def join(self, host: str, slots: int = 2, machine: str = "") -> None:
        """Let a host report its loops; loops that are missing there count as gone."""
        place = machine or host
        self.record(ev.HostJoined(host=host, slots=slots, machine=place, home=place))
        for name, loop in self.state.loops.items():
            held = [run for run in self.alive.get(name, ()) if run.host == host]
            if loop.placed and any(run.attempt == loop.attempt for run in held):
                held[0].until = None
                self.record(ev.LoopAdopted(loop=name, host=host, known=1))
            elif held:  # it is not wanted any more
                self._gone(name, host)
            elif loop.placed and loop.host == host:
                self.process_gone(name)

    def lose(self, host: str, *, killed: bool = False) -> None:
        """Lose a host for the fleet; its loops continue until their lease ends."""
        self.record(ev.HostLost(host=host, reason="no answer"))
        until = self.now + timedelta(seconds=0 if killed else self.plan.lease_s)
        for runs in self.alive.values():
            for run in runs:
                if run.host == host:
                    run.until = until
        self.wait(0)

    def begin(self, *names: str) -> None:
        """Their trees are made, and their runs record their first event."""
        for name in names:
            run = ev.LoopBegan(loop=name, run_id=f"r{name}", run="t/1", folder="/t", machine="")
            self.record(run)

    def say(self, name: str, phase: str = "agent", **more: object) -> None:
        """Report a loop's progress; `more`: fields of `LoopProgressed`."""
        self.record(ev.LoopProgressed.model_validate({"loop": name, "phase": phase, **more}))

    def end(self, name: str, outcome: Outcome = "completed", **more: object) -> None:
        """End a loop's run; `more`: fields of `LoopEnded`."""
        self._gone(name, self.state.loops[name].host)
        fields = {"loop": name, "outcome": outcome, **more}
        self.record(ev.LoopEnded.model_validate(fields))

    def process_gone(self, name: str) -> None:
        """End a loop's process without a report."""
        began = bool(self.state.loops[name].run_id)
        self.end(name, "interrupted", reason="its process died", never_began=not began)

    def collect(self, *names: str, **more: object) -> None:
        """Their work arrives."""
        for name in names:
            fields = {"loop": name, "branch": f"ralph/{name}", "commit": f"c{name}", **more}
            self.record(ev.ResultCollected.model_validate(fields))

    def verify(self, name: str, *, passed: bool = True) -> None:
        """Record the repeated run of its completion command."""
        self.record(ev.WinnerVerified(loop=name, passed=passed, reason="" if passed else "red"))

    # -- decisions -----------------------------------------------------------------------------

    def _carry_out(self, decision: FleetEvent) -> None:
        if isinstance(decision, ev.LoopPlaced):
            self._check_place(decision)
            runs = self.alive.setdefault(decision.loop, [])
            runs.append(LiveRun(decision.host, decision.attempt))
        self.record(decision)

    def _check_place(self, decision: ev.LoopPlaced) -> None:
        state, loop = self.state, self.state.loops[decision.loop]
        host = state.hosts[decision.host]
        assert host.here
        assert len(list(state.running_on(host.name))) < host.slots
        assert loop.status == "queued"
        assert loop.spec.login not in state.held
        assert not self.alive.get(decision.loop), "it runs twice"
        assert state.stopping is None
        self._check_account(loop)
        self._check_budget(decision, loop)

    def _check_account(self, loop: LoopState) -> None:
        account = loop.spec.account
        users = [one for one in self.state.loops.values() if one.spec.account == account]
        most = self.plan.accounts.get(account)
        assert most is None or sum(one.placed for one in users) < most
        last = [
            event.at
            for event in self.events
            if isinstance(event, ev.LoopPlaced)
            and self.state.loops[event.loop].spec.login == loop.spec.login
        ]
        every = timedelta(seconds=self.plan.start_every_s)
        assert not last or self.now >= max(last) + every

    def _check_budget(self, decision: ev.LoopPlaced, loop: LoopState) -> None:
        budget, given = self.plan.budget_usd, decision.budget_usd
        own = loop.spec.budget_usd
        assert own is None or (given is not None and given <= own)
        if budget is None:
            return
        spent = self.state.spent_usd
        assert spent < 0.9 * budget
        assert given is not None
        assert given > 0
        promised = sum(
            max(0.0, (one.given_usd or 0.0) - (one.cost_usd or 0.0))
            for one in self.state.loops.values()
            if one.placed
        )
        more = given - ((loop.cost_usd or 0.0) if decision.resumed else 0.0)
        assert spent + promised + more <= budget + 1e-6

    def _gone(self, name: str, host: str) -> None:
        runs = self.alive.get(name, [])
        runs[:] = [run for run in runs if run.host != host]
