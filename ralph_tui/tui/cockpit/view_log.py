"""Records when the user viewed a run: at key presses, on leaving, and if it ends soon after a key.

Rule: an open screen alone does not count as viewing. If the terminal was closed, the run was last
viewed when the last key was pressed.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.state.last_seen import LastSeen, seen_of
from ralph_tui.tui.cockpit.run_screen import RunScreen

EVERY_S = 5.0
"""Minimum seconds between two recorded key presses."""
PRESENT_S = 60.0
"""Seconds after a key during which the user counts as present."""


def is_lost(source: Source, state: RunState) -> bool:
    """Return True if a live or recorded run's process is gone, and no end was recorded."""
    return bool(source.lost) or (source.player is not None and state.run.live)


class ViewLog:
    """Records what the user has seen of the run."""

    def __init__(self, host: RunScreen, *, enabled: bool) -> None:
        """`enabled` is False if this screen records nothing, as in an ordinary replay."""
        self._host = host
        self._enabled = enabled
        self._last: LastSeen | None = None
        """The last record; moving back in a replay does not undo what was seen."""
        self._next = float("-inf")
        self._key_at = float("-inf")

    def key(self) -> None:
        """Record a key press: the user is present."""
        now = self._key_at = self._host.ralph.monotonic()
        if now >= self._next:
            self._write(now)

    def shown(self) -> None:
        """Record that the user saw the run's end, if a key was pressed shortly before."""
        last, now = self._last, self._host.ralph.monotonic()
        if self._host.state.run.live or last is None or last.over:
            return
        if now <= self._key_at + PRESENT_S:
            self._write(now)

    def _write(self, now: float) -> None:
        seen, record = self._seen(), self._host.source.record
        if seen is not None and record is not None:
            self._next = now + EVERY_S
            write: Callable[[], None] = partial(record.save_seen, seen)
            self._host.ralph.run_worker(write, thread=True)

    def disable(self) -> None:
        """Record nothing from now on, because the terminal is gone."""
        self._enabled = False

    def end(self) -> None:
        """Record once more on leaving; the file is small, so this may block."""
        seen, record = self._seen(), self._host.source.record
        if seen is not None and record is not None:
            record.save_seen(seen)

    def _seen(self) -> LastSeen | None:
        """Return what the user sees now, with the time; None if nothing is to be recorded."""
        state, source, last = self._host.state, self._host.source, self._last
        if not self._enabled or state.run.started is None:
            return None
        now = datetime.now(UTC)
        if last is not None and state.seq < last.seq:
            self._last = replace(last, at=now)
        else:
            self._last = seen_of(state, now, lost=is_lost(source, state))
        return self._last
