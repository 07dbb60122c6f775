"""Questions to the user: the one open question, its deadline, and the effect of an answer. Opening
a question does not block. A wait offers `answered` and `tick` as controls, which accept answers and
check the clock. If several answers arrive, the first in the inbox counts.

Without an answer, the default is used at the deadline. A question that stays open for a long time
is escalated once. Keys pressed at a screen of the run postpone the deadline. All times come from
the injected clock.
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
"""Seconds; a smaller change of the deadline is recorded only once the old deadline is due."""
OnAnswer = Callable[[ev.QuestionAnswered], None]


@dataclass
class _Open:
    asked: ev.QuestionAsked
    on_answer: OnAnswer
    escalate_at: datetime | None
    """When to notify people who are away; None if that was done or is not needed."""
    within: timedelta
    """How long the question waits after the user's last activity."""
    since: datetime | None
    """Keys pressed before this time do not postpone the deadline; None: every key does."""


class QuestionAsker(Step):
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
        """True while a question waits for an answer."""
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

        `within_s`: seconds. `escalated`: people have already been notified. `offers`: the default
        is the expected outcome, so only keys pressed from now on postpone it.
        """
        now = self._scheduler.host.clock.now()
        escalate_at = None if escalated else now + timedelta(seconds=self._escalate_after_s)
        within = timedelta(seconds=within_s)
        self._open = _Open(question, on_answer, escalate_at, within, now if offers else None)
        deadline = max(now + within, self._postponed_to(self._open) or now)
        asked = question.model_copy(update={"question_id": str(uuid4()), "deadline": deadline})
        self._open.asked = asked
        self.record(asked)

    def _postponed_to(self, open_: _Open) -> datetime | None:
        """Return the deadline as postponed by the last key; None if no key postpones it."""
        seen = self._scheduler.seen_at
        if seen is None or not open_.within or (open_.since is not None and seen < open_.since):
            return None
        return seen + self._presence + open_.within

    def tick(self) -> None:
        """Use the default or escalate when due; called while the loop waits."""
        if self._open is None or self._scheduler.ending:
            return
        asked, now = self._open.asked, self._scheduler.host.clock.now()
        # The user may have stopped the countdown: the recorded question decides.
        question = self._state.needs.question
        deadline = question.deadline if question is not None else None
        until = self._postponed_to(self._open)
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
        """Close the question and apply its answer, which has been recorded."""
        if self._open is not None and answer.question_id == self._open.asked.question_id:
            closed, self._open = self._open, None
            closed.on_answer(answer)

    def withdraw(self, reason: str) -> None:
        """Withdraw the open question; `reason` is a few words."""
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

        Takes the parameters of `open`. Raises `Ended` if the user ends the run meanwhile, or wants
        it to stop after this iteration: an answer would start unwanted work.
        """
        given: list[ev.QuestionAnswered] = []
        self.open(question, given.append, within_s=within_s, escalated=escalated, offers=offers)
        controls = Controls(restore=self._restore, answered=self.answered, look_after=self.tick)
        with self._scheduler.accepting(controls):
            # A default that is due now does not wait for the inbox.
            self.tick()
            self._scheduler.wait_for_user(lambda: bool(given), "it waited for an answer")
            self._scheduler.join()
        return given[0]
