"""Shared behaviour of list screens: keys, selection and feedback.

Subclasses define what is listed, the bars around it, and the actions of the rows.
"""

from collections.abc import Sequence
from typing import ClassVar, Generic

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui.app import BaseScreen
from ralph_tui.tui.draw.feedback_rows import LOW, FeedbackRow
from ralph_tui.tui.lists.keys import Key, V
from ralph_tui.tui.lists.table import ListTable
from ralph_tui.tui.modals.help import Block, Help
from ralph_tui.tui.modals.modal import NO_FURTHER, key_name
from ralph_tui.tui.modals.scroll_text import ScrollText


class ListScreen(BaseScreen, Generic[V]):
    """A list screen whose keys run the actions named in its key table."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    STYLES: ClassVar[Sequence[str]] = ("lists.tcss",)

    table: ListTable
    foot: FeedbackRow

    def __init__(self, listed: V, keys: Sequence[Key[V]]) -> None:
        super().__init__()
        self._listed, self._keys = listed, keys
        for number, key in enumerate(keys):
            if key_names := key.action and key.key_names(self.ralph.keys):
                self._bindings.bind(key_names, f"do({number})", show=False, priority=key.blocking)

    def show(self) -> None:
        """Draw the current content."""
        raise NotImplementedError

    def help_blocks(self) -> Sequence[Block]:
        """Return the content of the help dialog."""
        raise NotImplementedError

    def label(self, key: Key[V]) -> str:
        """Return the key's name for the message that says why it is refused."""
        return key.verb

    @property
    def placeholder(self) -> ScrollText | None:
        """The text shown in place of the list; None if the list is shown."""
        return None

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(self.app.size.height < LOW, "-low")
        self.show()

    def on_list_table_moved(self) -> None:
        self.show()

    async def on_list_table_chosen(self) -> None:
        await self.run_action("open")

    # keys -------------------------------------------------------------------------------------

    def before_key(self) -> None:
        """Clear the previous feedback."""
        self.foot.report("")

    def on_key(self, event: events.Key) -> None:
        """Report keys that do nothing."""
        if event.key not in self.active_bindings and self.app.screen is self:
            helps = self.ralph.keys.shown("help")
            self.foot.report(f"{key_name(event)} does nothing here; {helps} lists the keys")

    async def action_do(self, number: int) -> None:
        """Run the action of a key, or report why it is refused."""
        key = self._keys[number]
        why = key.refusal(self._listed)
        if why:
            self.foot.report(f"{self.label(key)}: {why}")
        else:
            await self.run_action(key.action)

    def action_move(self, by: int) -> None:
        """Select another row, or scroll the text shown in place of the list."""
        page = self.placeholder
        if not (self.table.move(by) if page is None else page.roll(by)):
            self.foot.report(NO_FURTHER)

    def action_page(self, by: int) -> None:
        seen = self.placeholder or self.table
        self.action_move(by * max(1, seen.size.height - 1))

    def action_close(self) -> None:
        """Report that nothing is open."""
        self.foot.report(f"esc: nothing is open; {self.ralph.keys.shown('leave')} leaves")

    def action_search(self) -> None:
        self.ralph.show_search()

    def action_theme(self) -> None:
        self.foot.report(self.ralph.next_theme())

    def action_help(self) -> None:
        self.open_help()

    def action_leave(self) -> None:
        """Leave, or ask how to leave."""
        self.leave()

    def open_help(self) -> None:
        self.app.push_screen(Help(self.help_blocks(), clock=self.ralph.monotonic))
