"""How people who are not here are told: a webhook, an issue on Gitea or GitHub."""

from ralph_tui.adapters.outreach.handler import EscalationHandler, channels_of
from ralph_tui.adapters.outreach.http_service import UndeliveredError
from ralph_tui.adapters.outreach.message import Message, Readings
from ralph_tui.adapters.outreach.outbox import outbox_folder

__all__ = [
    "EscalationHandler",
    "Message",
    "Readings",
    "UndeliveredError",
    "channels_of",
    "outbox_folder",
]
