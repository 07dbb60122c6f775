"""After each tool, check how full the window is, and act on it.

A hook's input does not tell the size of the window.
"""

import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from ralph_tui.hooks.program import record
from ralph_tui.hooks.program.call import Call
from ralph_tui.hooks.program.transcript import Heard, listen
from ralph_tui.hooks.program.words import warning_of
from ralph_tui.layers.context.levels import DEFAULT, Level, Thresholds, level_of, percent_of, whole
from ralph_tui.layers.context.state_file import State, checkpoint_of, with_peak

THRESHOLDS = "context_thresholds"
"""Field of the state file: different percentages for `warn`, `checkpoint` and `stop`."""


_LOOKS, _LOOK_S = 3, 0.015
"""Attempts to find the message that called the tool, and their interval in seconds.

A later message is handled after the next tool, or when the session stops.
"""
VARIABLE = "RALPH_CONTEXT_WINDOW"
FIELD = "context_window"
"""Field of the state file."""
LEAST, LARGEST = 1000, 10**9

_SIZE = re.compile(r"([0-9]{1,10})([km]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1000, "m": 1_000_000}
_LEFT_OVER = 33_000
"""Tokens that are still free when Claude Code compacts its context."""
_CERTAIN = re.compile(
    r"claude-3-|claude-(?:opus-4-(?:1|5|2025\d{4})|haiku-4-5)(?![0-9])", re.IGNORECASE
)
"""Models that were only ever offered with `_OF_CERTAIN` tokens."""
_OF_CERTAIN = 200_000


def watch(call: Call) -> None:
    """Handle a tool call: warn, hand off, or end the session, depending on the level."""
    fired = take_in(call, new_entries(call))
    if fired is None:
        return
    level, percent, _ = fired
    if level == "L1":
        warning = warning_of(whole(percent))
        call.answer.user.append(warning.partition("\n")[0])
        call.answer.model = warning
        early = sums_up_before(fired.window, thresholds_of(call.state).checkpoint, call.environ)
        call.answer.user += [f"ralph-tui: {early}"] if early else []
        return
    from ralph_tui.hooks.program.rollover import end_again, roll_over

    if call.session is not None and call.session.left:
        end_again(call, level, percent)
    else:
        roll_over(call, level, percent)


class Fired(NamedTuple):
    """A level that a session has reached for the first time."""

    level: Level
    percent: float
    window: int


def take_in(call: Call, heard: Heard) -> Fired | None:
    """Record the observations; return a level if the session reaches it now, else None."""
    if not has_left(call, heard):
        _take_over(call)
    known = call.session
    new = known is None or known.iteration != call.iteration
    session = record.take_in(call, heard)
    window = window_of(call.environ, call.state, heard.model, heard.tokens)
    record.usage(call, heard, window.tokens)
    percent = percent_of(heard.tokens, window.tokens)
    if percent is None or window.tokens is None or heard.tokens is None:
        if heard.tokens is not None and window.problem:
            _tell_once(call, window.problem)
        return None
    call.state = with_peak(call.state, percent, new_session=new)
    if heard.tokens > window.tokens:
        _tell_once(call, contradicted(window.tokens, heard.tokens))
    level = level_of(percent, thresholds_of(call.state))
    # A subagent would get the message instead of the session, so wait for the next tool.
    if call.given.agent_id or not session.fires(level):
        return None
    call.session = (call.session or session)._replace(level=level)
    call.record(
        "context_level_reached",
        level=level,
        percent=percent,
        tokens=heard.tokens,
        window=window.tokens,
    )
    return Fired(level, percent, window.tokens)


def has_left(call: Call, heard: Heard) -> bool:
    """True if the session has handed off and its window is still as full.

    A session whose window was emptied by a compaction can hand off again.
    """
    session = call.session
    if session is None or not session.left:
        return False
    window = window_of(call.environ, call.state, heard.model, heard.tokens)
    percent = percent_of(heard.tokens, window.tokens)
    if percent is None or percent >= thresholds_of(call.state).checkpoint:
        return True
    call.session = session._replace(left=0, level="L0")
    return False


def new_entries(call: Call) -> Heard:
    """Return the transcript since the last call; empty if it cannot be read."""
    path, since = call.transcript, call.session.seen if call.session else ""
    if not path.name:
        return Heard()
    try:
        heard = listen(path, since)
        for _ in range(_LOOKS):
            if not call.given.tool_id or call.given.agent_id or call.given.tool_id in heard.tools:
                break
            time.sleep(_LOOK_S)  # wait until the message that called this tool is written
            heard = listen(path, since)
        return heard
    except FileNotFoundError:
        return Heard()  # it is created just after the first hook call
    except OSError as error:
        what = error.strerror or str(error)
        call.answer.problems.append(f"cannot read the session's transcript {path}: {what}")
        return Heard()


def thresholds_of(state: State) -> Thresholds:
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
    from ralph_tui.hooks.program.rollover import settle

    mine, call.session_id = call.session_id, str(owner)
    settle(call)
    call.session_id = mine


def _tell_once(call: Call, problem: str) -> None:
    """Warn once in a session that its window is unknown or wrong."""
    session = call.session
    if session is None or session.told:
        return
    call.session = session._replace(told=True)
    call.answer.warn(problem)


class Window(NamedTuple):
    """The size of the context window, if known."""

    tokens: int | None
    problem: str = ""
    """Why it is unknown and what to do, in one sentence."""


def window_of(environ: Mapping[str, str], state: State, model: str, used: int | None) -> Window:
    """Return the size from the environment, else the state file, else the model's name if certain.

    The model's size is not used if more tokens are already in use.
    """
    named = environ.get(VARIABLE, "").strip()
    if named:
        size = size_of(named)
        if size is None:
            return Window(
                None, f"{VARIABLE} must be a number of tokens, such as 200000, 200k or 1m"
            )
        return Window(size)
    kept = size_of(state.get(FIELD))
    if kept is not None:
        return Window(kept)
    if _CERTAIN.match(model) and (used or 0) <= _OF_CERTAIN:
        return Window(_OF_CERTAIN)
    return Window(
        None,
        f"the context window of {model or 'this model'} has an unknown size; set "
        f"{VARIABLE}, or {FIELD} in the state file, to its tokens (1000000, 200k); until then the "
        "hooks watch no level",
    )


def sums_up_before(window: int, checkpoint: float, environ: Mapping[str, str]) -> str:
    """Return a warning if Claude Code compacts its context before the checkpoint; else empty."""
    percent = 100 * (window - _LEFT_OVER) / window
    if percent >= checkpoint or environ.get("DISABLE_AUTO_COMPACT"):
        return ""
    return (
        f"Claude Code compacts its context at about {percent:.0f} %, before the "
        f"checkpoint at {checkpoint:.0f} %, unless you turned that off; start it with "
        "DISABLE_AUTO_COMPACT=1 (`env` in .claude/settings.json), or set context_thresholds in the "
        "state file"
    )


def contradicted(window: int, used: int) -> str:
    """Return the warning for more tokens in use than the window has."""
    return (
        f"the context holds {used:,} tokens, more than its window of {window:,}, and "
        f"is treated as full; set {VARIABLE}, or {FIELD} in the state file, to its real size"
    )


def size_of(value: object) -> int | None:
    """Parse a number of tokens, such as ``200k`` or ``1m``; None if invalid."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip().replace("_", "").replace(",", ""))
        value = int(found[1]) * _TIMES[found[2].lower()] if found else None
    return value if isinstance(value, int) and LEAST <= value <= LARGEST else None
