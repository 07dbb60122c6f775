"""Playback control for a recorded run. Rule: no widgets, no files."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ralph_tui.state.outline import Mark


class Player(Protocol):
    """Playback controls of a recorded run, for the scrubber."""

    position: int
    """Number of events applied, or about to be."""
    length: int
    playing: bool
    speed: int
    resting: bool
    """True while another screen is open: playback is suspended and resumes afterwards."""
    new: int
    """Events recorded by the run since the user last saw its end."""

    @property
    def marks(self) -> Sequence[Mark]:
        """Alarms and interventions, in order."""

    @property
    def iterations(self) -> Sequence[tuple[int, int]]:
        """Start of each iteration, as its position and number."""

    @property
    def here(self) -> float:
        """Current point on the time axis: 0 is the start, 1 the end."""

    @property
    def wait(self) -> float:
        """Actual length, in seconds, of a wait that playback is shortening; otherwise 0."""

    def share(self, position: int) -> float:
        """Return an event's point on the time axis, 0 to 1."""

    def position_at(self, share: float) -> int:
        """Return the position at this point on the time axis."""

    def moment(self, position: int) -> tuple[datetime, int]:
        """Return the time and iteration of an event; iteration 0 is before the first."""

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""

    def seek(self, position: int) -> None:
        """Go to this position at the next poll, and pause."""

    def step_iteration(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) start of an iteration, or end of the recording."""

    def step_mark(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) alarm or intervention, if there is one."""

    def change_speed(self, direction: int) -> None:
        """Double (1) or halve (-1) the playback speed."""
