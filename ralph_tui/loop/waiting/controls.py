"""What may be done while the loop waits: each wait offers its own controls, and takes them back.

A handler of a command works with these alone. It knows neither the scheduler, which calls it, nor
the step that waits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from ralph_tui.errors import RalphError
from ralph_tui.events import Event, QuestionAnswered
from ralph_tui.events.run import Outcome
from ralph_tui.ports import Host, Job, Knowledge, Session
from ralph_tui.state import RunState

T = TypeVar("T")


class Ended(Exception):  # noqa: N818  an end is not an error
    """The run's end, raised where the loop waits and caught where it closes."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class Late(RalphError):  # noqa: N818  as above
    """A job has not ended in its time; it is let go, and may end still."""

    def __init__(self, job: Job, within_s: float) -> None:
        super().__init__(f"{job.name} has given no answer within {within_s:.0f} s")
        self.job = job


@dataclass(frozen=True)
class Controls:
    """What one wait offers; None where it does not."""

    capture: Callable[[str, str], None] | None = None
    """Begins a checkpoint with this note; its events come when it is taken."""
    restore: Callable[[int, str], None] | None = None
    """Begins to bring the files back to the snapshot of this number, for whom the text names."""
    answered: Callable[[QuestionAnswered], None] | None = None
    """Does what the answer to the open question says."""
    look_after: Callable[[], None] | None = None
    """Called at every look into the inbox, about once a second; records what it has to tell."""
    cancel: Callable[[], None] | None = None
    """Ends the completion command that is waited for."""
    retry: Callable[[str], None] | None = None
    """Ends the wait for a moment; the text names who wants to."""


class Steerable(Protocol):
    """A waiting run, as the handlers of commands see it."""

    state: RunState
    controls: Controls
    session: Session | None
    """The session that works, if one does."""
    knowledge: Knowledge
    """What earlier runs have taught."""
    host: Host
    seen_at: datetime | None
    """When somebody was last at a screen of the run."""

    def record(self, event: Event) -> None:
        """Journal and fold an event."""
        ...

    @property
    def ending(self) -> bool:
        """Whether the run is on its way out, and takes no more commands."""
        ...

    def spawn(self, name: str, work: Callable[[], object], then: Callable[[Job], None]) -> None:
        """Run `work` without waiting; `then` tells its events when it is done."""
        ...

    def hurry(self) -> None:
        """No job takes long from now on: the owner wants the end of the run."""
        ...

    def end(self, outcome: Outcome, reason: str) -> None:
        """End the run: what works is stopped, and the wait that goes on raises `Ended`."""
        ...
