"""Layer 4's EscalationHandler: every escalation to every channel of the settings."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

from ralph_tui.adapters.outreach.channel import Channel
from ralph_tui.adapters.outreach.delivery_queue import Courier
from ralph_tui.adapters.outreach.message import Readings, message_of
from ralph_tui.adapters.outreach.outbox import Outbox
from ralph_tui.events import EscalationRaised, RunStarted
from ralph_tui.ports import Clock, Emit


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
