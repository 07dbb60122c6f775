"""What a screen needs of the runs of a repository: which there are, and a row of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class RunRow:
    """What a list says of a run. Its texts may be shown as they are."""

    name: str
    """What the command line calls it."""
    objective: str = ""
    """Empty where nothing can be read of it."""
    status: str = "died"
    """Its outcome, the phase it is in, or ``died``: names that `text.terms` has words for."""
    agent: str = ""
    iterations: int = 0
    max_iterations: int | None = None
    completions: tuple[float, ...] = ()
    """After each iteration, 0 to 1, the oldest first; the last ones of a long run."""
    interventions: int | None = None
    """Beyond a warning; None where it was not recorded."""
    cost_usd: float | None = None
    """None where the agent does not tell."""
    cost_estimated: bool = False
    started: datetime | None = None
    updated: datetime | None = None
    """When it ended; of one without an end, when something was recorded last."""
    seconds: float = 0.0
    """That it has lasted, without those between an end and a resume."""
    live: bool = False
    """A process works on it, or sessions of its loop were heard of a while ago."""
    question: bool = False
    """It waits for an answer."""
    imported: str = ""
    """What wrote it, where that was another tool."""


class Runs(Protocol):
    """The runs of a repository, as home lists them. Every call blocks: it is made in a thread."""

    @property
    def place(self) -> str:
        """The folder whose runs these are, as people name it."""
        ...

    def names(self) -> Sequence[str] | None:
        """All of them, the one that was written to last first; None while nothing has changed.

        Raises ``RalphError`` where they cannot be listed.
        """
        ...

    def living(self) -> Sequence[str]:
        """Those that a process works on now."""
        ...

    def read(self, names: Iterable[str]) -> Mapping[str, RunRow]:
        """The rows of these; one that is there no more has none."""
        ...
