"""Add a model's words to a prompt: they say what to do now, and replace no section.

A model has read what agents and tests wrote, so its words are in a fence that they cannot close.
The measured urgency applies; the model's urgency is used only if nothing was measured.
"""

from dataclasses import replace

from ralph_tui.layers.intelligence.answers import PromptAnswer
from ralph_tui.layers.intelligence.budget import estimate_tokens
from ralph_tui.layers.intelligence.fence import fenced, sanitize
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.prompts import Prompt, build_prompt
from ralph_tui.layers.intelligence.template import BUILT_IN_TEMPLATE, Template

SHARE = 0.5
"""Maximum share of the prompt's budget that a model's words may use."""
LEAD = (
    "A model wrote this for you from the measurements. Follow it unless it contradicts something "
    "outside this block:"
)


def model_prompt(
    inputs: PromptInput, answer: PromptAnswer, limit: int, template: Template = BUILT_IN_TEMPLATE
) -> Prompt:
    """Build the prompt within `limit` tokens; ``ValueError`` if the model's words are too long."""
    words = _words(answer)
    tokens = estimate_tokens(words)
    if tokens > limit * SHARE:
        raise ValueError(f"its {tokens:,} tokens are more than half of the prompt's budget")
    section = f"# What to do now\n\n{LEAD}\n\n{words}"
    prompt = build_prompt(inputs, limit, template.before("contract", section))
    return prompt if inputs.signal else replace(prompt, urgency=answer.urgency)


def _words(answer: PromptAnswer) -> str:
    focus = "\n".join(f"{number}. {text}" for number, text in enumerate(answer.focus_areas, 1))
    parts = [answer.prompt, focus and f"Focus on:\n{focus}", answer.system_context]
    return fenced(sanitize("\n\n".join(part.strip() for part in parts if part.strip())), "text")
