"""Read a session's transcript from its end, with bounded effort whatever its size.

The format is Claude Code's own and changes between versions; the content is untrusted. Invalid
lines are skipped. Each block of a message is on its own line, with the whole message's usage.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.base.plain_files import reading
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.git_diff import last_changed_line
from ralph_tui.text.json_fields import as_list, as_map, as_text, content_text

FIRST_BYTES = 1 << 18
"""Bytes at the end that are read first; a single tool output can be longer."""
MAX_BYTES = 1 << 24
LARGEST = 10**10
"""A larger number is not a plausible number of tokens."""
CALLS = 200
"""Maximum number of tool calls returned."""

Entry = dict[str, Any]

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Call(NamedTuple):
    """A tool call of the session itself."""

    tool_id: str
    tool: str
    input: Mapping[str, Any]
    at: str
    ok: bool | None = None
    """None until it has returned."""
    result: str = ""
    """Output of a failed call."""
    last_line: int | None = None
    """Line of an edit's last change; None if unknown."""


class Compaction(NamedTuple):
    """A compaction of the session's context."""

    before: int | None
    after: int | None
    trigger: str


class Activity(NamedTuple):
    """Content of the end of a transcript."""

    tokens: int | None = None
    """Tokens in the context window; None if unknown."""
    model: str = ""
    version: str = ""
    tools: frozenset[str] = frozenset()
    """Ids of all tool calls found, both old and new."""
    messages: tuple[tuple[str, int], ...] = ()
    """Ids of new messages, and the tokens that each used."""
    calls: tuple[Call, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    words: str = ""
    """The last text of the session."""
    api_error: str = ""
    """Kind of service error if the last entry is one; else empty."""
    last_at: str = ""
    """Latest timestamp of an entry, unparsed."""


def read_activity(path: Path, since: str = "") -> Activity:
    """Return everything after time `since`, and the tokens now in the window. Raises ``OSError``.

    Reads further back if the first piece does not contain both.
    """
    size = FIRST_BYTES
    while True:
        entries, whole = _read_end(path, size)
        activity = summarize(entries, since)
        reached = whole or (
            since and any(_entry_time(entry) <= since for entry in entries if _entry_time(entry))
        )
        if (activity.tokens is not None and (reached or not since)) or whole or size >= MAX_BYTES:
            return activity
        size *= 8


def summarize(entries: Iterable[Entry], since: str = "") -> Activity:
    """Summarize entries, which must be in order, oldest first."""
    tokens: int | None = None
    model = version = words = api_error = last_at = ""
    messages: dict[str, int] = {}
    calls: dict[str, Call] = {}
    compactions = []
    for entry in entries:
        if entry.get("isSidechain") is True:
            continue
        at = _entry_time(entry)
        new = at > since
        last_at = max(last_at, at)
        version = as_text(entry.get("version")) or version
        if entry.get("type") == "system" and entry.get("subtype") == "compact_boundary":
            facts = as_map(entry.get("compactMetadata"))
            after = _as_count(facts.get("postTokens"))
            tokens = after or None  # earlier counts are obsolete
            if new:
                before = _as_count(facts.get("preTokens"))
                compactions.append(Compaction(before, after, as_text(facts.get("trigger"))))
            continue
        message = as_map(entry.get("message"))
        blocks = [block for block in as_list(message.get("content")) if isinstance(block, dict)]
        if entry.get("type") == "assistant":
            text_said = "\n".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
            if message.get("model") == "<synthetic>" or entry.get("isApiErrorMessage") is True:
                refused = entry.get("isApiErrorMessage") is True
                api_error = (as_text(entry.get("error")) or "unknown") if refused else api_error
                continue
            api_error = ""
            words = text_said.strip() or words
            model = as_text(message.get("model")) or model
            usage = as_map(message.get("usage"))
            context = sum(_as_count(usage.get(name)) or 0 for name in _INPUT)
            tokens = context or tokens
            if new and context:
                message_id = as_text(message.get("id")) or at
                messages[message_id] = context + (_as_count(usage.get("output_tokens")) or 0)
            for block in blocks:
                tool_id = as_text(block.get("id"))
                if block.get("type") == "tool_use" and tool_id:
                    given = as_map(block.get("input"))
                    calls[tool_id] = Call(tool_id, as_text(block.get("name")), given, at)
        elif entry.get("type") == "user":
            for block in blocks:
                tool_id = as_text(block.get("tool_use_id"))
                if block.get("type") == "tool_result" and tool_id in calls:
                    failed = block.get("is_error") is True
                    result = content_text(block.get("content")) if failed else ""
                    calls[tool_id] = calls[tool_id]._replace(
                        ok=not failed,
                        result=result,
                        at=at,
                        last_line=None if failed else last_changed_line(entry.get("toolUseResult")),
                    )
    return Activity(
        tokens,
        model,
        version,
        frozenset(calls),
        tuple(messages.items()),
        tuple([call for call in calls.values() if call.at > since][-CALLS:]),
        tuple(compactions),
        words,
        api_error,
        last_at,
    )


def _read_end(path: Path, size: int) -> tuple[list[Entry], bool]:
    """Return the entries within the last `size` bytes, oldest first, and whether these are all."""
    with reading(path) as file:
        start = max(0, file.seek(0, 2) - size)
        file.seek(start)
        lines = file.read(size).split(b"\n")
    if start:
        del lines[0]  # its beginning was not read
    entries = []
    for line in lines:
        if line.startswith(b"{"):
            try:
                entries.append(parse_json(line))
            except ValueError:
                continue  # incomplete, or being written
    return entries, start == 0


def _entry_time(entry: Entry) -> str:
    return as_text(entry.get("timestamp"))


def _as_count(value: object) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
    return value if good and isinstance(value, int) else None
