"""Short texts for the journal, without secrets.

What takes secrets out takes longer to import than all the rest of a call. A text in which no secret
can be is told without it: short words of plain letters, and none that announces a secret.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

LONGEST = 200
"""Characters of a summary."""

_SUBJECTS = (
    "file_path", "notebook_path", "path", "command", "pattern", "query", "url", "description",
    "prompt",
)  # fmt: skip
_WORDS = re.compile(
    r"(?:[A-Za-z]{1,14}[0-9]{0,3}(?![A-Za-z0-9])|[0-9]{1,4}(?![A-Za-z0-9])|[ ./_,*-])*"
)
_ANNOUNCES = re.compile(
    r"pass|pwd|phrase|secret|token|key|auth|cred|bearer|login|user|cookie|session|sig|salt|hash"
    r"|jwt|ssh|curl|wget|http|basic|otp|pin|dsn|account|private|(?:^| )-[a-z]*[abdhkpuw]",
    re.IGNORECASE,
)


def harmless(text: str) -> bool:
    """Whether no secret can be in it; False says nothing."""
    return _WORDS.fullmatch(text) is not None and _ANNOUNCES.search(text) is None


def identifier(text: str) -> str:
    """An id that others gave, as far as it looks like one."""
    return re.sub(r"[^A-Za-z0-9_.:-]", "", text[:80])


def clean(text: str, longest: int = LONGEST) -> str:
    """At most so many characters of it, on one line, without secrets and control sequences."""
    beginning = text[: longest * 2]
    if harmless(beginning):
        return beginning if len(beginning) <= longest else beginning[: longest - 1] + "…"
    from ralph_tui.text.sanitize import clip, one_line

    return clip(one_line(beginning), longest)


def redacted(text: str) -> str:
    """A whole text, without secrets and control sequences."""
    from ralph_tui.text.sanitize import plain

    return plain(text)


def about(tool_input: Mapping[str, Any], root: str) -> str:
    """The file, command or pattern that a tool works on."""
    for name in _SUBJECTS:
        value = tool_input.get(name)
        if isinstance(value, str) and value:
            return clean(value.removeprefix(root.rstrip("/") + "/"))
    return clean(json.dumps(tool_input, ensure_ascii=False)) if tool_input else ""
