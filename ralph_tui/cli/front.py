"""The front ends of a run: the cockpit on a terminal, plain lines or JSON without one."""

import asyncio
import contextlib
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.launch import Launched
from ralph_tui.cli.plain import plain_line
from ralph_tui.cli.terminal import prepare_textual
from ralph_tui.commands import Stop
from ralph_tui.events import Event
from ralph_tui.records.journal import Recording
from ralph_tui.state import RunState

if TYPE_CHECKING:
    from ralph_tui.tui.app import CockpitApp

END_SECONDS = 8.0
"""How long the end of a run may take after a stop: the stop ladder, a snapshot, the record."""
STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Front:
    """How a run is to be shown."""

    headless: bool = False
    as_json: bool = False
    theme: str | None = None
    """Of the cockpit; None: its default."""
    lasting: bool = True
    """Whether the record is still there when the run has been left."""


def show_run(run: Launched, front: Front) -> int:
    """Run it to its end before the user's eyes; the exit code tells the outcome."""
    if front.headless or front.as_json or not _on_terminal():
        _run_as_lines(run, as_json=front.as_json)
    else:
        _run_in_cockpit(run, front)
    return _exit_code(run)


def show_recording(recording: Recording, *, headless: bool, as_json: bool) -> int:
    """Replay a journal; exit 0, whatever the run's own outcome was."""
    if headless or as_json or not _on_terminal():
        for event in recording.events:
            _print(event, as_json=as_json)
        if recording.problem:
            print(f"ralph-tui: {recording.problem}", file=sys.stderr)
        return ExitCode.COMPLETED
    prepare_textual(os.environ)
    from ralph_tui.tui.app import CockpitApp
    from ralph_tui.tui.source import Replay

    note = recording.problem or ("its last line was cut off by a crash" if recording.torn else "")
    app = CockpitApp(Replay(recording.events, recording.path.parent, note=note))
    asyncio.run(_hearing_signals(app))
    return ExitCode.COMPLETED


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _print(event: Event, *, as_json: bool) -> None:
    text = event.model_dump_json() if as_json else plain_line(event)
    if text is not None:
        print(text, flush=True)


def _run_as_lines(run: Launched, *, as_json: bool) -> None:
    """The main thread prints and hears signals; the engine's thread works."""
    events: SimpleQueue[Event] = SimpleQueue()
    run.engine.subscribe(events.put)
    with _signals_stop(run):
        run.begin()
        try:
            while True:
                event = events.get()
                _print(event, as_json=as_json)
                if event.kind in ("run_finished", "run_crashed"):
                    break
        except BrokenPipeError:
            # Nobody reads any more; that is no reason to leave the work half done unrecorded.
            run.engine.send(Stop(by="a closed pipe"))
            raise
        finally:
            run.engine.join(END_SECONDS)


@contextlib.contextmanager
def _signals_stop(run: Launched) -> Iterator[None]:
    def stop(number: int, _frame: object) -> None:
        run.engine.send(Stop(by=signal.Signals(number).name))

    before = {number: signal.signal(number, stop) for number in STOPPING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_in_cockpit(run: Launched, front: Front) -> None:
    prepare_textual(os.environ)
    from ralph_tui.tui.app import CockpitApp
    from ralph_tui.tui.source import Live

    inbox: deque[Event] = deque()
    run.engine.subscribe(inbox.append)
    app = CockpitApp(Live(inbox, run.engine.send, run.attempt.folder), theme=front.theme)
    run.begin()
    asyncio.run(_hearing_signals(app, run.attempt.folder / "terminal.log"))
    if not run.engine.join(0):
        run.engine.send(Stop(by="a closed screen"))
        run.engine.join(END_SECONDS)
    _last_word(run, front)


async def _hearing_signals(app: "CockpitApp", log: Path | None = None) -> None:
    """Run the app; HUP and TERM, which would leave the terminal broken, become its orderly end."""
    loop = asyncio.get_running_loop()

    def hear(number: signal.Signals) -> None:
        if number is signal.SIGHUP:
            _let_go_of_terminal(log)
        app.on_hangup(number.name)

    for number in (signal.SIGHUP, signal.SIGTERM):
        loop.add_signal_handler(number, hear, number)
    await app.run_async()


def _let_go_of_terminal(log: Path | None) -> None:
    """The terminal is gone: what is still said goes to the run's log."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        target = os.open(log or os.devnull, flags, 0o600)
    except OSError:
        target = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.close(target)


def _last_word(run: Launched, front: Front) -> None:
    """What stays in the terminal when the screen is gone. It may be gone altogether."""
    end = run.engine.state.run.finished or run.engine.state.run.crash
    line = None if end is None else plain_line(end)
    if line is not None:
        with contextlib.suppress(OSError):
            print(line)
            if front.lasting:
                print(f"see it again: ralph-tui replay {run.attempt.folder}", flush=True)


def _exit_code(run: Launched) -> int:
    if run.engine.error is not None:
        raise run.engine.error
    state: RunState = run.engine.state
    if state.run.crash is not None:
        print(
            f"ralph-tui: a bug ended the run ({state.run.crash.error}); "
            f"its traceback is in {run.attempt.journal}",
            file=sys.stderr,
        )
        return ExitCode.FAILED
    if state.run.finished is None:
        return ExitCode.INTERRUPTED
    return OUTCOME_CODES[state.run.finished.outcome]
