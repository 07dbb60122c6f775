"""What screens that list something do alike. What differs is the screen's own: what it lists, the
bars around that, and what its rows can do.
"""

from collections.abc import Sequence
from typing import ClassVar, Generic

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui.app import BaseScreen
from ralph_tui.tui.draw.told_rows import LOW, AnswerRow
from ralph_tui.tui.lists.keys import Key, V
from ralph_tui.tui.lists.table import ListTable
from ralph_tui.tui.modals.help import Block, Help
from ralph_tui.tui.modals.modal import NO_FURTHER, key_name
from ralph_tui.tui.modals.scroll_text import ScrollText


class ListScreen(BaseScreen, Generic[V]):
    """Obeys the keys of its table: what one does is the screen's action that its row names."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    table: ListTable
    foot: AnswerRow

    def __init__(self, listed: V, keys: Sequence[Key[V]]) -> None:
        super().__init__()
        self._listed, self._keys = listed, keys
        for number, key in enumerate(keys):
            if bound := key.action and key.bound(self.ralph.keys):
                self._bindings.bind(bound, f"do({number})", show=False, priority=key.waits)

    def show(self) -> None:
        """Draw it as it stands."""
        raise NotImplementedError

    def help_blocks(self) -> Sequence[Block]:
        """All that its help explains."""
        raise NotImplementedError

    def label(self, key: Key[V]) -> str:
        """What a key is called where it is said why it cannot be used."""
        return key.verb

    @property
    def in_its_place(self) -> ScrollText | None:
        """What stands where the list was; None: the list."""
        return None

    def on_resize(self, event: events.Resize) -> None:
        """Other sizes have other rows."""
        self.set_class(self.app.size.height < LOW, "-low")
        self.show()

    def on_list_table_moved(self) -> None:
        """Another row is selected."""
        self.show()

    async def on_list_table_chosen(self) -> None:
        """A row was clicked twice."""
        await self.run_action("open")

    # keys -------------------------------------------------------------------------------------

    def key_came(self) -> None:
        """See `BaseScreen`: what was said before is over."""
        self.foot.say("")

    def on_key(self, event: events.Key) -> None:
        """A key that does nothing says so."""
        if event.key not in self.active_bindings and self.app.screen is self:
            helps = self.ralph.keys.shown("help")
            self.foot.say(f"{key_name(event)} does nothing here; {helps} lists the keys")

    async def action_do(self, number: int) -> None:
        """Do what a row of the table says, or say why not."""
        key = self._keys[number]
        why = key.refusal(self._listed)
        if why:
            self.foot.say(f"{self.label(key)}: {why}")
        else:
            await self.run_action(key.action)

    def action_move(self, by: int) -> None:
        """Select another row, or move in what stands in the list's place."""
        page = self.in_its_place
        if not (self.table.move(by) if page is None else page.roll(by)):
            self.foot.say(NO_FURTHER)

    def action_page(self, by: int) -> None:
        """Move by a screenful."""
        seen = self.in_its_place or self.table
        self.action_move(by * max(1, seen.size.height - 1))

    def action_close(self) -> None:
        """Nothing is to be closed."""
        self.foot.say(f"esc: nothing is open; {self.ralph.keys.shown('leave')} leaves")

    def action_search(self) -> None:
        """Look for something in all runs."""
        self.ralph.show_search()

    def action_theme(self) -> None:
        """Switch to the next theme."""
        self.foot.say(self.ralph.next_theme())

    def action_help(self) -> None:
        """Explain keys and signs."""
        self.open_help()

    def action_leave(self) -> None:
        """Leave, or ask how."""
        self.leave()

    def open_help(self) -> None:
        self.app.push_screen(Help(self.help_blocks(), clock=self.ralph.monotonic))
