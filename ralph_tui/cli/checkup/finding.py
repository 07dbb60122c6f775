"""What a check has found."""

from dataclasses import dataclass
from typing import Literal

from ralph_tui.base.errors import RalphError

Level = Literal["ok", "note", "warning", "problem"]
"""All is well; worth knowing; something works less well; no run can begin without it."""


@dataclass(frozen=True)
class Finding:
    """One line of `doctor`."""

    level: Level
    what: str
    """The subject, a word: ``git``."""
    says: str
    """A sentence without its full stop. Foreign text within is made safe where it is printed."""
    fix: str = ""
    """What to do about it; empty: nothing."""


def refusal(level: Level, what: str, error: RalphError) -> Finding:
    """An expected error: it says what is wrong, and behind a ``;`` or ``:`` what to do."""
    text = str(error).rstrip(".")
    for sign in ("; ", ": "):
        says, _, fix = text.partition(sign)
        if fix:
            return Finding(level, what, says, fix)
    return Finding(level, what, text)
