"""Keeps a live run's files up to date, because one iteration may take hours."""

from contextlib import suppress
from threading import Thread
from typing import Final

from ralph_tui import events as ev
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.ports.host import Clock
from ralph_tui.state import RunState

ACTIONS_S: Final = 4.0
"""Seconds until a call's count or line is due; the engine writes it at its next check."""
_STATUS = (
    ev.Paused
    | ev.Unpaused
    | ev.QuestionAsked
    | ev.QuestionAnswered
    | ev.QuestionWithdrawn
    | ev.RunResumed
    | ev.PlanMade
)
"""Events after which the files are written at once."""
_ACTED = ev.ToolStarted | ev.ToolFinished | ev.FilesChanged


class Upkeep:
    """Writes the files in its own thread, when an event has made them outdated."""

    def __init__(self, attempt: AttemptFolder, clock: Clock) -> None:
        self._attempt = attempt
        self._clock = clock
        self._due: float | None = None
        self._thread: Thread | None = None

    def note(self, event: ev.Event) -> None:
        """Remember when the files must be written, if `event` makes them outdated."""
        if isinstance(event, _STATUS | _ACTED):
            wait = ACTIONS_S if isinstance(event, _ACTED) else 0.0
            due = self._clock.monotonic() + wait
            self._due = due if self._due is None else min(self._due, due)

    def tick(self, state: RunState) -> None:
        """Begin to write what is due; call it on the thread that owns `state`."""
        writing = self._thread is not None and self._thread.is_alive()
        if self._due is None or self._clock.monotonic() < self._due or writing:
            return
        self._due = None
        projected = self._attempt.project(state)

        def write() -> None:
            # The files can be rebuilt; the end of the iteration reports what is wrong.
            with suppress(OSError, WorkspaceError):
                self._attempt.write_projections(projected)

        self._thread = Thread(target=write, name="ralph-upkeep", daemon=True)
        self._thread.start()
