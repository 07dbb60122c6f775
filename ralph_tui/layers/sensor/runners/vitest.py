"""vitest: the final table counts tests; failed suites and stray errors are errors.

vitest does not mark output printed by tests, so everything from ``RUN`` to the table is inside, and
a table must have all its lines. Tests left out by ``--bail`` never ran and are errors too.
"""

import re

from ralph_tui.layers.sensor.runners import Runs, Tally, numbers

_RUN = re.compile(r" (?:RUN|DEV)  v\d+\.\d+\.\d+\S* .*")
_ROW = re.compile(r" *(Test Files|Snapshots|Tests|Type Errors|Errors|Start at|Duration)  (\S.*)")
_FIRSTS = frozenset(" T")  # first characters of the table's lines
_CONTINUED = " " * 12
_TOTAL = re.compile(r"\((\d{1,12})\)$")
_SECTION = re.compile(r"\u23af+ (Failed Suites|Failed Tests) (\d{1,9}) \u23af+")
_BETWEEN = re.compile(r"\u23af+\[\d+/\d+\]\u23af+")
_FAILED = re.compile(r" FAIL  (\S.*?)(?: \[ \S+ \])?")
_NO_TESTS = re.compile(r"No test files found, exiting with code [01]")


class Vitest:
    """Counts of vitest runs."""

    name = "vitest"

    def __init__(self) -> None:
        self._runs = Runs()
        self._open = 0
        self._table: dict[str, str] = {}
        self._reset()

    def _reset(self) -> None:
        self._suites = 0
        self._names = Tally()
        self._naming = False  # a failure's heading may come next

    @property
    def inside(self) -> bool:
        """True from ``RUN`` to the end of the table."""
        return self._open > 0

    def feed(self, line: str) -> None:
        if self._table and line.startswith(_CONTINUED):
            return
        if line[:1] in _FIRSTS and (row := _ROW.fullmatch(line)):
            self._row(row[1], row[2])
            return
        self._table.clear()
        if _RUN.fullmatch(line):
            self._open += 1
            self._reset()
        elif section := _SECTION.fullmatch(line):
            self._naming = True
            if section[1] == "Failed Suites":
                self._suites = int(section[2])
        elif _BETWEEN.fullmatch(line):
            self._naming = True
        elif self._naming and line:
            failed = _FAILED.fullmatch(line)
            if failed:
                self._names.name(failed[1])
            self._naming = failed is not None
        elif self._open and _NO_TESTS.fullmatch(line):
            self._end(Tally())

    def result(self) -> Tally | None:
        return self._runs.result()

    def _row(self, label: str, text: str) -> None:
        if label == "Test Files":
            self._table.clear()
        elif not self._table:
            return
        self._table[label] = text
        if label == "Duration":
            if self._table.keys() >= {"Tests", "Start at"}:
                self._end(self._tally())
            self._table.clear()

    def _tally(self) -> Tally:
        tests = numbers(self._table["Tests"])
        total = _TOTAL.search(self._table["Tests"])
        strays = numbers(self._table.get("Errors", "")) + numbers(
            self._table.get("Type Errors", "")
        )
        never = int(total[1]) - sum(tests.values()) if total else 0
        return Tally(
            passed=tests["passed"] + tests["expected fail"],
            failed=tests["failed"],
            errors=self._suites + strays.total() + max(0, never),
            skipped=tests["skipped"] + tests["todo"],
            names=self._names.names,
        )

    def _end(self, tally: Tally) -> None:
        self._runs.end(tally, quoted=self._open > 1)
        self._open = max(0, self._open - 1)
        self._reset()
