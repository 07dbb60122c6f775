"""What a recorded run can be told. Rule: no widgets, no files."""

from collections.abc import Sequence
from typing import Protocol


class Player(Protocol):
    """What a scrubber may do with a recorded run."""

    position: int
    """How many events are applied, or are about to be."""
    length: int
    playing: bool
    speed: int

    @property
    def marks(self) -> Sequence[tuple[int, str]]:
        """Positions right after an alarm or an intervention, with its severity."""
        ...

    def toggle(self) -> None:
        """Play or hold; at the end, play from the start."""
        ...

    def seek(self, position: int) -> None:
        """Go there at the next poll, and hold."""
        ...

    def step_iteration(self, direction: int) -> None:
        """Go to where the next (1) or this or the last (-1) iteration starts."""
        ...

    def step_mark(self, direction: int) -> None:
        """Go to the next (1) or the last (-1) alarm or intervention."""
        ...

    def change_speed(self, direction: int) -> None:
        """Double (1) or halve (-1)."""
        ...
