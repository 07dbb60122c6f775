"""A recorded run: its events are folded up to a position, which its player moves.

Rule: `poll` runs on the UI thread at 15 Hz and stays short; a source never touches a widget.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from time import monotonic

from ralph_tui.commands import Command
from ralph_tui.events import Event, InterventionMade
from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Files
from ralph_tui.sources.keyframes import copied
from ralph_tui.state import RunState

OPENING_S = 0.15
"""Seconds a poll may fold of a record that is opened: a long one grows complete poll by poll."""
LONGEST_GAP_S = 2.0
"""Seconds of replay time that a silence lasts at most."""
FRAME = 8192
"""Events between two keyframes of a replay: what a jump has to fold at most."""
SPEEDS = (1, 2, 4, 8, 16, 32, 64, 0)
"""Replay speeds; 0 is instant: as fast as the screen can follow."""
FIRST_SPEED = 8
WHOLE_S = 30.0
"""Seconds in which a replay that plays from its beginning shows the run."""
ACTING = ("REDIRECT", "PAUSE", "ABORT")
"""Levels of an intervention that stop the run, and a replay's way to the next mark."""


class Replay:
    """A recorded run; it holds at its end until it is moved, or `begin` plays it."""

    live = False
    elsewhere = False
    restores_ended = False
    name = "you"
    lost = False
    player: Player | None

    def __init__(
        self,
        events: Sequence[Event],
        folder: Path | None = None,
        *,
        note: str = "",
        files: Files | None = None,
    ) -> None:
        self.folder = folder
        self.files = files
        self.note = note
        self.refused: deque[tuple[Command, str]] = deque()
        self.player = self
        self.length = self.position = len(events)
        self.playing = False
        self.speed = FIRST_SPEED
        self.marks: list[tuple[int, str]] = [
            (index + 1, getattr(event, "severity", "critical"))
            for index, event in enumerate(events)
            if event.kind == "alarm_raised"
            or (isinstance(event, InterventionMade) and event.level in ACTING)
        ]
        self._events = events
        self._applied = 0
        self._frames: dict[int, RunState] = {}
        self._iterations = [
            index + 1 for index, event in enumerate(events) if event.kind == "iteration_started"
        ]
        self._since = 0.0
        """Seconds of replay time that have passed since the event at the position."""
        self._last: float | None = None

    @cached_property
    def _times(self) -> list[float]:
        """Seconds of replay time at each event; a long record is on screen before it is known."""
        gaps = ((b.at - a.at).total_seconds() for a, b in pairwise(self._events))
        return list(accumulate((min(LONGEST_GAP_S, max(0.0, gap)) for gap in gaps), initial=0.0))

    def begin(self) -> None:
        """Play from the first event, at a speed that shows the whole run in about half a minute."""
        whole = self._times[self.length - 1] if self.length else 0.0
        self.speed = next((s for s in SPEEDS if s and whole <= s * WHOLE_S), SPEEDS[-2])
        self.seek(1)
        self.playing = self.length > 1

    def start(self) -> None:
        """See `Source`."""

    def poll(self, state: RunState, now: float) -> RunState:
        """See `Source`."""
        passed, self._last = now - (self._last if self._last is not None else now), now
        if self.playing:
            self._play(passed)
        state = self._nearest(state)
        began = monotonic()
        while self._applied < self.position:
            frame = self._applied - self._applied % FRAME + FRAME
            stop = min(self.position, frame)
            for event in self._events[self._applied : stop]:
                state.apply(event)
            self._applied = stop
            if stop == frame and frame not in self._frames:
                self._frames[frame] = copied(state)
                if monotonic() - began > OPENING_S:
                    break
        return state

    def _nearest(self, state: RunState) -> RunState:
        """The state to fold on from: this one, or a copy of a keyframe before the position."""
        if self._applied <= self.position <= self._applied + FRAME:
            return state
        known = [frame for frame in self._frames if frame <= self.position]
        frame = max(known, default=0)
        if self._applied <= self.position and frame <= self._applied:
            return state
        self._applied = frame
        return copied(self._frames[frame]) if frame else RunState()

    def _play(self, passed: float) -> None:
        if self.speed:
            now = self._now() + passed * self.speed
            self.position = min(self.length, max(self.position, bisect_right(self._times, now)))
            self._since = now - self._times[self.position - 1]
        else:
            self.position = min(self.length, self.position + max(1, self.length // 60))
            self._since = 0.0
        if self.position == self.length:
            self.playing = False

    def _now(self) -> float:
        """Seconds of replay time."""
        return self._times[self.position - 1] + self._since

    def clock(self, state: RunState) -> datetime:
        """See `Source`."""
        if not self._applied or not self.playing:
            return state.at
        beyond = self._now() - self._times[self._applied - 1]
        return state.at + timedelta(seconds=min(LONGEST_GAP_S, max(0.0, beyond)))

    def send(self, command: Command) -> None:
        """See `Source`; a record takes no commands."""

    def stop(self) -> None:
        """See `Source`."""

    def toggle(self) -> None:
        """See `Player`."""
        if not self.playing and self.position == self.length:
            self.seek(1)
        self.playing = not self.playing and self.length > 0

    def seek(self, position: int) -> None:
        """See `Player`."""
        self.playing = False
        self.position = min(self.length, max(min(1, self.length), position))
        self._since = 0.0

    def step_iteration(self, direction: int) -> None:
        """See `Player`."""
        self._step(self._iterations, direction)

    def step_mark(self, direction: int) -> None:
        """See `Player`."""
        self._step([position for position, _ in self.marks], direction)

    def _step(self, stops: list[int], direction: int) -> None:
        if direction > 0:
            index = bisect_right(stops, self.position)
            self.seek(stops[index] if index < len(stops) else self.length)
        else:
            index = bisect_left(stops, self.position) - 1
            self.seek(stops[index] if index >= 0 else 1)

    def change_speed(self, direction: int) -> None:
        """See `Player`."""
        index = SPEEDS.index(self.speed) + direction
        self.speed = SPEEDS[min(len(SPEEDS) - 1, max(0, index))]
