"""Step 9: write the prompt of an iteration from the state of the run."""

from dataclasses import replace
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.events.waiting import Option
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.intelligence import Prompt
from ralph_tui.layers.intelligence.answers import PromptAnswer
from ralph_tui.layers.intelligence.fence import closed, sanitize
from ralph_tui.layers.intelligence.handoff_section import resume_section
from ralph_tui.layers.intelligence.model_prompt import model_prompt
from ralph_tui.layers.intelligence.plain import plain_prompt, sound
from ralph_tui.layers.intelligence.questions import prompt_question
from ralph_tui.layers.intelligence.system_context import system_context
from ralph_tui.layers.intelligence.template import BUILT_IN_TEMPLATE, Template, missing_parts
from ralph_tui.layers.memory.prompt import learning_line
from ralph_tui.layers.sensor.passing import needs_promise
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.loop.steps.assessment import Assessment
from ralph_tui.loop.steps.model_help import ModelHelp
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.prompt_material import full_input, guidance_only
from ralph_tui.loop.steps.prompt_text import (
    Origin,
    PromptText,
    compose_prompt,
    later_text,
    with_text,
)
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.text.terms import sender_label

SEND = Option(key="y", answer="send", verb="send it unchanged")
EDIT = Option(key="e", answer="send", verb="edit it, then send it", takes="instructions")
MAX_EDITABLE = 100_000
"""Maximum length of a prompt that the user can edit, in characters."""
NEXT_PROMPT = "next-prompt.md"
SYSTEM_CONTEXT = "system-context.md"


class PromptWriter(Step):
    """Writes the prompt of each iteration."""

    def __init__(
        self, run: Run, asker: QuestionAsker, models: ModelHelp, assessment: Assessment
    ) -> None:
        super().__init__(run)
        self._assessment = assessment
        self._models = models
        self._records = run.ports.records
        self._start = run.start
        self._settings = run.settings
        self._asker = asker
        self._warned_too_long = False
        self._given = run.ports.template
        self._template_now: str | None = None
        """The user's template as it was last read."""
        self._answer: PromptAnswer | None = None
        """A model's wording of this iteration's prompt."""
        self._user_edit: tuple[PromptText, str] | None = None
        """This iteration's prompt as you edited it, and the standing instruction it contains."""

    def write(self, k: int, control: Evaluation | None) -> PromptText:
        """Write the prompt; `control` is None if that layer is off or nothing is measured yet."""
        self._answer = self._user_edit = None
        words = self._compose(k, control)
        words = self._reword(k, control, words)
        words, included = self._offer_edit(k, words)
        self._save(k, words, included)
        return words

    def rewrite(self, k: int) -> PromptText:
        """Write the prompt for the iteration's next session: the same prompt plus the handoff.

        Neither the user nor a model is asked again: your edit, or else a model's wording, is
        reused.
        """
        governor = self._run.layers.governor
        control = governor.evaluation if self._settings.control.enabled else None
        words = self._compose(k, control)
        words = self.guarded(
            "intelligence",
            lambda: self._reuse(k, control, words),
            lambda: words,
            instead="the template's prompt is sent",
        )
        words = replace(words, composed="")  # the iteration's composed prompt is already saved
        self._save(k, words, [item.guidance_id for item in self._state.guidance.queued])
        return words

    def _compose(self, k: int, control: Evaluation | None) -> PromptText:
        start, state, settings = self._start, self._state, self._settings
        limit, enabled = settings.intelligence.prompt_budget_tokens, settings.intelligence.enabled
        prompt: Prompt | None = None
        own_layout = False
        origin: Origin = "template"
        if self._given is not None and enabled:
            self._check_template()
            template = self._given.template
            prompt = self.guarded(
                "intelligence",
                lambda: sound(
                    compose_prompt(k, start, state, control, settings, template),
                    guidance_only(k, start, state),
                    whole=False,
                ),
                lambda: None,
                instead=f"the built-in layout is used instead of {self._given.name}",
            )
            own_layout = prompt is not None
        if prompt is None:
            prompt = self.guarded(
                "intelligence",
                lambda: sound(
                    compose_prompt(k, start, state, control, settings),
                    guidance_only(k, start, state),
                ),
                lambda: None,
                instead="the prompt contains no measurements",
            )
        if prompt is None:
            prompt, origin = plain_prompt(guidance_only(k, start, state)), "fallback"
        if prompt.tokens > limit and not self._warned_too_long:
            self._warned_too_long = True
            self._warn(
                f"the prompt has about {prompt.tokens:,} tokens, more than "
                f"intelligence.prompt_budget_tokens ({limit:,}): the objective, criteria and your "
                "own text are never cut; shorten them, or raise the budget"
            )
        asks = state.needs.mode == "ask" and start.mode != "headless"
        context = self.guarded(
            "intelligence",
            lambda: _text(
                system_context(
                    start.command or "",
                    criterion=bool(self._run.goal.criterion),
                    promise=needs_promise(state),
                    asks=asks,
                )
            ),
            lambda: "",
            instead="the agent gets only the prompt",
        )
        composed = prompt.text if enabled else ""
        return PromptText(prompt, context, composed, origin, own_layout=own_layout)

    @guards("intelligence", instead="the template is not checked")
    def _check_template(self) -> None:
        """Report, once each, the missing parts of the user's template and any change of it."""
        given = self._given
        assert given is not None
        if self._template_now is None:
            self._template_now = given.text
            for what in missing_parts(given.template):
                self._warn(f"prompt template {given.name}: {what}")

        def read() -> str:
            try:
                return given.read()
            except UsageError as error:
                return str(error)

        now = self._scheduler.run_job("template", read)
        if now not in (self._template_now, given.text):
            self._warn(
                f"the prompt template {given.name} has changed since this run began; the run keeps "
                "using the old version"
            )
        self._template_now = now

    def _warn(self, text: str) -> None:
        self.record(ev.Noticed(level="warn", source="intelligence", text=text))

    def _reword(self, k: int, control: Evaluation | None, words: PromptText) -> PromptText:
        """Let a model word the prompt, if enabled; otherwise keep the template's words."""
        limit = self._settings.intelligence.prompt_budget_tokens
        if not words.composed or not self._models.is_enabled("prompt"):
            return words
        made: list[Prompt] = []

        def accept(answer: PromptAnswer) -> None:
            known = full_input(k, self._start, self._state, control, self._settings)
            made.append(sound(model_prompt(known, answer, limit, self._template(words)), known))

        answer = self._models.ask(
            "prompt", k, lambda: prompt_question(words.composed), PromptAnswer, accept
        )
        if answer is None or not made:
            return words
        self._answer = answer
        return replace(words, prompt=made[-1], origin="model", model_urgency=answer.urgency)

    def _reuse(self, k: int, control: Evaluation | None, words: PromptText) -> PromptText:
        """Reuse your edit, or a model's wording, from the iteration's first session."""
        known = full_input(k, self._start, self._state, control, self._settings)
        if self._user_edit is not None:
            yours, instructed = self._user_edit
            queued = [item.text for item in self._state.guidance.queued]
            said = later_text(self._state, queued, instructed)
            text = f"{resume_section(known).text()}\n\n{closed(yours.prompt.text.rstrip())}{said}"
            return replace(with_text(yours, f"{text.rstrip()}\n"), composed=words.composed)
        if self._answer is None:
            return words
        limit = self._settings.intelligence.prompt_budget_tokens
        layout = self._template(words)
        prompt = sound(model_prompt(known, self._answer, limit, layout), known)
        return replace(words, prompt=prompt, origin="model", model_urgency=self._answer.urgency)

    def _template(self, words: PromptText) -> Template:
        """Return the template of the prompt."""
        return self._given.template if self._given and words.own_layout else BUILT_IN_TEMPLATE

    def _offer_edit(self, k: int, words: PromptText) -> tuple[PromptText, list[str]]:
        """Let the user edit the prompt if requested; also return the ids of the guidance in it."""
        queued = self._state.guidance.queued
        if not self._state.intelligence.edit_requested or self._run.headless:
            return words, [item.guidance_id for item in queued]
        instructed = self._state.intelligence.standing_instruction
        words = self._edited(k, words)
        if words.edited_by:
            self._user_edit = words, instructed
        included = {item.guidance_id for item in queued}
        later = [i for i in self._state.guidance.queued if i.guidance_id not in included]
        said = later_text(self._state, [item.text for item in later], instructed)
        words = with_text(words, f"{closed(words.prompt.text.rstrip())}{said}") if said else words
        return words, [*included, *(item.guidance_id for item in later)]

    def _edited(self, k: int, words: PromptText) -> PromptText:
        proposed = words.prompt.text
        if len(proposed) > MAX_EDITABLE:
            self._warn(
                f"the prompt of iteration {k} has more than {MAX_EDITABLE:,} characters, too long "
                "to edit here: it is sent unchanged"
            )
            return words
        answer = self._asker.ask(
            ev.QuestionAsked(
                iteration=k,
                question_id="",
                topic="prompt",
                text=f"The prompt of iteration {k} is ready. Send it, or edit it first?",
                proposal=proposed,
                options=[SEND, EDIT, ABORT],
                default="send",
            ),
            within_s=self._settings.oversight.redirect_timeout_s,
        )
        if answer.answer == "abort":
            self.record(ev.AbortRequested(by=answer.by))
            raise Ended("aborted", f"aborted by {sender_label(answer.by)}; the work stays as it is")
        text = answer.text.strip()
        if not text or text == proposed.strip():
            return words
        return replace(with_text(words, f"{text}\n"), edited_by=answer.by)

    def _save(self, k: int, words: PromptText, guidance: list[str]) -> None:
        """Save the prompt and its system context, then record it, before it is sent."""
        records, prompt = self._records, words.prompt

        if self._assessment.path:
            self._assessment.save()  # with the priorities
        before = k - 1  # the iteration whose result led to this prompt
        contents = {NEXT_PROMPT: words.composed, SYSTEM_CONTEXT: words.system_context}

        def write_beside() -> dict[str, str]:
            return {
                name: records.relative(records.write_iteration_file(before, name, content))
                for name, content in contents.items()
                if content or name == SYSTEM_CONTEXT
            }

        def refuse() -> Path:
            raise WorkspaceError(f"the prompt of iteration {k} could not be saved; see the log")

        nothing: dict[str, str] = {}
        paths = self.guarded(
            "records",
            lambda: self._scheduler.run_job("prompt", write_beside),
            lambda: nothing,
            instead=f"{NEXT_PROMPT} and {SYSTEM_CONTEXT} are not written",
        )
        path = self.guarded(
            "records",
            lambda: self._scheduler.run_job("prompt", lambda: records.write_prompt(k, prompt.text)),
            refuse,
            instead="a prompt must be saved before it is sent",
        )
        self.record(
            ev.PromptPrepared(
                iteration=k,
                path=records.relative(path),
                urgency=prompt.urgency,
                characters=len(prompt.text),
                guidance=guidance,
                tokens=prompt.tokens,
                cut=list(prompt.cut),
                origin=words.origin,
                edited_by=words.edited_by,
                system_context=paths.get(SYSTEM_CONTEXT, ""),
                assessment=self._assessment.path,
                next_prompt=paths.get(NEXT_PROMPT, ""),
                learnings=self._learning_ids(k, prompt.text),
                model_urgency=words.model_urgency,
            )
        )
        for guidance_id in guidance:
            self.record(ev.GuidanceDelivered(guidance_id=guidance_id, into="prompt"))

    def _learning_ids(self, k: int, text: str) -> list[str]:
        """Return the ids of the learnings that the prompt actually contains."""
        looked_up = self._state.memory.for_prompt(k)
        lines = set(text.splitlines())
        return [one.learning_id for one in looked_up if sanitize(learning_line(one)) in lines]


def _text(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"expected text, not a {type(text).__name__}")
    return text
