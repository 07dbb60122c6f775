"""The vocabulary of a fleet's journal: small facts, one line per change, in the past tense.

Each module lists its events in its own `__all__`: a new event touches that module alone.
"""

from ralph_tui.fleet.events.base import *  # noqa: F403
from ralph_tui.fleet.events.loops import *  # noqa: F403
from ralph_tui.fleet.events.results import *  # noqa: F403
from ralph_tui.fleet.events.whole import *  # noqa: F403
