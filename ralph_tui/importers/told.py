"""What a foreign run tells, whatever its form: readers fill this in, `telling` makes events of it.

What was not recorded is None, or empty, and stays so.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ralph_tui.events.imported import ForeignVerdict
from ralph_tui.events.run import IterationStatus, Outcome
from ralph_tui.events.workspace import ChangeStatus
from ralph_tui.importers.printed import Printed, Timed
from ralph_tui.layers.sensor import AgentReport

NoteLevel = Literal["log", "warn", "error"]


@dataclass(frozen=True)
class ToldNote:
    """A line for the log: what happened beside all else, or what cannot be read."""

    text: str
    level: NoteLevel = "warn"
    at: datetime | None = None
    detail: str = ""


@dataclass(frozen=True)
class ToldChange:
    """A file that an iteration has changed."""

    path: str
    status: ChangeStatus = "modified"
    added: int = 0
    removed: int = 0


@dataclass(frozen=True)
class ToldCheckpoint:
    """The record of a moment."""

    at: datetime | None
    files: int = 0
    duration_s: float = 0.0
    """Since the session's start."""
    session_id: str = ""
    path: str = ""
    """Relative to the run's folder; empty where only a summary tells of it."""


@dataclass(frozen=True)
class ToldVerdict:
    """What a layer of the tool's own said, and when."""

    event: ForeignVerdict
    at: datetime | None = None
    before: bool = False
    """It was said before the iteration's session, and not of what came of it."""


@dataclass
class ToldIteration:
    """One of them."""

    number: int
    status: IterationStatus = "incomplete"
    read: bool = True
    """Whether the tool took a reading at all: one that crashed has none, not even a held one."""
    completion: float | None = None
    """Points; None: the reading before it stands."""
    reading_note: str = ""
    report: AgentReport | None = None
    prompt: str = ""
    """Files are relative to the run's folder; empty: there is none."""
    system_context: str = ""
    output: str = ""
    """What its session printed."""
    printed: Printed | None = None
    """That, as events; None where there is none."""
    session_id: str = ""
    exit_code: int | None = None
    duration_s: float | None = None
    tokens: int = 0
    """Where no session tells it."""
    cost_usd: float | None = None
    tool_calls: int = 0
    tool_errors: int = 0
    opened: datetime | None = None
    """When the tool turned to it."""
    started: datetime | None = None
    """When its session began."""
    ended: datetime | None = None
    """When its session ended."""
    closed: datetime | None = None
    """When the tool was done with it."""
    changes: list[ToldChange] = field(default_factory=list)
    checkpoints: list[ToldCheckpoint] = field(default_factory=list)
    verdicts: list[ToldVerdict] = field(default_factory=list)
    notes: list[ToldNote] = field(default_factory=list)


@dataclass
class ToldRun:
    """A whole run."""

    run_id: str
    name: str
    """As the command line calls it: ``aiwg/1a2b3c4d``."""
    form: str
    """The letter of its form."""
    objective: str = ""
    criterion: str = ""
    root: str = ""
    """The folder it worked in, as it was written: it may be on another machine."""
    agent: str = "claude"
    model: str = ""
    max_iterations: int = 0
    timeout_s: float = 0.0
    iteration_budget_usd: float | None = None
    pid: int = 0
    started: datetime | None = None
    updated: datetime | None = None
    """When something was recorded last: with an outcome, when it ended."""
    outcome: Outcome | None = None
    """None: no end was recorded."""
    reason: str = ""
    iterations: list[ToldIteration] = field(default_factory=list)
    notes: list[ToldNote] = field(default_factory=list)
    """Told at its beginning."""
    learned: list[Timed] = field(default_factory=list)
    """Learnings that came of it."""
    afterwards: list[ToldVerdict] = field(default_factory=list)
    """Told at its end."""
