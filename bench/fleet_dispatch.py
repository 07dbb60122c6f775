"""Measure a fleet and its hosts without runs: messages, and the detection of lost hosts.

Hosts are processes on loopback with TLS and simulated loops.
"""

import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench.result import Result, Scale, ms, percentile
from bench.usage import cpu_seconds
from ralph_tui.fleet.dispatch import Address
from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher
from ralph_tui.fleet.ports import (
    Adopt,
    CommandAnswered,
    Disconnected,
    Joined,
    Observation,
    Recorded,
    SendCommand,
)
from tests.dispatched import place
from tests.doubles.loop_host import PlayedHost
from tests.fleet_programs import LineProcess, free_port, host, program
from tests.waiting import until

K = TypeVar("K", bound=Observation)
LOOPS, RATE = 50, 200
HOSTS = 3
PATIENCE_S = 60.0


class Dispatching:
    """A dispatcher in this process, with its observations and their times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = Address.parse(f"tls://127.0.0.1:{free_port()}")
        self.observed: list[tuple[float, Observation]] = []
        self.begin()

    def begin(self) -> None:
        """Listen at the same address each time."""
        self.dispatcher = DaskDispatcher(
            self.folder / "log.txt",
            "f",
            "fleet-001 of parser",
            listen=self.address,
            keys=self.folder / "keys",
        )
        self.dispatcher.start(self._observe)

    def end(self) -> None:
        """Dismiss all hosts."""
        self.dispatcher.stop()

    def _observe(self, what: Observation) -> None:
        self.observed.append((time.time(), what))

    def join(self, name: str, held: ExitStack) -> LineProcess:
        """Start a simulated host, and return it once it has joined."""
        words = host(str(self.address), name, self.folder / name, self.folder / "keys")
        started = held.enter_context(program(*words))
        until(lambda: any(told.host == name for _, told in self.of(Joined)), PATIENCE_S)
        return started

    def of(self, kind: type[K]) -> list[tuple[float, K]]:
        """Return the observations of a kind, with their times in epoch seconds."""
        return [(at, what) for at, what in list(self.observed) if isinstance(what, kind)]

    def lines(self) -> int:
        """Return the number of journal lines received."""
        return sum(len(told.lines) for _, told in self.of(Recorded))


def dispatch(scale: Scale) -> Iterator[Result]:
    """Yield all results, each with its own hosts."""
    for measure in (_stream, _commands, _deaths, _adoption, _idle):
        with dispatching() as (fleet, held):
            yield from measure(fleet, held, scale)


@contextmanager
def dispatching() -> Iterator[tuple[Dispatching, ExitStack]]:
    """Yield a dispatcher, and a stack for its hosts, which end with the block."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch, ExitStack() as held:
        fleet = Dispatching(Path(scratch))
        held.callback(fleet.end)
        yield fleet, held


def _stream(fleet: Dispatching, held: ExitStack, scale: Scale) -> Iterator[Result]:
    count = RATE * scale.of(8, 3)
    names = [f"host-{number}" for number in range(HOSTS)]
    hosts = [fleet.join(name, held) for name in names]
    before = time.process_time(), [cpu_seconds(each.pid) for each in hosts]
    began = time.perf_counter()
    for number in range(LOOPS):
        order = place(str(number), per_second=RATE, count=count)
        fleet.dispatcher.send(names[number % HOSTS], order)
    until(lambda: fleet.lines() >= LOOPS * count, PATIENCE_S)
    passed = time.perf_counter() - began
    share = (time.process_time() - before[0]) / passed
    theirs = [cpu_seconds(each.pid) - used for each, used in zip(hosts, before[1], strict=True)]
    ages, lost = [], 0
    for number in range(LOOPS):
        told = [(at, what) for at, what in fleet.of(Recorded) if what.loop == str(number)]
        numbers = [json.loads(line)["seq"] for _, what in told for line in what.lines]
        lost += numbers != list(range(1, count + 1))
        ages += [at - json.loads(line)["at"] for at, what in told for line in what.lines]
    p95 = percentile(ages, 95)
    yield Result(
        f"events of {LOOPS} loops x {RATE}/s from {HOSTS} hosts, age at the fleet, p95",
        f"{ms(p95)} (median {ms(median(ages))}, p99 {ms(percentile(ages, 99))})",
        "<= 150 ms",
        p95 <= 0.15,
        {"p95_seconds": p95, "seconds": passed},
    )
    yield Result(
        "loops of which an event was lost, told twice or out of order",
        f"{lost} of {LOOPS} ({LOOPS * count:,} events)",
        "none",
        lost == 0,
        {"loops": lost},
    )
    yield Result(
        "CPU meanwhile: the fleet's process, each host's",
        f"{share:.0%}, {sum(theirs) / HOSTS / passed:.0%} of a core",
        "",
        None,
        {"fleet_share": share, "host_share": sum(theirs) / HOSTS / passed},
    )


def _commands(fleet: Dispatching, held: ExitStack, scale: Scale) -> Iterator[Result]:
    fleet.join("far", held)
    took = []
    for number in range(scale.of(300, 100)):
        sent = time.time()
        fleet.dispatcher.send(
            "far", SendCommand(id=str(number), loop="1", command={"name": "pause"})
        )
        at = _wait_for_answer(fleet, str(number))
        took.append(at - sent)
        fleet.observed.clear()
    p95 = percentile(took, 95)
    yield Result(
        "a command to a host and its answer, p95",
        f"{ms(p95)} (median {ms(median(took))})",
        "<= 20 ms",
        p95 <= 0.02,
        {"p95_seconds": p95},
    )


def _wait_for_answer(fleet: Dispatching, command: str) -> float:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for at, told in fleet.of(CommandAnswered):
            if told.id == command:
                return at
        time.sleep(0.0005)
    raise TimeoutError(f"no answer to the command {command}")


def _deaths(fleet: Dispatching, held: ExitStack, scale: Scale) -> Iterator[Result]:
    took = []
    for number in range(scale.of(5, 3)):
        far = fleet.join(f"host-{number}", held)
        killed = time.time()
        far.kill()
        _until_many(Disconnected, number + 1, fleet)
        took.append(fleet.of(Disconnected)[-1][0] - killed)
    yield Result(
        "from the kill of a host until its fleet knows, the longest",
        f"{ms(max(took))} (median {ms(median(took))})",
        "<= 1 s",
        max(took) <= 1,
        {"seconds": max(took)},
    )


def _adoption(fleet: Dispatching, held: ExitStack, scale: Scale) -> Iterator[Result]:
    far = fleet.join("far", held)
    fleet.dispatcher.send("far", place("1", per_second=20))
    until(lambda: fleet.lines() > 0, PATIENCE_S)
    took = []
    for number in range(scale.of(5, 3)):
        fleet.dispatcher.stop()
        _until_cut(far, number + 1)
        fleet.observed.clear()
        fleet.begin()
        back = time.time()
        until(lambda: fleet.of(Joined), PATIENCE_S)
        fleet.observed.clear()
        fleet.dispatcher.send("far", Adopt(loop="1", attempt=1, seen=0))
        until(lambda: any(told.seq == 1 for _, told in fleet.of(Recorded)), PATIENCE_S)
        took.append(next(at for at, told in fleet.of(Recorded) if told.seq == 1) - back)
    yield Result(
        "from a new fleet at the old address until it follows a loop that went on, the longest",
        f"{ms(max(took))} (median {ms(median(took))})",
        "<= 3 s",
        max(took) <= 3,
        {"seconds": max(took)},
    )


def _until_many(kind: type[Observation], number: int, fleet: Dispatching) -> None:
    until(lambda: len(fleet.of(kind)) >= number, PATIENCE_S)


def _until_cut(far: LineProcess, times: int) -> None:
    """Wait until the host has noticed that its fleet is gone."""
    until(lambda: sum("has ended" in line for line in far.lines) >= times, PATIENCE_S)


def _idle(fleet: Dispatching, held: ExitStack, scale: Scale) -> Iterator[Result]:
    far = fleet.join("far", held)
    seconds = scale.of(15, 6)
    time.sleep(2)
    before = time.process_time(), cpu_seconds(far.pid)
    time.sleep(seconds)
    cluster = (time.process_time() - before[0]) / seconds
    worker = (cpu_seconds(far.pid) - before[1]) / seconds
    far.kill()
    fleet.dispatcher.stop()
    embedded = DaskDispatcher(
        fleet.folder / "log.txt", "f", "fleet-001 of parser", PlayedHost, slots=3
    )
    joined = threading.Event()
    embedded.start(lambda _: joined.set())
    joined.wait(PATIENCE_S)
    time.sleep(2)
    started = time.process_time()
    time.sleep(seconds)
    alone = (time.process_time() - started) / seconds
    embedded.stop()
    yield Result(
        "CPU of what carries orders, idle: embedded, with a host elsewhere, that host",
        f"{alone:.1%}, {cluster:.1%}, {worker:.1%} of a core",
        "<= 1 % of a core each",
        max(alone, cluster, worker) <= 0.01,
        {"embedded_share": alone, "fleet_share": cluster, "host_share": worker},
    )
