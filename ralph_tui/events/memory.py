"""Layer 3 in the record: what earlier runs taught, what this one adds, and what came of it."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ralph_tui.events.base import Event, Fact
from ralph_tui.events.text import Line, Plain, cleaned

__all__ = [
    "LearningChanged",
    "LearningCredited",
    "LearningPromoted",
    "LearningStaged",
    "LearningsRetrieved",
    "PlanMade",
    "ReflectionWritten",
]

LearningType = Literal["strategy", "antipattern", "estimate", "convention"]
Standing = Literal["staged", "proven"]
"""``staged``: one run has said it; ``proven``: it is knowledge, in the knowledge file."""
Change = Literal["pin", "unpin", "mute", "unmute", "edit", "delete"]
ReflectionType = Literal["error-analysis", "success-pattern", "process-improvement"]
ReflectionTrigger = Literal["failure", "success", "timeout", "manual"]

Fraction = Annotated[float, Field(ge=0, le=1)]
Content = Annotated[dict[str, Any], AfterValidator(cleaned)]
"""The fields that a type of learning has; every text in it is sanitized."""


class Learning(Fact):
    """One learning as a run sees it; the knowledge file holds it with camelCase names."""

    learning_id: Line
    type: LearningType
    task_type: Line
    """Of the tasks it was learned in: ``test-fix``, ``refactor``, ... ``general``."""
    text: Plain
    """What it says, in one or a few sentences."""
    content: Content = {}
    """Its fields as in the file: approach, toolSequence; pattern, consequence, alternative; ..."""
    confidence: Fraction
    success_rate: Fraction = 0.75
    """``(3 + successes) / (4 + uses)``."""
    uses: int = Field(default=0, ge=0)
    """Iterations whose prompt carried it and that were judged."""
    successes: int = Field(default=0, ge=0)
    runs: int = Field(default=1, ge=0)
    """Runs that have said it."""
    standing: Standing = "proven"
    pinned: bool = False
    muted: bool = False
    rested: int = Field(default=0, ge=0)
    """Runs that have ended without looking it up, since it was dropped because it did not help."""


class Retrieved(Learning):
    """A learning that was looked up for an iteration."""

    why: Plain
    """Why it was chosen, in one sentence."""
    relevance: Fraction = 0.0
    """Of its text to the objective, against the other candidates."""
    in_prompt: bool = False
    again: bool = False
    """Whether it did not help before, and is tried once more."""
    contradicts: list[Line] = []
    """Ids of the others in the same prompt that say something different of the same."""


class LearningsRetrieved(Event):
    """Step 2: what fits this iteration, best first; empty only where something did before."""

    kind: Literal["learnings_retrieved"] = "learnings_retrieved"
    iteration: int
    task_type: Line
    learnings: list[Retrieved] = []


class LearningStaged(Event):
    """Step 15: this run has learned something; it is not proven yet."""

    kind: Literal["learning_staged"] = "learning_staged"
    iteration: int
    learning: Learning


class LearningPromoted(Event):
    """Step 16: a staged learning has become knowledge, by itself or joined to a similar one."""

    kind: Literal["learning_promoted"] = "learning_promoted"
    iteration: int
    staged_id: Line
    learning: Learning
    """As it stands now."""
    merged: bool = False
    """Whether it was joined to a similar one, whose id `learning` has then."""
    because: Plain
    """Why it counts as proven, in one sentence."""


class LearningCredited(Event):
    """What came of an iteration whose prompt carried a learning; recorded before the file is."""

    kind: Literal["learning_credited"] = "learning_credited"
    iteration: int
    learning_id: Line
    success: bool
    points: float = 0.0
    """Completion gained in the iteration, points."""


class LearningChanged(Event):
    """The owner has pinned, muted, edited or deleted a learning."""

    kind: Literal["learning_changed"] = "learning_changed"
    learning_id: Line
    change: Change
    text: Plain = ""
    """The new words of an ``edit``."""
    by: Line = "you"


class ReflectionWritten(Event):
    """What an attempt teaches, from evidence, by template; one line of ``reflections.jsonl``."""

    durable = True
    kind: Literal["reflection_written"] = "reflection_written"
    attempt: int
    observation: Plain
    """What happened."""
    analysis: Plain
    """Why."""
    learning: Plain
    """What to do differently."""
    action_items: list[Plain] = []
    triggered_by: ReflectionTrigger
    reflection_type: ReflectionType
    model: Line = ""
    """Who worded all but the observation; empty: the template."""


class PlanMade(Event):
    """Before iteration 1: how this attempt goes about it, and which reflections say so."""

    kind: Literal["plan_made"] = "plan_made"
    approach: Plain
    steps: list[Plain] = []
    estimated_iterations: int | None = None
    """None: nothing is known of tasks like this."""
    estimate_from: int = 0
    """Runs the estimate rests on."""
    cites: list[Line] = []
    """The reflections it follows, each as ``task-001/001 #1``."""
    related: list[Line] = []
    """Tasks like this one, at most 5."""
