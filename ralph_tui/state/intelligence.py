"""Layer 2 in this run: assessments, strategies, validation issues and model help."""

from typing import Literal

from ralph_tui import events as ev
from ralph_tui.events.intelligence import ValidationIssue
from ralph_tui.state.fold import Fold


class IntelligenceFold(Fold):
    """State of the assessment and prompt panes, and the input of the next prompt."""

    def __init__(self) -> None:
        self.assessments: dict[int, ev.AssessmentMade] = {}
        """Keyed by the iteration assessed; 0 before the first."""
        self.refined: dict[int, ev.AssessmentRefined] = {}
        """Second opinions, by iteration."""
        self.strategies: dict[int, ev.StrategyPlanned] = {}
        """Keyed by the iteration planned."""
        self.validations: dict[tuple[int, Literal["before", "after"]], ev.ValidationDone] = {}
        self.judged: ev.CriterionJudged | None = None
        """The last verdict of a model on the criterion."""
        self.asked: ev.ModelAsked | None = None
        """The question that a model is answering now."""
        self.help_calls = 0
        """Questions to models that were answered or failed."""
        self.help_failed = 0
        self.help_seconds = 0.0
        self.help_cost_usd: float | None = None
        """Dollars; None while no model has reported its cost."""
        self.help_tokens = 0
        self.edit_requested = False
        """True if the user wants to see the next prompt before it is sent."""
        self.standing_instruction = ""
        """The user's instruction for every prompt."""

    @property
    def assessment(self) -> ev.AssessmentMade | None:
        """The latest assessment."""
        return self.assessments[max(self.assessments)] if self.assessments else None

    def issues(self, iteration: int) -> list[ValidationIssue]:
        """Return what validation found before and after an iteration's session."""
        done = [self.validations.get((iteration, when)) for when in ("before", "after")]
        return [issue for one in done if one is not None for issue in one.issues]

    def errors(self, iteration: int) -> list[ValidationIssue]:
        """Return the issues that make an iteration invalid."""
        return [one for one in self.issues(iteration) if one.is_error]

    @property
    def strategy(self) -> ev.StrategyPlanned | None:
        """The latest strategy."""
        return self.strategies[max(self.strategies)] if self.strategies else None

    def on_assessed(self, event: ev.AssessmentMade) -> None:
        self.assessments[event.iteration] = event

    def on_refined(self, event: ev.AssessmentRefined) -> None:
        self.refined[event.iteration] = event

    def on_planned(self, event: ev.StrategyPlanned) -> None:
        self.strategies[event.iteration] = event

    def on_validated(self, event: ev.ValidationDone) -> None:
        self.validations[event.iteration, event.when] = event

    def on_judged(self, event: ev.CriterionJudged) -> None:
        self.judged = event

    def on_asked(self, event: ev.ModelAsked) -> None:
        self.asked = event

    def on_answered(self, event: ev.ModelAnswered) -> None:
        self.asked = None
        self.help_calls += 1
        self.help_failed += bool(event.error)
        self.help_seconds += event.seconds
        self.help_tokens += event.tokens
        if event.cost_usd is not None:
            self.help_cost_usd = (self.help_cost_usd or 0.0) + event.cost_usd

    def on_edit_requested(self, event: ev.PromptEditRequested) -> bool:
        was, self.edit_requested = self.edit_requested, event.wanted
        return was != event.wanted

    def on_prompt_prepared(self, _: ev.PromptPrepared) -> bool:
        was, self.edit_requested = self.edit_requested, False
        return was

    def on_instructed(self, event: ev.StandingInstructionChanged) -> None:
        self.standing_instruction = event.text

    def on_cut_off(self, _: ev.RunResumed | ev.RunFinished | ev.RunCrashed) -> bool:
        was, self.asked = self.asked, None
        return was is not None
