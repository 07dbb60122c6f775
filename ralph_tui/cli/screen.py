"""The cockpit around a run: it paints first; the run is set up behind it, in a thread."""

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
from collections import deque
from pathlib import Path

# What Textual reads when it is imported has to be settled before.
from ralph_tui.cli.terminal import prepare_textual

prepare_textual(os.environ)

from ralph_tui.cli.exit_codes import ExitCode  # noqa: E402
from ralph_tui.cli.front import END_SECONDS, Front, Stage, exit_code, print_event  # noqa: E402
from ralph_tui.commands import Command, Stop  # noqa: E402
from ralph_tui.errors import RalphError  # noqa: E402
from ralph_tui.events import Event  # noqa: E402
from ralph_tui.records.journal import Recording  # noqa: E402
from ralph_tui.tui.app import CockpitApp  # noqa: E402
from ralph_tui.tui.source import Live, Replay  # noqa: E402


class Backstage:
    """Sets the run up, keeps what the owner says meanwhile, and clears up when it is over."""

    def __init__(self, stage: Stage, front: Front) -> None:
        self.inbox: deque[Event] = deque()
        self.live = Live(self.inbox, self.send)
        self.app = CockpitApp(self.live, theme=front.theme, ready=self.begin)
        self.code: int = ExitCode.COMPLETED
        self.error: BaseException | None = None
        self._stage = stage
        self._front = front
        self._said: list[Command] = []
        self._send = self._said.append
        self._lock = threading.Lock()
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._work, name="ralph-backstage", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> None:
        """The screen is painted: now there is time for the rest."""
        collect_garbage_again()
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def send(self, command: Command) -> None:
        """Hand a command to the engine, or keep it until there is one."""
        with self._lock:
            self._send(command)

    def end(self) -> None:
        """The screen is gone: wait for the run's orderly end, and say its last word."""
        self.leave()
        if self.error is not None:
            raise self.error

    def leave(self) -> None:
        """Stop a run that still goes on, and wait until it has cleared up."""
        self._left.set()
        self.send(Stop(by="a closed screen"))
        if self._thread.ident is not None:
            self._thread.join(2 * END_SECONDS)
        if self._thread.is_alive():
            self.code = ExitCode.INTERRUPTED

    def _work(self) -> None:
        try:
            with self._stage() as run:
                run.engine.subscribe(self.inbox.append)
                self.live.folder = run.attempt.folder
                with self._lock:
                    self._send = run.engine.send
                    for command in self._said:
                        run.engine.send(command)
                run.begin()
                run.engine.join()
                # The last screen stays; its prompt and its record must, too.
                self._left.wait()
                self.code = exit_code(run)
                end = run.engine.state.run.finished or run.engine.state.run.crash
                with contextlib.suppress(OSError):  # the terminal may be gone
                    if end is not None:
                        print_event(end, as_json=False)
                    if self._front.lasting:
                        print(f"see it again: ralph-tui replay {run.attempt.folder}", flush=True)
        except RalphError as error:
            self.error = error
        finally:
            self.error = self.error or sys.exc_info()[1]
            if self.error is not None and self._loop is not None and not self._left.is_set():
                self._loop.call_soon_threadsafe(self.app.exit)


def run_in_cockpit(stage: Stage, front: Front) -> int:
    """Show a run while it is set up, runs and ends; the exit code tells the outcome."""
    backstage = Backstage(stage, front)
    asyncio.run(_hearing_signals(backstage.app, backstage))
    backstage.end()
    return backstage.code


def replay_in_cockpit(recording: Recording) -> None:
    """Show a recorded run."""
    note = recording.problem or ("its last line was cut off by a crash" if recording.torn else "")
    source = Replay(recording.events, recording.path.parent, note=note)
    app = CockpitApp(source, ready=collect_garbage_again)
    asyncio.run(_hearing_signals(app))


def collect_garbage_again() -> None:
    """What was made before the first paint stays: it need not be looked through again."""
    gc.freeze()
    gc.enable()


async def _hearing_signals(app: CockpitApp, backstage: Backstage | None = None) -> None:
    """Run the app; HUP and TERM, which would leave the terminal broken, become its orderly end."""
    loop = asyncio.get_running_loop()

    def hear(number: signal.Signals) -> None:
        if number is signal.SIGHUP:
            _let_go_of_terminal(backstage.live.folder if backstage else None)
            threading.Thread(target=_leave_without_screen, args=(backstage,), daemon=True).start()
        _leave_in_any_case()
        app.on_hangup(number.name)

    for number in (signal.SIGHUP, signal.SIGTERM):
        loop.add_signal_handler(number, hear, number)
    await app.run_async()


def _leave_without_screen(backstage: Backstage | None) -> None:
    """End the run, and the process with it: a closed terminal holds the screen's writer up."""
    if backstage is not None:
        backstage.leave()
    os._exit(backstage.code if backstage else ExitCode.COMPLETED)


def _leave_in_any_case() -> None:
    """Whatever else may hang: the run has ended long before."""
    deadline = threading.Timer(2 * END_SECONDS, os._exit, [ExitCode.INTERRUPTED])
    deadline.daemon = True
    deadline.start()


def _let_go_of_terminal(folder: Path | None) -> None:
    """The terminal is gone: what is still said goes to the run's log."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        target = os.open(folder / "terminal.log" if folder else os.devnull, flags, 0o600)
    except OSError:
        target = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.close(target)
