"""A question from the run: its reason, the possible answers, and what happens without an answer.

Rule: the dialog knows what input an option takes, not what the option is about. Keys, texts and the
default come from the event. Closing the dialog answers nothing: the question stays open, and its
countdown continues.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import TextArea

from ralph_tui.base.errors import RalphError
from ralph_tui.commands import MAX_ITERATIONS, Answer, Command, Hold
from ralph_tui.events import QuestionAsked
from ralph_tui.events.waiting import Option, Takes
from ralph_tui.state import RunState
from ralph_tui.tui import background
from ralph_tui.tui.draw.spans import Line, clip, flat
from ralph_tui.tui.draw.words import countdown
from ralph_tui.tui.modals import question_rows as drawn
from ralph_tui.tui.modals.modal import Modal, Pair
from ralph_tui.tui.modals.question_sheet import SCROLLING, Sheet
from ralph_tui.tui.modals.restore_effect import RestoreEffect

MAX_USD = 1_000_000


EXAMPLES: dict[Takes, str] = {
    "more": "not an amount: enter 5 for iterations, $2.50 for dollars",
    "iterations": "not a number of iterations: enter 5",
    "money": "not an amount of dollars: enter 2.50",
}
"""Error for input that grants nothing, by the kind of input that an answer takes."""


def parse_amount(text: str, takes: Takes = "more") -> tuple[int, float]:
    """Return iterations and dollars from ``5`` or ``$2.50``; the other one is 0.

    If the question takes only one of them, a bare number means that one. Raises ValueError with the
    reason if the input is invalid.
    """
    text = text.strip().removeprefix("+").strip()
    sign = r"\$?" if takes == "money" else r"\$"
    match = re.fullmatch(sign + r"\s*(\d{1,7}(?:\.\d{1,6})?|\.\d{1,6})", text, re.ASCII)
    if match and takes != "iterations":
        dollars = float(match[1])
        if not 0 < dollars <= MAX_USD:
            raise ValueError(f"dollars must be more than 0 and at most {MAX_USD}")
        return 0, dollars
    if takes != "money" and re.fullmatch(r"\d{1,9}", text, re.ASCII):
        if not 1 <= int(text) <= MAX_ITERATIONS:
            raise ValueError(f"iterations must be from 1 to {MAX_ITERATIONS}")
        return int(text), 0.0
    what, example = EXAMPLES[takes].split(": ")
    wrong = f"“{clip(flat(text), 20)}” is {what}" if text else "nothing entered"
    raise ValueError(f"{wrong}: {example}")


Texts = dict[Takes, str]


class Question(Modal[Answer | None]):
    """Returns the answer, or None if the dialog was closed without one."""

    AUTO_FOCUS = ""
    DECIDES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, priority=True),
        *(Binding(key, does, show=False) for key, does in SCROLLING),
    ]

    def __init__(
        self,
        asked: QuestionAsked,
        state: RunState,
        now: datetime,
        send: Callable[[Command], None],
        texts: Texts,
        clock: Callable[[], float] = monotonic,
        look: Callable[[], RestoreEffect] | None = None,
        *,
        guarded: bool = True,
    ) -> None:
        """`texts` stores the user's text; `look` blocks and returns what a restore would change.

        See `Modal` for `guarded`, which is False if the user has just opened the dialog.
        """
        super().__init__(clock, guarded=guarded)
        self.asked = asked
        self.editing: Option | None = None
        """The option whose text is being written."""
        self.settled = ""
        """How the question was settled while the user was still writing; otherwise empty."""
        self._confirming: Option | None = None
        self._state, self._now, self._send, self._texts = state, now, send, texts
        self._held = asked.deadline is None
        self._wrong, self._wrong_text = "", ""
        """An error, and the text it refers to."""
        self._look, self._effect = look, ""
        self._stops = drawn.stops(asked, state)
        self.sheet = Sheet()

    def parts(self) -> ComposeResult:
        self.sheet.border_title = Content(f" {clip(drawn.title(self.asked), 70)} ")
        yield self.sheet

    def on_resize(self, event: events.Resize) -> None:
        self._lay()

    def sync(self, asked: QuestionAsked, now: datetime) -> None:
        """Follow the question; redraw once a second during a countdown."""
        before = (self.asked.deadline, countdown(self.asked.deadline, self._now))
        self.asked, self._now = asked, now
        self._held = self._held or asked.deadline is None
        stops, self._stops = self._stops, drawn.stops(asked, self._state)
        if stops != self._stops or before[0] != asked.deadline or (self.sheet.flows and before[1]):
            self._lay()
        elif before[1] != countdown(asked.deadline, now):
            self.sheet.show_last(self._silence())

    def tell_settled(self, how: str) -> None:
        """Show how the question was settled, and keep the editor open for the user's text."""
        self.settled = how
        self._lay()

    # layout -----------------------------------------------------------------------------------

    def _lay(self) -> None:
        if not self.sheet.is_attached:
            return  # not shown yet, or already removed; `on_resize` runs when it is shown
        width, _ = self.sheet.measure()
        edits = self.editing is not None
        self.sheet.place(partial(self.content, width), self._foot, edits=edits)
        self.show_keys()

    def content(self, width: int, most: int) -> tuple[list[Line], list[Line]]:
        """Return the reason, in at most `most` rows, and everything else there is to read."""
        edited = self._texts.get("instructions", "")
        writes = self.editing is not None and self.editing.takes == "instructions"
        return drawn.content(
            self.asked, self._state, width, most, edited=edited, proposes=not writes
        )

    def pairs(self) -> Sequence[Pair]:
        if self.settled:
            return (("esc", "close"),)
        if self.editing is not None:
            return drawn.editor_keys(self.editing.takes)
        if self._confirming is not None:
            return (("y", ""), ("n", "answer"), *self.reading(), ("esc", "back"))
        return (*self.letters(self.asked.options), *self.reading(), ("esc", "later"))

    def letters(self, options: Sequence[Option]) -> Sequence[Pair]:
        """Return the keys of these answers, and the key that stops a running countdown."""
        keys = [clip(flat(option.key, 12), 12) for option in options]
        named = [(key, "answer" if key is keys[-1] else "") for key in keys]
        return named if self._held else [*named, ("space", "stop countdown")]

    def reading(self) -> Sequence[Pair]:
        """Return the keys that scroll, if there is more to read."""
        return (("↑", ""), ("↓", "scroll")) if self.sheet.scrolls else ()

    def _foot(self, listed: bool) -> list[Line]:  # noqa: FBT001 passed as a callback
        width = self.sheet.room[0]
        rows: list[Line] = []
        if self._confirming is not None:
            rows = drawn.confirmation(self._confirming, self.asked, width, self._effect)
        elif self.settled:
            rows = drawn.settled(self.settled)
        elif self.editing is None:
            rows = self.answers(width, listed=listed)
        last = [] if self.settled else [*drawn.stop_rows(self._stops, width), self._silence()]
        return [*drawn.wrong(self._wrong), *rows, *last]

    def answers(self, width: int, *, listed: bool) -> list[Line]:
        """Return the answers; `listed` shows each with its effect."""
        edited = "instructions" in self._texts
        choices = drawn.choices(self.asked, width, edited=edited)
        return choices if listed else drawn.packed(self.asked, width)

    def _silence(self) -> Line:
        return drawn.silence(
            self.asked, self._now, self.sheet.room[0], held=self._held, sure=self._confirming
        )

    # answering --------------------------------------------------------------------------------

    def accept_key(self, event: events.Key) -> bool:
        """Answer with a letter, unless the editor is open."""
        if self.editing is not None:
            return False
        key = event.character or event.key
        if self._confirming is not None:
            if key in ("y", "n"):
                self._confirmed(yes=key == "y")
            return key in ("y", "n")
        if event.key == "space":
            if self._hold():
                self._lay()
            else:
                self.report("space: there is no countdown; the question waits for your answer")
            return True
        option = next((option for option in self.asked.options if option.key == key), None)
        if option is not None:
            self._choose(option)
        return option is not None

    def _choose(self, option: Option) -> None:
        if option.takes != "nothing":
            self._edit(option)
        elif drawn.confirm_text(option, self.asked):
            self._confirming = option
            if option.answer == "roll_back" and self._look is not None:
                self._effect = "checking what would change now…"
                background.run(self, partial(self._read, self._look))
            self.ignore_keys()
            self._lay()
        else:
            self._answer(option)

    async def _read(self, look: Callable[[], RestoreEffect]) -> None:
        """Preview against the current files, which may have changed since the question came up."""
        try:
            self._effect = f"would change now: {(await asyncio.to_thread(look)).words}"
        except RalphError as error:
            self._effect = f"cannot check what would change now: {flat(str(error))}"
        self._lay()

    def _confirmed(self, *, yes: bool) -> None:
        option, self._confirming = self._confirming, None
        if yes and option is not None:
            self._answer(option)
        else:
            self._lay()

    def _answer(self, option: Option, *, iterations: int = 0, budget_usd: float = 0.0) -> None:
        """Answer with the text that belongs to this option."""
        text = drawn.text_for(option, self.asked, self._texts)
        if len(text) > drawn.MAX_CHARACTERS:
            self._complain(
                f"{len(text)} characters; an answer may have at most {drawn.MAX_CHARACTERS}"
            )
            return
        if self.is_current:
            self.dismiss(
                Answer(
                    question_id=self.asked.question_id,
                    answer=option.answer,
                    text=text,
                    iterations=iterations,
                    budget_usd=budget_usd,
                )
            )

    def _complain(self, text: str) -> None:
        self._wrong, self._wrong_text = text, self.sheet.editor.text
        self._lay()

    def _hold(self) -> bool:
        """Stop the countdown; return True if one was running."""
        if self._held or self.asked.deadline is None:
            return False
        self._held = True
        self._send(Hold(question_id=self.asked.question_id))
        return True

    # writing ----------------------------------------------------------------------------------

    def _edit(self, option: Option) -> None:
        self._hold()
        self.editing, self._wrong = option, ""
        proposed = self.asked.proposal if option.takes == "instructions" else ""
        editor = self.sheet.editor
        editor.begin(option.takes, self._texts.get(option.takes) or proposed)
        if proposed or self.asked.topic in drawn.HEADINGS:
            editor.border_title = Content(f" {drawn.proposed(self.asked)} ")
        self.set_focus(editor)
        self._lay()

    def store(self) -> None:
        """Save the text being written, unless it is empty or equal to the proposal."""
        if self.editing is None:
            return
        takes, text = self.editing.takes, self.sheet.editor.written
        if not text or (takes == "instructions" and text == self.asked.proposal.strip()):
            self._texts.pop(takes, None)
        else:
            self._texts[takes] = text

    def _close_editor(self) -> None:
        self.store()
        self.editing = None
        self.sheet.editor.end()
        self.set_focus(None)
        self._lay()

    def on_text_entry_sent(self) -> None:
        """Handle enter: keep instructions until the user answers, but send any other text."""
        option, self._wrong = self.editing, ""
        if option is None:
            return
        self.store()
        if self.settled:
            self.dismiss(None)
        elif option.takes in drawn.MORE:
            self._grant(option)
        elif option.takes == "instructions":
            self._close_editor()
        elif self._texts.get("words"):
            self._answer(option)
        else:
            self._complain("nothing entered yet")

    def _grant(self, option: Option) -> None:
        try:
            iterations, dollars = parse_amount(self.sheet.editor.text[:200], option.takes)
        except ValueError as error:
            self._complain(str(error))
        else:
            self._answer(option, iterations=iterations, budget_usd=dollars)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Clear the error once the text has changed."""
        # After fast typing, the event of the last letter arrives after the enter that followed it.
        if self._wrong and event.text_area.text != self._wrong_text:
            self._complain("")

    def action_back(self) -> None:
        """Leave the editor, the confirmation, or the dialog."""
        self._wrong = ""
        if self.settled:
            self.store()
            self.dismiss(None)
        elif self.editing is not None:
            self._close_editor()
        elif self._confirming is not None:
            self._confirmed(yes=False)
        else:
            self.dismiss(None)

    def action_roll(self, by: int) -> None:
        self.report_end(self.sheet.body.roll(by))

    def action_page(self, by: int) -> None:
        self.report_end(self.sheet.body.page(by))
