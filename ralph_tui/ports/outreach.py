"""Notifications to users who are away from the screen."""

from typing import Protocol

from ralph_tui.events import EscalationRaised, RunStarted


class Outreach(Protocol):
    """Notifies users who are away. Returns at once, and `EscalationDelivered` events follow."""

    @property
    def enabled(self) -> bool:
        """True if any notification channel is configured."""

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        """Send an escalation; if delivery fails, it is stored and retried."""

    def comment(self, key: str, text: str, iteration: int, run: RunStarted) -> None:
        """Comment on the run's issue if it has one; `key` distinguishes the run's comments."""


class NoOutreach:
    """Outreach without any channel."""

    enabled = False

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        pass

    def comment(self, key: str, text: str, iteration: int, run: RunStarted) -> None:
        pass
