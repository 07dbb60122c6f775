"""What every channel of outreach is, and what it is built from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ralph_tui.adapters.outreach.message import Message
from ralph_tui.config.settings import OutreachSettings


class Channel(Protocol):
    """A way to reach people."""

    name: str
    """webhook, gitea, github."""
    place: str
    """Where it leads, without secrets."""
    comments: bool
    """Whether there may be an issue of a run, which takes comments."""

    def deliver(self, message: Message, *, again: bool = False) -> str:
        """Where it went, one sentence; blocking. Raises ``UndeliveredError``."""

    def probe(self, message: Message) -> str:
        """Send a test, and clear up behind it; as `deliver`."""


@dataclass(frozen=True)
class ChannelContext:
    """What is set for the channels, and where they are used."""

    settings: OutreachSettings
    """The section ``outreach``: every channel reads from it what is its own."""
    environ: Mapping[str, str]
    """Where tokens are."""
    outbox: Path
    """The folder of messages that wait."""
