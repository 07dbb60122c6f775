"""The watchdog: an agent that says nothing for long is asked about, never killed on the quiet."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

from ralph_tui.events import Event, QuestionAnswered, QuestionAsked, QuestionWithdrawn
from ralph_tui.events.waiting import Option
from ralph_tui.loop.run import Run

WAIT = Option(key="w", answer="wait", verb="wait as long again")
RETRY = Option(key="r", answer="retry", verb="interrupt, and let it go on from where it is")
STOP = Option(key="s", answer="stop", verb="end the session, and measure")
ABORT = Option(key="x", answer="abort", verb="abort the run")


class Watchdog:
    """Watches the sessions of one iteration. Its default retries once, then ends the session."""

    def __init__(self, k: int, run: Run) -> None:
        self._k = k
        self._scheduler = run.scheduler
        self._state = run.state
        self._limits = run.rules.watchdog
        self._retried = False
        self._signs: tuple[object, ...] = ()
        self._quiet_since = 0.0

    def begin(self) -> None:
        """A session starts: that is a sign of life."""
        self._quiet_since = self._now()

    def watch(self) -> Iterator[Event]:
        """Ask, decide by default, or withdraw; called while the loop waits for the session."""
        run, question = self._state.run, self._state.needs.question
        signs = (run.last_output_at, run.last_change_at)
        if signs != self._signs:
            self._signs, self._quiet_since = signs, self._now()
            if question is not None:
                yield QuestionWithdrawn(
                    question_id=question.question_id, reason="the agent is heard of again"
                )
            return
        quiet = self._now() - self._quiet_since
        if question is None and quiet >= self._limits.silence_s:
            yield self._question(quiet)
        elif question is not None and quiet >= self._limits.silence_s + self._limits.answer_s:
            default = QuestionAnswered(
                question_id=question.question_id, answer=question.default, by="the default"
            )
            yield default
            self.answered(default)

    def answered(self, given: QuestionAnswered) -> None:
        """Do what was decided."""
        answer, session = given.answer, self._scheduler.session
        self._quiet_since = self._now()
        if answer == ABORT.answer:
            self._scheduler.end("aborted", "aborted, because the agent was silent")
        elif session is not None and answer == RETRY.answer:
            self._retried = True
            session.stop("silent")
        elif session is not None and answer == STOP.answer:
            session.stop("interrupted")

    def end(self) -> Iterator[Event]:
        """The session is over, and so is any question about it."""
        question = self._state.needs.question
        if question is not None:
            yield QuestionWithdrawn(question_id=question.question_id, reason="the session is over")

    def _question(self, quiet: float) -> QuestionAsked:
        again = STOP if self._retried else RETRY
        now = self._scheduler.host.clock.now()
        return QuestionAsked(
            iteration=self._k,
            question_id=str(uuid4()),
            topic="silence",
            text=f"Nothing was heard of the agent for {_span(quiet)}, and no file has changed.",
            options=[WAIT, again, ABORT],
            default=again.answer,
            deadline=now + timedelta(seconds=self._limits.answer_s),
        )

    def _now(self) -> float:
        return self._scheduler.host.clock.monotonic()


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
