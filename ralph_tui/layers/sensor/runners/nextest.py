"""cargo-nextest: count the ``Summary`` line; planned tests that did not run are errors.

Its lines right-align their first words to the same column, and quoted output is indented. Tests
that fail or time out are failures. Tests that cannot be executed and failing set-up scripts are
errors. A flaky test that finally passes counts as passed.
"""

import re

from ralph_tui.layers.sensor.runners import Runs, Tally, numbers

_STARTING = re.compile(r" {4}Starting \d+ tests? across \d+ binar(?:y|ies)\b.*")
_SUMMARY = re.compile(
    r" {5}Summary \[ *\d+\.\d+s\] (\d{1,9})(?:/(\d{1,9}))? tests? run: (\d+ passed\b.*)"
)
_FAILED = re.compile(
    r"(?=.{12} \[) *(?:FAIL|XFAIL|TIMEOUT|ABORT|LEAK-FAIL|FAIL \+ LEAK|SIG[A-Z0-9]+)"
    r" \[ *\d+\.\d+s\] +(?:\( *\d+/\d+\) )?(?:\[[^\]]*\] )?(\S.*)"
)
_DETAILS = re.compile(r" \([^()]*\)")


class Nextest:
    """Counts of cargo-nextest runs."""

    name = "nextest"

    def __init__(self) -> None:
        self._runs = Runs()
        self._open = 0
        self._names = Tally()
        self._after = False  # failures are named again below the summary

    @property
    def inside(self) -> bool:
        """True from ``Starting`` to ``Summary``."""
        return self._open > 0

    def feed(self, line: str) -> None:
        if not line.startswith(" "):
            self._after = False
        elif line[12:14] == " [" and (failed := _FAILED.fullmatch(line)):
            if self._open == 1:
                self._names.name(failed[1])
            elif self._after and self._runs.total is not None:
                self._runs.total.name(failed[1])
        elif _STARTING.fullmatch(line):
            self._open += 1
            self._after = False
        elif self._open and (summary := _SUMMARY.fullmatch(line)):
            self._end(int(summary[1]), int(summary[2] or summary[1]), summary[3])

    def result(self) -> Tally | None:
        return self._runs.result()

    def _end(self, run: int, planned: int, text: str) -> None:
        counted = numbers(_DETAILS.sub("", text))
        tally = Tally(
            passed=counted.pop("passed", 0),
            failed=counted.pop("failed", 0) + counted.pop("timed out", 0),
            skipped=counted.pop("skipped", 0),
        )
        tally.errors = counted.total() + max(0, planned - run)
        self._open -= 1
        if not self._open:
            tally.name(*self._names.names)
            self._names = Tally()
        self._runs.end(tally, quoted=self._open > 0)
        self._after = not self._open
