"""How long a run has worked, by a clock that nobody sets."""

from ralph_tui.ports import Host
from ralph_tui.state import RunState


class Stopwatch:
    """Goes on from what the journal says when the process takes the run up."""

    def __init__(self, host: Host, state: RunState) -> None:
        self._host, self._state = host, state
        self._before_s = 0.0
        self._began: float | None = None

    def start(self) -> None:
        """The run was started, or resumed, with the event that was recorded last."""
        self._before_s = self._state.run.worked_s(self._state.at)
        self._began = self._host.clock.monotonic()

    @property
    def worked_s(self) -> float:
        """Seconds, all processes of the run together; the journal's until it is started."""
        if self._began is None:
            return self._state.run.worked_s(self._host.clock.now())
        return self._before_s + self._host.clock.monotonic() - self._began
