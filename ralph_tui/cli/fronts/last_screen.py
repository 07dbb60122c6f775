"""What the screen of a run that is over still does: it brings files back, until it is left.

Rule: the run holds nothing any more. Each restore takes the worktree's lock for itself, and is
refused where the run has gone on elsewhere, which the screen says as soon as it is recorded.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.lock import owner_of
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Restore
from ralph_tui.events import Event
from ralph_tui.runtime.sources.live import Live
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import outcome_word

if TYPE_CHECKING:
    from ralph_tui.runtime.assembly import AssembledRun

LOOK_S = 1.0
"""How often it is looked whether another terminal has gone on with the run."""


class LastScreen:
    """Serves the screen from the thread that has seen the run through."""

    def __init__(self, deliver: Callable[[Event], None], live: Live) -> None:
        """What is recorded goes to `deliver`, and what cannot be done is said by `live`."""
        self._deliver = deliver
        self._live = live
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
        started = run.engine.state.run.started
        known = _size(past)
        while True:
            try:
                wish = self._wishes.get(timeout=LOOK_S)
            except Empty:
                if _size(past) != known:
                    self._tell_who_went_on(past, started.run_id if started else "")
                continue
            if wish is None:
                return
            # It loads git; few screens need it.
            from ralph_tui.runtime.restoring import restore_ended  # noqa: PLC0415

            try:
                told = restore_ended(past, wish.snapshot, wish.by, shown)
            except (RalphError, OSError) as error:
                self._live.refused.append((wish, one_line(str(error))))
            else:
                shown, known = shown + len(told), _size(past)
                for event in told:
                    self._deliver(event)

    def _tell_who_went_on(self, past: RecordedRun, run_id: str) -> None:
        """More of the run is recorded than its screen shows."""
        shows = f"ralph-tui attach {past.name} shows it"
        if owner_of(past.lock, run_id) is not None:
            self._live.note = self._live.overtaken = f"it goes on in another terminal: {shows}"
            return
        try:
            outcome = str(read_status(past)["outcome"] or "died")
        except (RalphError, OSError):
            outcome = "died"
        said = f"another terminal has recorded more; it is {outcome_word(outcome)} now: {shows}"
        # What is not completed can still be gone on with, from here as well.
        self._live.note, self._live.overtaken = said, said if outcome == "completed" else ""


def _size(run: RecordedRun) -> int:
    """Bytes that are recorded; -1 where they cannot be looked at."""
    try:
        return run.journal.stat().st_size
    except OSError:
        return -1
