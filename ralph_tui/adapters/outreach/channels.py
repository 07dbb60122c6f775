"""The channels in this version, and their construction from the settings."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from ralph_tui.adapters.outreach.channel import Channel, ChannelContext
from ralph_tui.adapters.outreach.tracker import Tracker
from ralph_tui.adapters.outreach.webhook import Webhook
from ralph_tui.base.errors import UsageError, install_hint
from ralph_tui.config.settings import OutreachSettings

CHANNELS: tuple[Callable[[ChannelContext], Channel | None], ...] = (
    Webhook.from_settings,
    Tracker.from_settings,
)
"""Constructors that return None if the settings do not set up their channel; add new ones here."""


def build_channels(
    settings: OutreachSettings, environ: Mapping[str, str], outbox: Path
) -> list[Channel]:
    """Return the channels that the settings set up, possibly none.

    `outbox` is the folder of undelivered messages. Raises ``UsageError`` if a setting is missing or
    httpx is not installed.
    """
    context = ChannelContext(settings, environ, outbox)
    built = [from_settings(context) for from_settings in CHANNELS]
    channels = [channel for channel in built if channel is not None]
    if channels and find_spec("httpx") is None:
        raise UsageError(
            "the outreach settings need httpx, which is not installed: " + install_hint("notify")
        )
    return channels
