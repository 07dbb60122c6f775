"""The question desk: the one question that may be open, its deadline, and what an answer does.

Opening a question blocks nothing. A wait offers `answered` and `tick` as controls: they let
answers in and look at the clock. Of several answers the first in the inbox counts.
Without an answer the default is taken at the deadline; what stays unanswered for long is escalated,
once. The time is the injected clock's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from ralph_tui.events import QuestionAnswered, QuestionAsked, QuestionWithdrawn
from ralph_tui.events.waiting import SILENCE
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.escalation import Escalation
from ralph_tui.loop.waiting.controls import Controls, Steps

OnAnswer = Callable[[QuestionAnswered], None]


@dataclass
class _Open:
    asked: QuestionAsked
    on_answer: OnAnswer
    escalate_at: datetime | None
    """When people who are not here are told; None when they were, or need not be."""


class QuestionDesk:
    """Asks one question at a time."""

    def __init__(self, run: Run, escalation: Escalation, checkpoints: Checkpoints) -> None:
        self._scheduler = run.scheduler
        self._state = run.state
        self._escalation = escalation
        self._restore = checkpoints.restore
        self._escalate_after_s = run.rules.oversight.escalate_after_s
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """Whether a question waits for an answer."""
        return self._open is not None

    def open(
        self,
        question: QuestionAsked,
        on_answer: OnAnswer,
        *,
        within_s: float | None,
        escalated: bool = False,
    ) -> Steps[None]:
        """Ask; `on_answer` is called once, with the answer or, after `within_s`, the default.

        `within_s`: seconds; None waits for ever. `escalated`: people know already.
        """
        now = self._scheduler.host.clock.now()
        deadline = None if within_s is None else now + timedelta(seconds=within_s)
        asked = question.model_copy(update={"question_id": str(uuid4()), "deadline": deadline})
        escalate_at = None if escalated else now + timedelta(seconds=self._escalate_after_s)
        self._open = _Open(asked, on_answer, escalate_at)
        yield asked

    def tick(self) -> Steps[None]:
        """Look at the clock: take the default, or escalate. Called while the loop waits."""
        if self._open is None or self._scheduler.ending:
            return
        asked, now = self._open.asked, self._scheduler.host.clock.now()
        # The owner may have stopped the countdown: what counts is the question as recorded.
        question = self._state.needs.question
        if question is not None and question.deadline is not None and now >= question.deadline:
            default = QuestionAnswered(
                question_id=asked.question_id, answer=asked.default, by=SILENCE
            )
            yield default
            self.answered(default)
        elif self._open.escalate_at is not None and now >= self._open.escalate_at:
            self._open.escalate_at = None
            yield from self._escalation(asked.iteration, "warning", None, asked.text)

    def answered(self, answer: QuestionAnswered) -> None:
        """The answer is recorded: close the question, and do what the answer means."""
        if self._open is not None and answer.question_id == self._open.asked.question_id:
            closed, self._open = self._open, None
            closed.on_answer(answer)

    def withdraw(self, reason: str) -> Steps[None]:
        """The question needs no answer any more; `reason` is a few words."""
        if self._open is not None:
            asked, self._open = self._open.asked, None
            yield QuestionWithdrawn(question_id=asked.question_id, reason=reason)

    def ask(
        self, question: QuestionAsked, *, within_s: float | None, escalated: bool = False
    ) -> Steps[QuestionAnswered]:
        """Open a question and wait for its answer; files may be restored meanwhile.

        Parameters as of `open`. Raises `Ended` when the owner ends the run meanwhile, or
        wants it to stop after its iteration: an answer would begin what is not wanted.
        """
        given: list[QuestionAnswered] = []
        yield from self.open(question, given.append, within_s=within_s, escalated=escalated)
        controls = Controls(restore=self._restore, answered=self.answered, look_after=self.tick)
        with self._scheduler.offering(controls):
            # A deadline of now needs no look into the inbox.
            yield from self.tick()
            yield from self._scheduler.wait_for_owner(
                lambda: bool(given), "it waited for an answer"
            )
            yield from self._scheduler.join()
        return given[0]
