"""What every command has: when it is refused, and what it does.

Screens and command line ask `refusal` before they offer a command; the run asks it last, and
answers with its sentence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from ralph_tui.events import Event, QuestionAnswered
from ralph_tui.events.memory import Change
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line

if TYPE_CHECKING:
    from ralph_tui.state import RunState

WATCHED = "its sessions are not ralph-tui's: it is watched here, not commanded"
"""Of a loop that hooks have recorded."""
IMPORTED = "another tool has recorded this run: it can only be looked at"
NO_MONEY = "the run has no budget in dollars that could grow"
MOST_ITERATIONS = 1000
"""Of a run, granted ones included."""


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


class Steered(Protocol):
    """A waiting run, as a command sees it."""

    state: "RunState"
    controls: Controls

    def record(self, event: Event) -> None:
        """Journal and fold an event."""

    def end(self, outcome: Outcome, reason: str) -> None:
        """End the run: what works is stopped, and the wait that goes on raises `Ended`."""

    @property
    def works(self) -> bool:
        """Whether a session works."""

    def say(self, guidance_id: str, text: str) -> None:
        """Give words to the session, where one works and takes them."""

    def interrupt(self) -> None:
        """End the turn of the session."""

    def change_learning(self, learning_id: str, change: Change, text: str, by: str) -> None:
        """Change the knowledge file; it is told when that is done, or why it is not."""

    def reflect(self, text: str) -> None:
        """Record a reflection in the owner's words."""


class Command(BaseModel):
    """One wish of the owner; `by` says where it was given."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    by: Line = "you"

    while_stopping: ClassVar[bool] = False
    """Whether it is still carried out once the run begins nothing new."""

    @property
    def empowers(self) -> bool:
        """Whether only a person may say it: it widens what the agent can do, or tells presence."""
        return False

    def taken(self, state: "RunState") -> bool:
        """Whether the wait that goes on takes it, as far as the state tells."""
        return True

    def offered(self, run: Steered) -> bool:
        """The same, as the run knows: sooner than its state."""
        return True

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        """Why it cannot be carried out in a run that goes on; `taken`: by the present wait."""
        return None

    def carry_out(self, run: Steered) -> None:
        """Record what follows, and begin it."""
        raise NotImplementedError


def over(state: "RunState") -> str | None:
    """Why nothing more can be asked of the run; None while it goes on."""
    if state.run.finished or state.run.crash:
        return "the run is over"
    if state.run.started is not None and state.run.started.watched:
        return WATCHED
    return "the run is being aborted" if state.run.aborting else None


def stopping(state: "RunState") -> str | None:
    """Why the run begins nothing new; None while it does."""
    return "the run is being stopped" if state.run.stopping == "now" else over(state)


def refusal(command: Command, state: "RunState", run: Steered | None = None) -> str | None:
    """Why the command cannot be carried out now, in one sentence; None when it can.

    `run` is asked what its present wait takes; without it the state tells.
    """
    if reason := over(state) if command.while_stopping else stopping(state):
        return reason
    taken = command.taken(state) if run is None else command.offered(run)
    return command.refused(state, taken=taken)
