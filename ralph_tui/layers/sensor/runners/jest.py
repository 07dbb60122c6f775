"""jest: the four summary lines give the counts; a file that failed to run is an error.

jest indents test output and failure messages, so the four consecutive unindented lines are its own.
"""

import re

from ralph_tui.layers.sensor.runners import Runs, Tally, numbers

_SUMMARY = re.compile(r"(Test Suites|Tests|Snapshots|Time): +(\d.*)")
_NEXT = {"Test Suites": "Tests", "Tests": "Snapshots", "Snapshots": "Time"}
_FILE = re.compile(r" ?(FAIL|PASS) +(\S.*?)(?: \(\d[\d.]* m?s\))?")
_BULLET = "  \u25cf "
_NOT_RUN = "Test suite failed to run"
_NO_TESTS = re.compile(r"No tests found, exiting with code [01]")
_FIRSTS = frozenset(" FPTSN")  # first characters of relevant lines
_MAX_FILES = 10_000  # remembered because jest may print a failure twice


class Jest:
    """Counts of jest runs."""

    name = "jest"
    inside = False  # jest indents quoted output

    def __init__(self) -> None:
        self._runs = Runs()
        self._summary: dict[str, str] = {}
        self._expected = ""
        self._reset()

    def _reset(self) -> None:
        self._file = ""  # the failed file that the current report is about
        self._not_run: set[str] = set()
        self._names = Tally()

    def feed(self, line: str) -> None:
        expected, self._expected = self._expected, ""
        if line[:1] not in _FIRSTS:
            return
        if line.startswith(_BULLET):
            self._failure(line.removeprefix(_BULLET).strip())
        elif summary := _SUMMARY.fullmatch(line):
            label, text = summary.groups()
            if label in ("Test Suites", expected):
                self._summary[label], self._expected = text, _NEXT.get(label, "")
                if label == "Time":
                    self._end()
        elif file := _FILE.fullmatch(line):
            self._file = file[2] if file[1] == "FAIL" else ""
        elif _NO_TESTS.fullmatch(line):
            self._runs.end(Tally())

    def result(self) -> Tally | None:
        return self._runs.result()

    def _failure(self, title: str) -> None:
        if not self._file or title == "Console":
            return
        if title != _NOT_RUN:
            self._names.name(title)
        elif len(self._not_run) < _MAX_FILES:
            self._not_run.add(self._file)
            self._names.name(self._file)

    def _end(self) -> None:
        tests, suites = numbers(self._summary["Tests"]), numbers(self._summary["Test Suites"])
        errors = min(len(self._not_run), suites["failed"])
        tally = Tally(
            passed=tests["passed"],
            failed=tests["failed"],
            errors=errors if tests["failed"] or errors else suites["failed"],
            skipped=tests["skipped"] + tests["todo"],
            names=self._names.names,
        )
        self._runs.end(tally)
        self._reset()
