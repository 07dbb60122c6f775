"""Layer 4: detect problems in the agent's behaviour and decide what to do about them.

`assess` judges each measurement evaluated by Layer 1; `Oversight` is its state.
"""

from ralph_tui.events.oversight import Level
from ralph_tui.layers.oversight.behavior import Detection, Evidence
from ralph_tui.layers.oversight.episodes import Episode, Mark
from ralph_tui.layers.oversight.levels import (
    LEVELS,
    Finding,
    Oversight,
    assess,
    health_check,
    health_of,
)
from ralph_tui.layers.oversight.redirects import propose, recommendations
from ralph_tui.layers.oversight.situations import Situation, beside
from ralph_tui.layers.oversight.trail import Trail
from ralph_tui.layers.settings import OversightSettings

__all__ = [
    "LEVELS",
    "Detection",
    "Episode",
    "Evidence",
    "Finding",
    "Level",
    "Mark",
    "Oversight",
    "OversightSettings",
    "Situation",
    "Trail",
    "assess",
    "beside",
    "health_check",
    "health_of",
    "propose",
    "recommendations",
]
