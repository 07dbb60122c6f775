"""What a hook says: to the model, to its user, and to whoever reads its output.

Claude Code reads stdout as JSON only where nothing else stands there, and shows the model none of a
plain text. So the line that the loop's scripts look for is part of the JSON, and stands on stderr
as it is.
"""

import json
import os
from typing import Any


class Answer:
    """Collected during a call, written once at its end."""

    def __init__(self) -> None:
        self.user: list[str] = []
        """Lines for the user."""
        self.model = ""
        """Beside the tool's answer, for the model."""
        self.reason = ""
        """Why the session goes on, for the model; empty: it may stop."""
        self.ends = ""
        """Why the session ends at once, for the user; empty: it does not."""
        self.problems: list[str] = []
        """Sentences about what is wrong: on stderr, which Claude Code shows to nobody."""
        self.code = 0

    def warn(self, problem: str) -> None:
        """Say what is wrong to the user, too."""
        self.problems.append(problem)
        self.user.append(f"ralph-tui: {problem}")

    def fields(self, event: str) -> dict[str, Any]:
        """The JSON that Claude Code understands."""
        fields: dict[str, Any] = {}
        if self.ends:
            fields |= {"continue": False, "stopReason": self.ends}
        if self.user:
            fields["systemMessage"] = "\n".join(self.user)
        if self.reason:
            fields |= {"decision": "block", "reason": self.reason}
        elif self.model and not self.ends:
            fields["hookSpecificOutput"] = {
                "hookEventName": event,
                "additionalContext": self.model,
            }
        return fields

    def write(self, event: str) -> None:
        """To stdout and stderr; who does not listen misses it."""
        said = [line for line in self.user if line.startswith("CCS_")]
        said += [f"ralph-tui: {problem}" for problem in self.problems]
        _write(2, "".join(f"{line}\n" for line in said))
        if fields := self.fields(event):
            _write(1, json.dumps(fields) + "\n")


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return
