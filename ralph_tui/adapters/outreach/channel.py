"""The interface of every notification channel, and the context from which one is built."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ralph_tui.adapters.outreach.message import Message
from ralph_tui.config.settings import OutreachSettings


class Channel(Protocol):
    """A way to reach people."""

    name: str
    """webhook, gitea or github."""
    place: str
    """The destination, without secrets."""
    comments: bool
    """True if a run can have an issue there, to which comments are added."""

    def deliver(self, message: Message, *, again: bool = False) -> str:
        """Send a message and return, in one sentence, where it went; blocks.

        Raises ``UndeliveredError``.
        """

    def issue_of(self, run_id: str) -> int | None:
        """Return the number of a run's issue; None if it has no issue here."""

    def probe(self, message: Message) -> str:
        """Send a test message and clean up after it; otherwise like `deliver`."""


@dataclass(frozen=True)
class ChannelContext:
    """Settings and environment of the channels."""

    settings: OutreachSettings
    """The section ``outreach``, from which each channel reads its own settings."""
    environ: Mapping[str, str]
    """Environment variables with tokens."""
    outbox: Path
    """The folder of undelivered messages."""
