"""What was measured: the gate and the readings of completion."""

from typing import Literal

from ralph_tui.events.base import Event, Row
from ralph_tui.events.text import Line, Name, Plain
from ralph_tui.text.format import duration, percent
from ralph_tui.text.sanitize import clip_name, one_line

__all__ = ["GateFinished", "GateStarted", "ReadingTaken"]

ReadingSource = Literal["tests", "plan", "agent", "estimate"]


NAMED = 5
"""Failing tests that a sentence names."""
LONGEST_NAME = 120


class GateStarted(Event):
    """The completion command runs."""

    kind: Literal["gate_started"] = "gate_started"
    iteration: int
    command: Plain


class GateFinished(Event):
    """The completion command ended; counts where its output is a known runner's."""

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
    """Names of failing tests, the first 2000 (200 in older journals); `unnamed` are the others."""
    tail: Plain = ""
    """The end of the output, at most 4000 characters."""
    log: Line = ""
    """Relative to the attempt's folder."""
    error: Plain = ""
    """Why it could not be run, one sentence; empty when it ran."""
    broken: Line = ""
    """Why its counts are those of a broken build: the first error; empty: they are not."""

    @property
    def total(self) -> int | None:
        """Tests that count: passed, failed and errors; None without counts."""
        return None if self.passed is None else self.passed + self.failed + self.errors

    @property
    def unnamed(self) -> int:
        """How many more have failed than are named in `failing`."""
        return max(0, self.failed + self.errors - len(self.failing))

    @property
    def ended(self) -> str:
        """How the completion command ended: ``exit 1``, or ``ran out of time``."""
        return "ran out of time" if self.timed_out else f"exit {self.exit_code}"

    @property
    def failing_words(self) -> str:
        """``test_a, test_b and 24 more``: the tests that failed, five of them by name."""
        # unittest says where a test stands behind its name, in brackets.
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
            before = "the completion command passes before anything was done: its pass ends nothing"
            return Row("warn", "TESTS", before)
        return None

    def line(self) -> str:
        if self.error:
            return f"command {self.error}"
        ended = "" if self.ok else f", {self.ended}"
        so = ", before anything was done" if self.ok and self.iteration == 0 else ""
        took = duration(self.duration_s)
        if self.passed is None:
            return f"command {ended.removeprefix(', ') or 'passed'}{so} ({took})"
        if self.broken:
            return f"tests   build broken{ended} ({took})"
        return f"tests   {self.passed} of {self.total} pass{ended}{so} ({took})"


class ReadingTaken(Event):
    """Completion as measured after an iteration (0: the baseline before the first)."""

    durable = True
    kind: Literal["reading_taken"] = "reading_taken"
    iteration: int
    completion: float
    """Points, 0-100; 100 only for a passed gate."""
    source: ReadingSource
    held: bool = False
    """The source was silent: the last value stands."""
    grew: bool = False
    """The number of tests grew and passed did not fall: the step counts as 0 for the alarms."""
    restarted: bool = False
    """The source changed: windows start anew with this reading."""
    passed: int | None = None
    total: int | None = None
    """Of tests or plan items."""
    novel: int = 0
    """Tests that pass, or plan items that are ticked, for the first time in this run."""
    open_items: list[Line] = []
    """Of a plan, whatever the source: short hashes of the items that are not ticked, the first 500;
    older journals have them where the source is the plan."""
    next_item: Line = ""
    """Of a plan: the first item that is not ticked."""
    note: Line = ""
    expected: int | None = None
    """T: the tests or items that completion is measured against; None where nothing counts them,
    and in older journals."""
    broken: Line = ""
    """The first error, where the counts are those of a broken build; empty: they are not."""
    gone: list[Name] = []
    """Tests that are expected and counted no more, where their names are known."""
    added: int = 0
    """New tests that pass while every test that failed before fails still: growth, no gain."""
    regained: bool = False
    """Counts came again after three readings without: windows start anew at the old best."""

    @property
    def missing(self) -> int:
        """Tests that are expected and were not counted, of a build that is not broken."""
        counted = self.source == "tests" and not self.broken and self.total is not None
        return max(0, (self.expected or 0) - (self.total or 0)) if counted else 0

    @property
    def measured(self) -> bool:
        """Whether tests or a plan are its source, not somebody's claim."""
        return self.source in ("tests", "plan")

    @property
    def unmeasured(self) -> bool:
        """Whether tests or a plan said nothing, so that their last value stands.

        Those of older journals, in which a claim took its place, do not count.
        """
        return self.held and self.measured and self.expected is not None

    @property
    def accepted(self) -> str:
        """By whom it was made 100, a person or a model, where no command stands; else empty."""
        said = self.completion >= 100 and self.note.startswith("accepted by ")
        return self.note if said else ""  # other notes tell of the source

    @property
    def promised(self) -> bool:
        """It is 100 because the agent promised, where nothing is counted."""
        return self.completion >= 100 and self.source == "estimate" and not self.accepted

    @property
    def uncounted(self) -> bool:
        """Nobody has counted, claimed or estimated anything: a command alone passes or fails."""
        unread = self.held and self.source == "estimate" and not self.completion
        return unread or (self.source == "tests" and self.passed is None and not self.held)

    @property
    def by_command(self) -> bool:
        """It is 100 because the completion command passed, which counts nothing."""
        whole = self.source == "tests" and self.completion >= 100 and not self.held
        return whole and self.passed is None

    def row(self) -> Row | None:
        if self.iteration == 0 or not self.restarted:
            return None
        return Row("warn", "SENSOR", f"completion is now read from {self.source}", self.note)

    def line(self) -> str:
        where = "at the start" if self.iteration == 0 else f"after iteration {self.iteration}"
        return f"progress {percent(self.completion)} {where} ({self.accepted or self._read})"

    @property
    def _read(self) -> str:
        """Of what it was read."""
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
        kept = ", as before: nothing new could be read" if self.held else ""
        return f"from {self.source}{kept}"
