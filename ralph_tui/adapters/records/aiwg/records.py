"""The record of an attempt, as ``attempt.json`` holds it; snake_case.

What is not known is left out of JSON, never null; an older record with nulls in it is read too.
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
"""An attempt's outcome in the words of the schema; every end that is not named is a failure."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    def as_json(self) -> dict[str, Any]:
        """As it is on disk; what is None is left out."""
        return self.model_dump(mode="json", exclude_none=True)


class AttemptPlan(_Record):
    """What the attempt sets out to do."""

    approach: Plain = ""
    steps: list[Plain] = []
    estimated_iterations: int | None = None
    """From earlier runs; None where nothing is known of tasks like this."""
    estimate_from: int | None = None
    """Runs that the estimate rests on."""
    cites: list[Line] = []
    """Reflections it follows, each as ``task-001/001 #1``."""
    related: list[Line] = []
    """Tasks like this one."""


class Quality(_Record):
    """One reading of completion, in points, and its step."""

    iteration: int
    quality: float
    delta: float


class Execution(_Record):
    """How it went."""

    agent: Line = ""
    model: Line | None = None
    iterations: int = 0
    actions_performed: int = 0
    """Lines of ``actions.jsonl`` when every tool has answered."""
    quality_history: list[Quality] = []
    cost_usd: float | None = None
    """None where the agent does not tell."""
    tokens: int | None = None
    """As `cost_usd`."""
    duration_s: float = 0.0


class Ending(_Record):
    """What it came to; quality and completion in points, None where nothing was measured."""

    status: AttemptResult
    reason: Plain
    final_quality: float | None = None
    completion_percent: float | None = None
    what_worked: list[Plain] = []
    what_didnt_work: list[Plain] = []
    suggestions_for_next_time: list[Plain] = []
    outcome: Line = ""
    """The same in this program's own words."""
    best: float | None = None
    best_iteration: int | None = None


class Milestone(_Record):
    """A moment worth telling."""

    timestamp: datetime
    event: Line
    details: Plain = ""


class Reflection(_Record):
    """What an attempt teaches: a line of ``reflections.jsonl``."""

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
        """As it was recorded."""
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
    """What came of one iteration whose prompt carried a learning."""

    iteration: int
    success: bool
    points: float = 0.0


class UsedLearning(_Record):
    """A learning that the attempt has looked up, or learned itself."""

    learning_id: Line
    type: LearningType
    text: Plain
    confidence: float
    standing: Standing = "proven"
    origin: Literal["retrieved", "learned"] = "retrieved"
    prompts: list[int] = []
    """Iterations whose prompt carried it."""
    credits: list[Credited] = []
    promoted: bool = False
    """By this attempt."""


class Attempt(_Record):
    """``attempt.json``."""

    id: int
    task_id: Line
    run_id: Line = ""
    description: Plain = ""
    completion_criteria: Plain | None = None
    status: Status = "running"
    started: datetime
    updated: datetime
    ended: datetime | None = None
    tags: list[Line] = []
    """The type of the task, and the categories of the files that were touched."""
    plan: AttemptPlan = AttemptPlan()
    execution: Execution = Execution()
    outcome: Ending | None = None
    milestones: list[Milestone] = []
    learnings: list[UsedLearning] = []
    reflections: list[Reflection] = []

    def moved(self, task: str, number: int) -> "Attempt":
        """The same under another name: it may have come from elsewhere."""
        reflections = [each.model_copy(update={"attempt_id": number}) for each in self.reflections]
        changed = {"id": number, "task_id": task, "reflections": reflections}
        return self.model_copy(update=changed)
