"""node:test's spec reporter: seven consecutive totals, then the failures with their locations.

For node, a file without tests is one test that passed, or failed if it could not be loaded.
"""

import re

from ralph_tui.layers.sensor.runners import Runs, Tally

_TOTAL = re.compile(r"\u2139 (tests|suites|pass|fail|cancelled|skipped|todo) (\d{1,9})")
_NEXT = {
    "tests": "suites",
    "suites": "pass",
    "pass": "fail",
    "fail": "cancelled",
    "cancelled": "skipped",
    "skipped": "todo",
}
_FIRSTS = frozenset("\u2139\u2716t")  # first characters of relevant lines
_PLACE = re.compile(r"test at \S.*:\d+:\d+")
_FAILED = re.compile(r"\u2716 (\S.*?) \(\d[\d.]*ms\)(?! # TODO)(?: #.*)?")


class Node:
    """Counts of node:test's spec reports."""

    name = "node"
    inside = False  # node indents quoted output

    def __init__(self) -> None:
        self._runs = Runs()
        self._totals: dict[str, int] = {}
        self._expected = "tests"
        self._placed = False

    def feed(self, line: str) -> None:
        placed, self._placed = self._placed, False
        if line[:1] not in _FIRSTS:
            self._expected = "tests"
        elif placed:
            failed = _FAILED.fullmatch(line)
            if failed and self._runs.total is not None:
                self._runs.total.name(failed[1])
        elif (total := _TOTAL.fullmatch(line)) is None:
            self._expected = "tests"
            self._placed = _PLACE.fullmatch(line) is not None
        elif total[1] in ("tests", self._expected):
            self._totals[total[1]] = int(total[2])
            self._expected = _NEXT.get(total[1], "tests")
            if total[1] == "todo":
                self._end()

    def result(self) -> Tally | None:
        return self._runs.result()

    def _end(self) -> None:
        totals = self._totals
        tally = Tally(
            passed=totals["pass"],
            failed=totals["fail"],
            errors=totals["cancelled"],
            skipped=totals["skipped"] + totals["todo"],
        )
        self._runs.end(tally)
