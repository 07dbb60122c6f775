"""Codex's work items: their tool, subject and result, as events. Pure.

Tools are named as in permission lines: ``Bash``, ``Edit``.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ralph_tui.adapters.agents.tools import SessionTools, describe_input, describe_result, relative
from ralph_tui.events import Event
from ralph_tui.events.agent import Prevented
from ralph_tui.text.git_diff import last_of_diff
from ralph_tui.text.json_fields import as_list, as_map, as_text, content_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

_SHELL = re.compile(r"(?:/usr(?:/local)?|/opt/homebrew)?/bin/(?:ba|z|da)?sh\Z")
"""The system's shells. In other folders, a program with a shell's name may be anything."""
_SCRIPT_FLAGS = frozenset({"-c", "-lc", "-ic", "-lic"})


@dataclass(frozen=True)
class Change:
    """A changed file."""

    path: str
    kind: str
    """``add``, ``delete``, ``update``."""
    diff: str
    """A unified diff, or the whole text of a new or deleted file."""
    moved_to: str = ""


def tool_of(item: Json) -> str:
    """Return the tool's name, or "" for an item that is not a tool call."""
    match as_text(item.get("type")):
        case "commandExecution":
            return "Bash"
        case "fileChange":
            return "Edit"
        case "mcpToolCall":
            return f"mcp__{as_text(item.get('server'))}__{as_text(item.get('tool'))}"
        case "dynamicToolCall":
            return as_text(item.get("tool")) or "tool"
        case "collabAgentToolCall":
            return "Task"
        case "webSearch":
            return "WebSearch"
        case "imageView":
            return "Read"
        case "imageGeneration":
            return "Image"
        case _:
            return ""


def command_of(item: Json) -> str:
    """Return a command without its shell: ``touch x`` for ``/bin/bash -lc 'touch x'``."""
    command = as_text(item.get("command"))
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) == 3 and _SHELL.match(words[0]) and words[1] in _SCRIPT_FLAGS:
        return words[2]
    return command


def changes_of(item: Json) -> list[Change]:
    """Return the file changes of an item."""
    found = []
    for change in map(as_map, as_list(item.get("changes"))):
        kind = as_map(change.get("kind"))
        found.append(
            Change(
                as_text(change.get("path")),
                as_text(kind.get("type")) or as_text(change.get("kind")) or "update",
                as_text(change.get("diff")),
                as_text(kind.get("move_path")),
            )
        )
    return found


def paths_of(changes: Sequence[Change]) -> list[str]:
    """Return all paths that are written, without duplicates."""
    paths = [path for change in changes for path in (change.path, change.moved_to) if path]
    return list(dict.fromkeys(paths))


def summary_of(item: Json, roots: Sequence[str]) -> str:
    """Return the file, command or pattern that an item is about."""
    match as_text(item.get("type")):
        case "commandExecution":
            return shorten(command_of(item))
        case "fileChange":
            paths = [relative(path, roots) for path in paths_of(changes_of(item))]
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            return shorten(f"{paths[0]}{more}" if paths else "")
        case "mcpToolCall" | "dynamicToolCall" as kind:
            arguments = item.get("arguments")
            if isinstance(arguments, str):
                return shorten(arguments)
            return describe_input(kind, as_map(arguments), roots)
        case _:
            subjects = (as_text(item.get(name)) for name in ("query", "path", "prompt"))
            return shorten(relative(next(filter(None, subjects), ""), roots))


def succeeded(item: Json) -> bool:
    """True if the item completed without an error."""
    exit_code = item.get("exitCode")
    if as_text(item.get("status")) in ("failed", "declined") or item.get("success") is False:
        return False
    return type(exit_code) is not int or exit_code == 0


def params_of(item: Json) -> Json:
    """Return the arguments of an item."""
    if isinstance(item.get("arguments"), dict):
        return as_map(item["arguments"])
    names = ("command", "cwd", "changes", "query", "path", "prompt", "arguments")
    return {name: item[name] for name in names if item.get(name) not in (None, "")}


def output_of(item: Json) -> str:
    """Return the text of an item's output, or of its error."""
    failed = as_text(as_map(item.get("error")).get("message"))
    output = as_text(item.get("aggregatedOutput")) or content_text(item.get("contentItems"))
    return failed or output or content_text(_content(item.get("result")))


def result_of(item: Json) -> str:
    """Summarise the result, as in ``exit 1``, ``212 lines``, ``+9 −4``."""
    ok, exit_code = succeeded(item), item.get("exitCode")
    match as_text(item.get("type")):
        case "commandExecution" if type(exit_code) is int and exit_code:
            return f"exit {exit_code}"
        case "commandExecution":
            return describe_result(as_text(item.get("aggregatedOutput")), None, ok=ok)
        case "fileChange" if ok:
            return _count_lines(changes_of(item))
        case "mcpToolCall":
            failed = as_text(as_map(item.get("error")).get("message"))
            return describe_result(failed or _content(item.get("result")), None, ok=ok)
        case "dynamicToolCall":
            return describe_result(item.get("contentItems"), None, ok=ok)
        case _:
            return "" if ok else "failed"


def last_line_of(item: Json) -> int | None:
    """Return the line of the last change to the item's first file; None if unknown."""
    first = next(iter(changes_of(item)), None)
    if first is None or first.kind == "delete":
        return None
    return last_of_diff(first.diff) if first.kind == "update" else first.diff.count("\n") or None


def format_changes(changes: Sequence[Change], roots: Sequence[str]) -> str:
    """Format paths and diffs for the user to approve."""
    parts = []
    for change in changes:
        path = relative(change.path, roots)
        moved = f" -> {relative(change.moved_to, roots)}" if change.moved_to else ""
        parts.append(f"{change.kind} {path}{moved}\n{change.diff}".strip())
    return "\n".join(parts)


def format_json(value: object) -> str:
    """Format foreign JSON as text."""
    return json.dumps(value, ensure_ascii=False, default=str) if value else ""


def _content(result: object) -> object:
    return as_map(result).get("content")


def _count_lines(changes: Sequence[Change]) -> str:
    added = removed = 0
    for change in changes:
        lines = change.diff.splitlines()
        if change.kind == "update":
            added += sum(line.startswith("+") for line in lines)
            removed += sum(line.startswith("-") for line in lines)
        elif change.kind == "delete":
            removed += len(lines)
        else:
            added += len(lines)
    return f"+{added} −{removed}" if removed else f"+{added}"


MAX_KEPT = 1000
"""Maximum number of running items to remember; the oldest are dropped first."""


class ToolItems(SessionTools):
    """Tool calls from items; each start and each end is reported once."""

    def __init__(self, iteration: int, root: str) -> None:
        super().__init__(iteration, root)
        self._running: dict[str, tuple[Json, float]] = {}

    def item(self, item_id: str) -> Json:
        """Return a running item, or an empty dict."""
        return self._running.get(item_id, ({}, 0.0))[0]

    def started(self, item: Json, parent: str | None) -> list[Event]:
        """Record the start of an item; repetitions are ignored."""
        tool, item_id = tool_of(item), as_text(item.get("id"))
        if not tool or item_id in self._running or item_id in self._over:
            return []
        if len(self._running) >= MAX_KEPT:
            del self._running[next(iter(self._running))]
        self._running[item_id] = (item, self.now)
        return [self._start(item_id, tool, summary_of(item, self.roots), params_of(item), parent)]

    def finished(self, item: Json, parent: str | None) -> list[Event]:
        """Record the end of an item; if no start was reported, report it as well."""
        item_id = as_text(item.get("id"))
        if not tool_of(item) or item_id in self._over:
            return []
        begun = self.started(item, parent)
        _, began = self._running.pop(item_id)
        reason: Prevented = "interrupted" if self.interrupted else ""
        if as_text(item.get("status")) == "declined":
            reason = "denied"
        over = self._finish(
            item_id,
            began,
            reason,
            result_of(item),
            output_of(item),
            ok=succeeded(item),
            last_line=last_line_of(item),
        )
        return [*begun, over]

    def ended(self) -> list[Event]:
        """Report running items as interrupted: they ended with the session."""
        running, self._running = self._running, {}
        return [
            self._finish(item_id, began, "interrupted", "", "", ok=False)
            for item_id, (_, began) in running.items()
        ]
