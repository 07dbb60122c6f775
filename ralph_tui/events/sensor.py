"""Events of the sensor: verifications and measurements of completion."""

from typing import Literal

from ralph_tui.events.base import Event, Row
from ralph_tui.events.text import Line, Name, Plain
from ralph_tui.text.format import duration, percent
from ralph_tui.text.sanitize import clip_name, one_line

__all__ = ["GateFinished", "GateStarted", "ReadingTaken"]

ReadingSource = Literal["tests", "plan", "agent", "estimate"]


NAMED = 5
"""Maximum number of failing tests named in a sentence."""
LONGEST_NAME = 120
PLAIN_TOTALS = "a plain line of totals"
"""Runner name for output that no parser supports but that ends with a line of totals."""


class GateStarted(Event):
    """The completion command was started."""

    kind: Literal["gate_started"] = "gate_started"
    iteration: int
    command: Plain


class GateFinished(Event):
    """The completion command ended; there are counts if a known test runner wrote the output."""

    kind: Literal["gate_finished"] = "gate_finished"
    iteration: int
    ok: bool
    exit_code: int | None = None
    timed_out: bool = False
    duration_s: float = 0.0
    runner: Line | None = None
    passed: int | None = None
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    failing: list[Name] = []
    """Names of failing tests, at most 2000 (200 in older journals); `unnamed` counts the others."""
    tail: Plain = ""
    """The end of the output, at most 4000 characters."""
    log: Line = ""
    """Path relative to the attempt's folder."""
    error: Plain = ""
    """One sentence if the command could not be run; empty if it ran."""
    broken: Line = ""
    """The first error if the counts are those of a broken build; empty otherwise."""

    @property
    def total(self) -> int | None:
        """Tests that count: passed, failed and errors; None without counts."""
        return None if self.passed is None else self.passed + self.failed + self.errors

    @property
    def unnamed(self) -> int:
        """Number of failed tests that `failing` does not name."""
        return max(0, self.failed + self.errors - len(self.failing))

    @property
    def ended(self) -> str:
        """How the command ended, as in ``exit 1`` or ``timed out``."""
        return "timed out" if self.timed_out else f"exit {self.exit_code}"

    @property
    def failing_words(self) -> str:
        """Failed tests, at most five by name: ``test_a, test_b and 24 more``."""
        # unittest adds the test's class in brackets after its name.
        bracketed = self.runner == "unittest"
        short = [name.partition(" (")[0] if bracketed else name for name in self.failing]
        named = [clip_name(one_line(name), LONGEST_NAME) for name in short[:NAMED]]
        more = len(self.failing) - len(named) + self.unnamed
        return ", ".join(named) + (f" and {more} more" if more else "")

    def row(self) -> Row | None:
        if self.error:
            return Row("warn", "TESTS", self.error, self.tail)
        if self.timed_out:
            return Row("warn", "TESTS", f"the completion command {self.ended}", self.tail)
        if self.iteration == 0 and self.ok:
            before = (
                "the completion command passes before any work, so passing does not end the run"
            )
            return Row("warn", "TESTS", before)
        return None

    def line(self) -> str:
        if self.error:
            return f"command {self.error}"
        ended = "" if self.ok else f", {self.ended}"
        so = ", before any work" if self.ok and self.iteration == 0 else ""
        took = duration(self.duration_s)
        if self.passed is None:
            return f"command {ended.removeprefix(', ') or 'passed'}{so} ({took})"
        if self.broken:
            return f"tests   build broken{ended} ({took})"
        by = f" by {PLAIN_TOTALS}" if self.runner == PLAIN_TOTALS else ""
        return f"tests   {self.passed} of {self.total} pass{by}{ended}{so} ({took})"


class ReadingTaken(Event):
    """Completion measured after an iteration (0: the baseline before the first)."""

    durable = True
    kind: Literal["reading_taken"] = "reading_taken"
    iteration: int
    completion: float
    """Points, 0-100; 100 only if the verification passed."""
    source: ReadingSource
    held: bool = False
    """True if the source provided no value, so the previous value was kept."""
    grew: bool = False
    """True if there are more tests and no fewer pass: alarms count this step as 0."""
    restarted: bool = False
    """True if the source changed: the control windows start afresh with this measurement."""
    passed: int | None = None
    total: int | None = None
    """Number of tests or plan items."""
    novel: int = 0
    """Number of tests that pass, or plan items that are ticked, for the first time in this run."""
    open_items: list[Line] = []
    """Short hashes of the plan's open items, at most 500, for any source.

    Older journals have them only if the source is the plan.
    """
    next_item: Line = ""
    """The first open item of the plan."""
    note: Line = ""
    expected: int | None = None
    """Number of tests or items that completion is measured against (T).

    None if nothing counts them, and in older journals.
    """
    broken: Line = ""
    """The first error if the counts are those of a broken build; empty otherwise."""
    gone: list[Name] = []
    """Expected tests that are no longer counted, if their names are known."""
    added: int = 0
    """New tests that pass while all earlier failures remain: growth, not a gain."""
    regained: bool = False
    """True if counts returned after three measurements without any.

    The control windows then restart at the old best."""

    @property
    def missing(self) -> int:
        """Expected tests that were not counted; 0 for a broken build."""
        counted = self.source == "tests" and not self.broken and self.total is not None
        return max(0, (self.expected or 0) - (self.total or 0)) if counted else 0

    @property
    def measured(self) -> bool:
        """True if its source is tests or a plan, not a claim."""
        return self.source in ("tests", "plan")

    @property
    def unmeasured(self) -> bool:
        """True if tests or a plan gave no value, so that their last one is kept.

        Measurements of older journals, in which a claim replaced the value, do not count.
        """
        return self.held and self.measured and self.expected is not None

    @property
    def accepted(self) -> str:
        """The acceptance by a person or model in place of a command; empty otherwise."""
        said = self.completion >= 100 and self.note.startswith("accepted by ")
        return self.note if said else ""  # other notes are about the source

    @property
    def promised(self) -> bool:
        """True if it is 100 only because the agent promised and nothing is counted."""
        return self.completion >= 100 and self.source == "estimate" and not self.accepted

    @property
    def uncounted(self) -> bool:
        """True if nothing was counted, claimed or estimated: a command only passes or fails."""
        unread = self.held and self.source == "estimate" and not self.completion
        return unread or (self.source == "tests" and self.passed is None and not self.held)

    @property
    def by_command(self) -> bool:
        """True if it is 100 because a completion command without counts passed."""
        whole = self.source == "tests" and self.completion >= 100 and not self.held
        return whole and self.passed is None

    def row(self) -> Row | None:
        if self.iteration == 0 or not self.restarted:
            return None
        return Row("warn", "SENSOR", f"completion is now measured from {self.source}", self.note)

    def line(self) -> str:
        where = "at the start" if self.iteration == 0 else f"after iteration {self.iteration}"
        return f"progress {percent(self.completion)} {where} ({self.accepted or self._read})"

    @property
    def _read(self) -> str:
        """The origin of the value, in words."""
        if self.held and self.measured:
            return f"not measured: {self.note}"
        if self.promised:
            return "promised by the agent"
        if self.broken:
            return "build broken"
        if self.by_command:
            return "the completion command passed"
        if self.uncounted:
            return "command passes" if self.source == "tests" else self.note or "nothing is counted"
        kept = ", last known value" if self.held else ""
        return f"from {self.source}{kept}"
