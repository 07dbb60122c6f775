"""Totals of a stub's turn, and the ways it can end early."""

from dataclasses import dataclass, field
from typing import Any

from tests.doubles.wire import Json, Sums


@dataclass
class Message:
    """Words of the user, or, with an origin, of the program itself."""

    text: Any
    uuid: str = ""
    origin: Json = field(default_factory=dict)


@dataclass
class Turn:
    """Totals of one turn."""

    sums: Sums = field(default_factory=Sums)
    user_events: int = 0
    answers: int = 0
    last_text: str = ""
    stop_reason: str | None = None
    denials: list[Json] = field(default_factory=list)
    in_tool: bool = False
    folded: list[str] = field(default_factory=list)
    """Identifiers of messages that came while it ran."""
    replays: list[Message] = field(default_factory=list)
    """Messages that are repeated once the model was heard."""


@dataclass(frozen=True)
class Limits:
    """Limits from the command line."""

    turns: int | None = None
    budget_usd: float | None = None
    allowed: tuple[str, ...] = ()
    replay: bool = False
    asks: bool = False
    """True if someone answers requests for tools that are not allowed."""
    structured: bool = False
    """True if the answer must follow a schema."""


class LimitedError(Exception):
    """The turn went as far as the command line, or a hook, allows."""

    def __init__(self, subtype: str, reason: str | None, **about: object) -> None:
        super().__init__()
        self.subtype, self.reason, self.about = subtype, reason, about
        """...and more fields of the result."""


@dataclass
class CallFailedError(Exception):
    """A call that failed for good, with the text shown in the model's place and in the result."""

    text: str
    error: str
    status: int | None
    error_type: str = ""
    details: Json = field(default_factory=dict)
    """More fields of the result."""
    reason: str = "api_error"
    """`terminal_reason` of newer versions; older ones say "completed" except for a full context."""
    stop_reason: str = "stop_sequence"
