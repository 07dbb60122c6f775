"""What earlier runs have taught, shared between runs. Every call blocks and is run as a job."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ralph_tui.events.memory import Change, Learning

if TYPE_CHECKING:
    from ralph_tui.layers.memory.past import PastReflection, RelatedTask
    from ralph_tui.layers.memory.retrieval import Candidate


@dataclass(frozen=True)
class Promotion:
    """A staged learning that has become knowledge."""

    staged_id: str
    learning: Learning
    """As it stands now."""
    merged: bool
    because: str
    """One sentence."""


@dataclass(frozen=True)
class Credit:
    """How a learning did in one iteration of this run."""

    learning_id: str
    iteration: int
    success: bool


class Knowledge(Protocol):
    """The knowledge files of a repository, as one run uses them.

    A call that was made before changes nothing: a resumed run may repeat its last ones. Each raises
    ``KnowledgeError`` when the files cannot be used.
    """

    def candidates(self, objective: str, task_type: str) -> "Sequence[Candidate]":
        """What may fit, proven and staged by runs that are over, pinned and muted ones too."""

    def stage(self, learnings: Sequence[Learning]) -> None:
        """Keep what this run has learned for a second run to confirm."""

    def credit(self, given: Sequence[Credit]) -> None:
        """Count uses and successes."""

    def rest(self, looked_up: Collection[str]) -> None:
        """Count that this run ends without having looked up what is not among those ids."""

    def promote(self) -> Sequence[Promotion]:
        """Make knowledge of what is proven; gives back every promotion this run has made."""

    def change(self, learning_id: str, change: Change, text: str = "") -> Learning | None:
        """Carry out an owner's wish; the learning as it stands now, None when it is deleted.

        Raises ``KnowledgeError`` when there is no such learning.
        """

    def take_notices(self) -> Sequence[str]:
        """What the owner is to be told of the files since the last call, a sentence each."""


class NoKnowledge:
    """Nothing was learned, and nothing is kept: each run starts fresh."""

    def candidates(self, objective: str, task_type: str) -> "Sequence[Candidate]":
        """None."""
        return ()

    def stage(self, learnings: Sequence[Learning]) -> None:
        """Nothing is kept."""

    def credit(self, given: Sequence[Credit]) -> None:
        """Nothing is counted."""

    def rest(self, looked_up: Collection[str]) -> None:
        """Nothing rests."""

    def promote(self) -> Sequence[Promotion]:
        """None."""
        return ()

    def change(self, learning_id: str, change: Change, text: str = "") -> Learning | None:
        """There is none."""
        return None

    def take_notices(self) -> Sequence[str]:
        """Nothing is to be told."""
        return ()


class PastRuns(Protocol):
    """What the records of earlier runs say. Every call blocks and is run as a job."""

    def reflections(self) -> "Sequence[PastReflection]":
        """Of the earlier attempts of this task, oldest first."""

    def iterations(self) -> Sequence[int]:
        """How many each earlier attempt of this task needed that completed."""

    def related(self) -> "Sequence[RelatedTask]":
        """Tasks like this one, most alike first, at most 5."""

    def index(self) -> Sequence[str]:
        """Let what is recorded by now be found; gives back what the owner is to be told."""


class NoPastRuns:
    """There were none."""

    def reflections(self) -> "Sequence[PastReflection]":
        """None."""
        return ()

    def iterations(self) -> Sequence[int]:
        """None."""
        return ()

    def related(self) -> "Sequence[RelatedTask]":
        """None."""
        return ()

    def index(self) -> Sequence[str]:
        """There is no index."""
        return ()
