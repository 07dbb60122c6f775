"""The format of a run's ``status.json``, for its writer and all readers.

Rule: values are plain JSON, completion is in points, times are ISO-8601 in UTC. A file may come
from an older version or from anyone, and missing fields read as None, so readers need defaults.
"""

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from ralph_tui.layers.context.sizes import Size

Intervened = Literal["logs", "warnings", "redirects", "pauses", "aborts"]
"""Names of the intervention totals."""
Question = dict[str, Any]
"""The fields of `QuestionAsked`."""


class ModelHelp(TypedDict):
    """Calls to models outside the agent's sessions. Their cost is included in the run's."""

    calls: int
    failed: int
    seconds: float
    cost_usd: float | None
    tokens: int


class ActedStatus(TypedDict):
    """An intervention beyond a warning, and its effect."""

    iteration: int
    level: str
    about: str
    reason: str
    decision: str
    points: float | None


class DetectedStatus(TypedDict):
    """A behaviour that the overseer's latest check detected."""

    name: str
    severity: str
    reason: str


class HealthStatus(TypedDict):
    """The overseer's work so far: its checks and detections, and its interventions by level."""

    checks: int
    detections: int
    logs: int
    warnings: int
    redirects: int
    pauses: int
    aborts: int


class ValidationStatus(TypedDict):
    """The latest iteration's validation, before and after its session."""

    valid: bool
    errors: list[str]
    warnings: list[str]


class KnownStatus(TypedDict):
    """A learning that fits the task."""

    id: str
    type: str
    text: str
    in_prompt: bool


class StrategyStatus(TypedDict):
    """The fields of `StrategyPlanned`, and its `adjustments`."""

    at: str
    iteration: int
    approach: str
    focus: str
    reasoning: str
    priorities: list[str]
    confidence: float
    since: int
    adjustments: dict[str, str]


class WaitStatus(TypedDict):
    """The current wait."""

    cause: str
    until: str | None
    since: str | None
    reason: str


class ItemStatus(TypedDict):
    """An open item in the plan, and the share of a window that it may take, in percent."""

    text: str
    size: "Size"
    low: float
    high: float
    basis: str
    done: NotRequired[int]
    total: NotRequired[int]


class CheckpointStatus(TypedDict):
    """The last checkpoint."""

    iteration: int
    trigger: str
    at: str | None
    session_s: float
    """Seconds since its session began."""
    snapshot: int | None
    files: int
    modified: list[str]
    """The first few modified files."""


class UseStatus(TypedDict):
    """How full the context window became during an iteration."""

    iteration: int
    peak_percent: float | None
    checkpoint: float
    rollovers: int
    compactions: int
    sessions: int


class TakenStatus(TypedDict):
    """A finished plan item, and the percentage points of the window that it took."""

    size: "Size"
    basis: str
    points: float


class HandoffStatus(TypedDict):
    """The last handoff."""

    iteration: int
    number: int
    path: str
    percent: float | None


class ContextStatus(TypedDict):
    """The context window. Percentages are of the window; unknown values are null."""

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
    taken: list[TakenStatus]
    """Items that this run finished; later runs in the repository base their estimates on them."""
    history: list[UseStatus]
    rollovers: int
    compactions: int
    requested_by: str
    rollover_under_way: bool
    handoff: HandoffStatus | None
    windows_fill: bool


class RunStatus(TypedDict):
    """The state of a run, in one small file."""

    version: int
    seq: int
    updated: str | None
    silent_s: float | None
    """Seconds that the run kept working after event `seq`, by a monotonic clock."""
    run_id: str | None
    run: str | None
    """Task and attempt."""
    objective: str
    watched: bool
    imported: str
    command: str | None
    agent: str | None
    stands_in: str
    """Why a fallback agent is working; empty while the first agent is working."""
    agent_failure: str
    """Why the latest session failed; empty if it did not fail or is still running."""
    model: str | None
    """The model that the agent reports, else the requested one."""
    requested_model: str | None
    """The model in the settings; null if the agent chooses one."""
    permissions: str | None
    phase: str
    outcome: str | None
    reason: str
    iteration: int
    max_iterations: int
    budget_usd: float | None
    budget_tokens: int | None
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
    """The command to continue the run, if it is not a plain resume."""
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
    detections: list[DetectedStatus]
    totals: HealthStatus | None
    """None in files from an older version."""
    intervention: ActedStatus | None
    interventions: int
    strategy: StrategyStatus | None
    validation: ValidationStatus | None
    """None before the first iteration."""
    knowledge: list[KnownStatus]
    """Learnings retrieved for the latest iteration."""
    tokens: int
    tokens_partial: bool
    cost_usd: float | None
    cost_estimated: bool
    model_help: ModelHelp | None
    context_percent: float | None
    context: ContextStatus | None
    """None in files from an older version."""
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
    checkpoint: CheckpointStatus | None
    last_output: str | None
    last_change: str | None
    last_gate: str | None
    pid: int
    host: str

    alive: NotRequired[bool]
    """Added by readers: True if a process is working on the run."""
    journal: NotRequired[str]
    """Added by readers: path of the journal."""
    problem: NotRequired[str]
    """Added by `status`: why the journal cannot be read completely."""
    kept: NotRequired[int]
    """Added by `status`: number of events before the damage in a damaged journal."""
    of_fleet: NotRequired[bool]
    """Added by `status`: True for a loop of a fleet, which only its fleet can resume."""
    asked_as: NotRequired[str | None]
    """Added by `status`: the name by which the user asked for the run."""
