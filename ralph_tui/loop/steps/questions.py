"""The question desk: the one question that may be open, its deadline, and what an answer does.

Opening a question blocks nothing. A wait offers `answered` and `tick` as controls: they let
answers in and look at the clock. Of several answers the first in the inbox counts.
Without an answer the default is taken at the deadline; what stays unanswered for long is escalated,
once. While somebody is at a screen of the run the deadline moves on. The time is the injected
clock's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from ralph_tui import events as ev
from ralph_tui.commands import Controls
from ralph_tui.events.waiting import SILENCE
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.escalation import Escalation

POSTPONED_S = 60.0
"""A deadline that moves on by less is not recorded anew."""
OnAnswer = Callable[[ev.QuestionAnswered], None]


@dataclass
class _Open:
    asked: ev.QuestionAsked
    on_answer: OnAnswer
    escalate_at: datetime | None
    """When people who are not here are told; None when they were, or need not be."""
    within: timedelta
    """How long it waits once nobody is there."""
    since: datetime | None
    """Only who was seen after this holds the countdown; None: whoever was there before, too."""


class QuestionDesk(Step):
    """Asks one question at a time."""

    def __init__(self, run: Run, escalation: Escalation, checkpoints: Checkpoints) -> None:
        super().__init__(run)
        self._escalation = escalation
        self._restore = checkpoints.restore
        self._escalate_after_s = run.settings.oversight.escalate_after_s
        self._presence = timedelta(seconds=run.settings.oversight.presence_s)
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """Whether a question waits for an answer."""
        return self._open is not None

    def open(
        self,
        question: ev.QuestionAsked,
        on_answer: OnAnswer,
        *,
        within_s: float,
        escalated: bool = False,
        offers: bool = False,
    ) -> None:
        """Ask; `on_answer` is called once, with the answer or, after `within_s`, the default.

        `within_s`: seconds. `escalated`: people know already. `offers`: it goes on as it should
        without an answer, so only keys that are pressed from now on hold it.
        """
        now = self._scheduler.host.clock.now()
        escalate_at = None if escalated else now + timedelta(seconds=self._escalate_after_s)
        within = timedelta(seconds=within_s)
        self._open = _Open(question, on_answer, escalate_at, within, now if offers else None)
        deadline = max(now + within, self._held_until(self._open) or now)
        asked = question.model_copy(update={"question_id": str(uuid4()), "deadline": deadline})
        self._open.asked = asked
        self.record(asked)

    def _held_until(self, open_: _Open) -> datetime | None:
        """The deadline as the last key moves it; None where nobody was seen, or need be."""
        seen = self._scheduler.seen_at
        if seen is None or not open_.within or (open_.since is not None and seen < open_.since):
            return None
        return seen + self._presence + open_.within

    def tick(self) -> None:
        """Look at the clock: take the default, or escalate. Called while the loop waits."""
        if self._open is None or self._scheduler.ending:
            return
        asked, now = self._open.asked, self._scheduler.host.clock.now()
        # The owner may have stopped the countdown: what counts is the question as recorded.
        question = self._state.needs.question
        deadline = question.deadline if question is not None else None
        until = self._held_until(self._open)
        if deadline is not None and until is not None and until > deadline:
            moved = until - deadline >= timedelta(seconds=POSTPONED_S)
            if moved or now >= deadline:
                self.record(ev.QuestionPostponed(question_id=asked.question_id, deadline=until))
                return
        if deadline is not None and now >= deadline:
            default = ev.QuestionAnswered(
                question_id=asked.question_id, answer=asked.default, by=SILENCE
            )
            self.record(default)
            self.answered(default)
        elif self._open.escalate_at is not None and now >= self._open.escalate_at:
            self._open.escalate_at = None
            self._escalation(asked.iteration, "warning", None, asked.text)

    def answered(self, answer: ev.QuestionAnswered) -> None:
        """The answer is recorded: close the question, and do what the answer means."""
        if self._open is not None and answer.question_id == self._open.asked.question_id:
            closed, self._open = self._open, None
            closed.on_answer(answer)

    def withdraw(self, reason: str) -> None:
        """The question needs no answer any more; `reason` is a few words."""
        if self._open is not None:
            asked, self._open = self._open.asked, None
            self.record(ev.QuestionWithdrawn(question_id=asked.question_id, reason=reason))

    def ask(
        self,
        question: ev.QuestionAsked,
        *,
        within_s: float,
        escalated: bool = False,
        offers: bool = False,
    ) -> ev.QuestionAnswered:
        """Open a question and wait for its answer; files may be restored meanwhile.

        Parameters as of `open`. Raises `Ended` when the owner ends the run meanwhile, or
        wants it to stop after its iteration: an answer would begin what is not wanted.
        """
        given: list[ev.QuestionAnswered] = []
        self.open(question, given.append, within_s=within_s, escalated=escalated, offers=offers)
        controls = Controls(restore=self._restore, answered=self.answered, look_after=self.tick)
        with self._scheduler.offering(controls):
            # A deadline of now needs no look into the inbox.
            self.tick()
            self._scheduler.wait_for_owner(lambda: bool(given), "it waited for an answer")
            self._scheduler.join()
        return given[0]
