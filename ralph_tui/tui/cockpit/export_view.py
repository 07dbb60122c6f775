"""Exports a run to files, and shows its report.

Rule: a screen is exported as it was before the dialog opened. Slow work runs in a thread; its
result appears in the dialog, or on the screen once the dialog has closed.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment, Segments
from textual.strip import Strip

from ralph_tui.base.errors import RalphError
from ralph_tui.ports.source import OnDisk
from ralph_tui.tui import background
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.draw.spans import flat, flat_name
from ralph_tui.tui.panes.pane import Pane

if TYPE_CHECKING:
    from ralph_tui.tui.modals.export import Export, What
    from ralph_tui.tui.modals.report import Report

NAMES: "dict[What, str]" = {
    "screen": "screen.txt",
    "picture": "screen.svg",
    "report": "report.md",
    "events": "events.jsonl",
}
NOTHING_YET = "nothing is recorded yet; press the key again in a moment"


class ExportView:
    """Opens the export dialog and writes the chosen file."""

    def __init__(self, host: RunScreen) -> None:
        self._host = host
        self._app = host.ralph
        self._key = host.ralph.keys.shown
        self._source = host.source
        self._dialog: Export | Report | None = None
        self._busy = False

    def ask(self, rows: list[Strip], pane: Pane, heading: str) -> None:
        """Ask what to export; `rows` is the screen at this moment."""
        # Imported on first use to keep the first paint fast.
        from ralph_tui.tui.modals.export import Export  # noqa: PLC0415

        record = self._source.record
        if record is None:
            self._host.report(f"{self._key('export')} export: {NOTHING_YET}")
            return
        lines = "".join(f"{row}\n" for row in pane.text_rows())

        def write(what: "What") -> None:
            name = NAMES.get(what, f"{heading.replace(' ', '-')}.txt")
            self._begin(record, name, self._maker(record, what, rows, lines))

        player = self._source.player
        moment = player is not None and player.position < player.length
        self._dialog = Export(heading, write, self._app.monotonic, of_a_moment=moment)
        self._app.push_screen(self._dialog, self._closed)

    def _closed(self, _: None) -> None:
        self._dialog = None

    def read(self) -> None:
        """Build the report, and show it when it is ready."""
        record = self._source.record
        if record is None:
            self._host.report(f"{self._key('report')} report: {NOTHING_YET}")
            return
        self._host.report(f"{self._key('report')} report: preparing…")
        background.run(self._app, partial(self._show, record))

    async def _show(self, record: OnDisk) -> None:
        # Imported on first use to keep the first paint fast.
        from ralph_tui.tui.modals.report import Report  # noqa: PLC0415

        try:
            page = await asyncio.to_thread(record.report)
        except RalphError as error:
            self._host.report(f"{self._key('report')} report: {flat(str(error))}")
            return
        if self._host.in_front:

            def write() -> None:
                self._begin(record, NAMES["report"], lambda: page)

            self._host.report("")
            self._dialog = Report(page, write, self._app.monotonic)
            self._app.push_screen(self._dialog, self._closed)

    def _maker(
        self, record: OnDisk, what: "What", rows: list[Strip], pane: str
    ) -> Callable[[], str]:
        match what:
            case "screen":
                return lambda: as_text(rows)
            case "picture":
                return lambda: as_svg(rows, self._app.title)
            case "pane":
                return lambda: pane
            case "report":
                return record.report
            case "events":
                return record.events

    def _begin(self, record: OnDisk, name: str, make: Callable[[], str]) -> None:
        if self._busy:
            self._report("the previous file is still being written", "warn")
            return
        self._busy = True
        self._report(f"writing {name}…", "dim")
        background.run(self._app, partial(self._write, record, name, make))

    async def _write(self, record: OnDisk, name: str, make: Callable[[], str]) -> None:
        try:
            path = str(await asyncio.to_thread(lambda: record.write(name, make())))
        except RalphError as error:
            self._report(flat(str(error)), "bad")
        else:
            self._report("written:", "good", path)
        finally:
            self._busy = False

    def _report(self, words: str, style: str, path: str = "") -> None:
        if self._dialog is not None:
            self._dialog.answer(words, style, flat_name(path, limit=4096))
        else:
            self._host.report(f"{self._key('export')} export: {words} {flat_name(path)}".rstrip())


def as_text(rows: Sequence[Strip]) -> str:
    """Return the rows as plain text, one line each."""
    return "".join(f"{row.text.rstrip()}\n" for row in rows)


def as_svg(rows: Sequence[Strip], title: str) -> str:
    """Return the rows as SVG, in colour; slow, so call it in a thread."""
    width = max((row.cell_length for row in rows), default=1)
    console = Console(
        width=width,
        height=len(rows),
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        record=True,
    )
    drawn = [
        Segment(text, style.clear_meta_and_links() if style else None)
        for row in rows
        for text, style, _ in [*row, Segment("\n")]
    ]
    console.print(Segments(drawn), end="")
    return console.export_svg(title=title)
