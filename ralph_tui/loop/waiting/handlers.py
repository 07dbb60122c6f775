"""How a run obeys: each command is answered with events; what cannot be done now says why."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
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
from ralph_tui.state import RunState

if TYPE_CHECKING:
    from ralph_tui.loop.waiting.scheduler import Scheduler, Steps

MOST_ITERATIONS = 1000
MOST_WAITING = 20
"""Pieces of guidance that may wait for the next prompt."""
NO_MONEY = "the run has no budget in dollars that could grow"


def handle(scheduler: "Scheduler", command: Command) -> "Steps[None]":
    """Answer one command of the owner."""
    if scheduler.ending:
        yield CommandRefused(command=command.name, reason="the run is ending")
    else:
        yield from HANDLERS[type(command)](scheduler, command)


def _pause(scheduler: "Scheduler", command: Pause) -> "Steps[None]":
    run = scheduler.state.run
    if run.paused or run.pause_requested:
        yield CommandRefused(command="pause", reason="a pause was asked for already")
    else:
        yield PauseRequested(by=command.by)


def _unpause(scheduler: "Scheduler", command: Unpause) -> "Steps[None]":
    run = scheduler.state.run
    if run.paused or run.pause_requested:
        yield Unpaused(by=command.by)
    else:
        yield CommandRefused(command="unpause", reason="the run is not paused")


def _guide(scheduler: "Scheduler", command: Guide) -> "Steps[None]":
    if len(scheduler.state.guidance.queued) >= MOST_WAITING:
        reason = f"{MOST_WAITING} pieces wait for the next prompt already"
        yield CommandRefused(command="guide", reason=reason)
        return
    guidance = GuidanceQueued(guidance_id=str(uuid4()), text=command.text, by=command.by)
    yield guidance
    # What the session cannot take now stays queued, and the next prompt carries it.
    if scheduler.session is not None and scheduler.session.takes_guidance:
        scheduler.session.send(guidance.guidance_id, guidance.text)


def _checkpoint(scheduler: "Scheduler", command: Checkpoint) -> "Steps[None]":
    if scheduler.capture is None:
        yield CommandRefused(command="checkpoint", reason="no session runs that could change files")
    else:
        scheduler.capture(command.note)


def _stop(scheduler: "Scheduler", command: Stop) -> "Steps[None]":
    yield StopRequested(mode=command.mode, by=command.by)
    if command.mode == "now":
        scheduler.end("interrupted", f"stopped by {command.by}")


def _abort(scheduler: "Scheduler", command: Abort) -> "Steps[None]":
    number = command.roll_back_to
    if number is not None and number not in scheduler.state.timeline.snapshots:
        yield CommandRefused(command="abort", reason=f"there is no snapshot {number} in this run")
        return
    yield AbortRequested(by=command.by, roll_back_to=number)
    work = "stays as it is" if number is None else f"goes back to snapshot {number}"
    scheduler.end("aborted", f"aborted by {command.by}; the work {work}")


def _interrupt(scheduler: "Scheduler", command: Interrupt) -> "Steps[None]":
    if scheduler.session is None:
        yield CommandRefused(command="interrupt", reason="no session runs")
    else:
        yield InterruptRequested(by=command.by)
        scheduler.session.stop("interrupted")


def _retry_now(scheduler: "Scheduler", command: RetryNow) -> "Steps[None]":
    if scheduler.waiting:
        scheduler.retry_by = command.by
    else:
        yield CommandRefused(command="retry", reason="the run waits for no limit")


def _answer(scheduler: "Scheduler", command: Answer) -> "Steps[None]":
    """The first answer counts; it names its question, which may be closed by now."""
    refused = _why_not(scheduler.state.needs.question, command, scheduler.state)
    if refused:
        yield CommandRefused(command="answer", reason=refused)
        return
    yield QuestionAnswered(
        question_id=command.question_id,
        answer=command.answer,
        by=command.by,
        text=command.text,
        iterations=command.iterations,
        budget_usd=command.budget_usd,
    )
    if scheduler.answered is not None:
        scheduler.answered(command.answer)


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


def _hold(scheduler: "Scheduler", command: Hold) -> "Steps[None]":
    question = scheduler.state.needs.question
    if question is None or question.question_id != command.question_id:
        yield CommandRefused(command="hold", reason="that question is closed already")
    elif question.deadline is None:
        yield CommandRefused(command="hold", reason="no countdown runs")
    else:
        yield QuestionHeld(question_id=command.question_id, by=command.by)


def _extend(scheduler: "Scheduler", command: Extend) -> "Steps[None]":
    run = scheduler.state.run
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
        yield extended(scheduler.state, command.iterations, command.budget_usd, command.by)


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


def _restore(scheduler: "Scheduler", command: Restore) -> "Steps[None]":
    if command.snapshot not in scheduler.state.timeline.snapshots:
        reason = f"there is no snapshot {command.snapshot} in this run"
        yield CommandRefused(command="restore", reason=reason)
    elif scheduler.restore is None:
        reason = "the files are in use: pause the run, and restore when it holds"
        yield CommandRefused(command="restore", reason=reason)
    else:
        scheduler.restore(command.snapshot, command.by)


def _permit(_: "Scheduler", command: SetPermissions) -> "Steps[None]":
    yield PermissionsChanged(mode=command.mode, allow=list(command.allow), by=command.by)


HANDLERS: dict[type[Command], Callable[["Scheduler", Any], "Steps[None]"]] = {
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
"""Every command there is."""
