"""What a fleet does next, decided from how it stands and what time it is. Pure.

Usage: carry out what ``decide(state, now)`` gives, one after the other, record the event of each,
and ask again when an event has been folded, or when time has passed: at least once a second.
"""

from ralph_tui.fleet.decisions.values import *  # noqa: F403
from ralph_tui.fleet.decisions.values import Decision as Decision
