"""Build the prompt of an iteration from measurements.

The control law affects the agent only through the prompt's urgency and advice.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tui.events.control import Urgency
from ralph_tui.layers.intelligence.budget import fit
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.sections import sections_of
from ralph_tui.layers.intelligence.template import BUILT_IN_TEMPLATE, Template
from ralph_tui.text.format import points

NO_LIMIT = 1 << 60


@dataclass(frozen=True)
class Prompt:
    """A prompt as it is sent."""

    text: str
    urgency: Urgency
    tokens: int = 0
    """An estimate."""
    cut: tuple[str, ...] = ()
    """Names of the parts left out."""


def build_prompt(
    inputs: PromptInput, limit: int = NO_LIMIT, template: Template = BUILT_IN_TEMPLATE
) -> Prompt:
    """Build the whole prompt in Markdown, within `limit` tokens as far as possible."""
    urgency: Urgency = inputs.signal.urgency if inputs.signal else "normal"
    numbers = {
        "iteration": str(inputs.iteration),
        "max_iterations": str(inputs.max_iterations),
        "completion": points(inputs.reading.completion) if inputs.reading else "",
        "urgency": urgency,
    }

    def render(sections: Mapping[str, str]) -> str:
        return template.fill({**sections, **numbers})

    fitted = fit(sections_of(inputs), limit, render)
    return Prompt(fitted.text, urgency, fitted.tokens, fitted.cut)
