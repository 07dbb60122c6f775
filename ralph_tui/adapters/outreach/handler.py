"""Layer 4's EscalationHandler: every escalation to every channel of the settings."""

import random
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from ralph_tui.adapters.outreach.delivery_queue import Channel, Courier
from ralph_tui.adapters.outreach.dialects import DIALECTS
from ralph_tui.adapters.outreach.message import Readings, message_of
from ralph_tui.adapters.outreach.outbox import IssueNumbers, Outbox
from ralph_tui.adapters.outreach.tracker import Tracker
from ralph_tui.adapters.outreach.webhook import Webhook
from ralph_tui.config.settings import OutreachSettings
from ralph_tui.errors import UsageError
from ralph_tui.events import EscalationRaised, RunStarted
from ralph_tui.ports import Clock, Emit


def channels_of(
    settings: OutreachSettings, environ: Mapping[str, str], folder: Path
) -> list[Channel]:
    """The channels that are set up, none when there are none; `folder` is the outbox.

    Raises ``UsageError`` when a setting is missing, or httpx is.
    """
    channels: list[Channel] = []
    if settings.webhook is not None:
        channels.append(Webhook(settings.webhook.get_secret_value()))
    if settings.tracker is not None:
        channels.append(_tracker(settings, environ, folder))
    if channels and find_spec("httpx") is None:
        raise UsageError(
            "the outreach settings need httpx, which is not installed: "
            "pip install 'ralph-tui[notify]'"
        )
    return channels


def _tracker(settings: OutreachSettings, environ: Mapping[str, str], folder: Path) -> Tracker:
    assert settings.tracker is not None
    dialect = DIALECTS[settings.tracker]
    url = settings.tracker_url or dialect.url
    if url is None:
        raise UsageError(
            f"outreach.tracker is {dialect.name}, but nobody says where it is: "
            "set outreach.tracker_url, as https://git.example.com"
        )
    if settings.repository is None:
        raise UsageError(
            f"outreach.tracker is {dialect.name}, but not for which repository: "
            "set outreach.repository to owner/name"
        )
    variable = settings.token_variable or dialect.token_variable
    numbers = IssueNumbers(folder, f"{url} {settings.repository}")
    return Tracker(dialect, url, settings.repository, environ.get(variable), variable, numbers)


class EscalationHandler:
    """A `ports.Outreach` with a courier for every channel."""

    def __init__(
        self,
        channels: Sequence[Channel],
        folder: Path,
        emit: Emit,
        clock: Clock,
        readings: Callable[[], Readings] = Readings,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`folder` is the outbox; `readings` is called by whoever calls `send`."""
        self._couriers = [
            Courier(channel, Outbox(folder, channel.name), emit, clock, jitter)
            for channel in channels
        ]
        self._clock = clock
        self._readings = readings

    @property
    def speaks(self) -> bool:
        """Whether any channel is set up."""
        return bool(self._couriers)

    def take_up(self) -> None:
        """Deliver what earlier runs have left; call it once, before any `send`."""
        for courier in self._couriers:
            courier.take_up()

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        """Hand one over; what cannot be delivered is kept and tried again."""
        message = message_of(escalation, run, self._readings(), self._clock.now())
        for courier in self._couriers:
            courier.add(message)

    def close(self, grace_s: float) -> int:
        """End within `grace_s` seconds; the messages that are kept for the next run."""
        for courier in self._couriers:
            courier.close()
        deadline = monotonic() + grace_s
        for courier in self._couriers:
            courier.join(max(0.0, deadline - monotonic()))
        return sum(courier.left for courier in self._couriers)
