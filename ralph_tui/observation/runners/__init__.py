"""How one test runner reports: a runner reads an output line by line and keeps only its tally.

A runner is strict: it counts what its tool prints and nothing that merely resembles it. While it is
`inside` its own report, the text between is quoted (captured output, failure messages) and no other
runner is asked. A new runner is one module here and one entry in `counts.RUNNERS`.
"""

from dataclasses import dataclass, field
from typing import Protocol

from ralph_tui.observation.gate import Counts
from ralph_tui.text import clip

MOST_NAMES = 20
LONGEST_NAME = 300


@dataclass
class Tally:
    """Tests added up; names of failing ones, each once, the first 20."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    names: list[str] = field(default_factory=list)

    @property
    def seen(self) -> int:
        """All tests, skipped ones too."""
        return self.passed + self.failed + self.errors + self.skipped

    def name(self, *names: str) -> None:
        """Remember failing tests."""
        for name in names:
            if len(self.names) >= MOST_NAMES:
                return
            short = clip(name.strip(), LONGEST_NAME)
            if short and short not in self.names:
                self.names.append(short)

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


class Runner(Protocol):
    """One runner's reader; memory stays bounded whatever it is fed."""

    name: str

    @property
    def inside(self) -> bool:
        """Whether the next line is quoted by this runner's report."""
        ...

    def feed(self, line: str) -> None:
        """Take one line: no newline, no control sequences."""
        ...

    def result(self) -> Tally | None:
        """The tests of all its runs in this output; None when it was not there."""
        ...
