"""The text of a prompt: composed from the state of the run, and edited afterwards. Pure."""

from dataclasses import dataclass, replace
from typing import Literal

from ralph_tui.config.settings import Settings
from ralph_tui.events import RunStarted
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.intelligence import Prompt, build_prompt
from ralph_tui.layers.intelligence.budget import estimate_tokens
from ralph_tui.layers.intelligence.fence import closed
from ralph_tui.layers.intelligence.template import BUILT_IN_TEMPLATE, Template
from ralph_tui.loop.steps.prompt_material import full_input, guidance_only
from ralph_tui.state import RunState

Origin = Literal["template", "model", "fallback"]


@dataclass(frozen=True)
class PromptText:
    """The prompt and system context that the agent gets."""

    prompt: Prompt
    system_context: str
    """Text that applies to every iteration."""
    composed: str = ""
    """The prompt composed by the template; empty with the intelligence layer off."""
    origin: Origin = "template"
    edited_by: str = ""
    own_layout: bool = False
    """True if the user's template was used."""
    model_urgency: str = ""
    """Urgency given by the model that worded the prompt; recorded, not sent."""


def basic_prompt(iteration: int, start: RunStarted, state: RunState) -> Prompt:
    """Return a prompt with only the user's words, for a run with the layer off."""
    return build_prompt(guidance_only(iteration, start, state))


def compose_prompt(
    iteration: int,
    start: RunStarted,
    state: RunState,
    control: Evaluation | None,
    settings: Settings,
    template: Template = BUILT_IN_TEMPLATE,
) -> Prompt:
    """Return the prompt for an iteration; with the intelligence layer off, only the user's words.

    `control` is None if the control layer is off.
    """
    if not settings.intelligence.enabled:
        return basic_prompt(iteration, start, state)
    known = full_input(iteration, start, state, control, settings)
    return build_prompt(known, settings.intelligence.prompt_budget_tokens, template)


def later_text(state: RunState, guidance: list[str], instructed: str) -> str:
    """Return the user's words since a prompt was written, as its last sections.

    `instructed`: the standing instruction that the prompt already has.
    """
    said = ""
    now = state.intelligence.standing_instruction
    if now != instructed:
        changed = now or "The standing instruction above was withdrawn. It no longer applies."
        said += f"\n\n# Standing instruction\n\n{closed(changed.strip())}\n"
    if guidance:
        words = "\n\n".join(closed(text.strip()) for text in guidance)
        said += f"\n\n# Guidance from the user\n\n{words}\n"
    return said


def with_text(words: PromptText, text: str) -> PromptText:
    """Return a copy with another text."""
    prompt = replace(words.prompt, text=text, tokens=estimate_tokens(text))
    return replace(words, prompt=prompt)
