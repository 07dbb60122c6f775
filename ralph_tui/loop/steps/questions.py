"""Asking the owner: a question waits in the loop's one waiting place, and silence has a meaning.

Time is the injected clock's. Of several answers the first in the inbox counts. What nobody answers
for long is escalated, once.
"""

from datetime import datetime, timedelta
from uuid import uuid4

from ralph_tui.events import QuestionAnswered, QuestionAsked
from ralph_tui.events.waiting import SILENCE
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.escalation import Escalation
from ralph_tui.loop.waiting.controls import Controls, Steps


class Questions:
    """Asks one question at a time, between sessions; meanwhile files may be restored."""

    def __init__(self, run: Run, escalation: Escalation, checkpoints: Checkpoints) -> None:
        self._scheduler = run.scheduler
        self._state = run.state
        self._escalation = escalation
        self._restore = checkpoints.restore
        self._escalate_after_s = run.rules.oversight.escalate_after_s

    def ask(
        self, question: QuestionAsked, *, within_s: float | None, escalated: bool = False
    ) -> Steps[QuestionAnswered]:
        """Ask and wait; gives back the answer, or the default after `within_s` seconds.

        None waits for ever. `escalated`: people know already. Raises `Ended` when the owner ends
        the run meanwhile.
        """
        now = self._now()
        deadline = None if within_s is None else now + timedelta(seconds=within_s)
        asked = question.model_copy(update={"question_id": str(uuid4()), "deadline": deadline})
        yield asked
        with self._scheduler.offering(Controls(restore=self._restore)):
            while self._open(asked) and not self._overdue():
                late = None if escalated else now + timedelta(seconds=self._escalate_after_s)
                yield from self._scheduler.wait_until(
                    lambda late=late: (  # type: ignore[misc]
                        not self._open(asked)
                        or self._overdue()
                        or (late is not None and self._now() >= late)
                    ),
                    idle=True,
                )
                if self._open(asked) and not self._overdue() and not escalated:
                    escalated = True
                    yield from self._escalation(asked.iteration, "warning", None, asked.text)
            if self._open(asked):
                yield QuestionAnswered(
                    question_id=asked.question_id, answer=asked.default, by=SILENCE
                )
            yield from self._scheduler.join()
        answer = self._state.needs.answer
        if answer is None or answer.question_id != asked.question_id:
            raise RuntimeError(f"the question {asked.question_id} was closed without an answer")
        return answer

    def _open(self, asked: QuestionAsked) -> bool:
        question = self._state.needs.question
        return question is not None and question.question_id == asked.question_id

    def _overdue(self) -> bool:
        """Whether its countdown, which may have been stopped meanwhile, is over."""
        question = self._state.needs.question
        deadline = question.deadline if question is not None else None
        return deadline is not None and self._now() >= deadline

    def _now(self) -> datetime:
        return self._scheduler.host.clock.now()
