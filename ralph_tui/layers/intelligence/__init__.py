"""Layer 2, pure: what the agent is told, and an estimate of progress where nothing can be counted.

`build_prompt` decides what of a `PromptInput` a prompt says, and in which order.
"""

from ralph_tui.layers.intelligence.assessment import estimate_progress
from ralph_tui.layers.intelligence.prompts import PROMISE, Prompt, PromptInput, build_prompt
from ralph_tui.layers.intelligence.settings import IntelligenceSettings

__all__ = [
    "PROMISE",
    "IntelligenceSettings",
    "Prompt",
    "PromptInput",
    "build_prompt",
    "estimate_progress",
]
