"""What a screen needs of the runs of a repository: which there are, and a row of each.

Rule: it is quick to import.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

NO_OBJECTIVE = "(its objective cannot be read)"
"""Of a run of which other things can be read."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """What a list says of a run. Its texts may be shown as they are."""

    name: str
    """What the command line calls it."""
    objective: str = ""
    """Empty where nothing can be read of it."""
    status: str = "died"
    """Its outcome, its phase, ``died``, ``unheard``: names that `text.terms` has words for."""
    agent: str = ""
    iterations: int = 0
    max_iterations: int | None = None
    completions: tuple[float, ...] = ()
    """After each iteration, 0 to 1, the oldest first, the last ones of a long run; before the first
    has ended what was measured before it."""
    interventions: int | None = None
    """Beyond a warning; None where it was not recorded."""
    cost_usd: float | None = None
    """None where the agent does not tell."""
    cost_estimated: bool = False
    started: datetime | None = None
    updated: datetime | None = None
    """When it ended; of a live one when it recorded something last, of a lost one its last sign."""
    seconds: float = 0.0
    """That it has lasted, without those between an end and a resume."""
    live: bool = False
    """A process works on it, or sessions of its loop were heard of a while ago."""
    question: bool = False
    """It waits for an answer."""
    imported: str = ""
    """What wrote it, where that was another tool."""
    problem: str = ""
    """Which file of its record cannot be used; what else is said of it is made up of others."""


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

    def read(self, names: Iterable[str]) -> Mapping[str, RunRow]:
        """The rows of these; one that is there no more has none."""

    def fleet(self) -> FleetGlance | None:
        """The fleet that lives here, else the newest; None: there never was one."""
