"""Layer 4, pure: what behaviour shows in the readings, and what is to be done about it.

`judge` answers each reading that Layer 1 has evaluated; `Oversight` is what it remembers.
"""

from ralph_tui.oversight.behavior import Detection, detect
from ralph_tui.oversight.episodes import Episode, Mark
from ralph_tui.oversight.levels import LEVELS, Level, Oversight, Situation, Verdict, judge
from ralph_tui.oversight.settings import OversightSettings

__all__ = [
    "LEVELS",
    "Detection",
    "Episode",
    "Level",
    "Mark",
    "Oversight",
    "OversightSettings",
    "Situation",
    "Verdict",
    "detect",
    "judge",
]
