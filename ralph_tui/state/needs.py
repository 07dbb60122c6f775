"""What stands between a run and its going on: a limit, a question; and what its agent may do."""

from ralph_tui.events import (
    AgentSpoke,
    PermissionsChanged,
    QuestionAnswered,
    QuestionAsked,
    QuestionHeld,
    QuestionPostponed,
    QuestionWithdrawn,
    RunCrashed,
    RunFinished,
    RunResumed,
    RunStarted,
    ToolDenied,
    ToolStarted,
    WaitEnded,
    WaitStarted,
)
from ralph_tui.state.fold import Fold, Handlers, on


class NeedsFold(Fold):
    """What the header's last corner, the question dialog and the loop's waiting look at."""

    def __init__(self) -> None:
        self.wait: WaitStarted | None = None
        """The wait that goes on."""
        self.served = False
        """Whether the agent's service has answered in this run."""
        self.question: QuestionAsked | None = None
        """The question that is open; one at a time."""
        self.withdrawn: QuestionWithdrawn | None = None
        """The question that was closed last, when it needed no answer any more."""
        self.left_open: QuestionAsked | None = None
        """The question that was open when the run ended."""
        self.answer: QuestionAnswered | None = None
        """The answer that was given last."""
        self.mode = "edits"
        self.allow: tuple[str, ...] = ()
        self.denied: dict[str, int] = {}
        """How often what each ``permissions.allow`` line would permit was denied."""

    def handlers(self) -> Handlers:
        """See `Fold`."""
        return (
            on(RunStarted, self._run_started),
            on(AgentSpoke, self._worked),
            on(ToolStarted, self._worked),
            on(WaitStarted, self._wait_started),
            on(WaitEnded, self._wait_ended),
            on(QuestionAsked, self._question_asked),
            on(QuestionHeld, self._question_held),
            on(QuestionPostponed, self._question_postponed),
            on(QuestionAnswered, self._question_answered),
            on(QuestionWithdrawn, self._question_closed),
            on(PermissionsChanged, self._permissions_changed),
            on(ToolDenied, self._tool_denied),
            on(RunResumed, self._over),
            on(RunFinished, self._over),
            on(RunCrashed, self._over),
        )

    def _run_started(self, event: RunStarted) -> None:
        self.mode = event.permissions
        allow = event.config.get("permissions.allow")
        self.allow = tuple(allow) if isinstance(allow, list) else ()

    def _worked(self, event: AgentSpoke | ToolStarted) -> bool:
        self.served = True
        return False

    def _wait_started(self, event: WaitStarted) -> None:
        self.wait = event

    def _wait_ended(self, event: WaitEnded) -> None:
        self.wait = None

    def _question_asked(self, event: QuestionAsked) -> None:
        self.question = event

    def _question_held(self, event: QuestionHeld) -> bool:
        if self.question is None or self.question.question_id != event.question_id:
            return False
        self.question = self.question.model_copy(update={"deadline": None})
        return True

    def _question_postponed(self, event: QuestionPostponed) -> bool:
        asked = self.question
        if asked is None or asked.question_id != event.question_id or asked.deadline is None:
            return False
        self.question = asked.model_copy(update={"deadline": event.deadline})
        return True

    def _question_answered(self, event: QuestionAnswered) -> None:
        self.answer = event
        self._question_closed(event)

    def _question_closed(self, event: QuestionAnswered | QuestionWithdrawn) -> None:
        self.withdrawn = event if isinstance(event, QuestionWithdrawn) else None
        if self.question is not None and self.question.question_id == event.question_id:
            self.question = None

    def _permissions_changed(self, event: PermissionsChanged) -> None:
        self.mode, self.allow = event.mode, tuple(event.allow)

    def _tool_denied(self, event: ToolDenied) -> None:
        for line in event.lines:
            self.denied[line] = self.denied.get(line, 0) + 1

    def _over(self, event: RunResumed | RunFinished | RunCrashed) -> None:
        self.left_open = None if isinstance(event, RunResumed) else self.question
        self.wait = self.question = None
