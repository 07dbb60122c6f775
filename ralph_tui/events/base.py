"""What every event is: a frozen fact in the past tense, stamped by the one writer.

Rule: an event has its own words. Code that shows fewer of them filters and never rewords.
"""

from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict

from ralph_tui.text.terms import RowLevel

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Row(NamedTuple):
    """What the log says of an event."""

    level: RowLevel
    word: str
    """LOG, WARN, STUCK...: the severity in text, not by colour alone."""
    text: str
    detail: str = ""
    """Its evidence."""

    @property
    def line(self) -> str:
        """The same as a plain line, word first."""
        return f"{self.word.lower():<7} {self.text}"

    @property
    def nested(self) -> "Row":
        """The same below the row that it belongs to."""
        return self._replace(word="")


class Fact(BaseModel):
    """A frozen value inside an event; unknown fields of newer versions are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True, allow_inf_nan=False)


class Event(Fact):
    """A fact of a run. `seq` and `at` are stamped when it is recorded; before that they are zero.

    Kinds are never renamed, and new fields have defaults, so that every journal stays readable.
    """

    durable: ClassVar[bool] = False
    """The journal is synced to disk before anything follows from it: decisions, iteration ends."""
    urgent: ClassVar[bool] = False
    """The status file is written at once: other terminals act on what it says."""

    seq: int = 0
    """Position in the journal, from 1, without gaps."""
    at: datetime = EPOCH
    """When it was recorded, UTC."""
    kind: str

    def row(self) -> Row | None:
        """Return its row in the log; None if the log leaves it out."""
        return None

    def line(self) -> str | None:
        """Return its plain text without time, in one or more lines; None for screens only."""
        row = self.row()
        return row and row.line
