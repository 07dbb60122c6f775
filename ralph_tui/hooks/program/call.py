"""One call of a hook: its input, the state it changes, and its answer.

Claude Code's input is untrusted: any field may be missing or of any type. Claude Code parses stdout
as JSON only if it contains nothing else, and does not show plain text to the model. So the line for
the loop's scripts is part of the JSON, and also goes unchanged to stderr.
"""

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.base.plain_files import reading
from ralph_tui.hooks.program.store import Fields, LockedState
from ralph_tui.layers.context.levels import LEVELS, Level, above
from ralph_tui.layers.context.state_file import State, todo_of
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_map, as_number

MAX_INPUT = 1 << 28
"""Maximum number of bytes read from stdin, which includes a tool's whole output."""
SESSIONS = "hook_sessions"
"""Field of the state file for the memory between calls, by session."""
MAX_SESSIONS = 8
"""Maximum number of sessions remembered; a loop has one at a time, and few others run beside it."""
PLANS = ("fix_plan.md", "PLAN.md", "TODO.md")
RECENT = 8
"""Maximum number of completed items named for an iteration."""
LARGEST_PLAN = 1 << 20
"""Maximum number of bytes read from a plan."""


class HookInput(NamedTuple):
    """Input of a hook on stdin."""

    session_id: str = ""
    transcript: Path | None = None
    cwd: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    tool_id: str = ""
    agent_id: str = ""
    """Id of the subagent that used the tool; empty for the session itself."""
    error: str = ""
    """Error from a failed tool call."""
    duration_s: float = 0.0
    last_words: str = ""
    permission_mode: str = ""

    @property
    def is_session(self) -> bool:
        """True if a session made the call, rather than a loop outside Claude Code."""
        return bool(self.session_id)


def parse_input(data: bytes) -> HookInput:
    """Parse the input; drop text fields of the wrong type. Raises ``ValueError``.

    Empty input comes from a loop outside Claude Code.
    """
    if not data.strip():
        return HookInput()
    fields = parse_json(data)
    if not isinstance(fields, dict):
        raise ValueError("it is not a JSON object")
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    if not texts.get("session_id"):
        raise ValueError("it has no session id")
    transcript = texts.get("transcript_path", "")
    milliseconds = as_number(fields.get("duration_ms")) or 0.0
    return HookInput(
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
    """A hook's answer to the model, to the user and to scripts that read its output.

    It is collected during a call and written once at its end.
    """

    def __init__(self) -> None:
        self.user: list[str] = []
        """Lines for the user."""
        self.model = ""
        """Text for the model, added to the tool's output."""
        self.reason = ""
        """Why the session must continue, addressed to the model; empty if it may stop."""
        self.ends = ""
        """Why the session ends at once, addressed to the user; empty if it does not."""
        self.problems: list[str] = []
        """Sentences about problems, written to stderr, which Claude Code does not show."""
        self.code = 0

    def warn(self, problem: str) -> None:
        """Report a problem on stderr and to the user."""
        self.problems.append(problem)
        self.user.append(f"ralph-tui: {problem}")

    def fields(self, event: str) -> dict[str, Any]:
        """Return the answer in Claude Code's JSON format."""
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
        """Write to stdout and stderr; ignore closed outputs."""
        lines_out = [line for line in self.user if line.startswith("CCS_")]
        lines_out += [f"ralph-tui: {problem}" for problem in self.problems]
        _write(2, "".join(f"{line}\n" for line in lines_out))
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
    """Memory of one of the loop's sessions."""

    level: Level = "L0"
    """The highest level reached."""
    iteration: int = 0
    began: str = ""
    seen: str = ""
    """Time of the last transcript entry that was handled."""
    message: str = ""
    """Id of the last message whose tokens were counted, because its blocks arrive one by one."""
    tokens: int = 0
    """Tokens used in this iteration."""
    calls: int = 0
    errors: int = 0
    told: bool = False
    """True if the user was warned that its window is unknown."""
    done: int = 0
    """Number of completed items when its iteration began."""
    over: bool = False
    """True once it has been decided what follows its iteration."""
    left: int = 0
    """0 before a handoff, then 1 plus the number of stops since."""
    transcript: str = ""
    recent: str = ""
    """Ids of the last recorded tool calls, separated by spaces."""
    failed_tool: str = ""
    """The last tool to fail in this iteration; empty once a later call to it succeeds."""
    error_hash: str = ""
    """Hash of that error's text."""

    def is_new_level(self, level: Level) -> bool:
        """True if this level is reached for the first time; skipped levels never count."""
        return above(level, self.level)


def load_sessions(state: State) -> dict[str, Session]:
    """Return the remembered sessions, latest last; drop invalid ones."""
    found = as_map(state.get(SESSIONS))
    return {
        name: _parse_session(fields) for name, fields in found.items() if isinstance(fields, dict)
    }


def _parse_session(fields: dict[str, Any]) -> Session:
    blank = Session()
    taken = {
        name: max(0, fields[name]) if type(value) is int else fields[name]
        for name, value in blank._asdict().items()
        if type(fields.get(name)) is type(value)
    }
    session = Session(**taken)
    return session if session.level in LEVELS else session._replace(level="L0")


class Progress(NamedTuple):
    """Progress through the loop's items."""

    done: int
    total: int
    """At least 1."""
    item: str
    """The first open item; empty if all are done."""
    parts: tuple[tuple[str, bool], ...] = ()
    """Its sub-items; each is paired with True if it is done."""
    completed: tuple[str, ...] = ()
    """Items completed in this iteration, as far as the state file lists them."""
    plan: str = ""
    """The plan's file, relative to the project; empty if the items are in the state file."""


class Call:
    """One call, during which the state file is locked."""

    def __init__(
        self,
        hook_input: HookInput,
        environ: Mapping[str, str],
        root: Path,
        now: datetime,
        held: LockedState,
    ) -> None:
        self.hook_input = hook_input
        self.environ = environ
        self.root = root
        """The project's folder."""
        self.now = now
        """In UTC."""
        self.held = held
        self.answer = Answer()
        self.events: list[Fields] = []
        """Events to record, in order."""
        self.session_id = hook_input.session_id

    @property
    def state(self) -> State:
        return self.held.state

    @state.setter
    def state(self, state: State) -> None:
        self.held.state = state

    @property
    def session(self) -> Session | None:
        """The memory of the session; None for a new session."""
        return load_sessions(self.state).get(self.session_id)

    @session.setter
    def session(self, session: Session) -> None:
        known = load_sessions(self.state)
        known.pop(self.session_id, None)  # so that it becomes the latest
        latest = list({**known, self.session_id: session}.items())[-MAX_SESSIONS:]
        self.state = self.state | {SESSIONS: {name: s._asdict() for name, s in latest}}

    @property
    def transcript(self) -> Path:
        """Path of the session's transcript; an empty path if unknown."""
        session = self.session
        return self.hook_input.transcript or Path(session.transcript if session else "")

    @property
    def iteration(self) -> int:
        return int(self.state["iteration"])

    @property
    def outer_loop(self) -> bool:
        """True if a loop outside Claude Code starts the sessions."""
        return self.environ.get("RALPH_LOOP") == "shell" or not self.hook_input.is_session

    def record(self, kind: str, **fields: object) -> None:
        """Queue an event; `iteration` defaults to the current one."""
        self.events.append({"kind": kind, "iteration": self.iteration, **fields})

    def progress(self) -> Progress | None:
        """Return the progress from the state file's items, or else from a plan; None if unknown."""
        done, left = len(self.state["completed_items"]), len(self.state["todo_items"])
        if done + left:
            before = (self.session or Session()).done
            completed = [it for it in self.state["completed_items"][before:] if isinstance(it, str)]
            return Progress(
                done, done + left, todo_of(self.state), completed=tuple(completed[-RECENT:])
            )
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
                parts = plan.open_parts()
                return Progress(plan.done, plan.total, item, parts, plan=name)
        return None

    def item(self) -> str:
        """Return the first open item; empty if none is known."""
        progress = self.progress()
        return progress.item if progress else ""
