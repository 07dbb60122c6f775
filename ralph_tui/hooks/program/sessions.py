"""What one call of the hook remembers for the next ones, per session, in the state file. Pure."""

from typing import Any, NamedTuple

from ralph_tui.layers.context.levels import LEVELS, Level, above
from ralph_tui.layers.context.state_file import State

FIELD = "hook_sessions"
KEPT = 8
"""Sessions that are remembered; a loop has one at a time, and few others beside it."""


class Session(NamedTuple):
    """A session of the loop."""

    level: Level = "L0"
    """The highest that it has reached."""
    iteration: int = 0
    began: str = ""
    seen: str = ""
    """The time of the last entry of its transcript that was taken in."""
    message: str = ""
    """Id of the last message whose tokens are counted: its blocks come one by one."""
    tokens: int = 0
    """Used in this iteration."""
    calls: int = 0
    errors: int = 0
    told: bool = False
    """Whether it was said that its window is not known."""
    done: int = 0
    """How many items were completed when its iteration began."""
    over: bool = False
    """Whether it was decided what comes after its iteration."""
    left: int = 0
    """Whether it has handed over, and how often it stopped since then."""
    transcript: str = ""
    recent: str = ""
    """Ids of the tool calls that were recorded last, with spaces between them."""

    def fires(self, level: Level) -> bool:
        """Whether this level is reached for the first time; those that it leaps over never are."""
        return above(level, self.level)


def sessions_of(state: State) -> dict[str, Session]:
    """Those that are remembered, the latest last; what is no use is forgotten."""
    found = state.get(FIELD)
    if not isinstance(found, dict):
        return {}
    return {name: _session(fields) for name, fields in found.items() if isinstance(fields, dict)}


def with_session(state: State, session_id: str, session: Session) -> State:
    """With this session as the latest."""
    others = {name: s for name, s in sessions_of(state).items() if name != session_id}
    kept = {**others, session_id: session}
    latest = list(kept.items())[-KEPT:]
    return state | {FIELD: {name: s._asdict() for name, s in latest}}


def _session(fields: dict[str, Any]) -> Session:
    blank = Session()
    taken = {
        name: fields[name]
        for name, value in blank._asdict().items()
        if type(fields.get(name)) is type(value)
    }
    counts = {name: max(0, value) for name, value in taken.items() if type(value) is int}
    session = Session(**taken | counts)
    return session if session.level in LEVELS else session._replace(level="L0")
