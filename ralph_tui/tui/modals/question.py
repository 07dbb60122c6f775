"""A question of the run: what it is about, the answers that can be given, and what silence gives.

Rule: it knows what an option takes along, not what it is about; keys, words and default come from
the event. Closing it answers nothing: the question stays open, and its countdown runs.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import TextArea

from ralph_tui.commands import Answer, Command, Hold
from ralph_tui.errors import RalphError
from ralph_tui.events import QuestionAsked
from ralph_tui.events.waiting import Option, Takes
from ralph_tui.state import RunState
from ralph_tui.tui.draw.spans import Line, clip, flat
from ralph_tui.tui.draw.words import countdown
from ralph_tui.tui.modals import question_rows as drawn
from ralph_tui.tui.modals.editor import Editor
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.modals.outlook import Outlook
from ralph_tui.tui.modals.scroll_text import ScrollText

MOST_CHARACTERS = 100_000
"""Of what an answer brings along."""
WIDEST = 96
"""Cells: longer rows are hard to read."""
FRAME_ROWS, FRAME_CELLS = 2, 6
LISTED_ROWS = 12
"""What must be left for all that is told, if each option is to have its own row."""
SCROLLING = (
    *(("up", "roll(-1)"), ("down", "roll(1)"), ("pageup", "page(-1)"), ("pagedown", "page(1)")),
    *(("home", "roll(-1000000)"), ("end", "roll(1000000)")),
)
Texts = dict[Takes, str]


class Question(Modal[Answer | None]):
    """Ends with the answer; None when it was closed without one."""

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
        look: Callable[[], Outlook] | None = None,
    ) -> None:
        """`texts` keeps what was written; `look` blocks and says what a roll back changes now."""
        super().__init__(clock)
        self.asked = asked
        self.editing: Option | None = None
        """The option whose words are being written."""
        self.settled = ""
        """How the question was settled while somebody was still writing."""
        self._confirming: Option | None = None
        self._state, self._now, self._send, self._texts = state, now, send, texts
        self._held = asked.deadline is None
        self._wrong, self._wrong_text = "", ""
        """A complaint, and what it is about."""
        self._look, self._would = look, ""
        self._room = (0, 0)
        self._scrolls = False
        """There is more to read than is in view."""

    def compose(self) -> ComposeResult:
        """What it is about, an editor when it is wanted, and how to answer."""
        dialog = Vertical(id="question-dialog", classes="dialog")
        dialog.border_title = Content(f" {clip(drawn.title(self.asked), 70)} ")
        with dialog:
            yield ScrollText("told")
            yield Editor()
            yield ScrollText("foot")

    def on_mount(self) -> None:
        """Find a place for everything."""
        self._lay()

    def on_resize(self, event: events.Resize) -> None:
        """Another size, other places."""
        self._lay()

    def sync(self, asked: QuestionAsked, now: datetime) -> None:
        """Follow the question; drawn anew once a second while it counts down."""
        before = (self.asked.deadline, countdown(self.asked.deadline, self._now))
        self.asked, self._now = asked, now
        if before != (asked.deadline, countdown(asked.deadline, now)) and self._room[0]:
            foot = self._foot()
            self.query_one("#foot", ScrollText).show(foot, len(foot))

    def tell_settled(self, how: str) -> None:
        """The question is closed; what is being written is not taken out of anybody's hands."""
        self.settled = how
        self._lay()

    # places -----------------------------------------------------------------------------------

    def _lay(self) -> None:
        columns, rows = self.app.size
        width = max(20, min(columns - 4, WIDEST))
        dialog = self.query_one("#question-dialog", Vertical)
        dialog.styles.width = width
        self._room = (width - FRAME_CELLS - ScrollText.EDGE, max(8, rows - 2 - FRAME_ROWS))
        inner, height = self._room
        foot = self._foot()
        writes = self.editing is not None and self.editing.takes == "instructions"
        body = drawn.told(
            self.asked,
            self._state,
            edited=self._texts.get("instructions", ""),
            width=inner,
            height=height,
            proposes=not writes,
        )
        left = height - len(foot)
        editor = self.query_one(Editor).place(left, len(body))
        body_rows = max(0, min(len(body), left - editor))
        self.query_one("#told", ScrollText).show(body, body_rows)
        self.query_one("#foot", ScrollText).show(foot, len(foot))
        self._scrolls = body_rows < len(body)
        self.tell_how()

    def tell_how(self) -> None:
        """How to read on, and how to leave."""
        scroll = "↑↓ more · " if self._scrolls and self.editing is None else ""
        later = "" if self.editing or self._confirming else "esc later, d reopens"
        dialog = self.query_one("#question-dialog", Vertical)
        dialog.border_subtitle = Content(f" {scroll}{later} ") if later else None

    def _foot(self) -> list[Line]:
        width, height = self._room
        if self._confirming is not None:
            rows = drawn.confirmation(self._confirming, self.asked, clip(self._would, width))
        elif self.editing is not None:
            rows = [drawn.editor_keys(self.editing.takes)]
            if self.settled:
                rows = drawn.settled(self.settled)
        else:
            listed = height - len(self.asked.options) >= LISTED_ROWS
            edited = "instructions" in self._texts
            rows = drawn.choices(self.asked, width, listed=listed, edited=edited)[: height - 3]
        gap: list[Line] = [[]] if self.editing is None else []
        last = drawn.silence(self.asked, self._now, width, held=self._held, sure=self._confirming)
        return [*gap, *drawn.wrong(self._wrong), *rows, *([] if self.settled else [last])]

    # answering --------------------------------------------------------------------------------

    def take_key(self, event: events.Key) -> bool:
        """A letter answers, outside the editor."""
        if self.editing is not None:
            return False
        key = event.character or event.key
        if self._confirming is not None:
            if key in ("y", "n"):
                self._confirmed(yes=key == "y")
            return key in ("y", "n")
        if event.key == "space":
            return self._hold()
        option = next((option for option in self.asked.options if option.key == key), None)
        if option is not None:
            self._choose(option)
        return option is not None

    def _choose(self, option: Option) -> None:
        if option.takes != "nothing":
            self._edit(option)
        elif drawn.certain(option, self.asked):
            self._confirming = option
            if option.answer == "roll_back" and self._look is not None:
                self._would = "would change now: reading…"
                self.run_worker(self._read(self._look))
            self.look_away()
            self._lay()
        else:
            self._answer(option)

    async def _read(self, look: Callable[[], Outlook]) -> None:
        """Look at the files as they are: the offer was made when the question was asked."""
        try:
            self._would = f"would change now: {(await asyncio.to_thread(look)).words}"
        except RalphError as error:
            self._would = f"what it would change now cannot be told: {flat(str(error))}"
        self._lay()

    def _confirmed(self, *, yes: bool) -> None:
        option, self._confirming = self._confirming, None
        if yes and option is not None:
            self._answer(option)
        else:
            self._lay()

    def _answer(self, option: Option, *, iterations: int = 0, budget_usd: float = 0.0) -> None:
        """Answer, with the words that belong to it."""
        text = drawn.text_for(option, self.asked, self._texts)
        if len(text) > MOST_CHARACTERS:
            self._complain(f"{len(text)} characters: an answer has {MOST_CHARACTERS} at most")
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
        self._wrong, self._wrong_text = text, self.query_one(Editor).text
        self._lay()

    def _hold(self) -> bool:
        """Stop the countdown, once; whether one ran."""
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
        editor = self.query_one(Editor)
        editor.begin(option.takes, self._texts.get(option.takes) or proposed)
        if proposed:
            editor.border_title = Content(f" {drawn.proposed(self.asked)} ")
        self.set_focus(editor)
        self._lay()

    def store(self) -> None:
        """Keep what is being written; a text like the proposal is none."""
        if self.editing is None:
            return
        takes, text = self.editing.takes, self.query_one(Editor).written
        if not text or (takes == "instructions" and text == self.asked.proposal.strip()):
            self._texts.pop(takes, None)
        else:
            self._texts[takes] = text

    def _close_editor(self) -> None:
        self.store()
        self.editing = None
        self.query_one(Editor).end()
        self.set_focus(None)
        self._lay()

    def on_text_entry_sent(self) -> None:
        """Enter: the instructions are done, and wait for a letter; anything else is sent."""
        option, self._wrong = self.editing, ""
        if option is None:
            return
        self.store()
        if self.settled:
            self.dismiss(None)
        elif option.takes == "more":
            self._grant(option)
        elif option.takes == "instructions":
            self._close_editor()
        elif self._texts.get("words"):
            self._answer(option)
        else:
            self._complain("nothing is written yet")

    def _grant(self, option: Option) -> None:
        try:
            iterations, dollars = drawn.granted(self.query_one(Editor).text[:200])
        except ValueError as error:
            self._complain(str(error))
        else:
            self._answer(option, iterations=iterations, budget_usd=dollars)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """A complaint is over as soon as something is done about it."""
        # After fast typing the news of the last letter comes behind the enter that followed it.
        if self._wrong and event.text_area.text != self._wrong_text:
            self._complain("")

    def action_back(self) -> None:
        """Out of the editor, of a confirmation, or of the dialog."""
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
        """See more of it."""
        self.query_one("#told", ScrollText).roll(by)

    def action_page(self, by: int) -> None:
        """See the next screenful of it."""
        self.query_one("#told", ScrollText).page(by)
