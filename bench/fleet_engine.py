"""Measure a fleet's engine with a thousand loops: its decisions, and its records.

The engine, its journal and the mirrors are real. The observations of hosts are made here, in
batches as they would arrive, with each loop's events spread evenly over time. Every few events, a
loop reports a higher cost.
"""

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.result import Result, Scale, ms, per_call, percentile
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.adapters.remote.requests import Request
from ralph_tui.commands import Abort
from ralph_tui.events import Noticed, RunStarted
from ralph_tui.fleet import ports as seen
from ralph_tui.fleet.decisions import decide
from ralph_tui.fleet.dispatch.wire import BATCH_S
from ralph_tui.fleet.events import (
    AttemptKept,
    CollectionFailed,
    ConflictsFound,
    FleetEvent,
    FleetStarted,
    LoopProgressed,
)
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.records import Mirror
from ralph_tui.fleet.runtime.engine import EngineParts, FleetEngine
from ralph_tui.ports.clones import Collected, Earlier, Loop, Place, Source
from ralph_tui.runtime.clock import SystemClock
from tests.doubles.played_hosts import PlayedHosts
from tests.waiting import until

LOOPS, RATE = 1000, 2
TURN = int(1 / RATE / BATCH_S)
"""Number of batches from one event of a loop to its next."""
PROGRESS = int(5 / BATCH_S)
"""Number of batches from one status of a loop to its next."""
ALLOWED = 0.05
PATIENCE_S = 120.0


class _NoWork:
    """Results without any work to collect."""

    copied: dict[str, str] = {}

    def receive(
        self, collected: Collected, run_id: str, earlier: Earlier | None
    ) -> list[FleetEvent]:
        return [CollectionFailed(loop=collected.loop, reason=run_id)]

    def keep(self, collected: Collected, host: str, run_id: str) -> AttemptKept:
        return AttemptKept(loop=collected.loop, attempt=collected.attempt, host=host)

    def conflicts(self, loops: Sequence[LoopState]) -> list[ConflictsFound]:
        return []

    def verify(self, loop: LoopState) -> FleetEvent:
        raise NotImplementedError

    def bundle_base(self, commit: str) -> bytes:
        raise NotImplementedError

    def cancel(self) -> None:
        pass


class _Measured(FleetEngine):
    """Records the CPU seconds of each round of decisions."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.deciding: list[float] = []

    def _decide(self) -> float:
        began = time.thread_time()
        try:
            return super()._decide()
        finally:
            self.deciding.append(time.thread_time() - began)


class _Told:
    """The engine with its simulated loops, and measurements of both."""

    def __init__(self, folder: Path) -> None:
        self.hosts = PlayedHosts(_begin)
        self.mirrors: dict[tuple[str, int], Mirror] = {}
        self.lines = 0
        self.late: list[float] = []
        """Seconds from a loop's report to the recorded event."""
        self._told: dict[str, float] = {}
        self._folder = folder
        clock, source = SystemClock(), Source(commit="c", path="/nowhere", machine="m")
        outside = EngineParts(self.hosts, source, self._mirror, _NoWork())
        self.engine = _Measured(Journal(folder / "events.jsonl", clock), clock, outside)
        self.engine.subscribe(self._recorded)

    def begin(self) -> None:
        """Start the engine, and wait until all loops run."""
        loops = tuple(Loop(id=str(n), objective="x", command="true") for n in range(LOOPS))
        plan = Plan(loops=loops, start_every_s=0.0, budget_usd=1e6)
        start = FleetStarted(fleet_id="f", name="fleet-001", root="/", commit="c", plan=plan)
        self.engine.begin(start)
        self.hosts.join("h", slots=LOOPS)
        until(self._all_run, PATIENCE_S)

    def tell(self, seconds: int) -> None:
        """Send reports for this many seconds, and wait until all of them are recorded."""
        began = time.monotonic()
        for batch in range(int(seconds / BATCH_S)):
            for number in range(LOOPS):
                if number % TURN == batch % TURN:
                    self._tell_line(str(number), batch // TURN + 1)
                if number % PROGRESS == batch % PROGRESS:
                    self._tell_standing(str(number), batch // PROGRESS + 1)
            time.sleep(max(0.0, began + (batch + 1) * BATCH_S - time.monotonic()))
        until(lambda: sum(one.seq for one in self.mirrors.copy().values()) == self.lines, 60)

    def end(self) -> None:
        """Abort the fleet."""
        self.engine.request(Request(Abort()), lambda _: None)
        self.hosts.observe(seen.Disconnected(host="h"))
        if not self.engine.join(PATIENCE_S):
            raise RuntimeError("the engine did not end")

    def _all_run(self) -> bool:
        loops = self.engine.state.loops.values()
        return len(loops) == LOOPS and all(loop.status == "running" for loop in loops)

    def _tell_line(self, loop: str, seq: int) -> None:
        event = RUN if seq == 1 else NOTICED.model_copy(update={"seq": seq})
        line = event.model_dump_json()
        self.hosts.observe(seen.Recorded(loop=loop, attempt=1, seq=seq, lines=(line,)))
        self.lines += 1

    def _tell_standing(self, loop: str, iteration: int) -> None:
        status = {"version": STATUS_VERSION, "run_id": "r", "phase": "agent"}
        status |= {"iteration": iteration, "cost_usd": 0.1 * iteration}
        self._told[loop] = time.monotonic()
        self.hosts.observe(seen.StatusChanged(loop=loop, attempt=1, status=status))

    def _recorded(self, event: FleetEvent) -> None:
        if isinstance(event, LoopProgressed):
            self.late.append(time.monotonic() - self._told[event.loop])

    def _mirror(self, loop: str, attempt: int) -> Mirror:
        key = (loop, attempt)
        if key not in self.mirrors:
            self.mirrors[key] = Mirror(self._folder / "loops" / loop)
        return self.mirrors[key]


RUN = RunStarted(
    seq=1, run_id="r", root="/t", objective="o", agent="a", max_iterations=3, session_timeout_s=1,
    task="task-001", attempt="001",
)  # fmt: skip
NOTICED = Noticed(level="log", source="s", text="x" * 150)


def _begin(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    if isinstance(order, Place):
        run = {"run_id": "r", "run": "task-001/001", "folder": "/t"}
        hosts.observe(seen.Began(loop=order.loop.id, attempt=order.attempt, **run))


def thousand(scale: Scale) -> Iterator[Result]:
    """Yield the cost of the decisions, and of the engine's whole thread."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        told = _Told(Path(scratch))
        told.begin()
        told.engine.deciding.clear()
        thread = next(one for one in threading.enumerate() if one.name == "ralph-fleet")
        clock = time.pthread_getcpuclockid(thread.ident or 0)
        used, began = time.clock_gettime(clock), time.monotonic()
        told.tell(scale.of(20, 8))
        passed = time.monotonic() - began
        share = (time.clock_gettime(clock) - used) / passed
        rounds = told.engine.deciding.copy()
        engine = told.engine
        one_round = per_call(lambda: decide(engine.state, engine.clock.now()), calls=10)
        told.end()
    deciding = sum(rounds) / passed
    yield Result(
        f"{LOOPS} running loops: deciding what is next",
        f"{deciding:.1%} of a core: {len(rounds) / passed:.0f} rounds/s of {ms(one_round)}",
        "<= 5 % of a core",
        deciding <= ALLOWED,
        {"share": deciding, "round_seconds": one_round, "rounds": len(rounds) / passed},
    )
    yield Result(
        f"the same: the engine's thread, {RATE} events/s of each into its mirror",
        f"{share:.0%} of a core; progress recorded {ms(percentile(told.late, 95))} after it came, "
        f"p95 (median {ms(median(told.late))})",
        "",
        None,
        {"share": share, "p95_seconds": percentile(told.late, 95)},
    )
