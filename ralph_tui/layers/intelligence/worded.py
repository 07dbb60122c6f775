"""A prompt in a model's words: beside them stands all that must not get lost.

The objective, what you have said, the measured state and the contract come from us as they are. A
model has read what agents and tests wrote, so its words stand in a fence that they cannot close:
they say what to work on, and replace nothing of what stands around them.
"""

from dataclasses import replace

from ralph_tui.layers.intelligence.answers import PromptAnswer
from ralph_tui.layers.intelligence.budget import estimate_tokens
from ralph_tui.layers.intelligence.fence import fenced, harmless
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.prompts import Prompt, build_prompt
from ralph_tui.layers.intelligence.template import Template

BEFORE = (
    "objective", "criteria", "cut", "resume", "instruction", "guidance", "redirect", "state",
    "verdict",
)  # fmt: skip
"""What stands before the model's words, as in the built-in layout."""
SHARE = 0.5
"""Of the prompt's budget, that a model's words may take."""
LEAD = (
    "A model has looked at what is measured and worded this for you. Work by it, as far as it does "
    "not contradict what stands outside of this block:"
)


def worded_prompt(given: PromptInput, answer: PromptAnswer, limit: int) -> Prompt:
    """The prompt, of at most `limit` tokens; ``ValueError`` where a model's words are too long."""
    words = _words(answer)
    tokens = estimate_tokens(words)
    if tokens > limit * SHARE:
        raise ValueError(f"its {tokens:,} tokens are more than half of the prompt's budget")
    section = f"# What to do now\n\n{LEAD}\n\n{words}"
    pieces = [("\n\n", name) for name in BEFORE]
    template = Template((*pieces, (f"\n\n{section}\n\n", "contract"), ("", "")))
    prompt = build_prompt(given, limit, template)
    return prompt if given.signal else replace(prompt, urgency=answer.urgency)


def _words(answer: PromptAnswer) -> str:
    focus = "\n".join(f"{number}. {text}" for number, text in enumerate(answer.focus_areas, 1))
    parts = [answer.prompt, focus and f"Focus on:\n{focus}", answer.system_context]
    return fenced(harmless("\n\n".join(part.strip() for part in parts if part.strip())), "text")
