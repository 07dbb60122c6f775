"""What another tool's own layers said of a run that it recorded: by iteration, and in the log.

Rule: it stands beside what is ours and never in its place. The log tells what asks for attention,
each sentence once; all of it is there for who looks at an iteration.
"""

from ralph_tui.events import ForeignVerdict, Row, RunStarted
from ralph_tui.state.fold import Fold, Part
from ralph_tui.state.log_entries import LogEntries, LogEntry

LOUD = ("REDIRECT", "PAUSE", "ABORT")
"""What it did that stops or turns a run."""
_DIGITS = str.maketrans("", "", "0123456789")


class ForeignFold(Fold):
    """All verdicts."""

    def __init__(self) -> None:
        self.tool = ""
        """What recorded the run, where that was no loop of ours: ``aiwg``."""
        self.verdicts: dict[int, list[ForeignVerdict]] = {}
        """By iteration, in the order in which they were said."""

    def on_started(self, event: RunStarted) -> None:
        self.tool = event.imported.partition(",")[0]

    def on_said(self, event: ForeignVerdict) -> None:
        self.verdicts.setdefault(event.iteration, []).append(event)

    def control(self, iteration: int) -> ForeignVerdict | None:
        """The numbers of its own controller, where it had one."""
        said = self.verdicts.get(iteration, [])
        return next((one for one in reversed(said) if one.layer == "control"), None)


class ForeignRows(Part):
    """Which verdicts are worth a row; a sentence that was told is not again."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def row(self, event: ForeignVerdict) -> Row | None:
        """Its row; None: it is not worth one."""
        if event.level == "log" and event.act not in LOUD and event.layer != "selection":
            return None
        said = event.layer, event.text.translate(_DIGITS)
        known = said in self._told
        self._told.add(said)
        if known and event.act not in LOUD:
            return None
        return event.row()


class ForeignLog(Part):
    """One entry for each iteration in which its own layers called for attention."""

    def __init__(self, log: LogEntries) -> None:
        self._log = log
        self._rows = ForeignRows()
        self._entry: tuple[int, LogEntry] | None = None

    def on_started(self, event: RunStarted) -> bool:
        self._log.recomputed = bool(event.imported)
        return False

    def on_said(self, event: ForeignVerdict) -> bool:
        row = self._rows.row(event)
        if row is None:
            return False
        if self._entry is not None and self._entry[0] == event.iteration:
            self._log.nest(self._entry[1], event, row)
        else:
            self._entry = event.iteration, self._log.add(event, row)
        return True
