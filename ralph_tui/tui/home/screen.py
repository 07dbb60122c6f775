"""Home: the runs of a repository, and the way into each.

Rule: it starts and opens nothing itself. It ends with a command line, which is carried out as if it
had been typed, and then there is a new home that begins with the same `Listing`. The records are
looked at in a thread, once a second; rows are read as they come into view.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from ralph_tui.errors import RalphError
from ralph_tui.tui import background
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.base_screen import BaseScreen
from ralph_tui.tui.draw.told_rows import LOW, Rows
from ralph_tui.tui.home import bars
from ralph_tui.tui.home.empty import EmptyState
from ralph_tui.tui.home.keys import KEYS, opening, resuming
from ralph_tui.tui.home.table import Listing, RunTable
from ralph_tui.tui.modals.modal import key_name

if TYPE_CHECKING:
    from ralph_tui.ports.new_runs import NewRuns
    from ralph_tui.ports.runs import Runs

LOOK_S = 1.0
"""How often the records are looked at."""
LOOKS = 2
"""In a row where runs have come or gone: those that take longer to find come with the second."""
EAGER = 500
"""Runs that are read also while they are out of view, and ordered by what their records say."""
BATCH = 50
"""Rows that are read before the screen is brought up to date."""
DETAIL_ROWS = 18
"""Rows that a screen has at least which tells more of the selected run."""


class HomeScreen(BaseScreen):
    """See above."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "nothing_open", show=False),
    ]

    def __init__(
        self,
        runs: "Runs",
        listing: Listing,
        choose: Callable[[Sequence[str]], None],
        *,
        new_runs: "Callable[[], NewRuns]",
        said: str = "",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`choose` is given the command line that home ends with; `said`: why the last failed.

        `new_runs` loads much, and few homes need it.
        """
        super().__init__()
        self._runs, self._choose, self._clock = runs, choose, clock
        self.listing = listing
        self.head, self.notes = Rows("home-head"), Rows("home-notes")
        self.table, self.detail = RunTable(listing), Rows("home-detail")
        self.foot = bars.KeysRow(self.ralph.monotonic, self.ralph.keys)
        self._new_runs = new_runs
        self._empty: EmptyState | None = None
        self._said = said
        self._problem = ""
        """Why the runs cannot be listed."""
        self._found: Sequence[str] = listing.names
        """All runs, in the order in which they were written to."""
        self._looking = False
        self._key = self.ralph.keys.shown
        for key in KEYS:
            self._bindings.bind(
                key.bound(self.ralph.keys),
                key.action,
                show=False,
                priority=key.action == "new",  # the app itself waits while the form opens
            )

    @property
    def ralph(self) -> RalphApp:
        """The app, which knows the other screens."""
        return cast("RalphApp", self.app)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.head
        yield self.notes
        yield self.table
        yield self.detail
        yield self.foot

    def on_mount(self) -> None:
        """Begin with what is remembered."""
        self._show()
        self._look_soon()
        self.set_interval(LOOK_S, self._look_soon)

    def on_screen_resume(self) -> None:
        """Back from the search."""
        self._look_soon()

    # looking ----------------------------------------------------------------------------------

    def _look_soon(self) -> None:
        if not self._looking:
            self._looking = True
            background.run(self, self._look)

    async def _look(self) -> None:
        try:
            if self.table.in_view:
                await self._read(self._wanted())
            for _ in range(LOOKS):
                found = await asyncio.to_thread(self._runs.names)
                self.listing.fleet = await asyncio.to_thread(self._runs.fleet)
                self._problem = ""
                if found is not None:
                    self._found = found
                self.listing.order(self._found, EAGER)
                await self._bring_up_to_date()
                if found is None:
                    break
            self.listing.loaded = True
        except RalphError as error:
            self._problem = str(error)
        finally:
            self._looking = False
        self._show()
        await self._show_what_to_do_first()

    async def _bring_up_to_date(self) -> None:
        """Rows that may have changed, then those that are not known."""
        living = await asyncio.to_thread(self._runs.living)
        was_living = (name for name, row in self.listing.rows.items() if row.live)
        await self._read({*living, *was_living})
        while wanted := self._wanted():
            await self._read(wanted)

    def _wanted(self) -> list[str]:
        """Rows to be read next: those in view first."""
        known = self.listing.rows
        wanted = [name for name in self.table.in_view if name not in known]
        return (wanted or [name for name in self._found[:EAGER] if name not in known])[:BATCH]

    async def _read(self, names: Iterable[str]) -> None:
        """Bring these rows up to date; one that is gone has none any more."""
        names = list(names)
        if not names:
            return
        rows = await asyncio.to_thread(self._runs.read, names)
        for name in names:
            if name not in rows:
                self.listing.rows.pop(name, None)
        gone = set(names) - rows.keys()
        if gone:
            self._found = [name for name in self._found if name not in gone]
        self.listing.rows.update(rows)
        self.listing.order(self._found, EAGER)
        self._show()

    # what is seen -----------------------------------------------------------------------------

    def _show(self) -> None:
        if not self.is_mounted:
            return
        now, (width, height) = self._clock(), self.app.size
        self.head.tell(bars.head(self._runs.place, self.listing))
        self.notes.tell(
            *bars.notes(self._said, self.listing, self._runs.lost(), width, self.ralph.keys)
        )
        self.table.show(now, self._problem)
        self.table.display = not self._none
        if self._empty is not None:
            self._empty.display = self._none
        self.detail.tell(*(bars.detail(self.listing, now) if height >= DETAIL_ROWS else ()))
        self.foot.follow(self.listing)

    @property
    def _none(self) -> bool:
        return self.listing.loaded and not self.listing.names and not self._problem

    async def _show_what_to_do_first(self) -> None:
        """In the place of the runs, where there are none."""
        if self._empty is None and self._none:
            self._empty = EmptyState(self.ralph.keys)
            await self.mount(self._empty, after=self.table)
            place = await asyncio.to_thread(lambda: self._new_runs().look())
            self._empty.tell(place)
        if self._empty is not None:
            self._empty.follow(fleet=self.listing.fleet is not None)

    def on_resize(self, event: events.Resize) -> None:
        """Other widths have other rows."""
        self.set_class(self.app.size.height < LOW, "-low")
        self._show()

    def on_list_table_moved(self) -> None:
        """Another run is selected."""
        self._show()
        if self._wanted():
            self._look_soon()

    def on_list_table_chosen(self) -> None:
        """A run was clicked twice."""
        self.action_open()

    # keys -------------------------------------------------------------------------------------

    def key_came(self) -> None:
        """See `BaseScreen`: what was said before is over."""
        self.foot.say("")
        if self._said:
            self._said = ""
            self._show()

    def on_key(self, event: events.Key) -> None:
        """A key that does nothing says so."""
        if event.key not in self.active_bindings and self.app.screen is self:
            self.foot.say(
                f"{key_name(event)} does nothing here; {self._key('help')} lists the keys"
            )

    def action_move(self, by: int) -> None:
        """Another run."""
        page = self._empty
        moved = page.roll(by) if page is not None and page.display else self.table.move(by)
        if not moved:
            self.foot.say("there is nothing further that way")

    def action_page(self, by: int) -> None:
        """A screenful."""
        self.action_move(by * self.table.page)

    def action_open(self) -> None:
        """The selected run."""
        row = self.listing.row
        if row is not None:
            self._end_with(opening(row))
        elif not self._refused("open"):
            self.foot.say("it is still being read")

    def action_resume(self) -> None:
        """Go on with the selected run."""
        row = self.listing.row
        if not self._refused("resume") and row is not None:
            self._end_with(resuming(row))

    def action_fleet(self) -> None:
        """The fleet's screen."""
        fleet = self.listing.fleet
        if not self._refused("fleet") and fleet is not None:
            self._end_with(["fleet", "attach", fleet.name])

    def action_demo(self) -> None:
        """See one work."""
        self._end_with(["demo"])

    async def action_new(self) -> None:
        """Start a run; the app waits, so that keys that follow are the form's."""
        self.foot.say("opening the form…")
        await self.wait_for_refresh()
        # Its text fields take long to import, and few homes open it.
        from ralph_tui.tui.home.form import NewRun  # noqa: PLC0415

        form = NewRun(self._new_runs, self.ralph.monotonic)
        await self.app.push_screen(form, self._filled)
        self.foot.say("")

    def _filled(self, command: Sequence[str] | None) -> None:
        if command:
            self._end_with(command)

    def action_search(self) -> None:
        """All runs."""
        self.ralph.show_search()

    def action_theme(self) -> None:
        """The next theme."""
        self.foot.say(self.ralph.next_theme())

    def action_nothing_open(self) -> None:
        """Nothing is to be closed."""
        self.foot.say(f"esc: nothing is open; {self._key('leave')} leaves")

    def action_help(self) -> None:
        """Explain keys and signs."""
        self.open_help()

    def action_leave(self) -> None:
        """Nothing runs here."""
        self.leave()

    def _refused(self, action: str) -> bool:
        why = next(key.refusal(self.listing) for key in KEYS if key.action == action)
        if why:
            self.foot.say(f"{action}: {why}")
        return bool(why)

    def _end_with(self, command: Sequence[str]) -> None:
        self._choose(command)
        self.app.exit()

    # for the app ------------------------------------------------------------------------------

    def open_help(self) -> None:
        """See `BaseScreen`."""
        # The help of the cockpit stands in the same module, and loads what a run is made of.
        from ralph_tui.tui.home.help import blocks  # noqa: PLC0415
        from ralph_tui.tui.modals.help import Help  # noqa: PLC0415

        self.app.push_screen(Help(blocks(self.ralph.keys), clock=self.ralph.monotonic))

    def leave(self) -> None:
        """See `BaseScreen`."""
        self.app.exit()

    interrupt = ask_to_leave = leave

    def hang_up(self, by: str) -> None:
        """See `BaseScreen`; nothing is kept going here."""
        self.app.exit()
