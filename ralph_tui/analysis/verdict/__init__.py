"""The run in one sentence: does it need me, is it alive, and will it get there.

Rule: nothing else judges a run. Header, status, panes and report say this, and the prompt's advice,
which asks the same numbers, cannot contradict it.
"""

from datetime import datetime

from ralph_tui.analysis.verdict.holds import (
    LOST,
    UNHEARD,
    giving_up,
    gone,
    gone_word,
    handing_over,
    held,
    pause,
    question,
    quiet,
    refused,
    standing_in,
    wait,
)
from ralph_tui.analysis.verdict.model import Verdict
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

__all__ = ["LOST", "UNHEARD", "Verdict", "gone", "gone_word", "iterations_left", "leads", "verdict"]


def verdict(
    state: RunState,
    now: datetime,
    *,
    lost: bool | str = False,
    recorded: bool = False,
    keys: Keys | None = DEFAULTS,
) -> Verdict:
    """What the owner should know first; `lost`: the run's process is gone, without an
    end, or a sentence that says what else became of it.

    `recorded`: nobody can command what is shown, so nobody is needed. `keys`: of a screen that
    offers them; None: nobody can press one, and the same is said without.
    """
    keys = None if recorded else keys
    return (
        end(state)
        or (gone(state, lost) if lost else None)
        or question(state, now, recorded=recorded, keys=keys)
        or giving_up(state)
        or wait(state, now, keys=keys)
        or pause(state, keys=keys)
        or refused(state, now, keys=keys)
        or held(state, keys=keys)
        or handing_over(state)
        or passing(state)
        or unread(state)
        or episode(state)
        or quiet(state, now)
        or verifying(state)
        or standing_in(outlook(state), state, now)
    )
