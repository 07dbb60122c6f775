"""Telling people who are not here."""

from typing import Protocol

from ralph_tui.events import EscalationRaised, RunStarted


class Outreach(Protocol):
    """Tells people who are not here; returns at once, and `EscalationDelivered` events follow."""

    @property
    def enabled(self) -> bool:
        """Whether any channel is set up."""

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        """Hand one over; what cannot be delivered is kept and tried again."""

    def comment(self, key: str, text: str, iteration: int, run: RunStarted) -> None:
        """Words for the run's issue where it has one; `key` tells them from its others."""


class Silent:
    """No channel is set up."""

    enabled = False

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        """Nobody is told."""

    def comment(self, key: str, text: str, iteration: int, run: RunStarted) -> None:
        """Nobody is told."""
