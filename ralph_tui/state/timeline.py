"""The checkpoint timeline: iterations, checkpoints and alarms."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ralph_tui import events as ev
from ralph_tui.events.workspace import Trigger, checkpoint_name
from ralph_tui.state.fold import Fold
from ralph_tui.state.spending import lacks_cost
from ralph_tui.text.format import step
from ralph_tui.text.tool_kinds import ActionKind, action_type

MAX_TOOLS = 12
"""Maximum number of actions whose kinds are remembered per iteration."""
LONGEST_ROUND = 4
"""Longest repeated sequence of kinds that is collapsed; read, edit, bash has three."""


class CheckpointPoint(NamedTuple):
    """A checkpoint on the timeline."""

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
    """Seconds since the session's start."""
    memory_bytes: int = 0
    """The agent's peak since the previous checkpoint; 0 if unknown."""
    by: str = ""
    """The requester; empty if no one requested it or the requester is unknown."""
    modified: tuple[str, ...] = ()
    """The first few changed files."""

    @property
    def name(self) -> str:
        """The name that users see; see `checkpoint_name`."""
        return checkpoint_name(self.snapshot)


@dataclass(slots=True)
class SessionSpan:
    """The working time of a session."""

    session_id: str
    began_at: datetime
    transcript: str = ""
    """Path relative to the attempt's folder."""
    duration_s: float | None = None
    """None while it runs."""


@dataclass(slots=True)
class IterationSpan:
    """One iteration on the timeline; number 0 is the baseline."""

    number: int
    started_at: datetime
    start_seq: int = 0
    ended_at: datetime | None = None
    checkpoints: list[CheckpointPoint] = field(default_factory=list)
    alarms: list[ev.AlarmRaised] = field(default_factory=list)
    interventions: list[ev.InterventionMade] = field(default_factory=list)
    """Interventions that asked a question or ended the run."""
    rollbacks: list[ev.WorktreeRestored] = field(default_factory=list)
    boundary: ev.SnapshotTaken | None = None
    """Snapshot of the files at the iteration's end."""
    completion: float | None = None
    kept: bool = False
    """True if it was not measured: `completion` is the previous value."""
    previous: float | None = None
    """Completion before the iteration."""
    found_changed: bool = False
    """True if files changed between the run's last end and this iteration."""
    prompts: list[ev.PromptPrepared] = field(default_factory=list)
    """One per session."""
    gate: ev.GateFinished | None = None
    files: ev.FilesChanged | None = None
    finished: ev.IterationFinished | None = None
    reports: list[ev.AgentReported] = field(default_factory=list)
    ends: list[ev.SessionFinished] = field(default_factory=list)
    sessions: list[SessionSpan] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    """The iteration's agents, each once, in the order of their sessions."""
    tools: list[ActionKind] = field(default_factory=list)
    """Kinds of the agent's first `MAX_TOOLS` actions in order, without repeated sequences."""

    tokens_partial: bool = False
    """True if an agent did not count all of its calls: the tokens are a lower bound."""

    @property
    def cost_estimated(self) -> bool:
        """True if the cost is a lower bound because a session has not reported its own."""
        return any(map(lacks_cost, self.ends))

    def use(self, kind: ActionKind) -> None:
        """Add an action; a repeated sequence is kept once."""
        self.tools.append(kind)
        for size in range(1, LONGEST_ROUND + 1):
            if self.tools[-size:] == self.tools[-2 * size : -size]:
                del self.tools[-size:]
                return
        del self.tools[MAX_TOOLS:]


class TimelineFold(Fold):
    """State of the timeline."""

    def __init__(self) -> None:
        self.spans: list[IterationSpan] = []
        self.snapshots: dict[int, ev.SnapshotTaken] = {}
        self._completion: float | None = None
        self._changed_away = False

    @property
    def last_checkpoint(self) -> CheckpointPoint | None:
        """The last checkpoint; None before the first."""
        return next((s.checkpoints[-1] for s in reversed(self.spans) if s.checkpoints), None)

    @property
    def current(self) -> IterationSpan | None:
        """The open span, or the last one; None before the first."""
        return self.spans[-1] if self.spans else None

    def iteration_of(self, snapshot: int) -> int | None:
        """Return the iteration whose work a snapshot holds, 0 for the start; None if unknown."""
        for span in self.spans:
            if span.boundary is not None and span.boundary.number == snapshot:
                return span.number
        taken = self.snapshots.get(snapshot)
        return taken.iteration if taken else None

    def measured(self, back: ev.WorktreeRestored) -> IterationSpan | None:
        """Return the iteration whose measured work a restore brought back; None if not measured."""
        measured = [s for s in self.spans if s.boundary and s.completion is not None]
        for span in measured:
            if span.boundary is not None and span.boundary.number == back.snapshot:
                return span
        # An undo restores a different snapshot of the same files.
        same = (s for s in reversed(measured) if s.boundary and s.boundary.tree == back.tree)
        return next(same, None)

    def began_with(self, span: IterationSpan) -> float | None:
        """Return the completion, in points, of the files an iteration began with, if measured.

        After a restore, this differs from the previous measurement.
        """
        if span.found_changed:
            return None
        for before in reversed(self.spans):
            if before.start_seq >= span.start_seq:
                continue
            if before.rollbacks:
                found = self.measured(before.rollbacks[-1])
                return None if found is None else found.completion
            if before.completion is not None:
                break
        return span.previous

    def gain(self, span: IterationSpan) -> float | None:
        """Return the points that an iteration gained over the files it began with, if known."""
        before = self.began_with(span)
        if before is None or span.completion is None or span.kept:
            return None
        return step(before, span.completion)

    def agent_before(self, span: IterationSpan) -> str:
        """Return the agent that worked last before an iteration.

        For the first iteration, it is the agent that began it; empty if no agent worked.
        """
        earlier = [s.agents[-1] for s in self.spans if s.agents and s.start_seq < span.start_seq]
        return earlier[-1] if earlier else "".join(span.agents[:1])

    def gained_since(self, iteration: int) -> float:
        """Return the points that all iterations after `iteration` gained together."""
        return sum(self.gain(span) or 0.0 for span in self.spans if span.number > iteration)

    def on_run_started(self, event: ev.RunStarted) -> None:
        self.spans.append(IterationSpan(0, event.at, event.seq))

    def on_iteration_started(self, event: ev.IterationStarted) -> None:
        if self.spans and self.spans[-1].ended_at is None:
            self.spans[-1].ended_at = event.at
        self.spans.append(
            IterationSpan(
                event.iteration, event.at, event.seq, previous=self._completion,
                found_changed=self._changed_away,
            )
        )  # fmt: skip
        self._changed_away = False

    def on_prompt_prepared(self, event: ev.PromptPrepared) -> None:
        if self.spans:
            # A prompt that no session received is replaced; it has the same path.
            kept = [prompt for prompt in self.spans[-1].prompts if prompt.path != event.path]
            self.spans[-1].prompts = [*kept, event]

    def on_snapshot_taken(self, event: ev.SnapshotTaken) -> None:
        self.snapshots[event.number] = event

    def on_checkpoint_captured(self, event: ev.CheckpointCaptured) -> None:
        if self.spans:
            e = event
            point = CheckpointPoint(
                e.seq, e.at, e.iteration, e.number, e.trigger, e.snapshot, e.files, e.note,
                e.error, e.session_id, e.duration_s, e.memory_bytes, e.by, tuple(e.modified),
            )  # fmt: skip
            self.spans[-1].checkpoints.append(point)
            if event.trigger == "end" or self.spans[-1].boundary is None:
                self.spans[-1].boundary = self.snapshots.get(event.snapshot or 0)

    def on_gate_finished(self, event: ev.GateFinished) -> None:
        if self.spans:
            self.spans[-1].gate = event

    def on_reading_taken(self, event: ev.ReadingTaken) -> None:
        if self.spans:
            self.spans[-1].completion, self.spans[-1].kept = event.completion, event.unmeasured
        self._completion = event.completion

    def on_files_changed(self, event: ev.FilesChanged) -> bool:
        if not self.spans:
            return False
        known = self.spans[-1].files
        if event.live and known is not None and not known.live:
            return False  # the watcher reports late: the session's changes are already settled
        self.spans[-1].files = event
        return True

    def on_alarm_raised(self, event: ev.AlarmRaised) -> None:
        if self.spans:
            self.spans[-1].alarms.append(event)

    def on_intervention_made(self, event: ev.InterventionMade) -> bool:
        if not self.spans or event.level in ("LOG", "WARN"):
            return False
        self.spans[-1].interventions.append(event)
        return True

    def on_files_changed_away(self, event: ev.FilesChangedAway) -> None:
        self._changed_away = True

    def on_worktree_restored(self, event: ev.WorktreeRestored) -> None:
        self._changed_away = False
        if self.spans:
            self.spans[-1].rollbacks.append(event)

    def on_iteration_finished(self, event: ev.IterationFinished) -> None:
        if self.spans:
            self.spans[-1].finished = event
            self.spans[-1].ended_at = event.at

    def on_agent_reported(self, event: ev.AgentReported) -> bool:
        if self.spans:
            self.spans[-1].reports.append(event)
        return False

    def on_session_started(self, event: ev.SessionStarted) -> bool:
        agents = [event.agent]
        if self.spans:
            agents = self.spans[-1].agents
            session = SessionSpan(event.session_id, event.at, event.transcript)
            self.spans[-1].sessions.append(session)
        if event.agent in agents:
            return False
        agents.append(event.agent)
        return True

    def on_session_finished(self, event: ev.SessionFinished) -> bool:
        if self.spans:
            self.spans[-1].ends.append(event)
            for session in self.spans[-1].sessions[-1:]:
                session.duration_s = event.duration_s
        return False

    def on_resumed(self, event: ev.RunResumed) -> bool:
        """End a cut-off session at the time when the run last worked."""
        for session in self.spans[-1].sessions[-1:] if self.spans else ():
            if session.duration_s is None:
                worked_s = (event.at - session.began_at).total_seconds() - event.away_s
                session.duration_s = max(0.0, worked_s)
        return False

    def on_usage_reported(self, event: ev.UsageReported) -> bool:
        if self.spans and event.tokens_partial:
            self.spans[-1].tokens_partial = True
        return False

    def on_tool_started(self, event: ev.ToolStarted) -> bool:
        if self.spans and event.parent is None:
            self.spans[-1].use(action_type(event.tool))
        return False
