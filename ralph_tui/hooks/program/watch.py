"""After each tool, check how full the window is, and act on it.

A hook's input does not include the size of the window.
"""

import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from ralph_tui.hooks.program import record
from ralph_tui.hooks.program.call import Call
from ralph_tui.hooks.program.transcript import Activity, read_activity
from ralph_tui.hooks.program.words import warning_text
from ralph_tui.layers.context.levels import DEFAULT, Level, Thresholds, level_of, percent_of, whole
from ralph_tui.layers.context.state_file import State, checkpoint_of, with_peak

THRESHOLDS = "context_thresholds"
"""Field of the state file: custom percentages for `warn`, `checkpoint` and `stop`."""


_POLLS, _POLL_S = 3, 0.015
"""Attempts to find the message that called the tool, and their interval in seconds.

A later message is handled after the next tool, or when the session stops.
"""
VARIABLE = "RALPH_CONTEXT_WINDOW"
FIELD = "context_window"
"""Field of the state file: the size of the context window."""
LEAST, LARGEST = 1000, 10**9

_SIZE = re.compile(r"([0-9]{1,10})([km]?)", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1000, "m": 1_000_000}
_RESERVED = 33_000
"""Number of tokens still free when Claude Code compacts its context."""
_CERTAIN = re.compile(
    r"claude-3-|claude-(?:opus-4-(?:1|5|2025\d{4})|haiku-4-5)(?![0-9])", re.IGNORECASE
)
"""Models that were only ever offered with a window of `_OF_CERTAIN` tokens."""
_OF_CERTAIN = 200_000


def watch(call: Call) -> None:
    """Handle a tool call: warn, hand off, or end the session, depending on the level."""
    fired = update_level(call, new_entries(call))
    if fired is None:
        return
    level, percent, _ = fired
    if level == "L1":
        warning = warning_text(whole(percent))
        call.answer.user.append(warning.partition("\n")[0])
        call.answer.model = warning
        early = compacts_before(fired.window, parse_thresholds(call.state).checkpoint, call.environ)
        call.answer.user += [f"ralph-tui: {early}"] if early else []
        return
    from ralph_tui.hooks.program.handoff import hand_off, repeat_end

    if call.session is not None and call.session.left:
        repeat_end(call, level, percent)
    else:
        hand_off(call, level, percent)


class LevelReached(NamedTuple):
    """A level that a session has reached for the first time."""

    level: Level
    percent: float
    window: int


def update_level(call: Call, activity: Activity) -> LevelReached | None:
    """Record the observations; return a level if the session reaches it now, else None."""
    if not has_handed_off(call, activity):
        _take_over(call)
    known = call.session
    new = known is None or known.iteration != call.iteration
    session = record.update_session(call, activity)
    window = find_window(call.environ, call.state, activity.model, activity.tokens)
    record.record_usage(call, activity, window.tokens)
    percent = percent_of(activity.tokens, window.tokens)
    if percent is None or window.tokens is None or activity.tokens is None:
        if activity.tokens is not None and window.problem:
            _warn_once(call, window.problem)
        return None
    call.state = with_peak(call.state, percent, new_session=new)
    if activity.tokens > window.tokens:
        _warn_once(call, overflow_text(window.tokens, activity.tokens))
    level = level_of(percent, parse_thresholds(call.state))
    # A subagent would get the message instead of the session, so wait for the next tool.
    if call.hook_input.agent_id or not session.is_new_level(level):
        return None
    call.session = (call.session or session)._replace(level=level)
    call.record(
        "context_level_reached",
        level=level,
        percent=percent,
        tokens=activity.tokens,
        window=window.tokens,
    )
    return LevelReached(level, percent, window.tokens)


def has_handed_off(call: Call, activity: Activity) -> bool:
    """True if the session has handed off and its window is still as full.

    A session whose window was emptied by a compaction can hand off again.
    """
    session = call.session
    if session is None or not session.left:
        return False
    window = find_window(call.environ, call.state, activity.model, activity.tokens)
    percent = percent_of(activity.tokens, window.tokens)
    if percent is None or percent >= parse_thresholds(call.state).checkpoint:
        return True
    call.session = session._replace(left=0, level="L0")
    return False


def new_entries(call: Call) -> Activity:
    """Return the transcript's entries since the last call; empty if it cannot be read."""
    path, since = call.transcript, call.session.seen if call.session else ""
    if not path.name:
        return Activity()
    try:
        activity = read_activity(path, since)
        for _ in range(_POLLS):
            if (
                not call.hook_input.tool_id
                or call.hook_input.agent_id
                or call.hook_input.tool_id in activity.tools
            ):
                break
            time.sleep(_POLL_S)  # wait until the message that called this tool is written
            activity = read_activity(path, since)
        return activity
    except FileNotFoundError:
        return Activity()  # it is created just after the first hook call
    except OSError as error:
        what = error.strerror or str(error)
        call.answer.problems.append(f"cannot read the session's transcript {path}: {what}")
        return Activity()


def parse_thresholds(state: State) -> Thresholds:
    """Return the valid thresholds of the state file, and defaults for the others."""
    found = state.get(THRESHOLDS)
    if not isinstance(found, dict):
        return DEFAULT
    taken = {
        name: float(value)
        for name, value in found.items()
        if name in Thresholds._fields and type(value) in (int, float) and 0 < value <= 100
    }
    return DEFAULT._replace(**taken)


def _take_over(call: Call) -> None:
    """Complete a checkpoint whose session ended without its Stop hook."""
    found = call.state["context_checkpoint"]
    owner = found.get("session_id")
    if checkpoint_of(call.state) is None or owner in (None, call.session_id):
        return
    from ralph_tui.hooks.program.handoff import complete_handoff

    mine, call.session_id = call.session_id, str(owner)
    complete_handoff(call)
    call.session_id = mine


def _warn_once(call: Call, problem: str) -> None:
    """Warn once per session that its window is unknown or wrong."""
    session = call.session
    if session is None or session.told:
        return
    call.session = session._replace(told=True)
    call.answer.warn(problem)


class Window(NamedTuple):
    """The size of the context window, if known."""

    tokens: int | None
    problem: str = ""
    """Why the size is unknown and what to do about it, in one sentence."""


def find_window(environ: Mapping[str, str], state: State, model: str, used: int | None) -> Window:
    """Return the size from the environment, else the state file, else the model's name if certain.

    The model's size is not used if more tokens are already in use.
    """
    named = environ.get(VARIABLE, "").strip()
    if named:
        size = parse_size(named)
        if size is None:
            return Window(
                None, f"{VARIABLE} must be a number of tokens, such as 200000, 200k or 1m"
            )
        return Window(size)
    kept = parse_size(state.get(FIELD))
    if kept is not None:
        return Window(kept)
    if _CERTAIN.match(model) and (used or 0) <= _OF_CERTAIN:
        return Window(_OF_CERTAIN)
    return Window(
        None,
        f"the size of the context window of {model or 'this model'} is unknown; set "
        f"{VARIABLE}, or {FIELD} in the state file, to its size in tokens (1000000, 200k); until "
        "then the hooks cannot tell how full it is",
    )


def compacts_before(window: int, checkpoint: float, environ: Mapping[str, str]) -> str:
    """Return a warning if Claude Code compacts its context before the checkpoint; else empty."""
    percent = max(0.0, 100 * (window - _RESERVED) / window)
    if percent >= checkpoint or environ.get("DISABLE_AUTO_COMPACT"):
        return ""
    return (
        f"Claude Code compacts its context at about {percent:.0f} %, before the "
        f"checkpoint at {checkpoint:.0f} %, unless you turned that off; start it with "
        "DISABLE_AUTO_COMPACT=1 (`env` in .claude/settings.json), or set context_thresholds in the "
        "state file"
    )


def overflow_text(window: int, used: int) -> str:
    """Return the warning for more tokens in use than the window has."""
    return (
        f"the context holds {used:,} tokens, more than its window of {window:,}, and "
        f"is treated as full; set {VARIABLE}, or {FIELD} in the state file, to its real size"
    )


def parse_size(value: object) -> int | None:
    """Parse a number of tokens, such as ``200k`` or ``1m``; None if invalid."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip().replace("_", "").replace(",", ""))
        value = int(found[1]) * _FACTORS[found[2].lower()] if found else None
    return value if isinstance(value, int) and LEAST <= value <= LARGEST else None
