"""Reading earlier iterations of a run that goes on: tests, prompt and details together.

A replay has a time of its own, and the same keys move that.
"""

from ralph_tui.tui.cockpit.body import Body
from ralph_tui.tui.cockpit.dialog_host import DialogHost
from ralph_tui.tui.panes.iteration_pane import IterationPane


class LookingBack:
    """Which iteration is looked at."""

    def __init__(self, host: DialogHost, body: Body) -> None:
        self._host = host
        self._panes = [pane for pane in body.panes.values() if isinstance(pane, IterationPane)]
        self._chosen: int | None = None

    def step(self, by: int) -> bool:
        """One iteration back or on; False where there is none."""
        numbers = list(dict.fromkeys(s.number for s in self._host.state.timeline.spans))
        here = numbers.index(self._chosen) if self._chosen in numbers else len(numbers) - 1
        there = here + by
        if not 0 <= there < len(numbers):
            return False
        latest = there == len(numbers) - 1
        self._show(None if latest else numbers[there])
        place = f"iteration {numbers[there]}" if numbers[there] else "before iteration 1"
        more = ", the latest" if latest else "; esc: the latest"
        self._host.say(f"{place}: tests, prompt, details{more}")
        return True

    def end(self) -> bool:
        """Back to the latest one; False where nothing else was looked at."""
        was = self._chosen is not None
        self._show(None)
        return was

    def _show(self, iteration: int | None) -> None:
        self._chosen = iteration
        for pane in self._panes:
            pane.look_at(iteration)
