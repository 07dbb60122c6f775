"""The result of a check."""

from dataclasses import dataclass
from typing import Literal

from ralph_tui.base.errors import RalphError

Level = Literal["ok", "note", "warning", "problem"]
"""In order: fine; worth knowing; something works less well; no run can start."""


@dataclass(frozen=True)
class Finding:
    """One line of `doctor`."""

    level: Level
    what: str
    """The subject in one word, such as ``git``."""
    says: str
    """A sentence without a full stop. Foreign text in it is sanitized when printed."""
    fix: str = ""
    """The fix; empty if none is needed."""


def refusal(level: Level, what: str, error: RalphError) -> Finding:
    """Turn an expected error into a finding; the fix follows the first ``;`` or ``:``."""
    text = str(error).rstrip(".")
    for sign in ("; ", ": "):
        says, _, fix = text.partition(sign)
        if fix:
            return Finding(level, what, says, fix)
    return Finding(level, what, text)
