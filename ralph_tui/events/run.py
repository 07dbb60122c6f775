"""Events in a run's life: its start, iterations and steps, the user's requests, its end."""

from datetime import datetime
from typing import Literal

from ralph_tui.events.base import Event, Row
from ralph_tui.events.text import Line, Name, Plain
from ralph_tui.text.format import count, duration, ending, money, percent
from ralph_tui.text.terms import BUG, OUTCOMES, SEVERITIES, RowLevel, sender_label

__all__ = [
    "AbortRequested",
    "CommandRefused",
    "IterationFinished",
    "IterationStarted",
    "Noticed",
    "PauseRequested",
    "Paused",
    "RunCrashed",
    "RunFinished",
    "RunResumed",
    "RunStarted",
    "StepEntered",
    "StopRequested",
    "Unpaused",
]

Outcome = Literal["completed", "limit_reached", "aborted", "failed", "interrupted"]
IterationStatus = Literal["completed", "incomplete", "error", "interrupted"]
Mode = Literal["attended", "headless", "detached"]
UNRESTRICTED = "unrestricted"
"""Permissions of an agent without restrictions: it may do anything its user may do."""
StopMode = Literal["now", "after_iteration", "taken_back"]


class RunStarted(Event):
    """The first event of every journal."""

    durable = True
    urgent = True
    kind: Literal["run_started"] = "run_started"
    schema_version: int = 1
    program_version: Line = ""
    run_id: Line
    """A UUID; it marks processes and hidden refs."""
    task: Line = ""
    """The task's folder name, as in ``task-001``."""
    attempt: Line = ""
    """The attempt's folder name, as in ``001``."""
    root: Line
    """The worktree that the agent works in."""
    objective: Plain
    command: Plain | None = None
    """The completion command."""
    criterion: Plain | None = None
    """Completion criterion in words; you or a model judge each promise. If there is a completion
    command, it must pass too.
    """
    until_promise: bool = False
    """True if the work is done only after a promise, a changed file and a passing command."""
    mode: Mode = "attended"
    """How it was started: with a screen, with plain-line output, or in the background."""
    watched: bool = False
    """True if hooks recorded sessions that ralph-tui did not start and cannot control."""
    imported: Line = ""
    """The tool that recorded an imported run, as in ``aiwg, form B``; empty for ralph-tui's own.

    Control, alarms, checks and interventions of an imported run are recomputed.
    """
    plan: Line | None = None
    """Path of the plan file, relative to the root."""
    agent: Line
    model: Line | None = None
    permissions: Line = "edits"
    """``edits``, ``skip``, or `UNRESTRICTED`."""
    max_iterations: int
    session_timeout_s: float
    budget_usd: float | None = None
    budget_tokens: int | None = None
    iteration_budget_usd: float | None = None
    iteration_budget_tokens: int | None = None
    scenario: Line | None = None
    """Name of the demo scenario; None for a real run."""
    fast: bool = False
    """True if the demo runs faster than a person would work."""
    branch: Line | None = None
    commit: Line | None = None
    """HEAD at the start; None without commits."""
    pid: int = 0
    host: Line = ""
    config: dict[str, Plain | float | int | bool | list[Plain] | None] = {}
    """Settings at the start, by dotted name."""
    set_names: list[Name] = []
    """Names of the settings given with ``--set``."""

    @property
    def name(self) -> str:
        """The run's name on the command line."""
        return f"{self.task}/{self.attempt}" if self.task else f"hooks/{self.run_id}"

    @property
    def snapshots_elsewhere(self) -> str:
        """Where the snapshots are, for a record copied out of its worktree."""
        return f"the snapshots are in the repository in which the run worked, {self.root}"

    def line(self) -> str:
        name = f"run {self.name}" if self.task else f"loop of {self.agent} sessions"
        by = f" (recorded by {self.imported})" if self.imported else ""
        return f"{name}: {self.objective}{by}"


class RunResumed(Event):
    """A run that had ended continues: same attempt, same journal."""

    durable = True
    kind: Literal["run_resumed"] = "run_resumed"
    program_version: Line = ""
    pid: int = 0
    host: Line = ""
    mode: Mode = "attended"
    branch: Line | None = None
    commit: Line | None = None
    """HEAD when the run was resumed."""
    found: Plain = ""
    """The work in progress when the run ended, in one sentence."""
    checkpoints: Plain = ""
    """A summary of its checkpoints, one line per aspect."""
    away_s: float = 0.0
    """Seconds since the run last worked; they do not count toward any limit."""

    def row(self) -> Row:
        found = self.found or "the run continues"
        after = f"after {duration(self.away_s)}: " if self.away_s >= 1 else ""
        return Row("owner", "RESUMED", f"{after}{found}", self.checkpoints)

    def line(self) -> str:
        return f"resumed {self.found or 'the run'}"

    @property
    def stream(self) -> str:
        """The row in the agent's stream, with the length of the break and the work found."""
        later = f" after {duration(self.away_s)}" if self.away_s >= 1 else ""
        found = f": {self.found.rstrip('.')}" if self.found else ""
        return f"resumed{later}{found}"


class IterationStarted(Event):
    """A new iteration of the loop."""

    urgent = True
    kind: Literal["iteration_started"] = "iteration_started"
    iteration: int
    max_iterations: int

    def line(self) -> str:
        return f"iteration {self.iteration} of {self.max_iterations}"


class StepEntered(Event):
    """The loop entered one of its 17 steps (0: the preparation before iteration 1)."""

    kind: Literal["step_entered"] = "step_entered"
    iteration: int
    step: int
    name: Line


class IterationFinished(Event):
    """The complete record of one iteration, with its cost."""

    durable = True
    kind: Literal["iteration_finished"] = "iteration_finished"
    iteration: int
    status: IterationStatus
    completion: float
    """Points, 0-100."""
    gate_ok: bool = False
    duration_s: float = 0.0
    worked_s: float | None = None
    """Seconds that the run has worked, by a monotonic clock; None in older journals."""
    cost_usd: float | None = None
    """None if the agent does not report it."""
    tokens: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    files: int = 0
    added: int = 0
    removed: int = 0


class PauseRequested(Event):
    """The user wants the loop to pause before its next iteration."""

    kind: Literal["pause_requested"] = "pause_requested"
    by: Line = "you"

    def row(self) -> Row:
        return Row("owner", "PAUSE", f"requested by {sender_label(self.by)}")

    def line(self) -> None:
        """Return None: `Paused` follows."""


class Paused(Event):
    """The loop is paused; no agent is running."""

    urgent = True
    kind: Literal["paused"] = "paused"

    def row(self) -> Row:
        return Row("owner", "PAUSE", "no agent is running")

    def row_asked_for(self) -> Row:
        """Return the row to show below the request to pause."""
        return Row("owner", "", f"paused: {self.row().text}")

    def line(self) -> str:
        return "paused: waiting for you"


class Unpaused(Event):
    """The loop continues, or the request to pause was withdrawn."""

    urgent = True
    kind: Literal["unpaused"] = "unpaused"
    by: Line = "you"

    def row(self) -> Row:
        return Row("owner", "CONTINUED", f"by {sender_label(self.by)}")

    def row_after(self, paused_at: datetime | None) -> Row:
        """Return the row to show below the pause; pass None if the pause had not begun."""
        if paused_at is None:
            return Row("owner", "", f"withdrawn by {sender_label(self.by)}")
        lasted = duration((self.at - paused_at).total_seconds())
        return Row("owner", "", f"continued after {lasted}, {self.row().text}")

    def line(self) -> str:
        return f"unpaused by {sender_label(self.by)}"


class StopRequested(Event):
    """The user stops the run now or after the iteration, or withdraws the request."""

    durable = True
    kind: Literal["stop_requested"] = "stop_requested"
    mode: StopMode
    by: Line = "you"

    def row(self) -> Row:
        who = sender_label(self.by)
        if self.mode == "taken_back":
            return Row("owner", "STOP", f"withdrawn by {who}; the run continues")
        when = "now" if self.mode == "now" else "after this iteration"
        return Row("owner", "STOP", f"{when}, requested by {who}")


class AbortRequested(Event):
    """The user aborts the run; the work is kept or rolled back to a snapshot."""

    durable = True
    kind: Literal["abort_requested"] = "abort_requested"
    by: Line = "you"
    roll_back_to: int | None = None
    """Number of a snapshot."""

    def row(self) -> Row:
        return Row("owner", "ABORT", f"requested by {sender_label(self.by)}")

    def line(self) -> str:
        return f"aborting, requested by {sender_label(self.by)}"


class CommandRefused(Event):
    """A command that could not be carried out now, and the reason."""

    kind: Literal["command_refused"] = "command_refused"
    command: Line
    reason: Line

    def line(self) -> str:
        return f"{self.command}: {self.reason}"


class Noticed(Event):
    """A log message without its own kind."""

    kind: Literal["noticed"] = "noticed"
    level: Literal["log", "warn", "error"] = "log"
    source: Line
    """The component that noticed it: sensor, watch, records, agent, processes."""
    text: Plain
    detail: Plain = ""

    def row(self) -> Row:
        return Row(SEVERITIES[self.level], self.level.upper(), self.text, self.detail)


class RunFinished(Event):
    """The last event of every run that was still able to write one."""

    durable = True
    kind: Literal["run_finished"] = "run_finished"
    outcome: Outcome
    reason: Plain
    iterations: int
    completion: float
    best: float = 0.0
    best_iteration: int = 0
    duration_s: float = 0.0
    cost_usd: float | None = None
    """None if the agent does not report it."""
    tokens: int | None = None
    """None if the agent does not report them; 0 in older journals."""

    @property
    def words(self) -> str:
        """The outcome and the reason, as in ``limit reached: …``."""
        return ending(self.outcome, self.reason)

    def row(self) -> Row:
        level: RowLevel = "good" if self.outcome == "completed" else "warn"
        return Row(level, OUTCOMES[self.outcome].word.upper(), self.reason)

    def row_asked_for(self) -> Row:
        """Return the row to show below the request to stop."""
        where = f"{percent(self.completion)} after {count(self.iterations, 'iteration')}"
        return self.row()._replace(text=where, detail=self.reason)

    def line(self, *, measured: bool = True) -> str:
        """Return the line; pass False as `measured` to omit the percentage of an unmeasured run."""
        done = count(self.iterations, "iteration") if self.iterations else "no iteration"
        reached = percent(self.completion) if measured else "never measured"
        cost = "" if self.cost_usd is None else f", {money(self.cost_usd)}"
        return f"{self.words} · {done}, {reached}, {duration(self.duration_s)}{cost}"


class RunCrashed(Event):
    """A bug in ralph-tui ended the run; the agent was stopped."""

    durable = True
    kind: Literal["run_crashed"] = "run_crashed"
    error: Plain
    traceback: Plain

    def row(self) -> Row:
        return Row("critical", "FAILED", self.error, self.traceback)

    def line(self) -> str:
        return f"{BUG}: {self.error}"
