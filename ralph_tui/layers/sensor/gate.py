"""What a run of the completion command came to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """Tests as a known runner counted them; skipped and expected failures do not count."""

    runner: str
    """pytest, unittest, tap, junit."""
    passed: int
    failed: int = 0
    errors: int = 0
    """Errors of tests and of collection."""
    skipped: int = 0
    failing: tuple[str, ...] = ()
    """Names of failing and erring tests, the first 2000."""
    broken: str = ""
    """The first error of collecting, importing or compiling tests; empty: none."""

    @property
    def total(self) -> int:
        """Tests that count."""
        return self.passed + self.failed + self.errors


@dataclass(frozen=True)
class GateResult:
    """The measurement a gate run yields."""

    ok: bool
    """It ran, and exited 0 in time."""
    exit_code: int | None
    """As a shell says it; None when it did not run or was stopped."""
    timed_out: bool = False
    cancelled: bool = False
    duration_s: float = 0.0
    counts: Counts | None = None
    tail: str = ""
    """The end of the output, at most 4000 characters, stripped and redacted."""
    doubt: str = ""
    """Why what the output counts is not believed; one sentence, empty when it is."""
    error: str = ""
    """Why it could not be run; one sentence, empty when it ran."""
