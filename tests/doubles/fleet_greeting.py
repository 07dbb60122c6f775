"""``ADDRESS SCRATCH KEYS``: a host that greets a fleet and reports its loops on request."""

# ruff: noqa: T201  it prints
import asyncio
import sys
from pathlib import Path

from ralph_tui import __version__
from ralph_tui.fleet.dispatch import wire
from ralph_tui.fleet.dispatch.engine import FleetWorker


async def main(address: str, scratch: str, keys: str) -> None:
    """Read a report from each line of stdin."""
    worker = FleetWorker(address, "far-1", Path(scratch), wire.load_security(Path(keys)))
    worker.stream_handlers |= {
        wire.WELCOME: lambda fleet, title: print(f"welcome to {title}", flush=True),
        wire.ORDERED: lambda lines: print("ordered", *lines, flush=True),
        wire.DISMISSED: lambda reason: print("dismissed:", reason, flush=True),
    }
    await worker
    hello = {"host": "far", "instance": "i", "version": __version__, "slots": 1}
    worker.batched_send({"op": wire.HELLO, **hello})
    while line := await asyncio.to_thread(sys.stdin.readline):
        worker.batched_send({"op": wire.HOLDS, "holds": line})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
