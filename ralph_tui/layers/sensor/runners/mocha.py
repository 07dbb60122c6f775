"""mocha: count ``3 passing (5ms)`` after a blank line, with up to two more lines below it.

The failures are listed after these lines. Nothing marks the start of a run, so a whole report
printed by a test counts as another run.
"""

import re

from ralph_tui.layers.sensor.runners import Runs, Tally

_PASSING = re.compile(r"  (\d{1,9}) passing \(\d+(?:ms|s|m|h|d)\)")
_OTHER = re.compile(r"  (\d{1,9}) (pending|failing)")
_ENTRY = re.compile(r"  (\d{1,9})\) (\S.*)")
_TITLE = " " * 7
_BROKEN = " Exception during run: "
_NO_FILES = re.compile(r'Error: No test files found: ".*"')


class Mocha:
    """Counts of mocha runs."""

    name = "mocha"
    inside = False  # the start of a run is unmarked

    def __init__(self) -> None:
        self._runs = Runs()
        self._tally: Tally | None = None  # the summary being read
        self._names: Tally | None = None  # the failures being listed
        self._listed = 0
        self._title: list[str] = []
        self._blank = False

    def feed(self, line: str) -> None:
        if self._title:
            if line.startswith(_TITLE):
                if len(self._title) < 50:
                    self._title.append(line.strip())
                return
            self._name()
        if self._tally is not None:
            if other := _OTHER.fullmatch(line):
                number = int(other[1])
                if other[2] == "pending":
                    self._tally.skipped = number
                else:
                    self._tally.failed = number
                return
            self._end_summary()
        after_blank, self._blank = self._blank, not line
        if after_blank and (passing := _PASSING.fullmatch(line)):
            self._tally = Tally(passed=int(passing[1]))
        elif line.startswith(_BROKEN):
            self._runs.end(Tally(errors=1))
        elif _NO_FILES.fullmatch(line):
            self._runs.end(Tally())
        elif self._names is not None:
            entry = _ENTRY.fullmatch(line)
            if entry and int(entry[1]) == self._listed + 1:
                self._listed += 1
                self._title = [entry[2]]

    def result(self) -> Tally | None:
        if self._title:
            self._name()
        if self._tally is not None:
            self._end_summary()
        return self._runs.result()

    def _end_summary(self) -> None:
        tally, self._tally = self._tally, None
        if tally is not None:
            self._runs.end(tally)
            self._names = self._runs.total if tally.failed else None
            self._listed = 0

    def _name(self) -> None:
        title, self._title = self._title, []
        if self._names is not None:
            self._names.name(" ".join(title).removesuffix(":"))
