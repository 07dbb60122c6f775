"""Layer 2 as a run has seen it: assessments, strategies, what did not fit, what models said."""

from typing import Literal

from ralph_tui.events import (
    AssessmentMade,
    AssessmentRefined,
    CriterionJudged,
    ModelAnswered,
    ModelAsked,
    PromptEditRequested,
    PromptPrepared,
    RunCrashed,
    RunFinished,
    RunResumed,
    StandingInstructionChanged,
    StrategyPlanned,
    ValidationDone,
)
from ralph_tui.state.fold import Fold


class IntelligenceFold(Fold):
    """What the assessment and prompt panes show, and what the next prompt is made of."""

    def __init__(self) -> None:
        self.assessments: dict[int, AssessmentMade] = {}
        """By the iteration they are about; 0 before the first."""
        self.refined: dict[int, AssessmentRefined] = {}
        """Second opinions, by iteration."""
        self.strategies: dict[int, StrategyPlanned] = {}
        """By the iteration they are for."""
        self.validations: dict[tuple[int, Literal["before", "after"]], ValidationDone] = {}
        self.judged: CriterionJudged | None = None
        """The last verdict of a model."""
        self.asked: ModelAsked | None = None
        """What a model is asked now."""
        self.help_calls = 0
        """Questions to models that were answered, or failed."""
        self.help_failed = 0
        self.help_seconds = 0.0
        self.help_cost_usd: float | None = None
        """Dollars; None while nobody has told."""
        self.help_tokens = 0
        self.edit_requested = False
        """Whether the next prompt is to be shown before it is sent."""
        self.standing_instruction = ""
        """What every prompt carries."""

    @property
    def assessment(self) -> AssessmentMade | None:
        """The latest one."""
        return self.assessments[max(self.assessments)] if self.assessments else None

    @property
    def strategy(self) -> StrategyPlanned | None:
        """The latest one."""
        return self.strategies[max(self.strategies)] if self.strategies else None

    def on_assessed(self, event: AssessmentMade) -> None:
        self.assessments[event.iteration] = event

    def on_refined(self, event: AssessmentRefined) -> None:
        self.refined[event.iteration] = event

    def on_planned(self, event: StrategyPlanned) -> None:
        self.strategies[event.iteration] = event

    def on_validated(self, event: ValidationDone) -> None:
        self.validations[event.iteration, event.when] = event

    def on_judged(self, event: CriterionJudged) -> None:
        self.judged = event

    def on_asked(self, event: ModelAsked) -> None:
        self.asked = event

    def on_answered(self, event: ModelAnswered) -> None:
        self.asked = None
        self.help_calls += 1
        self.help_failed += bool(event.error)
        self.help_seconds += event.seconds
        self.help_tokens += event.tokens
        if event.cost_usd is not None:
            self.help_cost_usd = (self.help_cost_usd or 0.0) + event.cost_usd

    def on_edit_requested(self, event: PromptEditRequested) -> bool:
        was, self.edit_requested = self.edit_requested, event.wanted
        return was != event.wanted

    def on_prompt_prepared(self, _: PromptPrepared) -> bool:
        was, self.edit_requested = self.edit_requested, False
        return was

    def on_instructed(self, event: StandingInstructionChanged) -> None:
        self.standing_instruction = event.text

    def on_cut_off(self, _: RunResumed | RunFinished | RunCrashed) -> bool:
        was, self.asked = self.asked, None
        return was is not None
