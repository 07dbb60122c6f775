"""Layer 2 in the record: what an iteration came to, and how the next one goes about it."""

from collections.abc import Collection
from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import duration, money
from ralph_tui.text.terms import APPROACHES, SEVERITIES, who_words

__all__ = [
    "AssessmentMade",
    "AssessmentRefined",
    "CriterionJudged",
    "ModelAnswered",
    "ModelAsked",
    "PromptEditRequested",
    "PromptPrepared",
    "StandingInstructionChanged",
    "StrategyPlanned",
    "ValidationDone",
]

WorkPhase = Literal["early", "mid", "late", "complete", "unknown"]
Evidence = Literal["tests", "files", "commits", "tools", "plan", "loop", "report", "text"]
"""Where it comes from; ``loop``: a loop of the agent's own; ``text``: a guess from words."""
BlockerSource = Literal["report", "gate", "tool", "text"]
Approach = Literal["persist", "pivot", "escalate"]
Focus = Literal["blocker_resolution", "reframe", "stabilize", "review", "finish", "continue"]
IssueSeverity = Literal["medium", "high", "critical"]
Purpose = Literal["prompt", "assessment", "reflection", "judge", "handoff"]


PURPOSES: dict[Purpose, str] = {
    "prompt": "a prompt",
    "assessment": "a second opinion",
    "reflection": "a reflection",
    "handoff": "the words of a handoff",
    "judge": "a verdict",
}
SAID_BY_SENSOR = ("fewer_tests", "changed_configuration")
"""Issues that the sensor has warned of itself."""
WORST: tuple[IssueSeverity, ...] = ("critical", "high", "medium")


class Statement(Fact):
    """One sentence about an iteration, and what it rests on."""

    text: Plain
    source: Evidence


class Blocker(Fact):
    """What is in the agent's way."""

    text: Plain
    source: BlockerSource
    standing: bool = False
    """In two reports running, or shown by evidence: it comes before all else."""


class TestStatus(Fact):
    """What the completion command counted."""

    __test__ = False  # the name is the seed's; pytest must not collect it
    passed: int = 0
    failed: int = 0
    """Errors included."""
    skipped: int = 0
    total: int = 0


class AssessmentMade(Event):
    """What iteration `iteration` came to, from evidence; 0 is the state before the first."""

    kind: Literal["assessment_made"] = "assessment_made"
    iteration: int
    summary: Plain
    phase: WorkPhase = "unknown"
    progress: float = 0.0
    """An estimate, points 0-100: a measure of activity; what counts is the reading."""
    accomplishments: list[Statement] = []
    pending: list[Plain] = []
    blockers: list[Blocker] = []
    learnings: list[Plain] = []
    found_out: list[Plain] = []
    """Learnings that earlier iterations of this run reported, the newest first."""
    last_action: Plain = ""
    next_step: Plain = ""
    tests: TestStatus | None = None
    """None when none ran."""
    missing: list[Line] = []
    """What could not be looked at."""


class AssessmentRefined(Event):
    """A model's second opinion on an assessment, which stands beside it."""

    kind: Literal["assessment_refined"] = "assessment_refined"
    iteration: int
    summary: Plain
    learnings: list[Plain] = []
    progress: float | None = None
    """Points 0-100, as the model estimates; never a reading."""
    approach: Plain = ""

    def row(self) -> Row:
        approach = f"approach: {self.approach}" if self.approach else ""
        parts = [approach, *(f"learned: {one}" for one in self.learnings)]
        return Row("log", "OPINION", self.summary, "\n".join(part for part in parts if part))


class StrategyPlanned(Event):
    """Step 3: how this iteration goes about it."""

    kind: Literal["strategy_planned"] = "strategy_planned"
    iteration: int
    approach: Approach
    focus: Focus = "continue"
    reasoning: Plain
    priorities: list[Plain] = []
    """At most 3, the first one first."""
    confidence: float = 0.5
    since: int = 0
    """The iteration this approach began in."""

    def row(self) -> Row:
        """What it is about, the reason says; the log lists changes alone."""
        detail = "\n".join(f"{n}. {text}" for n, text in enumerate(self.priorities, 1))
        return Row("log", "STRATEGY", f"{APPROACHES[self.approach]}: {self.reasoning}", detail)


class ValidationIssue(Fact):
    """One thing that does not fit."""

    severity: IssueSeverity
    name: Line
    """``excessive_errors``: one word for each rule."""
    text: Plain
    """One sentence."""


class ValidationDone(Event):
    """Step 8 (before the session) or step 11 (after it); recorded where something was found."""

    kind: Literal["validation_done"] = "validation_done"
    iteration: int
    when: Literal["before", "after"]
    issues: list[ValidationIssue] = []

    def row(self) -> Row | None:
        return self.row_without(())

    def row_without(self, known: Collection[str]) -> Row | None:
        """Its row without issues of these names, and without what the sensor has said."""
        new = [one for one in self.issues if one.name not in (*known, *SAID_BY_SENSOR)]
        text = " ".join(issue.text for issue in new)
        if not text:
            return None
        worst = min((issue.severity for issue in new), key=WORST.index)
        return Row(SEVERITIES[worst], "NOTE", text)


class ModelAsked(Event):
    """A model was asked for help, outside of the agent's sessions."""

    kind: Literal["model_asked"] = "model_asked"
    iteration: int
    question_id: Line
    purpose: Purpose
    model: Line = ""
    """Empty: the agent's own choice."""
    timeout_s: float = 0.0


class ModelAnswered(Event):
    """It has answered, or why it has not."""

    durable = True
    kind: Literal["model_answered"] = "model_answered"
    iteration: int
    question_id: Line
    purpose: Purpose
    seconds: float = 0.0
    cost_usd: float | None = None
    """None where it is not told."""
    tokens: int = 0
    model: Line = ""
    error: Plain = ""
    """Why there is no usable answer, one sentence; empty when there is one."""

    def line(self) -> str | None:
        if self.error:  # what was done instead has a row of its own
            return None
        cost = "" if self.cost_usd is None else f", {money(self.cost_usd, exact=True)}"
        by = f" by {self.model}" if self.model else ""
        return f"model   {PURPOSES[self.purpose]}{by} in {duration(self.seconds)}{cost}"


class CriterionJudged(Event):
    """A model has judged whether the criterion is met."""

    durable = True
    kind: Literal["criterion_judged"] = "criterion_judged"
    iteration: int
    met: bool
    reason: Plain
    model: Line = ""

    def row(self) -> Row:
        verdict = "the criterion is met" if self.met else "the criterion is not met"
        text = f"{verdict}, says {self.model or 'a model'}: {self.reason}"
        return Row("good" if self.met else "warn", "JUDGE", text)


class PromptEditRequested(Event):
    """The owner wants to edit the next prompt before it is sent, or does not any more."""

    kind: Literal["prompt_edit_requested"] = "prompt_edit_requested"
    wanted: bool = True
    by: Line = "you"

    def row(self) -> Row:
        shown = "shown before it is sent" if self.wanted else "sent as it is"
        return Row("owner", "PROMPT", f"the next one is {shown}, asked by {who_words(self.by)}")


class StandingInstructionChanged(Event):
    """What every prompt carries from here on; empty: nothing any more."""

    durable = True
    kind: Literal["standing_instruction_changed"] = "standing_instruction_changed"
    text: Plain = ""
    by: Line = "you"

    def row(self) -> Row:
        text = f"in every prompt from now on: {self.text}"
        said = text if self.text else "taken back: no prompt says it"
        return Row("owner", "ALWAYS", f"{said} (by {who_words(self.by)})")


class PromptPrepared(Event):
    """The prompt of an iteration's next session, kept as sent in a file of its own."""

    kind: Literal["prompt_prepared"] = "prompt_prepared"
    iteration: int
    path: Line
    """Relative to the attempt's folder."""
    urgency: Literal["low", "normal", "high", "critical"] = "normal"
    characters: int = 0
    guidance: list[Line] = []
    """Ids of the guidance it carries."""
    tokens: int = 0
    """An estimate; 0 in journals from before it was made."""
    cut: list[Line] = []
    """Sections that were shortened or left out to keep to the prompt's budget, in words."""
    origin: Literal["template", "model", "fallback"] = "template"
    """Who worded it."""
    edited_by: Line = ""
    """Who edited it before it was sent; empty: nobody."""
    system_context: Line = ""
    """File of what the agent gets beside it, relative to the attempt's folder; empty: nothing."""
    learnings: list[Line] | None = None
    """Ids of the learnings whose words are in it; None in older journals."""
    model_urgency: Line = ""
    """What the model that worded it called its urgency; `urgency` is what was measured."""
