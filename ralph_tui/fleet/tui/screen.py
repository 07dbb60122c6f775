"""The fleet's screen: all its loops, live, and the way into each.

Rule: it holds no state of the fleet but the one its source brings up to date; what a key may do,
and why not, is asked of the table of keys. A loop is opened beside it, in the cockpit of a run.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from ralph_tui.commands import Present
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.ports import FleetSource
from ralph_tui.fleet.tui import bars
from ralph_tui.fleet.tui.dialogs import FleetDialogs
from ralph_tui.fleet.tui.doing import Doing
from ralph_tui.fleet.tui.keys import KEYS
from ralph_tui.fleet.tui.table import LoopTable
from ralph_tui.fleet.tui.view import FleetView
from ralph_tui.fleet.wording import fleet_sentence
from ralph_tui.text.format import clock
from ralph_tui.text.terms import LEVEL_TONES, LEVELS
from ralph_tui.tui.app import RalphApp, SideScreen
from ralph_tui.tui.base_screen import BaseScreen
from ralph_tui.tui.draw.spans import Line, flat, wrap
from ralph_tui.tui.draw.told_rows import LOW, Rows
from ralph_tui.tui.modals.modal import Modal, key_name
from ralph_tui.tui.modals.scroll_text import ScrollText

INDENT = 10
"""Cells of margin, time and sign."""
MOST_ROWS = 4
"""Of one event."""
LEAST = 30
"""Cells; in fewer there is no time."""


def log_rows(events: Sequence[FleetEvent], width: int) -> list[Line]:
    """What is told of these."""
    rows: list[Line] = []
    for event in events:
        said = event.row()
        if said is None:
            continue
        level, text = said.level, said.text
        tone, loud = LEVEL_TONES[level], level in ("warn", "critical")
        head: Line = [(f"  {clock(event.at)} ", "dim")] if width >= LEAST else [(" ", "")]
        head.append((f"{LEVELS[level].glyph} ", tone))
        indent = INDENT if width >= LEAST else 3
        for number, row in enumerate(wrap(flat(text, 2000), max(8, width - indent), MOST_ROWS)):
            words = (row, tone if loud else "text")
            rows.append([*head, words] if not number else [(" " * indent, ""), words])
    return rows


class FleetLog(ScrollText):
    """Stays at its end, unless somebody has scrolled away from there."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__("fleet-log")
        self._stamp: object = None

    def tell(self, events: Sequence[FleetEvent], width: int, height: int) -> None:
        """Show these in so many rows; none at all: no room is taken."""
        stamp = (events[-1].seq if events else 0, width, height)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        at_end = self.top >= len(self.rows) - self.size.height
        self.show(log_rows(events, width - self.EDGE), height)
        if at_end:
            self._roll_to(len(self.rows), height)


TICK_S = 0.25
"""How often it is looked for what has come."""
FEW_ROWS, SOME_ROWS, MORE_ROWS, MANY_ROWS = 8, 18, 24, 30
"""Of the terminal: below the first there are loops alone; from the second on there is something of
the selected loop, from the third on all of it, from the last on the log."""
LOG_ROWS = 6
"""Of the log below the loops, at least."""


class FleetScreen(BaseScreen):
    """See above."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    def __init__(
        self,
        source: FleetSource,
        open_loop: Callable[[str], SideScreen],
        *,
        at_once: str = "",
    ) -> None:
        """`open_loop` makes the screen of a loop, or raises ``RalphError``; `at_once`: the loop
        that is opened as soon as the fleet is known, empty: none.
        """
        super().__init__()
        self.source = source
        self.view = FleetView(source.state)
        self.head, self.said = Rows("fleet-head"), Rows("fleet-said")
        self.table, self.log_rows = LoopTable(self.view), FleetLog()
        self.log_title, self.detail = Rows("fleet-log-title"), Rows("fleet-detail")
        self.foot = bars.KeysRow(self.view, self.ralph.monotonic, self.ralph.keys)
        self.dialogs = FleetDialogs(self, source, self.view)
        self.when_here = self.dialogs.tell_presence
        self._at_once = at_once
        self._stamp: object = None
        self._asked: frozenset[str] = frozenset()
        """Questions that the owner was called for."""
        self._was_live = False
        self.doing = Doing(self, open_loop)
        for number, key in enumerate(KEYS):
            self._bindings.bind(key.bound(self.ralph.keys), f"do({number})", show=False)

    @property
    def ralph(self) -> RalphApp:
        """The app, which knows the other screens."""
        return cast("RalphApp", self.app)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.head
        yield self.said
        yield self.table
        yield self.log_title
        yield self.log_rows
        yield self.detail
        yield self.foot

    def on_mount(self) -> None:
        """Begin."""
        self.source.start()
        self.tick()
        self.set_interval(TICK_S, self.tick)

    def on_unmount(self) -> None:
        """The screen is gone, and with it the reason to call."""
        if self._asked:
            self.ralph.end_call()
        self.source.stop()

    def on_screen_resume(self) -> None:
        """Back from a loop."""
        self._stamp = None
        self.tick()

    # what is seen -----------------------------------------------------------------------------

    def tick(self) -> None:
        """Bring everything up to date; nothing is drawn when nothing changed."""
        source = self.source
        state = source.poll(self.ralph.monotonic())
        now = source.clock()
        told = (id(state), state.revision, source.live, source.lost, source.note)
        stamp = (told, int(now.timestamp()))
        if stamp != self._stamp:
            self._stamp = stamp
            self.view.follow(state, now, live=source.live, lost=source.lost)
            self.view.note = source.note
            self.show()
            self._call()
        while source.refused:
            asked, reason = source.refused.popleft()
            if not isinstance(asked.command, Present):
                self.answer(f"{asked.command.name}: {reason}")
        if self._at_once and source.loaded:
            loop, self._at_once = self._at_once, ""
            self.doing.open_loop(loop)

    def show(self) -> None:
        """Draw it as it stands; where it is out of sight it is drawn when it comes back."""
        if not self.is_mounted or not self.is_attached:
            return
        width, height = self.app.size
        view = self.view
        self.head.tell(bars.head(view, width))
        above = [bars.sentence(view), *([line] if (line := bars.hosts(view)) else [])]
        above = above[: 1 + (height >= SOME_ROWS)] if height >= FEW_ROWS else above[: height > 2]
        self.said.tell(*((line, []) for line in above))
        below = 0 if height < SOME_ROWS else 3 if height < MORE_ROWS else 5
        below = 0 if view.log else below
        self.detail.tell(*bars.detail(view, width, below))
        self.table.display = not view.log
        room = max(1, height - (2 if height < LOW else 3) - len(above))
        rows = room - 1 if view.log else self._log_height(room - below)
        title: Line = [("what happened", "title")]
        self.log_title.tell(*([(title, [])] if rows else []))
        self.log_rows.tell(view.state.notices, width, rows)
        self.table.follow("" if view.rows else self._nothing_yet())
        self.foot.bring_up_to_date()

    def _log_height(self, room: int) -> int:
        """Rows that the log has below the loops: what these leave, within bounds."""
        if self.app.size.height < MANY_ROWS:
            return 0
        return max(LOG_ROWS, room - len(self.view.rows) - 3)

    def _nothing_yet(self) -> str:
        return "" if self.view.state.started is not None else "the fleet is being read…"

    def _call(self) -> None:
        """Call the owner for a new question, and once for the end."""
        asking = {f"{row.id} {row.loop.question_id}": row for row in self.view.rows if row.asks}
        # The screen of a loop calls for its own question.
        shown = "" if self.ralph.base is self else self.doing.opened
        new = [r for name, r in asking.items() if name not in self._asked and r.id != shown]
        before, self._asked = self._asked, frozenset(asking)
        if self._was_live and self.view.state.finished is not None:
            self.ralph.call_owner(fleet_sentence(self.view.state, self.view.now), over=True)
        elif new:
            self.ralph.call_owner(f"loop {new[0].id} asks: {new[0].loop.question}")
        elif before and not asking:
            self.ralph.end_call()
        self._was_live = self.view.live

    def on_resize(self, event: events.Resize) -> None:
        """Other sizes have other rows."""
        self.set_class(self.app.size.height < LOW, "-low")
        self.show()

    def on_list_table_moved(self) -> None:
        """Another loop is selected."""
        self.show()

    def on_list_table_chosen(self) -> None:
        """A loop was clicked twice."""
        self.doing.open_selected()

    def answer(self, text: str) -> None:
        """Say what came of a key; in a dialog, too: which of both is seen shows when it closes."""
        front = self.app.screen
        if isinstance(front, Modal):
            front.tell(text)
        self.foot.say(text)

    say = answer

    # keys -------------------------------------------------------------------------------------

    def key_came(self) -> None:
        """See `BaseScreen`: what was said before is over."""
        self.foot.say("")

    def on_key(self, event: events.Key) -> None:
        """A key that does nothing says so."""
        if event.key not in self.active_bindings and self.app.screen is self:
            helps = self.ralph.keys.shown("help")
            self.foot.say(f"{key_name(event)} does nothing here; {helps} lists the keys")

    def action_do(self, number: int) -> None:
        """Do what a row of the table says, or say why not."""
        self.doing.do(number)

    def action_close(self) -> None:
        """The loops again, where the log has their place."""
        self.doing.close()

    # for the app ------------------------------------------------------------------------------

    def open_help(self) -> None:
        """See `BaseScreen`."""
        # The help of the cockpit stands in the same module, and loads what a run is made of.
        from ralph_tui.fleet.tui.help import blocks  # noqa: PLC0415
        from ralph_tui.tui.modals.help import Help  # noqa: PLC0415

        self.app.push_screen(Help(blocks(self.ralph.keys), clock=self.ralph.monotonic))

    def leave(self) -> None:
        """See `BaseScreen`."""
        self.dialogs.ask_to_leave()

    ask_to_leave = leave

    def interrupt(self) -> None:
        """See `BaseScreen`."""
        self.dialogs.interrupt()

    def hang_up(self, by: str) -> None:
        """See `BaseScreen`; nothing is kept going here."""
        self.app.exit()
