"""The fleet's screen: all its loops, live; each can be opened.

It has no state of its own except for what its source updates. The table of keys decides which
actions are available. A loop opens on a side screen, which is the cockpit of its run.
"""

from collections.abc import Callable, Sequence
from functools import partial

from textual.app import ComposeResult

from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Guide, Present
from ralph_tui.fleet.ports import FLEET, FleetSource
from ralph_tui.fleet.tui import bars
from ralph_tui.fleet.tui.bars import FleetLog
from ralph_tui.fleet.tui.dialogs import FleetDialogs
from ralph_tui.fleet.tui.keys import KEYS, FleetKey, blocks, verb
from ralph_tui.fleet.tui.table import LoopTable
from ralph_tui.fleet.tui.view import FleetView
from ralph_tui.fleet.wording import fleet_sentence
from ralph_tui.tui.app import SideScreen
from ralph_tui.tui.draw.feedback_rows import LOW, Rows
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.lists.screen import ListScreen
from ralph_tui.tui.modals.help import Block
from ralph_tui.tui.modals.modal import Modal

TICK_S = 0.25
"""Seconds between two updates."""
FEW_ROWS, SOME_ROWS, MORE_ROWS, MANY_ROWS = 8, 18, 24, 30
"""Minimum heights of the terminal, in rows.

At and above `SOME_ROWS`, part of the selected loop is shown; at and above `MORE_ROWS`, all of it;
and at and above `MANY_ROWS`, also the log. Below `FEW_ROWS`, only loops are shown.
"""
LOG_ROWS = 6
"""Minimum number of rows of the log below the loops."""


class FleetScreen(ListScreen[FleetView]):
    """The screen of a fleet."""

    foot: bars.KeysRow

    def __init__(
        self, source: FleetSource, open_loop: Callable[[str], SideScreen], *, at_once: str = ""
    ) -> None:
        """`open_loop` makes the screen of a loop, or raises ``RalphError``.

        `at_once` is the loop to open as soon as the fleet is loaded; empty for none.
        """
        view = FleetView(source.state)
        super().__init__(view, KEYS)
        self.source, self.view = source, view
        self.head, self.said = Rows("fleet-head"), Rows("fleet-said")
        self.table, self.log_rows = LoopTable(self.view), FleetLog()
        self.log_title, self.detail = Rows("fleet-log-title"), Rows("fleet-detail")
        self.foot = bars.KeysRow(self.view, self.ralph.monotonic, self.ralph.keys)
        self.dialogs = FleetDialogs(self.ralph, source, self.view, self.answer)
        self.on_activity = self.dialogs.report_presence
        self._open_loop, self._at_once = open_loop, at_once
        self._stamp: object = None
        self._asked: frozenset[str] = frozenset()
        """Questions about which the user has already been alerted."""
        self._was_live = False
        self._opened = ""
        """The loop that was opened last."""

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.said
        yield self.table
        yield self.log_title
        yield self.log_rows
        yield self.detail
        yield self.foot

    def on_mount(self) -> None:
        self.source.start()
        self.tick()
        self.set_interval(TICK_S, self.tick)

    def on_unmount(self) -> None:
        """Clear any alert when the screen closes."""
        if self._asked:
            self.ralph.clear_alert()
        self.source.stop()

    def on_screen_resume(self) -> None:
        """Redraw after a loop's screen was closed."""
        self._stamp = None
        self.tick()

    # display -----------------------------------------------------------------------------------

    def tick(self) -> None:
        """Update everything; draw only if something changed."""
        source = self.source
        state = source.poll(self.ralph.monotonic())
        now = source.clock()
        fingerprint = (id(state), state.revision, source.live, source.lost, source.note)
        stamp = (fingerprint, int(now.timestamp()))
        if stamp != self._stamp:
            self._stamp = stamp
            self.view.follow(state, now, live=source.live, lost=source.lost)
            self.view.note = source.note
            self.show()
            self._notify_user()
        while source.refused:
            asked, reason = source.refused.popleft()
            if isinstance(asked.command, Guide):
                reason = f"{reason}; {self.dialogs.keep_refused(asked.loop, asked.command.text)}"
            if not isinstance(asked.command, Present):
                whose = f"loop {asked.loop}"
                named = "" if asked.loop == FLEET or whose in reason else f"{whose}: "
                self.answer(f"{asked.command.name}: {named}{reason}")
        if self._at_once and source.loaded:
            loop, self._at_once = self._at_once, ""
            self._open(loop)

    def show(self) -> None:
        """Draw the current state, unless the screen is hidden; it is redrawn when it returns."""
        if not self.is_mounted or not self.is_attached:
            return
        width, height = self.app.size
        view = self.view
        self.head.update(bars.head(view, width))
        above = [bars.sentence(view), *([line] if (line := bars.hosts(view)) else [])]
        above = above[: 1 + (height >= SOME_ROWS)] if height >= FEW_ROWS else above[: height > 2]
        self.said.update(*((line, []) for line in above))
        below = 0 if height < SOME_ROWS else 3 if height < MORE_ROWS else 5
        below = 0 if view.log else below
        self.detail.update(*bars.detail(view, width, below))
        self.table.display = not view.log
        room = max(1, height - (2 if height < LOW else 3) - len(above))
        rows = room - 1 if view.log else self._log_height(room - below)
        title: Line = [("log", "title")]
        self.log_title.update(*([(title, [])] if rows else []))
        self.log_rows.update(view.state.notices, width, rows)
        self.table.follow("" if view.rows else self._loading_text())
        self.foot.refresh_keys()

    def _log_height(self, room: int) -> int:
        """Return the number of log rows below the loops: the remaining height, within bounds."""
        if self.app.size.height < MANY_ROWS:
            return 0
        return max(LOG_ROWS, room - len(self.view.rows) - 3)

    def _loading_text(self) -> str:
        return "" if self.view.state.started is not None else "reading the fleet…"

    def _notify_user(self) -> None:
        """Alert the user to a new question, and once to the end."""
        asking = {
            f"{row.id} {row.loop.question_id}": row for row in self.view.rows if row.is_asking
        }
        # The screen of a loop alerts the user to its own question.
        shown = "" if self.ralph.base is self else self._opened
        new = [r for name, r in asking.items() if name not in self._asked and r.id != shown]
        before, self._asked = self._asked, frozenset(asking)
        if self._was_live and self.view.state.finished is not None:
            self.ralph.alert_user(fleet_sentence(self.view.state, self.view.now), over=True)
        elif new:
            self.ralph.alert_user(f"loop {new[0].id} asks: {new[0].loop.question}")
        elif before and not asking:
            self.ralph.clear_alert()
        self._was_live = self.view.live

    def answer(self, text: str) -> None:
        """Show the effect of a key, both in an open dialog and in the last row."""
        front = self.app.screen
        if isinstance(front, Modal):
            front.report(text)
        self.foot.report(text)

    report = answer

    # keys -------------------------------------------------------------------------------------

    def label(self, key: FleetKey) -> str:
        return f"{key.shown(self.ralph.keys)} {verb(key, self.view)}"

    @property
    def placeholder(self) -> FleetLog | None:
        return self.log_rows if self.view.log else None

    def help_blocks(self) -> Sequence[Block]:
        return blocks(self.ralph.keys)

    def action_decide(self) -> None:
        """Open the loop's own screen, which shows its question."""
        row = self.view.asking
        if row is not None:
            self.view.selected = self.view.rows.index(row)
            self._open(row.id)

    def action_open(self) -> None:
        if self.view.row is not None:
            self._open(self.view.row.id)

    def _open(self, loop: str) -> None:
        """Open the loop's own screen beside this one."""
        try:
            if loop not in self.view.state.loops:
                raise RalphError(f"this fleet has no loop {loop}")
            screen = self._open_loop(loop)
        except RalphError as error:
            self.foot.report(str(error))
            return
        self.view.selected = [row.id for row in self.view.rows].index(loop)
        self._opened = loop
        self.ralph.clear_alert()  # the user is here
        self.ralph.show_run(lambda: screen)

    def action_pause(self) -> None:
        if self.view.row is not None:
            self.dialogs.toggle_pause(self.view.row)

    def action_pause_all(self) -> None:
        self.dialogs.toggle_pause_all()

    def action_guide(self) -> None:
        self.dialogs.guide(self.view.row)

    def action_guide_all(self) -> None:
        self.dialogs.guide(None)

    def action_abort(self) -> None:
        if self.view.row is not None:
            self.dialogs.abort(self.view.row)

    def action_abort_all(self) -> None:
        self.dialogs.abort_all()

    def action_stop(self) -> None:
        self.dialogs.stop()

    def action_log(self) -> None:
        self.view.log = not self.view.log
        self.show()

    def action_close(self) -> None:
        """Show the loops instead of the log, if it is open."""
        if self.view.log:
            self.action_log()
        else:
            super().action_close()

    def action_palette(self) -> None:
        # Imported late, so that the first paint does not wait for it.
        from ralph_tui.tui.modals.palette import Offer, choose  # noqa: PLC0415

        offers = [
            Offer(
                key.help,
                partial(self.call_next, self.action_do, number),
                key.refusal(self.view) or None,
                key.shown(self.ralph.keys),
            )
            for number, key in enumerate(KEYS)
            if (key.name or key.verb) and key.action != "palette"
        ]
        offers.sort(key=lambda offer: offer.refused is not None)
        choose(self.ralph, offers, self.ralph.monotonic)

    # used by the app ---------------------------------------------------------------------------

    def leave(self) -> None:
        self.dialogs.ask_to_leave()

    def interrupt(self) -> None:
        self.dialogs.interrupt()
