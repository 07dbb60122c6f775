"""The last verification and the readings it led to."""

from datetime import datetime

from ralph_tui.events import (
    GateFinished,
    GateStarted,
    PromptPrepared,
    ReadingTaken,
    RunCrashed,
    RunFinished,
    RunResumed,
)
from ralph_tui.state.fold import Fold, Handlers, on


class GateFold(Fold):
    """What the gate and prompt panes show."""

    def __init__(self) -> None:
        self.running_since: datetime | None = None
        self.command = ""
        self.last: GateFinished | None = None
        self.readings: list[ReadingTaken] = []
        """The baseline first, then one per iteration."""
        self.prompt: PromptPrepared | None = None

    @property
    def accepted(self) -> str:
        """As the last reading has it."""
        return self.readings[-1].accepted if self.readings else ""

    def handlers(self) -> Handlers:
        """See `Fold`."""
        return (
            on(GateStarted, self._gate_started),
            on(GateFinished, self._gate_finished),
            on(RunResumed, self._cut_off),
            on(RunFinished, self._cut_off),
            on(RunCrashed, self._cut_off),
            on(ReadingTaken, self._reading_taken),
            on(PromptPrepared, self._prompt_prepared),
        )

    def _gate_started(self, event: GateStarted) -> None:
        self.running_since, self.command = event.at, event.command

    def _cut_off(self, event: RunResumed | RunFinished | RunCrashed) -> bool:
        was, self.running_since = self.running_since, None
        return was is not None

    def _gate_finished(self, event: GateFinished) -> None:
        self.running_since, self.last = None, event

    def _reading_taken(self, event: ReadingTaken) -> None:
        self.readings.append(event)

    def _prompt_prepared(self, event: PromptPrepared) -> None:
        self.prompt = event
