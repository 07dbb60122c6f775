"""The record of an attempt in ``attempt.json``, in snake_case.

Unknown values are left out, never null; older records with nulls can still be read.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ralph_tui.events.memory import (
    LearningType,
    ReflectionTrigger,
    ReflectionType,
    ReflectionWritten,
    Standing,
)
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line, Plain

Status = Literal["running", "paused", "completed", "failed"]
AttemptResult = Literal["success", "failure", "timeout"]

RESULTS: dict[Outcome, AttemptResult] = {"completed": "success", "limit_reached": "timeout"}
"""Results in the schema's terms; any outcome not listed is a failure."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    def as_json(self) -> dict[str, Any]:
        """Return the record as it is on disk, without fields that have no value."""
        return self.model_dump(mode="json", exclude_none=True)


class AttemptPlan(_Record):
    """The attempt's plan."""

    approach: Plain = ""
    steps: list[Plain] = []
    estimated_iterations: int | None = None
    """Based on earlier runs; None if no similar task is known."""
    estimate_from: int | None = None
    """Number of runs that the estimate is based on."""
    cites: list[Line] = []
    """Reflections that the plan follows, as in ``task-001/001 #1``."""
    related: list[Line] = []
    """Similar tasks."""


class Quality(_Record):
    """A measurement of completion in points, and the change since the previous one."""

    iteration: int
    quality: float
    delta: float


class Execution(_Record):
    """Statistics and measurements of the attempt."""

    agent: Line = ""
    model: Line | None = None
    iterations: int = 0
    actions_performed: int = 0
    """Number of lines in ``actions.jsonl`` once every tool call has a result."""
    quality_history: list[Quality] = []
    cost_usd: float | None = None
    """None if the agent does not report it."""
    tokens: int | None = None
    """None if the agent does not report them."""
    duration_s: float = 0.0
    sessions: int = 0
    """Number of sessions, each with a context window of its own; 0 in older records."""

    @property
    def measured(self) -> int:
        """Number of measured iterations, as learnings count them; older records count all."""
        known = {step.iteration for step in self.quality_history if step.iteration}
        return len(known) or self.iterations


class Ending(_Record):
    """How the attempt ended. Completion is in points, None without a measurement."""

    status: AttemptResult
    reason: Plain
    completion_percent: float | None = None
    what_worked: list[Plain] = []
    what_didnt_work: list[Plain] = []
    suggestions_for_next_time: list[Plain] = []
    outcome: Line = ""
    """The outcome in this program's terms."""
    best: float | None = None
    best_iteration: int | None = None


class Milestone(_Record):
    """A notable moment of the attempt."""

    timestamp: datetime
    event: Line
    details: Plain = ""


class Reflection(_Record):
    """A lesson from an attempt: a line of ``reflections.jsonl``."""

    timestamp: datetime
    attempt_id: int
    observation: Plain | None = None
    analysis: Plain | None = None
    learning: Plain
    action_items: list[Plain] = []
    triggered_by: ReflectionTrigger
    reflection_type: ReflectionType

    @classmethod
    def of(cls, event: ReflectionWritten) -> "Reflection":
        """Build the record from an event."""
        return cls(
            timestamp=event.at,
            attempt_id=event.attempt,
            observation=event.observation or None,
            analysis=event.analysis or None,
            learning=event.learning,
            action_items=event.action_items,
            triggered_by=event.triggered_by,
            reflection_type=event.reflection_type,
        )


class Credited(_Record):
    """The result of an iteration whose prompt contained a learning."""

    iteration: int
    success: bool
    points: float = 0.0


class UsedLearning(_Record):
    """A learning that the attempt looked up or produced."""

    learning_id: Line
    type: LearningType
    text: Plain
    confidence: float
    standing: Standing = "proven"
    origin: Literal["retrieved", "learned"] = "retrieved"
    prompts: list[int] = []
    """Iterations whose prompt contained it."""
    credits: list[Credited] = []
    promoted: bool = False
    """True if this attempt promoted it."""


class Attempt(_Record):
    """The content of ``attempt.json``."""

    id: int
    task_id: Line
    run_id: Line = ""
    journal: Line | None = None
    """Path of its journal in the records, if hooks recorded it; else it is in its folder."""
    description: Plain = ""
    completion_criteria: Plain | None = None
    status: Status = "running"
    started: datetime
    updated: datetime
    ended: datetime | None = None
    tags: list[Line] = []
    """The type of the task, and the categories of files it changed."""
    plan: AttemptPlan = AttemptPlan()
    execution: Execution = Execution()
    outcome: Ending | None = None
    milestones: list[Milestone] = []
    learnings: list[UsedLearning] = []
    reflections: list[Reflection] = []

    def moved(self, task: str, number: int) -> "Attempt":
        """Return the attempt with a different id; its folder may have been moved."""
        reflections = [each.model_copy(update={"attempt_id": number}) for each in self.reflections]
        changed = {"id": number, "task_id": task, "reflections": reflections}
        return self.model_copy(update=changed)
