"""The result of running the completion command."""

from dataclasses import dataclass

from ralph_tui.text.format import count

NO_COUNTS = "no counts: progress comes from a plan or the agent's report"
SILENT_IF_PASSED = frozenset({"Gradle"})
"""Runners that print no counts if every test passes."""


@dataclass(frozen=True)
class Counts:
    """Tests as a runner counted them; skipped tests and expected failures do not count."""

    runner: str
    """One name, or several joined by ``+``: pytest, unittest, tap, junit and others."""
    passed: int
    failed: int = 0
    errors: int = 0
    """Errors in tests and in collection."""
    skipped: int = 0
    failing: tuple[str, ...] = ()
    """Names of tests that failed or had errors, at most 2000."""
    broken: str = ""
    """The first error while collecting, importing or compiling tests; empty without one."""

    @property
    def total(self) -> int:
        """Number of tests that count."""
        return self.passed + self.failed + self.errors


@dataclass(frozen=True)
class GateResult:
    """The outcome of one run of the completion command."""

    ok: bool
    """True if the command ran and exited with code 0 in time."""
    exit_code: int | None
    """As a shell reports it; None if the command did not run or was stopped."""
    timed_out: bool = False
    cancelled: bool = False
    duration_s: float = 0.0
    counts: Counts | None = None
    tail: str = ""
    """The end of the output, at most 4000 characters, stripped and redacted."""
    doubt: str = ""
    """Why the counts in the output are not trusted, one sentence; empty if they are."""
    error: str = ""
    """Why the command could not be run, one sentence; empty if it ran."""


def read_words(result: GateResult) -> str:
    """Describe the counts and their runner: ``RSpec: 3 of 4 pass, 1 fails``."""
    counts = result.counts
    if counts is None:
        return result.doubt.rstrip(".") or NO_COUNTS
    if not counts.total:
        skipped = f", {counts.skipped} skipped" if counts.skipped else ""
        return f"{counts.runner}: no tests ran{skipped}"
    said = [f"{counts.passed} of {counts.total} pass"]
    if counts.failed:
        said.append(f"{counts.failed} {'fails' if counts.failed == 1 else 'fail'}")
    if counts.errors:
        said.append(count(counts.errors, "error"))
    if counts.skipped:
        said.append(f"{counts.skipped} skipped")
    broken = f"; the build is broken: {counts.broken}" if counts.broken else ""
    return f"{counts.runner}: {', '.join(said)}{broken}"
