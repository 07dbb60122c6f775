"""Home: the runs of a repository, and how to open each.

Rule: home starts and opens nothing itself. It ends with a command line, which is run as if the user
had typed it. Afterwards a new home opens with the same `Listing`.

A thread checks the records once a second; rows are read as they come into view.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from ralph_tui.base.errors import RalphError
from ralph_tui.tui import background
from ralph_tui.tui.draw.feedback_rows import Rows
from ralph_tui.tui.home import bars
from ralph_tui.tui.home.empty import EmptyState
from ralph_tui.tui.home.keys import KEYS, blocks, open_command, resume_command
from ralph_tui.tui.home.table import Listing, RunTable
from ralph_tui.tui.lists.screen import ListScreen
from ralph_tui.tui.modals.help import Block

if TYPE_CHECKING:
    from ralph_tui.ports.new_runs import NewRuns
    from ralph_tui.ports.runs import Runs

CHECK_S = 1.0
CHECKS = 2
"""Consecutive checks after the list has changed; the second catches runs that are slow to find."""
EAGER = 500
"""Number of runs read even if out of view, so that they can be sorted by their records."""
BATCH = 50
"""Maximum number of rows read before the screen is updated."""
DETAIL_ROWS = 18
"""Minimum height in rows of a screen that shows details of the selected run."""


class HomeScreen(ListScreen[Listing]):
    """The list of runs, the selected run's details, and the keys."""

    table: RunTable
    foot: bars.KeysRow

    def __init__(
        self,
        runs: "Runs",
        listing: Listing,
        choose: Callable[[Sequence[str]], None],
        *,
        new_runs: "Callable[[], NewRuns]",
        message: str = "",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`choose` takes home's final command line; `message` says why the last one failed.

        `new_runs` is called on demand, because it is slow to load and rarely needed.
        """
        super().__init__(listing, KEYS)
        self._runs, self._choose, self._clock = runs, choose, clock
        self.listing = listing
        self.head, self.notes = Rows("home-head"), Rows("home-notes")
        self.table, self.detail = RunTable(listing), Rows("home-detail")
        self.foot = bars.KeysRow(self.ralph.monotonic, self.ralph.keys)
        self._new_runs = new_runs
        self._empty: EmptyState | None = None
        self._message = message
        self._problem = ""
        """Why the runs cannot be listed."""
        self._found: Sequence[str] = listing.names
        """All runs, most recently written first."""
        self._checking = False
        self._shown: object = None
        """The content shown at the last check."""
        self._stale = set(listing.rows)
        """Rows to read again, because their runs may have continued since."""

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.notes
        yield self.table
        yield self.detail
        yield self.foot

    def on_mount(self) -> None:
        """Show the remembered listing until the first check is done."""
        self.show()
        self._check_soon()
        self.set_interval(CHECK_S, self._check_soon)

    def on_screen_resume(self) -> None:
        """Check at once after the search has closed."""
        self._check_soon()

    # checking ---------------------------------------------------------------------------------

    def _check_soon(self) -> None:
        if not self._checking:
            self._checking = True
            background.run(self, self._check)

    async def _check(self) -> None:
        try:
            if self.table.in_view:
                await self._read(self._next_names())
            for _ in range(CHECKS):
                found = await asyncio.to_thread(self._runs.names)
                self.listing.fleet = await asyncio.to_thread(self._runs.fleet)
                self._problem = ""
                if found is not None:
                    self._found = found
                    self._stale = set(self.listing.rows)
                self.listing.order(self._found, EAGER)
                await self._refresh_rows()
                if found is None:
                    break
            self.listing.loaded = True
        except RalphError as error:
            self._problem = str(error)
        finally:
            self._checking = False
        if self._changed():
            self.show()
        await self._show_start_page()

    def _changed(self) -> bool:
        """Return True if the display differs from the last check; most checks change nothing."""
        listing, times = self.listing, self.table.times(self._clock())
        before = self._shown
        self._shown = (times, listing.names, dict(listing.rows), listing.fleet, self._problem)
        return before != self._shown

    async def _refresh_rows(self) -> None:
        """Read the rows that may have changed, then the unknown ones."""
        live = await asyncio.to_thread(self._runs.live_names)
        was_live = (name for name, row in self.listing.rows.items() if row.live)
        await self._read({*live, *was_live})
        while wanted := self._next_names():
            await self._read(wanted)

    def _next_names(self) -> list[str]:
        """Return the rows to read next, those in view first."""
        known = self.listing.rows.keys() - self._stale
        wanted = [name for name in self.table.in_view if name not in known]
        return (wanted or [name for name in self._found[:EAGER] if name not in known])[:BATCH]

    async def _read(self, names: Iterable[str]) -> None:
        """Read these rows, and remove those whose runs are gone."""
        names = list(names)
        if not names:
            return
        rows = await asyncio.to_thread(self._runs.read, names)
        self._stale -= set(names)
        for name in names:
            if name not in rows:
                self.listing.rows.pop(name, None)
        gone = set(names) - rows.keys()
        if gone:
            self._found = [name for name in self._found if name not in gone]
        self.listing.rows.update(rows)
        self.listing.order(self._found, EAGER)
        self.show()

    # display ----------------------------------------------------------------------------------

    def show(self) -> None:
        if not self.is_mounted:
            return
        now, (width, height) = self._clock(), self.app.size
        self.head.update(bars.head(self._runs.place, self.listing))
        self.notes.update(
            *bars.notes(self._message, self.listing, self._runs.lost(), width, self.ralph.keys)
        )
        self.table.show(now, self._problem)
        self.table.display = not self._is_empty
        if self._empty is not None:
            self._empty.display = self._is_empty
        self.detail.update(*(bars.detail(self.listing, now) if height >= DETAIL_ROWS else ()))
        self.foot.follow(self.listing)

    @property
    def _is_empty(self) -> bool:
        return self.listing.loaded and not self.listing.names and not self._problem

    async def _show_start_page(self) -> None:
        """Show the start page if there are no runs."""
        if self._empty is None and self._is_empty:
            self._empty = EmptyState(self.ralph.keys)
            await self.mount(self._empty, after=self.table)
            place = await asyncio.to_thread(lambda: self._new_runs().look())
            self._empty.update(place)
        if self._empty is not None:
            self._empty.follow(fleet=self.listing.fleet is not None)

    def on_list_table_moved(self) -> None:
        """Read the rows that have come into view."""
        if self._next_names():
            self._check_soon()

    # keys -------------------------------------------------------------------------------------

    @property
    def placeholder(self) -> EmptyState | None:
        return self._empty if self._empty is not None and self._empty.display else None

    def before_key(self) -> None:
        """Clear the last command's message."""
        super().before_key()
        if self._message:
            self._message = ""
            self.show()

    def action_open(self) -> None:
        row = self.listing.row
        if row is None:
            self.foot.report("the list is still loading")
        else:
            self._exit_with(open_command(row))

    def action_resume(self) -> None:
        if self.listing.row is not None:
            self._exit_with(resume_command(self.listing.row))

    def action_fleet(self) -> None:
        if self.listing.fleet is not None:
            self._exit_with(["fleet", "attach", self.listing.fleet.name])

    def action_demo(self) -> None:
        self._exit_with(["demo"])

    async def action_new(self) -> None:
        """Open the form, and wait for it so that the next keys reach it."""
        self.foot.report("opening the form…")
        await self.wait_for_refresh()
        # Its text fields are slow to import, and the form is rarely opened.
        from ralph_tui.tui.home.form import NewRun  # noqa: PLC0415

        form = NewRun(self._new_runs, self.ralph.monotonic)
        await self.app.push_screen(form, self._filled)
        self.foot.report("")

    def _filled(self, command: Sequence[str] | None) -> None:
        if command:
            self._exit_with(command)

    def _exit_with(self, command: Sequence[str]) -> None:
        self._choose(command)
        self.app.exit()

    def help_blocks(self) -> Sequence[Block]:
        return blocks(self.ralph.keys)
