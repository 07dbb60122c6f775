"""What a screen needs of the runs that were: places to find, and a source to look at each with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from ralph_tui.ports.source import Source

NOT_SEARCHED: Final = (
    "prompts, test output, and all but an agent's last words before an action are not searched"
)
"""They lie in files of their own, and may be as large as one likes."""


@dataclass(frozen=True)
class Found:
    """A place in the record of a run where what was searched for stands."""

    what: str
    """``objective``, ``reflection``, ``learning``, ``action``, ``outcome``, ``handoff``."""
    run: str
    """``task-001/002``, ``aiwg/1a2b3c4d``, as ``replay`` takes it; empty: in no run any more."""
    text: str
    """A piece of what stands there, sanitized, on one line, around the words that were found."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where in `text` these words stand: beginning and end, in characters."""
    seq: int = 1
    """The event a replay opens at."""
    iteration: int = 0
    """0: before iteration 1, or after the last."""
    objective: str = ""
    """Of the run."""
    at: datetime | None = None


class Archive(Protocol):
    """The runs of a repository. Every call blocks: a screen makes it in a thread."""

    def search(self, query: str, limit: int = 50) -> Sequence[Found]:
        """Where the query's words stand, or what is like it; best first.

        Raises ``RalphError`` where the records cannot be searched.
        """

    def recorded(self, found: Found) -> Source:
        """The recorded run at that moment; raises ``RalphError`` when it is there no more."""
