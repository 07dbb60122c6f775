"""Tool calls over the protocol, as events with subject and result. Pure.

A call arrives in pieces. The first may contain only its id, and later pieces replace the fields
that they name. Every field may be missing or have an unexpected shape.
"""

import difflib
import re
from collections.abc import Mapping, Sequence

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.rpc.approvals import EDITS, Approval
from ralph_tui.adapters.agents.rpc.messages import Id
from ralph_tui.adapters.agents.tools import SessionTools, describe_input, describe_result, relative
from ralph_tui.events import Event
from ralph_tui.events.agent import Prevented
from ralph_tui.text.format import count
from ralph_tui.text.json_fields import as_count, as_list, as_map, as_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

_PATHS = ("file_path", "filePath", "filepath", "notebook_path", "path")
_EXITS = ("exit", "exit_code", "exitCode")
_NAME_IN_ID = re.compile(r"(\w{1,60}?)__\1_\d")
"""Matches the tool's name in a call's id, the only place where some agents put it."""
_NO_OUTPUT = re.compile(r"\((?:\w+ completed with )?no output\)")
MAX_DIFFED = 2000
"""Maximum number of lines in a change to compare; for longer ones, only the lengths count."""


class ToolUse:
    """A tool call, as far as the agent has reported it; `update` adds a piece."""

    def __init__(self, *, first_title_names_tool: bool = False) -> None:
        self.fields: dict[str, object] = {}
        self._names = first_title_names_tool
        self._first_title = ""
        self._lines = 0
        """Lines of output that arrived in separate pieces."""

    def update(self, piece: Json) -> None:
        """Add a piece: it replaces the fields that it names, but input and notes are merged."""
        if not self._first_title:
            self._first_title = as_text(piece.get("title"))
        for name, value in piece.items():
            if name in ("rawInput", "_meta") and isinstance(value, dict):
                self.fields[name] = {**as_map(self.fields.get(name)), **value}
            elif value is not None:
                self.fields[name] = value
        delta = as_map(as_map(piece.get("_meta")).get("terminal_output_delta"))
        self._lines += as_text(delta.get("data")).count("\n")

    @property
    def status(self) -> str:
        """``pending``, ``in_progress``, ``completed``, ``failed``; empty if not reported yet."""
        return as_text(self.fields.get("status"))

    @property
    def kind(self) -> str:
        """``read``, ``edit``, ``execute``, ``fetch``...; ``other`` if not reported."""
        return as_text(self.fields.get("kind")) or "other"

    @property
    def title(self) -> str:
        """The title, in the agent's words."""
        return as_text(self.fields.get("title"))

    @property
    def input(self) -> Json:
        """The tool's arguments reported so far."""
        return as_map(self.fields.get("rawInput"))

    @property
    def name(self) -> str:
        """The tool's own name, or its kind."""
        own = as_text(self.fields.get("name")) or as_text(
            as_map(as_map(self.fields.get("_meta")).get("claudeCode")).get("toolName")
        )
        if own:
            return own
        in_id = _NAME_IN_ID.match(as_text(self.fields.get("toolCallId")))
        if in_id:
            return in_id[1]
        # The name in `permissions.allow` and of other agents; users do not know the protocol's.
        kind = "Bash" if self.kind == "execute" else self.kind
        return (self._first_title if self._names else "") or kind

    @property
    def command(self) -> str:
        """The shell command that the call runs; empty if it runs none."""
        command = self.input.get("command")
        if isinstance(command, list):
            return " ".join(map(as_text, command))
        return as_text(command) or (self.title if self.kind == "execute" else "")

    @property
    def paths(self) -> list[str]:
        """The files that the call affects, without duplicates."""
        places = map(as_map, as_list(self.fields.get("locations")))
        found = [as_text(place.get("path")) for place in places]
        found += [as_text(diff.get("path")) for diff in self._blocks("diff")]
        found += [as_text(self.input.get(name)) for name in _PATHS]
        return list(dict.fromkeys(filter(None, found)))

    @property
    def last_line(self) -> int | None:
        """The line of the last edited place; None if the agent names none."""
        if self.kind not in EDITS:
            return None
        lines = [place.get("line") for place in map(as_map, as_list(self.fields.get("locations")))]
        return next((as_count(line) for line in reversed(lines) if line), None) or None

    @property
    def url(self) -> str:
        """The URL that the call fetches; empty if it fetches none."""
        return as_text(self.input.get("url"))

    def has_subject(self) -> bool:
        """True if enough is known to name the call's subject."""
        has_input = any(
            value not in ("", None) for name, value in self.input.items() if name != "cwd"
        )
        return has_input or self.status in ("in_progress", "completed", "failed")

    def subject(self, roots: Sequence[str]) -> str:
        """Return the file, command or pattern that the call is about."""
        if self.kind == "execute" or "command" in self.input:
            return shorten(self.command or self.title)
        if self.paths and self.kind not in ("fetch", "search"):
            return shorten(relative(self.paths[0], roots))
        return describe_input(self.name, self.input, roots) or shorten(self.title)

    def shown(self) -> str:
        """Return what the user is asked to approve: a command, or the change to each file."""
        if self.command:
            return self.command
        changes = "\n".join(self._changes())
        return changes or self.url or "\n".join(self.paths) or self.title

    def ok(self) -> bool:
        """True if the call completed without an error."""
        return self.status == "completed" and self._exit() in (None, 0)

    def result(self) -> str:
        """Summarise the result, as in ``exit 1``, ``212 lines``, ``+9 −4``."""
        exit_code = self._exit()
        if exit_code:
            return f"exit {exit_code}"
        if self.status == "completed" and (diffs := self._blocks("diff")):
            return _count_lines(diffs)
        said = self.said()
        written = as_text(self.input.get("content")) if self.kind in EDITS else ""
        if self.status == "completed" and written:
            return f"+{len(written.splitlines())}"
        if self.status == "completed" and not said:
            # Some agents report nothing about a tool's output: that is not "no output".
            return count(self._lines, "line") if self._lines else ""
        if _NO_OUTPUT.fullmatch(said):
            return "no output"
        return describe_result(said, None, ok=self.status == "completed")

    def said(self) -> str:
        """Return the text of the call's result."""
        blocks = (as_map(block.get("content")) for block in self._blocks("content"))
        texts = [as_text(block.get("text")) for block in blocks]
        raw = self.fields.get("rawOutput")
        candidates = (raw, "\n".join(texts), as_map(raw).get("output"), as_map(raw).get("error"))
        return next(filter(None, map(as_text, candidates)), "")

    def _exit(self) -> int | None:
        raw, meta = as_map(self.fields.get("rawOutput")), as_map(self.fields.get("_meta"))
        for place in (as_map(raw.get("metadata")), raw, as_map(meta.get("terminal_exit"))):
            for name in _EXITS:
                if type(place.get(name)) is int:
                    return place[name]  # type: ignore[return-value]
        return None

    def _blocks(self, kind: str) -> list[Json]:
        blocks = map(as_map, as_list(self.fields.get("content")))
        return [block for block in blocks if block.get("type") == kind]

    def _changes(self) -> list[str]:
        changes: list[str] = []
        for diff in self._blocks("diff"):
            path = as_text(diff.get("path"))
            old, new = as_text(diff.get("oldText")), as_text(diff.get("newText"))
            if len(old) + len(new) > MAX_DIFFED * 40:
                changes.append(f"{path}: {len(new):,} characters")
                continue
            changes += difflib.unified_diff(
                old.splitlines(), new.splitlines(), path, path, lineterm="", n=2
            )
        return changes


def _count_lines(diffs: Sequence[Json]) -> str:
    added = removed = 0
    for diff in diffs:
        old = as_text(diff.get("oldText")).splitlines()
        new = as_text(diff.get("newText")).splitlines()
        if len(old) + len(new) > MAX_DIFFED:
            added, removed = added + len(new), removed + len(old)
            continue
        changes = list(difflib.unified_diff(old, new, n=0))[2:]  # without the file names
        added += sum(line.startswith("+") for line in changes)
        removed += sum(line.startswith("-") for line in changes)
    return f"+{added} −{removed}" if removed else f"+{added}"


ENDED = ("completed", "failed")


def approval(use: ToolUse, tool_id: str, roots: Sequence[str], number: Id = 0) -> Approval:
    """Build the approval for a tool call; `number` is the id of the agent's request."""
    return Approval(
        number,
        use.name,
        use.kind,
        tool_id=tool_id,
        about=use.subject(roots) or use.title or use.name,
        shown=use.shown(),
        command=use.command,
        url=use.url,
        paths=use.paths,
        named=True,
    )


class ToolCalls(SessionTools):
    """The tool calls of a session, assembled from their pieces; `root` is the worktree."""

    def __init__(self, iteration: int, root: str, quirks: Quirks) -> None:
        super().__init__(iteration, root)
        self.quirks = quirks
        self._uses: dict[str, ToolUse] = {}
        self._began: dict[str, float] = {}
        """Start times of the running calls."""
        self._refused: set[str] = set()

    @property
    def running(self) -> bool:
        """True if any call is running."""
        return bool(self._began)

    def use(self, tool_id: str) -> ToolUse | None:
        """Return a call that has not ended, or None."""
        return self._uses.get(shorten(tool_id))

    def refused(self, tool_id: str) -> None:
        """Record a refusal, so that the failed call does not count as a tool error. Thread-safe."""
        self._refused.add(shorten(tool_id))

    def take(self, piece: Json, *, asked: bool = False) -> list[Event]:
        """Add a piece of a call; `asked` is True if it comes with a permission request."""
        tool_id = shorten(as_text(piece.get("toolCallId")))
        if not tool_id or (tool_id in self._over and not asked):
            return []
        use = self._uses.get(tool_id)
        if use is None:
            use = ToolUse(first_title_names_tool=self.quirks.first_title_names_tool)
            self._uses[tool_id] = use
        use.update(piece)
        events: list[Event] = []
        if tool_id not in self._began and (asked or use.has_subject()):
            self._began[tool_id] = self.now
            events.append(self._start(tool_id, use.name, use.subject(self.roots), use.input))
        if use.status in ENDED and not asked:
            events += self._ended(tool_id, use)
        return events

    def turn_ended(self) -> list[Event]:
        """End the calls that are still running, as nothing more will arrive."""
        began = [(tool_id, self._uses[tool_id]) for tool_id in self._began]
        events = [event for tool_id, use in began for event in self._ended(tool_id, use)]
        self._uses.clear()
        return events

    def _ended(self, tool_id: str, use: ToolUse) -> list[Event]:
        began = self._began.pop(tool_id, self.now)
        self._uses.pop(tool_id, None)
        events: list[Event] = []
        reason: Prevented = ""
        # One of our rules, which the agent enforces itself.
        words = self.quirks.denied_by_rule
        if words and use.status == "failed" and use.said().startswith(words):
            events.append(approval(use, tool_id, self.roots).denied(self._iteration, self.roots[0]))
            reason = "denied"
        elif tool_id in self._refused:
            reason = "denied"
        elif self.interrupted or use.status not in ENDED:
            reason = "interrupted"
        ok = use.ok() and not self.interrupted
        over = self._finish(
            tool_id, began, reason, use.result(), use.said(), ok=ok, last_line=use.last_line
        )
        return [*events, over]
