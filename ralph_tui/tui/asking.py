"""The open question's dialog: opens by itself once, and closes when the question is settled.

Rule: dialogs follow the state and never the other way round; an answer is a command like any other,
and the first one counts. A recorded run asks nobody.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from ralph_tui.commands import Answer
from ralph_tui.events import QuestionAsked
from ralph_tui.state import RunState
from ralph_tui.tui.source import Source

if TYPE_CHECKING:
    from ralph_tui.tui.app import CockpitApp
    from ralph_tui.tui.modals.question import Question


class Asking:
    """Brings the question to its owner."""

    def __init__(self, app: "CockpitApp", source: Source, say: Callable[[str], None]) -> None:
        self._app = app
        self._source = source
        self._say = say
        self._called: str | None = None
        """The question that the owner was called for."""
        self._shown: str | None = None
        """The question that has opened its dialog."""
        self._dialog: Question | None = None

    def follow(self, state: RunState, now: datetime) -> None:
        """Do what the state asks for; called at every tick."""
        question = state.needs.question if self._source.live else None
        self._call(question)
        if self._dialog is not None:
            self._keep(self._dialog, question, now)
        elif (
            question is not None
            and question.question_id != self._shown
            # What the owner is doing in another dialog is not taken out of his hands.
            and len(self._app.screen_stack) == 1
        ):
            self._open(question, now)

    def reopen(self, state: RunState, now: datetime) -> None:
        """Show the dialog again that was closed without an answer."""
        if state.needs.question is not None:
            self._open(state.needs.question, now)

    def end(self) -> None:
        """The screen is gone."""
        self._call(None)

    def _open(self, question: QuestionAsked, now: datetime) -> None:
        # Not before it is needed: the first paint does not wait for it.
        from ralph_tui.tui.modals.question import Question  # noqa: PLC0415

        self._shown = question.question_id
        self._dialog = Question(question, now, self._app.monotonic)
        self._app.push_screen(self._dialog, partial(self._answered, question.question_id))

    def _keep(self, dialog: "Question", question: QuestionAsked | None, now: datetime) -> None:
        if question is not None and question.question_id == dialog.asked.question_id:
            dialog.sync(now)
        elif self._app.screen is dialog:  # else it closes when it comes to the top again
            dialog.dismiss(None)
            self._say("the question is settled; the log tells how")

    def _answered(self, question_id: str, answer: str | None) -> None:
        self._dialog = None
        if answer is not None:
            self._source.send(Answer(question_id=question_id, answer=answer))

    def _call(self, question: QuestionAsked | None) -> None:
        """Once per question: the bell, and the terminal's title until it is settled."""
        wanted = None if question is None else question.question_id
        if wanted != self._called:
            self._called = wanted
            self._app.call_owner(needed=wanted is not None)
