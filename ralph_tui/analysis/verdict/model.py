"""The verdict, and helpers shared by its parts."""

from datetime import datetime
from typing import NamedTuple

from ralph_tui.state import RunState
from ralph_tui.text.format import duration
from ralph_tui.text.terms import LEVEL_TONES, LEVELS, RowLevel, Tone

LONGEST = 400
"""Maximum length of untrusted text in a sentence, in characters."""


class Verdict(NamedTuple):
    """A sentence with its glyph, its tone and its opening word."""

    glyph: str
    tone: Tone
    word: str
    """Start of `text`: ``needs you``, ``stuck``, ``on track``."""
    text: str
    calm: bool = False
    """True if nothing is wrong and the user is not needed."""

    @property
    def line(self) -> str:
        """Glyph and sentence, for displays without colour."""
        return f"{self.glyph} {self.text}"


def mark(level: RowLevel) -> tuple[str, Tone]:
    """Return the glyph and tone of a level."""
    return LEVELS[level].glyph, LEVEL_TONES[level]


def row(text: str, limit: int = LONGEST) -> str:
    """Return the text on one row, cut to `limit` characters."""
    return " ".join(text[:limit].split())


def until(moment: datetime | None, now: datetime) -> str:
    """Return the time left until a moment; empty if the moment is unknown."""
    return "" if moment is None else duration((moment - now).total_seconds())


def done(state: RunState) -> bool:
    """Return True if everything was done at the last measurement."""
    return (state.run.completion or 0.0) >= 100
