"""The checkpoint timeline: iterations, checkpoints, alarms, and the best point."""

from dataclasses import dataclass, field
from datetime import datetime

from ralph_tui.events import (
    AgentReported,
    AlarmRaised,
    CheckpointCaptured,
    FilesChanged,
    GateFinished,
    InterventionMade,
    IterationFinished,
    IterationStarted,
    PromptPrepared,
    ReadingTaken,
    RunStarted,
    SessionFinished,
    SessionStarted,
    SnapshotTaken,
    ToolStarted,
    WorktreeRestored,
)
from ralph_tui.events.workspace import Trigger
from ralph_tui.state.fold import Fold, Handlers, on
from ralph_tui.state.spending import lacks_cost
from ralph_tui.text.format import step
from ralph_tui.text.tool_kinds import ActionKind, action_type

MOST_TOOLS = 12
"""Kinds of action that an iteration is remembered by."""
LONGEST_ROUND = 4
"""Kinds in a round that is walked again and again: read, edit, bash, read, edit, bash."""


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
    session_id: str = ""
    """Empty between sessions."""
    duration_s: float = 0.0
    """Since the session's start."""
    memory_bytes: int = 0
    """The agent's peak since the checkpoint before; 0: not known."""
    by: str = ""
    """Who asked for it; empty where nobody did, or nobody knows."""


@dataclass(slots=True)
class IterationSpan:
    """One iteration as the timeline tells it; number 0 is the baseline."""

    number: int
    started_at: datetime
    start_seq: int = 0
    ended_at: datetime | None = None
    checkpoints: list[CheckpointPoint] = field(default_factory=list)
    alarms: list[AlarmRaised] = field(default_factory=list)
    interventions: list[InterventionMade] = field(default_factory=list)
    """Those that asked a question, or ended the run."""
    rollbacks: list[WorktreeRestored] = field(default_factory=list)
    boundary: SnapshotTaken | None = None
    """What the iteration left behind."""
    completion: float | None = None
    previous: float | None = None
    """Completion before it."""
    prompts: list[PromptPrepared] = field(default_factory=list)
    """One for each of its sessions."""
    gate: GateFinished | None = None
    files: FilesChanged | None = None
    finished: IterationFinished | None = None
    reports: list[AgentReported] = field(default_factory=list)
    """Of its sessions."""
    ends: list[SessionFinished] = field(default_factory=list)
    """How they ended."""
    agents: list[str] = field(default_factory=list)
    """Who worked, each once, in the order of their sessions."""
    tools: list[ActionKind] = field(default_factory=list)
    """What the agent did, in its order and without repeats; the first `MOST_TOOLS` kinds."""

    @property
    def cost_estimated(self) -> bool:
        """Whether what it has cost is a lower bound: not all of its sessions have told."""
        return any(map(lacks_cost, self.ends))

    def use(self, kind: ActionKind) -> None:
        """One more action; a round that is walked again is told once."""
        self.tools.append(kind)
        for size in range(1, LONGEST_ROUND + 1):
            if self.tools[-size:] == self.tools[-2 * size : -size]:
                del self.tools[-size:]
                return
        del self.tools[MOST_TOOLS:]


class TimelineFold(Fold):
    """What the timeline shows."""

    def __init__(self) -> None:
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

    def iteration_of(self, snapshot: int) -> int | None:
        """The iteration whose work a snapshot holds, 0 for the start; None when it is unknown."""
        for span in self.spans:
            if span.boundary is not None and span.boundary.number == snapshot:
                return span.number
        taken = self.snapshots.get(snapshot)
        return taken.iteration if taken else None

    def measured(self, back: WorktreeRestored) -> IterationSpan | None:
        """The iteration whose measured work was brought back; None for a state in between."""
        measured = [s for s in self.spans if s.boundary and s.completion is not None]
        for span in measured:
            if span.boundary is not None and span.boundary.number == back.snapshot:
                return span
        # An undo brings back a snapshot of its own, of the same files.
        same = (s for s in reversed(measured) if s.boundary and s.boundary.tree == back.tree)
        return next(same, None)

    def began_with(self, span: IterationSpan) -> float | None:
        """Completion of the files that an iteration found, in points; None where they were not
        measured. After a restore that is not the reading before it.
        """
        before = next((s for s in reversed(self.spans) if s.start_seq < span.start_seq), None)
        if before is None or not before.rollbacks:
            return span.previous
        found = self.measured(before.rollbacks[-1])
        return None if found is None else found.completion

    def gain(self, span: IterationSpan) -> float | None:
        """Points that an iteration brought to the files it found, as readings are written; None
        where one of the two is not known.
        """
        before = self.began_with(span)
        return None if before is None or span.completion is None else step(before, span.completion)

    def agent_before(self, span: IterationSpan) -> str:
        """Who worked last before an iteration; of the first one who began it. Empty: nobody did."""
        earlier = [s.agents[-1] for s in self.spans if s.agents and s.start_seq < span.start_seq]
        return earlier[-1] if earlier else "".join(span.agents[:1])

    def gained_since(self, iteration: int) -> float:
        """Points that all iterations after this one brought together."""
        return sum(self.gain(span) or 0.0 for span in self.spans if span.number > iteration)

    def handlers(self) -> Handlers:
        """See `Fold`."""
        return (
            on(RunStarted, self._run_started),
            on(IterationStarted, self._iteration_started),
            on(SnapshotTaken, self._snapshot_taken),
            on(CheckpointCaptured, self._checkpoint_captured),
            on(PromptPrepared, self._prompt_prepared),
            on(GateFinished, self._gate_finished),
            on(ReadingTaken, self._reading_taken),
            on(FilesChanged, self._files_changed),
            on(AlarmRaised, self._alarm_raised),
            on(InterventionMade, self._intervention_made),
            on(WorktreeRestored, self._worktree_restored),
            on(IterationFinished, self._iteration_finished),
            on(AgentReported, self._agent_reported),
            on(SessionStarted, self._session_started),
            on(SessionFinished, self._session_finished),
            on(ToolStarted, self._tool_started),
        )

    def _run_started(self, event: RunStarted) -> None:
        self.spans.append(IterationSpan(0, event.at, event.seq))

    def _iteration_started(self, event: IterationStarted) -> None:
        if self.spans and self.spans[-1].ended_at is None:
            self.spans[-1].ended_at = event.at
        self.spans.append(
            IterationSpan(event.iteration, event.at, event.seq, previous=self._completion)
        )

    def _prompt_prepared(self, event: PromptPrepared) -> None:
        if self.spans:
            # One that no session got is replaced: it is the same file.
            kept = [prompt for prompt in self.spans[-1].prompts if prompt.path != event.path]
            self.spans[-1].prompts = [*kept, event]

    def _snapshot_taken(self, event: SnapshotTaken) -> None:
        self.snapshots[event.number] = event

    def _checkpoint_captured(self, event: CheckpointCaptured) -> None:
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
                    event.session_id,
                    event.duration_s,
                    event.memory_bytes,
                    event.by,
                )
            )
            if event.trigger == "end" or self.spans[-1].boundary is None:
                self.spans[-1].boundary = self.snapshots.get(event.snapshot or 0)

    def _gate_finished(self, event: GateFinished) -> None:
        if self.spans:
            self.spans[-1].gate = event

    def _reading_taken(self, event: ReadingTaken) -> None:
        if self.spans:
            self.spans[-1].completion = event.completion
        self._completion = event.completion
        if event.iteration == 0 or event.restarted or event.completion > self._best:
            self._best, self.best_iteration = event.completion, event.iteration

    def _files_changed(self, event: FilesChanged) -> bool:
        if not self.spans:
            return False
        known = self.spans[-1].files
        if event.live and known is not None and not known.live:
            return False  # the watcher's last word comes late: what the session did is settled
        self.spans[-1].files = event
        return True

    def _alarm_raised(self, event: AlarmRaised) -> None:
        if self.spans:
            self.spans[-1].alarms.append(event)

    def _intervention_made(self, event: InterventionMade) -> bool:
        if not self.spans or event.level in ("LOG", "WARN"):
            return False
        self.spans[-1].interventions.append(event)
        return True

    def _worktree_restored(self, event: WorktreeRestored) -> None:
        if self.spans:
            self.spans[-1].rollbacks.append(event)

    def _iteration_finished(self, event: IterationFinished) -> None:
        if self.spans:
            self.spans[-1].finished = event
            self.spans[-1].ended_at = event.at

    def _agent_reported(self, event: AgentReported) -> bool:
        if self.spans:
            self.spans[-1].reports.append(event)
        return False

    def _session_started(self, event: SessionStarted) -> bool:
        agents = self.spans[-1].agents if self.spans else [event.agent]
        if event.agent in agents:
            return False
        agents.append(event.agent)
        return True

    def _session_finished(self, event: SessionFinished) -> bool:
        if self.spans:
            self.spans[-1].ends.append(event)
        return False

    def _tool_started(self, event: ToolStarted) -> bool:
        if self.spans and event.parent is None:
            self.spans[-1].use(action_type(event.tool))
        return False
