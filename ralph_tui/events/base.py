"""What every event is: a frozen fact in the past tense, stamped by the one writer."""

from datetime import UTC, datetime
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
