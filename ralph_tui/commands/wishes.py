"""The commands: one class for each wish of the owner."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ralph_tui.events.memory import Change
from ralph_tui.events.run import StopMode
from ralph_tui.events.text import Line, Plain

Chosen = Annotated[Plain, Field(min_length=1, max_length=2000)]


class Command(BaseModel):
    """One wish of the owner; `by` says where it was given."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    by: Line = "you"


class Pause(Command):
    """Hold before the next iteration."""

    name: Literal["pause"] = "pause"


class Unpause(Command):
    """Go on."""

    name: Literal["unpause"] = "unpause"


class Guide(Command):
    """Words for the agent: into its session where it can take them, else into the next prompt."""

    name: Literal["guide"] = "guide"
    text: Plain = Field(min_length=1, max_length=100_000)


class Abort(Command):
    """Give the run up; the work stays as it is, or goes back to a snapshot."""

    name: Literal["abort"] = "abort"
    roll_back_to: int | None = Field(default=None, ge=1)
    """Number of a snapshot."""


class Checkpoint(Command):
    """Capture the present."""

    name: Literal["checkpoint"] = "checkpoint"
    note: Plain = ""


class RollOver(Command):
    """End the session with a handoff, and let a fresh one of the same iteration go on."""

    name: Literal["rollover"] = "rollover"
    note: Line = Field(default="", max_length=1000)
    """Why."""


class Stop(Command):
    """Leave the run: now, or when the iteration is done, which can be taken back until then."""

    name: Literal["stop"] = "stop"
    mode: StopMode = "now"


class Interrupt(Command):
    """End the agent's turn; the run goes on."""

    name: Literal["interrupt"] = "interrupt"


class RetryNow(Command):
    """Do not wait for the end of a limit."""

    name: Literal["retry"] = "retry"


class Answer(Command):
    """Decide an open question; it names the question, for it may have been answered meanwhile."""

    name: Literal["answer"] = "answer"
    question_id: Line
    answer: Line
    text: Plain = Field(default="", max_length=100_000)
    """Guidance, or the instructions as edited; empty: as proposed."""
    iterations: int = Field(default=0, ge=0, le=1000)
    """More iterations."""
    budget_usd: float = Field(default=0.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """More money, dollars."""
    choices: tuple[Annotated[tuple[Chosen, ...], Field(min_length=1, max_length=20)], ...] = Field(
        default=(), max_length=20
    )
    """For each of the agent's own questions in order, the labels chosen, or words of one's own."""


class Present(Command):
    """A key or the mouse was used at a screen of the run: its countdowns are held for a while."""

    name: Literal["present"] = "present"


class Hold(Command):
    """Stop a question's countdown: somebody is thinking about it."""

    name: Literal["hold"] = "hold"
    question_id: Line


class Extend(Command):
    """Grant more iterations or money, or take iterations back."""

    name: Literal["extend"] = "extend"
    iterations: int = Field(default=0, ge=-1000, le=1000)
    budget_usd: float = Field(default=0.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Dollars."""


class Restore(Command):
    """Bring the files back to a snapshot; the present is held first."""

    name: Literal["restore"] = "restore"
    snapshot: int = Field(ge=1)


class SetPermissions(Command):
    """What the agent may do from its next session on."""

    name: Literal["permissions"] = "permissions"
    mode: Literal["edits", "skip", "ask"]
    allow: tuple[Line, ...] = ()


class ChangeLearning(Command):
    """Pin, mute, edit or delete what a run has looked up or learned."""

    name: Literal["learning"] = "learning"
    learning_id: Line
    change: Change
    text: Plain = Field(default="", max_length=10_000)
    """The new words of an ``edit``."""


class Reflect(Command):
    """What is to be done differently the next time, in the owner's words."""

    name: Literal["reflect"] = "reflect"
    text: Plain = Field(min_length=1, max_length=10_000)


class EditPrompt(Command):
    """Show the next prompt before it is sent, to be edited; or do not any more."""

    name: Literal["edit_prompt"] = "edit_prompt"
    wanted: bool = True


class Instruct(Command):
    """Words that every prompt carries from here on; empty: none any more."""

    name: Literal["instruct"] = "instruct"
    text: Plain = Field(default="", max_length=10_000)


AnyCommand = Annotated[
    Pause
    | Unpause
    | Guide
    | Abort
    | Checkpoint
    | RollOver
    | Stop
    | Interrupt
    | RetryNow
    | Answer
    | Hold
    | Present
    | Extend
    | Restore
    | SetPermissions
    | ChangeLearning
    | Reflect
    | EditPrompt
    | Instruct,
    Field(discriminator="name"),
]
