"""A run's wait or open question, and the permissions of its agent."""

from ralph_tui import events as ev
from ralph_tui.state.fold import Fold


class NeedsFold(Fold):
    """State for the header's last corner, the question dialog and the loop's waits."""

    def __init__(self) -> None:
        self.wait: ev.WaitStarted | None = None
        """The current wait; None if the run is not waiting."""
        self.served = False
        """True if the agent's service has answered in this run."""
        self.question: ev.QuestionAsked | None = None
        """The open question; there is only one at a time."""
        self.withdrawn: ev.QuestionWithdrawn | None = None
        """The last question, if it was closed because it became obsolete."""
        self.left_open: ev.QuestionAsked | None = None
        """The question that was open when the run ended."""
        self.answer: ev.QuestionAnswered | None = None
        """The latest answer."""
        self.mode = "edits"
        self.allow: tuple[str, ...] = ()
        self.denied: dict[str, int] = {}
        """Number of denied calls that each ``permissions.allow`` line would have permitted."""
        self.denials = 0
        """Tool calls denied by the permissions or refused by an answer."""
        self._refused: set[str] = set()
        """Ids of questions answered with a refusal."""

    def on_run_started(self, event: ev.RunStarted) -> None:
        self.mode = event.permissions
        allow = event.config.get("permissions.allow")
        self.allow = tuple(allow) if isinstance(allow, list) else ()

    def on_worked(self, event: ev.AgentSpoke | ev.ToolStarted) -> bool:
        self.served = True
        return False

    def on_wait_started(self, event: ev.WaitStarted) -> None:
        self.wait = event

    def on_wait_ended(self, event: ev.WaitEnded) -> None:
        self.wait = None

    def on_question_asked(self, event: ev.QuestionAsked) -> None:
        self.question = event

    def on_question_held(self, event: ev.QuestionHeld) -> bool:
        if self.question is None or self.question.question_id != event.question_id:
            return False
        self.question = self.question.model_copy(update={"deadline": None})
        return True

    def on_question_postponed(self, event: ev.QuestionPostponed) -> bool:
        asked = self.question
        if asked is None or asked.question_id != event.question_id or asked.deadline is None:
            return False
        self.question = asked.model_copy(update={"deadline": event.deadline})
        return True

    def on_question_answered(self, event: ev.QuestionAnswered) -> None:
        self.answer = event
        asked = self.question
        if asked is not None and (asked.topic, event.answer) == ("permission", "refuse"):
            self._refused.add(event.question_id)
            self.denials += 1
        self.withdrawn = None
        self._close(event)

    def on_question_withdrawn(self, event: ev.QuestionWithdrawn) -> None:
        self.withdrawn = event
        self._close(event)

    def _close(self, event: ev.QuestionAnswered | ev.QuestionWithdrawn) -> None:
        if self.question is not None and self.question.question_id == event.question_id:
            self.question = None

    def on_permissions_changed(self, event: ev.PermissionsChanged) -> None:
        self.mode, self.allow = event.mode, tuple(event.allow)

    def on_refused_again(self, event: ev.AgentRefusedAgain) -> None:
        self.denials += event.question_id in self._refused

    def on_tool_denied(self, event: ev.ToolDenied) -> None:
        self.denials += 1
        for line in event.lines:
            self.denied[line] = self.denied.get(line, 0) + 1

    def on_over(self, event: ev.RunResumed | ev.RunFinished | ev.RunCrashed) -> None:
        self.left_open = None if isinstance(event, ev.RunResumed) else self.question
        self.wait = self.question = None
