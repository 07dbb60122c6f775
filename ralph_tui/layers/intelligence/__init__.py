"""Layer 2, pure: what the agent is told, and an estimate of progress where nothing can be counted.

`build_prompt` decides what of a `PromptInput` a prompt says, and in which order.
"""

from ralph_tui.layers.intelligence.assessment import assess, estimate_progress, unassessed
from ralph_tui.layers.intelligence.evidence import Evidence, InnerLoop, Traces, gather
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.prompts import Prompt, build_prompt
from ralph_tui.layers.intelligence.sections import PROMISE
from ralph_tui.layers.settings import IntelligenceSettings

__all__ = [
    "PROMISE",
    "Evidence",
    "InnerLoop",
    "IntelligenceSettings",
    "Prompt",
    "PromptInput",
    "Traces",
    "assess",
    "build_prompt",
    "estimate_progress",
    "gather",
    "unassessed",
]
