"""When the end of a run stands on its screen: from the end on, until it is put away."""

from ralph_tui.state import RunState
from ralph_tui.tui.cockpit.body import Body


class Ending:
    """Brings the end up once; who has put it away brings it back with the same key."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._over = False

    def follow(self, state: RunState, *, lost: bool | str) -> bool:
        """Whether it has come or gone with this state: the end has come, or the run goes on.

        `lost`: nobody works on it any more, though no end was recorded.
        """
        over = state.run.started is not None and (bool(lost) or not state.run.live)
        if over == self._over:
            return False
        self._over = self._body.ended = over
        return True

    def toggle(self) -> bool:
        """Put it away, or bring it back; False while the run goes on."""
        if self._over:
            self._body.ended = not self._body.ended
        return self._over

    def give_way(self, name: str) -> None:
        """A pane was called that may lie below it; one that has the screen alone does not."""
        if self._body.zoomed is None and name in self._body.covered:
            self._body.ended = False
