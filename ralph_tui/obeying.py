"""How a run obeys: each command is answered with events; what cannot be done now says why."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ralph_tui.commands import (
    Abort,
    Answer,
    Checkpoint,
    Command,
    Guide,
    Interrupt,
    Pause,
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
    PauseRequested,
    PermissionsChanged,
    QuestionAnswered,
    StopRequested,
    Unpaused,
)

if TYPE_CHECKING:
    from ralph_tui.steering import Helm, Steps


def obey(helm: "Helm", command: Command) -> "Steps[None]":
    """Answer one command of the owner."""
    if helm.ending:
        yield CommandRefused(command=command.name, reason="the run is ending")
    else:
        yield from OBEDIENCE[type(command)](helm, command)


def _pause(helm: "Helm", command: Pause) -> "Steps[None]":
    run = helm.state.run
    if run.paused or run.pause_requested:
        yield CommandRefused(command="pause", reason="a pause was asked for already")
    else:
        yield PauseRequested(by=command.by)


def _unpause(helm: "Helm", command: Unpause) -> "Steps[None]":
    run = helm.state.run
    if run.paused or run.pause_requested:
        yield Unpaused(by=command.by)
    else:
        yield CommandRefused(command="unpause", reason="the run is not paused")


def _guide(helm: "Helm", command: Guide) -> "Steps[None]":
    guidance = GuidanceQueued(guidance_id=str(uuid4()), text=command.text, by=command.by)
    yield guidance
    # What the session cannot take now stays queued, and the next prompt carries it.
    if helm.session is not None and helm.session.takes_guidance:
        helm.session.send(guidance.guidance_id, guidance.text)


def _checkpoint(helm: "Helm", command: Checkpoint) -> "Steps[None]":
    if helm.capture is None:
        yield CommandRefused(command="checkpoint", reason="no session runs that could change files")
    else:
        helm.capture(command.note)


def _stop(helm: "Helm", command: Stop) -> "Steps[None]":
    yield StopRequested(mode=command.mode, by=command.by)
    if command.mode == "now":
        helm.end("interrupted", f"stopped by {command.by}")


def _abort(helm: "Helm", command: Abort) -> "Steps[None]":
    yield AbortRequested(by=command.by)
    helm.end("aborted", f"aborted by {command.by}; the work stays as it is")


def _interrupt(helm: "Helm", command: Interrupt) -> "Steps[None]":
    if helm.session is None:
        yield CommandRefused(command="interrupt", reason="no session runs")
    else:
        yield InterruptRequested(by=command.by)
        helm.session.stop("interrupted")


def _retry_now(helm: "Helm", command: RetryNow) -> "Steps[None]":
    if helm.waiting:
        helm.retry_by = command.by
    else:
        yield CommandRefused(command="retry", reason="the run waits for no limit")


def _answer(helm: "Helm", command: Answer) -> "Steps[None]":
    """The first answer counts; it names its question, which may be closed by now."""
    question = helm.state.needs.question
    if question is None or question.question_id != command.question_id:
        yield CommandRefused(command="answer", reason="that question is closed already")
    elif command.answer not in [option.answer for option in question.options]:
        yield CommandRefused(command="answer", reason=f"{command.answer} is no answer to it")
    else:
        yield QuestionAnswered(
            question_id=question.question_id, answer=command.answer, by=command.by
        )
        if helm.answered is not None:
            helm.answered(command.answer)


def _permit(_: "Helm", command: SetPermissions) -> "Steps[None]":
    yield PermissionsChanged(mode=command.mode, allow=list(command.allow), by=command.by)


OBEDIENCE: dict[type[Command], Callable[["Helm", Any], "Steps[None]"]] = {
    Pause: _pause,
    Unpause: _unpause,
    Guide: _guide,
    Checkpoint: _checkpoint,
    Stop: _stop,
    Abort: _abort,
    Interrupt: _interrupt,
    RetryNow: _retry_now,
    Answer: _answer,
    SetPermissions: _permit,
}
"""Every command there is."""
