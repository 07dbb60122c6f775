"""Notifications without a network."""

from ralph_tui.events import EscalationRaised, RunStarted


class FakeOutreach:
    """Keeps what it is to tell."""

    enabled = True

    def __init__(self) -> None:
        self.sent: list[EscalationRaised] = []
        self.comments: list[tuple[str, str]] = []

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        self.sent.append(escalation)

    def comment(self, key: str, text: str, iteration: int, run: RunStarted) -> None:
        self.comments.append((key, text))
