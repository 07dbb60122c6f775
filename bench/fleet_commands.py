"""Measure a command to a loop of a fleet: the fleet's socket, host, run, and the answer."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.places import repository
from bench.real_fleet import RealFleet, fleet_file, host
from bench.result import Result, Scale, ms, percentile, seconds_of
from tests.fleet_programs import free_port
from tests.waiting import until

PATIENCE_S = 60.0
PAUSE_S = 0.02
"""Seconds between two commands, for the first one's side effects to end."""


def round_trips(scale: Scale) -> Iterator[Result]:
    """Yield results for a run on the fleet's own host, and for one on another host over TLS."""
    for where in ("embedded", "another host, by TLS"):
        with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch, ExitStack() as held:
            fleet = _fleet(Path(scratch), held, far=where != "embedded")
            until(fleet.works, PATIENCE_S)
            took = list(_commands(fleet, scale.of(300, 60)))
        p95 = percentile(took, 95)
        yield Result(
            f"pause or unpause of a loop and its run's answer, {where}, p95",
            f"{ms(p95)} (median {ms(median(took))})",
            "<= 50 ms",
            p95 <= 0.05,
            {"p95_seconds": p95, "median_seconds": median(took)},
        )


def _fleet(place: Path, held: ExitStack, *, far: bool) -> RealFleet:
    """Start a fleet whose only loop works until the end."""
    root = repository(place / "repo")
    file = fleet_file(place / "night.toml", "cat >/dev/null; sleep 600", "false", 1)
    if not far:
        here = ("--agents", "1", "--trees", str(place / "trees"))
        return held.enter_context(RealFleet(root, file, *here))
    address, keys = f"tls://127.0.0.1:{free_port()}", place / "keys"
    listening = ("--agents", "0", "--listen", address, "--tls", str(keys))
    fleet = held.enter_context(RealFleet(root, file, *listening))
    until((keys / "fleet-cert.pem").exists, PATIENCE_S)
    held.enter_context(host(address, keys, place / "far"))
    return fleet


def _commands(fleet: RealFleet, count: int) -> Iterator[float]:
    """Yield the seconds that each command took."""
    for number in range(count):
        name = "unpause" if number % 2 else "pause"
        yield seconds_of(lambda name=name: fleet.tell("1", name))  # type: ignore[misc]
        time.sleep(PAUSE_S)
