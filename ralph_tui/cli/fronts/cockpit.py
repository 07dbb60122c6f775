"""The cockpit of a live run: the screen is painted first, and a thread sets up the run behind it.

The run outlives the screen. If the user leaves only the screen, the run continues as plain lines.
If the terminal closes, its output goes to a log.
"""

import contextlib
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.base.errors import RalphError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts import signals
from ralph_tui.cli.fronts.common import Printer, exit_code, leave_text, print_next_steps, warn
from ralph_tui.cli.fronts.garbage import enable_garbage_collector
from ralph_tui.cli.fronts.lines import Lines, print_until_end
from ralph_tui.cli.fronts.output import print_line
from ralph_tui.cli.fronts.presentation import END_SECONDS, SCREEN_SECONDS, Prepare, Presentation
from ralph_tui.cli.fronts.side_screens import side_screens
from ralph_tui.cli.fronts.stage import Stage
from ralph_tui.events import Event, RunCrashed, RunFinished
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.runtime.sources.snapshots import RecordedFiles
from ralph_tui.runtime.steering import Steering
from ralph_tui.tui.cockpit.screen import CockpitScreen

if TYPE_CHECKING:
    from ralph_tui.runtime.assembly import AssembledRun


class CockpitRun:
    """A run and its cockpit: assemble the run behind the screen, and finish it without one."""

    def __init__(self, prepare: Prepare, stage: Stage) -> None:
        self.inbox: deque[Event] = deque()
        self._steering = Steering(self.inbox, self._deliver)
        self.live = self._steering.live
        self.live.restores_ended = True
        self.beside = side_screens(self.live)
        self.stage = stage
        self.code: int = ExitCode.COMPLETED
        self.error: BaseException | None = None
        self._prepare = prepare
        self._presentation = Presentation()
        self._run: AssembledRun | None = None
        self._receive: Callable[[Event], None] = self.inbox.append
        self._lines: Lines = SimpleQueue()
        self._screen: CockpitScreen | None = None
        self._warnings: list[str] = []
        """Warnings from the end of the run, printed after the screen closes."""
        self._settled = threading.Event()
        """Set once the run is assembled, or the assembly failed."""
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._execute, name="ralph-cockpit-run", daemon=True)
        self._alone: threading.Thread | None = None
        """Finishes the run after its terminal has closed, then ends the process."""

    # for the screen ---------------------------------------------------------------------------

    def screen(self) -> CockpitScreen:
        self._screen = CockpitScreen(self.live, notified=True)
        return self._screen

    def begin(self) -> None:
        self._thread.start()

    # the run ----------------------------------------------------------------------------------

    def _execute(self) -> None:
        try:
            create_run, self._presentation = self._prepare(self.stage.warnings.append)
            with create_run(self._warnings.append) as run:
                self.inbox.extend(run.past)
                run.engine.subscribe(self._deliver)
                self.live.folder = run.attempt.folder
                self.live.files = RecordedFiles(run.attempt.folder)
                self.live.record = RunRecord(run.attempt.journal)
                self._run = run
                self._steering.attach(run)
                run.begin()
                self._settled.set()
                enable_garbage_collector()
                run.engine.join()
                # The last screen and its record stay open; the worktree is released.
                run.close()
                self._steering.serve(run)
                self.code = exit_code(run)
                self._report_end(run)
        except RalphError as error:
            self.error = error
        finally:
            self.error = self.error or sys.exc_info()[1]
            self._settled.set()
            if self.error is not None and not self._left.is_set():
                self.stage.call_in_screen(self.stage.app.exit)

    def _deliver(self, event: Event) -> None:
        """Pass an event to the screen, or to the plain lines after it."""
        self._receive(event)
        if self._screen is not None and self._screen.rhythm.quiet:
            self.stage.call_in_screen(self._screen.rhythm.speed_up)

    def _report_end(self, run: "AssembledRun") -> None:
        state = run.engine.state.run
        end = state.finished or state.crash
        for sentence in self._warnings:
            warn(sentence)
        with contextlib.suppress(OSError):  # the terminal may be gone
            if end is not None:
                Printer(state=run.engine.state).print(end)
            if self._presentation.lasting:
                print_next_steps(run, "resume", "report", "replay")

    # the end of the screen --------------------------------------------------------------------

    def end(self) -> int:
        """Continue as plain lines after the screen, or stop the run and wait until it ends."""
        try:
            app = self.stage.app
            # A broken screen does not end the run.
            if self._alone is None and (app.return_value == "screen" or app.broken):
                self._continue_as_lines()
            if self._alone is not None:
                self._alone.join()
        finally:
            self.leave()
        if self.error is not None:
            raise self.error
        return self.code

    def leave(self) -> None:
        """Stop a run that is still active, and wait until it has cleaned up."""
        self._detach()
        self._steering.stop("a closed screen")
        if self._thread.ident is not None:
            self._thread.join(2 * END_SECONDS)
        if self._thread.is_alive():
            self.code = ExitCode.INTERRUPTED

    def _detach(self) -> None:
        self._left.set()
        self._steering.leave()

    def _continue_as_lines(self) -> None:
        """Print how to reopen the screen, then events until the run ends."""
        self._receive = self._buffer_event
        self.inbox.clear()
        if self._thread.ident is None:  # the screen broke before the run was started
            self.begin()
        self._settled.wait()
        if self._run is None or self._steering.over:
            return
        try:
            print_line(leave_text(self._run.engine.state, self._run.attempt))
            print_until_end(self._run, self._lines, Printer(state=self._run.engine.state))
        except OSError:
            self.handle_signal(signal.SIGHUP)  # the signal is on its way

    def _buffer_event(self, event: Event) -> None:
        """Queue an event for the lines, except the run's end, which `_report_end` prints."""
        if not isinstance(event, RunFinished | RunCrashed):
            self._lines.put(event)

    # signals ----------------------------------------------------------------------------------

    def handle_signal(self, number: signal.Signals) -> None:
        """Stop the run; for SIGHUP, `ui.on_hangup` decides whether the run stops or continues."""
        if number is not signal.SIGHUP:
            self._stop(number.name)
        elif self._alone is None:
            signals.detach_stdio()
            self._alone = threading.Thread(target=self._finish_alone, name="ralph-alone")
            self._alone.daemon = True
            self._alone.start()

    def _stop(self, by: str) -> None:
        signals.exit_after(2 * END_SECONDS, ExitCode.INTERRUPTED)
        if self._alone is None and not self.stage.closed.is_set():
            self.stage.call_in_screen(self.stage.app.on_hangup, by)
            if self.stage.closed.wait(END_SECONDS):
                return
        self._steering.stop(by)

    def _finish_alone(self) -> None:
        """Finish the run without a terminal, and end the process.

        Nothing here waits for the main thread, which may never return from its dead screen.
        """
        self.stage.call_in_screen(self.stage.app.exit)
        if self._thread.ident is None:
            signals.exit_now(ExitCode.INTERRUPTED)
        if not self.stage.closed.wait(SCREEN_SECONDS):
            signals.block_stdin()
        self._settled.wait()
        if self._run is not None:
            signals.redirect_output(self._run.attempt.folder / signals.LOG)
        if self._presentation.on_hangup == "stop":
            self.leave()
        elif self._run is not None:
            self._receive = self._buffer_event
            print_until_end(self._run, self._lines, Printer(state=self._run.engine.state))
        self._detach()
        self._thread.join()
        if self.error is not None:
            self.code = getattr(self.error, "exit_code", ExitCode.FAILED)
            print(f"ralph-tui: {self.error}", file=sys.stderr)
        signals.exit_now(self.code)
