"""A project's ``.claude/settings.json``, and our two hooks in it.

The file is read, and later replaced if it has not changed since. A hook is ours if its command runs
our program, whatever else the user has changed in it. It is never added twice, and it is removed
together with the program.

Users keep settings in their own layout and under version control, so parsing and rewriting the file
would change too much. Instead, only the text of our hooks is changed, and every other character
stays.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.base.errors import RalphError
from ralph_tui.base.plain_files import make_folder, open_plain, read_bytes, write_whole
from ralph_tui.hooks.project import FOLDER, backup_path, convert_errors, resolve_inside
from ralph_tui.text.foreign_json import parse_json, parse_json_at

NAME = ".claude/settings.json"
_MARK = "\ufeff"
"""Byte order mark, which some editors write at the beginning."""
EVENTS: Mapping[str, str] = {"PostToolUse": "post-tool-use", "Stop": "stop"}
"""The program's names for events, by Claude Code's names."""
TIMEOUT_S = 30
"""Seconds after which Claude Code continues without an answer, which normally takes 0.1 s."""
_SPACE = re.compile(r"[ \t\r\n]*")
_MARGIN = re.compile(r"\n([ \t]+)\S")


class Part(NamedTuple):
    """The position in the text of an object's member or an array's element."""

    start: int
    """The offset of the part; a member starts with its name."""
    value: int
    end: int
    name: str = ""


class Container(NamedTuple):
    """An object or an array."""

    start: int
    """The offset of the opening bracket."""
    parts: tuple[Part, ...]
    close: int
    """The offset of the closing bracket."""

    def find(self, name: str) -> Part | None:
        """Return the member with this name; among duplicates, the last, which takes effect."""
        return next((part for part in reversed(self.parts) if part.name == name), None)


@dataclass(frozen=True)
class SettingsFile:
    """The settings file as it was read."""

    root: Path
    path: Path
    content: bytes | None
    """None if the file does not exist."""

    @classmethod
    def of(cls, root: Path) -> "SettingsFile":
        """Read the file. Raises ``RalphError`` if it is unreadable or outside the project."""
        path = resolve_inside(root, NAME)
        with convert_errors(NAME, "read"):
            try:
                return cls(root, path, read_bytes(path, below=root))
            except FileNotFoundError:
                return cls(root, path, None)

    @property
    def text(self) -> str:
        """Content as text. Raises ``RalphError`` if it is not UTF-8."""
        try:
            return (self.content or b"").decode("utf-8").removeprefix(_MARK)
        except ValueError as error:
            raise RalphError(_refusal_text("it is not text")) from error

    def with_hooks(self) -> bytes:
        """Return the content with our hooks. Raises ``RalphError`` for malformed settings."""
        return self._bytes(_edit_text(self.text, remove=False))

    def without_hooks(self) -> bytes | None:
        """Return the content without our hooks; None if there was no file. Raises ``RalphError``.

        If nothing else has changed since they were added, this is the original content.
        """
        text = _edit_text(self.text, remove=True)
        if text == self.text:
            return self.content
        for backup in self.backups():
            before = SettingsFile(self.root, self.path, _content(backup, self.root))
            with suppress(RalphError):
                if before.with_hooks() == self.content:
                    return before.content
        untouched = SettingsFile(self.root, self.path, None)
        return None if untouched.with_hooks() == self.content else self._bytes(text)

    def backups(self) -> list[Path]:
        """Return the backups of the file, newest first."""
        found = self.path.parent.glob(f"{self.path.name}.*.bak")
        return sorted((path for path in found if path.is_file()), reverse=True)

    def replace(self, content: bytes | None, now: datetime) -> Path | None:
        """Replace the file, or delete it for None; return the new backup, if one was needed.

        Raises ``RalphError``, and changes nothing, if the file has changed since it was read.
        """
        if SettingsFile.of(self.root) != self:
            raise RalphError(
                f"{NAME} changed in the meantime; nothing was written; run the command again"
            )
        kept: Path | None = None
        with convert_errors(NAME, "write"):
            make_folder(self.path.parent, below=self.root)
            mode = None
            if self.content is not None:
                mode = stat.S_IMODE(self.path.stat().st_mode)
                self._check_writable()
            known = {path: _content(path, self.root) for path in self.backups()}
            nothing_lost = {None, *known.values()}
            if self.content not in nothing_lost and content not in nothing_lost:
                kept = backup_path(self.path, now)
                write_whole(kept, self.content or b"", below=self.root, mode=mode)
            if content is None:
                self.path.unlink()
            else:
                write_whole(self.path, content, below=self.root, mode=mode)
            for path, was in known.items():
                if was == content:  # restored: this backup is no longer needed
                    path.unlink()
        return kept

    def _check_writable(self) -> None:
        """Fail if the file is read-only, because replacing it would ignore that."""
        os.close(open_plain(self.path, os.O_WRONLY, below=self.root))

    def _bytes(self, text: str) -> bytes:
        mark = _MARK if (self.content or b"").startswith(_MARK.encode()) else ""
        return (mark + text).encode("utf-8")


def _edit_text(text: str, *, remove: bool) -> str:
    try:
        return remove_hooks(text) if remove else add_hooks(text)
    except ValueError as error:
        raise RalphError(_refusal_text(str(error))) from error


def _refusal_text(why: str) -> str:
    return f"{NAME} cannot be used: {why}; nothing was changed; correct it, or move it away"


def _content(path: Path, root: Path) -> bytes | None:
    try:
        return read_bytes(path, below=root)
    except OSError:
        return None


def hook_command(word: str) -> str:
    """Return the command for Claude Code; its path works on every machine with the project."""
    return f'python3 -I -S "$CLAUDE_PROJECT_DIR"/{FOLDER} {word}'


def add_hooks(text: str) -> str:
    """Return the settings with our hooks; unchanged if they are already there.

    Raises ``ValueError``, a sentence without its full stop, for malformed settings.
    """
    present = find_hooks(text)
    if not text.strip():
        text = "{}\n"
    for event in EVENTS:
        if event not in present:
            text = _add_event(text, event)
    return text


def remove_hooks(text: str) -> str:
    """Return the settings without our hooks, and without parts that are then empty.

    Raises ``ValueError``.
    """
    if not find_hooks(text):
        return text
    root = _find_root(text)
    hooks = root.find("hooks")
    assert hooks is not None  # `find_hooks` found something in it
    cuts = _find_cuts(text, hooks)
    return _cut(text, _part_cuts(root, [hooks]) if cuts is None else cuts)


_LEVELS = "{[{["
"""The brackets that open ``hooks``, an event's groups, a group, and its hooks."""


def _find_cuts(text: str, part: Part, depth: int = 0) -> list[tuple[int, int]] | None:
    """Return the spans to cut to remove our hooks; None if the part contains no other hooks."""
    if depth == len(_LEVELS):
        return None if _is_ours(parse_json_at(text, part.value)[0]) else []
    if text[part.value] != _LEVELS[depth]:
        return []
    inside = _container_at(text, part.value)
    if depth == _LEVELS.rindex("{"):  # a group: its matcher is useless without hooks
        hooks = inside.find("hooks")
        return [] if hooks is None else _find_cuts(text, hooks, depth + 1)
    inner = [(each, _find_cuts(text, each, depth + 1)) for each in inside.parts]
    gone = [each for each, cuts in inner if cuts is None]
    if gone and len(gone) == len(inner):
        return None
    return [*_part_cuts(inside, gone), *(one for _, cuts in inner for one in cuts or ())]


def find_hooks(text: str) -> dict[str, str]:
    """Return our commands by event. Raises ``ValueError`` for malformed settings."""
    ours = {
        event: [hook["command"] for group in groups for hook in _hooks(group) if _is_ours(hook)]
        for event, groups in sorted(_read(text).items())
        if isinstance(groups, list)
    }
    return {event: commands[0] for event, commands in ours.items() if commands}


def count_others(text: str) -> int:
    """Return the number of hooks that are not ours. Raises ``ValueError``."""
    groups = [g for found in _read(text).values() if isinstance(found, list) for g in found]
    return sum(not _is_ours(hook) for group in groups for hook in _hooks(group))


def are_hooks_off(text: str) -> bool:
    """True if these settings switch off all hooks."""
    return bool(text.strip()) and parse_json(text).get("disableAllHooks") is True


def read_environment(text: str) -> dict[str, str]:
    """Return the environment variables that these settings define for sessions."""
    found = parse_json(text).get("env") if text.strip() else None
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _read(text: str) -> dict[str, Any]:
    """Return the value of ``hooks``."""
    if not text.strip():
        return {}
    try:
        settings = parse_json(text)
    except ValueError as error:
        raise ValueError(f"it is not valid JSON ({error})") from None
    if not isinstance(settings, dict):
        raise ValueError("it is not a JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("its `hooks` is not a JSON object")
    for event in EVENTS:
        if not isinstance(hooks.get(event, []), list):
            raise ValueError(f"its `hooks.{event}` is not a list")
    return hooks


def _hooks(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and FOLDER in command


def _group(event: str) -> dict[str, Any]:
    hook = {"type": "command", "command": hook_command(EVENTS[event]), "timeout": TIMEOUT_S}
    every_tool = {"matcher": "*"} if event == "PostToolUse" else {}
    return {**every_tool, "hooks": [hook]}


def _add_event(text: str, event: str) -> str:
    root = _find_root(text)
    hooks = root.find("hooks")
    if hooks is None:
        return _append(text, root, {event: [_group(event)]}, "hooks")
    inside = _container_at(text, hooks.value)
    groups = inside.find(event)
    if groups is None:
        return _append(text, inside, [_group(event)], event)
    return _append(text, _container_at(text, groups.value), _group(event))


def _find_root(text: str) -> Container:
    """Return the outermost object or array."""
    return _container_at(text, _skip(text, 0))


def _container_at(text: str, start: int) -> Container:
    """Return the object or array with its opening bracket at this position."""
    named = text[start] == "{"
    parts: list[Part] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, name = at, ""
        if named:
            name, at = parse_json_at(text, begin)
            at = _skip(text, _skip(text, at) + 1)
        _, end = parse_json_at(text, at)
        parts.append(Part(begin, at, end, name))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Container(start, tuple(parts), at)


def _part_cuts(inside: Container, parts: Sequence[Part]) -> list[tuple[int, int]]:
    """Return the spans to cut for these parts, with their commas and spaces."""
    gone = {part.start for part in parts}
    kept = [part for part in inside.parts if part.start not in gone]
    if not gone:
        return []
    if not kept:
        return [(inside.start + 1, inside.close)]
    cuts = []
    for place, part in enumerate(inside.parts):
        if part.start not in gone:
            continue
        if part.start > kept[-1].start:  # nothing after it remains, so cut the comma before it
            cuts.append((inside.parts[place - 1].end, part.end))
        else:
            cuts.append((part.start, inside.parts[place + 1].start))
    return cuts


def _cut(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """Return the text without these spans, which must not overlap."""
    pieces, at = [], 0
    for start, end in sorted(cuts):
        pieces.append(text[at:start])
        at = end
    return "".join([*pieces, text[at:]])


def _append(text: str, inside: Container, value: Any, name: str = "") -> str:
    """Append an element to an array, or a member with this name to an object."""
    label = f"{json.dumps(name)}: " if name else ""
    lines = "\n" in text.strip() or (not inside.parts and text.strip() == "{}")
    if inside.parts:
        last = inside.parts[-1]
        between = text[inside.start + 1 : inside.parts[0].start]
        lines = lines and "\n" in between
        margin = between.rpartition("\n")[2]
        before, after = f"{text[: last.end]},", text[last.end :]
    else:
        margin = _line_margin(text, inside.start) + _indent_unit(text)
        before, after = text[: inside.start + 1], text[inside.close :]
    if not lines:
        return f"{before}{' ' if inside.parts else ''}{label}{json.dumps(value)}{after}"
    newline = "\r\n" if "\r\n" in text else "\n"
    words = json.dumps(value, indent=_indent_unit(text)).replace("\n", f"{newline}{margin}")
    if not inside.parts:
        after = f"{newline}{_line_margin(text, inside.start)}{after}"
    return f"{before}{newline}{margin}{label}{words}{after}"


def _indent_unit(text: str) -> str:
    """Return one level's indentation, as in the first indented line; two spaces by default."""
    found = _MARGIN.search(text)
    return found[1] if found else "  "


def _line_margin(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
