"""The checkpoint timeline: iterations, checkpoints, alarms, and the best point."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ralph_tui.events import (
    AlarmRaised,
    CheckpointCaptured,
    FilesChanged,
    GateFinished,
    InterventionMade,
    IterationFinished,
    IterationStarted,
    ReadingTaken,
    SnapshotTaken,
    WorktreeRestored,
)
from ralph_tui.events.workspace import Trigger


@dataclass(frozen=True, slots=True)
class CheckpointPoint:
    """A captured moment on the line."""

    seq: int
    at: datetime
    iteration: int
    number: int
    trigger: Trigger
    snapshot: int | None
    files: int
    note: str
    error: str


@dataclass(slots=True)
class IterationSpan:
    """One iteration as the timeline tells it; number 0 is the baseline."""

    number: int
    started_at: datetime
    start_seq: int = 0
    ended_at: datetime | None = None
    checkpoints: list[CheckpointPoint] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    interventions: list[InterventionMade] = field(default_factory=list)
    """Those that asked somebody, or ended the run."""
    rollbacks: list[WorktreeRestored] = field(default_factory=list)
    boundary: SnapshotTaken | None = None
    """What the iteration left behind."""
    completion: float | None = None
    previous: float | None = None
    """Completion before it."""
    gate: GateFinished | None = None
    files: FilesChanged | None = None
    finished: IterationFinished | None = None


class TimelineFold:
    """What the timeline shows."""

    def __init__(self) -> None:
        self.revision = 0
        self.spans: list[IterationSpan] = []
        self.snapshots: dict[int, SnapshotTaken] = {}
        self.best_iteration = 0
        self._best = 0.0
        self._completion: float | None = None

    @property
    def current(self) -> IterationSpan | None:
        """The span that is open, or the last one."""
        return self.spans[-1] if self.spans else None

    @property
    def best(self) -> IterationSpan | None:
        """The iteration with the best reading; the baseline before any was better."""
        return next((s for s in reversed(self.spans) if s.number == self.best_iteration), None)

    def handlers(self) -> dict[str, Callable[[Any], None]]:
        """See `Fold`."""
        return {
            "run_started": self._run_started,
            "iteration_started": self._iteration_started,
            "snapshot_taken": self._snapshot_taken,
            "checkpoint_captured": self._checkpoint_captured,
            "gate_finished": self._gate_finished,
            "reading_taken": self._reading_taken,
            "files_changed": self._files_changed,
            "alarm_raised": self._alarm_raised,
            "intervention_made": self._intervention_made,
            "worktree_restored": self._worktree_restored,
            "iteration_finished": self._iteration_finished,
        }

    def _run_started(self, event: Any) -> None:
        self.revision += 1
        self.spans.append(IterationSpan(0, event.at, event.seq))

    def _iteration_started(self, event: IterationStarted) -> None:
        self.revision += 1
        if self.spans and self.spans[-1].ended_at is None:
            self.spans[-1].ended_at = event.at
        self.spans.append(
            IterationSpan(event.iteration, event.at, event.seq, previous=self._completion)
        )

    def _snapshot_taken(self, event: SnapshotTaken) -> None:
        self.revision += 1
        self.snapshots[event.number] = event

    def _checkpoint_captured(self, event: CheckpointCaptured) -> None:
        self.revision += 1
        if self.spans:
            self.spans[-1].checkpoints.append(
                CheckpointPoint(
                    event.seq,
                    event.at,
                    event.iteration,
                    event.number,
                    event.trigger,
                    event.snapshot,
                    event.files,
                    event.note,
                    event.error,
                )
            )
            if event.trigger == "end" or self.spans[-1].boundary is None:
                self.spans[-1].boundary = self.snapshots.get(event.snapshot or 0)

    def _gate_finished(self, event: GateFinished) -> None:
        self.revision += 1
        if self.spans:
            self.spans[-1].gate = event

    def _reading_taken(self, event: ReadingTaken) -> None:
        self.revision += 1
        if self.spans:
            self.spans[-1].completion = event.completion
        self._completion = event.completion
        if event.iteration == 0 or event.restarted or event.completion > self._best:
            self._best, self.best_iteration = event.completion, event.iteration

    def _files_changed(self, event: FilesChanged) -> None:
        if not self.spans:
            return
        known = self.spans[-1].files
        if event.live and known is not None and not known.live:
            return  # the watcher's last word comes late: what the session did is settled
        self.revision += 1
        self.spans[-1].files = event

    def _alarm_raised(self, event: AlarmRaised) -> None:
        self.revision += 1
        if self.spans:
            self.spans[-1].alarms.append(event.alarm)

    def _intervention_made(self, event: InterventionMade) -> None:
        if self.spans and event.level not in ("LOG", "WARN"):
            self.revision += 1
            self.spans[-1].interventions.append(event)

    def _worktree_restored(self, event: WorktreeRestored) -> None:
        self.revision += 1
        if self.spans:
            self.spans[-1].rollbacks.append(event)

    def _iteration_finished(self, event: IterationFinished) -> None:
        self.revision += 1
        if self.spans:
            self.spans[-1].finished = event
            self.spans[-1].ended_at = event.at
