"""The run in one sentence: does it need me, is it alive, and will it get there?

Rule: nothing else judges a run. Header, status, panes and report show this verdict. The prompt's
advice uses the same numbers, so it cannot contradict the verdict.
"""

from datetime import datetime

from ralph_tui.analysis.verdict.model import Verdict
from ralph_tui.analysis.verdict.waits import (
    LOST,
    UNHEARD,
    abort,
    gone,
    handoff,
    held,
    lost_word,
    pause,
    question,
    quiet,
    refused,
    wait,
    with_fallback,
)
from ralph_tui.analysis.verdict.work import (
    end,
    episode,
    iterations_left,
    leads,
    outlook,
    passing,
    unread,
    verifying,
)
from ralph_tui.state import RunState
from ralph_tui.text.keys import DEFAULTS, Keys

__all__ = ["LOST", "UNHEARD", "Verdict", "gone", "iterations_left", "leads", "lost_word", "verdict"]


def verdict(
    state: RunState,
    now: datetime,
    *,
    lost: bool | str = False,
    recorded: bool = False,
    keys: Keys | None = DEFAULTS,
) -> Verdict:
    """Return what the user should know first.

    `lost`: True if the run's process is gone without an end, or a sentence that says what happened.
    `recorded`: the run accepts no commands, so it does not need the user. `keys`: those of the
    screen that shows the verdict; None leaves keys out.
    """
    keys = None if recorded else keys
    return (
        end(state)
        or (gone(state, lost) if lost else None)
        or question(state, now, recorded=recorded, keys=keys)
        or abort(state)
        or wait(state, now, keys=keys)
        or pause(state, keys=keys)
        or refused(state, now, keys=keys)
        or held(state, keys=keys)
        or handoff(state)
        or passing(state)
        or unread(state)
        or episode(state)
        or quiet(state, now)
        or verifying(state)
        or with_fallback(outlook(state), state, now)
    )
