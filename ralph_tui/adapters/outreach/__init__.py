"""Notifications to people who are away: a webhook, or an issue on Gitea or GitHub."""

from ralph_tui.adapters.outreach.channel import Channel
from ralph_tui.adapters.outreach.channels import build_channels
from ralph_tui.adapters.outreach.handler import EscalationHandler
from ralph_tui.adapters.outreach.http_service import UndeliveredError
from ralph_tui.adapters.outreach.message import TEST, Message, Readings
from ralph_tui.adapters.outreach.outbox import outbox_folder

__all__ = [
    "TEST",
    "Channel",
    "EscalationHandler",
    "Message",
    "Readings",
    "UndeliveredError",
    "build_channels",
    "outbox_folder",
]
