"""People who are told, without a network."""

from ralph_tui.events import EscalationRaised, RunStarted


class FakeOutreach:
    """Keeps what it is to tell."""

    enabled = True

    def __init__(self) -> None:
        self.sent: list[EscalationRaised] = []

    def send(self, escalation: EscalationRaised, run: RunStarted) -> None:
        self.sent.append(escalation)
