"""Layer 3 in the record: what earlier runs taught, what this one adds, and what came of it."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain, cleaned
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import HELPED, LEARNINGS, TRIGGERS, UNPROVEN, who_words

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


NAMED = 60
"""Characters of a learning where others are listed beside it."""
LISTED = 2
"""Learnings that a line names."""
FORBIDDING = ("avoid", "do not", "don't", "never", "no ")
"""How what is to be avoided may say so itself."""
CHANGED: dict[Change, str] = {
    "pin": "pinned",
    "unpin": "not pinned any more",
    "mute": "muted",
    "unmute": "not muted any more",
    "edit": "reworded",
    "delete": "deleted",
}
"""What has been done to a learning."""


def unchanged_words(learning_id: str, why: str) -> str:
    """That a wish about a learning could not be carried out."""
    return f"learning {learning_id} stays as it is: {why}"


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

    @property
    def saying(self) -> str:
        """What it says, as a sentence of its own: what is to be avoided says so."""
        text = one_line(self.text)
        bare = self.type == "antipattern" and not text.lower().startswith(FORBIDDING)
        return f"avoid: {text}" if bare else text

    @property
    def type_word(self) -> str:
        """``strategy``, ``to avoid``, ..."""
        return LEARNINGS[self.type].word

    @property
    def helped(self) -> str:
        """``helped 6 of 7 times``; ``not judged yet`` before it was in a prompt."""
        if not self.uses:
            return "not judged yet"
        return f"{HELPED.word} {self.successes} of {count(self.uses, 'time')}"

    @property
    def proof(self) -> str:
        """``unproven: said by 1 run``, ``proven, said by 3 runs``."""
        runs = f"said by {count(self.runs, 'run')}"
        if self.standing != "staged":
            return f"proven, {runs}"
        needs = ", proven from 3 runs on" if self.type == "estimate" else ""
        return f"{UNPROVEN.word}: {runs}{needs}"


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

    def line(self) -> str | None:
        """Nothing is said where nothing fits."""
        if not self.learnings:
            return None
        carried = [one for one in self.learnings if one.in_prompt]
        verb = "fits" if len(self.learnings) == 1 else "fit"
        fit = f"{count(len(self.learnings), 'learning')} {verb}"
        head = f"memory  {fit}, {len(carried) or 'none'} in the prompt"
        named = [clip(one.saying, NAMED) for one in carried[:LISTED]]
        more = [f"{len(carried) - LISTED} more"] if len(carried) > LISTED else []
        return f"{head}: {'; '.join([*named, *more])}" if named else head


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

    def row(self) -> Row:
        how = "joined to what was known" if self.merged else "proven now"
        because = f" ({one_line(self.because)})" if self.because else ""
        text = f"{how}: {clip(self.learning.saying, 2 * NAMED)}{because}"
        return Row("log", "MEMORY", text, self.learning.text)


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

    def row(self) -> Row:
        return self.row_of(self.learning_id)

    def row_of(self, name: str) -> Row:
        """`name`: what the learning says, or its id."""
        whom = clip(name, 2 * NAMED) or self.learning_id
        text = f"{CHANGED[self.change]} by {who_words(self.by)}: {whom}"
        return Row("owner", "MEMORY", text, name)


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

    def line(self) -> str:
        return f"reflection {TRIGGERS[self.triggered_by]}: {self.learning}"


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

    @property
    def estimate(self) -> str:
        """``about 4 iterations, from 6 runs``; empty where nothing is known of tasks like this."""
        if self.estimated_iterations is None:
            return ""
        told = f"about {count(self.estimated_iterations, 'iteration')}"
        return f"{told}, from {count(self.estimate_from, 'run')}" if self.estimate_from else told

    @property
    def words(self) -> str:
        """``about 4 iterations, from 6 runs; follows task-001/001 #1: small steps``."""
        cites = f"follows {', '.join(self.cites[:3])}" if self.cites else ""
        head = "; ".join(part for part in (self.estimate, cites) if part)
        return f"{head}: {self.approach}" if head else self.approach

    def line(self) -> str:
        return f"plan    {self.words}"
