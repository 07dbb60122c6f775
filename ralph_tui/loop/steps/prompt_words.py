"""The words of a prompt: composed of what is known, and changed afterwards. Pure."""

from dataclasses import dataclass, replace
from typing import Literal

from ralph_tui.config.settings import Settings
from ralph_tui.events import RunStarted
from ralph_tui.layers.control import Evaluation
from ralph_tui.layers.intelligence import Prompt, build_prompt
from ralph_tui.layers.intelligence.budget import estimate_tokens
from ralph_tui.layers.intelligence.fence import closed
from ralph_tui.layers.intelligence.template import BUILT_IN_TEMPLATE, Template
from ralph_tui.loop.steps.prompt_material import all_known, said_only
from ralph_tui.state import RunState

Origin = Literal["template", "model", "fallback"]
"""As of `PromptPrepared`."""


@dataclass(frozen=True)
class Words:
    """What the agent is told."""

    prompt: Prompt
    system_context: str
    """What holds for every iteration."""
    composed: str = ""
    """The prompt as the template has it; empty with the layer switched off."""
    origin: Origin = "template"
    edited_by: str = ""
    own_layout: bool = False
    """Whether the user's template was used."""
    model_urgency: str = ""
    """What the model that worded it called its urgency; recorded, and not sent."""


def basic_prompt(iteration: int, start: RunStarted, state: RunState) -> Prompt:
    """What the owner has said, and nothing that is derived: with the layer off."""
    return build_prompt(said_only(iteration, start, state))


def compose_prompt(
    iteration: int,
    start: RunStarted,
    state: RunState,
    control: Evaluation | None,
    settings: Settings,
    template: Template = BUILT_IN_TEMPLATE,
) -> Prompt:
    """All that is known of the run, in words; with the layer off what the owner has said alone.

    `control` is None with that layer off.
    """
    if not settings.intelligence.enabled:
        return basic_prompt(iteration, start, state)
    known = all_known(iteration, start, state, control, settings)
    return build_prompt(known, settings.intelligence.prompt_budget_tokens, template)


def later_words(state: RunState, guidance: list[str], instructed: str) -> str:
    """What the owner has said since a prompt was written, as its last sections.

    `instructed` is the standing instruction that it has.
    """
    said = ""
    now = state.intelligence.standing_instruction
    if now != instructed:
        changed = now or "The standing instruction above was taken back: it does not hold any more."
        said += f"\n\n# Standing instruction\n\n{closed(changed.strip())}\n"
    if guidance:
        words = "\n\n".join(closed(text.strip()) for text in guidance)
        said += f"\n\n# Guidance from the user\n\n{words}\n"
    return said


def reworded(words: Words, text: str) -> Words:
    """The same with another text."""
    prompt = replace(words.prompt, text=text, tokens=estimate_tokens(text))
    return replace(words, prompt=prompt)
