"""Decide whether a criterion is met once the agent promises it: a model or the user judges.

If a model says yes, the run is complete; if it says no, the run continues. Without a verdict, the
user is asked.
"""

from dataclasses import replace
from uuid import uuid4

from ralph_tui import events as ev
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events.waiting import Option
from ralph_tui.layers.intelligence.answers import JudgeAnswer
from ralph_tui.layers.intelligence.questions import LONGEST_DIFF, JudgeInput, judge_question
from ralph_tui.layers.sensor.reading import Reading
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.model_help import ModelHelp
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.text.format import percent
from ralph_tui.text.terms import sender_label

YES = Option(key="y", answer="yes", verb="yes: complete the run")
NO = Option(key="n", answer="no", verb="no: continue with the next iteration")
GUIDE = Option(key="g", answer="guide", verb="no: continue with guidance", takes="words")
SHOWN = 8
"""Maximum number of changed files named in a question."""
DIFF = 20_000
"""Maximum length of the diff in a question, in characters."""
NO_VERDICT = "the judging model gave no verdict"


class Judge(Step):
    """Checks the agent's promise against the criterion."""

    def __init__(
        self, run: Run, asker: QuestionAsker, checkpoints: Checkpoints, models: ModelHelp
    ) -> None:
        super().__init__(run)
        self._workspace = run.ports.workspace
        self._asker = asker
        self._checkpoints = checkpoints
        self._models = models

    def judge(self, k: int, reading: Reading, files: ev.FilesChanged) -> Reading:
        """Judge iteration k, whose session promised completion; return its measurement."""
        wanted = self._models.is_enabled("judge")
        if wanted:
            verdict = self.guarded(
                "intelligence",
                lambda: self._ask_model(k, files),
                lambda: None,
                instead="you are asked instead",
            )
            if verdict is not None:
                if not verdict.met:
                    return reading
                return _accepted(
                    reading, f"the model {verdict.model}" if verdict.model else "a model"
                )
        return self._ask_human(k, reading, files, unjudged=wanted)

    def _ask_model(self, k: int, files: ev.FilesChanged) -> ev.CriterionJudged | None:
        """Return the model's verdict; one that is already recorded is not requested again."""
        judged = self._state.intelligence.judged
        if judged is not None and judged.iteration == k:
            return judged
        first = min(self._state.timeline.snapshots.values(), key=lambda taken: taken.number)
        diff = self._diff(first.tree, self._checkpoints.latest.tree, LONGEST_DIFF)
        given = JudgeInput(
            objective=self._run.start.objective,
            criterion=self._run.goal.criterion or "",
            claim=_list_claims(self._state.agent.report),
            changed=_list_changes(files),
            diff=diff,
        )
        answer = self._models.ask("judge", k, lambda: judge_question(given), JudgeAnswer)
        if answer is None:
            return None
        model = self._models.model("judge")
        verdict = ev.CriterionJudged(iteration=k, met=answer.met, reason=answer.reason, model=model)
        self.record(verdict)
        return verdict

    def _ask_human(
        self, k: int, reading: Reading, files: ev.FilesChanged, *, unjudged: bool
    ) -> Reading:
        diff = self._diff(*self._checkpoints.compared, DIFF)
        answer = self._asker.ask(
            ev.QuestionAsked(
                iteration=k,
                question_id="",
                topic="criterion",
                text=f"The agent says it is done. Is this true: {self._run.goal.criterion}",
                evidence=[
                    *([NO_VERDICT] if unjudged else []),
                    *_list_claims(self._state.agent.report),
                    _list_changes(files),
                ],
                options=[YES, NO, GUIDE, ABORT],
                default="no",
                diff=diff,
            ),
            within_s=self._run.settings.oversight.pause_timeout_s,
        )
        match answer.answer:
            case "yes":
                return _accepted(reading, answer.by)
            case "guide":
                self.record(
                    ev.GuidanceQueued(guidance_id=str(uuid4()), text=answer.text, by=answer.by)
                )
            case "abort":
                self.record(ev.AbortRequested(by=answer.by))
                raise Ended(
                    "aborted", f"aborted by {sender_label(answer.by)}; the work stays as it is"
                )
        return reading

    def _diff(self, since: str, until: str, limit: int) -> str:
        """Return the differences between two trees, or a note that they cannot be shown."""
        try:
            return self._scheduler.run_job(
                "diff", lambda: self._workspace.excerpt(since, until, limit)
            )
        except WorkspaceError as error:  # the agent may have deleted the snapshots
            return f"(the diff cannot be shown: {error})"


def _accepted(reading: Reading, by: str) -> Reading:
    return replace(reading, completion=100.0, held=False, note=f"accepted by {by}")


def _list_claims(said: ev.AgentReported | None) -> list[str]:
    """List the agent's claims about its work, as evidence for the judge."""
    if said is None:
        return ["the agent left no report"]
    points = "" if said.completion is None else f"it claims {percent(said.completion)}"
    summary = said.summary and f"it says: {said.summary}"
    return [
        *(words for words in (points, summary) if words),
        *(f"blocked by: {blocker}" for blocker in said.blockers),
        *([f"its next step: {said.next}"] if said.next else []),
    ]


def _list_changes(files: ev.FilesChanged) -> str:
    whole = sum(total.files for total in files.totals)
    if not whole:
        return "no files changed in this iteration"
    named = [f"{c.path} +{c.added} −{c.removed}" for c in files.changes[:SHOWN]]
    more = f" and {whole - len(named)} more" if whole > len(named) else ""
    return f"changed in this iteration: {', '.join(named)}{more}"
