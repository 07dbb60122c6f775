"""The fleet's own process: run the fleet to its end, and print a line for each event."""

import contextlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.adapters.remote.requests import Request
from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.fronts import signals
from ralph_tui.cli.fronts.garbage import enable_garbage_collector
from ralph_tui.cli.fronts.output import print_line
from ralph_tui.commands import Stop
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.wording import fleet_line

if TYPE_CHECKING:
    from ralph_tui.fleet.runtime.assembly import AssembledFleet

END_SECONDS = 60.0
"""Seconds that the fleet may take to end after its last line, while it dismisses its hosts."""


def run_here(
    making: "AbstractContextManager[AssembledFleet]", *, as_json: bool, detached: bool
) -> int:
    """Run a fleet to its end in this process, and return the exit code of its outcome.

    If `detached`, report on stdout that the fleet has begun, then write output to its log.
    """
    with contextlib.ExitStack() as held:
        fleet = held.enter_context(making)
        enable_garbage_collector()
        events: SimpleQueue[FleetEvent | None] = SimpleQueue()
        fleet.engine.subscribe(events.put)
        with _signals_stop(fleet, hangup=not detached):
            fleet.begin()
            threading.Thread(target=_end, args=(fleet, events), daemon=True).start()
            if detached:
                _detach(fleet, events.get())
            try:
                _print(events, as_json=as_json)
            except OSError:
                _stop(fleet, "a closed output")
                raise
            finally:
                fleet.engine.join(END_SECONDS)
                held.close()  # while signals are still handled: another one would be fatal here
        return exit_code(fleet)


def exit_code(fleet: "AssembledFleet") -> int:
    """Return the exit code of the outcome; raise the error that kept it from being recorded."""
    if fleet.engine.error is not None:
        raise fleet.engine.error
    finished = fleet.engine.state.finished
    return OUTCOME_CODES[finished.outcome] if finished else ExitCode.INTERRUPTED


def _end(fleet: "AssembledFleet", events: "SimpleQueue[FleetEvent | None]") -> None:
    fleet.engine.join()
    events.put(None)


def _print(events: "SimpleQueue[FleetEvent | None]", *, as_json: bool) -> None:
    while (event := events.get()) is not None:
        if text := fleet_line(event, as_json=as_json):
            print_line(text)


def _detach(fleet: "AssembledFleet", first: FleetEvent | None) -> None:
    if first is None:
        return  # nothing could be recorded; the exit code reports why
    fields = {"run": fleet.folder.name, "pid": os.getpid(), "folder": str(fleet.folder.path)}
    with contextlib.suppress(BrokenPipeError):  # the starting process did not wait
        print(json.dumps(fields), flush=True)
    signals.detach_stdio()
    signals.redirect_output(fleet.folder.log)


@contextlib.contextmanager
def _signals_stop(fleet: "AssembledFleet", *, hangup: bool) -> Iterator[None]:
    def stop(number: signal.Signals) -> None:
        _stop(fleet, number.name)

    with signals.forward_signals(stop, watch_terminal=False):
        if not hangup:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        yield


def _stop(fleet: "AssembledFleet", by: str) -> None:
    fleet.engine.request(Request(Stop(by=by)), lambda _: None)
