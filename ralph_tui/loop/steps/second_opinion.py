"""Step 1: a model's second opinion on the last iteration. It is never a measurement."""

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import AssessmentRefined
from ralph_tui.layers.intelligence.answers import AssessmentAnswer
from ralph_tui.layers.intelligence.evidence import agent_rows
from ralph_tui.layers.intelligence.questions import LONGEST_WORDS, assessment_question
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.model_help import ModelHelp


class SecondOpinion(Step):
    """Asks a model once for each assessment."""

    def __init__(self, run: Run, checkpoints: Checkpoints, models: ModelHelp) -> None:
        super().__init__(run)
        self._workspace = run.ports.workspace
        self._objective = run.start.objective
        self._checkpoints = checkpoints
        self._models = models

    @guards("intelligence", instead="the assessment is used unchanged")
    def refine(self) -> None:
        """Ask a model about the latest assessment; its answer is saved beside the assessment."""
        known = self._state.intelligence
        made = known.assessment
        if not self._models.is_enabled("assessment") or made is None or not made.iteration:
            return
        k = made.iteration
        given = known.refined.get(k)
        if given is not None and given.seq > made.seq:
            return
        diff = self._diff()
        report = self._state.agent.report
        answer = self._models.ask(
            "assessment",
            k,
            lambda: assessment_question(
                self._objective, made, report, diff, agent_rows(self._state, k)
            ),
            AssessmentAnswer,
        )
        if answer is not None:
            self.record(
                AssessmentRefined(
                    iteration=k,
                    summary=answer.enhanced_summary,
                    learnings=answer.additional_learnings,
                    progress=answer.refined_progress,
                    measured=self._measured(k),
                    approach=answer.suggested_approach,
                )
            )

    def _measured(self, k: int) -> float | None:
        """Return the completion measured after iteration k, in points."""
        readings = self._state.gate.readings
        last = readings[-1] if readings else None
        known = last is not None and last.iteration == k and not last.unmeasured
        return last.completion if last is not None and known else None

    def _diff(self) -> str:
        """Return the changes of the last session, or a note that they cannot be shown."""
        since, until = self._checkpoints.compared
        try:
            return self._scheduler.run_job(
                "diff", lambda: self._workspace.excerpt(since, until, LONGEST_WORDS)
            )
        except WorkspaceError as error:
            return f"(the diff cannot be shown: {error})"
