"""Steps 13 and 14: act on the findings, and notify people.

The rules are pure and live in `oversight`; this module applies them to the run and asks the user. A
PAUSE waits in step 13, before the next iteration, while no agent runs.
"""

from uuid import uuid4

from ralph_tui import events as ev
from ralph_tui.commands import extended
from ralph_tui.events.oversight import EscalationLevel, Health, Subject
from ralph_tui.events.waiting import SILENCE, Option, Rollback
from ralph_tui.layers.control.law import PROFILES
from ralph_tui.layers.oversight import Finding, beside, health_check, health_of, recommendations
from ralph_tui.layers.oversight.redirects import UNWATCHED
from ralph_tui.layers.sensor.passing import passes_already
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.escalation import Escalation
from ralph_tui.loop.steps.offers import (
    ABORT,
    APPROVE,
    CONTINUE,
    DECLINE,
    EDIT,
    GUIDE,
    extensions,
    roll_back,
)
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.steps.redirect_material import redirect_words
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.state.goal import needed_words
from ralph_tui.text.terms import sender_label

_damped = PROFILES["damped"]
_gains = f"kp {_damped.kp:g}, ki {_damped.ki:g}, kd {_damped.kd:g}"
DAMPED = f"gentler corrections until completion improves: {_gains}"
UNANSWERED = "no answer in time"


def ended_by(answer: ev.QuestionAnswered) -> str:
    """Return the reason for an end caused by an answer, or by the lack of one."""
    return UNANSWERED if answer.by == SILENCE else f"aborted by {sender_label(answer.by)}"


class Overseer(Step):
    """Intervenes with the user in the loop, and keeps the health log."""

    def __init__(
        self, run: Run, checkpoints: Checkpoints, asker: QuestionAsker, escalation: Escalation
    ) -> None:
        super().__init__(run)
        self._checkpoints = checkpoints
        self._asker = asker
        self._escalation = escalation
        self._governor = run.layers.governor
        self._abort = ""
        """Why the run must end with this iteration; empty if it need not."""

    # -- step 13: InterventionSystem -------------------------------------------------------------

    def intervene(self, k: int, finding: Finding) -> None:
        """Carry out the highest intervention level; ask the user, and wait, if needed."""

        def act() -> bool:
            self._intervene(k, finding)
            return True

        instead = "no action is taken on this measurement, and you are notified"
        if not (self.guarded("oversight", act, lambda: False, instead=instead)):
            self._drop_redirect(k)
            self.report_failure(k)

    def report_failure(self, k: int) -> None:
        """Notify people, once per run, that the overseer itself failed."""
        if any(about == "oversight" for _, about in self._state.oversight.escalated):
            return
        text = (
            f"The overseer failed after iteration {k}. The run continues, unwatched until the "
            "overseer works again."
        )
        self._escalation(k, "critical", "oversight", text, UNWATCHED)

    def _drop_redirect(self, k: int) -> None:
        """Record a REDIRECT about which the user could not be asked as not approved."""
        made = self._state.oversight.undecided
        if made is not None and made.iteration == k and made.level == "REDIRECT":
            self._governor.answered(approved=False)
            self.record(
                ev.RedirectDecided(iteration=k, about=made.about, approved=False, by="a failure")
            )

    def _intervene(self, k: int, finding: Finding) -> None:
        if not finding.situations:
            return
        acts, *others = finding.situations
        fold = self._state.oversight
        if not (fold.interventions and fold.interventions[-1].iteration == k):
            self.record(
                ev.InterventionMade(
                    iteration=k,
                    level=acts.level,
                    about=acts.about,
                    reason=acts.reason,
                    others=beside(others),
                    recommendations=list(self._recommended(acts.about)),
                    would=acts.would,
                )
            )
        elif fold.undecided is None and acts.level != "ABORT":
            return  # already handled before the run was resumed
        match acts.level:
            case "REDIRECT":
                self._redirect(k, finding)
            case "PAUSE":
                self._pause(k, finding)
            case "ABORT":
                self._abort = acts.reason
                self._escalate(k, finding)
            case "LOG" | "WARN":
                pass

    def _redirect(self, k: int, finding: Finding) -> None:
        acts, *others = finding.situations
        settings, best = self._governor.oversight, (self._checkpoints.best_rollback())
        critical = ("critical", acts.about) in [(d.severity, d.name) for d in finding.detections]
        if critical:
            self._escalate(k, finding)
        self._check_health(k, finding, health_of(finding))  # counted while the question is open
        gate, proposal = self._state.gate.last, redirect_words(acts.about, self._state)
        failing = [f"failing now: {gate.failing_words}"] if gate and gate.failing else []
        if broken := self._state.gate.broken_words:  # then `failing` names modules, not tests
            failing = [broken]
        answer = self._earlier_answer or (
            self._asker.ask(
                ev.QuestionAsked(
                    iteration=k,
                    question_id="",
                    topic="redirect",
                    about=acts.about,
                    severity=finding.severity,
                    text=self._with_reason(acts.reason),
                    evidence=[*beside(others), *self._find_evidence(k), *failing],
                    proposal=proposal,
                    gains=DAMPED if acts.about == "oscillating" else "",
                    rollback=best,
                    options=[
                        APPROVE,
                        EDIT,
                        DECLINE,
                        *self._rollback_option(best, instructs=True),
                        ABORT,
                    ],
                    default="approve",
                ),
                within_s=0.0 if self._run.headless else settings.redirect_timeout_s,
                escalated=critical,
            )
        )
        self._carry_out(k, answer, best)
        if answer.answer != "abort":
            approved = answer.answer != "decline"
            self._governor.answered(approved=approved)
            self.record(
                ev.RedirectDecided(
                    iteration=k,
                    about=acts.about,
                    approved=approved,
                    by=answer.by,
                    instructions=(answer.text.strip() or proposal) if approved else "",
                )
            )

    def _pause(self, k: int, finding: Finding) -> None:
        acts, *others = finding.situations
        settings, best = self._governor.oversight, (self._checkpoints.best_rollback())
        self._escalate(k, finding)
        # A run that is merely slow or low on budget continues to its limit without an answer.
        default = "continue" if acts.continues else "abort"
        within = 0.0 if acts.continues and self._run.headless else settings.pause_timeout_s
        if within:  # this iteration's health check reports the wait
            self._check_health(k, finding, "paused")
        answer = self._earlier_answer or (
            self._asker.ask(
                ev.QuestionAsked(
                    iteration=k,
                    question_id="",
                    topic="pause",
                    about=acts.about,
                    severity=finding.severity,
                    text=self._with_reason(acts.reason),
                    evidence=[
                        *beside(others),
                        *self._find_evidence(k),
                        *(f"recommended: {what}" for what in self._recommended(acts.about)),
                    ],
                    rollback=best,
                    options=[
                        *(CONTINUE, GUIDE, *extensions(self._state)),
                        *(*self._rollback_option(best, instructs=False), ABORT),
                    ],
                    default=default,
                ),
                within_s=within,
                escalated=True,
            )
        )
        self._carry_out(k, answer, best)

    def _recommended(self, about: Subject) -> tuple[str, ...]:
        """Recommend only what is possible: no restore if the files are at their best."""
        return recommendations(about, at_best=self._checkpoints.better_snapshot() is None)

    def _rollback_option(self, best: Rollback | None, *, instructs: bool) -> list[Option]:
        readings = [100 * point.completion for point in self._state.control.points]
        return roll_back(best, instructs=instructs, readings=readings)

    def _with_reason(self, reason: str) -> str:
        """Return the reason for the question; if work alone cannot end the run, add what can."""
        if not passes_already(self._state):
            return reason
        ends = needed_words(self._state.run.started)
        return f"{reason.rstrip('.')}; the completion command already passes: {ends}"

    def _find_evidence(self, k: int) -> list[str]:
        """Return blockers and validation issues of the iteration, as evidence for a question."""
        known = self._state.intelligence
        assessed, validated = known.assessments.get(k), known.validations.get((k, "after"))
        blockers = assessed.blockers if assessed else []
        issues = validated.issues if validated else []
        return [
            *(f"{'still ' * one.standing}blocked by: {one.text}" for one in blockers),
            *(f"validation: {issue.text}" for issue in issues),
        ]

    def _carry_out(self, k: int, answer: ev.QuestionAnswered, best: Rollback | None) -> None:
        """Apply the answer to either kind of question."""
        match answer.answer:
            case "guide":
                self.record(
                    ev.GuidanceQueued(guidance_id=str(uuid4()), text=answer.text, by=answer.by)
                )
            case "extend":
                self.record(extended(self._state, answer.iterations, answer.budget_usd, answer.by))
            case "roll_back" if best is not None and self._state.oversight.owed is not None:
                self._scheduler.join()  # the later of two restores counts
                self._checkpoints.restore(best.snapshot, answer.by)
                self._scheduler.join()
            case "abort":
                self._abort = ended_by(answer)
                self.record(ev.AbortRequested(by=answer.by))
        if answer.by != SILENCE and answer.answer not in ("roll_back", "abort"):
            # The user may have changed files before answering.
            self._checkpoints.take_boundary(k, "after a question")

    @property
    def _earlier_answer(self) -> ev.QuestionAnswered | None:
        """An answer from before the run was resumed that has had no effect yet."""
        made = self._state.oversight.interventions[-1]
        return self._state.needs.answer if made.decision else None

    # -- step 14: Overseer -----------------------------------------------------------------------

    @guards("oversight", instead="this iteration has no health check")
    def check(self, k: int, finding: Finding) -> None:
        """Record the health check and the effects of earlier interventions."""
        for made in self._state.oversight.due(k):
            self.record(
                ev.EffectObserved(
                    iteration=k,
                    of=made.iteration,
                    level=made.level,
                    about=made.about,
                    decision=made.decision,
                    points=self._state.timeline.gained_since(made.iteration),
                    after=k - made.iteration,
                )
            )
        self._check_health(k, finding, health_of(finding))

    def _check_health(self, k: int, finding: Finding, status: Health) -> None:
        """Record one check per iteration."""
        checks = self._state.oversight.checks
        if checks and checks[-1].iteration == k:
            return
        self.record(health_check(k, status, finding, self._state.oversight.totals))

    def end_if_aborted(self) -> None:
        """Raise `Ended` if a decision made this iteration the last one."""
        if self._abort:
            raise Ended("aborted", self._abort)

    def record_abort(self, reason: str) -> None:
        """Record an abort by the user, or because no one answered, and notify people."""
        made = self._state.oversight.interventions
        if made and made[-1].level == "ABORT":
            return
        k = self._state.run.iteration
        silent = reason == UNANSWERED
        about: Subject = "unanswered" if silent else "owner"
        self.record(ev.InterventionMade(iteration=k, level="ABORT", about=about, reason=reason))
        level: EscalationLevel = "emergency" if silent else "info"
        self._escalation(k, level, about, reason)

    def _escalate(self, k: int, finding: Finding) -> None:
        acts = finding.situations[0]
        if (k, acts.about) in self._state.oversight.escalated:
            return
        level: EscalationLevel = "emergency" if acts.level == "ABORT" else "critical"
        self._escalation(
            k,
            level,
            acts.about,
            acts.reason,
            self._recommended(acts.about),
            finding.severity,
            finding.detected,
        )
