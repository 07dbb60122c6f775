"""Questions to models outside the agent's sessions: one question, one answer, two events.

A question is a job: the run still handles user commands, and the end of the run cancels it. After a
failure, which the log reports in one line, the caller continues without an answer.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Controls
from ralph_tui.events import Event, ModelAnswered, ModelAsked, Noticed
from ralph_tui.events.intelligence import Purpose
from ralph_tui.layers.inputs import budget_of
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.intelligence.answers import Form, read
from ralph_tui.layers.intelligence.questions import repair_question
from ralph_tui.layers.settings import ContextSettings
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.ports.agents import Ask, Asked

WORDS: dict[Purpose, str] = {
    "prompt": "prompt",
    "assessment": "second opinion",
    "reflection": "reflection",
    "judge": "verdict",
    "handoff": "handoff",
}
"""Names of the answers in log messages."""
INSTEAD: dict[Purpose, str] = {
    "prompt": "the template's prompt is sent",
    "assessment": "the assessment is used unchanged",
    "reflection": "the template's reflection is used",
    "judge": "you are asked instead",
    "handoff": "the template's handoff is used",
}
"""The consequence of a missing answer, for log messages."""
SHORTEST_S = 1.0
"""Minimum time left, in seconds, to ask the model again within the same time limit."""
REPAIRED: tuple[Purpose, ...] = ("prompt",)
"""Purposes for which ralph-tui repeats the question if the answer cannot be used."""
LATE_S = 5.0
"""Seconds to wait for a late answer, or for a question to be cancelled."""
MAX_REPLY = 4000
"""Maximum length, in characters, of the unusable answer quoted in the repeated question."""
CANCELLED = "The question was cancelled because the run is ending."


@dataclass(frozen=True)
class _Help:
    """The settings for a purpose."""

    wanted: bool
    model: str
    timeout_s: float


class ModelHelp(Step):
    """Asks models, within the budgets of the run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._start = run.start
        self._asker = run.ports.asker
        self._askers = run.ports.askers
        self._settings = run.settings.intelligence
        self._context = run.settings.context
        self._reported_budget = False

    def is_enabled(self, purpose: Purpose) -> bool:
        """True if this help is on and the agent can answer questions."""
        return self._help_for(purpose).wanted

    def model(self, purpose: Purpose) -> str:
        """Return the model to ask."""
        return self._help_for(purpose).model

    def warn(self) -> None:
        """Report, once at the start, model help that is on but not available."""
        if self._asker is None and (wanted := enabled_settings(self._settings, self._context)):
            names = ", ".join(wanted)
            can = " or ".join(f"`{name}`" for name in self._askers) or "no agent"
            text = (
                f"{names} {'is' if len(wanted) == 1 else 'are'} on but ignored: the agent "
                f"`{self._start.agent}` cannot answer questions; {can} can"
            )
            self.record(Noticed(level="warn", source="model help", text=text))

    def ask(
        self,
        purpose: Purpose,
        k: int,
        question: Callable[[], str],
        form: type[Form],
        accept: Callable[[Form], object] = lambda answer: None,
    ) -> Form | None:
        """Return the answer as a `form`; None, with a log message, if there is no usable one.

        `accept` raises ``ValueError`` for an answer that cannot be used.
        """
        if not self.is_enabled(purpose) or not (self._can_afford()):
            return None
        answer = self.guarded(
            "intelligence",
            lambda: self._answer(purpose, k, question(), partial(_read, form, accept)),
            lambda: None,
            instead=INSTEAD[purpose],
        )
        if (left := self._state.intelligence.asked) is not None:
            self.record(_answered(left, Asked(None), 0.0, "The model could not be asked."))
        return answer

    def _answer(
        self,
        purpose: Purpose,
        k: int,
        words: str,
        check: Callable[[Asked], tuple[Form | None, str]],
    ) -> Form | None:
        until = self._scheduler.host.clock.monotonic() + self._help_for(purpose).timeout_s
        answer, asked, error = self._once(purpose, k, words, check, until)
        said = asked.said or (json.dumps(asked.answer)[:MAX_REPLY] if asked.answer else "")
        left = until - self._scheduler.host.clock.monotonic()
        if answer is None and said and purpose in REPAIRED and left >= SHORTEST_S:
            words = repair_question(words, said, error)
            answer, asked, error = self._once(purpose, k, words, check, until)
        if answer is None:
            why = f"{error[:1].lower()}{error[1:]}".rstrip(".")
            text = f"the model's {WORDS[purpose]} cannot be used: {why}; {INSTEAD[purpose]}"
            self.record(Noticed(level="warn", source="model help", text=text))
        return answer

    def _once(
        self,
        purpose: Purpose,
        k: int,
        words: str,
        check: Callable[[Asked], tuple[Form | None, str]],
        until: float,
    ) -> tuple[Form | None, Asked, str]:
        """Ask one question; return its answer, the raw reply, and why the reply is unusable."""
        clock = self._scheduler.host.clock
        began = clock.monotonic()
        ask = Ask(words, self.model(purpose), until - began)
        event = ModelAsked(
            iteration=k,
            question_id=str(uuid4()),
            purpose=purpose,
            model=self.model(purpose),
            timeout_s=ask.timeout_s,
        )
        self.record(event)
        try:
            asked = self._wait(ask)
        except Ended:
            self.record(_answered(event, Asked(None), clock.monotonic() - began, CANCELLED))
            raise
        answer, error = check(asked)
        self.record(_answered(event, asked, clock.monotonic() - began, error))
        return answer, asked, error

    def _wait(self, ask: Ask) -> Asked:
        """Wait for the reply, up to its time limit; the end of the run cancels the question."""
        asker, clock = self._asker, self._scheduler.host.clock
        assert asker is not None
        latest = clock.monotonic() + ask.timeout_s + LATE_S

        def cancel() -> None:
            nonlocal latest
            ask.cancelled = True
            latest = min(latest, clock.monotonic() + LATE_S)

        job = self._scheduler.host.start("question", lambda: asker.ask(ask))
        with self._scheduler.accepting(Controls(cancel=cancel)):
            self._scheduler.wait_until(lambda: job.done or clock.monotonic() >= latest)
        match job.error, job.result:
            case None, Asked() as asked:
                return asked
            case None, _:
                ask.cancelled = True
                return Asked(None, f"No answer within {ask.timeout_s:.0f} s.")
            case (RalphError() | OSError()) as error, _:
                return Asked(None, f"The model could not be asked: {error}")
            case error, _:
                raise error

    def _can_afford(self) -> bool:
        """True if the budgets allow another question."""
        run, start = self._state.run, self._start
        used = (
            budget_of(self._state).spent >= 1
            or _reached(run.iteration_cost_usd, start.iteration_budget_usd)
            or _reached(run.iteration_tokens, start.iteration_budget_tokens)
        )
        if used and not self._reported_budget:
            self._reported_budget = True
            text = "no model is consulted: the budget is used up"
            self.record(Noticed(source="model help", text=text))
        return not used

    def _help_for(self, purpose: Purpose) -> _Help:
        s, c = self._settings, self._context
        if purpose == "handoff":
            chosen = c.model_handoff, c.model_handoff_model, c.model_handoff_timeout_s
            return self._of(*chosen)
        wanted, model, timeout_s = {
            "prompt": (s.model_prompts, s.model_prompts_model, s.model_prompts_timeout_s),
            "assessment": (
                s.model_assessment,
                s.model_assessment_model,
                s.model_assessment_timeout_s,
            ),
            "reflection": (
                s.model_reflections,
                s.model_reflections_model,
                s.model_reflections_timeout_s,
            ),
            "judge": (s.model_judge, s.model_judge_model, s.model_judge_timeout_s),
        }[purpose]
        return self._of(wanted and s.enabled, model, timeout_s)

    def _of(self, wanted: bool, model: str | None, timeout_s: float) -> _Help:  # noqa: FBT001
        small = self._asker.small_model if self._asker is not None else ""
        return _Help(wanted and self._asker is not None, model or small, timeout_s)


def enabled_settings(settings: IntelligenceSettings, context: ContextSettings) -> list[str]:
    """List the settings in effect that make ralph-tui ask a model."""
    names = ("model_prompts", "model_assessment", "model_reflections", "model_judge")
    on = [f"intelligence.{name}" for name in names if settings.enabled and getattr(settings, name)]
    return [*on, *(["context.model_handoff"] if context.model_handoff else [])]


def _answered(event: ModelAsked, asked: Asked, seconds: float, error: str) -> Event:
    return ModelAnswered(
        iteration=event.iteration,
        question_id=event.question_id,
        purpose=event.purpose,
        model=event.model,
        seconds=max(0.0, seconds),
        cost_usd=asked.cost_usd,
        tokens=asked.tokens,
        error=error,
    )


def _read(
    form: type[Form], accept: Callable[[Form], object], asked: Asked
) -> tuple[Form | None, str]:
    if asked.answer is None:
        return None, asked.error or "No answer."
    try:
        answer = read(form, asked.answer)
    except ValueError as error:
        return None, f"The answer does not have the requested form ({error})."
    try:
        accept(answer)
    except ValueError as error:
        return None, f"The answer cannot be sent: {error}."
    return answer, ""


def _reached(used: float, limit: float | None) -> bool:
    return limit is not None and used >= limit
