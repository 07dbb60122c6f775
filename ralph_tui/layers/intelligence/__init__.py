"""Layer 2: write the agent's prompts, and estimate progress if nothing can be counted.

`build_prompt` decides which parts of a `PromptInput` a prompt contains, and in which order.
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
