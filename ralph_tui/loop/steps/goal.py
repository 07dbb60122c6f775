"""Before iteration 1: decide what completes a run whose completion command already passes.

The user is asked. A headless run fails here, before anything is spent.
"""

from ralph_tui.events import AbortRequested, QuestionAsked
from ralph_tui.events.waiting import Option
from ralph_tui.layers.sensor.passing import goalless
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.overseer import ended_by
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.state.goal import passes_before_words

CRITERION = Option(
    key="w",
    answer="criterion",
    verb="describe when it is done; you confirm each promise, and the command must keep passing",
    takes="words",
)
PROMISE = Option(
    key="y", answer="promise", verb="run until the agent promises completion and a file has changed"
)
CANCEL = ABORT.model_copy(update={"verb": "cancel the run; nothing was done or spent"})


class Goal(Step):
    """Settles what completes the run."""

    def __init__(self, run: Run, asker: QuestionAsker) -> None:
        super().__init__(run)
        self._asker = asker

    def settle(self) -> None:
        """Ask for a goal if the only one is a command that already passes. May raise `Ended`."""
        if not goalless(self._run.state):
            return
        command = self._run.start.command or ""
        if self._run.headless:
            raise Ended("failed", passes_before_words(command))
        answer = self._asker.ask(
            QuestionAsked(
                iteration=0,
                question_id="",
                topic="goal",
                text="The completion command already passes, so it cannot show when the work is "
                f"done: {command}",
                options=[CRITERION, PROMISE, CANCEL],
                default="abort",
            ),
            within_s=self._run.settings.oversight.pause_timeout_s,
        )
        if answer.answer == "abort":
            self.record(AbortRequested(by=answer.by))
            raise Ended("aborted", ended_by(answer))
