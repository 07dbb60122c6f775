"""What was measured: the gate and the readings of completion."""

from typing import Literal

from ralph_tui.events.base import Event
from ralph_tui.events.text import Line, Name, Plain

__all__ = [
    "GateFinished",
    "GateStarted",
    "ReadingTaken",
]

ReadingSource = Literal["tests", "plan", "agent", "estimate"]


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
