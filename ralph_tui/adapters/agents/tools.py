"""Tool calls of all agents: their events, and one line each for subject and result. Pure."""

import json
import re
from collections.abc import Mapping, Sequence

from ralph_tui.events import ToolDenied, ToolFinished, ToolStarted
from ralph_tui.events.agent import Prevented
from ralph_tui.text.json_fields import as_count, as_list, as_map, as_text, content_text
from ralph_tui.text.sanitize import clip, plain, shorten

_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")
_TAG = re.compile(r"</?[a-z_-]{1,40}>")
_KEPT = re.compile(r"\s*<persisted-output>\s*Output too large \(([\d.,]{1,12}) ?([KMG]?B)\)")
"""Matches the note in which an agent's program says that it saved a large output to a file."""
_SUBJECTS = (
    "file_path", "notebook_path", "path", "command", "pattern", "query", "url", "description",
    "prompt",
)  # fmt: skip
_PATHS = frozenset({"file_path", "notebook_path", "path"})
_LONGEST = 4096
"""Maximum length of a parameter, in characters."""
_OUTPUT = 1000
_READ = 1 << 16
"""Maximum number of characters of a text to examine before it is cut."""
_MAX_PARAMS = 50
_MAX_OVER = 20_000
"""Maximum number of finished calls to remember; longer sessions may report some of them twice."""


class SessionTools:
    """Events and counters of one session's tools; `seek` sets the position in its stream."""

    def __init__(self, iteration: int, root: str) -> None:
        self.calls = 0
        self.errors = 0
        self.interrupted = False
        """True once we have interrupted the turn; later failures are not the tools' fault."""
        self.roots = [root]
        self.offset = 0
        self.now = 0.0
        self._iteration = iteration
        self._over: dict[str, None] = {}

    def seek(self, offset: int, now: float) -> None:
        """Set the next line's offset in the transcript, and when it arrived."""
        self.offset, self.now = offset, now

    def work_in(self, folder: str) -> None:
        """Also shorten paths below the folder as the agent names it, with links resolved."""
        if folder and folder not in self.roots:
            self.roots = [self.roots[0], folder]

    def _start(
        self,
        tool_id: str,
        tool: str,
        summary: str,
        params: Mapping[str, object],
        parent: str | None = None,
    ) -> ToolStarted:
        self.calls += 1
        return ToolStarted(
            iteration=self._iteration,
            tool_id=shorten(tool_id),
            tool=shorten(tool, 80),
            summary=summary,
            params=keep_params(params),
            parent=parent,
            offset=self.offset,
        )

    def _finish(
        self,
        tool_id: str,
        began: float,
        reason: Prevented,
        words: str,
        output: str,
        *,
        ok: bool,
        last_line: int | None = None,
    ) -> ToolFinished:
        self.errors += not ok and not reason
        self._over[tool_id] = None
        if len(self._over) > _MAX_OVER:
            del self._over[next(iter(self._over))]
        return ToolFinished(
            iteration=self._iteration,
            tool_id=shorten(tool_id),
            ok=ok,
            prevented="" if ok else reason,
            summary=(not ok and reason) or shorten(words),
            output=clip(plain(output[:_READ]).strip(), _OUTPUT),
            last_line=last_line if ok else None,
            duration_s=round(max(0.0, self.now - began), 3),
            offset=self.offset,
        )


def keep_params(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return a call's arguments as the journal keeps them: long values are cut texts.

    Secrets are redacted before the cut, which could otherwise split one.
    """
    return {shorten(name, 80): _kept(arguments[name]) for name in list(arguments)[:_MAX_PARAMS]}


def _kept(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _LONGEST:
        return value
    return clip(plain(text[:_READ]), _LONGEST)


def tool_denied(
    iteration: int, tool: str, tool_id: str, message: str, lines: Sequence[str]
) -> ToolDenied:
    """Build the event for a denied call; `lines` of ``permissions.allow`` would permit it."""
    permit, *also = map(shorten, lines) if lines else [""]
    return ToolDenied(
        iteration=iteration,
        tool=shorten(tool, 80),
        tool_id=shorten(tool_id) or None,
        message=shorten(message),
        permit=permit,
        also=also,
        final=not lines,
    )


def relative(path: str, roots: Sequence[str]) -> str:
    """Return the path relative to the first root that contains it."""
    for root in roots:
        if root and path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) + 1 :]
    return path


def describe_input(tool: str, arguments: Mapping[str, object], roots: Sequence[str]) -> str:
    """Return the file, command or pattern that a call is about, or its first question."""
    names = ("pattern", *_SUBJECTS) if tool in ("Grep", "Glob") else _SUBJECTS
    for name in names:
        value = as_text(arguments.get(name))
        if value:
            return shorten(relative(value, roots) if name in _PATHS else value)
    asked = as_list(arguments.get("questions"))
    if asked and (first := as_text(as_map(asked[0]).get("question")).strip()):
        return shorten(first)
    return shorten(json.dumps(arguments, ensure_ascii=False, default=str)) if arguments else ""


def describe_result(content: object, structured: object, *, ok: bool) -> str:
    """Summarise a tool's result, as in ``exit 1``, ``212 lines``, ``2.7 MB``, ``+9 −4``."""
    text = content_text(content)
    if not ok:
        return _failure(text)
    facts = as_map(structured)
    if "structuredPatch" in facts:
        return _patch(facts)
    if "numLines" in (file := as_map(facts.get("file"))):
        return _format_count(as_count(file["numLines"]), "line")
    if facts.get("interrupted") is True:
        return "interrupted"
    if "numFiles" in facts:
        return _format_count(as_count(facts["numFiles"]), "file")
    if "totalToolUseCount" in facts:
        return _format_count(as_count(facts["totalToolUseCount"]), "tool call")
    if kept := _KEPT.match(text):
        # The rest is a preview: its line count is not that of the output.
        return f"{kept[1]} {kept[2]} of output"
    return _format_count(_lines(text), "line") if text.strip() else "no output"


def _failure(text: str) -> str:
    exit_code = _EXIT.match(text)
    if exit_code:
        return f"exit {exit_code[1]}"
    words = _TAG.sub("", text[:4000]).strip()
    return clip(words.split("\n", 1)[0], 120) or "failed"


def _patch(facts: Mapping[str, object]) -> str:
    added = removed = 0
    for hunk in as_list(facts["structuredPatch"]):
        for line in as_list(as_map(hunk).get("lines")):
            added += as_text(line).startswith("+")
            removed += as_text(line).startswith("-")
    if not added and not removed and not as_list(facts["structuredPatch"]):
        added = _lines(as_text(facts.get("content")))
    return f"+{added} −{removed}" if removed else f"+{added}"


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
