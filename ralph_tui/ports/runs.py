"""The runs of a repository as a screen lists them, and one row for each.

Rule: importing this module is quick.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

NO_OBJECTIVE = "(its objective cannot be read)"
"""Shown if only other parts of the run can be read."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run's row in a list. Its texts are safe to display."""

    name: str
    """Its name on the command line."""
    objective: str = ""
    """Empty if it cannot be read."""
    status: str = "died"
    """Its outcome, its phase, ``died`` or ``unheard``; `text.terms` translates these names."""
    agent: str = ""
    iterations: int = 0
    max_iterations: int | None = None
    completions: tuple[float, ...] = ()
    """After each iteration, 0 to 1, oldest first; a long run keeps only the latest.

    Before the first iteration ends, it holds the baseline measurement.
    """
    stale: bool = False
    """True if files were restored since the last measurement."""
    interventions: int | None = None
    """Only those stronger than a warning; None if they were not recorded."""
    cost_usd: float | None = None
    """None if the agent does not report it."""
    cost_estimated: bool = False
    started: datetime | None = None
    updated: datetime | None = None
    """Time of its end, of its last event if it is live, or of its last activity if it was lost."""
    seconds: float = 0.0
    """Working time; it excludes the time from an end until the run is resumed."""
    live: bool = False
    """True if a process runs it or, for a loop recorded by hooks, if it was active recently."""
    question: bool = False
    """True if it is waiting for an answer."""
    imported: str = ""
    """The tool that recorded it, if not ralph-tui."""
    problem: str = ""
    """Which file of its record is unusable; the other fields come from other files."""


class FleetGlance(NamedTuple):
    """A fleet's summary on the home screen. Its texts are safe to display."""

    name: str
    """Its name on the command line."""
    title: str
    """Title given by the user; empty if none."""
    objectives: int
    sentence: str
    """Its current state in words."""
    cost: str
    """Cost of its loops in words, as far as their agents report it."""
    end: str = ""
    """Its outcome, or how it was lost, as a key of ``terms.STATES``; empty while it runs."""
    asking: bool = False
    """True if one of its loops is waiting for an answer."""

    @property
    def live(self) -> bool:
        """True if a process is running it."""
        return not self.end


class Runs(Protocol):
    """The runs of a repository for the home screen. Every call blocks, so use a thread."""

    @property
    def place(self) -> str:
        """The folder of these runs, for display."""

    def names(self) -> Sequence[str] | None:
        """Return all names, most recently written first; None if nothing has changed.

        The first call returns only runs that can be found at once.

        Raises ``RalphError`` if the runs cannot be listed.
        """

    def lost(self) -> Sequence[str]:
        """Return a sentence for each place that the last `names` call could not list."""

    def live_names(self) -> Sequence[str]:
        """Return the names of runs that a process is working on now."""

    def read(self, names: Iterable[str]) -> Mapping[str, RunRow]:
        """Return the rows of these runs; runs that no longer exist have none."""

    def fleet(self) -> FleetGlance | None:
        """Return the fleet running here, else the newest; None if there has never been one."""
