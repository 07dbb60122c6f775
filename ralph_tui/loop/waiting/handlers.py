"""What each command does: a handler per command, which answers with events.

What cannot be done now is refused with a reason.
"""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from ralph_tui.commands import (
    Abort,
    Answer,
    Checkpoint,
    Command,
    Extend,
    Guide,
    Hold,
    Interrupt,
    Pause,
    Restore,
    RetryNow,
    SetPermissions,
    Stop,
    Unpause,
)
from ralph_tui.events import (
    AbortRequested,
    CommandRefused,
    GuidanceQueued,
    InterruptRequested,
    LimitsChanged,
    PauseRequested,
    PermissionsChanged,
    QuestionAnswered,
    QuestionAsked,
    QuestionHeld,
    StopRequested,
    Unpaused,
)
from ralph_tui.loop.waiting.controls import Steerable, Steps
from ralph_tui.state import RunState

MOST_ITERATIONS = 1000
MOST_WAITING = 20
"""Pieces of guidance that may wait for the next prompt."""
NO_MONEY = "the run has no budget in dollars that could grow"


def handle(waiting: Steerable, command: Command) -> Steps[None]:
    """Carry out one command of the owner, or refuse it."""
    if waiting.ending:
        yield CommandRefused(command=command.name, reason="the run is ending")
    else:
        yield from HANDLERS[type(command)](waiting, command)


def _pause(waiting: Steerable, command: Pause) -> Steps[None]:
    run = waiting.state.run
    if run.paused or run.pause_requested:
        yield CommandRefused(command="pause", reason="a pause was asked for already")
    else:
        yield PauseRequested(by=command.by)


def _unpause(waiting: Steerable, command: Unpause) -> Steps[None]:
    run = waiting.state.run
    if run.paused or run.pause_requested:
        yield Unpaused(by=command.by)
    else:
        yield CommandRefused(command="unpause", reason="the run is not paused")


def _guide(waiting: Steerable, command: Guide) -> Steps[None]:
    if len(waiting.state.guidance.queued) >= MOST_WAITING:
        reason = f"{MOST_WAITING} pieces wait for the next prompt already"
        yield CommandRefused(command="guide", reason=reason)
        return
    guidance = GuidanceQueued(guidance_id=str(uuid4()), text=command.text, by=command.by)
    yield guidance
    # What the session cannot take now stays queued, and the next prompt carries it.
    if waiting.session is not None and waiting.session.takes_guidance:
        waiting.session.send(guidance.guidance_id, guidance.text)


def _checkpoint(waiting: Steerable, command: Checkpoint) -> Steps[None]:
    if waiting.controls.capture is None:
        yield CommandRefused(command="checkpoint", reason="no session runs that could change files")
    else:
        waiting.controls.capture(command.note)


def _stop(waiting: Steerable, command: Stop) -> Steps[None]:
    yield StopRequested(mode=command.mode, by=command.by)
    if command.mode == "now":
        waiting.end("interrupted", f"stopped by {command.by}")


def _abort(waiting: Steerable, command: Abort) -> Steps[None]:
    number = command.roll_back_to
    if number is not None and number not in waiting.state.timeline.snapshots:
        yield CommandRefused(command="abort", reason=f"there is no snapshot {number} in this run")
        return
    yield AbortRequested(by=command.by, roll_back_to=number)
    work = "stays as it is" if number is None else f"goes back to snapshot {number}"
    waiting.end("aborted", f"aborted by {command.by}; the work {work}")


def _interrupt(waiting: Steerable, command: Interrupt) -> Steps[None]:
    if waiting.session is None:
        yield CommandRefused(command="interrupt", reason="no session runs")
    else:
        yield InterruptRequested(by=command.by)
        waiting.session.stop("interrupted")


def _retry_now(waiting: Steerable, command: RetryNow) -> Steps[None]:
    if waiting.controls.retry is None:
        yield CommandRefused(command="retry", reason="the run waits for no limit")
    else:
        waiting.controls.retry(command.by)


def _answer(waiting: Steerable, command: Answer) -> Steps[None]:
    """The first answer counts; it names its question, which may be closed by now."""
    refused = _why_not(waiting.state.needs.question, command, waiting.state)
    if refused:
        yield CommandRefused(command="answer", reason=refused)
        return
    answer = QuestionAnswered(
        question_id=command.question_id,
        answer=command.answer,
        by=command.by,
        text=command.text,
        iterations=command.iterations,
        budget_usd=command.budget_usd,
    )
    yield answer
    if waiting.controls.answered is not None:
        waiting.controls.answered(answer)


def _why_not(question: QuestionAsked | None, command: Answer, state: RunState) -> str:
    """What keeps an answer from counting, one sentence; empty when nothing does."""
    if question is None or question.question_id != command.question_id:
        last = state.needs.answer
        if last is not None and last.question_id == command.question_id:
            return f"that question was answered already: {last.answer}, by {last.by}"
        return "that question is closed already"
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
    return ""


def _hold(waiting: Steerable, command: Hold) -> Steps[None]:
    question = waiting.state.needs.question
    if question is None or question.question_id != command.question_id:
        yield CommandRefused(command="hold", reason="that question is closed already")
    elif question.deadline is None:
        yield CommandRefused(command="hold", reason="no countdown runs")
    else:
        yield QuestionHeld(question_id=command.question_id, by=command.by)


def _extend(waiting: Steerable, command: Extend) -> Steps[None]:
    run = waiting.state.run
    if command.budget_usd and run.budget_usd is None:
        yield CommandRefused(command="extend", reason=NO_MONEY)
    elif run.max_iterations + command.iterations > MOST_ITERATIONS:
        reason = f"a run has at most {MOST_ITERATIONS} iterations"
        yield CommandRefused(command="extend", reason=reason)
    elif run.max_iterations + command.iterations < max(1, run.iteration):
        yield CommandRefused(command="extend", reason=f"iteration {run.iteration} has begun")
    elif not (command.iterations or command.budget_usd):
        yield CommandRefused(command="extend", reason="by nothing: name iterations or dollars")
    else:
        yield extended(waiting.state, command.iterations, command.budget_usd, command.by)


def extended(state: RunState, iterations: int, budget_usd: float, by: str) -> LimitsChanged:
    """The limits with this added, `budget_usd` in dollars."""
    run = state.run
    money = None if run.budget_usd is None else run.budget_usd + budget_usd
    return LimitsChanged(
        max_iterations=run.max_iterations + iterations,
        budget_usd=money,
        budget_tokens=run.budget_tokens,
        by=by,
    )


def _restore(waiting: Steerable, command: Restore) -> Steps[None]:
    if command.snapshot not in waiting.state.timeline.snapshots:
        reason = f"there is no snapshot {command.snapshot} in this run"
        yield CommandRefused(command="restore", reason=reason)
    elif waiting.controls.restore is None:
        reason = "the files are in use: pause the run, and restore when it holds"
        yield CommandRefused(command="restore", reason=reason)
    else:
        waiting.controls.restore(command.snapshot, command.by)


def _permit(_: Steerable, command: SetPermissions) -> Steps[None]:
    yield PermissionsChanged(mode=command.mode, allow=list(command.allow), by=command.by)


HANDLERS: dict[type[Command], Callable[[Steerable, Any], Steps[None]]] = {
    Pause: _pause,
    Unpause: _unpause,
    Guide: _guide,
    Checkpoint: _checkpoint,
    Stop: _stop,
    Abort: _abort,
    Interrupt: _interrupt,
    RetryNow: _retry_now,
    Answer: _answer,
    Hold: _hold,
    Extend: _extend,
    Restore: _restore,
    SetPermissions: _permit,
}
"""One for every command."""
