"""Edits of a scenario in the notation of patches that Codex's model writes, and applied from it."""

from tests.doubles.scenario import ToolUse

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"


def patch_of(tool: ToolUse) -> str:
    """The patch that does what an ``Edit`` or a ``Write`` does."""
    path = tool.input["file_path"]
    if tool.name == "Write":
        lines = "".join(f"+{line}\n" for line in tool.input["content"].splitlines())
        return f"{BEGIN}*** Add File: {path}\n{lines}{END}"
    old = "".join(f"-{line}\n" for line in tool.input["old_string"].splitlines())
    new = "".join(f"+{line}\n" for line in tool.input["new_string"].splitlines())
    return f"{BEGIN}*** Update File: {path}\n@@\n{old}{new}{END}"
