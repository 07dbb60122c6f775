"""How one test runner reports: a runner reads an output line by line and keeps only its tally.

A runner is strict: it counts what its tool prints and nothing that merely resembles it. While it is
`inside` its own report, the text between is quoted (captured output, failure messages) and no other
runner is asked. A new runner is one module here and one entry in `counts.RUNNERS`.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.text.sanitize import clip_name

MOST_NAMES = 2000
MOST_CHARACTERS = 200_000
"""Of all names together: each iteration of a night records them."""


@dataclass
class Tally:
    """Tests added up; names of failing ones, each once, the first 2000."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    names: dict[str, None] = field(default_factory=dict)
    """In their order."""

    def __post_init__(self) -> None:
        self._room = MOST_CHARACTERS - sum(map(len, self.names))

    @property
    def seen(self) -> int:
        """All tests, skipped ones too."""
        return self.passed + self.failed + self.errors + self.skipped

    def name(self, *names: str) -> None:
        """Remember failing tests."""
        for name in names:
            if len(self.names) >= MOST_NAMES:
                return
            short = clip_name(name.strip())
            if short and short not in self.names and len(short) <= self._room:
                self.names[short] = None
                self._room -= len(short)

    def add(self, other: "Tally") -> None:
        """Add another run's tests to these."""
        self.passed += other.passed
        self.failed += other.failed
        self.errors += other.errors
        self.skipped += other.skipped
        self.name(*other.names)

    def counts(self, runner: str) -> Counts:
        """The tally as the gate's result carries it."""
        return Counts(
            runner=runner,
            passed=self.passed,
            failed=self.failed,
            errors=self.errors,
            skipped=self.skipped,
            failing=tuple(self.names),
        )


class Runs:
    """Runs of one runner, added up; one within another's report is quoted there.

    A quoted run counts only while the outer one has no end: then that one was killed, and what
    looked quoted came after it.
    """

    def __init__(self) -> None:
        self.total: Tally | None = None
        self._quoted: Tally | None = None

    def end(self, tally: Tally, *, quoted: bool = False) -> None:
        """A run has ended, within another one's report or not."""
        if quoted:
            self._quoted = self._quoted or Tally()
            self._quoted.add(tally)
            return
        self._quoted = None
        self.total = self.total or Tally()
        self.total.add(tally)

    def result(self) -> Tally | None:
        """All runs; None when none ended."""
        if self._quoted is None:
            return self.total
        result = Tally()
        for tally in (self.total, self._quoted):
            if tally is not None:
                result.add(tally)
        return result


_PART = re.compile(r"(\d{1,12}) ([A-Za-z]+(?: [A-Za-z]+)*)")


def numbers(text: str) -> Counter[str]:
    """Numbers by what they count: ``2 failed, 1 timed out`` or ``2 failed | 3 passed``."""
    counted: Counter[str] = Counter()
    for number, word in _PART.findall(text):
        counted[word] += int(number)
    return counted


class Runner(Protocol):
    """One runner's reader; memory stays bounded whatever it is fed."""

    name: str

    @property
    def inside(self) -> bool:
        """Whether the next line is quoted by this runner's report."""

    def feed(self, line: str) -> None:
        """Take one line: no newline, no control sequences."""

    def result(self) -> Tally | None:
        """The tests of all its runs in this output; None when it was not there."""
