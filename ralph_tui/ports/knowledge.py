"""Knowledge shared between runs. Every call blocks, so run it as a job."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ralph_tui.events import EarlierWindowsRead
from ralph_tui.events.memory import Change, Learning

if TYPE_CHECKING:
    from ralph_tui.layers.memory.past import PastReflection, RelatedTask
    from ralph_tui.layers.memory.retrieval import Candidate


@dataclass(frozen=True)
class Promotion:
    """A staged learning that has become knowledge."""

    staged_id: str
    learning: Learning
    """The learning in its current form."""
    merged: bool
    because: str
    """Reason in one sentence."""


@dataclass(frozen=True)
class Credit:
    """Outcome of one use of a learning: the iteration it was used in, and its success."""

    learning_id: str
    iteration: int
    success: bool


class Knowledge(Protocol):
    """The knowledge files of a repository, as used by one run.

    Calls are idempotent, because a resumed run may repeat its last ones. Each raises
    ``KnowledgeError`` if the files cannot be used.
    """

    def candidates(self, objective: str, task_type: str) -> "Sequence[Candidate]":
        """Return learnings that may fit: proven or staged by ended runs, including muted ones."""

    def stage(self, learnings: Sequence[Learning]) -> None:
        """Store what this run has learned until a second run confirms it."""

    def credit(self, given: Sequence[Credit]) -> None:
        """Count uses and successes of learnings."""

    def rest(self, looked_up: Collection[str]) -> None:
        """Count this run as one without the dropped learnings, except those in `looked_up`."""

    def promote(self) -> Sequence[Promotion]:
        """Promote proven learnings to knowledge; return all promotions made by this run."""

    def change(self, learning_id: str, change: Change, text: str = "") -> Learning | None:
        """Apply the user's change; return the learning as it is now, None if it was deleted.

        Raises ``KnowledgeError`` if there is no such learning.
        """

    def take_notices(self) -> Sequence[str]:
        """Return new messages for the user about the files, one sentence each."""


class NoKnowledge:
    """An empty knowledge store that keeps nothing, so each run starts fresh."""

    def candidates(self, objective: str, task_type: str) -> "Sequence[Candidate]":
        return ()

    def stage(self, learnings: Sequence[Learning]) -> None:
        pass

    def credit(self, given: Sequence[Credit]) -> None:
        pass

    def rest(self, looked_up: Collection[str]) -> None:
        pass

    def promote(self) -> Sequence[Promotion]:
        return ()

    def change(self, learning_id: str, change: Change, text: str = "") -> Learning | None:
        return None

    def take_notices(self) -> Sequence[str]:
        return ()


class PastRuns(Protocol):
    """Records of earlier runs. Every call blocks, so run it as a job."""

    def reflections(self) -> "Sequence[PastReflection]":
        """Return reflections from earlier attempts at this task, oldest first."""

    def iterations(self) -> Sequence[int]:
        """Return the iteration counts of earlier attempts at this task that completed."""

    def related(self) -> "Sequence[RelatedTask]":
        """Return similar tasks, most similar first, at most 5."""

    def windows(self) -> EarlierWindowsRead:
        """Return how much of their context windows the latest runs in this repository used."""

    def index(self) -> Sequence[str]:
        """Add new records to the search index; return messages for the user."""


class NoPastRuns:
    """An empty record of earlier runs."""

    def reflections(self) -> "Sequence[PastReflection]":
        return ()

    def iterations(self) -> Sequence[int]:
        return ()

    def related(self) -> "Sequence[RelatedTask]":
        return ()

    def windows(self) -> EarlierWindowsRead:
        return EarlierWindowsRead(runs=0)

    def index(self) -> Sequence[str]:
        return ()
