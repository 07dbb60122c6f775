"""Measure the transport of events from a thousand idle loops on two hosts with TLS."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

from bench.fleet_dispatch import PATIENCE_S, Dispatching, dispatching
from bench.result import Result, Scale, ms, percentile
from bench.usage import resident_bytes
from ralph_tui.fleet.ports import Recorded
from tests.dispatched import place
from tests.waiting import until

LOOPS, HOSTS, RATE = 1000, 2, 2


def carried(scale: Scale) -> Iterator[Result]:
    """Yield CPU time, delay and memory."""
    with dispatching() as (fleet, held):
        yield from _carried(fleet, held, scale)


def _carried(fleet: Dispatching, held: ExitStack, scale: Scale) -> Iterator[Result]:
    seconds = scale.of(30, 8)
    names = [f"host-{number}" for number in range(HOSTS)]
    hosts = [fleet.join(name, held) for name in names]
    memory = resident_bytes()
    used, began = time.process_time(), time.perf_counter()
    for number in range(LOOPS):
        order = place(str(number), per_second=RATE, count=RATE * seconds)
        fleet.dispatcher.send(names[number % HOSTS], order)
    until(lambda: fleet.lines() >= LOOPS * RATE * seconds, PATIENCE_S + seconds)
    passed = time.perf_counter() - began
    used = time.process_time() - used
    told = [(at, json.loads(line)) for at, one in fleet.of(Recorded) for line in one.lines]
    late = [at - line["due"] for at, line in told]
    per_minute = used / LOOPS / (passed / 60)
    grown = (resident_bytes() - memory) / 1e6
    theirs = max(resident_bytes(each.pid) for each in hosts) / 1e6
    yield Result(
        f"{LOOPS} sleeping loops, {RATE} events/s each: what carries them, CPU per loop and minute",
        f"{ms(per_minute)} ({used / passed:.0%} of a core)",
        "",
        None,
        {"seconds": per_minute, "share": used / passed},
    )
    yield Result(
        f"{LOOPS} sleeping loops: lateness of their events at the fleet, p95",
        f"{ms(percentile(late, 95))} (median {ms(median(late))}, all {len(late):,} arrived)",
        "",
        None,
        {"p95_seconds": percentile(late, 95)},
    )
    yield Result(
        f"{LOOPS} sleeping loops: memory that the fleet's process has gained, a host's in all",
        f"{grown:.0f} MB with every event kept, {theirs:.0f} MB",
        "",
        None,
        {"grown_bytes": grown * 1e6, "host_bytes": theirs * 1e6},
    )
