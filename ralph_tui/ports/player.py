"""What a recorded run can be told. Rule: no widgets, no files."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ralph_tui.state.outline import Mark


class Player(Protocol):
    """What a scrubber may do with a recorded run."""

    position: int
    """How many events are applied, or are about to be."""
    length: int
    playing: bool
    speed: int
    resting: bool
    """Something else is looked at: time stands still meanwhile, and goes on behind it."""
    new: int
    """Events that the run has recorded since its end was looked at."""

    @property
    def marks(self) -> Sequence[Mark]:
        """Alarms and interventions, in their order."""

    @property
    def iterations(self) -> Sequence[tuple[int, int]]:
        """Positions at which iterations begin, each with the iteration's number."""

    @property
    def here(self) -> float:
        """Where it stands in its time: 0 the beginning, 1 the end."""

    @property
    def wait(self) -> float:
        """Seconds of the wait that is being shown in less time than it took; 0: there is none."""

    def share(self, position: int) -> float:
        """Where an event stands in that time."""

    def at_share(self, share: float) -> int:
        """The position of what had happened by then."""

    def moment(self, position: int) -> tuple[datetime, int]:
        """When the event was, and in which iteration; 0: before the first."""

    def toggle(self) -> None:
        """Play or hold; at the end, play from the start."""

    def seek(self, position: int) -> None:
        """Go there at the next poll, and hold."""

    def step_iteration(self, direction: int) -> None:
        """Go to where the next (1) or this or the last (-1) iteration starts, else to an end."""

    def step_mark(self, direction: int) -> None:
        """Go to the next (1) or the last (-1) alarm or intervention, where there is one."""

    def change_speed(self, direction: int) -> None:
        """Double (1) or halve (-1)."""
