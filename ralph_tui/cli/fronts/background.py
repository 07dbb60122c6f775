"""``run --detach``: a new interpreter in its own session, which reports when the run begins.

Until then, its stdout is a pipe. One JSON line means that the run has begun; anything else is an
error, reported on stderr and by the exit code. After that, both streams go to a log.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts import signals
from ralph_tui.cli.fronts.common import Printer
from ralph_tui.cli.fronts.garbage import enable_garbage_collector
from ralph_tui.cli.fronts.lines import Lines, print_until_end
from ralph_tui.events import Event
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.runtime.assembly import AssembledRun

FLAG = "--detached"
"""Not for users: marks this process as the child."""


def run_in_background(run: "AssembledRun") -> None:
    """For the child: begin the run, notify the parent, and print to the log until the end."""
    enable_garbage_collector()
    events: Lines = SimpleQueue()
    run.engine.subscribe(events.put)
    printer = Printer(state=run.engine.state)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    run.begin()
    first = _first_event(run, events)
    if first is None:
        return
    fields = {"run": run.attempt.name, "pid": os.getpid(), "folder": str(run.attempt.folder)}
    with contextlib.suppress(BrokenPipeError):  # the parent did not wait
        print(json.dumps(fields), flush=True)
    # This closes the pipe; the parent waits for that.
    signals.detach_stdio()
    signals.redirect_output(run.attempt.folder / signals.LOG)
    printer.print(first)
    print_until_end(run, events, printer)


def _first_event(run: "AssembledRun", events: Lines) -> Event | None:
    """Return the first recorded event; None if none could be recorded."""
    while not run.engine.join(0.02):
        if not events.empty():
            break
    return None if events.empty() else events.get()


@dataclass(frozen=True)
class StartedProcess:
    """A run that has begun in the background."""

    name: str
    pid: int
    folder: str


def start_in_background(words: list[str]) -> int:
    """For the parent: start `words` as a ralph-tui command line, and return once its run has begun.

    If no run began, return the child's exit code; the child has printed the reason.
    """
    started = spawn_in_background(words)
    if not isinstance(started, StartedProcess):
        return started
    print(f"{started.name} runs in the background (process {started.pid})")
    for purpose, how in (
        ("watch and steer it", "ralph-tui attach"),
        ("show its status", "ralph-tui status"),
        ("abort it", "ralph-tui abort"),
        ("read its output", f"{started.folder}/{signals.LOG}"),
    ):
        print(f"  {purpose:<20}{how}")
    return ExitCode.COMPLETED


def spawn_in_background(words: list[str]) -> StartedProcess | int:
    """Like `start_in_background`, but print nothing about the run."""
    # -P: a file in the user's folder must not be imported as a module.
    command = [sys.executable, "-P", "-m", "ralph_tui", *words, FLAG]
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        assert child.stdout is not None
        try:
            with child.stdout:
                reply = child.stdout.read()
        except KeyboardInterrupt:
            child.terminate()
            raise
        errors.seek(0)
        sys.stderr.write(errors.read())
    try:
        fields = parse_json(reply)
        run, pid, folder = one_line(fields["run"]), int(fields["pid"]), one_line(fields["folder"])
    except (ValueError, KeyError, TypeError):
        return child.wait() or ExitCode.FAILED
    child.returncode = 0  # it keeps running, so this process must not wait for it
    return StartedProcess(run, pid, folder)
