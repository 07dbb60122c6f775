"""Events of layer 3: learnings from earlier runs, new ones, and their effects."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain, cleaned
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import HELPED, LEARNINGS, TRIGGERS, UNPROVEN, sender_label

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
"""``staged``: learned by one run; ``proven``: part of the knowledge file."""
Change = Literal["pin", "unpin", "mute", "unmute", "edit", "delete"]
ReflectionType = Literal["error-analysis", "success-pattern", "process-improvement"]
ReflectionTrigger = Literal["failure", "success", "timeout", "manual"]

Fraction = Annotated[float, Field(ge=0, le=1)]
Content = Annotated[dict[str, Any], AfterValidator(cleaned)]
"""The fields of a learning, which depend on its type; every text in it is sanitized."""


NAMED = 60
"""Maximum length of a learning in a list."""
LISTED = 2
"""Maximum number of learnings named in a line."""
FORBIDDING = ("avoid", "do not", "don't", "never", "no ")
"""Prefixes of a text that already forbids something."""
CHANGED: dict[Change, str] = {
    "pin": "pinned",
    "unpin": "unpinned",
    "mute": "muted",
    "unmute": "unmuted",
    "edit": "reworded",
    "delete": "deleted",
}
"""Each kind of change to a learning, in words."""


def unchanged_words(learning_id: str, why: str) -> str:
    """Explain why a requested change to a learning was not made."""
    return f"learning {learning_id} was not changed: {why}"


class Learning(Fact):
    """One learning; the knowledge file stores it with camelCase names."""

    learning_id: Line
    type: LearningType
    task_type: Line
    """Type of the tasks it was learned in: ``test-fix``, ``refactor``, ... ``general``."""
    text: Plain
    """The learning in one or a few sentences."""
    content: Content = {}
    """Fields as in the file, such as approach and toolSequence, or pattern and consequence."""
    confidence: Fraction
    success_rate: Fraction = 0.75
    """``(3 + successes) / (4 + uses)``."""
    uses: int = Field(default=0, ge=0)
    """Number of judged iterations whose prompt contained it."""
    successes: int = Field(default=0, ge=0)
    runs: int = Field(default=1, ge=0)
    """Number of runs that learned it."""
    standing: Standing = "proven"
    pinned: bool = False
    muted: bool = False
    rested: int = Field(default=0, ge=0)
    """Number of runs that have ended without retrieving it since it was dropped as unhelpful."""

    @property
    def saying(self) -> str:
        """The learning as a sentence; an antipattern begins with ``avoid:``."""
        text = one_line(self.text)
        bare = self.type == "antipattern" and not text.lower().startswith(FORBIDDING)
        return f"avoid: {text}" if bare else text

    @property
    def type_word(self) -> str:
        """The type in words, as in ``strategy`` or ``to avoid``."""
        return LEARNINGS[self.type].word

    @property
    def helped(self) -> str:
        """How often it helped, as in ``helped 6 of 7 times``; ``not judged yet`` before a use."""
        if not self.uses:
            return "not judged yet"
        return f"{HELPED.word} {self.successes} of {count(self.uses, 'time')}"

    @property
    def proof(self) -> str:
        """The standing, as in ``unproven: reported by 1 run`` or ``proven, reported by 3 runs``."""
        runs = f"reported by {count(self.runs, 'run')}"
        if self.standing != "staged":
            return f"proven, {runs}"
        needs = ", proven after 3 runs" if self.type == "estimate" else ""
        return f"{UNPROVEN.word}: {runs}{needs}"


class Retrieved(Learning):
    """A learning that was retrieved for an iteration."""

    why: Plain
    """Why it was chosen, in one sentence."""
    relevance: Fraction = 0.0
    """How relevant its text is to the objective, compared with the other candidates."""
    in_prompt: bool = False
    again: bool = False
    """True if it did not help before and is being tried again."""
    contradicts: list[Line] = []
    """Ids of learnings in the same prompt that contradict it."""


class LearningsRetrieved(Event):
    """Step 2: learnings for this iteration, best first; empty if none fit any more."""

    kind: Literal["learnings_retrieved"] = "learnings_retrieved"
    iteration: int
    task_type: Line
    learnings: list[Retrieved] = []

    def line(self) -> str | None:
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
    """Step 15: this run learned something that is not proven yet."""

    kind: Literal["learning_staged"] = "learning_staged"
    iteration: int
    learning: Learning


class LearningPromoted(Event):
    """Step 16: a staged learning became knowledge, on its own or merged with a similar one."""

    kind: Literal["learning_promoted"] = "learning_promoted"
    iteration: int
    staged_id: Line
    learning: Learning
    """The learning after the promotion."""
    merged: bool = False
    """True if it was merged with a similar learning; `learning` then has that one's id."""
    because: Plain
    """Why it counts as proven, in one sentence."""

    def row(self) -> Row:
        how = "merged with an existing learning" if self.merged else "now proven"
        because = f" ({one_line(self.because)})" if self.because else ""
        text = f"{how}: {clip(self.learning.saying, 2 * NAMED)}{because}"
        return Row("log", "MEMORY", text, self.learning.text)


class LearningCredited(Event):
    """The effect of an iteration on a learning in its prompt; recorded before the file changes."""

    kind: Literal["learning_credited"] = "learning_credited"
    iteration: int
    learning_id: Line
    success: bool
    points: float = 0.0
    """Completion gained in the iteration, in points."""


class LearningChanged(Event):
    """The user pinned, muted, edited or deleted a learning."""

    kind: Literal["learning_changed"] = "learning_changed"
    learning_id: Line
    change: Change
    text: Plain = ""
    """The new text after an ``edit``."""
    by: Line = "you"

    def row(self) -> Row:
        return self.row_of(self.learning_id)

    def row_of(self, name: str) -> Row:
        """Return the event's row; `name` is the learning's text or its id."""
        whom = clip(name, 2 * NAMED) or self.learning_id
        text = f"{CHANGED[self.change]} by {sender_label(self.by)}: {whom}"
        return Row("owner", "MEMORY", text, name)


class ReflectionWritten(Event):
    """Lessons from an attempt, worded from evidence; one line of ``reflections.jsonl``."""

    durable = True
    kind: Literal["reflection_written"] = "reflection_written"
    attempt: int
    observation: Plain
    """The course of the attempt."""
    analysis: Plain
    """The causes."""
    learning: Plain
    """What to change in the next attempt."""
    action_items: list[Plain] = []
    triggered_by: ReflectionTrigger
    reflection_type: ReflectionType
    model: Line = ""
    """The model that wrote everything but the observation; empty if the template was used."""

    def line(self) -> str:
        return f"reflection {TRIGGERS[self.triggered_by]}: {self.learning}"


class PlanMade(Event):
    """The plan of this attempt before iteration 1, and the reflections it follows."""

    kind: Literal["plan_made"] = "plan_made"
    approach: Plain
    steps: list[Plain] = []
    estimated_iterations: int | None = None
    """None if there are no similar tasks."""
    estimate_from: int = 0
    """Number of runs behind the estimate."""
    cites: list[Line] = []
    """Reflections that the plan is based on, such as ``task-001/001 #1``."""
    related: list[Line] = []
    """Similar tasks, at most 5."""

    @property
    def estimate(self) -> str:
        """The estimate, as in ``about 4 iterations, from 6 runs``; empty without similar tasks."""
        if self.estimated_iterations is None:
            return ""
        estimated = f"about {count(self.estimated_iterations, 'iteration')}"
        return (
            f"{estimated}, from {count(self.estimate_from, 'run')}"
            if self.estimate_from
            else estimated
        )

    @property
    def words(self) -> str:
        """A text like ``about 4 iterations, from 6 runs; follows task-001/001 #1: small steps``."""
        cites = f"follows {', '.join(self.cites[:3])}" if self.cites else ""
        head = "; ".join(part for part in (self.estimate, cites) if part)
        return f"{head}: {self.approach}" if head else self.approach

    def line(self) -> str:
        return f"plan    {self.words}"
