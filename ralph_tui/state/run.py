"""The header: phase, progress, time, cost and agent of a run."""

from datetime import datetime, timedelta
from typing import Literal

from ralph_tui import events as ev
from ralph_tui.events.run import StopMode
from ralph_tui.events.sensor import ReadingSource
from ralph_tui.state.fold import Fold
from ralph_tui.state.goal import Goal
from ralph_tui.state.spending import Spending

JUMP_S = 300.0
"""Seconds; a longer gap between two events suggests a changed clock or a sleeping machine."""


class Elapsed:
    """The part of the header's fold that measures time."""

    def __init__(self) -> None:
        super().__init__()
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.away_s = 0.0
        """Seconds since the start that do not count as working time.

        They include the time from an end until the run is resumed, and jumps of the wall clock. The
        value is negative if the clock was set far back.
        """
        self._seen_at: datetime | None = None
        self._jumps_s = 0.0  # since the working time was last recorded

    def worked_s(self, now: datetime) -> float:
        """Return the seconds the run has worked, excluding the time between an end and a resume."""
        if self.started_at is None:
            return 0.0
        whole = ((self.ended_at or now) - self.started_at).total_seconds()
        return max(0.0, whole - self.away_s)

    def see(self, at: datetime) -> None:
        """Note the time of an event."""
        gap = 0.0 if self._seen_at is None else (at - self._seen_at).total_seconds()
        self._jumps_s += gap if gap < 0 or gap > JUMP_S else 0.0
        self._seen_at = at

    def anchor(self, at: datetime, worked_s: float) -> None:
        """Set the working time at `at`, as measured by a monotonic clock."""
        if self.started_at is not None:
            self.away_s = (at - self.started_at).total_seconds() - worked_s
            self._jumps_s = 0.0

    def resume_after(self, at: datetime, away_s: float) -> float:
        """Resume the run after `away_s` seconds and return the seconds that count as away.

        After a recorded end, these are all seconds since that end: a restore may come in between.
        """
        ended, self.ended_at = self.ended_at, None
        away = (at - ended).total_seconds() if ended else away_s + self._jumps_s
        self.away_s += away
        self._seen_at, self._jumps_s = at, 0.0
        return away


Phase = Literal[
    "starting",  # nothing measured yet
    "thinking",  # the steps between sessions
    "waiting",  # the agent has started but sent nothing yet
    "agent",  # the agent is working
    "verifying",  # the completion command is running
    "limited",  # waiting for a limit to end
    "paused",
    "finished",
    "crashed",
]


class RunFold(Elapsed, Goal, Spending, Fold):
    """State of the header and of `status`."""

    def __init__(self) -> None:
        super().__init__()
        self.finished: ev.RunFinished | None = None
        self.crash: ev.RunCrashed | None = None
        self.phase: Phase = "starting"
        self.max_iterations = 0
        self.budget_usd: float | None = None
        self.budget_tokens: int | None = None
        self.spared = 0
        """The last iteration that was interrupted and does not count against the limit."""
        self.step = 0
        self.step_name = ""
        self.pause_requested = False
        self.paused = False
        self.stopping: StopMode | None = None
        self.aborting = False
        self.roll_back_to: int | None = None
        """The snapshot that an abort rolls back to."""
        # progress
        self.baseline: float | None = None
        self.completion: float | None = None
        self.completions: list[float] = []
        """One per iteration, excluding the baseline."""
        self.source: ReadingSource | None = None
        self.held = False
        self.passed: int | None = None
        self.total: int | None = None
        """Number of tests or items expected; in older journals, those counted last."""
        self.best, self.best_iteration = 0.0, 0
        # activity
        self.iteration_started_at: datetime | None = None
        self.session_began_at: datetime | None = None
        self.last_output_at: datetime | None = None
        self.last_change_at: datetime | None = None
        self.last_gate_at: datetime | None = None
        self._files: ev.FilesChanged | None = None
        """The latest report of changed files."""
        self.model: str | None = None
        self.permission_mode: str | None = None
        self.billing: str | None = None
        self.session_running = False
        self.takes_guidance = False
        self.background: ev.BackgroundAwaited | None = None
        """Background tasks that keep the session running after its turn ended."""

    @property
    def live(self) -> bool:
        """True if the run has started and no end was recorded."""
        return self.started is not None and self.finished is None and self.crash is None

    def on_run_started(self, event: ev.RunStarted) -> None:
        self.started = event
        self.started_at = event.at
        self.max_iterations = event.max_iterations
        self.budget_usd, self.budget_tokens = event.budget_usd, event.budget_tokens
        self.model = event.model
        self.permission_mode = event.permissions

    def on_run_resumed(self, event: ev.RunResumed) -> None:
        """Reset everything that was in progress; the costs are kept."""
        self.finished = self.crash = self.stopping = self.roll_back_to = None
        self.aborting = False
        self._cut_off()
        if self.started is not None:
            fresh = {"pid": event.pid, "host": event.host, "mode": event.mode}
            self.started = self.started.model_copy(update=fresh)
        away_s = self.resume_after(event.at, event.away_s)
        if self.iteration_started_at is not None:
            self.iteration_started_at += timedelta(seconds=away_s)
        self.phase = "starting"

    def on_iteration_started(self, event: ev.IterationStarted) -> None:
        self.iteration = event.iteration
        self.max_iterations = event.max_iterations
        self.iteration_started_at = event.at
        self.begin_iteration()
        self.phase = "thinking"

    def on_limits_changed(self, event: ev.LimitsChanged) -> None:
        self.max_iterations = event.max_iterations
        self.budget_usd, self.budget_tokens = event.budget_usd, event.budget_tokens
        self.spared = event.spared or self.spared

    def on_step_entered(self, event: ev.StepEntered) -> None:
        self.step, self.step_name = event.step, event.name
        if self.phase not in ("finished", "crashed"):
            self.phase = "thinking" if event.step else "starting"

    def on_iteration_finished(self, event: ev.IterationFinished) -> None:
        self.phase = "thinking"
        if event.worked_s is not None:
            self.anchor(event.at, event.worked_s)
        if self.started is not None and self.started.imported:
            self.bound(event)

    def on_pause_requested(self, event: ev.PauseRequested) -> None:
        self.pause_requested = True

    def on_paused(self, event: ev.Paused) -> None:
        self.paused, self.pause_requested = True, False
        self.phase = "paused"

    def on_unpaused(self, event: ev.Unpaused) -> None:
        self.paused = self.pause_requested = False
        if self.phase == "paused":
            self.phase = "thinking"

    def on_stop_requested(self, event: ev.StopRequested) -> None:
        self.stopping = None if event.mode == "taken_back" else event.mode

    def on_abort_requested(self, event: ev.AbortRequested) -> None:
        self.aborting, self.roll_back_to = True, event.roll_back_to

    def on_reading_taken(self, event: ev.ReadingTaken) -> None:
        self.completion, self.source, self.held = event.completion, event.source, event.held
        self.passed, self.total = event.passed, event.total
        if event.total is not None and event.expected is not None:
            self.total = event.expected
        if event.iteration == 0:
            self.baseline = event.completion
        else:
            self.completions.append(event.completion)
        if event.restarted or event.iteration == 0 or event.completion > self.best:
            self.best, self.best_iteration = event.completion, event.iteration

    def on_gate_started(self, event: ev.GateStarted) -> None:
        self.phase = "verifying"

    def on_gate_finished(self, event: ev.GateFinished) -> None:
        self.last_gate_at = event.at
        self.phase = "thinking" if self.iteration else "starting"

    def on_files_changed(self, event: ev.FilesChanged) -> bool:
        """Ignore a report without new changes: it does not count as activity."""
        known, self._files = self._files, event
        same = known is not None and known.iteration == event.iteration
        before = (known.totals, known.changes) if known and same else ([], [])
        if (event.totals, event.changes) == before:
            return False
        self.last_change_at = event.at
        return True

    def on_alive(
        self,
        event: ev.AgentSpoke | ev.AgentNoted | ev.AgentAsked | ev.AgentReported | ev.ToolDenied,
    ) -> bool:
        return self._alive(event)

    def _alive(self, event: ev.Event) -> bool:
        self.last_output_at = event.at
        first = self.phase == "waiting"
        if first:
            self.phase = "agent"
        return first

    def on_tool_called(self, event: ev.ToolStarted | ev.ToolFinished) -> bool:
        self.count(event)
        return self._alive(event)

    def on_session_started(self, event: ev.SessionStarted) -> None:
        self.session_running = True
        self.session_began_at = event.at
        self.open_session()
        self.takes_guidance = event.takes_guidance
        self.phase = "waiting"

    def on_background_awaited(self, event: ev.BackgroundAwaited) -> None:
        self.background = event if event.tasks and not event.given_up else None
        if not event.given_up:
            self._alive(event)

    def on_agent_changed(self, event: ev.AgentChanged) -> None:
        self.model = self.billing = None  # its successor reports its own

    def on_session_described(self, event: ev.SessionDescribed) -> None:
        self.model = event.model or self.model
        self.permission_mode = event.permission_mode or self.permission_mode
        self.billing = event.billing or self.billing
        self._alive(event)

    def on_session_finished(self, event: ev.SessionFinished) -> None:
        self.session_running = self.takes_guidance = False
        self.background = None
        self.settle(event)
        self.phase = "thinking"

    def on_permissions_changed(self, event: ev.PermissionsChanged) -> None:
        self.permission_mode = event.mode

    def on_wait_started(self, event: ev.WaitStarted) -> None:
        self.phase = "limited"

    def on_wait_ended(self, event: ev.WaitEnded) -> None:
        if self.phase == "limited":
            self.phase = "thinking"

    def on_run_finished(self, event: ev.RunFinished) -> None:
        self.finished, self.phase, self.ended_at = event, "finished", event.at
        if event.duration_s and not (self.started and self.started.imported):
            self.anchor(event.at, event.duration_s)
        self._cut_off()

    def on_run_crashed(self, event: ev.RunCrashed) -> None:
        self.crash, self.phase, self.ended_at = event, "crashed", event.at
        self._cut_off()

    def _cut_off(self) -> None:
        """Reset everything that was running or waiting."""
        self.paused = self.pause_requested = False
        self.session_running = self.takes_guidance = False
        self.background = None
        self.close_session()
