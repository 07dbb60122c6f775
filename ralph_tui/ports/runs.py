"""What a screen needs of the runs of a repository: which there are, and a row of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ralph_tui.text.run_row import RunRow


@dataclass(frozen=True)
class FleetGlance:
    """What home says of a fleet. Its texts may be shown as they are."""

    name: str
    """What the command line calls it."""
    title: str
    """What its user calls it; empty: nothing."""
    objectives: int
    sentence: str
    """How it stands."""
    cost: str
    """What its loops have cost, in words, as far as their agents tell."""
    live: bool
    """A process works on it."""
    asking: bool = False
    """One of its loops waits for an answer."""


class Runs(Protocol):
    """The runs of a repository, as home lists them. Every call blocks: it is made in a thread."""

    @property
    def place(self) -> str:
        """The folder whose runs these are, as people name it."""

    def names(self) -> Sequence[str] | None:
        """All of them, the one that was written to last first; None while nothing has changed.

        The first call gives back those that are found at once.

        Raises ``RalphError`` where they cannot be listed.
        """

    def lost(self) -> Sequence[str]:
        """A sentence for each place whose runs cannot be listed, as of the last `names`."""

    def living(self) -> Sequence[str]:
        """Those that a process works on now."""

    def read(self, names: Iterable[str]) -> "Mapping[str, RunRow]":
        """The rows of these; one that is there no more has none."""

    def fleet(self) -> FleetGlance | None:
        """The fleet that lives here, else the newest; None: there never was one."""
