"""One call of a hook: what it was given, the state that it changes, and what it will say."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from ralph_tui.hooks.program.answer import Answer
from ralph_tui.hooks.program.given import Given
from ralph_tui.hooks.program.journal import Fields
from ralph_tui.hooks.program.sessions import Session, sessions_of, with_session
from ralph_tui.hooks.program.store import Held
from ralph_tui.layers.context.state_file import State


class Call:
    """While it lasts the state file is locked."""

    def __init__(
        self, given: Given, environ: Mapping[str, str], root: Path, now: datetime, held: Held
    ) -> None:
        self.given = given
        self.environ = environ
        self.root = root
        """The project."""
        self.now = now
        """UTC."""
        self.held = held
        self.answer = Answer()
        self.events: list[Fields] = []
        """What is to be recorded, in order."""
        self.session_id = given.session_id

    @property
    def state(self) -> State:
        """The loop's."""
        return self.held.state

    @state.setter
    def state(self, state: State) -> None:
        self.held.state = state

    @property
    def session(self) -> Session | None:
        """What is remembered of the session; None for one that is new."""
        return sessions_of(self.state).get(self.session_id)

    @session.setter
    def session(self, session: Session) -> None:
        self.state = with_session(self.state, self.session_id, session)

    @property
    def iteration(self) -> int:
        """The one that runs."""
        return int(self.state["iteration"])

    @property
    def outer_loop(self) -> bool:
        """Whether a loop outside of Claude Code starts the sessions."""
        return self.environ.get("RALPH_LOOP") == "shell" or not self.given.of_session

    def record(self, kind: str, **fields: object) -> None:
        """One more event; `iteration` is the running one, unless it is given."""
        self.events.append({"kind": kind, "iteration": self.iteration, **fields})
