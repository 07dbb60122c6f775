"""The last verification and the readings it led to."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ralph_tui.events import GateFinished, GateStarted, PromptPrepared, ReadingTaken


class GateFold:
    """What the gate and prompt panes show."""

    def __init__(self) -> None:
        self.revision = 0
        self.running_since: datetime | None = None
        self.command = ""
        self.last: GateFinished | None = None
        self.readings: list[ReadingTaken] = []
        """The baseline first, then one per iteration."""
        self.prompt: PromptPrepared | None = None

    def handlers(self) -> dict[str, Callable[[Any], None]]:
        """See `Fold`."""
        return {
            "gate_started": self._gate_started,
            "gate_finished": self._gate_finished,
            "run_resumed": self._run_resumed,
            "reading_taken": self._reading_taken,
            "prompt_prepared": self._prompt_prepared,
        }

    def _gate_started(self, event: GateStarted) -> None:
        self.revision += 1
        self.running_since, self.command = event.at, event.command

    def _run_resumed(self, event: Any) -> None:
        self.revision += 1
        self.running_since = None

    def _gate_finished(self, event: GateFinished) -> None:
        self.revision += 1
        self.running_since, self.last = None, event

    def _reading_taken(self, event: ReadingTaken) -> None:
        self.revision += 1
        self.readings.append(event)

    def _prompt_prepared(self, event: PromptPrepared) -> None:
        self.revision += 1
        self.prompt = event
