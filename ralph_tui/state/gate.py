"""The last verification and the measurements derived from it."""

from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile

from ralph_tui import events as ev
from ralph_tui.state.fold import Fold
from ralph_tui.text.format import place


class GateFold(Fold):
    """State of the verification and prompt panes."""

    def __init__(self) -> None:
        self.running_since: datetime | None = None
        self.command = ""
        self.last: ev.GateFinished | None = None
        self.readings: list[ev.ReadingTaken] = []
        """The baseline first, then one per iteration."""
        self.prompt: ev.PromptPrepared | None = None

    @property
    def unmeasured(self) -> int:
        """Number of consecutive failed measurements up to the last one."""
        return sum(1 for _ in takewhile(lambda one: one.unmeasured, self._backwards))

    @property
    def measured_last(self) -> int:
        """The last iteration that was measured; later ones kept its value."""
        return self.readings[-1].iteration - self.unmeasured if self.readings else 0

    @property
    def broken_since(self) -> int | None:
        """The iteration that broke the build; None while the build works."""
        broken = [one.iteration for one in takewhile(lambda one: one.broken, self._backwards)]
        return broken[-1] if broken else None

    @property
    def broken_words(self) -> str:
        """Return ``the build has been broken since iteration 3: ...``; empty if it works."""
        since = self.broken_since
        if since is None:
            return ""
        return f"the build has been broken since {place(since)}: {self.readings[-1].broken}"

    @property
    def origin(self) -> str:
        """Origin of the last measurement: ``from tests``, ``command passes``; empty if none."""
        if not self.readings:
            return ""
        last = self.readings[-1]
        if last.accepted:
            return last.accepted
        if last.promised:
            return "promised by the agent"
        if self.unmeasured:
            return f"not measured since {place(self.measured_last)}"
        if self.broken_since is not None:
            return f"build broken since {place(self.broken_since)}"
        if last.by_command:
            return "command passed"
        if last.uncounted:
            if last.source == "tests" or (self.last is not None and self.last.ok):
                return "command passes"
            return "command fails" if self.last else "not measured yet"
        return f"from {last.source}{', last known value' * last.held}"

    @property
    def _backwards(self) -> Iterator[ev.ReadingTaken]:
        return reversed(self.readings)

    @property
    def accepted(self) -> str:
        """The acceptance of the last measurement, in words; empty if there is none."""
        return self.readings[-1].accepted if self.readings else ""

    def on_gate_started(self, event: ev.GateStarted) -> None:
        self.running_since, self.command = event.at, event.command

    def on_cut_off(self, event: ev.RunResumed | ev.RunFinished | ev.RunCrashed) -> bool:
        was, self.running_since = self.running_since, None
        return was is not None

    def on_gate_finished(self, event: ev.GateFinished) -> None:
        self.running_since, self.last = None, event

    def on_reading_taken(self, event: ev.ReadingTaken) -> None:
        self.readings.append(event)

    def on_prompt_prepared(self, event: ev.PromptPrepared) -> None:
        self.prompt = event
