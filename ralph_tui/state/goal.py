"""The condition that completes a run, as started or as chosen before iteration 1, in words."""

from ralph_tui.events import QuestionAnswered, RunStarted
from ralph_tui.text.sanitize import clip, one_line

PROMISE_NEEDED = "the run ends only after a promise and a changed file"
CRITERION_NEEDED = "the run ends only when its criterion is met"


def needed_words(started: RunStarted | None) -> str:
    """Return what ends a run whose completion command already passes."""
    return CRITERION_NEEDED if started is not None and started.criterion else PROMISE_NEEDED


OPTIONS = ("--criterion TEXT", "--until-promise")


def passes_before_words(command: str, options: tuple[str, str] = OPTIONS) -> str:
    """Explain why a run cannot begin with a passing completion command, and what to do.

    `options` are the names of the settings for a criterion and for a promise.
    """
    criterion, promise = options
    return (
        f"the completion command already passes, so it cannot show when the work is done "
        f"({clip(one_line(command), 80)}): add {criterion} to describe that, or "
        f"{promise} to run until the agent promises it"
    )


class Goal:
    """The part of the run's fold that tracks its goal."""

    def __init__(self) -> None:
        super().__init__()
        self.started: RunStarted | None = None
        self.iteration = 0

    def on_question_answered(self, event: QuestionAnswered) -> bool:
        chosen: dict[str, object] = {}
        if event.answer == "criterion":
            chosen = {"criterion": event.text.strip()}
        elif event.answer == "promise":
            chosen = {"until_promise": True}
        if self.started is None or self.iteration or not chosen:
            return False
        self.started = self.started.model_copy(update=chosen)
        return True
