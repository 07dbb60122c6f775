"""Measure the memory left after a million agent events, in a headless live cockpit."""

import asyncio
import gc
import json
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from bench.long_run import agent_events, stamped, started
from bench.places import clean_environment
from bench.result import Result, Scale
from bench.usage import resident_bytes
from ralph_tui.events import Event, IterationStarted, SessionStarted
from ralph_tui.runtime.sources.live import PER_POLL, Live
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit.screen import CockpitScreen

FEW = 10_000
MANY = 1_000_000
MEGABYTE = 1_000_000


def growth(scale: Scale) -> Iterator[Result]:
    """Yield the growth of resident memory between few and many events in one process."""
    many = scale.of(MANY, MANY // 10)
    done = subprocess.run(
        [sys.executable, "-m", "bench.memory", str(FEW), str(many)],
        cwd=Path(__file__).parent.parent,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    few_bytes, many_bytes = json.loads(done.stdout)
    grown = (many_bytes - few_bytes) / MEGABYTE
    yield Result(
        f"memory after {many:,} agent events, RunState and cockpit",
        f"{grown:+.1f} MB ({few_bytes / MEGABYTE:.0f} -> {many_bytes / MEGABYTE:.0f} MB resident)",
        f"within 15 MB of memory after {FEW:,}",
        grown <= 15,
        {"few_bytes": few_bytes, "many_bytes": many_bytes, "events": many},
    )


async def _resident_after(counts: list[int]) -> list[int]:
    """Return the resident bytes after each of these numbers of events was shown."""
    inbox: deque[Event] = deque()
    app = RalphApp(partial(CockpitScreen, Live(inbox, lambda command: None)))
    events = stamped(_session(max(counts)))
    taken: list[int] = []
    async with app.run_test(size=(140, 45)):
        fed = 0
        for count in counts:
            while fed < count:
                chunk = list(islice(events, min(PER_POLL, count - fed)))
                fed += len(chunk)
                inbox.extend(chunk)
                while len(inbox) > PER_POLL:
                    await asyncio.sleep(0.005)
            while inbox:
                await asyncio.sleep(0.01)
            await asyncio.sleep(1.0)
            gc.collect()
            taken.append(resident_bytes())
    return taken


def _session(count: int) -> Iterator[Event]:
    yield started(10)
    yield IterationStarted(iteration=1, max_iterations=10)
    yield SessionStarted(iteration=1, session_id="session-1", agent="claude")
    yield from agent_events(1, count)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_resident_after([int(n) for n in sys.argv[1:]]))))
