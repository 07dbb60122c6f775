"""When its user looked at a run: with each key, when the screen is left, and when the run ends
soon after a key.

Rule: a screen that stands open is not looked at for that alone; one whose terminal was closed was
looked at when the last key was pressed.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.state.seen import Seen, seen_of
from ralph_tui.tui.cockpit.run_screen import RunScreen

EVERY_S = 5.0
"""Seconds between two keys of which both are put down."""
PRESENT_S = 60.0
"""Seconds after a key in which its user still looks at the screen."""


def is_lost(source: Source, state: RunState) -> bool:
    """Whether its process is gone, without an end: also of a record that has none."""
    return bool(source.lost) or (source.player is not None and state.run.live)


class Looks:
    """Puts down what was seen; a replay of what is known from its beginning tells nothing."""

    def __init__(self, host: RunScreen, *, kept: bool) -> None:
        """`kept`: what is seen on this screen is put down at all."""
        self._host = host
        self._kept = kept
        self._last: Seen | None = None
        """What was put down; who moves back in a replay has seen what comes after."""
        self._next = float("-inf")
        self._key_at = float("-inf")

    def key(self) -> None:
        """A key was pressed: its user is there."""
        now = self._key_at = self._host.ralph.monotonic()
        if now >= self._next:
            self._put_down(now)

    def shown(self) -> None:
        """The screen shows the state: users see the end of a run that they have just steered."""
        last, now = self._last, self._host.ralph.monotonic()
        if self._host.state.run.live or last is None or last.over:
            return
        if now <= self._key_at + PRESENT_S:
            self._put_down(now)

    def _put_down(self, now: float) -> None:
        seen, record = self._seen(), self._host.source.record
        if seen is not None and record is not None:
            self._next = now + EVERY_S
            write: Callable[[], None] = partial(record.put_down, seen)
            self._host.ralph.run_worker(write, thread=True)

    def hung_up(self) -> None:
        """The terminal is gone: nobody sees what comes."""
        self._kept = False

    def end(self) -> None:
        """The screen is left; the file is small, and nothing waits any more."""
        seen, record = self._seen(), self._host.source.record
        if seen is not None and record is not None:
            record.put_down(seen)

    def _seen(self) -> Seen | None:
        """What is seen now, by how it stands and by the clock; None: nothing is put down."""
        state, source, last = self._host.state, self._host.source, self._last
        if not self._kept or state.run.started is None:
            return None
        now = datetime.now(UTC)
        if last is not None and state.seq < last.seq:
            self._last = replace(last, at=now)
        else:
            self._last = seen_of(state, now, lost=is_lost(source, state))
        return self._last
