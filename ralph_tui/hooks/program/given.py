"""What Claude Code tells a hook on stdin. Foreign: any field may be missing, or of any type."""

from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.text.foreign_json import parse_json

LARGEST = 1 << 28
"""Bytes that are read: a tool's whole answer is among them."""


class Given(NamedTuple):
    """One call of a hook."""

    session_id: str = ""
    transcript: Path | None = None
    cwd: str = ""
    event: str = ""
    tool: str = ""
    tool_input: dict[str, Any] = {}
    tool_id: str = ""
    agent_id: str = ""
    """Of a subagent that used the tool; empty: the session itself did."""
    error: str = ""
    """Of a tool that failed."""
    duration_s: float = 0.0
    stop_hook_active: bool = False
    """Whether the session goes on because a Stop hook wanted it."""
    last_words: str = ""
    permission_mode: str = ""

    @property
    def of_session(self) -> bool:
        """Whether a session calls, not a loop outside of it."""
        return bool(self.session_id)


def read_given(data: bytes) -> Given:
    """The call; what is no text where a text belongs is left out. Raises ``ValueError``.

    Nothing at all comes from a loop outside of Claude Code.
    """
    if not data.strip():
        return Given()
    fields = parse_json(data)
    if not isinstance(fields, dict):
        raise ValueError("it is no JSON object")
    if not fields.get("session_id") or not isinstance(fields["session_id"], str):
        raise ValueError("it names no session")
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    transcript = texts.get("transcript_path", "")
    tool_input = fields.get("tool_input")
    return Given(
        session_id=texts.get("session_id", ""),
        transcript=Path(transcript) if transcript and "\0" not in transcript else None,
        cwd=texts.get("cwd", ""),
        event=texts.get("hook_event_name", ""),
        tool=texts.get("tool_name", ""),
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        tool_id=texts.get("tool_use_id", ""),
        agent_id=texts.get("agent_id", ""),
        error=texts.get("error", ""),
        duration_s=_seconds(fields.get("duration_ms")),
        stop_hook_active=fields.get("stop_hook_active") is True,
        last_words=texts.get("last_assistant_message", ""),
        permission_mode=texts.get("permission_mode", ""),
    )


def _seconds(milliseconds: object) -> float:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return 0.0
    return milliseconds / 1000 if 0 <= milliseconds < 1e9 else 0.0
