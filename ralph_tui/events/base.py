"""Base class of events: frozen facts, numbered and timed by the journal's only writer.

Rule: each event provides its own wording. Code that shows less filters events, never rewords them.
"""

from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict

from ralph_tui.text.terms import RowLevel

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Row(NamedTuple):
    """A row of the log."""

    level: RowLevel
    word: str
    """LOG, WARN, STUCK and so on: the severity in text, not by colour alone."""
    text: str
    detail: str = ""
    """Evidence."""

    @property
    def line(self) -> str:
        """The row as a plain line, word first."""
        return f"{self.word.lower():<7} {self.text}"

    @property
    def nested(self) -> "Row":
        """The row without its word, for nesting below another one."""
        return self._replace(word="")


class Fact(BaseModel):
    """A frozen value inside an event; unknown fields of newer versions are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True, allow_inf_nan=False)


class Event(Fact):
    """A fact of a run; `seq` and `at` are zero until it is recorded.

    Kinds are never renamed and new fields have defaults, so that every journal stays readable.
    """

    durable: ClassVar[bool] = False
    """True if the journal must be synced to disk before the run continues, as for decisions."""
    urgent: ClassVar[bool] = False
    """True if the status file must be written at once, because other terminals act on it."""

    seq: int = 0
    """Position in the journal, from 1, without gaps."""
    at: datetime = EPOCH
    """UTC time of recording."""
    kind: str

    def row(self) -> Row | None:
        """Return the event's row in the log; None if the log omits it."""
        return None

    def line(self) -> str | None:
        """Return the event as plain text, in one or more lines; None if only screens show it."""
        row = self.row()
        return row and row.line
