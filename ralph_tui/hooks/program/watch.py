"""After each tool: how full the window is, and what follows from that.

How many tokens the window holds nothing says that a hook is given.
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
"""Of the state file: percent by `warn`, `checkpoint` and `stop`, where they are others."""


_LOOKS, _LOOK_S = 3, 0.015
"""How often, and for how long, the message that called the tool is waited for. One that comes later
is seen after the next tool, or when the session stops."""
VARIABLE = "RALPH_CONTEXT_WINDOW"
FIELD = "context_window"
"""Of the state file."""
LEAST, LARGEST = 1000, 10**9

_SIZE = re.compile(r"([0-9]{1,10})([km]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1000, "m": 1_000_000}
_LEFT_OVER = 33_000
"""Tokens that are still free when Claude Code sums up its context."""
_CERTAIN = re.compile(
    r"claude-3-|claude-(?:opus-4-(?:1|5|2025\d{4})|haiku-4-5)(?![0-9])", re.IGNORECASE
)
"""Models that were only ever offered with `_OF_CERTAIN` tokens."""
_OF_CERTAIN = 200_000


def watch(call: Call) -> None:
    """Take in what a tool's call tells; warn, check the work in, or end the session."""
    fired = take_in(call, heard_by(call))
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
    """Record it; gives the level that the session reaches with it."""
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
    # A subagent would read what is meant for the session, whose next tool tells it.
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
    """Whether the session has handed over and its window is as full as then.

    Who empties the window, by having it summed up, has a session that can hand over again.
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


def heard_by(call: Call) -> Heard:
    """What the session's transcript tells since the last call; nothing where it cannot be read."""
    path, since = call.transcript, call.session.seen if call.session else ""
    if not path.name:
        return Heard()
    try:
        heard = listen(path, since)
        for _ in range(_LOOKS):
            if not call.given.tool_id or call.given.agent_id or call.given.tool_id in heard.tools:
                break
            time.sleep(_LOOK_S)  # the message that called this tool is being written
            heard = listen(path, since)
        return heard
    except FileNotFoundError:
        return Heard()  # it is written a moment later than the first hook is called
    except OSError as error:
        what = error.strerror or str(error)
        call.answer.problems.append(f"the session's transcript {path} cannot be read: {what}")
        return Heard()


def thresholds_of(state: State) -> Thresholds:
    """Those of the state file, where they are any."""
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
    """A checkpoint whose session never came to its Stop hook is settled by the next session."""
    found = call.state["context_checkpoint"]
    owner = found.get("session_id")
    if checkpoint_of(call.state) is None or owner in (None, call.session_id):
        return
    from ralph_tui.hooks.program.rollover import settle

    mine, call.session_id = call.session_id, str(owner)
    settle(call)
    call.session_id = mine


def _tell_once(call: Call, problem: str) -> None:
    """In a session: that its window is not known, or known wrongly."""
    session = call.session
    if session is None or session.told:
        return
    call.session = session._replace(told=True)
    call.answer.warn(problem)


class Window(NamedTuple):
    """What is known."""

    tokens: int | None
    problem: str = ""
    """Why it is not known, and what to do, one sentence."""


def window_of(environ: Mapping[str, str], state: State, model: str, used: int | None) -> Window:
    """What the user says, else the state file, else the model's name where that is certain.

    A guess that the tokens in use contradict is none.
    """
    named = environ.get(VARIABLE, "").strip()
    if named:
        size = size_of(named)
        if size is None:
            return Window(None, f"{VARIABLE} is no number of tokens such as 200000, 200k or 1m")
        return Window(size)
    kept = size_of(state.get(FIELD))
    if kept is not None:
        return Window(kept)
    if _CERTAIN.match(model) and (used or 0) <= _OF_CERTAIN:
        return Window(_OF_CERTAIN)
    return Window(
        None,
        f"how large the context window of {model or 'this model'} is cannot be known here: set "
        f"{VARIABLE}, or {FIELD} in the state file, to its tokens (1000000, 200k); until then no "
        "level is watched",
    )


def sums_up_before(window: int, checkpoint: float, environ: Mapping[str, str]) -> str:
    """What to say where Claude Code sums up its context before the checkpoint comes; else empty."""
    percent = 100 * (window - _LEFT_OVER) / window
    if percent >= checkpoint or environ.get("DISABLE_AUTO_COMPACT"):
        return ""
    return (
        f"Claude Code sums up its context by itself at about {percent:.0f} %, before the "
        f"checkpoint at {checkpoint:.0f} %, unless you have turned that off: start it with "
        "DISABLE_AUTO_COMPACT=1 (`env` in .claude/settings.json), or set context_thresholds in the "
        "state file"
    )


def contradicted(window: int, used: int) -> str:
    """What to say where more is used than the window is said to hold."""
    return (
        f"the context holds {used:,} tokens, more than its window of {window:,}: it counts as "
        f"full; set {VARIABLE}, or {FIELD} in the state file, to what it really is"
    )


def size_of(value: object) -> int | None:
    """A number of tokens, also as ``200k`` or ``1m``; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip().replace("_", "").replace(",", ""))
        value = int(found[1]) * _TIMES[found[2].lower()] if found else None
    return value if isinstance(value, int) and LEAST <= value <= LARGEST else None
