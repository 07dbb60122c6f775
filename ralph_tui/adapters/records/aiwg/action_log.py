"""``actions.jsonl``: one line per tool use, made of the journal's tool events, snake_case.

Where an agent tells of no tools, its sessions and the files it changed stand for them, marked as
derived. What is not known (``reasoning``, ``expected_outcome``) is left out. A line is written when
the tool has answered, or can no longer answer. The journal is read on from where the last look
ended; a file that is not as it was left is written again from its beginning.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ralph_tui import events as ev
from ralph_tui.adapters.records.aiwg.write import put
from ralph_tui.base.plain_files import appending, reading, write_all
from ralph_tui.state.actions import DERIVED_FROM, NO_ANSWER, Derivation, DerivedAction
from ralph_tui.text.claims import without_claims
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, plain, strip_controls
from ralph_tui.text.tool_kinds import ActionKind, action_type

SHORT = 200
"""Characters of a parameter, an output, an error."""

_KIND = re.compile(rb'"kind"\s*:\s*"(\w+)"')
_ENDS = (
    ev.SessionStarted
    | ev.SessionFinished
    | ev.IterationFinished
    | ev.RunResumed
    | ev.RunFinished
    | ev.RunCrashed
)
"""After these no tool that was begun before answers any more."""
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
class _Said:
    """Words of the agent as the journal has them, not looked at yet: few of them are needed."""

    text: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class _Begun:
    """A tool that has not answered yet."""

    event: ev.ToolStarted
    reasoning: str
    """The last words of who uses it."""


class Actions:
    """Folds tool events into lines; a line is given once its tool has answered."""

    def __init__(self) -> None:
        self._open: dict[str, _Begun] = {}
        self._denied: dict[str, str] = {}
        self._words: dict[str | None, _Said] = {}
        """The last ones of the agent (None), and of each subagent by the call that owns it."""
        self._derivation = Derivation()

    def take(self, event: ev.Event | _Said) -> Iterator[dict[str, Any]]:
        """The lines that this event makes whole."""
        match event:
            case _Said():
                self._words[event.parent] = event
                return
            case ev.ToolStarted():
                if (lost := self._open.pop(event.tool_id, None)) is not None:
                    yield _line(lost, ok=False, said=NO_ANSWER)
                self._open[event.tool_id] = _Begun(event, self._reasoning(event.parent))
            case ev.ToolDenied() if event.tool_id:
                self._denied[event.tool_id] = event.message
            case ev.ToolFinished():
                if (begun := self._open.pop(event.tool_id, None)) is not None:
                    denied = self._denied.pop(event.tool_id, "")
                    yield _line(begun, ok=event.ok, said=denied or event.summary)
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
        return "" if said is None else _end_of(without_claims(plain(said.text)).strip())


class ActionLog:
    """Keeps the file as far as the journal is."""

    def __init__(self, journal: Path, path: Path, *, until: int | None = None) -> None:
        """Nothing is read before `catch_up`, and of the journal no byte after `until`."""
        self._journal = journal
        self._path = path
        self._until = until
        self._begin()

    def _begin(self) -> None:
        self._actions = Actions()
        self._read = 0
        """Bytes of the journal."""
        self._written = -1
        """Bytes of the file as it was left; below 0: it is to be written as a whole."""

    def catch_up(self) -> list[Path]:
        """Bring the file up to date; where garbage in its place was put. Raises ``OSError``.

        While the journal has no name (see `Journal.tick`) there is nothing to do.
        """
        if self._written != _size(self._path) or self._read > _size(self._journal):
            self._begin()
        try:
            text = "".join(
                _text(line) for event in self._events() for line in self._actions.take(event)
            )
            aside: list[Path] = []
            if self._written < 0:
                aside = put(self._path, text)
            elif text:
                with appending(self._path) as file:
                    write_all(file, text.encode("utf-8", "replace"))
        except FileNotFoundError:
            self._begin()
            return []
        except OSError:
            self._begin()
            raise
        self._written = _size(self._path)
        return aside

    def _events(self) -> Iterator[ev.Event | _Said]:
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
                    yield _said(line) if kind[1] == _SPOKEN else ev.parse_event(line)
                except ValueError:
                    continue


def _said(line: bytes) -> _Said:
    """Raises ``ValueError`` for what is none."""
    fields = parse_json(line)
    known = fields if isinstance(fields, dict) else {}
    text, parent = known.get("text"), known.get("parent")
    if not (isinstance(text, str) and isinstance(parent, str | None)):
        raise ValueError("no words of an agent")
    return _Said(strip_controls(text), parent)


def _line(tool: _Begun, *, ok: bool, said: str) -> dict[str, Any]:
    begun = tool.event
    kind = action_type(begun.tool)
    subject = {_SUBJECTS.get(kind, "description"): clip(begun.summary, SHORT)}
    return {
        **_head(begun.at, begun.iteration, kind, begun.tool),
        "params": subject if begun.summary else {},
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
    told = {"output" if ok else "error": clip(said, SHORT)} if said else {}
    return {"success": ok, **told}


def _end_of(words: str) -> str:
    """What was said right before."""
    return words if len(words) <= SHORT else "…" + words[1 - SHORT :]


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"


def _size(path: Path) -> int:
    """-1 when there is none."""
    try:
        return path.lstat().st_size
    except OSError:
        return -1
