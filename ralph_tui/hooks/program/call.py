"""One call of a hook: what it was given, the state that it changes, and what it will say.

What Claude Code says on stdin is foreign: any field may be missing, or of any type. It reads stdout
as JSON only where nothing else stands there, and shows the model none of a plain text. So the line
that the loop's scripts look for is part of the JSON, and stands on stderr as it is.
"""

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.base.plain_files import reading
from ralph_tui.hooks.program.store import Fields, Held
from ralph_tui.layers.context.levels import LEVELS, Level, above
from ralph_tui.layers.context.state_file import State, todo_of
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_map, as_number

LARGEST = 1 << 28
"""Bytes of stdin that are read: a tool's whole answer is among them."""
SESSIONS = "hook_sessions"
"""Of the state file: what one call remembers for the next ones, per session."""
KEPT = 8
"""Sessions that are remembered; a loop has one at a time, and few others beside it."""
PLANS = ("fix_plan.md", "PLAN.md", "TODO.md")
LARGEST_PLAN = 1 << 20
"""Bytes of a plan that are read."""


class Given(NamedTuple):
    """What a hook gets on stdin."""

    session_id: str = ""
    transcript: Path | None = None
    cwd: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    tool_id: str = ""
    agent_id: str = ""
    """Of a subagent that used the tool; empty: the session itself did."""
    error: str = ""
    """Of a tool that failed."""
    duration_s: float = 0.0
    last_words: str = ""
    permission_mode: str = ""

    @property
    def of_session(self) -> bool:
        """Whether a session calls, not a loop outside of it."""
        return bool(self.session_id)


def read_given(data: bytes) -> Given:
    """The call; what is no text where a text belongs is left out. Raises ``ValueError``.

    Nothing at all comes from a loop outside of Claude Code.
    """
    if not data.strip():
        return Given()
    fields = parse_json(data)
    if not isinstance(fields, dict):
        raise ValueError("it is no JSON object")
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    if not texts.get("session_id"):
        raise ValueError("it names no session")
    transcript = texts.get("transcript_path", "")
    milliseconds = as_number(fields.get("duration_ms")) or 0.0
    return Given(
        session_id=texts["session_id"],
        transcript=Path(transcript) if transcript and "\0" not in transcript else None,
        cwd=texts.get("cwd", ""),
        tool=texts.get("tool_name", ""),
        tool_input=as_map(fields.get("tool_input")),
        tool_id=texts.get("tool_use_id", ""),
        agent_id=texts.get("agent_id", ""),
        error=texts.get("error", ""),
        duration_s=milliseconds / 1000 if 0 <= milliseconds < 1e9 else 0.0,
        last_words=texts.get("last_assistant_message", ""),
        permission_mode=texts.get("permission_mode", ""),
    )


class Answer:
    """What a hook says: to the model, to its user, and to whoever reads its output.

    Collected during a call, written once at its end.
    """

    def __init__(self) -> None:
        self.user: list[str] = []
        """Lines for the user."""
        self.model = ""
        """Beside the tool's answer, for the model."""
        self.reason = ""
        """Why the session goes on, for the model; empty: it may stop."""
        self.ends = ""
        """Why the session ends at once, for the user; empty: it does not."""
        self.problems: list[str] = []
        """Sentences about what is wrong: on stderr, which Claude Code shows to nobody."""
        self.code = 0

    def warn(self, problem: str) -> None:
        """Say what is wrong to the user, too."""
        self.problems.append(problem)
        self.user.append(f"ralph-tui: {problem}")

    def fields(self, event: str) -> dict[str, Any]:
        """The JSON that Claude Code understands."""
        fields: dict[str, Any] = {}
        if self.ends:
            fields |= {"continue": False, "stopReason": self.ends}
        if self.user:
            fields["systemMessage"] = "\n".join(self.user)
        if self.reason:
            fields |= {"decision": "block", "reason": self.reason}
        elif self.model and not self.ends:
            fields["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": self.model}
        return fields

    def write(self, event: str) -> None:
        """To stdout and stderr; who does not listen misses it."""
        said = [line for line in self.user if line.startswith("CCS_")]
        said += [f"ralph-tui: {problem}" for problem in self.problems]
        _write(2, "".join(f"{line}\n" for line in said))
        if fields := self.fields(event):
            _write(1, json.dumps(fields) + "\n")


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return


class Session(NamedTuple):
    """What is remembered of a session of the loop."""

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
    found = as_map(state.get(SESSIONS))
    return {name: _session(fields) for name, fields in found.items() if isinstance(fields, dict)}


def _session(fields: dict[str, Any]) -> Session:
    blank = Session()
    taken = {
        name: max(0, fields[name]) if type(value) is int else fields[name]
        for name, value in blank._asdict().items()
        if type(fields.get(name)) is type(value)
    }
    session = Session(**taken)
    return session if session.level in LEVELS else session._replace(level="L0")


class Progress(NamedTuple):
    """How far the items of the loop are done."""

    done: int
    total: int
    """At least 1."""
    item: str
    """The first that is open; empty where none is."""


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
        known = sessions_of(self.state)
        known.pop(self.session_id, None)  # it becomes the latest
        latest = list({**known, self.session_id: session}.items())[-KEPT:]
        self.state = self.state | {SESSIONS: {name: s._asdict() for name, s in latest}}

    @property
    def transcript(self) -> Path:
        """The session's; without a name where it is not known."""
        session = self.session
        return self.given.transcript or Path(session.transcript if session else "")

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

    def progress(self) -> Progress | None:
        """By the items of the state file, else by a plan in the project; None: unknown."""
        done, left = len(self.state["completed_items"]), len(self.state["todo_items"])
        if done + left:
            return Progress(done, done + left, todo_of(self.state))
        from ralph_tui.layers.sensor.plan import read_plan

        for name in PLANS:
            try:
                with reading(self.root / name) as file:
                    text = file.read(LARGEST_PLAN).decode("utf-8", "replace")
            except OSError:
                continue
            plan = read_plan(text, name)
            if plan is not None:
                item = next((item for item, ticked in plan.items if not ticked), "")
                return Progress(plan.done, plan.total, item)
        return None

    def item(self) -> str:
        """The first that is open; empty where none is known."""
        progress = self.progress()
        return progress.item if progress else ""
