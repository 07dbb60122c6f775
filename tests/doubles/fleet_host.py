"""``python -m tests.doubles.fleet_host ADDRESS NAME SCRATCH [TLS]``: a played host as a process."""

import asyncio
import sys
import threading
from functools import partial
from pathlib import Path

from ralph_tui.cli.fronts import signals
from ralph_tui.fleet.dispatch import wire
from ralph_tui.fleet.dispatch.engine import configure_dask
from ralph_tui.fleet.dispatch.link import HostLink, HostOffer
from tests.doubles.loop_host import PlayedHost


def main(address: str, name: str, scratch: str, keys: str = "") -> None:
    """Until a signal ends it."""
    security = wire.load_security(Path(keys)) if keys else None
    link = HostLink(
        address, HostOffer(name, 10, Path(scratch)), security, partial(print, flush=True)
    )
    host = PlayedHost(link.observe)

    def end() -> None:
        host.close()
        link.stop("it was asked to")

    with (
        configure_dask(Path(scratch) / "log.txt"),
        signals.forward_signals(lambda _: threading.Thread(target=end).start()),
    ):
        dismissed = asyncio.run(link.run(host))
    sys.exit(f"let go: {dismissed}" if dismissed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
