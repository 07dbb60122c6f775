"""unittest and similar output (Django's ``manage.py test``): ``Ran N tests``, then a verdict.

Tests are counted, not reports: the failing subtests of one test are one failure. A failure in the
set-up of a class or module is an error in addition to the tests that ran. Everything from the first
failure report to the verdict is quoted. ``--buffer`` also quotes the tests' own output, and then
only the last verdict belongs to the run.
"""

import re
from collections import Counter

from ralph_tui.layers.sensor.runners import Tally

_RAN = re.compile(r"Ran (\d{1,12}) tests? in \d+\.\d+s")
_VERDICT = re.compile(
    r"(?:OK|FAILED|NO TESTS RAN)(?: \(([A-Za-z ]+=\d{1,12}(?:, [A-Za-z ]+=\d{1,12})*)\))?"
)
_HEADER = re.compile(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (\S.*)")
_TEST = re.compile(r"\S+ \([^()]*\)")
_PROGRESS = re.compile(r"[.FEsxu]+|.* \.\.\. (?:ok|FAIL|ERROR|skipped .*|expected failure)")
_LETTERS = re.compile(r"[.FEsxu]+")
_RULE = "=" * 70
_LINE = "-" * 70
_MAX_TESTS = 10_000  # remembered to recognize two reports about one test


class Unittest:
    """Counts of unittest runs."""

    name = "unittest"

    def __init__(self) -> None:
        self._total: Tally | None = None
        self._last: Tally | None = None  # with buffered output the next verdict replaces it
        self._buffered = False
        self._quoting = False
        self._before = _LINE  # the output may have been cut to its last lines
        self._ran: int | None = None
        self._blanks = 0
        self._reset()

    def _reset(self) -> None:
        self._reports = {"FAIL": 0, "ERROR": 0, "UNEXPECTED SUCCESS": 0}
        self._failed: set[str] = set()
        self._erred: set[str] = set()
        self._names = Tally()
        self._letters: Counter[str] = Counter()

    @property
    def inside(self) -> bool:
        """True within failure reports or a test's buffered output."""
        return self._quoting or self._buffered

    def feed(self, line: str) -> None:
        before, self._before = self._before, line
        if self._ran is not None:
            self._await_verdict(line)
        elif before == _LINE and line.startswith("Ran "):
            ran = _RAN.fullmatch(line)
            if ran:
                self._ran, self._blanks = int(ran[1]), 0
        elif before == _RULE:
            header = _HEADER.fullmatch(line)
            if header:
                self._report(header[1], header[2])
        elif line in ("Stdout:", "Stderr:"):
            if self._quoting or _PROGRESS.fullmatch(before):
                self._buffered = True
        elif not line:
            self._before = before  # a blank line may separate progress and ``Stdout:``
        elif not self._quoting and _LETTERS.fullmatch(line):
            self._letters.update(line)

    def result(self) -> Tally | None:
        if self._last is None:
            return self._total
        result = Tally()
        for tally in (self._total, self._last):
            if tally is not None:
                result.add(tally)
        return result

    def _report(self, kind: str, title: str) -> None:
        self._quoting = True
        test = _TEST.match(title)
        name = test[0] if test else title
        self._reports[kind] += 1
        tests = self._erred if kind == "ERROR" else self._failed
        if kind != "UNEXPECTED SUCCESS" and len(tests) < _MAX_TESTS:
            tests.add(name)
        self._names.name(name)

    def _await_verdict(self, line: str) -> None:
        if not line:
            self._blanks += 1
            if self._blanks > 2:
                self._ran = None
            return
        ran, self._ran = self._ran, None
        verdict = _VERDICT.fullmatch(line)
        if ran is None or verdict is None or not self._blanks:
            return
        tally = self._tally(ran, verdict[1] or "")
        tally.name(*self._names.names)
        self._quoting = False
        self._reset()
        if self._buffered:
            self._last = tally
            return
        if self._total is None:
            self._total = Tally()
        self._total.add(tally)

    def _tally(self, ran: int, notes: str) -> Tally:
        counts: dict[str, int] = {}
        for note in filter(None, notes.split(", ")):
            word, _, number = note.partition("=")
            counts[word.lower()] = int(number)
        failed, errors = counts.get("failures", 0), counts.get("errors", 0)
        skipped = counts.get("skipped", counts.get("skip", 0)) + counts.get("expected failures", 0)
        unexpected = counts.get("unexpected successes", 0)
        beside = 0
        if (self._reports["FAIL"], self._reports["ERROR"]) == (failed, errors):
            erred = self._erred - self._failed
            failed, errors = len(self._failed), len(erred)
            beside = sum(1 for name in erred if name.startswith(_FIXTURES))
        passed = max(0, ran - failed - (errors - beside) - skipped - unexpected)
        # "Ran N tests" omits skips of whole classes, and in Python 3.12.1 all skips.
        letters = self._letters
        if letters["s"] + letters["x"] == skipped and passed < letters["."] <= ran:
            passed = letters["."]
        return Tally(passed=passed, failed=failed + unexpected, errors=errors, skipped=skipped)


_FIXTURES = ("setUpClass (", "tearDownClass (", "setUpModule (", "tearDownModule (")
