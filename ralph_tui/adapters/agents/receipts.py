"""Receipts for guidance: delivered when the agent's program has it, acknowledged when it takes it.

Newer versions tell each state of a message by its identifier; older ones repeat the message.
"""

from collections.abc import Iterator

from ralph_tui.events import Event, GuidanceAcknowledged, GuidanceDelivered


class Receipts:
    """Each receipt is told once, a delivery before its acknowledgement."""

    def __init__(self) -> None:
        self.awaited: dict[str, str] = {}
        """Guidance on its way: its words by its identifier."""
        self._delivered: set[str] = {""}
        self._acknowledged: set[str] = {""}

    def told(self, guidance_id: str, state: str) -> Iterator[Event]:
        """The agent's program names a state of a message."""
        if state in ("queued", "started", "completed"):
            yield from self._receipt(guidance_id, taken=state != "queued")

    def repeated(self, text: str) -> Iterator[Event]:
        """The agent's program repeats words of its user as it takes them."""
        awaited = list(self.awaited.items())
        yield from self._receipt(next((key for key, words in awaited if words == text), ""))

    def _receipt(self, guidance_id: str, *, taken: bool = True) -> Iterator[Event]:
        if guidance_id not in self._delivered:
            self._delivered.add(guidance_id)
            yield GuidanceDelivered(guidance_id=guidance_id, into="session")
        if taken and guidance_id not in self._acknowledged:
            self._acknowledged.add(guidance_id)
            self.awaited.pop(guidance_id, None)
            yield GuidanceAcknowledged(guidance_id=guidance_id)
