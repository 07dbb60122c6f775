"""Tools of a scenario as the model of Codex uses them: commands and patches, also applied."""

import difflib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.doubles.scenario import Json, ToolUse

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"
PATCHES = ("Edit", "Write")


def command_of(tool: ToolUse) -> str:
    """The command that does it."""
    if tool.name == "Read":
        return f"cat {shlex.quote(tool.input['file_path'])}"
    return str(tool.input["command"])


def patch_of(tool: ToolUse, root: Path) -> str:
    """The patch that does what an ``Edit`` or a ``Write`` does."""
    path, change = tool.input["file_path"], patched(tool, root)
    if change is None:
        return f"{BEGIN}*** Update File: {path}\n@@\n-{tool.input['old_string']}\n{END}"
    if change.before is None:
        lines = "".join(f"+{line}\n" for line in change.after.splitlines())
        return f"{BEGIN}*** Add File: {path}\n{lines}{END}"
    hunks = "".join(re.sub(r"\A@@.*@@", "@@", line) for line in change.diff())
    return f"{BEGIN}*** Update File: {path}\n{hunks}{END}"


@dataclass(frozen=True)
class Patched:
    """A file before and after a change, as the double reports it."""

    path: Path
    before: str | None
    after: str

    def change(self) -> Json:
        """The change as reported in an item."""
        about = {"path": str(self.path)}
        if self.before is None:
            return {**about, "kind": {"type": "add"}, "diff": self.after}
        kind = {"type": "update", "move_path": None}
        return {**about, "kind": kind, "diff": "".join(self.diff())}

    def diff(self) -> list[str]:
        """The lines of a unified diff, without its head."""
        before, after = (self.before or "").splitlines(True), self.after.splitlines(True)
        return list(difflib.unified_diff(before, after))[2:]

    def write(self) -> None:
        """Make it so."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.after)


def patched(tool: ToolUse, root: Path) -> Patched | None:
    """The change that a tool makes; None if its old text is missing."""
    path = root / tool.input["file_path"]
    before = path.read_text() if path.exists() else None
    if tool.name == "Write":
        text = str(tool.input["content"])
        return Patched(path, before, text if text.endswith("\n") else f"{text}\n")
    old, new = tool.input["old_string"], tool.input["new_string"]
    if before is None or old not in before:
        return None
    return Patched(path, before, before.replace(old, new, 1))
