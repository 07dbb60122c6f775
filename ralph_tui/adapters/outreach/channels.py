"""The channels of this version, and those of them that the settings set up."""

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
"""Each gives its channel, or None where the settings do not set it up; a new one is added here."""


def build_channels(
    settings: OutreachSettings, environ: Mapping[str, str], outbox: Path
) -> list[Channel]:
    """The channels that are set up, none when there are none; `outbox` is a folder.

    Raises ``UsageError`` when a setting is missing, or httpx is.
    """
    context = ChannelContext(settings, environ, outbox)
    built = [from_settings(context) for from_settings in CHANNELS]
    channels = [channel for channel in built if channel is not None]
    if channels and find_spec("httpx") is None:
        raise UsageError(
            "the outreach settings need httpx, which is not installed: " + install_hint("notify")
        )
    return channels
