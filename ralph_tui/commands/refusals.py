"""Why a command cannot be carried out now, said here and nowhere else.

Screens and command line ask `refusal` beforehand; the run asks it last, and answers with its
sentence.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ralph_tui.commands.wishes import (
    Abort,
    Answer,
    ChangeLearning,
    Checkpoint,
    Command,
    EditPrompt,
    Extend,
    Guide,
    Hold,
    Instruct,
    Interrupt,
    Pause,
    Present,
    Restore,
    RetryNow,
    RollOver,
    SetPermissions,
    Stop,
    Unpause,
)
from ralph_tui.events.run import UNRESTRICTED
from ralph_tui.text.terms import ALLOWING, GONE, PAUSE_ASKED_ALREADY, PAUSED_ALREADY, who_words

if TYPE_CHECKING:
    from ralph_tui.events import QuestionAsked
    from ralph_tui.state import RunState

MOST_ITERATIONS = 1000
MOST_HANDOFF = 3999
"""Characters of one as you edit it; with the end of its last line it has 4000."""
"""Of a run, granted ones included."""
MOST_ROLLOVERS = 3
"""Of one iteration: a task that fills four windows is too large for it."""
MOST_GUIDANCE = 20
"""Pieces that may wait for the next prompt."""
NOT_NOW: Mapping[type[Command], str] = {
    Checkpoint: "no session runs that could change files",
    Interrupt: "no session runs",
    RollOver: "no session runs",
    RetryNow: "the run is not waiting for a limit or a service",
}
"""Why a wait does not take what only some take."""
WATCHED = "its sessions are not ralph-tui's: it is watched here, not commanded"
"""Of a loop that hooks have recorded."""
IMPORTED = "another tool has recorded this run: it can only be looked at"
NO_MONEY = "the run has no budget in dollars that could grow"


def empowers(command: Command) -> bool:
    """Whether only a person is to say it: it may widen what the agent can do, or tells presence."""
    allows = isinstance(command, Answer) and command.answer in ALLOWING
    return allows or isinstance(command, SetPermissions | Present)


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


def files_rest(state: "RunState") -> bool:
    """Whether neither the agent nor the completion command uses the files."""
    asked = state.needs.question is not None and not state.run.session_running
    return state.run.paused or asked


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
        case Checkpoint() | Interrupt() | RollOver() | RetryNow() if not taken:
            return NOT_NOW[type(command)]
        case RollOver():
            return _rollover_refusal(state)
        case Abort(roll_back_to=int(number)) | Restore(snapshot=number) if (
            number not in state.timeline.snapshots
        ):
            return f"there is no snapshot {number} in this run"
        case Restore() if not taken:
            return "the files are in use: pause the run, and restore when it is paused"
        case Hold() | Answer():
            return _question_refusal(command, state)
        case Extend() | ChangeLearning() | EditPrompt() | Instruct() | Stop():
            return _change_refusal(command, state)
        case SetPermissions() if run.started and run.started.permissions == UNRESTRICTED:
            return "this agent keeps to no permissions: it may do whatever you may"
    return None


def _taken(command: Command, state: "RunState") -> bool:
    """Whether the wait that goes on takes the command, as far as the state tells."""
    match command:
        case Checkpoint():
            return state.run.session_running or state.run.paused
        case Interrupt() | RollOver():
            return state.run.session_running
        case RetryNow():
            return state.needs.wait is not None
        case Restore():
            return files_rest(state)
    return True


def _rollover_refusal(state: "RunState") -> str | None:
    use = state.context.use
    if state.context.requested_by:
        return "the session is about to hand over already"
    if use is not None and use.rollovers >= MOST_ROLLOVERS:
        return f"this iteration has had {MOST_ROLLOVERS} rollovers already"
    return None


def _change_refusal(
    command: Extend | ChangeLearning | EditPrompt | Instruct | Stop, state: "RunState"
) -> str | None:
    match command:
        case Stop():
            return _stop_refusal(command, state)
        case Extend():
            return _extend_refusal(command, state)
        case ChangeLearning():
            return _learning_refusal(command, state)
        case _:
            return _prompt_refusal(command, state)


def _stop_refusal(command: Stop, state: "RunState") -> str | None:
    asked = state.run.stopping == "after_iteration"
    if command.mode == "taken_back" and not asked:
        return "no stop is asked for that could be taken back"
    if command.mode == "after_iteration" and asked:
        return "a stop was asked for already"
    return None


def _prompt_refusal(command: EditPrompt | Instruct, state: "RunState") -> str | None:
    known = state.intelligence
    if isinstance(command, Instruct):
        if not command.text.strip() and not known.standing_instruction:
            return "no standing instruction is set"
        return None
    if command.wanted and state.run.started and state.run.started.mode == "headless":
        return "this run was started headless: nobody is asked before a prompt is sent"
    if command.wanted == known.edit_requested:
        already = "will be shown before it is sent" if command.wanted else "is sent as it is"
        return f"the next prompt {already} already"
    return None


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
    if seen is None:
        return f"this run has seen no learning {command.learning_id}"
    if seen.gone:
        return GONE[seen.gone]
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
        return f"that question was answered already: {last.answer}, by {who_words(last.by)}"
    return "that question is closed already"


def _answer_refusal(command: Answer, question: "QuestionAsked", state: "RunState") -> str | None:
    meant = [option for option in question.options if option.answer == command.answer]
    if not meant:
        known = dict.fromkeys(option.answer for option in question.options)
        return f"{command.answer} is no answer to it: {', '.join(known)} are"
    if question.topic == "handoff" and len(command.text.strip()) > MOST_HANDOFF:
        length = f"{len(command.text.strip()):,}"
        return f"a handoff has at most {MOST_HANDOFF:,} characters, and this has {length}"
    match meant[0].takes:
        case "words" if not command.text.strip():
            return f"{command.answer} needs words: add them"
        case "choices":
            return _choices_refusal(command, question)
        case "more" | "iterations" | "money" as takes:
            return _grant_refusal(command, takes, state)
    return None


def _grant_refusal(command: Answer, takes: str, state: "RunState") -> str | None:
    iterations, dollars = command.iterations, command.budget_usd
    if not ((takes != "money" and iterations) or (takes != "iterations" and dollars)):
        kinds = {"iterations": "iterations", "money": "dollars"}
        return f"{command.answer} needs a number: {kinds.get(takes, 'iterations, or dollars')}"
    if dollars and state.run.budget_usd is None:
        return NO_MONEY
    if state.run.max_iterations + iterations > MOST_ITERATIONS:
        return f"a run has at most {MOST_ITERATIONS} iterations"
    return None


def _choices_refusal(command: Answer, question: "QuestionAsked") -> str | None:
    asked = question.request.choices if question.request is not None else []
    if len(command.choices) != len(asked):
        return f"it asks {len(asked)} things, and {len(command.choices)} are answered: answer each"
    for one, labels in zip(asked, command.choices, strict=True):
        if len(labels) > 1 and not one.multiple:
            return f"only one answer can be given to: {one.question}"
        if not any(label.strip() for label in labels):
            return f"an answer is empty: {one.question}"
    return None
