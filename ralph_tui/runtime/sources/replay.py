"""A recorded run: its events are folded up to a position that the player moves.

`poll` runs on the UI thread at 15 Hz and must be fast. A source never touches a widget.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from pathlib import Path
from time import monotonic

from ralph_tui.analysis.resume_words import explain_damage
from ralph_tui.commands import Command
from ralph_tui.events import Event
from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Files, OnDisk
from ralph_tui.runtime.sources.event_record import ListedRecord, Record
from ralph_tui.runtime.sources.keyframes import FRAME, Keyframes
from ralph_tui.state import RunState
from ralph_tui.state.outline import Mark
from ralph_tui.text.terms import UNHEARD

WHOLE_S = 30.0
"""Seconds; `begin` chooses the lowest speed that plays the whole run within this time."""
TOP_SPEED = 64
LONGEST_GAP_S = 2.0
"""Longest silence at normal speed, in seconds."""
SHOWN_GAP_S = 60.0
"""Seconds after which a silence is called a wait."""


class ReplayTime:
    """Replay time of each event, in seconds; the list of moments may grow.

    A long silence passes faster but is never skipped, so clocks, ages and countdowns run through
    it. In a long run silences are shortened further, to fit `WHOLE_S` at `TOP_SPEED`.
    """

    def __init__(self, at: list[float]) -> None:
        """`at` has the moment of each event, in seconds since the epoch."""
        self._at = at
        self._longest = _longest(at)
        self._times: list[float] = []
        self.follow()

    def follow(self) -> None:
        """Update the times after a change to the list of moments."""
        del self._times[len(self._at) :]
        first = max(1, len(self._times))
        gaps = (
            min(self._longest, max(0.0, later - before))
            for before, later in zip(self._at[first - 1 :], self._at[first:], strict=False)
        )
        if not self._times:
            self._times = list(accumulate(gaps, initial=0.0)) if self._at else []
        else:
            self._times += list(accumulate(gaps, initial=self._times[-1]))[1:]

    def of(self, position: int) -> float:
        """Return the replay time of an event in seconds; `position` counts from 1."""
        return self._times[position - 1] if self._times else 0.0

    def position(self, seconds: float, length: int) -> int:
        """Return the last of the first `length` events at or before `seconds` of replay time."""
        return min(length, max(1, bisect_right(self._times, seconds, hi=length)))

    def clock(self, position: int, seconds: float) -> float:
        """Return the run's time (epoch seconds) at `seconds` of replay time after an event."""
        if not 0 < position <= len(self._times):
            return 0.0
        before = self._at[position - 1]
        if position == len(self._times):
            return before + min(seconds, LONGEST_GAP_S)
        replayed, run = self._gap(position)
        return before + (run * min(1.0, seconds / replayed) if replayed else 0.0)

    def wait(self, position: int) -> float:
        """Return the seconds of the wait that begins with an event if it is shortened; else 0."""
        if not 0 < position < len(self._times):
            return 0.0
        replayed, run = self._gap(position)
        return run if run >= SHOWN_GAP_S and run > 2 * replayed else 0.0

    def _gap(self, position: int) -> tuple[float, float]:
        """Return the seconds until the next event, in replay time and in the run."""
        replayed = self._times[position] - self._times[position - 1]
        return replayed, max(0.0, self._at[position] - self._at[position - 1])


def _longest(at: Sequence[float]) -> float:
    """Return the maximum length of a silence in this run, in seconds."""
    gaps = [min(LONGEST_GAP_S, b - a) for a, b in pairwise(at) if b > a]
    room = TOP_SPEED * WHOLE_S
    if sum(gaps) <= room:
        return LONGEST_GAP_S
    shorter, left = 0.0, len(gaps)
    for gap in sorted(gaps):
        if shorter + gap * left > room:
            break
        shorter += gap
        left -= 1
    return (room - shorter) / left


POLL_S = 0.03
"""Maximum seconds of folding per poll: a jump far from any keyframe takes several polls."""
LOOK_S = 1.0
"""How often to check whether the record has grown, in seconds."""
SPEEDS = (1, 2, 4, 8, 16, 32, TOP_SPEED, 0)
"""Replay speeds; 0 is instant: as fast as the screen can follow."""
FIRST_SPEED = 8


class Replay:
    """A recorded run; it stays at its end until it is moved, or `begin` plays it."""

    live = False
    elsewhere = False
    restores_ended = False
    broken = False
    overtaken = ""
    name = "you"
    lost: bool | str = False
    gone: Callable[[RunState], bool] | None = None
    """Returns True if no process is working on the run, which is lost unless it has an end."""
    worked_after: Callable[[RunState], timedelta] | None = None
    """Returns how long a lost run kept working after its last event."""
    why_lost = ""
    """Why it is lost; empty if its process is gone."""
    player: Player | None
    record: OnDisk | None = None

    def __init__(
        self,
        events: Sequence[Event] | Record,
        folder: Path | None = None,
        *,
        note: str = "",
        files: Files | None = None,
    ) -> None:
        """`note` is a sentence about the record; if it is empty, the record's own is shown."""
        self.folder = folder
        self.files = files
        self.note = note
        self.refused: deque[tuple[Command, str]] = deque()
        self.player = self
        self.playing = False
        self.resting = False
        self.speed = FIRST_SPEED
        self.new = 0
        self._record = ListedRecord(events) if isinstance(events, Sequence) else events
        self.length = self.position = len(self._record)
        self._outline = self._record.outline
        self._replay_time = ReplayTime(self._outline.at)
        self._keyframes = Keyframes(self._record)
        self._applied = 0
        self._since = 0.0
        """Replay time since the event at the current position, in seconds."""
        self._last: float | None = None
        self._look_due = 0.0
        self._unattended = False
        self._after = timedelta()
        self._given = self._last_note = note
        """The caller's note, and the note that this object last set itself."""
        self._update_note()

    def begin(self) -> None:
        """Play from the first event, at a speed that shows the whole run in about half a minute."""
        whole = self._replay_time.of(self.length)
        self.speed = next((s for s in SPEEDS if s and whole <= s * WHOLE_S), TOP_SPEED)
        self.seek(1)
        self.playing = self.length > 1

    @property
    def first(self) -> Event | None:
        """The first event, or None if the record is empty."""
        return next(iter(self._record.events(0, 1)), None)

    def start(self) -> None:
        self._keyframes.start()

    def stop(self) -> None:
        self._keyframes.stop()
        self._record.close()

    def poll(self, state: RunState, now: float) -> RunState:
        passed, self._last = now - (self._last if self._last is not None else now), now
        look = now >= self._look_due
        if look:
            self._look_due = now + LOOK_S
            self._look()
        if self.playing and not self.resting:
            self._play(passed)
        state = self._fold(state)
        if look:
            self._unattended = self.gone is not None and self.gone(state)
        ends = self._unattended and self.position == self.length and state.run.live
        self.broken = bool(self._record.problem)
        if ends and not self.lost and self.worked_after is not None:
            self._after = self.worked_after(state)
        self.lost = ends and (self.why_lost or self._broken_off(state) or True)
        return state

    def _broken_off(self, state: RunState) -> str:
        started = state.run.started
        if not self.broken or started is None or started.watched:
            return ""
        return f"{UNHEARD.word}: {explain_damage(started.name, state.seq)}"

    # the record -------------------------------------------------------------------------------

    def _look(self) -> None:
        """Read events recorded since the last look; the position does not move."""
        self._record.look()
        length = len(self._record)
        if length < self.length:
            self._outline.cut(length)
        if length != self.length:
            self._replay_time.follow()
        self.new += max(0, length - self.length)
        self.length = length
        if self.position >= length:
            self.position, self.new = length, 0
        self._update_note()

    def _update_note(self) -> None:
        """Update the note on the record, unless other code has set it."""
        note = self._record.problem or self._given or self._record.remark
        if note != self._last_note and self.note == self._last_note:
            self.note = self._last_note = note

    def _fold(self, state: RunState) -> RunState:
        """Fold the state up to the position, or part of the way there."""
        deadline = monotonic() + POLL_S
        while True:
            state = self._nearest(state)
            left = self.position - self._applied
            if not left or (left > FRAME and self._keyframes.is_working):
                return state
            stop = min(self.position, self._applied - self._applied % FRAME + FRAME)
            events = self._record.events(self._applied, stop)
            state.apply_all(events)
            self._applied += len(events)
            self._keyframes.keep(self._applied, state)
            if len(self._record) < self.length:  # a line turned out to be bad
                self._look()
            if monotonic() > deadline:
                return state

    def _nearest(self, state: RunState) -> RunState:
        """Return the state to continue folding from: this one, or a copy of a nearer keyframe."""
        frame = self._keyframes.before(self.position)
        if self._applied <= self.position and frame <= self._applied:
            return state
        self._applied = frame
        return self._keyframes.copy(frame)

    # time -------------------------------------------------------------------------------------

    def _play(self, passed: float) -> None:
        if self.speed:
            now = self._now() + passed * self.speed
            self.position = max(self.position, self._replay_time.position(now, self.length))
            self._since = now - self._replay_time.of(self.position)
        else:
            self.position = min(self.length, self.position + max(1, self.length // 60))
            self._since = 0.0
        if self.position == self.length:
            self.playing, self.new = False, 0

    def _now(self) -> float:
        return self._replay_time.of(self.position) + self._since

    def clock(self, state: RunState) -> datetime:
        if self.lost:
            return state.at + self._after
        if self._applied != self.position or not self._since:
            return state.at
        return datetime.fromtimestamp(self._replay_time.clock(self.position, self._since), UTC)

    @property
    def wait(self) -> float:
        return self._replay_time.wait(self.position) if self.playing else 0.0

    # for the player ---------------------------------------------------------------------------

    @property
    def marks(self) -> Sequence[Mark]:
        return self._outline.marks

    @property
    def iterations(self) -> Sequence[tuple[int, int]]:
        return self._outline.iterations

    def send(self, command: Command) -> None:
        """Do nothing: a record accepts no commands."""

    def toggle(self) -> None:
        if not self.playing and self.position == self.length:
            self.seek(1)
        self.playing = not self.playing and self.length > 0

    def seek(self, position: int) -> None:
        self.playing = False
        self.position = min(self.length, max(min(1, self.length), position))
        self._since = 0.0
        if self.position == self.length:
            self.new = 0

    def share(self, position: int) -> float:
        whole = self._replay_time.of(self.length)
        return self._replay_time.of(position) / whole if whole else 1.0

    @property
    def here(self) -> float:
        whole = self._replay_time.of(self.length)
        return min(1.0, self._now() / whole) if whole else 1.0

    def position_at(self, share: float) -> int:
        whole = self._replay_time.of(self.length)
        return self._replay_time.position(share * whole, self.length) if share < 1 else self.length

    def moment(self, position: int) -> tuple[datetime, int]:
        index = bisect_right(self._outline.iterations, position, key=lambda pair: pair[0])
        iteration = self._outline.iterations[index - 1][1] if index else 0
        at = self._outline.at[position - 1] if position else 0.0
        return datetime.fromtimestamp(at, UTC), iteration

    def step_iteration(self, direction: int) -> None:
        stops = [position for position, _ in self._outline.iterations]
        self._step([1, *stops, self.length], direction)

    def step_mark(self, direction: int) -> None:
        self._step([mark.position for mark in self.marks], direction)

    def _step(self, stops: list[int], direction: int) -> None:
        if direction > 0:
            index = bisect_right(stops, self.position)
        else:
            index = bisect_left(stops, self.position) - 1
        if 0 <= index < len(stops):
            self.seek(stops[index])

    def change_speed(self, direction: int) -> None:
        index = SPEEDS.index(self.speed) + direction
        self.speed = SPEEDS[min(len(SPEEDS) - 1, max(0, index))]
