"""Base class of all commands: when a command is refused, and what it does.

Screens and the command line check `refusal` before they offer a command. The run checks it again
and replies with the reason.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from ralph_tui.events import Event, QuestionAnswered
from ralph_tui.events.memory import Change
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line

if TYPE_CHECKING:
    from ralph_tui.state import RunState

WATCHED = "ralph-tui did not start its sessions; you can only watch it"
"""Refusal for a loop recorded by hooks."""
IMPORTED = "another tool recorded this run; it is read-only"
NO_MONEY = "the run has no dollar budget to raise"
MAX_ITERATIONS = 1000
"""Maximum number of iterations in one run, including granted ones."""


class Controls(NamedTuple):
    """Callbacks for the commands that the current wait accepts; None for the others."""

    capture: Callable[[str, str], None] | None = None
    """Start a checkpoint with this note; its events follow once it is captured."""
    restore: Callable[[int, str], None] | None = None
    """Start restoring the snapshot with this number; the text names the requester."""
    answered: Callable[[QuestionAnswered], None] | None = None
    """Apply the answer to the open question."""
    look_after: Callable[[], None] | None = None
    """Called about once a second, at every check of the inbox; records any news."""
    cancel: Callable[[], None] | None = None
    """Cancel the completion command that is running."""
    retry: Callable[[str], None] | None = None
    """End the wait for a limit or a service; the text names the requester."""


class Steered(Protocol):
    """What commands need from a waiting run."""

    state: "RunState"
    controls: Controls

    def record(self, event: Event) -> None:
        """Write the event to the journal and apply it to the state."""

    def end(self, outcome: Outcome, reason: str) -> None:
        """End the run: stop running work, and raise `Ended` from the current wait."""

    @property
    def works(self) -> bool:
        """True if an agent session is running."""

    def say(self, guidance_id: str, text: str) -> None:
        """Send guidance to the session, if one is running and accepts it."""

    def interrupt(self) -> None:
        """Interrupt the session's turn."""

    def change_learning(self, learning_id: str, change: Change, text: str, by: str) -> None:
        """Change the knowledge file; an event reports success or the reason for failure."""

    def reflect(self, text: str) -> None:
        """Record a reflection written by the user."""


class Command(BaseModel):
    """A request from the user; `by` names where it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    by: Line = "you"

    while_stopping: ClassVar[bool] = False
    """True if the command still works while the run is stopping."""

    @property
    def empowers(self) -> bool:
        """True if only a person may send the command: it widens permissions or signals presence."""
        return False

    def taken(self, state: "RunState") -> bool:
        """True if the current wait accepts the command, judging by the state."""
        return True

    def offered(self, run: Steered) -> bool:
        """Like `taken`, but ask the run itself, which is more up to date than its state."""
        return True

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        """Return why a live run refuses the command; `taken`: the current wait accepts it."""
        return None

    def carry_out(self, run: Steered) -> None:
        """Record the resulting events and start the action."""
        raise NotImplementedError


def over(state: "RunState") -> str | None:
    """Return why the run accepts no more commands; None while it is running."""
    if state.run.finished or state.run.crash:
        return "the run has ended"
    if state.run.started is not None and state.run.started.watched:
        return WATCHED
    return "the run is being aborted" if state.run.aborting else None


def stopping(state: "RunState") -> str | None:
    """Return why the run can start nothing new; None if it can."""
    return "the run is being stopped" if state.run.stopping == "now" else over(state)


def refusal(command: Command, state: "RunState", run: Steered | None = None) -> str | None:
    """Return why the command cannot be carried out now, in one sentence; None if it can.

    With `run`, its current wait decides; otherwise the state does.
    """
    if reason := over(state) if command.while_stopping else stopping(state):
        return reason
    taken = command.taken(state) if run is None else command.offered(run)
    return command.refused(state, taken=taken)
