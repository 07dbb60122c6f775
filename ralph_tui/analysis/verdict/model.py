"""What a verdict is, and the few words that its parts share."""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui.state import RunState
from ralph_tui.text.format import duration
from ralph_tui.text.terms import LEVEL_TONES, LEVELS, RowLevel, Tone

LONGEST = 400
"""Characters of foreign text in a sentence."""


@dataclass(frozen=True)
class Verdict:
    """A glyph, a tone, the word it begins with, and the sentence."""

    glyph: str
    tone: Tone
    word: str
    """``needs you``, ``stuck``, ``on track``: what `text` begins with."""
    text: str
    calm: bool = False
    """Nothing is wrong, and nobody is needed."""

    @property
    def line(self) -> str:
        """Glyph and sentence, for who sees no colour."""
        return f"{self.glyph} {self.text}"


def mark(level: RowLevel) -> tuple[str, Tone]:
    """Glyph and tone of a level."""
    return LEVELS[level].glyph, LEVEL_TONES[level]


def row(text: str, limit: int = LONGEST) -> str:
    """On one row."""
    return " ".join(text[:limit].split())


def until(moment: datetime | None, now: datetime) -> str:
    """How long until then; empty when nobody knows the moment."""
    return "" if moment is None else duration((moment - now).total_seconds())


def done(state: RunState) -> bool:
    """Whether all of it was measured as done."""
    return (state.run.completion or 0.0) >= 100
