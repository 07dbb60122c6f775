"""Searches all runs of a repository while another screen's run continues.

Rule: a thread queries the archive, and answers to outdated queries are dropped. A hit opens on its
own screen.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from ralph_tui.base.errors import RalphError
from ralph_tui.ports.search import NOT_SEARCHED, Archive
from ralph_tui.text.sanitize import plain
from ralph_tui.text.terms import NEEDS_YOU
from ralph_tui.tui import background
from ralph_tui.tui.app import SideScreen
from ralph_tui.tui.draw.feedback_rows import Rows
from ralph_tui.tui.draw.spans import Line, clip, flat
from ralph_tui.tui.field_keys import take_own_key
from ralph_tui.tui.modals.modal import NO_FURTHER
from ralph_tui.tui.search.results import Results, total

LIMIT = 50
"""Maximum number of hits listed."""
SETTLE_S = 0.15
"""How long typing must pause before the search starts."""
LONGEST_QUERY = 500
EMPTY = (
    "Type words you remember from an earlier run: its objective, the agent's actions, a "
    "learning, a reflection or the outcome. A word also matches longer words that begin with it; "
    f"{NOT_SEARCHED}."
)
OWN_KEYS = (("↑↓", "select"), ("enter", "open there"), ("esc", "back"))


class Words(Input):
    """The search field; the screen handles keys that belong to the list."""

    def __init__(self) -> None:
        super().__init__(placeholder="search all runs", max_length=LONGEST_QUERY)
        self.cursor_blink = False

    async def on_key(self, event: events.Key) -> None:
        """Handle editing keys in the order in which they were typed."""
        await take_own_key(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """Remove control sequences, which would misrepresent the query."""
        event.text = plain(event.text)


class SearchScreen(SideScreen):
    """A search field above a list of hits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, priority=True),
        Binding("enter", "open", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("f1", "help", show=False, priority=True),
    ]
    STYLES: ClassVar[Sequence[str]] = ("search.tcss",)

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self._archive = archive
        self.head, self.foot = Rows("search-head"), Rows("search-foot")
        self.words, self.results = Words(), Results()
        self._asked: str | None = None
        """The query whose hits are listed or being searched for."""
        self._early_text = ""
        """Text typed before the field was mounted."""
        self._alert_text = ""
        """Why another screen's run needs the user."""
        self._opening = self._searching = False

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.words
        yield self.results
        yield self.foot

    def on_mount(self) -> None:
        self.words.border_title = Content(" search ")
        self.set_focus(self.words)
        self.results.show((), why=EMPTY)
        self._show_status("")
        self.words.insert_text_at_cursor(self._early_text)

    def on_screen_resume(self) -> None:
        """Focus the field again; everything else is unchanged."""
        self.set_focus(self.words)
        self._opening = False

    # messages ---------------------------------------------------------------------------------

    def _show_status(self, sentence: str, style: str = "text") -> None:
        head: Line = [("ralph-tui", "accent strong"), ("  all runs of this repository", "dim")]
        if self._alert_text:
            alert = f"{NEEDS_YOU.glyph} {flat(self._alert_text, 100)} (esc)"
            head = [(clip(alert, 70), "warn strong")]
        self.head.update((head, [(sentence, style)]))
        keys: Line = []
        for key, verb in OWN_KEYS:
            keys += [(key, "key"), (f" {verb}  ", "text")]
        self.foot.update((keys, [("", "")]))

    def show_alert(self, text: str) -> None:
        self._alert_text = text
        self._show_status("")

    @property
    def settled(self) -> str | None:
        """The query whose search is done; None while it is running."""
        return None if self._searching else self._asked

    # searching --------------------------------------------------------------------------------

    def on_input_changed(self, message: Input.Changed) -> None:
        """Start a search for the new query after a pause in typing."""
        message.stop()
        self._ask(message.value.strip())

    def _ask(self, query: str) -> None:
        self._asked, self._searching = query, bool(query)
        if query:
            background.run(self, partial(self._search, query))
        else:
            self.results.show((), why=EMPTY)
            self._show_status("")

    async def _search(self, query: str) -> None:
        await asyncio.sleep(SETTLE_S)
        if query != self._asked:
            return
        try:
            found = await asyncio.to_thread(self._archive.search, query, LIMIT)
            words = clip(flat(query), 60)
            why = f"No results for “{words}”: try other words; {NOT_SEARCHED}."
        except RalphError as error:
            found, why = (), str(error)
        if query != self._asked:
            return
        self._searching = False
        if found:
            self.results.show(found, datetime.now(UTC))
            self._show_status(total(found, LIMIT), "dim")
        else:
            self.results.show((), why=why)
            self._show_status("")

    # keys -------------------------------------------------------------------------------------

    def take_early_key(self, event: events.Key) -> bool:
        """Accept keys pressed before the field is mounted."""
        if not (event.is_printable and event.character):
            return False
        if self.words.is_mounted:
            self.words.insert_text_at_cursor(event.character)
        else:
            self._early_text += event.character
        return True

    def action_move(self, by: int) -> None:
        if not self.results.move(by):
            self._show_status(NO_FURTHER, "dim")

    def action_page(self, by: int) -> None:
        self.action_move(by * self.results.page)

    def action_open(self) -> None:
        found = self.results.current
        if self._searching or found is None:
            self._show_status("still searching" if self._searching else "nothing to open", "dim")
        elif not found.run:
            self._show_status("no run's record contains it any more", "warn")
        elif not self._opening:
            self._opening = True
            self._show_status("opening…", "dim")
            background.run(self, self._open)

    async def _open(self) -> None:
        found = self.results.current
        if found is None:
            return
        try:
            source = await asyncio.to_thread(self._archive.recorded, found)
        except RalphError as error:
            self._opening = False
            self._show_status(str(error), "warn")
            return
        # Open nothing if the user has left this screen in the meantime.
        if self.app.screen is self:
            self.ralph.show_recorded(source)

    def on_list_table_moved(self) -> None:
        """Redraw after a change of selection or size."""
        self.results.repaint()

    def on_list_table_chosen(self) -> None:
        self.action_open()

    def action_back(self) -> None:
        self.ralph.back()

    def action_help(self) -> None:
        """Point to the keys listed at the bottom."""
        self._show_status("the keys are shown below", "dim")

    def open_help(self) -> None:
        self.action_help()
