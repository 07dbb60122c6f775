"""``actions.jsonl``: one line per tool call, from the journal's tool events, in snake_case.

If an agent reports no tool calls, its sessions and changed files take their place, marked as
derived. Unknown fields (``reasoning``, ``expected_outcome``) are left out. A line is written when
its tool call has a result, or can no longer get one. The journal is read from where the last update
ended. If the file has been changed since, all of it is rewritten.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ralph_tui import events as ev
from ralph_tui.adapters.records.aiwg.write import lines_of, put
from ralph_tui.base.plain_files import open_append, reading, write_all
from ralph_tui.state.actions import DERIVED_FROM, NO_ANSWER, Derivation, DerivedAction
from ralph_tui.text.claims import strip_claims
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, plain, strip_controls
from ralph_tui.text.tool_kinds import ActionKind, action_type

SHORT = 200
"""Maximum length of a summary or of the agent's reasoning, in characters."""
OUTPUT = 1000
"""Maximum length of an output or an error, in characters."""

_KIND = re.compile(rb'"kind"\s*:\s*"(\w+)"')
_ENDS = (
    ev.SessionStarted
    | ev.SessionFinished
    | ev.IterationFinished
    | ev.RunResumed
    | ev.RunFinished
    | ev.RunCrashed
)
"""Events after which tool calls that began earlier get no result."""
_READ = (ev.ToolStarted, ev.ToolFinished, ev.ToolDenied, *DERIVED_FROM)
_SPOKEN = b"agent_spoke"
_KINDS = {kind for kind, event_type in ev.EVENT_TYPES.items() if issubclass(event_type, _READ)}
_KINDS.add(_SPOKEN.decode())

_SUBJECTS: dict[ActionKind, str] = {
    **dict.fromkeys(("read", "write", "edit"), "file_path"),
    **dict.fromkeys(("grep", "glob"), "pattern"),
    "bash": "command",
}


@dataclass(frozen=True, slots=True)
class _AgentWords:
    """Text from the agent, processed only when needed, because most of it never is."""

    text: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class _OpenCall:
    """A tool call that has no result yet."""

    event: ev.ToolStarted
    reasoning: str
    """The agent's last message before the call."""


class Actions:
    """Lines from tool events; each line is complete once its tool call has a result."""

    def __init__(self) -> None:
        self._open: dict[str, _OpenCall] = {}
        self._denied: dict[str, str] = {}
        self._words: dict[str | None, _AgentWords] = {}
        """Latest text by speaker: None for the agent, or the tool call that started a subagent."""
        self._derivation = Derivation()

    def take(self, event: ev.Event | _AgentWords) -> Iterator[dict[str, Any]]:
        """Yield the lines that this event completes."""
        match event:
            case _AgentWords():
                self._words[event.parent] = event
                return
            case ev.ToolStarted():
                if (lost := self._open.pop(event.tool_id, None)) is not None:
                    yield _line(lost, ok=False, said=NO_ANSWER)
                self._open[event.tool_id] = _OpenCall(event, self._reasoning(event.parent))
            case ev.ToolDenied() if event.tool_id:
                self._denied[event.tool_id] = event.message
            case ev.ToolFinished():
                if (begun := self._open.pop(event.tool_id, None)) is not None:
                    denied = self._denied.pop(event.tool_id, "")
                    yield _line(begun, ok=event.ok, said=denied or event.output or event.summary)
            case _ if isinstance(event, _ENDS):
                for begun in self._open.values():
                    said = self._denied.get(begun.event.tool_id) or NO_ANSWER
                    yield _line(begun, ok=False, said=said)
                self._open.clear()
                self._denied.clear()
                self._words.clear()
        for derived in self._derivation.take(event):
            yield _derived_line(derived)

    def _reasoning(self, speaker: str | None) -> str:
        said = self._words.get(speaker)
        return "" if said is None else _end_of(strip_claims(plain(said.text)).strip())


class ActionLog:
    """The file ``actions.jsonl``, kept up to date with the journal."""

    def __init__(self, journal: Path, path: Path, *, until: int | None = None) -> None:
        """Nothing is read until `catch_up`, and nothing after byte `until` of the journal."""
        self._journal = journal
        self._path = path
        self._until = until
        self._begin()

    def _begin(self) -> None:
        self._actions = Actions()
        self._read = 0
        """Bytes of the journal read so far."""
        self._written = -1
        """Size of the file when last written, in bytes; negative to rewrite all of it."""

    def catch_up(self) -> list[Path]:
        """Bring the file up to date; return the paths of bad files that were set aside.

        While the journal has no name (see `Journal.tick`), this does nothing. Raises ``OSError``.
        """
        if self._written != _size(self._path) or self._read > _size(self._journal):
            self._begin()
        try:
            text = lines_of(line for event in self._events() for line in self._actions.take(event))
            aside: list[Path] = []
            if self._written < 0:
                aside = put(self._path, text)
            elif text:
                with open_append(self._path) as file:
                    write_all(file, text.encode("utf-8", "replace"))
        except FileNotFoundError:
            self._begin()
            return []
        except OSError:
            self._begin()
            raise
        self._written = _size(self._path)
        return aside

    def _events(self) -> Iterator[ev.Event | _AgentWords]:
        with reading(self._journal) as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):  # being written
                    return
                if self._until is not None and self._read + len(line) > self._until:
                    return
                self._read += len(line)
                kind = _KIND.search(line, 0, 300)
                if kind is None or kind[1].decode() not in _KINDS:
                    continue
                try:
                    yield _parse_words(line) if kind[1] == _SPOKEN else ev.parse_event(line)
                except ValueError:
                    continue


def _parse_words(line: bytes) -> _AgentWords:
    """Parse a line with text from the agent; raise ``ValueError`` for any other line."""
    fields = parse_json(line)
    known = fields if isinstance(fields, dict) else {}
    text, parent = known.get("text"), known.get("parent")
    if not (isinstance(text, str) and isinstance(parent, str | None)):
        raise ValueError("not a line with the agent's words")
    return _AgentWords(strip_controls(text), parent)


def _line(tool: _OpenCall, *, ok: bool, said: str) -> dict[str, Any]:
    begun = tool.event
    kind = action_type(begun.tool)
    subject = {_SUBJECTS.get(kind, "description"): clip(begun.summary, SHORT)}
    return {
        **_head(begun.at, begun.iteration, kind, begun.tool),
        "params": begun.params or (subject if begun.summary else {}),
        **_answer(ok=ok, said=said),
        **({"reasoning": tool.reasoning} if tool.reasoning else {}),
    }


def _derived_line(action: DerivedAction) -> dict[str, Any]:
    return {
        **_head(action.at, action.iteration, action.kind, action.agent),
        "params": {"file_path": action.path} if action.path else {},
        **_answer(ok=action.ok, said=action.said),
        "derived": True,
    }


def _head(at: datetime, iteration: int, kind: ActionKind, tool: str) -> dict[str, Any]:
    moment = at.isoformat().replace("+00:00", "Z")
    return {"timestamp": moment, "iteration": iteration, "type": kind, "tool": tool}


def _answer(*, ok: bool, said: str) -> dict[str, Any]:
    result = {"output" if ok else "error": clip(said, OUTPUT)} if said else {}
    return {"success": ok, **result}


def _end_of(words: str) -> str:
    """Return the last `SHORT` characters of the text."""
    return words if len(words) <= SHORT else "…" + words[1 - SHORT :]


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return -1
