"""Verdicts that another tool recorded in its own run, by iteration and in the log.

Rule: they are shown next to ours, never instead. The log shows only those that need attention, each
sentence once; the view of an iteration shows all.
"""

from ralph_tui.events import ForeignVerdict, Row, RunStarted
from ralph_tui.state.fold import Fold, Part
from ralph_tui.state.log_entries import LogEntries, LogEntry

LOUD = ("REDIRECT", "PAUSE", "ABORT")
"""Actions of the other tool that stop or redirect a run."""
_DIGITS = str.maketrans("", "", "0123456789")


class ForeignFold(Fold):
    """All verdicts of the other tool."""

    def __init__(self) -> None:
        self.tool = ""
        """The tool that recorded an imported run, as in ``aiwg``; empty for our own."""
        self.verdicts: dict[int, list[ForeignVerdict]] = {}
        """Keyed by iteration, each in recorded order."""

    def on_started(self, event: RunStarted) -> None:
        self.tool = event.imported.partition(",")[0]

    def on_verdict(self, event: ForeignVerdict) -> None:
        self.verdicts.setdefault(event.iteration, []).append(event)

    def control(self, iteration: int) -> ForeignVerdict | None:
        """Return the numbers of the tool's own controller; None if it has no controller."""
        said = self.verdicts.get(iteration, [])
        return next((one for one in reversed(said) if one.layer == "control"), None)


class ForeignRows(Part):
    """Chooses the verdicts that get a row and drops repeated sentences."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def row(self, event: ForeignVerdict) -> Row | None:
        """Return the row of a verdict; None if it is not worth one."""
        if event.level == "log" and event.act not in LOUD and event.layer != "selection":
            return None
        said = event.layer, event.text.translate(_DIGITS)
        known = said in self._seen
        self._seen.add(said)
        if known and event.act not in LOUD:
            return None
        return event.row()


class ForeignLog(Part):
    """One log entry for each iteration in which the other tool's layers asked for attention."""

    def __init__(self, log: LogEntries) -> None:
        self._log = log
        self._rows = ForeignRows()
        self._entry: tuple[int, LogEntry] | None = None

    def on_started(self, event: RunStarted) -> bool:
        self._log.recomputed = bool(event.imported)
        return False

    def on_verdict(self, event: ForeignVerdict) -> bool:
        row = self._rows.row(event)
        if row is None:
            return False
        if self._entry is not None and self._entry[0] == event.iteration:
            self._log.nest(self._entry[1], event, row)
        else:
            self._entry = event.iteration, self._log.add(event, row)
        return True
