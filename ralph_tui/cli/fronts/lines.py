"""A run without a screen: the main thread prints, and the engine's thread does the work."""

import signal
import threading
from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.cli.fronts import signals
from ralph_tui.cli.fronts.common import Printer
from ralph_tui.cli.fronts.garbage import enable_garbage_collector
from ralph_tui.events import Event

if TYPE_CHECKING:
    from ralph_tui.runtime.assembly import AssembledRun

Lines = SimpleQueue[Event | None]
"""Recorded events waiting to be printed; None marks the end."""


def run_as_lines(run: "AssembledRun", *, as_json: bool) -> None:
    """Begin the run, and print its events until it ends."""
    enable_garbage_collector()
    events: Lines = SimpleQueue()
    run.engine.subscribe(events.put)
    printer = Printer(as_json=as_json, state=run.engine.state)
    run.begin()
    try:
        print_until_end(run, events, printer)
    except OSError:
        # The output is closed: stop the run cleanly, so that its end is recorded.
        run.engine.stop("a closed output")
        raise


def print_until_end(run: "AssembledRun", events: Lines, printer: Printer) -> None:
    """Print `events` until the run has ended and all of them are printed."""

    def end() -> None:
        run.engine.join()
        events.put(None)

    threading.Thread(target=end, name="ralph-lines", daemon=True).start()
    while (event := events.get()) is not None:
        printer.print(event)


def signals_stop(run: "AssembledRun") -> AbstractContextManager[None]:
    """Stop the run cleanly if a forwarded signal arrives within the block."""

    def stop(number: signal.Signals) -> None:
        run.engine.stop(number.name)

    return signals.forward_signals(stop, watch_terminal=False)
