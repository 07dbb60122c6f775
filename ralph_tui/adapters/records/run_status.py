"""What ``status.json`` says of a run: the one form that its writer and all its readers share.

Rule: plain JSON values; completion in points, times ISO-8601 UTC. A file may be of an older version
or of anyone's hand: what it lacks reads as None, so a reader that meets it says ``or``.
"""

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

if TYPE_CHECKING:
    from ralph_tui.layers.context.sizes import Size

Question = dict[str, Any]
"""The fields of `QuestionAsked`."""


class ModelHelp(TypedDict):
    """What was asked of models outside of the agent's sessions; its cost is in the run's."""

    calls: int
    failed: int
    seconds: float
    cost_usd: float | None
    tokens: int


class ActedStatus(TypedDict):
    """An intervention beyond a warning, and what came of it."""

    iteration: int
    level: str
    about: str
    reason: str
    decision: str
    points: float | None


class StrategyStatus(TypedDict):
    """The fields of `StrategyPlanned`."""

    at: str
    iteration: int
    approach: str
    focus: str
    reasoning: str
    priorities: list[str]
    confidence: float
    since: int


class WaitStatus(TypedDict):
    """What it waits for."""

    cause: str
    until: str | None
    since: str | None
    reason: str


class ItemStatus(TypedDict):
    """An open item of the plan, and what it may take of a window, in percent."""

    text: str
    size: "Size"
    low: float
    high: float
    basis: str
    done: NotRequired[int]
    total: NotRequired[int]


class UseStatus(TypedDict):
    """How full a window became in an iteration."""

    iteration: int
    peak_percent: float | None
    checkpoint: float
    rollovers: int
    compactions: int
    sessions: int


class HandoffStatus(TypedDict):
    """The last handoff."""

    iteration: int
    number: int
    path: str
    percent: float | None


class ContextStatus(TypedDict):
    """The context window; percent of it, None while that is not known."""

    percent: float | None
    level: str | None
    level_reached: str | None
    tokens: int | None
    window: int | None
    tokens_left: int | None
    warn_percent: float
    checkpoint_percent: float
    stop_percent: float
    rollover: bool
    session_running: bool
    calls: int
    calls_left: int | None
    item: ItemStatus | None
    later: list[ItemStatus]
    history: list[UseStatus]
    rollovers: int
    compactions: int
    requested_by: str
    rollover_under_way: bool
    handoff: HandoffStatus | None
    windows_fill: bool


class RunStatus(TypedDict):
    """A run in one small file."""

    version: int
    seq: int
    updated: str | None
    silent_s: float | None
    """Seconds the run worked on since the event `seq`, by a clock that nobody sets."""
    run_id: str | None
    run: str | None
    """Task and attempt."""
    objective: str
    watched: bool
    imported: str
    command: str | None
    agent: str | None
    stands_in: str
    """Why another agent works than the first; empty where that one does."""
    model: str | None
    permissions: str | None
    phase: str
    outcome: str | None
    reason: str
    iteration: int
    max_iterations: int
    budget_usd: float | None
    step: int
    step_name: str
    pause_requested: bool
    paused: bool
    baseline: float | None
    completion: float | None
    completions: list[float]
    source: str | None
    accepted: str
    origin: str
    held: bool
    stale: bool
    again: str
    """The command that continues it, where that is not a plain resume."""
    passed: int | None
    total: int | None
    best: float
    best_iteration: int
    best_snapshot: int | None
    output: float | None
    band: str | None
    push: str | None
    verdict: str
    verdict_word: str
    verdict_glyph: str
    alarms: list[str]
    health: str
    intervention: ActedStatus | None
    interventions: int
    strategy: StrategyStatus | None
    tokens: int
    tokens_partial: bool
    cost_usd: float | None
    cost_estimated: bool
    model_help: ModelHelp | None
    context_percent: float | None
    context: ContextStatus | None
    """None in the file of an older version."""
    waiting: WaitStatus | None
    refused: str
    question: Question | None
    denied: int
    left_open: str
    guidance_queued: int
    guidance_unsent: str
    standing_instruction: str
    started: str | None
    away_s: float
    ended: str | None
    last_output: str | None
    last_change: str | None
    last_gate: str | None
    pid: int
    host: str

    alive: NotRequired[bool]
    """Added by a reader: whether a process still works on it."""
    journal: NotRequired[str]
    """Added by a reader: its path."""
    problem: NotRequired[str]
    """Added by `status`: why not all of the journal can be read."""
    kept: NotRequired[int]
    """Added by `status`, of a damaged journal: how many events come before the damage."""
    of_fleet: NotRequired[bool]
    """Added by `status`: whether it is a fleet's loop, which only its fleet can resume."""
    asked_as: NotRequired[str | None]
    """Added by `status`: what the user calls it."""
