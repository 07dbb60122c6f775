"""What the screen of a run that is over still does: it brings files back, until it is left.

Rule: the run holds nothing any more. Each restore takes the worktree's lock for itself, and is
refused where the run has gone on elsewhere.
"""

from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.commands import Command, Restore
from ralph_tui.errors import RalphError
from ralph_tui.events import Event
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.runtime.assembly import AssembledRun


class LastScreen:
    """Serves the screen from the thread that has seen the run through."""

    def __init__(self, inbox: deque[Event], refused: deque[tuple[Command, str]]) -> None:
        """What is recorded goes to `inbox`, what cannot be done to `refused`."""
        self._inbox = inbox
        self._refused = refused
        self._wishes: SimpleQueue[Restore | None] = SimpleQueue()

    def restore(self, wish: Restore) -> None:
        """Bring the files back as soon as the run has given everything back."""
        self._wishes.put(wish)

    def leave(self) -> None:
        """The screen is gone; what is being restored comes to its end."""
        self._wishes.put(None)

    def serve(self, run: "AssembledRun") -> None:
        """Do what is asked for, until the screen is left."""
        past, shown = RecordedRun(run.attempt.journal), run.engine.state.seq
        while (wish := self._wishes.get()) is not None:
            # It loads git; few screens need it.
            from ralph_tui.runtime.restoring import restore_ended  # noqa: PLC0415

            try:
                told = restore_ended(past, wish.snapshot, wish.by, shown)
            except (RalphError, OSError) as error:
                self._refused.append((wish, one_line(str(error))))
            else:
                shown += len(told)
                self._inbox.extend(told)
