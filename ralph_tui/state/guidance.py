"""The user's guidance on its way to the agent: queued, delivered, acknowledged."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ralph_tui import events as ev
from ralph_tui.state.fold import Fold
from ralph_tui.text.sanitize import clip, one_line

LONGEST = 120
"""Maximum length of guidance quoted in a sentence, in characters."""
GuidanceStatus = Literal["queued", "delivered", "acknowledged"]


@dataclass(slots=True)
class Guidance:
    """One piece of guidance."""

    guidance_id: str
    text: str
    status: GuidanceStatus = "queued"
    into: Literal["session", "prompt"] | None = None


NEVER_SENT = "never sent to the agent"


def delivery_words(item: Guidance, *, over: bool) -> str:
    """Return ``queued``, or ``delivered with a prompt``; `over` is True once the run has ended."""
    if item.status == "queued":
        return NEVER_SENT if over else "queued"
    into = {"session": " into the session", "prompt": " with a prompt"}.get(item.into or "", "")
    return f"{item.status}{into}"


def unsent_words(texts: Iterable[str]) -> str:
    """Return ``never sent to the agent: use small commits``; empty if all of it was sent."""
    shown = [clip(one_line(text), LONGEST) for text in texts]
    return f"{NEVER_SENT}: {'; '.join(shown)}" if shown else ""


class GuidanceFold(Fold):
    """All guidance of the run, oldest first."""

    def __init__(self) -> None:
        self.items: dict[str, Guidance] = {}
        self._instruction = ""
        """The standing instruction, until a prompt has carried it."""

    @property
    def queued(self) -> list[Guidance]:
        """Guidance for the next prompt."""
        return [item for item in self.items.values() if item.status == "queued"]

    @property
    def unsent(self) -> list[str]:
        """Texts that have not reached the agent."""
        always = [self._instruction] if self._instruction else []
        return [*(item.text for item in self.queued), *always]

    def on_instructed(self, event: ev.StandingInstructionChanged) -> None:
        self._instruction = event.text

    def on_prompt_prepared(self, _: ev.PromptPrepared) -> bool:
        was, self._instruction = self._instruction, ""
        return bool(was)

    def on_queued(self, event: ev.GuidanceQueued) -> None:
        self.items[event.guidance_id] = Guidance(event.guidance_id, event.text)

    def on_delivered(self, event: ev.GuidanceDelivered) -> None:
        item = self.items.get(event.guidance_id)
        if item is not None and item.status == "queued":
            item.status, item.into = "delivered", event.into

    def on_acknowledged(self, event: ev.GuidanceAcknowledged) -> None:
        item = self.items.get(event.guidance_id)
        if item is not None:
            item.status = "acknowledged"
