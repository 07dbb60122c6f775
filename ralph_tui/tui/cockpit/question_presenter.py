"""Alerts the user when the run ends or asks a question, and shows the question's dialog.

The dialog opens automatically once, and closes when the question is settled.

Rule: dialogs follow the state, never the other way round. An answer is a command like any other,
and the first one counts. Text written for an answer that comes too late is saved. A recorded run
asks no questions.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from ralph_tui.commands import Answer
from ralph_tui.events import QuestionAsked
from ralph_tui.events.waiting import SILENCE, Takes
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.format import ending
from ralph_tui.text.terms import BUG, answer_word
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.draw.spans import clip, flat
from ralph_tui.tui.modals.restore_effect import RestoreEffect, preview

if TYPE_CHECKING:
    from ralph_tui.tui.modals.question import Question, Texts


def alert_text(state: RunState) -> str:
    """Return the text of an alert about the run."""
    run, question = state.run, state.needs.question
    if run.crash is not None:
        return BUG
    if run.finished is not None:
        return ending(run.finished.outcome, run.finished.reason)
    return question.text if question is not None else "the run needs you"


class EndAlert:
    """Alerts the user once, when a run that was live on this screen ends."""

    def __init__(self, app: RalphApp, source: Source) -> None:
        self._app = app
        self._source = source
        self._was_live = False
        self._alerted = False

    def follow(self, state: RunState) -> None:
        """Alert the user when the run has ended; called at every tick."""
        if self._was_live and not state.run.live and self._source.live:
            self._alerted = True
            self._app.alert_user(alert_text(state), over=True)
        self._was_live = state.run.live

    def end(self) -> None:
        """Clear the alert when the screen closes."""
        if self._alerted:
            self._app.clear_alert()


class QuestionPresenter:
    """Shows the open question to the user."""

    def __init__(self, host: RunScreen, keep_text: Callable[[str], str]) -> None:
        """`keep_text` keeps text that was written but not sent, and returns how to see it."""
        self._host = host
        self._app = host.ralph
        self._source = host.source
        self._keep_text = keep_text
        self._asked: QuestionAsked | None = None
        """The question whose id `_known` holds."""
        self._known: str | None = None
        """Id of the question that was open at the last tick."""
        self._shown: str | None = None
        """Id of the question whose dialog has been opened."""
        self._dialog: Question | None = None
        self._texts: Texts = {}
        """Texts written for the open question, by purpose."""
        self._sent: Answer | None = None

    def follow(self) -> None:
        """Open, update or close the question's dialog; called at every tick."""
        state = self._host.state
        now = self._source.clock(state)
        question = state.needs.question if self._source.live else None
        wanted = None if question is None else question.question_id
        if wanted != self._known:
            if self._known is not None:
                self._settled(state, self._known)
            self._known = wanted
            self._asked = question
            if wanted is not None:
                self._app.alert_user(alert_text(state))
            else:
                self._app.clear_alert()
        if self._dialog is not None:
            self._tend(self._dialog, question, now)
        elif (
            question is not None
            and question.question_id != self._shown
            # Do not interrupt another dialog that the user has open.
            and self._host.in_front
        ):
            self._open(question, state, now)

    def reopen(self) -> None:
        """Reopen the dialog of an unanswered question; it accepts answers at once."""
        state = self._host.state
        if state.needs.question is not None:
            self._open(state.needs.question, state, self._source.clock(state), guarded=False)

    def end(self) -> None:
        """Clear the alert when the screen closes."""
        if self._known is not None:
            self._known = None
            self._app.clear_alert()

    def _open(
        self, question: QuestionAsked, state: RunState, now: datetime, *, guarded: bool = True
    ) -> None:
        # Imported on first use to keep the first paint fast.
        from ralph_tui.tui.modals.question import Question  # noqa: PLC0415

        self._shown = question.question_id
        kind = Question
        if question.request is not None and question.request.choices:
            from ralph_tui.tui.modals.choice import ChoiceQuestion  # noqa: PLC0415 - as above

            kind = ChoiceQuestion
        self._dialog = kind(
            question,
            state,
            now,
            self._source.send,
            self._texts,
            self._app.monotonic,
            self._look(question, state),
            guarded=guarded,
        )
        self._app.push_screen(self._dialog, self._answered)

    def _look(self, question: QuestionAsked, state: RunState) -> Callable[[], RestoreEffect] | None:
        """Return a preview of the offered rollback; None if there is nothing to preview."""
        offered = question.rollback
        point = state.timeline.snapshots.get(offered.snapshot) if offered else None
        return preview(self._source.files, point.tree) if point else None

    def _tend(self, dialog: "Question", question: QuestionAsked | None, now: datetime) -> None:
        if question is not None and question.question_id == dialog.asked.question_id:
            dialog.sync(question, now)
        elif (
            self._app.screen is dialog and dialog.editing is None
        ):  # otherwise wait until editing ends
            dialog.close_obsolete()

    def _answered(self, answer: Answer | None) -> None:
        if self._dialog is not None and self._dialog.settled:
            self._keep_texts()
        self._dialog = None
        if answer is not None:
            self._sent = answer
            self._source.send(answer)

    def _settled(self, state: RunState, question_id: str) -> None:
        """Report the answer unless it was given here; save unsent text as draft guidance."""
        dialog = self._dialog
        writing = dialog is not None and dialog.asked.question_id == question_id
        if dialog is not None and writing:
            dialog.store()
        answer, sent = state.needs.answer, self._sent
        texts = self._draft_texts()
        self._sent = None
        how, taken, here = ("no longer open" if state.run.live else "the run has ended", "", False)
        withdrawn = state.needs.withdrawn
        if withdrawn is not None and withdrawn.question_id == question_id:
            how = clip(flat(withdrawn.reason), 60)
        if answer is not None and answer.question_id == question_id:
            how = f"{answer_word(flat(answer.answer, 40))}, {self._place(answer.by)}"
            if answer.by == SILENCE:
                how = flat(answer.decision(self._asked))
            taken = answer.text.strip()
            mine = (question_id, answer.answer, answer.by)
            here = sent is not None and mine == (sent.question_id, sent.answer, self._source.name)
        if dialog is not None and writing and dialog.editing is not None:
            # Keep the editor open: the user's next key must not reach the cockpit.
            dialog.tell_settled(how)
            return
        self._texts = {}
        lost = [text for text in texts if text != taken and not here]
        kept = [self._keep_text(text) for text in lost]
        if not here:
            self._host.report("; ".join((f"question closed: {how}", *kept[-1:])))

    def _place(self, by: str) -> str:
        """Describe where the answer came from; "you" is the user at the run's own terminal."""
        if self._source.elsewhere and by == Answer.model_fields["by"].default:
            return "at the run's own terminal"
        return f"by {clip(flat(by), 30)}"

    def _draft_texts(self) -> list[str]:
        texts: tuple[Takes, ...] = ("instructions", "words", "choices")
        return [self._texts[takes] for takes in texts if takes in self._texts]

    def _keep_texts(self) -> None:
        """Save text as a draft if the question was settled before it was sent."""
        texts, self._texts = self._draft_texts(), {}
        for kept in [self._keep_text(text) for text in texts][-1:]:
            self._host.report(kept)
