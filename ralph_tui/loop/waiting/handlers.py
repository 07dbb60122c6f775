"""What each command does: a handler per command, which records what follows.

What cannot be done now is refused with the reason that `commands.refusal` gives.
"""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from ralph_tui.commands import (
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
    Reflect,
    Restore,
    RetryNow,
    RollOver,
    SetPermissions,
    Stop,
    Unpause,
    refusal,
)
from ralph_tui.errors import RalphError
from ralph_tui.events import (
    AbortRequested,
    CommandRefused,
    GuidanceQueued,
    InterruptRequested,
    LearningChanged,
    LimitsChanged,
    Noticed,
    PauseRequested,
    PermissionsChanged,
    PromptEditRequested,
    QuestionAnswered,
    QuestionHeld,
    RolloverRequested,
    StandingInstructionChanged,
    StopRequested,
    Unpaused,
)
from ralph_tui.events.memory import unchanged_words
from ralph_tui.layers.memory.by_hand import by_hand
from ralph_tui.loop.waiting.controls import Steerable
from ralph_tui.ports import Job
from ralph_tui.state import RunState
from ralph_tui.text.terms import who_words


def handle(waiting: Steerable, command: Command) -> str | None:
    """Carry out one command of the owner, or refuse it; gives back why it was refused."""
    if isinstance(command, Present):  # it asks for nothing, and is no news
        waiting.seen_at = waiting.host.clock.now()
        return None
    offers = OFFERED.get(type(command))
    offered = None if offers is None else offers(waiting)
    reason = (
        "the run is ending" if waiting.ending else refusal(command, waiting.state, offered=offered)
    )
    if waiting.ending and isinstance(command, Stop | Abort):
        waiting.hurry()
        if waiting.controls.cancel is not None:  # a model that is asked about the run's end
            waiting.controls.cancel()
    if reason is not None:
        waiting.record(CommandRefused(command=command.name, reason=reason))
    else:
        HANDLERS[type(command)](waiting, command)
    return reason


def _pause(waiting: Steerable, command: Pause) -> None:
    waiting.record(PauseRequested(by=command.by))


def _unpause(waiting: Steerable, command: Unpause) -> None:
    waiting.record(Unpaused(by=command.by))


def _guide(waiting: Steerable, command: Guide) -> None:
    guidance = GuidanceQueued(guidance_id=str(uuid4()), text=command.text, by=command.by)
    waiting.record(guidance)
    # What the session cannot take now stays queued, and the next prompt carries it.
    if waiting.session is not None and waiting.session.takes_guidance:
        waiting.session.send(guidance.guidance_id, guidance.text)


def _checkpoint(waiting: Steerable, command: Checkpoint) -> None:
    if waiting.controls.capture is not None:
        waiting.controls.capture(command.note, command.by)


def _stop(waiting: Steerable, command: Stop) -> None:
    waiting.record(StopRequested(mode=command.mode, by=command.by))
    if command.mode == "now":
        waiting.end("interrupted", f"stopped by {who_words(command.by)}")


def _abort(waiting: Steerable, command: Abort) -> None:
    number = command.roll_back_to
    waiting.record(AbortRequested(by=command.by, roll_back_to=number))
    work = "stays as it is" if number is None else f"goes back to snapshot {number}"
    waiting.end("aborted", f"aborted by {who_words(command.by)}; the work {work}")


def _interrupt(waiting: Steerable, command: Interrupt) -> None:
    waiting.record(InterruptRequested(by=command.by))
    if waiting.session is not None:
        waiting.session.stop("interrupted")


def _roll_over(waiting: Steerable, command: RollOver) -> None:
    """The step that watches the session's context carries it out."""
    waiting.record(RolloverRequested(by=command.by, note=command.note))


def _retry_now(waiting: Steerable, command: RetryNow) -> None:
    if waiting.controls.retry is not None:
        waiting.controls.retry(command.by)


def _answer(waiting: Steerable, command: Answer) -> None:
    """The first answer counts; it names its question, which may be closed by now."""
    answer = QuestionAnswered(
        question_id=command.question_id,
        answer=command.answer,
        by=command.by,
        text=command.text,
        iterations=command.iterations,
        budget_usd=command.budget_usd,
        choices=[list(labels) for labels in command.choices],
    )
    waiting.record(answer)
    if waiting.controls.answered is not None:
        waiting.controls.answered(answer)


def _hold(waiting: Steerable, command: Hold) -> None:
    waiting.record(QuestionHeld(question_id=command.question_id, by=command.by))


def _extend(waiting: Steerable, command: Extend) -> None:
    waiting.record(extended(waiting.state, command.iterations, command.budget_usd, command.by))


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


def _restore(waiting: Steerable, command: Restore) -> None:
    if waiting.controls.restore is not None:
        waiting.controls.restore(command.snapshot, command.by)


def _permit(waiting: Steerable, command: SetPermissions) -> None:
    waiting.record(PermissionsChanged(mode=command.mode, allow=list(command.allow), by=command.by))


def _change_learning(waiting: Steerable, command: ChangeLearning) -> None:
    """It is told when the knowledge file says so, or why it does not."""

    def told(job: Job) -> None:
        if isinstance(job.error, RalphError | OSError):
            text = unchanged_words(command.learning_id, str(job.error))
            waiting.record(Noticed(level="warn", source="memory", text=text))
        elif job.error is not None:
            raise job.error
        else:
            waiting.record(
                LearningChanged(
                    learning_id=command.learning_id,
                    change=command.change,
                    text=command.text if command.change == "edit" else "",
                    by=command.by,
                )
            )

    waiting.spawn(
        "learning",
        lambda: waiting.knowledge.change(command.learning_id, command.change, command.text),
        told,
    )


def _reflect(waiting: Steerable, command: Reflect) -> None:
    waiting.record(by_hand(waiting.state, command.text))


def _edit_prompt(waiting: Steerable, command: EditPrompt) -> None:
    waiting.record(PromptEditRequested(wanted=command.wanted, by=command.by))


def _instruct(waiting: Steerable, command: Instruct) -> None:
    waiting.record(StandingInstructionChanged(text=command.text.strip(), by=command.by))


OFFERED: dict[type[Command], Callable[[Steerable], bool]] = {
    Checkpoint: lambda waiting: waiting.controls.capture is not None,
    Interrupt: lambda waiting: waiting.session is not None,
    RollOver: lambda waiting: waiting.session is not None,
    RetryNow: lambda waiting: waiting.controls.retry is not None,
    Restore: lambda waiting: waiting.controls.restore is not None,
}
"""Commands that only some waits take."""
HANDLERS: dict[type[Command], Callable[[Steerable, Any], None]] = {
    Pause: _pause,
    Unpause: _unpause,
    Guide: _guide,
    Checkpoint: _checkpoint,
    Stop: _stop,
    Abort: _abort,
    Interrupt: _interrupt,
    RollOver: _roll_over,
    RetryNow: _retry_now,
    Answer: _answer,
    Hold: _hold,
    Extend: _extend,
    Restore: _restore,
    SetPermissions: _permit,
    ChangeLearning: _change_learning,
    Reflect: _reflect,
    EditPrompt: _edit_prompt,
    Instruct: _instruct,
}
"""One for every command."""
