"""Layer 4's EscalationHandler: sends every escalation to every channel in the settings."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

from ralph_tui.adapters.outreach.channel import Channel
from ralph_tui.adapters.outreach.delivery_queue import DeliveryQueue
from ralph_tui.adapters.outreach.message import Readings, comment_of, message_of
from ralph_tui.adapters.outreach.outbox import Outbox
from ralph_tui.events import EscalationRaised, RunStarted
from ralph_tui.ports.host import Clock, Emit


class EscalationHandler:
    """A `ports.Outreach` with a queue for every channel."""

    def __init__(
        self,
        channels: Sequence[Channel],
        folder: Path,
        emit: Emit,
        clock: Clock,
        readings: Callable[[], Readings] = Readings,
        jitter: Callable[[], float] = random.random,
        fleet_loop: str = "",
    ) -> None:
        """`folder` is the outbox; `readings` is called in the thread that calls `send`.

        `fleet_loop` names the run within its fleet, if it is a fleet's loop.
        """
        self._queues = [
            DeliveryQueue(channel, Outbox(folder, channel.name), emit, clock, jitter)
            for channel in channels
        ]
        self._issues = [
            queue for queue, channel in zip(self._queues, channels, strict=True) if channel.comments
        ]
        self._clock = clock
        self._readings = readings
        self._fleet_loop = fleet_loop

    @property
    def enabled(self) -> bool:
        return bool(self._queues)

    def resume(self) -> None:
        """Deliver messages left by earlier runs; call it once, before any `send`."""
        for queue in self._queues:
            queue.resume()

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        now = self._clock.now()
        message = message_of(escalation, run, self._readings(), now, self._fleet_loop)
        for queue in self._queues:
            queue.add(message)

    def comment(self, key: str, text: str, iteration: int, run: RunStarted) -> None:
        message = comment_of(key, text, iteration, run, self._clock.now())
        for queue in self._issues:
            queue.add(message)

    def close(self, grace_s: float) -> int:
        """End within `grace_s` seconds; return the number of messages saved for the next run."""
        for queue in self._queues:
            queue.close()
        deadline = monotonic() + grace_s
        for queue in self._queues:
            queue.join(max(0.0, deadline - monotonic()))
        return sum(queue.undelivered for queue in self._queues)
