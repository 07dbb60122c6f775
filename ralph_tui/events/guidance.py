"""Events about the user's guidance to the agent."""

from typing import Literal

from ralph_tui.events.base import Event, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.terms import sender_label

__all__ = ["GuidanceAcknowledged", "GuidanceDelivered", "GuidanceQueued"]


class GuidanceQueued(Event):
    """The user's guidance is waiting for the agent."""

    durable = True
    kind: Literal["guidance_queued"] = "guidance_queued"
    guidance_id: Line
    text: Plain
    by: Line = "you"

    def row(self) -> Row:
        by = "" if self.by == "you" else f" ({sender_label(self.by)})"
        return Row("owner", "GUIDE", f"{self.text}{by}")

    def line(self) -> str:
        return f"guidance queued: {self.text}"


class GuidanceDelivered(Event):
    """The guidance was put into the running session or a prompt."""

    kind: Literal["guidance_delivered"] = "guidance_delivered"
    guidance_id: Line
    into: Literal["session", "prompt"]

    def row(self) -> Row:
        where = "into the session" if self.into == "session" else "with the prompt"
        return Row("owner", "", f"delivered {where}")

    def line(self) -> str:
        return f"guidance {self.row().text}"


class GuidanceAcknowledged(Event):
    """The agent's side confirmed that it received the guidance."""

    kind: Literal["guidance_acknowledged"] = "guidance_acknowledged"
    guidance_id: Line

    def row(self) -> Row:
        return Row("good", "", "acknowledged by the agent")

    def line(self) -> None:
        """Return None: the delivery has already been shown."""
