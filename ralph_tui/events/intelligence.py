"""Events of layer 2: assessments of iterations, strategies, validation, prompts and model help."""

from collections.abc import Collection
from typing import Literal

from pydantic import Field

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import duration, money, percent
from ralph_tui.text.terms import APPROACHES, SEVERITIES, sender_label

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
"""The source of a statement; ``loop`` is the agent's own loop, ``text`` a guess from its words."""
BlockerSource = Literal["report", "gate", "tool", "text"]
PatternName = Literal["back_and_forth", "only_reading"]
Approach = Literal["persist", "pivot", "escalate"]
Focus = Literal["blocker_resolution", "reframe", "stabilize", "review", "finish", "continue"]
IssueSeverity = Literal["medium", "high", "critical"]
Purpose = Literal["prompt", "assessment", "reflection", "judge", "handoff"]


PURPOSES: dict[Purpose, str] = {
    "prompt": "a prompt",
    "assessment": "a second opinion",
    "reflection": "a reflection",
    "handoff": "the wording of a handoff",
    "judge": "a verdict",
}
REPORTED = ("fewer_tests", "changed_configuration", "back_and_forth")
"""Issues that were reported as soon as they were noticed, by the sensor or during the session."""
NEAR_LIMIT = "near_limit"
WATCHED = (NEAR_LIMIT, "unresolved_conflicts")
"""Errors that the overseer ignores here, because it has its own rules for them."""
WORST = ("critical", "high", "medium", "log")


class Statement(Fact):
    """One sentence about an iteration, and its evidence."""

    text: Plain
    source: Evidence


class Blocker(Fact):
    """An obstacle to the agent's work."""

    text: Plain
    source: BlockerSource
    standing: bool = False
    """True if evidence or two reports in a row confirm it: it then takes priority."""


class TestStatus(Fact):
    """Test counts of the completion command."""

    __test__ = False  # pytest must not collect it
    ran: bool = True
    """False if no test ran; the counts are 0 then."""
    passed: int = 0
    failed: int = 0
    """Failing tests, including errors."""
    skipped: int = 0
    total: int = 0


class ContextFiles(Fact):
    """Files that matter to the next session, the most relevant first, at most 10 of a kind."""

    recently_modified: list[Line] = []
    """Files that the iteration added or modified, without artifacts."""
    test_files: list[Line] = []
    """Files of the failing tests."""
    artifacts: list[Line] = []
    """Files below ``.aiwg`` that the run has changed so far."""


class Pattern(Fact):
    """A recurring pattern in the tool calls of an iteration."""

    name: PatternName
    path: Line = ""
    """The file that was edited back and forth."""
    times: int = 0
    """Number of edits that undid an earlier one, or of all calls in a session that only reads."""
    reads: int = 0
    """Number of these calls that read or search."""

    @property
    def words(self) -> str:
        """The pattern with its evidence."""
        if self.name == "back_and_forth":
            undid = "1 edit" if self.times == 1 else f"{self.times} edits"
            return f"{self.path} was edited back and forth: {undid} undid an earlier one"
        if not self.reads:
            return f"{self.times} tool calls and no edit"
        reads = "all" if self.reads == self.times else self.reads
        return f"{self.times} tool calls, {reads} of them to read or search, and no edit"


class AssessmentMade(Event):
    """The assessment of an iteration from evidence; iteration 0 is the state before the first."""

    kind: Literal["assessment_made"] = "assessment_made"
    iteration: int
    summary: Plain
    phase: WorkPhase = "unknown"
    progress: float = 0.0
    """An estimate of activity in points, 0-100; the measurement is what counts."""
    accomplishments: list[Statement] = []
    pending: list[Plain] = []
    blockers: list[Blocker] = []
    learnings: list[Plain] = []
    found_out: list[Plain] = []
    """Learnings that earlier iterations of this run reported, newest first."""
    last_action: Plain = ""
    next_step: Plain = ""
    tests: TestStatus | None = None
    """None if unknown."""
    patterns: list[Pattern] = []
    context_files: ContextFiles = Field(default_factory=ContextFiles)
    transcript: Line = ""
    """The last session's transcript, relative to the attempt's folder."""
    missing: list[Line] = []
    """Evidence that was not available."""


class AssessmentRefined(Event):
    """A model's second opinion on an assessment, shown next to it."""

    kind: Literal["assessment_refined"] = "assessment_refined"
    iteration: int
    summary: Plain
    learnings: list[Plain] = []
    progress: float | None = None
    """The model's estimate in points, 0-100; never a measurement."""
    measured: float | None = None
    """Points measured after that iteration; None if nothing was measured."""
    approach: Plain = ""

    @property
    def estimate(self) -> str:
        """The estimate beside the measurement, as in ``about 52 %, measured 40 %``."""
        if self.progress is None:
            return ""
        beside = "" if self.measured is None else f", measured {percent(self.measured)}"
        return f"about {percent(self.progress)}{beside}"

    def row(self) -> Row:
        approach = f"approach: {self.approach}" if self.approach else ""
        parts = [self.estimate, approach, *(f"learned: {one}" for one in self.learnings)]
        return Row("log", "OPINION", self.summary, "\n".join(part for part in parts if part))


class StrategyPlanned(Event):
    """Step 3: the strategy for this iteration."""

    kind: Literal["strategy_planned"] = "strategy_planned"
    iteration: int
    approach: Approach
    focus: Focus = "continue"
    reasoning: Plain
    priorities: list[Plain] = []
    """At most 3, the most important first."""
    confidence: float = 0.5
    since: int = 0
    """The iteration in which this approach began."""

    @property
    def adjustments(self) -> dict[str, str]:
        """What the plan changes about the iteration: its focus and its minimum urgency."""
        focus = {} if self.focus == "continue" else {"focus": str(self.focus)}
        return focus if self.approach == "persist" else {**focus, "urgency": "high"}

    def row(self) -> Row:
        detail = "\n".join(f"{n}. {text}" for n, text in enumerate(self.priorities, 1))
        return Row("log", "STRATEGY", f"{APPROACHES[self.approach]}: {self.reasoning}", detail)


class ValidationIssue(Fact):
    """One finding of a validation."""

    severity: IssueSeverity
    name: Line
    """The rule's name, as in ``excessive_errors``."""
    text: Plain
    """One sentence."""

    @property
    def is_error(self) -> bool:
        """True if it makes the iteration invalid; otherwise it is a warning."""
        return self.severity != "medium"

    @property
    def is_note(self) -> bool:
        """True if it reports how many iterations are left, which is no fault of the work."""
        return self.name == NEAR_LIMIT

    @property
    def label(self) -> str:
        """The severity shown to people; a mere note must not look alarming."""
        return "log" if self.is_note else self.severity


class ValidationDone(Event):
    """Step 8 (before the session) or step 11 (after it); recorded only with findings."""

    kind: Literal["validation_done"] = "validation_done"
    iteration: int
    when: Literal["before", "after"]
    issues: list[ValidationIssue] = []

    @property
    def errors(self) -> list[ValidationIssue]:
        """The issues that make the iteration invalid."""
        return [one for one in self.issues if one.is_error]

    def row(self) -> Row | None:
        return self.row_without(())

    def row_without(self, known: Collection[str]) -> Row | None:
        """Return the row without the issues in `known` and those in `REPORTED`."""
        new = [one for one in self.issues if one.name not in (*known, *REPORTED)]
        text = " ".join(issue.text for issue in new)
        if not text:
            return None
        worst = min((issue.label for issue in new), key=WORST.index)
        return Row(SEVERITIES[worst], "NOTE", text)


class ModelAsked(Event):
    """A question to a model, outside the agent's sessions."""

    kind: Literal["model_asked"] = "model_asked"
    iteration: int
    question_id: Line
    purpose: Purpose
    model: Line = ""
    """Empty for the agent's own choice."""
    timeout_s: float = 0.0


class ModelAnswered(Event):
    """The model answered, or failed to."""

    durable = True
    kind: Literal["model_answered"] = "model_answered"
    iteration: int
    question_id: Line
    purpose: Purpose
    seconds: float = 0.0
    cost_usd: float | None = None
    """None if not reported."""
    tokens: int = 0
    model: Line = ""
    error: Plain = ""
    """One sentence if there is no usable answer; empty if there is one."""

    def line(self) -> str | None:
        if self.error:  # the fallback has its own row
            return None
        cost = "" if self.cost_usd is None else f", {money(self.cost_usd, exact=True)}"
        by = f" by {self.model}" if self.model else ""
        return f"model   {PURPOSES[self.purpose]}{by} in {duration(self.seconds)}{cost}"


class CriterionJudged(Event):
    """A model judged whether the criterion is met."""

    durable = True
    kind: Literal["criterion_judged"] = "criterion_judged"
    iteration: int
    met: bool
    reason: Plain
    model: Line = ""

    def row(self) -> Row:
        verdict = "the criterion is met" if self.met else "the criterion is not met"
        text = f"{verdict}, according to {self.model or 'a model'}: {self.reason}"
        return Row("good" if self.met else "warn", "JUDGE", text)


class PromptEditRequested(Event):
    """The user wants to edit the next prompt before it is sent, or no longer wants to."""

    kind: Literal["prompt_edit_requested"] = "prompt_edit_requested"
    wanted: bool = True
    by: Line = "you"

    def row(self) -> Row:
        shown = "shown before it is sent" if self.wanted else "sent as it is"
        return Row(
            "owner", "PROMPT", f"the next one is {shown}, requested by {sender_label(self.by)}"
        )


class StandingInstructionChanged(Event):
    """The user's text for every prompt from now on; empty if it has been removed."""

    durable = True
    kind: Literal["standing_instruction_changed"] = "standing_instruction_changed"
    text: Plain = ""
    by: Line = "you"

    def row(self) -> Row:
        text = f"in every prompt from now on: {self.text}"
        said = text if self.text else "removed from every prompt"
        return Row("owner", "ALWAYS", f"{said} (by {sender_label(self.by)})")


class PromptPrepared(Event):
    """The prompt of an iteration's next session, saved in its own file as sent."""

    kind: Literal["prompt_prepared"] = "prompt_prepared"
    iteration: int
    path: Line
    """Path relative to the attempt's folder."""
    urgency: Literal["low", "normal", "high", "critical"] = "normal"
    characters: int = 0
    guidance: list[Line] = []
    """Ids of the guidance that it contains."""
    tokens: int = 0
    """An estimate; 0 in older journals."""
    cut: list[Line] = []
    """Sections shortened or left out to stay within the prompt's budget, in words."""
    origin: Literal["template", "model", "fallback"] = "template"
    """The author of the text."""
    edited_by: Line = ""
    """The person who edited it before it was sent; empty if no one did."""
    system_context: Line = ""
    """File with the additional system context, relative to the attempt's folder; empty if none."""
    assessment: Line = ""
    """File with the assessment that led to it, relative to the attempt's folder; empty if none."""
    next_prompt: Line = ""
    """File with the prompt as composed, before any rewording or edit; empty if none."""
    learnings: list[Line] | None = None
    """Ids of the learnings that it contains; None in older journals."""
    model_urgency: Line = ""
    """The urgency chosen by the model that worded it; `urgency` is the measured one."""
