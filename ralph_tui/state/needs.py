"""What stands between a run and its going on: a limit, a question; and what its agent may do."""

from collections.abc import Callable
from typing import Any

from ralph_tui.events import (
    PermissionsChanged,
    QuestionAnswered,
    QuestionAsked,
    QuestionHeld,
    QuestionWithdrawn,
    RunStarted,
    ToolDenied,
    WaitEnded,
    WaitStarted,
)


class NeedsFold:
    """What the header's last corner, the question dialog and the loop's waiting look at."""

    def __init__(self) -> None:
        self.revision = 0
        self.wait: WaitStarted | None = None
        """The wait that goes on."""
        self.waits = 0
        """How often in a row this iteration has waited."""
        self.question: QuestionAsked | None = None
        """The question that is open; one at a time."""
        self.answer: QuestionAnswered | None = None
        """The answer that was given last."""
        self.mode = "edits"
        self.allow: tuple[str, ...] = ()
        self.denied: dict[str, int] = {}
        """How often what each ``permissions.allow`` line would permit was denied."""

    def handlers(self) -> dict[str, Callable[[Any], None]]:
        """See `Fold`."""
        return {
            "run_started": self._run_started,
            "iteration_started": self._iteration_started,
            "wait_started": self._wait_started,
            "wait_ended": self._wait_ended,
            "question_asked": self._question_asked,
            "question_held": self._question_held,
            "question_answered": self._question_answered,
            "question_withdrawn": self._question_closed,
            "permissions_changed": self._permissions_changed,
            "tool_denied": self._tool_denied,
            "run_resumed": self._over,
            "run_finished": self._over,
            "run_crashed": self._over,
        }

    def _run_started(self, event: RunStarted) -> None:
        self.revision += 1
        self.mode = event.permissions
        allow = event.config.get("permissions.allow")
        self.allow = tuple(allow) if isinstance(allow, list) else ()

    def _iteration_started(self, event: Any) -> None:
        self.waits = 0

    def _wait_started(self, event: WaitStarted) -> None:
        self.revision += 1
        self.wait = event
        if event.cause != "disk_full":
            self.waits = event.attempt

    def _wait_ended(self, event: WaitEnded) -> None:
        self.revision += 1
        waited, self.wait = self.wait, None
        # Who tries again by hand is not made to wait the longer for it.
        if waited is not None and waited.cause != "disk_full" and event.by != "the clock":
            self.waits = max(0, self.waits - 1)

    def _question_asked(self, event: QuestionAsked) -> None:
        self.revision += 1
        self.question = event

    def _question_held(self, event: QuestionHeld) -> None:
        if self.question is not None and self.question.question_id == event.question_id:
            self.revision += 1
            self.question = self.question.model_copy(update={"deadline": None})

    def _question_answered(self, event: QuestionAnswered) -> None:
        self.answer = event
        self._question_closed(event)

    def _question_closed(self, event: QuestionAnswered | QuestionWithdrawn) -> None:
        self.revision += 1
        if self.question is not None and self.question.question_id == event.question_id:
            self.question = None

    def _permissions_changed(self, event: PermissionsChanged) -> None:
        self.revision += 1
        self.mode, self.allow = event.mode, tuple(event.allow)

    def _tool_denied(self, event: ToolDenied) -> None:
        self.revision += 1
        line = event.permit or event.tool
        self.denied[line] = self.denied.get(line, 0) + 1

    def _over(self, event: Any) -> None:
        self.revision += 1
        self.wait = self.question = None
