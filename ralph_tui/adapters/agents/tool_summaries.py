"""One line about a tool call: what it works on, and what came of it. Pure."""

import json
import re
from collections.abc import Mapping, Sequence

from ralph_tui.adapters.agents.json_fields import as_count, as_list, as_map, as_text, content_text
from ralph_tui.text.sanitize import clip, shorten

_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")
_TAG = re.compile(r"</?[a-z_-]{1,40}>")
_KEPT = re.compile(r"\s*<persisted-output>\s*Output too large \(([\d.,]{1,12}) ?([KMG]?B)\)")
"""The agent's program kept an output in a file, and gave its model where, and how it begins."""
_SUBJECTS = (
    "file_path", "notebook_path", "path", "command", "pattern", "query", "url", "description",
    "prompt",
)  # fmt: skip
_PATHS = frozenset({"file_path", "notebook_path", "path"})


def relative(path: str, roots: Sequence[str]) -> str:
    """The path as seen from the first root that contains it."""
    for root in roots:
        if root and path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) + 1 :]
    return path


def describe_input(tool: str, arguments: Mapping[str, object], roots: Sequence[str]) -> str:
    """The file, command or pattern a tool works on, or the first question that it asks."""
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
    """A few words about a tool's answer: ``exit 1``, ``212 lines``, ``2.7 MB``, ``+9 −4``."""
    text = content_text(content)
    if not ok:
        return _failure(text)
    facts = as_map(structured)
    if "structuredPatch" in facts:
        return _patch(facts)
    if "numLines" in (file := as_map(facts.get("file"))):
        return _counted(as_count(file["numLines"]), "line")
    if facts.get("interrupted") is True:
        return "interrupted"
    if "numFiles" in facts:
        return _counted(as_count(facts["numFiles"]), "file")
    if "totalToolUseCount" in facts:
        return _counted(as_count(facts["totalToolUseCount"]), "tool call")
    if kept := _KEPT.match(text):
        # What follows is a preview: its lines are not those of the output.
        return f"{kept[1]} {kept[2]} of output"
    return _counted(_lines(text), "line") if text.strip() else "no output"


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


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
