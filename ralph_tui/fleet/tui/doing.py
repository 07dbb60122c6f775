"""What keys do on the fleet's screen, and the answer that each of them gets."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ralph_tui.errors import RalphError
from ralph_tui.fleet.tui.keys import KEYS, verb
from ralph_tui.fleet.tui.view import LoopRow
from ralph_tui.tui.app import SideScreen

if TYPE_CHECKING:
    from ralph_tui.fleet.tui.screen import FleetScreen

END = 1_000_000
NO_COMMANDS = ("down", "up", "page_down", "page_up", "first", "last", "palette")
"""What is done by its key alone."""


class Doing:
    """Obeys keys on behalf of the screen."""

    def __init__(self, screen: "FleetScreen", open_loop: Callable[[str], SideScreen]) -> None:
        """`open_loop`: see `FleetScreen`."""
        self._screen, self._open_loop = screen, open_loop
        self._app, self._view = screen.ralph, screen.view
        self.opened = ""
        """The loop that was opened last."""
        self._does = self._actions()

    def open_selected(self) -> None:
        """As enter does."""
        self._does["open"]()

    def do(self, number: int) -> None:
        """Do what a row of the table says, or say why not."""
        key = KEYS[number]
        why = key.refusal(self._view)
        if why:
            self._screen.foot.say(f"{key.shown(self._app.keys)} {verb(key, self._view)}: {why}")
        else:
            self._does[key.action]()

    def _actions(self) -> Mapping[str, Callable[[], object]]:
        """What each row of the table does."""
        dialogs = self._screen.dialogs

        def to_loop(ask: Callable[[LoopRow], None]) -> Callable[[], None]:
            def act() -> None:
                row = self._view.row
                if row is not None:
                    ask(row)

            return act

        return {
            "decide": self._decide,
            "open": to_loop(lambda row: self.open_loop(row.id)),
            "pause": to_loop(dialogs.toggle_pause),
            "pause_all": dialogs.toggle_pause_all,
            "guide": to_loop(dialogs.guide),
            "guide_all": lambda: dialogs.guide(None),
            "abort": to_loop(dialogs.abort),
            "abort_all": dialogs.abort_all,
            "stop": dialogs.stop,
            "log": self._toggle_log,
            "down": lambda: self._move(1),
            "up": lambda: self._move(-1),
            "page_down": lambda: self._move(self._page()),
            "page_up": lambda: self._move(-self._page()),
            "first": lambda: self._move(-END),
            "last": lambda: self._move(END),
            "search": self._search,
            "palette": self._palette,
            "theme": lambda: self._screen.foot.say(self._app.next_theme()),
            "help": self._screen.open_help,
            "leave": self._screen.leave,
        }

    def _page(self) -> int:
        seen = self._screen.log_rows if self._view.log else self._screen.table
        return max(1, seen.size.height - 1)

    def _move(self, by: int) -> None:
        """Another loop, or further in the log."""
        moved = self._screen.log_rows.roll(by) if self._view.log else self._screen.table.move(by)
        if not moved:
            self._screen.foot.say("there is nothing further that way")

    def _toggle_log(self) -> None:
        self._view.log = not self._view.log
        self._screen.show()

    def close(self) -> None:
        """The loops again."""
        if self._view.log:
            self._toggle_log()
        else:
            leave = self._app.keys.shown("leave")
            self._screen.foot.say(f"esc: nothing is open; {leave} leaves")

    def _decide(self) -> None:
        """The question stands on the loop's own screen, and opens there by itself."""
        row = self._view.asking
        if row is not None:
            self._view.selected = self._view.rows.index(row)
            self.open_loop(row.id)

    def open_loop(self, loop: str) -> None:
        """The loop's own screen, beside this one."""
        try:
            if loop not in self._view.state.loops:
                raise RalphError(f"this fleet has no loop {loop}")
            screen = self._open_loop(loop)
        except RalphError as error:
            self._screen.foot.say(str(error))
            return
        ids = [row.id for row in self._view.rows]
        self._view.selected = ids.index(loop)
        self.opened = loop
        self._app.end_call()  # whoever was called is here
        self._app.show_beside(lambda: screen)

    def _search(self) -> None:
        if not self._app.show_search():
            self._screen.foot.say(
                "search: this screen shows one fleet alone; ralph-tui search finds in all"
            )

    def _palette(self) -> None:
        # Not before it is needed: the first paint does not wait for it.
        from ralph_tui.tui.modals.palette import Offer, Palette  # noqa: PLC0415

        def chosen(run: Callable[[], None] | None) -> None:
            if run is not None:
                run()

        offers: list[Offer] = []
        for number, key in enumerate(KEYS):
            if key.action not in NO_COMMANDS:
                why = key.refusal(self._view) or None
                text = key.help
                shown = key.shown(self._app.keys)
                offers.append(Offer(text, partial(self.do, number), why, shown))
        offers.sort(key=lambda offer: offer.refused is not None)
        self._app.push_screen(Palette(offers, self._app.monotonic), chosen)
