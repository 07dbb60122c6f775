"""cargo test: sum the ``test result:`` lines of every test binary and of the doc tests.

A result belongs to the last ``running N tests`` with the same number of tests. Results that a test
prints or a failure quotes therefore do not count. If a binary dies, its missing tests count as
errors. A crate that does not compile is one error, whichever cargo command reports it.
"""

import re
from dataclasses import dataclass, field

from ralph_tui.layers.sensor.runners import Runs, Tally

_RUNNING = re.compile(r"running (\d{1,9}) tests?")
_RESULT = re.compile(
    r"test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; "
    r"(\d{1,9}) measured; \d+ filtered out(?:; finished in \d[\d.]*s)?"
)
_TEST = re.compile(r"test (\S.*?) \.\.\. (ok|FAILED|ignored)\b.*")
_LISTED = re.compile(r" {4}(\S.*)")
_DIED = "  process didn't exit successfully: "
_NOT_COMPILED = re.compile(r"error: could not compile `([^`]+)`.* due to .*")
_DEEPEST = 100
_MAX_CRATES = 10_000


@dataclass
class _Binary:
    """A test binary without a result so far, and the tests that its own lines report."""

    tests: int
    seen: Tally = field(default_factory=Tally)


class Cargo:
    """Counts of cargo test runs."""

    name = "cargo"

    def __init__(self) -> None:
        self._runs = Runs()
        self._open: list[_Binary] = []
        self._listed = Tally()  # names below the last ``failures:``
        self._listing = False
        self._caused = False
        self._blank = True
        self._crates: set[str] = set()

    @property
    def inside(self) -> bool:
        """True from ``running N tests`` to their result."""
        return bool(self._open)

    def feed(self, line: str) -> None:
        if self._listing:
            listed = _LISTED.fullmatch(line)
            if listed:
                self._listed.name(listed[1])
                return
            self._listing = False
        caused, self._caused = self._caused, False
        after_blank, self._blank = self._blank, not line
        if line.startswith("test "):
            self._test(line)
        elif line == "failures:":
            self._listing, self._listed = True, Tally()
        elif line.startswith("running "):
            running = _RUNNING.fullmatch(line)
            if running and (after_blank or self._open):
                self._open.append(_Binary(int(running[1])))
                del self._open[_DEEPEST:]
        elif line == "Caused by:":
            self._caused = True
        elif caused and self._open and line.startswith(_DIED):
            self._died()
        elif not self._open and (crate := _NOT_COMPILED.fullmatch(line)):
            self._not_compiled(crate[1])

    def result(self) -> Tally | None:
        return self._runs.result()

    def _test(self, line: str) -> None:
        if not self._open:
            return
        if result := _RESULT.fullmatch(line):
            passed, failed, ignored, measured = map(int, result.groups())
            self._result(Tally(passed + measured, failed, 0, ignored))
        elif test := _TEST.fullmatch(line):
            seen = self._open[-1].seen
            if test[2] == "ok":
                seen.passed += 1
            elif test[2] == "ignored":
                seen.skipped += 1
            else:
                seen.failed += 1
                seen.name(test[1])

    def _result(self, tally: Tally) -> None:
        for depth in reversed(range(len(self._open))):
            if self._open[depth].tests == tally.seen:
                del self._open[depth:]
                break
        else:
            return
        if tally.failed:
            tally.name(*self._listed.names)
        self._runs.end(tally, quoted=bool(self._open))

    def _died(self) -> None:
        binary = self._open[0]
        self._open.clear()
        binary.seen.errors = max(1, binary.tests - binary.seen.seen)
        self._runs.end(binary.seen)

    def _not_compiled(self, crate: str) -> None:
        if crate not in self._crates and len(self._crates) < _MAX_CRATES:
            self._crates.add(crate)
            self._runs.end(Tally(errors=1, names={crate: None}))
