"""What a human may ask of a run: commands go into the engine's inbox, events come back.

Rule: why a command cannot be carried out now is said here and nowhere else. Screens and
command line ask `refusal` beforehand; the run asks it last, and answers with its sentence.
"""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ralph_tui.events.memory import Change
from ralph_tui.events.run import UNRESTRICTED, StopMode
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.terms import PAUSE_ASKED_ALREADY, PAUSED_ALREADY

if TYPE_CHECKING:
    from ralph_tui.events import QuestionAsked
    from ralph_tui.state import RunState

MOST_ITERATIONS = 1000
"""Of a run, granted ones included."""
MOST_GUIDANCE = 20
"""Pieces that may wait for the next prompt."""
NO_MONEY = "the run has no budget in dollars that could grow"


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


class Stop(Command):
    """Leave the run: now, or when the iteration is done. It can be started again."""

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
    mode: Literal["edits", "skip"]
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


AnyCommand = Annotated[
    Pause
    | Unpause
    | Guide
    | Abort
    | Checkpoint
    | Stop
    | Interrupt
    | RetryNow
    | Answer
    | Hold
    | Extend
    | Restore
    | SetPermissions
    | ChangeLearning
    | Reflect,
    Field(discriminator="name"),
]


def empowers(command: Command) -> bool:
    """Whether it may widen what the agent can do: only a person is to say that."""
    return isinstance(command, SetPermissions)


def over(state: "RunState") -> str | None:
    """Why nothing more can be asked of the run; None while it goes on."""
    if state.run.finished or state.run.crash:
        return "the run is over"
    return "the run is being aborted" if state.run.aborting else None


def stopping(state: "RunState") -> str | None:
    """Why the run begins nothing new; None while it does."""
    return "the run is being stopped" if state.run.stopping == "now" else over(state)


def files_rest(state: "RunState") -> bool:
    """Whether neither the agent nor the completion command uses the files."""
    return state.run.paused or state.needs.question is not None


def refusal(command: Command, state: "RunState", *, offered: bool | None = None) -> str | None:
    """Why the run cannot carry the command out now, in one sentence; None when it can.

    `offered` tells whether the wait that goes on takes the command, which a run knows sooner than
    its state does; None: as far as the state tells.
    """
    run = state.run
    can_wait = isinstance(command, Abort | Stop | Answer | Hold | Restore)
    if reason := over(state) if can_wait else stopping(state):
        return reason
    taken = _taken(command, state) if offered is None else offered
    match command:
        case Pause() if run.paused or run.pause_requested:
            return PAUSED_ALREADY if run.paused else PAUSE_ASKED_ALREADY
        case Unpause() if not (run.paused or run.pause_requested):
            return "the run is not paused"
        case Guide() if len(state.guidance.queued) >= MOST_GUIDANCE:
            return f"{MOST_GUIDANCE} pieces wait for the next prompt already"
        case Checkpoint() if not taken:
            return "no session runs that could change files"
        case Interrupt() if not taken:
            return "no session runs"
        case RetryNow() if not taken:
            return "the run waits for no limit"
        case Abort(roll_back_to=int(number)) | Restore(snapshot=number) if (
            number not in state.timeline.snapshots
        ):
            return f"there is no snapshot {number} in this run"
        case Restore() if not taken:
            return "the files are in use: pause the run, and restore when it holds"
        case Hold() | Answer():
            return _question_refusal(command, state)
        case Extend() | ChangeLearning():
            return _change_refusal(command, state)
        case SetPermissions() if run.started and run.started.permissions == UNRESTRICTED:
            return "this agent keeps to no permissions: it may do whatever you may"
    return None


def _taken(command: Command, state: "RunState") -> bool:
    """Whether the wait that goes on takes the command, as far as the state tells."""
    match command:
        case Checkpoint():
            return state.run.session_running or state.run.paused
        case Interrupt():
            return state.run.session_running
        case RetryNow():
            return state.needs.wait is not None
        case Restore():
            return files_rest(state)
    return True


def _change_refusal(command: Extend | ChangeLearning, state: "RunState") -> str | None:
    if isinstance(command, Extend):
        return _extend_refusal(command, state)
    return _learning_refusal(command, state)


def _extend_refusal(command: Extend, state: "RunState") -> str | None:
    run = state.run
    if command.budget_usd and run.budget_usd is None:
        return NO_MONEY
    if run.max_iterations + command.iterations > MOST_ITERATIONS:
        return f"a run has at most {MOST_ITERATIONS} iterations"
    if run.max_iterations + command.iterations < max(1, run.iteration):
        return f"iteration {run.iteration} has begun"
    if not (command.iterations or command.budget_usd):
        return "by nothing: name iterations or dollars"
    return None


def _learning_refusal(command: ChangeLearning, state: "RunState") -> str | None:
    seen = state.memory.seen.get(command.learning_id)
    if seen is None or seen.deleted:
        return f"this run has seen no learning {command.learning_id}"
    if command.change == "edit" and not command.text.strip():
        return "an edit needs words: give some, or delete the learning"
    return None


def _question_refusal(command: Hold | Answer, state: "RunState") -> str | None:
    question, last = state.needs.question, state.needs.answer
    if question is not None and question.question_id == command.question_id:
        if isinstance(command, Answer):
            return _answer_refusal(command, question, state)
        return "no countdown runs" if question.deadline is None else None
    if isinstance(command, Answer) and last and last.question_id == command.question_id:
        return f"that question was answered already: {last.answer}, by {last.by}"
    return "that question is closed already"


def _answer_refusal(command: Answer, question: "QuestionAsked", state: "RunState") -> str | None:
    meant = [option for option in question.options if option.answer == command.answer]
    if not meant:
        known = dict.fromkeys(option.answer for option in question.options)
        return f"{command.answer} is no answer to it: {', '.join(known)} are"
    match meant[0].takes:
        case "words" if not command.text.strip():
            return f"{command.answer} needs words for the agent: give some"
        case "more" if not (command.iterations or command.budget_usd):
            return f"{command.answer} needs a number: iterations, or dollars"
        case "more" if command.budget_usd and state.run.budget_usd is None:
            return NO_MONEY
        case "more" if state.run.max_iterations + command.iterations > MOST_ITERATIONS:
            return f"a run has at most {MOST_ITERATIONS} iterations"
    return None
