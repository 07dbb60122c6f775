"""Uses of tools as the protocol tells them: subject and result, as events. Pure.

A use is told in pieces: the first may hold no more than a number, and each further one replaces
what it names. Every field may be missing, or of a shape that no agent we know has.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.adapters.agents.permissions import host_of, rules_for_denied
from ralph_tui.adapters.agents.tool_summaries import (
    describe_input,
    describe_result,
    relative,
)
from ralph_tui.events import Event, ToolDenied, ToolFinished, ToolStarted
from ralph_tui.events.agent import Prevented
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

EDITS = frozenset({"edit", "delete", "move"})
READS = frozenset({"read", "search", "think"})
_PATHS = ("file_path", "filePath", "filepath", "notebook_path", "path")
_EXITS = ("exit", "exit_code", "exitCode")
_NAME_IN_ID = re.compile(r"(\w{1,60}?)__\1_\d")
"""Some agents name the tool nowhere but in the identifier of its use."""
_NO_OUTPUT = re.compile(r"\((?:\w+ completed with )?no output\)")
MOST_DIFFED = 2000
"""Lines of a change that are compared; of a longer one only the lengths are."""


class ToolUse:
    """What is known of one use; `update` takes a further piece."""

    def __init__(self, *, first_title_names_tool: bool = False) -> None:
        self.fields: dict[str, object] = {}
        self._names = first_title_names_tool
        self._first_title = ""
        self._lines = 0
        """Of output that came in pieces of its own."""

    def update(self, piece: Json) -> None:
        """A piece replaces the fields that it names; input and notes are added to what is known."""
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
        """``pending``, ``in_progress``, ``completed``, ``failed``; empty while it is not told."""
        return as_text(self.fields.get("status"))

    @property
    def kind(self) -> str:
        """``read``, ``edit``, ``execute``, ``fetch``...; ``other`` where it is not told."""
        return as_text(self.fields.get("kind")) or "other"

    @property
    def title(self) -> str:
        """In the agent's words."""
        return as_text(self.fields.get("title"))

    @property
    def input(self) -> Json:
        """What the tool is given, as far as it is told."""
        return as_map(self.fields.get("rawInput"))

    @property
    def name(self) -> str:
        """The tool's own name, else its kind."""
        told = as_text(self.fields.get("name")) or as_text(
            as_map(as_map(self.fields.get("_meta")).get("claudeCode")).get("toolName")
        )
        if told:
            return told
        in_id = _NAME_IN_ID.match(as_text(self.fields.get("toolCallId")))
        if in_id:
            return in_id[1]
        # As in `permissions.allow` and with the other agents: no user writes the protocol's word.
        kind = "Bash" if self.kind == "execute" else self.kind
        return (self._first_title if self._names else "") or kind

    @property
    def command(self) -> str:
        """The shell command that it runs; empty where it runs none."""
        command = self.input.get("command")
        if isinstance(command, list):
            return " ".join(map(as_text, command))
        return as_text(command) or (self.title if self.kind == "execute" else "")

    @property
    def paths(self) -> list[str]:
        """The files that it works on, each once."""
        places = map(as_map, as_list(self.fields.get("locations")))
        found = [as_text(place.get("path")) for place in places]
        found += [as_text(diff.get("path")) for diff in self._blocks("diff")]
        found += [as_text(self.input.get(name)) for name in _PATHS]
        return list(dict.fromkeys(filter(None, found)))

    @property
    def url(self) -> str:
        """The address that it fetches; empty where there is none."""
        return as_text(self.input.get("url"))

    def begun(self) -> bool:
        """Whether enough is told of it to say what it works on."""
        told = any(value not in ("", None) for name, value in self.input.items() if name != "cwd")
        return told or self.status in ("in_progress", "completed", "failed")

    def subject(self, roots: Sequence[str]) -> str:
        """The file, command or pattern that it works on."""
        if self.kind == "execute" or "command" in self.input:
            return shorten(self.command or self.title)
        if self.paths and self.kind not in ("fetch", "search"):
            return shorten(relative(self.paths[0], roots))
        return describe_input(self.name, self.input, roots) or shorten(self.title)

    def shown(self) -> str:
        """What it would do, for whoever is asked: a command, or the change of each file."""
        if self.command:
            return self.command
        changes = "\n".join(self._changes())
        return changes or self.url or "\n".join(self.paths) or self.title

    def ok(self) -> bool:
        """Whether it did what it was to do, once it is over."""
        return self.status == "completed" and self._exit() in (None, 0)

    def result(self) -> str:
        """A few words about what came of it: ``exit 1``, ``212 lines``, ``+9 −4``."""
        exit_code = self._exit()
        if exit_code:
            return f"exit {exit_code}"
        if self.status == "completed" and (diffs := list(self._blocks("diff"))):
            return _counted(diffs)
        said = self.said()
        written = as_text(self.input.get("content")) if self.kind in EDITS else ""
        if self.status == "completed" and written:
            return f"+{len(written.splitlines())}"
        if self.status == "completed" and not said:
            # Some agents tell nothing of what a tool said: that is not "no output".
            return count(self._lines, "line") if self._lines else ""
        if _NO_OUTPUT.fullmatch(said):
            return "no output"
        return describe_result(said, None, ok=self.status == "completed")

    def said(self) -> str:
        """The text of its result."""
        blocks = (as_map(block.get("content")) for block in self._blocks("content"))
        texts = [as_text(block.get("text")) for block in blocks]
        raw = self.fields.get("rawOutput")
        told = (raw, "\n".join(texts), as_map(raw).get("output"), as_map(raw).get("error"))
        return next(filter(None, map(as_text, told)), "")

    def _exit(self) -> int | None:
        raw, meta = as_map(self.fields.get("rawOutput")), as_map(self.fields.get("_meta"))
        for place in (as_map(raw.get("metadata")), raw, as_map(meta.get("terminal_exit"))):
            for name in _EXITS:
                if type(place.get(name)) is int:
                    return place[name]  # type: ignore[return-value]
        return None

    def _blocks(self, kind: str) -> Iterator[Json]:
        for block in map(as_map, as_list(self.fields.get("content"))):
            if block.get("type") == kind:
                yield block

    def _changes(self) -> Iterator[str]:
        for diff in self._blocks("diff"):
            path = as_text(diff.get("path"))
            old, new = as_text(diff.get("oldText")), as_text(diff.get("newText"))
            if len(old) + len(new) > MOST_DIFFED * 40:
                yield f"{path}: {len(new):,} characters"
                continue
            yield from difflib.unified_diff(
                old.splitlines(), new.splitlines(), path, path, lineterm="", n=2
            )


def _counted(diffs: Sequence[Json]) -> str:
    """``+9 −4`` of all changes together."""
    added = removed = 0
    for diff in diffs:
        old = as_text(diff.get("oldText")).splitlines()
        new = as_text(diff.get("newText")).splitlines()
        if len(old) + len(new) > MOST_DIFFED:
            added, removed = added + len(new), removed + len(old)
            continue
        changes = list(difflib.unified_diff(old, new, n=0))[2:]  # without the names of the files
        added += sum(line.startswith("+") for line in changes)
        removed += sum(line.startswith("-") for line in changes)
    return f"+{added} −{removed}" if removed else f"+{added}"


OVER = ("completed", "failed")
_MOST_KEPT = 20_000
"""Uses that are known to be over; an agent that goes on for longer is told twice of some."""


class ToolCalls:
    """Takes the pieces in which uses are told; `root` is the worktree."""

    def __init__(self, iteration: int, root: str, quirks: Quirks) -> None:
        self.calls = 0
        self.errors = 0
        self.interrupted = False
        """Whether we end the turn: what fails from now on is no failure of a tool."""
        self.quirks = quirks
        self._iteration = iteration
        self._root = root
        self._uses: dict[str, ToolUse] = {}
        self._began: dict[str, float] = {}
        """When those that were told of began."""
        self._over: dict[str, None] = {}
        self._refused: set[str] = set()

    @property
    def running(self) -> bool:
        """Whether any use is told of and not over."""
        return bool(self._began)

    def use(self, tool_id: str) -> ToolUse | None:
        """What is known of a use that is not over."""
        return self._uses.get(shorten(tool_id))

    def refused(self, tool_id: str) -> None:
        """It was not permitted: that it fails is no failure of the tool. Any thread may say so."""
        self._refused.add(shorten(tool_id))

    def take(self, piece: Json, offset: int, now: float, *, asked: bool = False) -> Iterator[Event]:
        """A piece of a use; `asked`: its permission is asked for, so that all is told of it."""
        tool_id = shorten(as_text(piece.get("toolCallId")))
        if not tool_id or (tool_id in self._over and not asked):
            return
        use = self._uses.get(tool_id)
        if use is None:
            use = ToolUse(first_title_names_tool=self.quirks.first_title_names_tool)
            self._uses[tool_id] = use
        use.update(piece)
        if tool_id not in self._began and (asked or use.begun()):
            self._began[tool_id] = now
            self.calls += 1
            yield ToolStarted(
                iteration=self._iteration,
                tool_id=tool_id,
                tool=shorten(use.name, 80),
                summary=use.subject([self._root]),
                offset=offset,
            )
        if use.status in OVER and not asked:
            yield from self._finished(tool_id, use, offset, now)

    def turn_ended(self, offset: int, now: float) -> Iterator[Event]:
        """What is not over never will be."""
        for tool_id in list(self._began):
            yield from self._finished(tool_id, self._uses[tool_id], offset, now)
        self._uses.clear()

    def _finished(self, tool_id: str, use: ToolUse, offset: int, now: float) -> Iterator[Event]:
        began = self._began.pop(tool_id, now)
        self._uses.pop(tool_id, None)
        self._over[tool_id] = None
        if len(self._over) > _MOST_KEPT:
            del self._over[next(iter(self._over))]
        because: Prevented = ""
        by_rule = self._denied_by_rule(use)
        if by_rule:
            yield denied(self._iteration, use, tool_id, self._root)
        if by_rule or tool_id in self._refused:
            because = "denied"
        elif self.interrupted or use.status not in OVER:
            because = "interrupted"
        ok = use.ok() and not self.interrupted
        if not ok and not because:
            self.errors += 1
        yield ToolFinished(
            iteration=self._iteration,
            tool_id=tool_id,
            ok=ok,
            prevented="" if ok else because,
            summary=(not ok and because) or shorten(use.result()),
            duration_s=round(max(0.0, now - began), 3),
            offset=offset,
        )

    def _denied_by_rule(self, use: ToolUse) -> bool:
        """Whether a rule of ours that the agent keeps itself has denied it."""
        words = self.quirks.denied_by_rule
        return bool(words) and use.status == "failed" and use.said().startswith(words)


def denied(iteration: int, use: ToolUse, tool_id: str, root: str, message: str = "") -> ToolDenied:
    """That the rules did not permit it, and which lines would."""
    lines = _lines(use, root)
    return ToolDenied(
        iteration=iteration,
        tool=shorten(use.name, 80),
        tool_id=shorten(tool_id) or None,
        message=shorten(message or f"Not permitted: {use.subject([root])}"),
        permit=shorten(lines[0]) if lines else "",
        also=[shorten(line) for line in lines[1:]],
        final=not lines,
    )


def _lines(use: ToolUse, root: str) -> list[str]:
    if use.kind == "execute":
        return rules_for_denied("Bash", {"command": use.command}, roots=[root])
    if use.kind in EDITS | READS or use.paths:
        tool = "Read" if use.kind in READS else "Edit"
        lines = [rules_for_denied(tool, {"file_path": path}, roots=[root]) for path in use.paths]
        return list(dict.fromkeys(line for found in lines for line in found))
    return [line_for_address(use.url) if use.kind == "fetch" else use.name]


def line_for_address(url: str) -> str:
    """``WebFetch(domain:x.org)``."""
    host = host_of(url)
    return f"WebFetch(domain:{host})" if host else "WebFetch"
