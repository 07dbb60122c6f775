"""The result of running the completion command."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """Tests as counted by a known runner; skipped tests and expected failures do not count."""

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
    """The command ran and exited with 0 in time."""
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
