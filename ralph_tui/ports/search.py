"""Search in the records of earlier runs, and a way to open each hit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from ralph_tui.ports.source import Source

NOT_SEARCHED: Final = "prompts, test output and most of an agent's messages are not searched"
"""These texts are in separate files, which may be of any size."""


@dataclass(frozen=True)
class Found:
    """A search hit: a place in a run's record."""

    what: str
    """Kind: ``objective``, ``reflection``, ``learning``, ``action``, ``outcome``, ``handoff``."""
    run: str
    """As ``replay`` accepts it (``task-001/002``, ``aiwg/1a2b3c4d``); empty if its run is gone."""
    text: str
    """Excerpt around the words found, sanitized, on one line."""
    marks: tuple[tuple[int, int], ...] = ()
    """Start and end of each word found, as character offsets in `text`."""
    seq: int = 1
    """The event at which a replay opens."""
    iteration: int = 0
    """0 before iteration 1 and after the last one."""
    objective: str = ""
    at: datetime | None = None


class Archive(Protocol):
    """The runs of a repository. Every call blocks, so use a thread."""

    def search(self, query: str, limit: int = 50) -> Sequence[Found]:
        """Search for the query's words or similar text; best hit first.

        Raises ``RalphError`` if the records cannot be searched.
        """

    def recorded(self, found: Found) -> Source:
        """Open the recorded run at the hit. Raises ``RalphError`` if the run no longer exists."""
