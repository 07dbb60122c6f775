"""Base types for test runners' parsers: each reads output line by line and keeps only a tally.

A parser is strict: it counts what its tool prints and nothing that merely resembles it. While it is
`inside` its own report, the text in between is quoted output or failure messages, and no other
parser sees it. To add a runner, add a row in `formats`; if its report has no fixed form, add a
module here and an entry in `counts.RUNNERS`.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.text.sanitize import clip_name

MAX_NAMES = 2000
MAX_CHARACTERS = 200_000
"""Maximum total length of all names, because every iteration records them."""


@dataclass
class Tally:
    """Totals of tests, with the names of failing tests, each once, at most 2000."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    names: dict[str, None] = field(default_factory=dict)
    """In order of appearance."""

    def __post_init__(self) -> None:
        self._room = MAX_CHARACTERS - sum(map(len, self.names))

    @property
    def seen(self) -> int:
        """Number of tests, including skipped ones."""
        return self.passed + self.failed + self.errors + self.skipped

    def name(self, *names: str) -> None:
        """Record the names of failing tests."""
        for name in names:
            if len(self.names) >= MAX_NAMES:
                return
            short = clip_name(name.strip())
            if short and short not in self.names and len(short) <= self._room:
                self.names[short] = None
                self._room -= len(short)

    def add(self, other: "Tally") -> None:
        """Add the tests of another run."""
        self.passed += other.passed
        self.failed += other.failed
        self.errors += other.errors
        self.skipped += other.skipped
        self.name(*other.names)

    def counts(self, runner: str) -> Counts:
        """Return the tally as `Counts` for the completion command's result."""
        return Counts(
            runner=runner,
            passed=self.passed,
            failed=self.failed,
            errors=self.errors,
            skipped=self.skipped,
            failing=tuple(self.names),
        )


class Runs:
    """The total over all runs of one runner; a run quoted in another's report does not count.

    A quoted run does count if the outer run never ends: then the outer run was killed, and the
    supposed quote came after it.
    """

    def __init__(self) -> None:
        self.total: Tally | None = None
        self._quoted: Tally | None = None

    def end(self, tally: Tally, *, quoted: bool = False) -> None:
        """Record the end of a run; `quoted` if it appeared within another run's report."""
        if quoted:
            self._quoted = self._quoted or Tally()
            self._quoted.add(tally)
            return
        self._quoted = None
        self.total = self.total or Tally()
        self.total.add(tally)

    def result(self) -> Tally | None:
        """Return the total of all runs; None if no run ended."""
        if self._quoted is None:
            return self.total
        result = Tally()
        for tally in (self.total, self._quoted):
            if tally is not None:
                result.add(tally)
        return result


_PART = re.compile(r"(\d{1,12}) ([A-Za-z]+(?: [A-Za-z]+)*)")


def numbers(text: str) -> Counter[str]:
    """Return numbers by their label, from ``2 failed, 1 timed out`` or ``2 failed | 3 passed``."""
    counted: Counter[str] = Counter()
    for number, word in _PART.findall(text):
        counted[word] += int(number)
    return counted


class Runner(Protocol):
    """The parser for one test runner; its memory is bounded for any input."""

    name: str

    @property
    def inside(self) -> bool:
        """True if the next line is quoted in this runner's report."""

    def feed(self, line: str) -> None:
        """Process one line, without its newline and without control sequences."""

    def result(self) -> Tally | None:
        """Return the tests of all this runner's runs in the output; None if it did not appear."""
