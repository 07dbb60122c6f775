"""The watchdog: asks the user about a silent agent; by default it retries, then moves on."""

from collections.abc import Callable

from ralph_tui.events import QuestionAnswered, QuestionAsked
from ralph_tui.events.waiting import Option
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.text.terms import sender_label

WAIT = Option(key="y", answer="wait", verb="wait for the same time again; do not interrupt")
RETRY = Option(key="i", answer="retry", verb="interrupt the agent; it continues in this iteration")
STOP = Option(
    key="s", answer="stop", verb="end the session and measure; this uses up the iteration"
)


SWITCH_AGENT = Option(
    key="h", answer="hand_over", verb="end the session; {} continues this iteration"
)


class Watchdog:
    """Watches the sessions of one iteration.

    By default it retries once; then another agent takes over, or the session is ended.
    """

    def __init__(
        self,
        k: int,
        run: Run,
        asker: QuestionAsker,
        replacement_agent: Callable[[], str] = lambda: "",
    ) -> None:
        """`replacement_agent`: returns the agent that could take over, or an empty string."""
        self.switches_agent = False
        """True if the session was ended so that another agent takes over."""
        self._k = k
        self._substitute = replacement_agent
        self._scheduler = run.scheduler
        self._state = run.state
        self._limits = run.settings.agent
        self._asker = asker
        self._retried = False
        self._asks = False
        """True while the watchdog's question is open."""
        self._signs: tuple[object, ...] = ()
        self._quiet_since = 0.0
        """Monotonic time of the last activity, or of the last answer about the silence."""
        self._last_output_at = 0.0
        """Monotonic time of the last activity."""

    def begin(self) -> None:
        """Start watching a session, which counts as activity; a new agent gets one retry."""
        if self.switches_agent:
            self.switches_agent = self._retried = False
        self._quiet_since = self._last_output_at = self._now()

    def watch(self) -> None:
        """Ask about a silent agent, or withdraw the question; called while the agent works."""
        run = self._state.run
        if self._state.asking.waiting:  # the agent is waiting for the user
            self._withdraw("the agent asked a question")
            self._quiet_since = self._last_output_at = self._now()
            return
        signs = (run.last_output_at, run.last_change_at)
        if signs != self._signs:
            self._signs = signs
            self._quiet_since = self._last_output_at = self._now()
            self._withdraw("the agent is active again")
        elif not self._asker.is_open and self._now() - self._quiet_since >= self._limits.silence_s:
            self._asks = True
            asked = self._question(self._now() - self._last_output_at)
            self._asker.open(asked, self._decide, within_s=self._limits.silence_answer_s)

    def end(self) -> None:
        """Withdraw the watchdog's question, because the session has ended."""
        self._withdraw("the session ended")

    def _withdraw(self, reason: str) -> None:
        """Withdraw only the watchdog's own question: another one may be open."""
        if self._asks:
            self._asks = False
            self._asker.withdraw(reason)

    def _decide(self, answered: QuestionAnswered) -> None:
        self._asks, session = False, self._scheduler.session
        self._quiet_since = self._now()
        if answered.answer == ABORT.answer:
            by = sender_label(answered.by)
            self._scheduler.end("aborted", f"aborted by {by}, because the agent was silent")
        elif session is not None and answered.answer in (RETRY.answer, SWITCH_AGENT.answer):
            self._retried, self.switches_agent = True, answered.answer == SWITCH_AGENT.answer
            session.stop("silent")
        elif session is not None and answered.answer == STOP.answer:
            session.stop("interrupted")

    def _question(self, quiet: float) -> QuestionAsked:
        again = [STOP] if self._retried else [RETRY]
        if self._retried and (other := self._substitute()):
            verb = SWITCH_AGENT.verb.format(other)
            again.insert(0, SWITCH_AGENT.model_copy(update={"verb": verb}))
        return QuestionAsked(
            iteration=self._k,
            question_id="",
            topic="silence",
            text=f"The agent has produced no output for {_span(quiet)}, and no files have changed.",
            options=[WAIT, *again, ABORT],
            default=again[0].answer,
        )

    def _now(self) -> float:
        return self._scheduler.host.clock.monotonic()


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
